# SPDX-License-Identifier: BSD-3-Clause
"""What docs/performance.md says of the times of collective operations: written from the values of a comparison, between
two lines that mark the place. For compare.py.

Knows: the values that were taken (report.py). Does not know: how."""

import statistics
import time

import plot
import report

BEGIN = '<!-- collective operations, written by scripts/bench: begin -->'
END = '<!-- collective operations, written by scripts/bench: end -->'


def by_size_and_ranks(ratios):
    """{bytes: {ranks: [ratio]}}; without bytes: 0."""
    table = {}
    for _, parameter, ratio in ratios:
        ranks, _, size = parameter.partition(':')
        table.setdefault(int(size or 0), {}).setdefault(int(ranks), []).append(ratio)
    return dict(sorted(table.items()))


def cell(ratios):
    if not ratios:
        return '–'
    return f'{statistics.median(ratios):.2f} ({sum(r <= 1 for r in ratios)} of {len(ratios)})'


def summary(ratios):
    table = by_size_and_ranks(ratios)
    ranks = sorted({n for by_ranks in table.values() for n in by_ranks})
    lines = ['| bytes | ' + ' | '.join(f'{n} ranks' for n in ranks) + ' |', '|---|' + '---|' * len(ranks)]
    for size, by_ranks in table.items():
        what = plot.size_text(size) if size else 'barrier'
        lines.append(f'| {what} | ' + ' | '.join(cell(by_ranks.get(n, [])) for n in ranks) + ' |')
    return lines


def slower(results, ratios):
    """A row for each time above that of the best peer, the worst first."""
    lines = ['| operation, ranks:bytes | ratio | of the best | ' + results.subject + ' | best peer | rounds |',
             '|---|---|---|---|---|---|']
    for name, parameter, ratio in sorted(ratios, key=lambda row: -row[2]):
        if ratio > 1:
            mine, peer = results.median(results.subject, name, parameter), results.best_peer(name, parameter)
            best = results.ratio(results.subject, name, parameter, results.best)
            lines.append(f'| {name[len(report.COLL):]}, {parameter} | {ratio:.2f} | {report.show(best)} | '
                         f'{report.show(mine)} us | {report.show(peer[0])} us ({peer[1]}) | '
                         f'{len(results.values[(name, parameter)][results.subject])} |')
    return lines


def section(results, mpis, seconds, load):
    """All lines between the marks."""
    ratios = report.coll_ratios(results)
    lines = results.lines.get('coll') or [0]
    taken = [len(by_mpi.get(results.subject, [])) for (n, _), by_mpi in results.values.items()
             if n.startswith(report.COLL)] or [0]
    missed = sum(r > 1 for _, _, r in ratios)
    when = time.strftime('%Y-%m-%d at %H:%M')
    bare = [f'{f(lines):.3f}' for f in (min, max, statistics.median)]
    return [
        f'Taken on {when} in {seconds:.0f} s (load average before: {load:.2f}), each operation by all MPIs in turns',
        f'({", ".join(f"{m.name}: {m.version}" for m in mpis)}),',
        f'{min(taken)} rounds, up to {max(taken)} of what missed; a bare line took {bare[0]} to {bare[1]} us, median',
        f'{bare[2]}. Time of ours over that of the best peer: the median over all operations, and how many of them',
        'are not slower.', '', *summary(ratios), '',
        f'Slower than the best peer are {missed} of {len(ratios)}:' if missed else 'Nothing is slower.',
        '', *(slower(results, ratios) + [''] if missed else []),
        '![Time of the collective operations by bytes](performance-coll.svg)', '',
        'The gates: at 2 ranks 8 B at most 0.75 and 1 MB at most 0.8 of the best peer, everything else not slower;',
        '"worst" is the worst of all other numbers of ranks and sizes.', '',
        *report.gate_table(results, report.coll_gates), '', *[f'- {c}' for c in results.complaints]]


def replace(path, lines, begin_mark=BEGIN, end_mark=END):
    """Put the lines between the marks of a file."""
    with open(path, encoding='utf-8') as f:
        text = f.read()
    before, begin, rest = text.partition(begin_mark + '\n')
    _, end, after = rest.partition(end_mark)
    if not begin or not end:
        raise OSError(f'{path} lacks a line "{begin_mark}" or "{end_mark}"')
    with open(path, 'w', encoding='utf-8') as f:
        f.write(before + begin + '\n' + '\n'.join(lines).rstrip() + '\n\n' + end + after)
