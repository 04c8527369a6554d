/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Collective calls over several clients of IMPI: what is laid down for barrier, bcast and reduce (4.10,
 * 4.11, 4.16), and allreduce, which is the last two. k is the number of clients with members, their masters are
 * numbered by rank.
 *
 *   barrier    masters, up to the first and down again
 *   bcast      from the root itself to the masters of the other clients
 *   reduce     the other way; for an operator that does not commute from each process straight to the root
 *
 * Up to `maxlinear` masters the first one deals with each of the others, else they form a tree: to distribute, the
 * parent of number v is v without its highest bit; to collect, without its lowest. Numbers count from the root's
 * client.
 *
 * What is done in a client, by trees, before and after, nobody else sees. Knows: schedules, the table of clients. */
#include "coll/clients.h"

#include "base/err.h"
#include "coll/levels.h"
#include "coll/spanning.h"
#include "p2p/p2p.h"
#include "sys/joint.h"

/* Of tags from CLIENTS_OWN_TAGS on, in bits; the lowest ones are the step's, of which IMPI's tags differ, too. */
enum { HASH_BIT = 20, OPERATION_BIT = 24, OWN_PERSISTENT_BIT = 29 };

static struct {
    const struct joint *joint;
    int slots;
} clients;

void clients_open(const struct joint *joint, int slots)
{
    clients.joint = joint;
    clients.slots = slots;
}

bool clients_is_foreign(int proc)
{
    return proc >= clients.slots;
}

int clients_of(int proc)
{
    if (!clients_is_foreign(proc))
        return (int)clients.joint->client;
    return (int)joint_proc(clients.joint, joint_rank(clients.joint, proc))->client;
}

bool clients_is_linear(int masters)
{
    return masters <= clients.joint->maxlinear;
}

bool clients_is_long(size_t bytes)
{
    return bytes >= (size_t)clients.joint->xsize;
}

static bool is_alike(const struct group *group)
{
    for (int rank = 0; rank < group->size; rank++) {
        const int proc = group_proc(group, rank);

        if (clients_is_foreign(proc) && !joint_is_parley(clients.joint, joint_rank(clients.joint, proc)))
            return false;
    }
    return true;
}

bool clients_are_alike(const struct comm *comm)
{
    return is_alike(comm->group) && (!comm->is_inter || is_alike(comm->remote_group));
}

/* --- tags, and what may go --- */

/* Has IMPI a pattern for it? */
static bool is_laid_down(const struct comm *comm, enum coll_operation operation, enum coll_form form)
{
    if (form != COLL_BLOCKING || comm->is_inter)
        return false;
    switch (operation) {
    case COLL_ALLTOALLW:
    case COLL_REDUCE_SCATTER_BLOCK:
    case COLL_EXSCAN: return false;
    default: return operation < COLL_NEIGHBOR_ALLGATHER;
    }
}

int clients_check(const struct comm *comm, const struct coll_args *args, enum coll_form form)
{
    char label[COMM_LABEL_SIZE];

    if (is_laid_down(comm, args->operation, form) || clients_are_alike(comm))
        return 0;
    return err(MPI_ERR_UNSUPPORTED_OPERATION,
               "E1211: %s is not part of IMPI, and %s has processes of another MPI implementation",
               coll_name(args->operation, form), obj_comm_label(comm, label));
}

void clients_number(struct sched *s, enum coll_form form)
{
    uint32_t tag;

    if (form == COLL_PERSISTENT)
        tag = (s->comm->coll_persistent & COLL_PERSISTENT_MASK) << COLL_SUB_BITS | 1U << OWN_PERSISTENT_BIT;
    else
        tag = (s->sequence & COLL_SEQUENCE_MASK) << COLL_SUB_BITS | (unsigned)s->operation << OPERATION_BIT |
              (s->hash & 15) << HASH_BIT;
    s->client_tag = CLIENTS_OWN_TAGS + (int)tag;
    s->is_laid_down = is_laid_down(s->comm, s->operation, form);
}

static uint64_t note_of(uint32_t sequence, int root, int tag)
{
    return (uint64_t)P2P_NOTE_MARK << P2P_NOTE_BITS | (uint64_t)(sequence >> COLL_SEQUENCE_BITS & 0xff) << 48 |
           (uint64_t)((unsigned)root & 0xffff) << 32 | (uint32_t)tag;
}

uint64_t clients_note(const struct sched *s)
{
    return note_of(s->sequence, s->root, s->tag);
}

/* --- what does not fit --- */

uint64_t clients_step_note(const struct sched *s, const struct sched_step *step)
{
    const uint64_t mark = (uint64_t)(P2P_NOTE_MARK ^ P2P_NOTE_FAILED) << P2P_NOTE_BITS;
    const uint64_t note = step->is_local ? note_of(s->local_sequence, s->root, s->local_tag) : clients_note(s);

    return step->is_void ? note ^ mark : note;
}

/* Do members pass on what they have received? If not, steps come after others for other reasons. */
static bool is_passed_on(enum coll_operation operation)
{
    switch (operation) {
    case COLL_GATHERV:
    case COLL_SCATTERV:
    case COLL_ALLTOALL:
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW: return false;
    default: return operation < COLL_NEIGHBOR_ALLGATHER;
    }
}

int clients_received(const struct sched *s, struct sched_step *step)
{
    const struct req *req = step->req;

    if (!is_passed_on(s->operation))
        return 0;
    if (req->error) {
        step->is_void = err_class(req->error) == MPI_ERR_CONVERSION;
        return 0;
    }
    if (req->bytes || !coll_bytes(&step->from))
        return 0;
    step->is_void = true;
    return err(MPI_ERR_CONVERSION,
               "E1242: rank %d has not sent its part of %s, which comes from a number that does not fit between "
               "clients of IMPI (external32)",
               step->peer, coll_name(s->operation, COLL_BLOCKING));
}

bool clients_goes_on(const struct sched *s, const struct sched_step *step)
{
    const struct comm *comm = step->is_local ? s->comm->local : s->comm;
    int proc;

    if (step->kind != SCHED_SEND)
        return step->kind == SCHED_RECV;
    proc = group_proc(comm->remote_group, step->peer);
    return !clients_is_foreign(proc) || joint_is_parley(clients.joint, joint_rank(clients.joint, proc));
}

int clients_tag(const struct sched *s, const struct sched_step *step, int tag)
{
    const struct comm *comm = step->is_local ? s->comm->local : s->comm;

    if (!clients_is_foreign(group_proc(comm->remote_group, step->peer)))
        return tag + step->sub - step->sub % SCHED_SUBS; /* more bits than there are inside of a client */
    return s->is_laid_down ? step->sub : s->client_tag + step->sub % SCHED_SUBS;
}

static int with_tag(struct sched *s, int step, int tag)
{
    if (step >= 0)
        s->steps[step].sub = (uint8_t)tag;
    return step;
}

int clients_send(struct sched *s, struct coll_block block, int dest, int tag, int after)
{
    return with_tag(s, sched_send(s, block, dest, 0, AFTER(after)), tag);
}

int clients_recv(struct sched *s, struct coll_block block, int source, int tag, int after)
{
    return with_tag(s, sched_recv(s, block, source, 0, AFTER(after)), tag);
}

/* --- trees of masters --- */

/* A power of two that is not below the number. */
static int power_for(int masters)
{
    int power = 1;

    while (power < masters)
        power += power;
    return power;
}

static int highest_bit(int number)
{
    return number ? 1 << (31 - __builtin_clz((unsigned)number)) : 0;
}

/* To all masters; `block` is there after `after` at place 0. */
static int spread(struct sched *s, const struct coll_team *top, struct coll_block block, int tag, int after)
{
    const int place = top->place, high = highest_bit(place);
    int last = after;

    if (clients_is_linear(top->size)) {
        if (place)
            return clients_recv(s, block, coll_team_rank(top, 0), tag, after);
        /* in the order of their numbers, whichever the root's is */
        for (int i = 0; i < top->size; i++)
            if (i != top->first)
                clients_send(s, block, top->ranks[i], tag, after);
        return after;
    }
    if (place)
        last = clients_recv(s, block, coll_team_rank(top, place - high), tag, after);
    for (int bit = high ? 2 * high : 1; (place | bit) < top->size; bit += bit)
        clients_send(s, block, coll_team_rank(top, place | bit), tag, last);
    return last;
}

int clients_bcast(struct sched *s, struct coll_block block, int root, int after)
{
    struct coll_levels l;
    int last = after;

    if (!coll_levels_of(s, root, &l))
        return after;
    if (l.is_leader)
        last = spread(s, &l.top, block, CLIENTS_BCAST, after);
    return coll_part_bcast(s, &l.node, block, 2, LEVELS_DOWN, last);
}

static void build_bcast(struct sched *s, const struct coll_args *args)
{
    clients_bcast(s, coll_data_block(&args->send, 0), args->root, SCHED_NONE);
}

/* --- barrier --- */

/* All masters have come, and know that of each other. The same tree both ways. */
static int meet(struct sched *s, const struct coll_team *top, int after)
{
    const struct coll_block nothing = coll_byte_block(NULL, 0);
    const int place = top->place, high = highest_bit(place);
    int last = after;

    if (clients_is_linear(top->size)) {
        for (int i = 1; !place && i < top->size; i++)
            last = clients_recv(s, nothing, top->ranks[i], CLIENTS_BARRIER, last);
        if (place)
            clients_send(s, nothing, top->ranks[0], CLIENTS_BARRIER, after);
        return spread(s, top, nothing, CLIENTS_BARRIER, last);
    }
    for (int bit = power_for(top->size) / 2; bit > high; bit /= 2)
        if ((place | bit) < top->size)
            last = clients_recv(s, nothing, top->ranks[place | bit], CLIENTS_BARRIER, last);
    if (place)
        last = clients_send(s, nothing, top->ranks[place - high], CLIENTS_BARRIER, last);
    return spread(s, top, nothing, CLIENTS_BARRIER, last);
}

static void build_barrier(struct sched *s, const struct coll_args *args)
{
    (void)args;
    coll_barrier_by(s, meet);
}

/* --- reduce --- */

/* What comes from a master is combined with what is in `value`. */
static int take_in(struct sched *s, int from, struct coll_block room, struct coll_block value, int after)
{
    const int got = clients_recv(s, room, from, CLIENTS_REDUCE, after);

    return sched_reduce(s, room, value, AFTER(got, after));
}

/* The values of the masters to that of place 0, by an operator that commutes. */
static int collect(struct sched *s, const struct coll_team *top, struct coll_block value, int after)
{
    const struct coll_block room = sched_items(s, value.type, value.count);
    const int place = top->place;
    int last = after;

    if (clients_is_linear(top->size)) {
        for (int i = 0; !place && i < top->size; i++)
            if (i != top->first)
                last = take_in(s, top->ranks[i], room, value, last);
        return place ? clients_send(s, value, coll_team_rank(top, 0), CLIENTS_REDUCE, last) : last;
    }
    for (int bit = 1; bit < top->size; bit += bit) {
        if (place & bit)
            return clients_send(s, value, coll_team_rank(top, place - bit), CLIENTS_REDUCE, last);
        if ((place | bit) < top->size)
            last = take_in(s, coll_team_rank(top, place | bit), room, value, last);
    }
    return last;
}

static int reduce_by_clients(struct sched *s, struct coll_block own, struct coll_block result, int root)
{
    struct coll_block value = result;
    struct coll_levels l;
    int last;

    if (!coll_levels_of(s, root, &l))
        return SCHED_NONE;
    if (l.is_leader && s->comm->rank != root)
        value = sched_items(s, own.type, own.count);
    last = coll_part_reduce(s, &l.node, own, value, LEVELS_UP, SCHED_NONE);
    return l.is_leader ? collect(s, &l.top, value, last) : last;
}

/* The root begins with the operand of the last rank and takes in the others downwards. */
static int reduce_in_order(struct sched *s, struct coll_block own, struct coll_block result, int root)
{
    const int size = s->comm->size;
    struct coll_block room, mine = own;
    int last = SCHED_NONE;

    if (s->comm->rank != root)
        return clients_send(s, own, root, CLIENTS_REDUCE, SCHED_NONE);
    room = sched_items(s, own.type, own.count);
    if (own.buf == result.buf) { /* the result grows where it lies */
        mine = sched_items(s, own.type, own.count);
        last = sched_copy(s, own, mine, AT_ONCE);
    }
    last = root == size - 1 ? sched_copy(s, mine, result, AFTER(last))
                            : clients_recv(s, result, size - 1, CLIENTS_REDUCE, last);
    for (int rank = size - 2; rank >= 0; rank--)
        last = rank == root ? sched_reduce(s, mine, result, AFTER(last)) : take_in(s, rank, room, result, last);
    return last;
}

int clients_reduce(struct sched *s, struct coll_block own, struct coll_block result, int root)
{
    return s->op->is_commutative ? reduce_by_clients(s, own, result, root) : reduce_in_order(s, own, result, root);
}

static void build_reduce(struct sched *s, const struct coll_args *args)
{
    clients_reduce(s, coll_operand(args, coll_own(args)), coll_operand(args, args->recv.buf), args->root);
}

static void build_allreduce(struct sched *s, const struct coll_args *args)
{
    const struct coll_block result = coll_operand(args, args->recv.buf);

    clients_bcast(s, result, 0, clients_reduce(s, coll_operand(args, coll_own(args)), result, 0));
}

const struct coll_algorithm coll_clients[COLL_NEIGHBOR_ALLGATHER] = {
    [COLL_BARRIER] = { .name = "impi", .build = build_barrier },
    [COLL_BCAST] = { .name = "impi", .build = build_bcast },
    [COLL_GATHER] = { .name = "impi", .build = clients_build_gather },
    [COLL_GATHERV] = { .name = "impi", .build = clients_build_gatherv },
    [COLL_SCATTER] = { .name = "impi", .build = clients_build_scatter },
    [COLL_SCATTERV] = { .name = "impi", .build = clients_build_scatterv },
    [COLL_ALLGATHER] = { .name = "impi", .build = clients_build_allgather },
    [COLL_ALLGATHERV] = { .name = "impi", .build = clients_build_allgather },
    [COLL_ALLTOALL] = { .name = "impi", .build = clients_build_alltoall },
    [COLL_ALLTOALLV] = { .name = "impi", .build = clients_build_alltoall },
    [COLL_ALLTOALLW] = { .name = "impi", .build = clients_build_alltoall },
    [COLL_REDUCE] = { .name = "impi", .build = build_reduce },
    [COLL_ALLREDUCE] = { .name = "impi", .build = build_allreduce },
    [COLL_REDUCE_SCATTER_BLOCK] = { .name = "impi", .build = clients_build_reduce_scatter },
    [COLL_REDUCE_SCATTER] = { .name = "impi", .build = clients_build_reduce_scatter },
    [COLL_SCAN] = { .name = "impi", .build = clients_build_scan },
    [COLL_EXSCAN] = { .name = "impi", .build = clients_build_scan },
};
