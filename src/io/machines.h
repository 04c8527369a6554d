/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. On which machines the processes of a file are, and which of them access it in collective calls. */
#ifndef IO_MACHINES_H
#define IO_MACHINES_H

struct io_machines {
    int size;     /* processes */
    int count;    /* machines, numbered here in the order of their lowest ranks */
    int *of;      /* by rank: the number of its machine; owned, with all that follows */
    int *place;   /* by rank: so many of lower ranks are on the same machine */
    int *node;    /* by machine: its node in the job */
    int *members; /* by machine */
    int *share;   /* by machine: aggregators, while they are chosen */
};

/* Room for so many processes, of which io_machines_add tells in the order of ranks. Error: MPI_ERR_NO_MEM. */
int io_machines_init(struct io_machines *m, int size);
void io_machines_add(struct io_machines *m, int rank, int node);
void io_machines_drop(struct io_machines *m);

/* The ranks of `wanted` aggregators, rising, or fewer if there are not so many processes: as equal a number on each
 * machine as can be, on none more than `most`, spread over its ranks. How many there are, at least 1. */
int io_choose_aggregators(const struct io_machines *m, int wanted, int most, int *ranks);

#endif
