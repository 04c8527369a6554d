/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. A group: ranks to processes (MPI 5.0 §7.2.1). Either a stride of process numbers, which takes no
 * memory per member, or a stride of a list, which groups share. Groups do not change after they are made. */
#ifndef OBJ_GROUP_H
#define OBJ_GROUP_H

#include "obj/obj.h"
#include "obj/session.h"

struct session;

struct group {
    struct obj obj;
    int size;
    int rank;            /* of this process; MPI_UNDEFINED if it is no member */
    int first, step;     /* process of rank r is first + r * step, or what the list has there */
    const int *list;     /* behind its count of references; NULL for a stride */
    struct session_ref session; /* it comes from (§11.3) */
};

/* Number of the process with rank `rank`, which is in range. Process numbers are ranks in the job. */
static ALWAYS_INLINE int group_proc(const struct group *group, int rank)
{
    const int at = group->first + rank * group->step;

    return likely(!group->list) ? at : group->list[at];
}

/* A group of `size` processes first, first + step, …; `self` is this process. Error: MPI_ERR_NO_MEM. */
int group_create_stride(int size, int first, int step, int self, struct group **out);
/* A group of the `size` processes in `procs` (copied; stored as a stride if they are one). */
int group_create_list(int size, const int *procs, int self, struct group **out);
/* A group of the `size` members of another one with ranks first, first + step, …, which are in range: a stride if they
 * are one, else the old list is shared, unless it is much longer. */
int group_create_part(const struct group *from, int size, int first, int step, int self, struct group **out);
/* Rank of a process in the group, or MPI_UNDEFINED. Linear for lists. */
int group_rank_of(const struct group *group, int proc);
/* Drop a reference; NULL is fine. */
void group_unref(struct group *group);
/* Predefined MPI_GROUP_EMPTY into the table of handles. */
void group_init(void);

#endif
