#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Rooms include only what they may.

- An include in quotes is written from src/ and names a header that is there.
- It lies in the own room or in a room of the `uses` line; unit tests (*_test.c) may include whatever they link.
- int_*.h is included by its own room only.
- No header includes itself through others.
- launch/ includes, of src/, only base and sys; compat/p4 only base, sys, match and door;
  abi/ only base and door.
- The order of a .c file: its own header first, then <system>, then the rest (own header: the same name)."""

import os
import re
import sys

import tree

EDGES = {"launch": {"base", "sys"}, "compat/p4": {"base", "sys", "match", "door", "p4"},
         "abi": {"base", "door"}}
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^">]+)[">]', re.M)


def quoted(path):
    return [name for mark, name in INCLUDE.findall(tree.read(path)) if mark == '"']


def faults_of_file(path, room, uses):
    allowed = tree.reach(room, uses) if path.endswith("_test.c") else set(uses[room])
    for name in quoted(path):
        other = os.path.dirname(name)
        where = f'{tree.short(path)}: "{name}"'
        if not os.path.exists(os.path.join(tree.SRC, name)):
            yield f"{where} is not a path below src/"
        elif other != room and other not in allowed:
            yield f"{where}: room {room} does not use {other}"
        elif other != room and os.path.basename(name).startswith("int_"):
            yield f"{where} is private to room {other}"


def faults_of_order(path):
    includes = INCLUDE.findall(tree.read(path))
    own = os.path.relpath(path, tree.SRC)[:-2] + ".h"
    if ('"', own) in includes and includes[0] != ('"', own):
        yield f'{tree.short(path)}: its own header "{own}" must come first'


def faults_of_edges():
    for edge, allowed in EDGES.items():
        for path in tree.files_below(edge, (".c", ".h")):
            for name in quoted(path):
                if "/" in name and os.path.dirname(name) not in allowed:
                    yield f'{tree.short(path)}: "{name}": {edge} may include {", ".join(sorted(allowed))}'


def cycles(headers):
    """Each cycle of includes among headers (names from src/), once."""
    graph = {os.path.relpath(h, tree.SRC): quoted(h) for h in headers}
    state = {}

    def visit(name, path):
        if state.get(name) == "done" or name not in graph:
            return
        if name in path:
            yield "include cycle: " + " -> ".join(path[path.index(name):] + [name])
            return
        for other in graph[name]:
            yield from visit(other, path + [name])
        state[name] = "done"

    for header in graph:
        yield from visit(header, [])


def main():
    uses = tree.rooms()
    faults, headers = [], []
    for room in uses:
        for path in tree.room_files(room):
            faults += faults_of_file(path, room, uses)
            if path.endswith(".c"):
                faults += faults_of_order(path)
            else:
                headers.append(path)
    faults += cycles(headers)
    faults += faults_of_edges()
    return tree.report(faults, f"includes of {len(uses)} rooms")


if __name__ == "__main__":
    sys.exit(main())
