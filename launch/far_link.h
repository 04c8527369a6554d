/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the way to one other machine: the process of ssh, and an agent behind it. Of far_start.c and far.c. */
#ifndef LAUNCH_FAR_LINK_H
#define LAUNCH_FAR_LINK_H

#include "channel.h"

enum link_state {
    LINK_NONE,     /* our own machine, or one without ranks */
    LINK_STARTING, /* it has not greeted us */
    LINK_GREETED,  /* it has the job */
    LINK_READY,    /* its ranks can start */
    LINK_RUNS,
    LINK_OVER,
};

struct link {
    enum link_state state;
    int node;
    pid_t pid;              /* 0: reaped */
    int status;             /* as from waitpid, once reaped */
    struct channel channel; /* closed when the other side has ended */
    struct source err;
    struct bytes line;      /* of stderr, as far as it has come */
    struct bytes said;      /* all lines until it is ready */
    struct strings words;   /* of the command … */
    char *command;          /* … and for messages */
    bool has_bye;           /* it has been told to go */
    bool has_own;           /* it has been sent our own program */
    bool has_ended;         /* the channel has come to its end */
    bool is_late;           /* it has been started when ranks ran already */
    int linking;            /* times that it has been asked for the links of its processes and has not told all */
    bool is_preparing;      /* it looks whether it can start processes of a WORLD */
    uint32_t admitted;      /* the last GUESTS that it knows all of */
    uint32_t cpus;
    struct refusal refusal; /* why it cannot start, or not those processes */
};

static inline struct link *link_of(const struct job *job, int rank)
{
    return &job->links[job->ranks[rank].node];
}

/* A late one is ready: it gets to know all others. */
void link_join(struct job *job, struct link *link);
/* A frame from it. False: it makes no sense. */
bool link_take(struct job *job, struct link *link, const struct frame *frame, char *data);
/* Why it cannot start something, in link->refusal with the machine's name. False: the frame says nothing. */
bool link_refusal(const struct job *job, struct link *link, const struct frame *frame, const char *data);
/* It has ended, or broken, after its ranks were started. */
void link_lost(struct job *job, struct link *link, const char *why);
/* To the process that is the way there, and to what it has started. */
void link_signal(const struct link *link, int signal);
/* Close what is open of it. */
void link_close(struct job *job, struct link *link);

#endif
