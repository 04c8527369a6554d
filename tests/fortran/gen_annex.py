# SPDX-License-Identifier: BSD-3-Clause
"""Writes a program that looks at every name of MPI 5.0 Annex A.1 which Fortran has: constants, handles, kinds, types,
callback prototypes, special addresses: python3 gen_annex.py OUTPUT mpif|mpi|f08

Each must be usable where the standard lets it be (named constants in constant expressions, addresses as actual
arguments), of the right type and kind, and have the value of the table (api/constants.txt)."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'api'))
import model    # noqa: E402  (the path above comes first)

# Of C alone: the tool interface, and what a status of Fortran is in C.
ONLY_C = ('MPI_T_', 'MPI_F_')
KINDS = {'MPI_ADDRESS_KIND': 8, 'MPI_COUNT_KIND': 8, 'MPI_INTEGER_KIND': 4, 'MPI_OFFSET_KIND': 8, 'MPI_STATUS_SIZE': 8,
         'MPI_SOURCE': 1, 'MPI_TAG': 2, 'MPI_ERROR': 3}
INTEGERS = ('MPI_BOTTOM', 'MPI_IN_PLACE', 'MPI_BUFFER_AUTOMATIC')
LISTS = ('MPI_ERRCODES_IGNORE', 'MPI_UNWEIGHTED', 'MPI_WEIGHTS_EMPTY')
TEXTS = ('MPI_ARGV_NULL', 'MPI_ARGVS_NULL')
COPY = ('COMM', 'TYPE', 'WIN')
PROTOTYPES = ['User_function', 'User_function_c', 'Datarep_extent_function', 'Datarep_conversion_function',
              'Datarep_conversion_function_c', 'Grequest_query_function', 'Grequest_free_function',
              'Grequest_cancel_function'] \
    + [f'{o}_{w}_attr_function' for o in ('Comm', 'Type', 'Win') for w in ('copy', 'delete')] \
    + [f'{o}_errhandler_function' for o in ('Comm', 'Win', 'File', 'Session')]
HEADS = {'mpif': "    implicit none\n    include 'mpif.h'\n", 'mpi': '    use mpi\n    implicit none\n',
         'f08': '    use mpi_f08\n    implicit none\n'}


def constants():
    """(name, value, type) of numbers and handles."""
    found = []
    for _, group in model.read_constants():
        found += [(c.name, c.value, c.c_type) for c in group if not c.name.startswith(ONLY_C)
                  and (c.c_type in ('int', 'MPI_Offset') or c.c_type in model.HANDLE_TYPES)]
    return found


def declared(c_type, interface):
    if c_type == 'MPI_Offset':
        return 'integer(MPI_OFFSET_KIND)'
    return f'type({c_type})' if interface == 'f08' and c_type in model.HANDLE_TYPES else 'integer'


def check_constants(interface):
    """Each as the value of a named constant of its type; the compiler refuses what is none."""
    names, checks = '', ''
    for i, (name, value, c_type) in enumerate(constants()):
        is_typed = interface == 'f08' and c_type in model.HANDLE_TYPES
        names += f'    {declared(c_type, interface)}, parameter :: c{i} = {name}\n'
        number = f'c{i}%MPI_VAL' if is_typed else f'c{i}'
        want = f'{value}_MPI_OFFSET_KIND' if c_type == 'MPI_Offset' else value
        checks += f"    call check({number} == {want}, '{name}')\n"
        if not is_typed:
            checks += f"    call check(kind({name}) == kind({want}), 'the kind of {name}')\n"
    for name, value in KINDS.items():
        if interface == 'f08' and name in ('MPI_SOURCE', 'MPI_TAG', 'MPI_ERROR'):
            checks += f"    call check_int({name}, {value}, '{name}')\n"
        else:
            names += f'    integer, parameter :: k_{name.lower()} = {name}\n'
            checks += f"    call check_int(k_{name.lower()}, {value}, '{name}')\n"
    wanted = '.true.' if interface == 'f08' else '.false.'
    for name in ('MPI_SUBARRAYS_SUPPORTED', 'MPI_ASYNC_PROTECTS_NONBLOCKING'):
        names += f'    logical, parameter :: l_{name.lower()} = {name}\n'
        checks += f"    call check(l_{name.lower()} .eqv. {wanted}, '{name}')\n"
    return names, checks


def check_addresses(interface):
    """Their shapes and types; that calls know them by their place is tested elsewhere."""
    checks = ''.join(f"    call check_int(storage_size({name}), 32, 'bits of {name}')\n" for name in INTEGERS + LISTS)
    checks += ''.join(f"    call check_int(size({name}), 1, 'size of {name}')\n" for name in LISTS)
    checks += ''.join(f"    call check_int(len({name}), 1, 'length of {name}')\n" for name in TEXTS)
    checks += "    call check_int(size(shape(MPI_ARGV_NULL)), 1, 'rank of MPI_ARGV_NULL')\n" \
        "    call check_int(size(shape(MPI_ARGVS_NULL)), 2, 'rank of MPI_ARGVS_NULL')\n"
    bits, rank = (256, 0) if interface == 'f08' else (32, 1)
    for name, more in (('MPI_STATUS_IGNORE', 0), ('MPI_STATUSES_IGNORE', 1)):
        checks += f"    call check_int(storage_size({name}), {bits}, 'bits of {name}')\n" \
            f"    call check_int(size(shape({name})), {rank + more}, 'rank of {name}')\n"
    return checks


def typed(interface):
    """What only mpi_f08 has (prototypes), or has as it has not (functions for attributes as EXTERNAL)."""
    if interface != 'f08':
        names = [f'MPI_{o}_{f}' for o in COPY for f in ('NULL_COPY_FN', 'DUP_FN', 'NULL_DELETE_FN')]
        names += ['MPI_NULL_COPY_FN', 'MPI_DUP_FN', 'MPI_NULL_DELETE_FN', 'MPI_CONVERSION_FN_NULL']
        return '', ''.join(f'    call is_function({name})\n' for name in names)
    names = ''.join(f'    procedure(MPI_{p}), pointer :: p{i} => null()\n' for i, p in enumerate(PROTOTYPES))
    checks = ''.join(f"    call check(.not. associated(p{i}), 'MPI_{p}')\n" for i, p in enumerate(PROTOTYPES))
    for o in COPY:
        copy, delete = (PROTOTYPES.index(f'{o.title()}_{w}_attr_function') for w in ('copy', 'delete'))
        for f, i in (('NULL_COPY_FN', copy), ('DUP_FN', copy), ('NULL_DELETE_FN', delete)):
            name = f'MPI_{o}_{f}'
            checks += f"    p{i} => {name}\n    call check(associated(p{i}), '{name}')\n"
    for name, p in (('MPI_CONVERSION_FN_NULL', 'Datarep_conversion_function'),
                    ('MPI_CONVERSION_FN_NULL_C', 'Datarep_conversion_function_c')):
        i = PROTOTYPES.index(p)
        checks += f"    p{i} => {name}\n    call check(associated(p{i}), '{name}')\n"
    return names, checks


def check_types(interface):
    """Handles with types, in the modules; a status as both, its parts by name."""
    if interface == 'mpif':
        return '', ''
    names = ''.join(f'    type({h}) :: v{i}\n' for i, h in enumerate(model.HANDLE_TYPES))
    checks = ''.join(f"    v{i}%MPI_VAL = {i}\n    call check(v{i} == {h}({i}) .and. v{i} /= {h}(99), '{h}')\n"
                     for i, h in enumerate(model.HANDLE_TYPES))
    names += '    type(MPI_Status) :: status\n    integer :: numbers(MPI_STATUS_SIZE), rc\n'
    checks += "    numbers = [11, 12, 13, 14, 15, 16, 17, 18]\n    call MPI_Status_f2f08(numbers, status, rc)\n" \
        "    call check(status%MPI_SOURCE == 11 .and. status%MPI_TAG == 12 .and. status%MPI_ERROR == 13, 'status')\n" \
        "    numbers = 0\n    call PMPI_Status_f082f(status, numbers, rc)\n" \
        "    call check(all(numbers == [11, 12, 13, 14, 15, 16, 17, 18]), 'status and back')\n"
    return names, checks


def generate(interface):
    parts = [check_constants(interface), ('', check_addresses(interface)), typed(interface), check_types(interface)]
    text = '! SPDX-License-Identifier: BSD-3-Clause\n! Generated by gen_annex.py from api/; do not edit.\n'
    text += f'program annex_{interface}\n{HEADS[interface]}' + ''.join(names for names, _ in parts)
    text += '    integer :: ierror\n\n    call MPI_Init(ierror)\n' + ''.join(checks for _, checks in parts)
    text += '    call MPI_Finalize(ierror)\n'
    if interface != 'f08':
        text += 'contains\n    subroutine is_function(f)\n        external :: f\n    end subroutine\n'
    return text + 'end program\n'


if __name__ == '__main__':
    model.main(generate)
