/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of net/impi: clients of several hosts in one process, over loopback addresses; and a peer that is written
 * out by hand, who counts packets, lies, and ends in the middle of everything. */
#include "net/impi/impi.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "net/impi/hand.h"
#include "net/impi/int_impi.h"
#include "sys/ready.h"

enum { HOSTS_MAX = 8, MAXLEN = 100, PATIENCE = 20000 };

static const unsigned char zeros[2 * MAXLEN];

/* Every host has one process, but for those of a job made by job_open with more. */
static struct job {
    int hosts, procs;
    int client_of[HOSTS_MAX], procs_of[HOSTS_MAX];
    uint32_t ackmark, hiwater;
    int listener[HOSTS_MAX], port[HOSTS_MAX];
} job;

static int deaf = -1; /* the host that has its port and does not listen there: nor can anybody else */

static struct end {
    struct joint *joint;
    struct net *net;           /* NULL: a host that is played by hand */
    int packets, refuse;       /* that have come; that are to be refused */
    struct impi_packet last;
    unsigned char data[MAXLEN];
    int lost, lost_id;
    char lost_text[ERR_TEXT_SIZE];
} ends[HOSTS_MAX];

/* --- jobs --- */

static void make_listener(int host)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001 + (uint32_t)(host % 2)) };
    socklen_t size = sizeof at;

    job.listener[host] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(job.listener[host] >= 0 && !bind(job.listener[host], (struct sockaddr *)&at, sizeof at));
    CHECK(!getsockname(job.listener[host], (struct sockaddr *)&at, &size));
    CHECK(host == deaf || !listen(job.listener[host], 16));
    job.port[host] = ntohs(at.sin_port);
}

static struct joint *make_joint(int client)
{
    struct joint *joint = joint_create(job.client_of[job.hosts - 1] + 1, job.hosts, job.procs);
    int rank = 0, twin;

    CHECK(joint != NULL);
    joint->client = (uint32_t)client;
    joint->maxlen = MAXLEN;
    joint->ackmark = job.ackmark;
    joint->hiwater = job.hiwater;
    joint->slots = 10;
    joint->count = 0;
    for (int i = 0; i < job.hosts; i++) {
        struct joint_host *host = (struct joint_host *)(uintptr_t)joint_host(joint, i);

        *host = (struct joint_host){ .address = { [12] = 127, [15] = (unsigned char)(1 + i % 2) },
                                     .port = (uint32_t)job.port[i], .client = (uint32_t)job.client_of[i],
                                     .procs = (uint32_t)job.procs_of[i], .first_rank = (uint32_t)rank };
        for (int k = 0; k < job.procs_of[i]; k++, rank++) {
            struct joint_proc *proc = (struct joint_proc *)(uintptr_t)joint_proc(joint, rank);
            *proc = (struct joint_proc){ .host = (uint32_t)i, .client = (uint32_t)job.client_of[i] };
            hand_name(rank, proc->name);
            if (job.client_of[i] == client && !joint->count++)
                joint->first = (uint32_t)rank;
        }
    }
    CHECK(joint_index(joint, &twin));
    return joint;
}

static int on_packet(void *arg, int proc, const struct impi_packet *packet, const void *data, const char **wrong)
{
    struct end *end = arg;

    CHECK(proc >= 0 && proc < joint_numbers(end->joint));
    if (end->refuse) {
        end->refuse--;
        return NET_AGAIN;
    }
    if (packet->tag == 666) {
        *wrong = "a packet that the test does not like";
        return IMPI_WRONG;
    }
    end->packets++;
    end->last = *packet;
    memcpy(end->data, data, packet->len);
    return 0;
}

static void on_lost(void *arg, int proc, int error)
{
    struct end *end = arg;

    (void)proc;
    end->lost++;
    end->lost_id = err_id(error);
    err_text(error, end->lost_text, sizeof end->lost_text);
}

static int first_rank(int host)
{
    int rank = 0;

    while (host)
        rank += job.procs_of[--host];
    return rank;
}

static void open_end(int host)
{
    struct end *end = &ends[host];
    struct impi_config config = { .rank = first_rank(host), .listener = job.listener[host], .packet = on_packet,
                                  .lost = on_lost, .arg = end };

    config.joint = end->joint = make_joint(job.client_of[host]);
    CHECK_INT(impi_open(&config, &end->net), 0);
}

/* `clients` has so many hosts of each client, 0 at its end; hosts in `by_hand`, a bit each, get no net. */
static void job_open(const int *clients, uint32_t ackmark, uint32_t hiwater, unsigned by_hand)
{
    job = (struct job){ .ackmark = ackmark, .hiwater = hiwater };
    memset(ends, 0, sizeof ends);
    for (int client = 0; clients[client]; client++) {
        for (int i = 0; i < clients[client]; i++) {
            job.client_of[job.hosts] = client;
            job.procs_of[job.hosts] = 1 + (by_hand >> job.hosts & 1); /* two where it is played by hand */
            job.procs += job.procs_of[job.hosts];
            make_listener(job.hosts++);
        }
    }
    for (int host = 0; host < job.hosts; host++) {
        if (!(by_hand >> host & 1))
            open_end(host);
    }
}

static void job_close(void)
{
    for (int host = 0; host < job.hosts; host++) {
        if (ends[host].net)
            impi_ops.close(ends[host].net);
        mem_free(ends[host].joint);
        close(job.listener[host]);
    }
}

static void poll_all(void)
{
    int events = 0;

    for (int host = 0; host < job.hosts; host++) {
        if (ends[host].net)
            events += impi_ops.poll(ends[host].net);
    }
    if (!events)
        usleep(200);
}

#define POLL_UNTIL(condition) \
    do { \
        for (int polls_ = 0; !(condition); polls_++) { \
            CHECK(polls_ < PATIENCE); \
            poll_all(); \
        } \
    } while (0)

static bool is_connected(int host)
{
    int rc;
    const bool is = !ends[host].net || impi_is_connected(ends[host].net, &rc);

    CHECK(!is || !ends[host].net || !rc);
    return is;
}

static bool are_connected(void)
{
    for (int host = 0; host < job.hosts; host++) {
        if (!is_connected(host))
            return false;
    }
    return true;
}

static bool have_left(int expected)
{
    for (int host = 0; host < job.hosts; host++) {
        int rc;
        if (ends[host].net && !impi_has_left(ends[host].net, &rc))
            return false;
        if (ends[host].net)
            CHECK_INT(rc ? err_id(rc) : 0, expected);
    }
    return true;
}

static struct net_ep *way(int from, int rank)
{
    struct net_ep *ep;

    CHECK_INT(impi_ops.connect(ends[from].net, joint_number(ends[from].joint, rank), &ep), 0);
    return ep;
}

static bool try_send(struct net_ep *ep, enum impi_type type, uint32_t len, int tag)
{
    const struct impi_packet packet = { .type = type, .len = len, .msglen = len, .tag = tag, .srqid = 5 };
    struct impi_out *out = impi_begin(ep, &packet);

    if (!out)
        return false;
    for (uint32_t i = 0; i < len; i++)
        ((unsigned char *)impi_data(out))[i] = (unsigned char)(i + (uint32_t)tag);
    impi_send(ep, out);
    return true;
}

/* --- nets with each other --- */

static void exchange(int from, int to)
{
    struct net_ep *ep = way(from, first_rank(to));
    const int before = ends[to].packets;

    for (int i = 0; i < 100; i++) {
        const uint32_t len = (uint32_t)(i * 37 % (MAXLEN + 1));

        ends[to].refuse = i % 3;
        POLL_UNTIL(try_send(ep, IMPI_DATA, len, i));
        POLL_UNTIL(ends[to].packets == before + i + 1);
        CHECK(ends[to].last.tag == i && ends[to].last.len == len && ends[to].last.src[0] == first_rank(from) + 1);
        for (uint32_t k = 0; k < len; k++)
            CHECK_INT(ends[to].data[k], (unsigned char)(k + (uint32_t)i));
    }
}

static void test_all(const int *clients)
{
    const long before = mem_live();

    job_open(clients, 3, 7, 0);
    POLL_UNTIL(are_connected());
    for (int from = 0; from < job.hosts; from++) {
        for (int to = 0; to < job.hosts; to++) {
            if (job.client_of[from] != job.client_of[to])
                exchange(from, to);
        }
    }
    for (int host = 0; host < job.hosts; host++)
        impi_leave(ends[host].net);
    POLL_UNTIL(have_left(0));
    for (int host = 0; host < job.hosts; host++)
        CHECK_INT(ends[host].lost, 0);
    job_close();
    CHECK_INT(mem_live(), before);
}

/* --- a peer played by hand: host 1, with processes of ranks 1 and 2, against host 0 with rank 0 --- */

static void hand_open(uint32_t ackmark, uint32_t hiwater)
{
    job_open((int[]){ 1, 1, 0 }, ackmark, hiwater, 2);
    hand = hand_dial(job.port[0]);
    hand_index(1);
    POLL_UNTIL(are_connected());
}

static void hand_close(void)
{
    close(hand);
    job_close();
}

/* Read until nothing comes for a while; how many packets there were for this rank, of the types that send_all
 * sends. */
static int hand_count(int rank)
{
    struct impi_packet packet;
    int count = 0;

    for (int idle = 0; idle < 20; idle++) {
        poll_all();
        while (hand_read(&packet, NULL, poll_all)) {
            CHECK_INT(packet.type, count % 2 ? IMPI_SYNCACK : IMPI_DATA);
            CHECK(packet.dest[0] == rank + 1 && packet.src[0] == 1);
            count++;
            idle = 0;
        }
    }
    return count;
}

/* As many as credit allows. */
static int send_all(struct net_ep *ep)
{
    int count = 0;

    while (count < 1000 && try_send(ep, count % 2 ? IMPI_SYNCACK : IMPI_DATA, 0, 1))
        count++;
    return count;
}

/* Out: exactly hiwater, then ackmark for each PROTOACK; one pair without credit does not hold up another. */
static void test_credit_out(int ackmark, int hiwater)
{
    struct net_ep *first, *second;

    hand_open((uint32_t)ackmark, (uint32_t)hiwater);
    first = way(0, 1);
    second = way(0, 2);
    CHECK_INT(send_all(first), hiwater);
    CHECK_INT(hand_count(1), hiwater);
    CHECK_INT(send_all(second), hiwater);
    CHECK_INT(hand_count(2), hiwater);
    for (int i = 0; i < 3; i++) {
        hand_send(IMPI_PROTOACK, 2);
        POLL_UNTIL(impi_peer_of(second)->credit.sent < (uint32_t)hiwater);
        CHECK(!try_send(first, IMPI_DATA, 0, 1));
        CHECK_INT(send_all(second), ackmark);
        CHECK_INT(hand_count(2), ackmark);
    }
    hand_close();
}

/* In: a PROTOACK for each ackmark packets that have been taken, of whatever type, and of each pair for itself; what
 * the user has no memory for has not been taken. */
static void test_credit_in(int ackmark, int hiwater)
{
    struct impi_packet packet;

    hand_open((uint32_t)ackmark, (uint32_t)hiwater);
    for (int i = 1; i <= 5 * ackmark; i++) {
        const int before = ends[0].packets;
        ends[0].refuse = i % 2;
        hand_send(i % 3 ? IMPI_SYNCACK : IMPI_DATASYNC, 1);
        POLL_UNTIL(ends[0].packets == before + 1);
        CHECK(hand_read(&packet, NULL, poll_all) == (i % ackmark == 0));
        if (i % ackmark == 0)
            CHECK(packet.type == IMPI_PROTOACK && packet.dest[0] == 2 && packet.src[0] == 1 && !packet.len);
        if (i >= ackmark)
            continue;
        hand_send(IMPI_CANCELNO, 2); /* another pair's */
        POLL_UNTIL(ends[0].packets == before + 2);
    }
    hand_close();
}

/* An acknowledgement passes all that waits, but not in the middle of a packet. */
static void test_overtaking(void)
{
    struct impi_packet packet;
    struct net_ep *ep;
    int sent = 0, data = 0;
    const int size = 4096;

    hand_open(1, 1000000);
    ep = way(0, 1);
    CHECK(!setsockopt(ends[0].net ? impi_peer_of(ep)->host->fd : -1, SOL_SOCKET, SO_SNDBUF, &size, sizeof size));
    while (try_send(ep, IMPI_DATA, MAXLEN, 1))
        sent++;
    CHECK(sent > 1000);
    hand_send(IMPI_SYNCACK, 2);
    POLL_UNTIL(ends[0].packets == 1);
    for (bool has_come = false; data < sent;) {
        poll_all();
        while (hand_read(&packet, NULL, poll_all)) {
            has_come |= packet.type == IMPI_PROTOACK;
            data += packet.type == IMPI_DATA;
            CHECK(packet.type == IMPI_PROTOACK || packet.type == IMPI_DATA);
        }
        CHECK(has_come || data < sent);
    }
    hand_close();
}

/* --- ends, good and bad --- */

static void test_fini(void)
{
    struct impi_packet packet;

    hand_open(3, 7);
    impi_leave(ends[0].net);
    POLL_UNTIL(hand_read(&packet, NULL, poll_all));
    CHECK_INT(packet.type, IMPI_FINI);
    hand_send(IMPI_DATA, 1); /* it may still come */
    hand_send(IMPI_SYNCACK, 1);
    hand_send(IMPI_CANCELNO, 1);
    POLL_UNTIL(hand_read(&packet, NULL, poll_all));
    CHECK_INT(packet.type, IMPI_PROTOACK);
    CHECK(!have_left(0));
    hand_send(IMPI_FINI, 1);
    POLL_UNTIL(have_left(0));
    CHECK_INT(ends[0].lost, 0);
    hand_close();
    hand_open(3, 7); /* the other one first, with fields as LAM has them */
    packet = (struct impi_packet){ .type = IMPI_FINI, .len = 128, .msglen = 128, .lsrank = -1, .tag = -1 };
    memset(packet.src + 16, 0xff, 8);
    hand_send_packet(&packet, zeros);
    for (int i = 0; i < 100; i++)
        poll_all();
    CHECK(!have_left(0));
    impi_leave(ends[0].net);
    POLL_UNTIL(have_left(0));
    hand_close();
}

/* It ends after so many bytes of a packet with data. */
static void test_eof(size_t size)
{
    struct impi_packet packet = hand_packet(IMPI_DATA, 1);
    unsigned char bytes[IMPI_HEADER_SIZE + MAXLEN] = { 0 };

    hand_open(3, 7);
    packet.len = packet.msglen = MAXLEN;
    impi_packet_write(&packet, bytes);
    hand_write(bytes, size);
    shutdown(hand, SHUT_WR);
    POLL_UNTIL(ends[0].lost == 2);
    CHECK_INT(ends[0].lost_id, 1241);
    CHECK(strstr(ends[0].lost_text, "ranks 1 to 2") && strstr(ends[0].lost_text, "client 1"));
    CHECK_INT(ends[0].packets, size == sizeof bytes);
    CHECK(!try_send(way(0, 1), IMPI_DATA, 0, 1));
    impi_leave(ends[0].net);
    CHECK(have_left(1241));
    hand_close();
}

/* The error's text for a packet that makes no sense. */
static void expect_wrong(const struct impi_packet *packet, int times, const char *text)
{
    hand_open(3, 7);
    for (int i = 0; i < times; i++)
        hand_send_packet(packet, zeros);
    POLL_UNTIL(ends[0].lost == 2);
    if (!strstr(ends[0].lost_text, text))
        fprintf(stderr, "\"%s\" is not in \"%s\"\n", text, ends[0].lost_text);
    CHECK(strstr(ends[0].lost_text, text));
    CHECK_INT(ends[0].lost_id, 1241);
    hand_close();
}

static void test_wrong(void)
{
    struct impi_packet packet = hand_packet(IMPI_TYPES, 1);

    expect_wrong(&packet, 1, "a type that does not exist");
    packet = hand_packet(IMPI_DATA, 1);
    packet.len = packet.msglen = MAXLEN + 1;
    expect_wrong(&packet, 1, "longer than was agreed");
    packet.len = 10;
    packet.msglen = 9;
    expect_wrong(&packet, 1, "longer than its message");
    packet = hand_packet(IMPI_DATA, 0);
    expect_wrong(&packet, 1, "a process that is not there");
    packet = hand_packet(IMPI_DATA, 77);
    expect_wrong(&packet, 1, "a process that is not there");
    packet = hand_packet(IMPI_SYNCACK, 1);
    packet.dest[0] = 2;
    expect_wrong(&packet, 1, "for another process");
    packet = hand_packet(IMPI_PROTOACK, 1);
    expect_wrong(&packet, 1, "more acknowledgements");
    packet = hand_packet(IMPI_DATASYNC, 1);
    packet.tag = 666;
    expect_wrong(&packet, 1, "the test does not like");
    packet = hand_packet(IMPI_FINI, 1);
    expect_wrong(&packet, 2, "last packet twice");
}

static void test_after_fini(void)
{
    hand_open(3, 7);
    hand_send(IMPI_FINI, 1);
    hand_send(IMPI_PROTOACK, 1); /* that would be one too many */
    POLL_UNTIL(ends[0].lost == 2);
    hand_close();
    hand_open(3, 7);
    hand_send(IMPI_FINI, 1);
    hand_send(IMPI_DATA, 1);
    POLL_UNTIL(ends[0].lost == 2);
    CHECK(strstr(ends[0].lost_text, "after its last one"));
    hand_close();
}

/* --- who else comes to the door --- */

static void expect_sent_away(const void *bytes, size_t size)
{
    char byte;
    const int real = hand;

    hand = hand_dial(job.port[0]);
    hand_write(bytes, size);
    if (!size)
        shutdown(hand, SHUT_WR);
    POLL_UNTIL(!recv(hand, &byte, 1, 0));
    close(hand);
    hand = real;
}

static void test_strangers(void)
{
    int silent[IMPI_CALLERS / 2];

    job_open((int[]){ 1, 1, 1, 0 }, 3, 7, 6);
    for (int i = 0; i < IMPI_CALLERS / 2; i++) {
        silent[i] = hand_dial(job.port[0]);
        poll_all();
    }
    expect_sent_away("", 0);
    expect_sent_away("\0\0\0\0", 4); /* the host itself */
    expect_sent_away("\0\0\0\3", 4);
    expect_sent_away("GET / HTTP/1.0\r\n", 4);
    expect_sent_away("\0\0\0\2", 4); /* from the address of host 1 */
    hand = hand_dial(job.port[0]);
    hand_write("\0\0", 2);
    for (int i = 0; i < 10; i++)
        poll_all();
    hand_write("\0\1", 2);
    POLL_UNTIL(impi_of(ends[0].net)->missing == 1);
    expect_sent_away("\0\0\0\1", 4); /* is there already */
    CHECK(!is_connected(0));
    CHECK(strstr(impi_of(ends[0].net)->stranger, "not expected"));
    for (int i = 0; i < IMPI_CALLERS / 2; i++)
        close(silent[i]);
    hand_close();
}

/* Nobody comes, and nobody is there. */
static void test_timeout(const char *text, unsigned by_hand)
{
    const int other = by_hand == 1; /* the one that waits */
    char said[ERR_TEXT_SIZE];
    int rc = 0;

    setenv("PARLEY_IMPI_TIMEOUT", "1", 1);
    deaf = !other;
    job_open((int[]){ 1, 1, 0 }, 3, 7, by_hand);
    POLL_UNTIL(impi_is_connected(ends[other].net, &rc));
    CHECK_INT(err_id(rc), 1240);
    err_text(rc, said, sizeof said);
    CHECK(strstr(said, text));
    job_close();
    deaf = -1;
    unsetenv("PARLEY_IMPI_TIMEOUT");
}

int main(void)
{
    static const int marks[][2] = { { 1, 1 }, { 1, 2 }, { 3, 7 }, { 10, 20 } };

    for (int a = 1; a <= 3; a++) {
        for (int b = 1; b <= 3; b++)
            test_all((int[]){ a, b, 0 });
    }
    test_all((int[]){ 1, 2, 1, 1, 0 });
    for (int i = 0; i < 4; i++) {
        test_credit_out(marks[i][0], marks[i][1]);
        test_credit_in(marks[i][0], marks[i][1]);
    }
    test_overtaking();
    test_fini();
    for (size_t size = 0; size <= IMPI_HEADER_SIZE + MAXLEN; size += 19)
        test_eof(size);
    test_wrong();
    test_after_fini();
    test_strangers();
    test_timeout("has not connected", 2);
    test_timeout("could not be reached", 1);
    return 0;
}
