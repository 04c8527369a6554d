/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §12.5.1: a fence ends what was begun before it, at the origin and at the target. Everybody puts a block to
 * each rank and gets it back, over windows of all flavors, with and without assertions. */
#include "flavors.h"

enum { BLOCK = 96, ROUNDS = 4 };

static void play(struct window *w, int round)
{
    const int first = round % 2 ? MPI_MODE_NOPRECEDE : 0,
              last = round % 2 ? MPI_MODE_NOSUCCEED | MPI_MODE_NOPUT : 0;
    const int rank = w->rank, ranks = w->ranks;
    unsigned char mine[BLOCK], *back = test_alloc((size_t)ranks * BLOCK);

    CHECK_OK(MPI_Win_fence(first, w->win));
    for (int peer = 0; peer < ranks; peer++) {
        unsigned char *block = test_alloc(BLOCK);

        test_fill(block, BLOCK, test_key((uint64_t)round, (uint64_t)rank, (uint64_t)peer));
        CHECK_OK(MPI_Put(block, BLOCK, MPI_BYTE, peer, window_disp(w, peer, (size_t)rank * BLOCK), BLOCK,
                         MPI_BYTE, w->win));
        memcpy(back + (size_t)peer * BLOCK, block, BLOCK);
        CHECK_OK(MPI_Win_fence(0, w->win)); /* the buffer is ours again */
        free(block);
    }
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT, w->win));
    for (int peer = 0; peer < ranks; peer++) {
        CHECK_BYTES(w->mem + (size_t)peer * BLOCK, BLOCK,
                    test_key((uint64_t)round, (uint64_t)peer, (uint64_t)rank));
        memset(mine, 0, BLOCK);
        CHECK_OK(MPI_Get(mine, BLOCK, MPI_BYTE, peer, window_disp(w, peer, (size_t)rank * BLOCK), BLOCK,
                         MPI_BYTE, w->win));
        CHECK_OK(MPI_Win_fence(0, w->win));
        CHECK(!memcmp(mine, back + (size_t)peer * BLOCK, BLOCK), "round %d: what was put to %d comes back",
              round, peer);
    }
    CHECK_OK(MPI_Win_fence(last, w->win));
    CHECK_UNTOUCHED(w->mem + (size_t)ranks * BLOCK, w->size - (size_t)ranks * BLOCK);
    free(back);
}

/* Stores of the target itself are there for others after a fence. */
static void own_stores(struct window *w)
{
    const int next = (w->rank + 1) % w->ranks;
    unsigned char got = 0;

    for (int i = 0; i < 20; i++) {
        w->mem[0] = (unsigned char)(w->rank + i);
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
        CHECK_OK(MPI_Get(&got, 1, MPI_BYTE, next, window_disp(w, next, 0), 1, MPI_BYTE, w->win));
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
        CHECK_INT(got, (unsigned char)(next + i));
    }
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        struct window w;

        window_open(&w, flavor, (size_t)test_size * BLOCK + 64, MPI_COMM_WORLD);
        for (int round = 0; round < ROUNDS; round++)
            play(&w, round);
        own_stores(&w);
        window_close(&w);
    }
    return test_end();
}
