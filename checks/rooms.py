#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The table of rooms in docs/architecture.md says what the meson.build files say."""

import os
import re
import sys

import tree

ROW = re.compile(r"^\| `([\w/]+)` \| [^|]* \| ([^|]*) \|$", re.M)


def main():
    text = tree.read(os.path.join(tree.ROOT, "docs", "architecture.md"))
    section = re.search(r"^## Rooms$.*?(?=^## )", text, re.S | re.M)[0]
    told = {name: re.findall(r"[\w/]+", used) for name, used in ROW.findall(section)}
    uses = tree.rooms()
    faults = [f"docs/architecture.md does not tell of room {room}" for room in uses if room not in told]
    faults += [f"docs/architecture.md: room {room} is told to use {', '.join(told[room]) or 'nothing'}; its "
               f"meson.build says {', '.join(uses[room]) or 'nothing'}"
               for room in uses if room in told and set(told[room]) != set(uses[room])]
    return tree.report(faults, f"{len(told)} rooms in docs/architecture.md")


if __name__ == "__main__":
    sys.exit(main())
