/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Nodes of processes, from the job segment. Knows: its layout. */
#include "sys/place.h"

#include <string.h>

static struct job_head *segment; /* NULL: there is none */

void place_open(struct job_head *head)
{
    segment = head;
}

bool place_has_abroad(void)
{
    return segment && atomic_load_explicit(&segment->has_abroad, memory_order_acquire);
}

bool place_is_spread(void)
{
    return segment && (segment->is_spread || place_has_abroad());
}

int place_node(int proc)
{
    return segment ? (int)job_place(segment, proc)->node : 0;
}

struct job_abroad *place_abroad(int proc)
{
    if (!place_has_abroad() || proc >= (int)segment->slots || !job_proc(segment, proc)->abroad.bond)
        return NULL;
    return &job_proc(segment, proc)->abroad;
}

/* Numbers of this job may also be those of clients of IMPI, behind all places. */
enum { NUMBER_BITS = 20 };

uint64_t place_name(int proc)
{
    const struct job_abroad *abroad = place_abroad(proc);

    if (abroad)
        return abroad->job << NUMBER_BITS | abroad->home;
    return (segment ? segment->token[0] << NUMBER_BITS : 0) | (uint64_t)proc;
}

int place_find(uint64_t name)
{
    const uint64_t number = name & ((UINT64_C(1) << NUMBER_BITS) - 1);

    if (name == place_name((int)number) && !place_abroad((int)number))
        return (int)number;
    for (int proc = place_has_abroad() ? (int)segment->slots - 1 : -1; proc >= 0; proc--)
        if (place_abroad(proc) && place_name(proc) == name)
            return proc;
    return -1;
}

struct place_card place_card(int proc)
{
    const struct job_abroad *abroad = place_abroad(proc);
    const struct job_place *place = job_place(segment, proc);
    const struct job_address *address = &place->address[JOB_TCP];
    struct place_card card = { .job = segment->token[0], .home = (uint32_t)proc,
                               .tenant = job_proc(segment, proc)->tenant, .node = place->node,
                               .appnum = place->appnum };

    if (abroad) {
        card.job = abroad->job;
        card.home = abroad->home;
        card.tenant = abroad->tenant;
        card.node = abroad->node;
    }
    card.size = job_address_size(address);
    memcpy(card.address, address->bytes, sizeof card.address);
    return card;
}

bool place_knows(const struct place_card *card)
{
    const int proc = place_find(card->job << NUMBER_BITS | card->home);

    return proc >= 0 && place_card(proc).tenant == card->tenant;
}

int place_find_home(struct job_head *head, uint64_t bond, uint32_t home)
{
    for (int proc = 0; bond && proc < (int)head->slots; proc++)
        if (job_proc(head, proc)->abroad.bond == bond && job_proc(head, proc)->abroad.home == home)
            return proc;
    return -1;
}
