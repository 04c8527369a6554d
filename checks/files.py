#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every source file says its licence in its first line, and each room has its README, header and meson.build.

Also: no tabs (Makefile apart), no blanks at the end of a line, no line far over the 110 columns of the
formatter, file names in src/ used once except for those of sibling modules."""

import os
import subprocess
import sys

import tree

ENDINGS = (".c", ".h", ".py", ".sh", ".build", ".options", ".cmake", "CMakeLists.txt", "Makefile", "meson_options.txt")
MARK = "SPDX-License-Identifier: BSD-3-Clause"
COLUMNS = 120    # the formatter breaks at 110; a little over is no fault
README_LINES = 90
AT_ROOT = ("LICENSE", "Makefile", "README.md", "meson.build", "meson_options.txt")


def is_script(path):
    with open(path, "rb") as f:
        return f.read(2) == b"#!"


def sources():
    paths = [os.path.join(tree.ROOT, n) for n in ("Makefile", "meson.build", "meson_options.txt", ".ci/run")]
    for folder in tree.CODE_FOLDERS:
        paths += [p for p in tree.files_below(folder, ("",)) if p.endswith(ENDINGS) or is_script(p)]
    return paths


def faults_of_file(path):
    lines = tree.read(path).splitlines()
    head = lines[1:2] if lines and lines[0].startswith("#!") else lines[:1]
    if not head or MARK not in head[0]:
        yield f"{tree.short(path)}:1: the first line must have {MARK}"
    for number, line in enumerate(lines, 1):
        where = f"{tree.short(path)}:{number}:"
        if "\t" in line and not path.endswith("Makefile"):
            yield f"{where} tab"
        if line != line.rstrip():
            yield f"{where} blank at the end of the line"
        if len(line) > COLUMNS:
            yield f"{where} {len(line)} columns"


def faults_of_room(room):
    folder = os.path.join(tree.SRC, room)
    header = os.path.join(folder, room.rpartition("/")[2] + ".h")
    readme = os.path.join(folder, "README.md")
    parent = os.path.join(os.path.dirname(folder), "README.md")
    if not os.path.exists(readme):
        if "/" not in room or f"`{os.path.basename(room)}/`" not in tree.read(parent):
            yield f"src/{room} has no README.md, and the room above does not tell of it"
    elif len(tree.read(readme).splitlines()) > README_LINES:
        yield f"src/{room}/README.md is longer than a page ({README_LINES} lines)"
    if not any(p.endswith(".h") and not os.path.basename(p).startswith("int_") for p in tree.room_files(room)):
        yield f"src/{room} has no public header, such as {tree.short(header)}"


def faults_of_names(rooms):
    """Room headers (x/x.h) and the files of transports, which are siblings, may share names."""
    seen = {}
    for room in rooms:
        for path in tree.room_files(room):
            name = os.path.basename(path)
            if "/" in room or name == room + ".h":
                continue
            if name in seen:
                yield f"{tree.short(path)}: {tree.short(seen[name])} has the same name"
            seen[name] = path


def strays():
    """What lies in src/ itself besides its meson.build, or in the root besides what belongs there. There, hidden files
    and what is not committed are not looked at."""
    done = subprocess.run(["git", "-C", tree.ROOT, "ls-files", ":(top,glob)*"], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL, check=False)
    for name in done.stdout.split():
        if name not in AT_ROOT and not name.startswith("."):
            yield f"{name} lies in the root, where it does not belong"
    for name in sorted(os.listdir(tree.SRC)):
        if name != "meson.build" and not os.path.isdir(os.path.join(tree.SRC, name)):
            yield f"src/{name} lies outside of every room"


def main():
    rooms = tree.rooms()
    paths = sources()
    faults = [fault for path in paths for fault in faults_of_file(path)]
    faults += [fault for room in rooms for fault in faults_of_room(room)]
    faults += faults_of_names(rooms)
    faults += strays()
    return tree.report(faults, f"{len(paths)} source files")


if __name__ == "__main__":
    sys.exit(main())
