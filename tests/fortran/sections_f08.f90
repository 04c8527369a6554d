! SPDX-License-Identifier: BSD-3-Clause
! Array sections as buffers (MPI 5.0 §19.1.12): rows, blocks, strides, negative strides, of several ranks and types, in
! blocking and nonblocking calls; what lies between the elements stays as it was.
program sections_f08
    use mpi_f08
    implicit none
    integer :: rank, ranks, next, prev, i
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: status

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    next = mod(rank + 1, ranks)
    prev = mod(rank + ranks - 1, ranks)
    call rows()
    call blocks()
    call backwards()
    call parts()
    call of_types()
    call of_dummies(reshape([(i, i=1, 60)], [3, 4, 5]))
    call collectively()
    call one_sided()
    call to_a_file()
    call persistently()
    call MPI_Finalize()

contains

    subroutine rows()
        integer, asynchronous :: a(4, 6), b(4, 6)
        integer :: count, k

        a = reshape([(1000 * rank + k, k=1, 24)], [4, 6])
        b = -1
        call MPI_Irecv(b(3, :), 6, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, requests(1))
        call MPI_Isend(a(2, :), 6, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2))
        call MPI_Wait(requests(1), status)
        call MPI_Wait(requests(2), MPI_STATUS_IGNORE)
        call MPI_Get_elements(status, MPI_INTEGER, count)
        call check_int(count, 6, 'elements of a row')
        call check(all(b(3, :) == [(1000 * prev + 2 + 4 * k, k=0, 5)]), 'a row')
        b(3, :) = -1
        call check(all(b == -1), 'the other rows')
        call MPI_Sendrecv(a(1:4:3, 2), 2, MPI_INTEGER, next, 2, b(2, 3:5:2), 2, MPI_INTEGER, prev, 2, MPI_COMM_WORLD, status)
        call check(all(b(2, 3:5:2) == 1000 * prev + [5, 8]) .and. b(2, 4) == -1, 'two elements each')
    end subroutine

    ! Blocks of three dimensions, packed on one side only.
    subroutine blocks()
        double precision, asynchronous :: a(4, 5, 6), b(2, 3, 4), c(7, 7, 7)
        integer :: k

        a = reshape([(1000d0 * rank + k, k=1, 120)], [4, 5, 6])
        b = 0
        c = 0
        call MPI_Isend(a(2:3, 1:5:2, 3:6), 24, MPI_DOUBLE_PRECISION, next, 3, MPI_COMM_WORLD, requests(1))
        call MPI_Recv(b, 24, MPI_DOUBLE_PRECISION, prev, 3, MPI_COMM_WORLD, status)
        call MPI_Wait(requests(1), status)
        call check(all(b == a(2:3, 1:5:2, 3:6) + 1000 * (prev - rank)), 'a block, gathered')
        call MPI_Irecv(c(1:7:6, 2:6:2, 4:7), 24, MPI_DOUBLE_PRECISION, prev, 4, MPI_COMM_WORLD, requests(1))
        call MPI_Send(b, 24, MPI_DOUBLE_PRECISION, next, 4, MPI_COMM_WORLD)
        call MPI_Wait(requests(1), status)
        b = b + 1000 * (mod(prev + ranks - 1, ranks) - prev)
        call check(all(c(1:7:6, 2:6:2, 4:7) == b), 'a block, scattered')
        c(1:7:6, 2:6:2, 4:7) = 0
        call check(all(c == 0), 'around the block')
    end subroutine

    subroutine backwards()
        integer, asynchronous :: a(5), b(2, 5)

        a = [1, 2, 3, 4, 5] + 10 * rank
        call MPI_Isend(a(5:1:-1), 5, MPI_INTEGER, next, 5, MPI_COMM_WORLD, requests(1))
        call MPI_Recv(b(1, 5:1:-1), 5, MPI_INTEGER, prev, 5, MPI_COMM_WORLD, status)
        call MPI_Wait(requests(1), status)
        call check(all(b(1, :) == [1, 2, 3, 4, 5] + 10 * prev), 'backwards twice')
    end subroutine

    ! Fewer elements than the section has: columns first.
    subroutine parts()
        integer, asynchronous :: a(6, 4), b(24)
        integer :: k, all_of(6)

        a = reshape([(k, k=1, 24)], [6, 4])
        all_of = reshape(a(1:6:2, 1:4:3), [6])
        do k = 1, 8
            b = 0
            call MPI_Isend(a(1:6:2, 1:4:3), min(k, 6), MPI_INTEGER, next, 6, MPI_COMM_WORLD, requests(1))
            call MPI_Recv(b, 24, MPI_INTEGER, prev, 6, MPI_COMM_WORLD, status)
            call MPI_Wait(requests(1), status)
            call check(all(b(1:min(k, 6)) == all_of(1:min(k, 6))), 'a part of a section')
            call check(all(b(min(k, 6) + 1:) == 0), 'and no more')
        end do
        call MPI_Isend(a(1:0, :), 0, MPI_INTEGER, next, 7, MPI_COMM_WORLD, requests(1))
        call MPI_Recv(b(1:24:5), 0, MPI_INTEGER, prev, 7, MPI_COMM_WORLD, status)
        call MPI_Wait(requests(1), status)
    end subroutine

    ! Elements of several datatypes, and a component of derived types.
    subroutine of_types()
        type :: pair
            integer :: a
            real :: b
        end type
        complex, asynchronous :: z(4, 4), w(8)
        character(len=6), asynchronous :: words(5), got(3)
        type(pair), asynchronous :: pairs(4)
        real :: reals(4)

        z = reshape([(cmplx(i, -i), i=1, 16)], [4, 4])
        call MPI_Isend(z(2, :), 8, MPI_REAL, next, 8, MPI_COMM_WORLD, requests(1))    ! two REAL in each element
        call MPI_Recv(w, 4, MPI_COMPLEX, prev, 8, MPI_COMM_WORLD, status)
        call MPI_Wait(requests(1), status)
        call check(all(w(1:4) == z(2, :)), 'complex numbers as reals')
        call MPI_Isend(z(3, :), 5, MPI_REAL, next, 8, MPI_COMM_WORLD, requests(1))    ! two and a half
        w = 0
        call MPI_Recv(w, 8, MPI_REAL, prev, 8, MPI_COMM_WORLD, status)
        call MPI_Wait(requests(1), status)
        call check(all(w(1:3) == [z(3, 1), z(3, 2), cmplx(real(z(3, 3)), 0.0)]), 'half of an element')
        words = ['first ', 'second', 'third ', 'fourth', 'fifth ']
        call MPI_Isend(words(1:5:2), 18, MPI_CHARACTER, next, 9, MPI_COMM_WORLD, requests(1))
        call MPI_Recv(got, 18, MPI_CHARACTER, prev, 9, MPI_COMM_WORLD, status)
        call MPI_Wait(requests(1), status)
        call check(all(got == ['first ', 'third ', 'fifth ']), 'every second word')
        do i = 1, 4
            pairs(i) = pair(i, -1.0)
        end do
        call MPI_Isend(pairs%a, 4, MPI_INTEGER, next, 10, MPI_COMM_WORLD, requests(1))
        call MPI_Recv(pairs%b, 4, MPI_INTEGER, prev, 10, MPI_COMM_WORLD, status)
        call MPI_Wait(requests(1), status)
        reals = pairs%b
        call check(all(transfer(reals, [1, 2, 3, 4]) == [1, 2, 3, 4]), 'components')
    end subroutine

    ! Assumed shape: the descriptor comes from a caller.
    subroutine of_dummies(a)
        integer, intent(in) :: a(:, :, :)
        integer :: b(20)

        call MPI_Sendrecv(a(2, :, :), 20, MPI_INTEGER, next, 11, b, 20, MPI_INTEGER, prev, 11, MPI_COMM_WORLD, status)
        call check(all(b == reshape(a(2, :, :), [20])), 'a section of an assumed-shape array')
    end subroutine

    ! Blocking ones may get any section; operators never see a derived datatype.
    subroutine collectively()
        integer :: a(3, 4), sums(3, 4), all_of(2, 2 * ranks), k
        integer, asynchronous :: one(5)

        a = rank
        sums = -1
        call MPI_Allreduce(a(2, :), sums(1, :), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
        call check(all(sums(1, :) == ranks * (ranks - 1) / 2) .and. all(sums(2:3, :) == -1), 'MPI_Allreduce of rows')
        a = 2
        call MPI_Allreduce(MPI_IN_PLACE, a(1:3:2, 1), 2, MPI_INTEGER, MPI_PROD, MPI_COMM_WORLD)
        call check(a(1, 1) == 2**ranks .and. a(2, 1) == 2, 'MPI_Allreduce in place of a section')
        all_of = -1
        a(1, 1:2) = [rank, -rank]
        call MPI_Allgather(a(1, 1:2), 2, MPI_INTEGER, all_of(2, :), 2, MPI_INTEGER, MPI_COMM_WORLD)
        call check(all(all_of(2, 1::2) == [(k, k=0, ranks - 1)]) .and. all(all_of(1, :) == -1), 'MPI_Allgather into a row')
        one = rank
        call MPI_Ibcast(one(1:5:2), 3, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, requests(1))
        call MPI_Wait(requests(1), status)
        call check(all(one == [ranks - 1, rank, ranks - 1, rank, ranks - 1]), 'MPI_Ibcast of every second one')
        call MPI_Iallgather(a(1, 1:2), 2, MPI_INTEGER, all_of, 2, MPI_INTEGER, MPI_COMM_WORLD, requests(1))
        call MPI_Wait(requests(1), status)
        call check(all(all_of(1, 1:ranks) == [(k, k=0, ranks - 1)]), 'MPI_Iallgather from a row')
    end subroutine

    subroutine one_sided()
        integer, asynchronous :: window(10), a(2, 5)
        type(MPI_Win) :: win

        window = -1
        a(1, :) = [1, 2, 3, 4, 5] + 100 * rank
        a(2, :) = 0
        call MPI_Win_create(window, 40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
        call MPI_Win_fence(0, win)
        call MPI_Put(a(1, :), 5, MPI_INTEGER, next, 3_MPI_ADDRESS_KIND, 5, MPI_INTEGER, win)
        call MPI_Win_fence(0, win)
        call MPI_Get(a(2, 1:5:2), 3, MPI_INTEGER, rank, 3_MPI_ADDRESS_KIND, 3, MPI_INTEGER, win)
        call MPI_Win_fence(0, win)
        call check(all(window(4:8) == [1, 2, 3, 4, 5] + 100 * prev), 'a row that was put')
        call check(all(a(2, :) == [1 + 100 * prev, 0, 2 + 100 * prev, 0, 3 + 100 * prev]), 'a section that was got')
        call MPI_Win_free(win)
    end subroutine

    subroutine to_a_file()
        integer, asynchronous :: a(2, 4), b(3, 4)
        integer :: seed
        character(len=60) :: name
        type(MPI_File) :: file

        call system_clock(seed)
        write (name, '(a,i0,a,i0)') '/tmp/parley-sections-', seed, '-', rank
        a(1, :) = [5, 6, 7, 8]
        b = 0
        call MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &
                           file)
        call MPI_File_write_at(file, 0_MPI_OFFSET_KIND, a(1, :), 4, MPI_INTEGER, MPI_STATUS_IGNORE)
        call MPI_File_iread_at(file, 0_MPI_OFFSET_KIND, b(3, :), 4, MPI_INTEGER, requests(1))
        call MPI_Wait(requests(1), status)
        call check(all(b(3, :) == [5, 6, 7, 8]) .and. all(b(1:2, :) == 0), 'a row through a file')
        call MPI_File_close(file)
    end subroutine

    subroutine persistently()
        integer, asynchronous :: a(3, 4), b(3, 4)

        call MPI_Send_init(a(2, :), 4, MPI_INTEGER, next, 12, MPI_COMM_WORLD, requests(1))
        call MPI_Recv_init(b(3, :), 4, MPI_INTEGER, prev, 12, MPI_COMM_WORLD, requests(2))
        do i = 1, 3
            a = i + 10 * rank
            b = 0
            call MPI_Startall(2, requests)
            call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
            call check(all(b(3, :) == i + 10 * prev) .and. all(b(1:2, :) == 0), 'a row, again and again')
        end do
        call MPI_Request_free(requests(1))
        call MPI_Request_free(requests(2))
    end subroutine
end program
