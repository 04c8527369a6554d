/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. Making, asking and ending communicators (MPI 5.0 §7.4), and the calculations with groups
 * (§7.3).
 *
 * * What makes a communicator is collective over the old one, blocks, and returns 0 or an error code. Where a process
 * has no memory the others get an error, in the call or when they use what they have got (README.md); after another
 * error they may be left waiting. *out is NULL where the call gives MPI_COMM_NULL. Several
 * threads may call at once, each for another old communicator. Groups are local and never change. Arguments
 * are checked by the caller, but not the elements of arrays, nor what one group holds of another. */
#ifndef COMM_COMM_H
#define COMM_COMM_H

#include "obj/blocked.h"
#include "obj/comm.h"
#include "obj/group.h"
#include "obj/info.h"
#include "obj/req.h"
#include "progress/progress.h"
#include "sys/place.h"
#include "sys/site.h"

enum { COMM_WAY_SIZE = 200 };

/* What comm_init needs to know of this process. */
struct joint;

struct comm_environment {
    int appnum;        /* MPI_APPNUM; -1: undefined */
    int universe_size; /* MPI_UNIVERSE_SIZE; -1: undefined */
    int node;          /* number of the machine: equal for processes that share memory */
    int (*node_of)(int proc); /* the same of process `proc`; NULL: all are on this one */
    /* Of process `proc` of this machine: the processors that its launcher has bound it to, false if it has not, or does
     * not tell. The same at all processes of the machine, at any time. NULL: it tells nothing. */
    bool (*bound)(int proc, struct cpus *cpus);
    int apps;             /* parts of the command line that started the job, at least 1; 0 stands for 1 */
    int (*app)(int proc); /* that which process `proc` belongs to; not called when there is one */
    const char *psets;    /* names of process sets that the user has given to the parts, one after the other, each with
                           * its zero, of pset_bytes together; those behind the last one, and empty ones, have none */
    size_t pset_bytes;
    const char *memory_kinds; /* provided to the world (§11.4.3); NULL: mpi,system */
};

/* Where this process stands among those of the job. */
struct comm_place {
    int proc, procs; /* its number, and how many there may be */
    int first, size; /* its MPI_COMM_WORLD: so many processes from the first one on */
    int world;       /* the number of that; 0: the first one of the job */
    int ranks;       /* in the first one; fewer than 2^30 */
    const struct joint *joint; /* its processes in other clients of IMPI have numbers from `procs` on, and are in
                                * MPI_COMM_WORLD; `size` counts those of this job. NULL: there are none */
    _Atomic uint64_t *links;    /* a bit for each process of other worlds that there is a communicator with is kept
                                 * here; NULL: nobody wants to know */
    _Atomic uint32_t *contexts; /* two words, where the processes that have this number one after the other count the
                                 * contexts that they hand out; NULL: it is the only one */
};

/* What making communicators needs, once a process. Until comm_set_environment is called, nothing is known: the
 * attributes are undefined and all are on one node. Error: MPI_ERR_NO_MEM. */
int comm_init(const struct comm_place *place);
/* A process that was alone, of a world of one, is number 0 of a job now: `place` counts, but for the world. No other
 * thread is in a call. Error: MPI_ERR_NO_MEM. */
int comm_grow(const struct comm_place *place);
void comm_set_environment(const struct comm_environment *environment);
void comm_fini(void);
/* All processes that the job may have, for the library's own messages: in no table of handles, open from comm_init
 * on. */
extern struct comm comm_own;
/* The same of the processes of all clients of IMPI, by their joint ranks; open from comm_init on in jobs that are
 * clients, until nothing more is to go to others. */
extern struct comm comm_clients_own;
void comm_leave_clients(void);

/* Make MPI_COMM_WORLD and MPI_COMM_SELF, with errhandler_fatal, open for messages. Error: MPI_ERR_NO_MEM. */
int comm_open_world(void);
/* Close them. Their groups live on where others hold them. */
void comm_close_world(void);

/* §7.4.2. The new one has the error handler of the old one, and no name; a copy has its topology, too. */
int comm_dup(struct comm *comm, struct comm **out);
/* Local; the new one may be used when the request is complete. It cannot be cancelled or freed before. `info` may be
 * NULL: no hints. */
int comm_idup(struct comm *comm, struct info *info, struct comm **out, struct req **request);
int comm_split(struct comm *comm, int color, int key, struct comm **out);
/* MPI_COMM_TYPE_SHARED, and the guided types with the resource mpi_shared_memory, split by machine, other resources
 * by the part of it that the process is bound to (sys/hwpart.h); process sets are those of comm_pset_group. What is
 * not known gives no communicator. MPI_COMM_TYPE_HW_UNGUIDED splits by the largest part that makes smaller
 * communicators, and names it in `info`. `info` may be NULL. Errors: MPI_ERR_ARG for another type, or one that
 * differs between processes; MPI_ERR_INFO for both keys at once. */
int comm_split_type(struct comm *comm, int split_type, int key, struct info *info, struct comm **out);
/* Error: MPI_ERR_GROUP if the group has a process that is not in `comm`. */
int comm_create(struct comm *comm, struct group *group, struct comm **out);
/* Collective over the group only. */
int comm_create_group(struct comm *comm, struct group *group, int tag, struct comm **out);

/* Collective over the group, which need not be that of a communicator; *out is NULL for an empty one. Errors:
 * MPI_ERR_ARG for a string of MPI_MAX_STRINGTAG_LEN or more, MPI_ERR_ERRHANDLER for another kind's, MPI_ERR_GROUP if
 * this process is no member. */
int comm_create_from_group(struct group *group, const char *stringtag, struct errhandler *errhandler,
                           struct comm **out);

/* Where a process sits. */
struct comm_seat {
    int32_t node;
    struct site site;
};
/* Collective: where the members of `comm`, which is no intercommunicator, sit now. `seats` has room for all. For
 * `call`, by its name for reports. */
int comm_gather_seats(struct comm *comm, const char *call, struct comm_seat *seats);
/* Local, and the same at all members: where their launcher has put them; of members on several machines no more than
 * which. False: it has not told of all. */
bool comm_bound_seats(const struct comm *comm, struct comm_seat *seats);

/* Process sets (§11.3.2) that this process is in: mpi://WORLD, mpi://SELF, and that of its part of the command
 * line, if that has a name or there are several parts. */
int comm_pset_count(void);
/* The name of the n-th one, at most MPI_MAX_PSET_NAME_LEN with its zero. */
void comm_pset_name(int n, char name[MPI_MAX_PSET_NAME_LEN]);
/* The members of any set of the job; *out is NULL for a name that is not known. Names without a scheme are in
 * mpix://. */
int comm_pset_group(const char *name, struct group **out);

/* §9.1.2: the parts of the machine, and whether this process is restricted to one of them. */
int comm_hw_info(struct info **out);

/* For another call that is collective over `comm`, by its name for reports: a communicator of `group`, which is a
 * group of processes of `comm`. Processes may give different groups that do not overlap. */
int comm_create_for(struct comm *comm, struct group *group, const char *call, struct comm **out);
/* One of all members for the library's own, whose messages a thread of the library's may take in (P2P_LANE_APART). */
int comm_create_apart(struct comm *comm, const char *call, struct comm **out);
/* §7.6.2. `leader` is a rank of `local`. At the leader, `peer` has the other group's leader as rank `remote`; NULL
 * there is an error, and elsewhere it does not matter. Errors: MPI_ERR_RANK for a `remote` out of range or in the own
 * group, MPI_ERR_COMM for groups that overlap. */
int comm_inter_create(struct comm *local, int leader, struct comm *peer, int remote, int tag, struct comm **out);

/* The groups of the new one, and who leads each of them. */
struct comm_sides {
    struct group *local;
    int local_leader;
    struct group *remote;
    int remote_leader;
};
/* As comm_create_from_group. */
int comm_inter_create_from_groups(const struct comm_sides *sides, const char *stringtag, struct errhandler *errhandler,
                                  struct comm **out);
/* With a group that `local` has nothing to do with yet: `proc` leads it, whose own call this is as well. `tag` is
 * known to both leaders, and of no other call that two processes have with each other at the time. `call` is for
 * reports. Errors: MPI_ERR_RANK if it is in the local group. */
int comm_inter_with(struct comm *local, int leader, int proc, int tag, const char *call, struct comm **out);
/* The same if that one is of another job. `tag`: of the call, as the mpiexecs have agreed on it. */
int comm_inter_abroad(struct comm *local, int leader, int proc, int tag, const char *call, struct comm **out);
/* For a call that makes a communicator with others than the members of `comm`, collective: over several clients of IMPI
 * a communicator of the same processes as members of their jobs, which are connected for that; else `comm`. The
 * caller's reference. Error: MPI_ERR_UNSUPPORTED_OPERATION, E1213, if some are of another implementation. */
int comm_as_jobs(struct comm *comm, const char *call, struct comm **out);
/* What room dyn does for groups of several jobs that are about to have a communicator. */
struct comm_outside {
    /* This process can be reached by TCP from now on, by those of other jobs. */
    int (*get_ready)(void);
    /* The way to our mpiexec, for others; empty: there is none. */
    int (*way)(char way[COMM_WAY_SIZE]);
    /* These are of another job, whose mpiexec is found on that way: they have places here from now on. */
    int (*meet)(const char *way, const struct place_card *cards, int count);
};
void comm_set_outside(const struct comm_outside *outside);

/* §11.8.2: to those who have spawned this process; NULL: nobody has, or it has been freed. Owned by this room from now
 * on: the user frees it, or the end of the world does. */
void comm_set_parent(struct comm *comm);
struct comm *comm_parent(void);
/* The world is about to end, and the user need not free what he was given. */
void comm_leave_parent(void);
/* Error: MPI_ERR_ARG if `high` differs within the local group. */
int comm_inter_merge(struct comm *comm, int high, struct comm **out);

/* §7.4.3. Collective, but returns at once: pending operations keep the communicator until they are done.
 * Error: MPI_ERR_COMM for the predefined ones. */
int comm_free(struct comm *comm);

/* §11.10.4: as comm_free, but buffered messages have left. */
int comm_disconnect(struct comm *comm);

/* §7.4.4: assertions are kept, other hints ignored. Not collective. Error: MPI_ERR_NO_MEM. */
void comm_set_info(struct comm *comm, struct info *info);
int comm_get_info(const struct comm *comm, struct info **out);
/* The memory kinds that it supports: those of its session, or of the world (§11.4.3). */
const char *comm_memory_kinds(const struct comm *comm);
/* For a call that has made something with `rc`, and returns that: the new one gets the hints. `info` may be NULL. */
int comm_with_info(int rc, struct info *info, struct comm **made);

/* What a long wait waits for. False: nothing of this room. */
bool comm_describe_wait(const struct progress_long *wait, struct blocked *out) COLD;

/* §7.4.1 */
int comm_compare(const struct comm *comm1, const struct comm *comm2, int *result);

/* Number of the machine that a member is on, for comparing. Over several clients of
 * IMPI each client stands for one. */
int comm_machine_of(const struct comm *comm, int rank);

/* §7.8. Longer names are cut; `name` has room for MPI_MAX_OBJECT_NAME. NULL stands for MPI_COMM_NULL. */
void comm_set_name(struct comm *comm, const char *name);
void comm_get_name(const struct comm *comm, char *name, int *len);

/* §7.7.2. A predefined attribute (§9.1.2) is the address of an int; any other is what attr_set has stored. *flag is 0
 * if there is none. Error: MPI_ERR_KEYVAL. */
int comm_get_attr(const struct comm *comm, int keyval, void *value, int *flag);
/* The value of MPI_LASTUSEDCODE (§9.5.1), from now on. Calls come one after another. */
void comm_set_last_code(int code);
/* §11.2.2: delete the attributes of MPI_COMM_SELF, then those of MPI_COMM_WORLD, each the last one first. Error: of
 * the first callback that fails, which is also the last one called. */
int comm_end_world_attrs(void);

/* Rank of a process in the local group, or MPI_UNDEFINED; of another client of IMPI by either number that it has. */
int comm_rank_of(const struct comm *comm, int proc);
/* The groups, with a reference for the caller. */
struct group *comm_group(struct comm *comm);
struct group *comm_remote_group(struct comm *comm);

/* §7.3.2. An empty result is MPI_GROUP_EMPTY. Errors: MPI_ERR_RANK for what is out of range or comes twice,
 * MPI_ERR_ARG for a range that does not end, MPI_ERR_NO_MEM. Time: linear. */
int comm_group_union(const struct group *group1, const struct group *group2, struct group **out);
int comm_group_intersection(const struct group *group1, const struct group *group2, struct group **out);
int comm_group_difference(const struct group *group1, const struct group *group2, struct group **out);
int comm_group_incl(const struct group *group, int n, const int *ranks, struct group **out);
int comm_group_excl(const struct group *group, int n, const int *ranks, struct group **out);
int comm_group_range_incl(const struct group *group, int n, const int (*ranges)[3], struct group **out);
int comm_group_range_excl(const struct group *group, int n, const int (*ranges)[3], struct group **out);
/* §7.3.1. Errors: MPI_ERR_RANK, MPI_ERR_NO_MEM. */
int comm_group_translate(const struct group *from, int n, const int *ranks, const struct group *to, int *out);
int comm_group_compare(const struct group *group1, const struct group *group2, int *result);

#endif
