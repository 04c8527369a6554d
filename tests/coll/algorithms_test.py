#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The model test with every algorithm of the collective operations: files of rules that name one after the other of
each operation's list, with several parameters. Where an algorithm cannot do a call the library takes another.

    algorithms_test.py --build BUILD [--cases N] [--ranks 2,3,8]"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

OPERATIONS = ['barrier', 'bcast', 'gather', 'gatherv', 'scatter', 'scatterv', 'allgather', 'allgatherv', 'alltoall',
              'alltoallv', 'alltoallw', 'reduce', 'allreduce', 'reduce_scatter_block', 'reduce_scatter', 'scan',
              'exscan']
PARAMETERS = {'radix': [2, 3, 64], 'segment': [1, 100, 4096], 'window': [1, 2, 64]}
PROGRAMS = [['every', 'blocking', 'groups'], ['every', 'nonblocking', 'groups'], ['crowd', 'many', 'groups']]


def start(options, ranks, words, **settings):
    env = dict(os.environ, TEST_CASES=str(options.cases if words[0] == 'every' else options.cases // 20), **settings)
    command = [os.path.join(options.build, 'launch', 'mpiexec'), '-timeout', '100', '-n', str(ranks),
               os.path.join(options.build, 'tests', 'coll', words[0])] + words[1:]
    return subprocess.run(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)


def algorithms(options, operation):
    """Those of an operation, as the library names them to who asks for one that it has not."""
    done = start(options, 2, ['barrier'], **{'PARLEY_COLL_' + operation.upper(): 'any'})
    found = re.search(r'must be one of (.*)', done.stdout)
    if not found:
        sys.exit(f'no list of the algorithms of {operation}: exit {done.returncode}: {done.stdout}')
    names = []
    for name in found[1].split(', '):
        plain, _, parameter = name.strip().rstrip(']').partition('[:')
        names += [plain] + [f'{plain}:{n}' for n in PARAMETERS.get(parameter, [])]
    return names


def run_with(options, rules, ranks):
    """Runs the programs under the rules; returns what failed."""
    failed = []
    with tempfile.NamedTemporaryFile('w', suffix='.rules') as file:
        file.write(''.join(f'{operation} {name}\n' for operation, name in rules))
        file.flush()
        for words in PROGRAMS:
            done = start(options, ranks, words, PARLEY_SHARED_COLL='0', PARLEY_COLL_RULES=file.name)
            if done.returncode:
                failed.append(f'{" ".join(words)} with {ranks} ranks, exit {done.returncode}, rules: '
                              f'{"; ".join(" ".join(r) for r in rules)}\n{done.stdout}')
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', required=True)
    parser.add_argument('--cases', type=int, default=100)
    parser.add_argument('--ranks', default='3,4,8')
    options = parser.parse_args()
    lists = {operation: algorithms(options, operation) for operation in OPERATIONS}
    failed = []
    for turn in range(max(len(names) for names in lists.values())):
        rules = [(operation, names[turn % len(names)]) for operation, names in lists.items()]
        for ranks in options.ranks.split(','):
            failed += run_with(options, rules, int(ranks))
    print('\n'.join(failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
