#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on several machines: each has an mpiexec of its own that starts the ranks there. Most tests play the other
machines on this one, with a remote shell (rsh.sh) that ignores the name of the host; a few go through a real sshd.

    agents_test.py --build DIR [--full] [NAME ...]"""

import getpass
import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import dyn_test  # noqa: E402
import launch_test as launch  # noqa: E402
from launch_test import Skipped, check, contains, equal, expect, finish, unique  # noqa: E402

RSH = os.path.join(HERE, 'rsh.sh')
TWO = ('-host', 'a:2,b:2', '-n', 4)               # two machines, mpiexec on a third
THREE = ('-host', 'a:1,localhost:1,b:2', '-n', 4) # one of them is this one


def environment(**more):
    return dict(os.environ, PARLEY_RSH=RSH, RSH_DIR=os.path.join(launch.scratch, 'hosts'), **more)


def run(*args, **more):
    more.setdefault('env', environment())
    return launch.run(*args, **more)


def start(*args, **more):
    return launch.start(*args, env=environment(), **more)


def host(name, script):
    """What the login on that machine does first."""
    folder = os.path.join(launch.scratch, 'hosts')
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), 'w') as file:
        file.write(script)


def expect_gone(mark):
    """Nothing of a job is left."""
    launch.wait_until(lambda: not launch.processes_with(mark), launch.PATIENCE, f'all processes with {mark} gone')


def agents(process):
    """The mpiexecs that a job has on other machines."""
    found = []
    for pid in launch.children(process.pid):
        with open(f'/proc/{pid}/cmdline') as file:
            if '--agent' in file.read().split('\0'):
                found.append(pid)
    return found


# --- where ranks run and what they get

def test_places():
    script = 'echo $PARLEY_RANK $PARLEY_SIZE $PARLEY_LOCAL_RANK $PARLEY_LOCAL_SIZE $FAR_HOST'
    expect(run(*TWO, 'sh', '-c', script), 0, ['0 4 0 2 a', '1 4 1 2 a', '2 4 0 2 b', '3 4 1 2 b'])
    expect(run(*THREE, 'sh', '-c', script), 0, ['0 4 0 1 a', '1 4 0 1', '2 4 0 2 b', '3 4 1 2 b'])
    expect(run('-host', 'a', 'sh', '-c', script), 0, ['0 1 0 1 a'])


def test_programs():
    """Blocks between colons, each with its own directory and variables."""
    expect(run('-n', 1, '-env', 'A', 'x', '-host', 'a', 'sh', '-c', 'echo $A $FAR_HOST', ':',
               '-n', 1, '-wdir', '/tmp', '-host', 'b', 'sh', '-c', 'echo $PWD $(pwd) $FAR_HOST'), 0,
           ['x a', '/tmp /tmp b'])


def test_environment():
    """What the user has set travels, what belongs to a machine or a login does not; options are as ever."""
    env = environment(OWN='own one', HOME='/here', HOSTNAME='here', SSH_CLIENT='x', DISPLAY=':7', PARLEY_RANK='77',
                      PATH=f'/nowhere:{os.environ["PATH"]}', TMPDIR='/no/such')
    script = 'echo $OWN,$HOME,$USER,$HOSTNAME,$SSH_CLIENT,$DISPLAY,$TMPDIR,${PATH%%:*},$G,$X,$PARLEY_RANK'
    expect(run('-host', 'a', '-genv', 'G', '1 2', '-x', 'X=y', 'sh', '-c', script, env=env), 0,
           ['own one,/,far,,,,,/nowhere,1 2,y,0'])
    expect(run('-host', 'a', '-x', 'HOSTNAME', 'sh', '-c', 'echo $HOSTNAME', env=env), 0, ['here'])
    expect(run('-host', 'a', '-envnone', '-x', 'PATH', 'sh', '-c', 'echo $OWN,$FAR_HOST', env=env), 0, [','])
    expect(run('-host', 'a', '-envexcl', 'OWN', 'sh', '-c', 'echo $OWN,$FAR_HOST', env=env), 0, [',a'])


def test_directory():
    """Ranks start where mpiexec was called; a directory that is not there is told before anything starts."""
    folder = os.path.join(launch.scratch, 'folder')
    os.makedirs(folder, exist_ok=True)
    expect(run(*TWO, 'pwd', cwd=folder), 0, [folder] * 4)
    gone = os.path.join(launch.scratch, 'gone')
    os.makedirs(gone)
    host('c', f'rmdir {gone} 2>/dev/null\n')
    result = run('-host', 'c', 'pwd', cwd=gone)
    expect(result, 127, [], f'E0105: on c: the working directory {gone}: No such file')
    expect(run('-wdir', '/no/such', *TWO, 'pwd'), 127, [], 'E0105: on a: the working directory /no/such of pwd')


def test_no_program():
    """Each machine looks for its programs, and says so before any rank runs."""
    mark = unique()
    result = run('-n', 1, 'sleep', mark, ':', '-n', 1, '-host', 'b', './no-such-program')
    expect(result, 127, [], 'E0103: on b: there is no program ./no-such-program')
    expect_gone(mark)


# --- output and input

def test_output():
    lines = [f'rank {rank} line {i}' for rank in range(4) for i in range(1000)]
    script = 'i=0; while [ $i -lt 1000 ]; do echo rank $PARLEY_RANK line $i; i=$((i+1)); done'
    expect(run(*TWO, 'sh', '-c', script), 0, lines)
    expect(run('-l', *THREE, 'sh', '-c', 'echo out; echo err >&2'), 0, [f'[{i}] out' for i in range(4)], None)
    result = run('-l', *THREE, 'sh', '-c', 'echo err >&2')
    equal(sorted(result.stderr.splitlines()), [f'[{i}] err' for i in range(4)], 'stderr')
    result = run('--merge', *TWO, 'sh', '-c', 'echo out; echo err >&2; echo again')
    expect(result, 0, ['again', 'err', 'out'] * 4)
    expect(run('--output-from', 3, *TWO, 'sh', '-c', 'echo $PARLEY_RANK'), 0, ['3'])


def test_output_files():
    folder = os.path.join(launch.scratch, 'output')
    expect(run('--output-dir', folder, *TWO, 'sh', '-c', 'echo $PARLEY_RANK; echo e$PARLEY_RANK >&2'), 0, [])
    for rank in range(4):
        for name, text in (('out', f'{rank}\n'), ('err', f'e{rank}\n')):
            with open(os.path.join(folder, f'rank.{rank}.{name}')) as file:
                equal(file.read(), text, file.name)


def test_output_patterns():
    """Of the machine that the rank is on."""
    expect(run('--prepend-pattern', '%h %r: ', *TWO, 'echo', 'x'), 0, ['a 0: x', 'a 1: x', 'b 2: x', 'b 3: x'])


def test_much_output():
    """More than fits any window, one line that is longer than what is kept together, and no end of line."""
    size = 20_000_000
    result = run('-host', 'a', sys.executable, '-c', f'import sys; sys.stdout.write("x" * {size})', binary=True)
    equal((result.returncode, len(result.stdout), result.stdout.count(b'x')), (0, size, size))
    script = 'import sys\nfor i in range(200000): print(f"{i:09}" * 3)\n'
    text = ''.join(f'{i:09}' * 3 + '\n' for i in range(200000)).encode()
    result = run('-host', 'a,b', '--output-from', 1, '-n', 2, sys.executable, '-c', script, binary=True)
    equal(hashlib.sha256(result.stdout).hexdigest(), hashlib.sha256(text).hexdigest(), 'digest')


def memory_of(pid):
    with open(f'/proc/{pid}/status') as file:
        return int(re.search(r'VmRSS:\s+(\d+)', file.read())[1])


def test_slow_reader():
    """Nobody reads: the ranks wait, and neither mpiexec nor the agent keeps what they want to write."""
    process = start('-host', 'a:2', '-n', 2, 'yes', 'y' * 100)
    equal(len(process.stdout.read(10)), 10)
    time.sleep(1)
    for pid in (process.pid, *agents(process)):
        check(memory_of(pid) < 40000, 'memory of', pid, 'in KB:', memory_of(pid))
    process.stdout.close()
    process.wait(timeout=launch.STOP_AFTER)
    process.stderr.close()


def test_closed_reader():
    """Whoever reads has gone: the ranks are told by SIGPIPE, as without mpiexec."""
    process = start('-host', 'a', 'yes')
    process.stdout.readline()
    process.stdout.close()
    equal(process.wait(timeout=launch.STOP_AFTER), 128 + signal.SIGPIPE)
    equal(process.stderr.read(), '', 'stderr')
    process.stderr.close()


def test_stdin():
    text = ''.join(f'{i}\n' for i in range(300000))
    for words, count in ((TWO, 1), (THREE, 1), (('--stdin', 3, *TWO), 1), (('--stdin', 'all', *THREE), 4)):
        result = run(*words, 'cat', input=text)
        equal((result.returncode, len(result.stdout)), (0, count * len(text)), words)
    path = os.path.join(launch.scratch, 'input')
    with open(path, 'w') as file:
        file.write(text)
    with open(path) as file:
        equal(run(*TWO, 'md5sum', stdin=file).stdout.splitlines()[0].split()[0] != '', True)
    result = run('-i', path, *THREE, 'sh', '-c', 'cat | md5sum')
    equal(result.stdout, f'{hashlib.md5(text.encode()).hexdigest()}  -\n' * 4, 'each has read all')
    expect(run('--stdin', 'none', *TWO, 'cat', input=text), 0, [])
    expect(run(*TWO, 'head', '-1', input=text), 0, ['0'])


# --- ends

def test_exit_codes():
    expect(run(*TWO, 'true'), 0, [])
    mark = unique()
    script = f'test $PARLEY_RANK = 3 && exit 5; sleep {mark}'
    expect(run(*TWO, 'sh', '-c', script), 5, [], 'rank 3: E0111: sh exited with code 5')
    expect_gone(mark)
    script = f'test $PARLEY_RANK = 1 && kill -SEGV $$; sleep {mark}'
    expect(run(*THREE, 'sh', '-c', script), 139, [], 'rank 1: E0110: sh was ended by signal 11')
    expect_gone(mark)
    script = f'test $PARLEY_RANK = 0 && kill -KILL $$; sleep {mark}'
    expect(run(*THREE, 'sh', '-c', script), 137, [], 'rank 0: E0110: sh was ended by signal 9')
    expect_gone(mark)
    result = run(*TWO, 'sh', '-c', 'exit 7')
    check(result.returncode == 7 and 'E0111' in result.stderr, 'came', result)


def test_time_limit():
    mark = unique()
    expect(run('-timeout', 0.5, *THREE, 'sleep', mark), 124, [], 'E0114')
    expect_gone(mark)


def test_stubborn():
    """Ranks that ignore TERM, and processes that have left their group and hold the pipes."""
    mark = unique()
    script = f'trap "" TERM; setsid sleep {mark} & test $PARLEY_RANK = 0 && exit 4; sleep {mark}; sleep {mark}'
    expect(run(*TWO, 'sh', '-c', script), 4, [], 'rank 0: E0111')
    expect_gone(mark)
    expect(run(*TWO, 'sh', '-c', f'setsid sleep {mark} & echo x'), 0, ['x'] * 4)
    expect_gone(mark)


def test_signals():
    for name in ('USR1', 'TERM', 'INT'):
        process = start(*THREE, *launch.CATCH, name)
        equal(launch.read_lines(process, 4), [f'ready {i}' for i in range(4)])
        process.send_signal(getattr(signal, 'SIG' + name))
        out, err = finish(process)
        got = sorted(line for line in out.splitlines() if line != 'got CONT') # whoever stops all processes sends that
        equal((process.returncode, got, err), (0, [f'got {name}'] * 4, ''), name)


def test_kill_mpiexec():
    """On other machines what has left its process group is found, too."""
    for words, more in ((TWO, 'setsid'), (THREE, '')):
        mark = unique()
        process = start(*words, 'sh', '-c', f'{more} sleep {mark} & echo ready; sleep {mark}')
        launch.read_lines(process, 4)
        process.kill()
        process.communicate(timeout=launch.STOP_AFTER)
        expect_gone(mark)


def test_kill_agent():
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV):
        mark = unique()
        process = start(*THREE, 'sh', '-c', f'echo ready; sleep {mark}')
        launch.read_lines(process, 4)
        os.kill(agents(process)[-1], number)
        _, err = finish(process)
        equal(process.returncode, 125, f'exit code; stderr {err!r}')
        check(re.search(r'E0152: the connection to b is lost, and with it ranks 2-3: \S*rsh.sh b .*--agent.* (was '
                        r'ended by signal \d+|ended with exit code \d+)\n', err), 'stderr', repr(err))
        expect_gone(mark)


def test_stopped_agent():
    """One that does not answer any more is no reason not to end."""
    mark = unique()
    process = start('-grace', 1, *TWO, 'sh', '-c', f'echo ready; sleep {mark}')
    launch.read_lines(process, 4)
    stopped = agents(process)[0]
    os.kill(stopped, signal.SIGSTOP)
    try:
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=launch.STOP_AFTER)
    finally:
        os.kill(stopped, signal.SIGCONT)
    expect_gone(mark)


def test_silent_agent():
    """Nor is one that does not say that it has killed its ranks."""
    mark = unique()
    process = start('-grace', 0.5, *TWO, 'sh', '-c', f'echo ready; sleep {mark}')
    launch.read_lines(process, 4)
    stopped = agents(process)[0]
    os.kill(stopped, signal.SIGSTOP)
    process.send_signal(signal.SIGTERM)
    _, err = finish(process)
    equal(process.returncode, 128 + signal.SIGTERM)
    contains(err, 'E0152: the connection to ')
    contains(err, 'it has not said within 10 s that they were killed')
    expect_gone(mark)


def test_early_signals():
    """A machine is ready, another one is not yet: signals find nobody, and do no harm."""
    go = os.path.join(launch.scratch, unique())
    host('slow', f'until test -e {go}; do sleep 0.02; done\n')
    process = start('-host', 'a,slow', '-n', 2, 'echo', 'well')
    launch.wait_until(lambda: agents(process), 20, 'an agent')
    for _ in range(40):
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGUSR1)
        time.sleep(0.02)
    open(go, 'w').close()
    equal((finish(process), process.returncode), (('well\nwell\n', ''), 0), 'the job')


def test_early_questions():
    """Who asks for a report while machines come up hears of nobody in MPI, and the job goes on."""
    ready = os.path.join(launch.scratch, 'b is ready')
    host('b', f'while ! test -e "{ready}"; do sleep 0.05; done\n')
    process = start('-host', 'a:2,b:2', '-n', 4, 'sh', '-c', 'echo $FAR_HOST')
    try:
        launch.wait_until(lambda: agents(process), 20, 'an agent')
        for _ in range(10):
            time.sleep(0.1) # somewhere here the first machine is ready
            process.send_signal(signal.SIGQUIT)
        with open(ready, 'w'):
            pass
        out, err = process.communicate(timeout=launch.STOP_AFTER)
    finally:
        host('b', '')
        process.kill()
    equal((process.returncode, sorted(out.split()), err), (0, ['a', 'a', 'b', 'b'], ''))


def test_random_kills():
    """mpiexec, an agent, a rank here or there, at any moment: the job ends, and nothing is left."""
    seed = int(os.environ.get('PARLEY_SEED', time.time()))
    for i in range(300 if launch.SCALE > 1 else 10):
        dice = random.Random(seed + i)
        mark = unique()
        process = start(*dice.choice([TWO, THREE]), 'sh', '-c', f'sleep {mark} & sleep {mark}')
        time.sleep(dice.uniform(0, 0.3))
        near = launch.children(process.pid)
        ranks = launch.processes_with(mark)
        far = [pid for child in agents(process) for pid in launch.children(child) if pid in ranks]
        try:
            os.kill(dice.choice([process.pid] + near + far), signal.SIGKILL)
        except ProcessLookupError:
            process.kill()
        _, err = finish(process)
        check(process.returncode in (-signal.SIGKILL, 125, 137, 143), f'PARLEY_SEED={seed + i}: exit code',
              process.returncode, 'stderr', err)
        equal(process.returncode > 0, 'E0' in err, f'PARLEY_SEED={seed + i}: whether a message came')
        expect_gone(mark)


# --- machines that cannot be had

def test_cannot_start():
    host('silent', 'exit 3\n')
    host('closed', 'echo ssh: connect to host closed port 22: Connection refused >&2; exit 255\n')
    host('empty', 'echo Welcome; echo "sh: mpiexec: not found" >&2; exit 127\n')
    mark = unique()
    result = run('-host', 'a,silent,closed,empty', '-n', 4, 'sleep', mark)
    expect(result, 125, [], "E0150: mpiexec cannot be started on silent: ")
    contains(result.stderr, 'ended with exit code 3, and said nothing\n        mpiexec --doctor -host tries it')
    contains(result.stderr, 'ended with exit code 255, and said:\n        ssh: connect to host closed port 22')
    contains(result.stderr, 'ended with exit code 127, and said:\n')
    contains(result.stderr, '        Welcome\n')
    expect_gone(mark)


def test_no_remote_shell():
    result = run('-host', 'a', 'true', env=environment() | {'PARLEY_RSH': '/no/such/ssh -x'})
    expect(result, 125, [], '/no/such/ssh: No such file or directory')


def test_no_answer():
    host('asleep', 'exec sleep 1000\n')
    result = run('--launch-timeout', 0.3, '-host', 'a,asleep', '-n', 2, 'true')
    expect(result, 125, [], 'E0150: mpiexec cannot be started on asleep: ')
    contains(result.stderr, 'has not answered within 0.3 s')


def test_chatter():
    """What a login says on stdout and stderr does no harm, and stderr is passed on."""
    host('chatty', 'echo Welcome to this machine; printf "no end of line"; echo; echo careful >&2\n')
    result = run('-host', 'chatty', 'echo', 'x')
    expect(result, 0, ['x'], 'chatty: careful\n')


def test_other_version():
    host('old', 'echo PARLEY-AGENT 0.0.9 protocol 0; exec sleep 1000\n')
    expect(run('-host', 'a,old', '-n', 2, 'true'), 125, [],
           'E0151: on old mpiexec is that of Parley 0.0.9 protocol 0, and here it is 0.1')


def own_words():
    """The greeting of an agent of this version."""
    process = subprocess.Popen([launch.mpiexec, '--agent'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    line = process.stdout.readline().decode().strip()
    process.stdin.close()
    process.wait(timeout=launch.STOP_AFTER)
    process.stdout.close()
    return line


def test_nonsense():
    """Something that greets as an agent and then says what is none."""
    line = own_words()
    check(line.startswith('PARLEY-AGENT '), line)
    host('mad', f'echo "{line}"; echo this is no message at all; exec sleep 1000\n')
    result = run('-host', 'a,mad', '-n', 2, 'true')
    expect(result, 125, [], 'E0150: mpiexec cannot be started on mad: ')
    contains(result.stderr, 'sends what is no message: kind ')


def test_by_hand():
    """An agent that nobody talks to ends with its stdin, and one that somebody else talks to at once."""
    for text, code in ((b'', 125), (b'hello\n', 2), (b'PARLEY-MPIEXEC 0.0.1\n', 2)):
        result = subprocess.run([launch.mpiexec, '--agent'], input=text, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, timeout=launch.STOP_AFTER)
        equal((result.returncode, result.stdout.startswith(b'PARLEY-AGENT ')), (code, True), text)


def test_debugger():
    expect(run('--gdb', *THREE, 'true'), 2, [], 'E0153: --gdb works on this machine only, and rank 0 is on a')


def test_tools():
    """A command in front of the ranks, also of chosen ones."""
    expect(run('--wrap', 'env WRAPPED=yes', '--tool-ranks', '1,3', *TWO, 'sh', '-c', 'echo $PARLEY_RANK $WRAPPED'), 0,
           ['0', '1 yes', '2', '3 yes'])


# --- the real one

def write(name, text):
    path = os.path.join(launch.scratch, name)
    with open(path, 'w') as file:
        file.write(text)
    os.chmod(path, 0o600)
    return path


def sshd_at(port, program):
    """None: somebody else has the port."""
    folder = launch.scratch
    config = write('sshd_config', f'''Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/own_key.pub
PidFile none
StrictModes no
UsePAM {'yes' if os.geteuid() == 0 else 'no'}
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
''')
    client = write('ssh_config', f'''Host alpha beta
HostName 127.0.0.1
Port {port}
User {getpass.getuser()}
IdentityFile {folder}/own_key
IdentitiesOnly yes
UserKnownHostsFile {folder}/known_hosts
StrictHostKeyChecking no
LogLevel ERROR
BatchMode yes
''')
    process = subprocess.Popen([program, '-D', '-e', '-f', config], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    shell = ['ssh', '-F', client]
    for _ in range(50):
        tried = subprocess.run([*shell, 'alpha', 'true'], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if tried.returncode == 0 or process.poll() is not None:
            break
        time.sleep(0.1)
    if tried.returncode:
        process.kill()
        said = process.communicate()[1]
        if 'Address already in use' in said:
            return None
        raise Skipped('no login at an sshd of our own: ' + (tried.stderr + said).strip()[:300])
    return process, shell


def start_sshd():
    """An sshd for this user and this test, on a port of its own; the process, and the words for a remote shell that
    knows it as alpha and beta."""
    program = shutil.which('sshd', path='/usr/sbin:/usr/local/sbin:/sbin')
    if not program or not shutil.which('ssh') or not shutil.which('ssh-keygen'):
        raise Skipped('no sshd (apt-get install openssh-server)')
    if os.geteuid() == 0:
        os.makedirs('/run/sshd', mode=0o755, exist_ok=True)
    for name in ('host_key', 'own_key'):
        subprocess.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', os.path.join(launch.scratch, name)],
                       check=True)
    return launch.with_port(lambda port: sshd_at(port, program))


def test_ssh():
    """Through sshd: output, input, exit codes, and nothing left."""
    sshd, shell = start_sshd()
    try:
        env = dict(os.environ, PARLEY_RSH=' '.join(shell))
        expect(run('-host', 'alpha:2,beta:2', '-n', 4, 'sh', '-c', 'echo $PARLEY_RANK $PARLEY_LOCAL_RANK', env=env), 0,
               ['0 0', '1 1', '2 0', '3 1'])
        text = ''.join(f'{i}\n' for i in range(100000))
        equal(run('-host', 'alpha,beta', '-n', 2, 'cat', env=env, input=text).stdout, text, 'stdin to stdout')
        mark = unique()
        expect(run('-host', 'alpha,beta', '-n', 2, 'sh', '-c', f'test $PARLEY_RANK = 1 && exit 5; sleep {mark}',
                   env=env), 5, [], 'rank 1: E0111')
        expect_gone(mark)
        process = launch.start('-host', 'alpha,beta', '-n', 2, 'sh', '-c', f'echo ready; sleep {mark}', env=env)
        launch.read_lines(process, 2)
        process.kill()
        process.communicate(timeout=launch.STOP_AFTER)
        expect_gone(mark)
        env['PARLEY_RSH'] += ' -o BatchMode=yes'
        result = run('-host', 'alpha,no-such-machine.invalid', '-n', 2, 'sleep', mark, env=env)
        expect(result, 125, [], 'Could not resolve hostname no-such-machine.invalid')
        expect_gone(mark)
    finally:
        sshd.terminate()
        sshd.communicate(timeout=launch.STOP_AFTER)


# --- with MPI

def test_library_abort():
    """What an aborting rank has said before arrives, wherever it is."""
    lines = [f'line {i}' for i in range(300)]
    for words in (TWO, THREE):
        result = run(*words, launch.compiled('far'), 'abort')
        expect(result, 7, lines, 'rank 0: E0113: MPI_Abort')
        equal(result.stderr.count('parley: '), 1, f'messages in {result.stderr!r};')


def test_library_names():
    """Requests of ranks go to mpiexec, and the answers come back."""
    result = run(*TWO, launch.compiled('far'), 'publish')
    equal(result.returncode, 3, f'exit code; stderr {result.stderr!r}')
    lines = sorted(result.stdout.splitlines())
    equal(lines[-1], 'found a port')
    contains(lines[0], 'the service "far" has been published already, by rank 0')


def spawner(*words, expected=0, host_key=None, children=2):
    """The case of spawner.c, on these hosts: sorted lines of stdout, and stderr."""
    more = {'SPAWN_COUNT': str(children)}
    if host_key:
        more['SPAWN_HOST'] = host_key
    result = run('-timeout', launch.LIMIT, *words[:-1], launch.compiled('spawner', '-g'), words[-1],
                 env=environment(**more))
    equal(result.returncode, expected, f'exit code; stderr {result.stderr!r}')
    expect_gone(launch.compiled('spawner', '-g'))
    return sorted(result.stdout.splitlines()), result.stderr


def test_spawn_places():
    """Slots that are left come first; machines that have no ranks yet get an agent."""
    parent = 'parent is done'
    own = "mpiexec's own"
    for words, key, children, places in (
            (('-host', 'a:2,b:2', '-n', 1), None, 3, 'abb'),
            (('-host', 'a:2,b:2', '-n', 4), None, 2, 'ab'),
            (('-host', 'localhost:1,b:2', '-n', 1), None, 2, 'bb'),
            (('-host', 'a,localhost,b', '-n', 1), None, 2, ' b'),
            (('-host', 'a:4,b:4', '-n', 1), 'b', 2, 'bb'),
            (('-host', 'a:4,b:4', '-n', 1), 'b:1,a:1', 2, 'ba'),
            (('-host', 'a:4,b:4', '-n', 1), 'b.some.domain', 1, 'b'),
            (('-host', 'b,a', '-n', 1), 'localhost', 2, 'bb')):
        lines, _ = spawner(*words, 'where', host_key=key, children=children)
        wanted = [f'child {i} on {own if place == " " else place}' for i, place in enumerate(places)]
        equal(lines, sorted(wanted + [parent]), f'{words} {key}')


def test_spawn_variables():
    """Wherever they are, processes inherit what their parent's program was given."""
    for host in 'a', 'b':
        lines, _ = spawner('-host', 'a,b', '-genv', 'OF_ALL', 'yes', '-n', 1, '-x', 'OF_PROGRAM=yes', 'variables',
                           host_key=host)
        equal(lines, [f'{line} far' for line in dyn_test.VARIABLES], f'host {host}')


def test_spawn_again():
    """Places are used again, by processes of the same machine and of others."""
    spawner('-host', 'a,b', '-n', 1, 'again')
    spawner('-host', 'a,localhost,b', '-n', 3, 'again')


def test_spawn_refused():
    """A host that is none of the job's (E1014), one that cannot be reached, a program that is not there, too many."""
    _, said = spawner('-host', 'a,b', '-n', 2, 'plain', host_key='b, elsewhere', expected=53)
    contains(said, 'rank 0: E1014: MPI_Comm_spawn at spawner.c:')
    contains(said, 'host elsewhere: it is none of the hosts of this job')
    host('dead', 'echo no way; exit 3\n')
    _, said = spawner('-host', 'a:1,dead:2', '-n', 1, 'plain', expected=53)
    contains(said, 'rank 0: E0150: MPI_Comm_spawn at')
    contains(said, 'mpiexec cannot be started on dead: ')
    contains(said, 'no way')
    _, said = spawner('-host', 'a:1,b:2', '-n', 1, 'no_program', expected=53)
    contains(said, 'rank 0: E0103: MPI_Comm_spawn at')
    contains(said, 'on b: there is no program')
    _, said = spawner('-host', 'a:1,b:2', '-n', 1, 'room', expected=53)
    contains(said, 'E1001: ')
    _, said = spawner('-host', 'a:1,b:2', '-n', 2, 'nothing', expected=1)
    contains(said, 'E1002: ')


def test_spawn_deaths():
    """As on one machine (dyn_test.py): who is connected ends, others go on."""
    for words in (('-host', 'a:2,b:2', '-n', 2), ('-host', 'a:1,localhost:1,b:2', '-n', 2)):
        _, said = spawner(*words, 'child_dies', expected=128 + 9)
        contains(said, 'rank 1 of spawned world 1: E0110: ')
        _, said = spawner(*words, 'child_exits', expected=5)
        contains(said, 'rank 1 of spawned world 1: E0112: ')
        _, said = spawner(*words, 'parent_dies', expected=128 + 9)
        contains(said, 'rank 0: E0110: ')
        lines, said = spawner(*words, 'child_free', expected=128 + 9)
        contains(said, 'rank 1 of spawned world 1: E0110: ')
        contains('\n'.join(lines), 'parent is done')
        lines, _ = spawner(*words, 'both_free')
        equal(lines, ['child 0 is done', 'child 1 is done', 'parent is done'], 'output')


def test_ports():
    """Processes of different machines meet at a port."""
    for case, number in (('far_late', 1011), ('far_closed', 1009), ('far_closes', 1009)):
        result = run('-timeout', launch.LIMIT, '-host', 'a,b', '-n', 2, launch.compiled('spawner', '-g'), case)
        contains(result.stderr, f'rank 1: E{number}: MPI_Comm_connect at spawner.c:')
    for hosts in ('a:3,b:3,c:3', 'a:3,localhost:3,c:3', 'a:1,b:8'):
        result = run('-timeout', launch.LIMIT, '-host', hosts, '-n', 9, launch.compiled('spawner', '-g'),
                     'many_callers')
        equal((result.returncode, result.stdout), (0, 'sum 36\n'), hosts)


def test_spawn_hang():
    dyn_test.expect_hang(run, '-host', 'a:1,b:2', '-n', 1)


def test_spawn_killed():
    """Agents and mpiexec are killed at any moment while processes are started: the job ends, and nothing stays."""
    program = launch.compiled('spawner', '-g')
    chance = random.Random(1)
    for round_number in range(12 * launch.SCALE):
        process = start('-timeout', launch.LIMIT, '-host', 'a,localhost,b', '-n', 2, program, 'again')
        launch.wait_until(lambda: agents(process), launch.PATIENCE, 'an agent')
        time.sleep(chance.random() * 0.3)
        victims = agents(process) if round_number % 3 else [process.pid]
        if victims:
            os.kill(chance.choice(victims), signal.SIGKILL)
        out, err = process.communicate(timeout=launch.STOP_AFTER)
        check(process.returncode != 124, 'it took all its time;', out, err)
        expect_gone(program)


def test_library_profile():
    """What a tool writes is written where the rank is."""
    if '-fsanitize' in launch.wrapper('mpicc', '-showme:compile'):
        raise Skipped('sanitizers want to be the first library that is loaded')
    name = os.path.join(launch.scratch, 'profile')
    result = run('--profile=' + name, *TWO, os.path.join(launch.build, 'tests', 'pt2pt', 'sendrecv'))
    equal(result.returncode, 0, f'exit code; stderr {result.stderr!r}')
    check(os.path.exists(name + '.json'), 'no', name + '.json;', result.stderr)


def test_library_chapters():
    """Programs of the chapters, whose ranks have no memory together here."""
    chapters = ['pt2pt', 'coll', 'comm', 'rma', 'io', 'session', 'dyn'] if launch.SCALE > 1 else ['pt2pt', 'dyn']
    ranks = [2, 3, 4, 7, 8] if launch.SCALE > 1 else [3]
    command = [sys.executable, os.path.join(HERE, '..', 'run.py'), '--bin-dir', os.path.join(launch.build, 'tests'),
               '--mpiexec', f'{launch.mpiexec} -host a,localhost', '--timeout', '3', '--jobs', '2']
    command += [word for chapter in chapters for word in ('--chapter', chapter)]
    command += [word for count in ranks for word in ('--ranks', str(count))]
    done = subprocess.run(command, env=environment(PARLEY_NODES='2'), stdout=subprocess.PIPE, text=True, check=False,
                          timeout=400 * launch.SCALE)
    failed = [line for line in done.stdout.splitlines() if line.startswith('FAIL') and 'PARLEY_NODES=' not in line]
    check(not failed and ' passed' in done.stdout, done.stdout[-2000:])


if __name__ == '__main__':
    sys.exit(launch.main(globals(), __doc__))
