/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room door: a user of letters in one process, which is a job of one. */
#include "door/door.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"

enum { LONG = 300000, COUNT = 20 };

static const struct door *door = &parley_door_1;
static struct {
    struct p2p_letter letter;
    char *place;
} got[COUNT];
static int begun, ended, gone;

static void *begin(const struct p2p_letter *letter)
{
    got[begun].letter = *letter;
    got[begun].place = mem_alloc(letter->len + 1);
    return got[begun++].place;
}

static void end(void *place, int rc)
{
    CHECK_INT(rc, 0);
    CHECK(place == got[ended].place);
    ended++;
    door->wait_is_over();
}

static void count(void *arg)
{
    CHECK(arg == &gone);
    gone++;
}

static void send(uint64_t word, const char *data, size_t len, p2p_letter_gone *then)
{
    const struct p2p_letter letter = { 0, { word, ~word }, len };

    CHECK_INT(door->send(&letter, data, then, &gone), 0);
}

/* Short, empty, of one buffer, and offered: all are there, in order, with their words. */
static void check_lengths(void)
{
    static const size_t lens[] = { 1, 0, 40, 160, 161, 32768, 32769, LONG };
    static char data[LONG];
    const struct blocked words = { .call = "test" };

    for (size_t i = 0; i < ARRAY_LEN(lens); i++) {
        memset(data, (int)i + 1, lens[i]);
        door->wait_begin(&words);
        send(i, data, lens[i], i % 2 ? count : NULL);
        door->wait(0);
        CHECK_INT(begun, (int)i + 1);
        CHECK(got[i].letter.word[0] == i && got[i].letter.word[1] == ~(uint64_t)i && got[i].letter.len == lens[i]);
        CHECK(!memcmp(got[i].place, data, lens[i]));
        mem_free(got[i].place);
    }
    while (*door->pending)
        door->poll();
    CHECK_INT(gone, (int)ARRAY_LEN(lens) / 2);
}

static bool has_polled(void *arg)
{
    return ++*(int *)arg > 3;
}

int main(void)
{
    const struct p2p_letter_sink sink = { begin, end };
    const struct blocked words = { .call = "test" };
    const uint64_t token[2] = { 1, 2 };
    int polled = 0;

    CHECK(door->size == sizeof *door);
    CHECK_INT(door->find_job(), 0);
    CHECK(door->job->is_singleton && door->job->size == 1);
    CHECK_INT(door->start(&sink), 0);
    CHECK(door->join_job(0, token, 0, 1) != 0); /* too late */
    check_lengths();
    door->wait_until(has_polled, &polled, &words);
    CHECK(polled > 3);
    door->stop();
    door->stop(); /* twice does no harm */
    return 0;
}
