! SPDX-License-Identifier: BSD-3-Clause
! Many requests at once (more than fit on the stack of the library), MPI_Testall, statuses between mpi and mpi_f08.
program several_mpi
    use mpi
    implicit none
    integer, parameter :: many = 200
    integer :: rank, ranks, next, prev, rc, i, count, elements
    integer :: requests(2 * many), statuses(MPI_STATUS_SIZE, 2 * many), in(many), out(many)
    type(MPI_Status) :: status
    logical :: flag, is_cancelled

    call MPI_Init(rc)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, rc)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, rc)
    next = mod(rank + 1, ranks)
    prev = mod(rank + ranks - 1, ranks)
    do i = 1, many
        out(i) = 1000 * rank + i
        call MPI_Irecv(in(i), 1, MPI_INTEGER, prev, many - i, MPI_COMM_WORLD, requests(i), rc)
    end do
    do i = 1, many
        call MPI_Isend(out(i), 1, MPI_INTEGER, next, many - i, MPI_COMM_WORLD, requests(many + i), rc)
    end do
    flag = .false.
    do while (.not. flag)
        call MPI_Testall(2 * many, requests, flag, statuses, rc)
    end do
    do i = 1, many
        call check_int(in(i), 1000 * prev + i, 'contents')
        call check_int(statuses(MPI_TAG, i), many - i, 'tag')
        call check_int(requests(i), MPI_REQUEST_NULL, 'request')
    end do

    call MPI_Status_f2f08(statuses(:, 3), status, rc)
    call check_int(status%MPI_SOURCE, prev, 'source, as a field')
    call check_int(status%MPI_TAG, many - 3, 'tag, as a field')
    call MPI_Status_set_elements(statuses(:, 1), MPI_REAL, 12, rc)
    call MPI_Status_set_cancelled(statuses(:, 1), .true., rc)
    call MPI_Get_count(statuses(:, 1), MPI_REAL, count, rc)
    call check_int(count, 12, 'count that was set')
    call MPI_Get_elements(statuses(:, 1), MPI_REAL, elements, rc)
    call check_int(elements, 12, 'elements that were set')
    call MPI_Test_cancelled(statuses(:, 1), is_cancelled, rc)
    call check(is_cancelled, 'cancelled')
    call MPI_Status_f082f(status, statuses(:, 1), rc)
    call check_int(statuses(MPI_SOURCE, 1), prev, 'source, back in an array')
    call MPI_Waitall(2 * many, requests, MPI_STATUSES_IGNORE, rc)
    call check_int(rc, MPI_SUCCESS, 'waiting for null requests')
    call MPI_Finalize(rc)
end program
