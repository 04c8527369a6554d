/* SPDX-License-Identifier: BSD-3-Clause */
/* libparley_profile.so: where the time of a program in MPI goes. It stands between the program and the library by the
 * profiling interface (MPI 5.0 §15.2), put there by `mpiexec --profile` or `--trace`; a program that is started without
 * them never sees it.
 *
 *   wrappers.c (generated)  MPI_X: note, PMPI_X, note     report.c   the table that people read
 *   record.c                what threads have counted      json.c     the same for programs
 *   comms.c                 communicators and receivers    picture.c  the same as a picture
 *   gather.c                at the end, all to rank 0      trace.c    a line of time for each thread */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    PROFILE_FUNCTIONS_MAX = 640,
    PROFILE_COMMS_MAX = 128,     /* told apart; what comes later counts as the last one */
    PROFILE_NAME_SIZE = 64,
    PROFILE_NO_COMM = -1,
};

struct profile_function {
    const char *name, *topic;
};

extern const struct profile_function profile_functions[];
extern const int profile_function_count;

/* One call, on the stack of its wrapper. */
struct profile_call {
    uint64_t begin, ns;
    int function;
    int comm;                    /* profile_comm; PROFILE_NO_COMM */
    int peer;                    /* rank in MPI_COMM_WORLD that it sends to; -1: none */
    int64_t bytes;               /* that it gives away */
    bool counts;                 /* it is not inside another one, and recording is on */
};

/* record.c. Around the call; leave says whether the rest is worth finding out; count enters it into the books. */
void profile_enter(struct profile_call *call, int function);
bool profile_leave(struct profile_call *call);
void profile_count(const struct profile_call *call);

/* comms.c. A small number of a communicator. */
int profile_comm(MPI_Comm comm);
/* It has another name now. */
void profile_renamed(MPI_Comm comm);
/* A message of call->bytes to a rank of it. */
void profile_sent(struct profile_call *call, MPI_Comm comm, int dest);
/* A request that sends each time it is started; it is started; it is gone. */
void profile_persistent(MPI_Request request, MPI_Comm comm, int dest, int64_t bytes);
void profile_started(struct profile_call *call, MPI_Request request);
void profile_forget(MPI_Request request);
bool profile_is_root(MPI_Comm comm, int root);
/* `count` elements; as many as each of the communicator's peers gets, of one type or of one each. */
int64_t profile_bytes(MPI_Count count, MPI_Datatype datatype);
int64_t profile_bytes_of(MPI_Comm comm, const int *counts, MPI_Datatype datatype);
int64_t profile_bytes_of_c(MPI_Comm comm, const MPI_Count *counts, MPI_Datatype datatype);
int64_t profile_bytes_each(MPI_Comm comm, const int *counts, const MPI_Datatype *types);
int64_t profile_bytes_each_c(MPI_Comm comm, const MPI_Count *counts, const MPI_Datatype *types);

/* MPI is up; it is about to go down. */
void profile_begin(void);
void profile_report(void);

/* --- the books --- */

struct profile_sum {
    uint64_t calls, ns, longest;
    int64_t bytes;
};

/* A communicator, or all of the same name and size. */
struct profile_comm {
    char name[PROFILE_NAME_SIZE];
    int size;
    struct profile_sum sum;
};

struct profile_traffic {
    uint64_t messages;
    int64_t bytes;
};

/* All that one rank knows. */
struct profile_rank {
    uint64_t ns;                 /* from MPI_Init to the report */
    struct profile_sum sums[PROFILE_FUNCTIONS_MAX];
    struct profile_comm comms[PROFILE_COMMS_MAX];
    int comm_count;
    struct profile_traffic *to;  /* by rank in MPI_COMM_WORLD */
};

/* comms.c: to be called before the first call that counts; the communicators that were seen. */
void comms_begin(int size);
void comms_copy(struct profile_rank *rank);
/* Enter a call under its communicator. */
void comms_count(const struct profile_call *call);

/* gather.c: everybody's books at rank 0, by rank; NULL elsewhere. Collective over MPI_COMM_WORLD. */
struct profile_rank *gather_ranks(const struct profile_rank *own, int rank, int size);

/* What was written by each; `ranks` has `size` entries. False: errno. */
void report_write(FILE *file, const struct profile_rank *ranks, int size);
void json_write(FILE *file, const struct profile_rank *ranks, int size);
void picture_write(FILE *file, const struct profile_rank *ranks, int size);

/* trace.c. Collective over MPI_COMM_WORLD; rank 0 writes. */
extern bool trace_is_on;
void trace_note(const struct profile_call *call);
void trace_write(const char *path, uint64_t start, int rank, int size);

/* For all of them: the time of a rank in MPI; open a file for writing, with a message if that fails. */
uint64_t profile_ns_in_mpi(const struct profile_rank *rank);
FILE *profile_open(const char *path);

#endif
