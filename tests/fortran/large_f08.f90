! SPDX-License-Identifier: BSD-3-Clause
! Large counts (MPI 5.0 §19.2): the kind of an argument chooses the form; operators and data representations have names
! of their own.
module large_operator
    use mpi_f08
    implicit none
contains
    subroutine add(invec, inoutvec, len, datatype)
        use, intrinsic :: iso_c_binding
        type(c_ptr), value :: invec, inoutvec
        integer(MPI_COUNT_KIND) :: len
        type(MPI_Datatype) :: datatype
        integer, pointer :: a(:), b(:)

        call check(datatype == MPI_INTEGER, 'datatype of a large operator')
        call c_f_pointer(invec, a, [len])
        call c_f_pointer(inoutvec, b, [len])
        b = a + b
    end subroutine
end module

program large_f08
    use mpi_f08
    use large_operator
    implicit none
    integer(MPI_COUNT_KIND), parameter :: four = 4, huge_count = 2_MPI_COUNT_KIND**33
    integer(MPI_COUNT_KIND) :: count, size, extent, lb, lengths(2), places(2), numbers(4), large(4), position
    integer(MPI_ADDRESS_KIND) :: addresses(2), small_lb, small_extent
    integer :: rank, ranks, next, prev, in(4), out(4), combiner, integers(2), k
    integer(MPI_COUNT_KIND), allocatable :: counts(:)
    integer(MPI_ADDRESS_KIND), allocatable :: displs(:)
    integer, allocatable :: every(:)
    type(MPI_Datatype) :: type, types(2)
    type(MPI_Op) :: op
    type(MPI_Request) :: request
    type(MPI_Status) :: status

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    next = mod(rank + 1, ranks)
    prev = mod(rank + ranks - 1, ranks)
    out = rank + [1, 2, 3, 4]
    call MPI_Irecv(in, four, MPI_INTEGER, prev, 0, MPI_COMM_WORLD, request)
    call MPI_Send(out, four, MPI_INTEGER, next, 0, MPI_COMM_WORLD)
    call MPI_Wait(request, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call check(count == 4 .and. all(in == prev + [1, 2, 3, 4]), 'a large count of four')

    call MPI_Type_contiguous(huge_count, MPI_INTEGER, type)
    call MPI_Type_size(type, size)
    call check(size == 4 * huge_count, 'a large size')
    call MPI_Type_size(type, k)
    call check_int(k, MPI_UNDEFINED, 'a size that is too large')
    call MPI_Type_get_extent(type, small_lb, small_extent)
    call check(small_extent == 4 * huge_count, 'a large extent')
    call MPI_Type_get_envelope(type, numbers(1), numbers(2), numbers(3), numbers(4), combiner)
    call check(combiner == MPI_COMBINER_CONTIGUOUS .and. numbers(3) == 1, 'large envelope')
    call MPI_Type_get_contents(type, numbers(1), numbers(2), numbers(3), numbers(4), integers, addresses, large, types)
    call check(large(1) == huge_count .and. types(1) == MPI_INTEGER, 'large contents')
    call MPI_Type_free(type)

    lengths = [1, 2]
    places = [0_MPI_COUNT_KIND, 3 * huge_count]
    call MPI_Type_create_struct(2_MPI_COUNT_KIND, lengths, places, [MPI_INTEGER, MPI_REAL], type)
    call MPI_Type_get_true_extent(type, lb, extent)
    call check(extent == 3 * huge_count + 8, 'places far apart')
    call MPI_Type_free(type)

    call MPI_Op_create_c(add, .true., op)
    call MPI_Allreduce(out, in, four, MPI_INTEGER, op, MPI_COMM_WORLD)
    call check(all(in == [(ranks * k + ranks * (ranks - 1) / 2, k=1, 4)]), 'a large operator')
    call MPI_Op_free(op)

    allocate (counts(ranks), displs(ranks), every(2 * ranks))
    counts = 2
    displs = [(2_MPI_ADDRESS_KIND * (ranks - 1 - k), k=0, ranks - 1)]
    call MPI_Allgatherv([rank, -rank], 2_MPI_COUNT_KIND, MPI_INTEGER, every, counts, displs, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(every(1::2) == [(k, k=ranks - 1, 0, -1)]), 'large counts and displacements')

    position = 0
    every = 0
    call MPI_Pack(out, four, MPI_INTEGER, in, 16_MPI_COUNT_KIND, position, MPI_COMM_SELF)
    call check(position == 16, 'a large position')
    call MPI_Sizeof(position, k)
    call check_int(k, 8, 'size of a count')
    deallocate (counts, displs, every)
    call MPI_Finalize()
end program
