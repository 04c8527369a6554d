/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. Shared file pointers (MPI 5.0 §14.4.4). The pointer, in etypes, is a word in the memory that the members of
 * the file's communicator share. Where they share none, it lies at rank 0, which answers parcels: in its calls of MPI,
 * or by the library's helper. Nothing of it is in a file system, so nothing is left behind.
 * Knows: coll (the word), parcels. Does not know: data. */
#include "base/err.h"
#include "base/mem.h"
#include "coll/coll.h"
#include "comm/comm.h"
#include "io/operation.h"
#include "obj/blocked.h"
#include "op/op.h"
#include "p2p/attend.h"
#include "p2p/p2p.h"
#include "p2p/parcel.h"
#include "sys/job.h"

/* What is asked for; it comes back with the value from before. */
struct question {
    int64_t amount;          /* to be added */
    int64_t value;
    uint64_t slot;           /* address, at the process that asks, of its struct slot */
};

struct slot {
    const struct comm *comm;
    const char *call;        /* for reports */
    int64_t value;
    _Atomic uint32_t done;
    int lost;                /* rank 0 is: the error */
};

enum { QUESTION, ANSWER };

struct parcel {
    int rank;
    uint32_t word;
    struct file *file;
    struct question question;
};

/* It stays where it cannot move. Returns where it was. */
static int64_t add(_Atomic int64_t *pointer, int64_t amount)
{
    int64_t before = atomic_load(pointer), after;

    do
        if (__builtin_add_overflow(before, amount, &after))
            return before;
    while (!atomic_compare_exchange_weak(pointer, &before, after));
    return before;
}

/* --- served by rank 0 --- */

static void *begin(void *arg, int rank, uint32_t word, size_t len, void **token)
{
    struct parcel *const parcel = mem_alloc(sizeof *parcel);

    (void)len, (void)token;
    if (!parcel)
        return NULL;
    parcel->rank = rank;
    parcel->word = word;
    parcel->file = arg;
    return &parcel->question;
}

static void end(void *arg, void *place, int rc)
{
    struct parcel *const parcel = CONTAINER_OF(place, struct parcel, question);
    struct question *const q = &parcel->question;
    struct slot *const slot = (struct slot *)(uintptr_t)q->slot;

    (void)arg;
    if (rc) {
        mem_free(parcel);
        return;
    }
    if (parcel->word == ANSWER) {
        slot->value = q->value;
        atomic_store_explicit(&slot->done, 1, memory_order_release); /* pairs with is_answered */
        progress_notify();
    } else {
        q->value = add(parcel->file->pointer, q->amount);
        p2p_parcel_send(parcel->file->asking, parcel->rank, ANSWER, q, sizeof *q, NULL, NULL);
    }
    mem_free(parcel);
}

static const struct p2p_parcel_sink sink = { .begin = begin, .end = end };

static bool is_answered(void *arg)
{
    struct slot *const slot = arg;

    if (atomic_load_explicit(&slot->done, memory_order_acquire)) /* pairs with end */
        return true;
    slot->lost = p2p_lost_rank(slot->comm, 0);
    return slot->lost;
}

bool io_describe_wait(const struct progress_long *told, struct blocked *out)
{
    const struct slot *const slot = told->arg;

    if (told->is_done != is_answered)
        return false;
    *out = (struct blocked){ .call = slot->call, .comm = slot->comm, .way = BLOCKED_RECEIVING, .peer = 0,
                             .tag = JOB_NO_VALUE, .count = -1 };
    return true;
}

static int ask(struct file *file, const char *call, int64_t amount, int64_t *before)
{
    struct slot slot = { .comm = file->asking, .call = call };
    const struct question question = { amount, 0, (uintptr_t)&slot };
    const int rc = p2p_parcel_send(file->asking, 0, QUESTION, &question, sizeof question, NULL, NULL);

    if (rc)
        return rc;
    progress_wait_until(is_answered, &slot);
    *before = slot.value;
    return slot.lost;
}

/* --- the pointer --- */

/* What the processes of a machine share, or the only one has; NULL: nothing. Collective over `comm`. */
static _Atomic int64_t *find_word(struct file *file, struct comm *comm)
{
    return comm->size == 1 ? &file->own_pointer : coll_shared_word(comm);
}

/* Rank 0 is to answer while it computes, too: by a communicator that the library's helper looks after. That one sees
 * only what comes from other machines, or other clients of IMPI, so those of its own share the word with it. */
int io_shared_prepare(struct file *file)
{
    const int machine = file->machines.of[file->comm->rank];
    bool is_apart = false, is_served;
    int rc = file->machines.count > 1 ? attend_wanted(file->comm, &is_apart) : 0;

    is_served = is_apart || (file->machines.count > 1 && p2p_is_joint(file->comm));
    if (!rc && is_apart)
        rc = comm_create_apart(file->comm, "MPI_File_open", &file->asking);
    if (!rc && is_served)
        rc = comm_split(file->comm, machine, file->comm->rank, &file->home);
    if (!rc && is_served && machine == file->machines.of[0]) {
        file->home->coll_outer = "MPI_File_open";
        file->pointer = find_word(file, file->home);
        file->home->coll_outer = NULL;
    }
    if (!file->asking)
        file->asking = file->comm;
    return rc;
}

int io_shared_open(struct file *file)
{
    int rc;

    if (file->machines.count == 1)
        file->pointer = find_word(file, file->comm);
    if (file->machines.count == 1 && file->pointer)
        return 0;
    file->is_boxed = true;
    if (!file->comm->rank && !file->pointer)
        file->pointer = &file->own_pointer;
    rc = p2p_box_open(file->asking, &sink, file);
    file->is_attended = !rc && !file->comm->rank && file->home;
    if (file->is_attended)
        attend_begin(file->asking);
    return rc;
}

void io_shared_close(struct file *file)
{
    if (file->is_attended)
        attend_end(file->asking);
    if (file->is_boxed)
        p2p_box_close(file->asking);
}

int io_shared_add(struct file *file, const char *call, int64_t amount, int64_t *before)
{
    if (!file->pointer)
        return ask(file, call, amount, before);
    *before = add(file->pointer, amount);
    return 0;
}

void io_shared_set(struct file *file, int64_t value)
{
    if (!file->comm->rank)
        atomic_store(file->pointer, value);
}

int io_get_position_shared(struct file *file, MPI_Offset *offset)
{
    if (file->amode & MPI_MODE_SEQUENTIAL)
        return err(MPI_ERR_UNSUPPORTED_OPERATION,
                   "E0907: file \"%.200s\" was opened with MPI_MODE_SEQUENTIAL: it has no positions", file->name);
    return io_shared_add(file, "MPI_File_get_position_shared", 0, offset);
}

int io_seek_shared(struct file *file, MPI_Offset offset, int whence)
{
    struct io_view *view;
    MPI_Offset current, target = 0;
    int rc;

    io_op_drain(file);
    rc = io_agree(file->comm, "MPI_File_seek_shared", file->name, 0,
                  (uint64_t)offset ^ (uint64_t)whence * UINT64_C(0x9E3779B97F4A7C15), "offset and whence");
    if (rc)
        return rc;
    view = io_view_of(file);
    if (!file->comm->rank) { /* the others wait */
        rc = io_shared_add(file, "MPI_File_seek_shared", 0, &current);
        if (!rc)
            rc = io_find_target(file, view, offset, whence, current, &target);
        if (!rc)
            io_shared_set(file, target);
    }
    io_view_unref(view);
    return io_agree(file->comm, "MPI_File_seek_shared", file->name, rc, 0, "");
}

/* --- ordered access --- */

/* What each brings, and where the first one begins. */
static int find_offset(const struct io_call *call, MPI_Offset etypes, MPI_Offset *offset)
{
    struct file *const file = call->file;
    struct comm *const comm = file->comm;
    struct type *type = obj_type(MPI_INT64_T);
    struct {
        int64_t before, base;
    } place = { 0, 0 };
    int64_t amount = etypes;
    int rc = 0;

    comm->coll_outer = call->name;
    if (comm->size > 1)
        rc = coll_run(comm, COLL_ARGS(COLL_EXSCAN, COLL_SAME(&amount, 1, type), COLL_SAME(&place.before, 1, type),
                                      obj_op(MPI_SUM), 0));
    if (!comm->rank)
        place.before = 0;
    amount += place.before; /* at the last one: all */
    if (!rc && comm->rank == comm->size - 1)
        rc = io_shared_add(file, call->name, amount, &place.base);
    if (!rc && comm->size > 1)
        rc = coll_run(comm, COLL_ARGS(COLL_BCAST, COLL_SAME(&place.base, 1, type), COLL_NOTHING, NULL,
                                      comm->size - 1));
    comm->coll_outer = NULL;
    *offset = place.base + place.before;
    return rc;
}

/* The same call at the place where the rank's turn is. */
static int place_call(const struct io_call *call, struct io_call *placed)
{
    *placed = *call;
    io_op_drain(call->file);
    return find_offset(call, io_call_etypes(call), &placed->offset);
}

int io_run_ordered(const struct io_call *call, MPI_Status *status)
{
    struct io_call placed;
    const int rc = place_call(call, &placed);

    return rc ? rc : io_run_all(&placed, status);
}

int io_begin_ordered(const struct io_call *call)
{
    struct io_call placed;
    const int rc = call->file->split ? 0 : place_call(call, &placed);

    return rc ? rc : io_begin_all(call->file->split ? call : &placed);
}
