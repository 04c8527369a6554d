! SPDX-License-Identifier: BSD-3-Clause
! mpi_f08: arrays of handles and statuses, special addresses, several completions, matched probes, partitioned calls.
program collect_f08
    use mpi_f08
    implicit none
    integer :: rank, ranks, next, prev, i, n, indx
    integer, asynchronous :: in(4), out(4)
    integer :: indices(4)
    integer, allocatable :: counts(:), places(:), from(:), to(:)
    type(MPI_Datatype), allocatable :: types(:)
    type(MPI_Request) :: requests(4), request
    type(MPI_Status) :: statuses(4), status
    type(MPI_Message) :: message
    type(MPI_Comm) :: graph
    logical :: flag

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    next = mod(rank + 1, ranks)
    prev = mod(rank + ranks - 1, ranks)
    do i = 1, 4
        out(i) = 10 * rank + i
        call MPI_Irecv(in(i), 1, MPI_INTEGER, prev, i, MPI_COMM_WORLD, requests(i))
    end do
    call MPI_Testany(4, requests, indx, flag, status)
    call check(.not. flag .and. indx == MPI_UNDEFINED, 'none is complete')
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Send(out(3), 1, MPI_INTEGER, next, 3, MPI_COMM_WORLD)
    call MPI_Waitany(4, requests, indx, status)
    call check_int(indx, 3, 'index')
    call check(status%MPI_TAG == 3 .and. status%MPI_SOURCE == prev .and. requests(3) == MPI_REQUEST_NULL, 'its status')
    call MPI_Barrier(MPI_COMM_WORLD)
    do i = 1, 4
        if (i /= 3) call MPI_Send(out(i), 1, MPI_INTEGER, next, i, MPI_COMM_WORLD)
    end do
    i = 0
    do while (i < 3)
        call MPI_Waitsome(4, requests, n, indices, statuses)
        call check(all(statuses(1:n)%MPI_TAG == indices(1:n)), 'tags of several')
        i = i + n
    end do
    call check(all(in == 10 * prev + [1, 2, 3, 4]), 'contents')
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)

    call MPI_Isend(out, 4, MPI_INTEGER, next, 9, MPI_COMM_WORLD, request)
    call MPI_Mprobe(prev, 9, MPI_COMM_WORLD, message, status)
    call MPI_Get_count(status, MPI_INTEGER, n)
    call check_int(n, 4, 'count of a matched probe')
    call MPI_Mrecv(in, 4, MPI_INTEGER, message, MPI_STATUS_IGNORE)
    call check(message == MPI_MESSAGE_NULL .and. all(in == 10 * prev + [1, 2, 3, 4]), 'a matched receive')
    call MPI_Wait(request, MPI_STATUS_IGNORE)

    allocate (counts(ranks), places(ranks), types(ranks), from(ranks), to(ranks))
    counts = 1
    places = [(4 * i, i=0, ranks - 1)]
    types = MPI_INTEGER
    from = [(100 * rank + i, i=0, ranks - 1)]
    call MPI_Alltoallw(from, counts, places, types, to, counts, places, types, MPI_COMM_WORLD)
    call check(all(to == [(100 * i + rank, i=0, ranks - 1)]), 'MPI_Alltoallw')
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, 1, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(to == from), 'MPI_Alltoall in place')

    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [prev], MPI_UNWEIGHTED, 1, [next], MPI_UNWEIGHTED, MPI_INFO_NULL, &
                                        .false., graph)
    call MPI_Dist_graph_neighbors_count(graph, n, i, flag)
    call check(n == 1 .and. i == 1 .and. .not. flag, 'a graph without weights')
    call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, n, 1, MPI_INTEGER, graph)
    call check_int(n, prev, 'neighbour')
    call MPI_Comm_free(graph)

    call MPI_Psend_init(out, 2, 2_MPI_COUNT_KIND, MPI_INTEGER, next, 5, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
    call MPI_Precv_init(in, 2, 2_MPI_COUNT_KIND, MPI_INTEGER, prev, 5, MPI_COMM_WORLD, MPI_INFO_NULL, requests(2))
    in = 0
    call MPI_Startall(2, requests)
    call MPI_Pready_range(0, 1, requests(1))
    call MPI_Waitall(2, requests, statuses)
    call check(all(in == 10 * prev + [1, 2, 3, 4]), 'partitioned')
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
    deallocate (counts, places, types, from, to)
    call MPI_Finalize()
end program
