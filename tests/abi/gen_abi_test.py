# SPDX-License-Identifier: BSD-3-Clause
"""Writes the test of mpi.h as C: python3 gen_abi_test.py OUTPUT

Static assertions of every type, signature and number of expected.txt; the program compares the values of handles
and other pointers, and by what it holds shows that they may stand in static initialisers."""

import sys

import expected

HEAD = '''\
/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi.h against tests/abi/expected.txt. Generated; do not edit. */
#include <mpi.h>

/* The names below must be free: mpi.h may not declare them. */
@FREE@

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TYPED(name, type) _Static_assert(__builtin_types_compatible_p(__typeof__(name), type), #name " is no " #type)
#define FUNCTION(name, type) \\
    _Static_assert(__builtin_types_compatible_p(__typeof__(&name), type), #name " is no " #type)
#define IS_TYPE(name, type) \\
    _Static_assert(__builtin_types_compatible_p(name, type), #name " is no " #type)
#define NUMBER(what, value) _Static_assert((what) == (value), #what " is not " #value)

NUMBER(sizeof(MPI_Aint), sizeof(void *));
NUMBER(sizeof(MPI_Offset), 8);
NUMBER(sizeof(MPI_Count), 8);
IS_TYPE(MPI_Aint, intptr_t);
IS_TYPE(MPI_Offset, int64_t);
IS_TYPE(MPI_Count, int64_t);
NUMBER(sizeof(MPI_Status), 8 * sizeof(int));
NUMBER(_Alignof(MPI_Status), _Alignof(int));
NUMBER(offsetof(MPI_Status, MPI_SOURCE), 0);
NUMBER(offsetof(MPI_Status, MPI_TAG), sizeof(int));
NUMBER(offsetof(MPI_Status, MPI_ERROR), 2 * sizeof(int));
NUMBER(offsetof(MPI_Status, MPI_internal), 3 * sizeof(int));
NUMBER(sizeof ((MPI_Status *)0)->MPI_internal, 5 * sizeof(int));

#if MPI_VERSION != 5 || MPI_SUBVERSION != 0 || MPI_ABI_VERSION != 1 || MPI_ABI_SUBVERSION != 0
#error "the versions must be numbers for the preprocessor"
#endif
'''


def is_number(c_type):
    return c_type in ('int', 'MPI_Offset', 'MPI_T_cb_safety', 'MPI_T_source_order')


def constants_text(constants):
    lines = []
    for name, c_type, value in constants:
        if is_number(c_type):
            lines.append(f'NUMBER({name}, {value});')
        lines.append(f'NUMBER(sizeof({c_type}), sizeof(int));' if c_type.startswith('MPI_T_') and is_number(c_type)
                     else f'TYPED({name}, {c_type});')
    return '\n'.join(lines)


def handles_text(handles):
    return '\n'.join(f'IS_TYPE({name}, struct {tag} *);' for name, tag in handles)


def functions_text(expectations):
    lines = [f'IS_TYPE({name} *, {returns} (*)({types}));' for name, returns, types in expectations['callback']]
    for name, returns, types in expectations['function']:
        lines += [f'FUNCTION({prefix}{name}, {returns} (*)({types}));' for prefix in ('', 'P')]
    return '\n'.join(lines)


MAIN = '''
/* A pointer as an integer is no constant expression of ISO C: these are compared when the program runs. That they
 * stand here shows that they may stand in static initialisers. */
static const struct {
    const char *name;
    uintptr_t value, expected;
} pointers[] = {
@VALUES@
};

int main(void)
{
    int faults = 0;

    for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; i++) {
        if (pointers[i].value != pointers[i].expected) {
            fprintf(stderr, "%s is 0x%lx, expected 0x%lx\\n", pointers[i].name, (unsigned long)pointers[i].value,
                    (unsigned long)pointers[i].expected);
            faults++;
        }
    }
    return faults != 0;
}
'''


def main_text(constants):
    values = [f'    {{ "{name}", (uintptr_t){name}, {value} }},' for name, c_type, value in constants
              if not is_number(c_type)]
    return MAIN.replace('@VALUES@', '\n'.join(values))


def generate():
    found = expected.read()
    free = [f'enum {{ {name} }};' for (name,) in found['absent']]
    return '\n'.join([HEAD.replace('@FREE@', '\n'.join(free)), constants_text(found['constant']),
                      handles_text(found['handle']), functions_text(found), main_text(found['constant'])])


if __name__ == '__main__':
    with open(sys.argv[1], 'w', encoding='utf-8') as output:
        output.write(generate())
