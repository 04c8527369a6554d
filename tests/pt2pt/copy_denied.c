/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3: long messages of all kinds, between neighbours (0 and 1, 2 and 3 …) both ways, before and after the
 * system has begun to refuse copies between processes, as it does when a process changes its user: each of them arrives
 * whole, those among them that were sent before and are received afterwards.
 *
 *     copy_denied odd|even|all    to whom it refuses them */
#include "deny.h"
#include "mpitest.h"

enum { SIZES = 9, LAYOUTS = 3, MESSAGES = SIZES * LAYOUTS * LAYOUTS, LONGEST = 2500000, PARTS = 4, PART = 70000,
       ROUNDS = 3 };

static const int sizes[SIZES] = { 9000, 32768, 40000, 49152, 65536, 100000, 300001, 1048576, LONGEST };
static int other;

/* One run, blocks of 3,000 bytes, blocks of 70. */
static MPI_Datatype make_type(int layout, int bytes)
{
    const int block = layout == 1 ? 3000 : 70;
    int lengths[] = { 1, bytes % block };
    MPI_Aint disps[] = { 0, (MPI_Aint)(bytes / block) * (block + 10) };
    MPI_Datatype rows, type;

    if (layout == 0) {
        CHECK_OK(MPI_Type_contiguous(bytes, MPI_BYTE, &type));
    } else {
        CHECK_OK(MPI_Type_create_hvector(bytes / block, block, block + 10, MPI_BYTE, &rows));
        CHECK_OK(MPI_Type_create_struct(2, lengths, disps, (MPI_Datatype[]){ rows, MPI_BYTE }, &type));
        CHECK_OK(MPI_Type_free(&rows));
    }
    CHECK_OK(MPI_Type_commit(&type));
    return type;
}

static size_t extent_of(int layout, int bytes)
{
    return (size_t)bytes + (layout ? (size_t)bytes / (layout == 1 ? 3000 : 70) * 10 : 0);
}

static int bytes_of(int i)
{
    return sizes[i / LAYOUTS / LAYOUTS];
}

/* The bytes of a message as its type says, each gap of the canary. */
static unsigned char *make_image(int sender, int round, int i, int layout)
{
    const int block = layout == 0 ? LONGEST : layout == 1 ? 3000 : 70, bytes = bytes_of(i);
    unsigned char *image = test_alloc(extent_of(layout, bytes)), *stream = test_alloc((size_t)bytes);
    int at;

    test_fill(stream, (size_t)bytes, test_key(sender, round, i));
    memset(image, TEST_CANARY, extent_of(layout, bytes));
    for (at = 0; at < bytes; at += block)
        memcpy(image + at + at / block * 10, stream + at, (size_t)(bytes - at < block ? bytes - at : block));
    free(stream);
    return image;
}

static void start_send(int round, int i, unsigned char **buffer, MPI_Request *req)
{
    const int layout = i % LAYOUTS;
    MPI_Datatype type = make_type(layout, bytes_of(i));

    *buffer = make_image(test_rank, round, i, layout);
    CHECK_OK((i % 4 == 1 ? MPI_Issend : MPI_Isend)(*buffer, 1, type, other, i, MPI_COMM_WORLD, req));
    CHECK_OK(MPI_Type_free(&type));
}

static void receive(int round, int i)
{
    const int layout = i / LAYOUTS % LAYOUTS;
    const size_t extent = extent_of(layout, bytes_of(i));
    unsigned char *buffer = test_alloc(extent), *image = make_image(other, round, i, layout);
    MPI_Datatype type = make_type(layout, bytes_of(i));
    MPI_Status st = test_dirty_status();

    memset(buffer, TEST_CANARY, extent);
    CHECK_OK(MPI_Recv(buffer, 1, type, other, i, MPI_COMM_WORLD, &st));
    CHECK_STATUS(&st, other, i, (size_t)bytes_of(i));
    CHECK(!memcmp(buffer, image, extent), "round %d: message %d of %d bytes", round, i, bytes_of(i));
    CHECK_OK(MPI_Type_free(&type));
    free(buffer);
    free(image);
}

static unsigned char *outgoing[MESSAGES], part_out[PARTS * PART], part_in[PARTS * PART];
static MPI_Request sends[MESSAGES], parts[2];

static void start_all(int round)
{
    int i;

    test_fill(part_out, sizeof part_out, test_key(test_rank, round, MESSAGES));
    memset(part_in, TEST_CANARY, sizeof part_in);
    CHECK_OK(MPI_Startall(2, parts));
    for (i = 0; i < MESSAGES; i++)
        start_send(round, i, &outgoing[i], &sends[i]);
}

static void end_all(int round)
{
    int i;

    CHECK_OK(MPI_Pready_range(0, PARTS - 1, parts[0]));
    for (i = 0; i < MESSAGES; i++)
        receive(round, (i + 5) % MESSAGES);
    CHECK_OK(MPI_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Waitall(2, parts, MPI_STATUSES_IGNORE));
    CHECK_BYTES(part_in, sizeof part_in, test_key(other, round, MESSAGES));
    for (i = 0; i < MESSAGES; i++)
        free(outgoing[i]);
}

int main(int argc, char **argv)
{
    int round, is_denied, can = 1;

    test_begin(&argc, &argv);
    other = test_rank ^ 1;
    is_denied = argc > 1 && (!strcmp(argv[1], "all") || !strcmp(argv[1], test_rank % 2 ? "odd" : "even"));
    if (other < test_size) {
        CHECK_OK(MPI_Psend_init(part_out, PARTS, PART, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &parts[0]));
        CHECK_OK(MPI_Precv_init(part_in, PARTS, PART, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &parts[1]));
    }
    for (round = 0; round < ROUNDS; round++) {
        if (other < test_size)
            start_all(round);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* all is offered */
        if (round == 1 && is_denied)
            can = deny_copies();
        CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &can, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
        if (other < test_size)
            end_all(round);
        if (!can)
            break;
    }
    if (other < test_size) {
        CHECK_OK(MPI_Request_free(&parts[0]));
        CHECK_OK(MPI_Request_free(&parts[1]));
    }
    if (!can)
        test_skip("no filters of calls of the system");
    return test_end();
}
