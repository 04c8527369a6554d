# SPDX-License-Identifier: BSD-3-Clause
"""Reads calls/*.txt: what an implemented function does. The format is told in README.md."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'api'))
import model  # noqa: E402

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'calls')


class Call:
    """One line: `code` is an expression (its value is rc) or statements. Lines before it, or '': `quick`, the
    condition; `refused`, what is done when an argument is wrong."""

    def __init__(self, name, code, is_statement, where, includes, quick='', refused=''):
        self.name, self.code, self.is_statement = name, code, is_statement
        self.where, self.includes, self.quick, self.refused = where, includes, quick, refused


def logical_lines(path):
    """Lines with their continuations (indented lines); comments and blank lines are left out."""
    pending = None
    for number, indent, text in model.table_lines(path):
        if indent and pending:
            pending = (pending[0], pending[1] + '\n' + text)
            continue
        if pending:
            yield pending
        pending = (number, text)
    if pending:
        yield pending


def read_file(path, known):
    calls, includes, before = [], [], {'?': {}, '!': {}}
    for number, text in logical_lines(path):
        where = f'{os.path.basename(path)}:{number}'
        match = re.fullmatch(r'(\w+)\s*([=:?!])\s*(.+)', text, re.DOTALL)
        if text.startswith('include '):
            includes.append(text.split()[1])
        elif not match:
            raise model.TableError(f'{where}: want: Name = expression, Name : statements, '
                                   'Name ? condition, Name ! expression, include header')
        elif match.group(1) not in known:
            raise model.TableError(f'{where}: the standard has no function {match.group(1)}')
        elif match.group(2) in before:
            before[match.group(2)][match.group(1)] = match.group(3)
        else:
            calls.append(Call(match.group(1), match.group(3), match.group(2) == ':', where, includes,
                              before['?'].pop(match.group(1), ''), before['!'].pop(match.group(1), '')))
    for mark, left in before.items():
        if left:
            raise model.TableError(f'{os.path.basename(path)}: after `{mark}` no line says what {", ".join(left)} does')
    return calls


def files(folder=FOLDER):
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith('.txt')]


def read_calls(functions, folder=FOLDER):
    """Every line by the name of its function. A name may stand once in all files together."""
    known = set(name for function in functions for name, _ in function.forms())
    calls = {}
    for path in files(folder):
        for call in read_file(path, known):
            if call.name in calls:
                raise model.TableError(f'{call.where}: {call.name} stands in {calls[call.name].where} too')
            calls[call.name] = call
    return calls


def call_of(calls, name, large):
    """The line for one form: its own, or for the _c form the one of the int form. None: not implemented."""
    if name in calls:
        return calls[name]
    return calls.get(name[:-2]) if large else None
