/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.2.3, §6.4 to §6.11: arguments of collectives that do not matter on a process may be anything: null
 * handles, NULL, counts below zero. With a root these are those of the other side of the call; between groups, also all
 * of them at the processes of the root's group that give MPI_PROC_NULL. And the result that rank 0 does not get in an
 * exclusive scan. Each call blocking, not blocking, and persistent, with short and long blocks. */
#include "mpitest.h"

enum { MOST = 40000, RANKS = 16 };

enum role { ROOT, LEAF, BYSTANDER };

static int *in, *out, counts[RANKS], displs[RANKS];

#define THREE(name, other_name, ...) \
    do { \
        MPI_Request req; \
        CHECK_OK(MPI_##name(__VA_ARGS__, comm)); \
        CHECK_OK(MPI_##other_name(__VA_ARGS__, comm, &req)); \
        CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE)); \
        if (!has_persistent) \
            break; \
        CHECK_OK(MPI_##name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &req)); \
        CHECK_OK(MPI_Start(&req)); \
        CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE)); \
        CHECK_OK(MPI_Request_free(&req)); \
    } while (0)

/* `root` as this process gives it; `others`: how many processes the root has to do with. */
static void rooted(MPI_Comm comm, enum role role, int root, int others, int n)
{
    const MPI_Datatype none = MPI_DATATYPE_NULL;
    const int has_persistent = test_is_parley(), is_root = role == ROOT, takes_part = role != BYSTANDER;
    int inter, rank, i;
    /* what the root gives to the others or gets from them; what those have */
    const int root_count = is_root ? n : -1;
    const MPI_Datatype root_type = is_root ? MPI_INT : none;
    int *const root_in = is_root ? in : NULL, *const root_out = is_root ? out : NULL;
    int *const all = is_root ? counts : NULL, *const at = is_root ? displs : NULL;
    int is_leaf, leaf_count, *leaf_in, *leaf_out;
    MPI_Datatype leaf_type;

    CHECK_OK(MPI_Comm_test_inter(comm, &inter));
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    is_leaf = role == LEAF || (is_root && !inter);
    leaf_count = is_leaf ? n : -1;
    leaf_type = is_leaf ? MPI_INT : none;
    leaf_in = is_leaf ? in : NULL;
    leaf_out = is_leaf ? out + MOST * RANKS : NULL;
    for (i = 0; i < others; i++) {
        counts[i] = n;
        displs[i] = n * i;
    }
    for (i = 0; i < n * RANKS; i++)
        in[i] = is_root ? i : 1000 + rank;
    THREE(Bcast, Ibcast, is_root ? in : role == LEAF ? leaf_out : NULL, takes_part ? n : -3,
          takes_part ? MPI_INT : none, root);
    if (role == LEAF)
        CHECK_INT(leaf_out[n - 1], n - 1);
    THREE(Scatter, Iscatter, root_in, root_count, root_type, leaf_out, leaf_count, leaf_type, root);
    if (role == LEAF)
        CHECK_INT(leaf_out[n - 1], n * rank + n - 1);
    THREE(Scatterv, Iscatterv, root_in, all, at, root_type, leaf_out, leaf_count, leaf_type, root);
    if (role == LEAF)
        CHECK_INT(leaf_out[n - 1], n * rank + n - 1);
    THREE(Gather, Igather, leaf_in, leaf_count, leaf_type, root_out, root_count, root_type, root);
    if (is_root && others > 1)
        CHECK_INT(out[n * others - 1], 1000 + others - 1);
    THREE(Gatherv, Igatherv, leaf_in, leaf_count, leaf_type, root_out, all, at, root_type, root);
    if (is_root && others > 1)
        CHECK_INT(out[n * others - 1], 1000 + others - 1);
    THREE(Reduce, Ireduce, leaf_in, root_out, takes_part ? n : -1, takes_part ? MPI_INT : none,
          takes_part ? MPI_MAX : MPI_OP_NULL, root);
    if (is_root && others > 1)
        CHECK_INT(out[0], 1000 + others - 1);
}

static void within(int n)
{
    rooted(MPI_COMM_WORLD, test_rank ? LEAF : ROOT, 0, test_size, n);
}

/* Rank 0 has no result, so its recvbuf does not matter (§6.11.2). */
static void exclusive(int n)
{
    const MPI_Comm comm = MPI_COMM_WORLD;
    const int has_persistent = test_is_parley();
    int i;

    for (i = 0; i < n; i++)
        in[i] = test_rank + 1;
    THREE(Exscan, Iexscan, in, test_rank ? out : NULL, n, MPI_INT, MPI_SUM);
    if (test_rank)
        CHECK_INT(out[n - 1], test_rank * (test_rank + 1) / 2);
}

/* The root is the first of the even ranks. */
static void between(int n)
{
    const int is_odd = test_rank % 2, is_first = test_rank < 2;
    MPI_Comm half, comm;
    int others;

    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, is_odd, test_rank, &half));
    CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !is_odd, 5, &comm));
    CHECK_OK(MPI_Comm_remote_size(comm, &others));
    rooted(comm, is_odd ? LEAF : is_first ? ROOT : BYSTANDER, is_odd ? 0 : is_first ? MPI_ROOT : MPI_PROC_NULL,
           others, n);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Comm_free(&half));
}

int main(int argc, char **argv)
{
    static const int lengths[] = { 1, 700, MOST };
    size_t i;

    test_begin(&argc, &argv);
    in = test_alloc(sizeof *in * MOST * RANKS);
    out = test_alloc(sizeof *out * MOST * (RANKS + 1));
    for (i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        within(lengths[i]);
        exclusive(lengths[i]);
        if (test_size > 1)
            between(lengths[i]);
    }
    free(in);
    free(out);
    return test_end();
}
