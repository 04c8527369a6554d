! SPDX-License-Identifier: BSD-3-Clause
! What a nonblocking call cannot do with a section that has gaps is an error with a text, and nothing is started.
program section_errors_f08
    use mpi_f08
    implicit none
    integer, asynchronous :: a(4, 6), b(4, 6)
    integer :: rc, length
    type(MPI_Datatype) :: pairs
    type(MPI_Request) :: request
    character(len=MPI_MAX_ERROR_STRING) :: text

    call MPI_Init()
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    request = MPI_REQUEST_NULL
    a = 1
    call MPI_Iallreduce(a(2, :), b(1, :), 6, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, request, rc)
    call check_class(rc, MPI_ERR_BUFFER, 'a nonblocking reduction of sections')
    call MPI_Error_string(rc, text, length)
    call check(index(text, 'array section with gaps') > 0, 'its text: '//trim(text))
    call check(request == MPI_REQUEST_NULL, 'no request')
    call MPI_Type_contiguous(2, MPI_INTEGER, pairs)
    call MPI_Type_commit(pairs)
    call MPI_Isend(a(2, :), 3, pairs, MPI_PROC_NULL, 0, MPI_COMM_SELF, request, rc)
    call check_class(rc, MPI_ERR_BUFFER, 'pairs that lie apart')
    call MPI_Isend(a(:, 2:3), 4, pairs, MPI_PROC_NULL, 0, MPI_COMM_SELF, request, rc)
    call check_int(rc, MPI_SUCCESS, 'a section without gaps')
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Iallreduce(a(:, 2), b(:, 3), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, request, rc)
    call check_int(rc, MPI_SUCCESS, 'a reduction of columns')
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Type_free(pairs)
    call MPI_Send(a(1, :), -1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, rc)
    call check_class(rc, MPI_ERR_COUNT, 'a negative count of a section')
    call MPI_Send(a(1, :), 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_SELF, rc)
    call check_class(rc, MPI_ERR_TYPE, 'a section without a datatype')
    call MPI_Finalize()
end program
