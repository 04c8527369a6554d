#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""All ways to leave a job: the exit code, the one message, and that nothing stays. Signals: each reaches every rank
once, from a terminal, from a shell's job control and by kill, also while the rank blocks in MPI.

    dying_test.py --build DIR [--full] [NAME ...]"""

import os
import pty
import re
import resource
import shutil
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import launch_test as launch  # noqa: E402
from launch_test import CATCH, Skipped, check, contains, equal, finish, run, start  # noqa: E402


def expect_end(how, code, message, **more):
    """One message, from rank 1."""
    program = launch.compiled('dies')
    result = run('-n', 3, program, how, **more)
    equal(result.returncode, code, f'{how}: exit code; stderr {result.stderr!r:.500};')
    equal(re.findall(r'^parley: (.*?): (E\d+): ', result.stderr, re.M), [('rank 1', message)],
          f'{how}: messages; stderr {result.stderr!r:.800};')
    equal(launch.processes_with(program), [], 'left behind')
    return result.stderr


def test_library_without_finalize():
    expect_end('exit', 1, 'E0112')
    expect_end('_exit', 7, 'E0112')
    expect_end('exec', 1, 'E0112')
    expect_end('thread_exit', 1, 'E0112')


def test_library_signals():
    expect_end('abort', 134, 'E0110')
    result = run('-n', 3, launch.compiled('dies'), 'finalised')
    equal(result.returncode, 137, f'exit code; stderr {result.stderr!r}')


def test_library_consequences():
    """Ranks that MPI has told of the end of another one, and that leave because of it before mpiexec knows of that end:
    it is what is told of, and what decides."""
    for how in 'late', 'late_many':
        expect_end(how, 128 + 11, 'E0110', env={**os.environ, 'PARLEY_NODES': '3'})


def test_library_fails_for_all():
    """The root of a call says why, and nobody else that it has failed (E0339)."""
    for _ in range(5):
        expect_end('root', 53, 'E0103')


def test_library_aborts():
    contains(expect_end('thread', 42, 'E0113'), 'with code 42, on MPI_COMM_WORLD')
    contains(expect_end('handler', 41, 'E0113'), 'with code 41')
    if '-fsanitize=thread' not in launch.wrapper('mpicc', '-showme:compile'):  # which puts handlers off
        contains(expect_end('malloc', 41, 'E0113'), 'with code 41')
    contains(expect_end('comm', 43, 'E0113'), 'with code 43, on a pair')


def test_library_core_dumped():
    def allow():
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
        raise Skipped('core dumps are not allowed')
    text = expect_end('abort', 134, 'E0110', preexec_fn=allow, cwd=launch.scratch)
    with open('/proc/sys/kernel/core_pattern') as file:
        if 'core dumped' not in text:
            raise Skipped('the system dumps no core here: core_pattern is ' + file.read().strip())


def test_who_was_killed_comes_first():
    """Ranks that are found dead together, the first ones because of the last."""
    ranks = ('sh', '-c', 'trap "exit 3" TERM; echo $$; while :; do sleep 0.05; done')
    process = start('-n', 3, *ranks)
    pids = sorted(map(int, launch.read_lines(process, 3)))
    process.send_signal(signal.SIGSTOP)
    for pid, what in zip(pids, (signal.SIGTERM, signal.SIGTERM, signal.SIGKILL)):
        os.kill(pid, what)
    while not all(launch.state_of(pid) == 'Z' for pid in pids):
        time.sleep(0.01)
    process.send_signal(signal.SIGCONT)
    err = finish(process)[1]
    equal(process.returncode, 137, f'exit code; stderr {err!r}')
    equal(re.findall(r'E\d+', err), ['E0110', 'E0111'], f'messages; stderr {err!r}')


# --- signals

ALL = ['INT', 'TERM', 'HUP', 'QUIT', 'USR1', 'USR2', 'ALRM', 'WINCH', 'CONT']


def got(text):
    return sorted(re.findall(r'got (\w+)', text))


def test_library_blocked_in_mpi():
    """A handler runs while the rank waits in MPI, and the wait goes on."""
    for name in ALL:
        process = start('-n', 3, launch.compiled('handles'), str(int(getattr(signal, 'SIG' + name))))
        equal(launch.read_lines(process, 3), ['ready'] * 3, 'ranks')
        time.sleep(0.05)  # some are asleep in MPI by now; all of them need not be
        process.send_signal(getattr(signal, 'SIG' + name))
        out, err = finish(process)
        equal((process.returncode, sorted(out.split())), (0, ['1', '1', '1']), f'{name}: signals by rank')
        if name != 'QUIT':
            equal(err, '', 'stderr')


def terminal_catch(name, send, count=3):
    """What ranks on a terminal say that they got, after `send` was called with pid and terminal."""
    pid, master = launch.terminal_session('-n', 3, *CATCH, name)
    launch.read_terminal(master, lambda text: text.count('ready') == 3)
    send(pid, master)
    text = launch.read_terminal(master, lambda text: False)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(master)
    return code, got(text)


def test_terminal_keys():
    for name, key in (('INT', b'\x03'), ('QUIT', b'\x1c')):
        equal(terminal_catch(name, lambda pid, master, key=key: os.write(master, key)), (0, [name] * 3), name)


def test_terminal_window():
    import fcntl
    import struct
    import termios

    def resize(pid, master):
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack('HHHH', 41, 97, 0, 0))
    equal(terminal_catch('WINCH', resize), (0, ['WINCH'] * 3), 'WINCH')


def test_terminal_kill():
    """To mpiexec alone, and to its process group, of which rank 0 is part: as a shell's kill %1 does."""
    for name in ALL:
        number = getattr(signal, 'SIG' + name)
        equal(terminal_catch(name, lambda pid, master: os.kill(pid, number)), (0, [name] * 3), f'{name} by kill')
        equal(terminal_catch(name, lambda pid, master: os.killpg(pid, number)), (0, [name] * 3),
              f'{name} to the group')


def shell_session():
    """An interactive shell on a terminal of its own."""
    pid, master = pty.fork()
    if pid == 0:
        try:
            os.execvpe('bash', ['bash', '--norc', '--noprofile', '-i'], dict(os.environ, PS1='$ ', HISTFILE=''))
        finally:
            os._exit(127)
    return pid, master


def is_witness(pid):
    with open(f'/proc/{pid}/comm') as file:
        return file.read() == 'mpiexec-witness\n'


def states(mark):
    """Of all processes of a job but the one that only shows signals."""
    return {launch.state_of(pid) for pid in launch.processes_with(mark) if not is_witness(pid)}


def test_terminal_shell():
    """Ctrl-Z stops all of the job, the shell's fg and kill %1 let all go on or end it, once for each rank."""
    if not shutil.which('bash'):
        raise Skipped('no bash')
    mark = launch.unique()
    pid, master = shell_session()
    launch.read_terminal(master, lambda text: '$ ' in text)
    os.write(master, f'{launch.mpiexec} -n 3 {" ".join(CATCH)} USR1 {mark}\n'.encode())
    launch.read_terminal(master, lambda text: text.count('ready ') >= 3)
    text = ''
    for _ in range(2):
        os.write(master, b'\x1a')
        text += launch.read_terminal(master, lambda text: 'Stopped' in text)
        launch.wait_until(lambda: states(mark) == {'T'}, launch.PATIENCE, 'all stop')
        os.write(master, b'fg\n')
        text += launch.read_terminal(master, lambda text: text.count('got CONT') == 3)
    os.write(master, b'\x1a')
    text += launch.read_terminal(master, lambda text: 'Stopped' in text)
    os.write(master, b'kill -USR1 %1; fg\n')
    text += launch.read_terminal(master, lambda text: text.count('got USR1') == 3)
    os.write(master, b'exit\n')
    text += launch.read_terminal(master, lambda text: False)
    equal({name: got(text).count(name) for name in got(text)}, {'CONT': 9, 'USR1': 3}, f'signals in {text!r};')
    os.waitpid(pid, 0)
    os.close(master)


def test_terminal_hangs_up():
    """The terminal goes: everything ends."""
    mark = launch.unique()
    pid, master = launch.terminal_session('-n', 3, 'sleep', mark)
    launch.wait_until(lambda: len(launch.processes_with(mark)) >= 4, launch.PATIENCE, 'ranks run')
    os.close(master)
    os.waitpid(pid, 0)
    launch.wait_until(lambda: not launch.processes_with(mark), launch.PATIENCE, 'all gone')


if __name__ == '__main__':
    sys.exit(launch.main(globals(), __doc__))
