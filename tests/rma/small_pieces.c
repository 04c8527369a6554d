/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §12.3, §12.7: types of many small pieces at the target, put, got and combined, while the target changes what
 * lies between them: nothing of that is lost. With "computing" the target calls nothing meanwhile; "busy": all are
 * origins and targets at the same time. */
#include "flavors.h"

enum { PIECES = 3000, MOST = 3 * PIECES, KINDS = 3, LAYOUTS = 5, HEAD = 64 };

static const struct {
    MPI_Datatype type;
    size_t size;
} kinds[KINDS] = { { MPI_INT8_T, 1 }, { MPI_INT, sizeof(int) }, { MPI_DOUBLE, sizeof(double) } };

static int is_computing, is_busy;

static void store(int kind, void *memory, int i, int value)
{
    switch (kind) {
    case 0: ((signed char *)memory)[i] = (signed char)value; break;
    case 1: ((int *)memory)[i] = value; break;
    default: ((double *)memory)[i] = value;
    }
}

static int load(int kind, const void *memory, int i)
{
    return kind == 0 ? ((const signed char *)memory)[i]
           : kind == 1 ? ((const int *)memory)[i] : (int)((const double *)memory)[i];
}

/* Element k of the data is element place(…) of the window, the last one that of layouts 0 and 3. */
static int place(int layout, int k)
{
    switch (layout) {
    case 0: return MOST - 2 * PIECES + 1 + 2 * k;
    case 1: return 2 * (PIECES - 1 - k);
    case 2: return k / 2 * 3 + k % 2;
    case 3: return k % 2 ? MOST - 1 - k : k;
    default: return k / 50 * 150 + k % 50 / 5 * 10 + k % 5;
    }
}

static MPI_Datatype layout_type(int layout, int kind)
{
    static MPI_Aint at[PIECES];
    MPI_Datatype type;

    for (int k = 0; k < PIECES; k++)
        at[k] = (MPI_Aint)place(layout, k) * (MPI_Aint)kinds[kind].size;
    CHECK_OK(MPI_Type_create_hindexed_block(PIECES, 1, at, kinds[kind].type, &type));
    CHECK_OK(MPI_Type_commit(&type));
    return type;
}

/* Layouts 0 and 1 from their first element on. */
static MPI_Datatype vector_type(int layout, int kind)
{
    MPI_Datatype type;

    CHECK_OK(MPI_Type_vector(PIECES, 1, layout ? -2 : 2, kinds[kind].type, &type));
    CHECK_OK(MPI_Type_commit(&type));
    return type;
}

static int value(int call, int k)
{
    return (k * (call + 3) + call) % 13;
}

static void *values(int kind, int call)
{
    void *const data = test_alloc(PIECES * kinds[kind].size);

    for (int k = 0; k < PIECES; k++)
        store(kind, data, k, value(call, k));
    return data;
}

static void check_values(const char *what, int kind, const void *data, int first, int second)
{
    int bad = 0;

    for (int k = 0; k < PIECES; k++)
        bad += load(kind, data, k) != value(first, k) + (second < 0 ? 0 : value(second, k));
    CHECK(!bad, "%s: %d wrong values of kind %d", what, bad, kind);
}

/* Ends with value(3) + value(4) in all pieces. */
static void access_all(const struct window *w, int to, int layout, int kind)
{
    const int is_vector = layout < 2;
    const size_t begin = HEAD + (is_vector ? (size_t)place(layout, 0) * kinds[kind].size : 0);
    const MPI_Aint disp = window_disp(w, to, begin);
    const MPI_Datatype type = is_vector ? vector_type(layout, kind) : layout_type(layout, kind), own = kinds[kind].type;
    void *data[5], *const result = test_alloc(PIECES * kinds[kind].size);
    MPI_Datatype freed = type;

    for (int i = 0; i < 5; i++)
        data[i] = values(kind, i);
    CHECK_OK(MPI_Put(data[0], PIECES, own, to, disp, 1, type, w->win));
    CHECK_OK(MPI_Win_flush(to, w->win));
    CHECK_OK(MPI_Accumulate(data[1], PIECES, own, to, disp, 1, type, MPI_SUM, w->win));
    CHECK_OK(MPI_Get_accumulate(data[2], PIECES, own, result, PIECES, own, to, disp, 1, type, MPI_SUM, w->win));
    CHECK_OK(MPI_Win_flush(to, w->win));
    check_values("MPI_Get_accumulate", kind, result, 0, 1);
    CHECK_OK(MPI_Accumulate(data[3], PIECES, own, to, disp, 1, type, MPI_REPLACE, w->win));
    CHECK_OK(MPI_Get_accumulate(NULL, 0, own, result, PIECES, own, to, disp, 1, type, MPI_NO_OP, w->win));
    CHECK_OK(MPI_Win_flush(to, w->win));
    check_values("MPI_Get_accumulate, MPI_NO_OP", kind, result, 3, -1);
    CHECK_OK(MPI_Accumulate(data[4], PIECES, own, to, disp, 1, type, MPI_SUM, w->win));
    CHECK_OK(MPI_Win_flush(to, w->win));
    memset(result, TEST_CANARY, PIECES * kinds[kind].size);
    CHECK_OK(MPI_Get(result, PIECES, own, to, disp, 1, type, w->win));
    CHECK_OK(MPI_Win_flush(to, w->win));
    check_values("MPI_Get", kind, result, 3, 4);
    for (int i = 0; i < 5; i++)
        free(data[i]);
    free(result);
    CHECK_OK(MPI_Type_free(&freed));
}

/* The window begins with a flag; elements follow, up to its end. */
static unsigned char *elements(const struct window *w)
{
    return w->mem + HEAD;
}

static int is_through(const struct window *w)
{
    return *(volatile const unsigned char *)w->mem;
}

static void tell_through(const struct window *w, int to)
{
    const unsigned char yes = 1;

    CHECK_OK(MPI_Accumulate(&yes, 1, MPI_BYTE, to, window_disp(w, to, 0), 1, MPI_BYTE, MPI_REPLACE, w->win));
    CHECK_OK(MPI_Win_flush(to, w->win));
}

/* As long as it takes, add 1 to all gaps: returns how often. */
static int change_gaps(const struct window *w, int kind, const char *is_piece)
{
    void *const memory = elements(w);
    int turns = 0, flag;

    for (; !is_through(w); turns++) {
        for (int i = 0; i < MOST; i++)
            if (!is_piece[i])
                store(kind, memory, i, (load(kind, memory, i) + 1) % 100);
        if (!is_computing)
            CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, w->comm, &flag, MPI_STATUS_IGNORE));
    }
    return turns;
}

static void check_memory(const struct window *w, int kind, const char *is_piece, const int *piece_of, int turns)
{
    int bad = 0, lost = 0;

    for (int i = 0; i < MOST; i++) {
        const int found = load(kind, elements(w), i);
        if (is_piece[i])
            bad += found != value(3, piece_of[i]) + value(4, piece_of[i]);
        else
            lost += found != turns % 100;
    }
    CHECK(!bad, "%s: %d wrong pieces of kind %d", flavor_names[w->flavor], bad, kind);
    CHECK(!lost, "%s: %d gaps of kind %d have lost a change", flavor_names[w->flavor], lost, kind);
}

static void run(const struct window *w, int layout, int kind)
{
    static char is_piece[MOST];
    static int piece_of[MOST];
    const int is_origin = is_busy || w->rank % 2;
    const int is_target = is_busy || (w->rank % 2 == 0 && w->rank + 1 < w->ranks);
    const int to = is_busy ? (w->rank + 1) % w->ranks : w->rank - 1;
    int turns = 0;

    memset(is_piece, 0, sizeof is_piece);
    for (int k = 0; k < PIECES; k++) {
        is_piece[place(layout, k)] = 1;
        piece_of[place(layout, k)] = k;
    }
    memset(w->mem, 0, w->size);
    CHECK_OK(MPI_Barrier(w->comm));
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    if (is_origin) {
        access_all(w, to, layout, kind);
        tell_through(w, to);
    }
    if (is_target)
        turns = change_gaps(w, kind, is_piece);
    CHECK_OK(MPI_Win_unlock_all(w->win));
    CHECK_OK(MPI_Barrier(w->comm));
    if (is_target)
        check_memory(w, kind, is_piece, piece_of, turns);
}

int main(int argc, char **argv)
{
    struct window w;

    test_begin(&argc, &argv);
    is_computing = argc > 1 && !strcmp(argv[1], "computing");
    is_busy = argc > 1 && !strcmp(argv[1], "busy");
    for (int kind = 0; kind < KINDS; kind++)
        for (int flavor = 0; flavor < FLAVORS; flavor++) {
            window_open(&w, (enum flavor)flavor, HEAD + MOST * kinds[kind].size, MPI_COMM_WORLD);
            for (int layout = 0; layout < LAYOUTS; layout++)
                run(&w, layout, kind);
            window_close(&w);
        }
    return test_end();
}
