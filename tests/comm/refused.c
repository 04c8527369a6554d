/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.4, §7.6, §8.5, §11.3: making communicators while one process has no memory. Its first allocation in the
 * call is refused, then its second one, and so on until none is; once that one alone, once all that follow in the
 * call, too. Every process returns, the one without memory with an error that says so or with success, and goes on; who
 * has a communicator that others lack learns of it when it is used; the old one is as good as before. The functions
 * that give memory are this program's.
 *     refused MAKER        each process in turn lacks memory; of processes that know each other
 *     refused MAKER N      the N-th allocation in the first call of the job, and so in first contacts */
#include "mpitest.h"

#include <errno.h>

enum { ENOUGH = 400, ONCE = 0, FROM_THERE_ON = 1 };

static volatile int is_armed, goes_on;
static volatile long left, refused; /* allocations that still succeed; those that did not */

/* The thread sanitizer allocates before it can count calls. */
#if defined(__SANITIZE_THREAD__)
#define UNTRACED __attribute__((no_sanitize("thread")))
#else
#define UNTRACED
#endif

UNTRACED static int refuse(void)
{
    if (!is_armed || left-- > 0 || (left < -1 && !goes_on))
        return 0;
    refused++;
    errno = ENOMEM;
    return 1;
}

#if defined(__SANITIZE_ADDRESS__)
#define SYSTEM(function) __interceptor_##function
#elif defined(__SANITIZE_THREAD__)
#define SYSTEM(function) __interceptor_##function
#else
#define SYSTEM(function) __libc_##function
#endif

void *SYSTEM(malloc)(size_t size);
void *SYSTEM(calloc)(size_t count, size_t size);
void *SYSTEM(realloc)(void *memory, size_t size);
void *SYSTEM(memalign)(size_t align, size_t size);

UNTRACED void *malloc(size_t size)
{
    return refuse() ? NULL : SYSTEM(malloc)(size);
}

UNTRACED void *calloc(size_t count, size_t size)
{
    return refuse() ? NULL : SYSTEM(calloc)(count, size);
}

UNTRACED void *realloc(void *memory, size_t size)
{
    return refuse() ? NULL : SYSTEM(realloc)(memory, size);
}

UNTRACED void *aligned_alloc(size_t align, size_t size)
{
    return refuse() ? NULL : SYSTEM(memalign)(align, size);
}

/* --- what makes communicators --- */

static MPI_Comm world, sides; /* of all; an intercommunicator of odd and even ranks */
static MPI_Session session = MPI_SESSION_NULL;

static int make_dup(MPI_Comm *out)
{
    return MPI_Comm_dup(world, out);
}

static MPI_Info info;

static int make_dup_with_info(MPI_Comm *out)
{
    return MPI_Comm_dup_with_info(world, info, out);
}

static int make_idup(MPI_Comm *out)
{
    MPI_Request request = MPI_REQUEST_NULL;
    const int rc = MPI_Comm_idup(world, out, &request);
    const int waited = MPI_Wait(&request, MPI_STATUS_IGNORE);

    return rc == MPI_SUCCESS ? waited : rc;
}

static int make_split(MPI_Comm *out)
{
    return MPI_Comm_split(world, 0, test_size - test_rank, out);
}

static int make_halves(MPI_Comm *out)
{
    return MPI_Comm_split(world, test_rank % 2, (test_rank * 5) % 3, out);
}

static int make_split_type(MPI_Comm *out)
{
    return MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, out);
}

static int make_unguided(MPI_Comm *out)
{
    return MPI_Comm_split_type(world, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, out);
}

/* Ranks in an order that is no stride. */
static int odd_group(MPI_Group *group)
{
    MPI_Group all;
    int ranks[64];
    int rc = MPI_Comm_group(world, &all);

    if (rc != MPI_SUCCESS)
        return rc;
    for (int i = 0; i < test_size; i++)
        ranks[i] = i ^ (i + 1 < test_size || i % 2 ? 1 : 0);
    rc = MPI_Group_incl(all, test_size, ranks, group);
    MPI_Group_free(&all);
    return rc;
}

static MPI_Group group;

static int make_create(MPI_Comm *out)
{
    return MPI_Comm_create(world, group, out);
}

static int make_create_group(MPI_Comm *out)
{
    return MPI_Comm_create_group(world, group, 7, out);
}

static int make_from_group(MPI_Comm *out)
{
    return MPI_Comm_create_from_group(group, "refused", MPI_INFO_NULL, MPI_ERRORS_RETURN, out);
}

static MPI_Group of_session;

static int make_session(MPI_Comm *out)
{
    return MPI_Comm_create_from_group(of_session, "refused", MPI_INFO_NULL, MPI_ERRORS_RETURN, out);
}

static MPI_Comm half;

static int make_inter(MPI_Comm *out)
{
    return MPI_Intercomm_create(half, 0, world, !(test_rank % 2), 3, out);
}

static int make_inter_dup(MPI_Comm *out)
{
    return MPI_Comm_dup(sides, out);
}

static int make_inter_idup(MPI_Comm *out)
{
    MPI_Request request = MPI_REQUEST_NULL;
    const int rc = MPI_Comm_idup(sides, out, &request);
    const int waited = MPI_Wait(&request, MPI_STATUS_IGNORE);

    return rc == MPI_SUCCESS ? waited : rc;
}

static int make_inter_split(MPI_Comm *out)
{
    return MPI_Comm_split(sides, 1, test_size - test_rank, out);
}

static int make_inter_create(MPI_Comm *out)
{
    MPI_Group local;
    int rc = MPI_Comm_group(half, &local);

    if (rc == MPI_SUCCESS) {
        rc = MPI_Comm_create(sides, local, out);
        MPI_Group_free(&local);
    }
    return rc;
}

static int make_merge(MPI_Comm *out)
{
    return MPI_Intercomm_merge(sides, test_rank % 2, out);
}

static MPI_Group evens, odds;

static int make_from_groups(MPI_Comm *out)
{
    return MPI_Intercomm_create_from_groups(test_rank % 2 ? odds : evens, 0, test_rank % 2 ? evens : odds, 0, "refused",
                                            MPI_INFO_NULL, MPI_ERRORS_RETURN, out);
}

static int make_cart(MPI_Comm *out)
{
    return MPI_Cart_create(world, 1, &test_size, (int[]){ 1 }, 1, out);
}

static MPI_Comm grid;

static int make_cart_sub(MPI_Comm *out)
{
    return MPI_Cart_sub(grid, (int[]){ 1 }, out);
}

static int make_graph(MPI_Comm *out)
{
    int index[64], edges[64];

    for (int i = 0; i < test_size; i++) {
        index[i] = i + 1;
        edges[i] = (i + 1) % test_size;
    }
    return MPI_Graph_create(world, test_size, index, edges, 1, out);
}

static int make_adjacent(MPI_Comm *out)
{
    const int left_one = (test_rank + test_size - 1) % test_size, right = (test_rank + 1) % test_size;

    return MPI_Dist_graph_create_adjacent(world, 1, &left_one, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                          1, out);
}

static int make_dist_graph(MPI_Comm *out)
{
    const int right = (test_rank + 1) % test_size;

    return MPI_Dist_graph_create(world, 1, &test_rank, (int[]){ 1 }, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, out);
}

static const struct maker {
    const char *name;
    int (*make)(MPI_Comm *out);
    int needs_two;
} makers[] = {
    { "dup", make_dup, 0 }, { "dup_with_info", make_dup_with_info, 0 }, { "idup", make_idup, 0 },
    { "split", make_split, 0 }, { "halves", make_halves, 0 }, { "split_type", make_split_type, 0 },
    { "unguided", make_unguided, 0 },
    { "create", make_create, 0 }, { "create_group", make_create_group, 0 }, { "from_group", make_from_group, 0 },
    { "session", make_session, 0 }, { "inter", make_inter, 1 }, { "inter_dup", make_inter_dup, 1 },
    { "inter_idup", make_inter_idup, 1 }, { "inter_split", make_inter_split, 1 },
    { "inter_create", make_inter_create, 1 }, { "merge", make_merge, 1 }, { "from_groups", make_from_groups, 1 },
    { "cart", make_cart, 0 }, { "cart_sub", make_cart_sub, 0 }, { "graph", make_graph, 0 },
    { "adjacent", make_adjacent, 0 }, { "dist_graph", make_dist_graph, 0 },
};

/* --- what must hold --- */

/* An error, if not all have it: at the latest soon after all of its members are to come to a call. */
static void check_use(MPI_Comm comm, int whole)
{
    int sum = 0, rc = MPI_SUCCESS;

    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    for (int i = 0; rc == MPI_SUCCESS && i < (whole ? 1 : 1000); i++)
        rc = MPI_Allreduce(&(int){ 1 }, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (whole)
        CHECK_OK(rc);
    else
        CHECK(rc != MPI_SUCCESS, "an error, since not all have it; got none");
    rc = MPI_Barrier(comm);
    CHECK(whole == (rc == MPI_SUCCESS), "barrier of %s communicator returned %d", whole ? "a whole" : "no whole", rc);
}

static void check_world(void)
{
    MPI_Comm copy;

    CHECK_OK(MPI_Barrier(world));
    CHECK_OK(MPI_Comm_dup(world, &copy));
    check_use(copy, 1);
    CHECK_OK(MPI_Comm_free(&copy));
}

/* Has one of the group failed? */
static int has_failed(MPI_Group members, const int *failed)
{
    MPI_Group all;
    int size, found = 0;

    CHECK_OK(MPI_Group_size(members, &size));
    CHECK_OK(MPI_Comm_group(world, &all));
    for (int rank = 0; rank < size; rank++) {
        int there;

        CHECK_OK(MPI_Group_translate_ranks(members, 1, &rank, all, &there));
        found |= failed[there];
    }
    CHECK_OK(MPI_Group_free(&all));
    CHECK_OK(MPI_Group_free(&members));
    return found;
}

/* Do all members have it? */
static int is_whole(MPI_Comm comm, const int *failed)
{
    MPI_Group members;
    int is_inter, found;

    CHECK_OK(MPI_Comm_test_inter(comm, &is_inter));
    CHECK_OK(MPI_Comm_group(comm, &members));
    found = has_failed(members, failed);
    if (is_inter) {
        CHECK_OK(MPI_Comm_remote_group(comm, &members));
        found |= has_failed(members, failed);
    }
    return !found;
}

static int try(const struct maker *maker, int who, long count, int mode)
{
    MPI_Comm comm = MPI_COMM_NULL;
    char text[MPI_MAX_ERROR_STRING] = "";
    int failed[64], rc, len, any = 0, has_refused, is_failed;

    refused = 0;
    left = count;
    goes_on = mode;
    is_armed = test_rank == who;
    rc = maker->make(&comm);
    is_armed = 0;
    has_refused = refused > 0;
    if (rc != MPI_SUCCESS)
        MPI_Error_string(rc, text, &len);
    if (getenv("TEST_TELL"))
        fprintf(stderr, "%s %d: who %d count %ld mode %d: %d %s\n", maker->name, test_rank, who, count, mode, rc, text);
    if (rc != MPI_SUCCESS) {
        CHECK(test_class(rc) == MPI_ERR_NO_MEM, "expected an error for want of memory, got %s", text);
        CHECK(comm == MPI_COMM_NULL || maker->make == make_idup || maker->make == make_inter_idup, "no communicator");
        CHECK(strstr(text, test_rank == who ? "memory" : "failed"), "expected a text that tells why, got %s", text);
        comm = MPI_COMM_NULL;
    }
    is_failed = rc != MPI_SUCCESS;
    CHECK_OK(MPI_Allgather(&is_failed, 1, MPI_INT, failed, 1, MPI_INT, world));
    if (comm != MPI_COMM_NULL) {
        check_use(comm, is_whole(comm, failed));
        CHECK_OK(MPI_Comm_free(&comm));
    }
    check_world();
    CHECK_OK(MPI_Allreduce(&has_refused, &any, 1, MPI_INT, MPI_SUM, world));
    return any;
}

static void prepare(void)
{
    MPI_Group all;
    int n = 0, ranks[64];

    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    CHECK_OK(odd_group(&group));
    CHECK_OK(MPI_Comm_split(world, test_rank % 2, 0, &half));
    CHECK_OK(MPI_Cart_create(world, 1, &test_size, (int[]){ 0 }, 0, &grid));
    if (test_size > 1)
        CHECK_OK(MPI_Intercomm_create(half, 0, world, !(test_rank % 2), 3, &sides));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &of_session));
    CHECK_OK(MPI_Comm_group(world, &all));
    for (int i = 0; i < test_size; i += 2)
        ranks[n++] = i;
    CHECK_OK(MPI_Group_incl(all, n, ranks, &evens));
    CHECK_OK(MPI_Group_excl(all, n, ranks, &odds));
    CHECK_OK(MPI_Group_free(&all));
}

static void tidy(void)
{
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_free(&evens));
    if (odds != MPI_GROUP_EMPTY)
        CHECK_OK(MPI_Group_free(&odds));
    CHECK_OK(MPI_Group_free(&of_session));
    CHECK_OK(MPI_Session_finalize(&session));
    if (test_size > 1)
        CHECK_OK(MPI_Comm_free(&sides));
    CHECK_OK(MPI_Comm_free(&grid));
    CHECK_OK(MPI_Comm_free(&half));
    CHECK_OK(MPI_Comm_free(&world));
}

static void try_all(const struct maker *maker)
{
    const int last = getenv("PARLEY_NET") ? ONCE : FROM_THERE_ON; /* the transport for tests needs memory to receive */

    for (int who = 0; who < test_size; who++) {
        for (int mode = ONCE; mode <= last; mode++) {
            long count = 0;

            while (try(maker, who, count, mode) && count < ENOUGH)
                count++;
            CHECK(count < ENOUGH, "an end of the allocations in a call");
        }
    }
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "all";
    int known = 0;

    test_begin(&argc, &argv);
    if (!test_is_parley())
        test_skip("memory must be refused in this library");
    if (argc > 2) { /* nobody has met anybody */
        world = MPI_COMM_WORLD;
        CHECK_OK(odd_group(&group));
        for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
            if (!strcmp(name, makers[i].name))
                try(&makers[i], argc > 3 ? atoi(argv[3]) : 0, atol(argv[2]) - 1, ONCE);
        return test_end();
    }
    prepare();
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        if (strcmp(name, "all") && strcmp(name, makers[i].name))
            continue;
        known++;
        if (!makers[i].needs_two || test_size > 1)
            try_all(&makers[i]);
    }
    CHECK(known > 0, "a maker, got %s", name);
    tidy();
    return test_end();
}
