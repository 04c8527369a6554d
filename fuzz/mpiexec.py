#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Feeds mpiexec with bytes it does not expect, from all sides, and sees that it stays sane.

    mpiexec.py --mpiexec PATH [--seconds N] [--seed N]

- command lines and files for -configfile, made from those in corpus/command_line by random changes. The word PROGRAM
  becomes a program that does not exist, so nothing is ever run;
- packets on the control socket of a rank, with and without the right token, and at the address for newcomers.

mpiexec must end by itself, with a code of its own, and with a message where that is not 0. A failure prints the input
and the seed."""

import argparse
import os
import random
import shlex
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = '/nonexistent/program'
CODES = {0, 2, 125, 126, 127}
NUMBERS = ['0', '-1', '1', '65536', '2147483648', '1e999', 'nan', '', '1:2:0', '::', ',']
ODD = ['', '-', '--', ':', '=', '-=', '--=x', '-n=', 'a' * 5000, '\xff\xfe', 'x\ny', '"', '\\', '%s%n']


class Failure(Exception):
    pass


def read_corpus():
    folder = os.path.join(HERE, 'corpus', 'command_line')
    lines = []
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding='utf-8') as file:
            lines += [shlex.split(line) for line in file if line.strip()]
    return lines


def change(dice, words, corpus):
    """A command line that is nearly this one."""
    words = list(words)
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(words) + 1)
        kind = dice.randrange(6)
        if kind == 0:
            words[at:at + 1] = []
        elif kind == 1:
            words.insert(at, dice.choice(NUMBERS + ODD))
        elif kind == 2:
            words.insert(at, dice.choice(dice.choice(corpus)))
        elif kind == 3 and at < len(words):
            words[at] = dice.choice(NUMBERS + ODD)
        elif kind == 4 and at < len(words) and words[at]:
            cut = dice.randrange(len(words[at]))
            new = dice.choice(['', '=', ':', '-', chr(dice.randrange(1, 256))])
            words[at] = words[at][:cut] + new + words[at][cut:]
        else:
            words[at:at] = dice.choice(corpus)[:3]
    # Every program of the line must be the one that does not exist.
    return [PROGRAM if word == 'PROGRAM' else word.replace('\0', '?') for word in words]


def run(command, shown, **more):
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=60, check=False, **more)
    except subprocess.TimeoutExpired:
        raise Failure(f'does not end: {shown!r}') from None
    except OSError: # too long for the system
        return
    if done.returncode not in CODES:
        raise Failure(f'code {done.returncode} for {shown!r}: {done.stderr[-500:]!r}')
    if done.returncode and not done.stderr.startswith(b'parley: '):
        raise Failure(f'code {done.returncode} without a message for {shown!r}: {done.stderr[-500:]!r}')


def command_lines(mpiexec, dice, end, scratch):
    corpus = read_corpus()
    count = 0
    env = {'PATH': '/nonexistent', 'HOME': scratch}
    while time.monotonic() < end:
        words = change(dice, dice.choice(corpus), corpus)
        if dice.random() < 0.3:
            path = os.path.join(scratch, 'config')
            with open(path, 'w', encoding='utf-8', errors='surrogatepass') as file:
                file.write(dice.choice([' ', '\n', '\t']).join(words))
            shown, words = words, ['-configfile', path]
        else:
            shown = words
        # A slash may lead to a program that is there; PATH leads to none.
        if not any('/' in w and w != PROGRAM and os.path.exists(w) and os.path.isfile(w) for w in shown):
            run([mpiexec] + words, shown, env=env, cwd=scratch)
            count += 1
    return count


RANK = r'''
import array, fcntl, os, random, socket, struct, sys, termios, time
_, launcher, _, control, token, rank, size, _, _ = os.environ["PARLEY_JOB"].split(":")
dice = random.Random(int(sys.argv[1]) + int(rank))
end = time.monotonic() + float(sys.argv[2])
halves = [int(token[:16], 16), int(token[16:], 16)]
inherited = socket.socket(fileno=int(control))
def packet():
    words = [dice.choice([0, 1, 2, 4, 5, 99, 2**32 - 1]), dice.choice([0, 1, 2**32 - 1]), dice.randrange(2**32),
             dice.choice([0, 1, 7, 4000, 4001, 65535, 2**32 - 1])]
    known = halves if dice.random() < 0.7 else [dice.getrandbits(64), halves[1]]
    text = bytes(dice.randrange(256) for _ in range(dice.choice([0, 1, 7, 200])))
    data = struct.pack("=4I2Q", *words, *known) + text * dice.choice([1, 1, 1, 20, 40])
    return data[:dice.choice([len(data)] * 4 + [dice.randrange(len(data) + 1)])]
count = 0
while time.monotonic() < end:
    at = inherited
    if dice.random() < 0.2:
        at = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            at.connect("\0parley-%016x-%s" % (halves[0], launcher))
        except OSError:
            continue
    try:
        at.send(packet(), socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        count += 1
    except OSError:
        pass
    if at is not inherited:
        at.close()
    left = array.array("i", [1])
    while left[0]: # a full socket that drains ends the rank: see sys/control.h
        fcntl.ioctl(inherited, termios.TIOCOUTQ, left)
'''


def packets(mpiexec, dice, seconds, scratch):
    """What would end the job (kind 3) is left out; what is printed may be anything."""
    path = os.path.join(scratch, 'rank.py')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(RANK)
    seed = dice.randrange(1 << 30)
    try:
        done = subprocess.run([mpiexec, '-n', '2', sys.executable, path, str(seed), str(seconds)],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                              check=False)
    except subprocess.TimeoutExpired:
        raise Failure('packets: does not end') from None
    if done.returncode:
        raise Failure(f'packets: code {done.returncode}: {done.stderr[-1000:]!r}')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--mpiexec', required=True)
    parser.add_argument('--seconds', type=float, default=2)
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    dice = random.Random(options.seed)
    mpiexec = os.path.abspath(options.mpiexec)
    with tempfile.TemporaryDirectory(prefix='parley-fuzz-') as scratch:
        try:
            count = command_lines(mpiexec, dice, time.monotonic() + options.seconds / 2, scratch)
            packets(mpiexec, dice, options.seconds / 2, scratch)
        except Failure as why:
            print(f'--seed {options.seed}: {why}')
            return 1
    print(f'{count} command lines')
    return 0


if __name__ == '__main__':
    sys.exit(main())
