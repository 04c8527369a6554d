/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/shm. Single copies between two processes, and the records by which both share the work.
 * Knows: base, sys (peeking), net. */
#include "net/shm/int_shm.h"
#include "sys/huge.h"
#include "sys/peek.h"

enum { RECORD_FREE, RECORD_IN_USE };

/* Read the peer's probe word and see whether it is what the peer says: nothing less shows that it works. */
static enum shm_copy try_copy(struct shm *shm, struct shm_peer *contact)
{
    const struct shm_proc *peer = contact->proc;
    const int pid = atomic_load_explicit(&job_proc(shm->segment, contact->ep.proc)->pid, memory_order_relaxed);
    /* acquire pairs with publish_probe */
    const uint64_t expected = atomic_load_explicit(&peer->probe_value, memory_order_acquire);
    const uint64_t address = atomic_load_explicit(&peer->probe_address, memory_order_relaxed);
    uint64_t found = 0;

    if (!peek_is_wanted())
        return SHM_COPY_REFUSED;
    if (!expected || peek_read(pid, &found, address, sizeof found) || found != expected)
        return SHM_COPY_REFUSED;
    return SHM_COPY_WORKS;
}

bool shm_can_copy(struct net_ep *ep)
{
    struct shm_peer *peer = (struct shm_peer *)(void *)ep;

    if (unlikely(peer->copy == SHM_COPY_UNTRIED))
        peer->copy = (uint8_t)try_copy((struct shm *)(void *)ep->net, peer);
    return peer->copy == SHM_COPY_WORKS;
}

static int pid_of(struct net_ep *ep)
{
    struct shm *shm = (struct shm *)(void *)ep->net;

    return atomic_load_explicit(&job_proc(shm->segment, ep->proc)->pid, memory_order_relaxed);
}

/* Of a long message the other side may copy a part as well, so huge pages would help there. */
int shm_copy_from(struct net_ep *ep, void *local, uint64_t remote, size_t len)
{
    huge_note(local, len);
    return peek_read(pid_of(ep), local, remote, len);
}

int shm_copy_to(struct net_ep *ep, const void *local, uint64_t remote, size_t len)
{
    huge_note(local, len);
    return peek_write(pid_of(ep), local, remote, len);
}

int shm_copy_list(struct net_ep *ep, struct peek_list *list, bool is_to)
{
    return is_to ? peek_write_list(pid_of(ep), list) : peek_read_list(pid_of(ep), list);
}

void shm_refuse_copy(struct net_ep *ep)
{
    ((struct shm_peer *)(void *)ep)->copy = SHM_COPY_REFUSED;
}

struct net_record *shm_record_open(struct net_ep *ep, uint32_t *index)
{
    struct shm *shm = (struct shm *)(void *)ep->net;

    for (int i = 0; i < SHM_RECORDS; i++) {
        const uint32_t at = shm->next_record++ % SHM_RECORDS;
        struct net_record *record = shm_record(shm->area, shm->proc, at);
        /* acquire pairs with shm_record_close: nobody uses it any more */
        if (atomic_load_explicit(&record->state, memory_order_acquire) != RECORD_FREE)
            continue;
        atomic_store_explicit(&record->state, RECORD_IN_USE, memory_order_relaxed);
        atomic_store_explicit(&record->users, 2, memory_order_relaxed);
        atomic_store_explicit(&record->next, 0, memory_order_relaxed);
        atomic_store_explicit(&record->done, 0, memory_order_relaxed);
        atomic_store_explicit(&record->error, 0, memory_order_relaxed);
        *index = at;
        return record;
    }
    return NULL;
}

struct net_record *shm_record_find(struct net_ep *ep, uint32_t index)
{
    struct shm *shm = (struct shm *)(void *)ep->net;

    return shm_record(shm->area, ep->proc, index);
}

void shm_record_close(struct net_ep *ep, struct net_record *record)
{
    (void)ep;
    /* acquire and release: the second side to leave comes after everything the first one did */
    if (atomic_fetch_sub_explicit(&record->users, 1, memory_order_acq_rel) == 1)
        atomic_store_explicit(&record->state, RECORD_FREE, memory_order_release);
}
