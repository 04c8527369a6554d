/* SPDX-License-Identifier: BSD-3-Clause */
/* libparley_profile: what each thread has counted, and the order of things at the end. */
#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "profile.h"

/* One thread's books; they outlive it. */
struct thread {
    struct thread *next;
    struct profile_sum sums[PROFILE_FUNCTIONS_MAX];
};

static _Atomic(struct thread *) threads;
static _Thread_local struct thread *own;
static _Thread_local int depth;
static atomic_bool is_on = true;  /* MPI_Pcontrol */
static uint64_t start;            /* when MPI_Init ended; 0: it has not */

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static struct thread *make_thread(void)
{
    struct thread *thread = calloc(1, sizeof *thread), *first = atomic_load(&threads);

    if (!thread)
        abort();
    do
        thread->next = first;
    while (!atomic_compare_exchange_weak(&threads, &first, thread));
    return thread;
}

void profile_enter(struct profile_call *call, int function)
{
    *call = (struct profile_call){ .function = function, .comm = PROFILE_NO_COMM, .peer = -1 };
    call->counts = depth++ == 0 && start && atomic_load_explicit(&is_on, memory_order_relaxed);
    if (call->counts)
        call->begin = now();
}

bool profile_leave(struct profile_call *call)
{
    depth--;
    if (call->counts)
        call->ns = now() - call->begin;
    return call->counts;
}

static void add(struct profile_sum *sum, const struct profile_call *call)
{
    sum->calls++;
    sum->ns += call->ns;
    sum->bytes += call->bytes;
    if (call->ns > sum->longest)
        sum->longest = call->ns;
}

void profile_count(const struct profile_call *call)
{
    if (!call->counts)
        return;
    if (!own)
        own = make_thread();
    add(&own->sums[call->function], call);
    if (call->comm != PROFILE_NO_COMM)
        comms_count(call);
    if (trace_is_on)
        trace_note(call);
}

__attribute__((visibility("default"))) int MPI_Pcontrol(const int level, ...)
{
    atomic_store(&is_on, level > 0);
    return PMPI_Pcontrol(level);
}

void profile_begin(void)
{
    int size;

    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    comms_begin(size);
    trace_is_on = getenv("PARLEY_TRACE") != NULL;
    start = now();
}

uint64_t profile_ns_in_mpi(const struct profile_rank *rank)
{
    uint64_t ns = 0;

    for (int i = 0; i < profile_function_count; i++)
        ns += rank->sums[i].ns;
    return ns;
}

FILE *profile_open(const char *path)
{
    FILE *file = fopen(path, "w");

    if (!file)
        fprintf(stderr, "parley profile: cannot write %s: %s\n", path, strerror(errno));
    return file;
}

static void sum_threads(struct profile_rank *rank)
{
    for (const struct thread *thread = atomic_load(&threads); thread; thread = thread->next) {
        for (int i = 0; i < profile_function_count; i++) {
            struct profile_sum *sum = &rank->sums[i];
            const struct profile_sum *more = &thread->sums[i];

            sum->calls += more->calls;
            sum->ns += more->ns;
            sum->bytes += more->bytes;
            sum->longest = more->longest > sum->longest ? more->longest : sum->longest;
        }
    }
}

static void write_file(const char *name, const char *ending, const struct profile_rank *ranks, int size,
                       void (*write)(FILE *file, const struct profile_rank *ranks, int size))
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s%s", name, ending);
    file = profile_open(path);
    if (!file)
        return;
    write(file, ranks, size);
    if (fclose(file))
        fprintf(stderr, "parley profile: cannot write %s: %s\n", path, strerror(errno));
}

static void write_all(const char *name, const struct profile_rank *ranks, int size)
{
    report_write(stderr, ranks, size);
    write_file(name, ".json", ranks, size, json_write);
    write_file(name, ".svg", ranks, size, picture_write);
    fprintf(stderr, "details: %s.json, a picture: %s.svg\n", name, name);
}

static void report(void)
{
    const char *name = getenv("PARLEY_PROFILE"), *trace = getenv("PARLEY_TRACE");
    struct profile_rank *books = calloc(1, sizeof *books), *all;
    const uint64_t begin = start, end = now();
    int rank, size;

    start = 0;
    if (!begin || !books)
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (trace)
        trace_write(trace, begin, rank, size);
    if (!name)
        return;
    books->ns = end - begin;
    sum_threads(books);
    comms_copy(books);
    all = gather_ranks(books, rank, size);
    if (all)
        write_all(name, all, size);
}

/* Once: what the library does at its end counts no more. Numbers are written for programs, whatever the program's
 * language has for a decimal point. */
void profile_report(void)
{
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = uselocale(plain);

    report();
    uselocale(before);
    freelocale(plain);
}
