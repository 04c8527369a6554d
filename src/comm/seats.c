/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. Where in the machines the members of a communicator sit: told by each of them, or by their launcher. */
#include <unistd.h>

#include "base/err.h"
#include "coll/coll.h"
#include "comm/int_comm.h"
#include "obj/info.h"

/* Writes the nodes. Are there several? */
static bool read_nodes(const struct comm *comm, struct comm_seat *seats)
{
    const struct comm_environment *environment = &comm_world.environment;
    bool is_spread = false;

    for (int rank = 0; rank < comm->size; rank++) {
        const int proc = group_proc(comm->group, rank);

        seats[rank].node = environment->node_of ? environment->node_of(proc) : environment->node;
        is_spread |= seats[rank].node != seats[0].node;
    }
    return is_spread;
}

int comm_gather_seats(struct comm *comm, const char *call, struct comm_seat *seats)
{
    struct comm_seat *own = &seats[comm->rank];
    struct type *byte = obj_type(MPI_BYTE);
    int rc, failed;

    own->node = comm_world.environment.node;
    rc = site_find(getpid(), comm_world.proc, &own->site);
    comm->coll_outer = call;
    failed = coll_run(comm, COLL_ARGS(COLL_ALLGATHER, COLL_SAME(MPI_IN_PLACE, 0, byte),
                                      COLL_SAME(seats, sizeof *seats, byte), NULL, 0));
    comm->coll_outer = NULL;
    if (comm_abroad_in(comm)) /* each job numbers its own machines */
        read_nodes(comm, seats);
    return rc ? rc : failed;
}

static void forget_site(struct site *site)
{
    *site = (struct site){ .count = { 0 } };
    for (enum hwpart part = 0; part < HWPARTS; part++)
        site->first[part] = SITE_UNKNOWN;
}

static bool find_bound_site(int proc, struct site *site)
{
    struct cpus cpus;

    if (!comm_world.environment.bound || !comm_world.environment.bound(proc, &cpus))
        return false;
    site_of_cpus("", &cpus, site);
    return true;
}

bool comm_bound_seats(const struct comm *comm, struct comm_seat *seats)
{
    const bool is_spread = read_nodes(comm, seats);
    bool is_known = true;

    for (int rank = 0; rank < comm->size && is_known; rank++) {
        const int proc = group_proc(comm->group, rank);
        struct site *site = &seats[rank].site;

        if (site_is_made_up())
            is_known = !site_find(0, proc, site);
        else if (is_spread) /* each machine knows of its own processes only */
            forget_site(site);
        else
            is_known = find_bound_site(proc, site);
    }
    return is_known;
}

int comm_hw_info(struct info **out)
{
    struct site site;
    int rc = site_find(getpid(), comm_world.proc, &site);

    if (!rc)
        rc = info_create(out);
    if (rc)
        return rc;
    rc = info_set(*out, "hwloc://Machine", "true");
    for (enum hwpart part = 0; part < HWPARTS && !rc; part++)
        if (site.first[part] != SITE_UNKNOWN)
            rc = info_set(*out, hwpart_name(part), site.first[part] >= 0 ? "true" : "false");
    if (rc) {
        info_unref(*out);
        *out = NULL;
    }
    return rc;
}
