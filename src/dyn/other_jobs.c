/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: dyn. Ports of other jobs, whose processes another mpiexec has started (MPI 5.0 §11.9.2, §11.9.3). The two
 * mpiexecs talk to each other (launch/bonds.h): this process tells its own one which group it is the root of. All of a
 * group must be reachable by TCP before the others are told of them.
 *
 * What the name of a port says of the way to its mpiexec: addresses, a colon, the key, all in hex digits.
 * Knows: net/tcp (addresses), p2p, pm. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "coll/coll.h"
#include "comm/comm.h"
#include "dyn/int_dyn.h"
#include "net/tcp/tcp.h"
#include "p2p/p2p.h"
#include "sys/control.h"

enum { KEY_SIZE = 33 };

static const char digits[] = "0123456789abcdef";

/* --- names --- */

int abroad_name(char *to)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char name[REACH_MAX]; /* guarded by lock */
    struct request request = { 0 };
    struct pm_reply reply;
    char key[KEY_SIZE], reach[REACH_MAX - KEY_SIZE] = "";
    unsigned port;
    int rc = 0;

    pthread_mutex_lock(&lock);
    if (!*name)
        rc = request_send(&request, CONTROL_OPEN, "MPI_Open_port", &reply);
    if (!*name && !rc && sscanf(reply.text, "%u %32[0-9a-f] %166[0-9a-f]", &port, key, reach) >= 2 &&
        (*reach || !tcp_reach_write((uint16_t)port, reach, sizeof reach)))
        snprintf(name, sizeof name, "%s:%s", reach, key);
    memcpy(to, name, sizeof name);
    pthread_mutex_unlock(&lock);
    return rc;
}

static bool read_name(const char *text, char hex[REACH_MAX], const char **key)
{
    const size_t length = strspn(text, digits);

    if (length >= REACH_MAX || text[length] != ':')
        return false;
    *key = text + length + 1;
    memcpy(hex, text, length);
    hex[length] = 0;
    return strspn(*key, digits) == KEY_SIZE - 1 && !(*key)[KEY_SIZE - 1];
}

bool abroad_is_name(const char *text)
{
    char hex[REACH_MAX];
    const char *key;

    return read_name(text, hex, &key);
}

/* --- calls --- */

/* Where the machines of this job are connected by another network than TCP, that is opened now. */
static int get_ready(void)
{
    const struct job_address *own = &job_place(dyn_job->head, dyn_job->proc)->address[JOB_TCP];
    const bool is_new = !job_address_size(own);
    const int rc = p2p_be_reachable();

    if (!rc && is_new)
        pm_present(dyn_job);
    return rc;
}

int abroad_prepare(struct comm *comm, const char *call)
{
    struct coll_agreement all;
    const int rc = coll_agree(comm, call, get_ready(), 0, &all);

    return rc || !all.error_class
               ? rc : err(all.error_class, "E0339: rank %d has failed, and has been told why", all.rank);
}

/* Those of this job. The others are told of when the two groups meet. */
static void add_group(struct request *request, const struct comm *comm)
{
    request_add_number(request, dyn_job->proc); /* who leads them comes first */
    for (int rank = 0; rank < comm->size; rank++)
        if (rank != comm->rank && !place_abroad(group_proc(comm->group, rank)))
            request_add_number(request, group_proc(comm->group, rank));
}

static void add_job(struct request *request, uint64_t job)
{
    char text[20];

    snprintf(text, sizeof text, "%016" PRIx64, job);
    request_add(request, text);
}

static void add_way(struct request *request, const char *key, const struct tcp_reach *reach)
{
    request_add(request, key);
    request_add_number(request, reach->port);
    request_add_number(request, reach->count);
    for (int i = 0; i < reach->count; i++) {
        request_add(request, reach->at[i].ip);
        request_add_number(request, reach->at[i].scope);
    }
}

int abroad_call(const struct abroad_port *port, const struct comm *comm, int entry, uint32_t number)
{
    const long words[] = { port->owner, port->tenant, port->number };
    char hex[REACH_MAX];
    struct request request = { 0 };
    struct tcp_reach reach;
    struct pm_reply reply;
    const char *key;

    if (!read_name(port->reach, hex, &key) || !tcp_reach_read(hex, &reach))
        return err(MPI_ERR_PORT, "E1007: the port is of another job, whose processes cannot be connected with others: "
                   "there is no way to its mpiexec");
    request_add_number(&request, entry);
    request_add_number(&request, number);
    add_job(&request, port->job);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        request_add_number(&request, words[i]);
    add_way(&request, key, &reach);
    add_group(&request, comm);
    return request_send(&request, CONTROL_CALL, "MPI_Comm_connect", &reply);
}

int abroad_refused(enum job_refusal why)
{
    if (why == JOB_NO_WAY)
        return err(MPI_ERR_PORT, "E1017: the mpiexec of the process that has opened the port cannot be reached, or has "
                   "ended");
    if (why == JOB_NO_ROOM)
        return err(MPI_ERR_PORT, "E1001: there is no room for the processes of the other job in this one, or for these "
                   "in the other");
    return err(MPI_ERR_PORT, "E1009: the port is closed, or the process that had opened it has ended");
}

int abroad_greet(const struct comm *comm, int tag, int rc)
{
    struct request request = { 0 };
    struct pm_reply reply;
    int told;

    request_add_number(&request, tag);
    if (!rc)
        add_group(&request, comm);
    told = request_send(&request, CONTROL_GROUP, "MPI_Comm_accept", &reply);
    return rc ? rc : told;
}

/* --- groups that meet (comm/meet.c) --- */

static void add_card(struct request *request, const struct place_card *card)
{
    char hex[2 * JOB_ADDRESS_SIZE + 1] = "";

    request_add_number(request, card->home);
    request_add_number(request, card->tenant);
    request_add_number(request, card->node);
    request_add_number(request, card->appnum);
    for (uint32_t i = 0; i < card->size && i < JOB_ADDRESS_SIZE; i++) {
        hex[2 * i] = digits[card->address[i] >> 4];
        hex[2 * i + 1] = digits[card->address[i] & 15];
    }
    request_add(request, hex);
}

/* If their mpiexec is known to ours, the way is not needed. */
static int meet(const char *way, const struct place_card *cards, int count)
{
    const char *key = "00000000000000000000000000000000";
    struct tcp_reach reach = { .count = 0 };
    struct request request = { 0 };
    struct pm_reply reply;
    char hex[REACH_MAX];

    if (read_name(way, hex, &key) && !tcp_reach_read(hex, &reach))
        reach.count = 0;
    add_job(&request, cards->job);
    add_way(&request, key, &reach);
    for (int i = 0; i < count; i++)
        add_card(&request, &cards[i]);
    return request_send(&request, CONTROL_MEET, "a communicator over several jobs", &reply);
}

const struct comm_outside abroad_functions = { get_ready, abroad_name, meet };
