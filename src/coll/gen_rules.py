#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes rules_text.c: rules.txt, without its comments, as a string of the library, byte by byte: a literal may have
4095 only."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    with open(os.path.join(HERE, 'rules.txt'), encoding='utf-8') as source:
        lines = [' '.join(line.split('#')[0].split()) for line in source]
    with open(sys.argv[1], 'w', encoding='utf-8') as out:
        out.write('#include "coll/rules.h"\n\nconst char coll_default_rules[] = {\n')
        for line in lines:
            out.write('    ' + ' '.join(f'{byte},' for byte in f'{line}\n'.encode()) + '\n')
        out.write('    0\n};\n')


main()
