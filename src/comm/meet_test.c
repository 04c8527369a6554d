/* SPDX-License-Identifier: BSD-3-Clause */
/* What groups of several jobs tell each other of themselves: whole, or refused. */
#include "comm/int_comm.h"

#include "base/check.h"

enum { HEAD = 2 * sizeof(uint32_t), WAYS = 2, CARDS = 3 };

static struct {
    uint64_t align;
    char bytes[HEAD + WAYS * sizeof(struct comm_way) + CARDS * sizeof(struct place_card)];
} told;

static void tell(uint32_t ways, uint32_t cards)
{
    struct place_card card = { .job = 5, .size = 16 };

    memset(told.bytes, 0, sizeof told.bytes);
    memcpy(told.bytes, (uint32_t[]){ ways, cards }, HEAD);
    for (size_t i = 0; i < CARDS; i++)
        memcpy(told.bytes + HEAD + WAYS * sizeof(struct comm_way) + i * sizeof card, &card, sizeof card);
}

static bool is_read(size_t size)
{
    struct comm_introduction read;

    return comm_read_introduction(told.bytes, size, &read);
}

static void test_whole(void)
{
    struct comm_introduction read;

    tell(WAYS, CARDS);
    CHECK(comm_read_introduction(told.bytes, sizeof told.bytes, &read));
    CHECK_INT(read.way_count, WAYS);
    CHECK_INT(read.card_count, CARDS);
    CHECK_INT(read.cards[CARDS - 1].job, 5);
}

static void test_lengths(void)
{
    tell(WAYS, CARDS);
    for (size_t size = 0; size < sizeof told.bytes; size++)
        CHECK(!is_read(size));
    tell(WAYS, CARDS + 1);
    CHECK(!is_read(sizeof told.bytes));
    tell(WAYS + 1, CARDS);
    CHECK(!is_read(sizeof told.bytes));
    tell(CARDS + 1, CARDS);
    CHECK(!is_read(sizeof told.bytes));
    tell(0, 0);
    CHECK(!is_read(HEAD));
    tell(0, UINT32_MAX);
    CHECK(!is_read(sizeof told.bytes));
}

static void test_contents(void)
{
    struct place_card *last;

    tell(WAYS, CARDS);
    memset(told.bytes + HEAD, 'a', COMM_WAY_SIZE + sizeof(uint64_t)); /* a text without an end */
    CHECK(!is_read(sizeof told.bytes));
    tell(WAYS, CARDS);
    last = (struct place_card *)(void *)(told.bytes + sizeof told.bytes) - 1;
    last->size = sizeof last->address;
    CHECK(is_read(sizeof told.bytes));
    last->size++;
    CHECK(!is_read(sizeof told.bytes));
    last->size = 0;
    CHECK(!is_read(sizeof told.bytes));
}

int main(void)
{
    test_whole();
    test_lengths();
    test_contents();
    return 0;
}
