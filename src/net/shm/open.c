/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/shm. Opening, first contact, closing. Nothing of another process is touched before it is needed.
 * Knows: base, sys (layout of the job segment), net. */
#include "net/shm/shm.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/mem.h"
#include "net/shm/int_shm.h"
#include "progress/progress.h"
#include "sys/clock.h"
#include "sys/peek.h"
#include "sys/share.h"

/* Others read `probe` through the system; that the value agrees proves that they reach this process. */
static void publish_probe(struct shm *shm)
{
    peek_allow();
    shm->probe = shm->segment->token[0] ^ ((uint64_t)(uint32_t)shm->proc + 1);
    atomic_store_explicit(&shm->own->probe_address, (uintptr_t)&shm->probe, memory_order_relaxed);
    atomic_store_explicit(&shm->own->probe_value, shm->probe, memory_order_release); /* pairs with shm_can_copy */
}

size_t shm_segment_end(int procs)
{
    return shm_area_offset(procs, NET_LANES);
}

/* In a lane that begins at `offset`. Cells need not be cleared. */
static void clear_lane(const struct job_head *head, int fd, size_t offset, int procs, int proc)
{
    const size_t n = (size_t)procs, own = (size_t)proc;

    share_release(head, fd, offset + JOB_PAGE * n * own, JOB_PAGE * n);
    for (size_t receiver = 0; receiver < n; receiver++)
        share_release(head, fd, offset + JOB_PAGE * (n * receiver + own), JOB_PAGE);
    share_release(head, fd, offset + JOB_PAGE * (n * n + own), JOB_PAGE);
    share_release(head, fd, offset + shm_area_procs(procs) + JOB_PAGE * own, JOB_PAGE);
}

void shm_segment_clear(const struct job_head *head, int fd, int procs, int proc)
{
    for (int lane = 0; lane < NET_LANES; lane++)
        clear_lane(head, fd, shm_area_offset(procs, lane), procs, proc);
}

static int map_area(const struct net_config *config, struct shm_area *area)
{
    const size_t size = shm_area_size(config->procs);

    area->procs = config->procs;
    area->start = share_map(config->segment, config->segment_fd, shm_area_offset(config->procs, config->lane), size);
    if (area->start)
        return 0;
    if (errno == EBADF)
        return err(MPI_ERR_OTHER, "the program has closed descriptor %d, through which it shares memory with the other "
                   "processes of its job", config->segment_fd);
    return err(MPI_ERR_NO_MEM, "no address space for %zu MB of memory shared by %d processes: %s%s",
               (size >> 20) + 1, config->procs, strerror(errno),
               errno == ENOMEM ? " (is there a limit, ulimit -v?)" : "");
}

static int shm_open_net(const struct net_config *config, struct net **out)
{
    const size_t table = (size_t)config->procs * sizeof(struct shm_peer *);
    struct shm *shm;
    int rc;

    if (config->procs > SHM_MAX_PROCS)
        return err(MPI_ERR_OTHER, "E0321: %d processes on one machine; shared memory is laid out for at most %d",
                   config->procs, SHM_MAX_PROCS);
    shm = mem_zalloc(sizeof *shm);
    if (!shm)
        return err(MPI_ERR_NO_MEM, "no memory for the shared-memory transport");
    shm->peers = mem_zalloc(2 * table);
    if (!shm->peers) {
        mem_free(shm);
        return err(MPI_ERR_NO_MEM, "no memory for a table of %d processes", config->procs);
    }
    rc = map_area(config, &shm->area);
    if (rc) {
        mem_free(shm->peers);
        mem_free(shm);
        return rc;
    }
    shm->active = shm->peers + config->procs;
    shm->net = (struct net){ .ops = &shm_ops, .sink = config->sink };
    shm->segment = config->segment;
    shm->proc = config->proc;
    shm->lane = config->lane;
    shm->own = shm_proc(shm->area, shm->segment, shm->proc, shm->lane);
    shm->cells_free = UINT32_MAX;
    publish_probe(shm);
    shm->stamp = clock_ns(); /* above what an earlier process of this number has left */
    *out = &shm->net;
    return 0;
}

static void shm_close_net(struct net *net)
{
    struct shm *shm = (struct shm *)(void *)net;

    atomic_store_explicit(&shm->own->probe_value, 0, memory_order_relaxed);
    for (int proc = 0; proc < shm->area.procs; proc++)
        mem_free(shm->peers[proc]);
    mem_free(shm->peers);
    munmap(shm->area.start, shm_area_size(shm->area.procs));
    mem_free(shm);
}

/* As at first. */
static void set_up(struct shm *shm, struct shm_peer *peer, int proc)
{
    *peer = (struct shm_peer){ .ep = { &shm->net, proc, SHM_ROOM }, .last_cell = SHM_CELLS, .prior_cell = SHM_CELLS };
    peer->out = shm_page(shm->area, proc, shm->proc);
    peer->in = shm_page(shm->area, shm->proc, proc);
    peer->pace = (struct pace){ .told = &peer->in->far, .heard = &peer->out->far };
    peer->proc = shm_proc(shm->area, shm->segment, proc, shm->lane);
    peer->out_slot = peer->out->slot;
    peer->out_end = peer->out->slot + SHM_SLOTS;
    peer->in_slot = peer->in->slot;
    peer->sleep = &job_proc(shm->segment, proc)->sleep;
    peer->alert = progress_alert(peer->sleep);
}

struct shm_peer *shm_peer(struct shm *shm, int proc)
{
    struct shm_peer *peer = shm->peers[proc];

    if (likely(peer))
        return peer;
    peer = mem_alloc_aligned(CACHE_LINE, sizeof *peer);
    if (!peer)
        return NULL;
    set_up(shm, peer, proc);
    shm->peers[proc] = peer;
    return peer;
}

/* Cells that the old process has not reported as read are free, and a ring that is polled stays so. */
static void shm_renew(struct net_ep *ep)
{
    struct shm_peer *peer = (struct shm_peer *)(void *)ep;
    struct shm *shm = (struct shm *)(void *)ep->net;
    const bool is_active = peer->is_active;

    for (int i = 0; i < SHM_CELLS; i++) {
        if (shm->cells[i].peer == peer) {
            shm->cells[i].peer = NULL;
            shm->cells_free |= UINT32_C(1) << i;
        }
    }
    if (shm->spare.peer == peer)
        shm_drop_spare(shm);
    shm->spare.wanted_by = NULL;
    set_up(shm, peer, ep->proc);
    peer->is_active = is_active;
    atomic_store_explicit(&peer->in->hot, is_active, memory_order_relaxed);
}

static int shm_connect(struct net *net, int proc, struct net_ep **out)
{
    struct shm_peer *peer = shm_peer((struct shm *)(void *)net, proc);

    if (!peer)
        return err(MPI_ERR_NO_MEM, "no memory for the connection to process %d", proc);
    *out = &peer->ep;
    return 0;
}

const struct net_ops shm_ops = {
    .name = "shm",
    .short_max = SHM_SHORT_MAX,
    .eager_max = SHM_CELL_SIZE,
    .parts_min = SHM_PARTS_MIN,
    .parts_max = SHM_PAIR_SIZE,
    .open = shm_open_net,
    .close = shm_close_net,
    .connect = shm_connect,
    .renew = shm_renew,
    .send = shm_send,
    .send_soon = shm_send,
    .send_in_room = shm_send_in_room,
    .alloc = shm_alloc,
    .commit = shm_commit,
    .send_parts = shm_send_parts,
    .wants_parts = shm_wants_parts,
    .release = shm_release,
    .wishes = shm_wishes,
    .pace = shm_pace,
    .wake = shm_wake,
    .poll = shm_poll,
    .poll_ep = shm_poll_ep,
    .is_silent = shm_is_silent,
    .take = shm_take,
    .take_by = shm_take_by,
    .use_wait = shm_use_wait,
    .can_copy = shm_can_copy,
    .copy_from = shm_copy_from,
    .copy_to = shm_copy_to,
    .copy_list = shm_copy_list,
    .refuse_copy = shm_refuse_copy,
    .record_open = shm_record_open,
    .record_find = shm_record_find,
    .record_close = shm_record_close,
};
