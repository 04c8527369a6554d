#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mpiexec --profile and --trace: what they count is what the program did, on stderr, in the files and in the picture.

    profile_test.py --build DIR [NAME ...]"""

import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import launch_test as launch  # noqa: E402
from launch_test import check, contains, equal, run  # noqa: E402

TIMES, BYTES = 100, 1000


def program():
    return launch.compiled('profiled', '-pthread')


def made(name):
    return os.path.join(launch.scratch, name)


def sums_of(rank):
    return {f['name']: f for f in rank['functions']}


def test_profile():
    """Every number that does not depend on time."""
    size = 4
    result = run(f'--profile={made("known")}', '-n', size, program())
    equal(result.returncode, 0, result.stderr)
    with open(made('known.json'), encoding='utf-8') as file:
        ranks = json.load(file)['ranks']
    equal([r['rank'] for r in ranks], list(range(size)))
    for rank in ranks:
        sums, number = sums_of(rank), rank['rank']
        for name, calls, given in (('MPI_Sendrecv', TIMES, TIMES * BYTES), ('MPI_Send_init', 1, 0),
                                   ('MPI_Start', 3, 120), ('MPI_Recv', 3, 0), ('MPI_Wait', 3, 0),
                                   ('MPI_Allreduce', TIMES + 1, 4 * TIMES),
                                   ('MPI_Scatterv', 1, 10 if number == size - 1 else 0), ('MPI_Iprobe', 150, 0),
                                   ('MPI_Type_size', 1, 0), ('MPI_Comm_split', 1, 0)):
            equal((sums[name]['calls'], sums[name]['bytes']), (calls, given), f'rank {number}: {name}')
            check(0 < sums[name]['longest_ns'] <= sums[name]['ns'] <= 4 * rank['ns'], name, sums[name])
        equal(rank['ns_in_mpi'], sum(f['ns'] for f in rank['functions']))
        equal(rank['sent'], [{'to': (number + 1) % size, 'messages': TIMES + 3, 'bytes': TIMES * BYTES + 120}])
        comms = {c['name']: c for c in rank['communicators']}
        equal((comms['one "half"']['size'], comms['one "half"']['calls']), (2, TIMES + 1))
        equal(comms['without a name']['calls'], 2)    # under that it was given one
        check('MPI_Finalize' not in sums and 'MPI_Init_thread' not in sums, sums.keys())


def test_table():
    """What people read, and the picture."""
    result = run(f'--profile={made("read")}', '-n', 2, program())
    equal(result.returncode, 0)
    contains(result.stderr, 'parley profile: 2 ranks, ')
    check(re.search(r'^MPI_Sendrecv +200 +[\d.]+ +[\d.]+ % +[\d.]+ +\d+ +195 KB   [\d.]+ to [\d.]+$', result.stderr,
                    re.M), result.stderr)
    check(re.search(r'^one "half" +202 +[\d.]+ +1 ', result.stderr, re.M), result.stderr)
    contains(result.stderr, 'sent from rank 0 to rank 1: 103 messages, 97.8 KB\n')
    contains(result.stderr, f'details: {made("read")}.json, a picture: {made("read")}.svg\n')
    picture = xml.etree.ElementTree.parse(made('read.svg')).getroot()
    texts = [t.text for t in picture.iter() if t.tag.endswith('text') or t.tag.endswith('title')]
    check('0 to 1: 100223 bytes' in texts and 'point-to-point' in texts, texts)


def test_many_ranks():
    """More ranks than the picture has rows."""
    result = run(f'--profile={made("many")}', '-n', 70, launch.compiled('counted'), 1)
    equal(result.returncode, 0, result.stderr)
    xml.etree.ElementTree.parse(made('many.svg'))


def test_trace():
    result = run(f'--trace={made("line.json")}', '-n', 3, program())
    equal(result.returncode, 0, result.stderr)
    contains(result.stderr, f'parley trace: {made("line.json")}\n')
    with open(made('line.json'), encoding='utf-8') as file:
        events = json.load(file)['traceEvents']
    for rank in range(3):
        own = [e for e in events if e['pid'] == rank and e['ph'] == 'X']
        sends = [e for e in own if e['name'] == 'MPI_Sendrecv']
        equal([e['args'] for e in sends], [{'to': (rank + 1) % 3, 'bytes': BYTES}] * TIMES)
        equal(len({e['tid'] for e in own}), 4, 'threads')
        for before, after in zip(sends, sends[1:]):
            check(before['ts'] + before['dur'] <= after['ts'] + 0.01, before, after)
        check(all(0 <= e['dur'] < 1e9 for e in own), own)


def test_trace_limit():
    """The first block always has room; what comes when it is full is counted."""
    result = run(f'--trace={made("short.json")}', '-n', 2, launch.compiled('counted'), 20000,
                 env=dict(os.environ, PARLEY_TRACE_EVENTS='1'))
    equal(result.returncode, 0, result.stderr)
    check(re.search(r'parley trace: \d+ calls are not in it; PARLEY_TRACE_EVENTS', result.stderr), result.stderr)
    with open(made('short.json'), encoding='utf-8') as file:
        equal(len([e for e in json.load(file)['traceEvents'] if e['ph'] == 'X']), 2 * 8192)


def test_unfinished():
    """Nothing is told of a program that does not come to its end, and the job ends as without it."""
    result = run(f'--profile={made("none")}', '-n', 2, program(), 'unfinished')
    check(result.returncode != 0 and 'parley profile' not in result.stderr, result)
    check(not os.path.exists(made('none.json')))


def test_not_writable():
    result = run('--profile=/nowhere/p', '--trace=/nowhere/t', '-n', 2, program())
    equal(result.returncode, 0)
    for name in ('/nowhere/p.json', '/nowhere/p.svg', '/nowhere/t'):
        contains(result.stderr, f'cannot write {name}: No such file or directory')


def test_no_library():
    """An mpiexec alone in a folder."""
    folder = made('alone')
    os.makedirs(folder, exist_ok=True)
    copy = shutil.copy(launch.mpiexec, folder)
    result = subprocess.run([copy, '--profile', '-n', '1', 'true'], stdout=subprocess.PIPE, text=True,
                                   stderr=subprocess.PIPE, timeout=launch.STOP_AFTER, check=False)
    check(result.returncode != 0 and 'E0124: --profile and --trace need libparley_profile.so' in result.stderr, result)


if __name__ == '__main__':
    sys.exit(launch.main(globals(), __doc__))
