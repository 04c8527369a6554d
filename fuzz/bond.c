/* SPDX-License-Identifier: BSD-3-Clause */
/* What mpiexecs of different jobs read from each other, and what stands in the name of a port for them. */
#include <stdlib.h>
#include <string.h>

#include "bond_wire.h"
#include "fuzz.h"
#include "net/tcp/tcp.h"

static void read_greeting(const uint8_t *data, size_t size)
{
    struct bond_greeting greeting = { 0 };

    memcpy(&greeting, data, size < sizeof greeting ? size : sizeof greeting);
    if (bond_is_greeting(&greeting))
        MUST(greeting.range < BOND_RANGES && strlen(greeting.host) < BOND_HOST_SIZE);
}

static void read_members(const struct frame *frame, const char *data)
{
    struct bond_member member;
    const char *members;
    const int count = bond_members(frame, data, &members);

    for (int i = 0; i < count; i++)
        if (bond_member(members, i, &member))
            MUST(member.size <= JOB_ADDRESS_SIZE);
}

static void read_frames(const char *data, size_t size)
{
    struct frame frame;
    long used;

    while ((used = bond_next(data, size, &frame)) > 0) {
        MUST((size_t)used <= size);
        if (frame.kind == BOND_CALL || frame.kind == BOND_ANSWER)
            read_members(&frame, data + sizeof frame);
        data += used;
        size -= (size_t)used;
    }
}

static void read_reach(const uint8_t *data, size_t size)
{
    struct tcp_reach reach;
    char *text = calloc(1, size + 1);

    MUST(text);
    memcpy(text, data, size);
    if (tcp_reach_read(text, &reach))
        MUST(reach.count > 0 && reach.count <= 20 && strlen(reach.at[reach.count - 1].ip) < sizeof reach.at[0].ip);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    if (*data == 'g')
        read_greeting(data + 1, size - 1);
    else if (*data == 'r')
        read_reach(data + 1, size - 1);
    else
        read_frames((const char *)data + 1, size - 1);
    return 0;
}
