/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Copying between the memories of members, where the system lets each copy from each.
 * Knows: sys (peeking). Does not know: what is copied. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/setting.h"
#include "coll/int_ways.h"
#include "p2p/p2p.h"
#include "sys/peek.h"

static struct setting copy_min = {
    .name = "SHARED_COLL_COPY_MIN",
    .help = "bytes from which collective calls copy directly between processes; 0: by what such a copy costs here",
    .topic = "copies",
    .kind = SETTING_INT,
    .max = 1L << 40,
};
SETTING_LISTED(copy_min);

#define DEAR_CROWDED 3.5F /* see peek_price */

static int pid_of(const struct node_call *call, int rank)
{
    return atomic_load_explicit(&shelf_proc(call->comm, rank)->pid, memory_order_relaxed);
}

int node_show(struct node_call *call, const struct node_window *window)
{
    struct shelf_line *line = node_open(call, false);
    int rc;

    memcpy(line->data, window, sizeof *window);
    if (call->tried)
        node_ways_tell(call, line);
    node_post(call, line);
    rc = node_meet(call, call->round);
    if (call->tried && !rc)
        node_ways_hear(call, call->round);
    return rc;
}

_Static_assert(sizeof(struct node_window) <= SHELF_INLINE, "a window goes into a line");

/* Is what one can read there what the member says? Nothing less shows that it works. */
static bool can_read(const struct node_call *call, int rank)
{
    const struct node_window *other = node_window(call, rank);
    uint64_t found = 0;

    return !peek_read(pid_of(call, rank), &found, other->in, sizeof found) && found == other->value;
}

static bool is_set(void)
{
    return !setting_read(&copy_min) && copy_min.value;
}

/* Members that share processors share the caches, too, so cells are better sooner. */
static bool copies_are_dear(void)
{
    return progress_is_oversubscribed() ? peek_price() > DEAR_CROWDED : peek_is_dear();
}

/* From how many bytes on do copies pay, as this process sees it? */
static uint64_t pays_from(void)
{
    if (is_set())
        return (uint64_t)copy_min.value;
    return copies_are_dear() ? NODE_COPY_MIN_DEAR : 0;
}

/* All take the lowest, since what disturbs a process while it measures makes it higher. `can` of all is known. */
static size_t agreed_min(const struct node_call *call)
{
    uint64_t least = UINT64_MAX;

    for (int rank = 0; rank < call->comm->size; rank++) {
        const uint64_t min = node_window(call, rank)->len;
        least = min < least ? min : least;
    }
    return (size_t)least;
}

/* May the way be found by trial? */
static bool is_free(const struct node_call *call)
{
    for (int rank = 0; rank < call->comm->size; rank++) {
        if (node_window(call, rank)->in)
            return false;
    }
    return true;
}

int node_ask_copies(struct node_call *call)
{
    const int size = call->comm->size, rank = call->comm->rank;
    const uint64_t value = UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(rank + 1);
    struct node_window window = { .in = (uintptr_t)&value, .value = value };
    bool can = peek_is_wanted();
    int rc = node_show(call, &window);

    for (int other = 0; other < size && can && !rc; other++)
        can = other == rank || can_read(call, other);
    if (rc)
        return rc;
    window.value = can;
    window.len = can ? pays_from() : 0;
    window.in = is_set() || progress_is_oversubscribed();
    rc = node_show(call, &window); /* from now on nobody reads `value` */
    for (int other = 0; other < size && can && !rc; other++)
        can = node_window(call, other)->value != 0;
    call->comm->shelf_copies = can ? 1 : -1;
    call->comm->shelf_copy_min = agreed_min(call);
    if (can && !rc && is_free(call))
        node_ways_init(call->comm);
    return rc;
}

static COLD int copy_failed(const struct node_call *call, int rank, size_t len, int failed)
{
    if (failed == ESRCH)
        return p2p_gone(group_proc(call->comm->group, rank), "a collective call", len);
    return err(MPI_ERR_BUFFER,
               "E0701: copying %zu bytes from or to the memory of rank %d of %d in a collective call: %s", len, rank,
               call->comm->size, strerror(failed));
}

/* Those on this node of a communicator of several have no messages of their own. */
static struct comm *with_messages(const struct node_call *call)
{
    return call->comm->whole ? call->comm->whole : call->comm;
}

int node_fetch(const struct node_call *call, int rank, void *to, uint64_t from, size_t len)
{
    const int failed = len ? peek_read(pid_of(call, rank), to, from, len) : 0;

    if (unlikely(peek_is_refused(failed)))
        return p2p_fetch(with_messages(call), group_proc(call->comm->group, rank), to, from, len);
    return likely(!failed) ? 0 : copy_failed(call, rank, len, failed);
}

int node_push(const struct node_call *call, int rank, const void *from, uint64_t to, size_t len)
{
    const int failed = len ? peek_write(pid_of(call, rank), from, to, len) : 0;

    if (unlikely(peek_is_refused(failed)))
        return p2p_store(with_messages(call), group_proc(call->comm->group, rank), from, to, len);
    return likely(!failed) ? 0 : copy_failed(call, rank, len, failed);
}
