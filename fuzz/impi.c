/* SPDX-License-Identifier: BSD-3-Clause */
/* What a host of another client of IMPI sends over its connection: it may be of any implementation, or gone mad.
 * Packets come to host 0 (rank 0) from host 1, which has ranks 1 and 2; names are the rank + 1 and 23 zeros. With the
 * highest bit of the first byte it has not said yet which host it is. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "fuzz.h"
#include "net/impi/impi.h"
#include "net/impi/int_impi.h"

enum { PROCS = 3, MAXLEN = 64 };

static struct joint *joint;
static int lost;
static bool has_refused;

static int take(void *arg, int proc, const struct impi_packet *packet, const void *data, const char **wrong)
{
    volatile unsigned char sum = 0;

    (void)arg;
    MUST(proc == 11 || proc == 12);
    MUST(packet->type <= IMPI_CANCELNO && packet->type != IMPI_PROTOACK && packet->len <= MAXLEN);
    for (uint32_t i = 0; i < packet->len; i++)
        sum = (unsigned char)(sum + ((const unsigned char *)data)[i]);
    *wrong = "a packet that the fuzzer does not like";
    has_refused = !has_refused && packet->tag % 7 == 6;
    return packet->tag == 77 ? IMPI_WRONG : has_refused ? NET_AGAIN : 0;
}

static void lose(void *arg, int proc, int rc)
{
    (void)arg;
    MUST((proc == 11 || proc == 12) && err_id(rc) == 1241);
    lost++;
}

static void make_joint(void)
{
    int twin;

    joint = joint_create(2, 2, PROCS);
    MUST(joint);
    joint->maxlen = MAXLEN;
    joint->ackmark = 3;
    joint->hiwater = 7;
    joint->count = 1;
    joint->slots = 11;
    for (int host = 0; host < 2; host++)
        *(struct joint_host *)(uintptr_t)joint_host(joint, host) = (struct joint_host){
            .address = { [12] = 127, [15] = 1 }, .port = 1, .client = (uint32_t)host, .procs = (uint32_t)host + 1,
            .first_rank = (uint32_t)host,
        };
    for (int rank = 0; rank < PROCS; rank++)
        *(struct joint_proc *)(uintptr_t)joint_proc(joint, rank) = (struct joint_proc){
            .name = { [0] = (unsigned char)(rank + 1) }, .host = rank > 0, .client = rank > 0,
        };
    MUST(joint_index(joint, &twin));
}

static void adopt(struct impi *impi, int fd)
{
    struct impi_host *host = impi->hosts[1];

    host->fd = fd;
    host->state = IMPI_UP;
    impi->missing--;
    MUST(!impi_watch(impi, fd, &host->watch, false));
}

/* As somebody who has just connected. */
static void receive_caller(struct impi *impi, int fd)
{
    struct impi_caller *caller = &impi->callers[0];

    caller->fd = fd;
    caller->got = 0;
    caller->ticks = 0;
    MUST(!impi_watch(impi, fd, &caller->watch, false));
}

static void check_end(struct net *net, bool has_called)
{
    int rc;

    if (impi_of(net)->hosts[1]->state == IMPI_EXPECTED)
        MUST(has_called && !lost && impi_of(net)->callers[0].fd < 0 && *impi_of(net)->stranger);
    else
        MUST(impi_has_left(net, &rc) && (lost == 0 || lost == 2));
}

/* The bytes come in two parts, then the connection ends. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct impi_config config = { .rank = 0, .listener = -1, .packet = take, .lost = lose };
    const size_t half = size ? data[0] * 4 % (size + 1) : 0;
    struct impi_config own = config;
    const bool has_called = size && data[0] & 128;
    struct net *net;
    int fds[2];

    if (!joint) {
        setenv("PARLEY_IMPI_CHECK_ADDRESS", "0", 1); /* they have none here */
        make_joint();
    }
    own.joint = joint;
    lost = 0;
    MUST(!impi_open(&own, &net) && !socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds));
    (has_called ? receive_caller : adopt)(impi_of(net), fds[0]);
    (void)!send(fds[1], data + (size > 0), half ? half - 1 : 0, MSG_NOSIGNAL);
    for (int i = 0; i < 3; i++)
        impi_ops.poll(net);
    if (size && data[0] % 2)
        impi_leave(net);
    (void)!send(fds[1], data + half, size - half, MSG_NOSIGNAL); /* it may be closed already */
    for (int i = 0; i < 20; i++)
        impi_ops.poll(net);
    close(fds[1]);
    for (int i = 0; i < 3; i++)
        impi_ops.poll(net);
    check_end(net, has_called);
    impi_ops.close(net);
    return 0;
}
