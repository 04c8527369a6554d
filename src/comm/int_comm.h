/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm, private. What its files share. */
#ifndef COMM_INT_COMM_H
#define COMM_INT_COMM_H

#include "comm/comm.h"
#include "sys/joint.h"
#include "sys/place.h"

/* Place of this process in the job. */
extern struct comm_world {
    int proc;        /* its number among all processes */
    int first, size; /* processes of MPI_COMM_WORLD */
    int number;      /* of that; 0: the first one of the job */
    const struct joint *joint; /* clients of IMPI that have one MPI_COMM_WORLD with this job; NULL: it is alone */
    struct comm *parent; /* see comm_set_parent */
    struct comm_environment environment;
} comm_world;

/* Is the process in another client of IMPI? */
static inline bool comm_is_foreign(int proc)
{
    return comm_world.joint && proc >= (int)comm_world.joint->slots;
}

/* clients_abroad.c: of a process of another client that has a place here, too, its number behind all places; else
 * `proc`. */
int comm_number_in_world(int proc) COLD;
static inline int comm_number_of(int proc)
{
    return likely(!comm_world.joint) ? proc : comm_number_in_world(proc);
}
/* Are all of a group in the joint world? In a job alone all are. */
bool comm_is_in_world(const struct group *group);
/* The same group by the numbers that a communicator of it has: those in the joint world if all are there (is_in_world),
 * else all have places. Error: MPI_ERR_UNSUPPORTED_OPERATION, E1213, if one has none. */
int comm_group_known(struct group *group, bool is_in_world, struct group **out);
/* As comm_create_from_group, of a group by such numbers. */
int comm_create_by_numbers(struct group *group, const char *stringtag, struct errhandler *errhandler,
                           struct comm **out);

/* The rank of a process in comm_own or comm_clients_own. */
static inline int comm_rank_in(const struct comm *place, int proc)
{
    return place == &comm_own ? proc : joint_rank(comm_world.joint, proc);
}

/* Messages of MPI_Comm_create_from_group that nobody has asked for. */
void comm_drop_strays(void);

/* Once, before the others: the range of this process. */
void comm_ctx_start(const struct comm_place *place);
/* Whose part has this number; -1: nobody's. */
int comm_ctx_owner(uint32_t number);
/* Which numbers below 2^29 a process has; of MPI_COMM_WORLD and its like the first one takes them. */
void comm_ctx_range(const struct comm_place *place, uint32_t *first, uint32_t *count);
/* A context for a new communicator, which no other one in the job has: every process has a range of its own, and when
 * that is used up, those of it that are used no more anywhere. May wait for others then, without any lock. Thread
 * safe. Error: MPI_ERR_OTHER when there are none; *ctx is then 0. */
int comm_ctx_take(uint32_t *ctx);
/* The same in the lane P2P_LANE_APART, or in any lane if there are no more of these. */
int comm_ctx_take_apart(uint32_t *ctx);
/* Communicators with processes of other jobs (two_jobs.c): one that is of another job, in either group; NULL: none. */
struct job_abroad *comm_abroad_in(const struct comm *comm);
struct job_abroad *comm_abroad_in_group(const struct group *group);
/* Are there more than two jobs in both, of which one has this process? */
bool comm_is_of_many(const struct group *group, const struct group *other);
/* A context for a communicator of members of `old`, or of that job and this one, or of a group of two jobs at most.
 * Otherwise as comm_ctx_take. */
int comm_ctx_take_for(const struct comm *old, uint32_t *ctx);
int comm_ctx_take_abroad(const struct job_abroad *abroad, uint32_t *ctx);
int comm_ctx_take_among(const struct group *group, uint32_t *ctx);
/* By which the leaders meet whose call has that tag. */
uint32_t comm_ctx_of_call(const struct job_abroad *abroad, uint32_t tag);

/* circle.c: contexts of communicators over more jobs. A set of bits, one for each circle; to it are added those that
 * are busy in this process; the first one from `start` on that is not in it, -1: all are. */
enum { COMM_CIRCLE_WORDS = 16 };
void comm_circles_busy(uint64_t busy[COMM_CIRCLE_WORDS]);
int comm_circle_choose(const uint64_t busy[COMM_CIRCLE_WORDS], uint32_t start);
/* Member `rank` of so many that enter it. False: it is busy. Who has entered counts as one of its communicators. */
bool comm_circle_enter(int circle, int rank, int size);
uint32_t comm_circle_first(int circle);
/* So many communicators more have such a context; nothing happens for others, nor in the next two. */
void comm_circle_count(uint32_t ctx, int change);
/* A context for a communicator of members of one that has the context `old`. False: that is none of these. */
bool comm_circle_take(uint32_t old, uint32_t *ctx, int *rc);
void comm_circle_return(uint32_t ctx);
/* from_group.c: collective over a group of three jobs and more. They have entered a circle together, of which they get
 * the first context. `name` tells calls apart that overlap. */
int comm_circle_agree(const struct group *group, const char *name, uint32_t *ctx);

/* One communicator more with the members of this group, or (-1) one less: links.c keeps count of those who are of
 * another world. */
void comm_links_start(_Atomic uint64_t *bits);
void comm_links_count(const struct group *group, int change);

/* Give back one that was taken and that nobody has used. */
void comm_ctx_return(uint32_t ctx);

/* reuse.c: contexts that are used again. The library's own communicator is open for so many processes, and this one has
 * `range` numbers; it is about to be opened anew, or to go for ever. Error: MPI_ERR_NO_MEM. */
int comm_reuse_open(int procs, uint32_t range);
void comm_reuse_pause(void);
void comm_reuse_close(void);
/* This communicator is closed here, and nothing can come back to it. Perhaps with its lane's lock. */
void comm_reuse_ended(const struct comm *comm);
/* So many numbers of ours from this one on were not taken. */
void comm_reuse_unused(uint32_t number, uint32_t count);
/* One of ours that nobody uses any more, for the lanes [first, end); 0: none is known of, and others are asked. */
uint32_t comm_reuse_take(int first, int end);
/* One for any lane, when others have answered; 0: there is none. */
uint32_t comm_reuse_await(void);
/* The error of processes whose leader could not take one. */
int comm_ctx_missing(void) COLD;
/* For tests: let this process's range hold `count` contexts from now on. */
void comm_ctx_limit(uint32_t count);

/* A communicator for this process in `group`, open for messages. Takes over the caller's reference to the
 * group, also when it fails. Error: MPI_ERR_NO_MEM. */
int comm_make(const struct comm *parent, struct group *group, uint32_t ctx, struct comm **out);

/* The same between two groups, of which it takes over the references, and that of `local`, a communicator of the first
 * one for the library's own use. */
int comm_make_inter(const struct comm *parent, struct comm *local, struct group *group, struct group *remote,
                    uint32_t ctx, struct comm **out);

/* Its first half, for when the context comes later: its handle leads nowhere yet. Own references to the groups; an
 * intercommunicator if they differ. NULL: no memory. */
struct comm *comm_prepare(const struct comm *parent, struct group *group, struct group *remote);
/* Its second half; it is gone after an error. */
int comm_open(struct comm *comm, uint32_t ctx);
/* Instead of that. */
void comm_abandon(struct comm *comm);

/* This process has no part of a communicator, or cannot keep it, for `rc`: the others of the group, who have it
 * perhaps, are told (p2p_break). A `ctx` of 0 is none. The same of one that has been made, of all in its groups. */
void comm_break(const struct group *group, uint32_t ctx, int rc) COLD;
/* The same where those below this process in a tree of the group (coll_group_bcast) know it. */
void comm_break_above(const struct group *group, uint32_t ctx, int rc) COLD;
int comm_no_object(void) COLD;
void comm_break_made(const struct comm *made, int rc) COLD;

void comm_idup_fini(void);
/* create.c, at the end: those that were to leave later do. */
void comm_let_leave(void);
/* The attributes of `comm` that its duplicate *out is to have. After an error, that of a callback or MPI_ERR_NO_MEM,
 * *out is gone. Local. */
int comm_copy_attrs(const struct comm *comm, struct comm **out);

/* What each process tells the others in MPI_Comm_split. */
struct split_entry {
    int32_t color, key;
    uint32_t ctx; /* taken in case this process leads */
    uint32_t local_ctx; /* the same for the local group of an intercommunicator */
    uint32_t kind;      /* what a rule wants to know of it; 0: it takes no part */
};

/* Beside colors: called with the entries of all, those of the remote group in `theirs` (NULL: there is none), and may
 * change colors, by the same rule for all. It may exchange more: all are in it, also those of no color. */
struct split_rule {
    int (*refine)(struct split_rule *rule, struct comm *comm, struct split_entry *mine,
                  struct split_entry *theirs);
};

/* MPI_Comm_split, with a rule or NULL. */
int comm_split_by(struct comm *comm, struct split_entry own, struct split_rule *rule, struct comm **out);

/* The entries of all; this process's own is in its place. */
int comm_split_exchange(struct comm *comm, struct split_entry *entries);

/* The entries and members of so many processes need no memory but the stack's. */
enum { SPLIT_FEW = 128 };

struct split_member {
    int key, rank; /* in the old communicator */
};

/* Those with this color in their new order: by key, equal keys by old rank. `members` has room for `size`. Returns how
 * many. */
int comm_split_order(const struct split_entry *entries, int size, int color, struct split_member *members);
/* A context for this process's entry, if it has a color; after an error, or if it has *failed before, that. */
void comm_split_offer(const struct comm *old, struct split_entry *own, int *failed);
/* What stands there then; and the error if one of the members says that. `side` goes behind its rank. */
uint32_t comm_split_failed(int rc) COLD;
int comm_split_check(const struct split_entry *entries, const struct split_member *members, int count,
                     const char *side);
/* The group of members of `old`, in whose place the processes stand then, one int after the other. */
int comm_split_group(const struct comm *comm, const struct group *old, struct split_member *members, int count,
                     struct group **out);

/* Two groups agree through their leaders, and each tells its own side. What for: a communicator of both and one of
 * each group, the first alone, or none. */
enum meeting_for { MEET_FOR_BOTH, MEET_FOR_ONE, MEET_FOR_NONE };

struct meeting {
    struct comm *local;   /* one of the local group, intra */
    int leader;           /* in it */
    struct comm *peer;    /* the rest matters at the leader only. Where it meets the other one; NULL: an error */
    int remote, tag;      /* the other one's rank there; in the context of collectives */
    int32_t word;         /* what the other side is to know */
    const struct group *named; /* it is also to know the names of these, or … */
    const void *data;          /* … so many bytes, which are … */
    size_t size;
    void *into;           /* where what the other side tells is to stand, of `expected` bytes; NULL: anywhere */
    size_t expected;      /* bytes of the other side; 0: any number */
    bool has_numbers;          /* … int32_t */
    enum meeting_for what_for; /* the same at both leaders */
    bool is_new;          /* it makes the first communicator of the two groups */
    bool is_of_jobs;      /* all are called as members of their jobs, though the leaders meet as those of clients */
    int failed;           /* this side cannot go on: the error */
    const struct job_abroad *bond; /* where the common context is from; NULL: as for others of `peer` or `local` */
    const char *call;     /* for reports */
};

enum { ROOM_OF_AGREED = 1536 }; /* for the names of 64 processes */

/* In the same words on all machines, up to `data`. */
struct agreed {
    uint64_t error;       /* the leader's, class; not for callers */
    uint64_t word;        /* of the other side */
    uint64_t own_word;    /* that of the own leader */
    uint64_t ctx;         /* for a communicator of both sides */
    uint64_t local_ctx;   /* for one of the local group */
    uint64_t is_joint;    /* names are those of the joint world; see comm_list_names */
    uint64_t is_mixed;    /* the groups, which are new to each other, have processes of several jobs */
    uint64_t needs_jobs;  /* some of the joint world, and others: they have to meet once more, is_of_jobs */
    uint64_t chief;       /* name of the leader that is before the other one */
    uint64_t size;
    void *data;           /* of the other side, names or bytes, until comm_agreed_drop */
    void *memory;         /* where it stands, if that was allocated; else it stands in `room`, or where it was wanted */
    _Alignas(max_align_t) char room[ROOM_OF_AGREED];
};

/* Collective over both; blocks. After success comm_agreed_drop frees what `data` needs; numbers stay. */
int comm_meet(const struct meeting *meeting, struct agreed *agreed);
void comm_agreed_drop(struct agreed *agreed);

/* meet.c: what follows on a first meeting that is_mixed. All of either side are reachable for the other one, and all of
 * the other group have places in this job. An error here is one of this side; that goes on to comm_settle. */
int comm_introduce(const struct meeting *meeting);
/* The way to the mpiexec of a job. */
struct comm_way {
    uint64_t job;
    char text[COMM_WAY_SIZE];
};
/* What the other side has told of itself, in `size` bytes that outlive it. False: it makes no sense. */
struct comm_introduction {
    const struct comm_way *ways; /* to all jobs in the group */
    const struct place_card *cards; /* of all members */
    int way_count, card_count;
};
bool comm_read_introduction(const void *data, size_t size, struct comm_introduction *out);
/* Of all members of a communicator over several clients: each has a place in the jobs of the others. Collective. */
int comm_acquaint(struct comm *comm, const char *call);
/* `rc` tells the other side how it has gone. All of both are ready then; agreed->ctx is the context for a communicator
 * of both, and its circle, if it has one, has been entered. After an error `remote`, which may be NULL, has lost its
 * reference. */
int comm_settle(const struct meeting *meeting, struct group *remote, int rc, struct agreed *agreed);

/* names.c: processes as they are called in messages between groups that may number them differently: in 24 bytes each,
 * by their names in the world of all clients, or (not is_joint) by those that they have in all jobs. `names` has room
 * for all. */
enum { COMM_NAME_SIZE = JOINT_NAME_SIZE };
void comm_list_names(const struct group *group, bool is_joint, void *names);
/* The group that the other side has named. Error: MPI_ERR_OTHER if this process does not know one of them. */
int comm_group_named(const struct agreed *agreed, struct group **out);
/* As comm_break of agreed->ctx, of those whom the other side has named. */
void comm_break_named(const struct agreed *agreed, int rc) COLD;
/* A common order of all processes that two groups can have. */
bool comm_is_before(int proc, int other);

/* MPI_Comm_dup, MPI_Comm_create and MPI_Comm_split of intercommunicators. */
int comm_inter_dup(struct comm *comm, struct comm **out);
int comm_inter_create_sub(struct comm *comm, struct group *group, struct comm **out);
int comm_inter_split(struct comm *comm, struct split_entry own, struct split_rule *rule, struct comm **out);
/* Collective over both groups: what each member of the own group has alike goes to all of the other one. `theirs`
 * has room for as much of each of those. */
int comm_inter_swap(struct comm *comm, const void *data, size_t size, void *theirs);

/* A process in order of the part of one kind that it sits in. */
struct unguided_sitting {
    int32_t node, first;
    int index;
};

/* Of the processes with sites[i], those that take part (is_in[i]): the largest part of the machine that splits
 * them, so that fewer than `size` share it. color[i]: the first process with the same one, MPI_UNDEFINED if there
 * is no such part; part[i]: which kind, HWPARTS for the machine. Time: n log n for each kind. */
struct unguided {
    struct comm_seat *seats;
    bool *is_in;
    int count;  /* of the arrays */
    int size;   /* of the communicator */
    int *color, *part;
    struct unguided_sitting *order; /* only room */
};
void comm_unguided_colors(const struct unguided *u);

/* The same in all members; `place` has them all. */
uint32_t comm_hash_group(const struct comm *place, const struct group *group);
uint32_t comm_hash_string(const char *text);

/* A group of both, one after the other; the same in an order that is the same in all processes. */
int comm_group_join(const struct group *first, const struct group *second, struct group **out);
int comm_group_of_both(const struct group *group, const struct group *other, struct group **out);

/* A group of `size` processes, which are copied; MPI_GROUP_EMPTY if there are none. */
int comm_group_make(int size, const int *procs, struct group **out);

/* Ranks of processes in a group, each found at once, or by looking through it if there is no memory; made in linear
 * time. */
struct group_index {
    const struct group *group;
    int *slots; /* hash table of ranks, -1: free; NULL for a stride, which needs none, or if there is no memory */
    uint32_t mask; /* 0: a stride */
    int shift;  /* of a hash of 32 bits */
};
void group_index_open(struct group_index *index, const struct group *group);
void group_index_close(struct group_index *index);
/* MPI_UNDEFINED if the process is no member. */
int group_index_find(const struct group_index *index, int proc);

#endif
