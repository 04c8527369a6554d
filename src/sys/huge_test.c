/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of huge pages: what is used for long becomes one, if the system does that; what is not all there stays. */
#define _GNU_SOURCE 1
#include "sys/huge.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/check.h"

enum { HUGE = 2 << 20, PAGE = 4096, USES = 40, MISSING = 17, GONE = HUGE + 9 * PAGE };

/* Three huge pages long, from a boundary on. */
static char *map(void)
{
    char *all = mmap(NULL, (size_t)4 * HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(all != MAP_FAILED);
    return all + (HUGE - (uintptr_t)all % HUGE) % HUGE;
}

/* KB in huge pages of the mapping that has this address. */
static long huge_kb(const char *at)
{
    FILE *smaps = fopen("/proc/self/smaps", "r");
    char line[512];
    uintptr_t low = 0, high = 0;
    long kb = 0;

    if (!smaps)
        return 0;
    while (fgets(line, sizeof line, smaps)) {
        char *rest;
        const uintptr_t first = strtoull(line, &rest, 16);

        if (*rest == '-') {
            low = first;
            high = strtoull(rest + 1, NULL, 16);
        } else if ((uintptr_t)at >= low && (uintptr_t)at < high && !strncmp(line, "AnonHugePages:", 14)) {
            kb = strtol(line + 14, NULL, 10);
        }
    }
    fclose(smaps);
    return kb;
}

static int count_pages(char *at, size_t len)
{
    unsigned char there[3 * HUGE / PAGE];
    int n = 0;

    CHECK(!mincore(at, len, there));
    for (size_t i = 0; i < len / PAGE; i++)
        n += there[i] & 1;
    return n;
}

static void use(const char *at, size_t len)
{
    for (int i = 0; i < USES; i++)
        huge_used(at, len);
}

/* Does the system make huge pages of memory that nobody has asked it for? */
static int is_automatic(void)
{
    FILE *setting = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    char line[64] = "";

    if (setting) {
        if (!fgets(line, sizeof line, setting))
            line[0] = '\0';
        fclose(setting);
    }
    return strstr(line, "[always]") != NULL;
}

int main(void)
{
    char *at = map(), *sparse = map();

    (void)madvise(at, (size_t)3 * HUGE, MADV_NOHUGEPAGE); /* whatever the system does by itself */
    for (size_t i = 0; i < (size_t)3 * HUGE; i++)
        at[i] = (char)(i * 7 + i / PAGE);
    use(at, (size_t)3 * HUGE); /* refused, and nothing comes of that */
    CHECK_INT(huge_kb(at), 0);
    memset(sparse, 1, HUGE - (size_t)MISSING * PAGE);
    use(sparse, HUGE);
    if (is_automatic()) {
        printf("skipped: this system makes huge pages unasked, of memory that is not all there as well\n");
    } else {
        CHECK_INT(huge_kb(sparse), 0);
        CHECK_INT(count_pages(sparse, HUGE), HUGE / PAGE - MISSING);
    }
    for (size_t i = 0; i < (size_t)3 * HUGE; i++)
        CHECK(at[i] == (char)(i * 7 + i / PAGE));
    memset(sparse, 2, (size_t)3 * HUGE - 3); /* the last page, too … */
    CHECK(!madvise(sparse + GONE, PAGE, MADV_DONTNEED)); /* … but for one */
    use(sparse + PAGE, HUGE); /* most of two regions, which are not counted as far as they need */
    use(sparse + 100, (size_t)3 * HUGE - 200);
    if (!huge_kb(sparse))
        printf("skipped: this system makes no huge pages when asked\n");
    else
        CHECK_INT(count_pages(sparse + GONE, PAGE), 1);
    for (size_t i = 0; i < (size_t)3 * HUGE - 3; i++)
        CHECK(sparse[i] == (i / PAGE == GONE / PAGE ? 0 : 2));
    return 0;
}
