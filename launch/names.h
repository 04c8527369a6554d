/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the services that ranks have published (MPI 5.0 §11.9.4), and those of other mpiexecs of the same user on
 * this machine.
 *
 *   names.c      the book of ours, and doors at which other mpiexecs ask
 *   names_ask.c  asking at theirs
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

struct name {
    struct name *next;
    char *service, *port;
    int owner;            /* place of the rank that has published it */
    struct source door;   /* for other mpiexecs; fd -1: there was none to be had, or it is closed */
    bool is_over;         /* taken back; an event may still lead to it */
};

/* A service of this job; NULL: not published. */
struct name *names_find(struct job *job, const char *service);
void names_add(struct job *job, const char *service, const char *port, int owner);
void names_remove(struct job *job, struct name *name);
void names_drop(struct job *job, int owner); /* all of its names, and what it asks */
void names_tick(struct job *job); /* TIMER_NAMES */

/* The address of one of a service's doors. Returns its size. */
socklen_t names_address(struct sockaddr_un *address, const char *service, int door);
/* Is there a process of our user at the other end? Also says which one. */
bool names_is_own_user(int fd, pid_t *pid);

/* names_ask.c: the rank is told the port of a service that other mpiexecs may know. True: that has been done. */
bool names_ask(struct job *job, int rank, const char *service);
void names_ask_no_more(struct job *job, int rank);
void names_ask_tick(struct job *job);

#endif
