! SPDX-License-Identifier: BSD-3-Clause
! What cannot be done with a section that has gaps is an error with a text, and nothing is started. Odd sections and
! other arguments that can: of no elements, of 7 and 15 dimensions, of assumed size, scalars, special addresses.
program section_errors_f08
    use mpi_f08
    implicit none
    integer, asynchronous :: a(4, 6), b(4, 6), elements(8)
    integer :: rc
    type(MPI_Datatype) :: pairs
    type(MPI_Request) :: request
    type(MPI_Win) :: win

    call MPI_Init()
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    call MPI_Type_contiguous(2, MPI_INTEGER, pairs)
    call MPI_Type_commit(pairs)
    request = MPI_REQUEST_NULL
    a = 1
    call errors()
    call arguments()
    elements = [1, 2, 3, 4, 5, 6, 7, 8]
    call of_elements(elements, 8)
    call of_many_dimensions()
    call side_by_side()
    call MPI_Type_free(pairs)
    call MPI_Finalize()

contains

    subroutine check_text(what)
        character(len=*), intent(in) :: what
        character(len=MPI_MAX_ERROR_STRING) :: text
        integer :: length

        call check_class(rc, MPI_ERR_BUFFER, what)
        call MPI_Error_string(rc, text, length)
        call check(index(text, 'array section with gaps') > 0, what // ', its text: ' // trim(text))
    end subroutine

    subroutine errors()
        integer, asynchronous :: memory(24)

        call MPI_Win_create(a(2, :), 24_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, win, rc)
        call check_text('a window of a row')
        call MPI_Buffer_attach(a(2, :), 24, rc)
        call check_text('a row for buffered sends')
        call MPI_Win_create(memory, 96_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, win)
        call MPI_Win_fence(0, win)
        call MPI_Put(a(2, :), 3, MPI_INTEGER8, 0, 0_MPI_ADDRESS_KIND, 3, MPI_INTEGER8, win, rc)
        call check_text('one-sided, elements larger than those of the array')
        call MPI_Fetch_and_op(a(2, :), b(2, :), MPI_INTEGER8, 0, 0_MPI_ADDRESS_KIND, MPI_SUM, win, rc)
        call check_text('one-sided, a large element')
        call MPI_Win_fence(0, win)
        call MPI_Win_free(win)
        call MPI_Psend_init(a(2, :), 3, 1_MPI_COUNT_KIND, MPI_INTEGER8, 0, 0, MPI_COMM_SELF, MPI_INFO_NULL, request, rc)
        call check_text('partitions of large elements')
        call check(request == MPI_REQUEST_NULL, 'no request')
        call MPI_Send(a(1, :), -1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, rc)
        call check_class(rc, MPI_ERR_COUNT, 'a negative count of a section')
        call MPI_Send(a(1, :), 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_SELF, rc)
        call check_class(rc, MPI_ERR_TYPE, 'a section without a datatype')
        call MPI_Isend(a(1, :), -1, pairs, 0, 0, MPI_COMM_SELF, request, rc)
        call check_class(rc, MPI_ERR_COUNT, 'a negative count of a copied section')
        call MPI_Iallreduce(a(1, :), b(1, :), 6, MPI_INTEGER, MPI_OP_NULL, MPI_COMM_SELF, request, rc)
        call check_class(rc, MPI_ERR_OP, 'a section without an operator')
    end subroutine

    subroutine arguments()
        integer, asynchronous :: x

        call MPI_Isend(a(2, :), 3, pairs, MPI_PROC_NULL, 0, MPI_COMM_SELF, request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call MPI_Isend(a(:, 2:3), 4, pairs, MPI_PROC_NULL, 0, MPI_COMM_SELF, request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call MPI_Iallreduce(a(1:0, ::2), b(:, 6:1), 0, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        b = 5
        call MPI_Iallreduce(MPI_IN_PLACE, b(4, 6:1:-1), 6, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        x = 7
        call MPI_Iallreduce(x, b(2, 3), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call check(b(2, 3) == 7 .and. count(b == 5) == 23, 'in place, and scalars')
        call MPI_Isend(MPI_BOTTOM, 0, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_SELF, request)
        call MPI_Request_free(request)
        call MPI_Ireduce_scatter_block(a(2, :), b(1, ::6), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call check(b(1, 1) == 1 .and. b(1, 2) == 5, 'more elements than the section has are not touched')
    end subroutine

    ! Of assumed size, whole and in part.
    subroutine of_elements(x, n)
        integer, intent(in) :: n
        integer, asynchronous :: x(*)

        call MPI_Irecv(x(n:1:-2), 2, pairs, 0, 1, MPI_COMM_SELF, request)
        call MPI_Send([10, 20, 30, 40], 4, MPI_INTEGER, 0, 1, MPI_COMM_SELF)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call check(all(x(1:8) == [1, 40, 3, 30, 5, 20, 7, 10]), 'a part of assumed size')
        call MPI_Irecv(x, 4, pairs, 0, 1, MPI_COMM_SELF, request)
        call MPI_Send([8, 7, 6, 5, 4, 3, 2, 1], 8, MPI_INTEGER, 0, 1, MPI_COMM_SELF)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call check(all(x(1:8) == [8, 7, 6, 5, 4, 3, 2, 1]), 'assumed size')
    end subroutine

    subroutine of_many_dimensions()
        integer, asynchronous :: x(2, 2, 2, 2, 2, 2, 2), y(2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2)
        integer :: i

        x = reshape([(i, i=1, 128)], shape(x))
        y = 0
        call MPI_Iallreduce(x(2, 1:2, :, 2:1:-1, :, 1, :), y(1, :, :, :, :, :, :, :, 2:1:-1, :, 1, :, 2, :, :), 32, &
            MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call check(all(pack(y(1, :, :, :, :, :, :, :, 2:1:-1, :, 1, :, 2, :, :), .true.) == &
            pack(x(2, 1:2, :, 2:1:-1, :, 1, :), .true.)) .and. count(y == 0) == 224, '7 and 15 dimensions')
    end subroutine

    ! Two receives into the same section, each with a datatype that leaves the other's elements out; words of text.
    subroutine side_by_side()
        type(MPI_Datatype) :: every_second
        type(MPI_Request) :: requests(2)
        integer, asynchronous :: x(2, 8)
        character(len=3), asynchronous :: words(6)

        call MPI_Type_vector(4, 1, 2, pairs, every_second)
        call MPI_Type_commit(every_second)
        x = 0
        call MPI_Irecv(x(2, 1:8), 1, every_second, 0, 1, MPI_COMM_SELF, requests(1))
        call MPI_Irecv(x(2, 8:1:-1), 1, every_second, 0, 2, MPI_COMM_SELF, requests(2))
        call MPI_Send([1, 2, 3, 4], 4, MPI_INTEGER, 0, 2, MPI_COMM_SELF)
        call MPI_Send([5, 6, 7, 8], 4, MPI_INTEGER, 0, 1, MPI_COMM_SELF)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
        call check(all(x(2, :) == [5, 6, 4, 3, 7, 8, 2, 1]) .and. all(x(1, :) == 0), 'side by side')
        call MPI_Type_free(every_second)
        words = 'abc'
        call MPI_Irecv(words(6:1:-2)(2:3), 6, MPI_CHARACTER, 0, 1, MPI_COMM_SELF, request)
        call MPI_Send('uvwxyz', 6, MPI_CHARACTER, 0, 1, MPI_COMM_SELF)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call check(all(words == ['abc', 'ayz', 'abc', 'awx', 'abc', 'auv']), 'parts of words')
    end subroutine
end program
