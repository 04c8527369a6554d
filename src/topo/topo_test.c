/* SPDX-License-Identifier: BSD-3-Clause */
/* Making communicators with a topology while memory runs out, alone in the job: an error, and nothing is left. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "comm/comm.h"
#include "obj/errhandler.h"
#include "op/op.h"
#include "p2p/lane.h"
#include "topo/int_topo.h"
#include "topo/topo.h"

static const int one = 1, zero = 0, edges[2] = { 0, 0 }, weights[2] = { 3, 4 }, two = 2;

static int make_cart(struct comm *comm, struct comm **out)
{
    return topo_cart_create(comm, 1, &one, &one, 0, out);
}

static int make_graph(struct comm *comm, struct comm **out)
{
    return topo_graph_create(comm, 1, &two, edges, 0, out);
}

static int make_adjacent(struct comm *comm, struct comm **out)
{
    const struct topo_edges both = { 2, edges, weights };

    return topo_dist_graph_create_adjacent(comm, &both, &both, 0, out);
}

static int make_told(struct comm *comm, struct comm **out)
{
    return topo_dist_graph_create(comm, 1, &zero, &two, &(const struct topo_edges){ 0, edges, weights }, 0, out);
}

/* Of a grid, which is made while there is memory. */
static int make_sub(struct comm *comm, struct comm **out)
{
    return topo_cart_sub(comm, &one, out);
}

static void test_making(int (*make)(struct comm *comm, struct comm **out), struct comm *comm, int kind)
{
    struct comm *made = NULL, *copy = NULL;
    int rc = 1;

    CHECK_INT(make(comm, &made), 0); /* what is made at first use only */
    CHECK_INT(comm_free(made), 0);
    for (int n = 0; rc; n++) {
        const long live = mem_live();

        made = NULL;
        mem_fail_after(n);
        rc = make(comm, &made);
        mem_fail_after(-1);
        CHECK(rc == 0 || (err_class(rc) == MPI_ERR_NO_MEM && mem_live() == live && !made));
    }
    CHECK_INT(topo_test(made), kind);
    CHECK_INT(comm_dup(made, &copy), 0);
    CHECK(copy->topology == made->topology && atomic_load(&made->topology->refs) == 2);
    CHECK_INT(comm_free(made), 0);
    CHECK_INT(topo_test(copy), kind);
    CHECK_INT(comm_free(copy), 0);
}

static bool maps_all(struct comm *comm, int *rc)
{
    static const int dims[] = { 2, 4 }, none[] = { 0, 0 }, index[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    static const int ends[] = { 1, 2, 3, 4, 5, 6, 7, 0 };
    int place = -2, node = -2;

    *rc = topo_cart_map(comm, 2, dims, none, &place);
    if (!*rc)
        *rc = topo_graph_map(comm, 8, index, ends, &node);
    return !*rc && place >= 0 && place < 8 && node >= 0 && node < 8;
}

/* A process of 8 on a machine that is not there maps for itself, while memory runs out. */
static void test_mapping(void)
{
    struct comm comm = { .rank = 3, .size = 8 };
    int rc = 1;

    setenv("PARLEY_MACHINE", "Package:4 Core:2", 1);
    CHECK_INT(group_create_list(8, (const int[]){ 0, 2, 4, 6, 1, 3, 5, 7 }, 6, &comm.group), 0);
    for (int n = 0; rc; n++) {
        const long live = mem_live();

        mem_fail_after(n);
        CHECK(maps_all(&comm, &rc) || err_class(rc) == MPI_ERR_NO_MEM);
        mem_fail_after(-1);
        CHECK_INT(mem_live(), live);
    }
    setenv("PARLEY_MACHINE", "nonsense", 1);
    CHECK(!maps_all(&comm, &rc) && err_class(rc) == MPI_ERR_OTHER);
    unsetenv("PARLEY_MACHINE");
    CHECK(maps_all(&comm, &rc));
    group_unref(comm.group);
}

static void test_hash(void)
{
    CHECK(topo_hash(0, &one, 1) != topo_hash(0, &zero, 1));
    CHECK(topo_hash(0, (const int[]){ 1, 2 }, 2) != topo_hash(0, (const int[]){ 2, 1 }, 2));
    CHECK(topo_hash(0, (const int[]){ 0, 0 }, 2) != topo_hash(0, &zero, 1));
    CHECK(topo_hash(5, NULL, 0) == topo_hash(5, &one, 0));
}

int main(void)
{
    const struct p2p_config alone = { .proc = 0, .procs = 1 };
    struct comm *world, *grid;

    group_init();
    errhandler_init();
    type_init();
    op_init();
    test_hash();
    test_mapping();
    CHECK_INT(p2p_init(&alone), 0);
    CHECK_INT(comm_init(&(struct comm_place){ .procs = 1, .size = 1, .ranks = 1 }), 0);
    CHECK_INT(comm_open_world(), 0);
    world = obj_comm(MPI_COMM_WORLD);
    test_making(make_cart, world, MPI_CART);
    test_making(make_graph, world, MPI_GRAPH);
    test_making(make_adjacent, world, MPI_DIST_GRAPH);
    test_making(make_told, world, MPI_DIST_GRAPH);
    CHECK_INT(make_cart(world, &grid), 0);
    test_making(make_sub, grid, MPI_CART);
    CHECK_INT(comm_free(grid), 0);
    comm_close_world();
    comm_fini();
    p2p_fini();
    obj_fini();
    CHECK_INT(mem_live(), 0);
    return 0;
}
