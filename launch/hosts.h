/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: lists of machines, as options, host files and batch systems name them.
 *
 *   hosts.c        the list, and words of it: [USER@]NAME[01-16,20][:SLOTS]
 *   hosts_file.c   host files
 *   hosts_batch.c  what a batch system has allocated
 *   hosts_here.c   the names of this machine
 *   map.h          which rank goes to which of them
 *
 * They know nothing of jobs. Texts stay as long as mpiexec does. A mistake ends mpiexec (E0101); `from` says in its
 * message where the word stood: "-host a,b", "the host file F". */
#ifndef LAUNCH_HOSTS_H
#define LAUNCH_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

enum { HOSTS_MAX = 1 << 16, HOSTS_MAX_SLOTS = 1 << 20, HOSTS_NO_SLOTS = -1 };

struct host {
    const char *name; /* without user, and an IPv6 address without brackets */
    const char *user; /* NULL: not said */
    int slots;        /* ranks that it is meant for */
    int max_slots;    /* ranks that it takes at most; 0: as many as one likes */
    bool has_slots;   /* they were said, not taken to be one for each mention */
    bool slots_are_left; /* so many more, whoever is on it already */
    bool is_here;     /* this machine */
};

struct hosts {
    struct host *at;
    int count;
};

/* A host that the list has already, or another name of this machine, gets more slots; else it is a new one. */
void hosts_add(struct hosts *hosts, const struct host *host);
/* The same machine in the list; NULL: it is not there. */
struct host *hosts_find(const struct hosts *hosts, const struct host *host);
/* One word of `length` bytes, which names one host or many. `slots`: those that stand elsewhere, or HOSTS_NO_SLOTS;
 * a number in the word itself goes before. */
void hosts_add_word(struct hosts *hosts, const char *from, const char *word, size_t length, int slots,
                    int max_slots);
/* Words that commas or blanks separate. */
void hosts_add_list(struct hosts *hosts, const char *from, const char *list);
/* The length of the next word of such a list: commas in brackets do not end it. */
size_t hosts_word(const char *list);
/* [USER@]NAME, as remote shells want it; the caller's. */
char *hosts_target(const struct host *host);
/* All slots together, at most HOSTS_MAX_SLOTS. */
int hosts_slots(const struct hosts *hosts);
/* Those of `wanted`, with what `pool` says of their slots where `wanted` does not; "+n2" is the third of the pool. */
void hosts_choose(struct hosts *wanted, const struct hosts *pool, const char *from);

/* hosts_file.c: a host a line. NAME, NAME:SLOTS, NAME slots=N max_slots=M, NAME N; # begins a comment. */
void hosts_add_file(struct hosts *hosts, const char *option, const char *path);

/* hosts_batch.c: the machines that a batch system has given us, this one first if it is among them. Its name; NULL:
 * there is none. `note`: what cannot be read of it, in words that the caller may print, or NULL. */
const char *hosts_from_batch(struct hosts *hosts, const char **note);

/* hosts_here.c: no name server is asked, so that nothing waits for one. */
bool hosts_is_here(const char *name);

#endif
