# SPDX-License-Identifier: BSD-3-Clause
"""Reads expected.txt."""

import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS = {'constant': 4, 'handle': 3, 'callback': 4, 'function': 4, 'hidden': 2, 'absent': 2}


def read(path=os.path.join(HERE, 'expected.txt')):
    """Kind of line -> list of tuples of the columns behind it."""
    found = {kind: [] for kind in COLUMNS}
    with open(path, encoding='utf-8') as file:
        for number, line in enumerate(file, 1):
            if not line.strip() or line.startswith('#'):
                continue
            columns = re.split(r' {2,}', line.strip())
            if COLUMNS.get(columns[0]) != len(columns):
                raise SystemExit(f'expected.txt:{number}: cannot read this line')
            found[columns[0]].append(tuple(columns[1:]))
    return found
