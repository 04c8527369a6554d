# SPDX-License-Identifier: BSD-3-Clause
"""Writes the table of functions through which doors (abi/) call the library: python3 gen_calls.py OUTPUT [definition]

A door exports functions under the names of the library's own, so it cannot call them by name. Without a second
argument: mpi_calls.h, the type of the table. With `definition`: the table itself, for src/bind."""

import hashlib

import model

HEAD = '''\
/* SPDX-License-Identifier: BSD-3-Clause */
/* Every function of mpi.h, as doors to other ABIs call them (abi/). Generated from api/; do not edit.
 *
 * The table is for libraries of the same build. Who finds another `version` than its own stops. */
#ifndef MPI_CALLS_H
#define MPI_CALLS_H

#ifndef MPI_H_ABI
#include <mpi.h>
#endif

#define MPI_CALLS_VERSION UINT64_C(0x%s)

struct mpi_calls {
    uint64_t version;
'''

TAIL = '''};

extern const struct mpi_calls parley_calls_1 __attribute__((visibility("default")));

#endif
'''

DEFINITION = '''\
/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the library, for doors (abi/). Generated from api/; do not edit. */
#include <mpi_calls.h>

/* int_entry.h gives each entry point this name, too, which no other library can take over. */
#define OWN(name) __attribute__((visibility("hidden"))) name
'''


def forms(functions):
    for function in functions:
        for name, large in function.forms():
            yield function, name, large


def members(functions):
    lines = []
    for function, name, large in forms(functions):
        text = function.prototype(large, '').replace('\n', '\n    ')
        head, _, params = text.partition('(')
        lines.append(f'    {head[:-len(name)].rstrip()} (*{name})({params};\n')
    return ''.join(lines)


def definition(functions):
    text = DEFINITION
    for function, name, large in forms(functions):
        head, _, params = function.prototype(large, '').partition('(')
        text += f'{head[:-len(name)].rstrip()} OWN(bind_own_{name})({params};\n'
    text += '\nconst struct mpi_calls parley_calls_1 = {\n    .version = MPI_CALLS_VERSION,\n'
    text += ''.join(f'    .{name} = bind_own_{name},\n' for _, name, _ in forms(functions))
    return text + '};\n'


def generate(part=None):
    functions = model.read_functions()
    if part == 'definition':
        return definition(functions)
    text = members(functions)
    return HEAD % hashlib.sha256(text.encode()).hexdigest()[:16] + text + TAIL


if __name__ == '__main__':
    model.main(generate)
