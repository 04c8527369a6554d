! SPDX-License-Identifier: BSD-3-Clause
! MPI_Comm_spawn and MPI_Comm_spawn_multiple (MPI 5.0 §11.8): texts in arrays, ended by a blank one, MPI_ARGV_NULL,
! MPI_ARGVS_NULL, MPI_ERRCODES_IGNORE; what is significant at the root only is not looked at elsewhere.
program spawn_mpi
    use mpi
    implicit none
    integer :: rank, rc, parent, children, size, codes(2), maxprocs(2), infos(2)
    character(len=200) :: program, commands(2), word
    character(len=12) :: arguments(3), rows(2, 3)
    logical :: flag

    call MPI_Init(rc)
    call MPI_Comm_get_parent(parent, rc)
    if (parent /= MPI_COMM_NULL) then
        call child()
    else
        call MPI_Comm_rank(MPI_COMM_WORLD, rank, rc)
        call get_command_argument(0, program)
        arguments = [character(len=12) :: 'one', ' two words  ', ' ']
        codes = -1
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, rc)
        if (rank == 0) then
            call MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, codes, rc)
        else
            call MPI_Comm_spawn(' ', MPI_ARGV_NULL, -1, -1, 0, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE, rc)
        end if
        call skip_without(rc)
        call check_int(rc, MPI_SUCCESS, 'MPI_Comm_spawn')
        if (rank == 0) call check(all(codes == MPI_SUCCESS), 'error codes')
        call MPI_Comm_test_inter(children, flag, rc)
        call MPI_Comm_remote_size(children, size, rc)
        call check(flag .and. size == 2, 'children')
        call MPI_Barrier(children, rc)
        call MPI_Comm_disconnect(children, rc)
        commands = program
        maxprocs = 1
        infos = MPI_INFO_NULL
        rows = ' '
        rows(:, 1) = 'one'
        rows(:, 2) = 'two words'
        call MPI_Comm_spawn_multiple(2, commands, rows, maxprocs, infos, 0, MPI_COMM_WORLD, children, &
                                     MPI_ERRCODES_IGNORE, rc)
        call check_int(rc, MPI_SUCCESS, 'MPI_Comm_spawn_multiple')
        call MPI_Barrier(children, rc)
        call MPI_Comm_disconnect(children, rc)
    end if
    call MPI_Finalize(rc)

contains

    ! Ends the program if the library cannot start processes yet.
    subroutine skip_without(code)
        integer, intent(in) :: code
        integer :: class

        if (code == MPI_SUCCESS) return
        call MPI_Error_class(code, class, rc)
        if (class /= MPI_ERR_UNSUPPORTED_OPERATION) return
        call MPI_Finalize(rc)
        if (rank == 0) print '(a)', 'skipped: MPI_Comm_spawn is not there yet'
        call exit(77)
    end subroutine

    subroutine child()
        call check_int(command_argument_count(), 2, 'arguments of a child')
        call get_command_argument(1, word)
        call check(word == 'one', 'first argument: '//trim(word))
        call get_command_argument(2, word)
        call check(word == 'two words', 'second argument: '//trim(word))
        call MPI_Comm_size(MPI_COMM_WORLD, size, rc)
        call check_int(size, 2, 'children together')
        call MPI_Barrier(parent, rc)
        call MPI_Comm_disconnect(parent, rc)
    end subroutine
end program
