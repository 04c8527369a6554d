# SPDX-License-Identifier: BSD-3-Clause
"""What the checks share: the rooms as their meson.build files give them, and the source files of the tree."""

import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SRC = os.path.join(ROOT, "src")
CODE_FOLDERS = ("api", "include", "src", "abi", "launch", "compat", "fortran", "impi", "tools", "tests", "fuzz",
                "bench", "examples", "scripts", "checks")


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def list_of(text, variable):
    """The strings of `variable = [...]` or `variable = files(...)` in a meson.build, [] if it is not there."""
    match = re.search(rf"^{variable} = (?:files\(|\[)(.*?)(?:\)|\])", text, re.S | re.M)
    return re.findall(r"'([^']*)'", re.sub(r"#.*", "", match.group(1))) if match else []


def rooms():
    """Room name -> the rooms it uses, in the order of src/meson.build; rooms that do not exist left out."""
    names = list_of(read(os.path.join(SRC, "meson.build")), "rooms")
    files = {name: os.path.join(SRC, name, "meson.build") for name in names}
    return {name: list_of(read(path), "uses") for name, path in files.items() if os.path.exists(path)}


def reach(room, uses):
    """The rooms that `room` reaches through `uses`, itself not counted: what its unit tests link."""
    found, todo = set(), list(uses[room])
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += uses.get(name, [])
    return found


def files_below(folder, endings):
    """Paths of the files below ROOT/folder with one of the endings, sorted."""
    found = []
    for path, folders, names in os.walk(os.path.join(ROOT, folder)):
        folders[:] = [f for f in folders if f != "__pycache__"]
        found += [os.path.join(path, name) for name in names if name.endswith(endings)]
    return sorted(found)


def room_files(room, endings=(".c", ".h")):
    """Paths of the files of one room, not of the rooms below it in the folder."""
    folder = os.path.join(SRC, room)
    return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(endings))


def short(path):
    return os.path.relpath(path, ROOT)


def report(faults, what):
    """Prints the faults and gives the exit status."""
    for fault in faults:
        print(fault)
    print(f"{what}: {len(faults)} fault{'' if len(faults) == 1 else 's'}")
    return 1 if faults else 0
