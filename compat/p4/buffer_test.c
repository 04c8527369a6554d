/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of messages: every length and alignment, the table by which a pointer is known, what is kept and what goes
 * back, payloads that stay readable, wrong frees, no memory. */
#include <string.h>

#include "base/mem.h"
#include "p4/forks.h"
#include "p4/int_message.h"

enum { MANY = 3000 };

static const bool no_threads = false;
const bool *message_threads = &no_threads;

void message_lock_threads(void)
{
}

void message_unlock_threads(void)
{
}

void p4_error(const char *string, int value)
{
    p4_fail("%s: %d", string, value);
}

static void test_length(int len)
{
    char *data = p4_msg_alloc(len);
    const struct message *m = buffer_find(data);

    CHECK(data && (uintptr_t)data % CACHE_LINE == 0 && m && m + 1 == (void *)data);
    CHECK(m->capacity == (size_t)len && m->room >= m->capacity && m->state == MESSAGE_LIVE);
    CHECK(!buffer_find(data + 1) && !buffer_find(data + CACHE_LINE));
    memset(data, 'x', (size_t)len);
    p4_msg_free(data);
    CHECK(buffer_find(data) == m && m->state == MESSAGE_FREE);
    CHECK(!len || (data[0] == 'x' && data[len - 1] == 'x'));
    CHECK_FAILS(p4_msg_free(data), "has been freed already");
}

static void test_lengths(void)
{
    static const int lens[] = { 0, 1, 63, 64, 65, 256, 1000, 4096, 65537, 1048576, 1048577, 5000000 };

    for (size_t i = 0; i < ARRAY_LEN(lens); i++)
        test_length(lens[i]);
    p4_msg_free(NULL);
    CHECK(!buffer_find(NULL));
    CHECK_FAILS(p4_msg_free(failure), "is no buffer of p4_msg_alloc");
    CHECK_FAILS(p4_msg_alloc(-1), "alloc_p4_msg failed: -1");
}

/* The table grows, holds all of them, and forgets those that go back. */
static void test_many(void)
{
    static char *all[MANY];
    const long before = mem_live();
    long live;

    for (int i = 0; i < MANY; i++)
        all[i] = p4_msg_alloc(i * 7 % 300);
    for (int i = 0; i < MANY; i++)
        CHECK(buffer_find(all[i]) && buffer_find(all[i])->capacity == (size_t)(i * 7 % 300));
    for (int i = 0; i < MANY; i += 2)
        p4_msg_free(all[i]);
    for (int i = 1; i < MANY; i += 2)
        p4_msg_free(all[i]);
    live = mem_live();
    CHECK(live < before + MANY);
    for (int i = 0; i < 100; i++) /* what is free is used again */
        all[i] = p4_msg_alloc(10);
    CHECK_INT(mem_live(), live);
    for (int i = 0; i < 100; i++)
        p4_msg_free(all[i]);
    for (int i = 0; i < 3; i++) /* of the large ones one is kept */
        p4_msg_free(p4_msg_alloc(2000000));
    CHECK(mem_live() <= live + 1);
}

static void test_no_memory(void)
{
    struct message *m;

    mem_fail_after(0);
    CHECK_FAILS(p4_msg_alloc(3000000), "alloc_p4_msg failed: 3000000");
    p4_own.soft_errors = true;
    CHECK(!p4_msg_alloc(3000000));
    mem_fail_after(-1);
    p4_own.soft_errors = false;
    m = buffer_exchange(NULL, 100);
    CHECK(m && m->capacity == 100);
    mem_fail_after(0);
    CHECK(!buffer_exchange(m, 3000000) && m->state == MESSAGE_FREE);
    mem_fail_after(-1);
    m = buffer_exchange(NULL, 200);
    CHECK(m && m->state == MESSAGE_LIVE);
    buffer_free(m);
}

static void test_classes(void)
{
    char *old = p4_msg_alloc(60), *data;

    CHECK_FAILS(p4_set_avail_buff(-1, 100), "E0614: p4_set_avail_buff(-1, 100)");
    CHECK_FAILS(p4_set_avail_buff(8, 100), "E0614: p4_set_avail_buff(8, 100)");
    CHECK_FAILS(p4_set_avail_buff(0, 0), "E0614: p4_set_avail_buff(0, 0)");
    p4_set_avail_buff(0, 512);
    p4_set_avail_buff(1, 128);
    data = p4_msg_alloc(60);
    CHECK_INT(buffer_find(data)->room, 128);
    p4_msg_free(data);
    p4_msg_free(old); /* of a size that is no class any more */
    data = p4_msg_alloc(129);
    CHECK_INT(buffer_find(data)->room, 512);
    p4_msg_free(data);
    p4_print_avail_buffs();
    CHECK(strstr(failure, " bytes: "));
}

int main(void)
{
    CHECK_FAILS(p4_msg_alloc(1), "p4_msg_alloc before p4_initenv");
    open_arena(4096);
    test_lengths();
    test_many();
    test_no_memory();
    test_classes();
    return 0;
}
