/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of diagnostics: an MPI program that makes the mistake its arguments say.
 *   faults NAME [NUMBER]     all ranks make it; "line NAME" prints the number of the line it stands in */
#define _GNU_SOURCE
#include <mpi.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int rank, size, other, data[4], result[4];
static int number; /* of the command line */
static int line;   /* print it instead of making the mistake */
static MPI_Request request = MPI_REQUEST_NULL;

/* What follows makes the mistake, in this very line, and it alone. */
#define FAULT line ? (printf("%d\n", __LINE__), exit(0)) : (void)

static void errors_class(void)
{
    FAULT MPI_Comm_call_errhandler(MPI_COMM_WORLD, number);
}

static void user_code(void)
{
    int code;

    MPI_Add_error_class(&code);
    MPI_Add_error_string(code, "the user's own");
    FAULT MPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
}

static void count(void)
{
    FAULT MPI_Send(data, -1, MPI_INT, other, 0, MPI_COMM_WORLD);
}

static void type(void)
{
    FAULT MPI_Send(data, 1, MPI_DATATYPE_NULL, other, 0, MPI_COMM_WORLD);
}

static void tag(void)
{
    FAULT MPI_Send(data, 1, MPI_INT, other, -5, MPI_COMM_WORLD);
}

static void comm(void)
{
    FAULT MPI_Send(data, 1, MPI_INT, other, 0, MPI_COMM_NULL);
}

static void peer(void)
{
    FAULT MPI_Send(data, 1, MPI_INT, 4711 + rank, 0, MPI_COMM_WORLD);
}

static void requests(void)
{
    request = (MPI_Request)MPI_COMM_WORLD;
    FAULT MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void root(void)
{
    FAULT MPI_Bcast(data, 1, MPI_INT, size, MPI_COMM_WORLD);
}

static void group(void)
{
    FAULT MPI_Group_size(MPI_GROUP_NULL, data);
}

static void operation(void)
{
    FAULT MPI_Allreduce(data, result, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD);
}

static void argument(void)
{
    FAULT MPI_Comm_size(MPI_COMM_WORLD, NULL);
}

static void truncation(void)
{
    if (rank == 0 && !line)
        MPI_Send(data, 4, MPI_INT, 1, 7, MPI_COMM_WORLD);
    if (rank == 1 || line)
        FAULT MPI_Recv(data, 2, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void truncation_in_wait(void)
{
    if (rank == 0 && !line)
        MPI_Send(data, 4, MPI_INT, 1, 7, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Irecv(data, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &request);
    if (rank == 1 || line)
        FAULT MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void inside(void *in, void *inout, int *len, MPI_Datatype *datatype)
{
    (void)in;
    (void)inout;
    (void)len;
    FAULT MPI_Comm_size(MPI_COMM_NULL, (int *)datatype);
}

/* The call site is that of the call in the callback. */
static void callback(void)
{
    MPI_Op op;

    if (line)
        inside(NULL, NULL, NULL, NULL);
    MPI_Op_create(inside, 1, &op);
    MPI_Allreduce(data, result, 1, MPI_INT, op, MPI_COMM_WORLD);
}

static void info(const char *key, const char *value)
{
    MPI_Info object;

    MPI_Info_create(&object);
    FAULT MPI_Info_set(object, key, value);
}

static void info_key(void)
{
    info("", "x");
}

static void info_value(void)
{
    char *value = malloc(5000);

    memset(value, 'x', 4999);
    value[4999] = 0;
    info("key", value);
}

static void info_nokey(void)
{
    MPI_Info object;

    MPI_Info_create(&object);
    FAULT MPI_Info_delete(object, "key");
}

static void info_handle(void)
{
    FAULT MPI_Info_set(MPI_INFO_ENV, "key", "value");
}

static void keyval(void)
{
    FAULT MPI_Comm_get_attr(MPI_COMM_WORLD, 4711, data, result);
}

static void *wait_for_nobody(void *arg)
{
    MPI_Recv(arg, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

static void threads(void)
{
    static int value;
    pthread_t thread;

    if (rank == 0) {
        pthread_create(&thread, NULL, wait_for_nobody, &value);
        MPI_Recv(&value, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    sleep(2);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void memory(void)
{
    MPI_Comm_attach_buffer(MPI_COMM_WORLD, MPI_BUFFER_AUTOMATIC, 0);
    FAULT MPI_Bsend_c(data, INT64_C(1) << 57, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
}

static void handler(void)
{
    FAULT MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL);
}

static void fortran(void)
{
    const int yes = 1, no = 0;

    MPI_Abi_set_fortran_booleans(4, (void *)(uintptr_t)&yes, (void *)(uintptr_t)&no);
    FAULT MPI_Abi_set_fortran_booleans(4, (void *)(uintptr_t)&yes, (void *)(uintptr_t)&no);
}

static void neighbors(void)
{
    FAULT MPI_Neighbor_allgather(data, 1, MPI_INT, result, 1, MPI_INT, MPI_COMM_WORLD);
}

/* Rank 1 does not come. */
static MPI_Request begun(void)
{
    MPI_Request request;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    return request;
}

static void disagree(void)
{
    if (!other)
        MPI_Bcast(data, 1, MPI_INT, 1, MPI_COMM_WORLD);
    else
        FAULT MPI_Allreduce(data, result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void cancel_coll(void)
{
    MPI_Request request = begun();

    FAULT MPI_Cancel(&request);
}

static void free_coll(void)
{
    MPI_Request request = begun();

    FAULT MPI_Request_free(&request);
}

static void twice(void)
{
    FAULT MPI_Init(NULL, NULL);
}

static void finalized(void)
{
    MPI_Finalize();
    FAULT MPI_Comm_rank(MPI_COMM_WORLD, data);
}

static void no_buffer(void)
{
    for (;;)
        FAULT MPI_Bsend(data, 4, MPI_INT, other, 0, MPI_COMM_WORLD);
}

static void buffer_twice(void)
{
    static char room[1000];

    MPI_Buffer_attach(room, sizeof room);
    FAULT MPI_Buffer_attach(room, sizeof room);
}

static void small_buffer(void)
{
    static char room[1000];

    MPI_Buffer_attach(room, sizeof room);
    for (;;)
        FAULT MPI_Bsend(data, 4, MPI_INT, other, 0, MPI_COMM_WORLD);
}

static void in_place(void)
{
    FAULT MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void same_buffer(void)
{
    FAULT MPI_Allreduce(data, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void null_buffer(void)
{
    FAULT MPI_Send(NULL, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
}

/* Half of what is sent is not there. */
static void bad_address(void)
{
    const size_t length = 1 << 20;
    char *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (rank == 0) {
        munmap(memory + length / 2, length / 2);
        MPI_Send(memory, (int)length, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    } else {
        FAULT MPI_Recv(memory, (int)length, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 is killed while rank 1 has still to receive from it. */
static void gone(void)
{
    static char text[1 << 20];

    if (rank == 0 && !line) {
        MPI_Send(text, sizeof text, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        MPI_Isend(text, sizeof text, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
        MPI_Send(data, 0, MPI_INT, 1, 1, MPI_COMM_WORLD);
        raise(SIGKILL);
    }
    if (!line) {
        MPI_Recv(text, sizeof text, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(data, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sleep(1);
    }
    FAULT MPI_Recv(text, sizeof text, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 0 is killed, and rank 1 reads from its window. */
static void gone_window(void)
{
    static char text[1 << 20];
    MPI_Win win;

    if (!line) {
        MPI_Win_create(text, sizeof text, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_lock_all(0, win);
        MPI_Get(text, rank ? 1000 : 0, MPI_CHAR, 0, 0, rank ? 1000 : 0, MPI_CHAR, win);
        MPI_Win_flush_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            raise(SIGKILL);
        sleep(1);
    }
    FAULT MPI_Get(text, sizeof text, MPI_CHAR, 0, 0, sizeof text, MPI_CHAR, win);
}

static void predefined(void)
{
    MPI_Comm world = MPI_COMM_WORLD;

    FAULT MPI_Comm_free(&world);
}

static void handle(void)
{
    static char nothing[1000];

    FAULT MPI_Comm_size((MPI_Comm)(void *)nothing, data);
}

static void zero(void)
{
    FAULT MPI_Comm_size((MPI_Comm)0, data);
}

static void not_persistent(void)
{
    MPI_Irecv(data, 1, MPI_INT, other, 0, MPI_COMM_WORLD, &request);
    FAULT MPI_Start(&request);
}

static void active(void)
{
    MPI_Recv_init(data, 1, MPI_INT, other, 0, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    FAULT MPI_Start(&request);
}

static void wrong_type(void)
{
    static double from, to;

    FAULT MPI_Allreduce(&from, &to, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD);
}

static void flood(void)
{
    static char text[1000];
    static MPI_Request sends[5000];

    for (int i = 0; i < 5000 && rank == 0; i++)
        MPI_Isend(text, sizeof text, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &sends[i]);
    if (rank == 0)
        MPI_Send(text, 0, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Waitall(5000, sends, MPI_STATUSES_IGNORE);
    if (rank == 1)
        MPI_Recv(text, 0, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 5000 && rank == 1; i++)
        MPI_Recv(text, sizeof text, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void end_by_abort(void)
{
    FAULT MPI_Abort(MPI_COMM_SELF, number);
}

static void wait_for_ever(void)
{
    MPI_Recv(data, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void sleep_for_ever(void)
{
    for (;;)
        pause();
}

static void leave(void)
{
    exit(0);
}

static void nothing(void)
{
}

/* --- before MPI_Init --- */

static void early(void)
{
    FAULT MPI_Comm_rank(MPI_COMM_WORLD, data);
}

static void no_world(void)
{
    MPI_Session session;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    FAULT MPI_Finalize();
}

/* Puts a file of its own in place of the shared memory of the job. */
static void lost_segment(void)
{
    int segment = -1;
    const int fd = memfd_create("other", 0);

    if (sscanf(getenv("PARLEY_JOB"), "%*d:%*d:%d:", &segment) == 1 && !ftruncate(fd, 16 << 20))
        dup2(fd, segment);
    MPI_Init(NULL, NULL);
}

static const struct {
    const char *name;
    void (*make)(void);
    int is_before;
} faults[] = {
    { "class", errors_class, 0 },
    { "user_code", user_code, 0 },
    { "count", count, 0 },
    { "type", type, 0 },
    { "tag", tag, 0 },
    { "comm", comm, 0 },
    { "peer", peer, 0 },
    { "requests", requests, 0 },
    { "root", root, 0 },
    { "group", group, 0 },
    { "operation", operation, 0 },
    { "argument", argument, 0 },
    { "truncation", truncation, 0 },
    { "truncation_in_wait", truncation_in_wait, 0 },
    { "callback", callback, 0 },
    { "info_key", info_key, 0 },
    { "info_value", info_value, 0 },
    { "info_nokey", info_nokey, 0 },
    { "info_handle", info_handle, 0 },
    { "keyval", keyval, 0 },
    { "threads", threads, 0 },
    { "memory", memory, 0 },
    { "handler", handler, 0 },
    { "fortran", fortran, 0 },
    { "neighbors", neighbors, 0 },
    { "disagree", disagree, 0 },
    { "cancel_coll", cancel_coll, 0 },
    { "free_coll", free_coll, 0 },
    { "twice", twice, 0 },
    { "finalized", finalized, 0 },
    { "no_buffer", no_buffer, 0 },
    { "buffer_twice", buffer_twice, 0 },
    { "small_buffer", small_buffer, 0 },
    { "in_place", in_place, 0 },
    { "same_buffer", same_buffer, 0 },
    { "null_buffer", null_buffer, 0 },
    { "bad_address", bad_address, 0 },
    { "gone", gone, 0 },
    { "gone_window", gone_window, 0 },
    { "predefined", predefined, 0 },
    { "handle", handle, 0 },
    { "zero", zero, 0 },
    { "not_persistent", not_persistent, 0 },
    { "active", active, 0 },
    { "wrong_type", wrong_type, 0 },
    { "flood", flood, 0 },
    { "abort", end_by_abort, 0 },
    { "wait", wait_for_ever, 0 },
    { "sleep", sleep_for_ever, 0 },
    { "leave", leave, 0 },
    { "nothing", nothing, 0 },
    { "early", early, 1 },
    { "no_world", no_world, 1 },
    { "lost_segment", lost_segment, 1 },
};

static void make(const char *name, int is_before)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (!strcmp(faults[i].name, name) && faults[i].is_before == is_before)
            faults[i].make();
}

int main(int argc, char **argv)
{
    line = argc > 2 && !strcmp(argv[1], "line");
    const char *name = argv[1 + line];

    number = !line && argc > 2 ? atoi(argv[2]) : 0;
    make(name, 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    other = (rank + 1) % size;
    make(name, 0);
    MPI_Finalize();
    return 0;
}
