! SPDX-License-Identifier: BSD-3-Clause
! A derived datatype describes the elements of a section as if they stood one after the other (MPI 5.0 §19.1.12).
program section_types_f08
    use mpi_f08
    implicit none
    integer :: a(4, 6), b(12), c(3, 12), position, size
    type(MPI_Datatype) :: every_second, pairs
    type(MPI_Request) :: request
    character, allocatable :: packed(:)

    call MPI_Init()
    a = 0
    a(2, :) = [1, 2, 3, 4, 5, 6]
    call MPI_Type_vector(3, 1, 2, MPI_INTEGER, every_second)
    call MPI_Type_commit(every_second)
    b = 0
    call MPI_Irecv(b, 12, MPI_INTEGER, 0, 1, MPI_COMM_SELF, request)
    call MPI_Send(a(2, :), 1, every_second, 0, 1, MPI_COMM_SELF)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(b(1:4) == [1, 3, 5, 0]), 'every second element of a row')

    call MPI_Type_contiguous(2, MPI_INTEGER, pairs)
    call MPI_Type_commit(pairs)
    c = -1
    call MPI_Irecv(b, 12, MPI_INTEGER, 0, 1, MPI_COMM_SELF, request)
    call MPI_Send(a(2, :), 3, pairs, 0, 1, MPI_COMM_SELF)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(b(1:6) == [1, 2, 3, 4, 5, 6]), 'pairs of elements that lie apart')
    call MPI_Isend(b, 6, MPI_INTEGER, 0, 1, MPI_COMM_SELF, request)
    call MPI_Recv(c(2, 1:12:2), 3, pairs, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(c(2, 1:12:2) == [1, 2, 3, 4, 5, 6]) .and. all(c(2, 2:12:2) == -1), 'pairs, received')

    call MPI_Pack_size(6, MPI_INTEGER, MPI_COMM_SELF, size)
    allocate (packed(2 * size))
    position = 0
    call MPI_Pack(a(2, :), 6, MPI_INTEGER, packed(1:2 * size:2), size, position, MPI_COMM_SELF)
    position = 0
    c = -1
    call MPI_Unpack(packed(1:2 * size:2), size, position, c(3, 7:12), 6, MPI_INTEGER, MPI_COMM_SELF)
    call check(all(c(3, 7:12) == [1, 2, 3, 4, 5, 6]) .and. all(c(:, 1:6) == -1), 'packed and unpacked')
    call MPI_Type_free(every_second)
    call MPI_Type_free(pairs)
    deallocate (packed)
    call MPI_Finalize()
end program
