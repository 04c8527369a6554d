/* SPDX-License-Identifier: BSD-3-Clause */
/* impi-server, for its own files: options.c reads the command line, server.c owns the sockets and the loop,
 * connection.c moves bytes, talk.c knows the protocol, collate.c puts contributions together. */
#ifndef IMPI_SERVER_H
#define IMPI_SERVER_H

#include <netinet/in.h>
#include <stdbool.h>

#include "base/base.h"
#include "collate.h"

enum {
    CONNECTIONS_MAX = 96,        /* clients, and newcomers that have not said who they are */
    FRAME_MAX = 1 << 20,         /* bytes of one message from a client */
    NEWCOMER_SECONDS = 10,       /* to say who it is */
    METHODS_MAX = 2,
};

struct options {
    int clients;
    int port;                    /* 0: any free one */
    struct in_addr address;      /* to listen at; INADDR_ANY: all */
    int methods[METHODS_MAX];    /* in order of preference; those that the environment enables */
    int method_count;
    int64_t key;
    int timeout;                 /* seconds to wait for the clients; 0: for ever */
    bool is_background, is_verbose;
};

enum talk_state {
    TALK_FREE,                   /* no connection here */
    TALK_NEW,                    /* must send AUTH */
    TALK_KEY,                    /* must send its key */
    TALK_AUTHED,                 /* must say its rank */
    TALK_JOINED,                 /* a client of the job, until it has sent FINI */
};

struct connection {
    int fd;
    enum talk_state state;
    int rank;                    /* of a client that has joined */
    int64_t since;               /* of a newcomer: when it came, milliseconds */
    char peer[64];               /* address, for messages */
    unsigned char *in;           /* bytes that are not a whole message yet */
    size_t in_len, in_room;
    unsigned char *out;          /* bytes that the socket has not taken yet */
    size_t out_len, out_done, out_room;
};

struct server {
    struct options options;
    int listener;                /* -1: all clients have joined */
    struct connection connections[CONNECTIONS_MAX];
    struct collate collate;
    uint32_t joined, gone;       /* clients, a bit each */
    bool has_started;            /* DONE has been sent to all */
    int status;                  /* exit status so far */
    int64_t start;               /* milliseconds */
};

/* options.c. Ends the program when the command line cannot be understood (status 2), or when nobody could be let in
 * (status 1). */
void options_read(struct options *options, int argc, char **argv);

/* One line to stderr: "impi-server: ...". */
void say(const char *text, ...) PRINTF_LIKE(1, 2);
/* The same, and the end: status 1. */
_Noreturn void die(const char *text, ...) PRINTF_LIKE(1, 2);

/* connection.c. Read what there is; false: it has ended or failed, what came before that lies in `in`. */
bool connection_read(struct connection *connection);
/* Append bytes to what goes out. */
void connection_send(struct connection *connection, const void *data, size_t len);
/* Send what the socket takes; false: it has failed. */
bool connection_flush(struct connection *connection);
/* The first `len` bytes of `in` are used up. */
void connection_consume(struct connection *connection, size_t len);
void connection_close(struct connection *connection);

/* talk.c. Deal with all whole messages in `in`. The connection may be closed afterwards. */
void talk_input(struct server *server, struct connection *connection);
/* The other side has closed it. */
void talk_end(struct server *server, struct connection *connection);

/* server.c. The job cannot start: close all, exit status 1. */
_Noreturn void server_give_up(struct server *server, const char *text, ...) PRINTF_LIKE(2, 3);
/* All clients are there: nobody else comes. */
void server_close_door(struct server *server);

#endif
