# SPDX-License-Identifier: BSD-3-Clause
"""Writes a program that calls every function with one bad argument after the other: python3 gen_errors_test.py OUTPUT

An implemented function must answer each with the right error class and a text that names the function, the parameter
and the value; one that is not implemented must say so. What is bad for a kind of parameter, and which class it
deserves, stands here and is not taken from the generator of the entry points."""

import os
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
sys.path[:0] = [os.path.join(ROOT, 'api'), os.path.join(ROOT, 'src', 'bind')]
import calls as call_lines  # noqa: E402
import model  # noqa: E402

# Class of handle -> (C type, error class, null handle, a handle of another class, variable with a freed one).
HANDLES = {
    'comm': ('MPI_Comm', 'MPI_ERR_COMM', 'MPI_COMM_NULL', 'MPI_INT', 'freed_comm'),
    'type': ('MPI_Datatype', 'MPI_ERR_TYPE', 'MPI_DATATYPE_NULL', 'MPI_COMM_WORLD', None),
    'group': ('MPI_Group', 'MPI_ERR_GROUP', 'MPI_GROUP_NULL', 'MPI_COMM_WORLD', 'freed_group'),
    'op': ('MPI_Op', 'MPI_ERR_OP', 'MPI_OP_NULL', 'MPI_INT', 'freed_op'),
    'info': ('MPI_Info', 'MPI_ERR_INFO', 'MPI_INFO_NULL', 'MPI_ERRORS_RETURN', 'freed_info'),
    'errhandler': ('MPI_Errhandler', 'MPI_ERR_ERRHANDLER', 'MPI_ERRHANDLER_NULL', 'MPI_INT', 'freed_errhandler'),
    'request': ('MPI_Request', 'MPI_ERR_REQUEST', 'MPI_REQUEST_NULL', 'MPI_INT', None),
    'message': ('MPI_Message', 'MPI_ERR_REQUEST', 'MPI_MESSAGE_NULL', 'MPI_INT', None),
    'session': ('MPI_Session', 'MPI_ERR_SESSION', 'MPI_SESSION_NULL', 'MPI_COMM_WORLD', 'freed_session'),
    'win': ('MPI_Win', 'MPI_ERR_WIN', 'MPI_WIN_NULL', 'MPI_COMM_WORLD', 'freed_win'),
    'file': ('MPI_File', 'MPI_ERR_FILE', 'MPI_FILE_NULL', 'MPI_COMM_WORLD', 'freed_file'),
}
# Live handles to stand in the other parameters.
GOOD_HANDLES = {
    'comm': 'MPI_COMM_WORLD', 'type': 'MPI_INT', 'group': 'good_group', 'op': 'MPI_SUM', 'info': 'good_info',
    'errhandler': 'MPI_ERRORS_RETURN', 'request': 'MPI_REQUEST_NULL', 'message': 'MPI_MESSAGE_NO_PROC',
    'session': 'good_session', 'win': 'good_win', 'file': 'good_file',
}
# Kind -> [(bad value, error class)]; the text must show the value.
BAD_NUMBERS = {
    'count': [(-1, 'COUNT'), (-2147483648, 'COUNT')], 'count_large': [(-1, 'COUNT'), (-(1 << 40), 'COUNT')],
    'count_positive': [(0, 'ARG'), (-3, 'ARG')], 'length_positive': [(0, 'ARG'), (-3, 'ARG')],
    'param_count': [(-4, 'ARG')], 'bytes': [(-4, 'ARG')], 'pack_bytes': [(-4, 'ARG')], 'number': [(-4, 'ARG')],
    'length': [(-4, 'ARG')], 'degree': [(-4, 'ARG')], 'win_size': [(-4, 'SIZE')], 'disp_unit': [(0, 'DISP')],
    'dest': [(-1, 'RANK'), (-2, 'RANK'), (-4, 'RANK'), (1000000, 'RANK'), (2147483647, 'RANK'), ('size', 'RANK')],
    'source': [(-2, 'RANK'), (-4, 'RANK'), (1000000, 'RANK'), ('size', 'RANK')],
    'source_exact': [(-1, 'RANK'), (-2, 'RANK'), (-4, 'RANK'), (1000000, 'RANK'), ('size', 'RANK')],
    'partition': [(-1, 'ARG'), (-2147483648, 'ARG')],
    'root': [(-1, 'ROOT'), (-3, 'ROOT'), (-4, 'ROOT'), (1000000, 'ROOT'), ('size', 'ROOT')],
    'rank': [(-1, 'RANK'), (-3, 'RANK'), ('size', 'RANK')],
    'send_tag': [(-1, 'TAG'), (-2, 'TAG'), (-2147483648, 'TAG')], 'recv_tag': [(-1, 'TAG'), (-5, 'TAG')],
    'color': [(-1, 'ARG'), (-32767, 'ARG')],
}
# Pointers that may be NULL, or whose check is the room's.
NULL_IS_FINE = ('status', 'value_in', 'location', 'argc', 'argv', 'memory', 'attached', 'object_pointer', 'string_list',
                'string_lists', 'flag_optional', 'int_optional', 'buffer', 'weight')


def is_int_main(p):
    """argc, argv and levels of MPI_Init: nothing to be wrong."""
    return p.kind.name in ('argc', 'argv', 'varargs', 'level')


def good_value(p, large):
    """An argument that no check of the binding refuses."""
    kind, c_type = p.kind, p.c_type(large)
    if p.kind.name == 'rank_range':
        return 'ranges'
    if p.is_array:
        if kind.object == 'request':
            return 'good_requests'
        return 'good_types' if kind.object == 'type' else f'({c_type.replace("const ", "")})zeros'
    if kind.object and kind.name.startswith('any_'):
        return GOOD_HANDLES[kind.object]
    if kind.object:
        handle = GOOD_HANDLES[kind.object]
        return handle if p.direction == 'in' else f'&({HANDLES[kind.object][0]}){{ {handle} }}'
    if kind.name == 'root':
        return 'rank'
    if kind.name in ('dest', 'source', 'source_exact', 'rank', 'rank_group'):
        return '0'
    if kind.name == 'string' and p.direction == 'in':
        return '"text"'
    if kind.name in ('level', 'argc_value'):
        return '0'
    if kind.name.endswith('_fn') or c_type.endswith('*') or kind.name.startswith('t_'):
        return good_pointer(p, c_type)
    return '1'


def good_pointer(p, c_type):
    if p.kind.name.startswith('t_') and p.direction == 'in':
        return f'({c_type})0'
    if p.kind.name.endswith('_fn'):
        return f'({c_type}{"" if c_type.endswith("*") else " *"})(uintptr_t)area'
    return f'({c_type})area'


def bad_handles(p):
    """[(expression, class, text)] for a handle."""
    c_type, error_class, null, other, freed = HANDLES[p.kind.object]
    values = [(f'({c_type})0', '0'), (f'({c_type}){other}', other)]
    if not p.kind.name.endswith('_or_null'):
        values.append((null, null))
    if freed:
        values.append((freed, '0x'))
    if p.kind.name == 'comm_inter':
        values.append(('MPI_COMM_WORLD', 'MPI_COMM_WORLD'))
    if p.direction == 'in':
        return [(value, error_class, text) for value, text in values]
    return [(f'&({c_type}){{ {value} }}', error_class, text) for value, text in values] + \
        [(f'({c_type} *)NULL', 'MPI_ERR_ARG', 'NULL')]


def bad_arrays(function, p, large):
    c_type = p.c_type(large)
    if p.may_be_null or p.kind.name in ('status', 'weight') or not has_known_length(function, p):
        return []
    if p.kind.name == 'rank_range':
        c_type = 'int (*)[3]'
    null = [(f'({c_type})NULL', 'MPI_ERR_ARG', 'NULL')]
    if p.kind.name == 'count' and p.direction == 'in':
        name = 'MPI_Count' if large else 'int'
        return null + [(f'(const {name}[64]){{ -6 }}', 'MPI_ERR_COUNT', '-6')]
    if p.kind.object == 'request' and p.direction != 'out':
        return null + [('(MPI_Request[64]){ (MPI_Request)MPI_INT }', 'MPI_ERR_REQUEST', 'MPI_INT')]
    if p.kind.object == 'type' and p.direction == 'in':
        return null + [('(const MPI_Datatype[64]){ MPI_DATATYPE_NULL }', 'MPI_ERR_TYPE', 'MPI_DATATYPE_NULL')]
    return null


def has_known_length(function, p):
    length = function.param(p.length)
    return p.length in ('peers', 'size') or length is not None and not length.is_array


def bad_buffers(function, p):
    """NULL with something to transfer, and MPI_IN_PLACE where the standard has none."""
    if not p.of:
        return []
    found = []
    if not any(function.param(name).is_array for name in p.of) and p.at not in ('later', 'neighbors'):
        found.append(('NULL', 'MPI_ERR_BUFFER', 'NULL'))
    if not p.in_place and p.at != 'later' and (found or function.chapter == 6 or p.at == 'neighbors'):
        found.append(('MPI_IN_PLACE', 'MPI_ERR_BUFFER', 'MPI_IN_PLACE'))
    return found


def counts_items(function, p):
    """The count of a buffer whose items are of one type."""
    return any(q.kind.name == 'buffer' and q.of and p.name == q.of[0] and not function.param(q.of[1]).is_array
               for q in function.params)


def bad_numbers(function, p, large):
    found = []
    for value, name in BAD_NUMBERS[p.kind.name]:
        if p.kind.name == 'length' and 'count' in p.name:
            name = 'COUNT'
        found.append((str(value) if value != -2147483648 else 'INT_MIN', f'MPI_ERR_{name}',
                      '' if value == 'size' else str(value)))
    if large and p.kind.name == 'count':
        found.append((f'-INT64_C({1 << 40})', 'MPI_ERR_COUNT', str(-(1 << 40))))
        if counts_items(function, p):
            found.append(('INT64_MAX', 'MPI_ERR_COUNT', 'MPI_Count can say'))
    return found


def bad_values(function, p, large):
    kind = p.kind.name
    needs_intercomm = any(q.kind.name == 'comm_inter' for q in function.params)
    if needs_intercomm and kind != 'comm_inter':
        return []    # there is no intercommunicator to reach the other checks with
    if kind in ('comm_unused',) or kind.startswith(('any_', 't_')) or is_int_main(p):
        return []
    if p.is_array:
        return bad_arrays(function, p, large)
    if p.kind.object and p.direction != 'out':
        return bad_handles(p)
    if kind == 'buffer':
        return bad_buffers(function, p)
    if p.direction == 'in' and kind in BAD_NUMBERS:
        return bad_numbers(function, p, large)
    if kind == 'status' and p.direction != 'out':
        return [(f'({p.c_type(large)})NULL', 'MPI_ERR_ARG', 'NULL')]
    is_pointer = p.c_type(large).endswith('*') and not kind.endswith(('copy_fn', 'delete_fn')) and kind != 'datarep_fn'
    if is_pointer and kind not in NULL_IS_FINE and not p.may_be_null:
        return [(f'({p.c_type(large)})NULL', 'MPI_ERR_ARG', 'NULL')]
    return []


def call_text(function, name, large, changed=None, value=None):
    args = [value if p is changed else good_value(p, large) for p in function.form_params(large)
            if p.kind.name != 'varargs']
    return f'MPI_{name}({", ".join(args)})'


def cases_of(function, name, large):
    """Lines for one implemented function."""
    lines = []
    for p in function.form_params(large):
        for value, error_class, text in bad_values(function, p, large):
            if function.is_tool:
                lines.append(f'    BAD_TOOL("MPI_{name}", "{p.name}", {call_text(function, name, large, p, value)});')
                continue
            lines.append(f'    BAD("MPI_{name}", "{p.name}", {error_class}, "{text}",\n'
                         f'        {call_text(function, name, large, p, value)});')
    return lines


HEAD = '''\
/* SPDX-License-Identifier: BSD-3-Clause */
/* Bad arguments to every function. Generated by tests/errors/gen_errors_test.py; do not edit. */
#include "bad.h"

#pragma GCC diagnostic ignored "-Wnonnull"
'''


def generate():
    functions = model.read_functions()
    calls = call_lines.read_calls(functions)
    text, names = HEAD, []
    for function in functions:
        if function.is_compat or function.returns != 'int' or function.name.endswith('_toint'):
            continue
        lines = []
        for name, large in function.forms():
            if call_lines.call_of(calls, name, large):
                lines += cases_of(function, name, large)
            else:
                lines.append(f'    MISSING("MPI_{name}", {call_text(function, name, large)});')
        if lines:
            names.append(function.name)
            body = '\n'.join(lines)
            text += f'\nstatic void test_{function.name}(void)\n{{\n{body}\n}}\n'
    lines = '\n'.join(f'    test_{name}();' for name in names)
    return text + f'\nvoid run_cases(void)\n{{\n{lines}\n}}\n'


if __name__ == '__main__':
    model.write_output(sys.argv[1], generate())
