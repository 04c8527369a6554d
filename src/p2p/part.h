/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Partitioned communication (MPI 5.0 §4): what the bindings call. Requests are persistent; starting,
 * completing and freeing them goes by obj/req.h. All functions return 0 or an error code, none blocks, and all may be
 * called from several threads when the process runs with MPI_THREAD_MULTIPLE. */
#ifndef P2P_PART_H
#define P2P_PART_H

#include "obj/comm.h"
#include "obj/req.h"
#include "type/type.h"

struct p2p_part {
    const void *buf;      /* partitions lie in it one after another */
    int partitions;       /* 0 or more */
    MPI_Count count;      /* items of a partition */
    struct type *type;
    int rank;             /* of the other side in the remote group, or MPI_PROC_NULL */
    int tag;
};

/* §4.2.1. Local. The request is inactive. Errors: MPI_ERR_NO_MEM; MPI_ERR_COUNT: more bytes than can be counted;
 * MPI_ERR_BUFFER: MPI_BOTTOM, for which the standard has no partitions. That the two sides have as many bytes in mind
 * is found when they meet: every round ends with MPI_ERR_TRUNCATE (receiver, if the sender has more) or
 * MPI_ERR_COUNT then. */
int p2p_psend_init(struct comm *comm, const struct p2p_part *part, struct req **out);
int p2p_precv_init(struct comm *comm, const struct p2p_part *part, struct req **out);

/* Where the data of a request of these lie, if they are not items of a count and a type one after another: one item of
 * `type`, which has as many bytes of data as the partitions together, in their order. Before the first start; keeps a
 * reference. */
void p2p_part_lay_out(struct req *req, void *buf, struct type *type);

/* §4.2.1. Mark partitions of an active send ready; `high` is the last one, and if it is before `low` there is
 * nothing to mark. Errors: MPI_ERR_REQUEST: no partitioned send, or not started; MPI_ERR_ARG: there is no such
 * partition, or it is ready already; then nothing has been marked by the call (by a list: what stood before it). */
int p2p_pready(struct req *req, int low, int high);
int p2p_pready_list(struct req *req, int length, const int *partitions);

/* §4.2.2. Has all of this partition of a receive arrived? True for NULL and for an inactive request. Progresses.
 * Errors: MPI_ERR_REQUEST: no partitioned receive; MPI_ERR_ARG: there is no such partition. */
int p2p_parrived(struct req *req, int partition, int *flag);

#endif
