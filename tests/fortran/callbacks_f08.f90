! SPDX-License-Identifier: BSD-3-Clause
! Callbacks with mpi_f08: their abstract interfaces, predefined ones, operators of pointers.
module f08_callbacks
    use, intrinsic :: iso_c_binding
    use mpi_f08
    implicit none
    integer :: errors = 0, deletions = 0, calls = 0
    type(MPI_Comm) :: seen
contains
    subroutine larger(invec, inoutvec, len, datatype)
        type(c_ptr), value :: invec, inoutvec
        integer :: len
        type(MPI_Datatype) :: datatype
        real, pointer :: a(:), b(:)

        call check(datatype == MPI_REAL, 'datatype of an operator')
        call c_f_pointer(invec, a, [len])
        call c_f_pointer(inoutvec, b, [len])
        where (abs(a) > abs(b)) b = a
    end subroutine

    subroutine smaller(invec, inoutvec, len, datatype)
        type(c_ptr), value :: invec, inoutvec
        integer :: len
        type(MPI_Datatype) :: datatype
        real, pointer :: a(:), b(:)

        call check(datatype == MPI_REAL, 'datatype of an operator')
        calls = calls + 1
        call c_f_pointer(invec, a, [len])
        call c_f_pointer(inoutvec, b, [len])
        where (a < b) b = a
    end subroutine

    subroutine handle(comm, error_code)
        type(MPI_Comm) :: comm
        integer :: error_code

        seen = comm
        errors = errors + merge(1, 100, error_code /= MPI_SUCCESS)
    end subroutine

    subroutine copy(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
        type(MPI_Comm) :: oldcomm
        integer :: comm_keyval, ierror
        integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
        logical :: flag

        attribute_val_out = attribute_val_in * extra_state
        flag = oldcomm == MPI_COMM_SELF .and. comm_keyval /= MPI_KEYVAL_INVALID
        ierror = MPI_SUCCESS
    end subroutine

    subroutine delete(comm, comm_keyval, attribute_val, extra_state, ierror)
        type(MPI_Comm) :: comm
        integer :: comm_keyval, ierror
        integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state

        call check(comm /= MPI_COMM_NULL .and. extra_state == 3, 'arguments of a delete callback')
        deletions = deletions + merge(1, 100, attribute_val == 7 .or. attribute_val == 21)
        ierror = MPI_SUCCESS
    end subroutine

    subroutine query(extra_state, status, ierror)
        integer(MPI_ADDRESS_KIND) :: extra_state
        type(MPI_Status) :: status
        integer :: ierror

        call MPI_Status_set_elements(status, MPI_BYTE, int(extra_state))
        call MPI_Status_set_cancelled(status, .false.)
        status%MPI_TAG = 17
        ierror = MPI_SUCCESS
    end subroutine

    subroutine free_it(extra_state, ierror)
        integer(MPI_ADDRESS_KIND) :: extra_state
        integer :: ierror

        ierror = merge(MPI_SUCCESS, MPI_ERR_OTHER, extra_state == 12)
    end subroutine

    subroutine cancel(extra_state, complete, ierror)
        integer(MPI_ADDRESS_KIND) :: extra_state
        logical :: complete
        integer :: ierror

        ierror = merge(MPI_SUCCESS, MPI_ERR_OTHER, extra_state == 12 .and. .not. complete)
    end subroutine
end module

program callbacks_f08
    use f08_callbacks
    implicit none
    integer :: rank, ranks, total, keyval, dup_key, count, rc
    integer(MPI_ADDRESS_KIND) :: value
    real :: in(3), out(3)
    logical :: flag
    type(MPI_Comm) :: comm
    type(MPI_Errhandler) :: handler
    type(MPI_Op) :: op, other
    type(MPI_Request) :: request
    type(MPI_Status) :: status

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call MPI_Op_create(larger, .true., op)
    call MPI_Op_create(smaller, .true., other)
    in = [real(rank), -real(rank), 1.0]
    call MPI_Allreduce(in, out, 3, MPI_REAL, op, MPI_COMM_WORLD)
    call check(all(out == [real(ranks - 1), -real(ranks - 1), 1.0]), 'larger')
    call MPI_Allreduce(in, out, 3, MPI_REAL, other, MPI_COMM_WORLD)
    call check(all(out == [0.0, -real(ranks - 1), 1.0]), 'smaller')
    call MPI_Allreduce(calls, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD) ! by whom is the library's affair
    call check(ranks == 1 .or. total > 0, 'the operator was called')
    call MPI_Op_free(op)
    call MPI_Op_free(other)

    call MPI_Comm_dup(MPI_COMM_SELF, comm)
    call MPI_Comm_create_errhandler(handle, handler)
    call MPI_Comm_set_errhandler(comm, handler)
    call MPI_Send(in, 1, MPI_REAL, 99, 0, comm, rc)
    call check_class(rc, MPI_ERR_RANK, 'code')
    call check(errors == 1 .and. seen == comm, 'error handler')
    call MPI_Errhandler_free(handler)
    call MPI_Comm_free(comm)

    call MPI_Comm_create_keyval(copy, delete, keyval, 3_MPI_ADDRESS_KIND)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, dup_key, 0_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, 7_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_SELF, dup_key, -1_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(MPI_COMM_SELF, comm)
    call MPI_Comm_get_attr(comm, keyval, value, flag)
    call check(flag .and. value == 21, 'copied attribute')
    call MPI_Comm_get_attr(comm, dup_key, value, flag)
    call check(flag .and. value == -1, 'MPI_COMM_DUP_FN')
    call MPI_Comm_free(comm)
    call MPI_Comm_delete_attr(MPI_COMM_SELF, keyval)
    call check_int(deletions, 2, 'deletions')
    call MPI_Comm_free_keyval(keyval)
    call MPI_Comm_free_keyval(dup_key)

    call MPI_Grequest_start(query, free_it, cancel, 12_MPI_ADDRESS_KIND, request)
    call MPI_Cancel(request)
    call MPI_Grequest_complete(request)
    call MPI_Wait(request, status, rc)
    call check_int(rc, MPI_SUCCESS, 'generalized request')
    call MPI_Get_count(status, MPI_BYTE, count)
    call check(count == 12 .and. status%MPI_TAG == 17, 'status of a generalized request')
    call MPI_Finalize()
end program
