#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs of tests/p4/runs.txt, started both ways, and the Fortran program if there is a compiler.

    p4_test.py --build DIR [-v] [PROGRAM ...]

F: the program is started once, with a procgroup file for so many processes, and forks the others. L: mpiexec starts
them all. One line for each failure; the last line is `N passed, N failed`. What cannot be tested here says
"skipped: why"."""

import argparse
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
STOP_AFTER = 150  # seconds
AT_ONCE = 3  # runs
# Of programs that end as they should not: leaks are no news then, and the signals are ours.
SANITIZED = {'ASAN_OPTIONS': 'detect_leaks=0:handle_segv=0', 'TSAN_OPTIONS': 'handle_segv=0'}


class Test:
    """One line of runs.txt."""

    def __init__(self, line):
        words = shlex.split(line)
        self.program = words[0]
        self.counts, self.modes, self.args, self.exit, self.patterns, self.env = [2], 'FL', '', 0, [], ''
        for word in words[1:]:
            self.take(word)

    def take(self, word):
        if re.fullmatch(r'[0-9,]+', word):
            self.counts = [int(n) for n in word.split(',')]
            return
        key, sign, value = re.fullmatch(r'(modes|args|exit|env|stdout|stderr)([=~])(.*)', word, re.S).groups()
        if sign == '~':
            self.patterns.append((key, value))
        elif key == 'exit':
            self.exit = value if value == 'nonzero' else int(value)
        else:
            setattr(self, key, value)

    def arguments(self, count):
        return self.args.replace('{n}', str(count)).split()


def clusters(count, path):
    """Three clusters of this host, of 3, 3 and 1 processes if there are 7; fewer if there are fewer."""
    sizes = [(count * 3 + 6) // 7, 0, int(count >= 3)]
    sizes[1] = count - sum(sizes)
    return f'local {sizes[0] - 1}\n' + ''.join(f'localhost {size} {path}\n' for size in sizes[1:] if size)


def command(build, path, args, count, mode, folder):
    if mode == 'L':
        return [os.path.join(build, 'launch', 'mpiexec'), '-n', str(count), path, *args]
    if mode == 'N':
        return [path, '-p4pg', os.path.join(folder, 'none'), *args]
    # Runs that go at the same time would empty each other's file if it were the same one.
    with tempfile.NamedTemporaryFile('w', dir=folder, suffix='.pg', delete=False, encoding='utf-8') as file:
        file.write(f'local {count - 1}\n' if mode == 'F' else clusters(count, path))
    return [path, '-p4pg', file.name, *args]


def signal_group(group, number):
    """False: there is none."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True


def group_is_empty(group, looks=500):
    """Is no process of this group left? They get a moment, for the end of a run reaches all of them. The moment is
    counted, not timed: a busy machine may stop us all for a while."""
    for _ in range(looks):
        if not signal_group(group, 0):
            return True
        time.sleep(0.01)
    return False


def run(words, **more):
    """Exit code (None: it did not end), stdout, stderr, and whether it left processes behind."""
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          start_new_session=True, **more) as process:
        try:
            out, err = process.communicate(timeout=STOP_AFTER)
            code = process.returncode
        except subprocess.TimeoutExpired:
            signal_group(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            return None, out, err, False
    is_clean = group_is_empty(process.pid)
    if not is_clean:
        signal_group(process.pid, signal.SIGKILL)
    return code, out, err, not is_clean


def fault_of(test, result):
    """What is wrong with the result, or None."""
    code, out, err, has_left = result
    if code is None:
        return f'did not end within {STOP_AFTER} s'
    if has_left:
        return 'left processes behind'
    if (code == 0) != (test.exit == 0) or (test.exit not in ('nonzero', code)):
        return f'exit code {code}, expected {test.exit}'
    for stream, pattern in test.patterns:
        if not re.search(pattern, out if stream == 'stdout' else err):
            return f'{pattern!r} is not in {stream}'
    if not test.patterns and out + err:
        return 'printed something'
    return None


def run_list(build, names, is_verbose):
    failed = passed = 0
    with open(os.path.join(HERE, 'runs.txt'), encoding='utf-8') as file:
        tests = [Test(line) for line in file if line.strip() and not line.startswith('#')]
    def one(test, mode, count, folder):
        path = os.path.join(build, 'tests', 'p4', test.program)
        words = command(build, path, test.arguments(count), count, mode, folder)
        start = time.monotonic()
        result = run(words, env={**os.environ, **dict(pair.split('=', 1) for pair in test.env.split())})
        return words, result, fault_of(test, result), time.monotonic() - start

    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        runs = [pool.submit(one, test, mode, count, folder) for test in tests if not names or test.program in names
                for mode in test.modes for count in test.counts]
        for done in runs:
            words, result, fault, seconds = done.result()
            failed += fault is not None
            passed += fault is None
            if fault:
                print(f'FAIL {shlex.join(words)}: {fault}\n{result[1][:1500]}{result[2][:1500]}')
            elif is_verbose:
                print(f'ok   {shlex.join(words)} {seconds:.2f} s')
            sys.stdout.flush()
    return passed, failed


def sanitizers(build):
    """What the build's own programs are compiled with."""
    with open(os.path.join(build, 'meson-info', 'intro-buildoptions.json'), encoding='utf-8') as file:
        value = {option['name']: option['value'] for option in json.load(file)}.get('b_sanitize', 'none')
    return [] if value == 'none' else [f'-fsanitize={value}']


def run_fortran(build):
    """Compile fortran.f against the build and run it both ways."""
    compiler = shutil.which('gfortran')
    if not compiler:
        print('fortran: skipped: there is no gfortran')
        return 0, 0
    libraries = os.path.join(build, 'compat', 'p4')
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, 'fortran')
        subprocess.run([compiler, '-std=legacy', '-w', *sanitizers(build), '-I', os.path.join(ROOT, 'include'), '-o',
                        program, os.path.join(HERE, 'fortran.f'), '-L', libraries, '-lp4_f', '-lp4',
                        f'-Wl,-rpath,{libraries}:{os.path.join(build, "src")}',
                        f'-Wl,-rpath-link,{os.path.join(build, "src")}'], check=True)
        for mode in 'FL':
            result = run(command(build, program, [], 3, mode, folder))
            # beside these lines: a version, and eight classes of buffers
            lines = sorted(line for line in result[1].split('\n') if line.strip().startswith('process '))
            printed = (result[1].count('1.4b\n'), len(re.findall(r'bytes: \d+\n', result[1])))
            expected = sorted(['', *[f'process {i} of 3 is right' for i in range(3)]])
            said = [line.strip() for line in lines]
            if result[0] == 0 and not result[3] and printed == (3, 24) and said == expected[1:]:
                passed += 1
            else:
                failed += 1
                print(f'FAIL fortran {mode}: {result}')
    return passed, failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', required=True)
    parser.add_argument('-v', action='store_true')
    parser.add_argument('programs', nargs='*')
    args = parser.parse_args()
    build = os.path.abspath(args.build)
    passed, failed = run_list(build, args.programs, args.v)
    if not args.programs or 'fortran' in args.programs:
        more = run_fortran(build)
        passed, failed = passed + more[0], failed + more[1]
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
