! SPDX-License-Identifier: BSD-3-Clause
! Datatypes: those of Fortran's types, by precision and range, constructors with addresses, contents.
program types_mpi
    use mpi
    implicit none
    type :: particle
        sequence
        double precision :: place(3)
        integer :: kind
        character(len=4) :: name
    end type
    type(particle) :: some(3), got(3)
    integer :: rc, type, size, i, combiner, integers(3), types(3), request, n(4), status(MPI_STATUS_SIZE)
    integer(MPI_ADDRESS_KIND) :: addresses(3), lb, extent, base
    real(selected_real_kind(15, 300)) :: x, y
    integer(selected_int_kind(12)) :: long, longer
    logical :: flags(4), answers(4)
    complex :: z(2), w(2)

    call MPI_Init(rc)
    call MPI_Type_create_f90_real(15, 300, type, rc)
    x = 1.0 / 3.0
    call MPI_Sendrecv(x, 1, type, 0, 1, y, 1, type, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, rc)
    call check(x == y, 'a type by precision')
    call MPI_Type_create_f90_integer(12, type, rc)
    long = 123456789012_8
    call MPI_Sendrecv(long, 1, type, 0, 1, longer, 1, type, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, rc)
    call check(long == longer, 'a type by range')
    call MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, type, rc)
    call check_int(type, MPI_REAL8, 'MPI_Type_match_size')
    flags = [.true., .false., .true., .true.]
    call MPI_Allreduce(flags, answers, 4, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, rc)
    call check(all(answers .eqv. flags), 'MPI_LAND')
    z = [(1.0, 2.0), (3.0, -4.0)]
    call MPI_Reduce(z, w, 2, MPI_COMPLEX, MPI_PROD, 0, MPI_COMM_SELF, rc)
    call check(all(w == z), 'MPI_COMPLEX')

    ! A derived type of Fortran by addresses.
    call MPI_Get_address(some(1), base, rc)
    call MPI_Get_address(some(1)%place, addresses(1), rc)
    call MPI_Get_address(some(1)%kind, addresses(2), rc)
    call MPI_Get_address(some(1)%name, addresses(3), rc)
    addresses = [(MPI_Aint_diff(addresses(i), base), i=1, 3)]
    call MPI_Type_create_struct(3, [3, 1, 4], addresses, [MPI_DOUBLE_PRECISION, MPI_INTEGER, MPI_CHARACTER], type, rc)
    call MPI_Type_commit(type, rc)
    call MPI_Type_get_extent(type, lb, extent, rc)
    call check(lb == 0 .and. extent == storage_size(some) / 8, 'extent of a particle')
    do i = 1, 3
        some(i)%place = i * [1d0, 2d0, 3d0]
        some(i)%kind = -i
        some(i)%name = 'p'//char(48 + i)
    end do
    call MPI_Isend(some, 3, type, 0, 4, MPI_COMM_SELF, request, rc)
    call MPI_Recv(got, 3, type, 0, 4, MPI_COMM_SELF, status, rc)
    call MPI_Wait(request, MPI_STATUS_IGNORE, rc)
    call check(all(got%kind == [-1, -2, -3]) .and. got(3)%name == 'p3' .and. got(2)%place(3) == 6, 'particles')
    call MPI_Type_get_envelope(type, n(1), n(2), n(3), combiner, rc)
    call check(all(n(1:3) == [4, 3, 3]) .and. combiner == MPI_COMBINER_STRUCT, 'envelope of a struct')
    call MPI_Type_get_contents(type, 4, 3, 3, n, addresses, types, rc)
    call check(all(n == [3, 3, 1, 4]) .and. types(2) == MPI_INTEGER, 'contents of a struct')
    call MPI_Type_free(type, rc)

    ! Absolute addresses with MPI_BOTTOM.
    integers = [7, 8, 9]
    call MPI_Get_address(integers(3), addresses(1), rc)
    call MPI_Get_address(integers(1), addresses(2), rc)
    call MPI_Type_create_hindexed(2, [1, 1], addresses, MPI_INTEGER, type, rc)
    call MPI_Type_commit(type, rc)
    call MPI_Isend(MPI_BOTTOM, 1, type, 0, 4, MPI_COMM_SELF, request, rc)
    call MPI_Recv(n, 2, MPI_INTEGER, 0, 4, MPI_COMM_SELF, MPI_STATUS_IGNORE, rc)
    call MPI_Wait(request, MPI_STATUS_IGNORE, rc)
    call check(all(n(1:2) == [9, 7]), 'MPI_BOTTOM')
    call MPI_F_sync_reg(integers)
    call MPI_Type_free(type, rc)
    call packing()
    call MPI_Finalize(rc)

contains

    subroutine packing()
        character(len=200) :: buffer
        integer :: position, values(2)
        integer(MPI_ADDRESS_KIND) :: place, room

        position = 0
        call MPI_Pack([1, 2], 2, MPI_INTEGER, buffer, len(buffer), position, MPI_COMM_SELF, rc)
        call MPI_Pack_size(2, MPI_INTEGER, MPI_COMM_SELF, size, rc)
        call check(position > 0 .and. position <= size, 'position after packing')
        position = 0
        call MPI_Unpack(buffer, len(buffer), position, values, 2, MPI_INTEGER, MPI_COMM_SELF, rc)
        call check(all(values == [1, 2]), 'unpacked')
        call MPI_Pack_external_size('external32', 2, MPI_INTEGER, room, rc)
        call check(room == 8, 'size of external32')
        place = 0
        call MPI_Pack_external('external32 ', [258, 3], 2, MPI_INTEGER, buffer, room, place, rc)
        call check(buffer(1:4) == char(0)//char(0)//char(1)//char(2), 'external32 has the high byte first')
        place = 0
        call MPI_Unpack_external('external32', buffer, room, place, values, 2, MPI_INTEGER, rc)
        call check(all(values == [258, 3]) .and. place == 8, 'unpacked from external32')
    end subroutine
end program
