/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. Machines of processes, and aggregators among them: each machine has its own way to the file, and data
 * that need not leave it are cheaper. Does not know: files. */
#include "io/machines.h"

#include "base/err.h"
#include "base/mem.h"

int io_machines_init(struct io_machines *m, int size)
{
    *m = (struct io_machines){ .size = size, .of = mem_zalloc((size_t)size * 5 * sizeof(int)) };
    if (!m->of)
        return err(MPI_ERR_NO_MEM, "no memory for a file of %d processes", size);
    m->place = m->of + size;
    m->node = m->place + size;
    m->members = m->node + size;
    m->share = m->members + size;
    return 0;
}

void io_machines_add(struct io_machines *m, int rank, int node)
{
    int i = 0;

    while (i < m->count && m->node[i] != node)
        i++;
    if (i == m->count)
        m->node[m->count++] = node;
    m->of[rank] = i;
    m->place[rank] = m->members[i]++;
}

void io_machines_drop(struct io_machines *m)
{
    mem_free(m->of);
    m->of = NULL;
}

/* How many each machine gets: one after the other, as long as it has processes for them. */
static void deal(const struct io_machines *m, int wanted, int most)
{
    int left = wanted < 1 ? 1 : wanted;

    for (int i = 0; i < m->count; i++)
        m->share[i] = 0;
    for (int round = 0, dealt = 1; dealt && left && round < most; round++) {
        dealt = 0;
        for (int i = 0; i < m->count && left; i++) {
            if (m->share[i] == m->members[i])
                continue;
            m->share[i]++;
            left--;
            dealt++;
        }
    }
}

int io_choose_aggregators(const struct io_machines *m, int wanted, int most, int *ranks)
{
    int count = 0;

    deal(m, wanted, most);
    for (int rank = 0; rank < m->size; rank++) {
        const long long share = m->share[m->of[rank]], members = m->members[m->of[rank]], place = m->place[rank];
        const long long number = (place * share + members - 1) / members; /* the only one that may begin here */

        if (number < share && number * members / share == place)
            ranks[count++] = rank;
    }
    return count;
}
