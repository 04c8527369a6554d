/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the report of who waits for whom. What its files share.
 *
 *   hang.c       when: looks at the status pages, asks the ranks, proves that some wait for ever
 *   pages.c      what a rank says of itself, and what the system says of it
 *   waits.c      the graph
 *   hang_text.c  the table of ranks, and words of it that the conclusions use
 *   hang_why.c   the conclusions: deadlocks, missing members, what to do
 *   hang_near.c  and near misses */
#ifndef LAUNCH_HANG_H
#define LAUNCH_HANG_H

#include "launch.h"
#include "waits.h"

/* One rank, at one moment. */
struct page_view {
    int rank, world;           /* which rank of which world; -1: nobody has this place */
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
};

/* A text that grows; starts as zeroes; ended by a zero. */
struct text {
    char *data;
    size_t length, room;
};

void text_add(struct text *text, const char *format, ...) PRINTF_LIKE(2, 3);

/* pages.c: read all; whoever gets a view gives it back. `with_source`: look up call sites, which may take a while. */
struct hang_view *pages_read(struct job *job, bool with_source);
void pages_free(struct hang_view *view);

/* hang_text.c: the whole report. */
char *hang_text(const struct hang_view *view);
/* "rank 3", "ranks 0-3, 7", "ranks 0-1, ranks 0-3 of spawned world 1": those with is_in[place]; and their number. */
int hang_add_ranks(struct text *text, const bool *is_in, const struct hang_view *view);
/* "rank 3", "rank 0 of spawned world 2" */
void hang_add_rank(struct text *text, const struct hang_view *view, int place);
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
