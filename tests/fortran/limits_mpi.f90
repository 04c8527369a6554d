! SPDX-License-Identifier: BSD-3-Clause
! More operators than the library has C functions for is an error with a text; the ones made before still work.
program limits_mpi
    use, intrinsic :: iso_c_binding
    use mpi
    implicit none
    interface
        ! As mpif.h's MPI_OP_CREATE, with any address for a function: none of them is ever called.
        subroutine op_create(fn, commute, op, ierror) bind(C, name="mpi_op_create_")
            import
            type(c_ptr), value :: fn
            integer(c_int) :: commute, op, ierror
        end subroutine
        subroutine errhandler_create(fn, handler, ierror) bind(C, name="mpi_comm_create_errhandler_")
            import
            type(c_ptr), value :: fn
            integer(c_int) :: handler, ierror
        end subroutine
    end interface
    integer :: rc, op, real_one, handler, made, length, in, out
    character(len=MPI_MAX_ERROR_STRING) :: text

    call MPI_Init(rc)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, rc)
    call MPI_Op_create(add, .true., real_one, rc)
    rc = MPI_SUCCESS
    made = 0
    do while (rc == MPI_SUCCESS .and. made < 1000)
        call op_create(transfer(int(4096 + 16 * made, c_intptr_t), c_null_ptr), 1, op, rc)
        if (rc == MPI_SUCCESS) call MPI_Op_free(op, rc)
        made = made + 1
    end do
    call check_class(rc, MPI_ERR_OTHER, 'one operator too many')
    call check_int(made, 256, 'how many there may be, with the one that was made before')
    call MPI_Error_string(rc, text, length, rc)
    call check(index(text, 'too many Fortran functions') > 0, 'text: '//trim(text))
    made = 0
    do while (rc == MPI_SUCCESS .and. made < 1000)
        call errhandler_create(transfer(int(4096 + 16 * made, c_intptr_t), c_null_ptr), handler, rc)
        if (rc == MPI_SUCCESS) call MPI_Errhandler_free(handler, rc)
        made = made + 1
    end do
    call check_class(rc, MPI_ERR_OTHER, 'one handler too many')
    call check_int(made, 65, 'how many handlers there may be, and one more')
    in = 21
    out = 21
    call MPI_Reduce_local(in, out, 1, MPI_INTEGER, real_one, rc)
    call check_int(out, 42, 'the first operator')
    call MPI_Op_free(real_one, rc)
    call MPI_Finalize(rc)

contains

    subroutine add(invec, inoutvec, length, datatype)
        integer :: length, datatype
        integer :: invec(length), inoutvec(length)

        call check_int(datatype, MPI_INTEGER, 'datatype')
        inoutvec = invec + inoutvec
    end subroutine
end program
