! SPDX-License-Identifier: BSD-3-Clause
! Addresses of two kinds in one program: MPI_ADDRESS, removed by MPI 3.0, tells an INTEGER, MPI_GET_ADDRESS all of it.
! Both count from what MPI_BOTTOM is. What is too far from the first one for an INTEGER is an error, not a wrong address.
! With the argument "whole" MPI_GET_ADDRESS is first.
module data_of_it
    implicit none
    integer, save :: here(4) = [1, 2, 3, 4]
end module

program addresses
    use mpi
    use data_of_it
    implicit none
    integer :: rc, near, other, block, got(4), length, status(MPI_STATUS_SIZE)
    integer(MPI_ADDRESS_KIND) :: whole, disp(1)
    character(len=16) :: word
    logical :: whole_first

    call MPI_Init(rc)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, rc)
    call get_command_argument(1, word, length)
    whole_first = length > 0
    near = 7
    if (whole_first) then
        call MPI_Get_address(here, whole, rc)
        call check_int(rc, MPI_SUCCESS, 'MPI_GET_ADDRESS')
    end if
    call MPI_Address(here, near, rc)
    if (rc /= MPI_SUCCESS) then
        ! Addresses count from 0 already, and this program is not in the lowest 2 GB.
        call check(whole_first, 'an error of the first address')
        call check_class(rc, MPI_ERR_ARG, 'an address that does not fit')
        call check_int(near, 7, 'an address that was not told')
    else
        call MPI_Address(here(3), other, rc)
        call check_int(other - near, 8, 'difference')
        call MPI_Get_address(here, whole, rc)
        call check(whole == near, 'both tell the same')
    end if
    if (.not. whole_first) call far_away

    call MPI_Get_address(here, disp(1), rc)
    call MPI_Type_create_hindexed(1, [4], disp, MPI_INTEGER, block, rc)
    call MPI_Type_commit(block, rc)
    got = 0
    call MPI_Sendrecv(MPI_BOTTOM, 1, block, 0, 1, got, 4, MPI_INTEGER, 0, 1, MPI_COMM_SELF, status, rc)
    call check_int(rc, MPI_SUCCESS, 'a message from MPI_BOTTOM')
    call check(all(got == here), 'its values')
    call MPI_Type_free(block, rc)
    call MPI_Finalize(rc)
contains
    ! The stack, unless it is within 2 GB as well.
    subroutine far_away()
        integer, volatile :: there(4)
        integer :: number, result
        integer(MPI_ADDRESS_KIND) :: distance

        there = 0
        call MPI_Get_address(there, distance, result)
        number = 7
        call MPI_Address(there, number, result)
        if (abs(distance) < 2147483647_MPI_ADDRESS_KIND) then
            call check(number == distance, 'an address nearby')
        else
            call check_class(result, MPI_ERR_ARG, 'an address far away')
            call check_int(number, 7, 'the number, untouched')
        end if
    end subroutine
end program
