# SPDX-License-Identifier: BSD-3-Clause
"""The library exports every function of expected.txt as MPI_ and PMPI_, the hidden ones too, and nothing else but two
names that debuggers look for and two tables for libraries of ours. In the objects it is made of MPI_X is weak and
PMPI_X is strong:
python3 exports_test.py NM LIBRARY ARCHIVE

(Link-time optimisation may show a weak name as a strong one in the shared library; to the dynamic linker they are
the same.)"""

import subprocess
import sys

import expected

FOR_OTHERS = {'MPIR_dll_name', 'parley_debug_layout', 'parley_door_1', 'parley_calls_1', 'parley_sections_1'}


def wanted_names():
    found = expected.read()
    names = [columns[0] for columns in found['function'] + found['hidden']]
    return set(names) | {'P' + name for name in names} | FOR_OTHERS


def defined(command):
    """Name -> letter of nm (T: strong, W: weak)."""
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in text.splitlines() if len(line.split()) > 2]
    return {row[-1].partition('@')[0]: row[-2] for row in rows if row[-2] != 'A'}


def main(nm, library, archive):
    want = wanted_names()
    have = defined([nm, '-D', '--defined-only', library])
    objects = defined([nm, '--defined-only', archive])
    faults = [f'not exported: {name}' for name in sorted(want - set(have))]
    faults += [f'exported, but not expected: {name}' for name in sorted(set(have) - want)]
    for name in sorted(want - FOR_OTHERS):
        letter = 'W' if name.startswith('MPI_') else 'T'
        if objects.get(name) != letter:
            faults.append(f'in the objects {name} is {objects.get(name)}, expected {letter}')
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
