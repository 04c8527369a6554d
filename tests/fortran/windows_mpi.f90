! SPDX-License-Identifier: BSD-3-Clause
! One-sided calls with module mpi: memory as TYPE(C_PTR) and as an address, attributes of windows.
program windows_mpi
    use, intrinsic :: iso_c_binding
    use mpi
    implicit none
    integer :: rank, ranks, rc, win, next, got, unit
    integer, asynchronous :: memory(4)
    integer, pointer :: lent(:)
    integer(MPI_ADDRESS_KIND) :: value, address, size
    type(c_ptr) :: pointer
    logical :: flag

    call MPI_Init(rc)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, rc)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, rc)
    next = mod(rank + 1, ranks)
    memory = -1
    call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, rc)
    call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, rc)
    call MPI_Get_address(memory, address, rc)
    call check(flag .and. value == address, 'MPI_WIN_BASE is an address')
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, rc)
    call check(flag .and. value == 16, 'MPI_WIN_SIZE')
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, rc)
    call check(flag .and. value == 4, 'MPI_WIN_DISP_UNIT')
    call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag, rc)
    call check(flag .and. value == MPI_WIN_FLAVOR_CREATE, 'MPI_WIN_CREATE_FLAVOR')
    call MPI_Win_fence(0, win, rc)
    call MPI_Put(rank, 1, MPI_INTEGER, next, 2_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, rc)
    call MPI_Win_fence(0, win, rc)
    call MPI_F_sync_reg(memory)
    call check_int(memory(3), mod(rank + ranks - 1, ranks), 'what was put')
    call MPI_Win_free(win, rc)
    call check_int(win, MPI_WIN_NULL, 'freed window')

    call MPI_Win_allocate(8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, pointer, win, rc)
    call c_f_pointer(pointer, lent, [2])
    lent = 0
    call MPI_Barrier(MPI_COMM_WORLD, rc)
    call MPI_Win_lock_all(0, win, rc)
    call MPI_Fetch_and_op(1, got, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, MPI_SUM, win, rc)
    call MPI_Win_flush(0, win, rc)
    call check(got >= 0 .and. got < ranks, 'counted')
    call MPI_Win_unlock_all(win, rc)
    call MPI_Barrier(MPI_COMM_WORLD, rc)
    if (rank == 0) call check_int(lent(1), ranks, 'counted by all')
    call MPI_Win_free(win, rc)

    call MPI_Win_allocate_shared(4_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, address, win, rc)
    call MPI_Win_shared_query(win, 0, size, unit, pointer, rc)
    call check(transfer(pointer, address) == address .and. size == 4 .and. unit == 4, 'an address and a pointer')
    call MPI_Win_free(win, rc)
    call MPI_Alloc_mem(64_MPI_ADDRESS_KIND, MPI_INFO_NULL, pointer, rc)
    call c_f_pointer(pointer, lent, [16])
    lent = 3
    call MPI_Free_mem(lent, rc)
    call check_int(rc, MPI_SUCCESS, 'MPI_Free_mem')
    call MPI_Finalize(rc)
end program
