! SPDX-License-Identifier: BSD-3-Clause
! Fortran and C in one program (MPI 5.0 §19.3, §20.4.5): handles as integers, predefined ones the same in both, statuses,
! a communicator of one used by the other, an attribute of C seen here. And module mpi beside mpi_f08.
program mixed_f08
    use, intrinsic :: iso_c_binding
    use mpi_f08
    implicit none
    interface
        type(c_ptr) function comm_of(number) bind(C, name="MPI_Comm_fromint")
            import
            integer(c_int), value :: number
        end function
        integer(c_int) function number_of(comm) bind(C, name="MPI_Comm_toint")
            import
            type(c_ptr), value :: comm
        end function
        integer(c_int) function number_of_type(type) bind(C, name="MPI_Type_toint")
            import
            type(c_ptr), value :: type
        end function
        integer(c_int) function c_dup(comm, made) bind(C, name="MPI_Comm_dup")
            import
            type(c_ptr), value :: comm
            type(c_ptr) :: made
        end function
        integer(c_int) function c_contiguous(count, old, made) bind(C, name="MPI_Type_contiguous")
            import
            integer(c_int), value :: count
            type(c_ptr), value :: old
            type(c_ptr) :: made
        end function
        integer(c_int) function c_probe(source, tag, comm, status) bind(C, name="MPI_Probe")
            import
            integer(c_int), value :: source, tag
            type(c_ptr), value :: comm
            type(MPI_Status) :: status
        end function
    end interface
    integer :: rank, ranks, size, sum, n
    type(c_ptr) :: made, type_of_c
    type(MPI_Comm) :: comm
    type(MPI_Datatype) :: type
    type(MPI_Request) :: request
    type(MPI_Status) :: status

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call check(transfer(comm_of(MPI_COMM_WORLD%MPI_VAL), 0_c_intptr_t) == MPI_COMM_WORLD%MPI_VAL, 'MPI_COMM_WORLD is 257')
    call check_int(int(c_dup(comm_of(MPI_COMM_WORLD%MPI_VAL), made)), MPI_SUCCESS, 'MPI_Comm_dup in C')
    comm%MPI_VAL = number_of(made)
    call check(comm%MPI_VAL > 4095, 'numbers of own handles')
    call MPI_Comm_size(comm, size)
    call check_int(size, ranks, 'a communicator of C')
    call MPI_Allreduce(1, sum, 1, MPI_INTEGER, MPI_SUM, comm)
    call check_int(sum, ranks, 'MPI_Allreduce on it')
    call check_int(int(c_contiguous(3, transfer(int(MPI_INTEGER%MPI_VAL, c_intptr_t), made), type_of_c)), MPI_SUCCESS, &
                   'MPI_Type_contiguous in C')
    type%MPI_VAL = number_of_type(type_of_c)
    call MPI_Type_size(type, size)
    call check_int(size, 12, 'a datatype of C')
    call MPI_Isend([1, 2, 3], 3, MPI_INTEGER, rank, 4, comm, request)
    call check_int(int(c_probe(rank, 4, made, status)), MPI_SUCCESS, 'MPI_Probe in C')
    call MPI_Get_count(status, MPI_INTEGER, n)
    call check(n == 3 .and. status%MPI_TAG == 4, 'a status of C')
    call take(comm%MPI_VAL)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Type_free(type)
    call MPI_Comm_free(comm)
    call MPI_Finalize()

contains

    ! The same handle in a unit that uses module mpi.
    subroutine take(number)
        use mpi, only: old_recv => MPI_Recv, old_integer => MPI_INTEGER, old_ignore => MPI_STATUS_IGNORE, &
            old_any => MPI_ANY_SOURCE
        integer, intent(in) :: number
        integer :: values(3), rc

        call old_recv(values, 3, old_integer, old_any, 4, number, old_ignore, rc)
        call check(all(values == [1, 2, 3]), 'received through module mpi')
    end subroutine
end program
