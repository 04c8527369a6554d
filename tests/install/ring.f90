! SPDX-License-Identifier: BSD-3-Clause
! As ring.c; the test puts the way into MPI in place of the line before the declarations.
program ring
    implicit none
    integer :: rank, ranks, total, rc

    call MPI_Init(rc)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, rc)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, rc)
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, rc)
    if (rank == 0) print '(a,i0,a,i0)', 'the sum of ', ranks, ' ranks is ', total
    call MPI_Finalize(rc)
end program
