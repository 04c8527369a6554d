/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net. The conformance suite that every transport instantiates in its test: a file of its own names the
 * transport, opens two ends, and calls net_suite. For a transport within the process both ends are the same.
 *
 * The ends live in one process, so copying between processes is tried on this process's own memory. */
#ifndef NET_NET_SUITE_H
#define NET_NET_SUITE_H

#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "net/net.h"
#include "sys/peek.h"

enum { SUITE_RECORDS = 4000 };

/* One end and what it has received. */
struct suite_end {
    const struct net_ops *ops;
    struct net *net;
    struct net_ep *ep;         /* to the other end */
    int proc, other;
    uint32_t received;         /* records so far */
    uint64_t random;           /* what should arrive next is drawn from it, as the sender drew it */
    int refuse;                /* answer NET_AGAIN that many times */
    bool is_remote;            /* what is on its way lies where this end cannot see it, and takes its time */
};

static inline uint64_t suite_next(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *random >> 33;
}

/* Lengths near every limit, and any in between. */
static inline uint32_t suite_len(const struct net_ops *ops, uint64_t *random)
{
    const uint32_t max = ops->parts_max > ops->eager_max ? ops->parts_max : ops->eager_max;
    const uint32_t limits[] = { 0, 1, 8, 40, 41, 100, 101, 160, 161, ops->short_max, ops->eager_max, max };
    const uint64_t draw = suite_next(random);
    const uint64_t some = draw / 3 % (draw % 2 ? 200 : 600);
    const uint32_t len = draw % 3 ? limits[draw / 3 % ARRAY_LEN(limits)] : (uint32_t)some;

    return draw % 64 == 63 ? (uint32_t)(draw % max) : len < max ? len : max;
}

/* The record with this number, as both sides draw it. */
struct suite_record {
    struct net_head head;
    uint32_t len;
};

static inline struct suite_record suite_record(const struct net_ops *ops, uint32_t number, uint64_t *random)
{
    struct suite_record record = { .len = suite_len(ops, random) };

    record.head.word[0] = suite_next(random) << 32 | number;
    record.head.word[1] = suite_next(random) << 40 ^ suite_next(random);
    return record;
}

static inline void suite_fill(unsigned char *payload, const struct suite_record *record)
{
    enum { PERIOD = 256 };

    for (uint32_t i = 0; i < record->len && i < PERIOD; i++)
        payload[i] = (unsigned char)(record->head.word[1] + i * 7);
    for (size_t done = PERIOD; done < record->len; done += PERIOD)
        memcpy(payload + done, payload, size_min(PERIOD, record->len - done));
}

/* The sink: exactly the next record must have come, whole. */
static int suite_arrive(void *arg, int proc, struct net_head head, const void *payload, uint32_t len)
{
    struct suite_end *end = arg;
    static unsigned char expected[1 << 17];
    struct suite_record record;

    CHECK_INT(proc, end->other);
    if (end->refuse) {
        end->refuse--;
        return NET_AGAIN;
    }
    record = suite_record(end->ops, end->received, &end->random);
    CHECK_INT(len, record.len);
    CHECK(head.word[0] == record.head.word[0] && head.word[1] == record.head.word[1]);
    suite_fill(expected, &record);
    CHECK(!memcmp(payload, expected, len));
    end->received++;
    return 0;
}

/* Now and then several times, so that some bring nothing. */
static void suite_poll(struct suite_end *end)
{
    static uint64_t random = 5;

    for (uint64_t n = suite_next(&random) % 8 ? 1 : 3; n > 0; n--) {
        end->ops->poll_ep(end->ep, NULL);
        end->ops->poll(end->net);
    }
}

/* Send one record by the way its length asks for; false if there was no room. */
static bool suite_send(struct suite_end *from, const struct suite_record *record)
{
    static unsigned char payload[1 << 17];
    struct net_buffer buffer;

    if (record->len <= from->ops->short_max) {
        suite_fill(payload, record);
        return !(from->ep->room > 0 && record->len % 2 ? from->ops->send_in_room : from->ops->send)(
            from->ep, record->head, payload, record->len);
    }
    if (from->ops->send_parts && record->len >= from->ops->parts_min) {
        int rc;
        suite_fill(payload, record);
        rc = from->ops->send_parts(from->ep, record->head, net_source_at(payload), record->len,
                                   record->len > from->ops->eager_max);
        if (rc != NET_NOT_THIS)
            return !rc;
    }
    if (from->ops->alloc(from->ep, &buffer))
        return false;
    suite_fill(buffer.data, record);
    if (!from->ops->commit(from->ep, record->head, &buffer, record->len))
        return true;
    from->ops->release(from->ep, &buffer);
    return false;
}

static void suite_stream(struct suite_end *from, struct suite_end *to, bool polls_late)
{
    uint64_t random = 42;
    uint32_t refused = 0;

    to->random = random;
    to->received = 0;
    for (uint32_t i = 0; i < SUITE_RECORDS; i++) {
        const struct suite_record record = suite_record(from->ops, i, &random);
        if (i % 97 == 0)
            to->refuse = (int)(i % 5);
        while (!suite_send(from, &record)) {
            refused++;
            CHECK(refused < 100 * SUITE_RECORDS);
            suite_poll(to);
            suite_poll(from); /* buffers come back */
        }
        if (!polls_late || i % 50 == 0)
            suite_poll(to);
    }
    for (uint32_t i = 0; to->received < SUITE_RECORDS; i++) {
        CHECK(i < 100000);
        CHECK(to->is_remote || !to->ops->is_silent(to->ep)); /* as long as something is on its way, wherever */
        suite_poll(to);
        suite_poll(from);
    }
    CHECK_INT(to->received, SUITE_RECORDS);
    CHECK(to->ops->is_silent(to->ep));
}

/* Both ways in turns, some records at a time, most of which are read before the answer goes. */
static void suite_to_and_fro(struct suite_end *a, struct suite_end *b)
{
    uint64_t random[2] = { 42, 43 }, draw = 11;
    uint32_t sent[2] = { 0, 0 }, polls = 0;

    a->random = random[1];
    b->random = random[0];
    a->received = b->received = 0;
    while (sent[0] < SUITE_RECORDS) {
        const int way = sent[0] > sent[1];
        struct suite_end *const from = way ? b : a, *const to = way ? a : b;
        const uint32_t end = sent[way] + (suite_next(&draw) % 8 ? 1 : (uint32_t)suite_next(&draw) % 90);
        while (sent[way] < end) {
            const struct suite_record record = suite_record(from->ops, sent[way]++, &random[way]);
            for (; !suite_send(from, &record); polls++) {
                CHECK(polls < 100 * SUITE_RECORDS);
                suite_poll(to);
                suite_poll(from);
            }
        }
        for (bool reads = suite_next(&draw) % 4; reads && to->received < end; polls++) {
            CHECK(polls < 100 * SUITE_RECORDS);
            suite_poll(to);
            suite_poll(from);
        }
    }
    for (; b->received < sent[0] || a->received < sent[1]; polls++) {
        CHECK(polls < 100 * SUITE_RECORDS);
        suite_poll(a);
        suite_poll(b);
    }
    CHECK(a->ops->is_silent(a->ep) && b->ops->is_silent(b->ep));
}

/* A buffer that is not sent after all can be had again: there are always some. */
static void suite_release(struct suite_end *end)
{
    struct net_buffer buffer;

    for (int i = 0, got = 0; got < 1000; i++) {
        CHECK(i < 100000);
        if (end->ops->alloc(end->ep, &buffer))
            continue;
        memset(buffer.data, got, end->ops->eager_max);
        end->ops->release(end->ep, &buffer);
        got++;
    }
}

static void suite_copy_list(struct suite_end *from, struct suite_end *to)
{
    char source[] = "abcdef", target[8] = "";
    struct peek_list list = { .here = { { target, 1 }, { target + 1, 5 } }, .here_count = 2,
                              .there = { { source + 2, 4 }, { source, 2 } }, .there_count = 2 };

    CHECK_INT(to->ops->copy_list(to->ep, &list, false), 0);
    CHECK(!strcmp(target, "cdefab"));
    list = (struct peek_list){ .here = { { source, 3 } }, .here_count = 1,
                               .there = { { target, 2 }, { target + 4, 1 } }, .there_count = 2 };
    CHECK_INT(from->ops->copy_list(from->ep, &list, true), 0);
    CHECK(!strcmp(target, "abefcb"));
}

/* Both ends share a record; two let go, and it is free again, however often. */
static void suite_copy(struct suite_end *from, struct suite_end *to)
{
    char source[1000], target[1000] = "";
    struct net_record *record, *found;
    uint32_t index;

    if (!to->ops->can_copy(to->ep))
        return;
    memset(source, 'x', sizeof source);
    CHECK_INT(to->ops->copy_from(to->ep, target, (uintptr_t)source, sizeof source), 0);
    CHECK(!memcmp(source, target, sizeof source));
    memset(source, 'y', sizeof source);
    CHECK_INT(from->ops->copy_to(from->ep, source, (uintptr_t)target, sizeof source), 0);
    CHECK(!memcmp(source, target, sizeof source));
    CHECK(to->ops->copy_from(to->ep, target, 8, sizeof target) != 0);
    suite_copy_list(from, to);
    for (int i = 0; i < 1000;) {
        record = to->ops->record_open(to->ep, &index);
        if (!record)
            continue;
        CHECK_INT(atomic_load(&record->next), 0);
        CHECK_INT(atomic_load(&record->done), 0);
        found = from->ops->record_find(from->ep, index); /* the same memory, perhaps mapped twice */
        atomic_fetch_add(&record->next, 5);
        atomic_fetch_add(&found->done, 6);
        CHECK(atomic_load(&found->next) == 5 && atomic_load(&record->done) == 6);
        to->ops->record_close(to->ep, record);
        from->ops->record_close(from->ep, found);
        i++;
    }
}

/* Until it says so; the transport may take its time. */
static int suite_take(struct suite_end *end, struct net_head head, void *buf, size_t max)
{
    int len = NET_NOT_YET;

    for (int i = 0; len == NET_NOT_YET; i++) {
        CHECK(i < 100000);
        len = end->ops->take(end->ep, head, buf, max);
    }
    return len;
}

/* A record is taken by its exact head, if it fits; else it stays for the sink. Transports may never give any. */
static void suite_takes(struct suite_end *from, struct suite_end *to)
{
    static unsigned char payload[1 << 17], expected[1 << 17];
    uint64_t random = 7;
    int taken = 0;

    for (uint32_t i = 0; i < 500; i++) {
        const uint64_t before = random;
        const struct suite_record record = suite_record(from->ops, i, &random);
        struct net_head other = record.head;
        int len;

        to->random = before;
        to->received = i;
        while (!suite_send(from, &record))
            suite_poll(from);
        other.word[i % 2] ^= UINT64_C(1) << i % 64;
        CHECK_INT(suite_take(to, other, payload, sizeof payload), NET_NOT_THIS);
        if (record.len)
            CHECK_INT(suite_take(to, record.head, payload, record.len - 1), NET_NOT_THIS);
        len = suite_take(to, record.head, payload, sizeof payload);
        if (len == NET_NOT_THIS) {
            for (int n = 0; to->received == i; n++) {
                CHECK(n < 100000);
                suite_poll(to);
                suite_poll(from);
            }
            continue;
        }
        CHECK_INT(len, record.len);
        suite_fill(expected, &record);
        CHECK(!memcmp(payload, expected, record.len));
        taken++;
    }
    CHECK(taken == 0 || taken > 100);
}

/* What one end says the other one sees. */
static void suite_see(struct suite_end *a, struct suite_end *b, const _Atomic uint32_t *word, uint32_t value)
{
    for (int i = 0; b->is_remote && atomic_load(word) != value; i++) {
        CHECK(i < 100000);
        suite_poll(a);
        suite_poll(b);
    }
    CHECK_INT(atomic_load(word), value);
}

static void suite_wishes(struct suite_end *a, struct suite_end *b)
{
    _Atomic uint32_t *a_in, *b_in;
    const _Atomic uint32_t *a_out, *b_out;

    a->ops->wishes(a->ep, &a_in, &a_out);
    b->ops->wishes(b->ep, &b_in, &b_out);
    CHECK(!atomic_load(a_out) && !atomic_load(b_out));
    atomic_store(a_in, 1);
    suite_see(a, b, b_out, 1);
    atomic_store(a_in, 0);
    suite_see(a, b, b_out, 0);
}

/* `a` and `b` are open and connected to each other, or the same end twice. */
static inline void net_suite(struct suite_end *a, struct suite_end *b)
{
    suite_stream(a, b, false);
    suite_stream(b, a, true);
    suite_stream(a, b, true);
    if (a != b)
        suite_to_and_fro(a, b);
    if (!a->ops->is_same_space)
        suite_takes(a, b);
    suite_release(a);
    suite_copy(a, b);
    suite_wishes(a, b);
    suite_wishes(b, a);
    a->ops->wake(a->ep);
}

/* Nobody may be. */
static inline void suite_lost(void *arg, int proc, int rc)
{
    char text[400];

    (void)arg, (void)proc;
    err_text(rc, text, sizeof text);
    CHECK_TEXT(text, "");
}

/* An end of process `proc`, connected to `other`. */
static inline void suite_open(struct suite_end *end, const struct net_ops *ops, struct net_config config, int other)
{
    *end = (struct suite_end){ .ops = ops, .proc = config.proc, .other = other };
    config.sink = (struct net_sink){ .arrive = suite_arrive, .lost = suite_lost, .arg = end };
    CHECK_INT(ops->open(&config, &end->net), 0);
    end->ops = end->net->ops;
    CHECK_INT(end->ops->connect(end->net, other, &end->ep), 0);
}

#endif
