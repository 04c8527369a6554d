/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/ofi. One contacted process: its state, its address, and the end of the way to it.
 * Knows: base, sys (layout of the job segment), libfabric. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "net/ofi/int_ofi.h"

struct ofi_peer *ofi_peer(struct ofi *ofi, int proc)
{
    struct ofi_peer *peer = ofi->peers[proc];

    if (likely(peer))
        return peer;
    peer = mem_alloc_aligned(CACHE_LINE, sizeof *peer);
    if (!peer)
        return NULL;
    *peer = (struct ofi_peer){ .ep = { &ofi->net, proc, 0 }, .stamp = ofi_stamp(ofi->hub->segment, ofi->proc, proc) };
    list_init(&peer->directs);
    list_init(&peer->push_link);
    list_init(&peer->fail_link);
    list_init(&peer->waiting);
    list_init(&peer->lost_link);
    ofi->peers[proc] = peer;
    return peer;
}

/* Is that the address of a process that we can talk to? 0, or why not. */
static int check_address(const struct ofi_peer *peer, const unsigned char *address, size_t size)
{
    const char *own = ofi_of(peer)->hub->provider;
    const int proc = peer->ep.proc;

    if (address[0] != OFI_ADDRESS_VERSION || size < OFI_ADDRESS_HEAD ||
        size < OFI_ADDRESS_HEAD + (size_t)address[2] + address[3])
        return err(MPI_ERR_OTHER, "E0364: process %d has published an address that cannot be understood", proc);
    if (address[1] != ofi_memory_look())
        return err(MPI_ERR_OTHER, "E0364: process %d cannot talk to this one: it has another byte order, or addresses "
                   "of another size", proc);
    if (address[2] != strlen(own) || memcmp(address + OFI_ADDRESS_HEAD, own, address[2]))
        return err(MPI_ERR_OTHER, "E0368: process %d uses libfabric with %.*s between machines, process %d with %s",
                   proc, address[2], (const char *)address + OFI_ADDRESS_HEAD, ofi_of(peer)->proc, own);
    return 0;
}

int ofi_find_address(struct ofi_peer *peer)
{
    struct ofi_hub *hub = ofi_of(peer)->hub;
    const struct job_place *place = job_place(hub->segment, peer->ep.proc);
    const struct job_address *there = &place->address[JOB_OFI];
    const uint32_t size = job_address_size(there); /* pairs with publish */
    unsigned char address[2 * JOB_ADDRESS_SIZE];
    int rc;

    if (!size && job_address_size(&place->address[JOB_TCP])) {
        ofi_lose(peer, err(MPI_ERR_OTHER, "E0368: process %d uses TCP between machines, process %d libfabric with %s",
                           peer->ep.proc, hub->proc, hub->provider));
        return OFI_FORGET;
    }
    if (!size)
        return NET_AGAIN;
    memset(address, 0, sizeof address);
    memcpy(address, there->bytes, sizeof there->bytes);
    rc = check_address(peer, address, size_min(size, sizeof there->bytes));
    if (rc) {
        ofi_lose(peer, rc);
        return OFI_FORGET;
    }
    rc = hub->av->ops->insert(hub->av, address + OFI_ADDRESS_HEAD + address[2], 1, &peer->address, 0, NULL);
    if (rc != 1) {
        ofi_fail(peer, "its address is not taken", rc < 0 ? rc : -EINVAL, "");
        return OFI_FORGET;
    }
    peer->has_address = true;
    return 0;
}

void ofi_end(struct ofi_peer *peer, int rc)
{
    struct ofi *ofi = ofi_of(peer);

    if (ofi->hub->is_broken)
        ofi_abandon(peer);
    else
        ofi_drop_directs(peer);
    ofi_parcels_free(ofi->hub, &peer->waiting);
    mem_free(peer->in.own);
    peer->in = (struct ofi_in){ 0 };
    peer->state = OFI_BROKEN;
    peer->rc = rc;
    peer->owes_answer = false;
    list_remove(&peer->fail_link);
    list_remove(&peer->lost_link);
    list_append(&ofi->lost, &peer->lost_link);
}
