! SPDX-License-Identifier: BSD-3-Clause
! Reduction operators of the user (MPI 5.0 §6.9.5), several of them, with predefined and derived datatypes.
module operators
    use mpi
    implicit none
    integer :: expected_type
contains
    ! Addition and multiplication modulo 1000; the datatype must be the one of the call.
    subroutine add(invec, inoutvec, length, datatype)
        integer :: length, datatype
        integer :: invec(length), inoutvec(length)

        call check_int(datatype, expected_type, 'datatype that an operator got')
        inoutvec = mod(invec + inoutvec, 1000)
    end subroutine

    subroutine multiply(invec, inoutvec, length, datatype)
        integer :: length, datatype
        integer :: invec(length), inoutvec(length)

        call check_int(datatype, expected_type, 'datatype that an operator got')
        inoutvec = mod(invec * inoutvec, 1000)
    end subroutine

    ! 2 by 2 matrices: not commutative.
    subroutine matrices(invec, inoutvec, length, datatype)
        integer :: length, datatype
        integer :: invec(2, 2, length), inoutvec(2, 2, length)
        integer :: i

        call check_int(datatype, expected_type, 'datatype that an operator got')
        do i = 1, length
            inoutvec(:, :, i) = mod(matmul(invec(:, :, i), inoutvec(:, :, i)), 1000)
        end do
    end subroutine
end module

program callbacks_mpi
    use mpi
    use operators
    implicit none
    integer :: rank, ranks, rc, i, plus, times, product, matrix, in(5), out(5), a(2, 2), b(2, 2), want(2, 2)
    logical :: commutes

    call MPI_Init(rc)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, rc)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, rc)
    call MPI_Op_create(add, .true., plus, rc)
    call MPI_Op_create(multiply, .true., times, rc)
    call MPI_Op_create(matrices, .false., product, rc)
    call MPI_Op_commutative(plus, commutes, rc)
    call check(commutes, 'a commutative operator')
    call MPI_Op_commutative(product, commutes, rc)
    call check(.not. commutes, 'one that is not')

    expected_type = MPI_INTEGER
    in = [(rank + i, i=1, 5)]
    call MPI_Allreduce(in, out, 5, MPI_INTEGER, plus, MPI_COMM_WORLD, rc)
    call check(all(out == [(mod(ranks * (ranks - 1) / 2 + ranks * i, 1000), i=1, 5)]), 'sum modulo')
    in = 3
    call MPI_Scan(in, out, 5, MPI_INTEGER, times, MPI_COMM_WORLD, rc)
    call check(all(out == mod(3**(rank + 1), 1000)), 'product modulo')

    call MPI_Type_contiguous(4, MPI_INTEGER, matrix, rc)
    call MPI_Type_commit(matrix, rc)
    expected_type = matrix
    a = reshape([1, rank, 2, 1], [2, 2])
    call MPI_Allreduce(a, b, 1, matrix, product, MPI_COMM_WORLD, rc)
    want = reshape([1, 0, 2, 1], [2, 2])
    do i = 1, ranks - 1
        want = mod(matmul(want, reshape([1, i, 2, 1], [2, 2])), 1000)
    end do
    call check(all(b == want), 'product of matrices in order')
    call MPI_Op_free(plus, rc)
    call check_int(plus, MPI_OP_NULL, 'freed operator')
    call MPI_Op_free(times, rc)
    call MPI_Op_free(product, rc)
    do i = 1, 300    ! the same function again: no place of its own is used up
        call MPI_Op_create(add, .true., plus, rc)
        call check_int(rc, MPI_SUCCESS, 'an operator made again')
        call MPI_Op_free(plus, rc)
    end do
    call MPI_Type_free(matrix, rc)
    call MPI_Finalize(rc)
end program
