/* SPDX-License-Identifier: BSD-3-Clause */
/* impi-server: the conversation with one client, and what follows from it for all.
 *
 *   NEW --AUTH--> (KEY --8 bytes-->) AUTHED --IMPI--> JOINED --COLL ... DONE ... FINI--> gone
 *
 * Whoever breaks the rules before it has joined loses its connection, and nobody else notices. A client that is lost
 * before all have said DONE takes the job with it. */
#include <string.h>

#include "base/mem.h"
#include "server.h"

/* A whole message. */
struct frame {
    uint32_t command;
    const unsigned char *data;
    uint32_t len;
};

static void turn_away(struct connection *connection, const char *why)
{
    say("%s is turned away: %s", connection->peer, why);
    connection_close(connection);
}

static void send_frame(struct connection *connection, uint32_t command, const void *data, uint32_t len)
{
    unsigned char head[IMPI_HEAD_SIZE];

    impi_put4(head, command);
    impi_put4(head + 4, len);
    connection_send(connection, head, sizeof head);
    connection_send(connection, data, len);
}

/* --- who is it? --- */

static void on_auth(struct server *server, struct connection *connection, const struct frame *frame)
{
    unsigned char answer[8] = { 0 };
    uint32_t mask;

    if (frame->command != IMPI_CMD_AUTH || frame->len < 4) {
        turn_away(connection, "its first message is not AUTH with a mask");
        return;
    }
    mask = impi_get4(frame->data);
    for (int i = 0; i < server->options.method_count; i++) {
        const int method = server->options.methods[i];

        if (!(mask >> method & 1))
            continue;
        impi_put4(answer, (uint32_t)method);
        connection_send(connection, answer, sizeof answer);
        connection->state = method == IMPI_AUTH_KEY ? TALK_KEY : TALK_AUTHED;
        return;
    }
    turn_away(connection, "it allows no way of authentication that this server does");
}

/* Takes as long whichever bytes differ. */
static void on_key(struct server *server, struct connection *connection)
{
    const uint64_t key = (uint64_t)server->options.key;
    unsigned differ = 0;

    for (int i = 0; i < IMPI_KEY_SIZE; i++)
        differ |= connection->in[i] ^ (unsigned)(key >> (56 - 8 * i) & 0xff);
    connection_consume(connection, IMPI_KEY_SIZE);
    if (differ)
        turn_away(connection, "its key is not the one in IMPI_AUTH_KEY here");
    else
        connection->state = TALK_AUTHED;
}

static void on_rank(struct server *server, struct connection *connection, const struct frame *frame)
{
    const uint32_t clients = (uint32_t)server->options.clients;
    unsigned char answer[4];
    uint32_t rank;

    if (frame->command != IMPI_CMD_IMPI || frame->len < 4) {
        turn_away(connection, "it does not say its rank after AUTH");
        return;
    }
    rank = impi_get4(frame->data);
    if (rank >= clients || server->joined >> rank & 1) {
        turn_away(connection, rank >= clients ? "its rank is not below the number of clients"
                                              : "there is a client of that rank already");
        return;
    }
    connection->state = TALK_JOINED;
    connection->rank = (int)rank;
    server->joined |= UINT32_C(1) << rank;
    impi_put4(answer, clients);
    send_frame(connection, IMPI_CMD_IMPI, answer, sizeof answer);
    if (server->options.is_verbose)
        say("client %u is %s", rank, connection->peer);
    if (server->joined == UINT32_MAX >> (32 - clients))
        server_close_door(server);
}

/* --- what clients tell each other --- */

static void broadcast_label(struct server *server, const struct collate_label *label)
{
    const uint32_t total = (uint32_t)collate_size(label);
    unsigned char head[IMPI_HEAD_SIZE + 8];

    impi_put4(head, IMPI_CMD_COLL);
    impi_put4(head + 4, 8 + total);
    impi_put4(head + 8, label->label);
    impi_put4(head + 12, label->mask);
    for (int i = 0; i < CONNECTIONS_MAX; i++) {
        struct connection *connection = &server->connections[i];

        if (connection->state != TALK_JOINED)
            continue;
        connection_send(connection, head, sizeof head);
        for (int client = 0; client < server->options.clients; client++)
            connection_send(connection, label->part[client].data, label->part[client].len);
    }
}

static bool are_all_done(const struct server *server)
{
    for (int i = 0; i < server->options.clients; i++) {
        if (!collate_is_done(&server->collate, i))
            return false;
    }
    return true;
}

/* Whatever has become complete. */
static void broadcast(struct server *server)
{
    const struct collate_label *label;

    while ((label = collate_next(&server->collate))) {
        broadcast_label(server, label);
        collate_drop(&server->collate);
    }
    if (server->has_started || !are_all_done(server))
        return;
    server->has_started = true;
    for (int i = 0; i < CONNECTIONS_MAX; i++) {
        if (server->connections[i].state == TALK_JOINED)
            send_frame(&server->connections[i], IMPI_CMD_DONE, NULL, 0);
    }
}

static void on_coll(struct server *server, struct connection *connection, const struct frame *frame)
{
    uint32_t label;

    if (frame->len < 4)
        server_give_up(server, "client %d: a contribution without a label", connection->rank);
    label = impi_get4(frame->data);
    switch (collate_add(&server->collate, connection->rank, label, frame->data + 4, frame->len - 4)) {
    case COLLATE_TAKEN:
        broadcast(server);
        break;
    case COLLATE_NO_MEMORY:
        server_give_up(server, "no memory for label 0x%x of client %d", label, connection->rank);
    case COLLATE_NO_LABEL:
        say("client %d: 0x%x is no label; it is ignored", connection->rank, label);
        break;
    case COLLATE_REPEATED:
        say("client %d sends label 0x%x again; the first value stays", connection->rank, label);
        break;
    case COLLATE_LATE:
        say("client %d: label 0x%x comes after a higher one or after DONE; it is ignored", connection->rank, label);
        break;
    }
}

static void on_fini(struct server *server, struct connection *connection)
{
    if (!server->has_started)
        server_give_up(server, "client %d says FINI before all have said DONE", connection->rank);
    server->gone |= UINT32_C(1) << connection->rank;
    if (server->options.is_verbose)
        say("client %d has ended", connection->rank);
    connection_close(connection);
}

static void on_client(struct server *server, struct connection *connection, const struct frame *frame)
{
    switch (frame->command) {
    case IMPI_CMD_COLL:
        on_coll(server, connection, frame);
        break;
    case IMPI_CMD_DONE:
        collate_done(&server->collate, connection->rank);
        broadcast(server);
        break;
    case IMPI_CMD_FINI:
        on_fini(server, connection);
        break;
    default:
        say("client %d: 0x%x is no command of this protocol; it is skipped", connection->rank, frame->command);
    }
}

/* --- messages --- */

/* The first message in `in`. False: it is not whole, or it never will be, and then the connection is closed. */
static bool next_frame(struct server *server, struct connection *connection, struct frame *frame)
{
    uint32_t len;

    if (connection->in_len < IMPI_HEAD_SIZE)
        return false;
    len = impi_get4(connection->in + 4);
    if (len > FRAME_MAX) {
        if (connection->state == TALK_JOINED && !server->has_started)
            server_give_up(server, "client %d announces a message of %d bytes; %d are the most", connection->rank,
                           (int)len, FRAME_MAX);
        if (connection->state == TALK_JOINED)
            talk_end(server, connection);
        else
            turn_away(connection, "it announces a message that is too long, or of a negative length");
        return false;
    }
    *frame = (struct frame){ impi_get4(connection->in), connection->in + IMPI_HEAD_SIZE, len };
    return connection->in_len - IMPI_HEAD_SIZE >= len;
}

static bool take_one(struct server *server, struct connection *connection)
{
    struct frame frame;

    if (connection->state == TALK_KEY) {
        if (connection->in_len < IMPI_KEY_SIZE)
            return false;
        on_key(server, connection);
        return true;
    }
    if (!next_frame(server, connection, &frame))
        return false;
    if (connection->state == TALK_NEW)
        on_auth(server, connection, &frame);
    else if (connection->state == TALK_AUTHED)
        on_rank(server, connection, &frame);
    else
        on_client(server, connection, &frame);
    if (connection->state != TALK_FREE)
        connection_consume(connection, IMPI_HEAD_SIZE + frame.len);
    return true;
}

void talk_input(struct server *server, struct connection *connection)
{
    while (connection->state != TALK_FREE && take_one(server, connection))
        ;
}

void talk_end(struct server *server, struct connection *connection)
{
    if (connection->state != TALK_JOINED) {
        turn_away(connection, "it left before it said who it is");
        return;
    }
    if (!server->has_started)
        server_give_up(server, "client %d is lost, so the job cannot start", connection->rank);
    say("client %d has ended without FINI", connection->rank);
    server->status = 1;
    server->gone |= UINT32_C(1) << connection->rank;
    connection_close(connection);
}
