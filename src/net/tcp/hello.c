/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/tcp. Notes: making them, and looking at those of others, who may be anybody.
 * Knows: base. Does not know: sockets. */
#include "net/tcp/hello.h"

#include <endian.h>

#include "base/base.h"
#include "sys/hash.h"
#include "net/tcp/format.h"

#define MAGIC UINT64_C(0x5043545f4c525050) /* "PPRL_TCP" in memory */

enum { ORDER = 0x01020304 };

/* Of the side that calls, or of the one that answers: different, so that neither can send the other's back. */
static uint64_t proof_of(const struct tcp_party *party, bool is_callers)
{
    const bool is_mine = party->is_caller == is_callers;
    const uint64_t own = is_mine ? party->self : party->peer, other = is_mine ? party->peer : party->self;
    const uint64_t words[] = {
        party->is_caller ? party->nonce : party->peer_nonce,
        party->is_caller ? party->peer_nonce : party->nonce,
        own << 32 | other,
        (uint64_t)party->lane << 8 | is_callers,
    };

    return hash_words(party->token, words, ARRAY_LEN(words));
}

static struct tcp_note note_of(enum tcp_step step)
{
    return (struct tcp_note){
        .magic = htole64(MAGIC), .version = htole16(TCP_VERSION), .step = (uint8_t)step, .order = ORDER,
        .word_size = sizeof(void *),
    };
}

struct tcp_note tcp_note_make(const struct tcp_party *party, enum tcp_step step)
{
    struct tcp_note note = note_of(step);

    note.lane = party->lane;
    note.from = htole32(party->self);
    note.to = htole32(party->peer);
    note.tenant = htole32(party->tenant);
    note.nonce = htole64(party->nonce);
    note.bond = htole64(party->bond);
    if (step == TCP_ANSWER || step == TCP_PROOF)
        note.proof = htole64(proof_of(party, party->is_caller));
    return note;
}

struct tcp_note tcp_note_refuse(uint32_t self, enum tcp_reason reason)
{
    struct tcp_note note = note_of(TCP_REFUSAL);

    note.from = htole32(self);
    note.reason = htole32((uint32_t)reason);
    return note;
}

/* What every note must have. */
static enum tcp_reason check_form(const struct tcp_note *note)
{
    if (note->magic != htole64(MAGIC) || note->step < TCP_HELLO || note->step > TCP_REFUSAL)
        return TCP_NO_NOTE;
    if (note->version != htole16(TCP_VERSION))
        return TCP_OTHER_VERSION;
    return note->order == ORDER && note->word_size == sizeof(void *) ? TCP_NO_REASON : TCP_OTHER_MEMORY;
}

enum tcp_reason tcp_note_read_hello(const struct tcp_note *note, uint32_t self, struct tcp_party *party)
{
    const enum tcp_reason reason = check_form(note);

    if (reason)
        return reason;
    if (note->step != TCP_HELLO || note->lane >= NET_LANES)
        return TCP_NO_NOTE;
    if (le32toh(note->to) != self || (le32toh(note->from) == self && !note->bond))
        return TCP_OTHER_JOB;
    party->bond = le64toh(note->bond);
    party->self = self;
    party->peer = le32toh(note->from);
    party->peer_tenant = le32toh(note->tenant);
    party->lane = note->lane;
    party->peer_nonce = le64toh(note->nonce);
    return TCP_NO_REASON;
}

static enum tcp_reason check_refusal(const struct tcp_note *note)
{
    const uint32_t reason = le32toh(note->reason);

    return reason > TCP_NO_REASON && reason < TCP_NO_NOTE ? (enum tcp_reason)reason : TCP_NO_NOTE;
}

enum tcp_reason tcp_note_check(const struct tcp_note *note, enum tcp_step step, struct tcp_party *party)
{
    const enum tcp_reason reason = check_form(note);

    if (reason)
        return reason;
    if (note->step == TCP_REFUSAL && party->is_caller)
        return check_refusal(note);
    if (note->step != step)
        return TCP_NO_NOTE;
    if (le32toh(note->from) != party->peer || le32toh(note->to) != party->self || note->lane != party->lane ||
        le64toh(note->bond) != party->bond)
        return TCP_OTHER_JOB;
    if (step == TCP_ANSWER) {
        party->peer_nonce = le64toh(note->nonce);
        party->peer_tenant = le32toh(note->tenant);
    }
    if (step != TCP_PICK && le64toh(note->proof) != proof_of(party, !party->is_caller))
        return TCP_OTHER_JOB;
    return TCP_NO_REASON;
}
