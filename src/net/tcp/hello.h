/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/tcp. The notes by which both ends of a new connection prove to each other that they are the processes of
 * one job that they say. Who connects is the caller, the other one answers:
 *
 *   caller                       who answers
 *   HELLO   nonce            →
 *                            ←   ANSWER  nonce, proof     or REFUSAL, reason
 *   PROOF   proof            →
 *                            ←   PICK                     only if the caller has the higher number
 *
 * A proof is a keyed hash of both nonces; the key, the job's token, never goes over the wire. Of all connections
 * between two processes, which may try several addresses at once and in both directions, the one with the lower number
 * picks one: its own by sending PROOF, the other one's by PICK. What it does not pick it closes.
 *
 *   offset  size  field
 *   0       8     magic
 *   8       2     version
 *   10      1     step
 *   11      1     lane
 *   12      4     order: 0x01020304 as the sender's memory has it
 *   16      1     size of an address in the sender
 *   17      3     zero
 *   20      4     reason of a refusal
 *   24      4     process that sends it, by its number in its own job
 *   28      4     process that it is for, likewise
 *   32      4     how many have had the sender's number before
 *   36      4     zero
 *   40      8     nonce
 *   48      8     proof
 *   56      8     number of the bond between two jobs (struct job_abroad), whose key is used then; 0: they are of one
 */
#ifndef NET_TCP_HELLO_H
#define NET_TCP_HELLO_H

#include <stdbool.h>
#include <stdint.h>

enum { TCP_NOTE_SIZE = 64 };

enum tcp_step { TCP_HELLO = 1, TCP_ANSWER, TCP_PROOF, TCP_PICK, TCP_REFUSAL };

enum tcp_reason {
    TCP_NO_REASON,
    TCP_OTHER_VERSION,     /* of the notes */
    TCP_OTHER_MEMORY,      /* another byte order, or addresses of another size */
    TCP_NO_DESCRIPTORS,    /* it can have no more of them */
    TCP_OTHER_JOB,         /* the proof is wrong */
    TCP_NO_NOTE,           /* something that is no note at all */
};

struct tcp_note {
    uint64_t magic;
    uint16_t version;
    uint8_t step, lane;
    uint32_t order;
    uint8_t word_size, unused[3];
    uint32_t reason;
    uint32_t from, to;
    uint32_t tenant, unused_too;
    uint64_t nonce, proof, bond;
};

_Static_assert(sizeof(struct tcp_note) == TCP_NOTE_SIZE, "a note has no holes");

/* One end of a new connection, and what it knows of the other one. */
struct tcp_party {
    const uint64_t *token;    /* of the job, or of the bond, two words */
    uint64_t bond;            /* 0: both are of one job */
    uint32_t place;           /* the other one's number here; not for notes */
    uint32_t self, peer;      /* each in its own job */
    uint32_t tenant;          /* of this process's number; then … */
    uint32_t peer_tenant;     /* … of the other one's */
    uint8_t lane;
    bool is_caller;
    uint64_t nonce, peer_nonce;
};

/* Make the note of a step. */
struct tcp_note tcp_note_make(const struct tcp_party *party, enum tcp_step step);
/* A refusal to somebody who may be anybody. */
struct tcp_note tcp_note_refuse(uint32_t self, enum tcp_reason reason);

/* Is that a HELLO for this process? The party is filled in from it, but for token and nonce. TCP_NO_REASON, or what is
 * wrong. */
enum tcp_reason tcp_note_read_hello(const struct tcp_note *note, uint32_t self, struct tcp_party *party);
/* Is that the note that is awaited? Of an ANSWER the party takes the nonce and the tenant. Proofs are checked. A
 * REFUSAL gives its reason. */
enum tcp_reason tcp_note_check(const struct tcp_note *note, enum tcp_step step, struct tcp_party *party);

#endif
