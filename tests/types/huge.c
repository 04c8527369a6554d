/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §2.5.8, §3.2.5, §5.1.5: a message of 3 GB and a type of 5 GB, from the first rank to the last. So much takes
 * 6 GB of memory, so it is done with the argument --full only; without, the same with a thousandth of it. */
#include "mpitest.h"

#include <limits.h>

enum { TAG = 3, WHOLE = 1000, BLOCK = 4096, GAP = 64, TURNS = 5 };

/* A byte of the data; the multiple of a large odd number looks different in each GB. */
static unsigned char byte_of(size_t i)
{
    return (unsigned char)(((uint64_t)i * 0x9E3779B97F4A7C15u) >> 40);
}

static unsigned char *buffer_of(size_t bytes)
{
    unsigned char *const p = malloc(bytes);

    CHECK(p != NULL, "no memory for %zu bytes", bytes);
    return p;
}

static unsigned char *filled(size_t bytes)
{
    unsigned char *const p = buffer_of(bytes);
    size_t i;

    for (i = 0; i < bytes; i++)
        p[i] = byte_of(i);
    return p;
}

/* What an int cannot hold is MPI_UNDEFINED in the small form. */
static void check_count(const MPI_Status *status, MPI_Datatype type, MPI_Count want)
{
    MPI_Count wide;
    int small;

    CHECK_OK(MPI_Get_count_c(status, type, &wide));
    CHECK_INT(wide, want);
    CHECK_OK(MPI_Get_count(status, type, &small));
    CHECK_INT(small, want > INT_MAX ? MPI_UNDEFINED : want);
    CHECK_OK(MPI_Get_elements_c(status, type, &wide));
    CHECK_INT(wide, want);
}

static void long_message(MPI_Count bytes)
{
    const int last = test_size - 1;
    unsigned char *out = NULL, *in = NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Count i;

    if (test_rank == 0) {
        out = filled((size_t)bytes);
        CHECK_OK(MPI_Isend_c(out, bytes, MPI_BYTE, last, TAG, MPI_COMM_WORLD, &request));
    }
    if (test_rank == last) {
        in = buffer_of((size_t)bytes);
        CHECK_OK(MPI_Recv_c(in, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &status));
        check_count(&status, MPI_BYTE, bytes);
        for (i = 0; i < bytes; i++)
            CHECK(in[i] == byte_of((size_t)i), "byte %lld: expected %d, got %d", (long long)i, byte_of((size_t)i),
                  in[i]);
    }
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    free(in);
    free(out);
}

/* The sender's type has the same bytes TURNS times; the receiver's has blocks with gaps. */
static void make_types(MPI_Count bytes, MPI_Datatype *sent, MPI_Datatype *received)
{
    MPI_Datatype once;
    MPI_Count size;
    int small;

    CHECK_OK(MPI_Type_contiguous_c(bytes, MPI_BYTE, &once));
    CHECK_OK(MPI_Type_create_hvector_c(TURNS, 1, 0, once, sent));
    CHECK_OK(MPI_Type_vector_c(TURNS * bytes / BLOCK, BLOCK, BLOCK + GAP, MPI_BYTE, received));
    CHECK_OK(MPI_Type_commit(sent));
    CHECK_OK(MPI_Type_commit(received));
    CHECK_OK(MPI_Type_free(&once));
    CHECK_OK(MPI_Type_size_c(*sent, &size));
    CHECK_INT(size, TURNS * bytes);
    CHECK_OK(MPI_Type_size(*received, &small));
    CHECK_INT(small, size > INT_MAX ? MPI_UNDEFINED : size);
}

static void check_blocks(const unsigned char *in, MPI_Count bytes)
{
    MPI_Count block, i, at;

    for (block = 0; block < TURNS * bytes / BLOCK; block++)
        for (i = 0; i < BLOCK + GAP; i++) {
            if (i >= BLOCK && block == TURNS * bytes / BLOCK - 1)
                break;
            at = block * (BLOCK + GAP) + i;
            CHECK(in[at] == (i < BLOCK ? byte_of((size_t)((block * BLOCK + i) % bytes)) : TEST_CANARY),
                  "block %lld, byte %lld: got %d", (long long)block, (long long)i, in[at]);
        }
}

static void long_type(MPI_Count bytes)
{
    const int last = test_size - 1;
    const size_t room = (size_t)(TURNS * bytes / BLOCK * (BLOCK + GAP));
    unsigned char *out = NULL, *in = NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype sent, received;
    MPI_Status status;

    make_types(bytes, &sent, &received);
    if (test_rank == 0) {
        out = filled((size_t)bytes);
        CHECK_OK(MPI_Isend(out, 1, sent, last, TAG, MPI_COMM_WORLD, &request));
    }
    if (test_rank == last) {
        in = memset(buffer_of(room), TEST_CANARY, room);
        CHECK_OK(MPI_Recv(in, 1, received, 0, TAG, MPI_COMM_WORLD, &status));
        check_count(&status, MPI_BYTE, TURNS * bytes);
        check_blocks(in, bytes);
    }
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (test_rank == last && test_size == 1) { /* packed, and back: without a second copy of the whole */
        MPI_Count at = 0, room_c = (MPI_Count)room;
        CHECK_OK(MPI_Pack_c(out, 1, sent, in, room_c, &at, MPI_COMM_WORLD));
        CHECK_INT(at, TURNS * bytes);
        for (at = 0; at < TURNS * bytes; at++)
            CHECK(in[at] == byte_of((size_t)(at % bytes)), "packed byte %lld: got %d", (long long)at, in[at]);
    }
    free(in);
    free(out);
    CHECK_OK(MPI_Type_free(&sent));
    CHECK_OK(MPI_Type_free(&received));
}

int main(int argc, char **argv)
{
    MPI_Count scale;

    test_begin(&argc, &argv);
    scale = argc > 1 && !strcmp(argv[1], "--full") ? 1 : WHOLE;
    long_message(3 * (MPI_Count)1000000000 / scale);
    long_type((MPI_Count)BLOCK * 250000 / scale);
    return test_end();
}
