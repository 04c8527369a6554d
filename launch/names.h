/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the services that ranks have published (MPI 5.0 §11.9.4), and those of other mpiexecs of the same user on
 * this machine.
 *
 *   names.c        the book of ours, and doors at which other mpiexecs ask
 *   names_ask.c    asking at theirs
 *   names_far.c    both on another machine as well, if the options name one
 *   names_there.c  what is started there for that
 *
 * There is no server of names. For each service its mpiexec listens at an abstract address of Unix sockets, made of the
 * user's number and a hash of the name: to connect there is to ask, and the answer is one packet, the port with its
 * zero. So a name is there as long as its mpiexec is, and leaves nothing behind. Several mpiexecs may publish the same
 * name, each for its own ranks; so there are NAME_DOORS addresses for each, and who asks tries all. Anybody can listen
 * at such an address or connect to it, so both sides look whose process is at the other end, and talk to their own
 * user only. */
#ifndef LAUNCH_NAMES_H
#define LAUNCH_NAMES_H

#include <sys/un.h>

#include "launch.h"

enum { NAME_DOORS = 32 };
#define NAMES_SAID "PARLEY-NAMES " /* what is started on another machine begins its answer with */

struct far_name;
struct look;

struct name {
    struct name *next;
    char *service, *port;
    int owner;            /* place of the rank that has published it */
    struct source door;   /* for other mpiexecs; fd -1: there was none to be had, or it is closed */
    struct far_name *far; /* that it is known on another machine, too; NULL: it is not */
    bool is_over;         /* taken back; an event may still lead to it */
};

/* What the mpiexecs on another machine know of a service. */
struct names_found {
    int known, silent;    /* how many publish it; how many of these have not said what */
    int first, other;     /* processes of two of them */
    const char *port;
};

/* A service of this job; NULL: not published. */
struct name *names_find(struct job *job, const char *service);
struct name *names_add(struct job *job, const char *service, const char *port, int owner);
/* True: that it has gone on another machine, too, is told to `rank` later; -1: to nobody. */
bool names_remove(struct job *job, struct name *name, int rank);
void names_drop(struct job *job, int owner); /* all of its names, and what it asks */
void names_tick(struct job *job); /* TIMER_NAMES */

/* The address of one of a service's doors. Returns its size. */
socklen_t names_address(struct sockaddr_un *address, const char *service, int door);
/* Is there a process of our user at the other end? Also says which one. */
bool names_is_own_user(int fd, pid_t *pid);
/* Listen at the first door that nobody has; -1: there is none to be had. */
int names_listen(const char *service);
/* Whoever has come there is told the port. */
void names_tell(int listener, const char *port);
/* Has that been received as a port? */
bool names_is_port(const char *port, ssize_t size);
/* In hex digits, and back; NULL: they are none. The caller's. */
char *names_hex(const char *text);
char *names_from_hex(const char *hex);

/* names_ask.c: the rank is told the port of a service that other mpiexecs may know. True: that has been done. */
bool names_ask(struct job *job, int rank, const char *service);
void names_ask_no_more(struct job *job, int rank);
void names_ask_tick(struct job *job);
/* What has been asked of another machine: that has been found, or it cannot be asked, for this reason. */
void names_heard(struct job *job, struct look *look, const struct names_found *found, const char *why);

/* names_far.c */
bool names_are_far(const struct job *job); /* known on another machine, too */
/* True: the rank is told how that went, later. */
bool names_publish_far(struct job *job, struct name *name, int rank);
bool names_unpublish_far(struct job *job, struct name *name, int rank);
void names_look_far(struct job *job, struct look *look, const char *service); /* see names_heard */
void names_far_no_more(struct job *job, int rank, const struct look *look); /* nobody waits for these */
void names_far_tick(struct job *job);

/* names_there.c: does not come back */
void names_answer(char *words);

#endif
