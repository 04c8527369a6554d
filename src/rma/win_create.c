/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Making windows (MPI 5.0 §12.2). The members get a communicator of their own, tell each other what they
 * bring, and map the window's control part and, if the library allocates it, its memory: on each machine two ranges of
 * the job segment, which the lowest rank there takes for all there. A window of one process has plain memory.
 * Knows: coll, comm, heap. Does not know: epochs. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "coll/coll.h"
#include "comm/comm.h"
#include "obj/errhandler.h"
#include "obj/user_memory.h"
#include "p2p/p2p.h"
#include "rma/heap.h"
#include "rma/int_message.h"
#include "sys/place.h"

/* What the user asks for. */
struct wish {
    int flavor;
    const char *call; /* for reports */
    void *base;       /* the user's own memory; NULL: the library allocates it, or there is none */
    MPI_Aint size, disp_unit;
    struct info *info;
};

/* Where on a machine the two shared parts begin, in its segment; 0: there is none. */
struct offsets {
    uint64_t control, memory;
};

/* What each member tells the others. */
struct card {
    uint64_t size, unit, address;
    uint64_t align; /* of memory to be allocated */
    struct offsets offsets;
    uint32_t is_noncontig;
    uint32_t reserved;
};

struct making {
    const struct wish *wish;
    struct win *win;
    struct card *cards; /* of each member */
    struct comm *comm;  /* the window's, once it is there */
    bool has_memory;    /* of the library's, that is shared: each machine's is mapped by all there */
};

static bool is_allocating(const struct wish *wish)
{
    return wish->flavor == MPI_WIN_FLAVOR_ALLOCATE || wish->flavor == MPI_WIN_FLAVOR_SHARED;
}

static size_t member_size(int size, uint32_t *pair_mask)
{
    uint32_t pairs = 1;

    while (pairs < (uint32_t)size)
        pairs += pairs;
    *pair_mask = pairs - 1;
    return (sizeof(struct win_member) + pairs * sizeof(struct win_pair) + CACHE_LINE - 1) / CACHE_LINE *
           CACHE_LINE;
}

/* Here and where sizes are added: as much as there is at most, if it is more. */
static size_t page_up(size_t size)
{
    return size > SIZE_MAX - WIN_PAGE ? SIZE_MAX : (size + WIN_PAGE - 1) / WIN_PAGE * WIN_PAGE;
}

/* --- what each does for itself --- */

static int make_arrays(struct win *win)
{
    const size_t size = (size_t)win->size;

    win->target = mem_zalloc(size * sizeof *win->target);
    win->start_ranks = mem_zalloc(size * 4 * sizeof(int));
    if (!win->target || !win->start_ranks)
        return err(MPI_ERR_NO_MEM, "no memory for a window of %d processes", win->size);
    win->post_ranks = win->start_ranks + size;
    win->taken = (uint32_t *)(win->post_ranks + size);
    win->waited = win->taken + size;
    return 0;
}

static bool is_far(const struct comm *comm, int rank)
{
    return p2p_is_foreign(comm, rank) ||
           place_node(group_proc(comm->group, rank)) != place_node(group_proc(comm->group, comm->rank));
}

/* Who is near. */
static void look_around(struct win *win, const struct comm *comm)
{
    win->home = win->rank;
    for (int rank = win->size - 1; rank >= 0; rank--) {
        win->target[rank].is_far = is_far(comm, rank);
        win->has_far |= win->target[rank].is_far;
        if (!win->target[rank].is_far)
            win->home = rank;
    }
}

static int cannot_share(const struct win *win, const struct comm *comm)
{
    int rank = 0;

    while (!win->target[rank].is_far)
        rank++;
    return err(MPI_ERR_RMA_SHARED, "E0807: rank %d is %s than rank %d, so they have no memory together", rank,
               p2p_is_foreign(comm, rank) ? "in another client of IMPI" : "on another machine", win->rank);
}

static int prepare(struct making *making, const struct comm *comm)
{
    struct win *win = obj_create(OBJ_WIN, sizeof *win);
    int rc;

    making->win = win;
    making->cards = mem_zalloc((size_t)comm->size * sizeof *making->cards);
    if (!win || !making->cards)
        return err(MPI_ERR_NO_MEM, "no memory for a window of %d processes", comm->size);
    win->rank = comm->rank;
    win->size = comm->size;
    win->start_count = win->post_count = -1;
    pthread_mutex_init(&win->lock, NULL);
    win->create_flavor = making->wish->flavor;
    win->flavor = (uint8_t)(making->wish->flavor - MPI_WIN_FLAVOR_CREATE);
    win->model = MPI_WIN_UNIFIED;
    win->bytes = making->wish->size;
    win->disp_unit = (int)making->wish->disp_unit;
    win->errhandler = &errhandler_fatal;
    win->member_size = member_size(win->size, &win->pair_mask);
    rc = make_arrays(win);
    if (rc)
        return rc;
    win_first_info(win, making->wish->info);
    look_around(win, comm);
    return win->has_far && win->create_flavor == MPI_WIN_FLAVOR_SHARED ? cannot_share(win, comm) : 0;
}

static int fill_card(struct making *making)
{
    const struct wish *wish = making->wish;
    struct card *card = &making->cards[making->win->rank];
    size_t align = CACHE_LINE;
    const int rc = user_memory_alignment(wish->info, &align);

    *card = (struct card){ .size = (uint64_t)wish->size,
                           .unit = (uint64_t)wish->disp_unit,
                           .address = (uintptr_t)wish->base,
                           .align = align,
                           .is_noncontig = (making->win->hints & WIN_NONCONTIG) != 0 };
    return rc;
}

static void drop(struct making *making)
{
    if (making->win) {
        making->win->comm = making->comm;
        win_dispose(making->win);
    } else if (making->comm) {
        comm_unref(making->comm);
    }
    mem_free(making->cards);
}

/* --- together --- */

/* The bits that all members have set. Error: that of the exchange; *bits is 0 then. */
static int agree(struct comm *comm, int *bits)
{
    const int own = *bits;
    struct type *type = obj_type(MPI_INT);

    *bits = 0;
    return coll_run(comm, COLL_ARGS(COLL_ALLREDUCE, COLL_SAME(&own, 1, type), COLL_SAME(bits, 1, type),
                                    obj_op(MPI_BAND), 0));
}

static int share(struct making *making)
{
    struct type *byte = obj_type(MPI_BYTE);

    return coll_run(making->comm, COLL_ARGS(COLL_ALLGATHER, COLL_SAME(MPI_IN_PLACE, 0, byte),
                                            COLL_SAME(making->cards, sizeof *making->cards, byte), NULL, 0));
}

/* All go on or none: `rc` is this member's own error. */
static int all_well(struct making *making, int rc)
{
    int bits = !rc, failed = agree(making->comm, &bits);

    if (rc || failed)
        return rc ? rc : failed;
    return bits ? 0 : err(MPI_ERR_OTHER, "E0339: another process of the communicator could not make the window");
}

/* Where the segment of a near rank lies in memory that all here share; the rank after the last: the end. */
static uint64_t segment_at(const struct making *making, int rank)
{
    const bool is_contig = making->wish->flavor == MPI_WIN_FLAVOR_SHARED;
    uint64_t at = 0;
    bool all_apart = true;

    for (int i = 0; i < making->win->size; i++)
        all_apart &= making->cards[i].is_noncontig;
    for (int i = 0; i < rank; i++)
        if (!making->win->target[i].is_far &&
            __builtin_add_overflow(at, is_contig && !all_apart ? making->cards[i].size
                                                               : page_up(making->cards[i].size), &at))
            return UINT64_MAX;
    return at;
}

static uint64_t align_wanted(const struct making *making)
{
    uint64_t align = 0;

    for (int i = 0; i < making->win->size; i++)
        if (making->cards[i].align > align)
            align = making->cards[i].align;
    return align;
}

/* What rank `home` has, at all of its machine. */
static int tell_offsets(struct making *making, struct offsets *own)
{
    const struct win *win = making->win;
    struct type *byte = obj_type(MPI_BYTE);
    int rc;

    if (!win->has_far)
        return coll_run(making->comm, COLL_ARGS(COLL_BCAST, COLL_SAME(own, sizeof *own, byte), COLL_NOTHING, NULL, 0));
    making->cards[win->rank].offsets = *own;
    rc = share(making);
    *own = making->cards[win->home].offsets;
    return rc;
}

/* The lowest rank of each machine takes what is shared there. */
static int take(struct making *making, uint64_t memory_size)
{
    struct win *win = making->win;
    struct offsets offsets = { 0, 0 };
    int rc;

    if (win->rank == win->home) {
        offsets.control = heap_take(win->shared_control.size);
        if (memory_size &&
            (making->wish->flavor == MPI_WIN_FLAVOR_SHARED || align_wanted(making) <= WIN_PAGE))
            offsets.memory = heap_take(memory_size);
    }
    rc = tell_offsets(making, &offsets);
    win->shared_control.offset = offsets.control;
    win->shared_memory.offset = offsets.memory;
    return rc;
}

static bool map(struct win_shared *shared)
{
    if (shared->offset)
        shared->start = heap_map(shared->offset, shared->size);
    return shared->start != NULL;
}

static int no_memory(const struct making *making, uint64_t size)
{
    return err(MPI_ERR_NO_MEM, "E0804: no shared memory of %llu bytes for a window of %d processes: %s",
               (unsigned long long)size, making->win->size, strerror(errno ? errno : ENOMEM));
}

/* MPI_Win_allocate without shared memory: each has its own, as if the user had brought it. */
static int allocate_private(struct making *making)
{
    const struct wish *wish = making->wish;
    int rc = user_memory_alloc(wish->size, wish->info, &making->win->private_memory);

    making->cards[making->win->rank].address = (uintptr_t)making->win->private_memory;
    rc = all_well(making, rc);
    return rc ? rc : share(making);
}

/* --- control part and memory --- */

static int alone(struct making *making)
{
    struct win *win = making->win;

    win->private_control = mem_alloc_aligned(CACHE_LINE, win->member_size);
    if (!win->private_control)
        return err(MPI_ERR_NO_MEM, "no memory for a window");
    memset(win->private_control, 0, win->member_size);
    win->control = win->private_control;
    return is_allocating(making->wish) ? allocate_private(making) : 0;
}

enum { HAS_CONTROL = 1, HAS_MEMORY = 2 };

/* What to do when not all have mapped all. */
static int without(struct making *making, int bits, uint64_t memory_size)
{
    struct win *win = making->win;

    if (!(bits & HAS_CONTROL))
        return no_memory(making, win->shared_control.size);
    if (making->wish->flavor == MPI_WIN_FLAVOR_SHARED)
        return no_memory(making, memory_size);
    heap_unmap(win->shared_memory.start, win->shared_memory.size);
    if (win->shared_memory.offset && win->rank == win->home)
        heap_give(win->shared_memory.offset);
    win->shared_memory = (struct win_shared){ 0 };
    return allocate_private(making);
}

/* Others name places by the addresses that they have here. */
static int tell_addresses(struct making *making)
{
    const struct win *win = making->win;

    making->cards[win->rank].address = (uintptr_t)win->shared_memory.start + segment_at(making, win->rank);
    return share(making);
}

static int together(struct making *making)
{
    struct win *win = making->win;
    const uint64_t memory_size = is_allocating(making->wish) ? page_up(segment_at(making, win->size)) : 0;
    int bits = memory_size ? 0 : HAS_MEMORY, rc;

    win->shared_control.size = win->member_size * (size_t)win->size;
    win->shared_memory.size = memory_size;
    rc = take(making, memory_size);
    if (!rc && map(&win->shared_control)) {
        bits |= HAS_CONTROL;
        win->control = win->shared_control.start;
        memset(win_member(win, win->rank), 0, win->member_size);
        win_show_probe(win);
    }
    if (!rc && memory_size && map(&win->shared_memory))
        bits |= HAS_MEMORY;
    if (!rc)
        rc = agree(making->comm, &bits);
    if (!rc && bits != (HAS_CONTROL | HAS_MEMORY))
        return without(making, bits, memory_size);
    making->has_memory = is_allocating(making->wish);
    return rc || !making->has_memory || !win->has_far ? rc : tell_addresses(making);
}

/* --- the result --- */

static void set_target(struct making *making, int rank)
{
    struct win *win = making->win;
    struct win_target *target = &win->target[rank];
    const struct card *card = &making->cards[rank];
    const bool is_own = rank == win->rank;

    target->size = card->size;
    target->unit = card->unit;
    target->address = card->address;
    if (making->wish->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        target->size = UINT64_MAX;
    if (target->is_far) {
        atomic_store_explicit(&target->way, WIN_WAY_MESSAGES, memory_order_relaxed);
        return;
    }
    if (win->size > 1)
        target->proc = heap_proc(group_proc(win->comm->group, rank));
    if (making->wish->flavor != MPI_WIN_FLAVOR_DYNAMIC && win->shared_memory.start)
        target->base = win->shared_memory.start + segment_at(making, rank);
    else if (making->wish->flavor != MPI_WIN_FLAVOR_DYNAMIC && is_own)
        target->base = (char *)(uintptr_t)card->address;
    if (is_own || target->base || (is_allocating(making->wish) && win->is_mapped))
        atomic_store_explicit(&target->way, WIN_WAY_DIRECT, memory_order_relaxed);
}

/* Is there another member on this machine? */
static bool has_near(const struct win *win)
{
    int near = 0;

    for (int rank = 0; rank < win->size; rank++)
        near += !win->target[rank].is_far;
    return near > 1;
}

static void finish(struct making *making)
{
    struct win *win = making->win;

    win->comm = making->comm;
    win->is_mapped = win->size == 1 || (making->has_memory && has_near(win));
    for (int rank = 0; rank < win->size; rank++)
        set_target(making, rank);
    win->base = win->create_flavor == MPI_WIN_FLAVOR_DYNAMIC ? MPI_BOTTOM : win->target[win->rank].base;
    win_set_name(win, "");
    mem_free(making->cards);
    win_enter(win);
}

/* The same in all processes, whatever else goes wrong. */
static bool has_far(const struct comm *comm)
{
    for (int rank = 0; rank < comm->size; rank++)
        if (is_far(comm, rank))
            return true;
    return false;
}

static int build(struct making *making, struct comm *comm, int rc)
{
    const char *const call = making->wish->call;
    bool is_apart = false;
    int failed = has_far(comm) ? attend_wanted(comm, &is_apart) : 0;

    if (!failed && is_apart)
        failed = comm_create_apart(comm, call, &making->comm);
    else if (!failed)
        failed = comm_create_for(comm, comm->group, call, &making->comm);
    if (failed)
        return rc ? rc : failed;
    making->comm->coll_outer = making->wish->call;
    if (!rc)
        rc = fill_card(making);
    rc = all_well(making, rc);
    if (!rc)
        rc = share(making);
    if (!rc)
        rc = making->win->size == 1 ? alone(making) : together(making);
    making->comm->coll_outer = NULL;
    return rc;
}

static int make(const struct wish *wish, struct comm *comm, struct win **out)
{
    struct making making = { .wish = wish };
    int rc = p2p_check_kin(comm, wish->call);

    if (rc)
        return rc;
    rc = build(&making, comm, prepare(&making, comm));
    if (rc) {
        drop(&making);
        return rc;
    }
    finish(&making);
    if (!making.win->is_mapped || making.win->has_far) /* all wait for all, so nothing comes too early */
        rc = all_well(&making, win_message_open(making.win));
    if (rc) {
        win_message_close(making.win);
        win_leave(making.win);
        win_dispose(making.win);
        return rc;
    }
    *out = making.win;
    return 0;
}

int win_create(void *base, MPI_Aint size, MPI_Aint disp_unit, struct info *info, struct comm *comm,
               struct win **out)
{
    const struct wish wish = { MPI_WIN_FLAVOR_CREATE, "MPI_Win_create", base, size, disp_unit, info };

    return make(&wish, comm, out);
}

static int allocate(const struct wish *wish, struct comm *comm, void *base_out, struct win **out)
{
    const int rc = make(wish, comm, out);

    if (!rc)
        memcpy(base_out, &(*out)->base, sizeof(*out)->base);
    return rc;
}

int win_allocate(MPI_Aint size, MPI_Aint disp_unit, struct info *info, struct comm *comm, void *base_out,
                 struct win **out)
{
    const struct wish wish = { MPI_WIN_FLAVOR_ALLOCATE, "MPI_Win_allocate", NULL, size, disp_unit, info };

    return allocate(&wish, comm, base_out, out);
}

int win_allocate_shared(MPI_Aint size, MPI_Aint disp_unit, struct info *info, struct comm *comm,
                        void *base_out, struct win **out)
{
    const struct wish wish = {
        MPI_WIN_FLAVOR_SHARED, "MPI_Win_allocate_shared", NULL, size, disp_unit, info
    };

    return allocate(&wish, comm, base_out, out);
}

int win_create_dynamic(struct info *info, struct comm *comm, struct win **out)
{
    const struct wish wish = { MPI_WIN_FLAVOR_DYNAMIC, "MPI_Win_create_dynamic", NULL, 0, 1, info };

    return make(&wish, comm, out);
}
