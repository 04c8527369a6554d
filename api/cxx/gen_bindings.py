# SPDX-License-Identifier: BSD-3-Clause
"""Writes the C++ bindings of MPI 2.2: python3 gen_bindings.py OUTPUT

The header is put together from head.h, classes with the functions of bindings.txt, callbacks.h, their bodies, and the
constants of api/. Knows how a result comes back from C; does not know any function but those of files, which differ in
a few ways each."""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..'))
import model    # noqa: E402  (the path above comes first)

# Classes in the order of their declarations: (name, base, handle).
CLASSES = [('Status', '', ''), ('Datatype', '', 'MPI_Datatype'), ('Info', '', 'MPI_Info'), ('Group', '', 'MPI_Group'),
           ('Op', '', 'MPI_Op'), ('Errhandler', '', 'MPI_Errhandler'), ('Request', '', 'MPI_Request'),
           ('Prequest', 'Request', 'MPI_Request'), ('Grequest', 'Request', 'MPI_Request'), ('Comm', '', 'MPI_Comm'),
           ('Intracomm', 'Comm', 'MPI_Comm'), ('Intercomm', 'Comm', 'MPI_Comm'), ('Cartcomm', 'Intracomm', 'MPI_Comm'),
           ('Graphcomm', 'Intracomm', 'MPI_Comm'), ('Distgraphcomm', 'Intracomm', 'MPI_Comm'), ('Win', '', 'MPI_Win'),
           ('File', '', 'MPI_File')]
HANDLES = {name: handle for name, _, handle in CLASSES if handle}
NULLS = {'MPI_Datatype': 'MPI_DATATYPE_NULL'}
KEYVAL_CLASSES = {'Comm': 'comm', 'Datatype': 'type', 'Win': 'win'}
ERRHANDLER_CLASSES = ('Comm', 'Win', 'File')
# Names of datatypes that are not those of C without MPI_.
TYPE_NAMES = {'MPI_CXX_BOOL': 'BOOL', 'MPI_CXX_FLOAT_COMPLEX': 'COMPLEX', 'MPI_CXX_DOUBLE_COMPLEX': 'DOUBLE_COMPLEX',
              'MPI_CXX_LONG_DOUBLE_COMPLEX': 'LONG_DOUBLE_COMPLEX', 'MPI_COMPLEX': 'F_COMPLEX',
              'MPI_DOUBLE_COMPLEX': 'F_DOUBLE_COMPLEX', 'MPI_2INT': 'TWOINT', 'MPI_2REAL': 'TWOREAL',
              'MPI_2INTEGER': 'TWOINTEGER', 'MPI_2DOUBLE_PRECISION': 'TWODOUBLE_PRECISION'}
REMOVED_NUMBERS = ('COMBINER_HVECTOR_INTEGER', 'COMBINER_HINDEXED_INTEGER', 'COMBINER_STRUCT_INTEGER')
# Names that packages define as macros for themselves.
COMMON_MACROS = ('VERSION', 'SUBVERSION')
SIGNATURE = re.compile(r'(static |virtual )?(.*?)(\w+)\((.*)\)( const)?$')


def null_of(handle):
    return NULLS.get(handle, handle.upper() + '_NULL')


class Function:
    """One line of the table."""

    def __init__(self, owner, line):
        signature, self.call = line.split(' = ', 1)
        self.owner = owner
        self.word, self.returns, self.name, self.params, self.const = SIGNATURE.match(signature).groups(default='')
        self.returns = self.returns.strip()

    def declaration(self):
        return f'    {self.word}{self.returns} {self.name}({self.params}){self.const};\n'

    def definition(self):
        owner = f'{self.owner}::' if self.owner != 'namespace' else ''
        return f'inline {self.returns} {owner}{self.name}({self.params}){self.const}\n{{\n{self.body()}}}\n\n'

    def body(self):
        if self.call.startswith('{'):
            return ''.join(f'    {s.strip()}\n' for s in re.split(r'(?<=;) ', self.call[1:-1].strip()))
        if self.returns == 'void':
            return f'    detail::check({self.call});\n'
        kind = HANDLES.get(self.returns, {'bool': 'int'}.get(self.returns, self.returns))
        start = null_of(kind) if self.returns in HANDLES else '0'
        result = {'bool': 'out != 0'}.get(self.returns, f'{self.returns}(out)' if self.returns in HANDLES else 'out')
        return f'    {kind} out = {start};\n    detail::check({self.call});\n    return {result};\n'


def file_functions():
    """Data access (MPI 2.2 §13.4.1): each with and without a status, nonblocking, or in two halves."""
    for way in ('Read', 'Write'):
        buf = 'void* buf' if way == 'Read' else 'const void* buf'
        plain, at = f'{buf}, int count, const Datatype& datatype', 'Offset offset, '
        for name in ('_at', '_at_all', '', '_all', '_shared', '_ordered'):
            offset = (at, 'offset, ') if '_at' in name else ('', '')
            call = f'MPI_File_{way.lower()}{name}(handle, {offset[1]}buf, count, datatype, '
            yield f'void {way}{name}({offset[0]}{plain}, Status& status) = {call}status.c())'
            yield f'void {way}{name}({offset[0]}{plain}) = {call}MPI_STATUS_IGNORE)'
        for name in ('_at', '', '_shared'):
            offset = (at, 'offset, ') if name == '_at' else ('', '')
            yield (f'Request I{way.lower()}{name}({offset[0]}{plain}) = '
                   f'MPI_File_i{way.lower()}{name}(handle, {offset[1]}buf, count, datatype, &out)')
        for name in ('_at_all', '_all', '_ordered'):
            offset = (at, 'offset, ') if '_at' in name else ('', '')
            low = f'MPI_File_{way.lower()}{name}'
            yield f'void {way}{name}_begin({offset[0]}{plain}) = {low}_begin(handle, {offset[1]}buf, count, datatype)'
            yield f'void {way}{name}_end({buf}, Status& status) = {low}_end(handle, buf, status.c())'
            yield f'void {way}{name}_end({buf}) = {low}_end(handle, buf, MPI_STATUS_IGNORE)'


def read_functions():
    """{class, or 'namespace': [Function]}"""
    functions, owner = {}, None
    with open(os.path.join(HERE, 'bindings.txt'), encoding='utf-8') as table:
        for line in (text.rstrip('\n') for text in table):
            if line.startswith('class ') or line == 'namespace':
                owner = line.removeprefix('class ')
                functions[owner] = []
            elif line and not line.startswith('#'):
                functions[owner].append(Function(owner, line))
    functions['File'] += [Function('File', line) for line in file_functions()]
    return functions


# --- classes ---

STATUS = '''class Status {
public:
    Status() : status() {}
    Status(const MPI_Status& s) : status(s) {}
    operator MPI_Status() const { return status; }
    MPI_Status* c() { return &status; }
'''


def callbacks_of(name):
    """Types of a class's callbacks, and the predefined functions."""
    text = ''
    if name in ERRHANDLER_CLASSES:
        text += f'    typedef void Errhandler_function({name}&, int*, ...);\n'
        text += f'    typedef Errhandler_function {name}_errhandler_function;\n'
    if name in KEYVAL_CLASSES:
        value = f'void* extra_state, {"const " if name == "Datatype" else ""}void* attribute_val_in, ' \
                'void* attribute_val_out, bool& flag'
        text += f'    typedef int Copy_attr_function(const {name}& old, int keyval, {value});\n'
        text += f'    typedef int Delete_attr_function({name}& object, int keyval, void* attribute_val, ' \
                'void* extra_state);\n'
        empty = value.replace('extra_state', '').replace('attribute_val_in', '').replace('attribute_val_out', '')
        text += f'    static int NULL_COPY_FN(const {name}&, int, {empty})\n' \
                '    {\n        flag = false;\n        return MPI_SUCCESS;\n    }\n'
        text += f'    static int DUP_FN(const {name}&, int, {value.replace("extra_state", "")})\n' \
                '    {\n        *static_cast<const void**>(attribute_val_out) = attribute_val_in;\n' \
                '        flag = true;\n        return MPI_SUCCESS;\n    }\n'
        text += f'    static int NULL_DELETE_FN({name}&, int, void*, void*) {{ return MPI_SUCCESS; }}\n'
    if name == 'Grequest':
        text += '    typedef int Query_function(void* extra_state, Status& status);\n' \
                '    typedef int Free_function(void* extra_state);\n' \
                '    typedef int Cancel_function(void* extra_state, bool complete);\n'
    return text


def class_text(name, base, handle, functions):
    if name == 'Status':
        return STATUS + ''.join(f.declaration() for f in functions) + 'private:\n    MPI_Status status;\n};\n\n'
    is_comm = handle == 'MPI_Comm'
    text = f'class {name}{f" : public {base}" if base else ""} {{\npublic:\n'
    start = f' : {base}(h)' if base else ' : handle(h)'
    text += f'    {name}(){start.replace("(h)", f"({null_of(handle)})")} {{}}\n    {name}({handle} h){start} {{}}\n'
    if base == 'Request':
        text += f'    {name}(const Request& r) : Request(r) {{}}\n'
    if is_comm and base:
        text += f'    {name}(const Comm_Null&){start.replace("(h)", "(MPI_COMM_NULL)")} {{}}\n'
    if not base:
        text += f'    operator {handle}() const {{ return handle; }}\n'
        for other, value in ((f'const {name}& other', 'other.handle'), (f'{handle} other', 'other')):
            text += f'    bool operator==({other}) const {{ return handle == {value}; }}\n' \
                    f'    bool operator!=({other}) const {{ return handle != {value}; }}\n'
    if name == 'Comm':
        text += '    virtual ~Comm() {}\n    virtual Comm& Clone() const = 0;\n'
    elif is_comm:
        text += f'    virtual {name}& Clone() const {{ return *new {name}(Dup()); }}\n'
    text += callbacks_of(name) + ''.join(f.declaration() for f in functions)
    if not base:
        text += f'protected:\n    {handle} handle;\n'
    return text + '};\n\n'


COMM_NULL = '''class Comm_Null : public Comm {
public:
    Comm_Null() : Comm(MPI_COMM_NULL) {}
    virtual Comm_Null& Clone() const { return *new Comm_Null; }
};

'''
FREE_TYPES = '''
typedef void User_function(const void* invec, void* inoutvec, int len, const Datatype& datatype);
typedef void Datarep_extent_function(const Datatype& datatype, Aint& file_extent, void* extra_state);
typedef void Datarep_conversion_function(void* userbuf, Datatype& datatype, int count, void* filebuf, Offset position,
                                         void* extra_state);

'''
FREE_FUNCTIONS = '''inline void Pcontrol(const int level, ...)
{
    MPI_Pcontrol(level);
}

inline void Register_datarep(const char* datarep, Datarep_conversion_function* read, Datarep_conversion_function* write,
                             Datarep_extent_function* extent, void* extra_state)
{
    detail::check(MPI_Register_datarep(datarep, read ? detail::datarep_read : MPI_CONVERSION_FN_NULL,
                                       write ? detail::datarep_write : MPI_CONVERSION_FN_NULL, detail::datarep_extent,
                                       detail::keep(new detail::Datarep(read, write, extent, extra_state))));
}

'''


# --- constants ---

def constants_text():
    lines = ['static const Comm_Null COMM_NULL;', 'static Intracomm COMM_WORLD = Intracomm(MPI_COMM_WORLD);',
             'static Intracomm COMM_SELF = Intracomm(MPI_COMM_SELF);',
             'static const Errhandler ERRORS_THROW_EXCEPTIONS = Errhandler(detail::throwing());',
             'static void* const BOTTOM = MPI_BOTTOM;', 'static void* const IN_PLACE = MPI_IN_PLACE;',
             'static const char** const ARGV_NULL = 0;', 'static const char*** const ARGVS_NULL = 0;',
             'static Datarep_conversion_function* const CONVERSION_FN_NULL = 0;',
             'static Datatype LB = Datatype(MPI_LB);', 'static Datatype UB = Datatype(MPI_UB);']
    lines += [f'static const int {name} = MPI_{name};' for name in REMOVED_NUMBERS]
    classes = {handle: name for name, base, handle in CLASSES if handle and not base and name != 'Comm'}
    for _, group in model.read_constants():
        for c in group:
            short = TYPE_NAMES.get(c.name, c.name.removeprefix('MPI_'))
            if c.name.startswith(('MPI_T_', 'MPI_F_')) or short in TYPE_NAMES.values() and c.name not in TYPE_NAMES:
                continue
            if c.c_type in classes:
                of = classes[c.c_type]
                lines.append(f'static {of} {short} = {of}({c.name});')
            elif c.c_type in ('int', 'MPI_Offset'):
                line = f'static const {c.c_type} {short} = {c.name};'
                lines.append(f'#ifndef {short}\n{line}\n#endif' if short in COMMON_MACROS else line)
    return '\n/* --- constants --- */\n\n' + '\n'.join(lines) + '\n'


def fragment(name):
    with open(os.path.join(HERE, name), encoding='utf-8') as text:
        return text.read().split('\n', 1)[1]    # without the line about the licence


def generate():
    functions = read_functions()
    text = '/* SPDX-License-Identifier: BSD-3-Clause */\n' \
           '/* Generated by api/cxx/gen_bindings.py; do not edit. */\n' + fragment('head.h')
    text += '\n' + ''.join(f'class {name};\n' for name, _, _ in CLASSES) + 'class Comm_Null;\n' + FREE_TYPES
    for name, base, handle in CLASSES:
        text += class_text(name, base, handle, functions.get(name, []))
        if name == 'Comm':
            text += COMM_NULL
    text += fragment('callbacks.h') + '\n/* --- functions --- */\n\n'
    text += ''.join(f.definition() for group in functions.values() for f in group) + FREE_FUNCTIONS
    return text + constants_text() + '\n} // namespace MPI\n\n#endif\n'


if __name__ == '__main__':
    model.main(generate)
