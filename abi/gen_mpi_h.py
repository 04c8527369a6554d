# SPDX-License-Identifier: BSD-3-Clause
"""Writes an mpi.h like that of another MPI, from our tables and its facts: python3 gen_mpi_h.py OUTPUT FACTS mpich|ompi

The door for Fortran is compiled with it, and programs for the doors can be made where that MPI is not installed:
handles, numbers and the status are laid out as in its own header; functions are those of our table."""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import facts as table  # noqa: E402
import gen_header  # noqa: E402
import model  # noqa: E402

HEAD = '''\
/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi.h as programs of the %s ABI know it. Generated from facts.txt; do not edit. */
#ifndef MPI_H_FOREIGN
#define MPI_H_FOREIGN

#include <stdint.h>

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset, MPI_Count;
typedef int MPI_Fint, MPI_T_cb_safety, MPI_T_source_order;
'''
STATUS = {
    'mpich': 'int count_lo, count_hi_and_cancelled, MPI_SOURCE, MPI_TAG, MPI_ERROR;',
    'ompi': 'int MPI_SOURCE, MPI_TAG, MPI_ERROR, _cancelled;\n    uintptr_t _ucount;',
}
CALLBACKS = {
    'mpich': '''
extern int MPIR_Dup_fn(int, int, void *, void *, void *, int *);
#define MPI_%(kind)s_NULL_COPY_FN ((MPI_%(Kind)s_copy_attr_function *)0)
#define MPI_%(kind)s_DUP_FN ((MPI_%(Kind)s_copy_attr_function *)MPIR_Dup_fn)
#define MPI_%(kind)s_NULL_DELETE_FN ((MPI_%(Kind)s_delete_attr_function *)0)
''',
    'ompi': '''
MPI_%(Kind)s_copy_attr_function OMPI_C_MPI_%(kind)s_NULL_COPY_FN, OMPI_C_MPI_%(kind)s_DUP_FN;
MPI_%(Kind)s_delete_attr_function OMPI_C_MPI_%(kind)s_NULL_DELETE_FN;
#define MPI_%(kind)s_NULL_COPY_FN OMPI_C_MPI_%(kind)s_NULL_COPY_FN
#define MPI_%(kind)s_DUP_FN OMPI_C_MPI_%(kind)s_DUP_FN
#define MPI_%(kind)s_NULL_DELETE_FN OMPI_C_MPI_%(kind)s_NULL_DELETE_FN
''',
}


def handle_types(types, door):
    lines = []
    for name, tag in types.handles:
        is_int = door == 'mpich' and name in model.HANDLE_TYPES and name != 'MPI_File'
        lines.append(f'typedef int {name};' if is_int else f'typedef struct {tag.replace("_ABI_", "_f_")} *{name};')
    return '\n'.join(lines) + '\n'


def constant(fact, door, seen):
    name = f'MPI_{fact.name}'
    if fact.stands_for:
        return f'#define {name} {fact.stands_for}\n'
    if fact.symbol:
        text = '' if fact.symbol in seen else f'extern struct {{ char room[{fact.size}]; }} {fact.symbol};\n'
        seen.add(fact.symbol)
        return text + f'#define {name} (({fact.constant.c_type})(void *)&{fact.symbol})\n'
    if door == 'mpich' and fact.name in ('UNWEIGHTED', 'WEIGHTS_EMPTY'):
        return f'extern int *const {name};\n'
    if door == 'mpich' and fact.name == 'T_PVAR_ALL_HANDLES':
        return f'extern MPI_T_pvar_handle const {name};\n'
    if fact.handle or fact.constant.c_type in table.POINTERS:
        return f'#define {name} (({fact.constant.c_type})(intptr_t){fact.value:#x})\n'
    return f'#define {name} ({fact.value})\n'


def generate(path, door):
    facts, types, seen = table.read(path), model.Types(), set()
    text = HEAD % {'mpich': 'MPICH', 'ompi': 'Open MPI'}[door] + handle_types(types, door)
    text += f'typedef struct {{\n    {STATUS[door]}\n}} MPI_Status;\n'
    text += gen_header.callbacks_text(types)
    text += ''.join(constant(f, door, seen) for f in facts.values())
    for name in ('ENUM', 'CVAR_HANDLE', 'PVAR_HANDLE', 'PVAR_SESSION'):
        c_type = 'MPI_T_' + name.lower()
        text += f'#define MPI_T_{name}_NULL (({c_type})0)\n'
    for kind in ('Comm', 'Type', 'Win'):
        text += CALLBACKS[door] % {'Kind': kind, 'kind': kind.upper()}
    text += '#define MPI_CONVERSION_FN_NULL ((MPI_Datarep_conversion_function *)0)\n'
    text += '#define MPI_CONVERSION_FN_NULL_C ((MPI_Datarep_conversion_function_c *)0)\n'
    text += gen_header.prototypes_text(model.read_functions(), 'MPI_', False)
    text += gen_header.prototypes_text(model.read_functions(), 'PMPI_', False)
    return re.sub(r'\\n{3,}', '\\n\\n', text) + '\n#endif\n'


if __name__ == '__main__':
    model.main(generate)
