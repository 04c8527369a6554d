#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the algorithms of collective operations here and writes a file of rules, for PARLEY_COLL_RULES.

    bench/tune_coll.py --mpiexec build/launch/mpiexec --program build/bench/coll --ranks 2,4,8 -o my.rules
    PARLEY_COLL_RULES=my.rules mpiexec -n 4 ./program

For each operation, number of ranks and size the algorithm with the smallest median time gets the rule; a longer size
stays with the algorithm of the shorter one unless another is 5 % better. Where not all ranks know the sizes
(gatherv, scatterv, alltoallv, alltoallw) there is one rule for all. All algorithms of one operation are measured in
turns. Between two sizes, and two numbers of ranks, the limit is half way (in powers). What has not been measured
follows the rules that are built in. Which algorithms there are, the library says."""

import argparse
import math
import os
import re
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OPERATIONS = ('bcast gather gatherv scatter scatterv allgather allgatherv alltoall alltoallv alltoallw '
              'reduce allreduce reduce_scatter_block reduce_scatter scan exscan').split()
UNSIZED = 'gatherv scatterv alltoallv alltoallw'.split()
PARAMETERS = {'radix': (2, 4, 8), 'segment': ('16k', '64k', '256k'), 'window': (1, 4, 16)}
BETTER = 0.95


def run(options, ranks, operation, algorithm):
    """What the program prints when one algorithm is asked for."""
    command = [options.mpiexec, '-n', str(ranks), options.program, '--only', operation,
               '--min-size', str(options.min_size), '--max-size', str(options.max_size), '--batches', '9']
    env = {name: value for name, value in os.environ.items() if not name.startswith('PARLEY_COLL_')}
    env[f'PARLEY_COLL_{operation.upper()}'] = algorithm
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=options.timeout)


def algorithms(options, operation):
    """All of an operation, each with a few parameters: the message for one that does not exist names them."""
    said = run(options, 1, operation, '?').stderr
    names = re.search(r'must be one of (.*)', said)
    if not names:
        sys.exit(f'{options.mpiexec}: no list of algorithms in: {said}')
    for entry in names.group(1).split(', '):
        name, parameter = re.fullmatch(r'(\w+)(?:\[:(\w+)\])?', entry.strip()).groups()
        for value in PARAMETERS.get(parameter, ('',)):
            yield f'{name}:{value}' if parameter else name


def measure(options, ranks, operation):
    """size -> algorithm -> median time in us, over the rounds."""
    times = {}
    left = list(algorithms(options, operation))
    for _ in range(options.rounds):
        for algorithm in list(left):
            done = run(options, ranks, operation, algorithm)
            if done.returncode:
                left.remove(algorithm)  # not with so many ranks, or not in place
                continue
            for size, time in re.findall(rf'^coll_{operation} \d+:(\d+) ([0-9.]+) us$', done.stdout, re.M):
                times.setdefault(int(size), {}).setdefault(algorithm, []).append(float(time))
    return {size: {name: statistics.median(found) for name, found in of.items()} for size, of in sorted(times.items())}


def best(times):
    """[(size, algorithm)], where a change is worth it."""
    chosen = []
    for size, of in times.items():
        name = min(of, key=of.get)
        before = chosen[-1][1] if chosen else None
        if before in of and of[name] > BETTER * of[before]:
            name = before
        chosen.append((size, name))
    return chosen


def best_at_all(times):
    """The algorithm with the smallest product of times, for every size."""
    names = set.intersection(*(set(of) for of in times.values()))
    name = min(names, key=lambda one: sum(math.log(of[one]) for of in times.values()))
    return [(size, name) for size in times]


def between(low, high):
    return int(math.sqrt(low * high))


def rules(operation, ranks, most_ranks, chosen):
    """The rules of one number of ranks; sizes as the library counts them."""
    scale = ranks if operation == 'allgatherv' else 1
    limit = f' ranks<={most_ranks}' if most_ranks else ''
    for i, (size, name) in enumerate(chosen):
        if i + 1 < len(chosen) and chosen[i + 1][1] == name:
            continue
        top = f' bytes<={between(size, chosen[i + 1][0]) * scale}' if i + 1 < len(chosen) else ''
        yield f'{operation}{limit}{top} {name}'


def report(operation, ranks, times, chosen):
    for size, name in chosen:
        others = ', '.join(f'{other} {time:.1f}' for other, time in sorted(times[size].items(), key=lambda x: x[1])[:4])
        print(f'{operation} {ranks} ranks {size} B: {name} ({others} us)', flush=True)


def built_in():
    with open(os.path.join(ROOT, 'src', 'coll', 'rules.txt'), encoding='utf-8') as source:
        return [line.rstrip() for line in source if line.strip() and not line.startswith('#')]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--mpiexec', default=os.path.join(ROOT, 'build', 'launch', 'mpiexec'))
    parser.add_argument('--program', default=os.path.join(ROOT, 'build', 'bench', 'coll'))
    parser.add_argument('--ranks', default='2,4,8', help='numbers of ranks, ascending')
    parser.add_argument('--operations', default=','.join(OPERATIONS))
    parser.add_argument('--min-size', type=int, default=8)
    parser.add_argument('--max-size', type=int, default=1 << 20)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--timeout', type=float, default=120, help='seconds for one job')
    parser.add_argument('-o', '--output', required=True)
    options = parser.parse_args()
    numbers = [int(text) for text in options.ranks.split(',')]
    lines = ['# Made by bench/tune_coll.py on this machine.']
    for operation in options.operations.split(','):
        for i, ranks in enumerate(numbers):
            times = measure(options, ranks, operation)
            chosen = (best_at_all if operation in UNSIZED else best)(times)
            report(operation, ranks, times, chosen)
            most = between(ranks, numbers[i + 1]) if i + 1 < len(numbers) else 0
            lines += rules(operation, ranks, most, chosen)
    lines += ['', '# What is built in, for the rest.'] + built_in()
    with open(options.output, 'w', encoding='utf-8') as out:
        out.write('\n'.join(lines) + '\n')


main()
