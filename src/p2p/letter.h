/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Letters: messages for libraries that stand beside MPI on this engine. A letter carries two words of its
 * user's and any number of bytes. It is not matched: it is taken in whenever somebody polls, into memory that the user
 * of letters gives for it then. Letters from one process arrive in the order sent; messages of MPI may pass them.
 *
 * One user in a process. What comes before it has opened is kept for it. */
#ifndef P2P_LETTER_H
#define P2P_LETTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "progress/progress.h"

struct comm;

enum { P2P_LETTER_BITS = 48 }; /* of word[0] travel; of word[1] all */

struct p2p_letter {
    int proc;         /* from, or to */
    uint64_t word[2];
    size_t len;       /* in bytes */
};

/* Both are called from polls and sends, with the lane's lock; they may send letters, but not poll or wait. */
struct p2p_letter_sink {
    /* A letter has come, or is on its way: memory for its bytes; NULL: there is none, asked again later. In order of
     * arrival. */
    void *(*begin)(const struct p2p_letter *letter);
    /* All bytes are at `place`, which begin has given; with rc other than 0 they are not, and never will be. In no
     * particular order. */
    void (*end)(void *place, int rc);
};

/* The sender's memory is needed no more. With the lane's lock; may not call this room. */
typedef void p2p_letter_gone(void *arg);

/* From now on letters come, those first that have come before. `comm` holds all processes of the job and stays open. */
void p2p_letters_open(struct comm *comm, const struct p2p_letter_sink *sink);

/* Send; local: neither waits for the receiver nor for room. With `gone` the bytes stay where they are until that is
 * called, perhaps during this call; without, they are copied if need be. Error: MPI_ERR_NO_MEM. */
int p2p_letter_send(const struct p2p_letter *letter, const void *data, p2p_letter_gone *gone, void *arg);

/* The short way of a short letter that goes at once. -1: nothing was done, p2p_letter_send may know more. */
int p2p_letter_send_at_once(int proc, uint64_t word0, uint64_t word1, const void *data, size_t len);

/* If the next record of `proc` is a letter with these words, of at most `max` bytes, and not a long one: take it.
 * Copies its bytes to `data`, and returns how many there are; the sink does not hear of it. Looks for a while if
 * nothing has come. -1: nothing, or something else, or there are threads; then only a poll helps. */
int p2p_letter_take(int proc, uint64_t word0, uint64_t word1, void *data, size_t max);

/* Letters that have not gone, and that are on their way in. For others to read. */
extern unsigned p2p_letters_pending;
/* Has the connection to this process of another machine ended? What it sent before has been taken in then. False if
 * there has been none. */
bool p2p_letters_is_lost(int proc);
/* Give up those to and from processes that are lost. No thread is in a call. */
void p2p_letters_give_up(bool (*is_lost)(int proc)) COLD;

/* Says whether threads may be in the engine; stays where it is. From p2p_letters_open on. */
const bool *p2p_letters_threads(void);
/* For what the user of letters shares with its sink. Does nothing with one thread, and need not be called
 * then; recursive. */
void p2p_letters_lock(void);
void p2p_letters_unlock(void);

/* Where a letter from this process will come from. */
struct progress_hint p2p_letter_hint(int proc);

#endif
