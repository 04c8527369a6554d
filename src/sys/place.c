/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Nodes of processes, from the job segment. Knows: its layout. */
#include "sys/place.h"

static struct job_head *segment; /* NULL: there is none */

void place_open(struct job_head *head)
{
    segment = head;
}

bool place_is_spread(void)
{
    return segment && segment->is_spread;
}

int place_node(int proc)
{
    return segment ? (int)job_place(segment, proc)->node : 0;
}
