/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.5, §6.6, §6.8: who gives a block and who takes it must agree about its length. Where they do not, the call
 * ends all the same: with MPI_ERR_TRUNCATE at the one for whom it is too long; all other blocks are where they belong,
 * and the next call is as if nothing had been. */
#include "mpitest.h"

enum { LARGEST = 70000 };

static unsigned char *sent, *found;
static int *send_counts, *counts, *send_places, *places;

static unsigned char content(int source, int dest, int i)
{
    return (unsigned char)(source * 31 + dest * 7 + i);
}

/* This rank has `len` bytes for `dest` (and keeps them in a place of their own). */
static void fill(int dest, int len)
{
    send_counts[dest] = len;
    send_places[dest] = dest * LARGEST;
    for (int i = 0; i < len; i++)
        sent[dest * LARGEST + i] = content(test_rank, dest, i);
}

static void expect(int source, int len)
{
    counts[source] = len;
    places[source] = source * LARGEST;
    memset(found + (size_t)source * LARGEST, TEST_CANARY, LARGEST);
}

static void check(int source, int len, const char *call)
{
    const unsigned char *block = found + (size_t)source * LARGEST;

    for (int i = 0; i < len; i++)
        CHECK(block[i] == content(source, test_rank, i), "%s: byte %d from rank %d is %d", call, i, source, block[i]);
    for (int i = counts[source]; i < LARGEST; i++)
        CHECK(block[i] == TEST_CANARY, "%s: byte %d from rank %d is touched", call, i, source);
}

struct wrong {
    int source, dest, says, wants; /* bytes */
};

static int length(const struct wrong *wrong, int source, int dest, int is_sender)
{
    if (source == wrong->source && dest == wrong->dest)
        return is_sender ? wrong->says : wrong->wants;
    return (source * 5 + dest * 3) % 4 == 0 ? 20000 : (source * 5 + dest * 3) % 4 * 300;
}

static void check_class(int rc, const struct wrong *wrong, const char *call)
{
    const int is_too_long = test_rank == wrong->dest && wrong->says > wrong->wants;
    int class;

    CHECK_OK(MPI_Error_class(rc, &class));
    CHECK(class == (is_too_long ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "%s: %d bytes for %d: class %d at rank %d", call,
          wrong->says, wrong->wants, class, test_rank);
}

static void check_blocks(const struct wrong *wrong, int first, int count, const char *call)
{
    for (int source = first; source < first + count; source++) {
        if (source != wrong->source || test_rank != wrong->dest)
            check(source, counts[source], call);
        else if (wrong->says <= wrong->wants)
            check(source, wrong->says, call);
    }
}

static void gather(const struct wrong *wrong)
{
    const int root = wrong->dest;

    fill(root, length(wrong, test_rank, root, 1));
    for (int source = 0; source < test_size; source++)
        expect(source, length(wrong, source, test_rank, 0));
    check_class(MPI_Gatherv(sent + (size_t)root * LARGEST, send_counts[root], MPI_BYTE, found, counts, places, MPI_BYTE,
                            root, MPI_COMM_WORLD), wrong, "MPI_Gatherv");
    if (test_rank == root)
        check_blocks(wrong, 0, test_size, "MPI_Gatherv");
}

static void scatter(const struct wrong *wrong)
{
    const int root = wrong->source;

    for (int dest = 0; dest < test_size; dest++)
        fill(dest, length(wrong, test_rank, dest, 1));
    expect(root, length(wrong, root, test_rank, 0));
    check_class(MPI_Scatterv(sent, send_counts, send_places, MPI_BYTE, found + (size_t)root * LARGEST, counts[root],
                             MPI_BYTE, root, MPI_COMM_WORLD), wrong, "MPI_Scatterv");
    check_blocks(wrong, root, 1, "MPI_Scatterv");
}

static void alltoall(const struct wrong *wrong)
{
    for (int rank = 0; rank < test_size; rank++) {
        fill(rank, length(wrong, test_rank, rank, 1));
        expect(rank, length(wrong, rank, test_rank, 0));
    }
    check_class(MPI_Alltoallv(sent, send_counts, send_places, MPI_BYTE, found, counts, places, MPI_BYTE,
                              MPI_COMM_WORLD), wrong, "MPI_Alltoallv");
    check_blocks(wrong, 0, test_size, "MPI_Alltoallv");
}

/* The same request is right in one run and wrong in the next. */
static void again(const struct wrong *wrong)
{
    MPI_Request request;

    for (int rank = 0; rank < test_size; rank++) {
        fill(rank, length(wrong, test_rank, rank, 1));
        expect(rank, length(wrong, rank, test_rank, 0));
    }
    CHECK_OK(MPI_Alltoallv_init(sent, send_counts, send_places, MPI_BYTE, found, counts, places, MPI_BYTE,
                                MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_Start(&request));
        check_class(MPI_Wait(&request, MPI_STATUS_IGNORE), wrong, "MPI_Alltoallv_init");
        check_blocks(wrong, 0, test_size, "MPI_Alltoallv_init");
    }
    CHECK_OK(MPI_Request_free(&request));
}

int main(int argc, char **argv)
{
    static const int lengths[] = { 0, 8, 2048, 2056, 8192, 8200, 66000 };
    const int count = (int)(sizeof lengths / sizeof *lengths);

    test_begin(&argc, &argv);
    sent = calloc((size_t)test_size, LARGEST);
    found = calloc((size_t)test_size, LARGEST);
    send_counts = calloc(4 * (size_t)test_size, sizeof *counts);
    send_places = send_counts + test_size;
    counts = send_places + test_size;
    places = counts + test_size;
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (int i = 0; i < count * count; i++) {
        const struct wrong wrong = { .source = i % test_size, .dest = (i / test_size + test_size - 1) % test_size,
                                     .says = lengths[i / count], .wants = lengths[i % count] };

        gather(&wrong);
        scatter(&wrong);
        alltoall(&wrong);
        again(&wrong);
    }
    free(sent);
    free(found);
    free(send_counts);
    return test_end();
}
