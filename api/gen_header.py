# SPDX-License-Identifier: BSD-3-Clause
"""Writes mpi.h: python3 gen_header.py OUTPUT [types]

With `types` the same without functions, for libraries that export functions of these names with other types (abi/)."""

import model

HEAD = '''\
/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi.h: MPI 5.0, standard ABI 1.0 (MPI 5.0 chapter 20). Generated from api/; do not edit.
 *
 * Handles are pointers to types that are never completed. Predefined handles are small integers cast to the
 * handle type; all other handles are made by the library. Section numbers are those of MPI 5.0. */
#ifndef MPI_H_ABI
#define MPI_H_ABI

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
'''

BASIC_TYPES = '''
/* --- integers, status (§20.3.1, §3.2.5) --- */

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;

typedef struct MPI_Status {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int MPI_internal[5]; /* belongs to the library */
} MPI_Status;
'''

TAIL = '''
#ifdef __cplusplus
}
#endif

#ifdef PARLEY_OLDER_NAMES
#include <mpi_older.h>
#if defined __cplusplus && !defined MPI_NO_CPPBIND && !defined MPICH_SKIP_MPICXX && !defined OMPI_SKIP_MPICXX
#include <mpi_cxx.h>
#endif
#endif

#endif
'''


def value(constant):
    return f'({constant.text})' if constant.value < 0 else constant.text


def macro_group(heading, constants):
    width = max(len(c.name) for c in constants)
    lines = [f'\n/* {heading} */']
    for c in constants:
        text = value(c) if c.form == 'macro' else f'(({c.c_type}){value(c)})'
        lines.append(f'#define {c.name:<{width}} {text}')
    return '\n'.join(lines) + '\n'


def enum_group(heading, constants):
    width = max(len(c.name) for c in constants)
    lines = [f'    {c.name:<{width}} = {c.text}' for c in constants]
    body = ',\n'.join(lines)
    c_type = constants[0].c_type
    if c_type == 'int':
        return f'\n/* {heading} */\nenum {{\n{body}\n}};\n'
    return f'\n/* {heading} */\ntypedef enum {c_type} {{\n{body}\n}} {c_type};\n'


def constants_text(groups, wanted):
    text = ''
    for heading, constants in groups:
        if wanted(constants[0]):
            text += (enum_group if constants[0].form == 'enum' else macro_group)(heading, constants)
    return text


def handles_text(types):
    width = max(len(tag) for _, tag in types.handles)
    lines = [f'typedef struct {tag:<{width}} *{name};' for name, tag in types.handles]
    return '\n/* --- handles (§20.3.2) --- */\n\n' + '\n'.join(lines) + '\n'


def callbacks_text(types):
    lines = [model.wrap(f'typedef {returns} {name}', params, ';') for name, returns, params in types.callbacks]
    lines += ['', '/* older spellings */'] + [f'typedef {of} {name};' for name, of in types.aliases]
    return '\n/* --- functions of the user --- */\n\n' + '\n'.join(lines) + '\n'


def prototypes_text(functions, prefix, with_headings):
    lines, section = [], None
    for function in functions:
        if function.is_compat:
            continue
        if with_headings and function.section != section:
            section = function.section
            lines.append(f'\n/* §{section} {function.section_title} */')
        if with_headings and function.deprecated:
            lines.append(f'/* deprecated since MPI {function.deprecated}: */')
        for _, large in function.forms():
            lines.append(function.prototype(large, prefix) + ';')
    return '\n'.join(lines) + '\n'


def generate(part=None):
    functions, groups, types = model.read_functions(), model.read_constants(), model.Types()
    is_number = lambda c: c.c_type in ('int', 'MPI_T_source_order', 'MPI_T_cb_safety')
    prototypes = [
        '\n/* --- functions --- */\n', prototypes_text(functions, 'MPI_', True),
        '\n/* --- the same for tools (§15.2) --- */\n\n', prototypes_text(functions, 'PMPI_', False)]
    return ''.join([
        HEAD,
        '\n/* --- numbers (Annex A.1.1) --- */\n', constants_text(groups, is_number),
        BASIC_TYPES, handles_text(types), callbacks_text(types),
        '\n/* --- addresses, predefined handles and callbacks (Annex A.1.1, §20.5) --- */\n',
        constants_text(groups, lambda c: not is_number(c))] + ([] if part == 'types' else prototypes) + [TAIL])


if __name__ == '__main__':
    model.main(generate)
