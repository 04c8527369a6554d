/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of every flavor with the same contents: `size` bytes for each rank, of which the tests know the place. Where
 * memory cannot be shared, because the ranks are on several machines, it is allocated. */
#ifndef TESTS_RMA_FLAVORS_H
#define TESTS_RMA_FLAVORS_H

#include "machines.h"

enum flavor { CREATE, ALLOCATE, SHARED, SHARED_APART, DYNAMIC, FLAVORS };

struct window {
    enum flavor flavor;
    MPI_Win win;
    MPI_Comm comm;
    unsigned char *mem; /* of this rank */
    size_t size;        /* of each rank's memory */
    int rank, ranks;
    int is_spread; /* over several machines */
    MPI_Aint *at; /* dynamic: where the memory of each rank begins */
};

static const char *const flavor_names[] = { "create", "allocate", "shared", "shared, apart", "dynamic" };

static inline void window_open(struct window *w, enum flavor flavor, size_t size, MPI_Comm comm)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_Aint own;

    memset(w, 0, sizeof *w);
    w->is_spread = !can_share(comm);
    if ((flavor == SHARED || flavor == SHARED_APART) && w->is_spread)
        flavor = ALLOCATE;
    w->flavor = flavor;
    w->size = size;
    w->comm = comm;
    MPI_Comm_rank(comm, &w->rank);
    MPI_Comm_size(comm, &w->ranks);
    w->at = calloc((size_t)w->ranks, sizeof *w->at);
    if (flavor == CREATE || flavor == DYNAMIC)
        w->mem = test_alloc(size);
    if (flavor == CREATE)
        CHECK_OK(MPI_Win_create(w->mem, (MPI_Aint)size, 1, MPI_INFO_NULL, comm, &w->win));
    if (flavor == ALLOCATE)
        CHECK_OK(MPI_Win_allocate((MPI_Aint)size, 1, MPI_INFO_NULL, comm, &w->mem, &w->win));
    if (flavor == SHARED_APART) {
        CHECK_OK(MPI_Info_create(&info));
        CHECK_OK(MPI_Info_set(info, "alloc_shared_noncontig", "true"));
    }
    if (flavor == SHARED || flavor == SHARED_APART)
        CHECK_OK(MPI_Win_allocate_shared((MPI_Aint)size, 1, info, comm, &w->mem, &w->win));
    if (info != MPI_INFO_NULL)
        CHECK_OK(MPI_Info_free(&info));
    if (flavor == DYNAMIC) {
        CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &w->win));
        CHECK_OK(MPI_Win_attach(w->win, w->mem, (MPI_Aint)size));
        CHECK_OK(MPI_Get_address(w->mem, &own));
        CHECK_OK(MPI_Allgather(&own, 1, MPI_AINT, w->at, 1, MPI_AINT, comm));
    }
    CHECK_OK(MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN));
    memset(w->mem, TEST_CANARY, size);
    CHECK_OK(MPI_Barrier(comm));
}

static inline void window_close(struct window *w)
{
    if (w->flavor == DYNAMIC)
        CHECK_OK(MPI_Win_detach(w->win, w->mem));
    CHECK_OK(MPI_Win_free(&w->win));
    CHECK(w->win == MPI_WIN_NULL, "MPI_Win_free leaves the handle as it was");
    if (w->flavor == CREATE || w->flavor == DYNAMIC)
        free(w->mem);
    free(w->at);
}

/* The last rank where it is known at once whether a place is in the window. */
static inline int window_last(const struct window *w)
{
    return w->flavor == DYNAMIC && w->is_spread ? w->rank : w->ranks - 1;
}

/* The displacement of byte `offset` at a rank. */
static inline MPI_Aint window_disp(const struct window *w, int rank, size_t offset)
{
    return w->at[rank] + (MPI_Aint)offset;
}

/* Of a rank's two integers, at 0 and 64, which are changed together: they are equal for who has a lock. */
static inline void window_read_both(const struct window *w, int rank)
{
    int first = -1, second = -2;

    CHECK_OK(MPI_Get(&first, 1, MPI_INT, rank, window_disp(w, rank, 0), 1, MPI_INT, w->win));
    CHECK_OK(MPI_Get(&second, 1, MPI_INT, rank, window_disp(w, rank, 64), 1, MPI_INT, w->win));
    CHECK_OK(MPI_Win_flush(rank, w->win));
    CHECK_INT(second, first);
}

#endif
