#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The catalogue of diagnostics, src/base/diagnostics.txt, against the source.

Every id that stands at the beginning of a string in src/, abi/, launch/ or compat/ is in the catalogue, and every id of
the catalogue is in the source (those of the error classes of MPI stand for themselves). Every entry names a test that
provokes it: the file is there, and has the id in it. tests/launch/diagnostics_test.py compares its table with the
catalogue itself when it runs. docs/diagnostics.md is current."""

import os
import re
import subprocess
import sys

import tree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(tree.SRC, "base"))
import gen_diagnostics  # noqa: E402

CLASSES = range(200, 264)
FOLDERS = ("src", "abi", "launch", "compat")
OWN_TABLE = "tests/launch/diagnostics_test.py"


def ids_in_source():
    """id -> where it stands first."""
    found = {}
    for path in [p for folder in FOLDERS for p in tree.files_below(folder, (".c", ".h"))]:
        if path.endswith("_test.c"):
            continue
        text = re.sub(r"/\*.*?\*/", "", tree.read(path), flags=re.S)
        for number in re.findall(r'"E(\d{4}): ', text):
            found.setdefault(int(number), tree.short(path))
    return found


def faults_of_test(entry):
    path = os.path.join(tree.ROOT, entry.test)
    if not os.path.exists(path):
        yield f"{entry.id}: its test {entry.test} does not exist"
    elif entry.test != OWN_TABLE and not re.search(rf"(?<!\d)0?{entry.number}(?!\d)", tree.read(path)):
        yield f"{entry.id}: its test {entry.test} does not name it"


def main():
    entries = {entry.number: entry for entry in gen_diagnostics.read_catalogue()}
    source = ids_in_source()
    faults = [f"{path}: E{number:04} is not in src/base/diagnostics.txt"
              for number, path in source.items() if number not in entries]
    faults += [f"{entry.id} is in src/base/diagnostics.txt and nowhere in the source"
               for number, entry in entries.items() if number not in source and number not in CLASSES]
    faults += [f"E{number:04} is the id of a class of errors and is not in src/base/diagnostics.txt"
               for number in CLASSES if number not in entries]
    for entry in entries.values():
        faults += faults_of_test(entry)
    done = subprocess.run([os.path.join(tree.ROOT, "scripts", "diagnostics.py"), "--check"], stderr=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode:
        faults.append(done.stderr.strip())
    return tree.report(faults, f"{len(entries)} diagnostics")


if __name__ == "__main__":
    sys.exit(main())
