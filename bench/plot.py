#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws half a round trip by bytes, for every MPI of a comparison: plot.py BENCH.json OUT.svg

Both axes are logarithmic. The subject's many sizes (values named curve) are its line; of the peers there are powers of
two. Values are the best batches, so that what disturbed one size does not look like a step."""

import json
import math
import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 900, 560, 70, 150, 30, 50
COLOURS = ['#c0392b', '#2c6fbb', '#2e8b57', '#8e6bbf', '#b8860b', '#555555']


def read_lines(path):
    """[(MPI, [(bytes, us)])], the subject first."""
    with open(path, encoding='utf-8') as f:
        data = json.load(f)
    points = {m['name']: {} for m in data['mpis']}
    for name in ('latency.best', 'curve.best'):
        for row in data['values']:
            if row['name'] == name and row['mpi'] in points and int(row['parameter']) > 0:
                points[row['mpi']][int(row['parameter'])] = min(row['values'])
    return [(mpi, sorted(by_size.items())) for mpi, by_size in points.items() if by_size]


class Axes:
    def __init__(self, lines):
        sizes = [size for _, points in lines for size, _ in points]
        times = [us for _, points in lines for _, us in points]
        self.x0, self.x1 = math.log10(min(sizes)), math.log10(max(sizes))
        self.y0, self.y1 = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))

    def x(self, size):
        return LEFT + (math.log10(size) - self.x0) / (self.x1 - self.x0 or 1) * (WIDTH - LEFT - RIGHT)

    def y(self, us):
        return HEIGHT - BOTTOM - (math.log10(us) - self.y0) / (self.y1 - self.y0 or 1) * (HEIGHT - TOP - BOTTOM)


def size_text(size):
    for unit in ('B', 'KiB', 'MiB'):
        if size < 1024:
            return f'{size} {unit}'
        size //= 1024
    return f'{size} GiB'


def grid(axes):
    out = []
    for exponent in range(axes.y0, axes.y1 + 1):
        y = axes.y(10 ** exponent)
        out.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0 ** exponent:g}</text>')
    size = 1
    while math.log10(size) <= axes.x1:
        if math.log10(size) >= axes.x0:
            x = axes.x(size)
            out.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}" stroke="#eee"/>')
            out.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{size_text(size)}</text>')
        size *= 8
    return out


def svg(lines):
    axes = Axes(lines)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
           'font-size="12">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           f'<text x="{LEFT}" y="18">half a round trip (us) by message size, best batches</text>'] + grid(axes)
    for i, (mpi, points) in enumerate(lines):
        colour = COLOURS[i % len(COLOURS)]
        path = ' '.join(f'{axes.x(size):.1f},{axes.y(us):.1f}' for size, us in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{2 if i == 0 else 1.2}"/>')
        y = TOP + 20 + 20 * i
        out.append(f'<line x1="{WIDTH - RIGHT + 12}" y1="{y}" x2="{WIDTH - RIGHT + 36}" y2="{y}" stroke="{colour}" '
                   'stroke-width="2"/>')
        out.append(f'<text x="{WIDTH - RIGHT + 42}" y="{y + 4}">{escape(mpi)}</text>')
    return '\n'.join(out + ['</svg>']) + '\n'


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    lines = read_lines(sys.argv[1])
    if not lines:
        print(f'{sys.argv[1]}: no latencies in it, no picture of them')
        return
    with open(sys.argv[2], 'w', encoding='utf-8') as f:
        f.write(svg(lines))


if __name__ == '__main__':
    main()
