/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room p2p: letters of a process to itself, as they are and over a transport that delays and refuses;
 * those that come before anybody wants them; no memory; those that are given up. */
#include "p2p/letter.h"

#include <stdlib.h>
#include <string.h>

#include "p2p/alone.h"
#include "p2p/int_p2p.h"

enum { COUNT = 200, LONG = 100000 };

static struct comm comm = { .size = 1, .remote_size = 1, .ctx = 2, .obj = { .predefined = 1 } };
static char data[LONG];
static unsigned begun, ended, gone;
static struct p2p_letter got[COUNT];
static char *place[COUNT];

static void *begin(const struct p2p_letter *letter)
{
    CHECK(begun < COUNT);
    got[begun] = *letter;
    place[begun] = malloc(letter->len + 1);
    return place[begun++];
}

static void end(void *at, int rc)
{
    CHECK_INT(rc, 0);
    (void)at;
    ended++;
}

static void count_gone(void *arg)
{
    (void)arg;
    gone++;
}

static const struct p2p_letter_sink sink = { begin, end };

static void open_all(const char *net)
{
    alone_open(net, &comm);
    begun = ended = gone = 0;
}

static void close_all(void)
{
    p2p_flush();
    CHECK_INT(p2p_letters_pending, 0);
    alone_close(&comm);
    for (unsigned i = 0; i < begun; i++)
        free(place[i]);
}

static size_t len_of(unsigned i)
{
    static const size_t lens[] = { 0, 8, 41, 161, 5000, 32768, 32769, LONG };

    return lens[i % ARRAY_LEN(lens)];
}

static int send(unsigned i, p2p_letter_gone *then)
{
    const struct p2p_letter letter = { 0, { i, ~(uint64_t)i }, len_of(i) };

    return p2p_letter_send(&letter, data, then, NULL);
}

/* All of them, in order, each with its words and bytes. */
static void check_got(unsigned count)
{
    while (ended < count)
        progress_poll();
    CHECK_INT(begun, count);
    for (unsigned i = 0; i < count; i++) {
        CHECK(got[i].proc == 0 && got[i].word[0] == i && got[i].word[1] == ~(uint64_t)i && got[i].len == len_of(i));
        CHECK(!memcmp(place[i], data, len_of(i)));
    }
}

static void check_order(const char *net)
{
    open_all(net);
    p2p_letters_open(&comm, &sink);
    for (unsigned i = 0; i < COUNT; i++)
        CHECK_INT(send(i, i % 3 ? NULL : count_gone), 0);
    check_got(COUNT);
    while (p2p_letters_pending)
        progress_poll();
    CHECK_INT(gone, (COUNT + 2) / 3);
    CHECK_INT(p2p_letter_take(0, 0, 0, data, LONG), -1); /* nothing is there */
    CHECK(!*p2p_letters_threads());
    close_all();
}

static int send_only(unsigned i)
{
    return send(i, NULL);
}

static void check_no_memory(void)
{
    open_all("chaos");
    p2p_letters_open(&comm, &sink);
    check_got(alone_send_without_memory(send_only));
    close_all();
}

/* The lane's records, as they come before p2p_letters_open. */
static void check_early(void)
{
    struct lane *lane;

    open_all("");
    lane = comm.p2p->channel[0].lane;
    for (unsigned i = 0; i < 3; i++) {
        const struct net_head head = { { WIRE_LETTER | (uint64_t)i << (64 - P2P_LETTER_BITS), ~(uint64_t)i } };
        mem_fail_after(0);
        CHECK_INT(letter_arrive(lane, 0, head, data, (uint32_t)len_of(i)), NET_AGAIN);
        mem_fail_after(-1);
        CHECK_INT(letter_arrive(lane, 0, head, data, (uint32_t)len_of(i)), 0);
    }
    CHECK_INT(begun, 0);
    p2p_letters_open(&comm, &sink);
    check_got(3);
    close_all();
}

static bool is_lost(int proc)
{
    return proc == 0;
}

/* What has not gone yet goes nowhere, and its memory is given back. */
static void check_given_up(void)
{
    unsigned i;

    open_all("chaos");
    p2p_letters_open(&comm, &sink);
    for (i = 0; i < COUNT && !p2p_letters_pending; i++)
        CHECK_INT(send(1, count_gone), 0); /* short: the transport has none of it while it is pending */
    CHECK(p2p_letters_pending > 0);
    while (p2p_letters_pending) { /* as long as something is on its way here, it is not given up */
        p2p_letters_give_up(is_lost);
        progress_poll();
    }
    CHECK_INT(gone, i);
    close_all();
}

int main(void)
{
    group_init();
    type_init();
    progress_init(&(struct progress_config){ .local_ranks = 1 });
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 7);
    check_early(); /* before anybody has opened */
    check_order("");
    check_order("chaos");
    check_no_memory();
    check_given_up();
    progress_fini();
    type_fini();
    return 0;
}
