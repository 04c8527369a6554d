#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every function of the table has its names for Fortran: in libmpifort_abi for mpif.h and mpi_f08, in both modules,
each as MPI_ and PMPI_. Arguments: library, folder of the modules."""

import gzip
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', '..', 'api'))
import model    # noqa: E402

# Handles as integers are for C alone (MPI 5.0 §20.4.5).
NOT_IN_FORTRAN = ('_toint', '_fromint')
# Removed by MPI 3.0: not in mpi_f08.
REMOVED = ('address', 'errhandler_create', 'errhandler_get', 'errhandler_set', 'type_extent', 'type_hindexed',
           'type_hvector', 'type_lb', 'type_struct', 'type_ub')
# MPI_ADDRESS_KIND and MPI_COUNT_KIND are the same kind, so that the large form is the small one (MPI 5.0 §19.2).
SAME_LARGE = ('Type_create_resized', 'Type_get_extent', 'Type_get_true_extent', 'File_get_type_extent')
ONLY_FORTRAN = ('f_sync_reg', 'sizeof', 'status_f2f08', 'status_f082f')


def main():
    library, folder = sys.argv[1:]
    symbols = {line.split()[-1] for line in subprocess.run(
        ['nm', '-D', '--defined-only', library], capture_output=True, text=True, check=True).stdout.splitlines()}
    modules = {}
    for name in ('mpi', 'mpi_f08'):
        with gzip.open(os.path.join(folder, name + '.mod'), 'rt', encoding='utf-8') as file:
            modules[name] = file.read()
    faults, count = [], 0
    functions = [f for f in model.read_functions() if not f.is_tool and not f.name.endswith(NOT_IN_FORTRAN)]
    for function in functions:
        low = function.name.lower()
        for prefix in ('mpi_', 'pmpi_'):
            count += 1
            wanted = [[prefix + low + '_']]
            if not function.is_compat:
                wanted.append([prefix + low + '_f08_', prefix + low + '_f08ts_'])
            if function.has_large and function.name not in SAME_LARGE:
                wanted.append([f'{prefix}{low}_c_f08_', f'{prefix}{low}_c_f08ts_'])
            faults += [f'no symbol {" or ".join(names)}' for names in wanted if not symbols & set(names)]
            for name, text in modules.items():
                if f"'{prefix}{low}'" not in text and not (function.is_compat and name == 'mpi_f08'):
                    faults.append(f'module {name} does not have {prefix}{low}')
    for name in (prefix + low for low in REMOVED for prefix in ('mpi_', 'pmpi_')):
        faults += [f'no symbol {name}_'] if name + '_' not in symbols else []
        faults += [f'module mpi does not have {name}'] if f"'{name}'" not in modules['mpi'] else []
    for name, text in modules.items():
        faults += [f'module {name} does not have mpi_{low}' for low in ONLY_FORTRAN if f"'mpi_{low}'" not in text]
    print('\n'.join(faults + [f'{count} names in four places, {len(faults)} missing']))
    return 1 if faults or count < 800 else 0


if __name__ == '__main__':
    sys.exit(main())
