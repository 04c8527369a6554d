/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Gather(v) and MPI_Scatter(v) (MPI 5.0 §6.5, §6.6).
 *
 *   linear             the root deals with each of the others, each block straight to its place; n - 1 messages of m
 *                      bytes at the root, no temporary memory
 *   throttled:window   the same with a limit to what is under way at once; to gather, the root asks for each block by
 *                      an empty message, so that nothing comes before there is a place for it
 *   binomial           a tree in which each process has the blocks of a run of places, counted from the root;
 *                      ceil(log2 n) rounds, (n - 1) m bytes at the root, up to n m / 2 bytes of temporary memory
 *                      elsewhere. Equal blocks only: only the root knows of others */
#include "coll/algorithms.h"

enum { SUB_ASK = 2 };

static void keep_own(struct sched *s, const struct coll_args *args)
{
    if (!coll_is_in_place(args->send.buf))
        sched_copy(s, coll_data_block(&args->send, 0), coll_data_block(&args->recv, s->comm->rank), AT_ONCE);
}

static void take_own(struct sched *s, const struct coll_args *args)
{
    if (!coll_is_in_place(args->recv.buf))
        sched_copy(s, coll_data_block(&args->send, s->comm->rank), coll_data_block(&args->recv, 0), AT_ONCE);
}

void coll_gather_linear(struct sched *s, const struct coll_args *args)
{
    const int rank = s->comm->rank;

    if (rank != args->root) {
        sched_send(s, coll_data_block(&args->send, 0), args->root, 0, AT_ONCE);
        return;
    }
    for (int source = 0; source < s->comm->size; source++) {
        if (source != rank)
            sched_recv(s, coll_data_block(&args->recv, source), source, 0, AT_ONCE);
    }
    keep_own(s, args);
}

void coll_scatter_linear(struct sched *s, const struct coll_args *args)
{
    const int rank = s->comm->rank;

    if (rank != args->root) {
        sched_recv(s, coll_data_block(&args->recv, 0), args->root, 0, AT_ONCE);
        return;
    }
    for (int i = 1; i < s->comm->size; i++) { /* the next ones first: one of them may be the root of the next call */
        const int dest = (rank + i) % s->comm->size;

        sched_send(s, coll_data_block(&args->send, dest), dest, 0, AT_ONCE);
    }
    take_own(s, args);
}

/* --- with a limit: a message waits for the one that is `window` before it, whose step lies in `over` --- */

static int *begin_window(struct sched *s)
{
    int *over = sched_bytes(s, (size_t)s->parameter * sizeof *over);

    for (long i = 0; over && i < s->parameter; i++)
        over[i] = SCHED_NONE;
    return over;
}

void coll_gather_throttled(struct sched *s, const struct coll_args *args)
{
    const struct coll_block nothing = coll_byte_block(NULL, 0);
    const int rank = s->comm->rank, size = s->comm->size;
    int *over;

    if (rank != args->root) {
        const int asked = sched_recv(s, nothing, args->root, SUB_ASK, AT_ONCE);
        sched_send(s, coll_data_block(&args->send, 0), args->root, 0, AFTER(asked));
        return;
    }
    over = begin_window(s);
    for (int i = 1; over && i < size; i++) {
        const int source = (rank + i) % size;
        int *turn = &over[i % s->parameter];
        const int got = sched_recv(s, coll_data_block(&args->recv, source), source, 0, AFTER(*turn));

        sched_send(s, nothing, source, SUB_ASK, AFTER(*turn));
        *turn = got;
    }
    keep_own(s, args);
}

void coll_scatter_throttled(struct sched *s, const struct coll_args *args)
{
    const int rank = s->comm->rank, size = s->comm->size;
    int *over;

    if (rank != args->root) {
        sched_recv(s, coll_data_block(&args->recv, 0), args->root, 0, AT_ONCE);
        return;
    }
    over = begin_window(s);
    for (int i = 1; over && i < size; i++) {
        const int dest = (rank + i) % size;
        int *turn = &over[i % s->parameter];

        *turn = sched_send(s, coll_data_block(&args->send, dest), dest, 0, AFTER(*turn));
    }
    take_own(s, args);
}

/* --- trees --- */

/* The run of blocks at `place`, itself and those below: how many, and of these those before the end of the ranks. */
struct run {
    int blocks, before_end;
};

static struct run run_at(const struct coll_team *team, int place)
{
    const int below = place & -place, rank = coll_team_rank(team, place);
    struct run run = { below < team->size - place ? below : team->size - place, 0 };

    run.before_end = run.blocks < team->size - rank ? run.blocks : team->size - rank;
    return run;
}

/* Between the root and the run at a place: one message or two, since at the root the end of the ranks divides it. */
static void with_root(struct sched *s, const struct coll_team *team, const struct coll_args *args, int place)
{
    const int rank = coll_team_rank(team, place);
    const bool is_gather = args->operation == COLL_GATHER;
    const struct coll_range range =
        coll_range_around(is_gather ? &args->recv : &args->send, rank, run_at(team, place).blocks, team->size);

    for (int i = 0; i < range.parts; i++) {
        if (is_gather)
            sched_recv(s, range.part[i], rank, i, AT_ONCE);
        else
            sched_send(s, range.part[i], rank, i, AT_ONCE);
    }
}

/* A packed run, cut as the other side cuts it. */
static struct coll_range packed_run(void *buf, size_t len, struct run run, int parent)
{
    const int first = parent ? run.blocks : run.before_end;
    struct coll_range range = { .parts = 1 + (first < run.blocks) };

    range.part[0] = coll_byte_block(buf, (size_t)first * len);
    range.part[1] = coll_byte_block(coll_address(buf, (MPI_Count)((size_t)first * len)),
                                    (size_t)(run.blocks - first) * len);
    return range;
}

void coll_gather_binomial(struct sched *s, const struct coll_args *args)
{
    const struct coll_team team = coll_team_all(s, args->root);
    const int place = team.place, parent = place & (place - 1);
    const struct run run = run_at(&team, place);
    struct coll_block own;
    struct coll_range range;
    size_t len;
    void *all;
    int last;

    if (!place) {
        for (int below = 1; below < team.size; below += below)
            with_root(s, &team, args, below);
        keep_own(s, args);
        return;
    }
    own = coll_data_block(&args->send, 0);
    len = coll_bytes(&own);
    if (run.blocks == 1) {
        sched_send(s, own, coll_team_rank(&team, parent), 0, AT_ONCE);
        return;
    }
    all = sched_bytes(s, len * (size_t)run.blocks);
    last = sched_copy(s, own, coll_byte_block(all, len), AT_ONCE);
    for (int distance = 1; distance < run.blocks; distance += distance) {
        const struct run below = run_at(&team, place + distance);
        const struct coll_block block = coll_byte_block(coll_address(all, (MPI_Count)len * distance),
                                                        len * (size_t)below.blocks);
        last = sched_join(s, AFTER(last, sched_recv(s, block, coll_team_rank(&team, place + distance), 0, AT_ONCE)));
    }
    range = packed_run(all, len, run, parent);
    for (int i = 0; i < range.parts; i++)
        sched_send(s, range.part[i], coll_team_rank(&team, parent), i, AFTER(last));
}

void coll_scatter_binomial(struct sched *s, const struct coll_args *args)
{
    const struct coll_team team = coll_team_all(s, args->root);
    const int place = team.place, parent = place & (place - 1);
    const struct run run = run_at(&team, place);
    struct coll_block own;
    struct coll_range range;
    size_t len;
    void *all;
    int last = SCHED_NONE, distance = 1;

    if (!place) {
        while (distance < team.size)
            distance += distance;
        while ((distance /= 2) > 0)
            with_root(s, &team, args, distance);
        take_own(s, args);
        return;
    }
    own = coll_data_block(&args->recv, 0);
    len = coll_bytes(&own);
    if (run.blocks == 1) {
        sched_recv(s, own, coll_team_rank(&team, parent), 0, AT_ONCE);
        return;
    }
    all = sched_bytes(s, len * (size_t)run.blocks);
    range = packed_run(all, len, run, parent);
    for (int i = 0; i < range.parts; i++)
        last = sched_join(s, AFTER(last, sched_recv(s, range.part[i], coll_team_rank(&team, parent), i, AT_ONCE)));
    for (distance = (place & -place) / 2; distance > 0; distance /= 2) {
        if (distance < run.blocks)
            sched_send(s, coll_byte_block(coll_address(all, (MPI_Count)len * distance),
                                          len * (size_t)run_at(&team, place + distance).blocks),
                       coll_team_rank(&team, place + distance), 0, AFTER(last));
    }
    sched_copy(s, coll_byte_block(all, len), own, AFTER(last));
}
