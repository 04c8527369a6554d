/* SPDX-License-Identifier: BSD-3-Clause */
/* The unguided split as a calculation: a machine taken apart level by level, processes on several parts, random
 * machines against the words of the standard. */
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "comm/int_comm.h"

enum { MAX = 40, RANDOM = 3000 };

static uint64_t state = 7;

static int below(int n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((state >> 33) % (uint64_t)n);
}

static struct comm_seat seats[MAX];
static bool is_in[MAX];
static int color[MAX], part[MAX];
static struct unguided_sitting order[MAX];

static void colors(int count)
{
    comm_unguided_colors(&(struct unguided){ seats, is_in, count, count, color, part, order });
}

/* Process after process on the processors of 2 nodes of this machine. */
static void sit(const char *machine, int cpus, int count)
{
    for (int i = 0; i < count; i++) {
        CHECK(site_of_text(machine, i % cpus, &seats[i].site));
        seats[i].node = i / cpus;
        is_in[i] = true;
    }
}

/* Leave those of color 0 only. */
static int keep_first(int count)
{
    int kept = 0;

    for (int i = 0; i < count; i++)
        if (color[i] == 0)
            seats[kept++] = seats[i];
    return kept;
}

static void test_levels(void)
{
    static const int parts[] = { HWPARTS, HWPART_PACKAGE, HWPART_L3, HWPART_CORE, HWPART_PU };
    static const int sizes[] = { 16, 8, 4, 2, 1 };
    int count = 32;

    sit("Package:2 NUMANode:1 L3Cache:2 Core:2 PU:2", 16, count);
    for (size_t level = 0; level < ARRAY_LEN(parts); level++) {
        colors(count);
        CHECK_INT(part[0], parts[level]);
        count = keep_first(count);
        CHECK_INT(count, sizes[level]);
    }
    colors(1);
    CHECK_INT(color[0], MPI_UNDEFINED);
}

/* One process may run anywhere in its package, one anywhere, one does not take part. */
static void test_wide(void)
{
    sit("Package:2 Core:2", 4, 4);
    seats[1].site.first[HWPART_CORE] = seats[1].site.first[HWPART_PU] = SITE_SEVERAL;
    seats[2].site = seats[1].site;
    seats[2].site.first[HWPART_PACKAGE] = SITE_SEVERAL;
    is_in[3] = false;
    colors(4);
    CHECK_INT(part[0], HWPARTS); /* those who take part are fewer than the communicator */
    is_in[3] = true;
    colors(4);
    CHECK(color[0] == 0 && color[1] == 0 && color[2] == MPI_UNDEFINED && color[3] == 3);
    colors(2);
    CHECK(color[0] == 0 && part[0] == HWPART_CORE && color[1] == MPI_UNDEFINED);
}

static bool share(int i, int j, int kind)
{
    if (!is_in[j] || seats[i].node != seats[j].node)
        return false;
    return kind == HWPARTS ||
           (seats[i].site.first[kind] >= 0 && seats[i].site.first[kind] == seats[j].site.first[kind]);
}

static int sharing(int i, int kind, int count)
{
    int n = 0;

    for (int j = 0; j < count; j++)
        n += share(i, j, kind);
    return n;
}

/* A color is one part; all of that part are in it; it is a strict subset, and no larger part would be. */
static void check(int count)
{
    for (int i = 0; i < count; i++) {
        if (color[i] != MPI_UNDEFINED) {
            CHECK(is_in[i] && sharing(i, part[i], count) < count);
            for (int j = 0; j < count; j++)
                CHECK_INT(color[j] == color[i], share(i, j, part[i]));
        }
        for (int kind = 0; kind < HWPARTS && is_in[i]; kind++)
            if (part[i] < 0 || (part[i] < HWPARTS && seats[i].site.count[kind] > seats[i].site.count[part[i]]))
                CHECK(seats[i].site.first[kind] < 0 || sharing(i, kind, count) == count);
    }
}

static void test_random(void)
{
    static const char *const machines[] = { "Package:2 Core:4", "NUMANode:3 L3Cache:2 Core:2", "Core:4 PU:2",
                                            "Package:2 L3Cache:1 NUMANode:2 L2Cache:2" };

    for (int round = 0; round < RANDOM; round++) {
        const char *machine = machines[below(ARRAY_LEN(machines))];
        const int count = 1 + below(MAX), nodes = 1 + below(3), cpus = 1 + below(12);

        for (int i = 0; i < count; i++) {
            CHECK(site_of_text(machine, below(cpus), &seats[i].site));
            seats[i].node = below(nodes);
            is_in[i] = below(8) > 0;
        }
        colors(count);
        check(count);
    }
}

int main(void)
{
    test_levels();
    test_wide();
    test_random();
    return 0;
}
