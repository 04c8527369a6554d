/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec -client: labels of IMPI 0.0: what goes out, what comes back, whether it fits together. Whatever comes from
 * the server is looked at before it is used: counts, lengths, sums, ranges. */
#include "client_labels.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"

enum per { PER_CLIENT, PER_HOST, PER_PROC };

static const struct {
    uint32_t number;
    size_t size; /* of an element */
    enum per per;
    const char *name;
} known[IMPI_LABELS] = {
    { IMPI_C_VERSION, 8, PER_CLIENT, "C_VERSION" },
    { IMPI_C_NHOSTS, 4, PER_CLIENT, "C_NHOSTS" },
    { IMPI_C_NPROCS, 4, PER_CLIENT, "C_NPROCS" },
    { IMPI_C_DATALEN, 4, PER_CLIENT, "C_DATALEN" },
    { IMPI_C_TAGUB, 4, PER_CLIENT, "C_TAGUB" },
    { IMPI_C_COLL_XSIZE, 4, PER_CLIENT, "C_COLL_XSIZE" },
    { IMPI_C_COLL_MAXLINEAR, 4, PER_CLIENT, "C_COLL_MAXLINEAR" },
    { IMPI_H_IPV6, JOINT_ADDRESS_SIZE, PER_HOST, "H_IPV6" },
    { IMPI_H_PORT, 4, PER_HOST, "H_PORT" },
    { IMPI_H_NPROCS, 4, PER_HOST, "H_NPROCS" },
    { IMPI_H_ACKMARK, 4, PER_HOST, "H_ACKMARK" },
    { IMPI_H_HIWATER, 4, PER_HOST, "H_HIWATER" },
    { IMPI_P_IPV6, JOINT_ADDRESS_SIZE, PER_PROC, "P_IPV6" },
    { IMPI_P_PID, 8, PER_PROC, "P_PID" },
};

/* Places in that table. */
enum { VERSION, NHOSTS, NPROCS, DATALEN, TAGUB, XSIZE, MAXLINEAR, H_IPV6, H_PORT, H_NPROCS, ACKMARK, HIWATER, P_IPV6,
       P_PID };

/* --- out --- */

uint32_t labels_number(int at)
{
    return known[at].number;
}

size_t labels_size(int at, const struct labels_own *own)
{
    return known[at].size * (known[at].per == PER_CLIENT ? 1 : (size_t)own->procs);
}

/* Numbers of four bytes. */
static uint32_t own_number(int at, const struct labels_own *own, int proc)
{
    switch (at) {
    case NHOSTS:
    case NPROCS: return (uint32_t)own->procs;
    case DATALEN: return own->maxlen;
    case TAGUB: return (uint32_t)own->tag_ub;
    case XSIZE: return (uint32_t)own->xsize;
    case MAXLINEAR: return (uint32_t)own->maxlinear;
    case H_PORT: return (uint32_t)own->ports[proc];
    case H_NPROCS: return 1;
    case ACKMARK: return own->ackmark;
    default: return own->hiwater;
    }
}

static void write_element(int at, const struct labels_own *own, int proc, unsigned char *to)
{
    const uint64_t pid = own->first_pid + (uint64_t)proc;

    switch (at) {
    case VERSION: memset(to, 0, 8); break;
    case H_IPV6:
    case P_IPV6: memcpy(to, own->address, JOINT_ADDRESS_SIZE); break;
    case P_PID:
        impi_put4(to, (uint32_t)(pid >> 32));
        impi_put4(to + 4, (uint32_t)pid);
        break;
    default: impi_put4(to, own_number(at, own, proc)); break;
    }
}

void labels_write(int at, const struct labels_own *own, unsigned char *to)
{
    const size_t count = labels_size(at, own) / known[at].size;

    for (size_t i = 0; i < count; i++)
        write_element(at, own, (int)i, to + i * known[at].size);
}

/* --- in --- */

bool labels_take(struct labels *labels, uint32_t label, uint32_t mask, const void *data, size_t size)
{
    if (size > LABELS_REPLY_MAX)
        return false;
    for (int at = 0; at < IMPI_LABELS; at++) {
        if (known[at].number != label || labels->of[at].is_here)
            continue;
        labels->of[at].data = mem_alloc(size + 1);
        if (!labels->of[at].data)
            return false;
        memcpy(labels->of[at].data, data, size);
        labels->of[at].size = size;
        labels->of[at].mask = mask;
        labels->of[at].is_here = true;
    }
    return true;
}

void labels_free(struct labels *labels)
{
    for (int at = 0; at < IMPI_LABELS; at++)
        mem_free(labels->of[at].data);
    *labels = (struct labels){ 0 };
}

/* False, and why. */
static bool PRINTF_LIKE(2, 3) refuse(char *why, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(why, LABELS_WHY, format, args);
    va_end(args);
    return false;
}

static const unsigned char *element(const struct labels *labels, int at, size_t number)
{
    return labels->of[at].data + number * known[at].size;
}

static uint32_t number_of(const struct labels *labels, int at, size_t number)
{
    return impi_get4(element(labels, at, number));
}

/* Has everyone sent the label, and so many elements of it together? */
static bool check_size(const struct labels *labels, int at, int clients, size_t count, char *why)
{
    const uint32_t all = UINT32_MAX >> (IMPI_CLIENTS_MAX - clients);

    if (!labels->of[at].is_here || labels->of[at].mask != all)
        return refuse(why, "of %s there are contributions of clients by mask 0x%x, and it must be 0x%x", known[at].name,
                      labels->of[at].mask, all);
    if (at == VERSION) /* a client may know more versions than one */
        return labels->of[at].size % 8 == 0 || refuse(why, "C_VERSION has %zu bytes", labels->of[at].size);
    return labels->of[at].size == count * known[at].size ||
           refuse(why, "%s has %zu bytes, %zu elements of %zu are expected", known[at].name, labels->of[at].size, count,
                  known[at].size);
}

/* Each list begins with 0.0, which is the only one that we know. */
static bool check_versions(const struct labels *labels, int clients, char *why)
{
    const size_t count = labels->of[VERSION].size / 8;
    int found = 0;

    for (size_t i = 0; i < count; i++)
        found += !impi_get4(element(labels, VERSION, i)) && !impi_get4(element(labels, VERSION, i) + 4);
    return found == clients || refuse(why, "%d of %d clients speak version 0.0 of the protocol", found, clients);
}

/* How many hosts or processes all have. 0, and why. */
static size_t sum_of(const struct labels *labels, int at, int clients, char *why)
{
    uint64_t sum = 0;

    for (int i = 0; i < clients; i++) {
        if (!number_of(labels, at, (size_t)i)) {
            refuse(why, "%s of client %d is 0", known[at].name, i);
            return 0;
        }
        sum += number_of(labels, at, (size_t)i);
    }
    if (sum > JOINT_PROCS_MAX)
        refuse(why, "%s of all clients are %llu, at most %d can be", known[at].name, (unsigned long long)sum,
               JOINT_PROCS_MAX);
    return sum > JOINT_PROCS_MAX ? 0 : (size_t)sum;
}

static uint32_t least(const struct labels *labels, int at, size_t count)
{
    uint32_t value = UINT32_MAX;

    for (size_t i = 0; i < count; i++)
        value = number_of(labels, at, i) < value ? number_of(labels, at, i) : value;
    return value;
}

/* A value that all must have agreed on. */
static bool read_equal(const struct labels *labels, int at, int clients, int standard, int32_t *out, char *why)
{
    for (int i = 0; i < clients; i++) {
        const int32_t said = (int32_t)number_of(labels, at, (size_t)i), value = said == -1 ? standard : said;

        if (value < 0)
            return refuse(why, "%s of client %d is %d", known[at].name, i, said);
        if (i > 0 && value != *out)
            return refuse(why, "%s is %d for client 0 and %d for client %d; all must use the same", known[at].name,
                          *out, value, i);
        *out = value;
    }
    return true;
}

static bool read_limits(const struct labels *labels, struct joint *joint, char *why)
{
    const int clients = (int)joint->clients;

    joint->maxlen = least(labels, DATALEN, joint->clients);
    joint->tag_ub = (int32_t)least(labels, TAGUB, joint->clients);
    joint->ackmark = least(labels, ACKMARK, joint->hosts);
    joint->hiwater = least(labels, HIWATER, joint->hosts);
    if (!joint->maxlen)
        return refuse(why, "C_DATALEN of a client is 0");
    for (size_t i = 0; i < joint->clients; i++)
        if (number_of(labels, TAGUB, i) < IMPI_TAGUB_LEAST || number_of(labels, TAGUB, i) > INT32_MAX)
            return refuse(why, "C_TAGUB of client %zu is %d", i, (int)number_of(labels, TAGUB, i));
    if (!joint->ackmark || joint->ackmark > joint->hiwater)
        return refuse(why, "H_ACKMARK is %u and H_HIWATER %u, the least of all hosts", joint->ackmark, joint->hiwater);
    return read_equal(labels, XSIZE, clients, IMPI_XSIZE, &joint->xsize, why) &&
           read_equal(labels, MAXLINEAR, clients, IMPI_MAXLINEAR, &joint->maxlinear, why);
}

static void *part_of(struct joint *joint, uint64_t at)
{
    return (char *)joint + at;
}

static void fill_client(const struct labels *labels, struct joint *joint, uint32_t client)
{
    struct joint_client *all = part_of(joint, joint->client_at), *c = &all[client];

    c->hosts = number_of(labels, NHOSTS, client);
    c->procs = number_of(labels, NPROCS, client);
    if (client > 0) {
        c->first_host = c[-1].first_host + c[-1].hosts;
        c->first_rank = c[-1].first_rank + c[-1].procs;
    }
}

/* Host number `host` of client number `client`; its processes are those from `rank` on. */
static bool fill_host(const struct labels *labels, struct joint *joint, uint32_t client, uint32_t host, uint32_t rank,
                      char *why)
{
    struct joint_host *h = (struct joint_host *)part_of(joint, joint->host_at) + host;
    struct joint_proc *procs = part_of(joint, joint->proc_at);
    const struct joint_client *c = joint_client(joint, (int)client);

    memcpy(h->address, element(labels, H_IPV6, host), sizeof h->address);
    h->port = number_of(labels, H_PORT, host);
    h->client = client;
    h->procs = number_of(labels, H_NPROCS, host);
    h->first_rank = rank;
    if (!h->port || h->port > UINT16_MAX)
        return refuse(why, "H_PORT of host %u is %u", host, h->port);
    if (h->procs > c->first_rank + c->procs - rank)
        return refuse(why, "the hosts of client %u have more processes than its %u", client, c->procs);
    for (uint32_t i = rank; i < rank + h->procs; i++) {
        memcpy(procs[i].name, element(labels, P_IPV6, i), JOINT_ADDRESS_SIZE);
        memcpy(procs[i].name + JOINT_ADDRESS_SIZE, element(labels, P_PID, i), JOINT_NAME_SIZE - JOINT_ADDRESS_SIZE);
        procs[i].host = host;
        procs[i].client = client;
    }
    return true;
}

static bool fill_hosts(const struct labels *labels, struct joint *joint, uint32_t client, char *why)
{
    const struct joint_client *c = joint_client(joint, (int)client);
    uint32_t rank = c->first_rank;

    for (uint32_t host = c->first_host; host < c->first_host + c->hosts; host++) {
        if (!fill_host(labels, joint, client, host, rank, why))
            return false;
        rank += joint_host(joint, (int)host)->procs;
    }
    return rank == c->first_rank + c->procs ||
           refuse(why, "the hosts of client %u have %u processes, and it has %u", client, rank - c->first_rank,
                  c->procs);
}

static bool fill(const struct labels *labels, struct joint *joint, int client, char *why)
{
    int twin;

    for (uint32_t i = 0; i < joint->clients; i++)
        fill_client(labels, joint, i);
    joint->client = (uint32_t)client;
    joint->first = joint_client(joint, client)->first_rank;
    joint->count = joint_client(joint, client)->procs;
    for (uint32_t i = 0; i < joint->clients; i++)
        if (!fill_hosts(labels, joint, i, why))
            return false;
    if (!read_limits(labels, joint, why))
        return false;
    return joint_index(joint, &twin) ||
           refuse(why, "rank %d has the same name (P_IPV6, P_PID) as one before it", twin);
}

struct joint *labels_join(const struct labels *labels, int clients, int client, char why[LABELS_WHY])
{
    size_t hosts, procs;
    struct joint *joint;

    for (int at = VERSION; at < H_IPV6; at++)
        if (!check_size(labels, at, clients, (size_t)clients, why))
            return NULL;
    hosts = check_versions(labels, clients, why) ? sum_of(labels, NHOSTS, clients, why) : 0;
    procs = hosts ? sum_of(labels, NPROCS, clients, why) : 0;
    if (!procs)
        return NULL;
    for (int at = H_IPV6; at < IMPI_LABELS; at++)
        if (!check_size(labels, at, clients, known[at].per == PER_HOST ? hosts : procs, why))
            return NULL;
    joint = joint_create(clients, (int)hosts, (int)procs);
    if (joint && fill(labels, joint, client, why))
        return joint;
    if (!joint)
        refuse(why, "no memory for a table of %zu processes", procs);
    mem_free(joint);
    return NULL;
}
