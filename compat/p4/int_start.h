/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4, inside. Coming up and going down: options, procgroups, the keeper. */
#ifndef P4_INT_START_H
#define P4_INT_START_H

#include <stdatomic.h>

#include "p4/int_p4.h"

/* --- start.c --- */

/* First ids of the clusters. */
void p4_set_clusters(const int first[], int count);
/* In a process of p4_create: run on all processors that the master has. */
void p4_unbind(void);

/* --- options.c: what the command line says --- */

struct p4_options {
    const char *procgroup;   /* -p4pg */
    const char *out, *remote_out; /* -p4out, -p4rout */
    const char *arena;       /* -p4gm */
    const char *directory;   /* -p4wd */
    const char *domain;      /* -p4dmn */
    int remote_debug_level;  /* -p4rdbg */
    bool print_remotes;      /* -p4norem */
    bool is_xdr_forced;      /* in a process of another host: P4_FORCE_XDR is set where the run began */
};

extern struct p4_options options;

/* Take p4's options out of the command line. Ends the program for -p4help and for a value that is missing. */
void options_take(int *argc, char **argv);

/* --- procgroup.c: the table --- */

/* Read the file into *pg. 0; or -1: it cannot be opened, and errno says why. Wrong lines end in p4_error. */
int procgroup_read(const char *path, struct p4_procgroup *pg);
/* The same of a file that is open, and stays so; `path` is for messages. */
void procgroup_parse(FILE *file, const char *path, struct p4_procgroup *pg);
/* The file to read: NULL, there is none. */
const char *procgroup_find(const char *program);
/* Wrong entries end in p4_error; `where` (procgroup file or table) is for its text. Returns how many processes there
 * are. Lines of entries are those of the last procgroup_read if `has_lines`. */
int procgroup_check(const struct p4_procgroup *pg, bool has_lines);

/* --- keeper.c: the process that starts the slaves of a cluster, and ends with the last of them --- */

enum { P4_CHILDREN = 1024 };

/* Where a process of another host is. */
struct host_peer {
    char address[56];       /* numeric; empty: it is of this host */
    char port[8];
    bool is_unlike;         /* its numbers have another form */
    _Atomic bool is_gone;
};

/* Shared by all processes of a cluster; made by p4_initenv. */
struct control {
    _Atomic uint64_t end;       /* not 0: somebody has ended the run; job_end() of the first who did */
    _Atomic uint32_t is_told;   /* futex word: why has been said */
    _Atomic uint32_t is_ready;  /* futex word: other hosts are there, `peer` is filled in */
    _Atomic uint32_t all_gone;  /* all processes but the master of the cluster have ended */
    _Atomic int master, keeper; /* pids; 0: none yet */
    _Atomic int child[P4_CHILDREN]; /* of p4_create: pids, 0: free, -1: about to be one */
    unsigned char key[16];      /* that processes of this run know, and strangers do not */
    struct host_peer peer[P4_MAXPROCS];
};

extern struct control *control;

struct cluster_plan {
    int count;             /* processes of this cluster, the master among them */
    int place, places;     /* the master's place in the segment, in which slaves follow it, and how many it has */
    int segment_fd;        /* -1: not made yet. It is one for all clusters that this host starts itself */
    struct job_head *head; /* of the segment, mapped */
    bool has_others;       /* there are other clusters */
    int hub_fd;            /* to the keeper of the first cluster; -1: this is that one */
};

/* Fork the keeper, and it the slaves. Returns in the master with 0 and in each slave with its place, 1 and on. With
 * other clusters, the keeper of the first one starts them before. */
int keeper_start(const struct cluster_plan *plan);

/* --- hosts.c: starting clusters on other hosts --- */

/* What processes of other hosts connect to: a socket for each process of this host, in the order of their places. */
void hosts_listen(int count);
/* That of a process; those of the others are closed. */
int hosts_take_listener(int place, int count);
/* In the master: the procgroup and the arguments that the others get. Makes the socket that they report to. Gives
 * clusters of this host places behind those of the first one, whose number is in plan->places, and adds them. */
void hosts_prepare(const struct p4_procgroup *pg, const char *where, char **arguments, struct cluster_plan *plan);
/* Was this process started by hosts_start of another one? */
bool hosts_is_remote(void);
/* Then: report there and learn who we are: p4_own but `who`, the places of the others, options. The plan has its
 * count, hub_fd and, if the first cluster is on this host, the segment. */
void hosts_report(struct cluster_plan *plan);

/* --- finish.c --- */

/* Registers what is done at exit; once. */
void finish_at_exit(void);
/* kill, for one process and nothing else: a pid of 0 and below (nobody yet, a reserved slot, a group, everybody) is
 * left alone. The only way in this room to send a signal. From signal handlers, too. */
void finish_signal(int pid, int number);
/* In the master of a cluster, in long waits: p4_error if the keeper is not there any more. */
void finish_check_keeper(void);
/* The run is being ended: wait until whoever does it has said why, or for 1.5 s. */
void finish_let_tell(void);
/* Is this process the first to end the run? Others wait until that one has said why, not for long. */
bool finish_claim(int code);
/* End every process of the run as soon as possible. This one goes on. From signal handlers, too. */
void finish_all(int code);

/* --- error.c --- */

/* Signals that stand for p4_error from now on. */
void error_trap_signals(void);
/* In the master: the keeper's wish that it ends. */
void error_trap_end(void);

#endif
