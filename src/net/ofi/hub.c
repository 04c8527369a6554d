/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/ofi. The endpoint, one for each process and shared by its lanes: opening and closing, its memory, and what
 * it publishes.
 * Knows: base, sys (layout of the job segment), net (hash), libfabric. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "sys/hash.h"
#include "net/ofi/int_ofi.h"

enum { PAGE = 4096, CQ_SIZE = 4096, BIG_ENDIAN_LOOK = 128 };

static struct {
    pthread_mutex_t lock;
    struct list all;
} hubs = { PTHREAD_MUTEX_INITIALIZER, { &hubs.all, &hubs.all } };

uint64_t ofi_stamp(const struct job_head *segment, int from, int to)
{
    const uint64_t words[] = { UINT64_C(0x70617263656c), (uint64_t)from << 32 | (uint32_t)to };
    const uint64_t stamp = hash_words(segment->token, words, ARRAY_LEN(words));

    return stamp ? stamp : 1;
}

unsigned char ofi_memory_look(void)
{
    const union { uint16_t number; unsigned char bytes[2]; } look = { .number = 1 };

    return (unsigned char)(sizeof(void *) + (look.bytes[0] ? 0 : BIG_ENDIAN_LOOK));
}

/* libfabric has refused something. */
static int refused(const struct ofi_hub *hub, const char *what, ssize_t rc)
{
    return err(MPI_ERR_OTHER, "E0367: libfabric's provider %s cannot be used: %s: %s", hub->provider, what,
               ofi_library_text(hub->found.library, rc));
}

/* --- memory --- */

static int register_memory(struct ofi_hub *hub, struct ofi_memory *memory)
{
    int rc = hub->domain->mr->reg(&hub->domain->fid, memory->at, memory->size, FAB_SEND | FAB_RECV, 0,
                                  ++hub->keys, 0,
                                  &memory->mr, NULL);

    if (!rc && hub->mr_of_endpoint) {
        rc = memory->mr->fid.ops->bind(&memory->mr->fid, &hub->ep->fid, 0);
        if (!rc)
            rc = memory->mr->fid.ops->control(&memory->mr->fid, FAB_ENABLE, NULL);
    }
    return rc ? refused(hub, "memory cannot be registered (ulimit -l)", rc) : 0;
}

int ofi_memory_get(struct ofi_hub *hub, struct ofi_memory *memory, size_t size)
{
    int rc = 0;

    *memory = (struct ofi_memory){ .at = mem_alloc_aligned(PAGE, size), .size = size };
    if (!memory->at)
        return err(MPI_ERR_NO_MEM, "no memory for messages between machines");
    (void)madvise(memory->at, size, MADV_DONTFORK);
    if (hub->needs_mr)
        rc = register_memory(hub, memory);
    if (rc)
        ofi_memory_free(memory);
    return rc;
}

static void unregister(struct ofi_memory *memory)
{
    if (memory->mr)
        memory->mr->fid.ops->close(&memory->mr->fid);
    memory->mr = NULL;
}

void ofi_memory_free(struct ofi_memory *memory)
{
    unregister(memory);
    if (memory->at)
        (void)madvise(memory->at, memory->size, MADV_DOFORK);
    mem_free(memory->at);
    *memory = (struct ofi_memory){ 0 };
}

/* --- opening --- */

static int open_cq(struct ofi_hub *hub)
{
    struct fab_cq_attr attr = { .size = CQ_SIZE, .format = FAB_CQ_FORMAT_DATA, .wait_obj = FAB_WAIT_FD };
    int rc = hub->domain->ops->cq_open(hub->domain, &attr, &hub->cq, NULL);

    if (!rc && !hub->cq->fid.ops->control(&hub->cq->fid, FAB_GETWAIT, &hub->fd))
        return 0;
    if (!rc)
        hub->cq->fid.ops->close(&hub->cq->fid);
    hub->cq = NULL;
    hub->fd = -1;
    attr = (struct fab_cq_attr){ .size = CQ_SIZE, .format = FAB_CQ_FORMAT_DATA, .wait_obj = FAB_WAIT_NONE };
    return hub->domain->ops->cq_open(hub->domain, &attr, &hub->cq, NULL);
}

/* A buffer is given back when the longest frame might not fit any more. */
static int set_least_room(struct ofi_hub *hub)
{
    const size_t least = OFI_BIG_SIZE;

    return hub->ep->ops->setopt(&hub->ep->fid, FAB_OPT_ENDPOINT, FAB_OPT_MIN_MULTI_RECV, &least, sizeof least);
}

static int open_ep(struct ofi_hub *hub)
{
    struct fab_fid_ops *ops;
    int rc = hub->domain->ops->endpoint(hub->domain, hub->found.info, &hub->ep, NULL);

    if (rc)
        return rc;
    ops = hub->ep->fid.ops;
    rc = ops->bind(&hub->ep->fid, &hub->av->fid, 0);
    if (!rc)
        rc = ops->bind(&hub->ep->fid, &hub->cq->fid, FAB_SEND | FAB_RECV);
    if (!rc)
        rc = ops->control(&hub->ep->fid, FAB_ENABLE, NULL);
    return rc ? rc : set_least_room(hub); /* in this order: shm's endpoint has no receiving side before */
}

static int open_fabric(struct ofi_hub *hub)
{
    struct fab_info *info = hub->found.info;
    struct fab_av_attr av = { .count = (size_t)hub->procs };
    int rc = hub->found.library->fabric(info->fabric, &hub->fabric, NULL);

    if (rc)
        return refused(hub, "its fabric does not open", rc);
    rc = hub->fabric->ops->domain(hub->fabric, info, &hub->domain, NULL);
    if (rc)
        return refused(hub, "its domain does not open", rc);
    rc = hub->domain->ops->av_open(hub->domain, &av, &hub->av, NULL);
    if (rc)
        return refused(hub, "no table of addresses", rc);
    rc = open_cq(hub);
    if (rc)
        return refused(hub, "no queue of completions", rc);
    rc = open_ep(hub);
    return rc ? refused(hub, "its endpoint does not open", rc) : 0;
}

static int look_at_limits(struct ofi_hub *hub)
{
    const struct fab_info *info = hub->found.info;
    const int mr_mode = info->domain->mr_mode;

    hub->provider = info->fabric->prov_name;
    hub->inject_max = (uint32_t)size_min(info->tx->inject_size, OFI_SMALL_SIZE);
    hub->needs_mr = mr_mode & FAB_MR_LOCAL;
    hub->mr_of_endpoint = mr_mode & FAB_MR_ENDPOINT;
    hub->can_gather = !hub->needs_mr && info->tx->iov_limit >= 2;
    if (info->ep->max_msg_size >= OFI_BIG_SIZE)
        return 0;
    return err(MPI_ERR_OTHER, "E0367: libfabric's provider %s cannot be used: its messages have at most %zu bytes, and "
               "%d are needed", hub->provider, info->ep->max_msg_size, OFI_BIG_SIZE);
}

static struct job_address *own_address(const struct ofi_hub *hub)
{
    return &job_place(hub->segment, hub->proc)->address[JOB_OFI];
}

static int publish(struct ofi_hub *hub)
{
    struct job_address *own = own_address(hub);
    const size_t name = strlen(hub->provider), head = OFI_ADDRESS_HEAD + name;
    unsigned char address[JOB_ADDRESS_SIZE];
    size_t size = sizeof address - size_min(head, sizeof address);
    int rc;

    memset(address, 0, sizeof address);
    rc = hub->ep->cm->getname(&hub->ep->fid, address + size_min(head, sizeof address), &size);
    if (head + size > sizeof address)
        return err(MPI_ERR_OTHER, "E0367: libfabric's provider %s cannot be used: its addresses have %zu bytes, and "
                   "%zu are the most", hub->provider, size, sizeof address - size_min(head, sizeof address));
    if (rc)
        return refused(hub, "it tells no address", rc);
    address[0] = OFI_ADDRESS_VERSION;
    address[1] = ofi_memory_look();
    address[2] = (unsigned char)name;
    address[3] = (unsigned char)size;
    memcpy(address + OFI_ADDRESS_HEAD, hub->provider, name);
    memcpy(own->bytes, address, sizeof address);
    /* pairs with ofi_find_address */
    atomic_store_explicit(&own->size, (uint32_t)(head + size), memory_order_release);
    return 0;
}

static int get_buffers(struct ofi_hub *hub)
{
    int rc = 0;

    for (int i = 0; i < OFI_BUFFERS && !rc; i++)
        rc = ofi_memory_get(hub, &hub->buffers[i].memory, OFI_BUFFER_SIZE);
    if (rc)
        return rc;
    ofi_lock(hub);
    ofi_post_buffers(hub);
    ofi_unlock(hub);
    return hub->is_broken ? err(MPI_ERR_OTHER, "E0367: libfabric's provider %s cannot be used: %s", hub->provider,
                                hub->why) : 0;
}

static int set_up(struct ofi_hub *hub)
{
    int rc = ofi_provider_find(&hub->found);

    if (!rc)
        rc = look_at_limits(hub);
    if (!rc)
        rc = open_fabric(hub);
    if (!rc)
        rc = get_buffers(hub);
    return rc ? rc : publish(hub);
}

static void init_lists(struct ofi_hub *hub)
{
    list_init(&hub->slabs);
    for (int lane = 0; lane < NET_LANES; lane++) {
        list_init(&hub->inbox[lane]);
        list_init(&hub->failed[lane]);
    }
    for (int i = 0; i < OFI_BUFFERS; i++)
        list_init(&hub->buffers[i].parcels);
    mem_pool_init(&hub->directs, sizeof(struct ofi_direct), 8);
    mem_pool_init(&hub->parcels, sizeof(struct ofi_parcel), 64);
    hub->small = (struct ofi_cells){ .max = OFI_SMALL_MAX, .per_slab = OFI_SMALL_SLAB, .size = OFI_SMALL_SIZE };
    hub->big = (struct ofi_cells){
        .max = OFI_BIG_MAX, .per_slab = OFI_BIG_SLAB, .size = (OFI_BIG_SIZE + PAGE - 1) / PAGE * PAGE,
    };
}

/* --- closing --- */

static void close_fid(struct fab_fid *fid)
{
    fid->ops->close(fid);
}

/* What is bound to an endpoint must go before it. */
static void unregister_all(struct ofi_hub *hub)
{
    for (int i = 0; i < OFI_BUFFERS; i++)
        unregister(&hub->buffers[i].memory);
    LIST_FOR_EACH(link, &hub->slabs)
        unregister(&CONTAINER_OF(link, struct ofi_slab, link)->memory);
}

static void free_memory(struct ofi_hub *hub)
{
    for (int i = 0; i < OFI_BUFFERS; i++)
        ofi_memory_free(&hub->buffers[i].memory);
    LIST_FOR_EACH_SAFE(link, &hub->slabs) {
        struct ofi_slab *slab = CONTAINER_OF(link, struct ofi_slab, link);
        ofi_memory_free(&slab->memory);
        mem_free(slab);
    }
    for (int lane = 0; lane < NET_LANES; lane++)
        ofi_parcels_free(hub, &hub->inbox[lane]);
    mem_pool_fini(&hub->directs);
    mem_pool_fini(&hub->parcels);
    mem_free(hub->stamps);
}

/* What set_up has made so far, or all of it. The endpoint goes before memory: then nothing is written there any
 * more. */
static void hub_destroy(struct ofi_hub *hub)
{
    if (hub->mr_of_endpoint)
        unregister_all(hub);
    if (hub->ep)
        close_fid(&hub->ep->fid);
    free_memory(hub);
    if (hub->cq)
        close_fid(&hub->cq->fid);
    if (hub->av)
        close_fid(&hub->av->fid);
    if (hub->domain)
        close_fid(&hub->domain->fid);
    if (hub->fabric)
        close_fid(&hub->fabric->fid);
    ofi_provider_drop(&hub->found);
    pthread_mutex_destroy(&hub->lock);
    mem_free(hub);
}

static int hub_create(const struct net_config *config, struct ofi_hub **out)
{
    struct ofi_hub *hub = mem_zalloc(sizeof *hub);
    int rc;

    if (!hub)
        return err(MPI_ERR_NO_MEM, "no memory for the transport over libfabric");
    pthread_mutex_init(&hub->lock, NULL);
    hub->segment = config->segment;
    hub->proc = config->proc;
    hub->procs = config->procs;
    hub->uses = 1;
    hub->fd = -1;
    init_lists(hub);
    hub->stamps = mem_zalloc((size_t)hub->procs * sizeof *hub->stamps);
    rc = hub->stamps ? set_up(hub) : err(MPI_ERR_NO_MEM, "no memory for a table of %d processes", hub->procs);
    if (rc) {
        hub_destroy(hub);
        return rc;
    }
    list_append(&hubs.all, &hub->link);
    *out = hub;
    return 0;
}

int ofi_hub_open(const struct net_config *config, struct ofi_hub **out)
{
    int rc = 0;

    *out = NULL;
    pthread_mutex_lock(&hubs.lock);
    LIST_FOR_EACH(link, &hubs.all) {
        struct ofi_hub *hub = CONTAINER_OF(link, struct ofi_hub, link);
        if (hub->segment != config->segment || hub->proc != config->proc)
            continue;
        hub->uses++;
        *out = hub;
    }
    if (!*out)
        rc = hub_create(config, out);
    pthread_mutex_unlock(&hubs.lock);
    return rc;
}

void ofi_hub_close(struct ofi_hub *hub)
{
    pthread_mutex_lock(&hubs.lock);
    if (!--hub->uses) {
        atomic_store_explicit(&own_address(hub)->size, 0, memory_order_release);
        list_remove(&hub->link);
        hub_destroy(hub);
    }
    pthread_mutex_unlock(&hubs.lock);
}
