# SPDX-License-Identifier: BSD-3-Clause
"""Writes the functions that stand before those of the library: python3 gen_wrappers.py OUTPUT

Each notes when it was entered and left, and what the kinds of its parameters tell: communicator, receiver, bytes."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'api'))
import model  # noqa: E402

HEAD = '''\
/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs call instead of the library under `mpiexec --profile` and `--trace`. Generated from api/functions.txt;
 * do not edit. */
#include "profile.h"

#define EXPORT __attribute__((visibility("default")))

/* Old functions are called like any others. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

'''
# They take no time worth telling, or are no calls of a running program.
LEFT_OUT = {'Pcontrol', 'Wtime', 'Wtick'}
BEFORE = {'Finalize': 'profile_report();', 'Request_free': 'profile_forget(*request);'}
AFTER = {'Init': 'profile_begin();', 'Init_thread': 'profile_begin();', 'Comm_set_name': 'profile_renamed(comm);'}
TOPICS = ((3, 'point-to-point'), (4, 'partitioned'), (5, 'datatypes'), (6, 'collective'), (7, 'communicators'),
          (8, 'topologies'), (12, 'one-sided'), (14, 'files'))


def is_wrapped(function):
    return (function.returns == 'int' and not function.is_tool and not function.is_compat and
            function.name not in LEFT_OUT and not function.name.startswith('Abi_'))


def topic(function):
    if any(p.kind.name.startswith('request') for p in function.params) and function.section.startswith('3.7'):
        return 'completion' if 'Wait' in function.name or 'Test' in function.name else 'point-to-point'
    if function.chapter == 8 and 'eighbor' in function.name:
        return 'collective'
    return dict(TOPICS).get(function.chapter, 'other')


def comm_of(function):
    """The communicator of the call, which lives on after it."""
    return next((p.name for p in function.params if p.direction == 'in' and not p.is_array and
                 p.kind.name in ('comm', 'comm_intra', 'comm_inter', 'comm_early')), None)


def bytes_of(function, comm, large):
    """An expression for the bytes that the process gives away, or None."""
    for p in function.params:
        if p.kind.name != 'buffer' or not p.of or p.direction == 'out':
            continue
        count, datatype = (function.param(name) for name in p.of[:2])
        form = '_c' if large and count.kind.is_polymorphic else ''
        if not count.is_array:
            value = f'profile_bytes({count.name}, {datatype.name})'
        elif comm and not datatype.is_array:
            value = f'profile_bytes_of{form}({comm}, {count.name}, {datatype.name})'
        elif comm:
            value = f'profile_bytes_each{form}({comm}, {count.name}, {datatype.name})'
        else:
            return None
        if p.in_place:
            value = f'{p.name} == MPI_IN_PLACE ? 0 : {value}'
        if p.at == 'root' and comm:
            value = f'profile_is_root({comm}, root) ? ({value}) : 0'
        return value
    return None


def details(function, large):
    """Lines behind the call."""
    comm = comm_of(function)
    amount = bytes_of(function, comm, large) if comm or function.chapter in (12, 14) else None
    dest = next((p.name for p in function.params if p.kind.name == 'dest'), None)
    request = next((p.name for p in function.params if p.name == 'request' and p.direction == 'out'), None)
    if function.chapter == 8 and 'eighbor' in function.name and amount and 'profile_bytes_' in amount:
        amount = None    # there are as many counts as neighbors
    if comm:
        yield f'call.comm = profile_comm({comm});'
    if dest and function.name.endswith('_init'):
        if amount:
            yield f'profile_persistent(*request, {comm}, {dest}, {amount});'
        return
    if amount and not (function.name.endswith('_init') and request):
        yield f'call.bytes = {amount};'
    if dest:
        yield f'profile_sent(&call, {comm}, {dest});'
    if function.name == 'Start':
        yield 'profile_started(&call, *request);'
    if function.name == 'Startall':
        yield 'for (int i = 0; i < count; i++)\n            profile_started(&call, array_of_requests[i]);'


def wrapper(function, name, large):
    params = [p for p in function.params if large or not p.large_only]
    declared = ', '.join(p.c_declaration(large) for p in params) or 'void'
    given = ', '.join(p.name for p in params)
    lines = list(details(function, large))
    text = f'EXPORT int MPI_{name}({declared})\n{{\n    struct profile_call call;\n    int rc;\n\n'
    if function.name in BEFORE:
        text += f'    {BEFORE[function.name]}\n'
    text += f'    profile_enter(&call, PROFILE_{function.name});\n    rc = PMPI_{name}({given});\n'
    if lines:
        body = '\n        '.join(lines)
        text += f'    if (profile_leave(&call) && !rc) {{\n        {body}\n    }}\n'
    else:
        text += '    profile_leave(&call);\n'
    if function.name in AFTER:
        text += f'    if (!rc)\n        {AFTER[function.name]}\n'
    return text + '    profile_count(&call);\n    return rc;\n}\n'


TABLE = '''\
enum {
%s
    FUNCTIONS
};

_Static_assert((int)FUNCTIONS <= (int)PROFILE_FUNCTIONS_MAX, "a table");

const struct profile_function profile_functions[] = {
%s
};
const int profile_function_count = FUNCTIONS;
'''


def generate():
    functions = [f for f in model.read_functions() if is_wrapped(f)]
    text = HEAD + TABLE % ('\n'.join(f'    PROFILE_{f.name},' for f in functions),
                           '\n'.join(f'    {{ "MPI_{f.name}", "{topic(f)}" }},' for f in functions))
    return text + ''.join('\n' + wrapper(f, name, large) for f in functions for name, large in f.forms())


if __name__ == '__main__':
    model.main(generate)
