/* SPDX-License-Identifier: BSD-3-Clause */
/* Cost of matching by depth, inside the engine: ns per post and arrival while `depth` other entries stand
 * in the queue. Beside the matcher a plain list is measured, the simplest there can be.
 *
 * Arguments: greatest depth (default 100000). Output: a table; the minimum of several batches. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "match/match.h"

enum { BATCHES = 15, LIST_MAX = 10000, SOURCES = 64 };

/* As far apart as real requests and descriptors are. */
struct request {
    struct match_entry entry;
    char rest[192];
};

struct message {
    struct match_arrival arrival;
    char rest[64];
};

struct bench {
    struct match match;
    struct match_ctx ctx;
    struct request *requests;
    struct message *messages;
    unsigned *perm;  /* which of the queue's entries stands at a place */
    int32_t *tags;   /* of the entry */
    unsigned depth;
    uint64_t random;
    struct list list; /* of the plain list: either kind */
};

/* What is measured: the matcher or a plain list. Copied into each case at compile time. */
struct engine {
    struct match_arrival *(*post)(struct bench *, struct match_entry *);
    struct match_entry *(*arrive)(struct bench *, uint64_t key);
    void (*keep)(struct bench *, struct match_arrival *, uint64_t key);
};

static ALWAYS_INLINE struct match_arrival *match_engine_post(struct bench *bench, struct match_entry *recv)
{
    return match_post(&bench->ctx, recv);
}

static ALWAYS_INLINE struct match_entry *match_engine_arrive(struct bench *bench, uint64_t key)
{
    return match_arrive(&bench->ctx, key);
}

static ALWAYS_INLINE void match_engine_keep(struct bench *bench, struct match_arrival *arrival, uint64_t key)
{
    match_keep(&bench->ctx, arrival, key);
}

static NOINLINE struct match_arrival *list_post(struct bench *bench, struct match_entry *recv)
{
    list_append(&bench->list, &recv->node.ring);
    return NULL;
}

static NOINLINE struct match_entry *list_arrive(struct bench *bench, uint64_t key)
{
    LIST_FOR_EACH(link, &bench->list) {
        struct match_entry *recv = CONTAINER_OF(link, struct match_entry, node.ring);

        if (((key ^ recv->node.key) & recv->mask) == 0) {
            list_remove(link);
            return recv;
        }
    }
    return NULL;
}

static NOINLINE void list_keep(struct bench *bench, struct match_arrival *arrival, uint64_t key)
{
    arrival->exact.key = key;
    list_append(&bench->list, &arrival->all);
}

static NOINLINE struct match_arrival *list_search(struct bench *bench, struct match_entry *recv)
{
    LIST_FOR_EACH(link, &bench->list) {
        struct match_arrival *arrival = CONTAINER_OF(link, struct match_arrival, all);

        if (((recv->node.key ^ arrival->exact.key) & recv->mask) == 0) {
            list_remove(link);
            return arrival;
        }
    }
    return NULL;
}

static ALWAYS_INLINE unsigned random_below(struct bench *bench, unsigned n)
{
    bench->random ^= bench->random << 13;
    bench->random ^= bench->random >> 7;
    bench->random ^= bench->random << 17;
    return (unsigned)((bench->random >> 32) * n >> 32);
}

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void wrong(const char *where)
{
    fprintf(stderr, "match_depth: %s found the wrong entry\n", where);
    exit(1);
}

static ALWAYS_INLINE void post_tag(struct bench *bench, const struct engine engine, unsigned at, int32_t tag,
                                   bool any)
{
    struct match_entry *recv = &bench->requests[at].entry;

    match_entry_init(recv, match_key(tag % SOURCES, tag), match_mask(any, false));
    bench->tags[at] = tag;
    if (engine.post(bench, recv))
        wrong("post");
}

static ALWAYS_INLINE void arrive_tag(struct bench *bench, const struct engine engine, unsigned at)
{
    const int32_t tag = bench->tags[at];

    if (engine.arrive(bench, match_key(tag % SOURCES, tag)) != &bench->requests[at].entry)
        wrong("arrive");
}

/* Receives that never match stand ahead, exact or with any source. */
static ALWAYS_INLINE double ahead(struct bench *bench, const struct engine engine, unsigned steps, bool any)
{
    double start;

    for (unsigned i = 0; i < bench->depth; i++)
        post_tag(bench, engine, i, (int32_t)i + 1000, any);
    start = now_ns();
    for (unsigned i = 0; i < steps; i++) {
        post_tag(bench, engine, bench->depth, 7, false);
        arrive_tag(bench, engine, bench->depth);
    }
    start = now_ns() - start;
    for (unsigned i = 0; i < bench->depth; i++)
        arrive_tag(bench, engine, i);
    return start;
}

/* Messages arrive in the order of the receives, as of a window of nonblocking receives. */
static ALWAYS_INLINE double window(struct bench *bench, const struct engine engine, unsigned steps, bool same)
{
    unsigned head = 0, tail = 0;
    int32_t tag = 0;
    double start;

    for (; tail < bench->depth; tail++)
        post_tag(bench, engine, tail, same ? 5 : tag++, false);
    start = now_ns();
    for (unsigned i = 0; i < steps; i++) {
        post_tag(bench, engine, tail, same ? 5 : tag++, false);
        tail = tail == bench->depth ? 0 : tail + 1;
        arrive_tag(bench, engine, head);
        head = head == bench->depth ? 0 : head + 1;
    }
    start = now_ns() - start;
    for (; head != tail; head = head == bench->depth ? 0 : head + 1)
        arrive_tag(bench, engine, head);
    return start;
}

/* Messages arrive in random order; one receive in ten takes any source. */
static ALWAYS_INLINE double shuffled(struct bench *bench, const struct engine engine, unsigned steps)
{
    unsigned *perm = bench->perm;
    int32_t tag = 0;
    double start;

    for (unsigned i = 0; i <= bench->depth; i++)
        perm[i] = i;
    for (; tag < (int32_t)bench->depth; tag++)
        post_tag(bench, engine, (unsigned)tag, tag, tag % 10 == 9);
    start = now_ns();
    for (unsigned i = 0; i < steps; i++) {
        const unsigned at = random_below(bench, bench->depth + 1);
        const unsigned found = perm[at];

        post_tag(bench, engine, perm[bench->depth], tag, tag % 10 == 9);
        tag++;
        arrive_tag(bench, engine, found);
        perm[at] = perm[bench->depth];
        perm[bench->depth] = found;
    }
    start = now_ns() - start;
    for (unsigned i = 0; i < bench->depth; i++)
        arrive_tag(bench, engine, perm[i]);
    return start;
}

static ALWAYS_INLINE void keep_tag(struct bench *bench, const struct engine engine, unsigned at, int32_t tag)
{
    bench->tags[at] = tag;
    engine.keep(bench, &bench->messages[at].arrival, match_key(tag % SOURCES, tag));
}

static ALWAYS_INLINE void fetch_tag(struct bench *bench, const struct engine engine, unsigned at, bool any)
{
    const int32_t tag = bench->tags[at];
    struct match_entry *recv = &bench->requests[0].entry;

    match_entry_init(recv, match_key(tag % SOURCES, tag), match_mask(any, false));
    if (engine.post(bench, recv) != &bench->messages[at].arrival)
        wrong("post past unexpected messages");
}

/* Unexpected messages are received in random order, with their source or with any. */
static ALWAYS_INLINE double unexpected(struct bench *bench, const struct engine engine, unsigned steps,
                                       bool any)
{
    unsigned *perm = bench->perm;
    int32_t tag = 0;
    double start;

    for (unsigned i = 0; i <= bench->depth; i++)
        perm[i] = i;
    for (; tag < (int32_t)bench->depth; tag++)
        keep_tag(bench, engine, (unsigned)tag, tag);
    start = now_ns();
    for (unsigned i = 0; i < steps; i++) {
        const unsigned at = random_below(bench, bench->depth + 1);
        const unsigned found = perm[at];

        keep_tag(bench, engine, perm[bench->depth], tag++);
        fetch_tag(bench, engine, found, any);
        perm[at] = perm[bench->depth];
        perm[bench->depth] = found;
    }
    start = now_ns() - start;
    for (unsigned i = 0; i < bench->depth; i++)
        fetch_tag(bench, engine, perm[i], any);
    return start;
}

enum workload { AHEAD, WINDOW, WINDOW_SAME, SHUFFLED, AHEAD_ANY, UNEXPECTED, UNEXPECTED_ANY, WORKLOADS };

static const char *const workload_name[] = {
    [AHEAD] = "receives of other tags ahead",
    [WINDOW] = "window in order, distinct tags",
    [WINDOW_SAME] = "window in order, same tag",
    [SHUFFLED] = "random order, 10 % any source",
    [AHEAD_ANY] = "any-source receives ahead",
    [UNEXPECTED] = "unexpected, random, exact",
    [UNEXPECTED_ANY] = "unexpected, random, any source",
};

static ALWAYS_INLINE double run(struct bench *bench, const struct engine engine, enum workload workload,
                                unsigned steps)
{
    switch (workload) {
    case AHEAD:
    case AHEAD_ANY:
        return ahead(bench, engine, steps, workload == AHEAD_ANY);
    case WINDOW:
    case WINDOW_SAME:
        return window(bench, engine, steps, workload == WINDOW_SAME);
    case SHUFFLED:
        return shuffled(bench, engine, steps);
    default:
        return unexpected(bench, engine, steps, workload == UNEXPECTED_ANY);
    }
}

static NOINLINE double run_match(struct bench *bench, enum workload workload, unsigned steps)
{
    const struct engine engine = { match_engine_post, match_engine_arrive, match_engine_keep };

    return run(bench, engine, workload, steps);
}

static NOINLINE double run_list(struct bench *bench, enum workload workload, unsigned steps)
{
    if (workload >= UNEXPECTED)
        return run(bench, (struct engine){ list_search, list_arrive, list_keep }, workload, steps);
    return run(bench, (struct engine){ list_post, list_arrive, list_keep }, workload, steps);
}

/* The list is quadratic when the queue is set up and taken down, so it gets fewer steps and batches. */
static double measure(struct bench *bench, enum workload workload, bool with_list)
{
    const unsigned depth = bench->depth;
    const unsigned steps = !with_list ? 20000 + 2 * depth : depth < 100 ? 20000 : 2000;
    const int batches = depth < 10000 ? BATCHES : with_list ? 1 : 5;
    double best = 1e99;

    for (int i = 0; i < batches; i++) {
        const double ns = with_list ? run_list(bench, workload, steps) : run_match(bench, workload, steps);

        best = ns / steps < best ? ns / steps : best;
    }
    return best;
}

static void print_rows(struct bench *bench, const unsigned *depths, size_t n, bool with_list)
{
    for (int workload = 0; workload < WORKLOADS; workload++) {
        printf("%-32s %-7s", workload_name[workload], with_list ? "list" : "matcher");
        for (size_t i = 0; i < n; i++) {
            bench->depth = depths[i];
            if (with_list && depths[i] > LIST_MAX)
                printf("        -");
            else
                printf(" %8.1f", measure(bench, (enum workload)workload, with_list));
            fflush(stdout);
        }
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    static const unsigned all_depths[] = { 0, 2, 8, 16, 64, 1000, 10000, 100000, 1000000 };
    static struct bench bench = { .random = 88172645463325252 };
    const unsigned max = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100000;
    size_t n = 1;

    bench.requests = aligned_alloc(CACHE_LINE, (max + 1) * sizeof *bench.requests);
    bench.messages = aligned_alloc(CACHE_LINE, (max + 1) * sizeof *bench.messages);
    bench.perm = malloc((max + 1) * sizeof *bench.perm);
    bench.tags = malloc((max + 1) * sizeof *bench.tags);
    if (!bench.requests || !bench.messages || !bench.perm || !bench.tags)
        return 1;
    match_init(&bench.match);
    match_ctx_init(&bench.ctx, &bench.match, 1);
    list_init(&bench.list);
    printf("ns per post and arrival             depth");
    while (n < ARRAY_LEN(all_depths) && all_depths[n] <= max)
        n++;
    for (size_t i = 0; i < n; i++)
        printf(" %8u", all_depths[i]);
    printf("\n");
    print_rows(&bench, all_depths, n, false);
    print_rows(&bench, all_depths, n, true);
    return 0;
}
