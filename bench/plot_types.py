#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws what derived types reach by bytes, a panel for each layout, packing first, then ping-pong, for every MPI of a
comparison and for loops by hand: plot_types.py BENCH.json OUT.svg

Both axes are logarithmic, the same in all panels. Values are the medians over the rounds, in GB/s of data."""

import json
import statistics
import sys
from xml.sax.saxutils import escape

import plot
import plot_coll

SHOWN = {'pack': ('pack', 1.0), 'typed': ('ping-pong', 1e-3)}
BY_HAND = 'by hand'


def read_panels(path):
    """({"pack, layout": {MPI: [(bytes, GB/s)]}}, [MPI]); the loops by hand are those compiled with the first MPI."""
    with open(path, encoding='utf-8') as f:
        data = json.load(f)
    mpis = [m['name'] for m in data['mpis']]
    panels = {}
    for row in data['values']:
        name, is_hand = row['name'].removesuffix('_hand'), row['name'].endswith('_hand')
        layout, _, size = row['parameter'].partition(':')
        if name not in SHOWN or layout.startswith(('both_', 'out_')) or (is_hand and row['mpi'] != mpis[0]):
            continue
        what, unit = SHOWN[name]
        by_mpi = panels.setdefault(f'{what}, {layout}', {})
        by_mpi.setdefault(BY_HAND if is_hand else row['mpi'], []).append(
            (int(size), unit * statistics.median(row['values'])))
    return dict(sorted(panels.items(), key=lambda item: item[0].startswith('ping'))), mpis + [BY_HAND]


def svg(panels, mpis):
    across, wide, high = plot_coll.ACROSS, plot_coll.WIDE, plot_coll.HIGH
    left, top = plot_coll.LEFT, plot_coll.TOP
    width, height = left + across * wide, top + (len(panels) + across - 1) // across * high
    scale = plot_coll.Scale(panels)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
           'font-size="12">', f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="{left}" y="18">derived types: GB/s by bytes</text>']
    for i, mpi in enumerate(mpis):
        x = left + 210 + 130 * i
        out.append(f'<line x1="{x}" y1="14" x2="{x + 24}" y2="14" stroke="{plot.COLOURS[i % len(plot.COLOURS)]}" '
                   'stroke-width="2"/>')
        out.append(f'<text x="{x + 30}" y="18">{escape(mpi)}</text>')
    for i, (name, by_mpi) in enumerate(panels.items()):
        out.append(f'<g transform="translate({left + i % across * wide} {top + i // across * high})">')
        out += plot_coll.panel(name, by_mpi, mpis, scale) + ['</g>']
    return '\n'.join(out + ['</svg>']) + '\n'


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    panels, mpis = read_panels(sys.argv[1])
    if not panels:
        print(f'{sys.argv[1]}: no derived types in it, no picture of them')
        return
    with open(sys.argv[2], 'w', encoding='utf-8') as f:
        f.write(svg(panels, mpis))


if __name__ == '__main__':
    main()
