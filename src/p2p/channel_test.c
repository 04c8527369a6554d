/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room p2p: which communicators share a table of peers, that it goes with the last of them, and what
 * happens when there is no memory for one. */
#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "obj/group.h"
#include "p2p/int_p2p.h"

enum { SIZE = 10, COMMS = 30 };

static uint32_t next_ctx = 2;

static int open_comm(struct comm *comm, struct group *group)
{
    *comm = (struct comm){ .size = group->size, .remote_size = group->size, .ctx = next_ctx };
    next_ctx += 2;
    comm->group = comm->remote_group = group;
    return p2p_comm_open(comm);
}

static struct group *stride(int size, int first, int step)
{
    struct group *group;

    CHECK(!group_create_stride(size, first, step, 0, &group));
    return group;
}

static const peer_ref *peers_of(const struct comm *comm)
{
    return comm->p2p->channel[0].peers;
}

/* Rows need no table; strides that are alike have one, lists the one of their group. */
static void test_sharing(void)
{
    static const int scrambled[SIZE] = { 5, 1, 7, 0, 2, 9, 3, 8, 6, 4 };
    struct group *row = stride(SIZE, 3, 1), *even = stride(SIZE, 0, 2), *same = stride(SIZE, 0, 2);
    struct group *odd = stride(SIZE, 1, 2), *list, *twin;
    struct comm comms[7];
    struct group *const groups[7] = { row, even, same, odd, NULL, NULL, NULL };
    long live;

    CHECK(!group_create_list(SIZE, scrambled, 0, &list) && !group_create_list(SIZE, scrambled, 0, &twin));
    live = mem_live();
    for (int i = 0; i < 4; i++)
        CHECK(!open_comm(&comms[i], groups[i]));
    CHECK(!open_comm(&comms[4], list) && !open_comm(&comms[5], list) && !open_comm(&comms[6], twin));
    CHECK_INT(mem_live(), live + 7 + 4);
    CHECK(!comms[0].p2p->table && peers_of(&comms[1]) == peers_of(&comms[2]));
    CHECK(peers_of(&comms[1]) != peers_of(&comms[3]) && peers_of(&comms[3]) != peers_of(&comms[4]));
    CHECK(peers_of(&comms[4]) == peers_of(&comms[5]) && peers_of(&comms[5]) != peers_of(&comms[6]));
    p2p_comm_close(&comms[1]);
    CHECK(!open_comm(&comms[1], even));
    CHECK(peers_of(&comms[1]) == peers_of(&comms[2]));
    for (int i = 0; i < 7; i++)
        p2p_comm_close(&comms[i]);
    CHECK_INT(mem_live(), live);
    for (int i = 0; i < 4; i++)
        group_unref(groups[i]);
    group_unref(list);
    group_unref(twin);
}

/* The group for which a stride's table was made goes, and the next one, a list, is where it was. */
static void test_group_gone(void)
{
    static const int scrambled[SIZE] = { 5, 1, 7, 0, 2, 9, 3, 8, 6, 4 };
    struct group *even = stride(SIZE, 0, 2), *same = stride(SIZE, 0, 2), *list;
    const struct group *const first = even;
    struct comm comms[3];

    CHECK(!open_comm(&comms[0], even) && !open_comm(&comms[1], same));
    p2p_comm_close(&comms[0]);
    group_unref(even);
    CHECK(!group_create_list(SIZE, scrambled, 0, &list));
    CHECK(list == first);
    CHECK(!open_comm(&comms[2], list));
    CHECK(peers_of(&comms[2]) != peers_of(&comms[1]));
    p2p_comm_close(&comms[1]);
    p2p_comm_close(&comms[2]);
    group_unref(same);
    group_unref(list);
}

/* More tables than are looked at: what is not found is made anew, and each goes with its own users. */
static void test_many(void)
{
    static struct comm comms[COMMS][2];
    static struct group *groups[COMMS];
    long live;

    for (int i = 0; i < COMMS; i++)
        groups[i] = stride(2, i, 2);
    live = mem_live();
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < COMMS; i++)
            CHECK(!open_comm(&comms[i][turn], groups[i]));
    for (int i = 0; i < COMMS; i++) {
        p2p_comm_close(&comms[i][i % 2]);
        p2p_comm_close(&comms[COMMS - 1 - i][i % 2]);
    }
    for (int i = 0; i < COMMS; i++)
        group_unref(groups[i]);
    CHECK(mem_live() <= live); /* the table of contexts may have grown, which is one piece again */
}

static void test_no_memory(void)
{
    struct group *group = stride(SIZE, 0, 3);
    const long live = mem_live();
    struct comm comm;

    for (int n = 0; n < 2; n++) {
        mem_fail_after(n);
        CHECK_INT(err_class(open_comm(&comm, group)), MPI_ERR_NO_MEM);
        mem_fail_after(-1);
        CHECK(!comm.p2p);
        CHECK_INT(mem_live(), live);
    }
    group_unref(group);
}

int main(void)
{
    progress_init(&(struct progress_config){ .local_ranks = 1 });
    group_init();
    CHECK(!p2p_init(&(struct p2p_config){ .proc = 0, .procs = 1 }));
    test_sharing();
    test_group_gone();
    test_no_memory();
    test_many();
    p2p_fini();
    progress_fini();
    obj_fini();
    CHECK_INT(mem_live(), 0);
    return 0;
}
