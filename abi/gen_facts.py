# SPDX-License-Identifier: BSD-3-Clause
"""Writes the conversions of values that follow from facts.txt: python3 gen_facts.py OUTPUT FACTS PART [NUMBERS]

PART header: facts.h, numbers of the foreign ABI as F_NAME and conversions in_x (what the program says) and out_x (what
the library says). PART tables: facts.c, error classes and predefined handles; with NUMBERS also what these are in
Fortran (ompi/fortran/numbers.txt)."""

import facts as table
import model

HEADER = '''\
/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of the foreign ABI, and conversions of values. Generated from facts.txt; do not edit. */
#ifndef FACTS_H
#define FACTS_H

#include <limits.h>
#include <mpi_types.h>
'''
NO_VALUE = 'INT_MIN'    # what no constant is: the library refuses it
ERRORS, TOOL_ERRORS = 128, 32


def defines(facts):
    lines = []
    for f in facts.values():
        if f.value is not None and not f.handle:
            lines.append(f'#define F_{f.name} {f.value if f.value >= 0 else f"({f.value})"}')
    return '\n'.join(lines) + '\n'


def switch(name, direction, facts):
    """static inline int in_x(int value) or out_x."""
    ours = lambda f: f'MPI_{f.name}'
    theirs = lambda f: f'F_{f.name}'
    case, result = (theirs, ours) if direction == 'in' else (ours, theirs)
    lines = [f'\nstatic inline int {direction}_{name}(int value)', '{', '    switch (value) {']
    lines += [f'    case {case(f)}: return {result(f)};' for f in facts]
    # Other values are the user's own, or stand for nothing; the library's own constants must not come in by accident.
    # Keys that the library makes may be any positive number; where predefined ones are large, they get a sign.
    if name == 'keyval' and any(f.value > 16384 for f in facts if f.name == 'TAG_UB'):
        default = f'value {"<" if direction == "in" else ">"} 0 ? value ^ INT_MIN : {NO_VALUE}'
    elif direction == 'out' or name == 'darg':
        default = 'value'
    elif name == 'keyval':
        default = f'value > 16384 ? value : {NO_VALUE}'
    elif name in ('split_type',):
        default = f'value == MPI_UNDEFINED ? value : {NO_VALUE}'
    else:
        default = NO_VALUE
    return '\n'.join(lines + [f'    default: return {default};', '    }', '}']) + '\n'


def bits(name, direction, facts):
    ours = lambda f: f'MPI_{f.name}'
    theirs = lambda f: f'F_{f.name}'
    test, result = (theirs, ours) if direction == 'in' else (ours, theirs)
    terms = ' |\n           '.join(f'(value & {test(f)} ? {result(f)} : 0)' for f in facts)
    known = ' | '.join(test(f) for f in facts)
    return (f'\n/* Bits that mean nothing become one that means nothing. */\n'
            f'static inline int {direction}_{name}(int value)\n{{\n'
            f'    const int known = {known_lines(known)};\n\n'
            f'    return {terms} |\n           (value & ~known ? 1 << 30 : 0);\n}}\n')


def known_lines(text):
    words, lines, line = text.split(' | '), [], ''
    for word in words:
        if len(line) + len(word) > 80:
            lines.append(line)
            line = ''
        line += (' | ' if line else '') + word
    return ' |\n        '.join(lines + [line])


def header(facts):
    text = HEADER + '\n' + defines(facts)
    for direction in ('in', 'out'):
        for name, pattern in table.VALUES.items():
            text += switch(name, direction, table.chosen(facts, pattern))
        for name, pattern in table.BITS.items():
            text += bits(name, direction, table.chosen(facts, pattern))
    return text + '\n#endif\n'


def error_tables(facts):
    """out_class by our class, out_tool by our code less the first, in_class by theirs."""
    out_class, out_tool, in_class = {}, {}, {}
    for f in facts.values():
        if f.name == 'ERR_LASTCODE' or not (f.name == 'SUCCESS' or 'ERR_' in f.name) or f.constant.form != 'enum':
            continue
        value = f.value if f.value is not None else facts[f.stands_for].value
        if f.name.startswith('T_'):
            out_tool[f.constant.value - 1001] = value
        else:
            out_class[f.constant.value] = value
        if f.stands_for is None:
            in_class[value] = f.constant.value
    text = array('short', 'out_class_table', 64, out_class)
    text += array('short', 'out_tool_table', TOOL_ERRORS, out_tool)
    return text + array('short', 'in_class_table', ERRORS, {n: in_class.get(n, -1) for n in range(ERRORS)})


def array(c_type, name, size, values):
    lines = [f'const {c_type} {name}[{size}] = {{']
    lines += [f'    [{i}] = {values[i]},' for i in sorted(values)]
    return '\n'.join(lines) + '\n};\n'


def pointers(name, size, values):
    return array('void *const', name, size, values).replace('const void', 'void')


def int_handles(facts):
    """MPICH: a handle is an int. Where it stands in its kind's table: abi.h, handle_place."""
    text = ''
    for kind in dict.fromkeys(model.HANDLE_TYPES.values()):
        if kind == 'file':
            continue
        size = 512 if kind == 'type' else 64
        low, shift = (127, 7) if kind == 'type' else (15, 4)
        entries = {}
        for f in table.handles(facts, kind):
            place = f.value >> 30 << shift | f.value & low
            entry = f'{{ (int)0x{f.value:08x}, {f.constant.value} }}'
            if entries.setdefault(place, entry) != entry:
                raise model.TableError(f'{f.name}: place {place} is taken')
        text += f'\nconst struct predefined in_table_{kind}[{size}] = {{\n'
        text += ''.join(f'    [{i}] = {entries[i]},\n' for i in sorted(entries)) + '};\n'
    values = {f.constant.value: f'(int)0x{f.value:08x}' for f in table.handles(facts) if f.value}
    return text + '\n' + array('int', 'out_table', 1024, values)


def read_numbers(path):
    """Of handles in Fortran: kind -> {number: symbol}."""
    kinds, kind = {}, None
    for number, _, text in model.table_lines(path):
        first, second = text.split()
        if first == '==':
            kind = kinds.setdefault(second, {})
        elif kind is None or int(second) in kind:
            model.fail(path, number, f'no kind, or a number twice: {text}')
        else:
            kind[int(second)] = first
    return kinds


def fortran_tables(kinds):
    text = ''
    for kind in dict.fromkeys(model.HANDLE_TYPES.values()):
        entries = {n: f'&{symbol}' for n, symbol in kinds.get(kind, {}).items()} or {0: 'NULL'}
        text += '\n' + pointers(f'fortran_{kind}_table', 'FORTRAN_NUMBERS', entries)
    return text


def symbol_handles(facts, kinds):
    """Open MPI: a handle is the address of a variable, which programs may have copied to themselves."""
    text, table_lines, seen = '', {}, set()
    numbers = {symbol: n for kind in kinds.values() for n, symbol in kind.items()}
    for f in table.handles(facts):
        if f.symbol is None:
            continue
        if f.symbol not in seen:
            text += f'PREDEFINED({f.symbol}, {f.size}, {f.constant.value}, {numbers.get(f.symbol, -1)});\n'
        seen.add(f.symbol)
        table_lines[f.constant.value] = f'&{f.symbol}'
    text = '\n' + text + '\n' + pointers('out_table', 1024, table_lines)
    return text + fortran_tables(kinds)


def tables(facts, numbers=None):
    text = '/* SPDX-License-Identifier: BSD-3-Clause */\n'
    text += '/* Tables of the foreign ABI. Generated from facts.txt; do not edit. */\n#include "abi.h"\n\n'
    text += error_tables(facts)
    is_int = facts['MPI_COMM_WORLD'].symbol is None
    return text + (int_handles(facts) if is_int else symbol_handles(facts, read_numbers(numbers)))


def generate(path, part, *numbers):
    facts = table.read(path)
    return {'header': header, 'tables': tables}[part](facts, *numbers)


if __name__ == '__main__':
    model.main(generate)
