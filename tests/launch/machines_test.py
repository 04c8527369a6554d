#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on several machines, beyond starting and ending (agents_test.py): how the other machines are reached, mpiexec
that sends itself, and who waits for whom across machines.

    machines_test.py --build DIR [NAME ...]"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import hang_test  # noqa: E402
import launch_test as launch  # noqa: E402
from agents_test import RSH, environment, host, run, start  # noqa: E402
from launch_test import Skipped, check, contains, equal, expect  # noqa: E402

TWO = ('-host', 'a:2,b:2', '-n', 4)
MIXED = ('-host', 'a:2,localhost:2', '-n', 4)


# --- how other machines are reached

def script(name, text):
    path = os.path.join(launch.scratch, name)
    with open(path, 'w') as file:
        file.write('#!/bin/sh\n' + text)
    os.chmod(path, 0o755)
    return path


def test_sent():
    """No mpiexec there: it sends itself, runs, and leaves nothing."""
    result = run('--prefix', '/no/such', *TWO, 'sh', '-c',
                 'readlink /proc/$PPID/exe; ls -l /proc/self/fd | grep "/m .deleted"; true')
    equal((result.returncode, result.stderr), (0, ''))
    files = result.stdout.splitlines()
    check(len(files) == 4 and all(re.fullmatch(r'/\S*/parley-\d+/m \(deleted\)', file) for file in files), files)
    check(not any(os.path.exists(os.path.dirname(file)) for file in files), files)


def test_other_kind():
    """A machine that cannot run our file; one that takes only a part of it."""
    host('old', 'echo PARLEY-SEND pdp11; cat >/dev/null; exit 1\n')
    result = run('-host', 'old', 'true')
    expect(result, 125, [], 'E0150: mpiexec cannot be started on old')
    contains(result.stderr, 'cannot be sent to pdp11')
    host('full', 'echo PARLEY-SEND $(uname -m); head -c 1000 >/dev/null; echo no space left >&2; exit 1\n')
    result = run('-host', 'full', 'true')
    expect(result, 125, [], 'E0150: mpiexec cannot be started on full')
    contains(result.stderr, 'no space left')


def test_prefix():
    """Parley in another place there."""
    prefix = os.path.join(launch.scratch, 'prefix', 'bin')
    os.makedirs(prefix, exist_ok=True)
    if not os.path.exists(os.path.join(prefix, 'mpiexec')):
        os.symlink(launch.mpiexec, os.path.join(prefix, 'mpiexec'))
    host('a', 'export TMPDIR=/no/such\n')
    result = run('--prefix', os.path.dirname(prefix), '-host', 'a', 'sh', '-c', 'tr "\\0" " " </proc/$PPID/cmdline')
    expect(result, 0, [f'{prefix}/mpiexec --agent '])


SRUN = '''lines=whole # srun hands on nothing else, if it is not told to
for word; do case $word in
    -w) is_host=1;;
    /bin/sh) break;;
    *) [ "$is_host" ] && host=$word; is_host=;;
esac; done
while [ "$1" != /bin/sh ]; do test "$1" = --unbuffered && lines=; shift; done
export FAR_HOST=$host
test "$lines" || exec "$@"
"$@" | python3 -c 'import sys
for line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.buffer.flush()'
'''


def test_slurm():
    """The hosts of the allocation, reached by srun."""
    folder = os.path.dirname(script('srun', SRUN))
    env = dict(os.environ, SLURM_JOB_NODELIST='n[1-2]', SLURM_TASKS_PER_NODE='2(x2)',
               PATH=f'{folder}:{os.environ["PATH"]}')
    env.pop('PARLEY_RSH', None)
    result = launch.run('sh', '-c', 'echo $PARLEY_RANK $FAR_HOST $PARLEY_LOCAL_SIZE', env=env)
    expect(result, 0, ['0 n1 2', '1 n1 2', '2 n2 2', '3 n2 2'])


def ip(*words):
    return subprocess.run(['ip', *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def test_ipv6():
    """Two machines, network name spaces with a wire between them, without IPv4 but for loopback; first with addresses
    of their own net, then with those only that each interface has."""
    name = f'parley{os.getpid()}'
    if not shutil.which('ip') or ip('netns', 'add', name + 'a').returncode:
        raise Skipped('no network name spaces here')
    try:
        ip('netns', 'add', name + 'b')
        made = ip('-n', name + 'a', 'link', 'add', 'wire', 'type', 'veth', 'peer', 'name', 'wire', 'netns', name + 'b')
        if made.returncode:
            raise Skipped(f'no wire between name spaces: {made.stdout}')
        for side, address in ('a', 'fd00:77::1/64'), ('b', 'fd00:77::2/64'):
            for words in (['link', 'set', 'lo', 'up'], ['link', 'set', 'wire', 'up'],
                          ['-6', 'addr', 'add', address, 'dev', 'wire', 'nodad']):
                equal(ip('-n', name + side, *words).stdout, '')
        env = dict(os.environ, PARLEY_RSH=script('netns-rsh', 'case $1 in *1) s=a;; *) s=b;; esac; shift\n'
                                                 f'exec ip netns exec {name}$s sh -c "$1"\n'))
        programs = [os.path.join(launch.build, 'tests', name) for name in ('coll/allreduce', 'pt2pt/order')]
        for hosts in 'fd00:77::1,fd00:77::2', '[fd00:77::1]:2,[fd00:77::2]:2':
            expect(launch.run('-host', hosts, '-n', 4, programs[0], env=env), 0, [])
        for side in 'ab':
            ip('-n', name + side, '-6', 'addr', 'flush', 'dev', 'wire', 'scope', 'global')
            launch.wait_until(lambda s=side: 'tentative' not in ip('-n', name + s, '-6', 'addr').stdout, 20,
                              'addresses')
        for program in programs:
            expect(launch.run('-host', 'near1,near2', '-n', 4, program, env=env), 0, [])
    finally:
        for side in 'ab':
            ip('netns', 'del', name + side)


def sshd():
    """A server of our own at a free port, and a program `ssh` that knows it as far1 and far2."""
    server = shutil.which('sshd', path=os.environ['PATH'] + ':/usr/sbin:/sbin')
    if not server or not shutil.which('ssh') or not shutil.which('ssh-keygen'):
        raise Skipped('no sshd or ssh here')
    if os.geteuid() == 0 and not os.path.isdir('/run/sshd'):
        try:
            os.makedirs('/run/sshd', exist_ok=True)
        except OSError as why:
            raise Skipped(f'/run/sshd: {why}')
    folder = os.path.join(launch.scratch, 'ssh')
    os.makedirs(folder, exist_ok=True)
    for key in ('host', 'user'):
        if not os.path.exists(f'{folder}/{key}'):
            subprocess.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', f'{folder}/{key}'], check=True)
    return launch.with_port(lambda port: sshd_at(port, server, folder))


def sshd_at(port, server, folder):
    """None: somebody else has the port."""
    files = {
        'server': f'Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nStrictModes no\nUsePAM no\n'
                  f'PidFile none\nAuthorizedKeysFile {folder}/user.pub\nPermitRootLogin yes\n',
        'client': f'Host far1 far2\nHostName 127.0.0.1\nPort {port}\nIdentityFile {folder}/user\n'
                  f'UserKnownHostsFile {folder}/known\nStrictHostKeyChecking no\nLogLevel ERROR\n',
    }
    for name, text in files.items():
        with open(os.path.join(folder, name), 'w') as file:
            file.write(text)
    program = script('ssh/ssh', f'exec {shutil.which("ssh")} -F {folder}/client "$@"\n')
    process = subprocess.Popen([server, '-D', '-e', '-f', f'{folder}/server'], stderr=subprocess.PIPE)
    line = process.stderr.readline().decode()
    if 'listening' not in line:
        process.kill()
        process.communicate()
        if 'Address already in use' in line:
            return None
        raise Skipped(f'sshd does not come up: {line}')
    return process, program


def test_ssh():
    """Through a real sshd, as users have it."""
    server, program = sshd()
    env = dict(os.environ, PARLEY_RSH=program)
    words = ('-host', 'far1,far2', '-n', 4)
    try:
        if subprocess.run([program, 'far1', 'true'], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, timeout=launch.STOP_AFTER).returncode:
            raise Skipped('this user cannot log in by ssh')
        for more in ((), ('--prefix', '/no/such')):
            result = launch.run(*more, *words, 'sh', '-c', 'echo $PARLEY_RANK $PARLEY_LOCAL_SIZE', env=env)
            equal((result.returncode, result.stderr), (0, ''))
            equal(sorted(result.stdout.splitlines()), ['0 2', '1 2', '2 2', '3 2'])
        expect(launch.run(*words, launch.compiled('ends'), 'well', env=env), 0, None)
        result = launch.run('-host', 'far1,far3.invalid', '-n', 2, 'true', env=env)
        expect(result, 125, [], 'E0150: mpiexec cannot be started on far3.invalid')
    finally:
        server.terminate()
        server.communicate()


def test_agents_of_others():
    """Open MPI's setting names the program; so does --launcher-exec."""
    env = environment()
    env.pop('PARLEY_RSH')
    for option in (['--mca', 'plm_rsh_agent', f'{RSH} : rsh'], ['--launcher-exec', RSH]):
        expect(launch.run(*option, '-host', 'a', 'sh', '-c', 'echo $FAR_HOST', env=env), 0, ['a'])


def test_no_library():
    """The program is there, and the library is not."""
    program = launch.compiled('leaves')
    hidden = os.path.join(launch.scratch, 'nolib')
    with open(hidden, 'wb') as file, open(program, 'rb') as original:
        file.write(original.read().replace(b'libmpi_abi.so.1', b'libmpi_gone.so.1'[:15]))
    os.chmod(hidden, 0o755)
    result = run('-host', 'a', hidden, '0')
    equal(result.returncode, 127)
    contains(result.stderr, 'libmpi_gone.so.')
    contains(result.stderr, 'E0154: on a: ')


# --- who waits for whom

def report(case, where, *options):
    """The report that comes by itself."""
    process = start('-hang-report', hang_test.SOON, *options, *where, hang_test.program(), case)
    try:
        return hang_test.timeless(hang_test.read_until_quiet(process.stderr))
    finally:
        hang_test.stop(process)


def test_hang():
    for where in (TWO, MIXED):
        text = report('ring', where)
        for part in ('E0120: all 4 ranks wait for ever', 'rank 0  MPI_Recv from rank 1, tag 7 on MPI_COMM_WORLD',
                     'hang.c:N', 'deadlock: 0 -> 1 -> 2 -> 3 -> 0'):
            contains(text, part)


def test_hang_near_miss():
    """What lies in a queue on another machine is told, too."""
    contains(report('wrong_tag', ('-host', 'a,b', '-n', 2)), 'near miss: rank')


def test_hang_missing():
    contains(report('missing', MIXED), 'rank 3')


def test_no_hang():
    """Somebody is at work on another machine: that is none, and is told of only if asked for."""
    for limit in (4, 20): # a busy machine needs longer until all are where they stay
        result = run('-hang-report', hang_test.SOON, '-timeout', limit, *TWO, hang_test.program(), 'late')
        equal(result.returncode, 124)
        check('E0120' not in result.stderr, result.stderr)
        contains(result.stderr, 'E0121')
        if 'asleep outside of MPI' in result.stderr:
            break
    contains(result.stderr, 'asleep outside of MPI')


def test_asked():
    """SIGQUIT, and --report."""
    process = start('-hang-report', 0, *TWO, hang_test.program(), 'late')
    try:
        told = ''
        end = time.monotonic() + launch.STOP_AFTER
        while 'MPI_Barrier' not in told and time.monotonic() < end:
            time.sleep(0.2)
            told = launch.run('--report', process.pid).stdout
        contains(told, 'MPI_Barrier')
        contains(told, 'E0121')
        process.send_signal(signal.SIGQUIT)
        contains(hang_test.timeless(hang_test.read_until_quiet(process.stderr)), 'MPI_Barrier')
    finally:
        hang_test.stop(process)


if __name__ == '__main__':
    sys.exit(launch.main(globals(), __doc__))
