! SPDX-License-Identifier: BSD-3-Clause
! Texts (MPI 5.0 §2.6.2, §10): blanks behind them do not count, of info keys and values those before them neither;
! results are filled up with blanks or cut off.
program texts_mpi
    use mpi
    implicit none
    integer :: rc, length, info, dup, n, size
    character(len=MPI_MAX_OBJECT_NAME) :: name
    character(len=4) :: short
    character(len=40) :: value
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
    character(len=MPI_MAX_PROCESSOR_NAME) :: processor
    character(len=600) :: long
    logical :: flag

    call MPI_Init(rc)
    call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, rc)
    call check(name == 'MPI_COMM_WORLD', 'name of MPI_COMM_WORLD: '//trim(name))
    call check_int(length, 14, 'its length')
    call MPI_Comm_dup(MPI_COMM_SELF, dup, rc)
    call MPI_Comm_set_name(dup, '  a name  ', rc)
    name = repeat('x', len(name))
    call MPI_Comm_get_name(dup, name, length, rc)
    call check(name == '  a name', 'blanks before a name count, blanks behind it do not')
    call check_int(length, 8, 'length of that name')
    call MPI_Comm_get_name(dup, short, length, rc)
    call check(short == '  a ', 'a name that is cut off')
    call MPI_Comm_free(dup, rc)

    call MPI_Info_create(info, rc)
    call MPI_Info_set(info, '  key ', '  some value  ', rc)
    call MPI_Info_get(info, 'key', len(value), value, flag, rc)
    call check(flag .and. value == 'some value', 'blanks around keys and values do not count')
    call MPI_Info_get_valuelen(info, ' key', length, flag, rc)
    call check_int(length, 10, 'length of a value')
    length = len(value)
    call MPI_Info_get_string(info, 'key', length, value, flag, rc)
    call check(flag .and. value == 'some value', 'MPI_Info_get_string')
    call check_int(length, 10, 'its length, without an end')
    length = 4
    value = 'x'
    call MPI_Info_get_string(info, 'key', length, value, flag, rc)
    call check(value == 'some', 'as many characters as there is room for: '//value)
    call check_int(length, 10, 'how many there are')
    length = 0
    value = 'x'
    call MPI_Info_get_string(info, 'key', length, value, flag, rc)
    call check(flag .and. value == 'x' .and. length == 10, 'only the length')
    call MPI_Info_get(info, 'another', len(value), value, flag, rc)
    call check(.not. flag .and. value == 'x', 'a key that is not there')
    long = repeat('ab', 300)
    call MPI_Info_set(info, 'long', long, rc)
    version = ' '
    length = len(version)
    call MPI_Info_get_string(info, 'long', length, version, flag, rc)
    call check(flag .and. version == long, 'a long value')
    call MPI_Info_get_nkeys(info, n, rc)
    call check_int(n, 2, 'number of keys')
    call MPI_Info_get_nthkey(info, 0, name, rc)
    call check(name == 'key' .or. name == 'long', 'keys are counted from 0')
    call MPI_Info_free(info, rc)

    call MPI_Get_library_version(version, length, rc)
    call check(length > 0 .and. len_trim(version) == length, 'version of the library')
    call MPI_Get_processor_name(processor, length, rc)
    call check(length > 0 .and. len_trim(processor) == length, 'name of the processor')
    call MPI_Type_get_name(MPI_INTEGER, name, length, rc)
    call check(name == 'MPI_INTEGER', 'name of a datatype')
    call MPI_Type_size(MPI_CHARACTER, size, rc)
    call check_int(size, 1, 'size of MPI_CHARACTER')
    value = 'over there'
    call MPI_Bcast(value, len(value), MPI_CHARACTER, 0, MPI_COMM_WORLD, rc)
    call check(value == 'over there', 'a text as a buffer')
    call MPI_Info_create_env(info, rc)
    call check_int(rc, MPI_SUCCESS, 'MPI_Info_create_env without arguments')
    call MPI_Info_free(info, rc)
    call MPI_Finalize(rc)
end program
