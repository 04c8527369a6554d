/* SPDX-License-Identifier: BSD-3-Clause */
/* libparley_profile: a line of time for each thread, in the format that Chrome's and Perfetto's viewers read. Each
 * thread keeps what it did; at the end rank 0 asks one rank after the other and writes. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"

enum { EVENTS_IN_BLOCK = 8192 };

/* A call; times in nanoseconds of the machine's clock. */
struct event {
    uint64_t begin, ns;
    int64_t bytes;
    int16_t function, thread;
    int32_t peer;
};

struct block {
    struct block *next;
    int count;
    struct event events[EVENTS_IN_BLOCK];
};

bool trace_is_on;

static struct {
    struct block *first, **last;
    int threads;
    long long kept, dropped, max;
    pthread_mutex_t lock;
} trace = { .last = &trace.first, .lock = PTHREAD_MUTEX_INITIALIZER };

static _Thread_local struct block *own;
static _Thread_local int own_number = -1;

/* Room for so many events in a process: PARLEY_TRACE_EVENTS, a million without it. */
static long long limit(void)
{
    const char *text = getenv("PARLEY_TRACE_EVENTS");

    return text && atoll(text) > 0 ? atoll(text) : 1000000;
}

/* Begin a new block; NULL: there is no room for more. */
static struct block *more(void)
{
    struct block *block = NULL;

    pthread_mutex_lock(&trace.lock);
    if (!trace.max)
        trace.max = limit();
    if (own_number < 0)
        own_number = trace.threads++;
    if (trace.kept < trace.max)
        block = calloc(1, sizeof *block);
    if (block) {
        trace.kept += EVENTS_IN_BLOCK;
        *trace.last = block;
        trace.last = &block->next;
    } else {
        trace.dropped++;
    }
    pthread_mutex_unlock(&trace.lock);
    return block;
}

void trace_note(const struct profile_call *call)
{
    if (!own || own->count == EVENTS_IN_BLOCK)
        own = more();
    if (own)
        own->events[own->count++] = (struct event){
            call->begin, call->ns, call->bytes, (int16_t)call->function, (int16_t)own_number, call->peer,
        };
}

static void write_events(FILE *file, const struct event *events, int count, int rank, uint64_t start)
{
    for (int i = 0; i < count; i++) {
        const struct event *event = &events[i];

        fprintf(file, ",\n{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f",
                profile_functions[event->function].name, profile_functions[event->function].topic, rank,
                event->thread, ((double)event->begin - (double)start) / 1e3, (double)event->ns / 1e3);
        if (event->peer >= 0)
            fprintf(file, ",\"args\":{\"to\":%d,\"bytes\":%lld}}", event->peer, (long long)event->bytes);
        else if (event->bytes)
            fprintf(file, ",\"args\":{\"bytes\":%lld}}", (long long)event->bytes);
        else
            putc('}', file);
    }
}

static void write_name(FILE *file, int rank)
{
    fprintf(file, "%s\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"rank %d\"}}",
            rank ? "," : "", rank, rank);
}

/* Blocks of another rank, ended by an empty one. */
static void write_other(FILE *file, MPI_Comm comm, int rank, uint64_t start)
{
    struct event *events = malloc(EVENTS_IN_BLOCK * sizeof *events);
    MPI_Status status;
    int bytes;

    if (!events)
        abort();
    write_name(file, rank);
    do {
        PMPI_Recv(events, EVENTS_IN_BLOCK * (int)sizeof *events, MPI_BYTE, rank, 0, comm, &status);
        PMPI_Get_count(&status, MPI_BYTE, &bytes);
        write_events(file, events, bytes / (int)sizeof *events, rank, start);
    } while (bytes);
    free(events);
}

static void send_own(MPI_Comm comm)
{
    for (const struct block *block = trace.first; block; block = block->next)
        PMPI_Send(block->events, block->count * (int)sizeof block->events[0], MPI_BYTE, 0, 0, comm);
    PMPI_Send(NULL, 0, MPI_BYTE, 0, 0, comm);
}

static void write_all(FILE *file, MPI_Comm comm, int size, uint64_t start)
{
    fprintf(file, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    write_name(file, 0);
    for (const struct block *block = trace.first; block; block = block->next)
        write_events(file, block->events, block->count, 0, start);
    for (int rank = 1; rank < size; rank++)
        write_other(file, comm, rank, start);
    fprintf(file, "\n]}\n");
}

void trace_write(const char *path, uint64_t start, int rank, int size)
{
    long long dropped = 0;
    MPI_Comm comm;
    FILE *file;

    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    PMPI_Bcast(&start, 1, MPI_UINT64_T, 0, comm);
    PMPI_Reduce(&trace.dropped, &dropped, 1, MPI_LONG_LONG, MPI_SUM, 0, comm);
    if (rank) {
        send_own(comm);
    } else {
        file = profile_open(path);
        if (!file) /* the others wait to be heard */
            file = fopen("/dev/null", "w");
        write_all(file, comm, size, start);
        if (fclose(file))
            fprintf(stderr, "parley trace: cannot write %s: %s\n", path, strerror(errno));
        else
            fprintf(stderr, "parley trace: %s\n", path);
        if (dropped)
            fprintf(stderr, "parley trace: %lld calls are not in it; PARLEY_TRACE_EVENTS makes more room\n", dropped);
    }
    PMPI_Comm_free(&comm);
}
