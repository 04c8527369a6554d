#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of mpiexec and of the compiler wrappers.

    launch_test.py --build DIR [--full] [--no-library] [NAME ...]

Prints "ok NAME" or "FAIL NAME why"; exit code 1 if one failed. Most ranks are shells or small Python
programs; the tests named library_* compile ends.c with the wrapper and need the finished library."""

import argparse
import contextlib
import hashlib
import os
import pty
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CATCH = [sys.executable, os.path.join(HERE, 'catch.py')]
STOP_AFTER = 150 # seconds; nothing that is waited for takes that long
LIMIT = 140      # for mpiexec's -timeout, of jobs that end by themselves
PATIENCE = 20    # for what comes at once unless the machine has much else to do
SCALE = 1        # more with --full

# Whoever has started us in the background may have them ignored, and so would mpiexec.
for ignored in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(ignored) == signal.SIG_IGN:
        signal.signal(ignored, signal.default_int_handler if ignored == signal.SIGINT else signal.SIG_DFL)

build = None     # set by main
mpiexec = None
scratch = None


class Failure(Exception):
    pass


class Skipped(Exception):
    """A test that this machine cannot run; the text says why."""


def check(condition, *what):
    if not condition:
        raise Failure(' '.join(str(w) for w in what))


def equal(came, expected, what=''):
    check(came == expected, what, 'came', repr(came)[:600], 'expected', repr(expected)[:600])


def contains(text, part):
    check(part in text, repr(part), 'is not in', repr(text)[:800])


def run(*args, **more):
    """Run mpiexec; the result has text or, with binary=True, bytes."""
    binary = more.pop('binary', False)
    more.setdefault('stdin', subprocess.DEVNULL if 'input' not in more else None)
    if more['stdin'] is None:
        del more['stdin']
    return subprocess.run([mpiexec, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=STOP_AFTER, text=not binary, **more)


def expect(result, code, out=None, err=''):
    """err: None: anything; text: must be there; '': must be empty."""
    equal(result.returncode, code, f'exit code; stderr {result.stderr!r:.500};')
    if out is not None:
        equal(sorted(result.stdout.splitlines()), sorted(out), 'lines of stdout')
    if err == '':
        equal(result.stderr, '', 'stderr')
    elif err is not None:
        contains(result.stderr, err)


def start(*args, **more):
    return subprocess.Popen([mpiexec, *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **more)


def read_lines(process, count):
    return sorted(process.stdout.readline().rstrip('\n') for _ in range(count))


def finish(process):
    try:
        return process.communicate(timeout=STOP_AFTER)
    except subprocess.TimeoutExpired:
        process.kill()
        raise Failure('mpiexec did not end') from None


def processes_with(mark):
    """Processes whose command line holds `mark`, zombies left out."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/cmdline', 'rb') as file:
                if mark.encode() in file.read() and int(pid) != os.getpid():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def children(pid):
    """Of one process, as long as it is there."""
    try:
        with open(f'/proc/{pid}/task/{pid}/children') as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def wait_until(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < end, 'not within', seconds, 's:', what)
        time.sleep(0.01)


unique_count = 0


def unique():
    """A duration for sleep that nobody else uses, as a mark of the process."""
    global unique_count
    unique_count += 1
    return f'{9000 + unique_count}.{os.getpid():07d}' # of one length, so that none is in another


def free_ports(count=1):
    """The first of so many ports in a row that nobody has; below those that the system gives to others meanwhile."""
    with open('/proc/sys/net/ipv4/ip_local_port_range', encoding='ascii') as file:
        end = int(file.read().split()[0])
    for _ in range(100):
        port = random.randrange(1024, max(end - count, 1025))
        with contextlib.ExitStack() as stack:
            try:
                for more in range(count):
                    stack.enter_context(socket.socket()).bind(('', port + more))
                return port
            except OSError:
                pass
    raise Skipped(f'no {count} ports in a row are free below {end}')


def with_port(serve, count=1):
    """What serve(port) makes of so many free ports in a row; of others if it says, by None, that one is taken."""
    for _ in range(10):
        made = serve(free_ports(count))
        if made:
            return made
    raise Failure('every port is taken before a server has it')


# --- options and environment

def test_simple():
    script = 'echo $PARLEY_RANK $PARLEY_SIZE $PARLEY_LOCAL_RANK $PARLEY_LOCAL_SIZE'
    expect(run('-n', 3, 'sh', '-c', script), 0, [f'{i} 3 {i} 3' for i in range(3)])
    expect(run('echo', 'a b', '-n', '4'), 0, ['a b -n 4'])


def test_mpmd():
    expect(run('-n', 2, '-env', 'A', 'x', 'sh', '-c', 'echo $A $PARLEY_RANK', ':',
               '-np', 1, '-wdir', '/', 'pwd', ':', 'sh', '-c', 'echo last $A $PARLEY_RANK'), 0,
           ['x 0', 'x 1', '/', 'last 3'])


def test_environment():
    env = dict(os.environ, KEEP='kept', CHANGE='old', PARLEY_SINGLETON='1', PARLEY_RANK='77')
    script = 'echo $KEEP,$CHANGE,$G,$X,$PARLEY_SINGLETON,$PARLEY_RANK,$PWD'
    expect(run('-genv', 'G', '1 2', '-genv', 'X', 'g', '-env', 'CHANGE', 'new', '-x', 'X=y', '-x', 'KEEP',
               '-wdir', '/tmp', '-n', 1, 'sh', '-c', script, env=env), 0, ['kept,new,1 2,y,,0,/tmp'])


def test_variables_of_others():
    """What scripts for Open MPI and Hydra look for; not what the user has said otherwise."""
    script = ('echo $OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_SIZE $OMPI_COMM_WORLD_LOCAL_RANK '
              '$OMPI_COMM_WORLD_LOCAL_SIZE $OMPI_COMM_WORLD_NODE_RANK $OMPI_UNIVERSE_SIZE,'
              '$PMI_RANK $PMI_SIZE $MPI_LOCALRANKID $MPI_LOCALNRANKS,$PMI_FD$PMI_PORT$PMIX_RANK')
    env = dict(os.environ, OMPI_COMM_WORLD_SIZE='7', OMPI_UNIVERSE_SIZE='9', PMI_RANK='5', MPI_LOCALNRANKS='8',
               PMI_FD='3')
    expect(run('-n', 3, 'sh', '-c', script, env=env), 0, [f'{i} 3 {i} 3 {i} 3,{i} 3 {i} 3,' for i in range(3)])
    expect(run('--usize', 5, '-envnone', '-n', 1, '/bin/sh', '-c', script, ':', '-n', 1, '/bin/sh', '-c', script), 0,
           [f'{i} 2 {i} 2 {i} 5,{i} 2 {i} 2,' for i in range(2)])
    expect(run('-x', 'PMI_RANK=x', '-env', 'OMPI_UNIVERSE_SIZE', 'u', '-unset-env', 'PMI_SIZE', '-n', 2,
               'sh', '-c', script + '; env | grep -c ^PMI_'), 0,
           ['0 2 0 2 0 u,x 0 2,', '1', '1', '1 2 1 2 1 u,x 1 2,'])
    expect(run('-envexcl', 'OMPI_*', '-n', 1, 'sh', '-c', script), 0, [',0 1 0 1,'])


def test_program_search():
    directory = os.path.join(scratch, 'bin')
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, 'only-here'), 'w') as file:
        file.write('echo plain script: $0 $1\n')
    os.chmod(file.name, 0o755)
    expect(run('-path', f'/nowhere:{directory}', 'only-here', 'x'), 0, [f'plain script: {file.name} x'])
    expect(run('-env', 'PATH', f'{directory}:/bin', 'only-here', 'y'), 0, [f'plain script: {file.name} y'])
    expect(run('-wdir', directory, './only-here'), 0, ['plain script: ./only-here'])
    expect(run('only-here', cwd=directory), 127, [], 'write it as ./NAME')


def test_config_file():
    path = os.path.join(scratch, 'config')
    with open(path, 'w') as file:
        file.write("# comment\n-n 2 echo 'one word'\n\n-n 1 \\\n echo b : echo c\n-n 1 echo d\n")
    expect(run('-l', '-configfile', path), 0, ['[0] one word', '[1] one word', '[2] b : echo c', '[3] d'])


def test_accepted_options():
    expect(run('--oversubscribe', '--allow-run-as-root', '--bind-to', 'core', '--map-by=slot', '--mca', 'btl',
               'self,vader', '-host', 'localhost:8', '-soft', '1:2', '-ppn', 4, '--np', 2, 'echo', 'x'), 0,
           ['x', 'x'])


def test_information():
    expect(run('--version'), 0, None)
    contains(run('--help').stdout, '-wdir DIR')


def test_mistakes():
    plain = os.path.join(scratch, 'plain')
    with open(plain, 'w') as file:
        file.write('text')
    for args, code, part in [
            (['no-such-program'], 127, 'E0103: there is no program no-such-program'),
            (['./no-such-program'], 127, 'E0103: there is no program ./no-such-program'),
            ([plain], 126, 'E0104'), (['/tmp'], 126, 'is a directory'),
            (['-wdir', '/no/such', 'echo'], 127, 'E0105: the working directory /no/such'),
            (['-n', '0', 'echo'], 2, 'E0101: -n 0'), (['-frob', 'echo'], 2, 'E0101: unknown option -frob'),
            (['-host', '', 'echo'], 2, "E0101: -host '': no host is named"),
            (['-H', ', ', 'echo'], 2, "E0101: -H ', ': no host is named"),
            (['-arch', 'elsewhere', 'echo'], 2, 'E0102: -arch elsewhere'), ([], 2, 'no program'),
            (['echo', ':'], 2, 'no program'), (['true', ':', 'no-such-program'], 127, 'no-such-program')]:
        expect(run(*args), code, [], part)


def test_bad_interpreter():
    path = os.path.join(scratch, 'bad-interpreter')
    with open(path, 'w') as file:
        file.write('#!/no/such/interpreter\n')
    os.chmod(path, 0o755)
    expect(run('-n', 3, path), 126, [], 'E0107: rank 0')


# --- exit codes and messages

def one_message_of_many(*args):
    """A run with one message, of several ranks. On a busy machine some are too late for it, so there are several tries.
    """
    for _ in range(20):
        result = run(*args)
        messages = [line for line in result.stderr.splitlines() if 'parley: ' in line]
        if len(messages) == 1 and re.match('parley: ranks [0-9]+[-,]', messages[0]):
            return result
    raise Failure(f'not one message of several ranks, but {result.stderr!r}')


def test_exit_codes():
    expect(run('-n', 4, 'true'), 0, [])
    expect(run('false'), 1, [])
    result = one_message_of_many('-n', 3, 'sh', '-c', 'sleep 0.1; exit 7')
    expect(result, 7, [], ': E0111: sh exited with code 7')
    result = run('-n', 3, 'sh', '-c', 'test $PARLEY_RANK = 1 && exit 5; sleep 30')
    expect(result, 5, [], 'rank 1: E0111: sh exited with code 5')
    equal(len(result.stderr.splitlines()), 1, 'lines about the end')


def test_ended_by_signal():
    result = one_message_of_many('-n', 4, 'sh', '-c', 'kill -SEGV $$')
    expect(result, 139, [], ': E0110: sh was ended by signal 11 (Segmentation fault)')
    script = 'test $PARLEY_RANK = 1 && kill -9 $$; sleep 30'
    expect(run('-n', 2, 'sh', '-c', script), 137, [], 'rank 1: E0110')
    expect(run('-q', '-n', 2, 'sh', '-c', 'kill -9 $$'), 137, [])


def test_others_are_ended():
    mark = unique()
    script = f'trap "" TERM; test $PARLEY_RANK = 2 && exit 3; sleep {mark}; true'
    expect(run('-n', 4, 'sh', '-c', script), 3, [], None)
    equal(processes_with(mark), [], 'left behind')


def test_time_limit():
    expect(run('-timeout', 0.3, '-n', 2, 'sleep', 30), 124, [], 'E0114: the time limit of 0.3 s is over')
    expect(run('-n', 2, 'sleep', 30, env=dict(os.environ, MPIEXEC_TIMEOUT='0.3')), 124, [], 'E0114')


# --- stdin

def test_stdin():
    data = os.urandom(100 << 20)
    result = run('-n', 3, 'sha256sum', input=data, binary=True)
    digests = sorted(line.split()[0].decode() for line in result.stdout.splitlines())
    empty = hashlib.sha256(b'').hexdigest()
    equal(digests, sorted([hashlib.sha256(data).hexdigest(), empty, empty]), 'digests')


def test_stdin_is_left():
    result = subprocess.run(['sh', '-c', f'{mpiexec} -n 2 true; cat'], input='for cat\n',
                            stdout=subprocess.PIPE, text=True, timeout=STOP_AFTER)
    equal(result.stdout, 'for cat\n', 'what the next command reads')


# --- output

LINES = ('awk -v r=$PARLEY_RANK -v n={} '
         '\'BEGIN {{ for (i = 0; i < n; i++) print "rank " r " line " i " {}" }}\'')


def test_whole_lines():
    ranks, lines, filler = 64, 2000 * SCALE, 'x' * 40
    result = run('-n', ranks, 'sh', '-c', LINES.format(lines, filler))
    expect(result, 0)
    seen = [0] * ranks
    form = re.compile(f'rank ([0-9]+) line ([0-9]+) {filler}')
    for line in result.stdout.splitlines():
        match = form.fullmatch(line)
        check(match, 'torn line', repr(line))
        equal(int(match[2]), seen[int(match[1])], f'order of rank {match[1]}')
        seen[int(match[1])] += 1
    equal(seen, [lines] * ranks, 'lines by rank')


def test_label():
    expect(run('-l', '-n', 2, 'sh', '-c', 'echo a; echo b; echo e >&2'), 0,
           ['[0] a', '[0] b', '[1] a', '[1] b'], None)
    result = run('-l', '-n', 1, 'printf', 'x\\n\\ny')
    equal(result.stdout, '[0] x\n[0] \n[0] y', 'stdout')


def test_unfinished_lines():
    """A prompt comes before its line is whole; what others say then begins a line of its own."""
    mark = os.path.join(scratch, 'prompt')
    script = f'until_seen() {{ until test -e {mark}.$1; do sleep 0.01; done; }}; if test $PARLEY_RANK = 0; ' \
        'then printf prompt; until_seen 2; echo " done"; else until_seen 1; echo b; until_seen 3; echo c; fi'
    process = start('-n', 2, 'sh', '-c', script)
    for number, text in enumerate((b'prompt', b'\nb\n', b' done\n', b'c\n')):
        came = b''
        while len(came) < len(text):
            part = os.read(process.stdout.fileno(), 100)
            check(part, 'the end comes after', came)
            came += part
        equal(came, text, f'output number {number}')
        open(f'{mark}.{number + 1}', 'w').close()
    equal(finish(process), ('', ''), 'rest of the output')


def test_binary_output():
    data = os.urandom(1 << 20)
    for count in (1, 2):
        command = 'test $PARLEY_RANK = 0 && exec cat; true'
        result = run('-n', count, 'sh', '-c', command, input=data, binary=True)
        equal(result.stdout, data, f'output of {count} ranks')


def test_reader_goes():
    result = subprocess.run(['sh', '-c', f'{mpiexec} -n 2 yes | head -1'], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, timeout=STOP_AFTER)
    equal((result.stdout, result.stderr), ('y\n', ''), 'output')


def test_reader_goes_late():
    """When it goes the queue is full, and reading from the ranks has stopped."""
    result = subprocess.run(['sh', '-c', f'{mpiexec} -n 2 yes | sleep 1'], stderr=subprocess.PIPE, text=True,
                            timeout=STOP_AFTER)
    equal(result.stderr, '', 'stderr')


def test_slow_reader():
    """Nobody reads: mpiexec comes to a size at which it stays."""
    process = start('-n', 4, 'yes')
    sizes = [0, 1000]
    while sizes[-1] - sizes[-2] >= 1000 and len(sizes) < 100:
        time.sleep(0.5)
        with open(f'/proc/{process.pid}/status') as file:
            sizes.append(int(re.search(r'VmRSS:\s+(\d+)', file.read())[1]))
    process.send_signal(signal.SIGTERM)
    finish(process)
    check(sizes[-1] - sizes[-2] < 1000 and sizes[-1] < 60000, 'mpiexec grows:', sizes, 'kB')


def test_output_held_by_others():
    mark = unique()
    expect(run('-n', 2, 'sh', '-c', f'sleep {mark} & echo out'), 0, ['out', 'out'])
    expect(run('-n', 2, 'sh', '-c', f'setsid sleep {mark} & sleep 0.2; echo out'), 0, ['out', 'out'])
    equal(processes_with(mark), [], 'left behind')


# --- signals

def signal_test(name, *send):
    process = start('-n', 3, *CATCH, name)
    equal(read_lines(process, 3), ['ready 0', 'ready 1', 'ready 2'])
    lines = []
    for number in send or [getattr(signal, 'SIG' + name)]:
        process.send_signal(number)
        lines += read_lines(process, 3)
    out, err = finish(process)
    return process.returncode, sorted(lines + out.splitlines()), err


def test_signals():
    for name in ['INT', 'TERM', 'HUP', 'QUIT', 'USR1', 'USR2', 'ALRM', 'WINCH', 'CONT']:
        equal(signal_test(name), (0, [f'got {name}'] * 3, ''), name)


def test_several_signals():
    equal(signal_test('INT', signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT),
          (0, ['got INT'] * 3 + ['got USR1'] * 3 + ['got USR2'] * 3, ''), 'signals')


def test_signal_ends():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process = start('-n', 2, 'sh', '-c', 'echo ready; exec sleep 60')
        read_lines(process, 2)
        process.send_signal(number)
        equal(finish(process), ('', ''), 'output')
        equal(process.returncode, 128 + number, 'exit code')


def test_grace():
    """Not at once, and long before the time that would be given else is over."""
    process = start('-grace', 0.5, '-n', 2, *CATCH, 'INT', 'hold')
    read_lines(process, 2)
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    equal(finish(process)[1], '', 'who has killed it is known')
    check(0.4 < time.monotonic() - began < 9.5, 'ended after', time.monotonic() - began)
    equal(process.returncode, 137, 'exit code')


def test_second_interrupt():
    process = start('-grace', 1000, '-n', 2, *CATCH, 'INT', 'hold')
    read_lines(process, 2)
    process.send_signal(signal.SIGINT)
    equal(read_lines(process, 2), ['got INT'] * 2)
    process.send_signal(signal.SIGINT)
    finish(process)
    equal(process.returncode, 137, 'exit code')


def test_stop_and_continue():
    mark = unique()
    process = start('-n', 2, 'sleep', mark)
    wait_until(lambda: len(processes_with(mark)) == 3, PATIENCE, 'ranks run')
    process.send_signal(signal.SIGTSTP)
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    check(os.WIFSTOPPED(status), 'mpiexec did not stop')
    wait_until(lambda: {state_of(pid) for pid in processes_with(mark)} == {'T'}, PATIENCE, 'all are stopped')
    process.send_signal(signal.SIGCONT)
    wait_until(lambda: {state_of(pid) for pid in processes_with(mark)} == {'S'}, PATIENCE, 'all go on')
    process.send_signal(signal.SIGTERM)
    finish(process)


def state_of(pid):
    with open(f'/proc/{pid}/stat') as file:
        return file.read().rsplit(')', 1)[1].split()[0]


def test_ignored_signal_stays_ignored():
    script = f'trap "" HUP; exec {mpiexec} -n 2 sh -c "grep SigIgn /proc/self/status; sleep 1"'
    process = subprocess.Popen(['sh', '-c', script], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
    lines = [process.stdout.readline().split()[1] for _ in range(2)]
    process.send_signal(signal.SIGHUP)
    finish(process)
    equal(process.returncode, 0, 'exit code')
    check(all(int(mask, 16) & 1 for mask in lines), 'HUP is not ignored in the ranks:', lines)


def terminal_session(*args):
    """mpiexec as the foreground process of a terminal of its own: (pid, master)."""
    pid, master = pty.fork()
    if pid == 0:
        try:
            os.execv(mpiexec, [mpiexec, *map(str, args)])
        finally:
            os._exit(127)
    settings = termios.tcgetattr(master)
    settings[3] &= ~termios.ECHO
    termios.tcsetattr(master, termios.TCSANOW, settings)
    return pid, master


def read_terminal(master, until):
    text = ''
    end = time.monotonic() + STOP_AFTER
    while not until(text):
        check(time.monotonic() < end, 'the terminal shows', repr(text))
        try:
            text += os.read(master, 1000).decode()
        except OSError:
            break
    return text


def test_terminal():
    pid, master = terminal_session('-n', 3, *CATCH, 'INT')
    read_terminal(master, lambda text: text.count('ready') == 3)
    os.write(master, b'\x03')
    text = read_terminal(master, lambda text: False)
    equal(text.count('got INT'), 3, f'interrupts in {text!r};')
    equal(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0, 'exit code')
    os.close(master)


def test_terminal_stdin():
    script = 'read line; test -t 0 && echo terminal; echo "got <$line>"'
    pid, master = terminal_session('-n', 2, 'sh', '-c', script)
    os.write(master, b'from the keyboard\n')
    text = read_terminal(master, lambda text: False)
    equal(sorted(text.split('\r\n')), ['', 'got <>', 'got <from the keyboard>', 'terminal'], 'output')
    os.waitpid(pid, 0)
    os.close(master)
    pid, master = terminal_session('-n', 1, 'sh', '-c', 'test -t 1 && echo a terminal')
    contains(read_terminal(master, lambda text: False), 'a terminal')
    os.waitpid(pid, 0)
    os.close(master)


# --- nothing is left

def test_mpiexec_killed():
    for script in ('sleep {}', 'sleep {} & sleep {} & wait', '(sleep {}; true) | cat'):
        mark = unique()
        process = start('-n', 4, 'sh', '-c', script.replace('{}', mark))
        wait_until(lambda m=mark: len(processes_with(m)) >= 5, PATIENCE, 'ranks run')
        process.kill()
        process.wait()
        wait_until(lambda m=mark: not processes_with(m), PATIENCE, f'all processes of "{script}" gone')
        process.stdout.close()
        process.stderr.close()


def test_rank_killed():
    mark = unique()
    process = start('-n', 4, 'sh', '-c', f'sleep {mark}; true')
    wait_until(lambda: len(processes_with('sleep\0' + mark)) == 4, PATIENCE, 'ranks run')
    ranks = [pid for pid in processes_with(mark) if pid != process.pid and parent_of(pid) == process.pid]
    os.kill(ranks[2], signal.SIGKILL)
    _, err = finish(process)
    equal(process.returncode, 137, 'exit code')
    contains(err, 'E0110')
    equal(processes_with(mark), [], 'left behind')


def parent_of(pid):
    with open(f'/proc/{pid}/stat') as file:
        return int(file.read().rsplit(')', 1)[1].split()[1])


def test_descriptors():
    result = run('-n', 2, sys.executable, '-c', 'import os\n'
                 'names = []\n'
                 'for fd in os.listdir("/proc/self/fd"):\n'
                 '    try: names.append(fd + " " + os.readlink("/proc/self/fd/" + fd))\n'
                 '    except OSError: pass\n'
                 'print(";".join(sorted(n.split(":")[0].split(" (")[0] for n in names)))')
    expect(result, 0)
    for line in result.stdout.splitlines():
        rest = [n for n in line.split(';') if n.split()[0] not in ('0', '1', '2')]
        equal([n.split()[1] for n in rest], ['/memfd', 'socket'], 'descriptors besides 0, 1, 2')
        check(all(int(n.split()[0]) >= 100 for n in rest), 'numbers', rest)


def test_nested():
    script = f'{mpiexec} -n 2 sh -c "echo \\$PARLEY_RANK/\\$PARLEY_SIZE"'
    expect(run('-n', 2, 'sh', '-c', script), 0, ['0/2', '1/2'] * 2)
    expect(run('-n', 2, mpiexec, '-n', 3, 'echo', 'x'), 0, ['x'] * 6)


def test_closed_stdio():
    result = subprocess.run(['sh', '-c', f'{mpiexec} -n 2 echo x <&- >&- 2>&-; echo $?'],
                            stdout=subprocess.PIPE, text=True, timeout=STOP_AFTER)
    equal(result.stdout, '0\n', 'exit code')


def test_file_limit():
    def limit(soft, hard):
        return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    expect(run('-n', 50, 'sh', '-c', 'ulimit -Sn', preexec_fn=limit(150, 1000)), 0, ['150'] * 50)
    expect(run('-n', 50, 'true', preexec_fn=limit(150, 160)), 125, [], 'E0106: 50 ranks need')
    expect(run('-n', 14, 'sh', '-c', 'ulimit -Sn', preexec_fn=limit(64, 64)), 0, ['64'] * 14)


def test_many_ranks():
    expect(run('-n', 300, 'true'), 0, [])


# --- wrappers

def wrapper(name, *args, **env):
    result = subprocess.run([os.path.join(build, 'launch', name), *args], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=dict(os.environ, **env))
    return result.stdout.strip() if result.returncode == 0 else (result.returncode, result.stderr)


def test_wrappers():
    dirs = ' '.join(f'-L{at} -Wl,-rpath,{at}' for at in (f'{build}/src', f'{build}/compat/older'))
    include = f'-DPARLEY_OLDER_NAMES -I{build}/api'
    lib = f'{dirs} -Wl,--push-state,--as-needed -lmpi_older -Wl,--pop-state -lmpi_abi'
    sanitizer = wrapper('mpicc', '-showme:compile').replace(include, '').strip()
    extra = f'{sanitizer} ' if sanitizer else ''
    cc, cxx = (wrapper(name, '-showme:command') for name in ('mpicc', 'mpicxx')) # those of the build
    for name, compiler in (('mpicc', cc), ('mpicxx', cxx)):
        equal(wrapper(name, '-show'), f'{compiler} {extra}{include} {lib}')
        equal(wrapper(name, '-showme', 'a.c', '-o', 'a b'), f"{compiler} {extra}{include} a.c -o 'a b' {lib}")
        equal(wrapper(name, '-show', '-c', 'a.c'), f'{compiler} {extra}{include} -c a.c')
        equal(wrapper(name, '-showme:compile'), f'{extra}{include}')
        equal(wrapper(name, '-showme:link'), f'{extra}{lib}')
        equal(wrapper(name, '-showme:incdirs'), f'{build}/api')
        equal(wrapper(name, '-showme:libdirs'), f'{build}/src')
        equal(wrapper(name, '-showme:libs'), 'mpi_abi')
        equal(wrapper(name, '-compile_info'), f'{compiler} {extra}{include}')
        equal(wrapper(name, '-link_info'), f'{compiler} {extra}{lib}')
        contains(wrapper(name, '-showme:version'), 'Parley')
        contains(wrapper(name, '-showme:help'), '-showme:WHAT')
        equal(wrapper(name, '-showme:frob')[0], 1)
    equal(wrapper('mpicc', '-cc=my cc', '-showme:command'), 'my cc')
    equal(wrapper('mpicc', '-showme:command', PARLEY_CC='other'), 'other')
    equal(wrapper('mpicxx', '-showme:command', MPICH_CXX='other++'), 'other++')
    os.symlink(os.path.join(build, 'launch', 'mpicc'), os.path.join(scratch, 'mpicc_abi'))
    equal(wrapper(os.path.join(scratch, 'mpicc_abi'), '-show'),
          f'{cc} {extra}-I{build}/api {dirs} -lmpi_abi', 'the standard ABI alone')
    words = ["-DX=\"it's $5 *\"", 'x y.c']
    quoted = subprocess.run(['sh', '-c', 'printf "%s\\n" ' + wrapper('mpicc', '-show', '-c', *words)],
                            stdout=subprocess.PIPE, text=True, cwd='/')
    equal(quoted.stdout.splitlines()[-2:], words, 'words after a shell has read them')


# --- with the library

def compiled(name, *options):
    """Path of the compiled program."""
    program = os.path.join(scratch, name)
    if not os.path.exists(program):
        result = subprocess.run([os.path.join(build, 'launch', 'mpicc'), '-O1', '-g', '-Wall', '-Werror', *options,
                                 '-o', program, os.path.join(HERE, name + '.c')], stderr=subprocess.PIPE, text=True)
        check(result.returncode == 0, name, 'does not compile:', result.stderr)
    return program


def ends():
    return compiled('ends')


def alone(how, **env):
    """Run it without a launcher."""
    return subprocess.run([ends(), how], env=dict(os.environ, **env), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=STOP_AFTER)


def ranks(count):
    return [f'rank {i} of {count}' for i in range(count)]


def test_library_info_env():
    program = compiled('info_env')
    keys = ('maxprocs', 'mpi_initial_errhandler', 'wdir', 'argv')
    expect(run('-initial-errhandler', 'mpi_errors_abort', '-n', 2, '-wdir', '/', program, *keys, ':',
               '-n', 1, '-wdir', '/tmp', program, 'maxprocs', 'soft'), 0,
           ['2|mpi_errors_abort|/|' + ' '.join(keys)] * 2 + ['1|(none)'])


def test_library_requests():
    """What the command line asks for is in MPI_INFO_ENV as it was written."""
    program = compiled('info_env')
    options = os.path.join(scratch, 'options')
    with open(options, 'w') as file:
        file.write('-n 2\n')
    keys = ('maxprocs', 'soft', 'file', 'mpi_memory_alloc_kinds', 'thread_level')
    expect(run('-soft', '1:2', '-file', options, program, *keys, ':',
               '--memory-alloc-kinds', 'mpi:alloc_mem,cuda', '-n', 1, program, *keys), 0,
           [f'2|1:2|{options}|(none)|MPI_THREAD_SINGLE'] * 2 +
           ['1|(none)|(none)|mpi:alloc_mem,cuda|MPI_THREAD_SINGLE'])
    # They are not those of what a rank starts, nor of a job inside of a job.
    expect(run('-soft', '1', 'sh', '-c', f'PARLEY_SINGLETON=1 {program} soft maxprocs; exec {program} soft'), 0,
           ['(none)|1', '1'])
    expect(run('-soft', '1', 'sh', '-c', f'{mpiexec} -n 1 {program} soft; exec {program} soft'), 0, ['(none)', '1'])
    program = compiled('kinds')
    expect(run('--memory-alloc-kinds', 'cuda,system,mpi:alloc_mem:no,mpi:win_allocate', program), 0,
           ['system,mpi:win_allocate,mpi', 'mpi,system', 'system,mpi:alloc_mem,mpi',
            'system,mpi:win_allocate,mpi'])
    expect(run(program), 0, ['mpi,system', 'mpi,system', 'system,mpi:alloc_mem,mpi', 'mpi,system'])


def test_library_psets():
    program = compiled('psets')
    # Parts without names of their own are numbered, and all know all sets.
    expect(run('-n', 2, program, 'mpix://app/0', 'mpix://app/1', ':', '-n', 1, program, 'app/0', 'app/1'), 0,
           ['0: mpi://WORLD mpi://SELF mpix://app/0 | mpix://app/0 0,1 2 2 | mpix://app/1 2 0 0',
            '1: mpi://WORLD mpi://SELF mpix://app/0 | mpix://app/0 0,1 2 2 | mpix://app/1 2 0 0',
            '2: mpi://WORLD mpi://SELF mpix://app/1 | app/0 0,1 0 0 | app/1 2 1 1'])
    # Names of the user; parts with one name are one set.
    asked = ('ocean', 'site://ice', 'mpix://app/1')
    sets = ' | ocean 0,1,4 {} | site://ice 3 {} | mpix://app/1 2 {}'
    expect(run('-n', 2, '-pset', 'ocean', program, *asked, ':', '-n', 1, program, *asked, ':', '-n', 1, '--pset',
               'site://ice', program, *asked, ':', '-n', 1, '-pset=mpix://ocean', program, *asked), 0,
           [f'{rank}: mpi://WORLD mpi://SELF {own}' + sets.format(*sizes) for rank, own, sizes in (
               (0, 'mpix://ocean', ('3 3', '0 0', '0 0')), (1, 'mpix://ocean', ('3 3', '0 0', '0 0')),
               (2, 'mpix://app/1', ('0 0', '0 0', '1 1')), (3, 'site://ice', ('0 0', '1 1', '0 0')),
               (4, 'mpix://ocean', ('3 3', '0 0', '0 0')))])
    # One part has a set only if it is named; both names of the standard are there, others are not.
    expect(run('-n', 2, program, 'MPI://world', 'mpi://SELF', 'mpix://app/0'), 0,
           ['0: mpi://WORLD mpi://SELF | MPI://world 0,1 2 2 | mpi://SELF 0 1 1 | mpix://app/0 unknown 0 0',
            '1: mpi://WORLD mpi://SELF | MPI://world 0,1 2 2 | mpi://SELF 1 1 1 | mpix://app/0 unknown 0 0'])
    expect(run('-n', 1, '-pset', 'x', program, 'x'), 0, ['0: mpi://WORLD mpi://SELF mpix://x | x 0 1 1'])
    for name, part in (('', 'without blanks'), ('two words', 'without blanks'), ('MPI://mine', "standard's own"),
                       ('x' * 1001, '1000 are allowed')):
        expect(run('-pset', name, program), 2, [], part)
    many = [word for i in range(4) for word in (':', '-pset', f'{i}' + 'x' * 900, 'true')][1:]
    expect(run(*many), 2, [], 'E0101: -pset 3xx')


def test_library_initial_errhandler():
    """The handler of the predefined communicators, which the others inherit."""
    program = os.path.join(build, 'tests', 'env', 'errors_fatal')
    for which in ('initial', 'dup', 'self'):
        expect(run('-initial-errhandler', 'mpi_errors_return', '-n', 1, program, which), 1,
               ['the faulty call came back'], 'E0112') # and then it just leaves
        for handler in ('mpi_errors_abort', 'mpi_errors_are_fatal'):
            expect(run('-initial-errhandler', handler, '-n', 2, program, which), 6, [], 'E0206: MPI_Send at')


def test_library_well():
    for count in (1, 2, 4, 9):
        expect(run('-n', count, ends(), 'well'), 0, ranks(count))
    expect(alone('well'), 0, ranks(1))


def test_library_exit_codes():
    expect(run('-n', 3, ends(), 'exit-6'), 6, ranks(3))
    expect(run('-n', 3, ends(), 'nothing'), 0, [])


def test_library_without_finalize():
    expect(run('-n', 3, ends(), 'early', 1), 1, None,
           'rank 1: E0112: ' + ends() + ' exited with code 0 after MPI_Init and without MPI_Finalize')
    expect(one_message_of_many('-n', 3, ends(), 'early'), 1, None, ': E0112')
    expect(run('-n', 1, ends(), 'early'), 1, ranks(1), 'rank 0: E0112')


def test_library_abort():
    for code, expected in ((3, 3), (255, 255), (256, 1), (-1, 255)):
        result = run('-n', 4, ends(), f'abort-{code}', 2)
        expect(result, expected, None, 'rank 2: ')
        check(len(result.stderr.splitlines()) <= 2, 'more than one message:', result.stderr)
    expect(one_message_of_many('-n', 4, ends(), 'abort-3'), 3, None, ': ')


def test_library_abort_loses_nothing():
    for _ in range(20 * SCALE):
        result = run('-n', 3, ends(), 'abort-3', 1)
        expect(result, 3, None, 'parley: rank 1: ')
        equal(processes_with(ends()), [], 'left behind')


def test_library_random_kills():
    for i in range(10 * SCALE):
        process = start('-n', 4, ends(), 'sleep')
        read_lines(process, i % 5)
        wait_until(lambda: len(processes_with(ends())) == 5, PATIENCE, 'ranks run')
        victim = sorted(processes_with(ends()))[i * 7 % 5]
        is_mpiexec = victim == process.pid
        os.kill(victim, signal.SIGKILL)
        finish(process)
        equal(process.returncode, -9 if is_mpiexec else 137, 'exit code')
        wait_until(lambda: not processes_with(ends()), PATIENCE, 'all gone')


def test_library_error():
    result = one_message_of_many('-n', 4, ends(), 'error')
    check(result.returncode not in (0, 139, 134), 'exit code', result.returncode)
    contains(result.stderr, '4711')
    contains(alone('error').stderr, '4711')


def test_library_death():
    expect(run('-n', 4, ends(), 'segv', 3), 139, None, 'rank 3: E0110')
    expect(run('-n', 4, ends(), 'kill', 0), 137, None, 'rank 0: E0110')


# Where a rank of waits.c blocks -> what is told of it.
WAITS = {
    'Recv': 'MPI_Recv from rank NEXT, tag 7 on the ocean, 3 x MPI_DOUBLE',
    'Recv_any': 'MPI_Recv from any rank, any tag on the ocean, 3 x MPI_INT',
    'Ssend': 'MPI_Ssend to rank NEXT, tag 5 on the ocean, 2 x MPI_DOUBLE',
    'Wait': 'MPI_Wait of MPI_Irecv from rank NEXT, tag 8 on the ocean, 4 x MPI_DOUBLE',
    'Start': 'MPI_Wait of MPI_Start of MPI_Recv_init from rank NEXT, tag 8 on the ocean, 4 x MPI_DOUBLE',
    'Startall': 'MPI_Waitall of MPI_Start of MPI_Ssend_init to rank NEXT, tag 5 on the ocean, 2 x MPI_DOUBLE',
    'Waitany': 'MPI_Waitany of MPI_Irecv from rank NEXT, tag 7 on the ocean, 4 x MPI_DOUBLE',
    'Sendrecv': 'MPI_Sendrecv from rank NEXT, tag 7 on the ocean, 1 x MPI_INT',
    'Sendrecv_replace': 'MPI_Sendrecv_replace from rank NEXT, tag 7 on the ocean, 1 x MPI_INT',
    'Isendrecv': 'MPI_Wait of MPI_Isendrecv from rank NEXT, tag 9 on the ocean, 1 x MPI_INT',
    'Isendrecv_replace': 'MPI_Wait of MPI_Isendrecv_replace from rank NEXT, tag 9 on the ocean, 2 x MPI_INT',
    'Grequest': 'MPI_Wait of MPI_Grequest_start',
    'Probe': 'MPI_Probe from rank NEXT, tag 7 on the ocean',
    'Mprobe': 'MPI_Mprobe from any rank, tag 7 on the ocean',
    'Precv': 'MPI_Wait of MPI_Precv_init from rank NEXT, tag 7 on the ocean, 4 x MPI_DOUBLE',
    'Psend': 'MPI_Wait of MPI_Psend_init to rank NEXT, tag 5 on the ocean, 4 x MPI_DOUBLE',
    'Nothing': 'computing (asleep outside of MPI)',
}

TABLE_LINE = re.compile(r'^    ranks? ([-, 0-9]+?)  +(\S.*?)(?:  +([0-9.]+) s)?(?:  \S+)?$', re.M)


def blocked(text):
    """What the table of a report tells of each rank, without time and place."""
    found = {}
    for ranks_text, what, _ in TABLE_LINE.findall(text):
        for part in ranks_text.split(', '):
            first, _, last = part.partition('-')
            for rank in range(int(first), int(last or first) + 1):
                found[rank] = what
    return found


def check_blocked(calls, expected):
    """The report at a time limit; a busy machine needs longer until all ranks are where they will stay."""
    for limit in (0.4, 2, 10):
        result = run('-timeout', limit, '-hang-report', 0, '-n', len(calls), compiled('waits'), *calls)
        expect(result, 124, None, 'E0114')
        if re.fullmatch(expected, str(blocked(result.stderr))):
            break
    check(re.fullmatch(expected, str(blocked(result.stderr))), 'of', calls, 'came', result.stderr)
    for _, _, seconds in TABLE_LINE.findall(result.stderr):
        check(float(seconds) <= limit + 60, 'waits for', seconds, 's of', limit, 's')


def expected_of(calls):
    told = {rank: WAITS[call].replace('NEXT', str((rank + 1) % len(calls))) for rank, call in enumerate(calls)}
    return re.escape(str(told))


def test_library_blocked():
    check_blocked([*WAITS], expected_of([*WAITS]))


def test_library_blocked_ring():
    check_blocked(['Recv'] * 4, expected_of(['Recv'] * 4))


def test_library_blocked_collective():
    for call in ('Barrier', 'Alltoall', 'Comm_dup', 'Comm_split'):
        told = f'MPI_{call} on the ocean'
        check_blocked(['Nothing', call, call], re.escape(str({0: WAITS['Nothing'], 1: told, 2: told})))


def test_library_blocked_on_quit():
    process = start('-n', 2, compiled('waits'), 'Recv', 'Nothing')
    read_lines(process, 2)
    process.send_signal(signal.SIGQUIT)
    _, text = finish(process)
    equal(set(blocked(text)), {0, 1}, 'ranks told of')
    contains(text, 'E0121')


def test_library_mpiexec_killed():
    for command in ([ends(), 'sleep'], ['sh', '-c', ends() + ' sleep; true'],
                    ['setsid', '-w', ends(), 'sleep']):
        process = start('-n', 4, *command)
        read_lines(process, 4)
        process.kill()
        process.wait()
        wait_until(lambda: not processes_with(ends()), PATIENCE, 'all ranks gone')
        process.stdout.close()
        process.stderr.close()


def test_library_wrapper_closes_descriptors():
    script = 'import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)'
    command = [sys.executable, '-c', script, ends()]
    expect(run('-n', 3, *command, 'well'), 0, ranks(3))
    expect(run('-n', 3, *command, 'abort-5', 1), 5, None, 'rank 1: ')
    process = start('-n', 2, *command, 'sleep')
    read_lines(process, 2)
    process.kill()
    process.wait()
    wait_until(lambda: not processes_with(ends()), PATIENCE, 'all ranks gone')
    process.stdout.close()
    process.stderr.close()


def test_library_child_of_rank():
    expect(run('-n', 2, ends(), 'children'), 0, ranks(2) + ['rank 0 of 1'] * 2)


def test_library_twice():
    result = run('-n', 2, 'sh', '-c', f'{ends()} well; {ends()} well')
    check(result.returncode != 0, 'exit code 0')
    contains(result.stderr, 'an mpiexec of its own')


def test_library_foreign_launcher():
    for name, value, part in (('OMPI_COMM_WORLD_SIZE', '4', 'Open MPI'), ('PMI_SIZE', '2', 'PMI')):
        result = alone('well', **{name: value})
        check(result.returncode != 0, 'exit code 0')
        contains(result.stderr, part)
        contains(result.stderr, 'PARLEY_SINGLETON=1')
        expect(run('-n', 2, ends(), 'well', env=dict(os.environ, **{name: value})), 0, ranks(2))
        expect(alone('well', PARLEY_SINGLETON='1', **{name: value}), 0, ranks(1))


def test_library_variables_of_others():
    """They are no marks of another launcher, also where there is no way back to mpiexec."""
    expect(run('-n', 2, '-x', 'OMPI_COMM_WORLD_SIZE=2', ends(), 'well'), 0, ranks(2))
    expect(run('-n', 2, 'sh', '-c', f'exec env -u PARLEY_JOB {ends()} well'), 0, ['rank 0 of 1'] * 2)


def test_library_unreachable():
    result = alone('well', PARLEY_JOB='3:4194303:100:101:0123456789abcdef0123456789abcdef:1:4:1:4')
    check(result.returncode != 0, 'exit code 0')
    contains(result.stderr, 'rank 1 of 4 cannot reach its mpiexec')


def run_tests(functions, names, is_left_out=lambda name: False):
    """Run those with a name, or all; 1 if one failed."""
    failed = 0
    for name, function in list(functions.items()):
        if not name.startswith('test_') or (names and name[5:] not in names) or is_left_out(name):
            continue
        try:
            function()
            print('ok', name[5:], flush=True)
        except Skipped as why:
            print('skipped', f'{name[5:]}:', why, flush=True)
        except Exception as why: # a mistake of the test itself must not hide the others
            failed += 1
            print('FAIL', name[5:], type(why).__name__, str(why)[:3000], flush=True)
    return 1 if failed else 0


def main(tests, description):
    """Run the functions test_* among `tests`, a dictionary; of this file and of those that import it."""
    global build, mpiexec, scratch, SCALE
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument('--build', required=True, help='build directory')
    parser.add_argument('--full', action='store_true', help='the long versions')
    parser.add_argument('--no-library', action='store_true', help='leave out what needs the library')
    parser.add_argument('names', nargs='*')
    args = parser.parse_args()
    build = os.path.realpath(args.build)
    mpiexec = os.path.join(build, 'launch', 'mpiexec')
    SCALE = 50 if args.full else 1
    with tempfile.TemporaryDirectory(prefix='parley-launch-') as scratch:
        return run_tests(tests, args.names,
                         lambda name: args.no_library and name.startswith('test_library_'))


if __name__ == '__main__':
    sys.exit(main(globals(), __doc__))
