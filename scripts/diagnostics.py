#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/diagnostics.md from src/base/diagnostics.txt, or with --check says whether it is current."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, 'src', 'base'))
import gen_diagnostics  # noqa: E402

OUTPUT = os.path.join(ROOT, 'docs', 'diagnostics.md')
HEAD = '''\
# Diagnostics

What mpiexec and the library print, by the id in front. `mpiexec --explain E0215` says the same at a terminal.

    parley: rank 1: E0215: MPI_Recv at app.c:88: got 100 x MPI_CHAR, 100 bytes, from rank 0, tag 7, on
    MPI_COMM_WORLD; there is room for 50 x MPI_CHAR, 50 bytes
            make the buffer as large as the largest message; MPI_Probe and MPI_Get_count tell how long the next one is

First who says it: a rank, several (`ranks 0-3, 7 (5)`: equal messages are printed once), or mpiexec. Then the id, the
function of MPI, and where the program calls it: file and line if the program was compiled with `-g` and `addr2line` is
installed, else the file and the place in it (`app+0x140c`, for `addr2line -e app 0x140c`). Then the cause, with its
values, and below it what can be done. The exit code of mpiexec follows the first failure.

A program whose error handler is MPI_ERRORS_RETURN sees none of the messages E02xx and E03xx: it gets error codes, and
MPI_Error_string has the text.

Made by `scripts/diagnostics.py` from `src/base/diagnostics.txt`; do not edit.
'''
PARTS = (
    (100, 'mpiexec'),
    (200, 'Error classes of MPI'),
    (300, 'Errors of the library with an id of their own'),
    (400, 'What the library tells unasked'),
)


def wrapped(text):
    lines, line = [], ''
    for word in text.split():
        if line and len(line) + 1 + len(word) > 118:
            lines.append(line)
            line = ''
        line += (' ' if line else '') + word
    return '\n'.join(lines + [line])


def part_of(entry):
    return max(first for first, _ in PARTS if first <= entry.number)


def report(entries):
    text = HEAD
    for first, title in PARTS:
        text += f'\n## {title}\n'
        for entry in entries:
            if part_of(entry) == first:
                text += f'\n### {entry.id}: {entry.cause}\n\n'
                text += '\n\n'.join(wrapped(paragraph) for paragraph in entry.text) + '\n'
                text += f'\n*What to do:* {wrapped(entry.remedy)}.\n' if entry.remedy else ''
    return text


def main(arguments):
    text = report(gen_diagnostics.read_catalogue())
    if arguments == ['--check']:
        current = open(OUTPUT, encoding='utf-8').read() if os.path.exists(OUTPUT) else ''
        if current != text:
            sys.exit('docs/diagnostics.md is not current: run scripts/diagnostics.py')
    elif arguments:
        sys.exit('usage: diagnostics.py [--check]')
    else:
        with open(OUTPUT, 'w', encoding='utf-8') as file:
            file.write(text)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
