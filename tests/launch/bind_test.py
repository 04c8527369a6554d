#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of binding by mpiexec, on whatever processors this machine has (machines of other shapes:
launch/bind_test.c).

    bind_test.py --build DIR [NAME ...]

Prints "ok NAME", "skipped NAME: why" or "FAIL NAME why"; exit code 1 if one failed."""

import argparse
import os
import re
import subprocess
import sys
import tempfile

from launch_test import Skipped, check, contains, equal, run_tests

STOP_AFTER = 150
# A rank: its number, its mask, and the processors that the library will count on (job_head.cpus in sys/job.h).
RANK = '''
import os, struct
segment = int(os.environ['PARLEY_JOB'].split(':')[2])
cpus = struct.unpack_from('I', os.pread(segment, 64, 0), 44)[0]
print(os.environ['PARLEY_RANK'], cpus, *sorted(os.sched_getaffinity(0)))
'''
ALLOWED = sorted(os.sched_getaffinity(0))

build = None  # set by main
scratch = None


def run(*args, allowed=None, env=None, prefix=()):
    """mpiexec with these arguments; `allowed`: the processors it may use."""
    def narrow():
        os.sched_setaffinity(0, allowed or ALLOWED)

    full = dict(os.environ, **(env or {}))
    if 'OMP_NUM_THREADS' not in (env or {}):
        full.pop('OMP_NUM_THREADS', None)
    return subprocess.run([*prefix, os.path.join(build, 'launch', 'mpiexec'), *map(str, args)],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=STOP_AFTER, text=True, env=full, preexec_fn=narrow)


def masks(*args, **more):
    """The masks of all ranks in their order, and the processors that they count on."""
    result = run(*args, sys.executable, '-c', RANK, **more)
    equal(result.returncode, 0, f'exit code; stderr {result.stderr!r:.500};')
    lines = sorted([int(word) for word in line.split()] for line in result.stdout.splitlines())
    equal(len({line[1] for line in lines}), 1, 'the ranks disagree on processors;')
    return [line[2:] for line in lines], lines[0][1]


def refused(part, *args):
    result = run(*args, 'true')
    equal(result.returncode, 2, f'exit code; stderr {result.stderr!r:.500};')
    contains(result.stderr, 'E0101')
    contains(result.stderr, part)


def need_two():
    if len(ALLOWED) < 2:
        raise Skipped('needs two processors')


def test_shares():
    for ranks in range(1, min(len(ALLOWED), 8) + 1):
        found, cpus = masks('-n', ranks)
        equal(len(found), ranks)
        equal(sorted(sum(found, [])), ALLOWED, f'{ranks} ranks: all processors, each once;')
        equal(cpus, len(ALLOWED))


def test_crowd():
    found, cpus = masks('-n', min(len(ALLOWED), 30) * 2 + 1, allowed=ALLOWED[:30])
    for mask in found:
        equal(mask, ALLOWED[:30])
    equal(cpus, len(ALLOWED[:30]))


def test_inherited():
    found, cpus = masks('-n', 2, allowed=ALLOWED[-1:])
    equal(found, [ALLOWED[-1:]] * 2)
    equal(cpus, 1)
    equal(masks('-n', 1, allowed=ALLOWED[-1:])[0], [ALLOWED[-1:]])


def test_threads():
    need_two()
    for words, env in (((), {'OMP_NUM_THREADS': '2'}), (('-x', 'OMP_NUM_THREADS=2'), {}),
                       (('-genv', 'OMP_NUM_THREADS', '2,4'), {})):
        equal(masks('-n', 2, *words, allowed=ALLOWED[:2], env=env)[0], [ALLOWED[:2]] * 2)
        equal(masks('-n', 1, *words, allowed=ALLOWED[:2], env=env)[0], [ALLOWED[:2]])
    equal(len(masks('-n', 2, allowed=ALLOWED[:2], env={'OMP_NUM_THREADS': 'many'})[0][0]), 1)


def test_none():
    for words in (['-bind-to', 'none'], ['--bind-to=none'], ['--bind-to-none'], ['--cpu-bind', 'none']):
        found, cpus = masks(*words, '-n', 2)
        equal(found, [ALLOWED] * 2)
        equal(cpus, len(ALLOWED))


def test_asked():
    need_two()
    one, two = ALLOWED[:2]
    found, cpus = masks('-bind-to', f'user:{two},{one}', '-n', 3)
    equal((found, cpus), ([[two], [one], [two]], 2))
    found, cpus = masks('--cpu-list', f'{two},{one}', '--bind-to', 'cpu-list:ordered', '-n', 2)
    equal((found, cpus), ([[two], [one]], 2))
    found, cpus = masks('--cpu-set', two, '-n', 2)
    equal((found, cpus), ([[two]] * 2, 1))
    found, cpus = masks('-bind-to', f'user:{two}', '-n', 2)
    equal((found, cpus), ([[two]] * 2, 1), 'two on one of several;')
    found, cpus = masks('--map-by', 'hwthread', '--bind-to', 'hwthread', '-n', 2, allowed=[one, two])
    equal((sorted(found), cpus), ([[one], [two]], 2))


def test_blocks():
    """Options of any block hold for the job, and its ranks are counted through."""
    need_two()
    one, two = ALLOWED[:2]
    program = [sys.executable, '-c', RANK]
    result = run('-n', 1, '--bind-to', f'user:{two},{one}', *program, ':', '-n', 1, *program)
    equal(sorted(result.stdout.splitlines()), [f'0 2 {two}', f'1 2 {one}'])


def test_per():
    """ppr gives the number of ranks, too, if nothing else does."""
    equal(len(masks('--map-by', 'ppr:3:node')[0]), 3)
    equal(len(masks('--map-by', 'ppr:1:hwthread')[0]), len(ALLOWED))
    equal(len(masks('--map-by', 'ppr:3:node', '-n', 2)[0]), 2)
    equal(len(masks('--map-by', 'ppr:3:node', '-n', 4)[0]), 4, 'no slot arithmetic;')


def test_refused():
    refused("'elbow' is not known", '--bind-to', 'elbow')
    refused("'elbow' is not known", '--map-by=elbow')
    refused('processor 8000 is not there', '--cpu-set', '8000')
    refused('processor 8000: it is not there', '--bind-to', 'user:8000')


def test_picture():
    for option in ('--show-binding', '--report-bindings'):
        result = run(option, '-n', 2, 'echo', 'hello', allowed=ALLOWED[:2])
        equal(result.returncode, 0)
        equal(result.stdout, 'hello\nhello\n')
        contains(result.stderr, 'binding of 2 ranks: ')
        rows = re.findall(r'^  rank (\d+) +(\[.*\])  (\S+)$', result.stderr, re.M)
        if len(ALLOWED) > 1:
            equal([row[0] for row in rows], ['0', '1'])
            equal([row[2] for row in rows], [str(cpu) for cpu in ALLOWED[:2]])
            equal([row[1].count('#') for row in rows], [1, 1])
    equal(run('-n', 2, 'true').stderr, '', 'nothing is shown unless asked for;')


def test_quota():
    """A quota counts as fewer processors: two ranks with time for one are not bound, and the library knows."""
    need_two()
    group = f'/sys/fs/cgroup/cpu/parley-bind-{os.getpid()}'
    limits = (('cpu.cfs_period_us', '100000'), ('cpu.cfs_quota_us', '100000'))
    if not os.path.isdir('/sys/fs/cgroup/cpu'):
        group = f'/sys/fs/cgroup/parley-bind-{os.getpid()}'
        limits = (('cpu.max', '100000 100000'),)
    try:
        os.mkdir(group)
    except OSError as why:
        raise Skipped(f'no cgroup can be made here: {why}') from None
    try:
        for name, value in limits:
            with open(os.path.join(group, name), 'w', encoding='ascii') as file:
                file.write(value)
        enter = ['sh', '-c', f'echo $$ > {group}/cgroup.procs && exec "$@"', 'sh']
        found, cpus = masks('-n', 2, prefix=enter)
        equal((found, cpus), ([ALLOWED] * 2, 1))
        found, cpus = masks('-n', 2, '--bind-to', 'core', prefix=enter)
        equal(cpus, 1)
    except OSError as why:
        raise Skipped(f'no quota can be set here: {why}') from None
    finally:
        os.rmdir(group)


# Rank 0 computes in as many threads as it is told, without the interpreter's lock; the other one sleeps.
SQUEEZED = """
import hashlib, os, sys, threading, time
def work():
    while True:
        hashlib.pbkdf2_hmac('sha256', b'x', b'y', 100000)
for _ in range(int(sys.argv[1]) if os.environ['PARLEY_RANK'] == '0' else 0):
    threading.Thread(target=work, daemon=True).start()
time.sleep(float(sys.argv[2]))
"""


def test_squeezed():
    """More busy threads than processors, others idle: said once, unless there are more than anybody can run."""
    need_two()
    command = [os.path.join(build, 'launch', 'mpiexec'), '-n', '2', sys.executable, '-c', SQUEEZED]
    result = subprocess.run([*command, '8', '2'], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                            preexec_fn=lambda: os.sched_setaffinity(0, ALLOWED[:2]))
    equal((result.returncode, result.stderr), (0, ''), 'eight threads on two processors;')
    process = subprocess.Popen([*command, '2', '60'], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: os.sched_setaffinity(0, ALLOWED[:2]))
    try:
        line = process.stderr.readline()
        contains(line, 'parley: rank 0: E0140: ')
        contains(line, 'threads want to run on 1 of the processors')
        contains(process.stderr.readline(), '--bind-to none')
    finally:
        process.terminate()
        process.communicate(timeout=STOP_AFTER)


def compiled(name, compiler='cc'):
    """A C program, named from this folder without its ending, made once."""
    path = os.path.join(scratch, os.path.basename(name))
    if not os.path.exists(path):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + '.c')
        done = subprocess.run([*compiler.split(), '-D_GNU_SOURCE', '-o', path, source], capture_output=True, text=True,
                              check=False)
        check(done.returncode == 0, done.stderr)
    return path


def denied(*calls):
    """Words before a command that keep it from these system calls."""
    words = [compiled('../odd/deny'), ','.join(calls)]
    if subprocess.run([*words, 'true'], check=False, stderr=subprocess.DEVNULL).returncode == 77:
        raise Skipped('no seccomp filter can be set here')
    return words


def test_denied():
    """Without the right to bind, ranks run unbound; but who asked for it is told."""
    need_two()
    words = denied('sched_setaffinity')
    equal(run('-n', 2, 'echo', 'well', prefix=words).stdout, 'well\nwell\n')
    result = run('-n', 2, '--bind-to', 'core', 'echo', prefix=words)
    equal(result.returncode, 125)
    contains(result.stderr, 'E0107: rank 0 (/')
    contains(result.stderr, 'binding it to its processors: Operation not permitted')
    result = run('-n', 2, '--bind-to', 'core', sys.executable, '-c', 'print("well")',
                 prefix=denied('sched_getaffinity'))
    equal(result.stdout, 'well\nwell\n', 'a machine that tells nothing;')


def main(tests, description):
    global build, scratch
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument('--build', required=True, help='build directory')
    parser.add_argument('names', nargs='*')
    args = parser.parse_args()
    build = os.path.realpath(args.build)
    with tempfile.TemporaryDirectory(prefix='parley-bind-') as scratch:
        return run_tests(tests, args.names)


if __name__ == '__main__':
    sys.exit(main(globals(), __doc__))
