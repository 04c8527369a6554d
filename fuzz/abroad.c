/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of another client's processes, right and wrong ones, while this process sends, receives, cancels and looks:
 * what p2p makes of them (abroad.c). Each step is eight bytes. The connection ends after the last one; then all
 * requests are complete, well or with an error, and no memory is left. Rank 0 is this process, 1 and 2 the others. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "fuzz.h"
#include "net/impi/hand.h"
#include "net/net.h"
#include "p2p/int_abroad.h"
#include "p2p/lane.h"
#include "sys/joint.h"

enum { MAXLEN = 16, MOST_REQUESTS = 64, STEP = 8, LONGEST = 256, PATIENCE = 100000 };

static struct joint *joint;
static struct comm comm = { .size = 3, .remote_size = 3, .ctx = P2P_CTX_FOREIGN, .obj = { .predefined = 1 } };
static struct req *reqs[MOST_REQUESTS];
static unsigned char room[MOST_REQUESTS][LONGEST], data[LONGEST];
static int req_count;
static bool is_closed;

static int make_listener(int *port)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001) };
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof at;

    MUST(fd >= 0 && !bind(fd, (struct sockaddr *)&at, sizeof at));
    MUST(!listen(fd, 4) && !getsockname(fd, (struct sockaddr *)&at, &size));
    *port = ntohs(at.sin_port);
    return fd;
}

static void make_joint(void)
{
    int twin;

    joint = joint_create(2, 2, 3);
    MUST(joint);
    joint->count = joint->slots = 1;
    joint->maxlen = MAXLEN;
    joint->ackmark = 2;
    joint->hiwater = 3;
    for (uint32_t host = 0; host < 2; host++)
        *(struct joint_host *)(uintptr_t)joint_host(joint, (int)host) = (struct joint_host){
            .address = { [12] = 127, [15] = (unsigned char)(host + 1) }, .port = 1, .client = host, .procs = host + 1,
            .first_rank = host,
        };
    for (int rank = 0; rank < 3; rank++) {
        struct joint_proc *proc = (struct joint_proc *)(uintptr_t)joint_proc(joint, rank);

        hand_name(rank, proc->name);
        proc->host = proc->client = rank > 0;
    }
    MUST(joint_index(joint, &twin));
}

/* What comes out is thrown away, but for its form. */
static void drain(void)
{
    unsigned char bytes[4096];

    while (!is_closed && recv(hand, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        ;
}

static void move(void)
{
    for (int i = 0; i < 4; i++)
        progress_poll();
    drain();
}

/* Ids are small, so that they meet those that are in use. */
static void give_packet(const uint8_t *at)
{
    struct impi_packet packet = hand_packet(at[0] % (IMPI_TYPES - 1), 1 + at[1] % 2);
    unsigned char bytes[IMPI_HEADER_SIZE + LONGEST] = { 0 };
    size_t len;

    packet.len = packet.type <= IMPI_DATASYNC ? at[2] % (MAXLEN + 1) : 0;
    packet.msglen = at[3] < 128 ? packet.len : at[3] == 255 ? UINT64_MAX / 2 : at[3] % 64;
    packet.srqid = at[4] % 16;
    packet.drqid = at[5] % 16;
    packet.tag = at[6] % 4;
    packet.lsrank = at[6] / 4 % 8 - 2;
    packet.cid = at[7] % 8 < 5 ? 0 : at[7] == 255 ? UINT64_MAX : at[7] % 8;
    if (at[7] == 254)
        packet.dest[3] = 1;
    impi_packet_write(&packet, bytes);
    len = IMPI_HEADER_SIZE + packet.len;
    if (!is_closed)
        is_closed = send(hand, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)len;
}

static void begin(const uint8_t *at, bool is_send)
{
    const int mode = at[4] % 2 ? P2P_SYNC : P2P_STANDARD, n = req_count;
    struct type *byte = obj_type(MPI_BYTE);
    int rc;

    if (n == MOST_REQUESTS)
        return;
    if (is_send)
        rc = p2p_isend(&comm, data, at[2] % LONGEST, byte, 1 + at[1] % 2, at[6] % 4, mode, &reqs[n]);
    else
        rc = p2p_irecv(&comm, room[n], at[2] % LONGEST, byte, at[1] % 3 ? 1 + at[1] % 2 : MPI_ANY_SOURCE,
                       at[6] % 5 ? at[6] % 5 - 1 : MPI_ANY_TAG, P2P_STANDARD, &reqs[n]);
    req_count += !rc;
}

static void take_step(const uint8_t *at)
{
    MPI_Status status;
    int flag;

    switch (at[0] >> 4) {
    case 0: begin(at, true); break;
    case 1: begin(at, false); break;
    case 2:
        if (req_count && !req_is_done(reqs[at[1] % req_count]))
            reqs[at[1] % req_count]->ops->cancel(reqs[at[1] % req_count]);
        break;
    case 3: (void)p2p_iprobe(&comm, MPI_ANY_SOURCE, at[6] % 4, &flag, &status); break;
    default: give_packet(at); break;
    }
    move();
}

static void end_all(void)
{
    shutdown(hand, SHUT_RDWR);
    is_closed = true;
    for (int i = 0; i < req_count; i++) {
        if (!reqs[i]->is_send && !req_is_done(reqs[i]))
            reqs[i]->ops->cancel(reqs[i]); /* it may have met nothing, and others are there to send */
        for (int polls = 0; !req_is_done(reqs[i]); polls++) {
            MUST(polls < PATIENCE);
            progress_poll();
        }
        MUST(reqs[i]->is_send || reqs[i]->error || reqs[i]->bytes <= LONGEST);
        reqs[i]->ops->release(reqs[i]);
    }
    req_count = 0;
}

static void run(const uint8_t *bytes, size_t size)
{
    struct p2p_config config = { .procs = 1, .ranks = 1 };
    int port;

    config.joint = joint;
    config.listener_fd = make_listener(&port);
    is_closed = false;
    hand = hand_dial(port);
    hand_index(1);
    MUST(!p2p_init(&config) && !group_create_stride(3, 0, 1, 0, &comm.group));
    comm.remote_group = comm.group;
    MUST(!p2p_comm_open(&comm) && !p2p_foreign_connect());
    for (; size >= STEP; size -= STEP, bytes += STEP)
        take_step(bytes);
    end_all();
    p2p_comm_close(&comm);
    group_unref(comm.group);
    p2p_fini();
    close(hand);
    close(config.listener_fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static long before = -1;

    if (before < 0) {
        group_init();
        type_init();
        progress_init(&(struct progress_config){ .local_ranks = 1 });
        make_joint();
        run(NULL, 0); /* what comes with the first one stays */
        before = mem_live();
    }
    run(bytes, size);
    MUST(mem_live() == before);
    return 0;
}
