/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.2, §5.1: messages of 200 bytes to 300 KB with gaps on one side or both, which an implementation may hand
 * over while they are still being packed: each byte arrives at its place and none between is touched, whichever layouts
 * the two sides have, by blocking and nonblocking receives, with more room than needed, from any source, after a probe,
 * and synchronously. Each pair of neighbours (0 and 1, 2 and 3 …) plays, both ways. */
#include "mpitest.h"

enum { MESSAGES = 300, SHORTEST = 200, LONGEST = 300000, LAYOUTS = 6, WAYS = 5, IN_TURN = 20, BLOCKS = 3000,
       MEMORY = 5 * LONGEST };

/* Blocks of memory in the order of the stream. */
struct layout {
    int count, lengths[BLOCKS];
    MPI_Aint disps[BLOCKS];
    MPI_Datatype type;
};

static void add_block(struct layout *l, MPI_Aint disp, int length)
{
    l->disps[l->count] = disp;
    l->lengths[l->count++] = length;
}

/* Blocks of `length`, `stride` apart, and what is left behind them. */
static void make_even(struct layout *l, int bytes, int length, int stride, MPI_Aint begin)
{
    const int n = bytes / length, rest = bytes % length, lengths[] = { 1, rest };
    const MPI_Aint disps[] = { begin, begin + (MPI_Aint)n * stride };
    MPI_Datatype rows;
    int i;

    for (i = 0; i < n; i++)
        add_block(l, begin + (MPI_Aint)i * stride, length);
    if (rest)
        add_block(l, disps[1], rest);
    CHECK_OK(MPI_Type_create_hvector(n, length, stride, MPI_BYTE, &rows));
    CHECK_OK(MPI_Type_create_struct(2, lengths, disps, (MPI_Datatype[]){ rows, MPI_BYTE }, &l->type));
    CHECK_OK(MPI_Type_free(&rows));
}

/* Blocks of any length up to `most` with such gaps; from the last one on if `step` is -1. */
static void make_uneven(struct layout *l, int bytes, int most, int step, uint64_t *state)
{
    MPI_Aint at = step > 0 ? 0 : MEMORY - 1;
    int left = bytes;

    while (left > 0) {
        const int wish = 1 + (int)test_below(state, (size_t)most), length = wish < left ? wish : left;
        if (step < 0)
            at -= length;
        add_block(l, at, length);
        at += step > 0 ? length : 0;
        at += step * (MPI_Aint)test_below(state, (size_t)most);
        left -= length;
    }
    CHECK_OK(MPI_Type_create_hindexed(l->count, l->lengths, l->disps, MPI_BYTE, &l->type));
}

static void make_layout(struct layout *l, int style, int bytes, uint64_t key)
{
    uint64_t state = key;
    const int least = bytes / (BLOCKS / 4) + 1, length = least + (int)test_below(&state, 40);

    l->count = 0;
    if (style == 0)
        make_even(l, bytes, length, length + 1 + (int)test_below(&state, 30), 0);
    else if (style == 1)
        make_even(l, bytes, length + 1500, 2 * length + 1500, 3);
    else if (style == 2)
        make_even(l, bytes, length, -length - 1, MEMORY - length);
    else if (style == 3)
        make_uneven(l, bytes, 4 * least, 1, &state);
    else if (style == 4)
        make_uneven(l, bytes, 4 * least + 2000, -1, &state);
    else
        make_even(l, bytes, bytes, bytes, 1 + (MPI_Aint)test_below(&state, 100)); /* one run, but elsewhere */
    CHECK_OK(MPI_Type_commit(&l->type));
}

static unsigned char *memory, *image, *stream;
static struct layout layout;

static int length_of(int sender, int i)
{
    uint64_t state = test_key(sender, i, 1);
    const int kind = (int)test_below(&state, 3);

    if (kind == 0)
        return SHORTEST + (int)test_below(&state, LONGEST - SHORTEST);
    return kind == 1 ? 30000 + (int)test_below(&state, 40000) : SHORTEST + (int)test_below(&state, 40000);
}

/* Memory as it is with this message in it and nothing else. */
static void make_image(const struct layout *l, int sender, int i)
{
    int k, at = 0;

    test_fill(stream, (size_t)length_of(sender, i), test_key(sender, i, 2));
    memset(image, TEST_CANARY, MEMORY);
    for (k = 0; k < l->count; at += l->lengths[k++])
        memcpy(image + l->disps[k], stream + at, (size_t)l->lengths[k]);
}

static void receive(int src, int i)
{
    const int way = i / IN_TURN % WAYS, tag = i % 5, from = i % 3 ? src : MPI_ANY_SOURCE;
    MPI_Status st = test_dirty_status();
    MPI_Request req;
    int bytes;

    make_layout(&layout, i / 2 % LAYOUTS, length_of(src, i), test_key(test_rank, i, 3));
    memset(memory, TEST_CANARY, MEMORY);
    if (way == 1) {
        CHECK_OK(MPI_Irecv(memory, 1, layout.type, from, tag, MPI_COMM_WORLD, &req));
        CHECK_OK(MPI_Wait(&req, &st));
    } else if (way == 2) {
        CHECK_OK(MPI_Probe(from, tag, MPI_COMM_WORLD, &st));
        CHECK_OK(MPI_Get_elements(&st, layout.type, &bytes));
        CHECK_INT(bytes, length_of(src, i));
        CHECK_OK(MPI_Recv(memory, 1, layout.type, src, tag, MPI_COMM_WORLD, &st));
    } else {
        CHECK_OK(MPI_Recv(memory, way == 3 ? 2 : 1, layout.type, way == 4 ? from : src, tag, MPI_COMM_WORLD, &st));
    }
    CHECK_STATUS(&st, src, tag, (size_t)length_of(src, i));
    make_image(&layout, src, i);
    CHECK(memcmp(memory, image, MEMORY) == 0, "message %d of %d bytes", i, length_of(src, i));
    CHECK_OK(MPI_Type_free(&layout.type));
}

static void send(int dest, int i)
{
    make_layout(&layout, i / 7 % LAYOUTS, length_of(test_rank, i), test_key(test_rank, i, 4));
    make_image(&layout, test_rank, i);
    if (i % 7 == 3)
        CHECK_OK(MPI_Ssend(image, 1, layout.type, dest, i % 5, MPI_COMM_WORLD));
    else
        CHECK_OK(MPI_Send(image, 1, layout.type, dest, i % 5, MPI_COMM_WORLD));
    CHECK_OK(MPI_Type_free(&layout.type));
}

int main(int argc, char **argv)
{
    int other, i;

    test_begin(&argc, &argv);
    other = test_rank ^ 1;
    memory = test_alloc(MEMORY);
    image = test_alloc(MEMORY);
    stream = test_alloc(LONGEST);
    for (i = 0; i < MESSAGES && other < test_size; i++) {
        if (test_rank < other)
            send(other, i);
        receive(other, i);
        if (test_rank > other)
            send(other, i);
    }
    free(memory);
    free(image);
    free(stream);
    return test_end();
}
