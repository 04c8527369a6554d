/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. Monitors in which a process that continues another hands the monitor to it and is out. Knows locks
 * and the arena. The first queue lies in the monitor, so those that need one take nothing of the arena. */
#include "p4/arena.h"

enum { CLOSED = 1 };

static struct p4_mon_queue *queue_of(p4_monitor_t *m, int q, const char *call)
{
    if (q < 0 || q >= m->num_queues)
        p4_fail("E0652: %s: queue %d; the monitor has %d, numbered from 0", call, q, m->num_queues);
    return q == 0 ? &m->first : &m->more[q - 1];
}

static void queue_init(struct p4_mon_queue *queue)
{
    queue->count = 0;
    queue->gate.word = CLOSED;
}

int p4_moninit(p4_monitor_t *m, int num_queues)
{
    if (num_queues < 0)
        return -1;
    m->more = NULL;
    if (num_queues > 1)
        m->more = arena_alloc((size_t)(num_queues - 1) * sizeof *m->more);
    if (num_queues > 1 && !m->more)
        return -1;
    queue_init(&m->first);
    for (int q = 1; q < num_queues; q++)
        queue_init(&m->more[q - 1]);
    m->num_queues = num_queues;
    p4_lock_init(&m->entry);
    return 0;
}

void p4_menter(p4_monitor_t *m)
{
    p4_lock(&m->entry);
}

void p4_mexit(p4_monitor_t *m)
{
    p4_unlock(&m->entry);
}

void p4_mdelay(p4_monitor_t *m, int q)
{
    struct p4_mon_queue *queue = queue_of(m, q, "p4_mdelay");

    queue->count++;
    p4_unlock(&m->entry);
    p4_lock(&queue->gate);
}

/* The gate stays closed while nobody is let through, so it remembers at most one process: more cannot have been let
 * through at once, because the first has the monitor. */
void p4_mcontinue(p4_monitor_t *m, int q)
{
    struct p4_mon_queue *queue = queue_of(m, q, "p4_mcontinue");

    if (queue->count == 0) {
        p4_unlock(&m->entry);
        return;
    }
    queue->count--;
    p4_unlock(&queue->gate);
}
