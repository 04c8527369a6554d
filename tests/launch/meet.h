/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs share that meet those of another mpiexec (ports.c, joins.c). */
#ifndef MEET_H
#define MEET_H

#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int rank;

static void must(int holds, const char *what)
{
    if (holds)
        return;
    printf("rank %d: %s does not hold\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}
#define MUST(what) must(what, #what)

/* The file is there with all of its text, or not at all. */
static void leave(const char *path, const char *text)
{
    char begun[4300];
    FILE *file;

    snprintf(begun, sizeof begun, "%s.new", path);
    file = fopen(begun, "w");
    fputs(text, file);
    fclose(file);
    rename(begun, path);
}

/* Wait for it. */
static void find(const char *path, char *text, int size)
{
    FILE *file;

    while (!(file = fopen(path, "r")))
        usleep(1000);
    MUST(fgets(text, size, file) != NULL);
    fclose(file);
}

#endif
