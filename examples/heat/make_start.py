#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws start.png, the start field of the heat example: the word PARLEY as heaters, coolers, warm shapes.

    make_start.py start.png

In the picture brightness is temperature; pure red is held hot, pure blue held cold (see heat.h)."""

import math
import struct
import sys
import zlib

WIDTH, HEIGHT = 384, 216
BLACK, RED, BLUE = 0, 1, 2          # palette entries; the others are greys
GREYS = [40, 90, 150, 210]
PALETTE = [(0, 0, 0), (255, 0, 0), (0, 0, 255)] + [(g, g, g) for g in GREYS]

LETTERS = {
    'P': ['####.', '#...#', '#...#', '####.', '#....', '#....', '#....'],
    'A': ['.###.', '#...#', '#...#', '#####', '#...#', '#...#', '#...#'],
    'R': ['####.', '#...#', '#...#', '####.', '#.#..', '#..#.', '#...#'],
    'L': ['#....', '#....', '#....', '#....', '#....', '#....', '#####'],
    'E': ['#####', '#....', '#....', '####.', '#....', '#....', '#####'],
    'Y': ['#...#', '#...#', '.#.#.', '..#..', '..#..', '..#..', '..#..'],
}


def word(pixels, text, left, top, dot):
    for number, letter in enumerate(text):
        for row, line in enumerate(LETTERS[letter]):
            for column, mark in enumerate(line):
                if mark == '#':
                    x = left + (number * 6 + column) * dot
                    y = top + row * dot
                    for j in range(y, y + dot):
                        pixels[j][x:x + dot] = [RED] * dot


def disc(pixels, x0, y0, inner, outer, colour):
    for y in range(HEIGHT):
        for x in range(WIDTH):
            if inner <= math.hypot(x - x0, y - y0) <= outer:
                pixels[y][x] = colour


def bar(pixels, left, top, width, height, colour):
    for y in range(top, top + height):
        pixels[y][left:left + width] = [colour] * width


def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))


def png(pixels):
    rows = b''.join(b'\0' + bytes(row) for row in pixels)
    return (b'\x89PNG\r\n\x1a\n' +
            chunk(b'IHDR', struct.pack('>IIBBBBB', WIDTH, HEIGHT, 8, 3, 0, 0, 0)) +
            chunk(b'PLTE', bytes(c for colour in PALETTE for c in colour)) +
            chunk(b'IDAT', zlib.compress(rows, 9)) + chunk(b'IEND', b''))


def main():
    pixels = [[BLACK] * WIDTH for _ in range(HEIGHT)]
    disc(pixels, 60, 46, 0, 26, 5)
    disc(pixels, 60, 46, 0, 10, 6)
    disc(pixels, 322, 42, 16, 24, 6)
    disc(pixels, 322, 42, 0, 6, BLUE)
    bar(pixels, 0, 190, WIDTH, 8, 3)
    for i in range(12):
        bar(pixels, 12 + 32 * i, 176, 14, 22, 4 + i % 3)
    bar(pixels, 130, 30, 130, 6, BLUE)
    word(pixels, 'PARLEY', 52, 80, 8)
    with open(sys.argv[1], 'wb') as f:
        f.write(png(pixels))


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
