#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Names that leave a file.

- The shared library exports exactly the names of its version script: MPI_*, PMPI_*, MPIX_* that docs/ tells of,
  two for debuggers, the table of room door and that of functions;
  every MPI_X has a PMPI_X and the other way round.
- It needs no library but libc.
- Inside, a global name starts with its room, or with the name of a file or struct of its room that no other room
  has. Names that only int_*.h declares are the room's own business.

Arguments: libmpi_abi.so.1, its version script, nm, then the static library of each room as ROOM=PATH."""

import os
import re
import subprocess
import sys

import tree

ENTRY = re.compile(r"P?MPIX?_")
OTHER_NAMES = ("MPIR_dll_name", "parley_debug_layout", "parley_door_1", "parley_calls_1", "parley_sections_1")


def output_of(command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def exported(library):
    lines = output_of(["nm", "-D", "--defined-only", library]).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def names_of_map(path):
    match = re.search(r"global:(.*?)local:", tree.read(path), re.S)
    return set(re.findall(r"[A-Za-z_]\w*(?=\s*;)", match.group(1))) if match else set()


def faults_of_exports(library, map_path):
    have, want = exported(library), names_of_map(map_path)
    docs = "".join(tree.read(path) for path in tree.files_below("docs", (".md",)))
    yield from (f"exported but not in the map: {name}" for name in sorted(have - want))
    yield from (f"in the map but not exported: {name}" for name in sorted(want - have))
    for name in sorted(have):
        match = re.fullmatch(r"(P?)(MPIX?)_(\w+)", name)
        if name in OTHER_NAMES:
            continue
        if not match:
            yield f"exported, but no name of MPI: {name}"
        elif (twin := f"{'' if match[1] else 'P'}{match[2]}_{match[3]}") not in have:
            yield f"exported without its twin {twin}: {name}"
        elif match[2] == "MPIX" and f"MPIX_{match[3]}" not in docs:
            yield f"exported, but docs/ does not tell of it: {name}"


def faults_of_needs(library):
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", output_of(["readelf", "-d", library])):
        if not re.match(r"(libc\.so|ld-linux|lib(asan|ubsan|tsan)\.so)", name):
            yield f"the library needs {name}"


def headers_of(room, is_private):
    paths = [p for p in tree.room_files(room, (".h",)) if os.path.basename(p).startswith("int_") == is_private]
    return "".join(tree.read(path) for path in paths)


def prefixes_of(uses):
    """Prefix -> rooms: the last part of the room's name, its file names, and the structs of its public headers."""
    owners = {}
    for room in uses:
        names = {room.rpartition("/")[2]}
        names |= {re.sub(r"^int_", "", os.path.basename(p)[:-2]) for p in tree.room_files(room)}
        names |= set(re.findall(r"^struct (\w+)[^;()]*\{", headers_of(room, False), re.M))
        for name in names:
            owners.setdefault(name, set()).add(room)
    return owners


def faults_of_names(room, archive, nm, owners):
    private = headers_of(room, True)
    lines = output_of([nm, "--defined-only", "--extern-only", archive]).splitlines()
    for name in sorted({line.split()[2] for line in lines if len(line.split()) == 3}):
        if (name.startswith(("__", "_vgw")) or name in OTHER_NAMES or ENTRY.match(name) or
                re.search(rf"\b{name}\b", private)):
            continue
        heads = [name[:i] for i in range(1, len(name) + 1) if i == len(name) or name[i] == "_"]
        found = [head for head in heads if room in owners.get(head, ())]
        if not found:
            yield f"{name} of room {room} carries the name of no file or struct of its room"
        elif all(len(owners[head]) > 1 and head != room.rpartition("/")[2] for head in found):
            others = ", ".join(sorted(owners[found[-1]]))
            yield f"{name} of room {room}: the prefix {found[-1]} belongs to several rooms ({others})"


def main(library, map_path, nm, *archives):
    faults = list(faults_of_exports(library, map_path)) + list(faults_of_needs(library))
    owners = prefixes_of(tree.rooms())
    for room, _, archive in (pair.partition("=") for pair in archives):
        faults += faults_of_names(room, archive, nm, owners)
    return tree.report(faults, f"{len(exported(library))} exported names, {len(archives)} rooms")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
