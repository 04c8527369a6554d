! SPDX-License-Identifier: BSD-3-Clause
! Collective calls with module mpi: MPI_IN_PLACE, arrays of datatypes, neighbours, weights that are special addresses.
program collect_mpi
    use mpi
    implicit none
    integer :: rank, ranks, rc, i, request, comm, pairs, degrees(2)
    integer, allocatable :: counts(:), places(:), types(:), in(:), out(:)
    integer :: sources(1), targets(1), edges(2), value, root
    integer(MPI_ADDRESS_KIND) :: offsets(2)
    logical :: weighted

    call MPI_Init(rc)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, rc)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, rc)
    allocate (counts(ranks), places(ranks), types(ranks), in(2 * ranks), out(2 * ranks))
    root = ranks - 1

    in = -1
    in(rank + 1) = rank
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INTEGER, MPI_COMM_WORLD, rc)
    call check(all(in(1:ranks) == [(i, i=0, ranks - 1)]), 'MPI_Allgather in place')
    value = rank + 1
    call MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, rc)
    call check_int(value, ranks * (ranks + 1) / 2, 'MPI_Allreduce in place')
    value = rank
    if (rank == root) then
        call MPI_Reduce(MPI_IN_PLACE, value, 1, MPI_INTEGER, MPI_MAX, root, MPI_COMM_WORLD, rc)
        call check_int(value, root, 'MPI_Reduce in place')
    else
        call MPI_Reduce(value, 0, 1, MPI_INTEGER, MPI_MAX, root, MPI_COMM_WORLD, rc)
    end if

    ! Datatypes for each process: pairs of integers, handles that the library made.
    call MPI_Type_contiguous(2, MPI_INTEGER, pairs, rc)
    call MPI_Type_commit(pairs, rc)
    counts = 1
    places = [(8 * i, i=0, ranks - 1)]
    types = pairs
    out = [(100 * rank + i, i=0, 2 * ranks - 1)]
    in = -1
    call MPI_Alltoallw(out, counts, places, types, in, counts, places, types, MPI_COMM_WORLD, rc)
    call check(all(in == [(100 * (i / 2) + 2 * rank + mod(i, 2), i=0, 2 * ranks - 1)]), 'MPI_Alltoallw')
    call MPI_Ialltoallw(MPI_IN_PLACE, counts, places, types, in, counts, places, types, MPI_COMM_WORLD, request, rc)
    types = MPI_DATATYPE_NULL
    call MPI_Wait(request, MPI_STATUS_IGNORE, rc)
    call check(all(in == out), 'MPI_Ialltoallw in place, back again')

    ! A ring as a graph without weights.
    sources(1) = mod(rank + ranks - 1, ranks)
    targets(1) = mod(rank + 1, ranks)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, MPI_UNWEIGHTED, 1, targets, MPI_UNWEIGHTED, &
                                        MPI_INFO_NULL, .false., comm, rc)
    call check_int(rc, MPI_SUCCESS, 'MPI_Dist_graph_create_adjacent')
    call MPI_Dist_graph_neighbors_count(comm, degrees(1), degrees(2), weighted, rc)
    call check(.not. weighted .and. all(degrees == 1), 'degrees of a ring')
    edges = [rank, -rank]
    offsets = 0
    types(1) = pairs
    in = -1
    call MPI_Neighbor_alltoallw(edges, counts, offsets, types, in, counts, offsets, types, comm, rc)
    call check(all(in(1:2) == [sources(1), -sources(1)]), 'MPI_Neighbor_alltoallw')
    call MPI_Comm_free(comm, rc)
    call check_int(comm, MPI_COMM_NULL, 'freed communicator')
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, sources, MPI_WEIGHTS_EMPTY, 0, targets, MPI_WEIGHTS_EMPTY, &
                                        MPI_INFO_NULL, .false., comm, rc)
    call MPI_Dist_graph_neighbors_count(comm, degrees(1), degrees(2), weighted, rc)
    call check(weighted, 'weights of no edges')
    call MPI_Comm_free(comm, rc)
    call grid()
    call MPI_Type_free(pairs, rc)
    deallocate (counts, places, types, in, out)
    call MPI_Finalize(rc)

contains

    ! Arrays of LOGICAL, and a range of ranks as triplets.
    subroutine grid()
        integer :: cart, sub, dims(2), coordinates(2), source, destination, group, part, ranges(3, 1), n
        logical :: periods(2), keep(2)

        dims = 0
        call MPI_Dims_create(ranks, 2, dims, rc)
        call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., cart, rc)
        call MPI_Cart_get(cart, 2, dims, periods, coordinates, rc)
        call check(periods(1) .and. .not. periods(2), 'periods')
        call MPI_Cart_shift(cart, 1, 1, source, destination, rc)
        if (coordinates(2) == dims(2) - 1) call check_int(destination, MPI_PROC_NULL, 'beyond the edge')
        keep = [.false., .true.]
        call MPI_Cart_sub(cart, keep, sub, rc)
        call MPI_Comm_size(sub, n, rc)
        call check_int(n, dims(2), 'processes of a row')
        call MPI_Comm_free(sub, rc)
        call MPI_Comm_free(cart, rc)
        call MPI_Comm_group(MPI_COMM_WORLD, group, rc)
        ranges(:, 1) = [0, ranks - 1, 2]
        call MPI_Group_range_incl(group, 1, ranges, part, rc)
        call MPI_Group_size(part, n, rc)
        call check_int(n, (ranks + 1) / 2, 'every second rank')
        call MPI_Group_free(part, rc)
        call MPI_Group_free(group, rc)
        call check_int(group, MPI_GROUP_NULL, 'freed group')
    end subroutine
end program
