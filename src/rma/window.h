/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. A window as data: what its files share.
 *
 * Processes of a window that are near to each other, on one machine, synchronize by words in shared memory, whatever
 * way the data go: its *control part*, a struct win_member for each rank. How the memory of a target is reached (enum
 * win_way):
 *
 *   directly      it is mapped here, or our own
 *   by peeking    process_vm_readv and _writev; tried once for each target
 *   by messages   the target's library does it (message.h)
 *
 * Every machine has a control part of its own, in which only the parts of its own processes are used. Far processes
 * synchronize by messages, too (far.c), and the target's library does to its part what a near process would do. */
#ifndef RMA_WINDOW_H
#define RMA_WINDOW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "obj/comm.h"
#include "progress/progress.h"
#include "sys/job.h"
#include "type/type.h"

enum { WIN_STRIPES = 256, WIN_REGIONS = 62 };

/* Attached to a dynamic window. */
struct win_region {
    _Atomic uint64_t base, size;
};

/* What one rank tells another in general active target synchronization (§12.5.2): counts, that go around. */
struct win_pair {
    _Atomic uint32_t posted;    /* exposure epochs that it has opened for us */
    _Atomic uint32_t completed; /* access epochs to our memory that it has ended */
    _Atomic uint64_t holder;    /* by number of ticket: it and who has it; int_turn.h */
    _Atomic uint64_t favour;    /* that it would have us do; favour.c */
};

/* Since when somebody waits for a lock (int_turn.h). */
struct win_patience {
    uint64_t since;  /* clock_ns */
    uint32_t guests; /* there had been then */
};

/* The part of a rank in a window's control part. Starts as zeroes. */
struct win_member {
    /* Its lock (§12.5.3): who wants it takes a ticket; numbers go around. passive.c */
    _Atomic uint32_t tickets ALIGNED(CACHE_LINE);
    _Atomic uint32_t reading; /* the next ticket that may read */
    _Atomic uint32_t writing; /* the next ticket that may write: all before it are done, and there are no guests */
    _Atomic uint32_t guests;  /* that have come since a writer had to wait and was let in */
    /* To find out whether its memory can be peeked into: what stands where. reach.c */
    uint64_t probe_value, probe_address;
    /* Dynamic windows. dynamic.c */
    _Atomic uint32_t region_lock;  /* odd: being written */
    _Atomic uint32_t region_count; /* more than WIN_REGIONS: the table is not complete */
    /* 1: held, 2: held, and others wait */
    _Atomic uint32_t stripe[WIN_STRIPES] ALIGNED(CACHE_LINE);
    struct win_region region[WIN_REGIONS];
    struct win_pair pair[]; /* with each rank; as many as a power of two */
};

enum win_way { WIN_WAY_UNTRIED, WIN_WAY_DIRECT, WIN_WAY_PEEK, WIN_WAY_MESSAGES };

/* Why this process may access a target. */
enum win_access {
    WIN_ACCESS_NONE,
    WIN_ACCESS_STARTED,
    WIN_ACCESS_SHARED,
    WIN_ACCESS_EXCLUSIVE,
    WIN_ACCESS_UNCHECKED
};

struct win_target {
    char *base;            /* of its memory, as seen here; NULL: not reached directly */
    uint64_t size;         /* in bytes; a dynamic window: all there is */
    uint64_t unit;         /* of displacements, in bytes */
    uint8_t access;        /* enum win_access: of lock, or of start */
    _Atomic uint8_t way;   /* enum win_way */
    bool is_far;           /* on another machine: nothing of its part in the control part may be touched */
    bool has_left;         /* we have left a ticket for its lock, … */
    uint32_t left;         /* … this one */
    uint64_t address;      /* of its memory, as seen there */
    struct job_proc *proc; /* of its process; NULL: it is far, or we are alone */
};

enum win_epoch {
    WIN_EPOCH_NONE,
    WIN_EPOCH_FENCE, /* a fence has opened access to all, perhaps */
    WIN_EPOCH_START,
    WIN_EPOCH_LOCK, /* one lock or several */
    WIN_EPOCH_LOCK_ALL,
};

/* accumulate_ops, accumulate_ordering; see win_info.c */
enum win_ordering { WIN_RAR = 1, WIN_WAR = 2, WIN_RAW = 4, WIN_WAW = 8 };

struct win {
    struct obj obj;
    int rank, size;
    int home;       /* the lowest rank on this machine */
    bool is_open;   /* all targets may be accessed: a fence, or lock_all */
    bool is_mapped; /* all memory of the window on this machine is mapped by all here, several, so processors' atomic
                     * operations serve all; else whoever combines, the target included, holds the stripe: that costs
                     * less for many elements, and who is alone here does all that comes from other machines himself */
    bool has_far;   /* the members are on several machines, or in several clients of IMPI */
    uint8_t flavor; /* MPI_WIN_FLAVOR_CREATE + this */
    uint8_t epoch;  /* enum win_epoch: of access */
    struct win_target *target; /* of each rank; owned */
    _Atomic uint32_t
        pending;          /* operations by messages that are not complete at their targets; see message.h */
    pthread_mutex_t lock; /* taken by locks and unlocks of several threads: the next two, and `epoch` */
    int lock_count, null_locks; /* targets that are locked one by one; of these, MPI_PROC_NULL */
    bool is_unchecked;          /* MPI_Win_lock_all has not locked */

    struct comm *comm; /* of the members, the window's own */
    char *control;     /* struct win_member of each rank; see win_member */
    size_t member_size;
    void *messages;   /* owned by message.c */
    struct win *next; /* in the list of all windows of this process */

    /* General active target synchronization: ranks in the groups of MPI_Win_start and MPI_Win_post; count -1: no such
     * epoch. Room for all ranks in each; one block, owned. */
    int start_count, post_count;
    int *start_ranks, *post_ranks;
    uint32_t *taken;               /* of each rank: posts that starts have used */
    uint32_t *waited;              /* and ends of access epochs that waits have used */
    struct win_attached *attached; /* dynamic: what we have attached; owned; NULL: none */

    struct errhandler *errhandler; /* referenced */
    struct attrs *attrs;           /* of the user; owned; NULL: none */
    void *base;                    /* of our memory: the value of MPI_WIN_BASE, and so the next ones */
    MPI_Aint bytes;
    int disp_unit, create_flavor, model;
    uint64_t probe;     /* others read it here, to see whether they can */
    uint32_t pair_mask; /* so many pairs, less 1, has a member */
    struct win_shared {
        uint64_t offset, size;              /* in the segment's file (heap.h); offset 0: none */
        char *start;                        /* where it is mapped; NULL: it is not */
    } shared_control, shared_memory;        /* of the ranks of this machine; taken by `home` */
    void *private_control, *private_memory; /* what this process has for itself; owned; NULL: none */
    uint32_t hints;                         /* a bit each; see win_info.c */
    uint8_t ordering;                       /* enum win_ordering */
    char granularity[24];                   /* mpi_accumulate_granularity as given */
    char name[MPI_MAX_OBJECT_NAME];
};

/* Of a near rank. */
static inline struct win_member *win_member(const struct win *win, int rank)
{
    return (struct win_member *)(void *)(win->control + (size_t)rank * win->member_size);
}

/* What has just been stored in the control part may be what that rank, which is near, waits for. */
static inline void win_wake(const struct win *win, int rank)
{
    if (win->target[rank].proc)
        progress_wake(&win->target[rank].proc->sleep);
}

/* For messages that arrive: the window whose communicator has this context; NULL: none. */
struct win *win_find(uint32_t ctx);

enum { WIN_LABEL_SIZE = MPI_MAX_OBJECT_NAME };
/* What to call it in a message: its name or, made in `text`, "a window of 4 processes". */
const char *win_label(const struct win *win, char text[WIN_LABEL_SIZE]) COLD;

/* --- one operation --- */

/* The origin's side: `count` items of a type at `buf`. */
struct win_data {
    void *buf;
    MPI_Count count;
    struct type *type;
};

/* The target's side, as the user gives it. */
struct win_aim {
    int rank;
    MPI_Aint disp;
    MPI_Count count;
    struct type *type;
};

/* The target's side, found and checked. */
struct win_place {
    struct win_target *target; /* NULL: MPI_PROC_NULL, there is nothing to do */
    enum win_way way;          /* not UNTRIED */
    uint64_t offset;           /* of the displacement in the target's memory */
    uint64_t address; /* the same there; with offset the buffer that the target's type is applied to */
    char *here;       /* WIN_WAY_DIRECT: the same here */
    size_t bytes;     /* of data … */
    size_t done;      /* … of which so many are dealt with already; only where elements are combined */
};

/* Check the epoch, the target and that its memory has what `aim` says, and find the way. `is_request`: a call with a
 * request, which wants a passive epoch. Errors: MPI_ERR_RMA_SYNC, MPI_ERR_RANK, MPI_ERR_RMA_RANGE, MPI_ERR_DISP. */
int win_reach(struct win *win, const struct win_aim *aim, bool is_request, struct win_place *place);
/* The two sides must have equal amounts of data. Error: MPI_ERR_ARG. */
int win_check_sides(const struct win_data *data, const struct win_aim *aim);

/* Instead of an error: the system has come to refuse it, and from now on the way is WIN_WAY_MESSAGES. */
enum { WIN_REFUSED = -2 };

/* Copy `len` bytes between here and the memory of another rank, whose way is WIN_WAY_PEEK. WIN_REFUSED, or an error:
 * MPI_ERR_RMA_RANGE, MPI_ERR_PROC_ABORTED, MPI_ERR_OTHER. */
int win_peek(struct win *win, int rank, void *local, uint64_t address, size_t len, bool is_write);
/* The same of the pieces of a list, `len` bytes in all; the list is used up. */
struct peek_list;
int win_peek_list(struct win *win, int rank, struct peek_list *list, size_t len, bool is_write);

/* Data from the user's side to or from a place, by peeking; any types. `is_put`: to it. */
int win_peek_move(struct win *win, const struct win_data *data, const struct win_aim *aim,
                  const struct win_place *place, bool is_put);

/* --- requests --- */

/* One that is complete, for whoever wants to give one. */
struct req *win_done_request(void);
/* One that win_request_complete completes, once. Errors: MPI_ERR_NO_MEM. `call` names it in reports, `rank` is the
 * target. */
int win_request_create(struct win *win, const char *call, int rank, struct req **out);
/* From any thread. */
void win_request_complete(struct req *req, int rc);

/* --- waiting --- */

/* A wait for a rank of a window, in shared memory: the first member of what is_over looks at. */
struct win_wait {
    const struct win *win;
    const char *call;
    int peer; /* who is waited for now, for reports; MPI_ANY_SOURCE: one of them, nobody knows which */
    bool (*is_over)(struct win_wait *wait);
};

/* Return when is_over says so. Who stores what it looks at calls win_wake. */
void win_wait_for(struct win_wait *wait);
/* The same for what messages of a rank bring; -1: of any, or what others store as well. */
void win_wait_for_messages(struct win_wait *wait, int rank);

#endif
