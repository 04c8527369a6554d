/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: what it and its agents, the mpiexec processes on other machines, send each other over the agents' stdin and
 * stdout. Pure functions on bytes; who sends them: channel.h.
 *
 * Each side begins with a line that every version can read, "PARLEY-AGENT " or "PARLEY-MPIEXEC ", version of Parley,
 * version of the protocol, byte order and bits of an address. Before the agent's line the other machine may have said
 * anything. If the two lines are not of the same words, the connection ends. Then come frames, each a header and
 * `length` bytes, numbers as the machines have them:
 *
 *   kind         rank      value          bytes
 *   -- from mpiexec
 *   JOB          -         -              the job (job_text.h)
 *   START        -         universe       -                          the ranks may be started
 *   SIGNAL       rank      signal         -                          goes to the rank and its process group
 *   END          -         -              8: value of job_head.end
 *   TAKEN        rank      -              of a request the answer: class, first, count (4 each), text
 *   CREDIT       rank      bytes          1: of stderr (1) or stdout (0), so many have been taken
 *   BROKEN       rank      0, 1           -                          nobody reads this stream any more
 *   INPUT        rank      -              stdin; none: it ends
 *   ADDRESS      rank      -              address of a process (both ways)
 *   RELEASE      -         -              -                          job_head.hold is 0
 *   LOOK         -         number, flags  8: seconds (double)        look at the pages of the ranks (hang_far.c)
 *   ASK          rank      -              16: context, sequence      struct job_question for the rank
 *   LINKS        -         -              -                          LINKED of all its processes
 *   WORLD        -         0, 1           processes that are started later (job_text.h): they run (0) or will (1)
 *   GO           -         0, 1           -                          start those of the last WORLD, or forget it (0)
 *   VISIT        rank      -              struct frame_visit         somebody waits at a port of the rank
 *   LEAVE        rank      visitor        -                          and does not any more
 *   ANSWER       rank      -              struct frame_answer        to the rank's call to a port
 *   GUESTS       -         number         struct frame_guest of each  processes of other jobs get places
 *   GUEST_GONE   -         place          -                          another one is at its home
 *   BYE          -         -              -                          clean and go
 *   -- from the agent
 *   READY        -         processors     -                          it can start; those of a WORLD as well
 *   REFUSED      rank, -1  exit code      why, with its id           that rank, or all of the agent's
 *   LINKED       rank, -1  0, 1           of its job_desk contexts, links; something of it is open (1). -1: that is all
 *   STARTED      rank      process id     -                          again if its MPI process is another one
 *   OUTPUT       rank      0, 1           what it has written; none: the stream ends
 *   SAID         rank      -              struct frame_said, text    a packet of its control socket
 *   OVER         rank      -              struct frame_over, text    it has ended; name of another MPI's library
 *   FED          rank      bytes          -                          so much of its stdin has been read; 0: no more is
 *   UNVISITED    rank      visitor        4: number of the call      the port is not open
 *   PAGE         rank      -              what has been seen of it (hang_far.c)
 *   ADMITTED     -         number         -                          all up to those GUESTS are known there
 *   LOOKED       -         number, flag   -                          all that LOOK wanted; a rank waits long (1)
 *   NOTE         rank      -              text to be printed as a message about the rank */
#ifndef LAUNCH_FRAME_H
#define LAUNCH_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/job.h"

enum {
    FRAME_PROTOCOL = 5,
    FRAME_HELLO_SIZE = 160,
    FRAME_PIECE = 65536,         /* of output and input, at most */
    OUTPUT_WINDOW = 128 << 10,   /* bytes of a stream that may be on their way */
    INPUT_WINDOW = 256 << 10,    /* and of the stdin of a rank */
};

enum frame_kind {
    FRAME_JOB = 1, FRAME_START, FRAME_SIGNAL, FRAME_END, FRAME_TAKEN, FRAME_CREDIT, FRAME_BROKEN, FRAME_INPUT,
    FRAME_ADDRESS, FRAME_RELEASE, FRAME_LOOK, FRAME_ASK, FRAME_LINKS, FRAME_WORLD, FRAME_GO,
    FRAME_VISIT, FRAME_LEAVE, FRAME_ANSWER, FRAME_GUESTS, FRAME_GUEST_GONE, FRAME_BYE,
    FRAME_READY, FRAME_REFUSED, FRAME_STARTED, FRAME_OUTPUT, FRAME_SAID, FRAME_OVER, FRAME_FED, FRAME_NOTE,
    FRAME_PAGE, FRAME_LOOKED, FRAME_LINKED, FRAME_UNVISITED, FRAME_ADMITTED,
    FRAME_KINDS
};

/* Flags of LOOK, below its number: all pages, not only whether there is a long wait; once the ranks have answered. */
enum { FRAME_LOOK_WHOLE = 1, FRAME_LOOK_ANSWERS = 2, FRAME_LOOK_SHIFT = 2 };

struct frame {
    uint32_t kind; /* enum frame_kind */
    int32_t rank;  /* -1: none */
    uint32_t value;
    uint32_t length;
};

/* A packet that a rank has sent (sys/control.h); its text follows. */
struct frame_said {
    uint32_t kind;
    int32_t code;
};

/* What a process has to do with others. */
struct frame_linked {
    uint32_t contexts[2];
    uint64_t links[JOB_SLOTS_MAX / 64];
};

/* A call to a port (calls.c). */
struct frame_visit {
    int32_t visitor; /* which of the owner's */
    uint32_t port, tenant, number;
};

struct frame_answer {
    int32_t slot; /* which of the caller's entries */
    uint32_t is_accepted, tag;
    int32_t leader; /* of the other group, if that is of another job; else -1 */
};

/* A process of another job (guests.c). */
struct frame_guest {
    int32_t place;
    uint32_t tenant; /* of the place */
    uint32_t is_over;
    uint32_t node;   /* for struct job_place, as the next ones */
    uint32_t appnum, size;
    unsigned char address[JOB_ADDRESS_SIZE]; /* of TCP */
    struct job_abroad abroad;
};

/* The end of a rank. */
struct frame_over {
    int32_t status; /* as from waitpid */
    uint32_t state; /* enum job_state, before it was over */
    uint32_t oom;   /* enum oom */
    uint32_t lost;  /* of its job_proc */
};

enum frame_side { FRAME_FROM_ROOT, FRAME_FROM_AGENT };

/* The line with which a side begins, and its length. */
size_t frame_write_hello(enum frame_side side, char line[FRAME_HELLO_SIZE]);
/* Is `line`, without its end, such a line of that side? *words: what is behind the first word. */
bool frame_is_hello(enum frame_side side, const char *line, const char **words);
/* The words of this program. */
const char *frame_own_words(void);

/* The first frame of `data`, from that side, for a job of so many ranks (0: not known yet). How many bytes it has, 0:
 * it is not whole yet, -1: that is none, and `frame` says what there was. */
long frame_next(enum frame_side side, int ranks, const char *data, size_t length, struct frame *frame);

#endif
