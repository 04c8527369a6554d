/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. One-sided communication (MPI 5.0 §12), caching on windows (§7.7.3) and their names (§7.8).
 *
 * Handles, counts, displacements and buffers are checked by the caller; ranks, epochs and ranges here. Every function
 * returns 0 or an error code. Errors of all that name a rank: MPI_ERR_RANK. Several threads may call at once, but what
 * opens and closes epochs of one window comes one after the other, as §12 asks. */
#ifndef RMA_RMA_H
#define RMA_RMA_H

#include <mpi.h>

#include "progress/progress.h"
#include "rma/window.h"

struct blocked;
struct info;
struct job_head;
struct op;
struct req;

struct rma_config {
    struct job_head *segment; /* its head, mapped; NULL: there is none, and one process */
    int segment_fd;           /* of the whole of it */
    size_t offset;            /* behind all else that lies in it */
    int proc, procs;          /* this one, and all of the job */
};

void rma_init(const struct rma_config *config);
void rma_fini(void);
/* From now on several threads of the program may call at once; until then they are the library's, if there are any. */
void rma_expect_threads(void);

/* What a long wait waits for. False: nothing of this room. */
bool rma_describe_wait(const struct progress_long *wait, struct blocked *out) COLD;

/* --- windows. What makes one is collective over `comm`, an intracommunicator, and blocks. `info` may be NULL. Errors:
 * MPI_ERR_NO_MEM, MPI_ERR_INFO_VALUE for an alignment that is none; when one process gets one, all others do. --- */

/* §12.2.1 */
int win_create(void *base, MPI_Aint size, MPI_Aint disp_unit, struct info *info, struct comm *comm,
               struct win **out);
/* §12.2.2, §12.2.3; *(void **)base_out is where this process's memory lies. Shared memory that cannot be had is
 * MPI_ERR_NO_MEM; without it MPI_Win_allocate takes memory of the process. */
int win_allocate(MPI_Aint size, MPI_Aint disp_unit, struct info *info, struct comm *comm, void *base_out,
                 struct win **out);
int win_allocate_shared(MPI_Aint size, MPI_Aint disp_unit, struct info *info, struct comm *comm,
                        void *base_out, struct win **out);
/* §12.2.4 */
int win_create_dynamic(struct info *info, struct comm *comm, struct win **out);

/* §12.2.3: size 0 and a null pointer where the memory is not mapped here. Errors: MPI_ERR_RMA_FLAVOR for a dynamic
 * window. */
int win_shared_query(const struct win *win, int rank, MPI_Count *size, MPI_Count *disp_unit, void *base_out);

/* §12.2.4: local. Errors: MPI_ERR_RMA_FLAVOR if the window is not dynamic, MPI_ERR_RMA_ATTACH for memory that
 * overlaps or was not attached, MPI_ERR_BASE for a null pointer, MPI_ERR_NO_MEM. */
int win_attach(struct win *win, void *base, MPI_Aint size);
int win_detach(struct win *win, const void *base);

/* §12.2.5: collective, waits for all. Errors: MPI_ERR_RMA_SYNC within an epoch, that of a delete callback; the window
 * stays. */
int win_free(struct win *win);

/* §12.2.6: with a reference for the caller. */
struct group *win_group(struct win *win);
/* §7.7.3, §12.2.6: as comm_get_attr. */
int win_get_attr(const struct win *win, int keyval, void *value, int *flag);
/* §12.2.7 */
void win_set_info(struct win *win, struct info *info);
int win_get_info(const struct win *win, struct info **out);
/* §7.8: as comm_set_name. */
void win_set_name(struct win *win, const char *name);
void win_get_name(const struct win *win, char *name, int *len);

/* --- §12.3: data. Complete at the end of the epoch or after a flush; those with a request when that is complete, at
 * the origin. Errors: as win_reach and win_check_sides. --- */

#define WIN_DATA(buf, count, type)       (&(struct win_data){ (void *)(uintptr_t)(buf), count, type })
#define WIN_AIM(rank, disp, count, type) (&(struct win_aim){ rank, disp, count, type })

int win_put(struct win *win, const struct win_data *from, const struct win_aim *to);
int win_get(struct win *win, const struct win_data *to, const struct win_aim *from);
int win_rput(struct win *win, const struct win_data *from, const struct win_aim *to, struct req **request);
int win_rget(struct win *win, const struct win_data *to, const struct win_aim *from, struct req **request);

/* --- §12.3.4: the same, combined with what is there, each element by itself as one operation. `op` is predefined. With
 * MPI_NO_OP the origin's side is not looked at. Errors besides: MPI_ERR_OP, MPI_ERR_TYPE for types that are not made of
 * one and the same predefined one. --- */

int win_accumulate(struct win *win, const struct win_data *from, const struct win_aim *to, const struct op *op);
int win_get_accumulate(struct win *win, const struct win_data *from, const struct win_data *result,
                       const struct win_aim *to, const struct op *op);
int win_raccumulate(struct win *win, const struct win_data *from, const struct win_aim *to, const struct op *op,
                    struct req **request);
int win_rget_accumulate(struct win *win, const struct win_data *from, const struct win_data *result,
                        const struct win_aim *to, const struct op *op, struct req **request);
/* One element, of to->type, which must be predefined. */
int win_fetch_and_op(struct win *win, const void *from, void *result, const struct win_aim *to, const struct op *op);
int win_compare_and_swap(struct win *win, const void *from, const void *compare, void *result,
                         const struct win_aim *to);

/* --- §12.5: synchronization. Errors of all: MPI_ERR_RMA_SYNC if the call does not go with the epoch, MPI_ERR_ASSERT
 * for an assertion that is none. --- */

/* Collective; blocks. */
int win_fence(struct win *win, int assertion);

/* Blocks until all of the group have posted. Errors of this and of post: MPI_ERR_GROUP for who is not in the
 * window. */
int win_start(struct win *win, struct group *group, int assertion);
int win_complete(struct win *win);
/* Local. */
int win_post(struct win *win, struct group *group, int assertion);
/* Blocks until all of the group have completed. */
int win_wait(struct win *win);
int win_test(struct win *win, int *flag);

/* Blocks until the lock is ours. Error: MPI_ERR_LOCKTYPE. */
int win_lock(struct win *win, int type, int rank, int assertion);
int win_unlock(struct win *win, int rank);
int win_lock_all(struct win *win, int assertion);
int win_unlock_all(struct win *win);

/* §12.5.4. `is_local`: at the origin only. */
int win_flush(struct win *win, int rank, bool is_local);
int win_flush_all(struct win *win, bool is_local);
int win_sync(struct win *win);

#endif
