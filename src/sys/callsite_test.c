/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of call sites. Here the whole program is "ours", so what is found is the function of libc that calls us:
 * qsort, or what calls main. With a user's program around it, tests/launch shows file and line. */
#include "sys/callsite.h"

#include <string.h>

#include "base/check.h"

static uint64_t in_callback;

static int compare(const void *a, const void *b)
{
    in_callback = callsite_find();
    return *(const int *)a - *(const int *)b;
}

static void check_is_in_libc(uint64_t address)
{
    char text[100];

    CHECK(address != 0);
    if (callsite_name(address, text, sizeof text)) /* not in a program without dynamic linking */
        CHECK(strstr(text, "+0x") && (strstr(text, "libc") || strstr(text, "san")));
}

int main(void)
{
    int numbers[2] = { 2, 1 };
    char text[100];
    const uint64_t site = callsite_find();

    check_is_in_libc(site);
    CHECK(site == callsite_find());
    qsort(numbers, 2, sizeof *numbers, compare);
    check_is_in_libc(in_callback);
    CHECK(in_callback != site);
    CHECK(callsite_name((uintptr_t)main + 1, text, sizeof text) && strstr(text, "callsite_test+0x"));
    CHECK(!callsite_name(0, text, sizeof text));
    CHECK(!callsite_name(17, text, sizeof text));
    return 0;
}
