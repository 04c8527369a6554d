! SPDX-License-Identifier: BSD-3-Clause
! Generalized requests (MPI 5.0 §13.2) whose callbacks are Fortran's.
module steps
    use mpi
    implicit none
    integer :: freed = 0, cancelled = 0
contains
    subroutine query(extra_state, status, ierror)
        integer(MPI_ADDRESS_KIND) :: extra_state
        integer :: status(MPI_STATUS_SIZE), ierror, rc

        call MPI_Status_set_elements(status, MPI_INTEGER, int(extra_state), rc)
        call MPI_Status_set_cancelled(status, cancelled > 0, rc)
        status(MPI_SOURCE) = 3
        status(MPI_TAG) = 4
        ierror = MPI_SUCCESS
    end subroutine

    subroutine free_it(extra_state, ierror)
        integer(MPI_ADDRESS_KIND) :: extra_state
        integer :: ierror

        call check(extra_state == 5, 'extra state')
        freed = freed + 1
        ierror = MPI_SUCCESS
    end subroutine

    subroutine cancel(extra_state, complete, ierror)
        integer(MPI_ADDRESS_KIND) :: extra_state
        logical :: complete
        integer :: ierror

        call check(.not. complete, 'cancelled before it was complete')
        cancelled = cancelled + 1
        ierror = MPI_SUCCESS
    end subroutine
end module

program grequest_mpi
    use mpi
    use steps
    implicit none
    integer :: rc, request, status(MPI_STATUS_SIZE), count
    integer(MPI_ADDRESS_KIND) :: extra
    logical :: flag

    call MPI_Init(rc)
    extra = 5
    call MPI_Grequest_start(query, free_it, cancel, extra, request, rc)
    call MPI_Test(request, flag, status, rc)
    call check(.not. flag, 'not complete')
    call MPI_Grequest_complete(request, rc)
    call MPI_Wait(request, status, rc)
    call MPI_Get_count(status, MPI_INTEGER, count, rc)
    call check_int(count, 5, 'count that the callback set')
    call check_int(status(MPI_TAG), 4, 'tag that the callback set')
    call check_int(freed, 1, 'freed')
    call check_int(request, MPI_REQUEST_NULL, 'request')
    call MPI_Grequest_start(query, free_it, cancel, extra, request, rc)
    call MPI_Cancel(request, rc)
    call MPI_Grequest_complete(request, rc)
    call MPI_Wait(request, status, rc)
    call MPI_Test_cancelled(status, flag, rc)
    call check(flag .and. cancelled == 1, 'cancelled')
    call MPI_Finalize(rc)
end program
