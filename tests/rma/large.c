/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §12.3: puts and gets of many bytes and of very many blocks, to one rank's memory from another's, with gaps on
 * either side, on both, and on none. */
#include "flavors.h"

enum { INTS = 200000 };

struct shape {
    MPI_Datatype type;
    int step, skip; /* element i of the data is the int at skip + step * i */
};

static struct shape make(int kind)
{
    static int lens[INTS], disps[INTS];
    struct shape s = { MPI_DATATYPE_NULL, kind ? 2 : 1, 0 };

    if (kind == 0)
        CHECK_OK(MPI_Type_contiguous(INTS, MPI_INT, &s.type));
    if (kind == 1)
        CHECK_OK(MPI_Type_vector(INTS, 1, 2, MPI_INT, &s.type));
    if (kind == 2) { /* nothing regular that a library could find */
        s.skip = 1;
        for (int i = 0; i < INTS; i++) {
            lens[i] = 1;
            disps[i] = 1 + 2 * i;
        }
        CHECK_OK(MPI_Type_indexed(INTS, lens, disps, MPI_INT, &s.type));
    }
    CHECK_OK(MPI_Type_commit(&s.type));
    return s;
}

static void play(struct window *w, int *mine, struct shape here, struct shape there)
{
    const int peer = (w->rank + 1) % w->ranks, left = (w->rank + w->ranks - 1) % w->ranks;
    int *mem = (int *)(void *)w->mem;

    memset(w->mem, TEST_CANARY, w->size);
    memset(mine, TEST_CANARY, w->size);
    for (int i = 0; i < INTS; i++)
        mine[here.skip + here.step * i] = w->rank * 1000000 + i;
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_OK(MPI_Put(mine, 1, here.type, peer, window_disp(w, peer, 0), 1, there.type, w->win));
    CHECK_OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < INTS; i++) {
        CHECK_INT(mem[there.skip + there.step * i], left * 1000000 + i);
        if (there.step == 2)
            CHECK_UNTOUCHED(&mem[!there.skip + 2 * i], sizeof(int));
    }
    memset(mine, TEST_CANARY, w->size);
    CHECK_OK(MPI_Win_fence(0, w->win));
    CHECK_OK(MPI_Get(mine, 1, here.type, peer, window_disp(w, peer, 0), 1, there.type, w->win));
    CHECK_OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < INTS; i++) {
        CHECK_INT(mine[here.skip + here.step * i], w->rank * 1000000 + i);
        if (here.step == 2)
            CHECK_UNTOUCHED(&mine[!here.skip + 2 * i], sizeof(int));
    }
}

int main(int argc, char **argv)
{
    static const enum flavor flavors[] = { CREATE, ALLOCATE };

    test_begin(&argc, &argv);
    for (int f = 0; f < 2; f++) {
        struct window w;
        int *mine;

        window_open(&w, flavors[f], (2 * INTS + 2) * sizeof(int), MPI_COMM_WORLD);
        mine = test_alloc(w.size);
        for (int kind = 0; kind < 9; kind++) {
            struct shape here = make(kind / 3), there = make(kind % 3);

            play(&w, mine, here, there);
            CHECK_OK(MPI_Type_free(&here.type));
            CHECK_OK(MPI_Type_free(&there.type));
        }
        free(mine);
        window_close(&w);
    }
    return test_end();
}
