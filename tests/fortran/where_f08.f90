! SPDX-License-Identifier: BSD-3-Clause
! A fatal error names the line of the Fortran program, not a place in the library; args: section, send or abort.
program where_f08
    use mpi_f08
    implicit none
    real, asynchronous :: a(3, 3)
    type(MPI_Win) :: win
    character(len=20) :: what

    call MPI_Init()
    call get_command_argument(1, what)
    if (what == 'section') call MPI_Win_create(a(2, :), 12_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    if (what == 'send') call MPI_Send(a, 3, MPI_REAL, 99, 0, MPI_COMM_WORLD)
    if (what == 'abort') call MPI_Abort(MPI_COMM_WORLD, 5)
    call MPI_Finalize()
end program
