#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the hang report: programs (hang.c) that wait for ever are told of, others only if somebody asks.

    hang_test.py --build DIR [NAME ...]

Prints "ok NAME" or "FAIL NAME why"; exit code 1 if one failed."""

import os
import re
import select
import signal
import sys
import time

import launch_test
from launch_test import check, contains, equal, finish, read_lines, run, start, state_of, wait_until

SOON = 0.3       # seconds to the automatic report, in these tests
QUIET = 0.3      # after that a report is complete, at the end of a line
STOP_AFTER = 150


def program():
    return launch_test.compiled('hang', '-g')


def read_until_quiet(stream):
    """What comes until a report is there and nothing follows."""
    end = time.monotonic() + STOP_AFTER
    text = ''
    while time.monotonic() < end:
        may_be_whole = 'E0120' in text and text.endswith('\n')
        ready, _, _ = select.select([stream], [], [], QUIET if may_be_whole else end - time.monotonic())
        if not ready:
            break
        part = os.read(stream.fileno(), 65536).decode()
        if not part:
            break
        text += part
    return text


def stop(process):
    process.kill()
    process.communicate()


def report(case, ranks, *options, **env):
    """The report that comes by itself."""
    process = start('-hang-report', SOON, *options, '-n', ranks, program(), case, env=dict(os.environ, **env))
    try:
        text = read_until_quiet(process.stderr)
    finally:
        stop(process)
    check('E0120' in text, 'no report of', case, 'but', repr(text))
    return text


def no_report(case, ranks, *parts, **env):
    """What is no hang is told of at the time limit, with these parts, and not before. A busy machine needs longer until
    all ranks are where they will stay."""
    for limit in (SOON * 6, 5, 20):
        result = run('-hang-report', SOON, '-timeout', limit, '-n', ranks, program(), case,
                     env=dict(os.environ, **env))
        equal(result.returncode, 124, 'exit code')
        check('E0120' not in result.stderr, case, 'is taken for a hang:', result.stderr)
        if all(part in timeless(result.stderr) for part in ('E0121', *parts)):
            break
    lines_with(result.stderr, 'E0121', *parts)
    equal(result.stderr.count('parley:'), 2, f'messages of {case}: {result.stderr}')


def timeless(text):
    """Times, lines of source and widths of columns left out."""
    text = re.sub(r' [0-9.]+ s\b', ' T', text)
    text = re.sub(r'hang\.c:[0-9]+', 'hang.c:N', text)
    return re.sub(r'(?<=\S)  +', '  ', text)


def lines_with(text, *parts):
    for part in parts:
        contains(timeless(text), part)


# --- what waits for ever

def test_ring():
    text = timeless(report('ring', 3))
    wanted = ['parley: mpiexec: E0120: all 3 ranks wait for ever; nothing has moved for T',
              '    rank 0  MPI_Recv from rank 1, tag 7 on MPI_COMM_WORLD, 3 x MPI_INT  T  WHERE',
              '    rank 1  MPI_Recv from rank 2, tag 7 on MPI_COMM_WORLD, 3 x MPI_INT  T  WHERE',
              '    rank 2  MPI_Recv from rank 0, tag 7 on MPI_COMM_WORLD, 3 x MPI_INT  T  WHERE',
              '    * deadlock: 0 -> 1 -> 2 -> 0 (each waits for the next)',
              '    each rank receives before it sends: let one send first, or use MPI_Sendrecv, or MPI_Irecv first']
    equal(re.sub(r'(?<=  T  )\S+$', 'WHERE', text, flags=re.M).splitlines(), wanted, 'report')


def test_many():
    text = report('ring', 30)
    lines_with(text, 'all 30 ranks wait for ever',
               '    ranks 0-29  MPI_Recv from one rank each, tag 7 on MPI_COMM_WORLD, 3 x MPI_INT',
               ' -> ... -> 29 -> 0 ')


def test_many_tags():
    """What ranks differ in is left out where lines would be too many, and is told of one alone."""
    text = report('tags', 30)
    lines_with(text, 'all 30 ranks wait for ever', '    rank 0  MPI_Barrier on MPI_COMM_WORLD  ',
               '    ranks 1-29  MPI_Recv from rank 0, one tag each on MPI_COMM_WORLD, 3 x MPI_INT  ',
               '* rank 8 has not entered MPI_Barrier', '* ranks 9-29 have not entered it either: see above')
    check(len(text.splitlines()) < 20, text)


def test_itself():
    lines_with(report('ring', 1), 'rank 0 waits for ever', '* rank 0 waits for itself')


def test_missing():
    lines_with(report('missing', 4), 'all 4 ranks wait for ever', '    ranks 0-2  MPI_Barrier on MPI_COMM_WORLD  T',
               '* rank 3 has not entered MPI_Barrier on MPI_COMM_WORLD: it is in MPI_Recv from rank 0, tag 9 on',
               '* deadlock: 0 -> 3 -> 0', '    a collective call ends when')


def test_first_call():
    for nodes in (1, 2):
        text = report('first_call', 4, PARLEY_NODES=str(nodes))
        lines_with(text, 'MPI_Bcast from rank ')
        check('(null)' not in text, 'a call without a name:', text)


def test_mismatch():
    # Rank 1 has waited in vain, and looks at what has come.
    result = run('-n', 2, program(), 'mismatch', env={**os.environ, 'PARLEY_SHARED_COLL': '0'})
    check(result.returncode not in (0, 124), 'exit code', result.returncode)
    lines_with(result.stderr, 'E0700', 'ranks disagree in collective call number 2 on MPI_COMM_WORLD: rank 1 calls '
               'MPI_Bcast of 4 bytes with root 0, rank 0 calls MPI_Barrier')


def test_roots():
    """By messages, too, it is told before the launcher could see that all wait for ever."""
    result = run('-n', 3, program(), 'roots', env={**os.environ, 'PARLEY_SHARED_COLL': '0'})
    check(result.returncode not in (0, 124), 'exit code', result.returncode)
    check(re.search(r'E0700: .* ranks disagree in collective call number 2 on MPI_COMM_WORLD: rank \d calls MPI_Bcast '
                    r'of 4 bytes with root \d, rank \d gives another root or another amount of data to MPI_Bcast',
                    result.stderr), repr(result.stderr))


def test_noticed():
    for case, ranks, text in (('mismatch', 2, 'number 2 on MPI_COMM_WORLD: rank 0 calls MPI_Barrier, rank 1 calls '
                               'MPI_Bcast(root 0, 4 bytes)'),
                              ('roots', 3, ', 4 bytes), rank ')):
        result = run('-n', ranks, program(), case)
        check(result.returncode not in (0, 124), 'exit code', result.returncode)
        lines_with(result.stderr, 'E0700', 'ranks disagree in collective call ' , text)


def test_wrong_tag():
    lines_with(report('wrong_tag', 2), '* deadlock: 0 -> 1 -> 0', '* near miss: rank 1 has got a message from rank 0, '
               'tag 8 on MPI_COMM_WORLD, 4 bytes, which nobody has asked for', '    a message meets its receive when')


def test_wrong_communicator():
    lines_with(report('wrong_comm', 2), '* near miss: rank 1 has got a message from rank 0, tag 7 on the land, 8 bytes')


def test_windows():
    text = report('lock', 2)
    lines_with(text, '    rank 0  MPI_Recv from rank 1, tag 7 on MPI_COMM_WORLD, 3 x MPI_INT',
               '    rank 1  MPI_Win_lock from any rank on field', '* deadlock: 0 -> 1 -> 0',
               '    epochs of windows end')
    text = report('epochs', 3)
    lines_with(text, '    rank 0  MPI_Win_start from rank 1 on field', '    rank 1  MPI_Win_wait from rank 2 on field',
               '    rank 2  MPI_Recv from rank 0', '* deadlock: 0 -> 1 -> 2 -> 0')


def test_held_lock():
    no_report('held', 3, '    ranks 1-2  MPI_Win_lock from any rank on field')


def test_shared_pointer():
    no_report('pointer', 2, '    rank 1  MPI_File_write_shared from rank 0', PARLEY_NODES='2',
              PARLEY_RMA_HELPER='0')


def test_large_sends():
    for name, value in (('PARLEY_WARN', '1'), ('PARLEY_SINGLE_COPY', '0'), ('PARLEY_NET', 'chaos')):
        text = report('large', 2, **{name: value})
        lines_with(text, 'MPI_Send to rank 1, tag 4 on MPI_COMM_WORLD, 1048576 x MPI_INT', '* deadlock: 0 -> 1 -> 0',
                   '    these sends wait for their receives')


def test_posted():
    lines_with(report('posted', 2), 'MPI_Ssend to rank 1, tag 5', '* near miss: rank 0 sends with tag 5 on '
               'MPI_COMM_WORLD, rank 1 would receive from rank 0, tag 6 on MPI_COMM_WORLD, 1 x MPI_INT')


def test_gone():
    lines_with(report('finalised', 2), 'E0120: rank 0 waits for ever',
               '    rank 1  done with MPI: it has called MPI_Finalize',
               '* rank 0 waits for rank 1, which is done with MPI',
               '    there are more receives than messages')
    lines_with(report('gone', 2), '* rank 0 waits for rank 1, which is gone: it has ended with exit code 0')


def test_any():
    lines_with(report('any', 4), 'all 4 ranks wait for ever', 'rank 0  MPI_Recv from any rank, tag 7',
               '* rank 0 waits for a message from any of several ranks, and all of these wait for ever')


def test_waitall():
    lines_with(report('waitall', 3), 'rank 0  MPI_Waitall of MPI_Irecv from rank 1, tag 0 on MPI_COMM_WORLD',
               ' and from rank 1, tag 1 on MPI_COMM_WORLD, 1 x MPI_INT\n', ' and 2 more requests\n',
               '* deadlock: 0 -> 1 -> 2 -> 0')


def test_waitany():
    lines_with(report('waitany', 3), 'rank 0  MPI_Waitany of MPI_Irecv from rank 1, tag 1 on MPI_COMM_WORLD',
               ' or from rank 2, tag 2 on MPI_COMM_WORLD, 1 x MPI_INT\n', '* ranks 0-2 wait for a message from any')


def test_ranks_of_world():
    lines_with(report('reversed', 4), 'rank 1  MPI_Recv from rank 3 (0 of MPI_COMM_WORLD), tag 7 on reversed',
               '* deadlock: 0 -> 3 -> 2 -> 1 -> 0')


def test_subset():
    lines_with(report('subset', 3), 'E0120: ranks 0-1 wait for ever', '    rank 2  computing',
               '* deadlock: 0 -> 1 -> 0')


def test_finalize():
    lines_with(report('finalize', 2), 'rank 0  MPI_Finalize, with messages that nobody has received yet',
               '* near miss: rank 1 has got a message from rank 0, tag 7')
    lines_with(report('freed', 2),
               'rank 0  MPI_Finalize of MPI_Irecv from rank 1, tag 7 on MPI_COMM_WORLD, 3 x MPI_INT',
               '* deadlock: 0 -> 1 -> 0')


def test_chaos():
    lines_with(report('missing', 3, PARLEY_NET='chaos'), '* rank 2 has not entered MPI_Barrier')


# --- what does not

def test_asleep():
    no_report('asleep', 3, '2 of 3 ranks wait in MPI', '    rank 2  computing (asleep outside of MPI)',
              '* ranks 0-1 wait, directly or through others, for rank 2, which is computing')


def test_late():
    no_report('late', 4, '* ranks 2-3 have not entered MPI_Barrier on MPI_COMM_WORLD: they are computing')


def test_polling():
    no_report('polling', 2, '1 of 2 ranks waits in MPI', '* rank 1 waits, directly or through others, for')


def test_threads():
    no_report('threads', 2, '(in one of its threads)')


def test_generalized_request():
    no_report('grequest', 2, '    ranks 0-1  MPI_Wait of MPI_Grequest_start')


# --- when

def test_once():
    result = run('-hang-report', SOON, '-timeout', SOON * 8, '-n', 2, program(), 'ring')
    check(result.stderr.count('E0120') <= 2, 'told more than once:', result.stderr) # and at the time limit


def test_settings():
    result = run('-timeout', 1, '-n', 2, program(), 'ring', env=dict(os.environ, PARLEY_HANG_REPORT='0'))
    check(result.stderr.count('E0120') <= 1, 'told without being asked:', result.stderr)
    result = run('-hang-report', SOON, '-timeout', 1, '-quiet', '-n', 2, program(), 'ring')
    equal(result.stderr, '', 'stderr with -quiet')
    result = run('true', env=dict(os.environ, PARLEY_HANG_REPORT='soon'))
    equal(result.returncode, 2, 'exit code')
    contains(result.stderr, 'PARLEY_HANG_REPORT) soon: a number')
    equal(run('-hang-report', -1, 'true').returncode, 2, 'exit code')
    process = start('-n', 2, program(), 'ring', env=dict(os.environ, PARLEY_HANG_REPORT=str(SOON)))
    try:
        contains(read_until_quiet(process.stderr), 'all 2 ranks')
    finally:
        stop(process)


def test_on_request():
    process = start('-hang-report', 0, '-n', 3, program(), 'subset')
    try:
        read_lines(process, 3)
        end = time.monotonic() + STOP_AFTER
        while True: # until both are where they stay
            result = run('-report', process.pid)
            equal((result.returncode, result.stderr), (0, ''), 'code and stderr')
            if 'deadlock' in result.stdout or time.monotonic() > end:
                break
        lines_with(result.stdout, 'E0120: ranks 0-1 wait for ever', '* deadlock: 0 -> 1 -> 0')
        for pid in launch_test.processes_with(program()):
            contains(run('-report', pid).stdout, 'deadlock')
    finally:
        stop(process)
    result = run('-report', process.pid)
    equal(result.returncode, 125, 'exit code')
    contains(result.stderr, 'E0122: -report %d: there is no such process' % process.pid)
    result = run('-report', os.getpid())
    contains(result.stderr, 'belongs to no job of mpiexec')
    equal(run('-report', 'x').returncode, 2, 'exit code')


def waits_at_socket(pid):
    fds = f'/proc/{pid}/fd'
    names = [os.readlink(f'{fds}/{fd}') for fd in os.listdir(fds) if int(fd) > 2]
    return any(name.startswith('socket:') for name in names) and state_of(pid) == 'S'


def test_on_request_stopped():
    """Who asks is stopped and goes on while it waits for the answer."""
    process = start('-hang-report', 0, '-n', 2, program(), 'subset')
    try:
        read_lines(process, 2)
        os.kill(process.pid, signal.SIGSTOP)
        asking = start('-report', process.pid)
        wait_until(lambda: waits_at_socket(asking.pid), launch_test.PATIENCE, 'it waits for the answer')
        for _ in range(3):
            os.kill(asking.pid, signal.SIGSTOP)
            wait_until(lambda: state_of(asking.pid) == 'T', launch_test.PATIENCE, 'it is stopped')
            os.kill(asking.pid, signal.SIGCONT)
            wait_until(lambda: state_of(asking.pid) in 'SZ', launch_test.PATIENCE, 'it goes on')
        os.kill(process.pid, signal.SIGCONT)
        out, err = asking.communicate(timeout=STOP_AFTER)
        equal((asking.returncode, err), (0, ''), 'code and stderr')
        contains(out, 'MPI_Recv from rank')
    finally:
        os.kill(process.pid, signal.SIGCONT)
        stop(process)


def test_on_request_without_mpi():
    process = start('-n', 2, 'sh', '-c', 'echo up; sleep 60')
    try:
        read_lines(process, 2)
        result = run('-report', process.pid)
        lines_with(result.stdout, '0 of 2 ranks wait in MPI', '    ranks 0-1  not in MPI yet')
    finally:
        stop(process)


def test_on_signal():
    process = start('-hang-report', 0, '-n', 2, program(), 'asleep')
    read_lines(process, 2)
    process.send_signal(signal.SIGQUIT)
    out, text = finish(process)
    equal((out, process.returncode), ('', 128 + signal.SIGQUIT), 'output and code')
    equal(text.count('E012'), 1, 'reports')


if __name__ == '__main__':
    sys.exit(launch_test.main(globals(), __doc__))
