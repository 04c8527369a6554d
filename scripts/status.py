#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""How far the library is: writes docs/status.md, or with --check says whether it is current.

Implemented is a function that has a line in src/bind/calls/; tested is one that is implemented and whose name occurs
in a program below tests/ (as MPI_X or PMPI_X; comments do not count)."""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(ROOT, 'api'), os.path.join(ROOT, 'src', 'bind')]
import calls as call_lines  # noqa: E402
import model  # noqa: E402

OUTPUT = os.path.join(ROOT, 'docs', 'status.md')
CHAPTERS = {
    3: 'Point-to-point', 4: 'Partitioned', 5: 'Datatypes', 6: 'Collectives', 7: 'Groups, communicators, caching',
    8: 'Topologies', 9: 'Environment', 10: 'Info', 11: 'Processes', 12: 'One-sided', 13: 'External interfaces',
    14: 'Files', 15: 'Tools', 16: 'Deprecated', 19: 'Language bindings', 20: 'ABI',
}
HEAD = '''\
# Status

**{done} of {total} required functions implemented, {tested} tested.**

Made by `scripts/status.py` from `api/`, `src/bind/calls/` and the programs in `tests/`; do not edit. Forms with `_c`
count as functions of their own. A function that is not implemented raises MPI_ERR_UNSUPPORTED_OPERATION.

| chapter | required | implemented | tested |
|---|---:|---:|---:|
'''
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.S)


def names_in_tests(folder=os.path.join(ROOT, 'tests')):
    """Every X for which MPI_X or PMPI_X stands in a C program, outside comments."""
    names = set()
    for path, _, files in os.walk(folder):
        for name in files:
            if name.endswith(('.c', '.h', '.cpp')):
                with open(os.path.join(path, name), encoding='utf-8') as file:
                    names.update(re.findall(r'\bP?MPI_(\w+)', COMMENT.sub(' ', file.read())))
    return names


def survey():
    """[(chapter, name, is implemented, is tested)] of the required functions."""
    functions = model.read_functions()
    calls, tested = call_lines.read_calls(functions), names_in_tests()
    return [(f.chapter, name, bool(call_lines.call_of(calls, name, large)),
             bool(call_lines.call_of(calls, name, large)) and name in tested)
            for f in functions if not f.is_compat for name, large in f.forms()]


def list_of(names):
    """Names in lines; X and X_c as X(_c)."""
    words = []
    for name in sorted(names):
        if name.endswith('_c') and name[:-2] in names:
            continue
        words.append(f'{name}(_c)' if name + '_c' in names else name)
    lines, line = [], ''
    for word in words:
        if len(line) + len(word) > 106:
            lines.append(line)
            line = ''
        line += (' ' if line else '') + word
    return '\n'.join(lines + [line])


def table(rows):
    text = ''
    for chapter, title in CHAPTERS.items():
        here = [row for row in rows if row[0] == chapter]
        text += f'| {chapter} {title} | {len(here)} | {sum(r[2] for r in here)} | {sum(r[3] for r in here)} |\n'
    return text


def lists(rows, heading, is_wanted):
    text = f'\n## {heading}\n'
    for chapter, title in CHAPTERS.items():
        names = {row[1] for row in rows if row[0] == chapter and is_wanted(row)}
        if names:
            text += f'\n**{chapter} {title}**\n\n```\n{list_of(names)}\n```\n'
    return text


def report(rows):
    head = HEAD.format(total=len(rows), done=sum(r[2] for r in rows), tested=sum(r[3] for r in rows))
    return (head + table(rows) + lists(rows, 'Implemented, but in no test', lambda r: r[2] and not r[3])
            + lists(rows, 'Not implemented', lambda r: not r[2]))


def main(arguments):
    text = report(survey())
    if arguments == ['--check']:
        current = open(OUTPUT, encoding='utf-8').read() if os.path.exists(OUTPUT) else ''
        if current != text:
            sys.exit('docs/status.md is not current: run scripts/status.py')
    elif arguments:
        sys.exit('usage: status.py [--check]')
    else:
        os.makedirs(os.path.dirname(OUTPUT), exist_ok=True)
        model.write_output(OUTPUT, text)
        print(text.split('\n')[2].strip('*'))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
