/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. A collective call, from its arguments to a schedule: checks, numbers and tags, the choice of an
 * algorithm, and the three forms. Knows: schedules, the table of algorithms. Does not know: what they do.
 *
 * The tag of a message is -COLL_TAG_FIRST less a number of 30 bits, so that calls and the messages in them are told
 * apart:
 *
 *   bits    nonpersistent                            persistent
 *   29      0                                        1
 *   28      which call on the communicator …         which one was made on it …
 *   15 11   … (14 bits)                              …
 *   14 10   the operation                            …
 *    9  6   hash of what all must give alike         … (23 bits)
 *    5  0   `sub`                                    `sub`
 *
 * A persistent operation keeps its tags, since processes may start several of them in any order. */
#include "base/err.h"
#include "coll/clients.h"
#include "coll/levels.h"
#include "coll/node.h"
#include "coll/spanning.h"

static const struct {
    const char *blocking, *nonblocking, *persistent;
} names[COLL_OPERATIONS] = {
#define NAMES(name, small) { "MPI_" #name, "MPI_I" #small, "MPI_" #name "_init" }
    [COLL_BARRIER] = NAMES(Barrier, barrier),
    [COLL_BCAST] = NAMES(Bcast, bcast),
    [COLL_GATHER] = NAMES(Gather, gather),
    [COLL_GATHERV] = NAMES(Gatherv, gatherv),
    [COLL_SCATTER] = NAMES(Scatter, scatter),
    [COLL_SCATTERV] = NAMES(Scatterv, scatterv),
    [COLL_ALLGATHER] = NAMES(Allgather, allgather),
    [COLL_ALLGATHERV] = NAMES(Allgatherv, allgatherv),
    [COLL_ALLTOALL] = NAMES(Alltoall, alltoall),
    [COLL_ALLTOALLV] = NAMES(Alltoallv, alltoallv),
    [COLL_ALLTOALLW] = NAMES(Alltoallw, alltoallw),
    [COLL_REDUCE] = NAMES(Reduce, reduce),
    [COLL_ALLREDUCE] = NAMES(Allreduce, allreduce),
    [COLL_REDUCE_SCATTER_BLOCK] = NAMES(Reduce_scatter_block, reduce_scatter_block),
    [COLL_REDUCE_SCATTER] = NAMES(Reduce_scatter, reduce_scatter),
    [COLL_SCAN] = NAMES(Scan, scan),
    [COLL_EXSCAN] = NAMES(Exscan, exscan),
    [COLL_NEIGHBOR_ALLGATHER] = NAMES(Neighbor_allgather, neighbor_allgather),
    [COLL_NEIGHBOR_ALLGATHERV] = NAMES(Neighbor_allgatherv, neighbor_allgatherv),
    [COLL_NEIGHBOR_ALLTOALL] = NAMES(Neighbor_alltoall, neighbor_alltoall),
    [COLL_NEIGHBOR_ALLTOALLV] = NAMES(Neighbor_alltoallv, neighbor_alltoallv),
    [COLL_NEIGHBOR_ALLTOALLW] = NAMES(Neighbor_alltoallw, neighbor_alltoallw),
#undef NAMES
};

const char *coll_name(enum coll_operation operation, enum coll_form form)
{
    if (operation >= COLL_OPERATIONS)
        return "a function that makes a communicator";
    switch (form) {
    case COLL_BLOCKING: return names[operation].blocking;
    case COLL_NONBLOCKING: return names[operation].nonblocking;
    default: return names[operation].persistent;
    }
}

/* --- numbers --- */

static int tag_of_call(uint32_t sequence, enum coll_operation operation, unsigned hash)
{
    return -COLL_TAG_FIRST - (int)((sequence & COLL_SEQUENCE_MASK) << COLL_SEQUENCE_BIT | (unsigned)operation << 10 |
                                   (hash & 15) << COLL_SUB_BITS);
}

static int tag_of_persistent(uint32_t number)
{
    return -COLL_TAG_FIRST - (int)(1U << COLL_PERSISTENT_BIT | (number & COLL_PERSISTENT_MASK) << COLL_SUB_BITS);
}

int coll_begin(struct comm *comm, enum coll_operation operation, const char *call)
{
    return tag_of_call(coll_count_call(comm, call), operation, 0);
}

/* Bytes that all members of the call's communicator give alike; 0: they need not. */
static uint64_t common_bytes(const struct comm *comm, const struct coll_args *args)
{
    const bool is_root = args->root == comm->rank;
    const struct coll_data *data;

    switch (args->operation) {
    case COLL_BCAST: data = &args->send; break;
    case COLL_GATHER: data = is_root ? &args->recv : &args->send; break;
    case COLL_SCATTER: data = is_root ? &args->send : &args->recv; break;
    case COLL_ALLGATHER:
    case COLL_ALLTOALL: data = &args->recv; break;
    case COLL_REDUCE:
    case COLL_ALLREDUCE:
    case COLL_REDUCE_SCATTER_BLOCK:
    case COLL_SCAN:
    case COLL_EXSCAN: data = &args->recv; break;
    default: return 0;
    }
    if (unlikely(p2p_is_foreign_ctx(comm->ctx))) /* a client may be of another machine, whose types have other sizes */
        return external_bytes(data->type, data->count);
    return type_bytes(data->type, data->count);
}

/* --- checks --- */

static bool is_root_of(const struct comm *comm, int root)
{
    return comm->is_inter ? root == MPI_ROOT : root == comm->rank;
}

/* Buffers that come with arrays of counts, which the bindings do not look at. */
static int check_varying(const struct comm *comm, const struct coll_args *args)
{
    const int peers = comm->remote_size;
    int rc = 0;

    switch (args->operation) {
    case COLL_GATHERV: return is_root_of(comm, args->root) ? coll_check_data(&args->recv, peers, "recvbuf") : 0;
    case COLL_SCATTERV: return is_root_of(comm, args->root) ? coll_check_data(&args->send, peers, "sendbuf") : 0;
    case COLL_ALLGATHERV: return coll_check_data(&args->recv, peers, "recvbuf");
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW:
        if (!coll_is_in_place(args->send.buf))
            rc = coll_check_data(&args->send, peers, "sendbuf");
        return rc ? rc : coll_check_data(&args->recv, peers, "recvbuf");
    default: return 0;
    }
}

/* Does the operator go with the type, and are operand and result apart, where there is a result? */
static int check_reduction(const struct comm *comm, const struct coll_args *args)
{
    const bool is_rooted = args->operation == COLL_REDUCE;
    const bool has_result = is_rooted ? !comm->is_inter && is_root_of(comm, args->root)
                                      : args->operation != COLL_EXSCAN || comm->rank > 0;
    MPI_Count count = args->recv.count;

    if (is_rooted && comm->is_inter && args->root == MPI_PROC_NULL)
        return 0;
    if (args->operation == COLL_REDUCE_SCATTER)
        count = coll_sum(&args->recv, comm->size);
    if (args->operation == COLL_REDUCE_SCATTER || args->operation == COLL_REDUCE_SCATTER_BLOCK) {
        int rc = coll_check_buffer(coll_own(args), count, args->recv.type,
                                   coll_is_in_place(args->send.buf) ? "recvbuf" : "sendbuf");
        if (!rc && args->operation == COLL_REDUCE_SCATTER)
            rc = coll_check_buffer(args->recv.buf, coll_number(&args->recv.counts, comm->rank), args->recv.type,
                                   "recvbuf");
        if (rc)
            return rc;
    }
    return coll_check_reduction(args, count, has_result);
}

static int check(const struct comm *comm, const struct coll_args *args)
{
    if (args->operation >= COLL_NEIGHBOR_ALLGATHER)
        return coll_neighbor_check(comm, args);
    if (args->op)
        return check_reduction(comm, args);
    return check_varying(comm, args);
}

/* --- the three forms --- */

/* What all processes have to give alike. On an intercommunicator roots differ, and so do amounts. */
static void describe(struct sched *s, const struct coll_args *args)
{
    const struct comm *comm = s->comm;
    uint64_t hash;

    s->operation = args->operation;
    s->root = args->root;
    s->bytes = comm->is_inter ? 0 : common_bytes(comm, args);
    hash = s->bytes * UINT64_C(0x9E3779B97F4A7C15) + (unsigned)args->root * UINT64_C(0xC2B2AE3D27D4EB4F);
    s->hash = comm->is_inter ? 0 : (unsigned)(hash >> 60);
}

/* Name, number and tags. */
enum { SWEEP_EVERY = (COLL_SEQUENCE_MASK + 1) / 8 };

static void number(struct sched *s, enum coll_form form)
{
    struct comm *comm = s->comm;

    s->call = coll_name(s->operation, form);
    s->sequence = coll_count_call(comm, s->call);
    if (unlikely(s->sequence - comm->coll_swept >= SWEEP_EVERY) && !comm->is_inter)
        coll_forget_notices(comm);
    if (comm->coll_outer)
        s->call = comm->coll_outer;
    if (unlikely(s->spans_clients))
        clients_number(s, form);
    if (form == COLL_PERSISTENT)
        s->tag = tag_of_persistent(comm->coll_persistent++);
    else
        s->tag = tag_of_call(s->sequence, s->operation, s->hash);
    if (unlikely(s->spans_clients) && form == COLL_BLOCKING)
        comm->notes = (struct comm_notes){ .asked = clients_note(s) };
    if (!comm->is_inter)
        return;
    if (form == COLL_PERSISTENT)
        s->local_tag = tag_of_persistent(comm->local->coll_persistent++);
    else
        s->local_tag = tag_of_call(s->local_sequence = coll_count_call(comm->local, s->call), COLL_INTERNAL, 0);
}

void coll_set_choice(struct sched *s, const struct coll_args *args, const struct coll_choice *choice)
{
    s->parameter = choice->parameter;
    s->layout = s->comm->spread ? &s->comm->spread->layout : NULL;
    if (args->op) {
        s->op = args->op;
        op_ref(s->op);
    }
}

static int choose_and_build(struct sched *s, const struct coll_args *args)
{
    struct coll_choice choice;
    const int rc = coll_choose(s->comm, args, &choice);

    if (rc)
        return rc;
    coll_set_choice(s, args, &choice);
    if (s->is_kept)
        return kept_build(s, args, choice.algorithm->build);
    choice.algorithm->build(s, args);
    return s->failed;
}

/* A call with an error counts too: the other processes, which may have found none, have counted it. */
static int count_and_check(struct sched *s, const struct coll_args *args, enum coll_form form)
{
    int rc;

    describe(s, args);
    number(s, form);
    if (unlikely(s->spans_clients) && (rc = clients_check(s->comm, args, form)))
        return rc;
    return check(s->comm, args);
}

int coll_count_and_check(struct sched *s, const struct coll_args *args)
{
    return count_and_check(s, args, COLL_BLOCKING);
}

static int build(struct sched *s, const struct coll_args *args, enum coll_form form)
{
    int rc;

    if (likely(s->has_turns)) { /* a call like this one has been checked, but where its buffers are */
        number(s, form);
        return args->op ? check_reduction(s->comm, args) : 0;
    }
    rc = count_and_check(s, args, form);
    return rc ? rc : choose_and_build(s, args);
}

/* On the stack. */
static NOINLINE int run_once(struct comm *comm, const struct coll_args *args)
{
    struct sched s;
    int rc;

    sched_init(&s, comm);
    s.is_kept = false;
    rc = build(&s, args, COLL_BLOCKING);
    if (!rc)
        rc = sched_run(&s);
    sched_fini(&s);
    return rc;
}

/* Who only sends may get far ahead of who receives, and their numbers go around: all meet now and then. */
enum { MEET_EVERY = (COLL_SEQUENCE_MASK + 1) / 8 };

static COLD int meet(struct comm *comm)
{
    comm->coll_met = comm->coll_sequence;
    return coll_barrier(comm);
}

int coll_run(struct comm *comm, const struct coll_args *args)
{
    struct sched *s;
    int rc;

    if (comm->shelf.number >= 0 && !(coll_by_messages >> args->operation & 1) && node_try(comm, args, &rc))
        return rc;
    if (unlikely(comm->coll_sequence - comm->coll_met >= MEET_EVERY) && !comm->is_inter &&
        !p2p_is_foreign_ctx(comm->ctx) && (rc = meet(comm)))
        return rc;
    if (unlikely(comm->spread) && !(coll_by_messages >> args->operation & 1) && coll_levels_here(comm, args, &rc))
        return rc;
    s = kept_take(comm, args);
    if (unlikely(!s))
        return run_once(comm, args);
    rc = build(s, args, COLL_BLOCKING);
    if (!rc)
        rc = sched_run(s);
    kept_give_back(s);
    return rc;
}

/* An empty one, or `kept`, as a request. */
static int new_request(struct comm *comm, struct sched *kept, bool is_persistent, struct sched **out)
{
    *out = kept ? kept : sched_create(comm);
    if (!*out)
        return err(MPI_ERR_NO_MEM, "no memory for a request");
    sched_make_request(*out, is_persistent);
    return 0;
}

/* It is given up if `rc` is an error, which is returned. */
static int finish_request(struct sched *s, int rc)
{
    if (rc)
        s->req.ops->release(&s->req);
    return rc;
}

static int make_request(struct comm *comm, const struct coll_args *args, enum coll_form form, struct sched **out)
{
    struct sched *const kept = form == COLL_NONBLOCKING ? kept_take(comm, args) : NULL;
    const int rc = new_request(comm, kept, form == COLL_PERSISTENT, out);

    return rc ? rc : finish_request(*out, build(*out, args, form));
}

int coll_start(struct comm *comm, const struct coll_args *args, struct req **out)
{
    struct sched *s;
    const int rc = make_request(comm, args, COLL_NONBLOCKING, &s);

    if (rc)
        return rc;
    *out = &s->req;
    sched_start(s);
    return 0;
}

/* On a shelf that there is already, if it has a word left: this call may not ask the others for one. */
static int make_barrier(struct comm *comm, const struct coll_args *args, enum coll_form form, struct sched **out)
{
    const bool is_persistent = form == COLL_PERSISTENT;
    int rc;

    if (comm->shelf.number <= 0 || coll_by_messages & 1U << COLL_BARRIER ||
        (is_persistent && comm->shelf_meets == SHELF_MEETS - 1))
        return make_request(comm, args, form, out);
    rc = new_request(comm, NULL, is_persistent, out);
    if (rc)
        return rc;
    rc = count_and_check(*out, args, form);
    sched_meet(*out, is_persistent ? ++comm->shelf_meets : 0, AT_ONCE);
    return finish_request(*out, rc);
}

int coll_ibarrier(struct comm *comm, struct req **out)
{
    struct sched *s;
    const int rc = make_barrier(comm, COLL_ARGS(COLL_BARRIER, COLL_NOTHING, COLL_NOTHING, NULL, 0), COLL_NONBLOCKING,
                                &s);

    if (rc)
        return rc;
    s->is_epoch = true;
    *out = &s->req;
    sched_start(s);
    return 0;
}

int coll_make(struct comm *comm, const struct coll_args *args, struct req **out)
{
    struct sched *s;
    const int rc = args->operation == COLL_BARRIER ? make_barrier(comm, args, COLL_PERSISTENT, &s)
                                                   : make_request(comm, args, COLL_PERSISTENT, &s);

    if (rc)
        return rc;
    sched_make_turns(s);
    *out = &s->req;
    return 0;
}
