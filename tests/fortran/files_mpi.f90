! SPDX-License-Identifier: BSD-3-Clause
! Files (MPI 5.0 chapter 14) with module mpi: names, offsets, views, split collective calls, data representations.
program files_mpi
    use mpi
    implicit none
    integer :: rank, ranks, rc, file, status(MPI_STATUS_SIZE), count, etype, filetype, request, mode
    integer :: values(4), got(4), seed
    integer(MPI_OFFSET_KIND) :: offset, size
    character(len=60) :: name
    character(len=MPI_MAX_DATAREP_STRING) :: datarep
    logical :: atomic

    call MPI_Init(rc)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, rc)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, rc)
    call system_clock(seed)
    call MPI_Bcast(seed, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, rc)
    write (name, '(a,i0,a,i0)') '/tmp/parley-fortran-', seed, '-', ranks
    call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &
                       file, rc)
    call check_int(rc, MPI_SUCCESS, 'MPI_File_open')
    call MPI_File_get_amode(file, mode, rc)
    call check(iand(mode, MPI_MODE_RDWR) /= 0, 'mode')
    values = rank * 10 + [1, 2, 3, 4]
    offset = 16 * rank
    call MPI_File_write_at_all(file, offset, values, 4, MPI_INTEGER, status, rc)
    call MPI_Get_count(status, MPI_INTEGER, count, rc)
    call check_int(count, 4, 'written')
    call MPI_File_sync(file, rc)
    call MPI_Barrier(MPI_COMM_WORLD, rc)
    call MPI_File_sync(file, rc)
    call MPI_File_get_size(file, size, rc)
    call check(size == 16 * ranks, 'size of the file')
    offset = 16 * mod(rank + 1, ranks)
    call MPI_File_iread_at(file, offset, got, 4, MPI_INTEGER, request, rc)
    call MPI_Wait(request, status, rc)
    call check(all(got == mod(rank + 1, ranks) * 10 + [1, 2, 3, 4]), 'read at once')

    call MPI_Barrier(MPI_COMM_WORLD, rc)

    ! Every process sees one integer in as many as there are processes.
    call MPI_Type_create_subarray(1, [ranks], [1], [rank], MPI_ORDER_FORTRAN, MPI_INTEGER, filetype, rc)
    call MPI_Type_commit(filetype, rc)
    offset = 0
    call MPI_File_set_view(file, offset, MPI_INTEGER, filetype, 'native', MPI_INFO_NULL, rc)
    call MPI_File_get_view(file, offset, etype, mode, datarep, rc)
    call check(etype == MPI_INTEGER .and. datarep == 'native', 'view')
    call MPI_Type_free(mode, rc)
    call MPI_File_write_all_begin(file, values, 4, MPI_INTEGER, rc)
    call MPI_File_write_all_end(file, values, status, rc)
    call MPI_File_seek(file, offset, MPI_SEEK_SET, rc)
    got = 0
    call MPI_File_read_all(file, got, 4, MPI_INTEGER, MPI_STATUS_IGNORE, rc)
    call check(all(got == values), 'read through a view')
    call MPI_File_get_atomicity(file, atomic, rc)
    call check(.not. atomic, 'atomicity')
    call MPI_Type_free(filetype, rc)
    call MPI_File_close(file, rc)
    call check_int(file, MPI_FILE_NULL, 'closed')
    call MPI_Finalize(rc)
end program
