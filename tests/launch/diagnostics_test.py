#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every diagnostic of the catalogue (src/base/diagnostics.txt) is provoked once, and its form is looked at: id, call
site, remedy, one message of many ranks.

    diagnostics_test.py --build DIR [--full] [NAME ...]"""

import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, os.path.join(HERE, '..', '..', 'src', 'base')]
import gen_diagnostics  # noqa: E402
import launch_test as launch  # noqa: E402
from launch_test import check, contains, equal, run  # noqa: E402

OWN_NAME = 'tests/launch/diagnostics_test.py'

# id -> arguments of mpiexec. FAULTS is the program, with its debug information.
FAULTS = object()
PLAIN = object()  # a file that is no program
EXPECTED = {
    101: ['-frob', 'true'],
    102: ['-arch', 'elsewhere', 'true'],
    103: ['no-such-program'],
    104: [PLAIN],
    105: ['-wdir', '/no/such', 'true'],
    110: ['-n', 2, 'sh', '-c', 'kill -SEGV $$'],
    111: ['-n', 2, 'sh', '-c', 'exit 5'],
    112: ['-n', 2, FAULTS, 'leave'],
    113: ['-n', 2, FAULTS, 'abort', 3],
    114: ['-timeout', 0.2, '-n', 2, 'sleep', 30],
    131: ['-n', 3, '--nooversubscribe', '-host', 'localhost:2', 'true'],
    132: ['-rankfile', '/no/such', 'true'],
    202: ['-n', 2, FAULTS, 'count'],
    203: ['-n', 2, FAULTS, 'type'],
    204: ['-n', 2, FAULTS, 'tag'],
    205: ['-n', 2, FAULTS, 'comm'],
    206: ['-n', 2, FAULTS, 'peer'],
    207: ['-n', 2, FAULTS, 'requests'],
    208: ['-n', 2, FAULTS, 'root'],
    209: ['-n', 2, FAULTS, 'group'],
    210: ['-n', 2, FAULTS, 'operation'],
    213: ['-n', 2, FAULTS, 'argument'],
    215: ['-n', 2, FAULTS, 'truncation'],
    231: ['-n', 2, FAULTS, 'info_key'],
    232: ['-n', 2, FAULTS, 'info_nokey'],
    233: ['-n', 2, FAULTS, 'info_value'],
    234: ['-n', 2, FAULTS, 'info_handle'],
    236: ['-n', 2, FAULTS, 'keyval'],
    239: ['-n', 2, '-env', 'ASAN_OPTIONS', 'allocator_may_return_null=1', '-env', 'TSAN_OPTIONS',
          'allocator_may_return_null=1', FAULTS, 'memory'],
    261: ['-n', 2, FAULTS, 'handler'],
    262: ['-n', 2, FAULTS, 'fortran'],
    263: ['-n', 2, FAULTS, 'user_code'],
    301: ['-n', 2, FAULTS, 'early'],
    302: ['-n', 2, FAULTS, 'finalized'],
    303: ['-n', 2, FAULTS, 'twice'],
    304: ['-n', 2, FAULTS, 'no_world'],
    305: ['-n', 2, '-env', 'TSAN_OPTIONS', 'report_bugs=0', FAULTS, 'threads'],
    312: ['-n', 2, FAULTS, 'lost_segment'],
    320: ['-n', 2, '-env', 'PARLEY_WARN', 'perhaps', FAULTS, 'nothing'],
    331: ['-n', 2, FAULTS, 'no_buffer'],
    332: ['-n', 2, FAULTS, 'buffer_twice'],
    333: ['-n', 2, FAULTS, 'small_buffer'],
    334: ['-n', 2, FAULTS, 'in_place'],
    335: ['-n', 2, FAULTS, 'same_buffer'],
    336: ['-n', 2, FAULTS, 'null_buffer'],
    343: ['-n', 2, FAULTS, 'predefined'],
    344: ['-n', 2, FAULTS, 'handle'],
    345: ['-n', 2, FAULTS, 'zero'],
    351: ['-n', 2, FAULTS, 'not_persistent'],
    352: ['-n', 2, FAULTS, 'active'],
    371: ['-n', 2, FAULTS, 'wrong_type'],
    700: ['-n', 2, FAULTS, 'disagree'],
    720: ['-n', 2, FAULTS, 'neighbors'],
    721: ['-n', 2, FAULTS, 'cancel_coll'],
    722: ['-n', 2, FAULTS, 'free_coll'],
    401: ['-n', 2, '-env', 'PARLEY_UNEXPECTED_MAX', '1M', FAULTS, 'flood'],
}
# Those that take more than a command line: see the functions of these names.
BY_FUNCTION = {402: 'checked', 403: 'left_behind', 404: 'left_behind', 405: 'left_behind',
               406: 'left_behind', 106: 'limits', 107: 'bad_interpreter', 118: 'out_of_memory',
               310: 'bad_job', 311: 'versions', 313: 'two_programs', 314: 'unreachable', 315: 'other_launcher',
               337: 'bad_address', 338: 'peer_ended'}
# What the program cannot raise but by MPI_Comm_call_errhandler.
CLASSES = sorted(set(range(200, 263)) - set(EXPECTED))


def faults():
    return launch.compiled('faults')


def arguments(words):
    plain = os.path.join(launch.scratch, 'plain')
    with open(plain, 'w') as file:
        file.write('text')
    return [faults() if word is FAULTS else plain if word is PLAIN else word for word in words]


def line_of(name):
    """The line of faults.c that makes mistake `name`."""
    return subprocess.run([faults(), 'line', name], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()


def expect_id(result, number):
    check(re.search(rf'^parley: [^:]*: E{number:04}: |^parley: E{number:04}: ', result.stderr, re.M),
          f'E{number:04} is not in', repr(result.stderr)[:1000])


def has_line_tool():
    return any(shutil.which(tool) for tool in ('addr2line', 'eu-addr2line', 'llvm-addr2line'))


# --- every id

def test_library_each():
    for number, words in EXPECTED.items():
        result = run(*arguments(words))
        expect_id(result, number)
        equal(result.returncode == 0, number == 401, f'E{number:04}: whether the exit code {result.returncode} is 0')


def test_library_each_class():
    for number in CLASSES:
        result = run('-n', 1, faults(), 'class', number - 200)
        expect_id(result, number)
        equal(result.returncode, number - 200 or 1, f'E{number:04}: exit code')


def test_all_are_provoked():
    """What is in the catalogue and has no test elsewhere is provoked here, and nothing else."""
    catalogue = {entry.number for entry in gen_diagnostics.read_catalogue() if entry.test == OWN_NAME}
    equal(sorted(catalogue ^ {*EXPECTED, *CLASSES, *BY_FUNCTION}), [], 'difference to the catalogue')
    for name in BY_FUNCTION.values():
        check(f'test_{name}' in globals() or f'test_library_{name}' in globals(), 'no function for', name)


def test_library_waits():
    """A busy machine takes longer until the ranks are where they stay."""
    for limit in (0.5, 3, 20):
        result = run('--hang-report', 0, '-timeout', limit, '-n', 2, faults(), 'wait')
        if 'E0120' in result.stderr:
            break
    expect_id(result, 120)
    expect_id(run('-timeout', 0.5, '-n', 2, faults(), 'sleep'), 121)


def test_library_checked():
    """Messages with other elements than their receive asks for are told with --check, in each way that they take; those
    that are right are not, and without it none is."""
    program = launch.compiled('mismatched')
    result = run('--check', '-n', 2, program, 'wrong')
    told = re.findall(r'E0402: a message from rank 0, tag (\d+), on MPI_COMM_WORLD, (\d+) bytes, was sent as elements '
                      r'like (\w+) and is received as (\d+) x (\w+)\n', result.stderr)
    double = [(str(tag), str(8 * n), 'MPI_INT', str(n), 'MPI_DOUBLE')
              for tag, n in ((10, 1), (11, 1), (12, 100000), (13, 100000))]
    equal((result.returncode, told), (0, [*double, ('20', '4', 'MPI_FLOAT', '1', 'MPI_INT')]))
    for words in (('--check', '-n', 2, program, 'right'), ('-n', 2, program, 'wrong')):
        result = run(*words)
        equal((result.returncode, result.stderr), (0, ''), words)


def test_library_left_behind():
    """What a program leaves at MPI_Finalize is told with --check only, and nothing of one that leaves nothing."""
    program = launch.compiled('leaves')
    result = run('--check', '-n', 2, program, 'all')
    equal(result.returncode, 0)
    for text in ('rank 1: E0403: left at MPI_Finalize, messages that nobody has received: 5: from rank 0, tag 0, on '
                 'MPI_COMM_WORLD, 4 bytes; from rank 0, tag 1, on MPI_COMM_WORLD, 4 bytes; from rank 0, tag 2, on '
                 'MPI_COMM_WORLD, 4 bytes; ...\n',
                 'rank 0: E0404: left at MPI_Finalize, receives that no message has come for: 1: from rank 1, any tag, '
                 'on my pair, 3 x MPI_DOUBLE\n',
                 'rank 0: E0405: left at MPI_Finalize, other requests that nobody has completed or freed: 3: sends and',
                 'ranks 0-1 (2): E0406: left at MPI_Finalize, communicators that nobody has freed: 1: my pair\n'):
        contains(result.stderr, 'parley: ' + text)
    for words in (('--check', '-n', 2, program, 'nothing'), ('-n', 2, program, 'all')):
        result = run(*words)
        equal((result.returncode, result.stderr), (0, ''), words)


def test_limits():
    import resource
    result = run('-n', 50, 'true', preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 120)))
    expect_id(result, 106)


def test_bad_interpreter():
    path = os.path.join(launch.scratch, 'bad-interpreter')
    with open(path, 'w') as file:
        file.write('#!/no/such/interpreter\n')
    os.chmod(path, 0o755)
    expect_id(run(path), 107)


def alone(*words, **variables):
    return subprocess.run([faults(), *words], env=dict(os.environ, **variables), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=launch.STOP_AFTER)


def test_library_bad_job():
    expect_id(alone('nothing', PARLEY_JOB='nonsense'), 310)


def test_library_versions():
    expect_id(alone('nothing', PARLEY_JOB='1:1:100:101:0123456789abcdef0123456789abcdef:1:4'), 311)


def test_library_two_programs():
    expect_id(run('-n', 1, 'sh', '-c', f'{faults()} nothing; {faults()} nothing'), 313)


def test_library_unreachable():
    expect_id(alone('nothing', PARLEY_JOB='3:4194303:100:101:0123456789abcdef0123456789abcdef:1:4:1:4'), 314)


def test_library_other_launcher():
    expect_id(alone('nothing', OMPI_COMM_WORLD_SIZE='4'), 315)


def test_library_bad_address():
    """Where processes may not look into each other, the sender reads its own memory, and gets the signal for that."""
    result = run('-n', 2, faults(), 'bad_address')
    if 'E0110' in result.stderr:
        raise launch.Skipped('processes may not copy from each other here')
    expect_id(result, 337)


def test_library_peer_ended():
    """mpiexec sees the end of the rank, and nothing else is told; or it does not, because a shell is between."""
    result = run('-n', 2, faults(), 'gone')
    equal(result.returncode, 137, f'exit code; stderr {result.stderr!r}')
    expect_id(result, 110)
    check('E0338' not in result.stderr, 'a consequence is told of:', result.stderr)
    result = run('-timeout', 20, '-n', 2, 'sh', '-c', f'{faults()} gone; sleep 30')
    if 'E0114' in result.stderr:
        raise launch.Skipped('processes may not copy from each other here')
    expect_id(result, 338)
    expect_id(run('-timeout', 20, '-n', 2, 'sh', '-c', f'{faults()} gone_window; sleep 30'), 338)


def test_out_of_memory():
    """A file system of our own in place of /sys/fs/cgroup plays the control group."""
    script = f'''
        mount -t tmpfs none /sys/fs/cgroup || exit 99
        directory=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
        mkdir -p $directory && echo 'oom_kill 3' > $directory/memory.events
        {launch.mpiexec} -n 2 sh -c "echo 'oom_kill 4' > $directory/memory.events; kill -9 \\$\\$"'''
    if not shutil.which('unshare') or not os.path.exists('/proc/self/cgroup') or '0::' not in open(
            '/proc/self/cgroup').read():
        raise launch.Skipped('no unshare, or no cgroup of version 2')
    result = subprocess.run(['unshare', '-rm', 'sh', '-c', script], stderr=subprocess.PIPE, text=True,
                            timeout=launch.STOP_AFTER)
    if result.returncode != 137:
        raise launch.Skipped('no file system can be mounted: ' + result.stderr.strip())
    expect_id(result, 118)


# --- their form

def test_library_call_site():
    if not has_line_tool():
        raise launch.Skipped('no addr2line')
    for name, function in (('peer', 'MPI_Send'), ('truncation', 'MPI_Recv'), ('truncation_in_wait', 'MPI_Wait'),
                           ('callback', 'MPI_Comm_size'), ('finalized', 'MPI_Comm_rank'), ('abort', 'MPI_Abort'),
                           ('class', 'MPI_Comm_call_errhandler')):
        result = run('-n', 2, faults(), name)
        contains(result.stderr, f': {function} at faults.c:{line_of(name)}: ')


def test_library_call_site_without_debug_information():
    program = os.path.join(launch.scratch, 'stripped')
    subprocess.run(['strip', '-o', program, faults()], check=True)
    result = run('-n', 2, program, 'peer')
    check(re.search(r': MPI_Send at stripped\+0x[0-9a-f]+: ', result.stderr), 'came', result.stderr)
    place = re.search(r'\+(0x[0-9a-f]+)', result.stderr)[1]
    if shutil.which('addr2line'):
        found = subprocess.run(['addr2line', '-s', '-e', faults(), place], stdout=subprocess.PIPE, text=True,
                               check=True)
        equal(found.stdout.split()[0], f'faults.c:{line_of("peer")}', 'what addr2line finds there')
    result = subprocess.run([program, 'peer'], stderr=subprocess.PIPE, text=True, check=False)
    contains(result.stderr, f'parley: E0206: MPI_Send at stripped+{place}: ')


def test_library_call_site_without_tool():
    result = run('-n', 2, faults(), 'peer', env=dict(os.environ, PATH='/nowhere'))
    check(re.search(r': MPI_Send at faults\+0x[0-9a-f]+: ', result.stderr), 'came', result.stderr)


def test_library_call_site_slow_tool():
    """A tool that hangs is given up once, and the messages arrive."""
    directory = os.path.join(launch.scratch, 'slow')
    os.makedirs(directory)
    with open(os.path.join(directory, 'addr2line'), 'w') as file:
        file.write('#!/bin/sh\nsleep 1000\n')
    os.chmod(file.name, 0o755)
    result = run('-n', 2, faults(), 'peer', env=dict(os.environ, PATH=f'{directory}:{os.environ["PATH"]}'))
    check(re.search(r': MPI_Send at faults\+0x[0-9a-f]+: ', result.stderr), 'came', result.stderr)


def test_library_truncation():
    """The form that says all: MPI_Recv, place, what came from whom, for what there was room."""
    result = run('-n', 2, faults(), 'truncation')
    check(re.fullmatch(r'parley: rank 1: E0215: MPI_Recv( at faults\S+)?: got 4 x MPI_INT, 16 bytes, from rank 0, '
                       r'tag 7, on MPI_COMM_WORLD; there is room for 2 x MPI_INT, 8 bytes\n        make the buffer '
                       r'.*\n', result.stderr), 'came', result.stderr)
    contains(run('-n', 2, faults(), 'truncation_in_wait').stderr,
             'got 2 x MPI_DOUBLE, 16 bytes, from rank 0, tag 7, on MPI_COMM_WORLD; there is room for 1 x MPI_DOUBLE, '
             '8 bytes')


def test_library_remedy():
    for words, number in ((['peer'], 206), (['count'], 202), (['leave'], 112)):
        remedy = {entry.number: entry.remedy for entry in gen_diagnostics.read_catalogue()}[number]
        contains(run('-n', 2, faults(), *words).stderr, '\n        ' + remedy + '\n')
        if number != 112:
            contains(alone(*words).stderr, '\n        ' + remedy + '\n')


def test_library_merged():
    """Ranks whose texts differ in numbers only make one message; those that come too late point to it."""
    result = run('-n', 8, faults(), 'peer')
    messages = [text for text in result.stderr.splitlines() if text.startswith('parley: ')]
    check(re.match(r'parley: ranks? [-, 0-9]+( \(\d\))?: E0206: MPI_Send at ', messages[0]), 'came', messages[0])
    for text in messages[1:]:
        check(re.fullmatch(r'parley: ranks? [-, 0-9]+( \(\d\))?: E0206: the same as rank \d', text), 'came', text)
    told = sum(int((re.search(r' \((\d)\): E', text) or [0, 1])[1]) for text in messages)
    check(2 <= told <= 8, 'so many ranks are told of:', told, result.stderr)


def test_explain():
    for words in (['E0215'], ['e0215'], ['215'], ['0215']):
        result = run('--explain', *words)
        equal((result.returncode, result.stderr), (0, ''), 'exit code, stderr')
        contains(result.stdout, 'E0215: MPI_ERR_TRUNCATE: a message is longer than the buffer')
        contains(result.stdout, 'What to do: ')
        check(all(len(line) < 130 for line in result.stdout.splitlines()), 'long lines')
    contains(run('--explain=E0101').stdout, 'E0101: ')
    listed = run('--explain').stdout.splitlines()
    entries = gen_diagnostics.read_catalogue()
    equal(listed, [f'{entry.id}  {entry.cause}' for entry in entries], 'list')
    for words in (['E9999'], ['x'], ['']):
        result = run('--explain', *words)
        equal(result.returncode, 2, 'exit code')
        contains(result.stderr, 'there is no such message')


if __name__ == '__main__':
    sys.exit(launch.main(globals(), __doc__))
