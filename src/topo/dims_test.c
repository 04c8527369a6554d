/* SPDX-License-Identifier: BSD-3-Clause */
/* Balanced dimensions against all ways to write a number as a product; large and difficult numbers; errors. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "topo/topo.h"

enum { NODES = 400, DIMS = 5, MANY = 40 };

/* --- the model: every way, the best kept --- */

struct model {
    int factors[DIMS], best[DIMS];
    int ndims, spread;
};

static void try_all(struct model *m, int place, int rest, int high)
{
    if (place == m->ndims) {
        const int spread = m->factors[0] - m->factors[place - 1];

        /* Ways come in the order of their factors, smallest first: with equal ends the first one stays. */
        if (rest == 1 && (m->spread < 0 || spread < m->spread ||
                          (spread == m->spread && m->factors[0] > m->best[0]))) {
            m->spread = spread;
            memcpy(m->best, m->factors, sizeof m->best);
        }
        return;
    }
    for (int factor = 1; factor <= rest && factor <= high; factor++) {
        if (rest % factor == 0) {
            m->factors[place] = factor;
            try_all(m, place + 1, rest / factor, factor);
        }
    }
}

static void test_brute_force(void)
{
    for (int ndims = 1; ndims <= DIMS; ndims++) {
        for (int nodes = 1; nodes <= NODES; nodes++) {
            struct model m = { .ndims = ndims, .spread = -1 };
            int dims[DIMS] = { 0 };

            try_all(&m, 0, nodes, nodes);
            CHECK_INT(topo_dims_create(nodes, ndims, dims), 0);
            for (int i = 0; i < ndims; i++)
                CHECK_INT(dims[i], m.best[i]);
        }
    }
}

/* Entries that stand, anywhere, leave the others as if they were alone. */
static void test_fixed(void)
{
    for (int fixed = 1; fixed <= 12; fixed++) {
        for (int rest = 1; rest <= 60; rest++) {
            int dims[4] = { 0, fixed, 0, 0 }, alone[3] = { 0 };

            CHECK_INT(topo_dims_create(fixed * rest, 4, dims), 0);
            CHECK_INT(topo_dims_create(rest, 3, alone), 0);
            CHECK(dims[0] == alone[0] && dims[1] == fixed && dims[2] == alone[1] && dims[3] == alone[2]);
        }
    }
}

/* --- large numbers --- */

static void check_product(int nodes, int ndims, const int *dims)
{
    int64_t product = 1;

    for (int i = 0; i < ndims; i++) {
        product *= dims[i];
        CHECK(dims[i] >= 1 && (i == 0 || dims[i] <= dims[i - 1]));
    }
    CHECK(product == nodes);
}

static void test_large(void)
{
    static const struct {
        int nodes, ndims, dims[4];
    } known[] = {
        { 5040, 3, { 21, 16, 15 } },              { 10800, 3, { 27, 20, 20 } },
        { 1000000000, 3, { 1000, 1000, 1000 } },  { INT_MAX, 2, { INT_MAX, 1 } },
        { 2147395600, 2, { 46340, 46340 } },      { 1 << 30, 4, { 256, 256, 128, 128 } },
        { 2147483646, 2, { 49981, 42966 } },      { 46337 * 46327, 2, { 46337, 46327 } },
    };
    /* Those with the most divisors, and powers. */
    static const int difficult[] = { 2095133040, 1396755360, 1102701600, 735134400, 698377680, 551350800, 1 << 30,
                                     1162261467, 223092870, 2147483646, 1220703125, 2038431744, 1934917632 };

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        int dims[4] = { 0 };

        CHECK_INT(topo_dims_create(known[i].nodes, known[i].ndims, dims), 0);
        check_product(known[i].nodes, known[i].ndims, dims);
        for (int k = 0; k < known[i].ndims; k++)
            CHECK_INT(dims[k], known[i].dims[k]);
    }
    for (size_t i = 0; i < ARRAY_LEN(difficult); i++) {
        for (int ndims = 1; ndims <= MANY; ndims++) {
            int dims[MANY] = { 0 };

            CHECK_INT(topo_dims_create(difficult[i], ndims, dims), 0);
            check_product(difficult[i], ndims, dims);
        }
    }
}

/* --- errors --- */

static void check_fails(int nodes, int ndims, const int *dims, const char *says)
{
    int copy[4], rc;
    char text[ERR_TEXT_SIZE];

    memcpy(copy, dims, (size_t)ndims * sizeof *dims);
    rc = topo_dims_create(nodes, ndims, copy);
    CHECK_INT(err_class(rc), MPI_ERR_DIMS);
    err_text(rc, text, sizeof text);
    CHECK(strstr(text, says));
    CHECK(memcmp(copy, dims, (size_t)ndims * sizeof *dims) == 0);
}

static void test_errors(void)
{
    int dims[2] = { 0, 0 };

    check_fails(0, 2, dims, "nnodes is 0");
    check_fails(-6, 2, dims, "nnodes is -6");
    check_fails(6, 2, (const int[]){ 0, -2 }, "dims[1] is -2");
    check_fails(7, 2, (const int[]){ 0, 2 }, "dims[1] = 2");
    check_fails(12, 2, (const int[]){ 2, 3 }, "make 6");
    check_fails(2, 0, dims, "nnodes is 2");
    CHECK_INT(topo_dims_create(1, 0, NULL), 0);
    CHECK_INT(topo_dims_create(6, 2, (int[]){ 2, 3 }), 0);
    mem_fail_after(0);
    CHECK_INT(err_class(topo_dims_create(6, 2, dims)), MPI_ERR_NO_MEM);
    mem_fail_after(-1);
    CHECK(dims[0] == 0 && dims[1] == 0);
}

int main(void)
{
    test_brute_force();
    test_fixed();
    test_large();
    test_errors();
    CHECK_INT(mem_live(), 0);
    return 0;
}
