/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Allreduce (MPI 5.0 §6.9.6): recursive doubling.
 *
 * * Partners combine their values in the order of ranks, both the same way round, so all results are equal to
 * the bit. If the number of processes is no power of two, the first ones are taken together in pairs of
 * neighbours, of which the odd one takes part; they count as one place. */
#include "coll/int_coll.h"

/* Places in the exchange, a power of two, and how many of them stand for two ranks. */
struct doubling {
    int places;
    int pairs;
};

static struct doubling doubling_of(int size)
{
    struct doubling d = { 1, 0 };

    while (d.places <= size / 2)
        d.places += d.places;
    d.pairs = size - d.places;
    return d;
}

static int rank_at(const struct doubling *d, int place)
{
    return place < d->pairs ? 2 * place + 1 : place + d->pairs;
}

static int place_of(const struct doubling *d, int rank)
{
    return rank < 2 * d->pairs ? rank / 2 : rank - d->pairs;
}

/* *value is one of the two rooms; the other one takes what the partners send. */
static int double_up(struct comm *comm, int tag, const struct coll_reduction *args, const struct doubling *d,
                     void *const room[2], void **value)
{
    const int place = place_of(d, comm->rank);
    int rc = 0;

    for (int bit = 1; bit < d->places && !rc; bit += bit) {
        const int other = place ^ bit, peer = rank_at(d, other);
        void *incoming = *value == room[0] ? room[1] : room[0];
        const struct coll_block out = coll_operand(args, *value), in = coll_operand(args, incoming);

        rc = coll_exchange(comm, tag, &out, peer, &in, peer);
        if (rc)
            break;
        if (other < place) {
            op_reduce(args->op, incoming, *value, args->count, args->type);
        } else {
            op_reduce(args->op, *value, incoming, args->count, args->type);
            *value = incoming;
        }
    }
    return rc;
}

/* The even one of a pair: hand over the operand, wait for the result. */
static int let_neighbour_do(struct comm *comm, int tag, const struct coll_reduction *args)
{
    const struct coll_block block = coll_operand(args, args->recv);
    int rc = coll_send(comm, tag, &block, comm->rank + 1);

    return rc ? rc : coll_recv(comm, tag, &block, comm->rank + 1);
}

static int allreduce(struct comm *comm, int tag, const struct coll_reduction *args, void *temp)
{
    const struct doubling d = doubling_of(comm->size);
    const bool has_neighbour = comm->rank < 2 * d.pairs;
    void *value = args->recv;
    struct coll_block block = coll_operand(args, temp);
    int rc = 0;

    if (has_neighbour) {
        rc = coll_recv(comm, tag, &block, comm->rank - 1);
        if (rc)
            return rc;
        op_reduce(args->op, temp, value, args->count, args->type);
    }
    rc = double_up(comm, tag, args, &d, (void *[]){ args->recv, temp }, &value);
    if (!rc && has_neighbour) {
        block = coll_operand(args, value);
        rc = coll_send(comm, tag, &block, comm->rank - 1);
    }
    if (!rc)
        coll_operand_copy(args, args->recv, value);
    return rc;
}

int coll_allreduce(struct comm *comm, const struct coll_reduction *args)
{
    const struct doubling d = doubling_of(comm->size);
    struct coll_temp temp;
    int tag, rc = coll_begin(comm, &tag, "MPI_Allreduce");

    if (!rc)
        rc = coll_check_reduction(args, true);
    if (rc)
        return rc;
    coll_operand_copy(args, args->recv, coll_input(args));
    if (comm->size == 1)
        return 0;
    if (comm->rank < 2 * d.pairs && comm->rank % 2 == 0)
        return let_neighbour_do(comm, tag, args);
    rc = coll_temp_alloc(&temp, args->type, args->count);
    if (rc)
        return rc;
    rc = allreduce(comm, tag, args, temp.buf);
    coll_temp_free(&temp);
    return rc;
}
