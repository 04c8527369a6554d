/* SPDX-License-Identifier: BSD-3-Clause */
/* Every algorithm on N simulated ranks: each is a thread of this process, and the three functions of p2p that
 * the algorithms use are replaced by queues in memory. Results are compared with what the standard says for
 * each rank. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/list.h"
#include "base/mem.h"
#include "coll/int_coll.h"
#include "p2p/p2p.h"

enum { MAX_RANKS = 33, COUNT = 3, CANARY = 0x5a };

/* --- messages --- */

struct packet {
    struct list link;
    int source, tag;
    size_t len;
    unsigned char data[];
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t arrived;
    struct list queue[MAX_RANKS]; /* guarded by lock */
    int sent;                     /* guarded by lock */
} sim = { .lock = PTHREAD_MUTEX_INITIALIZER, .arrived = PTHREAD_COND_INITIALIZER };

int p2p_send_mode(struct comm *comm, const void *buf, MPI_Count count, struct type *type, int dest, int tag,
             int mode)
{
    const size_t len = type_bytes(type, count);
    struct packet *packet;

    CHECK_INT(mode, P2P_COLL);
    CHECK(tag != MPI_ANY_TAG);
    if (dest == MPI_PROC_NULL)
        return 0;
    CHECK(dest >= 0 && dest < comm->size);
    packet = mem_alloc(sizeof *packet + len);
    packet->source = comm->rank;
    packet->tag = tag;
    packet->len = len;
    type_pack(type, buf, count, 0, packet->data, len);
    pthread_mutex_lock(&sim.lock);
    list_append(&sim.queue[dest], &packet->link);
    sim.sent++;
    pthread_cond_broadcast(&sim.arrived);
    pthread_mutex_unlock(&sim.lock);
    return 0;
}

static struct packet *find(int rank, int source, int tag)
{
    LIST_FOR_EACH(link, &sim.queue[rank]) {
        struct packet *packet = CONTAINER_OF(link, struct packet, link);
        if (packet->source == source && packet->tag == tag)
            return packet;
    }
    return NULL;
}

int p2p_recv(struct comm *comm, void *buf, MPI_Count count, struct type *type, int source, int tag, int mode,
             MPI_Status *status)
{
    struct packet *packet;

    CHECK_INT(mode, P2P_COLL);
    CHECK(!status);
    if (source == MPI_PROC_NULL)
        return 0;
    CHECK(source >= 0 && source < comm->size);
    pthread_mutex_lock(&sim.lock);
    while (!(packet = find(comm->rank, source, tag)))
        pthread_cond_wait(&sim.arrived, &sim.lock);
    list_remove(&packet->link);
    pthread_mutex_unlock(&sim.lock);
    CHECK_INT(packet->len, type_bytes(type, count));
    type_unpack(type, buf, count, 0, packet->data, packet->len);
    mem_free(packet);
    return 0;
}

int p2p_sendrecv(struct comm *comm, const struct p2p_sendrecv *args, int mode, MPI_Status *status)
{
    p2p_send_mode(comm, args->send_buf, args->send_count, args->send_type, args->dest, args->send_tag, mode);
    return p2p_recv(comm, args->recv_buf, args->recv_count, args->recv_type, args->source, args->recv_tag,
                    mode, status);
}

/* --- operands --- */

/* A run of ranks, first << 32 | last; two runs combine only if the second follows the first. */
static void join_runs(void *in, void *inout, int *len, MPI_Datatype *handle)
{
    const int64_t *left = in;
    int64_t *right = inout;

    (void)handle;
    for (int i = 0; i < *len; i++) {
        const bool follows =
            (int32_t)left[i] + 1 == (int32_t)(right[i] >> 32) && left[i] >= 0 && right[i] >= 0;
        right[i] = follows ? (left[i] & ~(int64_t)UINT32_MAX) | (int32_t)right[i] : -1;
    }
}

static int64_t run(int first, int last)
{
    return (int64_t)first << 32 | last;
}

static struct op *in_order;

struct pair {
    double value;
    int index;
    unsigned char gap[4];
};

/* --- what each rank does --- */

static void test_bcast(struct comm *comm)
{
    for (int root = 0; root < comm->size; root++) {
        int data[COUNT];

        for (int i = 0; i < COUNT; i++)
            data[i] = comm->rank == root ? root * 10 + i : -1;
        CHECK_INT(coll_bcast(comm, data, COUNT, obj_type(MPI_INT), root), 0);
        for (int i = 0; i < COUNT; i++)
            CHECK_INT(data[i], root * 10 + i);
        CHECK_INT(coll_bcast(comm, NULL, 0, obj_type(MPI_INT), root), 0);
    }
}

/* Rank r has r % 4 items in the v forms; item i of them is r * 100 + i. Displacements leave a gap of one. */
static void fill_layout(int size, int *counts, MPI_Count *displs)
{
    for (int rank = 0, at = 1; rank < size; at += counts[rank++] + 1) {
        counts[rank] = rank % 4;
        displs[rank] = at;
    }
}

static void check_layout(int size, const int *items, const int *counts, const MPI_Count *displs)
{
    for (int rank = 0; rank < size; rank++) {
        CHECK_INT(items[displs[rank] - 1], -1);
        for (int i = 0; i < counts[rank]; i++)
            CHECK_INT(items[displs[rank] + i], rank * 100 + i);
    }
}

static void test_gather_scatter(struct comm *comm)
{
    struct type *type = obj_type(MPI_INT);
    const int size = comm->size, rank = comm->rank;
    int counts[MAX_RANKS], own[COUNT] = { rank * 100, rank * 100 + 1, rank * 100 + 2 }, back[COUNT],
                           all[MAX_RANKS * 5];
    MPI_Count displs[MAX_RANKS];

    fill_layout(size, counts, displs);
    for (int root = 0; root < size; root++) {
        const bool in_place = rank == root && root % 2;

        memset(all, -1, sizeof all);
        if (in_place)
            memcpy(all + displs[rank], own, (size_t)counts[rank] * sizeof *own);
        CHECK_INT(coll_gather(comm, COLL_SAME(in_place ? MPI_IN_PLACE : own, counts[rank], type),
                              COLL_VARYING(all, counts, displs, type), root),
                  0);
        if (rank == root)
            check_layout(size, all, counts, displs);
        memset(back, -1, sizeof back);
        if (in_place)
            memcpy(back, own, (size_t)counts[rank] * sizeof *own);
        CHECK_INT(coll_scatter(comm, COLL_VARYING(all, counts, displs, type),
                               COLL_SAME(in_place ? MPI_IN_PLACE : back, counts[rank], type), root),
                  0);
        for (int i = 0; i < COUNT; i++)
            CHECK_INT(back[i], i < counts[rank] ? rank * 100 + i : -1);
    }
}

static void test_allgather(struct comm *comm)
{
    struct type *type = obj_type(MPI_INT);
    const int size = comm->size, rank = comm->rank;
    int counts[MAX_RANKS], own[COUNT] = { rank * 100, rank * 100 + 1, rank * 100 + 2 }, all[MAX_RANKS * 5];
    MPI_Count displs[MAX_RANKS];

    fill_layout(size, counts, displs);
    for (int in_place = 0; in_place < 2; in_place++) {
        memset(all, -1, sizeof all);
        if (in_place)
            memcpy(all + rank * COUNT, own, sizeof own);
        CHECK_INT(coll_allgather(comm,
                                 COLL_SAME(in_place ? MPI_IN_PLACE : own, COUNT, in_place ? NULL : type),
                                 COLL_SAME(all, COUNT, type)),
                  0);
        for (int i = 0; i < size * COUNT; i++)
            CHECK_INT(all[i], i / COUNT * 100 + i % COUNT);
        CHECK_INT(all[size * COUNT], -1);
        memset(all, -1, sizeof all);
        if (in_place)
            memcpy(all + displs[rank], own, (size_t)counts[rank] * sizeof *own);
        CHECK_INT(coll_allgatherv(comm, COLL_SAME(in_place ? MPI_IN_PLACE : own, counts[rank], type),
                                  COLL_VARYING(all, counts, displs, type)),
                  0);
        check_layout(size, all, counts, displs);
    }
}

/* Between ranks a and b travel (a + b) % 3 items; as integers, or with types of their own for each. */
static void test_alltoall(struct comm *comm)
{
    const int size = comm->size, rank = comm->rank;
    int out[MAX_RANKS][COUNT], in[MAX_RANKS][COUNT];
    int counts[MAX_RANKS], places[MAX_RANKS], bytes[MAX_RANKS];
    MPI_Datatype types[MAX_RANKS];

    for (int form = 0; form < 4; form++) {
        const bool in_place = form & 1;
        int rc;

        for (int peer = 0; peer < size; peer++) {
            counts[peer] = (rank + peer) % 3;
            places[peer] = peer * COUNT;
            bytes[peer] = peer * (int)sizeof out[0];
            types[peer] = (rank + peer) % 2 ? MPI_INT : MPI_UNSIGNED;
            for (int i = 0; i < COUNT; i++) {
                out[peer][i] = rank * 1000 + peer * 10 + i;
                in[peer][i] = in_place && i < counts[peer] ? out[peer][i] : -1;
            }
        }
        if (form < 2)
            rc = coll_alltoall(comm,
                               COLL_VARYING(in_place ? MPI_IN_PLACE : out, counts, places, obj_type(MPI_INT)),
                               COLL_VARYING(in, counts, places, obj_type(MPI_INT)));
        else
            rc = coll_alltoall(comm, COLL_MIXED(in_place ? MPI_IN_PLACE : out, counts, bytes, types),
                               COLL_MIXED(in, counts, bytes, types));
        CHECK_INT(rc, 0);
        for (int peer = 0; peer < size; peer++) {
            for (int i = 0; i < COUNT; i++)
                CHECK_INT(in[peer][i], i < counts[peer] ? peer * 1000 + rank * 10 + i : -1);
        }
    }
}

static void test_reduce(struct comm *comm)
{
    const int size = comm->size, rank = comm->rank, sum = size * (size - 1) / 2;

    for (int root = 0; root < size; root++) {
        const bool in_place = rank == root && root % 2;
        int64_t mine[COUNT], result[COUNT];
        int number = rank, total = -1;

        for (int i = 0; i < COUNT; i++) {
            mine[i] = run(rank, rank);
            result[i] = in_place ? mine[i] : -7;
        }
        CHECK_INT(coll_reduce(comm,
                              COLL_REDUCTION(in_place ? MPI_IN_PLACE : mine, result, COUNT,
                                             obj_type(MPI_INT64_T), in_order),
                              root),
                  0);
        CHECK_INT(
            coll_reduce(comm, COLL_REDUCTION(&number, &total, 1, obj_type(MPI_INT), obj_op(MPI_SUM)), root),
            0);
        for (int i = 0; i < COUNT; i++) {
            CHECK_INT(mine[i], run(rank, rank));
            CHECK_INT(result[i], rank == root ? run(0, size - 1) : -7);
        }
        CHECK_INT(total, rank == root ? sum : -1);
    }
}

static void test_all_reductions(struct comm *comm, bool in_place)
{
    const int size = comm->size, rank = comm->rank;
    int64_t mine = run(rank, rank), all = mine, scan = mine, exscan = mine, blocks[MAX_RANKS],
            block[MAX_RANKS];
    int counts[MAX_RANKS];
    struct type *type = obj_type(MPI_INT64_T);

    CHECK_INT(coll_allreduce(comm, COLL_REDUCTION(in_place ? MPI_IN_PLACE : &mine, &all, 1, type, in_order)),
              0);
    CHECK_INT(all, run(0, size - 1));
    CHECK_INT(coll_scan(comm, COLL_REDUCTION(in_place ? MPI_IN_PLACE : &mine, &scan, 1, type, in_order)), 0);
    CHECK_INT(scan, run(0, rank));
    CHECK_INT(coll_exscan(comm, COLL_REDUCTION(in_place ? MPI_IN_PLACE : &mine, &exscan, 1, type, in_order)),
              0);
    CHECK_INT(exscan, rank ? run(0, rank - 1) : mine);
    for (int i = 0; i < size; i++) {
        blocks[i] = block[i] = mine;
        counts[i] = i == size - 1 ? 1 : i % 2; /* the last one, always 1, keeps the sum above 0 */
    }
    CHECK_INT(coll_reduce_scatter_block(
                  comm, COLL_REDUCTION(in_place ? MPI_IN_PLACE : blocks, block, 1, type, in_order)),
              0);
    CHECK_INT(block[0], run(0, size - 1));
    memcpy(block, blocks, sizeof block);
    block[0] = mine;
    CHECK_INT(coll_reduce_scatter(comm,
                                  COLL_REDUCTION(in_place ? MPI_IN_PLACE : blocks, block, 0, type, in_order),
                                  COLL_NUMBERS(counts)),
              0);
    CHECK_INT(block[0], counts[rank] ? run(0, size - 1) : mine);
    CHECK_INT(mine, run(rank, rank));
}

/* A type with a gap: all ranks get the same, and the gap in the result stays as it was. */
static void test_gaps(struct comm *comm)
{
    struct pair mine[COUNT], result[COUNT];
    const int size = comm->size;

    memset(mine, 0, sizeof mine);
    memset(result, CANARY, sizeof result);
    for (int i = 0; i < COUNT; i++) {
        mine[i].value = comm->rank / 2;
        mine[i].index = comm->rank;
    }
    CHECK_INT(coll_allreduce(
                  comm, COLL_REDUCTION(mine, result, COUNT, obj_type(MPI_DOUBLE_INT), obj_op(MPI_MAXLOC))),
              0);
    for (int i = 0; i < COUNT; i++) {
        CHECK_INT(result[i].value, (size - 1) / 2);
        CHECK_INT(result[i].index, (size - 1) / 2 * 2);
        CHECK_INT(result[i].gap[0], CANARY);
    }
}

static void test_errors(struct comm *comm)
{
    int counts[MAX_RANKS], number = 1, result = 0;
    struct type *type = obj_type(MPI_INT), *text = obj_type(MPI_CHAR);

    for (int i = 0; i < comm->size; i++)
        counts[i] = 1;
    CHECK_INT(err_class(coll_allreduce(comm, COLL_REDUCTION(&number, &result, 1, text, obj_op(MPI_SUM)))),
              MPI_ERR_OP);
    CHECK_INT(err_class(coll_allgatherv(comm, COLL_SAME(&number, 1, type),
                                        COLL_VARYING(NULL, counts, counts, type))),
              MPI_ERR_BUFFER);
    CHECK_INT(err_class(coll_alltoall(comm, COLL_VARYING(counts, counts, counts, type),
                                      COLL_VARYING(MPI_IN_PLACE, counts, counts, type))),
              MPI_ERR_BUFFER);
    CHECK_INT(err_class(coll_reduce_scatter(comm, COLL_REDUCTION(NULL, &result, 0, type, obj_op(MPI_SUM)),
                                            COLL_NUMBERS(counts))),
              MPI_ERR_BUFFER);
    CHECK_INT(err_class(coll_allgather(comm, COLL_SAME(counts, 2, type), COLL_SAME(&result, 1, type))),
              MPI_ERR_TRUNCATE);
    CHECK_INT(err_class(coll_allgather(comm, COLL_SAME(counts, 1, type), COLL_SAME(counts, 1, type))),
              MPI_ERR_BUFFER);
    CHECK_INT(err_class(coll_scan(comm, COLL_REDUCTION(counts, counts, 1, type, obj_op(MPI_SUM)))),
              MPI_ERR_BUFFER);
    CHECK_INT(err_class(coll_reduce_scatter(comm, COLL_REDUCTION(counts, counts, 0, type, obj_op(MPI_SUM)),
                                            COLL_NUMBERS(counts))),
              MPI_ERR_BUFFER);
    comm->is_inter = true;
    CHECK_INT(err_class(coll_barrier(comm)), MPI_ERR_COMM);
    CHECK_INT(err_id(coll_barrier(comm)), 361);
    comm->is_inter = false;
}

static int no_memory(int rc)
{
    mem_fail_after(-1);
    return err_class(rc);
}

/* Whoever has no memory says so before it sends anything. Alone, so that no other thread asks for memory. */
static void test_no_memory(void)
{
    struct type *type = obj_type(MPI_INT);
    struct comm two = { .rank = 0, .size = 2, .remote_size = 2 }, one = { .size = 1, .remote_size = 1 };
    int data[2] = { 0, 0 }, result = 0, counts[2] = { 1, 1 };
    const struct coll_reduction *args = COLL_REDUCTION(data, &result, 1, type, obj_op(MPI_SUM));
    const struct coll_reduction *ordered = COLL_REDUCTION(data, &result, 1, type, in_order);

    mem_fail_after(0);
    CHECK_INT(no_memory(coll_allreduce(&two, args)), MPI_ERR_NO_MEM);
    mem_fail_after(0);
    CHECK_INT(no_memory(coll_reduce(&two, args, 0)), MPI_ERR_NO_MEM);
    mem_fail_after(0);
    CHECK_INT(no_memory(coll_reduce(&two, ordered, 1)), MPI_ERR_NO_MEM);
    mem_fail_after(0);
    CHECK_INT(no_memory(coll_reduce_scatter(&two, args, COLL_NUMBERS(counts))), MPI_ERR_NO_MEM);
    mem_fail_after(0);
    CHECK_INT(no_memory(coll_scan(&one, args)), MPI_ERR_NO_MEM);
    for (int n = 0; n < 2; n++) {
        mem_fail_after(n);
        CHECK_INT(no_memory(coll_exscan(&one, args)), MPI_ERR_NO_MEM);
    }
    mem_fail_after(0);
    CHECK_INT(no_memory(coll_alltoall(&two, COLL_SAME(MPI_IN_PLACE, 1, NULL), COLL_SAME(data, 1, type))),
              MPI_ERR_NO_MEM);
}

/* Temporary items lie within the memory and are aligned, also when they begin beside their address. */
static void test_temp(void)
{
    static const MPI_Count extents[] = { 8, -8, 0 };

    for (size_t i = 0; i < ARRAY_LEN(extents); i++) {
        const struct type type = { .size = 4, .extent = extents[i], .true_lb = 4, .true_extent = 4 };
        struct coll_temp temp;

        CHECK_INT(coll_temp_alloc(&temp, &type, COUNT), 0);
        CHECK_INT((uintptr_t)temp.buf % 16, 0);
        for (int item = 0; item < COUNT; item++)
            memset(coll_address(temp.buf, item * extents[i] + 4), 0, 4); /* the address sanitizer looks */
        coll_temp_free(&temp);
    }
}

/* Tags run around after 2^30 calls, without touching those of groups (0 and up). */
static void test_tags(struct comm *comm)
{
    int first, last;

    comm->coll_sequence = COLL_TAG_MASK;
    CHECK_INT(coll_begin(comm, &last, "last"), 0);
    CHECK_INT(coll_begin(comm, &first, "first"), 0);
    CHECK_INT(first, -COLL_TAG_FIRST);
    CHECK(last < first);
    comm->coll_sequence = UINT32_MAX;
    CHECK_INT(coll_begin(comm, &last, "last"), 0);
    CHECK(last < first);
}

/* A group of every second rank, the highest first. */
static void test_group_bcast(struct comm *comm)
{
    int procs[MAX_RANKS], n = 0, data;
    struct group *group;

    for (int rank = comm->size - 1; rank >= 0; rank -= 2)
        procs[n++] = rank;
    CHECK_INT(group_create_list(n, procs, comm->rank, &group), 0);
    for (int tag = COLL_NEXT_TAG; tag < 2; tag++) {
        data = comm->rank;
        CHECK_INT(coll_group_bcast(comm, group, &data, sizeof data, tag), 0);
        CHECK_INT(data, group->rank == MPI_UNDEFINED ? comm->rank : comm->size - 1);
    }
    group_unref(group);
}

static void *rank_main(void *arg)
{
    struct comm *comm = arg;

    CHECK_INT(coll_barrier(comm), 0);
    test_bcast(comm);
    test_gather_scatter(comm);
    test_allgather(comm);
    test_alltoall(comm);
    test_reduce(comm);
    test_all_reductions(comm, false);
    test_all_reductions(comm, true);
    test_gaps(comm);
    test_group_bcast(comm);
    CHECK_INT(coll_barrier(comm), 0);
    test_tags(comm);
    if (comm->size == 1 || comm->rank == 0)
        test_errors(comm);
    return NULL;
}

/* The number of messages of a call is part of what an algorithm promises: of the first barrier, by which all learn
 * that there is no shelf, and of the next. */
static void *barrier_main(void *arg)
{
    CHECK_INT(coll_barrier(arg), 0);
    CHECK_INT(coll_barrier(arg), 0);
    return NULL;
}

static void run_ranks(int size, void *(*body)(void *))
{
    static struct comm comms[MAX_RANKS];
    pthread_t threads[MAX_RANKS];

    sim.sent = 0;
    for (int rank = 0; rank < size; rank++) {
        struct group *group;

        list_init(&sim.queue[rank]);
        CHECK_INT(group_create_stride(size, 0, 1, rank, &group), 0);
        comms[rank] = (struct comm){
            .rank = rank, .size = size, .remote_size = size, .group = group, .remote_group = group
        };
    }
    for (int rank = 0; rank < size; rank++)
        CHECK_INT(pthread_create(&threads[rank], NULL, body, &comms[rank]), 0);
    for (int rank = 0; rank < size; rank++)
        pthread_join(threads[rank], NULL);
    for (int rank = 0; rank < size; rank++) {
        CHECK(list_is_empty(&sim.queue[rank]));
        group_unref(comms[rank].group);
    }
}

int main(void)
{
    static const int sizes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, MAX_RANKS };
    long live;

    alarm(50); /* a deadlock is a failure */
    type_init();
    op_init();
    CHECK_INT(op_create(join_runs, false, &in_order), 0);
    live = mem_live();
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        run_ranks(sizes[i], rank_main);
    run_ranks(8, barrier_main);
    CHECK_INT(sim.sent, 2 * 7 + 8 * 3);
    run_ranks(9, barrier_main);
    CHECK_INT(sim.sent, 2 * 8 + 9 * 4);
    test_no_memory();
    test_temp();
    CHECK(mem_live() - live <= MAX_RANKS); /* chunks of the groups' pool stay */
    return 0;
}
