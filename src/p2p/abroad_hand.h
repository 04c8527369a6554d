/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p, tests. A joint job of which rank 0 is this process, and ranks 1 and 2 another client that is played by
 * hand; what goes over the wire is looked at packet by packet. */
#ifndef P2P_ABROAD_HAND_H
#define P2P_ABROAD_HAND_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "net/impi/hand.h"
#include "net/net.h"
#include "p2p/lane.h"
#include "p2p/int_abroad.h"
#include "sys/joint.h"

enum { LONGEST = 100000, PATIENCE = 50000 };

static struct joint *joint;
static int listener;
static struct comm comm = { .size = 3, .remote_size = 3, .ctx = P2P_CTX_FOREIGN, .obj = { .predefined = 1 } };
static unsigned char data[LONGEST], in[LONGEST], seen[LONGEST];

/* --- the job --- */

static inline int make_listener(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001) };
    socklen_t size = sizeof at;

    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(listener >= 0 && !bind(listener, (struct sockaddr *)&at, sizeof at));
    CHECK(!listen(listener, 4) && !getsockname(listener, (struct sockaddr *)&at, &size));
    return ntohs(at.sin_port);
}

static inline void make_joint(uint32_t maxlen, uint32_t ackmark, uint32_t hiwater, int port)
{
    int twin;

    joint = joint_create(2, 2, 3);
    CHECK(joint != NULL);
    joint->count = joint->slots = 1;
    joint->maxlen = maxlen;
    joint->ackmark = ackmark;
    joint->hiwater = hiwater;
    for (uint32_t host = 0; host < 2; host++)
        *(struct joint_host *)(uintptr_t)joint_host(joint, (int)host) = (struct joint_host){
            .address = { [12] = 127, [15] = (unsigned char)(host + 1) }, .port = (uint32_t)port, .client = host,
            .procs = host + 1, .first_rank = host,
        };
    for (int rank = 0; rank < 3; rank++) {
        struct joint_proc *proc = (struct joint_proc *)(uintptr_t)joint_proc(joint, rank);
        hand_name(rank, proc->name);
        proc->host = proc->client = rank > 0;
    }
    CHECK(joint_index(joint, &twin));
}

static inline void job_open(uint32_t maxlen, uint32_t ackmark, uint32_t hiwater)
{
    struct p2p_config config = { .procs = 1, .ranks = 1 };
    const int port = make_listener();

    make_joint(maxlen, ackmark, hiwater, port);
    config.joint = joint;
    config.listener_fd = listener;
    hand = hand_dial(port);
    hand_index(1);
    CHECK_INT(p2p_init(&config), 0);
    CHECK_INT(group_create_stride(3, 0, 1, 0, &comm.group), 0);
    comm.remote_group = comm.group;
    CHECK_INT(p2p_comm_open(&comm), 0);
    CHECK_INT(p2p_foreign_connect(), 0);
}

static inline void job_close(void)
{
    p2p_comm_close(&comm);
    group_unref(comm.group);
    p2p_fini();
    close(hand);
    close(listener);
    mem_free(joint);
}

static void (*look)(void); /* poll once, and wait for a moment if nothing was there */

#define POLL_UNTIL(condition) \
    do { \
        for (int polls_ = 0; !(condition); polls_++) { \
            CHECK(polls_ < PATIENCE); \
            look(); \
        } \
    } while (0)

static inline void poll_some(void)
{
    for (int i = 0; i < 50; i++)
        look();
}

static inline struct type *byte_type(void)
{
    return obj_type(MPI_BYTE);
}

/* --- this process --- */

static inline struct req *start_send(size_t len, int dest, int tag, int mode)
{
    struct req *req;

    CHECK_INT(p2p_isend(&comm, data, (MPI_Count)len, byte_type(), dest, tag, mode, &req), 0);
    return req;
}

static inline struct req *start_recv(size_t len, int source, int tag)
{
    struct req *req;

    memset(in, 0xee, sizeof in);
    CHECK_INT(p2p_irecv(&comm, in, (MPI_Count)len, byte_type(), source, tag, P2P_STANDARD, &req), 0);
    return req;
}

static inline void end(struct req *req)
{
    POLL_UNTIL(req_is_done(req));
    CHECK_INT(req->error, 0);
    req->ops->release(req);
}

static inline void end_recv(struct req *req, int source, int tag, size_t len)
{
    POLL_UNTIL(req_is_done(req));
    CHECK(req->source == source && req->tag == tag);
    CHECK_INT(req->bytes, len);
    CHECK(!memcmp(in, data, len) && (len == LONGEST || in[len] == 0xee));
    end(req);
}

/* --- the other one --- */

static inline struct impi_packet message(enum impi_type type, int rank, int tag, size_t len, size_t msglen,
                                         uint64_t srqid)
{
    struct impi_packet packet = hand_packet(type, rank);

    packet.tag = tag;
    packet.lsrank = rank;
    packet.len = (uint32_t)len;
    packet.msglen = msglen;
    packet.srqid = srqid;
    return packet;
}

static inline void hand_message(enum impi_type type, int rank, int tag, size_t len, uint64_t srqid)
{
    const struct impi_packet packet = message(type, rank, tag, len, len, srqid);

    hand_send_packet(&packet, data);
}

static inline void hand_answer(enum impi_type type, int rank, uint64_t srqid, uint64_t drqid)
{
    struct impi_packet packet = hand_packet(type, rank);

    packet.srqid = srqid;
    packet.drqid = drqid;
    hand_send_packet(&packet, "");
}

/* The next packet that is no PROTOACK, with its data in `seen` from `at` on. */
static inline struct impi_packet expect(enum impi_type type, int rank, size_t at)
{
    struct impi_packet packet;

    do {
        POLL_UNTIL(hand_read(&packet, seen + at, look));
    } while (packet.type == IMPI_PROTOACK);
    CHECK_INT(packet.type, type);
    CHECK(packet.dest[0] == rank + 1 && packet.src[0] == 1);
    return packet;
}

static inline bool has_come(void)
{
    struct impi_packet packet;

    poll_some();
    while (hand_read(&packet, NULL, look)) {
        if (packet.type != IMPI_PROTOACK)
            return true;
    }
    return false;
}

static inline void expect_lost(struct req *req, const char *text)
{
    char said[ERR_TEXT_SIZE];

    POLL_UNTIL(req_is_done(req));
    CHECK_INT(err_id(req->error), 1241);
    err_text(req->error, said, sizeof said);
    CHECK(strstr(said, text));
    req->error = 0;
    end(req);
}

static inline void hand_init(void (*poll_once)(void))
{
    look = poll_once;
    for (int i = 0; i < LONGEST; i++)
        data[i] = (unsigned char)(i * 7 + i / 251);
    group_init();
    type_init();
    progress_init(&(struct progress_config){ .local_ranks = 1 });
}

#endif
