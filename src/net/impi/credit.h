/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/impi. Flow control of an ordered pair of processes (IMPI 0.0): it counts packets, whatever their
 * length. A sender has at most `hiwater` of them on their way; the receiver tells of each `ackmark` that it has
 * taken from the connection. Both counts of this side for one other process stand together; nothing else is known
 * here. */
#ifndef NET_IMPI_CREDIT_H
#define NET_IMPI_CREDIT_H

#include <stdbool.h>
#include <stdint.h>

/* 1 <= ackmark <= hiwater; the same in the whole job. */
struct credit_marks {
    uint32_t ackmark, hiwater;
};

struct credit {
    uint32_t sent;     /* packets that the other one has not told us to have taken */
    uint32_t received; /* packets of it that we have not told it of */
};

static inline bool credit_allows(const struct credit *credit, const struct credit_marks *marks)
{
    return credit->sent < marks->hiwater;
}

/* A packet goes out, which was allowed. */
static inline void credit_use(struct credit *credit)
{
    credit->sent++;
}

/* A PROTOACK has come. False: there were not so many packets. */
static inline bool credit_regain(struct credit *credit, const struct credit_marks *marks)
{
    if (credit->sent < marks->ackmark)
        return false;
    credit->sent -= marks->ackmark;
    return true;
}

/* A packet has been taken. True: now a PROTOACK is due. */
static inline bool credit_take(struct credit *credit, const struct credit_marks *marks)
{
    if (++credit->received < marks->ackmark)
        return false;
    credit->received = 0;
    return true;
}

#endif
