/* SPDX-License-Identifier: BSD-3-Clause */
/* libparley_profile: communicators by small numbers, receivers by their rank in MPI_COMM_WORLD. What is known of a
 * communicator hangs at it as an attribute, so it goes when the communicator goes; its books stay, under its name. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"

/* At a communicator. */
struct known {
    int number;
    int rank, size, peers;       /* peers: of the remote group, if there is one */
    int *world;                  /* rank of each peer in MPI_COMM_WORLD, or MPI_UNDEFINED */
};

/* A persistent send. */
struct persistent {
    struct persistent *next;
    MPI_Request request;
    int peer;
    int64_t bytes;
};

static struct {
    int keyval;
    int size;
    MPI_Group world;
    struct profile_comm comms[PROFILE_COMMS_MAX];
    int count;
    struct profile_traffic *to;
    struct persistent *persistent[256];
    pthread_mutex_t lock;        /* of all of these */
} books = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int forget(MPI_Comm comm, int keyval, void *value, void *extra)
{
    struct known *known = value;

    (void)comm, (void)keyval, (void)extra;
    free(known->world);
    free(known);
    return MPI_SUCCESS;
}

void comms_begin(int size)
{
    books.size = size;
    books.to = calloc((size_t)size, sizeof *books.to);
    if (!books.to)
        abort();
    PMPI_Comm_group(MPI_COMM_WORLD, &books.world);
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &books.keyval, NULL);
}

/* Those of one name and size are one. */
static int number_of(const char *name, int size)
{
    int i = 0;

    while (i < books.count && (books.comms[i].size != size || strcmp(books.comms[i].name, name)))
        i++;
    if (i < books.count || books.count == PROFILE_COMMS_MAX)
        return i < books.count ? i : PROFILE_COMMS_MAX - 1;
    snprintf(books.comms[i].name, sizeof books.comms[i].name, "%s", name);
    books.comms[i].size = size;
    return books.count++;
}

static void find_peers(struct known *known, MPI_Comm comm, bool is_inter)
{
    MPI_Group group;
    int *ranks = calloc((size_t)known->peers, sizeof *ranks);

    if (!ranks)
        abort();
    for (int i = 0; i < known->peers; i++)
        ranks[i] = i;
    (is_inter ? PMPI_Comm_remote_group : PMPI_Comm_group)(comm, &group);
    PMPI_Group_translate_ranks(group, known->peers, ranks, books.world, known->world);
    PMPI_Group_free(&group);
    free(ranks);
}

static struct known *learn(MPI_Comm comm)
{
    struct known *known = calloc(1, sizeof *known);
    char name[MPI_MAX_OBJECT_NAME] = "";
    int is_inter = 0, len;

    if (!known)
        abort();
    PMPI_Comm_rank(comm, &known->rank);
    PMPI_Comm_size(comm, &known->size);
    PMPI_Comm_test_inter(comm, &is_inter);
    known->peers = known->size;
    if (is_inter)
        PMPI_Comm_remote_size(comm, &known->peers);
    known->world = calloc((size_t)known->peers + 1, sizeof *known->world);
    if (!known->world)
        abort();
    find_peers(known, comm, is_inter);
    PMPI_Comm_get_name(comm, name, &len);
    pthread_mutex_lock(&books.lock);
    known->number = number_of(*name ? name : "without a name", known->size);
    pthread_mutex_unlock(&books.lock);
    PMPI_Comm_set_attr(comm, books.keyval, known);
    return known;
}

static struct known *known_of(MPI_Comm comm)
{
    struct known *known;
    int is_there = 0;

    PMPI_Comm_get_attr(comm, books.keyval, &known, &is_there);
    return is_there ? known : learn(comm);
}

int profile_comm(MPI_Comm comm)
{
    return comm == MPI_COMM_NULL ? PROFILE_NO_COMM : known_of(comm)->number;
}

void profile_renamed(MPI_Comm comm)
{
    if (books.to)
        PMPI_Comm_delete_attr(comm, books.keyval);
}

bool profile_is_root(MPI_Comm comm, int root)
{
    return root == MPI_ROOT || known_of(comm)->rank == root;
}

void comms_count(const struct profile_call *call)
{
    struct profile_sum *sum = &books.comms[call->comm].sum;

    pthread_mutex_lock(&books.lock);
    sum->calls++;
    sum->ns += call->ns;
    sum->bytes += call->bytes;
    sum->longest = call->ns > sum->longest ? call->ns : sum->longest;
    pthread_mutex_unlock(&books.lock);
}

static void add_traffic(int peer, int64_t bytes)
{
    if (peer < 0 || peer >= books.size)
        return;
    pthread_mutex_lock(&books.lock);
    books.to[peer].messages++;
    books.to[peer].bytes += bytes;
    pthread_mutex_unlock(&books.lock);
}

static int world_rank(MPI_Comm comm, int dest)
{
    const struct known *known = known_of(comm);

    return dest >= 0 && dest < known->peers ? known->world[dest] : -1;
}

void profile_sent(struct profile_call *call, MPI_Comm comm, int dest)
{
    call->peer = world_rank(comm, dest);
    add_traffic(call->peer, call->bytes);
}

/* --- persistent sends --- */

static struct persistent **bucket_of(MPI_Request request)
{
    return &books.persistent[((uintptr_t)request >> 6) % 256];
}

static struct persistent **find(MPI_Request request)
{
    struct persistent **link = bucket_of(request);

    while (*link && (*link)->request != request)
        link = &(*link)->next;
    return link;
}

void profile_persistent(MPI_Request request, MPI_Comm comm, int dest, int64_t bytes)
{
    struct persistent *entry = malloc(sizeof *entry), **bucket = bucket_of(request);

    if (!entry)
        abort();
    *entry = (struct persistent){ NULL, request, world_rank(comm, dest), bytes };
    pthread_mutex_lock(&books.lock);
    entry->next = *bucket;
    *bucket = entry;
    pthread_mutex_unlock(&books.lock);
}

void profile_started(struct profile_call *call, MPI_Request request)
{
    struct persistent *entry;

    pthread_mutex_lock(&books.lock);
    entry = *find(request);
    pthread_mutex_unlock(&books.lock);
    if (!entry)
        return;
    call->peer = entry->peer;
    call->bytes += entry->bytes;
    add_traffic(entry->peer, entry->bytes);
}

void profile_forget(MPI_Request request)
{
    struct persistent **link, *entry;

    pthread_mutex_lock(&books.lock);
    link = find(request);
    entry = *link;
    if (entry)
        *link = entry->next;
    pthread_mutex_unlock(&books.lock);
    free(entry);
}

/* --- bytes --- */

int64_t profile_bytes(MPI_Count count, MPI_Datatype datatype)
{
    MPI_Count size = 0;

    PMPI_Type_size_c(datatype, &size);
    return size > 0 ? count * size : 0;
}

int64_t profile_bytes_of(MPI_Comm comm, const int *counts, MPI_Datatype datatype)
{
    MPI_Count sum = 0;

    for (int i = 0; i < known_of(comm)->peers; i++)
        sum += counts[i];
    return profile_bytes(sum, datatype);
}

int64_t profile_bytes_of_c(MPI_Comm comm, const MPI_Count *counts, MPI_Datatype datatype)
{
    MPI_Count sum = 0;

    for (int i = 0; i < known_of(comm)->peers; i++)
        sum += counts[i];
    return profile_bytes(sum, datatype);
}

int64_t profile_bytes_each(MPI_Comm comm, const int *counts, const MPI_Datatype *types)
{
    int64_t sum = 0;

    for (int i = 0; i < known_of(comm)->peers; i++)
        sum += counts[i] ? profile_bytes(counts[i], types[i]) : 0;
    return sum;
}

int64_t profile_bytes_each_c(MPI_Comm comm, const MPI_Count *counts, const MPI_Datatype *types)
{
    int64_t sum = 0;

    for (int i = 0; i < known_of(comm)->peers; i++)
        sum += counts[i] ? profile_bytes(counts[i], types[i]) : 0;
    return sum;
}

void comms_copy(struct profile_rank *rank)
{
    memcpy(rank->comms, books.comms, sizeof rank->comms);
    rank->comm_count = books.count;
    rank->to = books.to;
}
