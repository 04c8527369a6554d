/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of transport tcp: the conformance suite over real sockets, with the system's buffers and with small ones;
 * addresses that come late; strangers and liars at the door; processes that end. */
#include "net/tcp/tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "sys/hash.h"
#include "net/net_ends.h"
#include "net/tcp/int_tcp.h"
#include "sys/ready.h"

enum { MANY = 64, ROOM_COST = 100 };

/* In seconds. What is not set any more stays as it was. */
static void set_patience(const char *seconds)
{
    setenv("PARLEY_TCP_TIMEOUT", seconds, 1);
    CHECK_INT(tcp_patience_read(), 0);
}

static struct job_address *tcp_address_of(struct job_head *segment, int proc)
{
    return &job_place(segment, proc)->address[JOB_TCP];
}

/* --- the suite --- */

static void open_pair(struct suite_end *a, struct suite_end *b, struct job_head *segment, int lane)
{
    suite_open(a, &tcp_ops, config_of(segment, 0, lane), 1);
    suite_open(b, &tcp_ops, config_of(segment, 1, lane), 0);
    a->is_remote = b->is_remote = true;
}

/* Several segments fit the buffer, and nothing is held back on a way within the machine. */
static void check_options(const struct suite_end *end, int buffer)
{
    const struct tcp *tcp = (const struct tcp *)(void *)end->net;
    int segment = 0;
    char name[16] = "";
    socklen_t size = sizeof segment, name_size = sizeof name;

    CHECK(!getsockopt(tcp->peers[1]->fd, IPPROTO_TCP, TCP_CONGESTION, name, &name_size));
    CHECK(buffer || !strcmp(name, "reno"));
    CHECK(!getsockopt(tcp->peers[1]->fd, IPPROTO_TCP, TCP_MAXSEG, &segment, &size));
    CHECK(segment > 0 && (!buffer || segment <= buffer / 4));
}

static void test_suite(int lane, const char *buffer)
{
    const long before = mem_live();
    struct job_head *segment = segment_create(2);
    struct suite_end a, b;

    setenv("PARLEY_TCP_BUFFER", buffer, 1);
    open_pair(&a, &b, segment, lane);
    net_suite(&a, &b);
    net_suite(&b, &a);
    check_options(&a, atoi(buffer));
    tcp_ops.close(a.net);
    tcp_ops.close(b.net);
    segment_destroy(segment);
    CHECK_INT(mem_live(), before);
    unsetenv("PARLEY_TCP_BUFFER");
}

/* Another process gets number 1. */
static void test_renew(void)
{
    struct job_head *segment = segment_create(2);
    struct suite_end a, b;

    open_pair(&a, &b, segment, 0);
    net_suite(&a, &b);
    tcp_ops.close(b.net);
    job_proc(segment, 1)->tenant = 1;
    suite_open(&b, &tcp_ops, config_of(segment, 1, 0), 0);
    b.is_remote = true;
    for (int i = 0; i < 100; i++) { /* a is not told yet */
        CHECK_INT(tcp_ops.send(b.ep, (struct net_head){ { 1, 2 } }, "", 0), NET_AGAIN);
        suite_poll(&a);
        suite_poll(&b);
    }
    a.received = UINT32_MAX;
    tcp_ops.renew(a.ep);
    a.refuse = 1 << 30;
    for (int i = 0, is_sent = 0; a.refuse == 1 << 30; i++) {
        CHECK(i < 100000);
        is_sent = is_sent || !tcp_ops.send(b.ep, (struct net_head){ { 1, 2 } }, "", 0);
        suite_poll(&a);
        suite_poll(&b);
    }
    tcp_ops.close(b.net);
    job_proc(segment, 1)->tenant = 2;
    suite_open(&b, &tcp_ops, config_of(segment, 1, 0), 0);
    b.is_remote = true;
    tcp_ops.renew(a.ep);
    a.refuse = 0;
    net_suite(&a, &b);
    tcp_ops.renew(a.ep); /* it is the one that we are connected to */
    net_suite(&b, &a);
    tcp_ops.close(a.net);
    tcp_ops.close(b.net);
    segment_destroy(segment);
}

static void end_open(struct end *end, struct job_head *segment, int proc, int lane, int other)
{
    struct net_config config = config_of(segment, proc, lane);

    config.kept = (struct net_kept){ .mask = 0xfc, .cost = ROOM_COST, .wish = 2 };
    end_open_by(end, &tcp_ops, config, other);
}

/* Send records that may have to be kept until the wish says that it is enough; how many. */
static int fill_room(struct end *a)
{
    const _Atomic uint32_t *wish;
    _Atomic uint32_t *own;
    int sent = 0;

    tcp_ops.wishes(a->ep, &own, &wish);
    for (; *wish != 2; sent++) {
        CHECK(sent < 100000);
        while (tcp_ops.send(a->ep, (struct net_head){ { 1, 0 } }, "1234567", 8))
            tcp_ops.poll(a->net);
    }
    return sent;
}

/* Only so much may be on its way that the other one would have to keep; it says how much, and other records pass. */
static void test_room(void)
{
    struct job_head *segment = segment_create(2);
    const _Atomic uint32_t *wish;
    _Atomic uint32_t *own;
    struct end a, b;
    int sent;

    end_open(&a, segment, 0, 0, 1);
    end_open(&b, segment, 1, 0, 0);
    tcp_ops.wishes(a.ep, &own, &wish);
    b.room = 4 * (8 + ROOM_COST);
    send_first(&a, &b, 4);
    sent = fill_room(&a);
    CHECK_INT(sent, (TCP_FIRST_ROOM + 8 + ROOM_COST - 1) / (8 + ROOM_COST));
    CHECK_INT(tcp_ops.send(a.ep, (struct net_head){ { 4, 0 } }, "", 0), 0);
    poll_until(&b, NULL, &b.got, sent + 2);
    for (int i = 0; *wish; i++) {
        CHECK(i < PATIENCE_MS);
        tcp_ops.poll(a.net);
        ready_wait(tcp_ops.wait_fd(a.net), 1);
    }
    sent += fill_room(&a); /* as much as b says; the last one began while there was some */
    poll_until(&b, NULL, &b.got, sent + 2);
    CHECK(sent >= TCP_FIRST_ROOM / (8 + ROOM_COST) + 4);
    tcp_ops.close(a.net); /* whom b has yet something to tell: that is no loss */
    poll_until(&b, NULL, &b.got, sent + 2);
    tcp_ops.close(b.net);
    CHECK(a.lost == -1 && b.lost == -1);
    segment_destroy(segment);
}

/* An address that is not there yet is no error. */
static void test_late(void)
{
    struct job_head *segment = segment_create(2);
    struct end a, b;

    end_open(&a, segment, 0, 0, 1);
    for (int i = 0; i < 100; i++) {
        struct net_buffer buffer;
        _Atomic uint32_t pending = 1;
        CHECK_INT(tcp_ops.send(a.ep, (struct net_head){ { 1, 0 } }, "", 0), NET_AGAIN);
        CHECK_INT(tcp_ops.send_soon(a.ep, (struct net_head){ { 1, 0 } }, "", 0), NET_AGAIN);
        CHECK_INT(tcp_ops.alloc(a.ep, &buffer), NET_AGAIN);
        CHECK_INT(tcp_ops.send_from(a.ep, (struct net_head){ { 1, 0 } }, "", 0, &pending), NET_AGAIN);
        tcp_ops.poll(a.net);
    }
    end_open(&b, segment, 1, 0, 0);
    send_first(&a, &b, 7);
    poll_until(&a, &b, &b.got, 1);
    CHECK_INT(b.sum, 7);
    tcp_ops.close(b.net);
    tcp_ops.close(a.net);
    CHECK(a.lost == -1 && b.lost == -1);
    segment_destroy(segment);
}

/* Addresses that lead nowhere, or to somebody else, come before the one that is right. */
static void test_dead_ends(void)
{
    struct job_head *segment = segment_create(3);
    struct job_address *place = tcp_address_of(segment, 1), *other = tcp_address_of(segment, 2);
    struct end a, b, c;

    end_open(&a, segment, 0, 0, 1);
    end_open(&b, segment, 1, 0, 0);
    end_open(&c, segment, 2, 0, 0);
    const unsigned char address[] = { 1, 3, place->bytes[2], place->bytes[3], 4, 24, 203, 0, 113, 9,
                                      4, 24, 198, 51, 100, 9, 4, 8, 127, 0, 0, 1 };
    memcpy(place->bytes, address, sizeof address);
    atomic_store(&place->size, sizeof address);
    send_first(&a, &b, 7);
    poll_until(&a, &b, &b.got, 1);
    CHECK_INT(a.lost, -1);
    memcpy(place->bytes + 2, other->bytes + 2, 2); /* process 2 is there, not 1 */
    tcp_ops.close(b.net);
    tcp_ops.close(a.net);
    end_open(&a, segment, 0, 0, 1);
    atomic_store(&place->size, sizeof address);
    for (int i = 0; i < 100; i++) {
        CHECK_INT(tcp_ops.send(a.ep, (struct net_head){ { 7, 0 } }, "", 0), NET_AGAIN);
        tcp_ops.poll(a.net);
        tcp_ops.poll(c.net);
    }
    CHECK_INT(c.got, 0);
    tcp_ops.renew(a.ep);
    tcp_ops.close(a.net);
    tcp_ops.close(c.net);
    segment_destroy(segment);
}

/* Both begin at once, again and again: one connection comes of it, and nothing is lost or told twice. */
static void test_ties(void)
{
    for (int round = 0; round < 50; round++) {
        struct job_head *segment = segment_create(2);
        struct end a, b;
        end_open(&a, segment, 0, 0, 1);
        end_open(&b, segment, 1, 0, 0);
        for (int i = 0, by_a = 0, by_b = 0; by_a < 3 || by_b < 3; i++) {
            by_a += by_a < 3 && !tcp_ops.send(a.ep, (struct net_head){ { 1, 0 } }, "a", 1);
            by_b += by_b < 3 && !tcp_ops.send(b.ep, (struct net_head){ { 1, 0 } }, "b", 1);
            for (int n = 0; n < round % 7; n++)
                tcp_ops.poll(round % 2 ? a.net : b.net);
            if (i >= 3) {
                tcp_ops.poll(a.net);
                tcp_ops.poll(b.net);
            }
        }
        poll_until(&a, &b, &b.got, 3);
        poll_until(&a, &b, &a.got, 3);
        tcp_ops.close(round % 2 ? a.net : b.net);
        tcp_ops.close(round % 2 ? b.net : a.net);
        CHECK(a.lost == -1 && b.lost == -1);
        segment_destroy(segment);
    }
}

/* By the vectors of the paper's appendix. */
static void test_hash(void)
{
    const uint64_t key[2] = { UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908) };
    const uint64_t words[1] = { UINT64_C(0x0706050403020100) };

    CHECK(hash_words(key, words, 0) == UINT64_C(0x726fdb47dd0e0e31));
    CHECK(hash_words(key, words, 1) == UINT64_C(0x93f5f5799a932462));
}

/* --- things that go wrong --- */

/* Nobody is at the address: told after some time, and then everything is taken and forgotten. */
static void test_nobody(void)
{
    struct job_head *segment = segment_create(2);
    struct job_address *place = tcp_address_of(segment, 1);
    _Atomic uint32_t pending = 1;
    struct net_buffer buffer;
    struct end a;

    set_patience("1");
    end_open(&a, segment, 0, 0, 1);
    memcpy(place->bytes, (unsigned char[]){ 1, 1, 1, 0, 4, 8, 127, 0, 0, 1 }, 10);
    atomic_store(&place->size, 10);
    CHECK_INT(tcp_ops.send(a.ep, (struct net_head){ { 1, 0 } }, "", 0), NET_AGAIN);
    CHECK_INT(tcp_ops.send_from(a.ep, (struct net_head){ { 1, 0 } }, "x", 1, &pending), NET_AGAIN);
    poll_until(&a, NULL, &a.lost, 1);
    check_lost(&a, 361);
    CHECK_INT(atomic_load(&pending), 1);
    CHECK_INT(tcp_ops.send(a.ep, (struct net_head){ { 1, 0 } }, "", 0), 0);
    CHECK_INT(tcp_ops.send_from(a.ep, (struct net_head){ { 1, 0 } }, "x", 1, &pending), 0);
    CHECK_INT(atomic_load(&pending), 0);
    CHECK(!tcp_ops.alloc(a.ep, &buffer) && !tcp_ops.commit(a.ep, (struct net_head){ { 1, 0 } }, &buffer, 100));
    for (int i = 0; i < 10; i++)
        tcp_ops.poll(a.net);
    tcp_ops.close(a.net);
    set_patience("20");
    segment_destroy(segment);
}

/* What process 1 has published is another transport's. */
static void test_other_network(void)
{
    struct job_head *segment = segment_create(2);
    struct end a;

    end_open(&a, segment, 0, 0, 1);
    atomic_store(&job_place(segment, 1)->address[JOB_OFI].size, 40);
    CHECK_INT(tcp_ops.send(a.ep, (struct net_head){ { 1, 0 } }, "", 0), 0);
    poll_until(&a, NULL, &a.lost, 1);
    check_lost(&a, 368);
    tcp_ops.close(a.net);
    segment_destroy(segment);
}

/* At its address connections are neither taken nor refused: the message names it. */
static void test_silence(void)
{
    struct job_head *segment = segment_create(2);
    struct job_address *place = tcp_address_of(segment, 1);
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = { .sin_family = AF_INET };
    socklen_t size = sizeof at;
    char text[400], wanted[40];
    int fillers[4];
    struct end a;

    set_patience("1");
    inet_pton(AF_INET, "127.0.0.1", &at.sin_addr);
    CHECK(!bind(listener, (struct sockaddr *)&at, sizeof at) && !listen(listener, 0));
    CHECK(!getsockname(listener, (struct sockaddr *)&at, &size));
    for (int i = 0; i < 4; i++) { /* more than it has room for: then the system drops who comes */
        fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        (void)connect(fillers[i], (struct sockaddr *)&at, sizeof at);
    }
    end_open(&a, segment, 0, 0, 1);
    memcpy(place->bytes, (unsigned char[]){ 1, 1, (unsigned char)(ntohs(at.sin_port)),
                                              (unsigned char)(ntohs(at.sin_port) >> 8), 4, 8, 127, 0, 0, 1 }, 10);
    atomic_store(&place->size, 10);
    CHECK_INT(tcp_ops.send(a.ep, (struct net_head){ { 1, 0 } }, "", 0), NET_AGAIN);
    poll_until(&a, NULL, &a.lost, 1);
    check_lost(&a, 361);
    err_text(a.lost_rc, text, sizeof text);
    snprintf(wanted, sizeof wanted, "127.0.0.1 port %d: no answer", ntohs(at.sin_port));
    CHECK(strstr(text, wanted));
    tcp_ops.close(a.net);
    for (int i = 0; i < 4; i++)
        close(fillers[i]);
    close(listener);
    set_patience("20");
    segment_destroy(segment);
}

/* Process 1 is a child that sends a record and ends at once, without a word. */
static void test_death(bool in_good_order)
{
    struct job_head *segment = segment_create(2);
    struct end a;
    int status;
    const pid_t child = fork();

    CHECK(child >= 0);
    if (!child) {
        end_open(&a, segment, 1, 0, 0);
        send_first(&a, NULL, 5);
        poll_until(&a, NULL, &a.got, 1);
        if (in_good_order)
            tcp_ops.close(a.net);
        _exit(0);
    }
    end_open(&a, segment, 0, 0, 1);
    send_first(&a, NULL, 6);
    poll_until(&a, NULL, &a.got, 1);
    CHECK(waitpid(child, &status, 0) == child && !status);
    if (in_good_order) {
        for (int i = 0; i < 20; i++)
            tcp_ops.poll(a.net);
        CHECK_INT(a.lost, -1);
        CHECK_INT(tcp_ops.send(a.ep, (struct net_head){ { 6, 0 } }, "", 0), 0);
    }
    poll_until(&a, NULL, &a.lost, 1);
    check_lost(&a, 362);
    tcp_ops.close(a.net);
    segment_destroy(segment);
}

/* Process 1 is the other end of a socket pair, which is given back. */
static int adopt_pair(struct end *end)
{
    int fds[2];

    CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds));
    tcp_adopt((struct tcp_peer *)(void *)end->ep, fds[0], 0);
    return fds[1];
}

/* A write has failed, and then another process gets the number: nothing is forgotten that is sent to that one. */
static void test_renew_broken(void)
{
    struct job_head *segment = segment_create(2);
    struct end a, b;

    end_open(&a, segment, 0, 0, 1);
    close(adopt_pair(&a));
    CHECK_INT(tcp_ops.send(a.ep, (struct net_head){ { 1, 0 } }, "", 0), 0);
    poll_until(&a, NULL, &a.lost, 1);
    job_proc(segment, 1)->tenant = 1;
    tcp_ops.renew(a.ep);
    end_open(&b, segment, 1, 0, 0);
    send_first(&a, &b, 7);
    poll_until(&a, &b, &b.got, 1);
    CHECK_INT(b.sum, 7);
    tcp_ops.close(b.net);
    tcp_ops.close(a.net);
    segment_destroy(segment);
}

/* There is something to be told to a process, but no place for it now, and then it leaves. */
static void test_owed_leaves(void)
{
    const struct tcp_frame record = { 0, TCP_RECORD, { { 1, 0 } } }, bye = { 0, TCP_BYE, { { 0, 0 } } };
    struct job_head *segment = segment_create(2);
    struct net_buffer buffers[TCP_CHUNKS_MAX];
    const struct tcp_peer *peer;
    struct end a;
    int fd;

    end_open(&a, segment, 0, 0, 1);
    peer = (const struct tcp_peer *)(const void *)a.ep;
    fd = adopt_pair(&a);
    for (int i = 0; i < TCP_CHUNKS_MAX; i++)
        CHECK_INT(tcp_ops.alloc(a.ep, &buffers[i]), 0);
    CHECK(write(fd, &record, sizeof record) == sizeof record);
    tcp_ops.poll(a.net);
    CHECK(a.got == 1 && !list_is_empty(&peer->owed_link));
    CHECK(write(fd, &bye, sizeof bye) == sizeof bye);
    tcp_ops.poll(a.net);
    tcp_ops.poll(a.net);
    CHECK(peer->is_leaving && list_is_empty(&peer->owed_link));
    for (int i = 0; i < TCP_CHUNKS_MAX; i++)
        tcp_ops.release(a.ep, &buffers[i]);
    close(fd);
    tcp_ops.close(a.net);
    CHECK_INT(a.lost, -1);
    segment_destroy(segment);
}

/* --- several processes --- */

/* Both ways at once, with the records of the suite. */
static void exchange(struct job_head *segment, int proc)
{
    uint64_t random = 42;
    struct suite_end end;

    suite_open(&end, &tcp_ops, config_of(segment, proc, 0), 1 - proc);
    end.random = random;
    for (uint32_t i = 0; i < SUITE_RECORDS; i++) {
        const struct suite_record record = suite_record(&tcp_ops, i, &random);
        if (i % 97 == 0)
            end.refuse = 3;
        while (!suite_send(&end, &record))
            suite_poll(&end);
        if (i % 10 == 0)
            suite_poll(&end);
    }
    for (int i = 0; end.received < SUITE_RECORDS; i++) {
        CHECK(i < PATIENCE_MS);
        for (int n = 0; n < 10; n++)
            suite_poll(&end);
        ready_wait(tcp_ops.wait_fd(end.net), 1);
    }
    tcp_ops.close(end.net);
}

static void talk_to_all(struct job_head *segment, int proc)
{
    struct net_ep *eps[MANY];
    struct end end;

    end_open(&end, segment, proc, 0, (proc + 1) % MANY);
    for (int other = 0; other < MANY; other++)
        CHECK_INT(tcp_ops.connect(end.net, other, &eps[other]), 0);
    for (int left = MANY - 1; left;) {
        for (int other = 0; other < MANY; other++) {
            if (eps[other] && other != proc && !tcp_ops.send(eps[other], (struct net_head){ { 1, 0 } }, "hello", 5)) {
                eps[other] = NULL;
                left--;
            }
        }
        tcp_ops.poll(end.net);
        ready_wait(tcp_ops.wait_fd(end.net), 1);
    }
    poll_until(&end, NULL, &end.got, MANY - 1);
    CHECK_INT(end.lost, -1);
    tcp_ops.close(end.net);
    CHECK_INT(end.lost, -1);
}

/* Each in a process of its own; all must end well. */
static void in_processes(int procs, void (*part)(struct job_head *segment, int proc))
{
    struct job_head *segment = segment_create(procs);
    int status;

    for (int proc = 0; proc < procs; proc++) {
        const pid_t child = fork();
        CHECK(child >= 0);
        if (child)
            continue;
        part(segment, proc);
        _exit(0);
    }
    for (int proc = 0; proc < procs; proc++)
        CHECK(wait(&status) > 0 && !status);
    segment_destroy(segment);
}

/* --- at the door --- */

static int knock(struct job_head *segment, int proc)
{
    const struct job_address *place = tcp_address_of(segment, proc);
    struct sockaddr_in to = { .sin_family = AF_INET };
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memcpy(&to.sin_port, (unsigned char[]){ place->bytes[3], place->bytes[2] }, 2);
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    CHECK(fd >= 0 && !connect(fd, (struct sockaddr *)&to, sizeof to));
    return fd;
}

/* It closes the connection; before that it may say something, whose reason is told. */
static enum tcp_reason await_end(struct end *end, int fd)
{
    struct tcp_note note = { 0 };
    ssize_t got = 0;

    for (int i = 0; i < PATIENCE_MS; i++) {
        const ssize_t more = recv(fd, (char *)&note + got, sizeof note - (size_t)got, MSG_DONTWAIT);
        if (!more || (more < 0 && errno == ECONNRESET))
            break;
        got += more > 0 ? more : 0;
        CHECK(got <= (ssize_t)sizeof note && i < PATIENCE_MS - 1);
        tcp_ops.poll(end->net);
        ready_wait(tcp_ops.wait_fd(end->net), 1);
    }
    close(fd);
    return got == sizeof note && note.step == TCP_REFUSAL ? (enum tcp_reason)note.reason : TCP_NO_REASON;
}

/* As process 1 would say it that knows the token. */
static struct tcp_note hello_to(uint32_t proc, struct tcp_party *party)
{
    static const uint64_t token[2] = { 12345, 67890 };

    *party = (struct tcp_party){ .token = token, .self = 1, .peer = proc, .is_caller = true, .nonce = 99 };
    return tcp_note_make(party, TCP_HELLO);
}

static void test_strangers(void)
{
    struct job_head *segment = segment_create(3);
    struct tcp_party party;
    struct tcp_note note;
    struct end a, b;
    int fd;

    set_patience("1");
    end_open(&a, segment, 0, 0, 1);
    close(knock(segment, 0)); /* comes and goes */
    fd = knock(segment, 0);
    CHECK(write(fd, "GET / HTTP/1.0\r\nHost: somebody who is looking for web servers\r\n\r\n", 66) == 66);
    CHECK_INT(await_end(&a, fd), TCP_NO_REASON);
    fd = knock(segment, 0); /* says nothing */
    CHECK_INT(await_end(&a, fd), TCP_NO_REASON);
    note = hello_to(2, &party); /* is at the wrong one */
    fd = knock(segment, 0);
    CHECK(write(fd, &note, sizeof note) == sizeof note);
    CHECK_INT(await_end(&a, fd), TCP_NO_REASON);
    note = hello_to(0, &party);
    note.version++;
    fd = knock(segment, 0);
    CHECK(write(fd, &note, sizeof note) == sizeof note);
    CHECK_INT(await_end(&a, fd), TCP_OTHER_VERSION);
    note = hello_to(0, &party);
    note.order = __builtin_bswap32(note.order);
    fd = knock(segment, 0);
    CHECK(write(fd, &note, sizeof note) == sizeof note);
    CHECK_INT(await_end(&a, fd), TCP_OTHER_MEMORY);
    note = hello_to(0, &party); /* does not know the token */
    fd = knock(segment, 0);
    CHECK(write(fd, &note, sizeof note) == sizeof note);
    note = tcp_note_make(&party, TCP_PROOF);
    note.proof++;
    CHECK(write(fd, &note, sizeof note) == sizeof note);
    CHECK_INT(await_end(&a, fd), TCP_NO_REASON);
    end_open(&b, segment, 1, 0, 0); /* and the right one gets in after all */
    send_first(&b, &a, 7);
    poll_until(&a, &b, &a.got, 1);
    CHECK(a.sum == 7 && a.lost == -1);
    tcp_ops.close(a.net);
    tcp_ops.close(b.net);
    set_patience("20");
    segment_destroy(segment);
}

/* The one that is called is stopped, or computes, for longer than callers may be silent: that is not their silence. */
static void test_away(int caller)
{
    const struct timespec pause = { 1, 200000000 };
    struct job_head *segment = segment_create(2);
    struct end a, b;

    set_patience("1");
    end_open(&a, segment, !caller, 0, caller);
    end_open(&b, segment, caller, 0, !caller);
    CHECK_INT(tcp_ops.send(b.ep, (struct net_head){ { 7, 0 } }, "", 0), NET_AGAIN);
    while (!tcp_port_has_callers(((const struct tcp *)(const void *)a.net)->port))
        tcp_ops.poll(a.net);
    nanosleep(&pause, NULL);
    tcp_ops.poll(b.net);
    tcp_ops.poll(a.net);
    send_first(&b, &a, 7);
    poll_until(&a, &b, &a.got, 1);
    CHECK(a.lost == -1 && b.lost == -1);
    tcp_ops.close(a.net);
    tcp_ops.close(b.net);
    set_patience("20");
    segment_destroy(segment);
}

/* Who has been dropped is not heard any more, though a child of fork still has the connection. */
static void test_dropped_and_forked(void)
{
    struct job_head *segment = segment_create(2);
    const struct tcp *tcp;
    char words[TCP_NOTE_SIZE] = "GET / HTTP/1.0";
    struct end a;
    pid_t child;
    int fd;

    end_open(&a, segment, 0, 0, 1);
    tcp = (const struct tcp *)(const void *)a.net;
    fd = knock(segment, 0);
    while (!tcp_port_has_callers(tcp->port))
        tcp_ops.poll(a.net);
    child = fork();
    CHECK(child >= 0);
    if (!child) {
        pause();
        _exit(0);
    }
    CHECK(write(fd, words, sizeof words) == sizeof words);
    while (tcp_port_has_callers(tcp->port))
        tcp_ops.poll(a.net);
    for (int i = 0; i < 20; i++) {
        (void)!write(fd, words, sizeof words);
        CHECK_INT(tcp_ops.poll(a.net), 0);
    }
    kill(child, SIGKILL);
    CHECK(waitpid(child, NULL, 0) == child);
    close(fd);
    tcp_ops.close(a.net);
    segment_destroy(segment);
}

static void check_not_lost(const struct end *end)
{
    char text[400] = "";

    if (end->lost != -1)
        err_text(end->lost_rc, text, sizeof text);
    CHECK_TEXT(text, "");
}

/* No memory for a process that calls: it gets in when there is some. */
static void test_starved_door(void)
{
    for (int round = 0; round < 10; round++) {
        struct job_head *segment = segment_create(3);
        struct end a, b;
        end_open(&a, segment, 0, 0, 2);
        end_open(&b, segment, 1, 0, 0);
        for (int i = 0, is_sent = 0; !a.got; i++) {
            CHECK(i < PATIENCE_MS);
            check_not_lost(&a);
            check_not_lost(&b);
            is_sent = is_sent || !tcp_ops.send(b.ep, (struct net_head){ { 7, 0 } }, "", 0);
            tcp_ops.poll(b.net);
            mem_fail_after((i + round) % 2 - 1);
            tcp_ops.poll(a.net);
            mem_fail_after(-1);
            ready_wait(tcp_ops.wait_fd(b.net), 1);
        }
        tcp_ops.close(b.net);
        tcp_ops.close(a.net);
        segment_destroy(segment);
    }
}

/* Who answers has another version: final, and said. */
static void test_misfit(void)
{
    struct job_head *segment = segment_create(2);
    struct job_address *place = tcp_address_of(segment, 1);
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = { .sin_family = AF_INET };
    struct tcp_note note = tcp_note_refuse(1, TCP_OTHER_VERSION);
    socklen_t size = sizeof at;
    struct end a;
    int fd;

    inet_pton(AF_INET, "127.0.0.1", &at.sin_addr);
    CHECK(!bind(listener, (struct sockaddr *)&at, sizeof at) && !listen(listener, 5));
    CHECK(!getsockname(listener, (struct sockaddr *)&at, &size));
    end_open(&a, segment, 0, 0, 1);
    memcpy(place->bytes, (unsigned char[]){ 1, 1, (unsigned char)(ntohs(at.sin_port)),
                                              (unsigned char)(ntohs(at.sin_port) >> 8), 4, 8, 127, 0, 0, 1 }, 10);
    atomic_store(&place->size, 10);
    CHECK_INT(tcp_ops.send(a.ep, (struct net_head){ { 1, 0 } }, "", 0), NET_AGAIN);
    fd = accept(listener, NULL, NULL);
    CHECK(fd >= 0 && write(fd, &note, sizeof note) == sizeof note);
    poll_until(&a, NULL, &a.lost, 1);
    check_lost(&a, 364);
    tcp_ops.close(a.net);
    close(fd);
    close(listener);
    segment_destroy(segment);
}

/* --- limits --- */

static void test_interfaces(void)
{
    struct job_head *segment = segment_create(2);
    const struct net_config config = config_of(segment, 0, 0);
    struct net *net;

    setenv("PARLEY_TCP_INTERFACE", "nonesuch0,10.255.255.0/31", 1);
    CHECK_INT(err_id(tcp_ops.open(&config, &net)), 365);
    setenv("PARLEY_TCP_INTERFACE", "127.0.0.0/8", 1);
    CHECK_INT(tcp_ops.open(&config, &net), 0);
    CHECK_INT(tcp_address_of(segment, 0)->size, 10);
    tcp_ops.close(net);
    setenv("PARLEY_TCP_INTERFACE", "^lo", 1);
    if (!tcp_ops.open(&config, &net)) { /* else there is no other */
        for (int i = 0, at = 4; i < tcp_address_of(segment, 0)->bytes[1]; i++) {
            CHECK(tcp_address_of(segment, 0)->bytes[at] == 6 || tcp_address_of(segment, 0)->bytes[at + 2] != 127);
            at += tcp_address_of(segment, 0)->bytes[at] == 6 ? 18 : 6;
        }
        tcp_ops.close(net);
    }
    unsetenv("PARLEY_TCP_INTERFACE");
    segment_destroy(segment);
}

static void test_failures(void)
{
    const long before = mem_live();
    struct job_head *segment = segment_create(2);
    const struct net_config config = config_of(segment, 0, 0);
    struct net *net;
    struct net_ep *ep;

    for (int n = 0; n < 4; n++) {
        mem_fail_after(n);
        CHECK_INT(err_class(tcp_ops.open(&config, &net)), MPI_ERR_NO_MEM);
        mem_fail_after(-1);
        CHECK_INT(mem_live(), before);
    }
    CHECK(!tcp_ops.open(&config, &net));
    mem_fail_after(0);
    CHECK_INT(err_class(tcp_ops.connect(net, 1, &ep)), MPI_ERR_NO_MEM);
    mem_fail_after(-1);
    tcp_ops.close(net);
    segment_destroy(segment);
    CHECK_INT(mem_live(), before);
}

static void set_descriptors(rlim_t number)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = number;
    CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
}

/* None left: neither at the opening, nor for who calls, who comes again when there are some. */
static void test_descriptors(void)
{
    struct job_head *segment = segment_create(2);
    const struct net_config config = config_of(segment, 0, 0);
    struct rlimit limit;
    struct net *net;
    struct end a, b;

    getrlimit(RLIMIT_NOFILE, &limit);
    for (int more = 0; more < 3; more++) {
        const int next = dup(0);
        close(next);
        set_descriptors((rlim_t)(next + more));
        CHECK_INT(err_id(tcp_ops.open(&config, &net)), 363);
        set_descriptors(limit.rlim_cur);
    }
    end_open(&a, segment, 0, 0, 1);
    end_open(&b, segment, 1, 0, 0);
    CHECK_INT(tcp_ops.send(b.ep, (struct net_head){ { 7, 0 } }, "", 0), NET_AGAIN);
    const int next = dup(0);
    close(next);
    set_descriptors((rlim_t)next);
    for (int i = 0; i < 20; i++) {
        tcp_ops.poll(a.net);
        tcp_ops.poll(b.net);
    }
    CHECK_INT(a.got, 0);
    set_descriptors(limit.rlim_cur);
    send_first(&b, &a, 7);
    poll_until(&a, &b, &a.got, 1);
    tcp_ops.close(a.net);
    tcp_ops.close(b.net);
    segment_destroy(segment);
}

int main(void)
{
    test_hash();
    test_suite(0, "0");
    test_suite(NET_LANES - 1, "65536");
    test_suite(1, "4096");
    test_renew();
    test_renew_broken();
    test_owed_leaves();
    in_processes(2, exchange);
    in_processes(MANY, talk_to_all);
    test_room();
    test_late();
    test_dead_ends();
    test_ties();
    test_nobody();
    test_other_network();
    test_silence();
    test_death(false);
    test_death(true);
    test_strangers();
    test_away(0);
    test_away(1);
    test_dropped_and_forked();
    test_starved_door();
    test_misfit();
    test_interfaces();
    test_failures();
    test_descriptors();
    return 0;
}
