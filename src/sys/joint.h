/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Layout of the joint table: what a job that is a client of IMPI knows of all clients, once they have
 * exchanged their labels (IMPI 0.0, §4 of the reference). mpiexec makes it, in a memory file of its own, before the
 * first rank starts; nobody changes it afterwards. job_head.joint_fd tells where ranks find it.
 *
 * The joint world has the processes of all clients, in the order of clients, hosts, processes: its ranks. A process
 * also has a *number* here, as all processes of a job have: ours have their places in the segment, those of other
 * clients follow behind all places, in the order of their ranks.
 *
 *   offset      what
 *   0           struct joint
 *   client_at   struct joint_client of each client
 *   host_at     struct joint_host of each host, by its global index
 *   proc_at     struct joint_proc of each process, by its joint rank
 *   bucket_at   uint32_t[buckets]: joint rank + 1 by hash of name, 0: empty; the next ones follow */
#ifndef SYS_JOINT_H
#define SYS_JOINT_H

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

#define JOINT_MAGIC UINT64_C(0x544e494a59525050) /* "PPRYJINT" */
enum { JOINT_MAJOR = 1, JOINT_ADDRESS_SIZE = 16, JOINT_NAME_SIZE = 24, JOINT_PROCS_MAX = 65536 };

struct joint_client {
    uint32_t hosts, procs;
    uint32_t first_host, first_rank;
    uint32_t major, minor; /* the highest version of the protocol that it and we speak */
};

struct joint_host {
    unsigned char address[JOINT_ADDRESS_SIZE]; /* where it listens; IPv4: the last four bytes, 0 before them */
    uint32_t port;
    uint32_t client;
    uint32_t procs, first_rank;
};

struct joint_proc {
    unsigned char name[JOINT_NAME_SIZE]; /* IMPI_Proc, as it stands in packets: compared, never interpreted */
    uint32_t host;
    uint32_t client;
};

struct joint {
    uint64_t magic;
    uint32_t major, buckets;
    uint64_t size;     /* of all of it, in bytes */
    uint64_t token[2]; /* the job's */
    uint32_t clients, hosts, procs;
    uint32_t client;       /* we are this one; each of our processes is a host of its own … */
    uint32_t first, count; /* … and they have these joint ranks, in the order of their ranks in the job */
    uint32_t slots;        /* places in our segment */
    uint32_t maxlen;       /* user bytes in a packet: minimum of all, as the next ones that are not said to be equal */
    int32_t tag_ub;
    int32_t xsize, maxlinear; /* equal everywhere, -1 replaced by what it stands for */
    uint32_t ackmark, hiwater;
    uint32_t reserved;
    uint64_t client_at, host_at, proc_at, bucket_at;
};

static inline const struct joint_client *joint_client(const struct joint *joint, int client)
{
    return (const struct joint_client *)(const void *)((const char *)joint + joint->client_at) + client;
}

static inline const struct joint_host *joint_host(const struct joint *joint, int host)
{
    return (const struct joint_host *)(const void *)((const char *)joint + joint->host_at) + host;
}

static inline const struct joint_proc *joint_proc(const struct joint *joint, int rank)
{
    return (const struct joint_proc *)(const void *)((const char *)joint + joint->proc_at) + rank;
}

static inline bool joint_is_own(const struct joint *joint, int rank)
{
    return (uint32_t)rank - joint->first < joint->count;
}

/* Number of the process with this joint rank. */
static inline int joint_number(const struct joint *joint, int rank)
{
    if (joint_is_own(joint, rank))
        return rank - (int)joint->first;
    return (int)joint->slots + (rank < (int)joint->first ? rank : rank - (int)joint->count);
}

/* One more than the highest number. */
static inline int joint_numbers(const struct joint *joint)
{
    return (int)(joint->slots + joint->procs - joint->count);
}

/* The other way round; -1: a process of our job that was started later. */
static inline int joint_rank(const struct joint *joint, int number)
{
    const int other = number - (int)joint->slots;

    if (other >= 0)
        return other < (int)joint->first ? other : other + (int)joint->count;
    return number < (int)joint->count ? number + (int)joint->first : -1;
}

/* Ours mark their names, so that jobs of this library know each other. A real process id is far below. */
enum { JOINT_MARK = 0x5041 }; /* the first two bytes of the last part */

static inline bool joint_is_parley(const struct joint *joint, int rank)
{
    const unsigned char *pid = joint_proc(joint, rank)->name + JOINT_ADDRESS_SIZE;

    return ((unsigned)pid[0] << 8 | pid[1]) == JOINT_MARK;
}

/* The byte after the mark says of what the messages are made that have no form in IMPI, such as those of windows: their
 * version, and how this library's data lie in memory. */
enum { JOINT_DIALECT = 1 };
static inline unsigned joint_dialect(void)
{
    const union { unsigned number; unsigned char bytes[sizeof(unsigned)]; } look = { 1 };
    const unsigned long_double = LDBL_MANT_DIG == DBL_MANT_DIG ? 0 : LDBL_MANT_DIG == 64 ? 1 : 2;

    return (look.bytes[0] ? 0 : 1u << 7) | (sizeof(void *) == 8 ? 1u << 6 : 0) | long_double << 4 | JOINT_DIALECT;
}

/* Is it of this library, and understands such messages? */
static inline bool joint_is_kin(const struct joint *joint, int rank)
{
    return joint_is_parley(joint, rank) && joint_proc(joint, rank)->name[JOINT_ADDRESS_SIZE + 2] == joint_dialect();
}

/* Last part of the name of process 0 of a job of ours, which has that token; the others count on. Names must differ
 * from those of clients on any machine, in any container: behind mark and dialect stands a part of the token. */
static inline uint64_t joint_first_pid(uint64_t token)
{
    return (uint64_t)JOINT_MARK << 48 | (uint64_t)joint_dialect() << 40 |
           (token >> 24) / (2 * JOINT_PROCS_MAX) * (2 * JOINT_PROCS_MAX);
}

/* Joint rank of the process with that name; -1: there is none. */
int joint_find(const struct joint *joint, const unsigned char name[JOINT_NAME_SIZE]);
/* Of the one that has this place in the job with that token, if that is a client whose messages we understand; -1: it
 * is none, or the process was started later. */
int joint_find_home(const struct joint *joint, uint64_t token, uint32_t home);

/* Of the maker: a table of so many, zeroed, with its offsets, counts, sizes and magic; the caller's, by mem_free. NULL:
 * no memory. */
struct joint *joint_create(int clients, int hosts, int procs);
/* The names are filled in: make them findable. False: two processes have the same, of which *twin is the later one. */
bool joint_index(struct joint *joint, int *twin);

/* Map the table that lies at `fd`, read only; NULL with errno, EBADF if what is there is not that table. */
const struct joint *joint_map(int fd, uint64_t size, const uint64_t token[2]);
void joint_unmap(const struct joint *joint);

#endif
