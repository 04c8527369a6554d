/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of the server's collation: the examples of the protocol, order, what is ignored, and any order of arrival
 * against a model. */
#include "collate.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

enum { NHOSTS = 0x1100, DATALEN = 0x1300, TAGUB = 0x1400 };

static void add4(struct collate *c, int client, uint32_t label, uint32_t value)
{
    unsigned char data[4];

    impi_put4(data, value);
    CHECK_INT(collate_add(c, client, label, data, sizeof data), COLLATE_TAKEN);
}

static void is_4(const struct collate_part *part, uint32_t value)
{
    CHECK_INT(part->len, 4);
    CHECK_INT(impi_get4(part->data), value);
}

static void test_examples(void)
{
    struct collate c;
    const struct collate_label *label;

    collate_init(&c, 3);
    add4(&c, 0, NHOSTS, 3);
    CHECK(!collate_next(&c));
    add4(&c, 0, DATALEN, 8000);
    add4(&c, 1, NHOSTS, 2);
    add4(&c, 1, TAGUB, 77); /* it passes DATALEN */
    CHECK(!collate_next(&c));
    add4(&c, 2, NHOSTS, 2);
    label = collate_next(&c);
    CHECK(label && label->label == NHOSTS && label->mask == 7 && collate_size(label) == 12);
    is_4(&label->part[0], 3);
    is_4(&label->part[2], 2);
    collate_drop(&c);
    CHECK(!collate_next(&c));
    add4(&c, 2, DATALEN, 4000);
    label = collate_next(&c);
    CHECK(label && label->label == DATALEN && label->mask == 5);
    is_4(&label->part[2], 4000);
    collate_drop(&c);
    collate_done(&c, 0);
    CHECK(!collate_next(&c) && collate_is_done(&c, 0) && !collate_is_done(&c, 1));
    collate_done(&c, 2);
    label = collate_next(&c);
    CHECK(label && label->label == TAGUB && label->mask == 2);
    collate_drop(&c);
    CHECK(!collate_next(&c));
    collate_fini(&c);
}

static void test_ignored(void)
{
    struct collate c;

    collate_init(&c, 1);
    CHECK_INT(collate_add(&c, 0, 0, "", 0), COLLATE_NO_LABEL);
    CHECK_INT(collate_add(&c, 0, 0x80000000u, "", 0), COLLATE_NO_LABEL);
    add4(&c, 0, DATALEN, 1);
    CHECK_INT(collate_add(&c, 0, DATALEN, "abcd", 4), COLLATE_REPEATED);
    CHECK_INT(collate_add(&c, 0, NHOSTS, "abcd", 4), COLLATE_LATE);
    is_4(&collate_next(&c)->part[0], 1);
    CHECK_INT(collate_add(&c, 0, TAGUB, "", 0), COLLATE_TAKEN); /* empty, but there */
    collate_drop(&c);
    CHECK(collate_next(&c)->mask == 1 && collate_size(collate_next(&c)) == 0);
    collate_fini(&c);
}

static void test_memory(void)
{
    const long before = mem_live();
    struct collate c;

    collate_init(&c, 2);
    for (int n = 0; n < 2; n++) {
        mem_fail_after(n);
        CHECK_INT(collate_add(&c, 0, DATALEN, "abcd", 4), COLLATE_NO_MEMORY);
        mem_fail_after(-1);
    }
    CHECK(!collate_next(&c));
    collate_fini(&c);
    CHECK_INT(mem_live(), before);
}

/* Each client sends some of ten labels; which client speaks next is drawn. */
static void test_any_order(unsigned seed)
{
    enum { LABELS = 10, CLIENTS = 5 };
    uint32_t has[LABELS + 1] = { 0 }, next[CLIENTS] = { 0 }, expected = 1;
    struct collate c;
    int left = CLIENTS;

    srand(seed);
    collate_init(&c, CLIENTS);
    for (int client = 0; client < CLIENTS; client++)
        for (int label = 1; label <= LABELS; label++)
            has[label] |= (uint32_t)(rand() % 2) << client;
    while (left) {
        const int client = rand() % CLIENTS;
        const struct collate_label *label;

        if (collate_is_done(&c, client))
            continue;
        while (++next[client] <= LABELS && !(has[next[client]] >> client & 1))
            ;
        if (next[client] <= LABELS) {
            add4(&c, client, next[client], next[client] * 100 + (uint32_t)client);
        } else {
            collate_done(&c, client);
            left--;
        }
        while ((label = collate_next(&c))) {
            while (!has[expected])
                expected++;
            CHECK(label->label == expected && label->mask == has[expected]);
            for (int i = 0; i < CLIENTS; i++) {
                if (has[expected] >> i & 1)
                    is_4(&label->part[i], expected * 100 + (uint32_t)i);
            }
            expected++;
            collate_drop(&c);
        }
    }
    while (expected <= LABELS && !has[expected])
        expected++;
    CHECK_INT(expected, LABELS + 1);
    collate_fini(&c);
}

int main(void)
{
    test_examples();
    test_ignored();
    test_memory();
    for (unsigned seed = 1; seed <= 500; seed++)
        test_any_order(seed);
    return 0;
}
