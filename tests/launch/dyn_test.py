#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of processes that are started later (spawner.c): what is refused and how that is told, what becomes of the
others when one dies, and that nothing is left behind.

    dyn_test.py --build DIR [NAME ...]

Prints "ok NAME" or "FAIL NAME why"; exit code 1 if one failed."""

import os
import re
import subprocess
import sys

import launch_test
from launch_test import check, contains, equal, run

# What each case of spawner.c is told of by.
REFUSED = {
    'missing': 103, 'room': 1001, 'nothing': 1002, 'key': 1003, 'twice': 1004, 'unknown': 1005, 'no_port': 1007,
    'others_port': 1008, 'closed': 1009, 'ports': 1010, 'late': 1011, 'socket': 1012,
    'far_late': 1011, 'far_closed': 1009, 'far_closes': 1009,
}


def program():
    return launch_test.compiled('spawner', '-g')


def processes():
    """Those that run spawner now."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            if os.readlink(f'/proc/{pid}/exe') == os.path.realpath(program()):
                found.append(pid)
        except OSError:
            pass
    return found


def none_left(case):
    check(not processes(), case, 'has left', processes())


def alone(case, *words):
    return subprocess.run([*words, program(), case], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False, timeout=launch_test.STOP_AFTER)


def test_refused():
    for case, number in REFUSED.items():
        ranks = 2 if case == 'others_port' or case.startswith('far_') else 1
        machines = {'PARLEY_NODES': '2'} if case.startswith('far_') else {}
        result = run('-timeout', launch_test.LIMIT, '-n', ranks, program(), case, env={**os.environ, **machines})
        contains(result.stderr, f'E{number:04}: ')
        check(result.returncode not in (0, 124), case, 'has exit code', result.returncode)
        none_left(case)


def test_alone():
    """A process without mpiexec starts one for itself, if it can: E1006."""
    done = alone('plain')
    equal(sorted(done.stdout.splitlines()), ['child 0 is done', 'child 1 is done', 'parent is done'], 'output')
    equal((done.returncode, done.stderr), (0, ''), 'exit code and messages')
    contains(alone('unknown').stderr, 'E1005: ')
    done = alone('unknown', 'prlimit', '--fsize=4096')
    contains(done.stderr, 'E1006: ')
    check(done.returncode != 0, 'exit code 0')


def test_alone_and_dead():
    """It takes its children with it, and they it."""
    equal(alone('parent_dies').returncode, -9, 'exit code')
    launch_test.wait_until(lambda: not processes(), launch_test.PATIENCE, 'the end of the children')
    done = alone('child_dies')
    check(done.returncode != 0, 'exit code 0')
    contains(done.stderr, 'rank 1 of spawned world 1: E0110: ')
    launch_test.wait_until(lambda: not processes(), launch_test.PATIENCE, 'the end of the other child')


VARIABLES = ['0: OF_PROGRAM=yes OF_ALL=yes OF_CALL=- OF_MPIEXEC=-',
             '1: OF_PROGRAM=yes OF_ALL=yes OF_CALL=yes OF_MPIEXEC=-',
             '2: OF_PROGRAM=yes OF_ALL=changed OF_CALL=yes OF_MPIEXEC=-']


def test_variables():
    """Processes inherit what their parent's program was given, and what it was not."""
    result = run('-timeout', launch_test.LIMIT, '-genv', 'OF_ALL', 'yes', '-n', 1, '-x', 'OF_PROGRAM=yes', '-envexcl',
                 'OF_MPIEXEC', program(), 'variables', ':', '-n', 1, '-x', 'OF_PROGRAM=no', program(), 'variables',
                 env={**os.environ, 'OF_MPIEXEC': 'yes'})
    equal((result.returncode, result.stderr), (0, ''), 'exit code and messages')
    equal(sorted(result.stdout.splitlines()), [line + ' near' for line in VARIABLES], 'output')


def test_output():
    result = run('-timeout', launch_test.LIMIT, '-l', '-n', 2, program(), 'plain')
    equal(result.returncode, 0, 'exit code')
    equal(sorted(result.stdout.splitlines()), ['[0] parent is done', '[1.0] child 0 is done', '[1.1] child 1 is done'],
          'output')


def test_child_dies():
    result = run('-timeout', launch_test.LIMIT, '-n', 2, program(), 'child_dies')
    contains(result.stderr, 'rank 1 of spawned world 1: E0110: ')
    equal(result.returncode, 128 + 9, 'exit code')
    none_left('child_dies')


def test_child_exits():
    result = run('-timeout', launch_test.LIMIT, '-n', 2, program(), 'child_exits')
    contains(result.stderr, 'rank 1 of spawned world 1: E0112: ')
    equal(result.returncode, 5, 'exit code')
    none_left('child_exits')


def test_parent_dies():
    result = run('-timeout', launch_test.LIMIT, '-n', 2, program(), 'parent_dies')
    contains(result.stderr, 'rank 0: E0110: ')
    equal(result.returncode, 128 + 9, 'exit code')
    none_left('parent_dies')


def test_child_free():
    """What is no longer connected goes on; the exit code tells of the death."""
    result = run('-timeout', launch_test.LIMIT, '-n', 2, program(), 'child_free')
    contains(result.stderr, 'rank 1 of spawned world 1: E0110: ')
    contains(result.stdout, 'parent is done')
    equal(result.returncode, 128 + 9, 'exit code')
    none_left('child_free')


def test_both_free():
    """mpiexec waits for children that outlive their parents."""
    result = run('-timeout', launch_test.LIMIT, '-n', 1, program(), 'both_free')
    equal(sorted(result.stdout.splitlines()), ['child 0 is done', 'child 1 is done', 'parent is done'], 'output')
    equal(result.returncode, 0, 'exit code')


def test_many_callers():
    """More than can wait at a process at a time, on other machines; some give up and come again."""
    for machines in (1, 3, 40):
        result = run('-timeout', launch_test.LIMIT, '-n', 40, program(), 'many_callers',
                     env={**os.environ, 'PARLEY_NODES': str(machines)})
        equal((result.returncode, result.stdout), (0, f'sum {39 * 40 // 2}\n'), f'{machines} machines')


def test_nobody_accepts():
    """Connecting comes to an end if nobody says when."""
    result = run('-timeout', launch_test.LIMIT, '-x', 'PARLEY_CONNECT_TIMEOUT=1', '-n', 1, program(), 'nobody')
    contains(result.stderr, 'within 1 s (PARLEY_CONNECT_TIMEOUT)')
    check(result.returncode not in (0, 124), 'exit code', result.returncode)


def expect_hang(start, *options):
    """A report of parents and children who wait for each other; a busy machine needs longer until they do. `start` runs
    mpiexec."""
    parts = ('rank 0 MPI_Recv from rank 1 (rank 1 of spawned world 1), tag 7 on an intercommunicator',
             'ranks 0-1 of spawned world 1 MPI_Recv from rank 0 (rank 0 of the first world), tag 8 on MPI_COMM_PARENT')
    for limit in (6, 30):
        result = start('-hang-report', 0.3, '-timeout', limit, *options, program(), 'hang')
        equal(result.returncode, 124, 'exit code')
        text = re.sub(r'  +', ' ', result.stderr)
        if all(part in text for part in parts):
            break
    for part in parts:
        contains(text, part)


def test_hang():
    expect_hang(run, '-n', 2)
    none_left('hang')


def test_profile():
    """Each world has files of its own."""
    name = os.path.join(launch_test.scratch, 'profile')
    result = run('-timeout', launch_test.LIMIT, '--profile=' + name, '--trace=' + name + '-trace.json', '-n', 1,
                 program(), 'plain')
    equal(result.returncode, 0, 'exit code')
    for file in ('profile.json', 'profile.world1.json', 'profile-trace.json', 'profile-trace.world1.json'):
        check(os.path.exists(os.path.join(launch_test.scratch, file)), file, 'is not there')


def test_check():
    """Children need not free MPI_COMM_PARENT."""
    result = run('-timeout', launch_test.LIMIT, '--check', '-n', 2, program(), 'plain')
    equal(result.returncode, 0, 'exit code')
    contains(result.stderr, 'ranks 0-1 (2): E0406: ')
    check('spawned' not in result.stderr and 'PARENT' not in result.stderr, 'said:', result.stderr)


def test_universe():
    """-usize makes room, and is what MPI_UNIVERSE_SIZE says."""
    result = run('-timeout', launch_test.LIMIT, '-usize', 1, '-n', 1, program(), 'room')
    contains(result.stderr, 'of 129 that the job may have')
    result = run('-timeout', launch_test.LIMIT, '-usize', 300, '-n', 1, program(), 'room')
    contains(result.stderr, 'of 300 that the job may have')
    result = run('-timeout', launch_test.LIMIT, '-usize', 'INFINITE', '-n', 1, program(), 'room')
    contains(result.stderr, 'of 1024 that the job may have')
    words = ['prlimit', '--as=4000000000', launch_test.mpiexec, '-n', '1', program(), 'room']
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                          timeout=launch_test.STOP_AFTER)
    contains(done.stderr, 'of 1 that the job may have')
    result = run('-usize', 0, '-n', 1, program(), 'room')
    contains(result.stderr, 'E0101: ')


if __name__ == '__main__':
    sys.exit(launch_test.main(globals(), __doc__))
