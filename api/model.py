# SPDX-License-Identifier: BSD-3-Clause
"""The tables of this folder as Python objects; every generator starts from here.

read_functions(), read_constants(), read_types() read the files beside this one. A mistake in a table ends the
program with file, line and reason. What the tables mean is told in api/README.md.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
HANDLE_TYPES = {
    'MPI_Comm': 'comm', 'MPI_Datatype': 'type', 'MPI_Op': 'op', 'MPI_Group': 'group', 'MPI_Info': 'info',
    'MPI_Errhandler': 'errhandler', 'MPI_Request': 'request', 'MPI_Message': 'message',
    'MPI_Session': 'session', 'MPI_Win': 'win', 'MPI_File': 'file',
}
DIRECTIONS = ('in', 'out', 'inout', 'ref', 'free')


class TableError(Exception):
    """A line of a table that cannot be understood."""


def table_lines(path):
    """Yield (number, indent, text) of the lines that are neither blank nor comments."""
    with open(path, encoding='utf-8') as file:
        for number, line in enumerate(file, 1):
            text = line.strip()
            if text and not text.startswith('#'):
                yield number, len(line) - len(line.lstrip()), text


def fail(path, number, reason):
    raise TableError(f'{os.path.basename(path)}:{number}: {reason}')


class Kind:
    """One line of kinds.txt."""

    def __init__(self, name, small, large, meaning):
        self.name, self.meaning = name, meaning
        self.is_fixed = small.startswith('=')
        self.small, self.large = small.lstrip('='), large.lstrip('=')
        self.object = HANDLE_TYPES.get(self.small)    # room's struct, for handles that the checks look up
        self.is_polymorphic = self.small != self.large


class Param:
    """One parameter: name, direction, kind and the words behind it."""

    def __init__(self, name, direction, kind, length, words):
        self.name, self.direction, self.kind, self.length = name, direction, kind, length
        self.of = None                # buffers: names of what describes them: count, datatype, displacements
        self.at = None                # root, leaf, both, later or neighbors: significant only there
        self.in_place = None          # all or root: MPI_IN_PLACE is allowed there
        self.may_be_null = False
        self.large_only = False       # exists in the _c form only
        for word in words:
            key, _, value = word.partition('=')
            if key == 'of':
                self.of = tuple(value.split(','))
            elif key == 'at' and value in ('root', 'leaf', 'both', 'later', 'neighbors'):
                self.at = value
            elif key == 'in_place' and value in ('all', 'root'):
                self.in_place = value
            elif word == 'null':
                self.may_be_null = True
            elif word == 'large_only':
                self.large_only = True
            else:
                raise ValueError(f'word "{word}" means nothing')

    @property
    def is_array(self):
        return self.length is not None

    @property
    def is_pointer_to_handle(self):
        return bool(self.kind.object) and not self.is_array and self.direction != 'in'

    def c_type(self, large):
        """C type of the parameter as declared, an array being a pointer."""
        base = self.kind.large if large else self.kind.small
        if self.kind.is_fixed:
            if self.length is None:
                return base
            return (base if base.endswith('*') else base + ' ') + '*'
        const = 'const ' if self.direction == 'in' else ''
        if self.is_array or self.kind.name in ('buffer', 'string'):
            return f'{const}{base} *'
        if self.kind.name == 'status':
            return f'{const}{base} *'
        return base if self.direction == 'in' else base + ' *'

    def c_declaration(self, large, name=None):
        """The parameter as it stands in a prototype, under its own name or another one."""
        name = self.name if name is None else name
        if self.kind.name == 'varargs':
            return '...'
        if self.kind.name == 'rank_range':
            return f'int {name}[][3]'
        text = self.c_type(large)
        # gcc takes an address like MPI_UNWEIGHTED for an array of no length, where an array stands in the prototype
        if self.is_array and self.kind.name != 'weight':
            text = text[:-1].rstrip()
            return f'{text}{"" if text.endswith("*") else " "}{name}[]'
        return f'{text}{"" if text.endswith("*") else " "}{name}'


class Function:
    """One function of the standard; its _c form, if it has one, is the same object with large=True."""

    def __init__(self, name, section, title, words):
        self.name, self.section, self.section_title = name, section, title
        self.params = []
        self.since = self.deprecated = self.alias = None
        self.returns = 'int'
        self.has_large = self.is_anytime = self.is_compat = False
        words = list(words)
        while words:
            word = words.pop(0)
            if word in ('since', 'deprecated', 'returns', 'alias') and words:
                setattr(self, word, words.pop(0))
            elif word == 'large':
                self.has_large = True
            elif word == 'anytime':
                self.is_anytime = True
            elif word == 'compat':
                self.is_compat = True
            else:
                raise ValueError(f'word "{word}" means nothing')

    @property
    def chapter(self):
        return int(self.section.split('.')[0])

    @property
    def is_tool(self):
        return self.name.startswith('T_')

    def param(self, name):
        return next((p for p in self.params if p.name == name), None)

    def forms(self):
        """(name, large) of every function that this entry stands for."""
        yield self.name, False
        if self.has_large:
            yield self.name + '_c', True

    def form_params(self, large):
        return [p for p in self.params if large or not p.large_only]

    def prototype(self, large, prefix='MPI_', names=None):
        """Prototype without the semicolon, in lines; `names` may rename parameters."""
        names = names or {}
        params = ', '.join(p.c_declaration(large, names.get(p.name)) for p in self.form_params(large))
        head = f'{self.returns} {prefix}{self.name}{"_c" if large else ""}'
        return wrap(head, params or 'void', '')


class Constant:
    """One constant: its value is the text of the table."""

    def __init__(self, name, value, c_type, form, group):
        self.name, self.text, self.c_type, self.form, self.group = name, value, c_type, form, group
        self.value = int(value, 0)


def read_kinds(path=os.path.join(HERE, 'kinds.txt')):
    kinds = {}
    for number, _, text in table_lines(path):
        name, _, rest = text.partition(' ')
        columns = re.split(r' {2,}', rest.strip())
        if len(columns) != 3:
            fail(path, number, 'want: name, C type, C type of the _c form, meaning')
        if name in kinds:
            fail(path, number, f'kind {name} stands twice')
        kinds[name] = Kind(name, *columns)
    return kinds


def read_param(path, number, text, kinds):
    words = text.split()
    if len(words) < 3 or words[0] not in DIRECTIONS:
        fail(path, number, 'want: direction, name, kind')
    match = re.fullmatch(r'(\w+)(?:\[(\w*)\])?', words[2])
    if not match or match.group(1) not in kinds:
        fail(path, number, f'no kind {words[2]}')
    try:
        return Param(words[1], words[0], kinds[match.group(1)], match.group(2), words[3:])
    except ValueError as error:
        fail(path, number, error)


def read_functions(path=os.path.join(HERE, 'functions.txt')):
    """All functions, in the order of the standard."""
    kinds = read_kinds()
    functions, names = [], set()
    section = title = None
    for number, indent, text in table_lines(path):
        if text.startswith('== '):
            _, section, title = text.split(' ', 2)
        elif indent == 0:
            name, *words = text.split()
            if name in names or section is None:
                fail(path, number, f'{name} stands twice or before the first section')
            names.add(name)
            try:
                functions.append(Function(name, section, title, words))
            except ValueError as error:
                fail(path, number, error)
        else:
            functions[-1].params.append(read_param(path, number, text, kinds))
    for function in functions:
        check_references(path, function)
    return functions


def check_references(path, function):
    """of=COUNT,TYPE must name parameters."""
    for param in function.params:
        for name in param.of or ():
            if not function.param(name):
                raise TableError(f'{os.path.basename(path)}: {function.name}: {param.name} is of {name}, '
                                 'which is no parameter')


def read_constants(path=os.path.join(HERE, 'constants.txt')):
    """List of (heading, [Constant])."""
    groups = []
    for number, _, text in table_lines(path):
        if text.startswith('== '):
            c_type, form, heading = re.split(r' {2,}', text[3:].strip())
            if form not in ('macro', 'enum', 'cast'):
                fail(path, number, f'no form {form}')
            groups.append((heading, []))
        else:
            words = text.split()
            if len(words) != 2 or not groups:
                fail(path, number, 'want: name and value below a heading')
            groups[-1][1].append(Constant(words[0], words[1], c_type, form, heading))
    return groups


class Types:
    """types.txt: handles [(name, tag)], callbacks [(name, returns, params)], aliases [(name, of)]."""

    def __init__(self, path=os.path.join(HERE, 'types.txt')):
        self.handles, self.callbacks, self.aliases = [], [], []
        for number, _, text in table_lines(path):
            columns = re.split(r' {2,}', text)
            if columns[0] == 'handle' and len(columns) == 3:
                self.handles.append(tuple(columns[1:]))
            elif columns[0] == 'callback' and len(columns) == 4:
                self.callbacks.append((columns[1], columns[2], columns[3].strip('()')))
            elif columns[0] == 'alias' and len(columns) == 3:
                self.aliases.append(tuple(columns[1:]))
            else:
                fail(path, number, 'want: handle, callback or alias')


def exported_names(functions):
    """Every symbol without prefix, the _c forms, aliases and compatibility names too."""
    for function in functions:
        for name, _ in function.forms():
            yield name
        if function.alias:
            yield function.alias


def wrap(head, params, tail):
    """head(params)tail in lines of 110 columns, broken between parameters."""
    lines, line = [], head + '('
    pieces = [p + ', ' for p in params.split(', ')]
    pieces[-1] = params.split(', ')[-1] + ')' + tail
    for piece in pieces:
        if len(line) + len(piece.rstrip()) > 109 and line.strip():
            lines.append(line.rstrip())
            line = '    '
        line += piece
    return '\n'.join(lines + [line])


def write_output(path, text):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def main(generate):
    """Run a generator as a program: argument 1 is the file to write, the rest is handed on."""
    try:
        write_output(sys.argv[1], generate(*sys.argv[2:]))
    except TableError as error:
        sys.exit(f'{os.path.basename(sys.argv[0])}: {error}')
