/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room base: error codes and texts, lists, memory that runs out, pools, settings. */
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/copy.h"
#include "base/err.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/setting.h"

static void test_err(void)
{
    char text[ERR_TEXT_SIZE];
    int code = err(MPI_ERR_TAG, "tag is %d", -5);

    CHECK(code > 0 && code < MPI_ERR_LASTCODE);
    CHECK_INT(err_class(code), MPI_ERR_TAG);
    err_text(code, text, sizeof text);
    CHECK(!strcmp(text, "tag is -5"));
    code = err_prefix(code, "MPI_Send");
    err_text(code, text, sizeof text);
    CHECK(!strcmp(text, "MPI_Send: tag is -5"));
    err_text(MPI_ERR_COMM, text, sizeof text);
    CHECK(!strcmp(text, "invalid communicator"));
    code = err_prefix(MPI_ERR_COMM, "MPI_Recv");
    CHECK_INT(err_class(code), MPI_ERR_COMM);
    err_text(code, text, sizeof text);
    CHECK(!strcmp(text, "MPI_Recv: invalid communicator"));
}

static void test_err_all_classes_and_ring(void)
{
    char text[ERR_TEXT_SIZE];
    const int first = err(MPI_ERR_RANK, "first");

    for (int i = 0; i <= MPI_ERR_ABI; i++)
        CHECK(err_class_text(i));
    CHECK(!err_class_text(MPI_ERR_ABI + 1) && !err_class_text(-1));
    for (int i = 0; i < ERR_SLOTS; i++)
        CHECK(err(MPI_ERR_COUNT, "text %d", i) <= MPI_ERR_LASTCODE);
    err_text(first, text, sizeof text); /* overwritten by an error of another class: only the general text is left */
    CHECK(!strcmp(text, err_class_text(MPI_ERR_RANK)));
}

enum { COPY_TEST_MAX = 40000, COPY_TEST_EDGE = 128 };

static void write_near(void *to, const void *from, size_t len)
{
    shared_write(to, from, len, false);
}

static void write_far(void *to, const void *from, size_t len)
{
    shared_write(to, from, len, true);
}

static void check_copy(void (*copy)(void *, const void *, size_t), unsigned char *to, const unsigned char *from,
                       size_t len)
{
    bool is_whole = true;

    memset(to, 7, len + 2 * COPY_TEST_EDGE);
    copy(to + COPY_TEST_EDGE, from, len);
    for (size_t i = 0; i < COPY_TEST_EDGE; i++)
        is_whole = is_whole && to[i] == 7 && to[COPY_TEST_EDGE + len + i] == 7;
    CHECK(is_whole && !memcmp(to + COPY_TEST_EDGE, from, len));
}

/* Every way by length, with the lengths around where they change, and odd places. */
static void test_copy_shared(void)
{
    static const size_t lens[] = {
        832, 833, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 7168, 7169, 8191, 16384, 16385, 32768, 39000,
    };
    static unsigned char from[COPY_TEST_MAX], to[COPY_TEST_MAX + 2 * COPY_TEST_EDGE];

    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)(i * 2654435761u >> 13);
    for (size_t len = 0; len < 700; len++) {
        check_copy(shared_read, to + len % 67, from + len % 61, len);
        check_copy(write_near, to + len % 67, from + len % 61, len);
        check_copy(write_far, to + len % 67, from + len % 61, len);
    }
    for (size_t i = 0; i < ARRAY_LEN(lens); i++) {
        for (size_t at = 0; at < 66; at += 13) {
            check_copy(shared_read, to + at, from + 3 * at, lens[i]);
            check_copy(write_near, to + 2 * at, from + at, lens[i]);
            check_copy(write_far, to + 2 * at, from + at, lens[i]);
        }
    }
}

/* Nothing changes in lines that are forgotten and fetched, nor around them. */
static void test_forget(void)
{
    static unsigned char memory[8192], copy[sizeof memory];

    for (size_t i = 0; i < sizeof memory; i++)
        copy[i] = memory[i] = (unsigned char)(i % 251);
    for (size_t at = 0; at < sizeof memory; at += 1024) {
        shared_forget(memory + at, 1024);
        shared_own(memory + at, 1024, at % 4096 == 0);
    }
    CHECK(!memcmp(memory, copy, sizeof memory));
}

struct item {
    int value;
    struct list node;
};

static void test_list(void)
{
    struct list head;
    struct item items[4];
    int sum = 0;

    list_init(&head);
    CHECK(list_is_empty(&head) && !list_first(&head));
    for (int i = 0; i < 4; i++) {
        items[i].value = i;
        list_append(&head, &items[i].node);
    }
    LIST_FOR_EACH_SAFE(node, &head) {
        struct item *item = CONTAINER_OF(node, struct item, node);
        if (item->value % 2)
            list_remove(node);
    }
    LIST_FOR_EACH(node, &head)
        sum = sum * 10 + CONTAINER_OF(node, struct item, node)->value;
    CHECK_INT(sum, 2);
    list_prepend(&head, &items[3].node);
    CHECK(list_first(&head) == &items[3].node);
}

static void test_mem(void)
{
    struct mem_pool pool;
    void *objects[100];
    const long before = mem_live();

    mem_fail_after(1);
    void *p = mem_alloc(10);
    CHECK(p && !mem_alloc(10) && !mem_zalloc(1) && !mem_alloc_aligned(64, 64) && !mem_realloc(p, 20));
    mem_fail_after(-1);
    p = mem_realloc(p, 20);
    mem_free(p);
    CHECK_INT(mem_live(), before);

    mem_pool_init(&pool, 100, 16);
    for (int i = 0; i < 100; i++) {
        objects[i] = mem_pool_get(&pool);
        CHECK(objects[i] && (uintptr_t)objects[i] % CACHE_LINE == 0);
        memset(objects[i], i, 100);
    }
    CHECK_INT(pool.live, 100);
    for (int i = 0; i < 100; i++)
        CHECK_INT(((unsigned char *)objects[i])[99], i);
    mem_pool_put(&pool, objects[7]);
    CHECK(mem_pool_get(&pool) == objects[7]);
    for (int i = 0; i < 100; i++)
        mem_pool_put(&pool, objects[i]);
    CHECK_INT(pool.live, 0);
    mem_pool_fini(&pool);
    mem_pool_init(&pool, 8, 4);
    mem_fail_after(0);
    CHECK(!mem_pool_get(&pool));
    mem_fail_after(-1);
    CHECK_INT(mem_live(), before);

    pool.max = 6; /* two chunks */
    for (int i = 0; i < 8; i++)
        CHECK((objects[i] = mem_pool_get(&pool)));
    CHECK(!mem_pool_get(&pool) && pool.live == 8);
    mem_pool_put(&pool, objects[3]);
    CHECK(mem_pool_get(&pool) == objects[3]);
    mem_pool_fini(&pool);
    CHECK_INT(mem_live(), before);
}

/* The high mark starts anew when the tide is out, and only then. */
static void test_tide(void)
{
    struct mem_tide tide = { 0, 0 };

    mem_tide_in(&tide, 1000);
    mem_tide_out(&tide, 1000);
    CHECK(tide.now == 0 && tide.high == 1000);
    mem_tide_in(&tide, MEM_TIDE_HIGH + MEM_TIDE_LOW + 1);
    mem_tide_out(&tide, MEM_TIDE_HIGH);
    CHECK(tide.now == MEM_TIDE_LOW + 1 && tide.high == MEM_TIDE_HIGH + MEM_TIDE_LOW + 1);
    mem_tide_out(&tide, 1);
    CHECK(tide.now == MEM_TIDE_LOW && tide.high == MEM_TIDE_LOW);
    mem_tide_in(&tide, (size_t)MEM_TIDE_LOW * MEM_TIDE_PART * 2 - MEM_TIDE_LOW);
    mem_tide_out(&tide, (size_t)MEM_TIDE_LOW * MEM_TIDE_PART * 2 - MEM_TIDE_LOW * 2);
    CHECK(tide.now == MEM_TIDE_LOW * 2 && tide.high == tide.now);
}

static void test_setting(void)
{
    struct setting number = { .name = "TEST_NUMBER", .help = "a number", .value = 7, .max = 1 << 20 };
    struct setting flag = { .name = "TEST_FLAG", .help = "a flag", .kind = SETTING_BOOL };
    static const char *const bad[] = { "abc", "-1", "2m", "1x", "99999999999999999999" };

    CHECK(!setting_read(&number));
    CHECK_INT(number.value, 7);
    setenv("PARLEY_TEST_NUMBER", "64k", 1);
    setenv("PARLEY_TEST_FLAG", "on", 1);
    CHECK(!setting_read(&number) && !setting_read(&flag));
    CHECK_INT(number.value, 65536);
    CHECK_INT(flag.value, 1);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        setenv("PARLEY_TEST_NUMBER", bad[i], 1);
        CHECK_INT(err_class(setting_read(&number)), MPI_ERR_OTHER);
        CHECK_INT(number.value, 65536);
    }
    setenv("PARLEY_TEST_FLAG", "perhaps", 1);
    CHECK_INT(err_class(setting_read(&flag)), MPI_ERR_OTHER);
}

static struct setting listed = { .name = "TEST_LISTED", .help = "a text", .topic = "tests", .kind = SETTING_TEXT };
SETTING_LISTED(listed);

static void test_written_setting(void)
{
    const long live = mem_live();

    CHECK_INT(setting_count(), 1);
    CHECK(setting_at(0) == &listed);
    setenv("PARLEY_TEST_LISTED", "by the environment", 1);
    CHECK(!setting_read(&listed) && !strcmp(listed.text, "by the environment"));
    CHECK(!setting_write(&listed, "by hand") && !setting_read(&listed) && !strcmp(listed.text, "by hand"));
    CHECK(!setting_write(&listed, "again") && !strcmp(listed.text, "again"));
    CHECK_INT(mem_live(), live + 1);
    mem_fail_after(0);
    CHECK_INT(err_class(setting_write(&listed, "no memory")), MPI_ERR_NO_MEM);
    mem_fail_after(-1);
    CHECK(!strcmp(listed.text, "again"));
}

int main(void)
{
    test_err();
    test_copy_shared();
    test_forget();
    test_err_all_classes_and_ring();
    test_list();
    test_mem();
    test_tide();
    test_setting();
    test_written_setting();
    return 0;
}
