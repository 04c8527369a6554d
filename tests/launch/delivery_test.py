#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a rank has said before it aborts arrives, and so does the message why, to files and to pipes; and a run without
errors writes nothing to stderr.

    delivery_test.py --build DIR [--full] [NAME ...]        --full: 1000 aborting runs, with a load of 20 beside them"""

import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import launch_test as launch  # noqa: E402
from launch_test import check, equal, run  # noqa: E402

LINES = 300
MESSAGE = re.compile(r'parley: rank 2: E0215: MPI_Recv at (quits\.c:\d+|quits\+0x[0-9a-f]+): got 100 x MPI_CHAR, 100 '
                     r'bytes, from rank 1, tag 7, on MPI_COMM_WORLD; there is room for 50 x MPI_CHAR, 50 bytes\n'
                     r'        make the buffer as large as the largest message; MPI_Probe and MPI_Get_count tell how '
                     r'long the next one is\n')


def check_run(code, out, err):
    """Of the rank that aborts everything arrives; of the others what they had written, in order: up to the end of a
    block of stdio, where the last line may be cut."""
    equal(code, 15, f'exit code; stderr {err!r:.500};')
    check(MESSAGE.fullmatch(err), 'stderr is', repr(err)[:1000])
    counts = [0] * 4
    for line in out.splitlines():
        whole = re.fullmatch(r'rank ([0-3]) line (\d+)', line)
        if whole and int(whole[2]) == counts[int(whole[1])]:
            counts[int(whole[1])] += 1
        else:
            rank = next((r for r in (0, 1, 3) if f'rank {r} line {counts[r]}'.startswith(line)), None)
            check(rank is not None, 'a line that is out of order or cut:', repr(line))
            counts[rank] = -1
    equal(counts[2], LINES, 'lines of the rank that aborts')


def abort_to_pipe():
    result = run('-n', 4, launch.compiled('quits'), LINES)
    check_run(result.returncode, result.stdout, result.stderr)


def abort_to_file():
    out, err = (os.path.join(launch.scratch, name) for name in ('out', 'err'))
    with open(out, 'w') as out_file, open(err, 'w') as err_file:
        code = subprocess.run([launch.mpiexec, '-n', '4', launch.compiled('quits'), str(LINES)], stdout=out_file,
                              stdin=subprocess.DEVNULL, stderr=err_file, timeout=launch.STOP_AFTER, check=False)
    with open(out) as out_file, open(err) as err_file:
        check_run(code.returncode, out_file.read(), err_file.read())


def with_load(function, times):
    """Twenty processes that compute, beside it."""
    load = [subprocess.Popen([sys.executable, '-c', 'while True: pass']) for _ in range(20 if launch.SCALE > 1 else 0)]
    try:
        for _ in range(times):
            function()
    finally:
        for process in load:
            process.kill()
            process.wait()


def test_library_abort_to_pipe():
    with_load(abort_to_pipe, 500 if launch.SCALE > 1 else 10)


def test_library_abort_to_file():
    with_load(abort_to_file, 500 if launch.SCALE > 1 else 10)


def test_library_no_noise():
    """No byte on stderr if nothing is wrong; neither with a bare environment, without network, with a small
    /dev/shm, without a home, with more ranks than processors."""
    program = [launch.compiled('busy'), '20']
    bare = {'PATH': os.environ['PATH'], **{k: v for k, v in os.environ.items() if 'SAN_OPTIONS' in k}}
    for words, env in ((['-n', 1], None), (['-n', 4], None), (['-n', 4], bare), (['-n', 2], dict(bare, HOME='/no')),
                       (['-n', 17], bare), (['-n', 2, '-l'], bare)):
        result = run(*words, *program, env=env)
        equal((result.returncode, result.stderr), (0, ''), f'{words}: exit code, stderr')
    result = subprocess.run(program, env=bare, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, check=False)
    equal((result.returncode, result.stderr), (0, ''), 'alone: exit code, stderr')
    for prefix in (['unshare', '-rn'], ['unshare', '-rm', 'sh', '-c',
                                        'mount -t tmpfs -o size=64k none /dev/shm && exec "$@"', 'sh']):
        if subprocess.run([*prefix, 'true'], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            result = subprocess.run([*prefix, launch.mpiexec, '-n', '3', *program], stderr=subprocess.PIPE,
                                    stdout=subprocess.PIPE, text=True, check=False)
            equal((result.returncode, result.stderr), (0, ''), f'{prefix}: exit code, stderr')


def test_slow_reader():
    """The last of the output, too, reaches a reader who takes his time, though nothing runs any more."""
    lines = ['-n', '1', 'sh', '-c', 'yes aaaaaaaaaaaaaaa | head -c 4320000']
    more = [':', '-n', '2', 'sh', '-c', 'sleep 0.2; yes aaaaaaaaaaaaaaa | head -c 60000']
    env = dict(os.environ, PARLEY_RSH=os.path.join(HERE, 'rsh.sh'))
    jobs = [subprocess.Popen([launch.mpiexec, *words, *lines, *more], env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE) for words in ([], ['-host', 'a:1,b:2'])]
    time.sleep(2)
    for job in jobs:
        equal((len(job.stdout.read()), job.wait()), (4440000, 0), 'bytes, exit code')


def test_no_room():
    """Output that could not be written is no success, though the rank is content."""
    with open('/dev/full', 'w') as full:
        result = subprocess.run([launch.mpiexec, '-l', '-n', '1', 'echo', 'x'], stdout=full,
                                stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    check('E0130: output cannot be written to stdout: No space left' in result.stderr, result.stderr)
    equal(result.returncode, 125, 'exit code')


if __name__ == '__main__':
    sys.exit(launch.main(globals(), __doc__))
