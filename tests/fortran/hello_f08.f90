! SPDX-License-Identifier: BSD-3-Clause
! Module mpi_f08 (MPI 5.0 §19.1.2): handles with types, optional ierror, comparison of handles.
program hello_f08
    use mpi_f08
    implicit none
    integer :: rank, ranks, total, size, provided
    type(MPI_Comm) :: comm
    type(MPI_Info) :: info

    call MPI_Init_thread(MPI_THREAD_SERIALIZED, provided)
    call check(provided >= MPI_THREAD_SERIALIZED, 'level of threads')
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call PMPI_Comm_size(MPI_COMM_WORLD, ranks)
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check_int(total, ranks * (ranks - 1) / 2, 'sum of ranks')
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call check(comm /= MPI_COMM_WORLD .and. .not. comm == MPI_COMM_NULL, 'a duplicate is another one')
    call check(MPI_COMM_WORLD == MPI_COMM_WORLD%MPI_VAL, 'a handle is its number')
    call MPI_Barrier(comm)
    call MPI_Comm_free(comm)
    call check(comm == MPI_COMM_NULL, 'freed')
    info = MPI_INFO_NULL
    call check(info == MPI_INFO_NULL, 'assigned')
    call MPI_Sizeof(1d0, size)
    call check_int(size, 8, 'MPI_Sizeof')
    call check(MPI_Wtime() > 0, 'MPI_Wtime')
    call check(MPI_SUBARRAYS_SUPPORTED .and. MPI_ASYNC_PROTECTS_NONBLOCKING, 'what mpi_f08 offers')
    call MPI_Finalize()
end program
