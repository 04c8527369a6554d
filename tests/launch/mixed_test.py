#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of communicators with processes of several jobs, that is of several mpiexecs (mixed.c): how they come about,
what is done with them and with communicators made of them, what becomes of all when one fails, and who is connected
still when one has left.

    mixed_test.py --build DIR [--full] [NAME ...]

Prints "ok NAME" or "FAIL NAME why"; exit code 1 if one failed."""

import os
import random
import signal
import sys
import time

import agents_test
import launch_test
from launch_test import check, contains, equal, finish, start

count = 0


def begin(case, *ranks, timeout=launch_test.LIMIT, hosts=(), **more):
    """Jobs A, B, … of so many ranks, perhaps on these hosts. Where they meet, which is a file, too; and the jobs."""
    global count
    count += 1
    path = os.path.join(launch_test.scratch, f'mixed{os.getpid()}.{count}')
    open(path, 'w').close()
    program = launch_test.compiled('mixed', '-g', '-pthread')
    places = [['-host', place] for place in hosts] or [[]] * len(ranks)
    return path, [start('-timeout', timeout, *places[job], '-n', n, program, chr(ord('A') + job), case, path, **more)
                  for job, n in enumerate(ranks)]


def is_well(process, job):
    out, err = finish(process)
    equal((process.returncode, out, err), (0, f'{job} is done\n', ''), f'job {job}')


def all_well(case, *ranks, **more):
    path, jobs = begin(case, *ranks, **more)
    for job, process in zip('ABCD', jobs):
        is_well(process, job)
    launch_test.wait_until(lambda: not launch_test.processes_with(path), 20, 'the end of all')


def sizes(*few):
    return [*few, (1, 4, 2), (5, 1, 1), (4, 5, 6)] if launch_test.SCALE > 1 else few


def test_accept():
    """Of two jobs in one communicator processes are started, and it accepts a third job."""
    for ranks in sizes((2, 1, 2), (1, 2, 1)):
        all_well('accept', *ranks)


def test_connect():
    """Likewise, and it is the one that connects."""
    for ranks in sizes((2, 2, 1)):
        all_well('connect', *ranks)


def test_bridges():
    """A knows B and C, and these hear of each other by it."""
    for ranks in sizes((2, 2, 2), (1, 1, 1)):
        all_well('bridges', *ranks)


def test_machines():
    """Jobs on several machines: all of them, some, and one that behaves as if."""
    env = agents_test.environment()
    for case in 'accept', 'connect', 'bridges':
        all_well(case, 2, 2, 2, hosts=('a,b', 'localhost:2', 'c,localhost'), env=env)
    all_well('bridges', 2, 2, 3, hosts=('localhost,a', 'a,b', 'a:2,b'), env=env)
    all_well('bridges', 2, 3, 2, env={**os.environ, 'PARLEY_NODES': '2'})


def test_four():
    for ranks in sizes((2, 1, 1, 2)):
        all_well('four', *(ranks + (3,))[:4])


def test_spawns():
    """One group of children after the other, in places that others have had before."""
    all_well('spawns', 1, 1, 1)


def test_nets():
    """Messages come late, and what can be refused is."""
    all_well('bridges', 2, 1, 2, env={**os.environ, 'PARLEY_NET': 'chaos'})


def test_threads():
    """Several threads agree on contexts at the same time."""
    for ranks in sizes((2, 2, 1)):
        all_well('threads', *ranks)


def test_often():
    """More often than there are circles of contexts."""
    all_well('often', 1, 1, 1)


def test_fails():
    """A process of one job, or an MPI_Abort: all end."""
    for case, code, victim in ('dies', 137, 'C'), ('chain', 137, 'C'), ('aborts', 7, 'B'):
        _, jobs = begin(case, 2, 2, 2)
        for job, process in zip('ABC', jobs):
            _, err = finish(process)
            equal(process.returncode, code, f'{case}: exit code of {job}')
            if job != victim:
                contains(err, 'E1015: process ')


def test_killed_at_any_time():
    """One of the mpiexecs, when all are connected: all end. Or before that: nothing is left."""
    chance = random.Random(os.getpid())
    for _ in range(4 * launch_test.SCALE):
        for are_connected in True, False:
            path, jobs = begin('goes on', 2, 1, 2)
            if are_connected:
                launch_test.wait_until(lambda path=path: not os.path.exists(path), 30, 'all')
            time.sleep(chance.random() * 0.4)
            chance.choice(jobs).kill()
            if not are_connected: # some may be waiting for a port that is never opened
                time.sleep(0.2)
                for process in jobs:
                    process.send_signal(signal.SIGTERM)
            for process in jobs:
                finish(process)
                check(process.returncode not in (0, 124), 'exit code', process.returncode)
            launch_test.wait_until(lambda path=path: not launch_test.processes_with(path), 20, 'the end of all')


def test_one_leaves():
    """A ends, in order; B and C are connected all the same, and the failure of one is that of the other."""
    path, (a, b, c) = begin('leaves', 1, 2, 2)
    is_well(a, 'A')
    os.unlink(path)
    contains(finish(b)[1], 'E1015: process ')
    finish(c)
    equal((b.returncode, c.returncode), (137, 137), 'exit codes')


def test_parted():
    """They have disconnected: the failure of one concerns nobody else."""
    path, (a, b, c) = begin('parts', 2, 2, 2)
    finish(c)
    equal(c.returncode, 137, 'exit code of C')
    os.unlink(path)
    is_well(a, 'A')
    is_well(b, 'B')


def test_no_room():
    """B has no places for all of C, of which it hears from A; all are told."""
    _, jobs = begin('bridges', 2, 1, 127)
    errors = [finish(process)[1] for process in jobs]
    equal([process.returncode for process in jobs], [16] * 3, 'exit codes')
    contains(errors[1], 'E1001: ')


def test_report():
    """What is said of who waits: nothing is known of the other jobs, and nothing is made up."""
    wanted = {job: 'MPI_Barrier on a communicator of 5 processes' if job != 'C' else 'MPI_Recv from any rank'
              for job in 'ABC'}
    for limit in 4, 30: # a busy machine needs longer until they are there
        _, jobs = begin('hangs', 2, 1, 2, timeout=limit)
        said = {job: finish(process)[1] for job, process in zip('ABC', jobs)}
        equal([process.returncode for process in jobs], [124] * 3, 'exit codes')
        if all(wanted[job] in err and 'MPI_Init' not in err for job, err in said.items()):
            break
    for job, err in said.items():
        contains(err, wanted[job])
        check('MPI_Init' not in err, 'E0121 says', err)


if __name__ == '__main__':
    sys.exit(launch_test.main(globals(), __doc__))
