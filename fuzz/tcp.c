/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes over the network: notes of whoever calls, published addresses, and the frames of a connection. The first
 * byte says which. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "fuzz.h"
#include "net/tcp/int_tcp.h"
#include "net/tcp/tcp.h"

enum { PROCS = 3 };

static struct job_head *segment;
static int lost;
static unsigned char *target; /* for the longest record that there can be; its memory is taken where it is written */

static int arrive(void *arg, int proc, struct net_head head, const void *payload, uint32_t len)
{
    volatile unsigned char sum = 0;

    (void)arg;
    MUST(proc == 1);
    for (uint32_t i = 0; i < len; i++)
        sum = (unsigned char)(sum + ((const unsigned char *)payload)[i]);
    return head.word[0] % 7 == 6 && len % 2 ? NET_AGAIN : 0;
}

static void *land(void *arg, int proc, struct net_head head, uint32_t len)
{
    (void)arg, (void)proc;
    return len > 1 << 20 || head.word[1] % 2 ? target : NULL;
}

static void lose(void *arg, int proc, int rc)
{
    (void)arg;
    MUST(proc == 1 && (err_id(rc) == 362 || err_class(rc) == MPI_ERR_NO_MEM));
    lost++;
}

static void make_segment(void)
{
    const size_t size = job_transport_offset(PROCS);

    segment = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    target = mmap(NULL, UINT32_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MUST(segment != MAP_FAILED && target != MAP_FAILED);
    segment->slots = PROCS;
    segment->token[0] = 1;
}

/* The bytes come in two parts, then the connection ends. */
static void read_frames(const uint8_t *data, size_t size)
{
    struct net_config config = { .procs = PROCS, .segment = segment,
                                 .sink = { .arrive = arrive, .land = land, .lost = lose } };
    const size_t half = size ? data[0] % (size + 1) : 0;
    struct net_ep *ep;
    struct net *net;
    int fds[2];

    MUST(!tcp_ops.open(&config, &net) && !tcp_ops.connect(net, 1, &ep));
    MUST(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds));
    tcp_adopt((struct tcp_peer *)(void *)ep, fds[0], 0);
    lost = 0;
    MUST(send(fds[1], data, half, MSG_NOSIGNAL) == (ssize_t)half);
    for (int i = 0; i < 3; i++)
        tcp_ops.poll(net);
    (void)!send(fds[1], data + half, size - half, MSG_NOSIGNAL); /* it may be closed already */
    for (int i = 0; i < 20; i++)
        tcp_ops.poll(net);
    close(fds[1]);
    for (int i = 0; i < 3; i++)
        tcp_ops.poll(net);
    MUST(lost <= 1);
    tcp_ops.close(net);
}

static void read_notes(const uint8_t *data, size_t size)
{
    static const uint64_t token[2] = { 1, 2 };
    struct tcp_party party = { .token = token, .peer = 1 };
    struct tcp_note note = { 0 };

    memcpy(&note, data, size_min(size, sizeof note));
    if (!tcp_note_read_hello(&note, 0, &party))
        MUST(party.self == 0 && (party.peer != 0 || party.bond) && party.lane < NET_LANES);
    for (enum tcp_step step = TCP_HELLO; step <= TCP_REFUSAL; step++) {
        party = (struct tcp_party){ .token = token, .peer = 1, .is_caller = true };
        if (step == TCP_ANSWER || step == TCP_PROOF)
            MUST(tcp_note_check(&note, step, &party)); /* nobody guesses a proof */
        else
            (void)tcp_note_check(&note, step, &party);
    }
}

static void read_address(const uint8_t *data, size_t size)
{
    static struct ifaces own;
    struct tcp_target targets[TCP_TARGETS];
    char name[INET6_ADDRSTRLEN + 12];
    int count;

    if (!own.count)
        (void)tcp_address_look(&own);
    count = tcp_address_read(&own, data, size_min(size, JOB_ADDRESS_SIZE), targets);
    MUST(count >= 0 && count <= TCP_TARGETS);
    for (int i = 0; i < count; i++)
        tcp_address_name(&targets[i], name, sizeof name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy;

    if (!size)
        return 0;
    if (!segment)
        make_segment();
    copy = malloc(size); /* of its exact size, so that a sanitizer sees who reads behind it */
    memcpy(copy, data + 1, size - 1);
    if (data[0] % 4 == 1)
        read_notes(copy, size - 1);
    else if (data[0] % 4 == 2)
        read_address(copy, size - 1);
    else
        read_frames(copy, size - 1);
    free(copy);
    return 0;
}
