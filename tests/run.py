#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the test programs of tests/<chapter>/list.txt under an MPI and counts what passed.

    run.py --bin-dir build/tests --mpiexec build/launch/mpiexec        programs compiled by the build
    run.py --mpicc mpicc.other --mpiexec mpiexec.other --ranks 1,2,3   compile them here, with any MPI
                                                                       (others with --mpicxx and --mpifort)

How lists and programs are written: tests/README.md.
"""

import argparse
import concurrent.futures
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DEFAULT_RANKS = [1, 2, 3, 4, 7, 8]
DEFAULT_TIMEOUT = 60.0
SKIPPED = 77
SOURCES = ('.c', '.cpp', '.f90', '.f')
CFLAGS = ['-std=gnu11', '-D_GNU_SOURCE', '-O1', '-g', '-Wall', '-Wextra', '-Wmissing-prototypes',
          '-Wstrict-prototypes', '-Wshadow', '-Werror', '-Wno-stringop-overflow', '-Wno-stringop-overread', '-pthread']


class ListError(Exception):
    pass


class Test:
    """One line of a list."""

    def __init__(self, chapter, line, where):
        self.chapter = chapter
        self.where = where
        self.ranks = DEFAULT_RANKS
        self.args = []
        self.env = {}
        self.exit = 0                 # a number, or 'nonzero'
        self.out = []                 # (stream, regular expression)
        self.timeout = DEFAULT_TIMEOUT
        self.launch = True            # False: run the program without mpiexec
        words = shlex.split(line, comments=True)
        self.program = words[0]
        for word in words[1:]:
            self.take(word)

    def take(self, word):
        if re.fullmatch(r'[0-9,]+', word):
            self.ranks = [int(n) for n in word.split(',')]
            return
        match = re.fullmatch(r'(args|env|exit|timeout|launch|stdout|stderr)([=~])(.*)', word, re.S)
        if not match:
            raise ListError(f'{self.where}: cannot read {word!r}')
        key, sign, value = match.groups()
        if (sign == '~') != (key in ('stdout', 'stderr')):
            raise ListError(f'{self.where}: {key} is written with {"~" if sign == "=" else "="}')
        if key == 'args':
            self.args = shlex.split(value)
        elif key == 'env':
            name, _, val = value.partition('=')
            self.env[name] = val
        elif key == 'exit':
            self.exit = value if value == 'nonzero' else int(value)
        elif key == 'timeout':
            self.timeout = float(value)
        elif key == 'launch':
            if value != 'none':
                raise ListError(f'{self.where}: launch can only be none')
            self.launch = False
            self.ranks = [1]
        else:
            self.out.append((key, value))

    def is_plain(self):
        """Must be silent: nothing was announced."""
        return self.exit == 0 and not self.out


def read_lists(tests_dir, chapters):
    tests = []
    for chapter in chapters:
        path = os.path.join(tests_dir, chapter, 'list.txt')
        with open(path, encoding='utf-8') as f:
            for number, line in enumerate(f, 1):
                if line.strip() and not line.lstrip().startswith('#'):
                    tests.append(Test(chapter, line, f'{path}:{number}'))
    return tests


def find_chapters(tests_dir):
    return sorted(d for d in os.listdir(tests_dir)
                  if os.path.exists(os.path.join(tests_dir, d, 'list.txt')))


def check_lists(tests_dir, chapters):
    """Every program is in a list, every line has a program. Returns complaints."""
    complaints = []
    for chapter in chapters:
        listed = {t.program for t in read_lists(tests_dir, [chapter])}
        present = {os.path.splitext(f)[0] for f in os.listdir(os.path.join(tests_dir, chapter)) if f.endswith(SOURCES)}
        complaints += [f'{chapter}/{p} is in no line of {chapter}/list.txt'
                       for p in sorted(present - listed)]
        complaints += [f'{chapter}/list.txt names {p}, there is no such source'
                       for p in sorted(listed - present)]
    return complaints


def source_of(tests_dir, chapter, program):
    paths = [os.path.join(tests_dir, chapter, program + ending) for ending in SOURCES]
    return next((p for p in paths if os.path.exists(p)), paths[0])


def compile_all(tests, tests_dir, options, bin_dir, jobs):
    """Compiles what is out of date. Returns error texts."""
    include = os.path.join(tests_dir, 'common')

    def compile_one(key):
        chapter, program = key
        source = source_of(tests_dir, chapter, program)
        target = os.path.join(bin_dir, chapter, program)
        needed = [source] + [os.path.join(folder, f) for folder in (include, os.path.dirname(source))
                             for f in os.listdir(folder) if f.endswith('.h')]
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.exists(target) and os.path.getmtime(target) > max(map(os.path.getmtime, needed)):
            return ''
        if source.endswith('.c'):
            command = shlex.split(options.mpicc) + CFLAGS + ['-I', include, source, '-o', target, '-lm']
        elif source.endswith('.cpp'):
            command = shlex.split(options.mpicxx) + ['-O1', '-g', source, '-o', target]
        else:
            modules = tempfile.mkdtemp(dir=os.path.dirname(target))
            command = shlex.split(options.mpifort) + ['-O1', '-g', '-J', modules, os.path.join(include, 'ftest.f90'),
                                                      source, '-o', target]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        return f'{shlex.join(command)}\n{done.stdout}' if done.returncode else ''

    keys = sorted({(t.chapter, t.program) for t in tests})
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return [text for text in pool.map(compile_one, keys) if text]


def processes_of_job(leader):
    """Pids of a job: those of the session that mpiexec leads, and its descendants; zombies left out."""
    parents, members = {}, set()
    for name in os.listdir('/proc'):
        if not name.isdigit():
            continue
        try:
            with open(f'/proc/{name}/stat', encoding='latin-1') as f:
                fields = f.read().rpartition(')')[2].split()
        except OSError:
            continue
        if fields[0] in 'ZX':
            continue
        parents[int(name)] = int(fields[1])
        if int(fields[3]) == leader:
            members.add(int(name))
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in members and pid not in members}
        members |= more
        grown = bool(more)
    return sorted(members)


def left_by_job(leader, looks=100):
    """What the job left running. Who is on the way out, as an mpiexec that a program has started for itself, gets a
    moment, which is counted, not timed."""
    for _ in range(looks):
        left = processes_of_job(leader)
        if not left:
            break
        time.sleep(0.02)
    return left


def describe(pids):
    """What each process of a stuck job is doing: command, state, kernel function; stacks with gdb."""
    lines = []
    for pid in pids:
        try:
            with open(f'/proc/{pid}/cmdline', encoding='latin-1') as f:
                command = f.read().replace('\0', ' ').strip()
            with open(f'/proc/{pid}/wchan', encoding='latin-1') as f:
                wchan = f.read()
            with open(f'/proc/{pid}/stat', encoding='latin-1') as f:
                state = f.read().rpartition(')')[2].split()[0]
        except OSError:
            continue
        lines.append(f'process {pid} state {state} in {wchan or "?"}: {command}')
    return lines


def stacks(pids):
    lines = []
    for pid in pids:
        try:
            done = subprocess.run(['gdb', '-p', str(pid), '-batch', '-ex', 'thread apply all bt 12'],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  text=True, errors='replace', timeout=20, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        lines.append(f'stack of process {pid}:')
        lines += [line for line in done.stdout.splitlines() if line.startswith(('#', 'Thread'))]
    return lines


class Job:
    """One run of one test: how it is started, and what came of it."""

    def __init__(self, test, ranks, turn, options):
        self.test = test
        self.ranks = ranks
        self.verdict = 'fail'
        self.reason = ''
        self.output = []              # lines worth showing
        self.seconds = 0.0
        program = os.path.join(options.bin_dir, test.chapter, test.program)
        start = shlex.split(options.mpiexec) + ['-n', str(ranks)] if test.launch else []
        self.command = start + shlex.split(options.wrap) + [program] + test.args
        self.env = dict(options.env_pairs)
        self.env.update(test.env)
        if turn:
            self.env['TEST_SEED'] = str(turn + 1)
        self.limit = test.timeout * options.timeout
        self.options = options

    def name(self):
        start = f'-n {self.ranks}' if self.test.launch else '(no launcher)'
        return f'{self.test.chapter}/{" ".join([self.test.program] + self.test.args)} {start}'

    def repeat(self):
        names = [f'{k}={shlex.quote(v)}' for k, v in self.env.items()]
        return ' '.join(names + [shlex.join(self.command)])

    def run(self):
        begin = time.monotonic()
        env = dict(os.environ)
        env.update(self.env)
        try:
            child = subprocess.Popen(self.command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, start_new_session=True)
        except OSError as fault:
            self.reason = f'cannot start: {fault}'
            return self
        try:
            out, errors = child.communicate(timeout=self.limit)
            leftover = left_by_job(child.pid)
            self.judge(child.returncode, out, errors, leftover)
            self.kill(leftover)
        except subprocess.TimeoutExpired:
            out, errors = self.stop(child)
            self.reason = f'timed out after {self.limit:g} s'
            self.output += self.lines(out) + self.lines(errors)
        self.seconds = time.monotonic() - begin
        return self

    @staticmethod
    def lines(data):
        return data.decode('utf-8', 'replace').splitlines()

    @staticmethod
    def kill(pids):
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass

    def stop(self, child):
        """Ends a stuck job: says what its processes did, asks it to explain itself (SIGQUIT, which our
        mpiexec answers), then to end (SIGTERM), then kills whatever is left of its session."""
        pids = processes_of_job(child.pid)
        self.output += describe(pids)
        if self.options.backtrace:
            self.output += stacks(pids)
        for sign, patience in ((signal.SIGQUIT, 1.0), (signal.SIGTERM, 1.0)):
            try:
                os.kill(child.pid, sign)
                child.wait(patience)
            except (OSError, subprocess.TimeoutExpired):
                pass
        self.kill(pids)
        self.kill(processes_of_job(child.pid))
        try:
            return child.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            child.kill()
            return b'', b'(output lost: something holds the pipes)'

    def judge(self, code, out, errors, leftover):
        if code < 0:
            code = 128 - code
        test = self.test
        streams = {'stdout': out.decode('utf-8', 'replace'), 'stderr': errors.decode('utf-8', 'replace')}
        self.output = self.lines(out) + self.lines(errors)
        if code == SKIPPED and test.exit != SKIPPED:
            self.verdict = 'skip'
            self.reason = next((s for s in self.output if s.startswith('skipped:')), 'skipped')
            return
        if leftover:
            self.reason = f'left {len(leftover)} processes behind'
        elif test.exit == 'nonzero' and code == 0:
            self.reason = 'exit 0, expected another'
        elif test.exit != 'nonzero' and code != test.exit:
            self.reason = f'exit {code}, expected {test.exit}'
        elif test.is_plain() and (out or errors) and not self.options.allow_output:
            self.reason = 'was not silent'
        else:
            for stream, pattern in test.out:
                if not re.search(pattern, streams[stream], re.M):
                    self.reason = f'no match for {pattern!r} in {stream}'
                    return
            self.verdict = 'pass'


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n', maxsplit=1)[0])
    parser.add_argument('programs', nargs='*', help='only these: chapter/program or program')
    parser.add_argument('--mpiexec', default='mpiexec', help='launcher and its options, one word list')
    parser.add_argument('--bin-dir', help='compiled programs: <bin-dir>/<chapter>/<program>')
    parser.add_argument('--mpicc', help='compile the programs with this, here or into --bin-dir')
    parser.add_argument('--mpicxx', help='the same for C++; without it those programs are left out')
    parser.add_argument('--mpifort', help='the same for Fortran')
    parser.add_argument('--tests-dir', default=HERE, help='where the chapters are')
    parser.add_argument('--chapter', action='append', help='only this chapter (may be repeated)')
    parser.add_argument('--ranks', help='only these numbers of ranks, of those in the lists')
    parser.add_argument('--repeat', type=int, default=1, help='run everything N times, with other seeds')
    parser.add_argument('--jobs', '-j', type=int, default=1, help='tests at a time')
    parser.add_argument('--env', action='append', default=[], help='NAME=VALUE for every run')
    parser.add_argument('--wrap', default='', help='run each rank under this command, such as valgrind')
    parser.add_argument('--timeout', type=float, default=1.0, help='scale all time limits (sanitizers)')
    parser.add_argument('--allow-output', action='store_true',
                        help='let programs be noisy (other launchers)')
    parser.add_argument('--backtrace', action='store_true', help='stacks of a stuck job, with gdb')
    parser.add_argument('--check-lists', action='store_true', help='only compare lists with sources')
    parser.add_argument('-v', '--verbose', action='store_true', help='a line per run, all output of failures')
    parser.add_argument('--slowest', type=int, default=0, metavar='N', help='say which N runs took longest')
    options = parser.parse_args()
    options.env_pairs = []
    for pair in options.env:
        name, sign, value = pair.partition('=')
        if not sign:
            parser.error(f'--env {pair}: NAME=VALUE expected')
        options.env_pairs.append((name, value))
    if options.ranks:
        options.rank_set = {int(n) for n in options.ranks.split(',')}
    if not options.bin_dir and not options.mpicc and not options.check_lists:
        parser.error('--bin-dir or --mpicc is needed')
    return options


def select(options):
    """The tests to run."""
    chapters = options.chapter or find_chapters(options.tests_dir)
    tests = read_lists(options.tests_dir, chapters)
    if options.programs:
        wanted = set(options.programs)
        tests = [t for t in tests if {t.program, f'{t.chapter}/{t.program}'} & wanted]
        unknown = wanted - {t.program for t in tests} - {f'{t.chapter}/{t.program}' for t in tests}
        if unknown:
            raise ListError(f'no such test: {" ".join(sorted(unknown))}')
    return tests


def make_jobs(tests, options):
    return [Job(t, n, turn, options) for turn in range(options.repeat) for t in tests for n in t.ranks
            if not options.ranks or n in options.rank_set]


def report(job, options):
    """Says what is to be said about one finished run."""
    if job.verdict == 'fail':
        first = next((s for s in job.output if s.strip()), '')
        print(f'FAIL {job.name()}: {job.reason}{": " if first else ""}{first} | repeat: {job.repeat()}')
        stuck = job.reason.startswith('timed out')
        if options.verbose or stuck:
            shown = job.output if options.verbose else job.output[:200]
            for line in shown:
                print('    ' + line)
    elif options.verbose:
        word = 'skip' if job.verdict == 'skip' else 'pass'
        print(f'{word} {job.name()} {job.seconds:.2f} s {job.reason}'.rstrip())
    sys.stdout.flush()


def run_jobs(jobs, options):
    counts = {'pass': 0, 'fail': 0, 'skip': 0}
    lock = threading.Lock()

    def run_one(job):
        job.run()
        with lock:
            counts[job.verdict] += 1
            report(job, options)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        try:
            list(pool.map(run_one, jobs))
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return counts


def main():
    options = read_options()
    try:
        if options.check_lists:
            complaints = check_lists(options.tests_dir, options.chapter or find_chapters(options.tests_dir))
            print('\n'.join(complaints), end='\n' if complaints else '')
            return 1 if complaints else 0
        tests = select(options)
    except (ListError, OSError, ValueError) as fault:
        print(f'run.py: {fault}', file=sys.stderr)
        return 2
    holder = None
    if options.mpicc:
        if not options.bin_dir:
            holder = tempfile.TemporaryDirectory(prefix='mpitests-')
            options.bin_dir = holder.name
        compilers = {'.c': options.mpicc, '.cpp': options.mpicxx, '.f': options.mpifort, '.f90': options.mpifort}
        tests = [t for t in tests
                 if compilers[os.path.splitext(source_of(options.tests_dir, t.chapter, t.program))[1]]]
        faults = compile_all(tests, options.tests_dir, options, options.bin_dir, options.jobs)
        if faults:
            print('\n'.join(faults))
            print(f'run.py: {len(faults)} programs do not compile', file=sys.stderr)
            return 2
    jobs = make_jobs(tests, options)
    if not jobs:
        print('run.py: nothing to run', file=sys.stderr)
        return 2
    begin = time.monotonic()
    counts = run_jobs(jobs, options)
    if options.verbose:
        print(f'{time.monotonic() - begin:.1f} s')
    for job in sorted(jobs, key=lambda job: -job.seconds)[:options.slowest]:
        print(f'{job.seconds:.1f} s {job.name()}')
    skipped = f', {counts["skip"]} skipped' if counts['skip'] else ''
    print(f'{counts["pass"]} passed, {counts["fail"]} failed{skipped}')
    return 1 if counts['fail'] else 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
