/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: topo. Cartesian topologies (MPI 5.0 §8.5.1, §8.5.7, §8.5.8): making them, and parts of them. The last
 * dimension runs fastest: rank = (c0 * d1 + c1) * d2 + c2. */
#include "base/err.h"
#include "base/mem.h"
#include "comm/comm.h"
#include "topo/int_topo.h"
#include "topo/topo.h"

/* How many processes the grid has. */
static int grid_size(const struct comm *comm, int ndims, const int *dims, int *size)
{
    int64_t product = 1;

    for (int i = 0; i < ndims; i++) {
        if (dims[i] < 1)
            return err(MPI_ERR_DIMS, "dims[%d] is %d; a dimension has at least 1 process", i, dims[i]);
    }
    for (int i = 0; i < ndims; i++) {
        product *= dims[i];
        if (product > comm->size)
            return err(MPI_ERR_DIMS, "dims[0] to dims[%d] make %lld processes, the communicator has %d", i,
                       (long long)product, comm->size);
    }
    *size = (int)product;
    return 0;
}

/* Coordinates of `rank`. */
static void find_coords(int ndims, const int *dims, int rank, int *coords)
{
    for (int i = ndims - 1; i >= 0; i--) {
        coords[i] = rank % dims[i];
        rank /= dims[i];
    }
}

/* What a grid needs to tell who talks to whom. */
struct grid {
    int ndims;
    const int *dims, *periods;
};

static int grid_talk(const void *arg, struct topo_talk *talk)
{
    const struct grid *grid = arg;

    return topo_talk_grid(talk, grid->ndims, grid->dims, grid->periods);
}

/* But for the coordinates. */
static int make_topology(int ndims, const int *dims, const int *periods, struct topology **out)
{
    struct topology *topology = topology_create_cart(ndims);

    if (!topology)
        return err(MPI_ERR_NO_MEM, "no memory for a topology of %d dimensions", ndims);
    for (int i = 0; i < ndims; i++) {
        topology->cart.dims[i] = dims[i];
        topology->cart.periods[i] = periods[i] != 0;
    }
    *out = topology;
    return 0;
}

int topo_cart_create(struct comm *comm, int ndims, const int *dims, const int *periods, int reorder,
                     struct comm **out)
{
    static const char call[] = "MPI_Cart_create";
    const struct grid grid = { ndims, dims, periods };
    struct topo_reorder r = { 0 };
    struct topology *topology = NULL;
    uint64_t hash = topo_hash((uint64_t)ndims, dims, ndims);
    int size = 0, rc;

    for (int i = 0; i < ndims; i++)
        hash = topo_hash(hash, &(const int){ periods[i] != 0 }, 1);
    hash = topo_hash(hash, &(const int){ reorder != 0 }, 1);
    rc = grid_size(comm, ndims, dims, &size);
    if (!rc && comm->rank < size)
        rc = make_topology(ndims, dims, periods, &topology);
    if (!rc)
        rc = topo_reorder_open(&r, comm, call, size, reorder);
    rc = topo_agree(comm, call, rc, hash, "ndims, dims, periods or reorder");
    if (!rc)
        rc = topo_reorder_find(&r, grid_talk, &grid);
    if (!rc && topology)
        find_coords(ndims, dims, topo_reorder_rank(&r), topology->cart.coords);
    if (rc)
        topology_unref(topology);
    else
        rc = topo_reorder_make(&r, topology, out);
    topo_reorder_close(&r);
    return rc;
}

/* Those of the old grid that differ from this process in remaining dimensions only, in the order of their ranks. */
static int part_of_grid(const struct comm *comm, const struct topology *old, const int *remain,
                        const struct topology *part, struct group **out)
{
    int size = 1, base = 0, rc;
    int *ranks, *coords;

    for (int i = 0; i < part->cart.ndims; i++)
        size *= part->cart.dims[i];
    ranks = mem_alloc(((size_t)size + (size_t)old->cart.ndims) * sizeof *ranks);
    if (!ranks)
        return err(MPI_ERR_NO_MEM, "no memory for a part of %d processes", size);
    coords = ranks + size;
    for (int n = 0; n < size; n++) {
        find_coords(part->cart.ndims, part->cart.dims, n, coords);
        base = 0;
        for (int i = 0, k = 0; i < old->cart.ndims; i++)
            base = base * old->cart.dims[i] + (remain[i] ? coords[k++] : old->cart.coords[i]);
        ranks[n] = base;
    }
    rc = comm_group_incl(comm->group, size, ranks, out);
    mem_free(ranks);
    return rc;
}

/* What remains of `old` for this process. */
static int part_of_topology(const struct topology *old, const int *remain, struct topology **out)
{
    struct topology *part;
    int ndims = 0;

    for (int i = 0; i < old->cart.ndims; i++)
        ndims += remain[i] != 0;
    part = topology_create_cart(ndims);
    if (!part)
        return err(MPI_ERR_NO_MEM, "no memory for a topology of %d dimensions", ndims);
    for (int i = 0, k = 0; i < old->cart.ndims; i++) {
        if (!remain[i])
            continue;
        part->cart.dims[k] = old->cart.dims[i];
        part->cart.periods[k] = old->cart.periods[i];
        part->cart.coords[k++] = old->cart.coords[i];
    }
    *out = part;
    return 0;
}

int topo_cart_sub(struct comm *comm, const int *remain, struct comm **out)
{
    static const char call[] = "MPI_Cart_sub";
    const struct topology *old;
    struct topology *part = NULL;
    struct group *group = NULL;
    uint64_t hash = 0;
    int rc = topo_find(comm, MPI_CART, &old);

    if (rc)
        return rc;
    if (!remain && old->cart.ndims)
        rc = err(MPI_ERR_ARG, "remain_dims is NULL, the topology has %d dimensions", old->cart.ndims);
    if (!rc)
        rc = part_of_topology(old, remain, &part);
    if (!rc)
        rc = part_of_grid(comm, old, remain, part, &group);
    for (int i = 0; i < old->cart.ndims && remain; i++)
        hash = topo_hash(hash, &(const int){ remain[i] != 0 }, 1);
    rc = topo_agree(comm, call, rc, hash, "remain_dims");
    if (rc) {
        group_unref(group);
        topology_unref(part);
        return rc;
    }
    return topo_make(comm, call, group, part, out);
}

int topo_cart_map(struct comm *comm, int ndims, const int *dims, const int *periods, int *new_rank)
{
    const struct grid grid = { ndims, dims, periods };
    int size = 0;
    const int rc = grid_size(comm, ndims, dims, &size);

    return rc ? rc : topo_reorder_alone(comm, size, grid_talk, &grid, new_rank);
}

int topo_cart_shift(const struct comm *comm, int direction, int disp, int *source, int *dest)
{
    const struct topology *topology;
    const int rc = topo_find(comm, MPI_CART, &topology);

    if (rc)
        return rc;
    if (direction < 0 || direction >= topology->cart.ndims)
        return err(MPI_ERR_DIMS, "direction is %d, the topology has %d dimensions, counted from 0", direction,
                   topology->cart.ndims);
    *source = topology_grid_rank(topology, comm->rank, direction, -(int64_t)disp);
    *dest = topology_grid_rank(topology, comm->rank, direction, disp);
    return 0;
}

int topo_cart_coords(const struct comm *comm, int rank, int max, int *coords)
{
    const struct topology *topology;
    const int rc = topo_find(comm, MPI_CART, &topology);

    if (rc)
        return rc;
    for (int i = topology->cart.ndims - 1; i >= 0; i--) {
        if (i < max)
            coords[i] = rank % topology->cart.dims[i];
        rank /= topology->cart.dims[i];
    }
    return 0;
}

int topo_cart_rank(const struct comm *comm, const int *coords, int *rank)
{
    const struct topology *topology;
    const int rc = topo_find(comm, MPI_CART, &topology);
    int result = 0;

    if (rc)
        return rc;
    if (!coords && topology->cart.ndims)
        return err(MPI_ERR_ARG, "coords is NULL, the topology has %d dimensions", topology->cart.ndims);
    for (int i = 0; i < topology->cart.ndims; i++) {
        const int size = topology->cart.dims[i];
        int place = coords[i];

        if (topology->cart.periods[i])
            place = (place % size + size) % size;
        if (place < 0 || place >= size)
            return err(MPI_ERR_ARG, "coords[%d] is %d; that dimension has %d processes and is not periodic", i,
                       place, size);
        result = result * size + place;
    }
    *rank = result;
    return 0;
}
