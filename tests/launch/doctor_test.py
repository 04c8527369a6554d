#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of mpiexec --doctor: what it says here, and on machines that refuse something. What it says of a refusal is
compared with what a job does then.

    doctor_test.py --build DIR [NAME ...]

Prints "ok NAME", "skipped NAME: why" or "FAIL NAME why"; exit code 1 if one failed."""

import os
import re
import subprocess
import sys

import bind_test
from launch_test import Skipped, check, contains, equal


def doctor(prefix=(), env=None, options=()):
    """Exit code, and lines as {what: (mark, value, rest)}."""
    result = bind_test.run('--doctor', *options, prefix=prefix, env=env)
    equal(result.stderr, '')
    check(len(result.stdout.splitlines()) <= 24 or options, 'more than one screen')
    lines = {}
    for line in result.stdout.splitlines()[1:-1]:
        mark, what, value, rest = line[:6].strip(), line[6:24].strip(), line[24:49].strip(), line[49:]
        check(mark in ('ok', 'note', 'FAIL', ''), line)
        if mark:
            lines[what] = (mark, value, rest)
        else:
            last = list(lines)[-1]
            lines[last] = (*lines[last][:2], lines[last][2] + '\n' + rest)
    return result.returncode, lines, result.stdout.splitlines()[-1]


def job(prefix):
    """The empty MPI program on two ranks."""
    command = os.path.join(bind_test.build, 'bench', 'empty')
    return bind_test.run('-n', 2, command, prefix=prefix)


def test_here():
    code, lines, last = doctor()
    equal((code, last), (0, 'jobs can run here'))
    for what in ('system', 'processors', 'memory', 'launching', 'memory file', 'two processes', 'process_vm_readv',
                 'membarrier', 'open files', 'processes', '/dev/shm', 'seccomp', 'networks', 'mpiexec',
                 'mpicc', 'libmpi_abi'):
        check(what in lines, what, 'is missing in', lines)
    contains(lines['processors'][1], str(len(bind_test.ALLOWED)))
    result = bind_test.run('--version')
    contains(result.stdout, 'mpiexec (Parley)')


def test_no_peeking():
    words = bind_test.denied('process_vm_readv', 'process_vm_writev', 'membarrier')
    code, lines, _ = doctor(words)
    equal(code, 0)
    equal(lines['process_vm_readv'][:2], ('note', 'Operation not permitted'))
    contains(lines['process_vm_readv'][2], 'through cells\na seccomp filter is on')
    equal(lines['membarrier'][0], 'note')
    equal(lines['seccomp'][1], 'a filter is on')
    result = job(words)
    equal((result.returncode, result.stderr), (0, ''))


def test_only_write():
    code, lines, _ = doctor(bind_test.denied('process_vm_writev'))
    equal((code, lines['process_vm_readv'][0]), (0, 'note'))


def test_no_memory_file():
    words = bind_test.denied('memfd_create')
    code, lines, _ = doctor(words)
    equal((code, lines['memory file'][1]), (0, 'refused'))
    contains(lines['memory file'][2], 'allow memfd_create')
    equal(job(words).returncode, 0)


def test_no_sockets():
    words = bind_test.denied('socketpair')
    code, lines, _ = doctor(words)
    equal((code, lines['launching'][0]), (1, 'FAIL'))
    contains(lines['launching'][2], 'socketpair')
    equal(job(words).returncode, 125)


def test_processes():
    """Where no process may be started."""
    if os.geteuid() == 0:
        raise Skipped('the limit of processes does not hold for root')
    code, lines, _ = doctor(['sh', '-c', 'ulimit -u 1; exec "$@"', 'sh'])
    equal((code, lines['two processes'][0]), (1, 'FAIL'))


def test_open_files():
    code, lines, _ = doctor(['sh', '-c', 'ulimit -n 280; exec "$@"', 'sh'])
    equal((code, lines['open files'][:2]), (0, ('note', '280')))
    contains(lines['open files'][2], 'enough for 8 ranks only')


def test_memory_limit():
    """Of the own control group, wherever that is."""
    with open('/proc/self/cgroup', encoding='ascii') as file:
        above = [line.split(':', 2)[2].strip().rstrip('/') for line in file if line.split(':')[1] == 'memory']
    folder = f'/sys/fs/cgroup/memory{above[0] if above else ""}/parley-doctor-{os.getpid()}'
    try:
        os.makedirs(folder)
        with open(os.path.join(folder, 'memory.limit_in_bytes'), 'w', encoding='ascii') as file:
            file.write(str(300 << 20))
    except OSError as why:
        raise Skipped(f'no control group can be made: {why}') from None
    try:
        _, lines, _ = doctor(['sh', '-c', f'echo $$ >{folder}/cgroup.procs; exec "$@"', 'sh'])
    finally:
        os.rmdir(folder)
    equal(lines['memory'][0], 'note')
    contains(lines['memory'][2], "the cgroup's limit is 300 MB")


def test_paths():
    """Another mpiexec that PATH finds first, another library."""
    other = os.path.join(bind_test.scratch, 'openmpi')
    os.makedirs(other)
    for name in ('mpiexec', 'libmpi_abi.so.1'):
        with open(os.path.join(other, name), 'w', encoding='ascii') as file:
            file.write('#!/bin/sh\n')
    _, lines, _ = doctor(env={'PATH': other + ':' + os.environ['PATH'], 'LD_LIBRARY_PATH': other})
    equal(lines['mpiexec'][:2], ('note', 'Open MPI'))
    contains(lines['mpiexec'][2], other)
    equal(lines['libmpi_abi'][:2], ('note', 'by LD_LIBRARY_PATH'))
    own = os.path.join(bind_test.build, 'launch')
    _, lines, _ = doctor(env={'PATH': own + ':/usr/bin:/bin', 'LD_LIBRARY_PATH': ''})
    equal(lines['mpiexec'][:2], ('ok', 'this one'))
    equal(lines['libmpi_abi'][:2], ('ok', 'as linked'))
    _, lines, _ = doctor(env={'LD_LIBRARY_PATH': os.path.join(bind_test.build, 'src')})
    equal(lines['libmpi_abi'][:2], ('ok', 'this one'))
    _, lines, _ = doctor(env={'PATH': bind_test.scratch})
    equal(lines['mpiexec'][:2], ('ok', 'not in PATH'))


def remote_shell(text):
    """A program in place of ssh: the host and one word for a shell are its arguments."""
    path = os.path.join(bind_test.scratch, 'rsh')
    with open(path, 'w', encoding='ascii') as file:
        file.write('#!/bin/sh\n' + text)
    os.chmod(path, 0o755)
    return {'PARLEY_RSH': path}


def test_hosts():
    """Another machine, which is this one."""
    there = remote_shell('echo welcome\nexec sh -c "$2"\n')
    code, lines, last = doctor(env=there, options=['-host', 'beta'])
    equal((code, last), (0, 'jobs can run there'))
    equal(lines['host'][:2], ('ok', 'beta'))
    for what in ('mpiexec', 'libmpi_abi', 'folder', 'connects to', 'is reached at'):
        equal(lines[what][0], 'ok', what)
    check('processors' not in lines, 'this machine is told of, too')
    code, lines, last = doctor(env=there, options=['-host', 'u@beta', '--prefix', '/no/such'])
    equal((code, lines['mpiexec'][:2]), (0, ('note', 'is sent each time')))
    equal(lines['connects to'][0], 'ok')
    code, lines, last = doctor(env=there, options=['-host', 'localhost,beta'])
    check('processors' in lines and 'host' in lines, lines)


def test_lost_hosts():
    """What the way to another machine says if it does not work."""
    for text, said in [('echo no route >&2\nexit 255\n', 'no route'), ('exit 1\n', 'does not start'),
                       ('echo PARLEY-SEND pdp11\nexec cat\n', 'that machine is pdp11')]:
        code, lines, last = doctor(env=remote_shell(text), options=['-host', 'beta'])
        equal((code, last), (1, 'no job can run there: see FAIL'))
        contains(str(lines), said)
    code, lines, _ = doctor(env={'PARLEY_RSH': '/no/such'}, options=['-host', 'beta'])
    equal((code, lines['host'][1:]), (1, ('beta', '/no/such: No such file or directory')))


def test_networks():
    """What libfabric, here a made up one, would have; nothing, if it is not there."""
    if any(os.path.isdir(d) and os.listdir(d) for d in ('/sys/class/infiniband', '/sys/class/cxi')):
        raise Skipped('this machine has such hardware')
    fake = os.path.join(bind_test.build, 'tests', 'fabric', 'libofi_fake.so')
    for env, told in (({'FAKE_FABRIC': ''}, 'libfabric would have fake, and is not needed'),
                      ({'FAKE_FABRIC': 'name=verbs;ofi_rxm'}, 'PARLEY_NET_FAR="ofi:verbs;ofi_rxm" is another way'),
                      ({'FAKE_FABRIC': 'none'}, 'libfabric would have nothing, and is not needed'),
                      ({'PARLEY_OFI_LIBRARY': '/no/such.so'}, 'libfabric would have nothing, and is not needed')):
        code, lines, _ = doctor(env={'PARLEY_OFI_LIBRARY': fake, **env})
        equal((code, *lines['networks'][:2]), (0, 'ok', 'TCP'))
        contains(lines['networks'][2], told)


def test_singleton_files():
    """A program alone opens fewer than 20 files, start of the C library included."""
    program = os.path.join(bind_test.build, 'bench', 'empty')
    with open(program, 'rb') as file:
        if re.search(rb'__[at]san_init', file.read()):
            raise Skipped('a sanitizer opens files of its own')
    result = subprocess.run([bind_test.compiled('opens'), program], capture_output=True, text=True, check=False,
                            timeout=bind_test.STOP_AFTER)
    if result.returncode == 77:
        raise Skipped('nobody may be traced here')
    equal(result.returncode, 0)
    opened = int(re.search(r'opened (\d+) of', result.stderr)[1])
    check(2 <= opened < 20, opened, 'files opened')


if __name__ == '__main__':
    sys.exit(bind_test.main(globals(), __doc__))
