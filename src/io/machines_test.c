/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room io: aggregators of processes on one machine and on several, in rows and in turns. */
#include "io/machines.h"

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"

static struct io_machines m;

static void on(int size, const int *nodes)
{
    io_machines_drop(&m);
    CHECK_INT(io_machines_init(&m, size), 0);
    for (int rank = 0; rank < size; rank++)
        io_machines_add(&m, rank, nodes[rank]);
}

static void check(int wanted, int most, int count, const int *want)
{
    int ranks[16];

    CHECK_INT(io_choose_aggregators(&m, wanted, most, ranks), count);
    for (int i = 0; i < count; i++)
        CHECK_INT(ranks[i], want[i]);
}

int main(void)
{
    on(8, (int[]){ 3, 3, 3, 3, 3, 3, 3, 3 });
    CHECK_INT(m.count, 1);
    check(1, 8, 1, (int[]){ 0 });
    check(3, 8, 3, (int[]){ 0, 2, 5 });
    check(8, 8, 8, (int[]){ 0, 1, 2, 3, 4, 5, 6, 7 });
    check(8, 2, 2, (int[]){ 0, 4 });
    on(8, (int[]){ 0, 0, 0, 0, 1, 1, 1, 1 });
    check(2, 8, 2, (int[]){ 0, 4 });
    check(3, 8, 3, (int[]){ 0, 2, 4 });
    on(8, (int[]){ 0, 1, 2, 0, 1, 2, 0, 1 });
    CHECK_INT(m.count, 3);
    check(3, 8, 3, (int[]){ 0, 1, 2 });
    check(6, 1, 3, (int[]){ 0, 1, 2 });
    check(5, 8, 5, (int[]){ 0, 1, 2, 3, 4 });
    on(5, (int[]){ 7, 7, 7, 7, 0 });
    check(4, 8, 4, (int[]){ 0, 1, 2, 4 });
    check(9, 8, 5, (int[]){ 0, 1, 2, 3, 4 });
    check(0, 8, 1, (int[]){ 0 });
    io_machines_drop(&m);
    mem_fail_after(0);
    CHECK_INT(err_class(io_machines_init(&m, 4)), MPI_ERR_NO_MEM);
    mem_fail_after(-1);
    return 0;
}
