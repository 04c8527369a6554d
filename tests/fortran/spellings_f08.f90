! SPDX-License-Identifier: BSD-3-Clause
! Keywords, PMPI names, functions of MPI that are Fortran functions, and routines that end before MPI is there.
program spellings_f08
    use, intrinsic :: iso_c_binding
    use mpi_f08
    implicit none
    integer :: version, subversion, length, size, rc
    integer(MPI_ADDRESS_KIND) :: one, two
    integer, target :: place(2)
    integer, pointer :: memory(:)
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: text
    character(len=20) :: name
    logical :: flag
    type(c_ptr) :: base
    type(MPI_Info) :: info
    type(MPI_Group) :: group, part
    type(MPI_Session) :: session
    integer :: ranges(3, 1)

    call MPI_Get_version(version=version, subversion=subversion)
    call check(version == MPI_VERSION .and. subversion == MPI_SUBVERSION, 'version, before MPI_Init')
    call MPI_Get_library_version(version=text, resultlen=length)
    call check(len_trim(text) == length, 'library version')
    call MPI_Initialized(flag)
    call check(.not. flag, 'not initialized')
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session)
    call MPI_Group_from_session_pset(session, 'mpi://SELF  ', group)
    call MPI_Group_size(group, size)
    call check_int(size, 1, 'process set mpi://SELF')
    length = 20
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, name)
    call check(name(1:6) == 'mpi://' .and. len_trim(name) == length, 'name of a process set: '//name)
    call MPI_Group_free(group)
    call MPI_Session_finalize(session)
    call check(session == MPI_SESSION_NULL, 'finalized session')
    call PMPI_Init(rc)
    call check_int(rc, MPI_SUCCESS, 'PMPI_Init')
    call MPI_Get_address(place(1), one)
    call MPI_Get_address(place(2), two)
    call check(MPI_Aint_diff(two, one) == 4 .and. MPI_Aint_add(one, 4_MPI_ADDRESS_KIND) == two, 'addresses')
    call check(PMPI_Wtime() >= 0 .and. MPI_Wtick() > 0, 'clocks')
    call MPI_Alloc_mem(80_MPI_ADDRESS_KIND, MPI_INFO_NULL, base)
    call c_f_pointer(base, memory, [20])
    memory = 1
    call MPI_Free_mem(memory)
    call MPI_Info_create(info)
    call MPI_Info_set(info, key='a', value=' b ')
    length = 20
    call MPI_Info_get_string(info, 'a', length, name, flag)
    call check(flag .and. name == 'b' .and. length == 1, 'info')
    call MPI_Info_free(info)
    call MPI_Comm_group(MPI_COMM_WORLD, group)
    ranges(:, 1) = [0, 0, 1]
    call MPI_Group_range_incl(group, 1, ranges, part)
    call MPI_Group_compare(group, part, rc)
    call MPI_Group_size(group, size)
    call check((rc == MPI_IDENT) .eqv. (size == 1), 'ranges')
    call MPI_Group_free(part)
    call MPI_Group_free(group)
    call MPI_F_sync_reg(place)
    call MPI_Pcontrol(1)
    call MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0, rc)
    call check_int(rc, MPI_SUCCESS, 'MPI_BUFFER_AUTOMATIC')
    call MPI_Buffer_detach(base, size)
    call MPI_Finalize()
    call MPI_Finalized(flag)
    call check(flag, 'finalized')
end program
