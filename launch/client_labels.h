/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec -client: what the clients of an IMPI job tell each other, label by label (sys/impi.h), and the joint table
 * (sys/joint.h) made of it. Only data: no sockets, no job. */
#ifndef LAUNCH_CLIENT_LABELS_H
#define LAUNCH_CLIENT_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/impi.h"
#include "sys/joint.h"

enum { LABELS_REPLY_MAX = JOINT_PROCS_MAX * JOINT_ADDRESS_SIZE, LABELS_WHY = 400 };

/* What this client contributes: each of its processes is a host of its own. */
struct labels_own {
    int procs;
    unsigned char address[JOINT_ADDRESS_SIZE]; /* of all of them, also in their names */
    const int *ports;                          /* of each */
    uint64_t first_pid;                        /* last part of the name of process 0; the others count on */
    uint32_t maxlen, ackmark, hiwater;
    int32_t tag_ub, xsize, maxlinear;
};

/* The answers of the server. Zeroed: none has come. */
struct labels {
    struct {
        unsigned char *data; /* owned */
        size_t size;
        uint32_t mask;
        bool is_here;
    } of[IMPI_LABELS];
};

/* Label number `at` of the IMPI_LABELS, in their order. */
uint32_t labels_number(int at);
/* Its contribution into `to`, which has room for labels_size bytes. */
size_t labels_size(int at, const struct labels_own *own);
void labels_write(int at, const struct labels_own *own, unsigned char *to);

/* Take an answer; one that is not known is skipped, and so is a second one. False: no memory, or longer than any can
 * be. */
bool labels_take(struct labels *labels, uint32_t label, uint32_t mask, const void *data, size_t size);
/* All answers are here: the table as client number `client` of `clients` sees it, the caller's by mem_free; its token
 * and slots are to be filled in. NULL, and why: they do not fit together. */
struct joint *labels_join(const struct labels *labels, int clients, int client, char why[LABELS_WHY]);
void labels_free(struct labels *labels);

#endif
