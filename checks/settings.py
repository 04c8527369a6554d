#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every setting is in the list of all of them (SETTING_LISTED), which tools see, and in the table of README.md."""

import os
import re
import sys

import tree

DEFINED = re.compile(r"^static struct setting (\w+) = \{(.*?)^\};\n([^\n]*)\n", re.S | re.M)


def main():
    readme = tree.read(os.path.join(tree.ROOT, "README.md"))
    faults, count = [], 0
    for path in tree.files_below("src", ".c"):
        for variable, body, after in DEFINED.findall(tree.read(path)):
            count += 1
            name = "PARLEY_" + re.search(r'\.name = "(\w+)"', body)[1]
            if after != f"SETTING_LISTED({variable});":
                faults.append(f"{tree.short(path)}: SETTING_LISTED({variable}) does not stand below the setting {name}")
            if name not in readme:
                faults.append(f"README.md does not tell of {name} ({tree.short(path)})")
    return tree.report(faults, f"{count} settings")


if __name__ == "__main__":
    sys.exit(main())
