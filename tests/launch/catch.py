#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A rank for the tests of mpiexec: says "ready", then "got NAME" for every signal that comes; ends 0.3 s
after the one given as argument. "hold" as a second argument: never ends."""

import os
import signal
import sys
import time

NAMES = ['INT', 'TERM', 'HUP', 'QUIT', 'USR1', 'USR2', 'ALRM', 'CONT', 'WINCH']


def say(text):
    os.write(1, (text + '\n').encode())


def main():
    end = None
    got = []
    for name in NAMES:
        signal.signal(getattr(signal, 'SIG' + name), lambda number, _: got.append(number))
    say('ready ' + os.environ['PARLEY_RANK'])
    while end is None or time.monotonic() < end:
        time.sleep(0.02)
        while got:
            name = signal.Signals(got.pop(0)).name[3:]
            say('got ' + name)
            if name == sys.argv[1] and 'hold' not in sys.argv:
                end = time.monotonic() + 0.3


main()
