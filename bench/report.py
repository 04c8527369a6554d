# SPDX-License-Identifier: BSD-3-Clause
"""Medians, ratios, gates and the Markdown text of a comparison, for compare.py.

Knows: the values that were taken. Does not know: how."""

import itertools
import math
import os
import platform
import statistics
import time

HIGHER_IS_BETTER = {'M/s', 'MB/s', 'GB/s', '%'}
FULL_QUEUE = 100000
BEGIN = '<!-- point-to-point, written by scripts/bench: begin -->'
END = '<!-- point-to-point, written by scripts/bench: end -->'
LATENCY_MIDDLE = [64, 256, 1024]
LATENCY_LONG = [4096, 8192, 16384, 32768, 65536]
BANDWIDTH = [262144, 1048576, 4194304]
CROWDS = [4, 8, 16]
MATCHING = ['posted_exact', 'posted_any_source', 'posted_any_tag',
            'unexpected_exact', 'unexpected_any_source', 'unexpected_any_tag']
TITLES = {
    'latency': 'Half a round trip, by bytes', 'rate': 'Messages per second in windows of 64, by bytes',
    'startup': 'Start to end of an empty program, by ranks; alone: without mpiexec',
    'matching': 'Round trip past N other entries',
    'barrier': 'Barrier, by ranks',
    'comm': 'Making a communicator and freeing it, by call and ranks',
    'rma': 'One-sided: time of a call with its flush, by call, window and bytes',
    'io': 'Files: MB/s of all ranks, by access, ranks and bytes of each; the folder is that of TMPDIR',
    'io_small': 'Files: reading 64 bytes, by ranks',
    'idle_cpu': 'Processor time of a rank blocked in a receive, by blocked ranks',
    'bandwidth': 'Windowed bandwidth, by bytes', 'bandwidth_blocking': 'Blocking bandwidth, by bytes',
    'bandwidth_denied': 'Windowed bandwidth where copies by the system are forbidden, by bytes',
    'bandwidth_blocking_denied': 'Blocking bandwidth where they are forbidden',
    'barrier_busy': 'Barrier with another busy program beside it, by ranks',
    'matcher': 'The matcher alone: post and arrival past 100,000 entries',
    'latency_single': 'Half a round trip as below, with MPI_THREAD_SINGLE',
    'threads_latency': 'Half a round trip with MPI_THREAD_MULTIPLE, by bytes',
    'threads_self': 'Messages per second of N threads to themselves, each on its own communicator',
    'threads_pair': 'Messages per second between N pairs of threads, each pair on its own communicator or all on one',
    'memory_rss_init': 'Resident memory of a rank after Init, by ranks',
    'memory_pss_init': 'The same, shared pages divided by those who share them',
    'memory_own_init': 'Pages of a rank alone after Init, by ranks',
    'memory_own_alltoall': 'Pages of a rank alone after an all-to-all, by ranks',
    'memory_pss_alltoall': 'Shared pages divided, after an all-to-all, by ranks',
    'memory_pss_settled': 'Shared pages divided, all ranks there',
    'memory_pss_peers': 'The same after every rank has sent to every other one',
    'pack': 'MPI_Pack, by layout and bytes', 'pack_hand': 'The same by a loop by hand',
    'unpack': 'MPI_Unpack, by layout and bytes', 'unpack_hand': 'The same by a loop by hand',
    'typed': 'Half a round trip of derived types, by layout and bytes',
    'typed_hand': 'The same, packed and unpacked by hand and sent as bytes',
    'op': 'MPI_Reduce_local, by operator and bytes', 'op_hand': 'The same by a loop by hand',
    'overlap': 'Share of a nonblocking operation that computation hides, by operation, ranks and bytes',
    'overlap_tested': 'The same with sixteen calls of MPI_Test in the computation',
}
COLL = 'coll_'
COLL_CALLS = {COLL: 'MPI_{}', 'nonblocking_': 'MPI_I{}', 'persistent_': 'MPI_{}_init'}  # by the beginning of the name
BY_HAND = 0.87  # of the speed of a loop by hand: 1.15 times its time
COLL_STRICT = {'2': 0.75, '2:8': 0.75, '2:1048576': 0.8}  # ranks:bytes, else 1


class Results:
    """Every value taken: values[(name, parameter)][mpi] is a list, one per round."""

    def __init__(self, names, subject):
        self.names = names
        self.subject = subject
        self.values = {}
        self.units = {}
        self.complaints = []
        self.lines = {}  # group: microseconds of bare lines beside it

    def add_lines(self, group, lines):
        self.lines.setdefault(group, []).extend(lines)

    def add(self, mpi, name, parameter, value, unit):
        self.values.setdefault((name, parameter), {}).setdefault(mpi, []).append(value)
        self.units[name] = unit

    def median(self, mpi, name, parameter):
        values = self.values.get((name, str(parameter)), {}).get(mpi)
        return statistics.median(values) if values else None

    def _best_of(self, name):
        return max if self.units[name] in HIGHER_IS_BETTER else min

    def best(self, mpi, name, parameter):
        """The best batch of all rounds; where there are no batches, the best round."""
        for key in (name + '.best', name):
            values = self.values.get((key, str(parameter)), {}).get(mpi)
            if values:
                return self._best_of(name)(values)
        return None

    def best_peer(self, name, parameter, value_of=None):
        """(value, name) of the best MPI that is not the subject, or None; values are medians or as given."""
        value_of = value_of or self.median
        peers = [(value_of(m, name, parameter), m) for m in self.names if m != self.subject]
        peers = [p for p in peers if p[0] is not None]
        return self._best_of(name)(peers) if peers else None

    def ratio(self, mpi, name, parameter, value_of=None):
        """This MPI's value over that of the best peer."""
        value_of = value_of or self.median
        peer = self.best_peer(name, parameter, value_of)
        return quotient(value_of(mpi, name, parameter), peer[0] if peer else None)


def quotient(a, b):
    return a / b if a is not None and b else None


def show(value):
    if value is None:
        return '–'
    if value >= 100:
        return f'{value:,.0f}'
    return f'{value:.3g}' if value >= 1 else f'{value:.3f}'


def show_with(value, unit):
    return '–' if value is None else f'{show(value)} {unit}'


class Gate:
    """One line of the gate table: `ratio` of medians decides, `best` of the best batches stands beside it."""

    def __init__(self, what, mine, other, ratios, wanted, at_most):
        self.what = what
        self.mine = mine
        self.other = other
        self.ratio, self.best = ratios
        self.wanted = f'{"≤" if at_most else "≥"} {wanted:g}'
        if self.ratio is None:
            self.verdict = 'not measured'
        else:
            self.verdict = 'pass' if (self.ratio <= wanted if at_most else self.ratio >= wanted) else 'miss'


def peer_gate(results, what, measured, wanted, at_most):
    """Against the best peer: at most `wanted` of its value, or at least `wanted` times as good."""
    name, parameter = measured
    unit = results.units.get(name, '')
    mine, peer = results.median(results.subject, name, parameter), None
    ratios = [None, None]
    if mine is not None:
        peer = results.best_peer(name, parameter)
        ratios = [results.ratio(results.subject, name, parameter, v) for v in (results.median, results.best)]
    if not at_most and unit not in HIGHER_IS_BETTER:
        ratios = [quotient(1, r) for r in ratios]
    other = f'{show(peer[0])} {unit} ({peer[1]})' if peer else '–'
    return Gate(what, show_with(mine, unit), other, ratios, wanted, at_most)


def bare_line_gate(results, size):
    lines = results.lines.get('latency')
    mine, bare = results.median(results.subject, 'latency', size), statistics.median(lines) if lines else None
    best = quotient(results.best(results.subject, 'latency', size), min(lines) if lines else None)
    return Gate(f'half round trip, {size} B, to a bare cache line', show_with(mine, 'us'),
                f'{show_with(bare, "us")} (bare line)', (quotient(mine, bare), best), 1.4, True)


def time_gate(results, ranks, limit):
    """Start to end within a time, in ms, whatever the peers take."""
    mine, best = [value_of(results.subject, 'startup', ranks) for value_of in (results.median, results.best)]
    return Gate(f'start to end, {ranks} ranks, to {limit} ms', show_with(mine, 'ms'), f'{limit} ms',
                (quotient(mine, limit), quotient(best, limit)), 1, True)


def depth_gate(results, kind):
    """A full queue against an empty one, both the subject's."""
    side, _, way = kind.partition('_')
    (full, empty), best = [
        [value_of(results.subject, 'matching', f'{kind}:{depth}') for depth in (FULL_QUEUE, 0)]
        for value_of in (results.median, results.best)]
    return Gate(f'round trip past {FULL_QUEUE:,} {side}, {way.replace("_", " ")} to depth 0',
                show_with(full, 'us'), f'{show_with(empty, "us")} (depth 0)',
                (quotient(full, empty), quotient(*best)), 1.3, True)


def curve_gates(results):
    """The steepest step up, and the deepest down, between two neighbouring sizes of the subject's curve."""
    curve = sorted((int(p), results.best(results.subject, 'curve', p)) for n, p in results.values if n == 'curve')
    steps = [(b[1] / a[1], a, b) for a, b in zip(curve, curve[1:])]
    found = []
    for what, chosen, wanted, at_most in (('steepest step', max, 1.5, True), ('deepest fall', min, 0.85, False)):
        step = chosen(steps, default=None)
        if step:
            found.append(Gate(f'{what} between neighbouring sizes, at {step[2][0]:,} B', show_with(step[2][1], 'us'),
                              f'{show(step[1][1])} us ({step[1][0]:,} B)', (step[0], None), wanted, at_most))
    return found


def coll_names(results, prefix=COLL):
    """The collective operations that were measured in one form, in that order."""
    return list(dict.fromkeys(n for n, _ in results.values if n.startswith(prefix) and not n.endswith('.best')))


def coll_title(name):
    form, _, operation = name.partition('_')
    call = COLL_CALLS[form + '_'].format(operation if form == 'nonblocking' else operation.capitalize())
    return f'{call}, by ranks and bytes'


def coll_ratios(results, prefix=COLL):
    """[(operation, parameter, time over that of the best peer)], where it was measured."""
    found = [(n, p, results.ratio(results.subject, n, p)) for n in coll_names(results, prefix)
             for m, p in results.values if m == n]
    return [row for row in found if row[2] is not None]


def coll_missed(results, prefix=COLL):
    """{(ranks, operation)} with a size that misses what is wanted of it."""
    return {(int(p.partition(':')[0]), n[len(prefix):]) for n, p, ratio in coll_ratios(results, prefix)
            if ratio > coll_wanted(n, p)}


def coll_wanted(name, parameter):
    """What the ratio may be: only of blocking calls anything less than 1 is wanted."""
    return COLL_STRICT.get(parameter, 1) if name.startswith(COLL) else 1


def coll_gates(results):
    """For each operation and form: short and long with 2 ranks, and the worst of all other ranks and sizes."""
    found = []
    for name in itertools.chain(*(coll_names(results, prefix) for prefix in COLL_CALLS)):
        parameters = [p for n, p in results.values if n == name]
        what = coll_title(name).split(',', maxsplit=1)[0]
        for parameter in [p for p in parameters if p in COLL_STRICT]:
            found.append(peer_gate(results, f'{what}, {parameter}, to best peer', (name, parameter),
                                   coll_wanted(name, parameter), True))
        rest = [(results.ratio(results.subject, name, p), p) for p in parameters if p not in COLL_STRICT]
        rest = [r for r in rest if r[0] is not None]
        if rest:
            worst = max(rest)[1]
            found.append(peer_gate(results, f'{what}, worst of {len(rest)} others ({worst}), to best peer',
                                   (name, worst), 1, True))
    return found


def worst_layouts(results, name, other):
    """For each layout the size at which `name` is slowest beside other(parameter): {layout: parameter}."""
    worst = {}
    for parameter in [p for n, p in results.values if n == name]:
        layout = parameter.partition(':')[0]
        ratio = quotient(results.median(results.subject, name, parameter), other(parameter))
        if ratio is not None and ratio < worst.get(layout, (math.inf,))[0]:
            worst[layout] = (ratio, parameter)
    return {layout: parameter for layout, (_, parameter) in worst.items()}


def layout_gates(results):
    """Derived types: never slower than the best peer, and within 1.15 of the time of a loop by hand."""
    found = []
    for name in ('pack', 'unpack', 'typed'):
        def of_peers(parameter, name=name):
            return (results.best_peer(name, parameter) or (None,))[0]

        def by_hand(parameter, name=name):
            return results.median(results.subject, name + '_hand', parameter)

        for parameter in worst_layouts(results, name, of_peers).values():
            found.append(peer_gate(results, f'{name} {parameter}, worst size, times best peer',
                                   (name, parameter), 1, False))
        for parameter in worst_layouts(results, name, by_hand).values():
            mine, hand = results.median(results.subject, name, parameter), by_hand(parameter)
            best = quotient(*[results.best(results.subject, n, parameter) for n in (name, name + '_hand')])
            found.append(Gate(f'{name} {parameter}, worst size, times by hand',
                              show_with(mine, results.units[name]), f'{show_with(hand, results.units[name])} (by hand)',
                              (quotient(mine, hand), best), BY_HAND, False))
    return found


def own_gate(results, what, value, against, wanted, at_most, unit=''):
    """Against another value of the subject's: (value, text) of both are (name, parameter)."""
    pairs = [tuple(of(results.subject, *pair) for of in (results.median, results.best)) for pair in (value, against)]
    (mine, best), (other, other_best) = pairs
    ratios = (quotient(mine, other), quotient(best, other_best))
    return Gate(what, show_with(mine, unit), show_with(other, unit), ratios, wanted, at_most)


def limit_gate(results, what, values, limit, unit):
    """The greatest of some values of the subject's, whatever the peers have."""
    values = [v for v in values if v is not None]
    worst = max(values) if values else None
    return Gate(what, show_with(worst, unit), show_with(limit, unit), (quotient(worst, limit), None), 1, True)


def per_peer(results, ranks):
    """KiB of memory for each process talked to: pages shared with it count half here and half there."""
    before, after = [results.median(results.subject, f'memory_pss_{when}', ranks) for when in ('settled', 'peers')]
    return None if before is None or after is None else (after - before) / (ranks - 1)


def p2p_gates(results):
    """Threads, forbidden copies, matching, idleness and memory."""
    mine = results.subject
    found = []
    for name, way in (('bandwidth_denied', 'windowed'), ('bandwidth_blocking_denied', 'blocking')):
        for size in BANDWIDTH:
            found.append(peer_gate(results, f'{way} bandwidth, copies forbidden, {size:,} B, times best peer',
                                   (name, size), 1, False))
    found.append(own_gate(results, '2 threads on own communicators, times the rate of one', ('threads_self', 2),
                          ('threads_self', 1), 1.5, False, 'M/s'))
    found.append(own_gate(results, '4 threads on 2 cores, times the rate of one', ('threads_self', 4),
                          ('threads_self', 1), 1, False, 'M/s'))
    found.append(own_gate(results, 'MPI_THREAD_MULTIPLE with one thread, 8 B, to MPI_THREAD_SINGLE',
                          ('threads_latency', 8), ('latency_single', 8), 1.15, True, 'us'))
    found.append(limit_gate(results, 'matching past 100,000 entries, worst case',
                            [results.median(mine, n, p) for n, p in results.values if n == 'matcher'], 300, 'ns'))
    found.append(limit_gate(results, 'processor time of a blocked receive', [results.median(mine, 'idle_cpu', 1)], 10,
                            'ms/s'))
    found.append(limit_gate(results, 'pages of a rank alone after Init, 64 ranks',
                            [results.median(mine, 'memory_own_init', 64)], 1024, 'KiB'))
    found.append(limit_gate(results, 'memory for each active peer, 64 ranks', [per_peer(results, 64)], 8, 'KiB'))
    return found


def gates(results):
    """The gates that the subject must pass; an empty list when there is no subject."""
    if not results.subject:
        return []
    found = []
    for size in (0, 8):
        found.append(peer_gate(results, f'half round trip, {size} B, to best peer', ('latency', size), 0.75,
                               True))
        found.append(bare_line_gate(results, size))
    for size in LATENCY_MIDDLE + LATENCY_LONG:
        found.append(peer_gate(results, f'half round trip, {size:,} B, to best peer', ('latency', size),
                               0.8 if size in LATENCY_MIDDLE else 0.75, True))
    for name, way in (('bandwidth', 'windowed'), ('bandwidth_blocking', 'blocking')):
        for size in BANDWIDTH:
            found.append(peer_gate(results, f'{way} bandwidth, {size:,} B, times best peer', (name, size), 1.6,
                                   False))
    for ranks in CROWDS:
        found.append(peer_gate(results, f'barrier, {ranks} ranks, to best peer', ('barrier', ranks), 0.7, True))
    found += curve_gates(results)
    found.append(peer_gate(results, 'message rate, 8 B, times best peer', ('rate', 8), 2, False))
    for ranks, factor in ((2, 5), (8, 8), (64, 15)):
        found.append(peer_gate(results, f'start to end, {ranks} ranks, times faster than best peer',
                               ('startup', ranks), factor, False))
    found += [time_gate(results, ranks, limit) for ranks, limit in ((2, 5), (64, 50))]
    found += [depth_gate(results, kind) for kind in MATCHING]
    return found + p2p_gates(results) + layout_gates(results) + coll_gates(results)


def gate_table(results, chosen=gates):
    lines = [f'| gate | {results.subject} | against | ratio | of the best | wanted | |',
             '|---|---|---|---|---|---|---|']
    for g in chosen(results):
        if g.ratio is None:
            continue  # not asked for, or said below
        cells = [g.what, g.mine, g.other, show(g.ratio), show(g.best), g.wanted, g.verdict]
        lines.append(f'| {" | ".join(cells)} |')
    return lines


def value_tables(results):
    lines = []
    collectives = {n: coll_title(n) for prefix in COLL_CALLS for n in coll_names(results, prefix)}
    for name, title in (TITLES | collectives).items():
        parameters = [p for n, p in results.values if n == name]
        if not parameters:
            continue
        lines += ['', f'### {title} ({results.units[name]})', '']
        head = results.names + ([f'{results.subject} / best peer'] if results.subject else [])
        lines += ['| | ' + ' | '.join(head) + ' |', '|---|' + '---|' * len(head)]
        for parameter in parameters:
            cells = [show(results.median(m, name, parameter)) for m in results.names]
            if results.subject:
                cells.append(show(results.ratio(results.subject, name, parameter)))
            lines.append(f'| {parameter} | ' + ' | '.join(cells) + ' |')
    return lines


def machine():
    model, memory = platform.processor() or platform.machine(), ''
    try:
        with open('/proc/cpuinfo', encoding='utf-8') as f:
            model = next((line.split(':')[1].strip() for line in f if line.startswith('model name')), model)
        with open('/proc/meminfo', encoding='utf-8') as f:
            memory = f', {int(f.readline().split()[1]) // 1048576} GiB'
    except OSError:
        pass
    return f'{model}, {len(os.sched_getaffinity(0))} cores for the run{memory}'


def markdown(results, mpis, command, load, seconds):
    """The whole section, for docs/performance.md."""
    lines = ['## Comparison', '',
             f'- machine: {machine()}',
             f'- kernel: {platform.system()} {platform.release()} {platform.machine()}',
             f'- date: {time.strftime("%Y-%m-%d")}; took {seconds:.0f} s; load average before: {load:.2f}',
             f'- again: `{command}`', '- MPIs, started in turns:']
    lines += [f'  - {m.name}: {m.version or "version unknown"}' for m in mpis]
    for group, bare in results.lines.items():
        if bare:
            middle, low, high = [show(f(bare)) for f in (statistics.median, min, max)]
            lines.append(f'- bare cache line between two cores, beside {group}: {middle} us one way ({low} to {high})')
    lines += ['',
              'A value is the median over the rounds, each of them the median of its batches; "of the best"',
              'compares the best batches of all rounds.']
    if results.subject:
        lines += ['', '### Gates', ''] + gate_table(results)
    lines += value_tables(results)
    if results.complaints:
        lines += ['', '### Not measured', ''] + [f'- {c}' for c in results.complaints]
    return '\n'.join(lines) + '\n'
