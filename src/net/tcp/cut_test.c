/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of transport tcp: streams that are cut anywhere. Its reads and writes come here instead of to the system,
 * and bring or take as little as it pleases; the sink refuses what it likes, there is no memory at times, polls of
 * either kind bring nothing, and the keeper steps in. The seed is printed, and can be given (PARLEY_TEST_SEED). */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "net/net_ends.h"
#include "net/tcp/int_tcp.h"
#include "net/tcp/tcp.h"
#include "sys/clock.h"

enum { RECORDS = 150, LONG = 150000, ROUNDS = 100, STEPS_MOST = 400000 };

/* Process 1 is the other end of a socket pair. */
struct cut {
    struct net *net;
    struct net_ep *ep;
    int fd;
    uint64_t random, expected;  /* of the test, and as the receiver follows */
    uint32_t arrived;
    unsigned refuses, starves; /* one of so many arrivals, moments; 0: none */
    uint32_t rooms, asked;      /* asked for; the last record whose place was, and one */
    unsigned char *where;       /* last answer of land, or NULL */
    unsigned char landing[LONG];
    unsigned char payload[LONG];
    unsigned char come[LONG + TCP_FRAME_SIZE + TCP_ALIGN]; /* of a frame that the transport has written */
    size_t have;
    _Atomic uint32_t pending;
};

static _Atomic unsigned stumbles; /* one of so many calls of the system goes wrong; 0: none. The keeper's do as well */

static bool draws(uint64_t *random, unsigned one_of)
{
    return one_of && suite_next(random) % one_of == 0;
}

/* --- the system --- */

/* What is left of `len` bytes, or 0 with errno. */
static size_t cut_off(size_t len, bool is_write)
{
    static const int errors[] = { EAGAIN, EINTR, ENOMEM, ENOBUFS };
    static _Thread_local uint64_t random = 11;
    uint64_t draw;

    if (!draws(&random, atomic_load(&stumbles)))
        return len;
    draw = suite_next(&random);
    errno = errors[draw / 3 % (is_write ? 4 : 3)];
    return draw % 3 == 0 ? 0 : 1 + draw / 3 % size_min(len, draw % 3 == 1 ? 40 : len);
}

/* The first `most` bytes of what the pieces are. */
static void shorten(struct msghdr *message, struct iovec *pieces, size_t most)
{
    size_t count = 0;

    for (; count < message->msg_iovlen && most > 0; count++) {
        pieces[count] = message->msg_iov[count];
        pieces[count].iov_len = size_min(pieces[count].iov_len, most);
        most -= pieces[count].iov_len;
    }
    message->msg_iov = pieces;
    message->msg_iovlen = count;
}

static ssize_t do_message(long number, int fd, const struct msghdr *message, int flags)
{
    struct msghdr made = *message;
    struct iovec pieces[64];
    size_t len = 0, most;

    for (size_t i = 0; i < made.msg_iovlen; i++)
        len += made.msg_iov[i].iov_len;
    CHECK(len > 0 && made.msg_iovlen <= ARRAY_LEN(pieces));
    most = cut_off(len, number == SYS_sendmsg);
    if (!most)
        return -1;
    shorten(&made, pieces, most);
    return syscall(number, fd, &made, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    return do_message(SYS_sendmsg, fd, message, flags);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    return do_message(SYS_recvmsg, fd, message, flags);
}

ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
    const size_t most = cut_off(len, true);

    return most ? syscall(SYS_sendto, fd, bytes, most, flags, NULL, 0) : -1;
}

ssize_t recv(int fd, void *bytes, size_t len, int flags)
{
    const size_t most = cut_off(len, false);

    return most ? syscall(SYS_recvfrom, fd, bytes, most, flags, NULL, NULL) : -1;
}

/* --- both sides --- */

static uint32_t cut_len(uint64_t *random)
{
    const uint64_t draw = suite_next(random);

    return (uint32_t)(draw % 20 == 0 ? draw / 20 % LONG : draw % 7 == 0 ? draw / 7 % 10000 : draw % 100);
}

static void cut_fill(unsigned char *payload, uint32_t number, uint32_t len)
{
    enum { PERIOD = 251 };

    for (uint32_t i = 0; i < len && i < PERIOD; i++)
        payload[i] = (unsigned char)(number * 31 + i * 7);
    for (size_t done = PERIOD; done < len; done += PERIOD)
        memcpy(payload + done, payload, size_min(PERIOD, len - done));
}

static int cut_arrive(void *arg, int proc, struct net_head head, const void *payload, uint32_t len)
{
    struct cut *cut = arg;
    static unsigned char expected[LONG];

    if (draws(&cut->random, cut->refuses))
        return NET_AGAIN;
    CHECK_INT(proc, 1);
    CHECK_INT((uintptr_t)payload % TCP_ALIGN, 0);
    CHECK_INT(head.word[0], cut->arrived);
    CHECK(head.word[1] == ~(uint64_t)cut->arrived);
    CHECK_INT(len, cut_len(&cut->expected));
    cut_fill(expected, cut->arrived, len);
    CHECK(!memcmp(expected, payload, len));
    CHECK(!cut->where || payload == cut->where);
    cut->where = NULL;
    cut->arrived++;
    return 0;
}

static void *cut_land(void *arg, int proc, struct net_head head, uint32_t len)
{
    struct cut *cut = arg;

    CHECK(proc == 1 && head.word[0] == cut->arrived && len <= LONG && len >= TCP_LAND_MIN && !cut->where);
    CHECK(cut->asked != cut->arrived + 1); /* once each */
    cut->asked = cut->arrived + 1;
    return cut->where = cut->arrived % 2 ? cut->landing : NULL;
}

static void cut_lost(void *arg, int proc, int rc)
{
    char text[400];

    (void)arg, (void)proc;
    err_text(rc, text, sizeof text);
    CHECK_TEXT(text, "");
}

static uint32_t cut_room(void *arg, int proc)
{
    (void)proc;
    return 1000 + ((struct cut *)arg)->rooms++ % 7 * 10000;
}

static struct cut *cut_open(struct job_head *segment, uint64_t seed)
{
    struct cut *cut = mem_zalloc(sizeof *cut);
    struct net_config config = config_of(segment, 0, 0);
    const int size = 5000;
    int fds[2];

    CHECK(cut && !socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds));
    cut->random = seed;
    cut->expected = 77 + seed;
    cut->refuses = suite_next(&cut->random) % 3 * 8;
    cut->starves = suite_next(&cut->random) % 3 * 5;
    config.kept = (struct net_kept){ .mask = 1, .cost = 100, .wish = 2 };
    config.sink = (struct net_sink){ .arrive = cut_arrive, .arg = cut, .land = cut_land, .lost = cut_lost,
                                     .room = cut_room };
    CHECK_INT(tcp_ops.open(&config, &cut->net), 0);
    CHECK_INT(tcp_ops.connect(cut->net, 1, &cut->ep), 0);
    if (seed % 2)
        setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    tcp_adopt((struct tcp_peer *)(void *)cut->ep, fds[0], 0);
    cut->fd = fds[1];
    atomic_store(&stumbles, (unsigned)(suite_next(&cut->random) % 3 * 2));
    return cut;
}

static void cut_close(struct cut *cut)
{
    atomic_store(&stumbles, 0);
    CHECK_INT(atomic_load(&cut->pending), 0);
    close(cut->fd);
    tcp_ops.close(cut->net);
    mem_free(cut);
}

/* Something happens that ought to change nothing, perhaps several times: a poll of either kind, or the keeper comes. */
static void cut_stir(struct cut *cut)
{
    struct tcp *tcp = (struct tcp *)(void *)cut->net;

    for (uint64_t n = suite_next(&cut->random) % 4; n > 0; n--) {
        const uint64_t draw = suite_next(&cut->random);
        if (draw % 5 < 2) {
            tcp_ops.poll_ep(cut->ep, NULL);
        } else if (draw % 5 < 4) {
            tcp_ops.poll(cut->net);
        } else {
            lock_take(&tcp->guard);
            tcp_keeper_flush(tcp);
            lock_release(&tcp->guard);
        }
    }
}

static void cut_starve(struct cut *cut)
{
    mem_fail_after(draws(&cut->random, cut->starves) ? (long)(suite_next(&cut->random) % 2) : -1);
}

/* What the transport has written, as far as it has come: must be what was sent, and good-byes and wishes of its own. */
static void cut_pull(struct cut *cut, size_t most)
{
    for (size_t left = most; left;) {
        struct tcp_frame frame = { 0 };
        size_t want = TCP_FRAME_SIZE;
        ssize_t got;
        memcpy(&frame, cut->come, sizeof frame);
        if (cut->have >= want)
            want += tcp_padded(frame.len);
        got = want > cut->have ? read(cut->fd, cut->come + cut->have, size_min(left, want - cut->have)) : 0;
        if (got < 0)
            return;
        cut->have += (size_t)got;
        left -= (size_t)got;
        memcpy(&frame, cut->come, sizeof frame);
        if (cut->have < TCP_FRAME_SIZE || cut->have < TCP_FRAME_SIZE + tcp_padded(frame.len))
            continue;
        for (size_t i = TCP_FRAME_SIZE + frame.len; i < cut->have; i++)
            CHECK_INT(cut->come[i], 0);
        cut->have = 0;
        if (frame.kind == TCP_WISH) {
            CHECK_INT(frame.len, 0);
            continue;
        }
        CHECK_INT(frame.kind, TCP_RECORD);
        while (cut_arrive(cut, 1, frame.head, cut->come + TCP_FRAME_SIZE, frame.len))
            ;
    }
}

/* --- what comes --- */

/* All bytes, in pieces of any length. */
static void cut_push(struct cut *cut, const void *bytes, size_t len)
{
    for (size_t done = 0, steps = 0; done < len; steps++) {
        const uint64_t draw = suite_next(&cut->random);
        const size_t piece = size_min(len - done, 1 + draw / 8 % (draw % 8 == 0 ? 40000 : draw % 8 < 3 ? 30 : 3000));
        const ssize_t sent = write(cut->fd, (const char *)bytes + done, piece);
        CHECK(steps < STEPS_MOST);
        done += sent > 0 ? (size_t)sent : 0;
        cut_starve(cut);
        cut_stir(cut);
        mem_fail_after(-1);
    }
}

static void drop_written(struct cut *cut)
{
    char bytes[4000];

    while (read(cut->fd, bytes, sizeof bytes) > 0)
        ;
}

static void test_input(struct job_head *segment, uint64_t seed)
{
    struct cut *cut = cut_open(segment, seed);
    static unsigned char payload[LONG + TCP_ALIGN];
    uint64_t random = cut->expected;

    for (uint32_t i = 0; i < RECORDS; i++) {
        const uint32_t len = cut_len(&random);
        const struct tcp_frame frame = { len, TCP_RECORD, { { i, ~(uint64_t)i } } };
        cut_fill(payload, i, len);
        memset(payload + len, 0, TCP_ALIGN);
        cut_push(cut, &frame, sizeof frame);
        cut_push(cut, payload, tcp_padded(len));
        if (i % 16 == 0)
            drop_written(cut);
    }
    for (int i = 0; cut->arrived < RECORDS; i++) {
        CHECK(i < STEPS_MOST);
        tcp_ops.poll(cut->net);
    }
    cut_close(cut);
}

/* --- what goes out --- */

static bool send_from(struct cut *cut, struct net_head head, uint32_t number, uint32_t len)
{
    if (atomic_load(&cut->pending)) /* there is one buffer to send from */
        return false;
    cut_fill(cut->payload, number, len);
    atomic_store(&cut->pending, 1);
    if (!tcp_ops.send_from(cut->ep, head, cut->payload, len, &cut->pending))
        return true;
    atomic_store(&cut->pending, 0);
    return false;
}

/* It may be that it is not sent after all. */
static bool send_buffer(struct cut *cut, struct net_head head, uint32_t number, uint32_t len)
{
    struct net_buffer buffer;

    if (tcp_ops.alloc(cut->ep, &buffer))
        return false;
    cut_fill(buffer.data, number, len);
    cut_stir(cut);
    if (suite_next(&cut->random) % 4 && !tcp_ops.commit(cut->ep, head, &buffer, len))
        return true;
    tcp_ops.release(cut->ep, &buffer);
    return false;
}

static bool cut_send(struct cut *cut, uint32_t number, uint32_t len)
{
    const struct net_head head = { { number, ~(uint64_t)number } };
    const uint64_t way = suite_next(&cut->random) % 5;
    bool is_sent;

    if (len > TCP_EAGER_MAX || way == 0)
        return send_from(cut, head, number, len);
    if (way == 1)
        return send_buffer(cut, head, number, len);
    cut_fill(cut->landing, number, len);
    is_sent = (way == 2 ? tcp_ops.send_soon : way == 3 && cut->ep->room > 0 ? tcp_ops.send_in_room : tcp_ops.send)(
                  cut->ep, head, cut->landing, len) != NET_AGAIN;
    CHECK(is_sent || way != 3 || cut->ep->room <= 0);
    return is_sent;
}

static void test_output(struct job_head *segment, uint64_t seed)
{
    struct cut *cut = cut_open(segment, seed);
    uint64_t random = cut->expected;

    for (uint32_t i = 0, steps = 0; i < RECORDS;) {
        const uint64_t before = random, draw = suite_next(&cut->random);
        CHECK(steps++ < STEPS_MOST);
        cut_starve(cut);
        if (cut_send(cut, i, cut_len(&random)))
            i++;
        else
            random = before;
        cut_stir(cut);
        mem_fail_after(-1);
        if (draw % 3)
            cut_pull(cut, draw % 3 == 1 ? 300 : 1 + draw / 3 % (draw % 7 ? 20000 : 10));
    }
    for (int i = 0; cut->arrived < RECORDS || atomic_load(&cut->pending); i++) {
        CHECK(i < STEPS_MOST);
        cut_pull(cut, 4000);
        tcp_ops.poll(cut->net);
    }
    cut_close(cut);
}

/* Whoever waits is not to take for idle time what brings a long record on, in either direction. */
static void test_parts(struct job_head *segment)
{
    enum { PART = 20000 };
    const struct tcp_frame frame = { LONG, TCP_RECORD, { { 0, 0 } } };
    struct cut *cut = cut_open(segment, 1);

    cut->refuses = cut->starves = 0;
    atomic_store(&stumbles, 0);
    CHECK(write(cut->fd, &frame, sizeof frame) == sizeof frame);
    CHECK(tcp_ops.poll_ep(cut->ep, NULL) > 0);
    for (int i = 0; i < 4; i++) {
        CHECK(write(cut->fd, cut->payload, PART) == PART);
        CHECK((i % 2 ? tcp_ops.poll(cut->net) : tcp_ops.poll_ep(cut->ep, NULL)) > 0);
        CHECK_INT(tcp_ops.poll_ep(cut->ep, NULL), 0);
        CHECK_INT(cut->arrived, 0);
    }
    CHECK(send_from(cut, frame.head, 0, LONG));
    for (int i = 0; i < 4; i++) {
        CHECK_INT(tcp_ops.poll_ep(cut->ep, NULL), 0);
        drop_written(cut);
        CHECK((i % 2 ? tcp_ops.poll(cut->net) : tcp_ops.poll_ep(cut->ep, NULL)) > 0);
        CHECK_INT(atomic_load(&cut->pending), 1);
    }
    for (int i = 0; atomic_load(&cut->pending); i++) {
        CHECK(i < STEPS_MOST);
        drop_written(cut);
        tcp_ops.poll(cut->net);
    }
    cut_close(cut);
}

int main(void)
{
    const char *given = getenv("PARLEY_TEST_SEED");
    const uint64_t seed = given ? strtoull(given, NULL, 10) : clock_ns() / 1000 % 1000000;
    const char *times = getenv("PARLEY_TEST_ROUNDS");
    const int rounds = times ? atoi(times) : ROUNDS;
    const long before = mem_live();
    struct job_head *segment = segment_create(2);

    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    test_parts(segment);
    CHECK_INT(mem_live(), before);
    for (int i = 0; i < rounds; i++) {
        test_input(segment, seed + (uint64_t)i);
        test_output(segment, seed + (uint64_t)i);
        CHECK_INT(mem_live(), before);
    }
    segment_destroy(segment);
    return 0;
}
