/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the report of who waits for whom. What its files share.
 *
 *   hang.c       when: looks at the status pages, asks the ranks, proves that some wait for ever
 *   pages.c      what a rank says of itself, and what the system says of it
 *   hang_far.c   the same of ranks on other machines, whose agents read it
 *   waits.c      the graph
 *   hang_text.c  the table of ranks, and words of it that the conclusions use
 *   hang_why.c   the conclusions: deadlocks, missing members, what to do
 *   hang_near.c  and near misses */
#ifndef LAUNCH_HANG_H
#define LAUNCH_HANG_H

#include "launch.h"
#include "sys/joint.h"
#include "waits.h"

/* One rank, at one moment. */
struct page_view {
    int rank, world;           /* which rank of which world; -1: nobody has this place. The first world is a joint
                                * one if there is that */
    bool is_abroad;            /* a process of another job: what it does is not known here */
    bool is_absent;            /* a process of a later world that has left MPI: it needs no line of its own */
    struct job_status status;  /* a copy */
    struct job_answer answer;  /* to the last question; after the end of MPI: of that */
    enum job_state state;
    bool is_blocked;           /* in a long wait, and all its threads that we know of */
    bool has_answer;
    bool is_proved;            /* nothing that could end its wait is on its way */
    bool has_more_threads;     /* that do not wait in MPI and may call it */
    char system;               /* state in /proc/PID/stat; 0: not known */
    int exit_status;           /* as from waitpid */
    const char *where;         /* call site; NULL: not known */
};

/* All ranks, at one moment. */
struct hang_view {
    int size;                  /* places, … */
    int present;               /* … and how many have somebody to tell of */
    int64_t now;               /* ns */
    struct page_view *page;    /* by place */
    struct wait_node *node;
    int stuck;                 /* how many wait for ever */
    int blocked;
    double quiet;              /* seconds for which nothing has moved among those that are stuck */
    const struct joint *joint; /* clients of IMPI that have one world with this job; NULL: it is alone */
};

/* Is a peer in another client, whose ranks nobody here can look at? Then it has no page. */
static inline bool hang_is_foreign(const struct hang_view *view, int peer)
{
    return view->joint && peer >= (int)view->joint->slots;
}

/* A text that grows; starts as zeroes; ended by a zero. */
struct text {
    char *data;
    size_t length, room;
};

void text_add(struct text *text, const char *format, ...) PRINTF_LIKE(2, 3);

/* pages.c: read all; whoever gets a view gives it back. `with_source`: look up call sites, which may take a while. */
struct hang_view *pages_read(struct job *job, bool with_source);
void pages_free(struct hang_view *view);

/* hang.c: what an agent uses of it. */
/* Is there a rank here in a wait in which nothing has moved for so many seconds? */
bool hang_is_suspicious(const struct job *job, double seconds);
void hang_remember(struct job *job, const struct hang_view *view);
/* Ask a rank that is here; wake it if it waits. */
void hang_put_question(struct job *job, int rank, uint64_t ctx, uint64_t sequence);
void hang_await_answers(struct job *job); /* then hang_there_answered */

/* hang_far.c, in mpiexec. Have all agents look: for long waits only, or at all pages; when their ranks have answered
 * the questions. Without other machines nothing is done. */
void hang_far_look(struct job *job, bool is_whole, bool with_answers);
bool hang_far_is_waiting(const struct job *job);    /* for one that has not answered the last look */
bool hang_far_is_suspicious(const struct job *job); /* as far as the last look of the agents goes */
void hang_far_ask(struct job *job, int rank, uint64_t ctx, uint64_t sequence);
void hang_far_read(struct job *job, int rank, struct page_view *page); /* as of the last whole look */
void hang_far_forget(struct job *job, int rank);
/* False: that is no page. */
bool hang_far_take_page(struct job *job, int rank, const char *data, size_t size);
void hang_far_take_looked(struct job *job, int node, uint32_t value);
/* In an agent. */
void hang_there_look(struct job *job, uint32_t value, const char *data);
void hang_there_ask(struct job *job, int rank, const char *data);
void hang_there_answered(struct job *job);

/* hang_text.c: the whole report. */
char *hang_text(const struct hang_view *view);
/* "rank 3", "ranks 0-3, 7", "ranks 0-1, ranks 0-3 of spawned world 1": those with is_in[place]; and their number. */
int hang_add_ranks(struct text *text, const bool *is_in, const struct hang_view *view);
/* "rank 3", "rank 0 of spawned world 2" */
void hang_add_rank(struct text *text, const struct hang_view *view, int place);
/* Where a process of another client is, by its number: "in client 1 at 10.0.0.6" */
void hang_add_foreign(struct text *text, const struct hang_view *view, int number);
/* "in MPI_Recv from rank 1, tag 7 on MPI_COMM_WORLD, 3 x MPI_DOUBLE, at app.c:88": where a rank is, after "it is". */
void hang_add_place(struct text *text, const struct hang_view *view, int rank);
/* "from rank 1, tag 7 on MPI_COMM_WORLD, 3 x MPI_DOUBLE", of what a rank tells */
void hang_add_envelope(struct text *text, const struct hang_view *view, const struct page_view *page,
                       const struct job_envelope *envelope);

/* hang_why.c: what follows from the view; lines with an indent. */
void hang_add_why(struct text *text, const struct hang_view *view);
/* hang_near.c: some of that. True: there was something. */
bool hang_add_near(struct text *text, const struct hang_view *view);

#endif
