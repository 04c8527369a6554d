# SPDX-License-Identifier: BSD-3-Clause
"""Writes the version script of libmpi_abi.so: python3 gen_map.py OUTPUT

Exactly the functions of the table, each as MPI_ and PMPI_, what debuggers look for, the engine for libraries
beside MPI (src/door), the functions for the doors (abi/), and no other symbol."""

import model

OTHER_NAMES = ('MPIR_dll_name', 'parley_debug_layout', 'parley_door_1', 'parley_calls_1', 'parley_sections_1')


def generate():
    names = sorted(model.exported_names(model.read_functions()))
    lines = [f'        {prefix}{name};' for prefix in ('MPI_', 'PMPI_') for name in names]
    lines += [f'        {name};' for name in OTHER_NAMES]
    return '{\n    global:\n' + '\n'.join(lines) + '\n    local:\n        *;\n};\n'


if __name__ == '__main__':
    model.main(generate)
