/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of source.c: this program looks itself up. File and line are there if it has debug information. */
#include "source.h"

#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "launch.h"

int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void *need(size_t size)
{
    return calloc(1, size);
}

static NOINLINE uint64_t here(void)
{
    return (uintptr_t)__builtin_return_address(0);
}

int main(void)
{
    char line[32];
    const int number = __LINE__ + 1;
    const uint64_t address = here();
    const char *found = source_line(getpid(), address);

    CHECK(found);
    snprintf(line, sizeof line, "source_test.c:%d", number);
    if (strstr(found, ".c:"))
        CHECK(!strcmp(found, line));
    else
        CHECK(strstr(found, "source_test+0x"));
    CHECK(source_line(getpid(), address) == found); /* the second time it is known */
    CHECK(!source_line(getpid(), 0));
    CHECK(!source_line(getpid(), 18));
    CHECK(!source_line(getpid(), (uintptr_t)line)); /* on the stack is no file */
    CHECK(!source_line(-1, address));
    setenv("PATH", "/nowhere", 1); /* without tools: the place alone */
    found = source_line(getpid(), (uintptr_t)need + 8);
    CHECK(found && strstr(found, "source_test+0x"));
    return 0;
}
