/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: door. What other libraries on this engine see of it: one table of functions. Its users include this header and
 * those of base and sys; they call nothing but what stands here.
 *
 * Functions that return int: 0, or a code of which `text` gives the words. All are called by one thread; but wake_up,
 * and what a sink may call (lock, unlock, send, wait_is_over), by any. */
#ifndef DOOR_DOOR_H
#define DOOR_DOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "obj/blocked.h"
#include "p2p/letter.h"
#include "pm/pm.h"

struct door {
    size_t size; /* of this struct */

    /* Who started this process: filled in by find_job, join_job or start. */
    const struct pm_job *job;
    int (*find_job)(void);
    /* Be `rank` of `size` in a segment that the program has made itself; before anything else is in use. */
    int (*join_job)(int segment_fd, const uint64_t token[2], int rank, int size);

    /* Is the engine up, for whomever? */
    bool (*is_open)(void);
    /* Come up; from now on letters come. The engine stays up as long as anybody uses it. */
    int (*start)(const struct p2p_letter_sink *sink);
    /* Go down: waits for all that has been begun. Letters go on coming if MPI is still there. */
    void (*stop)(void);
    /* The same without waiting for anything, by a process that is about to end: its launcher hears of an end in order.
     */
    void (*leave)(void);

    /* As in p2p/letter.h. */
    int (*send)(const struct p2p_letter *letter, const void *data, p2p_letter_gone *gone, void *arg);
    int (*send_at_once)(int proc, uint64_t word0, uint64_t word1, const void *data, size_t len);
    int (*take)(int proc, uint64_t word0, uint64_t word1, void *data, size_t max);
    const unsigned *pending;
    bool (*is_lost)(int proc);
    void (*give_up)(bool (*is_lost)(int proc));
    const bool *(*threads)(void);
    void (*lock)(void);
    void (*unlock)(void);

    /* Wait until wait_is_over is called, perhaps before: wait_begin, then look whether it is there already, then wait.
     * The words are for reports of hangs and stay where they are; peers are processes of the job. A process of -1 says
     * that news may come from any. */
    void (*wait_begin)(const struct blocked *words);
    void (*wait)(int proc);
    void (*wait_is_over)(void);
    /* The same for anything: until is_done says true. It is asked after every poll. */
    void (*wait_until)(progress_done_fn *is_done, void *arg, const struct blocked *words);
    /* Poll once, so that all that has come by now is found. */
    void (*poll)(void);
    /* What has been polled for was not there, and the user will probably ask again at once. */
    void (*in_vain)(void);
    /* Something else to be polled, from now on. */
    void (*add_poll)(progress_poll_fn *poll, void *arg);
    /* Something that a poll of the user's finds has come: whoever waits looks. From any thread. */
    void (*wake_up)(void);

    /* As in pm/pm.h and init/init.h. */
    void (*diagnose)(const char *text);
    void (*abort)(int code, const char *text);
    void (*text)(int code, char *text, size_t size);
    /* As callsite_also_own: where the user's own code is. */
    void (*own_code)(const void *start, const void *stop);
};

/* Of this version. */
extern const struct door parley_door_1 __attribute__((visibility("default")));

#endif
