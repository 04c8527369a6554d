/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: greetings and frames between mpiexecs of different jobs. Knows: the hash. Does not know: sockets, jobs. */
#include "bond_wire.h"

#include <string.h>

#include "base/base.h"
#include "sys/hash.h"

#define MAGIC UINT64_C(0x444e4f425f4c5250) /* "PRL_BOND" in memory of a little-endian machine */

enum { ORDER = 0x01020304 };

struct bond_greeting bond_greet(uint64_t job, uint64_t nonce)
{
    return (struct bond_greeting){ .magic = MAGIC, .version = BOND_VERSION, .order = ORDER, .job = job,
                                   .nonce = nonce };
}

bool bond_is_greeting(const struct bond_greeting *greeting)
{
    return greeting->magic == MAGIC && greeting->version == BOND_VERSION && greeting->order == ORDER &&
           greeting->range < BOND_RANGES && memchr(greeting->host, 0, sizeof greeting->host);
}

uint64_t bond_proof(const struct bond_secret *secret, int step)
{
    const uint64_t words[] = { secret->job[0], secret->job[1], secret->nonce[0], secret->nonce[1], secret->range,
                               (uint64_t)step };

    return hash_words(secret->key, words, ARRAY_LEN(words));
}

static size_t length_max(uint32_t kind)
{
    switch (kind) {
    case BOND_CALL:
    case BOND_ANSWER: return sizeof(struct bond_port) + BOND_GROUP_MAX * sizeof(struct bond_member);
    default: return 0;
    }
}

long bond_next(const char *data, size_t length, struct frame *frame)
{
    if (length < sizeof *frame)
        return 0;
    memcpy(frame, data, sizeof *frame);
    if (!frame->kind || frame->kind >= BOND_KINDS || frame->length > length_max(frame->kind))
        return -1;
    return length - sizeof *frame < frame->length ? 0 : (long)(sizeof *frame + frame->length);
}

int bond_members(const struct frame *frame, const char *data, const char **members)
{
    const size_t head = frame->kind == BOND_CALL ? sizeof(struct bond_port) : 0;

    if (frame->length < head || (frame->length - head) % sizeof(struct bond_member))
        return -1;
    *members = data + head;
    return (int)((frame->length - head) / sizeof(struct bond_member));
}

bool bond_member(const char *members, int number, struct bond_member *member)
{
    memcpy(member, members + (size_t)number * sizeof *member, sizeof *member);
    return member->size && member->size <= sizeof member->address && member->home < BOND_GROUP_MAX;
}
