#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests run.py itself: with a launcher and programs that are shell scripts, every way a test can end must
be counted as what it is. A runner that cannot fail would make every other test worthless."""

import os
import subprocess
import sys
import tempfile
import time

RUNNER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'run.py')

PROGRAMS = {
    'good': 'exit 0',
    'bad': 'echo oops >&2; exit 1',
    'noisy': 'echo hello',
    'skips': 'echo "skipped: no reason"; exit 77',
    'three': 'echo "code three" >&2; exit 3',
    'stuck': 'sleep 600 & sleep 600',
    'orphan': 'sleep 600 >/dev/null 2>&1 & exit 0',
    'killed': 'kill -SEGV $$',
    'env': 'test "$FLAVOUR" = sweet || { echo "FLAVOUR is $FLAVOUR"; exit 1; }',
    'args': 'test "$1 $2" = "a b c" || { echo "arguments $*"; exit 1; }',
    'ranks': 'test "$RANKS" = 2 -o "$RANKS" = 5 || { echo "ranks $RANKS"; exit 1; }',
}

LIST = r'''
# a comment
good
good 1,2
bad 1
noisy 1
skips 1
three 1 exit=3
three 1 exit=3 "stderr~code (two|three)"
three 1 exit=4
three 1 exit=3 stderr~four
three 1 exit=nonzero
good 1 exit=nonzero
stuck 1 timeout=0.3
orphan 1
killed 1 exit=139
env 1 env=FLAVOUR=sweet
env 1 env=FLAVOUR=sour
args 1 "args=a 'b c'"
ranks 2,5,9
good launch=none
'''

# One word per run, in the order of the list.
EXPECTED = (['pass'] * 8 + ['FAIL bad: exit 1', 'FAIL noisy: was not silent', 'skip', 'pass', 'pass',
            'FAIL three: exit 3, expected 4', 'FAIL three: no match', 'pass', 'FAIL good: exit 0',
            'FAIL stuck: timed out', 'FAIL orphan: left 1 processes behind', 'pass', 'pass',
            'FAIL env: exit 1', 'pass', 'pass', 'pass', 'FAIL ranks: exit 1', 'pass'])


def write_script(path, text):
    with open(path, 'w', encoding='utf-8') as f:
        f.write('#!/bin/sh\n' + text + '\n')
    os.chmod(path, 0o755)


def run(folder, *more):
    command = [sys.executable, RUNNER, '--tests-dir', folder, '--bin-dir', folder, '--mpiexec',
               os.path.join(folder, 'launcher')] + list(more)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


def fail(text, lines):
    print(text)
    print('\n'.join(lines))
    sys.exit(1)


def main():
    with tempfile.TemporaryDirectory(prefix='run-test-') as folder:
        chapter = os.path.join(folder, 'toy')
        os.mkdir(chapter)
        write_script(os.path.join(folder, 'launcher'), 'RANKS=$2; export RANKS; shift 2; "$@"')
        for name, text in PROGRAMS.items():
            write_script(os.path.join(chapter, name), text)
        with open(os.path.join(chapter, 'list.txt'), 'w', encoding='utf-8') as f:
            f.write(LIST)

        begin = time.monotonic()
        code, lines = run(folder, '-v')
        if time.monotonic() - begin > 300:
            fail('a stuck job was not killed in time', lines)
        came = [line for line in lines if line.split(' ')[0] in ('pass', 'skip', 'FAIL')]
        if len(came) != len(EXPECTED):
            fail(f'expected {len(EXPECTED)} runs, got {len(came)}', lines)
        for want, line in zip(EXPECTED, came):
            if not line.replace('toy/', '').replace(' -n 9', '').replace(' -n 1', '').startswith(want):
                fail(f'expected {want!r}, got {line!r}', lines)
            if want.startswith('FAIL') and '| repeat: ' not in line:
                fail(f'no command to repeat: {line!r}', lines)
        failed = sum(1 for w in EXPECTED if w.startswith('FAIL'))
        passed = sum(1 for w in EXPECTED if w == 'pass')
        if lines[-1] != f'{passed} passed, {failed} failed, 1 skipped' or code != 1:
            fail(f'wrong last line or exit code {code}', lines)

        code, lines = run(folder, 'toy/good', '--ranks', '2', '--repeat', '3', '--jobs', '2')
        if lines != ['6 passed, 0 failed'] or code != 0:
            fail(f'a clean run gives exit code {code}', lines)
        code, lines = run(folder, 'nothing-like-it')
        if code != 2:
            fail(f'an unknown test gives exit code {code}', lines)
    return 0


if __name__ == '__main__':
    sys.exit(main())
