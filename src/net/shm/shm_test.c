/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of transport shm: the conformance suite with both ends in this process, many senders at one receiver
 * (so that rings become cold and hot again), and what happens without memory. */
#include "net/shm/shm.h"

#include <string.h>

#include "base/err.h"
#include "net/net_suite.h"
#include "net/shm/shm_segment.h"
#include "progress/progress.h"
#include "sys/wake.h"

enum { MANY = 70 };

static void test_suite(int lane)
{
    struct job_head *segment = segment_create(2);
    struct suite_end a, b;

    suite_open(&a, &shm_ops, config_of(segment, 0, 2, lane), 1);
    suite_open(&b, &shm_ops, config_of(segment, 1, 2, lane), 0);
    net_suite(&a, &b);
    net_suite(&b, &a);
    shm_ops.close(a.net);
    shm_ops.close(b.net);
    segment_destroy(segment, 2);
}

/* Another process gets number 1, when the old one has left things in rings and cells. */
static void test_renew(int lane)
{
    struct job_head *segment = segment_create(2);
    struct net_buffer buffer;
    struct suite_end a, b;

    suite_open(&a, &shm_ops, config_of(segment, 0, 2, lane), 1);
    suite_open(&b, &shm_ops, config_of(segment, 1, 2, lane), 0);
    net_suite(&a, &b);
    for (int i = 0; i < 7; i++)
        CHECK(!shm_ops.send(a.ep, (struct net_head){ { 1, 2 } }, "left", 5));
    CHECK(!shm_ops.alloc(a.ep, &buffer) && !shm_ops.commit(a.ep, (struct net_head){ { 3, 4 } }, &buffer, 5000));
    shm_ops.close(b.net);
    memset(job_proc(segment, 1)->net, 0, JOB_NET_SIZE); /* as mpiexec does */
    shm_segment_clear(segment, segment_fd, 2, 1);
    suite_open(&b, &shm_ops, config_of(segment, 1, 2, lane), 0);
    shm_ops.renew(a.ep);
    for (int i = 0; i < SHM_CELLS; i++)
        CHECK(!(((struct shm *)(void *)a.net)->cells_free >> i & 1) || !((struct shm *)(void *)a.net)->cells[i].peer);
    net_suite(&a, &b);
    net_suite(&b, &a);
    shm_ops.close(a.net);
    shm_ops.close(b.net);
    segment_destroy(segment, 2);
}

static uint32_t seen[MANY];

static int count_arrival(void *arg, int proc, struct net_head head, const void *payload, uint32_t len)
{
    (void)arg, (void)payload, (void)len;
    CHECK_INT(head.word[0], seen[proc]);
    seen[proc]++;
    return 0;
}

/* Process 0 hears from 69 others, first from all, then long from one only, then from all again. */
static void test_many(void)
{
    struct job_head *segment = segment_create(MANY);
    struct net_config config = config_of(segment, 0, MANY, 0);
    struct net *nets[MANY];
    struct net_ep *eps[MANY];
    uint32_t sent[MANY] = { 0 };

    config.sink.arrive = count_arrival;
    for (config.proc = 0; config.proc < MANY; config.proc++) {
        CHECK(!shm_ops.open(&config, &nets[config.proc]));
        CHECK(!shm_ops.connect(nets[config.proc], 0, &eps[config.proc]));
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 20000; i++) {
            const int from = round == 1 ? 7 : 1 + i % (MANY - 1);
            const struct net_head head = { { sent[from], 0 } };
            while (shm_ops.send(eps[from], head, "", 0))
                shm_ops.poll(nets[0]);
            sent[from]++;
            if (i % 3 == 0)
                shm_ops.poll(nets[0]);
        }
    }
    for (int i = 0; i < 100; i++)
        shm_ops.poll(nets[0]);
    for (int from = 1; from < MANY; from++)
        CHECK_INT(seen[from], sent[from]);
    for (int proc = 0; proc < MANY; proc++)
        shm_ops.close(nets[proc]);
    segment_destroy(segment, MANY);
}

static int refuse(void *arg, int proc, struct net_head head, const void *payload, uint32_t len)
{
    (void)proc, (void)head, (void)payload, (void)len;
    return *(bool *)arg ? NET_AGAIN : 0;
}

/* A ring whose record is refused for long, for want of memory, is not forgotten, however many other rings there are. */
static void test_refused(void)
{
    struct job_head *segment = segment_create(MANY);
    struct net_config config = config_of(segment, 0, MANY, 0);
    struct net *nets[MANY];
    struct net_ep *eps[MANY];
    bool is_refused = true;
    int taken = 0;

    config.sink = (struct net_sink){ .arrive = refuse, .arg = &is_refused };
    for (config.proc = 0; config.proc < MANY; config.proc++) {
        CHECK(!shm_ops.open(&config, &nets[config.proc]));
        CHECK(!shm_ops.connect(nets[config.proc], 0, &eps[config.proc]));
        CHECK(!config.proc || !shm_ops.send(eps[config.proc], (struct net_head){ { 1, 2 } }, "", 0));
    }
    for (int i = 0; i < 10000; i++)
        CHECK_INT(shm_ops.poll(nets[0]), 0);
    is_refused = false;
    for (int i = 0; i < 10; i++)
        taken += shm_ops.poll(nets[0]);
    CHECK_INT(taken, MANY - 1);
    for (int proc = 0; proc < MANY; proc++)
        shm_ops.close(nets[proc]);
    segment_destroy(segment, MANY);
}

static void test_full_ring(void)
{
    struct job_head *segment = segment_create(2);
    struct suite_end a, b;
    struct net_buffer buffer;
    const struct net_head head = { { 1, 2 } };
    int sent = 0, cells = 0;

    suite_open(&a, &shm_ops, config_of(segment, 0, 2, 0), 1);
    suite_open(&b, &shm_ops, config_of(segment, 1, 2, 0), 0);
    while (!shm_ops.send(a.ep, head, "12345678", 8))
        sent++;
    CHECK_INT(sent, SHM_SLOTS);
    while (!shm_ops.alloc(a.ep, &buffer))
        cells++;
    CHECK_INT(cells, SHM_CELLS);
    CHECK_INT(shm_ops.commit(a.ep, head, &buffer, 8), NET_AGAIN);
    shm_ops.close(a.net);
    shm_ops.close(b.net);
    segment_destroy(segment, 2);
}

/* Processes that do not read leave cells to others; who has none on its way to it hears that, too. */
static void test_last_cells(void)
{
    enum { PROCS = 3 + SHM_LAST / SHM_LAST_EACH };
    struct job_head *segment = segment_create(PROCS);
    const struct net_head head = { { 1, 2 } };
    struct net_config config = config_of(segment, 0, PROCS, 0);
    struct net_buffer buffer;
    struct net_ep *ep[PROCS];
    struct suite_end reader;
    struct net *net;
    int rc, sent = 0;

    CHECK(!shm_ops.open(&config, &net));
    for (int proc = 1; proc < PROCS; proc++)
        CHECK(!shm_ops.connect(net, proc, &ep[proc]));
    for (int proc = 1; proc < PROCS - 1; proc++, sent = 0) {
        while (!(rc = shm_ops.alloc(ep[proc], &buffer)) && !shm_ops.commit(ep[proc], head, &buffer, 1000))
            sent++;
        CHECK_INT(rc, NET_AGAIN);
        CHECK_INT(sent, proc == 1 ? SHM_CELLS - SHM_LAST : SHM_LAST_EACH);
    }
    CHECK_INT(shm_ops.alloc(ep[PROCS - 1], &buffer), NET_TAKEN);
    CHECK_INT(shm_ops.send_parts(ep[PROCS - 1], head, net_source_at(segment), SHM_PARTS_MIN, true), NET_TAKEN);
    suite_open(&reader, &shm_ops, config_of(segment, 2, PROCS, 0), 0);
    reader.net->sink = (struct net_sink){ .arrive = refuse, .arg = &(bool){ false } };
    while (shm_ops.poll(reader.net))
        ;
    CHECK_INT(shm_ops.alloc(ep[1], &buffer), NET_AGAIN);
    CHECK(!shm_ops.alloc(ep[PROCS - 1], &buffer));
    shm_ops.close(net);
    shm_ops.close(reader.net);
    segment_destroy(segment, PROCS);
}

static int note_arrival(void *arg, int proc, struct net_head head, const void *payload, uint32_t len)
{
    (void)proc, (void)payload, (void)len;
    *(uint64_t *)arg += head.word[0];
    return 0;
}

static int keep_arrival(void *arg, int proc, struct net_head head, const void *payload, uint32_t len)
{
    (void)proc, (void)head;
    memcpy(arg, payload, len);
    return 0;
}

/* A cell of which the first part is there is taken only when the last one has come, by the sink as well. It is told in
 * parts once a call that waits has met one that was not, until the sink gets one. */
static void test_parts(void)
{
    enum { LEN = 10000 };
    static char payload[LEN], took[LEN], arrived[SHM_CELL_SIZE];
    struct job_head *segment = segment_create(2);
    struct net_config config = config_of(segment, 1, 2, 0);
    const struct net_head head = { { 1, 2 } };
    struct net_ep *a, *b;
    struct net *from, *to;
    _Atomic uint64_t *last;

    for (int i = 0; i < LEN; i++)
        payload[i] = (char)(i % 101);
    config.sink = (struct net_sink){ .arrive = keep_arrival, .arg = arrived };
    CHECK(!shm_ops.open(&config, &to) && !shm_ops.connect(to, 0, &b));
    config.proc = 0;
    CHECK(!shm_ops.open(&config, &from) && !shm_ops.connect(from, 1, &a));
    CHECK_INT(shm_ops.send_parts(a, head, net_source_at(payload), LEN, false), NET_NOT_THIS);
    atomic_store(&((struct shm_peer *)(void *)a)->out->parts, 1);
    for (int round = 0; round < 3; round++) {
        CHECK_INT(shm_ops.send_parts(a, head, net_source_at(payload), LEN, false), 0);
        last = &shm_parts(((struct shm *)(void *)from)->area, 0, 0)[SHM_PARTS - 2].stamp;
        atomic_fetch_xor(last, 1);
        CHECK_INT(shm_ops.take(b, head, took, LEN), NET_NOT_THIS);
        if (round == 2)
            CHECK_INT(shm_ops.poll(to) + shm_ops.poll(to), 0);
        atomic_fetch_xor(last, 1);
        if (round < 2)
            CHECK_INT(shm_ops.take(b, head, took, LEN), LEN);
        else
            CHECK(shm_ops.poll(to) + shm_ops.poll(to) == 1);
        CHECK(!memcmp(round < 2 ? took : arrived, payload, LEN));
    }
    CHECK_INT(shm_ops.send_parts(a, head, net_source_at(payload), LEN, false), NET_NOT_THIS);
    shm_ops.close(from);
    shm_ops.close(to);
    segment_destroy(segment, 2);
}

enum { PAIR_LEN = 50000 };

static char landed[PAIR_LEN];

static void *land_there(void *arg, int proc, struct net_head head, uint32_t len)
{
    (void)arg, (void)proc;
    return head.word[0] == 5 && len <= sizeof landed ? landed : NULL;
}

static int arrive_landed(void *arg, int proc, struct net_head head, const void *payload, uint32_t len)
{
    int *const arrivals = arg;

    (void)proc;
    CHECK((payload == landed) == (head.word[0] == 5));
    for (uint32_t i = 0; i < len; i++)
        CHECK_INT(((const char *)payload)[i], (char)((i + (uint32_t)head.word[1]) % 101));
    ++*arrivals;
    return 0;
}

/* A payload as its owner writes and reads it: each byte is its place and a number. */
static void write_numbers(const void *arg, size_t at, void *to, size_t len)
{
    for (size_t i = 0; i < len; i++)
        ((char *)to)[i] = (char)((at + i) * 7 + *(const unsigned char *)arg);
}

struct reader {
    size_t next;
    unsigned char number;
    bool is_broken;
};

static void read_numbers(void *arg, size_t at, const void *from, size_t len)
{
    struct reader *const r = arg;

    r->is_broken |= at != 0 && at != r->next; /* again from the beginning, or on */
    for (size_t i = 0; i < len; i++)
        r->is_broken |= ((const char *)from)[i] != (char)((at + i) * 7 + r->number);
    r->next = at + len;
}

static bool sink_reads(void *arg, int proc, struct net_head head, size_t at, const void *bytes, size_t len)
{
    (void)proc;
    if (head.word[0] != 6)
        return false;
    read_numbers(arg, at, bytes, len);
    return true;
}

static int arrive_read(void *arg, int proc, struct net_head head, const void *payload, uint32_t len)
{
    struct reader *const r = arg;

    (void)proc;
    if (head.word[0] != 6)
        read_numbers(r, 0, payload, len);
    CHECK((head.word[0] != 6 || !payload) && r->next == len);
    r->number++;
    return 0;
}

/* Payloads that do not lie in a row are written and read part by part: by the sink, by a receive that waits, or, if the
 * sink does not want this one, in one piece. */
static void test_uneven_parts(void)
{
    struct job_head *segment = segment_create(2);
    struct net_config config = config_of(segment, 1, 2, 0);
    struct reader reader = { .number = 3 };
    struct net_ep *a, *b;
    struct net *from, *to;
    _Atomic uint64_t *last;
    uint32_t cell;

    config.sink = (struct net_sink){ .arrive = arrive_read, .read = sink_reads, .arg = &reader };
    CHECK(!shm_ops.open(&config, &to) && !shm_ops.connect(to, 0, &b));
    config.proc = 0;
    CHECK(!shm_ops.open(&config, &from) && !shm_ops.connect(from, 1, &a));
    for (uint64_t kind = 5; kind <= 7; kind++) {
        const struct net_head head = { { kind, 0 } };
        const struct net_source source = { write_numbers, &reader.number };
        const uint32_t len = kind == 6 ? PAIR_LEN : PAIR_LEN / 3;

        CHECK_INT(shm_ops.take_by(b, head, read_numbers, &reader, len), NET_NOT_YET);
        CHECK_INT(shm_ops.send_parts(a, head, source, len, true), 0);
        cell = ((struct shm_peer *)(void *)a)->last_cell;
        last = &shm_parts(((struct shm *)(void *)from)->area, 0, cell)[SHM_PARTS - 2].stamp;
        atomic_fetch_xor(last, 1);
        CHECK_INT(shm_ops.take_by(b, (struct net_head){ { kind, 1 } }, read_numbers, &reader, len), NET_NOT_THIS);
        CHECK_INT(shm_ops.take_by(b, head, read_numbers, &reader, len - 1), NET_NOT_THIS);
        CHECK_INT(kind == 7 ? shm_ops.take_by(b, head, read_numbers, &reader, len) : NET_NOT_THIS, NET_NOT_THIS);
        CHECK_INT(kind == 7 ? 0 : shm_ops.poll(to) + shm_ops.poll(to), 0);
        atomic_fetch_xor(last, 1);
        if (kind == 7)
            CHECK_INT(shm_ops.take_by(b, head, read_numbers, &reader, len), (int)len);
        else
            CHECK_INT(shm_ops.poll(to) + shm_ops.poll(to), 1);
        CHECK(!reader.is_broken && reader.next == len);
    }
    shm_ops.close(from);
    shm_ops.close(to);
    segment_destroy(segment, 2);
}

static int send_pair(struct net_ep *ep, uint64_t kind, int number)
{
    static char payload[PAIR_LEN];

    for (int i = 0; i < PAIR_LEN; i++)
        payload[i] = (char)((i + number) % 101);
    return shm_ops.send_parts(ep, (struct net_head){ { kind, (uint64_t)number } }, net_source_at(payload), PAIR_LEN,
                              true);
}

/* What is longer than a cell goes in two, if it is asked for. Where its sink knows a place, it is read to there, once
 * all of it has come; else it is handed over where it lies. Single cells and pairs are taken from the same ones. */
static void test_pairs(void)
{
    struct job_head *segment = segment_create(2);
    struct net_config config = config_of(segment, 1, 2, 0);
    struct net_buffer buffer;
    struct net_ep *a, *b;
    struct net *from, *to;
    int arrivals = 0, sent = 0;
    _Atomic uint64_t *last;

    config.sink = (struct net_sink){ .arrive = arrive_landed, .land = land_there, .arg = &arrivals };
    CHECK(!shm_ops.open(&config, &to) && !shm_ops.connect(to, 0, &b));
    config.proc = 0;
    CHECK(!shm_ops.open(&config, &from) && !shm_ops.connect(from, 1, &a));
    for (uint64_t kind = 4; kind <= 5; kind++) {
        CHECK_INT(send_pair(a, kind, 3), 0);
        last = &shm_parts(((struct shm *)(void *)from)->area, 0, 0)[SHM_PARTS - 2].stamp;
        atomic_fetch_xor(last, 1);
        CHECK_INT(shm_ops.poll(to) + shm_ops.poll(to), 0);
        atomic_fetch_xor(last, 1);
        CHECK_INT(shm_ops.poll(to) + shm_ops.poll(to), 1);
    }
    CHECK(!shm_ops.alloc(a, &buffer));
    while (!send_pair(a, 4 + (uint64_t)sent % 2, sent))
        sent++;
    CHECK_INT(sent, (SHM_CELLS - SHM_LAST) / 2 - 1);
    CHECK_INT(shm_ops.poll(to), sent);
    CHECK_INT(send_pair(a, 5, 7), 0);
    shm_ops.release(a, &buffer);
    CHECK_INT(shm_ops.poll(to), 1);
    CHECK_INT(arrivals, 2 + sent + 1);
    shm_ops.close(from);
    shm_ops.close(to);
    segment_destroy(segment, 2);
}

/* Numbers of slots go round: cells that were read two thousand million slots ago are free all the same. */
static void test_wrap(void)
{
    enum { LAPS = 40 };
    struct job_head *segment = segment_create(2);
    const struct net_head head = { { 1, 2 } };
    struct net_buffer buffer;
    struct suite_end a, b;

    suite_open(&a, &shm_ops, config_of(segment, 0, 2, 0), 1);
    suite_open(&b, &shm_ops, config_of(segment, 1, 2, 0), 0);
    b.net->sink = (struct net_sink){ .arrive = refuse, .arg = &(bool){ false } };
    for (int i = 0; i < SHM_CELLS - SHM_LAST; i++)
        CHECK(!shm_ops.alloc(a.ep, &buffer) && !shm_ops.commit(a.ep, head, &buffer, 1000));
    while (shm_ops.poll(b.net))
        ;
    for (int lap = 0; lap < LAPS; lap++) {
        go_round(a.ep, b.ep, UINT32_C(1) << 26);
        for (int i = 0; i < SHM_SLOTS; i++) {
            CHECK(!shm_ops.send(a.ep, head, "", 0));
            shm_ops.poll(b.net);
        }
        while (shm_ops.poll(b.net))
            ;
    }
    CHECK(!shm_ops.alloc(a.ep, &buffer));
    shm_ops.close(a.net);
    shm_ops.close(b.net);
    segment_destroy(segment, 2);
}

/* What an old record says of the way back, which has gone round meanwhile, counts for nothing: a cell that nobody has
 * read stays as it is. */
static void test_old_word(void)
{
    struct job_head *segment = segment_create(2);
    const struct net_head head = { { 1, 2 } };
    struct net_buffer buffer;
    struct suite_end a, b;
    uint32_t unread;

    suite_open(&a, &shm_ops, config_of(segment, 0, 2, 0), 1);
    suite_open(&b, &shm_ops, config_of(segment, 1, 2, 0), 0);
    a.net->sink = (struct net_sink){ .arrive = refuse, .arg = &(bool){ false } };
    CHECK(!shm_ops.alloc(b.ep, &buffer) && !shm_ops.commit(b.ep, head, &buffer, 1000));
    go_round(a.ep, b.ep, UINT32_C(1) << 31);
    CHECK(!shm_ops.alloc(a.ep, &buffer) && !shm_ops.commit(a.ep, head, &buffer, 1000));
    unread = buffer.index;
    CHECK_INT(shm_ops.poll(a.net), 1);
    CHECK(!shm_ops.alloc(a.ep, &buffer) && buffer.index != unread);
    shm_ops.close(a.net);
    shm_ops.close(b.net);
    segment_destroy(segment, 2);
}

/* One way, LEN bytes of `value` by a cell, and taken there; `index`: of the cell. */
static uint32_t send_by_cell(struct net_ep *from, struct net_ep *to, uint32_t len, char value)
{
    static char took[SHM_CELL_SIZE];
    const struct net_head head = { { 1, 2 } };
    struct net_buffer buffer;
    bool is_whole = true;

    CHECK(!shm_ops.alloc(from, &buffer));
    memset(buffer.data, value, len);
    CHECK(!shm_ops.commit(from, head, &buffer, len));
    CHECK_INT(shm_ops.take(to, head, took, sizeof took), (int)len);
    for (uint32_t i = 0; i < len; i++)
        is_whole = is_whole && took[i] == value;
    CHECK(is_whole);
    return buffer.index;
}

/* Who waits gets a cell ready where lines are far, never the one that is being read. It is used for that peer, given up
 * when there is no other cell, and when the peer becomes another process. */
static void test_spare(void)
{
    enum { LEN = 5000, LOOKS = 20 };
    struct job_head *segment = segment_create(2);
    struct net_config config = config_of(segment, 1, 2, 0);
    uint32_t last = SHM_CELLS;
    struct net_ep *a, *b;
    struct net *from, *to;
    struct net_buffer buffer;
    struct shm_spare *spare;
    int cells = 0;

    CHECK(!shm_ops.open(&config, &to) && !shm_ops.connect(to, 0, &b));
    config.proc = 0;
    CHECK(!shm_ops.open(&config, &from) && !shm_ops.connect(from, 1, &a));
    spare = &((struct shm *)(void *)from)->spare;
    send_by_cell(a, b, LEN, 'n');
    shm_ops.use_wait(a);
    CHECK(!spare->peer);
    atomic_store(&((struct shm_peer *)(void *)a)->out->far, 1);
    for (char round = 'a'; round < 'z'; round++) {
        const uint32_t index = send_by_cell(a, b, LEN, round);
        CHECK(index != last);
        last = index;
        CHECK(!spare->peer);
        for (int i = 0; i < (round % 2 ? LOOKS : 3); i++) /* all, or cut short by the answer */
            shm_ops.use_wait(a);
        CHECK(spare->peer && spare->index != last);
        send_by_cell(b, a, LEN, round);
    }
    CHECK(((struct shm *)(void *)from)->cells_touched <= 3);
    while (!shm_ops.alloc(a, &buffer))
        cells++;
    CHECK_INT(cells, SHM_CELLS);
    while (cells--)
        shm_ops.release(a, &(struct net_buffer){ .index = (uint32_t)cells });
    send_by_cell(a, b, LEN, 'z');
    shm_ops.use_wait(a);
    CHECK(spare->peer);
    shm_ops.renew(a);
    CHECK(!spare->peer && ((struct shm *)(void *)from)->cells_free == UINT32_MAX);
    shm_ops.close(from);
    shm_ops.close(to);
    segment_destroy(segment, 2);
}

/* The same of two cells that are one, for a message that goes in a pair; a shorter one takes the first of them, and the
 * other one is free. */
static void test_spare_pair(void)
{
    enum { LOOKS = 200 };
    struct job_head *segment = segment_create(2);
    struct net_config config = config_of(segment, 1, 2, 0);
    struct net_ep *a, *b;
    struct net *from, *to;
    const struct shm_spare *spare;
    const struct shm *shm;
    int arrivals = 0;

    config.sink = (struct net_sink){ .arrive = arrive_landed, .land = land_there, .arg = &arrivals };
    CHECK(!shm_ops.open(&config, &to) && !shm_ops.connect(to, 0, &b));
    config.proc = 0;
    CHECK(!shm_ops.open(&config, &from) && !shm_ops.connect(from, 1, &a));
    shm = (struct shm *)(void *)from;
    spare = &shm->spare;
    atomic_store(&((struct shm_peer *)(void *)a)->out->far, 1);
    for (int round = 0; round < 20; round++) {
        const uint8_t last = ((struct shm_peer *)(void *)a)->last_cell;
        CHECK_INT(send_pair(a, 5, round), 0);
        CHECK(!spare->peer && ((struct shm_peer *)(void *)a)->last_cell != last);
        for (int i = 0; i < (round % 2 ? LOOKS : 3); i++)
            shm_ops.use_wait(a);
        CHECK(spare->peer && spare->is_pair && spare->index % 2 == 0);
        CHECK(spare->index != ((struct shm_peer *)(void *)a)->last_cell);
        CHECK_INT(shm_ops.poll(to), 1);
        send_by_cell(b, a, 5000, (char)round);
    }
    CHECK_INT(arrivals, 20);
    CHECK(shm->cells_touched <= 6);
    shm_ops.use_wait(a);
    CHECK_INT(send_by_cell(a, b, 5000, 's'), spare->index);
    CHECK(!spare->peer && shm->cells_free >> (spare->index + 1) & 1);
    shm_ops.use_wait(a);
    CHECK(spare->peer && !spare->is_pair);
    CHECK_INT(send_pair(a, 5, 3), 0);
    shm_ops.use_wait(a);
    CHECK(spare->peer && spare->is_pair);
    shm_ops.renew(a);
    CHECK(!spare->peer && shm->cells_free == UINT32_MAX);
    shm_ops.close(from);
    shm_ops.close(to);
    segment_destroy(segment, 2);
}

/* What is sent in a lane arrives in that lane, also if the other end opens it later; a full one holds up no other. */
static void test_lanes(void)
{
    struct job_head *segment = segment_create(2);
    struct net_config from = config_of(segment, 0, 2, 0), to = from;
    struct net *out[NET_LANES], *in[NET_LANES];
    struct net_ep *ep[NET_LANES], *back;
    uint64_t arrived[NET_LANES] = { 0 };

    to.proc = 1;
    for (int lane = 0; lane < NET_LANES; lane++) {
        from.lane = lane;
        CHECK(!shm_ops.open(&from, &out[lane]) && !shm_ops.connect(out[lane], 1, &ep[lane]));
        CHECK(!shm_ops.send(ep[lane], (struct net_head){ { (uint64_t)lane + 1, 0 } }, "", 0));
    }
    while (!shm_ops.send(ep[3], (struct net_head){ { 0, 0 } }, "", 0))
        ;
    CHECK(!shm_ops.send(ep[4], (struct net_head){ { 100, 0 } }, "", 0));
    for (int lane = NET_LANES - 1; lane >= 0; lane--) {
        to.lane = lane;
        to.sink = (struct net_sink){ .arrive = note_arrival, .arg = &arrived[lane] };
        CHECK(!shm_ops.open(&to, &in[lane]) && !shm_ops.connect(in[lane], 0, &back));
        CHECK(!shm_ops.is_silent(back));
        while (shm_ops.poll(in[lane]))
            ;
        CHECK(shm_ops.is_silent(back));
        CHECK_INT(arrived[lane], lane + 1 + (lane == 4 ? 100 : 0));
    }
    for (int lane = 0; lane < NET_LANES; lane++) {
        shm_ops.close(out[lane]);
        shm_ops.close(in[lane]);
    }
    segment_destroy(segment, 2);
}

static void test_failures(void)
{
    const long before = mem_live();
    struct job_head *segment = segment_create(2);
    struct net_config config = config_of(segment, 0, SHM_MAX_PROCS + 1, 0);
    struct net *net;
    struct net_ep *ep;

    CHECK_INT(err_id(shm_ops.open(&config, &net)), 321);
    config.procs = 2;
    config.segment_fd = STDIN_FILENO; /* the program has closed ours */
    CHECK_INT(err_class(shm_ops.open(&config, &net)), MPI_ERR_OTHER);
    config.segment_fd = segment_fd;
    for (int n = 0; n < 2; n++) {
        mem_fail_after(n);
        CHECK_INT(err_class(shm_ops.open(&config, &net)), MPI_ERR_NO_MEM);
    }
    mem_fail_after(-1);
    CHECK(!shm_ops.open(&config, &net));
    mem_fail_after(0);
    CHECK_INT(err_class(shm_ops.connect(net, 1, &ep)), MPI_ERR_NO_MEM);
    mem_fail_after(-1);
    shm_ops.close(net);
    segment_destroy(segment, 2);
    CHECK_INT(mem_live(), before);
}

int main(void)
{
    wake_barrier_init();
    progress_init(&(struct progress_config){ .local_ranks = 1 });
    test_suite(0);
    test_suite(NET_LANES - 1);
    test_renew(0);
    test_renew(NET_LANES - 1);
    test_parts();
    test_pairs();
    test_uneven_parts();
    test_spare();
    test_spare_pair();
    test_lanes();
    test_many();
    test_refused();
    test_wrap();
    test_old_word();
    test_full_ring();
    test_last_cells();
    test_failures();
    return 0;
}
