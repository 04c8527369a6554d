/* SPDX-License-Identifier: BSD-3-Clause */
/* Run as a client of IMPI by peer_test.py, which plays the other clients: does what its arguments say, one after the
 * other, each a word and numbers with commas between them. What it prints is compared there.
 *
 *   send,DEST,TAG,LEN   ssend     isend,SLOT,DEST,TAG,LEN   issend   recv,SOURCE,TAG,LEN   irecv,SLOT,SOURCE,TAG,LEN
 *   wait,SLOT   test,SLOT   cancel,SLOT   probe,SOURCE,TAG   barrier   bcast,ROOT,LEN   reduce,ROOT,COUNT
 *   ordered,ROOT   allreduce,COUNT   attributes   values,DEST,TAG   comm,SLOT   dup   split,COLOR   free
 *   ibarrier   idup   window   file   spawn   accept   connect   abort
 *
 * Byte i of a message is 7 i + its tag. SOURCE and TAG below 0 are any. Errors are returned, and printed. */
#include <mpi.h>
#include <mpix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 64, NUMBERS = 5, LONGEST = 1 << 22 };

static int rank, number[NUMBERS];
static MPI_Request requests[SLOTS];
static unsigned char *buffers[SLOTS];
static MPI_Comm comms[SLOTS], comm;

static void say_error(const char *what, int rc)
{
    int class;

    MPI_Error_class(rc, &class);
    if (rc)
        printf("%d: %s: class %d\n", rank, what, class);
}

static unsigned char *fill(int slot, int tag, int len)
{
    for (int i = 0; i < len; i++)
        buffers[slot][i] = (unsigned char)(7 * i + tag);
    return buffers[slot];
}

static void say_message(const MPI_Status *status, const unsigned char *data, int rc)
{
    int len, bad = 0;

    MPI_Get_count(status, MPI_BYTE, &len);
    for (int i = 0; i < len; i++)
        bad |= data[i] != (unsigned char)(7 * i + status->MPI_TAG);
    printf("%d: got %d bytes from %d tag %d%s\n", rank, len, status->MPI_SOURCE, status->MPI_TAG,
           rc ? " with an error" : bad ? " and they are wrong" : "");
    say_error("recv", rc);
}

static int any(int value, int wildcard)
{
    return value < 0 ? wildcard : value;
}

static void finish(int slot)
{
    MPI_Status status;
    const int rc = MPI_Wait(&requests[slot], &status);
    int is_cancelled;

    MPI_Test_cancelled(&status, &is_cancelled);
    if (is_cancelled)
        printf("%d: cancelled\n", rank);
    else if (status.MPI_TAG >= 0)
        say_message(&status, buffers[slot], rc);
    else
        say_error("wait", rc);
}

static void test(int slot)
{
    int flag;

    for (int i = 0; i < 1000; i++) /* others are to have had time */
        MPI_Iprobe(MPI_ANY_SOURCE, 32000, comm, &flag, MPI_STATUS_IGNORE);
    MPI_Request_get_status(requests[slot], &flag, MPI_STATUS_IGNORE);
    printf("%d: %s\n", rank, flag ? "done" : "not done");
}

static void messages(const char *word)
{
    const int *n = number, any_source = any(n[0], MPI_ANY_SOURCE), any_tag = any(n[1], MPI_ANY_TAG);
    MPI_Status status;
    int len, rc;

    if (!strcmp(word, "send")) {
        say_error(word, MPI_Send(fill(0, n[1], n[2]), n[2], MPI_BYTE, n[0], n[1], comm));
    } else if (!strcmp(word, "ssend")) {
        say_error(word, MPI_Ssend(fill(0, n[1], n[2]), n[2], MPI_BYTE, n[0], n[1], comm));
    } else if (!strcmp(word, "isend")) {
        MPI_Isend(fill(n[0], n[2], n[3]), n[3], MPI_BYTE, n[1], n[2], comm, &requests[n[0]]);
    } else if (!strcmp(word, "issend")) {
        MPI_Issend(fill(n[0], n[2], n[3]), n[3], MPI_BYTE, n[1], n[2], comm, &requests[n[0]]);
    } else if (!strcmp(word, "recv")) {
        rc = MPI_Recv(buffers[0], n[2], MPI_BYTE, any_source, any_tag, comm, &status);
        say_message(&status, buffers[0], rc);
    } else if (!strcmp(word, "irecv")) {
        MPI_Irecv(buffers[n[0]], n[3], MPI_BYTE, any(n[1], MPI_ANY_SOURCE), any(n[2], MPI_ANY_TAG), comm,
                  &requests[n[0]]);
    } else {
        MPI_Probe(any_source, any_tag, comm, &status);
        MPI_Get_count(&status, MPI_BYTE, &len);
        printf("%d: probed %d bytes from %d tag %d\n", rank, len, status.MPI_SOURCE, status.MPI_TAG);
    }
}

/* x -> a x + b, one after the other: does not commute. */
static void compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
    const int *first = in;
    int *second = inout;

    (void)type;
    for (int i = 0; i < *len; i++, first += 2, second += 2) {
        second[1] += second[0] * first[1];
        second[0] *= first[0];
    }
}

static void ordered(int root)
{
    int mine[2] = { rank % 3 + 1, rank + 1 }, all[2] = { 0, 0 };
    MPI_Datatype pair;
    MPI_Op op;

    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &op);
    say_error("ordered", MPI_Reduce(mine, all, 1, pair, op, root, comm));
    if (rank == root)
        printf("%d: ordered %d %d\n", rank, all[0], all[1]);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
}

/* Element i of rank r is r + i. */
static void reduce(int root, int count, int is_all)
{
    int *mine = (int *)(void *)buffers[0], *all = (int *)(void *)buffers[1];

    for (int i = 0; i < count; i++)
        mine[i] = rank + i;
    if (is_all)
        say_error("allreduce", MPI_Allreduce(mine, all, count, MPI_INT, MPI_SUM, comm));
    else
        say_error("reduce", MPI_Reduce(mine, all, count, MPI_INT, MPI_SUM, root, comm));
    if (is_all || rank == root)
        printf("%d: sums %d to %d\n", rank, all[0], all[count - 1]);
}

static void collective(const char *word)
{
    const int *n = number;
    MPI_Status status = { .MPI_SOURCE = 0 };

    if (!strcmp(word, "barrier")) {
        say_error(word, MPI_Barrier(comm));
    } else if (!strcmp(word, "bcast")) {
        if (rank == n[0])
            fill(0, 120, n[1]);
        say_error(word, MPI_Bcast(buffers[0], n[1], MPI_BYTE, n[0], comm));
        status.MPI_SOURCE = n[0];
        status.MPI_TAG = 120;
        MPI_Status_set_elements(&status, MPI_BYTE, n[1]);
        say_message(&status, buffers[0], 0);
    } else if (!strcmp(word, "ordered")) {
        ordered(n[0]);
    } else {
        reduce(n[0], n[0] < 0 || strcmp(word, "reduce") ? n[0] : n[1], strcmp(word, "reduce"));
    }
}

static int attribute(int keyval)
{
    int *value = NULL, flag;

    MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag);
    return flag ? *value : -1;
}

static void attributes(void)
{
    int size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("%d: of %d, client %d of %d, host %d of %d, tags to %d\n", rank, size, attribute(IMPI_CLIENT_COLOR),
           attribute(IMPI_CLIENT_SIZE), attribute(IMPI_HOST_COLOR), attribute(IMPI_HOST_SIZE), attribute(MPI_TAG_UB));
}

/* One message of each of some types, and their answer as sent. */
static void values(int dest, int tag)
{
    static const struct {
        long l;
        double d;
        float f;
        int i;
        short s;
        long long ll;
        long double ld;
    } v = { -2, 1.5, -0.25F, 0x01020304, -3, 1LL << 40, 1.0L };
    long l = 0;
    double d = 0;

    MPI_Send(&v.l, 1, MPI_LONG, dest, tag, comm);
    MPI_Send(&v.d, 1, MPI_DOUBLE, dest, tag, comm);
    MPI_Send(&v.f, 1, MPI_FLOAT, dest, tag, comm);
    MPI_Send(&v.i, 1, MPI_INT, dest, tag, comm);
    MPI_Send(&v.s, 1, MPI_SHORT, dest, tag, comm);
    MPI_Send(&v.ll, 1, MPI_LONG_LONG, dest, tag, comm);
    MPI_Send(&v.ld, 1, MPI_LONG_DOUBLE, dest, tag, comm);
    MPI_Recv(&l, 1, MPI_LONG, dest, tag, comm, MPI_STATUS_IGNORE);
    MPI_Recv(&d, 1, MPI_DOUBLE, dest, tag, comm, MPI_STATUS_IGNORE);
    printf("%d: values %ld %g\n", rank, l, d);
}

/* A new communicator, which later words use. */
static void make(const char *word, int slot)
{
    int rc;

    if (!strcmp(word, "comm")) {
        comm = slot ? comms[slot] : MPI_COMM_WORLD;
        return;
    }
    if (!strcmp(word, "free")) {
        say_error(word, MPI_Comm_free(&comm));
        comm = MPI_COMM_WORLD;
        return;
    }
    rc = !strcmp(word, "dup") ? MPI_Comm_dup(comm, &comm) : MPI_Comm_split(comm, number[0], rank, &comm);
    say_error(word, rc);
}

static void refused(const char *word)
{
    MPI_Request request;
    MPI_Comm copy;
    MPI_File file;
    MPI_Win win;

    if (!strcmp(word, "ibarrier"))
        say_error(word, MPI_Ibarrier(comm, &request));
    else if (!strcmp(word, "idup"))
        say_error(word, MPI_Comm_idup(comm, &copy, &request));
    else if (!strcmp(word, "file"))
        say_error(word, MPI_File_open(comm, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    else if (!strcmp(word, "spawn"))
        say_error(word, MPI_Comm_spawn("true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, comm, &copy, MPI_ERRCODES_IGNORE));
    else if (!strcmp(word, "accept"))
        say_error(word, MPI_Comm_accept("", MPI_INFO_NULL, 0, comm, &copy));
    else if (!strcmp(word, "connect"))
        say_error(word, MPI_Comm_connect("", MPI_INFO_NULL, 0, comm, &copy));
    else
        say_error(word, MPI_Win_create(buffers[0], 8, 1, MPI_INFO_NULL, comm, &win));
}

static int is_one_of(const char *word, const char *words)
{
    const char *at = strstr(words, word);

    return at && (at == words || at[-1] == ' ') && (at[strlen(word)] == ' ' || !at[strlen(word)]);
}

static void act(char *line)
{
    char *rest, *word = strtok_r(line, ",", &rest), *next;

    for (int i = 0; i < NUMBERS; i++)
        number[i] = (next = strtok_r(NULL, ",", &rest)) ? atoi(next) : 0;
    if (is_one_of(word, "send ssend isend issend recv irecv probe"))
        messages(word);
    else if (is_one_of(word, "barrier bcast ordered reduce allreduce"))
        collective(word);
    else if (is_one_of(word, "comm dup split free"))
        make(word, number[0]);
    else if (is_one_of(word, "ibarrier idup window file spawn accept connect"))
        refused(word);
    else if (!strcmp(word, "wait"))
        finish(number[0]);
    else if (!strcmp(word, "test"))
        test(number[0]);
    else if (!strcmp(word, "cancel"))
        MPI_Cancel(&requests[number[0]]);
    else if (!strcmp(word, "attributes"))
        attributes();
    else if (!strcmp(word, "values"))
        values(number[0], number[1]);
    else
        MPI_Abort(MPI_COMM_WORLD, 3);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    comm = MPI_COMM_WORLD;
    for (int i = 0; i < SLOTS; i++)
        buffers[i] = malloc(LONGEST);
    for (int i = 1; i < argc; i++)
        act(argv[i]);
    for (int i = 0; i < SLOTS; i++)
        free(buffers[i]);
    MPI_Finalize();
    return 0;
}
