/* SPDX-License-Identifier: BSD-3-Clause */
/* What needs no messages: contexts, the order of a split, calculations with groups against brute force,
 * names, attributes. */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "coll/coll.h"
#include "comm/int_comm.h"
#include "obj/errhandler.h"
#include "p2p/lane.h"
#include "p2p/p2p.h"
#include "p2p/parcel.h"

enum { PROCS = 12, RANDOM_GROUPS = 2000, THREADS = 4, TAKES = 1000 };

static uint64_t state = 20260;

static int below(int n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((state >> 33) % (uint64_t)n);
}

/* --- order of a split --- */

static void test_split_order(void)
{
    const struct split_entry entries[] = {
        { .color = 1, .key = 5 }, { .color = 0 }, { .color = 1, .key = -3 }, { .color = MPI_UNDEFINED },
        { .color = 1, .key = 5 }, { .color = 0, .key = -1 }, { .color = 1, .key = INT32_MIN },
    };
    struct split_member m[ARRAY_LEN(entries)];
    const int size = ARRAY_LEN(entries);

    CHECK_INT(comm_split_order(entries, size, 1, m), 4);
    CHECK(m[0].rank == 6 && m[1].rank == 2 && m[2].rank == 0 && m[3].rank == 4);
    CHECK_INT(comm_split_order(entries, size, 0, m), 2);
    CHECK(m[0].rank == 5 && m[1].rank == 1);
    CHECK_INT(comm_split_order(entries, size, 9, m), 0);
}

/* --- contexts --- */

static void *take_many(void *arg)
{
    uint32_t *taken = arg;

    for (int i = 0; i < TAKES; i++)
        CHECK_INT(comm_ctx_take(&taken[i]), 0);
    return NULL;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;

    return (p > q) - (p < q);
}

static void test_ctx(void)
{
    static uint32_t taken[THREADS * TAKES];
    pthread_t threads[THREADS];
    uint32_t first, second, third;

    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, take_many, taken + i * TAKES), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    qsort(taken, ARRAY_LEN(taken), sizeof *taken, by_number);
    for (size_t i = 0; i < ARRAY_LEN(taken); i++)
        CHECK(taken[i] % 2 == 0 && taken[i] > 2 && (i == 0 || taken[i] != taken[i - 1]));

    CHECK_INT(comm_ctx_take(&first), 0);
    comm_ctx_return(first);
    CHECK_INT(comm_ctx_take(&second), 0);
    CHECK_INT(second, first);
    CHECK_INT(comm_ctx_take(&third), 0);
    comm_ctx_return(second); /* not the last one: for later */
    CHECK_INT(comm_ctx_take(&first), 0);
    CHECK(first > third);

    comm_ctx_limit(1);
    CHECK_INT(comm_ctx_take(&first), 0);
    CHECK(first > third);
    comm_ctx_return(third);
    CHECK_INT(comm_ctx_take(&second), 0);
    CHECK_INT(second, third);
    CHECK_INT(err_class(comm_ctx_take(&second)), MPI_ERR_OTHER);
    CHECK_INT(second, 0);
    CHECK_INT(err_class(comm_ctx_missing()), MPI_ERR_OTHER);
}

/* --- groups --- */

/* A group as an array, to compare with. */
struct model {
    int size;
    int procs[2 * PROCS];
};

static struct model random_model(void)
{
    struct model m = { 0 };
    bool used[PROCS] = { false };

    for (int tries = below(PROCS + 1); tries > 0; tries--) {
        const int proc = below(PROCS);
        if (!used[proc])
            m.procs[m.size++] = proc;
        used[proc] = true;
    }
    return m;
}

static int model_rank(const struct model *m, int proc)
{
    for (int rank = 0; rank < m->size; rank++) {
        if (m->procs[rank] == proc)
            return rank;
    }
    return MPI_UNDEFINED;
}

static struct group *group_of(const struct model *m)
{
    struct group *group;

    CHECK_INT(comm_group_make(m->size, m->procs, &group), 0);
    return group;
}

/* Drops the group. */
static void check_group(struct group *group, const struct model *m)
{
    CHECK_INT(group->size, m->size);
    for (int rank = 0; rank < m->size; rank++)
        CHECK_INT(group_proc(group, rank), m->procs[rank]);
    CHECK_INT(group->rank, model_rank(m, comm_world.proc));
    CHECK((m->size == 0) == (obj_handle(&group->obj) == (uintptr_t)MPI_GROUP_EMPTY));
    group_unref(group);
}

static void test_algebra(const struct model *a, const struct model *b, struct group *ga, struct group *gb)
{
    struct model both = { 0 }, only = { 0 }, all = *a;
    struct group *group;

    for (int i = 0; i < a->size; i++) {
        if (model_rank(b, a->procs[i]) != MPI_UNDEFINED)
            both.procs[both.size++] = a->procs[i];
        else
            only.procs[only.size++] = a->procs[i];
    }
    for (int i = 0; i < b->size; i++) {
        if (model_rank(a, b->procs[i]) == MPI_UNDEFINED)
            all.procs[all.size++] = b->procs[i];
    }
    CHECK_INT(comm_group_union(ga, gb, &group), 0);
    check_group(group, &all);
    CHECK_INT(comm_group_intersection(ga, gb, &group), 0);
    check_group(group, &both);
    CHECK_INT(comm_group_difference(ga, gb, &group), 0);
    check_group(group, &only);
}

static void test_queries(const struct model *a, const struct model *b, struct group *ga, struct group *gb)
{
    int ranks[PROCS + 1], out[PROCS + 1], result, expected = a->size == b->size ? MPI_IDENT : MPI_UNEQUAL;

    for (int i = 0; i < a->size; i++) {
        ranks[i] = i;
        if (model_rank(b, a->procs[i]) == MPI_UNDEFINED)
            expected = MPI_UNEQUAL;
        else if (expected == MPI_IDENT && b->procs[i] != a->procs[i])
            expected = MPI_SIMILAR;
    }
    ranks[a->size] = MPI_PROC_NULL;
    CHECK_INT(comm_group_compare(ga, gb, &result), 0);
    CHECK_INT(result, expected);
    CHECK_INT(comm_group_translate(ga, a->size + 1, ranks, gb, out), 0);
    for (int i = 0; i < a->size; i++)
        CHECK_INT(out[i], model_rank(b, a->procs[i]));
    CHECK_INT(out[a->size], MPI_PROC_NULL);
    ranks[0] = a->size;
    CHECK_INT(err_class(comm_group_translate(ga, 1, ranks, gb, out)), MPI_ERR_RANK);
}

static void test_random_groups(void)
{
    for (int i = 0; i < RANDOM_GROUPS; i++) {
        const struct model a = random_model(), b = below(8) ? random_model() : a;
        struct group *ga = group_of(&a), *gb = group_of(&b);

        test_algebra(&a, &b, ga, gb);
        test_queries(&a, &b, ga, gb);
        group_unref(ga);
        group_unref(gb);
    }
}

/* Ranks of a group of 8 that are the processes 3, 4, ... */
static void check_ranks(struct group *group, int n, const int *ranks)
{
    struct model m = { .size = n };

    for (int i = 0; i < n; i++)
        m.procs[i] = ranks[i] + 3;
    check_group(group, &m);
}

static void test_picking(void)
{
    const int some[] = { 6, 1, 3 }, twice[] = { 1, 2, 1 }, outside[] = { 8 }, negative[] = { -1 };
    const int ranges[][3] = { { 7, 5, -2 }, { 0, 3, 3 } }, endless[][3] = { { 0, 3, 0 } },
              away[][3] = { { 3, 0, 1 } };
    const int long_step[][3] = { { 0, 7, INT32_MAX } }, over[][3] = { { 6, 9, 1 } },
              again[][3] = { { 1, 2, 1 }, { 2, 3, 1 } };
    struct group *group, *out;

    CHECK_INT(group_create_stride(8, 3, 1, comm_world.proc, &group), 0);
    CHECK_INT(comm_group_incl(group, 3, some, &out), 0);
    check_ranks(out, 3, some);
    CHECK_INT(comm_group_incl(group, 0, NULL, &out), 0);
    check_ranks(out, 0, NULL);
    CHECK_INT(comm_group_excl(group, 3, some, &out), 0);
    check_ranks(out, 5, (int[]){ 0, 2, 4, 5, 7 });
    CHECK_INT(comm_group_range_incl(group, 2, ranges, &out), 0);
    check_ranks(out, 4, (int[]){ 7, 5, 0, 3 });
    CHECK_INT(comm_group_range_excl(group, 2, ranges, &out), 0);
    check_ranks(out, 4, (int[]){ 1, 2, 4, 6 });
    CHECK_INT(comm_group_range_incl(group, 1, long_step, &out), 0);
    check_ranks(out, 1, (int[]){ 0 });
    CHECK_INT(err_class(comm_group_incl(group, 3, twice, &out)), MPI_ERR_RANK);
    CHECK_INT(err_class(comm_group_excl(group, 1, outside, &out)), MPI_ERR_RANK);
    CHECK_INT(err_class(comm_group_incl(group, 1, negative, &out)), MPI_ERR_RANK);
    CHECK_INT(err_class(comm_group_range_incl(group, 1, endless, &out)), MPI_ERR_ARG);
    CHECK_INT(err_class(comm_group_range_excl(group, 1, away, &out)), MPI_ERR_ARG);
    CHECK_INT(err_class(comm_group_range_incl(group, 1, over, &out)), MPI_ERR_RANK);
    CHECK_INT(err_class(comm_group_range_incl(group, 2, again, &out)), MPI_ERR_RANK);
    group_unref(group);
}

/* However early memory runs out, the call says so and leaves nothing behind. */
static void test_no_memory(void)
{
    const struct model a = { 4, { 5, 1, 2, 9 } }, b = { 4, { 7, 2, 1, 0 } };
    struct group *ga = group_of(&a), *gb = group_of(&b), *out;
    int result, n, rc = 1;

    for (n = 0; rc; n++) {
        const long live = mem_live();
        mem_fail_after(n);
        rc = comm_group_union(ga, gb, &out);
        mem_fail_after(-1);
        CHECK(rc == 0 || (err_class(rc) == MPI_ERR_NO_MEM && mem_live() == live));
    }
    CHECK(n > 2);
    group_unref(out);
    for (n = 0; n < 2; n++) {
        mem_fail_after(n);
        rc = comm_group_incl(ga, 1, (int[]){ 0 }, &out);
        mem_fail_after(-1);
        CHECK_INT(err_class(rc), MPI_ERR_NO_MEM);
    }
    mem_fail_after(0);
    CHECK_INT(comm_group_compare(ga, gb, &result), 0); /* by looking through them */
    CHECK_INT(result, MPI_UNEQUAL);
    mem_fail_after(-1);
    group_unref(ga);
    group_unref(gb);
}

/* A stride of a stride takes no memory but for the object, in the making, too. */
static void test_large_groups(void)
{
    const int ranges[][3] = { { 0, 999999, 2 }, { 499999, 1, -3 }, { 7, 7, INT32_MIN }, { 0, 999999, 1 } };
    const int sizes[] = { 500000, 166667, 1, 1000000 }, last[] = { 999998, 2, 7, 999999 };
    struct group *group, *part, *half;

    CHECK_INT(group_create_stride(1000000, 0, 1, 3, &group), 0);
    for (unsigned i = 0; i < ARRAY_LEN(ranges); i++) {
        mem_fail_after(0);
        CHECK_INT(comm_group_range_incl(group, 1, &ranges[i], &part), 0);
        mem_fail_after(-1);
        CHECK(part->size == sizes[i] && !part->list);
        CHECK_INT(group_proc(part, 0), ranges[i][0]);
        if (i != 1)
            CHECK_INT(group_proc(part, part->size - 1), last[i]);
        group_unref(part);
    }
    CHECK_INT(comm_group_range_incl(group, 1, &ranges[0], &half), 0);
    CHECK_INT(comm_group_range_incl(half, 1, &ranges[1], &part), 0);
    CHECK(!part->list && part->size == 166667 && group_proc(part, 1) == 2 * (499999 - 3));
    group_unref(part);
    /* other ways to the same end, in some milliseconds each */
    CHECK_INT(comm_group_difference(group, half, &part), 0);
    CHECK(!part->list && part->size == 500000 && group_proc(part, 499999) == 999999);
    group_unref(part);
    CHECK_INT(err_class(comm_group_range_incl(half, 1, &ranges[3], &part)), MPI_ERR_RANK);
    group_unref(half);
    group_unref(group);
}

enum { MILLION = 1000000 };

/* Ranks and processes of a group that is no stride: 0, 999999, 1, 999998 … */
static int zigzag(int rank)
{
    return rank % 2 ? MILLION - 1 - rank / 2 : rank / 2;
}

/* A range of a list takes no memory but for the object; short ones do not keep the list. */
static void test_list_parts(const struct group *list)
{
    static const int ranges[][3] = {
        { 0, 999999, 3 }, { 999999, 0, -1 }, { 0, 999998, 2 }, { 5, 5, 1 }, { 4, 900, 7 },
    };
    struct group *part, *again;

    for (unsigned i = 0; i < ARRAY_LEN(ranges); i++) {
        const long live = mem_live();

        mem_fail_after(i < 4 ? 0 : -1);
        CHECK_INT(comm_group_range_incl(list, 1, &ranges[i], &part), 0);
        mem_fail_after(-1);
        CHECK_INT(mem_live() - live, i == 4);
        CHECK((part->list == list->list) == (i < 2));
        for (int rank = 0; rank < part->size; rank++)
            CHECK(group_proc(part, rank) == zigzag(ranges[i][0] + rank * ranges[i][2]));
        CHECK_INT(part->rank == MPI_UNDEFINED, group_rank_of(part, comm_world.proc) == MPI_UNDEFINED);
        CHECK_INT(comm_group_range_incl(part, 1, &(const int[3]){ part->size - 1, 0, -1 }, &again), 0);
        CHECK_INT(group_proc(again, 0), group_proc(part, part->size - 1));
        CHECK_INT(group_rank_of(again, group_proc(part, 0)), again->size - 1);
        group_unref(part);
        group_unref(again);
    }
}

static void check_result(int rc, struct group *const *made, int size, int first, int last)
{
    struct group *group = *made;

    CHECK_INT(rc, 0);
    CHECK_INT(group->size, size);
    CHECK_INT(group_proc(group, 0), first);
    CHECK_INT(group_proc(group, size - 1), last);
    group_unref(group);
}

/* All set operations on a million processes, in some milliseconds each. */
static void test_million(void)
{
    static int procs[MILLION], odd_ranks[MILLION / 2], found[MILLION];
    const int ends[][3] = { { 0, 9, 1 }, { 999990, 999999, 1 } };
    struct group *all, *list, *half, *out;
    int result;

    for (int rank = 0; rank < MILLION; rank++) {
        procs[rank] = zigzag(rank);
        odd_ranks[rank / 2] = rank;
    }
    CHECK_INT(group_create_stride(MILLION, 0, 1, 0, &all), 0);
    CHECK_INT(group_create_list(MILLION, procs, 0, &list), 0);
    test_list_parts(list);
    CHECK_INT(group_create_list(MILLION - 1, procs + 1, 0, &half), 0);
    CHECK(list->list && half->list);
    check_result(comm_group_union(half, list, &out), &out, MILLION, 999999, 0);
    check_result(comm_group_union(all, list, &out), &out, MILLION, 0, 999999);
    check_result(comm_group_intersection(list, half, &out), &out, MILLION - 1, 999999, 500000);
    check_result(comm_group_difference(list, half, &out), &out, 1, 0, 0);
    check_result(comm_group_difference(all, half, &out), &out, 1, 0, 0);
    check_result(comm_group_incl(list, MILLION / 2, odd_ranks, &out), &out, MILLION / 2, 999999, 500000);
    check_result(comm_group_excl(list, MILLION / 2, odd_ranks, &out), &out, MILLION / 2, 0, 499999);
    check_result(comm_group_range_incl(list, 2, ends, &out), &out, 20, 0, zigzag(999999));
    check_result(comm_group_range_excl(list, 2, ends, &out), &out, MILLION - 20, 5, zigzag(999989));
    CHECK(!comm_group_compare(list, all, &result) && result == MPI_SIMILAR);
    CHECK(!comm_group_compare(list, half, &result) && result == MPI_UNEQUAL);
    CHECK(!comm_group_translate(all, MILLION, procs, list, found));
    CHECK(found[7] == 7 && found[MILLION - 1] == MILLION - 1);
    group_unref(all);
    group_unref(list);
    group_unref(half);
}

/* --- process sets --- */

static int app_of(int proc)
{
    return proc / 5;
}

/* Of 12 processes, 5, 5 and 2 in the parts of a command line, of which the first and the last have one name. */
static void test_psets(void)
{
    static const char names[16] = "a://b\0\0a://b";
    char name[MPI_MAX_PSET_NAME_LEN];
    struct group *group;

    comm_set_environment(&(struct comm_environment){
        .apps = 3, .app = app_of, .psets = names, .pset_bytes = sizeof names });
    CHECK_INT(comm_pset_count(), 3);
    comm_pset_name(2, name);
    CHECK(!strcmp(name, "a://b"));
    CHECK(!comm_pset_group("a://b", &group) && group->size == 7 && group_proc(group, 6) == 11);
    group_unref(group);
    CHECK(!comm_pset_group("app/1", &group) && group->size == 5 && group_proc(group, 0) == 5 && !group->list);
    group_unref(group);
    CHECK(!comm_pset_group("mpix://app/0", &group) && !group);
    CHECK(!comm_pset_group("A://b", &group) && !group);
    for (int n = 0; n < 3; n++) {
        const long live = mem_live();

        mem_fail_after(n);
        CHECK_INT(err_class(comm_pset_group("a://b", &group)), MPI_ERR_NO_MEM);
        mem_fail_after(-1);
        CHECK_INT(mem_live(), live);
    }
    comm_set_environment(&(struct comm_environment){ .appnum = -1, .universe_size = -1, .apps = 1 });
    CHECK_INT(comm_pset_count(), 2);
    CHECK(!comm_pset_group("mpix://app/0", &group) && !group);
}

static void test_hw_info(void)
{
    struct info *info = NULL;
    int rc = 1;

    CHECK_INT(comm_hw_info(&info), 0); /* what is made at first use only */
    info_unref(info);
    for (int n = 0; rc; n++) {
        const long live = mem_live();

        mem_fail_after(n);
        rc = comm_hw_info(&info);
        mem_fail_after(-1);
        CHECK(!rc || (err_class(rc) == MPI_ERR_NO_MEM && mem_live() == live));
    }
    CHECK(info_count(info) >= 2);
    info_unref(info);
}

/* --- communicators as data --- */

static void test_compare(void)
{
    const struct model abc = { 3, { 1, 2, 4 } }, cab = { 3, { 4, 1, 2 } }, abd = { 3, { 1, 2, 5 } };
    struct comm x = { .group = group_of(&abc) }, y = { .group = group_of(&abc) },
                z = { .group = group_of(&cab) };
    struct comm other = { .group = group_of(&abd) };
    int result;

    CHECK(!comm_compare(&x, &x, &result) && result == MPI_IDENT);
    CHECK(!comm_compare(&x, &y, &result) && result == MPI_CONGRUENT);
    CHECK(!comm_compare(&x, &z, &result) && result == MPI_SIMILAR);
    CHECK(!comm_compare(&x, &other, &result) && result == MPI_UNEQUAL);
    y.is_inter = true;
    CHECK(!comm_compare(&x, &y, &result) && result == MPI_UNEQUAL);
    x.is_inter = true;
    x.remote_group = z.group;
    y.remote_group = x.group;
    CHECK(!comm_compare(&x, &y, &result) && result == MPI_SIMILAR);
    y.remote_group = other.group;
    CHECK(!comm_compare(&x, &y, &result) && result == MPI_UNEQUAL);
    group_unref(x.group);
    group_unref(y.group);
    group_unref(z.group);
    group_unref(other.group);
}

static void test_names(void)
{
    struct comm comm = { .name = "" };
    char name[MPI_MAX_OBJECT_NAME], longer[2 * MPI_MAX_OBJECT_NAME];
    int len;

    comm_get_name(&comm, name, &len);
    CHECK(len == 0 && name[0] == 0);
    comm_set_name(&comm, "ocean");
    comm_get_name(&comm, name, &len);
    CHECK(len == 5 && !strcmp(name, "ocean"));
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = 0;
    comm_set_name(&comm, longer);
    comm_get_name(&comm, name, &len);
    CHECK(len == MPI_MAX_OBJECT_NAME - 1 && strlen(name) == (size_t)len);
    comm_get_name(NULL, name, &len);
    CHECK(!strcmp(name, "MPI_COMM_NULL"));
}

static const struct comm any_comm = { .obj.kind = OBJ_COMM };

static int attribute(int keyval)
{
    int *value = NULL, flag = -1;

    CHECK_INT(comm_get_attr(&any_comm, keyval, &value, &flag), 0);
    CHECK(flag == (value != NULL));
    return value ? *value : -12345;
}

static void test_attributes(void)
{
    int *value, flag;

    CHECK_INT(attribute(MPI_TAG_UB), INT32_MAX);
    CHECK_INT(attribute(MPI_HOST), MPI_PROC_NULL);
    CHECK_INT(attribute(MPI_IO), MPI_ANY_SOURCE);
    CHECK_INT(attribute(MPI_WTIME_IS_GLOBAL), 0);
    CHECK_INT(attribute(MPI_LASTUSEDCODE), MPI_ERR_LASTCODE);
    CHECK_INT(attribute(MPI_APPNUM), -12345);
    CHECK_INT(attribute(MPI_UNIVERSE_SIZE), -12345);
    comm_set_environment(&(struct comm_environment){ .appnum = 2, .universe_size = 8 });
    CHECK_INT(attribute(MPI_APPNUM), 2);
    CHECK_INT(attribute(MPI_UNIVERSE_SIZE), 8);
    CHECK_INT(err_class(comm_get_attr(&any_comm, MPI_KEYVAL_INVALID, &value, &flag)), MPI_ERR_KEYVAL);
}

/* --- a world of one process --- */

static int make_dup(struct comm **out)
{
    return comm_dup(obj_comm(MPI_COMM_WORLD), out);
}

static int make_split(struct comm **out)
{
    return comm_split(obj_comm(MPI_COMM_WORLD), 3, -1, out);
}

static int make_create(struct comm **out)
{
    return comm_create(obj_comm(MPI_COMM_SELF), obj_comm(MPI_COMM_WORLD)->group, out);
}

static int make_group(struct comm **out)
{
    return comm_create_group(obj_comm(MPI_COMM_WORLD), obj_comm(MPI_COMM_SELF)->group, INT32_MAX, out);
}

static int make_from_group(struct comm **out)
{
    return comm_create_from_group(obj_comm(MPI_COMM_WORLD)->group, "test", &errhandler_fatal, out);
}

static int make_idup(struct comm **out)
{
    struct req *req;
    MPI_Request handle;
    int rc = comm_idup(obj_comm(MPI_COMM_WORLD), NULL, out, &req);

    if (rc)
        return rc;
    handle = (MPI_Request)req;
    rc = req_wait(&handle, NULL);
    CHECK(handle == MPI_REQUEST_NULL && !rc == !!obj_comm((MPI_Comm)*out));
    return rc;
}

/* Made, used, freed; and with memory that runs out at each step. */
static void test_making(int (*make)(struct comm **))
{
    struct comm *comm = NULL;
    int rc = 1, result;

    CHECK_INT(make(&comm), 0); /* what is made at first use only */
    CHECK_INT(coll_barrier(comm), 0);
    CHECK_INT(comm_free(comm), 0);
    for (int n = 0; rc; n++) {
        const long live = mem_live();
        mem_fail_after(n);
        rc = make(&comm);
        mem_fail_after(-1);
        CHECK(rc == 0 || (err_class(rc) == MPI_ERR_NO_MEM && mem_live() == live));
    }
    CHECK(comm->size == 1 && comm->rank == 0 && !comm->obj.predefined);
    CHECK(comm->ctx > 3 && comm->ctx % 2 == 0);
    CHECK(!comm_compare(comm, obj_comm(MPI_COMM_WORLD), &result) && result == MPI_CONGRUENT);
    CHECK_INT(comm_free(comm), 0);
    CHECK(!obj_comm((MPI_Comm)comm));
}

static int open_all(void)
{
    int rc = comm_init(&(struct comm_place){ .procs = 1, .size = 1, .ranks = 1 });

    if (rc)
        return rc;
    rc = comm_open_world();
    if (rc)
        comm_fini();
    return rc;
}

static void close_all(void)
{
    comm_close_world();
    CHECK(!obj_comm(MPI_COMM_WORLD) && !obj_comm(MPI_COMM_SELF));
    comm_fini();
}

static void test_world(void)
{
    const int other_proc = 5;
    struct comm *comm = NULL, *world;
    struct group *other;

    CHECK_INT(open_all(), 0);
    world = obj_comm(MPI_COMM_WORLD);
    CHECK(!strcmp(world->name, "MPI_COMM_WORLD") && world->errhandler == &errhandler_fatal);
    CHECK(!strcmp(obj_comm(MPI_COMM_SELF)->name, "MPI_COMM_SELF"));
    test_making(make_dup);
    test_making(make_split);
    test_making(make_create);
    test_making(make_group);
    test_making(make_from_group);
    test_making(make_idup);

    CHECK(!comm_split(world, MPI_UNDEFINED, 0, &comm) && !comm);
    CHECK(!comm_split_type(world, MPI_COMM_TYPE_HW_GUIDED, 0, NULL, &comm) && !comm);
    CHECK(!comm_create(world, obj_group(MPI_GROUP_EMPTY), &comm) && !comm);
    CHECK_INT(err_class(comm_split_type(world, 1, 0, NULL, &comm)), MPI_ERR_ARG);
    CHECK_INT(err_class(comm_free(world)), MPI_ERR_COMM);
    CHECK_INT(err_class(comm_free(obj_comm(MPI_COMM_SELF))), MPI_ERR_COMM);
    CHECK_INT(comm_group_make(1, &other_proc, &other), 0);
    CHECK_INT(err_class(comm_create(world, other, &comm)), MPI_ERR_GROUP);
    CHECK_INT(err_class(comm_create_group(world, other, 0, &comm)), MPI_ERR_GROUP);
    group_unref(other);

    comm_ctx_limit(0);
    CHECK_INT(err_class(comm_dup(world, &comm)), MPI_ERR_OTHER);
    CHECK_INT(err_class(comm_split(world, 0, 0, &comm)), MPI_ERR_OTHER);
    CHECK(!comm);
    CHECK_INT(err_class(make_idup(&comm)), MPI_ERR_OTHER);
    close_all();
}

static void test_world_without_memory(void)
{
    int rc = 1;

    for (int n = 0; rc; n++) {
        const long live = mem_live();
        mem_fail_after(n);
        rc = open_all();
        mem_fail_after(-1);
        CHECK(rc == 0 || (err_class(rc) == MPI_ERR_NO_MEM && mem_live() == live));
    }
    close_all();
}

/* With threads, new communicators go round the lanes, and a lane that cannot be opened is an error (what it leaves,
 * main sees); contexts of the other kind serve when one kind is used up, and then those that are used no more. */
static void test_lanes(void)
{
    struct comm *comms[2 * NET_LANES], *world, *last, *again;
    unsigned used = 0;
    uint32_t ctx;
    int rc = 1;

    CHECK_INT(open_all(), 0);
    world = obj_comm(MPI_COMM_WORLD);
    CHECK_INT(p2p_lane_of(world->ctx), 0);
    CHECK_INT(comm_dup(world, &comms[0]), 0);
    for (int n = 0; rc; n++) {
        mem_fail_after(n);
        rc = comm_dup(world, &comms[1]);
        mem_fail_after(-1);
        CHECK(rc ? err_class(rc) == MPI_ERR_NO_MEM : n > 0);
    }
    for (int i = 2; i < 2 * NET_LANES; i++)
        CHECK_INT(comm_dup(world, &comms[i]), 0);
    comm_ctx_limit(1);
    CHECK_INT(comm_dup(world, &last), 0);
    CHECK_INT(p2p_lane_of(last->ctx), 0);
    for (int i = 0; i < 2 * NET_LANES; i++) {
        used |= 1u << p2p_lane_of(comms[i]->ctx);
        CHECK_INT(err_class(comm_dup(world, &again)), MPI_ERR_OTHER);
        ctx = comms[i]->ctx;
        CHECK_INT(comm_free(comms[i]), 0);
        CHECK_INT(comm_dup(world, &comms[i]), 0);
        CHECK_INT(comms[i]->ctx, ctx);
    }
    CHECK_INT(used, (1 << NET_LANES) - 2); /* all but the first */
    for (int i = 0; i < 2 * NET_LANES; i++)
        CHECK_INT(comm_free(comms[i]), 0);
    CHECK_INT(comm_free(last), 0);
    close_all();
}

struct holder {
    struct comm *comm;
    _Atomic int is_held, may_go;
};

static void *hold_lane(void *arg)
{
    struct holder *holder = arg;

    p2p_box_lock(holder->comm);
    holder->is_held = 1;
    while (!holder->may_go)
        sched_yield();
    p2p_box_unlock(holder->comm);
    return NULL;
}

/* An intercommunicator goes while another thread has the lock of its local communicator's lane: that is not waited
 * for, since who lets it go may have a lock that the other one wants. */
static void test_leaving(void)
{
    struct comm *world, *inter;
    struct holder holder = { 0 };
    const int other_proc = 0;
    struct group *group, *remote;
    pthread_t thread;
    uint32_t ctx;

    CHECK_INT(open_all(), 0);
    world = obj_comm(MPI_COMM_WORLD);
    CHECK_INT(comm_dup(world, &holder.comm), 0);
    CHECK_INT(comm_ctx_take(&ctx), 0);
    CHECK(p2p_lane_of(ctx) != p2p_lane_of(holder.comm->ctx));
    group = world->group;
    obj_ref(&group->obj);
    CHECK_INT(comm_group_make(1, &other_proc, &remote), 0);
    CHECK_INT(comm_make_inter(world, holder.comm, group, remote, ctx, &inter), 0);
    CHECK_INT(pthread_create(&thread, NULL, hold_lane, &holder), 0);
    while (!holder.is_held)
        sched_yield();
    CHECK_INT(comm_free(inter), 0);
    CHECK(holder.comm->obj.kind == OBJ_COMM);
    holder.may_go = 1;
    pthread_join(thread, NULL);
    progress_poll();
    CHECK(holder.comm->obj.kind == OBJ_FREED);
    close_all();
}

/* Every process has numbers, none has another one's, and the first one has many. */
static void test_ranges(void)
{
    static const int places[][2] = { { 1, 1 }, { 1, 129 }, { 2, 2 }, { 3, 131 }, { 1024, 1152 }, { 10007, 10007 } };

    for (unsigned i = 0; i < ARRAY_LEN(places); i++) {
        uint32_t end = 0, first, count;

        for (int proc = 0; proc < places[i][1]; proc++) {
            const struct comm_place place = { .proc = proc, .ranks = places[i][0], .procs = places[i][1] };

            comm_ctx_range(&place, &first, &count);
            if (!proc)
                comm_ctx_start(&place);
            CHECK(comm_ctx_owner(first) == proc && comm_ctx_owner(first + count - 1) == proc);
            CHECK_INT(comm_ctx_owner((P2P_CTX_SPREAD / 2) + first), proc);
            CHECK(first >= end && count >= 40000 && first + count <= P2P_CTX_FOREIGN / 2);
            CHECK(proc || count >= P2P_CTX_FOREIGN / 16);
            end = first + count;
        }
    }
}

int main(void)
{
    const struct p2p_config alone = { .proc = 0, .procs = 1 }, threaded = { .procs = 1, .is_threaded = true };

    group_init();
    errhandler_init();
    comm_world = (struct comm_world){ .proc = 4, .size = PROCS, .environment = { .appnum = -1, .universe_size = -1 } };
    test_ranges();
    comm_ctx_start(&(struct comm_place){ .procs = 1, .size = 1, .ranks = 1 });
    test_split_order();
    test_ctx();
    test_random_groups();
    test_picking();
    test_no_memory();
    test_large_groups();
    test_million();
    test_psets();
    test_hw_info();
    test_compare();
    test_names();
    test_attributes();

    type_init();
    op_init();
    CHECK_INT(p2p_init(&alone), 0);
    test_world();
    test_world_without_memory();
    p2p_fini();
    CHECK_INT(p2p_init(&threaded), 0);
    test_leaving();
    test_lanes();
    p2p_fini();
    obj_fini();
    CHECK_INT(mem_live(), 0);
    return 0;
}
