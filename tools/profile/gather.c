/* SPDX-License-Identifier: BSD-3-Clause */
/* libparley_profile: at the end everybody's books go to rank 0. They are of one size, so one gather each does. */
#include <stdlib.h>

#include "profile.h"

struct profile_rank *gather_ranks(const struct profile_rank *own, int rank, int size)
{
    const size_t row = (size_t)size * sizeof(struct profile_traffic);
    struct profile_rank *all = NULL;
    struct profile_traffic *traffic = NULL;

    if (rank == 0) {
        all = calloc((size_t)size, sizeof *all);
        traffic = calloc((size_t)size, row);
        if (!all || !traffic)
            abort();
    }
    PMPI_Gather_c(own, sizeof *own, MPI_BYTE, all, sizeof *own, MPI_BYTE, 0, MPI_COMM_WORLD);
    PMPI_Gather_c(own->to, (MPI_Count)row, MPI_BYTE, traffic, (MPI_Count)row, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int i = 0; all && i < size; i++)
        all[i].to = traffic + (size_t)i * (size_t)size;
    return all;
}
