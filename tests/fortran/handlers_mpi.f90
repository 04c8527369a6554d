! SPDX-License-Identifier: BSD-3-Clause
! Error handlers of the user (MPI 5.0 §9.3), for communicators, windows and files; error classes and texts.
module handling
    use mpi
    implicit none
    integer :: calls = 0, last_object = 0, last_code = 0
contains
    subroutine note(object, code)
        integer :: object, code

        calls = calls + 1
        last_object = object
        last_code = code
    end subroutine

    subroutine note_other(object, code)
        integer :: object, code

        calls = calls + 100
        last_object = object
        last_code = code
    end subroutine
end module

program handlers_mpi
    use mpi
    use handling
    implicit none
    integer :: rc, comm, handler, other, found, class, code, length, win, file
    character(len=MPI_MAX_ERROR_STRING) :: text
    integer, asynchronous :: memory(4)

    call MPI_Init(rc)
    call MPI_Comm_dup(MPI_COMM_SELF, comm, rc)
    call MPI_Comm_create_errhandler(note, handler, rc)
    call MPI_Comm_create_errhandler(note_other, other, rc)
    call MPI_Comm_set_errhandler(comm, handler, rc)
    call MPI_Comm_get_errhandler(comm, found, rc)
    call check_int(found, handler, 'the handler of a communicator')
    call MPI_Errhandler_free(found, rc)
    call MPI_Errhandler_free(handler, rc)
    call check_int(handler, MPI_ERRHANDLER_NULL, 'freed handler')
    call MPI_Send(memory, 1, MPI_INTEGER, 5, 0, comm, rc)
    call check_int(calls, 1, 'calls of the handler')
    call check_int(last_object, comm, 'communicator that it got')
    call check_int(last_code, rc, 'code that it got')
    call check_class(rc, MPI_ERR_RANK, 'code that came back')
    call MPI_Comm_set_errhandler(comm, other, rc)
    call MPI_Comm_call_errhandler(comm, MPI_ERR_TAG, rc)
    call check_int(calls, 101, 'calls of the other handler')
    call check_int(last_code, MPI_ERR_TAG, 'code that it was called with')
    call MPI_Errhandler_free(other, rc)
    call MPI_Comm_free(comm, rc)

    call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, win, rc)
    call MPI_Win_create_errhandler(note, handler, rc)
    call MPI_Win_set_errhandler(win, handler, rc)
    call MPI_Win_call_errhandler(win, MPI_ERR_DISP, rc)
    call check_int(calls, 102, 'calls of a handler of windows')
    call check_int(last_object, win, 'window that it got')
    call MPI_Errhandler_free(handler, rc)
    call MPI_Win_free(win, rc)

    call MPI_File_create_errhandler(note, handler, rc)
    call MPI_File_set_errhandler(MPI_FILE_NULL, handler, rc)
    call MPI_File_open(MPI_COMM_SELF, '/no/such/folder/file', MPI_MODE_RDONLY, MPI_INFO_NULL, file, rc)
    call check_class(rc, MPI_ERR_NO_SUCH_FILE, 'a file that is not there')
    call check_int(calls, 103, 'calls of a handler of files')
    call check_int(last_object, MPI_FILE_NULL, 'file that it got')
    call MPI_Errhandler_free(handler, rc)

    call MPI_Add_error_class(class, rc)
    call MPI_Add_error_code(class, code, rc)
    call MPI_Add_error_string(code, 'made by Fortran  ', rc)
    call MPI_Error_string(code, text, length, rc)
    call check(text == 'made by Fortran', 'text of an own code: '//trim(text))
    call check_int(length, len('made by Fortran'), 'length of that text')
    call check_class(code, class, 'class of an own code')
    call MPI_Finalize(rc)
end program
