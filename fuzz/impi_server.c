/* SPDX-License-Identifier: BSD-3-Clause */
/* What impi-server gets from two who connect to it; the first byte says where the first one's part ends. Each part
 * comes in pieces of up to 16 bytes, by turns. Whoever breaks the rules is gone or ends the job (server_give_up), and
 * nothing goes out that does not belong there. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "fuzz.h"
#include "server.h"

static jmp_buf given_up;
static struct server server;

void say(const char *text, ...)
{
    (void)text;
}

_Noreturn void die(const char *text, ...)
{
    (void)text;
    longjmp(given_up, 1);
}

_Noreturn void server_give_up(struct server *of, const char *text, ...)
{
    (void)text;
    MUST(of == &server);
    longjmp(given_up, 1);
}

void server_close_door(struct server *of)
{
    MUST(of == &server && server.joined == 3);
    server.listener = -1;
}

/* Frames that the protocol has, one after the other. */
static void check_output(const struct connection *connection)
{
    size_t at = 0;

    if (connection->state == TALK_FREE || !connection->out_len)
        return;
    MUST(connection->out_len >= 8 && impi_get4(connection->out) < IMPI_AUTH_METHODS);
    for (at = 8; at < connection->out_len; at += IMPI_HEAD_SIZE + impi_get4(connection->out + at + 4)) {
        const uint32_t command = impi_get4(connection->out + at);

        MUST(connection->out_len - at >= IMPI_HEAD_SIZE);
        MUST(command == IMPI_CMD_IMPI || command == IMPI_CMD_COLL || command == IMPI_CMD_DONE);
    }
    MUST(at == connection->out_len);
}

/* The next piece; false: there is none, and the connection ends. */
static bool feed(struct connection *connection, int peer, const uint8_t **at, const uint8_t *end)
{
    const size_t left = (size_t)(end - *at), len = left ? 1 + **at % (left < 16 ? left : 16) : 0;
    bool is_open = true;

    if (connection->state == TALK_FREE)
        return false;
    if (len)
        MUST(send(peer, *at, len, 0) == (ssize_t)len);
    else
        shutdown(peer, SHUT_WR);
    *at += len;
    is_open = connection_read(connection);
    MUST(is_open == (len > 0));
    talk_input(&server, connection);
    for (int i = 0; i < 2; i++)
        check_output(&server.connections[i]);
    if (!is_open && connection->state != TALK_FREE)
        talk_end(&server, connection);
    return is_open;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *const middle = data + (size ? 1 + data[0] * 4 % size : 0);
    const uint8_t *at[2] = { data + (size > 0), middle };
    const uint8_t *const end[2] = { middle, data + size };
    int peers[2], own;
    bool goes_on[2] = { true, true };

    memset(&server, 0, sizeof server);
    server.options = (struct options){ .clients = 2, .methods = { IMPI_AUTH_KEY, IMPI_AUTH_NONE }, .method_count = 2,
                                       .key = 0x4b4b4b4b4b4b4b4b };
    collate_init(&server.collate, 2);
    for (int i = 0; i < 2; i++) {
        int fds[2];

        MUST(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds));
        peers[i] = fds[1];
        own = fds[0];
        server.connections[i] = (struct connection){ .fd = own, .state = TALK_NEW };
    }
    if (!setjmp(given_up))
        while (goes_on[0] || goes_on[1])
            for (int i = 0; i < 2; i++)
                goes_on[i] = goes_on[i] && feed(&server.connections[i], peers[i], &at[i], end[i]);
    for (int i = 0; i < 2; i++) {
        if (server.connections[i].state != TALK_FREE)
            connection_close(&server.connections[i]);
        close(peers[i]);
    }
    collate_fini(&server.collate);
    return 0;
}
