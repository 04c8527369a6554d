! SPDX-License-Identifier: BSD-3-Clause
! Module mpi (MPI 5.0 §19.1.3): interfaces with names of arguments, sizes of kinds, what the C library knows of Fortran.
program hello_mpi
    use mpi
    implicit none
    integer :: rank, ranks, total, major, minor, rc, size, info
    integer(MPI_ADDRESS_KIND) :: address
    real(8) :: many(3, 4)
    logical :: flag
    character(len=16) :: value

    call MPI_Init(rc)
    call MPI_Comm_rank(comm=MPI_COMM_WORLD, rank=rank, ierror=rc)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, rc)
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, rc)
    call check_int(total, ranks * (ranks - 1) / 2, 'sum of ranks')
    call MPI_Abi_get_version(major, minor, rc)
    call check_int(major, MPI_ABI_VERSION, 'version of the ABI')

    call MPI_Sizeof(many, size, rc)
    call check_int(size, 8, 'MPI_Sizeof of an array')
    call MPI_Sizeof(rank, size, rc)
    call check_int(size, 4, 'MPI_Sizeof of an integer')
    call MPI_Sizeof((1.0, 2.0), size, rc)
    call check_int(size, 8, 'MPI_Sizeof of a complex number')
    call MPI_Type_size(MPI_DOUBLE_PRECISION, size, rc)
    call check_int(size, storage_size(1d0) / 8, 'size of MPI_DOUBLE_PRECISION')

    call MPI_Abi_get_fortran_info(info, rc)
    call check(info /= MPI_INFO_NULL, 'the C library knows of Fortran''s types')
    call MPI_Info_get(info, 'mpi_integer_size', len(value), value, flag, rc)
    call check(flag .and. value == '4', 'size of an INTEGER: '//value)
    call MPI_Info_free(info, rc)
    call check_int(info, MPI_INFO_NULL, 'a handle that was freed')

    call MPI_Get_address(many(1, 2), address, rc)
    call check(MPI_Aint_diff(address, MPI_Aint_add(address, -24_MPI_ADDRESS_KIND)) == 24, 'difference of addresses')
    call check(.not. MPI_SUBARRAYS_SUPPORTED, 'module mpi does not know sections')
    call PMPI_Finalize(rc)
end program
