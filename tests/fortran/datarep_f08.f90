! SPDX-License-Identifier: BSD-3-Clause
! Data representations of the user (MPI 5.0 §14.5.3): conversion from and to a file by Fortran functions.
module representation
    use, intrinsic :: iso_c_binding
    use mpi_f08
    implicit none
    integer :: extents = 0, reads = 0, writes = 0
contains
    subroutine extent_of(datatype, extent, extra_state, ierror)
        type(MPI_Datatype) :: datatype
        integer(MPI_ADDRESS_KIND) :: extent, extra_state
        integer :: ierror, size

        call check(extra_state == 9, 'extra state of an extent')
        call MPI_Type_size(datatype, size)
        extent = size
        extents = extents + 1
        ierror = MPI_SUCCESS
    end subroutine

    ! In the file every integer is negated.
    subroutine move(from, to, first, count)
        type(c_ptr), intent(in) :: from, to
        integer, intent(in) :: first, count
        integer, pointer :: a(:), b(:)

        call c_f_pointer(from, a, [count])
        call c_f_pointer(to, b, [first + count])
        b(first + 1:first + count) = -a
    end subroutine

    subroutine read_it(userbuf, datatype, count, filebuf, position, extra_state, ierror)
        type(c_ptr), value :: userbuf, filebuf
        type(MPI_Datatype) :: datatype
        integer :: count, ierror
        integer(MPI_OFFSET_KIND) :: position
        integer(MPI_ADDRESS_KIND) :: extra_state

        call check(extra_state == 9 .and. datatype == MPI_INTEGER, 'arguments of a reading conversion')
        call move(filebuf, userbuf, int(position), count)
        reads = reads + 1
        ierror = MPI_SUCCESS
    end subroutine

    subroutine write_it(userbuf, datatype, count, filebuf, position, extra_state, ierror)
        type(c_ptr), value :: userbuf, filebuf
        type(MPI_Datatype) :: datatype
        integer :: count, ierror
        integer(MPI_OFFSET_KIND) :: position
        integer(MPI_ADDRESS_KIND) :: extra_state
        integer, pointer :: a(:), b(:)

        call check(extra_state == 9 .and. datatype == MPI_INTEGER, 'arguments of a writing conversion')
        call c_f_pointer(userbuf, a, [int(position) + count])
        call c_f_pointer(filebuf, b, [count])
        b = -a(position + 1:)
        writes = writes + 1
        ierror = MPI_SUCCESS
    end subroutine
end module

program datarep_f08
    use representation
    implicit none
    integer :: rc, values(6), got(6)
    character(len=60) :: name
    type(MPI_File) :: file

    call MPI_Init()
    call MPI_Register_datarep('negated ', read_it, write_it, extent_of, 9_MPI_ADDRESS_KIND, rc)
    call check_int(rc, MPI_SUCCESS, 'MPI_Register_datarep')
    call MPI_Register_datarep('negated', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, 9_MPI_ADDRESS_KIND, rc)
    call check_class(rc, MPI_ERR_DUP_DATAREP, 'the same name again')
    call MPI_Register_datarep('as it is', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, 9_MPI_ADDRESS_KIND, rc)
    call check_int(rc, MPI_SUCCESS, 'MPI_CONVERSION_FN_NULL')
    call MPI_Register_datarep_c('as it is, too', MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C, extent_of, &
                                9_MPI_ADDRESS_KIND, rc)
    call check_int(rc, MPI_SUCCESS, 'MPI_CONVERSION_FN_NULL_C')
    write (name, '(a,i0)') '/tmp/parley-datarep-', getpid() ! a function of gfortran
    call MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file)
    values = [1, 2, 3, 4, 5, 6]
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'negated', MPI_INFO_NULL, rc)
    call check_int(rc, MPI_SUCCESS, 'a view with it')
    call MPI_File_write_at(file, 0_MPI_OFFSET_KIND, values, 6, MPI_INTEGER, MPI_STATUS_IGNORE)
    call MPI_File_read_at(file, 0_MPI_OFFSET_KIND, got, 6, MPI_INTEGER, MPI_STATUS_IGNORE)
    call check(all(got == values), 'there and back')
    call check(reads > 0 .and. writes > 0 .and. extents > 0, 'all three were called')
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
    call MPI_File_read_at(file, 0_MPI_OFFSET_KIND, got, 6, MPI_INTEGER, MPI_STATUS_IGNORE)
    call check(all(got == -values), 'what is in the file')
    call MPI_File_close(file)
    call MPI_Finalize()
end program
