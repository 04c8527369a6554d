/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls through shared memory between processes that share a segment: all of them, of all lengths, with members that
 * come late, with fewer and with more processors than processes, and when numbers of rounds go around; who is waited
 * for; calls that do not go together. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "coll/int_node.h"
#include "coll/node_any.h"
#include "obj/blocked.h"
#include "sys/bell.h"
#include "sys/wake.h"

#define SAME(buffer, number, datatype)            (&COLL_SAME(buffer, number, datatype))
#define VARYING(buffer, numbers, places, datatype) (&COLL_VARYING(buffer, numbers, places, datatype))

enum { MAX_RANKS = 70, ROUNDS = 300, MAX_ITEMS = 60000 };

static struct coll_config config = { .segment_fd = -1 }; /* of a job segment … */
static char *memory;                                     /* … its head and processes */
static _Atomic int *counts;                              /* rounds that each rank has come to */

static void map(int procs)
{
    const size_t offset = job_transport_offset(procs);
    const int fd = memfd_create("segment", MFD_CLOEXEC);

    close(config.segment_fd);
    CHECK_INT(ftruncate(fd, (off_t)(offset + JOB_PAGE)), 0);
    memory = mmap(NULL, offset, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    counts = mmap(NULL, JOB_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED && counts != MAP_FAILED);
    config = (struct coll_config){ (struct job_head *)(void *)memory, fd, offset, procs, NULL };
    config.segment->slots = (uint32_t)procs;
    coll_fini();
    CHECK_INT(coll_init(&config), 0);
}

typedef void body_fn(struct comm *comm);

static int run_rank(int rank, int size, struct comm_shelf shelf, bool is_crowded, body_fn *body)
{
    const struct progress_config waiting = { .sleep_word = &job_proc(memory, rank)->sleep, .local_ranks = size,
                                            .cpus = is_crowded ? 1 : size, .has_fences = is_crowded,
                                            .is_oversubscribed = is_crowded };
    struct group *group;
    struct comm comm;

    alarm(300); /* an endless loop is a failure */
    CHECK_INT(coll_init(&config), 0); /* forked children do not have what is shared */
    atomic_store(&job_proc(memory, rank)->pid, (int32_t)getpid());
    wake_barrier_init();
    progress_init(&waiting);
    CHECK_INT(group_create_stride(size, 0, 1, rank, &group), 0);
    comm = (struct comm){ .rank = rank, .size = size, .group = group, .remote_group = group };
    CHECK(shelf_open(&comm, shelf));
    body(&comm);
    coll_comm_close(&comm);
    group_unref(group);
    progress_fini();
    return 0;
}

static void run(int size, bool is_crowded, uint32_t first_round, body_fn *body)
{
    struct comm comm = { .size = size };
    struct comm_shelf shelf;

    map(size);
    for (int rank = 0; rank < size; rank++) { /* others have had it before */
        shelf = rank ? (struct comm_shelf){ SHELF_WORLD + 1, 0 } : shelf_take(&comm);
        CHECK(!rank || shelf_open(&comm, shelf));
        comm.shelf.round = first_round;
        shelf_leave(&comm);
    }
    shelf = shelf_take(&comm);
    CHECK_INT(shelf.number, SHELF_WORLD + 1);
    CHECK_INT(shelf.round, first_round ? first_round : 1); /* 0 would be a new one */
    for (int rank = 0; rank < size; rank++) {
        if (!fork())
            _exit(run_rank(rank, size, shelf, is_crowded, body));
    }
    for (int rank = 0; rank < size; rank++) {
        int status;
        CHECK(wait(&status) > 0);
        CHECK_INT(status, 0);
    }
    CHECK_INT(shelf_take(&comm).number, shelf.number); /* all have left it */
}

/* Nobody leaves a round before all have come to it. */
static void barriers(struct comm *comm)
{
    for (int round = 1; round <= ROUNDS; round++) {
        atomic_store(&counts[comm->rank], round);
        if (round % 64 == comm->rank % 64)
            usleep(200); /* the others sleep */
        CHECK_INT(node_barrier(comm), 0);
        for (int other = 0; other < comm->size; other++)
            CHECK(atomic_load(&counts[other]) >= round);
    }
}

/* Rank 1 says that it sleeps, and does not: who looks wakes it only if what it waits for has come. Rank 3 has not come
 * to the second round, and rank 0 to step 2 there. Where posts have fences, all must have come, else the next one. */
static bool is_woken(struct node_call *call, uint64_t wants)
{
    _Atomic uint32_t *sleep = &job_proc(memory, 1)->sleep;
    bool is;

    atomic_store(&shelf_member(call->comm, 1)->wants, wants);
    atomic_store(sleep, SLEEP_ON_WORD);
    node_wake_all(call);
    is = !atomic_load(sleep);
    atomic_store(sleep, 0);
    return is;
}

static void look_who_wakes(struct node_call *call)
{
    const uint32_t round = call->round;
    const bool sees_all = progress.has_fences;

    CHECK(is_woken(call, node_wants(round, 0, 0, 1)));
    CHECK(is_woken(call, node_wants(round - 1, 0, 2, 3)));
    CHECK(is_woken(call, node_wants(round, 0, 2, 4)) == !sees_all); /* rank 3 has not come */
    CHECK(is_woken(call, node_wants(round, 0, 2, 3)));
    CHECK(!is_woken(call, node_wants(round, 0, 3, 4)));
    CHECK(!is_woken(call, node_wants(round + 1, 0, 0, 1)));
    CHECK(is_woken(call, node_wants(round, 2, 0, 1)));
    CHECK(!is_woken(call, node_wants(round, 3, 0, 1)));
    CHECK(!is_woken(call, node_wants(round, 1, 2, 3)));
    CHECK(!is_woken(call, 0)); /* it sleeps for something else */
    CHECK(is_woken(call, node_wants(round + 1, 0, 1 << 12, 1 << 13))); /* that is not told */
}

/* Rank 3 comes when rank 1 has been woken: who waits for it wakes rank 1 before. */
static void wake_before_wait(struct node_call *call, struct shelf_line *line)
{
    _Atomic uint32_t *sleep = &job_proc(memory, 1)->sleep;

    if (call->comm->rank == 0) {
        atomic_store(&shelf_member(call->comm, 1)->wants, node_wants(call->round, 0, 0, 1));
        atomic_store(sleep, SLEEP_ON_WORD);
        atomic_store(&counts[1], 1);
        node_await_late(call, call->round, 3, 4);
    } else if (call->comm->rank == 3) {
        while (!atomic_load(&counts[1]) || atomic_load(sleep))
            usleep(100);
        node_post(call, line);
    }
}

static void wakes(struct comm *comm)
{
    struct node_call call = { .comm = comm, .what = node_what(COLL_BARRIER, -1) };
    struct shelf_line *line;

    for (int i = 0; i < 2; i++) {
        line = node_open(&call, false);
        if (comm->rank != 3 || !i)
            node_post(&call, line);
    }
    atomic_fetch_add(&counts[0], 1);
    while (atomic_load(&counts[0]) < comm->size)
        usleep(100);
    if (comm->rank == 0) {
        node_step(&call, 2);
        look_who_wakes(&call);
    }
    wake_before_wait(&call, line);
    if (comm->rank == 0)
        atomic_fetch_add(&counts[0], 1);
    while (atomic_load(&counts[0]) <= comm->size)
        usleep(100);
}

/* --- data --- */

static uint32_t random_state;

static int random_below(int limit)
{
    random_state = random_state * 1664525 + 1013904223;
    return (int)((random_state >> 8) % (uint32_t)limit);
}

/* Item `i` that `rank` brings to call `call`. */
static int item(int call, int rank, int i)
{
    return call * 7 + rank * 1000003 + i * 31;
}

static int sum(int call, int first, int end, int i)
{
    unsigned all = 0;

    for (int rank = first; rank < end; rank++)
        all += (unsigned)item(call, rank, i);
    return (int)all;
}

static int *in, *out;

static void fill(int call, int rank, int count)
{
    for (int i = 0; i < count; i++) {
        in[i] = item(call, rank, i);
        out[i] = -1;
    }
    out[count] = -1;
}

static void check_moves(struct comm *comm, int call, int count, int root, struct type *type)
{
    const int rank = comm->rank, size = comm->size;
    const struct coll_data *one = SAME(in, count, type), *all = SAME(out, count, type),
                           *blocks = SAME(in, count, type);

    fill(call, rank, count * size);
    CHECK_INT(any_allgather(comm, one, all), 0);
    for (int i = 0; i < count * size; i++)
        CHECK_INT(out[i], item(call, i / count, i % count));
    fill(call, rank, count * size);
    CHECK_INT(any_alltoall(comm, blocks, all), 0);
    for (int i = 0; i < count * size; i++)
        CHECK_INT(out[i], item(call, i / count, rank * count + i % count));
    fill(call, rank, count * size);
    CHECK_INT(any_gather(comm, one, all, root), 0);
    for (int i = 0; i < count * size; i++)
        CHECK_INT(out[i], rank == root ? item(call, i / count, i % count) : -1);
    fill(call, rank, count * size);
    CHECK_INT(any_scatter(comm, blocks, all, root), 0);
    for (int i = 0; i < count; i++)
        CHECK_INT(out[i], item(call, root, rank * count + i));
    CHECK_INT(out[count], -1);
    CHECK_INT(any_bcast(comm, in, count, type, root), 0);
    for (int i = 0; i < count; i++)
        CHECK_INT(in[i], item(call, root, i));
}

static void check_reductions(struct comm *comm, int call, int count, int root)
{
    const int rank = comm->rank, size = comm->size;
    const struct coll_args *args = COLL_ARGS(COLL_OPERATIONS, COLL_SAME(in, count, obj_type(MPI_INT)),
                                             COLL_SAME(out, count, obj_type(MPI_INT)), obj_op(MPI_SUM), root);

    fill(call, rank, count);
    CHECK_INT(any_reduction(comm, COLL_ALLREDUCE, args), 0);
    for (int i = 0; i < count; i++)
        CHECK_INT(out[i], sum(call, 0, size, i));
    fill(call, rank, count);
    CHECK_INT(any_reduction(comm, COLL_REDUCE, args), 0);
    for (int i = 0; i < count; i++)
        CHECK_INT(out[i], rank == root ? sum(call, 0, size, i) : -1);
    fill(call, rank, count);
    CHECK_INT(any_reduction(comm, COLL_SCAN, args), 0);
    for (int i = 0; i < count; i++)
        CHECK_INT(out[i], sum(call, 0, rank + 1, i));
    fill(call, rank, count);
    CHECK_INT(any_reduction(comm, COLL_EXSCAN, args), 0);
    for (int i = 0; i < count; i++)
        CHECK_INT(out[i], rank ? sum(call, 0, rank, i) : -1);
    CHECK_INT(out[count], -1);
}

static void check_reduce_scatter_block(struct comm *comm, int call, int count)
{
    fill(call, comm->rank, count * comm->size);
    CHECK_INT(any_reduction(comm, COLL_REDUCE_SCATTER_BLOCK,
                            COLL_ARGS(COLL_REDUCE_SCATTER_BLOCK, COLL_SAME(in, count, obj_type(MPI_INT)),
                                      COLL_SAME(out, count, obj_type(MPI_INT)), obj_op(MPI_SUM), -1)), 0);
    for (int i = 0; i < count; i++)
        CHECK_INT(out[i], sum(call, 0, comm->size, comm->rank * count + i));
}

/* Counts differ: rank r gets as many items as all before it and a few more. Also in place, where others still read. */
static void check_reduce_scatter(struct comm *comm, int call, int count)
{
    const int rank = comm->rank, size = comm->size;
    int items[MAX_RANKS], before = 0, all = 0;

    for (int r = 0; r < size; r++) {
        items[r] = (r + call) % 3 ? count / size + r : 0;
        before += r < rank ? items[r] : 0;
        all += items[r];
    }
    for (int in_place = 0; in_place < 2; in_place++) {
        int *result = in_place ? in : out;

        fill(call, rank, all);
        CHECK_INT(any_reduction(comm, COLL_REDUCE_SCATTER, COLL_ARGS(COLL_REDUCE_SCATTER,
                                                      COLL_SAME(in_place ? MPI_IN_PLACE : in, 0, obj_type(MPI_INT)),
                                                      COLL_PACKED(result, items, obj_type(MPI_INT)), obj_op(MPI_SUM),
                                                      -1)), 0);
        for (int i = 0; i < items[rank]; i++)
            CHECK_INT(result[i], sum(call, 0, size, before + i));
    }
}

static int step; /* from one item to the next, in int64_t */

/* A run of ranks, first << 32 | last; two runs combine only if the second follows the first. */
static void join_runs(void *left_items, void *right_items, int *len, MPI_Datatype *handle)
{
    const int64_t *left = left_items;
    int64_t *right = right_items;

    (void)handle;
    for (int i = 0; i < *len * step; i += step) {
        const bool follows = (int32_t)left[i] + 1 == (int32_t)(right[i] >> 32) && left[i] >= 0 && right[i] >= 0;
        right[i] = follows ? (left[i] & ~(int64_t)UINT32_MAX) | (int32_t)right[i] : -1;
    }
}

static int64_t run_of(int first, int last)
{
    return (int64_t)first << 32 | last;
}

/* An operator that notices any wrong order, in place; of a type with gaps in every second call. */
static void check_order(struct comm *comm, int call, int count, int root, struct op *in_order, struct type *gaps)
{
    static const enum coll_operation kinds[] = { COLL_ALLREDUCE, COLL_REDUCE, COLL_SCAN, COLL_EXSCAN };
    const int rank = comm->rank, last = comm->size - 1;
    int64_t *data = (int64_t *)(void *)in;
    struct type *type = call % 2 ? gaps : obj_type(MPI_INT64_T);
    const struct coll_args *args = COLL_ARGS(COLL_OPERATIONS, COLL_SAME(MPI_IN_PLACE, count, type),
                                             COLL_SAME(data, count, type), in_order, root);

    step = call % 2 ? 3 : 1;
    for (int kind = 0; kind < 4; kind++) {
        const bool is_root = kind == 1 && rank == root;
        const struct coll_args *apart = COLL_ARGS(COLL_REDUCE, COLL_SAME(data, count, type),
                                                  COLL_SAME(NULL, count, type), in_order, root);
        const int64_t expected[] = { run_of(0, last), is_root ? run_of(0, last) : run_of(rank, rank), run_of(0, rank),
                                     rank ? run_of(0, rank - 1) : run_of(0, 0) };

        for (int i = 0; i < count * step; i++)
            data[i] = i % step ? -7 : run_of(rank, rank);
        CHECK_INT(any_reduction(comm, kinds[kind], kind == 1 && !is_root ? apart : args), 0);
        for (int i = 0; i < count * step; i++)
            CHECK(data[i] == (i % step ? -7 : expected[kind]));
    }
}

/* --- blocks of differing lengths --- */

struct layout {
    int sizes[MAX_RANKS], places[MAX_RANKS];
};

/* Items that go from one member to the other, and back. */
static int between(int call, int a, int b, int unit)
{
    return ((a + b) * 5 + call) % 4 * unit;
}

/* Blocks that `rank` has for each; `is_own`: what each has for all. */
static struct layout layout_of(int call, int rank, int size, int unit, bool is_own)
{
    struct layout l = { { 0 }, { 0 } };

    for (int i = 0, at = 0; i < size; at += l.sizes[i++]) {
        l.sizes[i] = between(call, i, is_own ? i + 1 : rank, unit);
        l.places[i] = at;
    }
    return l;
}

/* Items of `source` from its item `from` on, and between them nothing. */
static void check_block(const int *found, int gap, int call, int source, int from, int count)
{
    for (int i = 0; i < count; i++) {
        CHECK_INT(found[i * gap], item(call, source, from + i));
        CHECK(gap == 1 || found[i * gap + 1] == -1);
    }
}

static void check_alltoall(struct comm *comm, int call, int unit, struct type *type, int gap)
{
    const int size = comm->size, rank = comm->rank;
    const struct layout own = layout_of(call, rank, size, unit, false);
    const struct coll_data *send = VARYING(in, own.sizes, own.places, obj_type(MPI_INT)),
                           *recv = VARYING(out, own.sizes, own.places, type);

    fill(call, rank, size * 3 * unit * 2);
    CHECK_INT(any_alltoall(comm, send, recv), 0);
    for (int source = 0; source < size; source++)
        check_block(out + own.places[source] * gap, gap, call, source,
                    layout_of(call, source, size, unit, false).places[rank], own.sizes[source]);
    send = VARYING(MPI_IN_PLACE, own.sizes, own.places, obj_type(MPI_INT));
    recv = VARYING(in, own.sizes, own.places, obj_type(MPI_INT));
    CHECK_INT(any_alltoall(comm, send, recv), 0);
    for (int source = 0; source < size; source++)
        check_block(in + own.places[source], 1, call, source,
                    layout_of(call, source, size, unit, false).places[rank], own.sizes[source]);
}

/* Types of their own: bytes to odd ranks, and from odd ranks `type`. */
static void check_alltoallw(struct comm *comm, int call, int unit, struct type *type, int gap)
{
    const int size = comm->size, rank = comm->rank, word = sizeof(int);
    const struct layout own = layout_of(call, rank, size, unit, false);
    MPI_Datatype out_types[MAX_RANKS], in_types[MAX_RANKS];
    struct layout sent = own, got = own;

    for (int i = 0; i < size; i++) {
        out_types[i] = i % 2 ? MPI_BYTE : MPI_INT;
        sent.sizes[i] *= i % 2 ? word : 1;
        sent.places[i] *= word;
        in_types[i] = i % 2 ? (MPI_Datatype)obj_handle(&type->obj) : MPI_INT;
        got.places[i] *= gap * word;
    }
    fill(call, rank, size * 3 * unit * 2);
    CHECK_INT(any_alltoall(comm, &COLL_MIXED(in, sent.sizes, sent.places, out_types),
                           &COLL_MIXED(out, got.sizes, got.places, in_types)), 0);
    for (int source = 0; source < size; source++)
        check_block(out + own.places[source] * gap, source % 2 ? gap : 1, call, source,
                    layout_of(call, source, size, unit, false).places[rank], own.sizes[source]);
}

static void check_gather(struct comm *comm, int call, int unit, struct type *type, int gap)
{
    const int size = comm->size, rank = comm->rank, root = call % size;
    const struct layout all = layout_of(call, 0, size, unit, true);
    const struct coll_data *own = SAME(in, all.sizes[rank], obj_type(MPI_INT));
    const int *nothing = NULL;

    for (int to_all = 0; to_all < 2; to_all++) {
        fill(call, rank, size * 3 * unit * 2);
        if (to_all)
            CHECK_INT(any_allgather(comm, own, VARYING(out, all.sizes, all.places, type)), 0);
        else if (rank == root)
            CHECK_INT(any_gather(comm, own, VARYING(out, all.sizes, all.places, type), root), 0);
        else
            CHECK_INT(any_gather(comm, own, VARYING(NULL, nothing, nothing, type), root), 0);
        for (int source = 0; source < size && (to_all || rank == root); source++)
            check_block(out + all.places[source] * gap, gap, call, source, 0, all.sizes[source]);
    }
    fill(call, rank, size * 3 * unit * 2);
    if (rank == root)
        CHECK_INT(any_scatter(comm, VARYING(in, all.sizes, all.places, obj_type(MPI_INT)),
                               SAME(out, all.sizes[rank], type), root), 0);
    else
        CHECK_INT(any_scatter(comm, VARYING(NULL, nothing, nothing, type), SAME(out, all.sizes[rank], type),
                               root), 0);
    check_block(out, gap, call, root, all.places[rank], all.sizes[rank]);
}

/* In every second call what comes has gaps. */
static void check_vectors(struct comm *comm, int call, struct type *gaps)
{
    const int unit = call % 3 == 0 ? 4000 : call % 3 == 1 ? 1 : 190;
    struct type *type = call % 2 ? gaps : obj_type(MPI_INT);

    check_alltoall(comm, call, unit, type, call % 2 + 1);
    check_alltoallw(comm, call, unit, type, call % 2 + 1);
    check_gather(comm, call, unit, type, call % 2 + 1);
}

/* Lengths of all kinds; roots change, so that everybody runs ahead of the others now and then. */
static void calls(struct comm *comm)
{
    const int size = comm->size;

    struct op *in_order;
    struct type *gaps, *int_gaps;

    in = malloc((6 * MAX_ITEMS + 1) * sizeof *in);
    out = malloc((6 * MAX_ITEMS + 1) * sizeof *out);
    type_init();
    op_init();
    CHECK_INT(op_create(join_runs, false, &in_order), 0);
    CHECK_INT(type_resized(obj_type(MPI_INT64_T), 0, 24, false, &gaps), 0);
    CHECK_INT(type_commit(gaps), 0);
    CHECK_INT(type_resized(obj_type(MPI_INT), 0, 2 * sizeof(int), false, &int_gaps), 0);
    CHECK_INT(type_commit(int_gaps), 0);
    random_state = (uint32_t)size;
    for (int call = 0; call < 60; call++) {
        const int limit = call % 6 == 0 ? MAX_ITEMS : call % 3 ? 14 : 1500;
        const int count = random_below(limit), root = random_below(size);

        if (random_below(8) == comm->rank)
            usleep(100);
        check_moves(comm, call, count / (call % 6 ? 1 : size), root, obj_type(MPI_INT));
        check_reductions(comm, call, count, root);
        check_reduce_scatter(comm, call, count);
        check_reduce_scatter_block(comm, call, count / size);
        check_order(comm, call, count, root, in_order, gaps);
        check_vectors(comm, call, int_gaps);
    }
    CHECK(any_short_calls > 20);
    op_unref(in_order);
    type_unref(gaps);
    type_unref(int_gaps);
    free(in);
    free(out);
}

/* One sends to all, who come late: it waits before it writes over what nobody has read. */
static void ahead(struct comm *comm)
{
    for (int i = 0; i < 200; i++) {
        int value = i;

        if (comm->rank && i % 50 == 0)
            usleep(300);
        CHECK_INT(any_bcast(comm, &value, sizeof value, obj_type(MPI_BYTE), 0), 0);
        CHECK_INT(value, i);
    }
}

static void ahead_start(struct comm *comm)
{
    type_init();
    ahead(comm);
}

/* --- steps of long ago --- */

enum { STEP_ITEMS = 1024 };

static bool is_slow;

/* The second member takes its time. */
static void add_slowly(void *from, void *to, int *len, MPI_Datatype *type)
{
    (void)type;
    if (is_slow)
        usleep(20000);
    for (int i = 0; i < *len; i++)
        ((int *)to)[i] += ((const int *)from)[i];
}

static void add_in_slices(struct comm *comm, struct op *op)
{
    int from[STEP_ITEMS], to[STEP_ITEMS];

    for (int i = 0; i < STEP_ITEMS; i++)
        from[i] = item(1, comm->rank, i);
    CHECK_INT(node_allreduce(comm, COLL_ARGS(COLL_ALLREDUCE, COLL_SAME(from, STEP_ITEMS, obj_type(MPI_INT)),
                                             COLL_SAME(to, STEP_ITEMS, obj_type(MPI_INT)), op, 0)), 0);
    for (int i = 0; i < STEP_ITEMS; i++)
        CHECK_INT(to[i], sum(1, 0, comm->size, i));
}

/* As if 2^31 rounds had gone by without any: a step before them is no step of now. */
static void old_steps(struct comm *comm)
{
    struct op *op;

    type_init();
    CHECK_INT(op_create(add_slowly, true, &op), 0);
    add_in_slices(comm, op);
    for (int i = 0; i < 2; i++) {
        comm->shelf.round += 1U << 30;
        comm->shelf_known += 1U << 30;
        for (int round = 0; round < 2 * SHELF_SLOTS; round++)
            CHECK_INT(node_barrier(comm), 0);
    }
    is_slow = comm->rank == 1;
    add_in_slices(comm, op);
    op_unref(op);
}

/* --- who is waited for --- */

static bool is_told; /* of rank 0, as counts[0] is for all */

static void look(struct progress_long *wait)
{
    struct blocked b;

    CHECK(node_describe_wait(wait, &b));
    CHECK(!strcmp(b.call, "MPI_Barrier") && b.is_coll && b.way == BLOCKED_RECEIVING);
    CHECK_INT(b.peer, 1);
    is_told = true;
    atomic_store(&counts[0], 1);
}

static void leave(struct progress_long *wait)
{
    CHECK(is_told && wait);
}

static void be_told(struct comm *comm)
{
    static const struct progress_watch watch = { look, leave };

    if (comm->rank == 0)
        progress_set_watch(&watch);
    while (comm->rank && !atomic_load(&counts[0]))
        usleep(1000);
    CHECK_INT(node_barrier(comm), 0);
    CHECK(comm->rank || is_told);
    CHECK(!node_describe_wait(&(struct progress_long){ NULL }, &(struct blocked){ 0 }));
}

/* --- calls that do not go together: at least one of the two says so, naming both --- */

static void expect(int rc, int class, const char *text)
{
    char found[400];

    if (!rc)
        return;
    CHECK_INT(err_class(rc), class);
    CHECK_INT(err_id(rc), 700);
    err_text(rc, found, sizeof found);
    CHECK(strstr(found, text));
    atomic_fetch_add(&counts[0], 1);
}

static void other_operation(struct comm *comm)
{
    char data[16] = { 0 };

    type_init();
    snprintf(comm->name, sizeof comm->name, "pair");
    const struct coll_data *block = SAME(data, 8, obj_type(MPI_BYTE));
    expect(comm->rank ? any_scatter(comm, block, block, 0) : any_bcast(comm, data, 8, obj_type(MPI_BYTE), 1),
           MPI_ERR_OTHER, "number 1 on pair: rank 0 calls MPI_Bcast(root 1, 8 bytes), "
                          "rank 1 calls MPI_Scatter(root 0, 8 bytes)");
}

static void other_root(struct comm *comm)
{
    char data = 0;

    type_init();
    expect(any_bcast(comm, &data, 1, obj_type(MPI_BYTE), 1 - comm->rank), MPI_ERR_ROOT,
           "rank 0 calls MPI_Bcast(root 1, 1 bytes), rank 1 calls MPI_Bcast(root 0, 1 bytes)");
}

static void other_length(struct comm *comm)
{
    char data[2][16] = { { 0 } };
    const int count = comm->rank ? 8 : 4;

    type_init();
    expect(any_allgather(comm, SAME(MPI_IN_PLACE, 0, NULL), SAME(data, count, obj_type(MPI_BYTE))),
           MPI_ERR_TRUNCATE, "rank 0 calls MPI_Allgather(4 bytes), rank 1 calls MPI_Allgather(8 bytes)");
}

/* One that shows a place that does not exist, and one that brings too little. */
static void bad_places(struct comm *comm)
{
    const struct node_window window = { .in = comm->rank ? 4096 : (uintptr_t)&window };
    struct node_call call;
    char data[16];
    int rc;

    type_init();
    CHECK_INT(node_begin(&call, comm, COLL_REDUCE, 0, 8), 0);
    CHECK_INT(node_show(&call, &window), 0);
    rc = node_fetch(&call, 1 - comm->rank, data, node_window(&call, 1 - comm->rank)->in, 8);
    CHECK_INT(comm->rank ? rc : err_id(rc), comm->rank ? 0 : 701);
    rc = node_push(&call, 1 - comm->rank, data, 4096, 8);
    CHECK_INT(err_id(rc), 701);
    CHECK_INT(err_class(rc), MPI_ERR_BUFFER);
    rc = node_allgather(comm, SAME(data, 4, obj_type(MPI_BYTE)), SAME(data + 4, 6, obj_type(MPI_BYTE)));
    CHECK_INT(err_id(rc), 702);
    CHECK_INT(err_class(rc), MPI_ERR_COUNT);
    CHECK_INT(node_barrier(comm), 0);
}

/* One that has ended, as far as the system says. */
static void gone_member(struct comm *comm)
{
    struct node_call call = { .comm = comm };
    const int pid = fork();
    int own, rc;
    char data[8];

    if (!pid)
        _exit(0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    own = atomic_exchange(&shelf_proc(comm, 1 - comm->rank)->pid, pid);
    rc = node_fetch(&call, 1 - comm->rank, data, (uintptr_t)data, sizeof data);
    CHECK_INT(err_id(rc), 338);
    CHECK_INT(err_class(rc), MPI_ERR_PROC_ABORTED);
    atomic_store(&shelf_proc(comm, 1 - comm->rank)->pid, own);
    CHECK_INT(node_barrier(comm), 0);
}

enum { ROOM = 40000, MORE = 200000 };

/* Rank 0 sends rank 1 a block of `len` bytes, rank 2, if there is one, sends all MORE bytes. */
static void send_other_length(struct comm *comm, int len, int expected)
{
    struct type *type = obj_type(MPI_BYTE);
    int sent[3] = { 8, comm->rank ? 8 : len, 8 }, wanted[3] = { comm->rank == 1 ? ROOM : 8, 8, MORE };
    int from[3] = { 0, 8, MORE }, to[3] = { 0, ROOM, 2 * ROOM };
    char *const brought = malloc(3 * MORE), *const taken = malloc(3 * MORE);
    int rc;

    for (int rank = 0; comm->rank == 2 && rank < 3; rank++)
        sent[rank] = rank == 2 ? 8 : MORE;
    for (int rank = 0; rank < 3; rank++)
        wanted[rank] = rank == comm->rank ? sent[rank] : wanted[rank];
    CHECK(brought && taken);
    memset(brought, comm->rank + 1, 3 * MORE);
    memset(taken, 9, 3 * MORE);
    rc = node_alltoall(comm, VARYING(brought, sent, from, type), VARYING(taken, wanted, to, type));
    CHECK_INT(err_class(rc), comm->rank == 1 ? expected : 0);
    if (comm->rank == 1) {
        const int end = len < ROOM ? len : ROOM;

        CHECK(taken[0] == 1 && taken[end - 1] == 1);
        CHECK(end == ROOM || taken[end] == 9);
    }
    CHECK(comm->size < 3 || comm->rank == 2 || taken[2 * ROOM + MORE - 1] == 3);
    free(brought);
    free(taken);
    CHECK_INT(node_barrier(comm), 0);
}

/* The root's own block does not fit; that of the other one, a long one, comes all the same. */
static void gather_own_too_long(struct comm *comm)
{
    struct type *type = obj_type(MPI_BYTE);
    const int wanted[2] = { 8, MORE }, places[2] = { 0, 8 };
    char *const brought = malloc(MORE), *const taken = malloc(8 + MORE);
    int rc;

    CHECK(brought && taken);
    memset(brought, comm->rank + 1, MORE);
    rc = node_gather(comm, SAME(brought, comm->rank ? MORE : 9, type), VARYING(taken, wanted, places, type), 0);
    CHECK_INT(err_class(rc), comm->rank ? 0 : MPI_ERR_TRUNCATE);
    CHECK(comm->rank || (taken[8] == 2 && taken[8 + MORE - 1] == 2));
    free(brought);
    free(taken);
    CHECK_INT(node_barrier(comm), 0);
}

/* Of blocks whose lengths vary what comes counts, whichever way it comes. */
static void other_lengths(struct comm *comm)
{
    type_init();
    if (comm->size == 2)
        gather_own_too_long(comm);
    send_other_length(comm, ROOM, 0);
    send_other_length(comm, ROOM + 1, MPI_ERR_TRUNCATE);
    send_other_length(comm, ROOM - 1, 0);
    send_other_length(comm, 3 * ROOM, MPI_ERR_TRUNCATE);
    send_other_length(comm, 100, 0);
}

/* Blocks of a gatherv or scatterv that are too long for a cell, for roots that move on and now and then come late; some
 * are too long for a tray as well, some are short. */
enum { TRAY_CALLS = 80, TRAY_ITEMS = 36000 };

static void check_trays(struct comm *comm, int call, int root, struct type *sent)
{
    struct type *type = obj_type(MPI_INT);
    int numbers[MAX_RANKS], places[MAX_RANKS];

    for (int rank = 0, before = 0; rank < comm->size; rank++) {
        numbers[rank] = call % 3 ? (call * 7919 + rank * 10007) % TRAY_ITEMS : 20000;
        places[rank] = before;
        before += numbers[rank];
    }
    for (int i = 0; i < numbers[comm->rank]; i++)
        in[sent == type ? i : 2 * i] = item(call, comm->rank, i);
    if (comm->rank == root && call % 8 == 0)
        usleep(300);
    CHECK_INT(node_gather(comm, SAME(in, numbers[comm->rank], sent), VARYING(out, numbers, places, type), root), 0);
    for (int rank = 0; rank < comm->size && comm->rank == root; rank++)
        for (int i = 0; i < numbers[rank]; i++)
            CHECK_INT(out[places[rank] + i], item(call, rank, i));
    for (int rank = 0; rank < comm->size && comm->rank == root; rank++)
        for (int i = 0; i < numbers[rank]; i++)
            out[places[rank] + i] = item(call + 1, rank, i);
    for (int i = 0; i < TRAY_ITEMS; i++)
        in[i] = -1;
    CHECK_INT(node_scatter(comm, VARYING(out, numbers, places, type), SAME(in, numbers[comm->rank], type), root), 0);
    for (int i = 0; i < TRAY_ITEMS; i++)
        CHECK_INT(in[i], i < numbers[comm->rank] ? item(call + 1, comm->rank, i) : -1);
}

static void trays(struct comm *comm)
{
    struct type *gaps;

    type_init();
    CHECK_INT(type_resized(obj_type(MPI_INT), 0, 2 * sizeof(int), false, &gaps), 0);
    CHECK_INT(type_commit(gaps), 0);
    in = malloc(sizeof *in * 2 * TRAY_ITEMS);
    out = malloc(sizeof *out * (size_t)comm->size * TRAY_ITEMS);
    CHECK(in && out);
    for (int call = 0; call < TRAY_CALLS; call++)
        check_trays(comm, call, call / 5 % 2 ? call % comm->size : 1, call % 4 ? obj_type(MPI_INT) : gaps);
    CHECK(comm->shelf_copies <= 0 || comm->shelf_trays.tray[1].reader > 0);
    CHECK_INT(node_barrier(comm), 0);
    free(in);
    free(out);
}

/* Cells of roots that move on, some rounds of each in a row, with members that read late: nobody writes what another
 * one has not read, and who has others behind it takes other cells instead of waiting. */
enum { CELL_CALLS = 400, CELL_WORDS = 64 };

static uint64_t *cell_of(const struct comm *comm, int rank, uint32_t round)
{
    return (uint64_t *)(void *)shelf_cell(comm, rank, round);
}

static void check_cells(struct node_call *call, int turn)
{
    struct comm *comm = call->comm;
    const int root = turn % comm->size, rounds = 1 + turn % NODE_AHEAD;
    const uint32_t first = comm->shelf.round + 1;

    for (int i = 0; i < rounds; i++) {
        struct shelf_line *line = node_open(call, comm->rank == root);

        for (int word = 0; comm->rank == root && word < CELL_WORDS; word++)
            cell_of(comm, root, call->round)[word] = call->round;
        node_post(call, line);
    }
    node_wake_all(call);
    for (uint32_t round = first; comm->rank != root && round != first + (uint32_t)rounds; round++) {
        CHECK_INT(node_await(call, round, root, root + 1), 0);
        if (round % 16 == (uint32_t)comm->rank)
            usleep(50);
        for (int word = 0; word < CELL_WORDS; word++)
            CHECK(cell_of(comm, root, round)[word] == round);
    }
}

static void cells(struct comm *comm)
{
    struct node_call call = { .comm = comm, .what = node_what(COLL_SCATTERV, -1) };
    uint32_t taken = 0;

    for (int turn = 0; turn < CELL_CALLS; turn++)
        check_cells(&call, turn);
    node_post(&call, node_open(&call, false));
    CHECK_INT(node_meet(&call, call.round), 0);
    call.round += SHELF_SLOTS;
    comm->shelf_known = call.round;
    for (int i = 0; i < SHELF_CELLS; i++, call.round++) /* nobody comes to a round but this one … */
        taken |= 1U << node_take_cell(&call);
    CHECK_INT(taken, (1U << SHELF_CELLS) - 1);
    comm->shelf_known = call.round; /* … until all have */
    CHECK_INT(node_take_cell(&call), 0);
}

/* Blocks of a scatterv, one length for all, through lines and cells; there is room for another length. */
static void slots(struct comm *comm)
{
    int numbers[MAX_RANKS], places[MAX_RANKS];
    struct type *type;

    type_init();
    type = obj_type(MPI_INT);
    in = malloc((6 * MAX_ITEMS + 1) * sizeof *in);
    out = malloc((6 * MAX_ITEMS + 1) * sizeof *out);
    CHECK(in && out);
    for (int call = 0; call < 300; call++) {
        const int count = call * 211 % (call % 2 ? 2200 : 150), root = call % comm->size;
        const int room = count + (call / 2 + comm->rank) % 3 - (count && call > 280 && comm->rank != root);
        int rc;

        for (int rank = 0; rank < comm->size; rank++) {
            numbers[rank] = count;
            places[rank] = rank * count;
        }
        fill(call, comm->rank, count * comm->size);
        rc = any_scatter(comm, VARYING(in, numbers, places, type),
                         SAME(out, comm->rank == root ? count : room, type), root);
        CHECK_INT(err_class(rc), room < count ? MPI_ERR_TRUNCATE : 0);
        check_block(out, 1, call, root, comm->rank * count, room < count ? room : count);
    }
    CHECK(any_short_calls > 20);
    CHECK_INT(node_barrier(comm), 0);
    free(in);
    free(out);
}

/* Both ways are tried, in turns of which all know, and what comes is right in both. counts[]: the ways at each call, as
 * the first one says that comes to it. */
enum { TRIED_CALLS = 60, TRIED_ITEMS = 20000 };

static void check_tried(struct comm *comm, int kind, int call)
{
    const int count = TRIED_ITEMS, size = comm->size, rank = comm->rank, places[] = { 0, count, 2 * count },
              numbers[] = { count, count, count };
    struct type *type = obj_type(MPI_INT);
    const struct coll_data *one = SAME(in, count, type), *all = SAME(out, count, type);
    const struct coll_args *args = COLL_ARGS(COLL_OPERATIONS, COLL_SAME(in, count, type), COLL_SAME(out, count, type),
                                             obj_op(MPI_SUM), -1);

    fill(call, rank, count * size);
    switch (kind) {
    case 0: CHECK_INT(node_alltoall(comm, one, all), 0); break;
    case 1: CHECK_INT(node_alltoall(comm, VARYING(in, numbers, places, type), VARYING(out, numbers, places, type)), 0);
            break;
    case 2: CHECK_INT(node_allgather(comm, one, all), 0); break;
    case 3: CHECK_INT(any_reduction(comm, COLL_ALLREDUCE, args), 0); break;
    default: CHECK_INT(any_reduction(comm, COLL_REDUCE_SCATTER_BLOCK, args), 0);
    }
    for (int i = 0; i < count; i++)
        CHECK_INT(out[i], kind == 4   ? sum(call, 0, size, rank * count + i)
                          : kind == 3 ? sum(call, 0, size, i)
                                      : item(call, 0, kind == 2 ? i : rank * count + i));
}

static void trials(struct comm *comm)
{
    uint8_t seen[COMM_SHELF_WAYS] = { 0 };
    int ways = 0;

    type_init();
    op_init();
    in = malloc(sizeof *in * (3 * TRIED_ITEMS + 1));
    out = malloc(sizeof *out * (3 * TRIED_ITEMS + 1));
    CHECK(in && out);
    for (int call = 0; call < TRIED_CALLS; call++)
        for (int kind = 0; kind < 5; kind++) {
            _Atomic int *said = &counts[16 + call * 5 + kind];
            int none = 0, mine;

            mine = 1;
            for (int slot = 0; slot < COMM_SHELF_WAYS; slot++)
                mine = (mine * 3 + comm->shelf_ways[slot]) % 1000003 + 1;
            if (!atomic_compare_exchange_strong(said, &none, mine))
                CHECK_INT(none, mine);
            check_tried(comm, kind, call);
            for (int slot = 0; slot < COMM_SHELF_WAYS; slot++)
                seen[slot] |= (uint8_t)(1 << comm->shelf_ways[slot]);
        }
    for (int slot = 0; slot < COMM_SHELF_WAYS; slot++)
        ways += seen[slot] & (seen[slot] - 1) ? __builtin_popcount(seen[slot]) : 0;
    if (comm->shelf_copies > 0)
        CHECK_INT(ways, comm->size == 2 ? 3 + 3 + 2 + 2 : 3 + 2 + 2);
    free(in);
    free(out);
}

static void test_disagreement(body_fn *body)
{
    run(2, false, 0, body);
    CHECK(atomic_load(&counts[0]) > 0);
}

int main(void)
{
    for (int size = 2; size <= 9; size++)
        run(size, size % 2, 0, barriers);
    run(4, true, UINT32_MAX - 100, barriers); /* numbers go around */
    run(17, false, 0, barriers);              /* a tree of two floors */
    run(MAX_RANKS, true, 0, barriers);        /* also when crowded */
    setenv("PARLEY_SHARED_COLL_COPY_MIN", "1", 1); /* as where copies by the system are cheap … */
    for (int size = 2; size <= 8; size++)
        run(size, size % 2, UINT32_MAX - 100, calls);
    setenv("PARLEY_SHARED_COLL_COPY_MIN", "100k", 1); /* … and where they are dear */
    for (int size = 2; size <= 6; size++)
        run(size, size % 2, 0, calls);
    for (int i = 0; i < 3; i++) {
        setenv("PARLEY_SHARED_COLL_COPY_MIN", i == 0 ? "1" : i == 1 ? "100k" : "2m", 1);
        run(2, false, 0, other_lengths);
        run(3, true, 0, other_lengths);
    }
    for (int size = 3; size <= 6; size++) /* "2m" still */
        run(size, size % 2, size % 3 ? 0 : UINT32_MAX - 30, trays);
    for (int size = 2; size <= 9; size++) {
        run(size, size % 2, size % 3 ? UINT32_MAX - 500 : 0, cells);
        run(size, size % 2, size % 3 ? UINT32_MAX - 100 : 0, slots);
    }
    unsetenv("PARLEY_SHARED_COLL_COPY_MIN");
    run(2, false, 0, calls);
    run(2, false, 0, trials);
    run(3, false, UINT32_MAX - 100, trials);
    setenv("PARLEY_SINGLE_COPY", "0", 1);
    run(2, true, 0, calls);
    run(3, true, 0, calls);
    unsetenv("PARLEY_SINGLE_COPY");
    run(3, false, UINT32_MAX - 100, ahead_start);
    run(5, true, 0, ahead_start);
    run(3, true, 0, old_steps);
    run(4, true, 0, wakes);
    run(4, false, 0, wakes);
    run(2, false, 0, be_told);
    run(2, false, 0, bad_places);
    run(2, false, 0, gone_member);
    test_disagreement(other_operation);
    test_disagreement(other_root);
    test_disagreement(other_length);
    return 0;
}
