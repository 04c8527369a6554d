# SPDX-License-Identifier: BSD-3-Clause
"""Calls before MPI_Init and after MPI_Finalize go to the initial error handler, which ends the program with a message:
python3 outside_test.py PROGRAM"""

import re
import subprocess
import sys

WHEN = {'before': 'MPI has not been initialised', 'after': 'MPI has been finalised already'}


def main(program):
    faults = []
    for when, text in WHEN.items():
        done = subprocess.run([program, when], capture_output=True, text=True, timeout=30)
        wanted = f'MPI_Comm_rank at .*: {text}'
        if done.returncode == 0 or not re.search(wanted, done.stderr):
            faults.append(f'{when}: exit code {done.returncode}, wanted "{wanted}" in: {done.stderr}')
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
