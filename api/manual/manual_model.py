# SPDX-License-Identifier: BSD-3-Clause
"""Reads the texts of the manual (*.txt beside this file; the format is told in api/README.md).

read_texts() gives an Entry for each function that has a text. Does not know how a page looks: gen_man.py."""

import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import model    # noqa: E402  (the path above comes first)

FIELDS = ('purpose', 'scope', 'param', 'threads', 'parley', 'errors', 'see')
ONCE = ('purpose', 'scope', 'threads', 'see')
SCOPES = ('local', 'nonlocal', 'nonblocking', 'persistent', 'collective')
# What a text may name besides the tables: Fortran's own, and names that only older versions or other parts have.
OTHER_NAMES = {
    'MPI_F_sync_reg', 'MPI_Sizeof', 'MPI_Status_f2f08', 'MPI_Status_f082f', 'MPI_ADDRESS_KIND', 'MPI_COUNT_KIND',
    'MPI_OFFSET_KIND', 'MPI_INTEGER_KIND', 'MPI_Count', 'MPI_Aint', 'MPI_Offset', 'MPI_Fint', 'MPI_Status',
    'MPI_SOURCE', 'MPI_TAG', 'MPI_ERROR', 'MPI_VAL', 'MPI_T_cb_safety', 'MPI_T_source_order',
}


class Entry:
    """The text of one function, or of several that share it."""

    def __init__(self, names, where):
        self.names, self.where = names, where
        self.purpose = self.scope = self.threads = None
        self.params, self.errors = {}, []     # parameter: its sentence; (class, when)
        self.parley = []                      # paragraphs
        self.see = []
        self.blocks = []                      # (is_example, text) of the description

    @property
    def scope_word(self):
        return re.split(r'[ ,;]', self.scope)[0]

    @property
    def scope_over(self):
        """Of a collective function: over what; else None."""
        match = re.match(r'collective over ([^,;]*)', self.scope)
        return match and match.group(1).strip()

    @property
    def scope_how(self):
        """The word behind the comma: nonblocking, persistent, local; else None."""
        match = re.match(r'[^;]*?, *(\w+)', self.scope)
        return match and match.group(1)

    @property
    def scope_note(self):
        return self.scope.partition(';')[2].strip()


def columns(entry, value, field):
    """`X  text` of fields that have two parts."""
    parts = re.split(r' {2,}', value, maxsplit=1)
    if len(parts) != 2:
        raise model.TableError(f'{entry.where}: {field}: want two parts with two blanks between them')
    return parts


def put_field(entry, field, value):
    if field in ONCE and getattr(entry, field):
        raise model.TableError(f'{entry.where}: {field} stands twice')
    if field == 'param':
        name, text = columns(entry, value, field)
        entry.params[name] = text
    elif field == 'errors':
        entry.errors.append(tuple(columns(entry, value, field)))
    elif field == 'parley':
        entry.parley.append(value)
    elif field == 'see':
        entry.see = value.split()
    else:
        setattr(entry, field, value)


def put_block(entry, lines):
    """Lines without a blank one between them: fields, and behind or without them a paragraph or an example."""
    field = None
    rest = []
    for line in lines:
        match = re.match(r'(\w+): +(.*)', line)
        if match and match.group(1) in FIELDS and not rest:
            if field:
                put_field(entry, *field)
            field = [match.group(1), match.group(2).strip()]
        elif field and line.startswith('    '):
            field[1] += ' ' + line.strip()
        else:
            rest.append(line)
    if field:
        put_field(entry, *field)
    if rest:
        is_example = all(line.startswith('    ') for line in rest)
        entry.blocks.append((is_example, '\n'.join(line[4:] for line in rest) if is_example else
                             ' '.join(line.strip() for line in rest)))


def read_file(path):
    """The entries of one file, in its order."""
    entries, block = [], []
    with open(path, encoding='utf-8') as file:
        lines = file.read().splitlines()
    for number, line in enumerate(lines + [''], 1):
        line = line.rstrip()
        if line.startswith('#'):
            continue
        if line and not line.startswith('== '):
            block.append(line)
            continue
        if block:
            if not entries:
                model.fail(path, number, 'text before the first "== NAME"')
            put_block(entries[-1], block)
            block = []
        if line and number > 1 and lines[number - 2].startswith('== '):
            entries[-1].names += line[3:].split()    # names that found no room on the line above
        elif line:
            entries.append(Entry(line[3:].split(), f'{os.path.basename(path)}:{number}'))
    return entries


def texts():
    return sorted(glob.glob(os.path.join(HERE, '*.txt')))


def read_texts(paths=None):
    """Function name: Entry."""
    found = {}
    for path in texts() if paths is None else paths:
        for entry in read_file(path):
            for name in entry.names:
                if name in found:
                    raise model.TableError(f'{entry.where}: {name} stands at {found[name].where} too')
                found[name] = entry
    return found


def known_names(functions):
    """Every MPI_ name that a text may use."""
    types = model.Types()
    names = {'MPI_' + name for name in model.exported_names(functions)} | OTHER_NAMES
    names |= {c.name for _, group in model.read_constants() for c in group}
    names |= {name for name, _ in types.handles} | {name for name, _, _ in types.callbacks}
    return names | {old for _, old in types.aliases} | {name for name, _ in types.aliases}


def all_texts(entry):
    """Every piece of running text of an entry, for checks."""
    yield entry.purpose or ''
    yield entry.scope or ''
    yield entry.threads or ''
    yield from entry.parley
    yield from (text for _, text in entry.errors)
    yield from entry.params.values()
    yield from (text for is_example, text in entry.blocks if not is_example)


def faults_of_entry(entry, functions, names):
    """What is wrong with one entry, as texts. `functions`: name: Function."""
    for name in entry.names:
        if name not in functions:
            yield f'there is no function MPI_{name}'
    params = {p.name for n in entry.names if n in functions for p in functions[n].params}
    if not entry.purpose or entry.purpose.endswith('.') or entry.purpose[:1].isupper() and entry.purpose[:3] != 'MPI':
        yield 'purpose is missing, or has a capital letter or a full stop'
    if not entry.scope or entry.scope_word not in SCOPES or (entry.scope_word == 'collective') != bool(
            entry.scope_over) or entry.scope_how not in (None, 'nonblocking', 'persistent', 'local'):
        yield f'scope "{entry.scope}" is none of those in api/README.md'
    if not entry.blocks:
        yield 'there is no description'
    for text in all_texts(entry):
        yield from faults_of_words(text, params, names)
    for _, text in entry.blocks:
        if text.count('`') % 2:
            yield f'a backtick is not closed: {text[:60]}'
    for error, _ in entry.errors:
        if error not in names:
            yield f'errors: there is no {error}'
    for name in entry.params:
        if name not in params:
            yield f'param: there is no parameter {name}'
    for name in entry.see:
        if name not in functions or name in entry.names:
            yield f'see: there is no other function MPI_{name}'


def faults_of_words(text, params, names):
    code = re.sub(r'`[^`]*`', '', text)
    for name in re.findall(r'(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])', code):
        if name not in params:
            yield f'*{name}* is no parameter'
    for name in re.findall(r'\bMPI_\w+', text):
        is_start = name.endswith('_') and any(known.startswith(name) for known in names)
        if name not in names and not is_start:
            yield f'there is no {name}'
