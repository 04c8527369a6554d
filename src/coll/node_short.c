/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Short bcast, gather(v), scatter(v), allgather(v) and alltoall(v, w) through shared memory: see
 * int_short.h. In the forms with counts a line begins with a struct node_head, as in node_slots.c; when another member
 * says in his that his blocks lie elsewhere or are of different lengths, node_box.c does the rest. */
#include "coll/int_short.h"

/* --- bcast --- */

int coll_short_bcast(struct comm *comm, void *buf, MPI_Count count, const struct type *type, int root)
{
    struct node_call call;
    unsigned char *line;
    size_t bytes;
    int rc;

    if (!short_may(comm, COLL_BCAST) || !short_is(buf, count, type, SHELF_INLINE))
        return COLL_NOT_SHORT;
    bytes = type_bytes(type, count); /* not before: between groups there need not be a type */
    line = short_open(&call, comm, COLL_BCAST, "MPI_Bcast", root, bytes);
    if (comm->rank == root) {
        copy_bytes(line, buf, bytes);
        short_post(&call);
        node_wake_all(&call);
        return 0;
    }
    short_post(&call);
    rc = short_await(&call, root);
    if (likely(!rc))
        copy_bytes(buf, short_place(&call, root), bytes);
    return rc;
}

/* --- blocks of one length --- */

int coll_short_gather(struct comm *comm, const void *send, MPI_Count send_count, const struct type *send_type,
                      void *recv, MPI_Count recv_count, const struct type *recv_type, int root)
{
    struct node_call call;
    char *to = recv;
    size_t bytes;
    int rc = 0;

    if (!short_may(comm, COLL_GATHER))
        return COLL_NOT_SHORT;
    if (comm->rank != root) {
        if (!short_is(send, send_count, send_type, SHELF_INLINE))
            return COLL_NOT_SHORT;
        bytes = type_bytes(send_type, send_count);
        copy_bytes(short_open(&call, comm, COLL_GATHER, "MPI_Gather", root, bytes), send, bytes);
        short_post(&call);
        node_wake(&call, root);
        return 0;
    }
    bytes = type_bytes(recv_type, recv_count);
    if (!short_is(recv, recv_count, recv_type, SHELF_INLINE) ||
        !short_keeps(send, send_count, send_type, to + (size_t)root * bytes, bytes))
        return COLL_NOT_SHORT;
    short_open(&call, comm, COLL_GATHER, "MPI_Gather", root, bytes);
    short_post(&call);
    short_keep(send, to + (size_t)root * bytes, bytes);
    for (int rank = 0; rank < comm->size && likely(!rc); rank++, to += bytes) {
        if (rank == root)
            continue;
        rc = short_await(&call, rank);
        if (likely(!rc))
            copy_bytes(to, short_place(&call, rank), bytes);
    }
    return rc;
}

int coll_short_scatter(struct comm *comm, const void *send, MPI_Count send_count, const struct type *send_type,
                       void *recv, MPI_Count recv_count, const struct type *recv_type, int root)
{
    const size_t most = SHELF_INLINE / (size_t)comm->size;
    const bool is_root = comm->rank == root;
    struct node_call call;
    unsigned char *line;
    size_t bytes, at;
    int rc;

    if (!short_may(comm, COLL_SCATTER))
        return COLL_NOT_SHORT;
    bytes = is_root ? type_bytes(send_type, send_count) : type_bytes(recv_type, recv_count);
    at = (size_t)comm->rank * bytes;
    if (!is_root) {
        if (!short_is(recv, recv_count, recv_type, most))
            return COLL_NOT_SHORT;
        short_open(&call, comm, COLL_SCATTER, "MPI_Scatter", root, bytes);
        short_post(&call);
        rc = short_await(&call, root);
        if (likely(!rc))
            copy_bytes(recv, (char *)short_place(&call, root) + at, bytes);
        return rc;
    }
    if (!short_is(send, send_count, send_type, most) ||
        !short_keeps(recv, recv_count, recv_type, (const char *)send + at, bytes))
        return COLL_NOT_SHORT;
    line = short_open(&call, comm, COLL_SCATTER, "MPI_Scatter", root, bytes);
    copy_bytes(line, send, (size_t)comm->size * bytes);
    short_post(&call);
    node_wake_all(&call);
    if (recv != MPI_IN_PLACE)
        copy_bytes(recv, (const char *)send + at, bytes);
    return 0;
}

int coll_short_allgather(struct comm *comm, const void *send, MPI_Count send_count, const struct type *send_type,
                         void *recv, MPI_Count recv_count, const struct type *recv_type)
{
    const size_t bytes = type_bytes(recv_type, recv_count);
    char *own = (char *)recv + (size_t)comm->rank * bytes, *to = recv;
    struct node_call call;
    unsigned char *line;
    int rc;

    if (!short_may(comm, COLL_ALLGATHER) || !short_is(recv, recv_count, recv_type, SHELF_INLINE) ||
        !short_keeps(send, send_count, send_type, own, bytes))
        return COLL_NOT_SHORT;
    line = short_open(&call, comm, COLL_ALLGATHER, "MPI_Allgather", -1, bytes);
    copy_bytes(line, send == MPI_IN_PLACE ? own : send, bytes);
    short_post(&call);
    rc = short_meet(&call);
    for (int rank = 0; rank < comm->size && likely(!rc); rank++, to += bytes) {
        if (rank != comm->rank || send != MPI_IN_PLACE)
            copy_bytes(to, short_place(&call, rank), bytes);
    }
    return rc;
}

int coll_short_alltoall(struct comm *comm, const void *send, MPI_Count send_count, const struct type *send_type,
                        void *recv, MPI_Count recv_count, const struct type *recv_type)
{
    const size_t bytes = type_bytes(recv_type, recv_count), at = (size_t)comm->rank * bytes;
    const bool is_in_place = send == MPI_IN_PLACE;
    struct node_call call;
    unsigned char *line;
    char *to = recv;
    int rc;

    if (!short_may(comm, COLL_ALLTOALL) ||
        !short_is(recv, recv_count, recv_type, SHELF_INLINE / (size_t)comm->size) ||
        !short_keeps(send, send_count, send_type, recv, bytes))
        return COLL_NOT_SHORT;
    line = short_open(&call, comm, COLL_ALLTOALL, "MPI_Alltoall", -1, bytes);
    copy_bytes(line, is_in_place ? recv : send, (size_t)comm->size * bytes);
    short_post(&call);
    rc = short_meet(&call);
    for (int rank = 0; rank < comm->size && likely(!rc); rank++, to += bytes)
        copy_bytes(to, (char *)short_place(&call, rank) + at, bytes);
    return rc;
}

/* --- blocks of different lengths --- */

enum { SLOTS = SHELF_INLINE - sizeof(struct node_head) }; /* bytes of a line that slots have */

static ALWAYS_INLINE bool may_vary(const struct comm *comm, enum coll_operation operation)
{
    return short_may(comm, operation) && likely(comm->shelf_copies > 0);
}

/* Blocks with counts, in arrays of int. */
struct many {
    const void *buf;
    const int *counts, *displs;
    struct type *type;          /* of all of them, or … */
    const MPI_Datatype *types;  /* … of each, with displacements in bytes */
};

struct block {
    char *at;
    size_t bytes;
};

static ALWAYS_INLINE struct type *type_of(const struct many *many, int rank)
{
    return many->types ? obj_type(many->types[rank]) : many->type;
}

static ALWAYS_INLINE struct block block_of(const struct many *many, int rank)
{
    const struct type *type = type_of(many, rank);

    return (struct block){ coll_address(many->buf, many->displs[rank] * (many->types ? 1 : type->extent)),
                           type_bytes(type, many->counts[rank]) };
}

static ALWAYS_INLINE bool are_known(const struct many *many)
{
    return (uintptr_t)many->buf > (uintptr_t)MPI_IN_PLACE && many->counts;
}

/* Are all of them short enough for a slot, and without gaps? */
static ALWAYS_INLINE bool are_short(const struct comm *comm, const struct many *many)
{
    if (!are_known(many))
        return false;
    for (int rank = 0; rank < comm->size; rank++) {
        const struct type *type = type_of(many, rank);

        if (!type->is_contig || type_bytes(type, many->counts[rank]) > SLOTS)
            return false;
    }
    return true;
}

/* Head of a line with slots of so many bytes, all filled; where they begin. */
static ALWAYS_INLINE unsigned char *put_head(unsigned char *line, size_t bytes)
{
    const struct node_head head = { (uint32_t)bytes, (uint32_t)bytes };

    memcpy(line, &head, sizeof head);
    return line + sizeof head;
}

/* Take what a member, whose line has come, has in one of its `count` slots. False: it is not there, or does not fit. */
static ALWAYS_INLINE bool take(const struct node_call *call, int rank, int count, int slot, struct block to)
{
    const struct node_head *head = node_head(call, rank, call->round);

    if (unlikely(head->len > to.bytes || head->len != head->stride || head->stride * (size_t)count > SLOTS))
        return false;
    copy_bytes(to.at, (const char *)(head + 1) + (size_t)slot * head->stride, head->len);
    return true;
}

/* The same of slots that do not fit into a line, but into a cell. */
static bool take_from_cell(const struct node_call *call, int rank, int count, int slot, struct block to)
{
    const struct node_head *head = node_head(call, rank, call->round);
    const size_t all = head->stride * (size_t)count;

    if (head->len > to.bytes || head->len != head->stride || all <= SLOTS || all > node_part())
        return false;
    shared_read(to.at, shelf_cell(call->comm, rank, call->round) + (size_t)slot * head->stride, head->len);
    return true;
}

/* All that this member takes, in the general way; its own line has been posted. Lines that have not come are waited
 * for. */
static COLD NOINLINE int take_all(struct node_call *call, const struct coll_data *in, int in_index, int first, int end,
                                  bool has_root, bool has_one)
{
    const int rc = node_await(call, call->round, first, end);

    return rc ? rc : node_take_blocks(&(struct node_blocks){ .call = call, .in = in, .in_index = in_index,
                                                             .first = first, .end = end, .has_root = has_root,
                                                             .has_one = has_one, .varies = true });
}

int coll_short_gatherv(struct comm *comm, const void *send, MPI_Count send_count, struct type *send_type, void *recv,
                       const int *counts, const int *displs, struct type *recv_type, int root)
{
    const struct many in = { recv, counts, displs, recv_type, NULL };
    struct node_call call;
    struct block own;
    bool is_taken = true;
    int rc = 0;

    if (!may_vary(comm, COLL_GATHERV))
        return COLL_NOT_SHORT;
    if (comm->rank != root) {
        const size_t bytes = type_bytes(send_type, send_count);

        if (!short_is(send, send_count, send_type, SLOTS))
            return COLL_NOT_SHORT;
        copy_bytes(put_head(short_open(&call, comm, COLL_GATHERV, "MPI_Gatherv", root, 0), bytes), send, bytes);
        short_post(&call);
        node_wake(&call, root);
        return 0;
    }
    if (!are_short(comm, &in))
        return COLL_NOT_SHORT;
    own = block_of(&in, root);
    if (!short_keeps(send, send_count, send_type, own.at, own.bytes))
        return COLL_NOT_SHORT;
    put_head(short_open(&call, comm, COLL_GATHERV, "MPI_Gatherv", root, 0), 0);
    short_post(&call);
    short_keep(send, own.at, own.bytes);
    for (int rank = 0; rank < comm->size && likely(!rc && is_taken); rank++) {
        if (rank == root)
            continue;
        rc = short_await(&call, rank);
        if (likely(!rc))
            is_taken = take(&call, rank, 1, 0, block_of(&in, rank));
    }
    if (unlikely(!is_taken))
        return take_all(&call, &COLL_VARYING(recv, counts, displs, recv_type), NODE_EACH, 0, comm->size, true, true);
    return rc;
}

/* Does this member bring all the others blocks of one length, `most` bytes together? *own is that for itself. */
static ALWAYS_INLINE bool are_slots(const struct comm *comm, const struct many *many, size_t most, struct block *own)
{
    const int other = comm->rank ? 0 : 1;
    size_t bytes;

    if (!are_known(many))
        return false;
    bytes = type_bytes(type_of(many, other), many->counts[other]);
    for (int rank = 0; rank < comm->size; rank++) {
        const struct type *type = type_of(many, rank);

        if (!type->is_contig || (rank != comm->rank && type_bytes(type, many->counts[rank]) != bytes))
            return false;
    }
    *own = block_of(many, comm->rank);
    return bytes * (size_t)(comm->size - 1) <= most && bytes < NODE_EACH_MIN;
}

static ALWAYS_INLINE void put_slots(const struct comm *comm, unsigned char *line, const struct many *many)
{
    unsigned char *place = put_head(line, block_of(many, comm->rank ? 0 : 1).bytes);

    for (int rank = 0; rank < comm->size; rank++) {
        const struct block block = block_of(many, rank);

        if (rank != comm->rank) {
            copy_bytes(place, block.at, block.bytes);
            place += block.bytes;
        }
    }
}

/* Those of a scatterv that a cell takes. */
static void scatter_by_cell(struct comm *comm, const struct many *out)
{
    const uint32_t bytes = (uint32_t)block_of(out, comm->rank ? 0 : 1).bytes;
    const struct node_head head = { bytes, bytes };
    struct node_call call;
    struct shelf_line *line;
    char *place;

    call = (struct node_call){ .comm = comm, .what = node_what(COLL_SCATTERV, comm->rank) };
    coll_count_call(comm, "MPI_Scatterv");
    line = node_open(&call, true);
    memcpy(line->data, &head, sizeof head);
    place = shelf_cell(comm, comm->rank, call.round);
    for (int rank = 0; rank < comm->size; rank++) {
        if (rank != comm->rank) {
            shared_write(place, block_of(out, rank).at, bytes, false);
            place += bytes;
        }
    }
    node_post(&call, line);
    node_wake_all(&call);
}

int coll_short_scatterv(struct comm *comm, const void *send, const int *counts, const int *displs,
                        struct type *send_type, void *recv, MPI_Count recv_count, struct type *recv_type, int root)
{
    const struct many out = { send, counts, displs, send_type, NULL };
    const int rank = comm->rank;
    struct node_call call;
    struct block own;
    int rc;

    if (!may_vary(comm, COLL_SCATTERV))
        return COLL_NOT_SHORT;
    if (rank != root) {
        if (!short_is(recv, recv_count, recv_type, NODE_EACH_MIN - 1))
            return COLL_NOT_SHORT;
        put_head(short_open(&call, comm, COLL_SCATTERV, "MPI_Scatterv", root, 0), 0);
        short_post(&call);
        rc = short_await(&call, root);
        own = (struct block){ recv, type_bytes(recv_type, recv_count) };
        if (likely(rc || take(&call, root, comm->size - 1, rank - (rank > root), own)) ||
            take_from_cell(&call, root, comm->size - 1, rank - (rank > root), own))
            return rc;
        return take_all(&call, &COLL_SAME(recv, recv_count, recv_type), 0, root, root + 1, true, false);
    }
    if (!are_slots(comm, &out, node_part(), &own) ||
        !short_keeps(recv, recv_count, recv_type, own.at, own.bytes))
        return COLL_NOT_SHORT;
    if (block_of(&out, rank ? 0 : 1).bytes * (size_t)(comm->size - 1) <= SLOTS) {
        put_slots(comm, short_open(&call, comm, COLL_SCATTERV, "MPI_Scatterv", root, 0), &out);
        short_post(&call);
        node_wake_all(&call);
    } else {
        scatter_by_cell(comm, &out);
    }
    if (recv != MPI_IN_PLACE)
        copy_bytes(recv, own.at, own.bytes);
    return 0;
}

int coll_short_allgatherv(struct comm *comm, const void *send, MPI_Count send_count, struct type *send_type,
                          void *recv, const int *counts, const int *displs, struct type *recv_type)
{
    const struct many in = { recv, counts, displs, recv_type, NULL };
    struct node_call call;
    struct block own;
    bool is_taken = true;
    int rc;

    if (!may_vary(comm, COLL_ALLGATHERV) || !are_short(comm, &in))
        return COLL_NOT_SHORT;
    own = block_of(&in, comm->rank);
    if (!short_keeps(send, send_count, send_type, own.at, own.bytes))
        return COLL_NOT_SHORT;
    copy_bytes(put_head(short_open(&call, comm, COLL_ALLGATHERV, "MPI_Allgatherv", -1, 0), own.bytes),
               send == MPI_IN_PLACE ? own.at : send, own.bytes);
    short_post(&call);
    short_keep(send, own.at, own.bytes);
    rc = short_meet(&call);
    for (int rank = 0; rank < comm->size && likely(!rc && is_taken); rank++)
        is_taken = rank == comm->rank || take(&call, rank, 1, 0, block_of(&in, rank));
    if (unlikely(!is_taken))
        return take_all(&call, &COLL_VARYING(recv, counts, displs, recv_type), NODE_EACH, 0, comm->size, false, true);
    return rc;
}

static ALWAYS_INLINE int exchange(struct comm *comm, enum coll_operation operation, const char *name,
                                  const struct many *out, const struct many *in)
{
    const int own = comm->rank, size = comm->size;
    struct node_call call;
    struct block from, to;
    bool is_taken = true;
    int rc;

    if (!may_vary(comm, operation) || !are_slots(comm, out, SLOTS, &from) || !are_short(comm, in))
        return COLL_NOT_SHORT;
    to = block_of(in, own);
    if (from.bytes != to.bytes || from.at == to.at)
        return COLL_NOT_SHORT;
    put_slots(comm, short_open(&call, comm, operation, name, -1, 0), out);
    short_post(&call);
    copy_bytes(to.at, from.at, to.bytes);
    rc = short_meet(&call);
    for (int rank = 0; rank < size && likely(!rc && is_taken); rank++)
        is_taken = rank == own || take(&call, rank, size - 1, own - (own > rank), block_of(in, rank));
    if (likely(is_taken))
        return rc;
    return take_all(&call, in->types ? &COLL_MIXED(in->buf, in->counts, in->displs, in->types)
                                     : &COLL_VARYING(in->buf, in->counts, in->displs, in->type),
                    NODE_EACH, 0, size, false, false);
}

int coll_short_alltoallv(struct comm *comm, const void *send, const int *send_counts, const int *send_displs,
                         struct type *send_type, void *recv, const int *recv_counts, const int *recv_displs,
                         struct type *recv_type)
{
    return exchange(comm, COLL_ALLTOALLV, "MPI_Alltoallv",
                    &(struct many){ send, send_counts, send_displs, send_type, NULL },
                    &(struct many){ recv, recv_counts, recv_displs, recv_type, NULL });
}

int coll_short_alltoallw(struct comm *comm, const void *send, const int *send_counts, const int *send_displs,
                         const MPI_Datatype *send_types, void *recv, const int *recv_counts, const int *recv_displs,
                         const MPI_Datatype *recv_types)
{
    return exchange(comm, COLL_ALLTOALLW, "MPI_Alltoallw",
                    &(struct many){ send, send_counts, send_displs, NULL, send_types },
                    &(struct many){ recv, recv_counts, recv_displs, NULL, recv_types });
}
