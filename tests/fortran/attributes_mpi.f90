! SPDX-License-Identifier: BSD-3-Clause
! Attributes (MPI 5.0 §7.7, §16.1) and what they are in the other language (§19.3.7): for C an attribute of Fortran is a
! pointer to its value, for Fortran one of C is the pointer as a number.
module copying
    use mpi
    implicit none
    integer :: copies = 0, deletions = 0, last_deleted = 0, failures = 0
contains
    subroutine copy_next(oldcomm, keyval, extra_state, value_in, value_out, flag, ierror)
        integer :: oldcomm, keyval, ierror
        integer(MPI_ADDRESS_KIND) :: extra_state, value_in, value_out
        logical :: flag

        call check(extra_state == 77, 'extra state of a copy')
        copies = copies + 1
        value_out = value_in + 1
        flag = .true.
        ierror = MPI_SUCCESS
    end subroutine

    subroutine delete_it(comm, keyval, value, extra_state, ierror)
        integer :: comm, keyval, ierror
        integer(MPI_ADDRESS_KIND) :: value, extra_state

        call check(extra_state == 77, 'extra state of a deletion')
        deletions = deletions + 1
        last_deleted = int(value)
        ierror = MPI_SUCCESS
    end subroutine

    subroutine delete_fails(comm, keyval, value, extra_state, ierror)
        integer :: comm, keyval, ierror
        integer(MPI_ADDRESS_KIND) :: value, extra_state

        failures = failures + 1
        ierror = merge(MPI_ERR_OTHER, MPI_SUCCESS, failures == 1)
    end subroutine

    subroutine old_copy(oldcomm, keyval, extra_state, value_in, value_out, flag, ierror)
        integer :: oldcomm, keyval, extra_state, value_in, value_out, ierror
        logical :: flag

        value_out = value_in + extra_state
        flag = .true.
        ierror = MPI_SUCCESS
    end subroutine
end module

program attributes_mpi
    use, intrinsic :: iso_c_binding
    use mpi
    use copying
    implicit none
    interface
        integer(c_int) function c_get(comm, keyval, value, flag) bind(C, name="MPI_Comm_get_attr")
            import
            type(c_ptr), value :: comm
            integer(c_int), value :: keyval
            type(c_ptr) :: value
            integer(c_int) :: flag
        end function
        integer(c_int) function c_set(comm, keyval, value) bind(C, name="MPI_Comm_set_attr")
            import
            type(c_ptr), value :: comm
            integer(c_int), value :: keyval
            type(c_ptr), value :: value
        end function
        type(c_ptr) function c_handle(number) bind(C, name="MPI_Comm_fromint")
            import
            integer(c_int), value :: number
        end function
    end interface
    integer :: rc, keyval, other, dup, value4, old
    integer(MPI_ADDRESS_KIND) :: value, extra
    integer(c_intptr_t), pointer :: pointed
    integer, target :: something
    type(c_ptr) :: seen
    integer(c_int) :: c_flag
    logical :: flag

    call MPI_Init(rc)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, rc)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, rc)
    call check(flag .and. value >= 32767, 'MPI_TAG_UB as a number')
    extra = 77
    call MPI_Comm_create_keyval(copy_next, delete_it, keyval, extra, rc)
    value = 2_MPI_ADDRESS_KIND**40 + 5
    call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, value, rc)
    value = 0
    call MPI_Comm_get_attr(MPI_COMM_SELF, keyval, value, flag, rc)
    call check(flag .and. value == 2_MPI_ADDRESS_KIND**40 + 5, 'a large attribute')
    call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, 41_MPI_ADDRESS_KIND, rc)
    call check_int(deletions, 1, 'deleted when it was replaced')
    call MPI_Comm_dup(MPI_COMM_SELF, dup, rc)
    call MPI_Comm_get_attr(dup, keyval, value, flag, rc)
    call check(flag .and. value == 42, 'changed by the copy callback')

    ! What C sees, and the other way round.
    call check_int(int(c_get(c_handle(dup), keyval, seen, c_flag)), MPI_SUCCESS, 'attribute of Fortran in C')
    call c_f_pointer(seen, pointed)
    call check(c_flag /= 0 .and. pointed == 42, 'C finds a pointer to the value')
    rc = c_set(c_handle(dup), keyval, c_loc(something))
    call MPI_Comm_get_attr(dup, keyval, value, flag, rc)
    call check(flag .and. value == transfer(c_loc(something), value), 'Fortran finds the pointer as a number')
    call MPI_Comm_free(dup, rc)
    call check_int(deletions, 3, 'deleted with the communicator')
    call MPI_Comm_delete_attr(MPI_COMM_SELF, keyval, rc)
    call check_int(last_deleted, 41, 'value of the one that was deleted')
    call MPI_Comm_free_keyval(keyval, rc)
    call check_int(keyval, MPI_KEYVAL_INVALID, 'freed key')

    ! Predefined callbacks, and an error of a callback.
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, extra, rc)
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_fails, other, extra, rc)
    call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, 6_MPI_ADDRESS_KIND, rc)
    call MPI_Comm_set_attr(MPI_COMM_SELF, other, 7_MPI_ADDRESS_KIND, rc)
    call MPI_Comm_dup(MPI_COMM_SELF, dup, rc)
    call MPI_Comm_get_attr(dup, keyval, value, flag, rc)
    call check(flag .and. value == 6, 'MPI_COMM_DUP_FN')
    call MPI_Comm_get_attr(dup, other, value, flag, rc)
    call check(.not. flag, 'MPI_COMM_NULL_COPY_FN')
    call MPI_Comm_free(dup, rc)
    call MPI_Comm_delete_attr(MPI_COMM_SELF, other, rc)
    call check_class(rc, MPI_ERR_OTHER, 'error of a delete callback')

    ! Of MPI-1: INTEGER.
    call MPI_Keyval_create(old_copy, MPI_NULL_DELETE_FN, old, 100, rc)
    call MPI_Attr_put(MPI_COMM_SELF, old, -5, rc)
    call MPI_Comm_dup(MPI_COMM_SELF, dup, rc)
    call MPI_Attr_get(dup, old, value4, flag, rc)
    call check(flag, 'an old attribute')
    call check_int(value4, 95, 'copied by an old callback')
    call MPI_Comm_get_attr(MPI_COMM_SELF, old, value, flag, rc)
    call check(flag .and. value == -5, 'an old attribute by the new call')
    call MPI_Attr_delete(dup, old, rc)
    call MPI_Attr_get(dup, old, value4, flag, rc)
    call check(.not. flag, 'a deleted one')
    call MPI_Comm_free(dup, rc)
    call MPI_Attr_delete(MPI_COMM_SELF, old, rc)
    call MPI_Keyval_free(old, rc)
    call on_types()
    call MPI_Finalize(rc)

contains

    subroutine on_types()
        integer :: type, copy, key

        call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, key, extra, rc)
        call MPI_Type_contiguous(3, MPI_REAL, type, rc)
        call MPI_Type_set_attr(type, key, -9_MPI_ADDRESS_KIND, rc)
        call MPI_Type_dup(type, copy, rc)
        call MPI_Type_get_attr(copy, key, value, flag, rc)
        call check(flag .and. value == -9, 'attribute of a datatype')
        call MPI_Type_free(copy, rc)
        call MPI_Type_free(type, rc)
        call MPI_Type_free_keyval(key, rc)
    end subroutine
end program
