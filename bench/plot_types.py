#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws what derived types reach by bytes, a panel for each layout, packing first, then ping-pong, for every MPI of a
comparison and for loops by hand: plot_types.py BENCH.json OUT.svg

Both axes are logarithmic, the same in all panels. Values are the medians over the rounds, in GB/s of data."""

import json
import statistics
import sys

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


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    panels, mpis = read_panels(sys.argv[1])
    if not panels:
        print(f'{sys.argv[1]}: no derived types in it, no picture of them')
        return
    with open(sys.argv[2], 'w', encoding='utf-8') as f:
        f.write(plot_coll.svg(panels, mpis, 'derived types: GB/s by bytes', 210))


if __name__ == '__main__':
    main()
