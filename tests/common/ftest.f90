! SPDX-License-Identifier: BSD-3-Clause
! Checks for the programs of tests/fortran; external, so that fixed form and mpif.h can use them too.

! Ends the job with a line that says what was not so.
subroutine check(is_so, what)
    use mpi, only: MPI_COMM_WORLD, MPI_Abort
    implicit none
    logical, intent(in) :: is_so
    character(len=*), intent(in) :: what
    integer :: rc

    if (is_so) return
    write (*, '(3a)') 'not so: ', what
    flush (6)
    call MPI_Abort(MPI_COMM_WORLD, 1, rc)
end subroutine

! Two numbers that should be the same.
subroutine check_int(got, want, what)
    implicit none
    integer, intent(in) :: got, want
    character(len=*), intent(in) :: what
    character(len=200) :: text

    write (text, '(a,a,i0,a,i0)') what, ': expected ', want, ', got ', got
    call check(got == want, trim(text))
end subroutine

! The class of an error code.
subroutine check_class(rc, want, what)
    use mpi, only: MPI_Error_class
    implicit none
    integer, intent(in) :: rc, want
    character(len=*), intent(in) :: what
    integer :: class, ignored

    call MPI_Error_class(rc, class, ignored)
    call check_int(class, want, what)
end subroutine
