/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room coll: memory of intermediate results is had again, is never had twice, and goes when it should. */
#include "coll/int_spare.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

enum { THREADS = 4, ROUNDS = 2000, HELD = 6 };

static void test_sizes(void)
{
    const long live = mem_live();
    void *p[20];

    spare_free(NULL);
    for (size_t size = 0; size < (size_t)40 << 20; size = 3 * size + 5) {
        void *one = spare_alloc(size), *other = spare_alloc(size);

        CHECK(one && other && one != other && (uintptr_t)one % 16 == 0);
        memset(one, 1, size);
        memset(other, 2, size);
        spare_free(one);
        spare_free(other);
    }
    for (int i = 0; i < 20; i++) /* more than stay */
        p[i] = spare_alloc(1 << 20);
    for (int i = 0; i < 20; i++)
        spare_free(p[i]);
    CHECK(mem_live() - live <= 16);
    spare_drop();
    CHECK_INT(mem_live(), live);
    CHECK(!spare_alloc(SIZE_MAX));
    mem_fail_after(0);
    CHECK(!spare_alloc(100000));
    mem_fail_after(-1);
}

static void *play(void *arg)
{
    unsigned seed = (unsigned)(uintptr_t)arg;
    unsigned char *held[HELD] = { NULL };

    for (int i = 0; i < ROUNDS; i++) {
        const int at = rand_r(&seed) % HELD;
        const unsigned char mark = (unsigned char)(uintptr_t)arg;

        if (held[at]) {
            CHECK(held[at][0] == mark && held[at][39999] == mark); /* nobody else has it */
            spare_free(held[at]);
            held[at] = NULL;
        } else {
            held[at] = spare_alloc(40000 + (size_t)rand_r(&seed) % 100000);
            CHECK(held[at]);
            held[at][0] = held[at][39999] = mark;
        }
    }
    for (int i = 0; i < HELD; i++)
        spare_free(held[i]);
    return NULL;
}

int main(void)
{
    const long live = mem_live();
    pthread_t thread[THREADS];

    test_sizes();
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&thread[i], NULL, play, (void *)(i + 1)));
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    spare_drop();
    CHECK_INT(mem_live(), live);
    return 0;
}
