#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""broken_calls with every call, and connections that break after every few messages of one process: on as many machines
as there are ranks, on fewer, with and without shared memory, and where the first error ends the job.

    broken_test.py --build BUILD [--ranks 7] [--times 0,1,2]"""

import argparse
import os
import subprocess
import sys

FIRST = [0, 3, 6, 9, 12]
WAYS = [{'PARLEY_NODES': '7'}, {'PARLEY_NODES': '7', 'PARLEY_NET': 'chaos'},
        {'PARLEY_NODES': '2', 'PARLEY_SHARED_COLL': '0'}, {'PARLEY_NODES': '3', 'PARLEY_SHARED_COLL': '0'}]
LOST = ('E0362: ', 'E0338: ')


def run(options, way, words):
    """What is wrong, or None."""
    command = [os.path.join(options.build, 'launch', 'mpiexec'), '-timeout', '60', '-n', str(options.ranks),
               os.path.join(options.build, 'tests', 'coll', 'broken_calls')] + words
    done = subprocess.run(command, env=dict(os.environ, **way), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    is_well = not done.returncode and not done.stdout
    if 'fatal' in words and done.returncode not in (0, 124):
        is_well = any(lost in done.stdout for lost in LOST) and 'expected' not in done.stdout
    if is_well:
        return None
    settings = ' '.join(f'{name}={value}' for name, value in way.items())
    return f'{settings} {" ".join(words)}: exit {done.returncode}: {done.stdout}'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', required=True)
    parser.add_argument('--ranks', type=int, default=7)
    parser.add_argument('--times', default='0,1,2,3,5,8')
    options = parser.parse_args()
    failed = []
    for way in WAYS:
        for first in FIRST:
            for times in options.times.split(','):
                words = [str(first), times]
                failed += [run(options, way, words)]
                if times in '02':
                    failed += [run(options, way, words + ['fatal'])]
    failed = [why for why in failed if why]
    print('\n'.join(failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
