/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec -client: the conversation with the server of IMPI 0.0 (docs/impi.md), before the first rank starts and after
 * the last one has ended. All labels go out at once when the server lets us in, since they depend on nobody: each rank
 * is a host of its own, and we open its listening socket ourselves. What has come back is made into the joint table
 * (sys/joint.h), which the ranks inherit as a memory file.
 *
 * Knows: what stands on the wire (sys/impi.h), labels (client_labels.h). Does not know: what ranks say to each other.
 */
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "channel.h"
#include "client_labels.h"

enum { REPLY_SIZE = 8, COLL_HEAD = 8 };
#define PATIENCE_SECONDS 10.0 /* until the user is told that we wait for other clients */

/* What the server says next. */
enum stage { STAGE_AUTH, STAGE_RANK, STAGE_LABELS, STAGE_RUN };

struct client {
    struct channel channel;
    enum stage stage;
    int rank, size;
    int64_t key;
    int *listeners; /* by ranks; -1: the rank has it */
    struct labels_own own;
    struct labels labels;
    struct joint *joint;
    char server[32]; /* for messages */
};

/* --- out --- */

static void put_head(struct client *client, uint32_t command, uint32_t size)
{
    unsigned char head[IMPI_HEAD_SIZE];

    impi_put4(head, command);
    impi_put4(head + 4, size);
    channel_put_text(&client->channel, (const char *)head, sizeof head);
}

static void put_number(struct client *client, uint32_t number)
{
    unsigned char bytes[4];

    impi_put4(bytes, number);
    channel_put_text(&client->channel, (const char *)bytes, sizeof bytes);
}

static void put_label(struct client *client, int at)
{
    const size_t size = labels_size(at, &client->own);
    unsigned char *data = need(size);

    labels_write(at, &client->own, data);
    put_head(client, IMPI_CMD_COLL, (uint32_t)(4 + size));
    put_number(client, labels_number(at));
    channel_put_text(&client->channel, (const char *)data, size);
    mem_free(data);
}

/* Who we are and what there is to say of us: all of it. */
static void put_all(struct client *client, uint32_t method)
{
    if (method == IMPI_AUTH_KEY) {
        put_number(client, (uint32_t)((uint64_t)client->key >> 32));
        put_number(client, (uint32_t)client->key);
    }
    put_head(client, IMPI_CMD_IMPI, 4);
    put_number(client, (uint32_t)client->rank);
    for (int at = 0; at < IMPI_LABELS; at++)
        put_label(client, at);
    put_head(client, IMPI_CMD_DONE, 0);
}

/* --- in --- */

static _Noreturn void bad_talk(const struct client *client, const char *what)
{
    die(EXIT_SYSTEM, "E1204: the IMPI server at %s does not keep to the protocol: %s", client->server, what);
}

/* The answer to AUTH comes at once; that to IMPI may wait for all clients. The end of the connection before all is said
 * tells what went wrong. */
static _Noreturn void turned_away(const struct client *client)
{
    if (client->stage == STAGE_AUTH)
        die(EXIT_SYSTEM, "E1203: the IMPI server at %s has none of the ways of authentication that are enabled here\n"
            "set IMPI_AUTH_KEY or IMPI_AUTH_NONE as for the server", client->server);
    if (client->stage == STAGE_RANK)
        die(EXIT_SYSTEM, "E1203: the IMPI server at %s does not let client %d in: it has another IMPI_AUTH_KEY, fewer "
            "clients, or a client %d already", client->server, client->rank, client->rank);
    die(EXIT_SYSTEM, "E1202: the IMPI server at %s has ended the job before all clients were ready", client->server);
}

/* The answer to AUTH, which has no head. Returns what has been used of `size` bytes. */
static size_t take_method(struct client *client, const unsigned char *at, size_t size)
{
    uint32_t method, more;

    if (size < REPLY_SIZE)
        return 0;
    method = impi_get4(at);
    more = impi_get4(at + 4);
    if (method >= IMPI_AUTH_METHODS || more > LABELS_REPLY_MAX)
        bad_talk(client, "it has chosen a way of authentication that there is not");
    if (size - REPLY_SIZE < more)
        return 0;
    client->stage = STAGE_RANK;
    put_all(client, method);
    return REPLY_SIZE + more;
}

static void take_size(struct client *client, const unsigned char *data, size_t size)
{
    if (size != 4 || client->stage != STAGE_RANK)
        bad_talk(client, "an answer to IMPI that was not expected");
    client->size = (int)impi_get4(data);
    if (client->size < 1 || client->size > IMPI_CLIENTS_MAX || client->rank >= client->size)
        die(EXIT_SYSTEM, "E1203: client %d is none of the %d clients of the IMPI server at %s", client->rank,
            client->size, client->server);
    client->stage = STAGE_LABELS;
}

static void take_message(struct client *client, uint32_t command, const unsigned char *data, size_t size)
{
    switch (command) {
    case IMPI_CMD_IMPI: take_size(client, data, size); return;
    case IMPI_CMD_COLL:
        if (size < COLL_HEAD || client->stage != STAGE_LABELS ||
            !labels_take(&client->labels, impi_get4(data), impi_get4(data + 4), data + COLL_HEAD, size - COLL_HEAD))
            bad_talk(client, "an answer to COLL that was not expected, or is too long");
        return;
    case IMPI_CMD_DONE:
        if (client->stage != STAGE_LABELS)
            bad_talk(client, "DONE was not expected");
        client->stage = STAGE_RUN;
        return;
    default: return; /* a later version's; what is not known is skipped */
    }
}

/* Returns what has been used. */
static size_t take_one(struct client *client, const unsigned char *at, size_t size)
{
    uint32_t length;

    if (client->stage == STAGE_AUTH)
        return take_method(client, at, size);
    if (size < IMPI_HEAD_SIZE)
        return 0;
    length = impi_get4(at + 4);
    if (length > LABELS_REPLY_MAX + COLL_HEAD)
        bad_talk(client, "a message that is too long");
    if (size - IMPI_HEAD_SIZE < length)
        return 0;
    take_message(client, impi_get4(at), at + IMPI_HEAD_SIZE, length);
    return IMPI_HEAD_SIZE + length;
}

static void take_all(struct client *client)
{
    struct bytes *got = &client->channel.got;
    size_t used;

    do {
        used = got->length ? take_one(client, (const unsigned char *)got->data + got->start, got->length) : 0;
        bytes_drop(got, used);
    } while (used);
}

/* Not connected at all? Writing may have taken the cause. */
static void check_connected(const struct client *client, int fd)
{
    struct sockaddr_storage peer;
    int error = 0;
    socklen_t size = sizeof error, peer_size = sizeof peer;

    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error || (client->stage == STAGE_AUTH && getpeername(fd, (struct sockaddr *)&peer, &peer_size)))
        die(EXIT_SYSTEM, "E1202: the IMPI server at %s cannot be reached: %s", client->server,
            strerror(error ? error : ECONNREFUSED));
}

static void from_server(struct job *job, struct source *source, uint32_t events)
{
    struct client *client = job->client;
    bool is_open;

    (void)events;
    if (client->stage < STAGE_RUN)
        check_connected(client, source->fd);
    is_open = channel_read(&client->channel);
    take_all(client);
    if (is_open)
        return;
    if (client->stage < STAGE_RUN)
        turned_away(client);
    channel_close(job, &client->channel);
    report_rank(job, -1, "E1205: the connection to the IMPI server at %s is lost; the job goes on", client->server);
}

/* --- start --- */

static bool is_settled(struct job *job)
{
    return job->client->stage >= STAGE_RUN;
}

void client_late(struct job *job)
{
    const struct client *client = job->client;
    char text[160];

    if (client->stage == STAGE_AUTH)
        die(EXIT_SYSTEM, "E1202: the IMPI server at %s has not answered within %g s", client->server,
            job->options.launch_limit);
    snprintf(text, sizeof text, "parley: mpiexec: client %d waits at %s for the others\n", client->rank,
             client->server);
    if (!job->options.quiet)
        forward_print(job, text);
}

static bool is_answered(struct job *job)
{
    return job->client->stage > STAGE_AUTH;
}

/* As a memory file, which nobody can change. */
static void leave_table(struct job *job, struct joint *joint)
{
    const int fd = memfd_create("parley-joint", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    joint->slots = job->head->slots;
    memcpy(joint->token, job->head->token, sizeof joint->token);
    if (fd < 0 || write(fd, joint, joint->size) != (ssize_t)joint->size)
        die(EXIT_SYSTEM, "E0106: no memory file for a table of %u processes: %s", joint->procs, strerror(errno));
    (void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
    job->head->joint_fd = descriptor_move_up(fd);
    job->head->joint_size = joint->size;
    job->head->listener_fd = descriptor_move_up(fcntl(job->null_fd, F_DUPFD_CLOEXEC, 0));
}

static void join(struct job *job)
{
    struct client *client = job->client;
    char why[LABELS_WHY];
    struct joint *joint = labels_join(&client->labels, client->size, client->rank, why);

    if (!joint)
        die(EXIT_SYSTEM, "E1206: the clients of the IMPI server at %s do not fit together: %s", client->server, why);
    if ((int)joint->count != job->size)
        bad_talk(client, "it has changed what this client has said");
    leave_table(job, joint);
    labels_free(&client->labels);
    client->joint = joint;
}

static void meet(struct job *job)
{
    if (job->options.launch_limit > 0)
        timer_set(job, TIMER_CLIENT, job->options.launch_limit);
    loop_until(job, is_answered);
    job->timers[TIMER_CLIENT] = 0;
    timer_set(job, TIMER_CLIENT, PATIENCE_SECONDS);
    loop_until(job, is_settled);
    job->timers[TIMER_CLIENT] = 0;
}

void client_start(struct job *job)
{
    struct client *client;
    uint32_t mask;
    int fd;

    if (!job->options.client_server)
        return;
    if (ranks_here(job) != job->size)
        die(EXIT_USAGE, "E1207: -client is for ranks of this machine only, and rank%s on others",
            job->size - ranks_here(job) > 1 ? "s are" : " is");
    if (job->size > JOINT_PROCS_MAX)
        die(EXIT_USAGE, "E1207: a client has at most %d ranks, not %d", JOINT_PROCS_MAX, job->size);
    client = job->client = need(sizeof *client);
    client->rank = job->options.client_rank;
    client->own = (struct labels_own){ .procs = job->size, .first_pid = joint_first_pid(job->head->token[0]) };
    mask = client_methods(&client->key);
    client_limits(&client->own);
    fd = client_dial(job->options.client_server, client->server);
    channel_open(job, &client->channel, fd, fcntl(fd, F_DUPFD_CLOEXEC, 0), from_server);
    client->listeners = client_listen(fd, &client->own);
    put_head(client, IMPI_CMD_AUTH, 4);
    put_number(client, mask);
    meet(job);
    join(job);
}

int client_listener(const struct job *job, int rank)
{
    return job->client && rank < job->size ? job->client->listeners[rank] : -1;
}

const struct joint *client_joint(const struct job *job)
{
    return job->client ? job->client->joint : NULL;
}

void client_given(struct job *job, int rank)
{
    if (client_listener(job, rank) < 0)
        return;
    close(job->client->listeners[rank]);
    job->client->listeners[rank] = -1;
}

/* --- later --- */

void client_flush(struct job *job)
{
    if (job->client)
        channel_flush(job, &job->client->channel);
}

void client_end(struct job *job)
{
    struct client *client = job->client;

    if (!client || client->channel.in.fd < 0)
        return;
    if (!job->exit_code) {
        fcntl(client->channel.out.fd, F_SETFL, 0); /* all other output has gone; these few bytes may take their time */
        put_head(client, IMPI_CMD_FINI, 0);
        channel_flush(job, &client->channel);
    }
    channel_close(job, &client->channel);
}
