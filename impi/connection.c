/* SPDX-License-Identifier: BSD-3-Clause */
/* impi-server: bytes of one connection, in and out, without ever waiting. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "server.h"

enum { READ_SIZE = 65536 };

/* Room for `more` bytes behind `len`. */
static void make_room(unsigned char **data, size_t len, size_t *room, size_t more)
{
    if (*room - len >= more)
        return;
    *room = size_max(2 * *room, len + more);
    *data = mem_realloc(*data, *room);
    if (!*data)
        die("no memory for a message of %zu bytes", *room);
}

bool connection_read(struct connection *connection)
{
    ssize_t got;

    make_room(&connection->in, connection->in_len, &connection->in_room, READ_SIZE);
    got = recv(connection->fd, connection->in + connection->in_len, READ_SIZE, 0);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    connection->in_len += (size_t)got;
    return got > 0;
}

void connection_send(struct connection *connection, const void *data, size_t len)
{
    if (!len)
        return;
    make_room(&connection->out, connection->out_len, &connection->out_room, len);
    memcpy(connection->out + connection->out_len, data, len);
    connection->out_len += len;
}

bool connection_flush(struct connection *connection)
{
    while (connection->out_done < connection->out_len) {
        const ssize_t sent = send(connection->fd, connection->out + connection->out_done,
                                  connection->out_len - connection->out_done, MSG_NOSIGNAL);
        if (sent < 0)
            return errno == EAGAIN || errno == EINTR;
        connection->out_done += (size_t)sent;
    }
    connection->out_done = connection->out_len = 0;
    return true;
}

void connection_consume(struct connection *connection, size_t len)
{
    connection->in_len -= len;
    memmove(connection->in, connection->in + len, connection->in_len);
}

void connection_close(struct connection *connection)
{
    close(connection->fd);
    mem_free(connection->in);
    mem_free(connection->out);
    *connection = (struct connection){ .fd = -1, .state = TALK_FREE };
}
