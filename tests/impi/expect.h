/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs that run over clients of IMPI say and do when something is not as expected. */
#ifndef IMPI_EXPECT_H
#define IMPI_EXPECT_H

#include <mpi.h>
#include <mpix.h>
#include <stdio.h>

static int rank; /* in MPI_COMM_WORLD; the program sets it */

static void expect(const char *what, int got, int expected)
{
    if (got == expected)
        return;
    printf("rank %d: %s is %d, not %d\n", rank, what, got, expected);
    MPI_Abort(MPI_COMM_WORLD, 9);
}

static int class_of(int rc)
{
    int class;

    MPI_Error_class(rc, &class);
    return class;
}

static inline int own_client(void)
{
    int *color, flag;

    MPI_Comm_get_attr(MPI_COMM_WORLD, IMPI_CLIENT_COLOR, &color, &flag);
    return *color;
}

#endif
