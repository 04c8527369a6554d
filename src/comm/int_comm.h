/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm, private. What its files share. */
#ifndef COMM_INT_COMM_H
#define COMM_INT_COMM_H

#include "comm/comm.h"

/* Place of this process in the job. */
extern struct comm_world {
    int rank, size;
    struct comm_environment environment;
} comm_world;

/* All processes of the job, for the library's own messages: in no table of handles, open from comm_init on. */
extern struct comm comm_own;

/* Messages of MPI_Comm_create_from_group that nobody has asked for. */
void comm_drop_strays(void);

/* Once, before the others: the range of process `rank`. */
void comm_ctx_start(int rank, int size);
/* A context for a new communicator, which no other one in the job has or will have: every process has a range
 * of its own. Never reused. Thread safe. Error: MPI_ERR_OTHER when the range is used up; *ctx is then 0. */
int comm_ctx_take(uint32_t *ctx);
/* Give back the last one taken, which nobody has used. */
void comm_ctx_return(uint32_t ctx);
/* The error of processes whose leader could not take one. */
int comm_ctx_missing(void) COLD;
/* For tests: let this process's range hold `count` contexts from now on. */
void comm_ctx_limit(uint32_t count);

/* A communicator for this process in `group`, open for messages. Takes over the caller's reference to the
 * group, also when it fails. Error: MPI_ERR_NO_MEM. */
int comm_make(const struct comm *parent, struct group *group, uint32_t ctx, struct comm **out);

/* What each process tells the others in MPI_Comm_split. */
struct split_entry {
    int32_t color, key;
    uint32_t ctx; /* taken in case this process leads */
};

/* Old ranks of those with this color in their new order: by key, equal keys by old rank. `ranks` has room for
 * `size`. Returns how many, or an error code as a negative number. */
int comm_split_order(const struct split_entry *entries, int size, int color, int *ranks);

/* A group of `size` processes, which are copied; MPI_GROUP_EMPTY if there are none. */
int comm_group_make(int size, const int *procs, struct group **out);

/* Ranks of processes in a group, each found in log n steps. */
struct group_index {
    const struct group *group;
    int *sorted; /* ranks by process number; NULL for a stride, which needs none */
};
int group_index_open(struct group_index *index, const struct group *group);
void group_index_close(struct group_index *index);
/* MPI_UNDEFINED if the process is no member. */
int group_index_find(const struct group_index *index, int proc);

#endif
