#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the time of every collective operation by bytes, a panel for each, for every MPI of a comparison:
plot_coll.py BENCH.json OUT.svg [ranks]

Both axes are logarithmic, the same in all panels. Values are the medians over the rounds. Ranks: 2."""

import json
import math
import statistics
import sys
from xml.sax.saxutils import escape

import plot

ACROSS, WIDE, HIGH, LEFT, TOP = 4, 235, 165, 45, 50
INNER_WIDE, INNER_HIGH = WIDE - 50, HIGH - 45


def read_panels(path, ranks):
    """({operation: {MPI: [(bytes, us)]}}, [MPI])"""
    with open(path, encoding='utf-8') as f:
        data = json.load(f)
    panels = {}
    for row in data['values']:
        at_ranks, _, size = row['parameter'].partition(':')
        if row['name'].startswith('coll_') and not row['name'].endswith('.best') and at_ranks == ranks and size:
            points = panels.setdefault(row['name'][len('coll_'):], {}).setdefault(row['mpi'], [])
            points.append((int(size), statistics.median(row['values'])))
    return panels, [m['name'] for m in data['mpis']]


class Scale:
    """Places in a panel; the axes hold the values of all panels."""

    def __init__(self, panels):
        points = [p for by_mpi in panels.values() for line in by_mpi.values() for p in line]
        self.x0, self.x1 = (math.log10(f(size for size, _ in points)) for f in (min, max))
        self.y0 = math.floor(math.log10(min(us for _, us in points)))
        self.y1 = math.ceil(math.log10(max(us for _, us in points)))

    def x(self, size):
        return (math.log10(size) - self.x0) / (self.x1 - self.x0 or 1) * INNER_WIDE

    def y(self, us):
        return INNER_HIGH - (math.log10(us) - self.y0) / (self.y1 - self.y0 or 1) * INNER_HIGH


def panel(name, by_mpi, mpis, scale):
    out = [f'<rect width="{INNER_WIDE}" height="{INNER_HIGH}" fill="none" stroke="#999"/>',
           f'<text x="4" y="-4">{escape(name)}</text>']
    for exponent in range(scale.y0, scale.y1 + 1):
        y = scale.y(10 ** exponent)
        out.append(f'<line x1="0" y1="{y:.1f}" x2="{INNER_WIDE}" y2="{y:.1f}" stroke="#ddd"/>')
        if (exponent - scale.y0) % 2 == 0:
            out.append(f'<text x="-4" y="{y + 4:.1f}" text-anchor="end" font-size="9">{10.0 ** exponent:g}</text>')
    for size in (8, 512, 32768, 1048576):
        if scale.x0 <= math.log10(size) <= scale.x1:
            out.append(f'<text x="{scale.x(size):.1f}" y="{INNER_HIGH + 11}" text-anchor="middle" font-size="9">'
                       f'{plot.size_text(size)}</text>')
    for mpi, points in sorted(by_mpi.items(), key=lambda line: -mpis.index(line[0])):
        path = ' '.join(f'{scale.x(size):.1f},{scale.y(us):.1f}' for size, us in sorted(points))
        i = mpis.index(mpi)
        out.append(f'<polyline points="{path}" fill="none" stroke="{plot.COLOURS[i % len(plot.COLOURS)]}" '
                   f'stroke-width="{2 if i == 0 else 1.2}"/>')
    return out


def svg(panels, mpis, title, legend):
    """The picture; `legend` is where the names begin, to the right of the title."""
    rows = (len(panels) + ACROSS - 1) // ACROSS
    width, height = LEFT + ACROSS * WIDE, TOP + rows * HIGH
    scale = Scale(panels)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
           'font-size="12">', f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="{LEFT}" y="18">{escape(title)}</text>']
    for i, mpi in enumerate(mpis):
        x = LEFT + legend + 130 * i
        out.append(f'<line x1="{x}" y1="14" x2="{x + 24}" y2="14" stroke="{plot.COLOURS[i % len(plot.COLOURS)]}" '
                   'stroke-width="2"/>')
        out.append(f'<text x="{x + 30}" y="18">{escape(mpi)}</text>')
    for i, (name, by_mpi) in enumerate(panels.items()):
        out.append(f'<g transform="translate({LEFT + i % ACROSS * WIDE} {TOP + i // ACROSS * HIGH})">')
        out += panel(name, by_mpi, mpis, scale) + ['</g>']
    return '\n'.join(out + ['</svg>']) + '\n'


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    ranks = sys.argv[3] if len(sys.argv) == 4 else '2'
    panels, mpis = read_panels(sys.argv[1], ranks)
    if not panels:
        print(f'{sys.argv[1]}: no collective operations with {ranks} ranks in it, no picture of them')
        return
    with open(sys.argv[2], 'w', encoding='utf-8') as f:
        f.write(svg(panels, mpis, f'collective operations with {ranks} ranks: us by bytes', 330))


if __name__ == '__main__':
    main()
