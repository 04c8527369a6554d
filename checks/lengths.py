#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Long functions and long files.

A function over 60 lines is listed; over 100 it fails, unless the comment above it says `Long: <why>`. A file over
500 lines is listed, over 1000 it fails. In C a function runs from its first line to the closing brace in the first
column; in Python it is a def with its body. Prints the spread of lengths of the functions in src/."""

import ast
import os
import re
import sys

import tree

FUNCTION_LISTED, FUNCTION_FAILS = 60, 100
FILE_LISTED, FILE_FAILS = 500, 1000


def c_functions(lines):
    """(name, first line, length, head comment) of each function; line numbers from 1."""
    for number, line in enumerate(lines, 1):
        if line != "{":
            continue
        first = number - 1
        while first > 1 and lines[first - 2].strip() and not re.search(r"[;}/]\s*$|^#", lines[first - 2]):
            first -= 1
        last = next((n for n in range(number, len(lines) + 1) if lines[n - 1].startswith("}")), len(lines))
        match = re.search(r"(\w+)\s*\(", " ".join(lines[first - 1:number - 1]))
        yield match[1] if match else "?", first, last - first + 1, comment_above(lines, first)


def comment_above(lines, first):
    start = first - 1
    if start >= 1 and lines[start - 1].rstrip().endswith("*/"):
        while start > 1 and "/*" not in lines[start - 1]:
            start -= 1
        return "\n".join(lines[start - 1:first - 1])
    return ""


def python_functions(lines):
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1, ast.get_docstring(node) or ""


def spread(lengths):
    lengths = sorted(lengths)

    def at(share):
        return lengths[min(len(lengths) - 1, int(share * len(lengths)))] if lengths else 0

    over = sum(1 for n in lengths if n > FUNCTION_FAILS)
    return f"half {at(0.5)}, nine in ten {at(0.9)}, 99 in 100 {at(0.99)}, over {FUNCTION_FAILS}: {over}"


def main():
    faults, listed, lengths = [], [], []
    paths = [p for folder in tree.CODE_FOLDERS for p in tree.files_below(folder, (".c", ".h", ".py"))]
    for path in paths:
        lines = tree.read(path).splitlines()
        if len(lines) > FILE_FAILS:
            faults.append(f"{tree.short(path)}: {len(lines)} lines; split it by subject")
        elif len(lines) > FILE_LISTED:
            listed.append(f"{tree.short(path)}: {len(lines)} lines")
        for name, first, length, head in (python_functions if path.endswith(".py") else c_functions)(lines):
            where = f"{tree.short(path)}:{first}: {name}: {length} lines"
            if length > FUNCTION_FAILS and "Long: " not in head:
                faults.append(f"{where}, and no `Long: <why>` in the comment above")
            elif length > FUNCTION_LISTED:
                listed.append(where)
            if path.startswith(tree.SRC + os.sep) and path.endswith(".c") and not path.endswith("_test.c"):
                lengths.append(length)
    print("\n".join(["long, listed only:"] + listed))
    print(f"{len(lengths)} functions in src/: {spread(lengths)}")
    return tree.report(faults, f"{len(paths)} files measured")


if __name__ == "__main__":
    sys.exit(main())
