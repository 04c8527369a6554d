#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of mpiexec's command line, as far as processes are needed for them.

    options_test.py --build DIR [--full] [NAME ...]

Prints "ok NAME" or "FAIL NAME why"; exit code 1 if one failed."""

import argparse
import hashlib
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from launch_test import run_tests

HERE = os.path.dirname(os.path.abspath(__file__))
STOP_AFTER = 120  # seconds; no test takes that long
INPUT_SIZE = 20 << 20  # 1 GB with --full

build = mpiexec = scratch = None  # set by main


class Failure(Exception):
    pass


def check(condition, *what):
    if not condition:
        raise Failure(' '.join(str(w) for w in what))


def equal(came, expected, what=''):
    check(came == expected, what, 'came', repr(came)[:600], 'expected', repr(expected)[:600])


def run(*args, **more):
    if 'input' not in more:
        more.setdefault('stdin', subprocess.DEVNULL)
    more.setdefault('text', True)
    return subprocess.run([mpiexec, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=STOP_AFTER, **more)


def lines_of(result):
    equal((result.returncode, result.stderr), (0, ''), 'exit code, stderr;')
    return sorted(result.stdout.splitlines())


def new_directory(name):
    path = os.path.join(scratch, name)
    shutil.rmtree(path, ignore_errors=True)
    os.mkdir(path)
    return path


def text_of(*parts):
    with open(os.path.join(*parts), encoding='utf-8') as file:
        return file.read()


def files_below(directory):
    return sorted(os.path.relpath(os.path.join(path, name), directory)
                  for path, _, names in os.walk(directory) for name in names)


# --- command lines of public projects

PROBE = '#!/bin/sh\necho "rank=$PARLEY_RANK size=$PARLEY_SIZE{}"\n'


def write_probe(directory, variables):
    """A program that prints its rank, its size, and the variables that are looked at."""
    path = os.path.join(directory, 'probe')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(PROBE.format(''.join(f' {name}=<${name}>' for name in variables)))
    os.chmod(path, 0o755)
    with open(os.path.join(directory, 'HOSTFILE'), 'w', encoding='utf-8') as file:
        file.write('localhost slots=4\n')
    return path


def check_places(result, expected):
    """What --display-map tells: "a:0-1;b:2"."""
    equal(result.returncode, 0, f'exit code; stderr {result.stderr!r:.300};')
    told = re.findall(r'^parley: (\S+): ranks? (\S+)$', result.stderr, re.MULTILINE)
    equal(';'.join(f'{host}:{ranks}' for host, ranks in told), expected)


def run_line(directory, expected, command):
    words = shlex.split(expected)
    variables = dict(word.split('=', 1) for word in words if '=' in word)
    ranks = variables.pop('ranks', '0')
    probe = write_probe(directory, variables)
    arguments = [probe if word == 'PROGRAM' else word for word in shlex.split(command)[1:]]
    if 'on' in variables:
        check_places(run('--do-not-launch', '--display-map', *arguments, cwd=directory), variables['on'])
        return
    result = run(*arguments, cwd=directory)
    equal(result.returncode, 0, f'exit code; stderr {result.stderr!r:.300};')
    equal(result.stderr != '', 'stderr' in words, f'something on stderr ({result.stderr!r:.300})')
    text = result.stdout + ''.join(text_of(directory, name) for name in files_below(directory)
                                   if name not in ('probe', 'HOSTFILE'))
    tail = re.escape(''.join(f' {name}=<{value}>' for name, value in variables.items()))
    if ranks == 'any':
        ranks = max(re.findall(r'size=(\d+)', text), default='1')
    seen = re.findall(rf'rank=(\d+) size={ranks}{tail}$', text, re.MULTILINE)
    equal(sorted(map(int, seen)), list(range(int(ranks))), f'ranks seen in {text[:300]!r};')


# Options, and where the ranks go.
PLACES = [
    ('-host a,b -n 8', 'a:0-3;b:4-7'),
    ('-host a:4,b:2 -n 5', 'a:0-3;b:4'),
    ('-host a:4,b:2 -n 12', 'a:0-7;b:8-11'),
    ('-hosts a,b -ppn 1 -n 4', 'a:0,2;b:1,3'),
    ('-npernode 2 -host a,b', 'a:0-1;b:2-3'),
    ('--map-by ppr:2:node -host a,b', 'a:0-1;b:2-3'),
    ('--map-by node -host a:4,b:4 -n 4', 'a:0,2;b:1,3'),
    ('-bynode -host a:1,b:3 -n 4', 'a:0;b:1-3'),
    ('--rank-by node -host a:2,b:2', 'a:0,2;b:1,3'),
    ('--map-by node --rank-by slot -host a:2,b:2', 'a:0-1;b:2-3'),
    ('--map-by slot:PE=2 -host a:4,b:4 -n 4', 'a:0-1;b:2-3'),
    ('-N 2 -n 8 -w n[1-2]', 'n1:0-3;n2:4-7'),
    ('--nodes=2 --ntasks-per-node=3 -w n[01-02]', 'n01:0-2;n02:3-5'),
    ('-hostfile FILE', 'a:0-1;b:2;c:3-4'),
    ('-hostfile FILE -n 9', 'a:0-3;b:4-5;c:6-8'),
    ('-hostfile FILE -host +n2,b', 'c:0-1;b:2'),
    ('-hostfile FILE -rankfile RANKS', 'a:1;b:0;c:2'),
    ('-rankfile RANKS -n 4', 'b:0,3;a:1;c:2'),
    ('--nolocal -host localhost,a -n 2', 'a:0-1'),
]


def test_places():
    directory = new_directory('places')
    files = {'FILE': 'a slots=2 max_slots=4\nb\nu@c:2 # and no more\n',
             'RANKS': 'rank 0=b\nrank 1=a slot=0\nrank 2=c\n'}
    for name, text in files.items():
        with open(os.path.join(directory, name), 'w', encoding='utf-8') as file:
            file.write(text)
    for line, expected in PLACES:
        check_places(run('--do-not-launch', '--display-map', *line.split(), 'true', cwd=directory), expected)


def test_allocations():
    slurm = {'SLURM_JOB_NODELIST': 'n[1-2],m', 'SLURM_TASKS_PER_NODE': '2(x2),1'}
    for line, variables, expected in [
            ('', slurm, 'n1:0-1;n2:2-3;m:4'), ('-n 3', slurm, 'n1:0-1;n2:2'), ('-host m -n 1', slurm, 'm:0'),
            ('-host +n1', slurm, 'n2:0-1'), ('', {'LSB_MCPU_HOSTS': 'a 2 b 1'}, 'a:0-1;b:2'),
            ('-rmk none -n 2', slurm, '')]:
        check_places(run('--do-not-launch', '--display-map', *line.split(), 'true', env={**os.environ, **variables}),
                     expected)
    result = run('true', env={**os.environ, 'PBS_NODEFILE': '/no/such'})
    equal(result.returncode, 0)
    check('PBS_NODEFILE: /no/such: No such file or directory' in result.stderr, repr(result.stderr))


def test_command_lines():
    count, failed = 0, []
    for line in text_of(HERE, 'command_lines.txt').splitlines():
        if line.startswith('#'):
            continue
        _, expected, command = line.split('\t')
        count += 1
        try:
            run_line(new_directory('line'), expected, command)
        except Failure as why:
            failed.append(f'{command}: {why}')
    check(not failed, len(failed), 'of', count, 'lines:', '; '.join(failed))
    check(count >= 250, 'only', count, 'lines')


# --- environment

def test_environment():
    env = {'PATH': os.environ['PATH'], 'A': '1', 'B1': '2', 'B2': '3'}
    script = 'echo $A-$B1-$B2-$C'
    for options, expected in (('', '1-2-3-'), ('-envnone', '---'), ('-genvlist A,B2', '1--3-'),
                              ('-envlist B*', '-2-3-'), ('-genvexcl B*', '1---'), ('-genvnone -envall', '1-2-3-'),
                              ('-genvnone -x C=4', '---4'), ('--export=B1,C=4', '-2--4'), ('--export=NONE', '---'),
                              ('--export=ALL,C=4', '1-2-3-4'), ('-unset-env B1', '1--3-'),
                              ('-genv C=4 -env A 5', '5-2-3-4')):
        equal(lines_of(run(*options.split(), '-n', 1, 'sh', '-c', script, env=env)), [expected], options)


def test_settings_of_others():
    env = dict(os.environ, OMPI_MCA_rmaps_base_no_oversubscribe='1', HYDRA_HOST_FILE='/no/such/file',
               I_MPI_HYDRA_HOST_FILE='/no/such/file', OMPI_ALLOW_RUN_AS_ROOT='0', HYDRA_LAUNCHER='rsh')
    equal(lines_of(run('-n', 3, 'echo', 'x', env=env)), ['x'] * 3)


def test_file():
    path = os.path.join(scratch, 'options')
    with open(path, 'w', encoding='utf-8') as file:
        file.write('# two, in the root\n-n 2 \\\n-wdir /\n-x "A=b c"\n')
    equal(lines_of(run('-file', path, 'sh', '-c', 'echo $PWD $A', ':', 'echo', 'other')), ['/ b c', '/ b c', 'other'])


def test_colons_in_configfile():
    path = os.path.join(scratch, 'programs')
    with open(path, 'w', encoding='utf-8') as file:
        file.write('-n 1 echo a : b # c\n#-n 9 echo\n-n 2 echo "d  e" \\\n   f\n')
    equal(lines_of(run('-configfile', path)), ['a : b # c', 'd  e f', 'd  e f'])


def test_map():
    result = run('--display-map', '-n', 3, 'true', ':', '-n', 1, 'echo', 'x')
    equal((result.returncode, result.stdout), (0, 'x\n'))
    equal(result.stderr, 'parley: ranks 0-2: true\nparley: rank 3: echo\n')
    equal(run('--do-not-launch', '-n', 2, 'echo', 'x').stdout, '', 'stdout of a dry run')


# --- output

BOTH = 'echo out $PARLEY_RANK; echo err $PARLEY_RANK >&2'


def test_output_directory():
    directory = new_directory('out')
    equal(lines_of(run('-n', 3, '--output-dir', f'{directory}/a/b', 'sh', '-c', BOTH)), [])
    equal(files_below(directory), sorted(f'a/b/rank.{i}.{kind}' for i in range(3) for kind in ('out', 'err')))
    for i in range(3):
        equal(text_of(directory, f'a/b/rank.{i}.out'), f'out {i}\n')
        equal(text_of(directory, f'a/b/rank.{i}.err'), f'err {i}\n')
    result = run('-n', 2, '--output-dir', f'{directory}/c:copy', 'sh', '-c', BOTH)
    equal(sorted(result.stdout.splitlines()), ['out 0', 'out 1'], 'the copy of stdout')
    equal(sorted(result.stderr.splitlines()), ['err 0', 'err 1'], 'the copy of stderr')
    equal(text_of(directory, 'c/rank.1.out'), 'out 1\n')


def test_reader_of_the_copy_goes():
    directory = new_directory('copy')
    lines = 2000000
    command = f'{mpiexec} -n 2 --output-dir {directory}:copy seq {lines} | (head -1; sleep 1)'
    result = subprocess.run(['sh', '-c', command], capture_output=True, text=True, timeout=STOP_AFTER, check=False)
    equal((result.stdout, result.stderr), ('1\n', ''), 'what the reader took')
    for i in range(2):
        text = text_of(directory, f'rank.{i}.out')
        equal((text.count('\n'), text[-8:]), (lines, f'{lines}\n'), 'the file is whole')


def test_output_filename():
    directory = new_directory('tree')
    result = run('-n', 11, '--output-filename', directory, 'sh', '-c', BOTH)
    equal(len(result.stdout.splitlines()), 11, 'lines of the copy')
    equal(text_of(directory, '1/rank.03/stdout'), 'out 3\n')
    equal(text_of(directory, '1/rank.10/stderr'), 'err 10\n')
    result = run('-n', 1, '--output-filename', directory + ':nocopy', 'sh', '-c', BOTH)
    equal((result.stdout, result.stderr), ('', ''), 'copy')
    equal(text_of(directory, '1/rank.0/stdout'), 'out 0\n')


def test_patterns():
    directory = new_directory('patterns')
    run('-n', 2, '-outfile-pattern', 'o.%3r.%%.%x', '-errfile-pattern', 'e.%t-%n', 'sh', '-c', BOTH, cwd=directory)
    equal(files_below(directory), ['e.0-0', 'e.1-0', 'o.000.%.sh', 'o.001.%.sh'])
    run('-n', 3, '-o', 'all.%h', 'sh', '-c', BOTH, cwd=directory)
    name = 'all.' + os.uname().nodename.split('.')[0]
    equal(sorted(text_of(directory, name).splitlines()),
          sorted(f'{kind} {i}' for kind in ('out', 'err') for i in range(3)), 'one file for all')
    result = run('-n', 2, '-o', 'none', '-e', 'all', 'sh', '-c', BOTH, cwd=directory)
    equal((result.stdout, sorted(result.stderr.splitlines())), ('', ['err 0', 'err 1']))
    result = run('-n', 3, '--output-from', 1, 'sh', '-c', BOTH)
    equal((result.stdout, result.stderr), ('out 1\n', 'err 1\n'), 'one rank')
    result = run('-n', 2, '-prepend-pattern', '<%x %r> ', 'sh', '-c', 'echo a')
    equal(sorted(result.stdout.splitlines()), ['<sh 0> a', '<sh 1> a'])


def test_output_errors():
    result = run('-n', 2, '--output-dir', '/proc/no', 'echo', 'x')
    equal((result.returncode, result.stdout), (125, ''))
    check('E0130' in result.stderr and '/proc/no' in result.stderr, result.stderr)
    result = run('-n', 2, '-outfile-pattern', '/dev/full', 'sh', '-c', 'while :; do echo x; done')
    check(result.returncode != 0, 'a full disk is not told')
    check('E0130' in result.stderr and '/dev/full: No space left' in result.stderr, result.stderr)


def test_directories():
    """A directory in place of a list of hosts is no empty list."""
    for option in ('-hostfile', '-rankfile'):
        result = run(option, '/tmp', 'echo', 'x')
        equal((result.returncode, result.stdout), (2, ''), option)
        check('/tmp: Is a directory' in result.stderr, result.stderr)


def test_merge():
    for count in (1, 3):
        result = run('-n', count, '--merge-stderr-to-stdout', 'sh', '-c', 'echo a; echo b >&2; echo c')
        equal((sorted(result.stdout.splitlines()), result.stderr), (sorted(['a', 'b', 'c'] * count), ''))
    result = run('-n', 1, '-merge', '-l', 'sh', '-c', 'echo a; echo b >&2; echo c')
    equal(result.stdout, '[0] a\n[0] b\n[0] c\n', 'order in one pipe')


def test_timestamp():
    result = run('-n', 2, '-l', '--timestamp', 'printf', 'a\\n\\nb')
    for line in result.stdout.splitlines():
        check(re.fullmatch(r'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \[[01]\] [ab]?', line), repr(line))
    equal(len(result.stdout.splitlines()), 6, 'lines')


def terminal_output(*args):
    """What a program prints on a terminal under mpiexec."""
    pid, master = pty.fork()
    if pid == 0:
        try:
            os.execv(mpiexec, [mpiexec, *map(str, args)])
        finally:
            os._exit(127)
    text = b''
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.waitpid(pid, 0)
    os.close(master)
    return text.decode().replace('\r\n', '\n')


def test_terminal():
    script = 'test -t 1 && echo terminal || echo pipe'
    equal(terminal_output('-n', 1, 'sh', '-c', script), 'terminal\n', 'one rank')
    equal(terminal_output('-n', 2, 'sh', '-c', script), 'pipe\npipe\n', 'two ranks')
    script = 'test -t 0 && echo rank $PARLEY_RANK'
    equal(terminal_output('-n', 2, '--stdin', 1, 'sh', '-c', script + '; true'), 'rank 1\n', 'stdin')


# --- stdin

def digest(data):
    return hashlib.sha256(data).hexdigest()


def random_file(size):
    """A file of random bytes, and its digest."""
    path, hasher = os.path.join(scratch, 'random'), hashlib.sha256()
    with open(path, 'wb') as file:
        for _ in range(0, size, 1 << 20):
            piece = os.urandom(1 << 20)
            hasher.update(piece)
            file.write(piece)
    return path, hasher.hexdigest()


def digests(ranks, *args, **more):
    """The digest of what each rank read."""
    result = run('-l', '-n', ranks, *args, 'sha256sum', **more)
    pairs = dict(re.findall(r'^\[(\d+)\] (\w+)', result.stdout, re.MULTILINE))
    equal(sorted(pairs), sorted(map(str, range(ranks))), f'ranks; stderr {result.stderr!r}')
    return [pairs[str(i)] for i in range(ranks)]


def test_stdin():
    path, whole = random_file(INPUT_SIZE)
    empty = digest(b'')
    for options, expected in ((['-s', 'all'], [whole] * 3), ([], [whole, empty, empty]),
                              (['--stdin', '2'], [empty, empty, whole]), (['--stdin=none'], [empty] * 3),
                              (['--stdin', '0,2'], [whole, empty, whole])):
        with open(path, 'rb') as file:
            equal(digests(3, *options, stdin=file), expected, f'{options} from a file;')
        with subprocess.Popen(['cat', path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as cat:
            equal(digests(3, *options, stdin=cat.stdout), expected, f'{options} from a pipe;')
            cat.stdout.close()
    equal(digests(2, '-i', path), [whole] * 2, '-i FILE')
    os.remove(path)


def test_stdin_of_some():
    """Ranks that stop reading, or never read, do not hold up the others for long."""
    data = os.urandom(4 << 20)
    script = 'case $PARLEY_RANK in 0) sha256sum;; 1) head -c 3;; 2) exec <&-; sleep 0.5;; 3) sleep 0.5;; esac'
    result = run('-n', 4, '--stdin', 'all', 'sh', '-c', script, input=data, text=False)
    check(digest(data).encode() in result.stdout, 'rank 0 has not got it whole', result.stdout[:200], result.stderr)
    with open(os.path.join(scratch, 'lines'), 'w+', encoding='utf-8') as file:
        file.write('first\nsecond\n')
        file.flush()
        file.seek(6)
        os.lseek(file.fileno(), 6, os.SEEK_SET)
        equal(lines_of(run('-n', 2, '--stdin', 'all', 'cat', stdin=file)), ['second'] * 2, 'from where it stood')


# --- help and what is made of the table

def test_help():
    first = lines_of(run('--help'))
    check(len(first) <= 24 and max(map(len, first)) <= 80, len(first), 'lines of', max(map(len, first)))
    for topic in 'run environment output input binding ending debug about accepted all'.split():
        page = lines_of(run('--help', topic))
        check(page and max(map(len, page)) <= 80, topic, max(map(len, page)))
        equal(lines_of(run(f'-h={topic}')), page, topic)
    check('--allow-run-as-root' in '\n'.join(lines_of(run('--help', 'accepted'))), 'accepted')
    check(run('--version').stdout.startswith('mpiexec (Parley) '), 'version')


def test_manual():
    page = run('--manual').stdout
    check(page.startswith('.TH MPIEXEC 1') and '.B \\-\\-output\\-dir DIR[:copy]' in page, page[:200])
    equal(text_of(build, 'launch', 'mpiexec.1'), page, 'the page that is installed')
    if not shutil.which('groff'):
        print('skipped: the check of the manual page needs groff')
        return
    result = subprocess.run(['groff', '-man', '-Tutf8', '-ww'], input=page, capture_output=True, text=True, check=False)
    equal((result.returncode, result.stderr), (0, ''), 'groff')


def complete(*words):
    """What bash proposes for the last word."""
    script = (f'source {build}/launch/mpiexec.bash; COMP_WORDS=({" ".join(map(shlex.quote, words))}); '
              f'COMP_CWORD={len(words) - 1}; _parley_mpiexec; printf "%s\\n" "${{COMPREPLY[@]}}"')
    result = subprocess.run(['bash', '-c', script], capture_output=True, text=True, check=False)
    equal(result.stderr, '', 'stderr of bash')
    return result.stdout.split()


def test_completion():
    if not shutil.which('bash'):
        print('skipped: completion needs bash')
        return
    equal(complete('mpiexec', '--output-d'), ['--output-dir', '--output-directory'])
    equal(complete('mpiexec', '--bind-to', 'c'), ['core'])
    equal(complete('mpiexec', '--help', 'ou'), ['output'])
    check('/etc/passwd' in complete('mpiexec', '-configfile', '/etc/passw'), 'a file')
    check('/bin/' in complete('mpiexec', '-n', '2', '/bin')[0] + '/', 'a program')
    if shutil.which('zsh'):
        result = subprocess.run(['zsh', '-n', f'{build}/launch/_mpiexec'], capture_output=True, text=True, check=False)
        equal((result.returncode, result.stderr), (0, ''), 'zsh')
    else:
        print('skipped: the check of the completion for zsh needs zsh')


def main():
    global build, mpiexec, scratch, INPUT_SIZE
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--build', required=True, help='build directory')
    parser.add_argument('--full', action='store_true', help='1 GB through stdin')
    parser.add_argument('names', nargs='*')
    args = parser.parse_args()
    build = os.path.realpath(args.build)
    mpiexec = os.path.join(build, 'launch', 'mpiexec')
    INPUT_SIZE = 1 << 30 if args.full else INPUT_SIZE
    with tempfile.TemporaryDirectory(prefix='parley-options-') as scratch:
        return run_tests(globals(), args.names)


if __name__ == '__main__':
    sys.exit(main())
