/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §12.3.1, §12.3.2, §12.3.5, §12.5: random puts and gets with random types on both sides, over windows of all
 * flavors and every synchronization, against plain arrays: each rank keeps the memory of all as it must be. In a round
 * everybody puts into its own part of the memory of others, then gets from anywhere. */
#include "flavors.h"

enum { PART = 256, BYTES_MAX = 96, PUTS = 6, GETS = 6, ROUNDS = 4 };
enum sync { FENCE, START, LOCK, LOCK_ALL, REQUESTS, SYNCS };

/* `count` items of `type`, whose bytes lie at at[0], at[1], … */
struct layout {
    MPI_Datatype type;
    int count, bytes, is_own;
    size_t at[BYTES_MAX];
};

static uint64_t state;

static size_t below(size_t n)
{
    return test_below(&state, n);
}

/* --- layouts of `elements` elements of `width` bytes within PART bytes --- */

static MPI_Datatype element(int width)
{
    return width == 1 ? MPI_BYTE : MPI_INT;
}

static void put_at(struct layout *l, size_t place, int width)
{
    for (int i = 0; i < width; i++)
        l->at[l->bytes++] = place + (size_t)i;
}

static void plain(struct layout *l, int elements, int width)
{
    l->type = element(width);
    l->count = elements;
    for (int i = 0; i < elements; i++)
        put_at(l, (size_t)(i * width), width);
}

static void strided(struct layout *l, int elements, int width)
{
    const int room = PART / width;
    int len = 1 + (int)below((size_t)elements), blocks, stride;

    while (elements % len)
        len--;
    blocks = elements / len;
    stride = len + (int)below((size_t)(room / blocks - len + 1));
    l->count = 1;
    CHECK_OK(MPI_Type_vector(blocks, len, stride, element(width), &l->type));
    for (int i = 0; i < elements; i++)
        put_at(l, (size_t)((i / len * stride + i % len) * width), width);
}

/* Blocks with gaps that differ, the first of them not at 0. */
static void scattered(struct layout *l, int elements, int width)
{
    int lens[BYTES_MAX], disps[BYTES_MAX], blocks = 0, gaps = PART / width - elements, at = 0;

    for (int left = elements; left;) {
        const int gap = (int)below((size_t)(gaps + 1)) / 2;

        lens[blocks] = 1 + (int)below((size_t)left);
        at += gap;
        gaps -= gap;
        disps[blocks] = at;
        for (int i = 0; i < lens[blocks]; i++)
            put_at(l, (size_t)((at + i) * width), width);
        at += lens[blocks];
        left -= lens[blocks++];
    }
    l->count = 1;
    CHECK_OK(MPI_Type_indexed(blocks, lens, disps, element(width), &l->type));
}

/* Several items of a type whose extent is longer than its data. */
static void apart(struct layout *l, int elements, int width)
{
    const int extent = PART / width / elements;

    CHECK_OK(MPI_Type_create_resized(element(width), 0, extent * width, &l->type));
    l->count = elements;
    for (int i = 0; i < elements; i++)
        put_at(l, (size_t)(i * extent * width), width);
}

static void (*const makers[])(struct layout *, int, int) = { plain, strided, scattered, apart };

static void make(struct layout *l, int elements, int width)
{
    l->bytes = 0;
    makers[below(4)](l, elements, width);
    l->is_own = l->type != element(width);
    if (l->is_own)
        CHECK_OK(MPI_Type_commit(&l->type));
}

static void unmake(struct layout *l)
{
    if (l->is_own)
        CHECK_OK(MPI_Type_free(&l->type));
}

/* --- epochs --- */

static MPI_Group everybody;

static void begin(struct window *w, enum sync sync)
{
    if (sync == FENCE)
        CHECK_OK(MPI_Win_fence(0, w->win));
    if (sync == START) {
        CHECK_OK(MPI_Win_post(everybody, 0, w->win));
        CHECK_OK(MPI_Win_start(everybody, 0, w->win));
    }
    if (sync == LOCK_ALL || sync == REQUESTS)
        CHECK_OK(MPI_Win_lock_all(0, w->win));
}

static void end(struct window *w, enum sync sync)
{
    if (sync == FENCE)
        CHECK_OK(MPI_Win_fence(0, w->win));
    if (sync == START) {
        CHECK_OK(MPI_Win_complete(w->win));
        CHECK_OK(MPI_Win_wait(w->win));
    }
    if (sync == LOCK_ALL || sync == REQUESTS)
        CHECK_OK(MPI_Win_unlock_all(w->win));
    CHECK_OK(MPI_Barrier(w->comm)); /* nobody is ahead, whatever the synchronization */
}

struct side {
    void *buf;
    struct layout layout;
};

/* One operation in its epoch; complete on return but with fence and start. */
static void operate(struct window *w, enum sync sync, int is_put, struct side *origin, int rank, size_t place,
                    struct layout *there)
{
    const MPI_Aint disp = window_disp(w, rank, place);
    struct layout *here = &origin->layout;
    MPI_Request request = MPI_REQUEST_NULL;

    if (sync == LOCK)
        CHECK_OK(MPI_Win_lock(is_put && below(2) ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, rank, 0, w->win));
    if (sync == REQUESTS && is_put)
        CHECK_OK(MPI_Rput_c(origin->buf, here->count, here->type, rank, disp, there->count, there->type,
                            w->win, &request));
    else if (sync == REQUESTS)
        CHECK_OK(MPI_Rget(origin->buf, here->count, here->type, rank, disp, there->count, there->type, w->win,
                          &request));
    else if (is_put)
        CHECK_OK(
            MPI_Put(origin->buf, here->count, here->type, rank, disp, there->count, there->type, w->win));
    else
        CHECK_OK(
            MPI_Get_c(origin->buf, here->count, here->type, rank, disp, there->count, there->type, w->win));
    if (sync == REQUESTS)
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (sync == LOCK)
        CHECK_OK(MPI_Win_unlock(rank, w->win));
    if (sync == LOCK_ALL)
        CHECK_OK(below(2) ? MPI_Win_flush(rank, w->win) : MPI_Win_flush_all(w->win));
}

/* --- puts and gets --- */

/* The puts of one rank, which all others know too; done if it is this one. */
static void puts_of(struct window *w, enum sync sync, int origin, uint64_t key, unsigned char *model)
{
    struct side sides[PUTS];
    struct layout there;

    for (int i = 0; i < PUTS; i++) {
        const int rank = (int)(test_mix(key + (uint64_t)i) % (uint64_t)w->ranks);

        state = test_mix(key + 1000 + (uint64_t)i);
        const int width = below(2) ? 4 : 1, elements = 1 + (int)below(BYTES_MAX / (size_t)width - 1);
        unsigned char *buf = test_alloc(PART);

        sides[i].buf = buf;
        make(&sides[i].layout, elements, width);
        make(&there, elements, width);
        test_fill(buf, PART, test_mix(key + (uint64_t)i));
        for (int b = 0; b < there.bytes; b++)
            model[(size_t)rank * w->size + (size_t)origin * PART + there.at[b]] = buf[sides[i].layout.at[b]];
        if (origin == w->rank)
            operate(w, sync, 1, &sides[i], rank, (size_t)origin * PART, &there);
        unmake(&there); /* the operation may not be complete */
        unmake(&sides[i].layout);
        if (origin == w->rank && (sync == FENCE || sync == START))
            continue;
        free(buf);
        sides[i].buf = NULL;
    }
    if (origin == w->rank)
        end(w, sync);
    for (int i = 0; i < PUTS; i++)
        free(sides[i].buf);
}

static void gets(struct window *w, enum sync sync, uint64_t key, const unsigned char *model)
{
    struct side sides[GETS];
    struct layout there[GETS];
    int ranks[GETS];
    size_t places[GETS];

    for (int i = 0; i < GETS; i++) {
        state = test_mix(key + 2000 + (uint64_t)i);
        const int width = below(2) ? 4 : 1, elements = 1 + (int)below(BYTES_MAX / (size_t)width - 1);

        ranks[i] = (int)below((size_t)w->ranks);
        places[i] = below(w->size - PART);
        sides[i].buf = test_alloc(PART);
        make(&sides[i].layout, elements, width);
        make(&there[i], elements, width);
        operate(w, sync, 0, &sides[i], ranks[i], places[i], &there[i]);
        unmake(&there[i]);
    }
    end(w, sync);
    for (int i = 0; i < GETS; i++) {
        unsigned char want[PART];

        memset(want, TEST_CANARY, sizeof want);
        for (int b = 0; b < there[i].bytes; b++)
            want[sides[i].layout.at[b]] = model[(size_t)ranks[i] * w->size + places[i] + there[i].at[b]];
        for (int b = 0; b < PART; b++)
            CHECK_INT(((unsigned char *)sides[i].buf)[b], want[b]);
        unmake(&sides[i].layout);
        free(sides[i].buf);
    }
}

static void play(enum flavor flavor, enum sync sync, uint64_t key)
{
    struct window w;
    unsigned char *model;

    window_open(&w, flavor, (size_t)test_size * PART + PART, MPI_COMM_WORLD);
    model = test_alloc(w.size * (size_t)test_size);
    for (int round = 0; round < ROUNDS; round++) {
        begin(&w, sync);
        puts_of(&w, sync, w.rank, test_key(key, (uint64_t)round, (uint64_t)w.rank), model);
        for (int origin = 0; origin < test_size; origin++)
            if (origin != w.rank)
                puts_of(&w, sync, origin, test_key(key, (uint64_t)round, (uint64_t)origin), model);
        if (sync >= LOCK)
            CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, w.rank, 0, w.win));
        for (size_t i = 0; i < w.size; i++)
            CHECK(w.mem[i] == model[(size_t)w.rank * w.size + i],
                  "%s window, synchronization %d, byte %zu: %d, not %d", flavor_names[flavor], sync, i,
                  w.mem[i], model[(size_t)w.rank * w.size + i]);
        if (sync >= LOCK)
            CHECK_OK(MPI_Win_unlock(w.rank, w.win));
        CHECK_OK(MPI_Barrier(w.comm));
        begin(&w, sync);
        gets(&w, sync, test_key(key, (uint64_t)round, 77 + (uint64_t)w.rank), model);
    }
    free(model);
    if (sync == FENCE)
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
    window_close(&w);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &everybody));
    for (int flavor = 0; flavor < FLAVORS; flavor++)
        for (int sync = 0; sync < SYNCS; sync++)
            play(flavor, sync, (uint64_t)(flavor * 100 + sync));
    CHECK_OK(MPI_Group_free(&everybody));
    return test_end();
}
