/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. MPI_COMM_WORLD, MPI_COMM_SELF, the library's own communicator of all processes, and the contexts of all
 * that come after them.
 *
 * * A context is twice a number of 31 bits. Each process has a part of the numbers below 2^29, and as many from 2^30
 * on, so the first process of a new communicator picks one without asking anybody: the n processes of the first world
 * share 7/8 of them, those that may be started later the rest, all but the last 2^20, which are for their worlds.
 * Numbers from 2^30 on stand for lanes of their own (p2p_lane_of); they are for processes with MPI_THREAD_MULTIPLE,
 * and for others when their first ones are used up. MPI_COMM_WORLD is number 0 in all processes of the first world,
 * MPI_COMM_SELF number 1: its messages never leave the process; the library's own is number 2. */
#include <stdatomic.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/setting.h"
#include "coll/coll.h"
#include "comm/joint_ids.h"
#include "obj/attr.h"
#include "obj/errhandler.h"
#include "p2p/p2p.h"

/* Of the joint world, and of the library's own communicator of all clients: behind all that are taken. */
#define JOINT_WORLD_ID UINT32_C(0)
#define JOINT_OWN_ID   (P2P_CTX_FOREIGN - 2)
enum { FIRST_WORLD_NUMBER = 0, SELF_NUMBER = 1, OWN_NUMBER = 2, FIRST_NUMBER = 3 };

#define CTX_NUMBERS (P2P_CTX_FOREIGN / 2) /* of each of the two kinds */
#define FIRST_SPREAD (P2P_CTX_SPREAD / 2)
#define CTX_SPARE   (CTX_NUMBERS / 8)    /* of these, for processes that are not in the first world */
#define CTX_FIRST   (CTX_NUMBERS / 8)    /* for the first process of the first world, beside its share */
#define CTX_WORLDS  (UINT32_C(1) << 20)  /* and of those, the last ones, for their worlds */

struct comm_world comm_world;
struct comm comm_own, comm_clients_own;

static struct comm world, self;

static _Atomic uint32_t own_counters[2];

static struct numbers {
    _Atomic uint32_t *next;
    uint32_t end;
} first_lane, spread;

static struct {
    uint32_t first, share, own, spare; /* numbers of the first process, of another one of its world, of these together,
                                        * of one that may come later */
    int ranks, procs;
} parts;

static struct setting contexts = {
    .name = "CONTEXTS",
    .help = "how many contexts each process has before it looks for those that are used no more; 0: all its part",
    .topic = "testing",
    .kind = SETTING_INT,
    .min = 0,
    .max = CTX_NUMBERS,
};
SETTING_LISTED(contexts);

/* A number for one of the lanes [first, end) that has not been used; 0: there is none left. */
static uint32_t take_number(struct numbers *numbers, int first, int end)
{
    uint32_t next = atomic_load_explicit(numbers->next, memory_order_relaxed), number;

    /* relaxed: only that nobody else gets the same number matters */
    do {
        number = next;
        while (p2p_lane_of(2 * number) < first || p2p_lane_of(2 * number) >= end)
            number++;
        if (number >= numbers->end)
            return 0;
    } while (!atomic_compare_exchange_weak_explicit(numbers->next, &next, number + 1, memory_order_relaxed,
                                                    memory_order_relaxed));
    if (unlikely(number != next))
        comm_reuse_unused(next, number - next);
    return number;
}

static NOINLINE int take_used(int lanes, uint32_t *ctx)
{
    uint32_t number = comm_reuse_take(0, lanes);

    if (!number)
        number = take_number(lanes > 1 ? &first_lane : &spread, 0, NET_LANES);
    if (!number)
        number = comm_reuse_take(0, NET_LANES);
    if (!number)
        number = comm_reuse_await();
    *ctx = 2 * number;
    return number ? 0 : err(MPI_ERR_OTHER, "this process has made so many communicators, which have not been freed by "
                            "all their members, that its contexts are used up");
}

int comm_ctx_take(uint32_t *ctx)
{
    const int lanes = p2p_lanes();
    const uint32_t number = take_number(lanes > 1 ? &spread : &first_lane, 0, lanes);

    *ctx = 2 * number;
    return likely(number) ? 0 : take_used(lanes, ctx);
}

int comm_ctx_take_apart(uint32_t *ctx)
{
    uint32_t number = take_number(&spread, P2P_LANE_APART, P2P_LANE_APART + 1);

    if (unlikely(!number))
        number = comm_reuse_take(P2P_LANE_APART, P2P_LANE_APART + 1);
    *ctx = 2 * number;
    return number ? 0 : comm_ctx_take(ctx);
}

void comm_ctx_return(uint32_t ctx)
{
    struct numbers *numbers = ctx < P2P_CTX_SPREAD ? &first_lane : &spread;
    uint32_t after = ctx / 2 + 1;

    if (unlikely(ctx >= P2P_CTX_ABROAD)) {
        comm_circle_return(ctx);
        return;
    }
    if (!ctx || atomic_compare_exchange_strong_explicit(numbers->next, &after, after - 1, memory_order_relaxed,
                                                        memory_order_relaxed))
        return;
    if (!p2p_is_foreign_ctx(ctx))
        comm_reuse_unused(ctx / 2, 1); /* another thread has taken one since, or it has been used before */
}

int comm_ctx_missing(void)
{
    return err(MPI_ERR_OTHER, "E0339: the first process of the new communicator has failed, or has made so many that "
               "it has no context left");
}

void comm_ctx_limit(uint32_t count)
{
    first_lane.end = atomic_load_explicit(first_lane.next, memory_order_relaxed) + count;
    spread.end = 0;
    while (comm_reuse_take(0, NET_LANES))
        ;
}

void comm_ctx_range(const struct comm_place *place, uint32_t *first, uint32_t *count)
{
    const uint32_t spare = (uint32_t)(place->procs - place->ranks), own = CTX_NUMBERS - (spare ? CTX_SPARE : 0);
    const uint32_t share = (own - CTX_FIRST) / (uint32_t)place->ranks;

    if (!place->proc) {
        *count = CTX_FIRST + share;
        *first = 0;
    } else if (place->proc < place->ranks) {
        *count = share;
        *first = CTX_FIRST + (uint32_t)place->proc * share;
    } else {
        *count = (CTX_SPARE - CTX_WORLDS) / spare;
        *first = own + (uint32_t)(place->proc - place->ranks) * *count;
    }
}

int comm_ctx_owner(uint32_t number)
{
    const uint32_t at = number >= FIRST_SPREAD ? number - FIRST_SPREAD : number;
    int proc;

    if (at < parts.first)
        return 0;
    if (at < parts.own) {
        proc = parts.share ? 1 + (int)((at - parts.first) / parts.share) : parts.ranks;
        return proc < parts.ranks ? proc : -1;
    }
    proc = parts.spare ? parts.ranks + (int)((at - parts.own) / parts.spare) : parts.procs;
    return proc < parts.procs ? proc : -1;
}

static void know_parts(const struct comm_place *place)
{
    struct comm_place other = *place;
    uint32_t first;

    parts.ranks = place->ranks;
    parts.procs = place->procs;
    parts.own = CTX_NUMBERS - (place->procs > place->ranks ? CTX_SPARE : 0);
    parts.share = (parts.own - CTX_FIRST) / (uint32_t)place->ranks;
    other.proc = 0;
    comm_ctx_range(&other, &first, &parts.first);
    other.proc = place->ranks;
    parts.spare = 0;
    if (place->procs > place->ranks)
        comm_ctx_range(&other, &first, &parts.spare);
}

/* From `start` on, or from where the last process of this number has stopped. */
static void start_numbers(struct numbers *numbers, _Atomic uint32_t *next, uint32_t start, uint32_t end)
{
    numbers->next = next;
    numbers->end = end;
    if (next == &own_counters[0] || next == &own_counters[1] || !atomic_load_explicit(next, memory_order_relaxed))
        atomic_store_explicit(next, start, memory_order_relaxed);
}

void comm_ctx_start(const struct comm_place *place)
{
    _Atomic uint32_t *counters = place->contexts ? place->contexts : own_counters;
    uint32_t first, count;

    know_parts(place);
    comm_ctx_range(place, &first, &count);
    if (contexts.value && (uint32_t)contexts.value + FIRST_NUMBER < count)
        count = (uint32_t)contexts.value + FIRST_NUMBER;
    start_numbers(&first_lane, &counters[0], first ? first : FIRST_NUMBER, first + count);
    start_numbers(&spread, &counters[1], FIRST_SPREAD + first, FIRST_SPREAD + first + count);
}

static uint32_t world_number(void)
{
    return comm_world.number ? CTX_NUMBERS - 1 - (uint32_t)comm_world.number % CTX_WORLDS : FIRST_WORLD_NUMBER;
}

/* Takes over the group; no handle leads to it yet. */
static int open_group(struct comm *comm, uint32_t ctx, const char *name, struct group *group)
{
    int rc;

    *comm = (struct comm){
        .rank = group->rank,
        .size = group->size,
        .remote_size = group->size,
        .ctx = ctx,
        .shelf.number = p2p_is_foreign_ctx(ctx) ? -1 : 0,
        .group = group,
        .remote_group = group,
        .errhandler = &errhandler_fatal,
    };
    obj_init(&comm->obj, OBJ_COMM);
    snprintf(comm->name, sizeof comm->name, "%s", name);
    rc = p2p_comm_open(comm);
    if (rc)
        group_unref(group);
    return rc;
}

/* Group first, first + 1, … first + size - 1. */
static int fill_and_open(struct comm *comm, uint32_t number, const char *name, int first, int size)
{
    struct group *group;
    const int rc = group_create_stride(size, first, 1, comm_world.proc, &group);

    return rc ? rc : open_group(comm, 2 * number, name, group);
}

/* The processes of all clients, in their order. */
static int open_joint(struct comm *comm, uint32_t id, const char *name)
{
    const struct joint *joint = comm_world.joint;
    int *procs = mem_alloc(joint->procs * sizeof *procs), rc;
    struct group *group;

    if (!procs)
        return err(MPI_ERR_NO_MEM, "no memory for a group of %u", joint->procs);
    for (int rank = 0; rank < (int)joint->procs; rank++)
        procs[rank] = joint_number(joint, rank);
    rc = group_create_list((int)joint->procs, procs, comm_world.proc, &group);
    mem_free(procs);
    return rc ? rc : open_group(comm, P2P_CTX_FOREIGN + id, name, group);
}

/* Its handle, if it had one, leads nowhere from now on. */
static void close_and_empty(struct comm *comm)
{
    coll_comm_close(comm);
    p2p_comm_close(comm);
    attr_drop_all(&comm->attrs);
    errhandler_unref(comm->errhandler);
    group_unref(comm->group);
    comm->obj.kind = OBJ_FREED;
}

/* The library's own communicator, and what it is for. */
static int open_own(const struct comm_place *place)
{
    const uint32_t next = atomic_load_explicit(first_lane.next, memory_order_relaxed);
    int rc = fill_and_open(&comm_own, OWN_NUMBER, "the library's own communicator", 0, place->procs);

    if (rc)
        return rc;
    rc = comm_reuse_open(place->procs, first_lane.end - next);
    if (rc)
        close_and_empty(&comm_own);
    return rc;
}

static void close_own(void)
{
    comm_reuse_close();
    close_and_empty(&comm_own);
}

void comm_leave_clients(void)
{
    if (comm_clients_own.obj.kind == OBJ_COMM)
        close_and_empty(&comm_clients_own);
}

int comm_init(const struct comm_place *place)
{
    int rc = setting_read(&contexts);

    if (rc)
        return rc;
    comm_world = (struct comm_world){ place->proc, place->first, place->size, place->world, place->joint, NULL,
                                      { .appnum = -1, .universe_size = -1, .node = 0 } };
    comm_ctx_start(place);
    comm_links_start(place->links);
    rc = open_own(place);
    if (rc || !place->joint)
        return rc;
    comm_clients_start();
    rc = open_joint(&comm_clients_own, JOINT_OWN_ID, "the library's own communicator of all clients");
    if (rc)
        close_own();
    return rc;
}

/* What has been handed out stays so. */
static void go_on_from(_Atomic uint32_t *next, uint32_t used)
{
    if (atomic_load_explicit(next, memory_order_relaxed) < used)
        atomic_store_explicit(next, used, memory_order_relaxed);
}

int comm_grow(const struct comm_place *place)
{
    const uint32_t first = atomic_load_explicit(first_lane.next, memory_order_relaxed);
    const uint32_t other = atomic_load_explicit(spread.next, memory_order_relaxed);

    comm_ctx_start(place);
    go_on_from(first_lane.next, first);
    go_on_from(spread.next, other);
    comm_links_start(place->links);
    comm_reuse_pause();
    close_and_empty(&comm_own);
    return open_own(place);
}

void comm_set_environment(const struct comm_environment *environment)
{
    comm_world.environment = *environment;
}

void comm_fini(void)
{
    comm_drop_strays();
    comm_idup_fini();
    comm_let_leave();
    comm_leave_clients();
    close_own();
}

static int open_world(void)
{
    if (comm_world.joint)
        return open_joint(&world, JOINT_WORLD_ID, "MPI_COMM_WORLD");
    return fill_and_open(&world, world_number(), "MPI_COMM_WORLD", comm_world.first, comm_world.size);
}

int comm_open_world(void)
{
    int rc = open_world();

    if (rc)
        return rc;
    if (!comm_world.number && !comm_world.joint)
        rc = coll_world_open(&world);
    if (!rc)
        rc = fill_and_open(&self, SELF_NUMBER, "MPI_COMM_SELF", comm_world.proc, 1);
    if (rc) {
        close_and_empty(&world);
        return rc;
    }
    obj_predefine(&world.obj, OBJ_COMM, (uintptr_t)MPI_COMM_WORLD);
    obj_predefine(&self.obj, OBJ_COMM, (uintptr_t)MPI_COMM_SELF);
    return 0;
}

int comm_end_world_attrs(void)
{
    const int rc = attr_delete_all(&self.obj, &self.attrs);

    return rc ? rc : attr_delete_all(&world.obj, &world.attrs);
}

void comm_set_parent(struct comm *comm)
{
    comm_world.parent = comm;
}

struct comm *comm_parent(void)
{
    return comm_world.parent;
}

void comm_leave_parent(void)
{
    struct comm *parent = comm_world.parent;

    comm_set_parent(NULL);
    if (!parent)
        return;
    attr_drop_all(&parent->attrs);
    comm_unref(parent);
}

void comm_close_world(void)
{
    comm_leave_parent();
    close_and_empty(&self);
    close_and_empty(&world);
}
