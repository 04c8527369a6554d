/* SPDX-License-Identifier: BSD-3-Clause */
/* Parley's own: the contexts that a process hands out, of which there are not so many in a large job, are all those of
 * communicators: what it has taken in case it would be the one to give it goes back (docs/mpi_t.md, comm_made). */
#include <stdint.h>

#include "mpitest.h"

enum { ROUNDS = 100, MADE = 64 };

static struct {
    int64_t context[MADE];
    int count;
} made;

static void note(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                 void *data)
{
    (void)registration;
    (void)safety;
    (void)data;
    CHECK(made.count < MADE, "more than %d communicators", MADE);
    CHECK_INT(MPI_T_event_read(instance, 0, &made.context[made.count++]), MPI_SUCCESS);
}

/* The context that this process hands out next is gone, too. */
static int64_t next_context(void)
{
    MPI_Comm comm;

    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CHECK_OK(MPI_Comm_free(&comm));
    return made.context[made.count - 1];
}

static void let_go(MPI_Comm *comm)
{
    if (*comm != MPI_COMM_NULL)
        CHECK_OK(MPI_Comm_free(comm));
}

/* The first `count` of the local group of an intercommunicator. */
static void make_of_first(MPI_Comm inter, int count)
{
    MPI_Group whole, part;
    MPI_Comm comm;

    CHECK_OK(MPI_Comm_group(inter, &whole));
    CHECK_OK(MPI_Group_range_incl(whole, count ? 1 : 0, (int[][3]){ { 0, count - 1, 1 } }, &part));
    CHECK_OK(MPI_Comm_create(inter, part, &comm));
    let_go(&comm);
    CHECK_OK(MPI_Group_free(&whole));
    if (part != MPI_GROUP_EMPTY)
        CHECK_OK(MPI_Group_free(&part));
}

static void split(MPI_Comm comm, int color, int key)
{
    MPI_Comm part;

    CHECK_OK(MPI_Comm_split(comm, color, key, &part));
    let_go(&part);
}

static void within(void)
{
    MPI_Comm comm;
    MPI_Group whole, part;
    MPI_Request request;

    split(MPI_COMM_WORLD, test_rank % 2, 0);
    split(MPI_COMM_WORLD, test_rank % 3 ? MPI_UNDEFINED : 0, -test_rank);
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &whole));
    CHECK_OK(MPI_Group_range_incl(whole, 1, (int[][3]){ { test_size - 1, 0, -2 } }, &part));
    CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, part, &comm));
    let_go(&comm);
    if ((test_size - 1 - test_rank) % 2 == 0) {
        CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, part, 3, &comm));
        let_go(&comm);
    }
    CHECK_OK(MPI_Group_free(&whole));
    CHECK_OK(MPI_Group_free(&part));
    CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    let_go(&comm);
}

static void between(MPI_Comm inter, int is_high)
{
    MPI_Request request;
    MPI_Comm comm;
    int rank, size;

    CHECK_OK(MPI_Comm_rank(inter, &rank));
    CHECK_OK(MPI_Comm_size(inter, &size));
    split(inter, 0, 0);
    split(inter, rank % 2, -rank);
    split(inter, is_high, 0);
    split(inter, rank ? MPI_UNDEFINED : 1, 0);
    make_of_first(inter, 1);
    make_of_first(inter, is_high ? size : 0);
    CHECK_OK(MPI_Comm_dup(inter, &comm));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Comm_idup(inter, &comm, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Comm_split_type(inter, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    let_go(&comm);
    CHECK_OK(MPI_Intercomm_merge(inter, is_high, &comm));
    CHECK_OK(MPI_Comm_free(&comm));
}

/* All that has been made since is what has been handed out. */
static void check_since(int64_t first, const char *what)
{
    const int count = made.count;
    const int64_t last = next_context();
    int used = 0;

    for (int i = 0; i < count; i++)
        used += made.context[i] > first && made.context[i] < last;
    CHECK(used == (last - first) / 2 - 1, "%s: %d communicators by %lld contexts", what, used,
          (long long)((last - first) / 2 - 1));
}

int main(int argc, char **argv)
{
    MPI_T_event_registration registration;
    MPI_Comm half, inter;
    int64_t first;
    int provided, index, is_high;

    test_begin(&argc, &argv);
    if (test_size == 1)
        return test_end();
    CHECK_INT(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
    CHECK_INT(MPI_T_event_get_index("comm_made", &index), MPI_SUCCESS);
    CHECK_INT(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration), MPI_SUCCESS);
    CHECK_INT(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, NULL, note),
              MPI_SUCCESS);
    is_high = test_rank >= (test_size + 1) / 2;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, is_high, 0, &half));
    CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_high ? 0 : (test_size + 1) / 2, 5, &inter));
    for (int i = 0; i < ROUNDS; i++) {
        made.count = 0;
        first = next_context();
        within();
        check_since(first, "one group");
        made.count = 0;
        first = next_context();
        between(inter, is_high);
        check_since(first, "two groups");
    }
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Comm_free(&half));
    CHECK_INT(MPI_T_event_handle_free(registration, NULL, NULL), MPI_SUCCESS);
    CHECK_INT(MPI_T_finalize(), MPI_SUCCESS);
    return test_end();
}
