/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: pm. The marks that other launchers leave in the environment. A process that carries one and cannot
 * reach that launcher must stop, or the user gets N worlds of size 1 without a word. */
#include "pm/int_pm.h"

#include <stdlib.h>

#include "base/err.h"

/* Variables that hold the number of processes started together; `only_with`: believed only if that is set. */
static const struct size_mark {
    const char *variable, *only_with, *launcher, *rank_variable;
} size_marks[] = {
    { "OMPI_COMM_WORLD_SIZE", NULL, "Open MPI's mpirun", "OMPI_COMM_WORLD_RANK" },
    { "PMI_SIZE", NULL, "a PMI launcher such as MPICH's mpiexec", "PMI_RANK" },
    { "SLURM_STEP_NUM_TASKS", NULL, "Slurm's srun", "SLURM_PROCID" },
    { "FLUX_JOB_SIZE", NULL, "Flux", "FLUX_TASK_RANK" },
    { "SLURM_NTASKS", "SLURM_STEP_ID", "Slurm's srun", "SLURM_PROCID" },
};

/* Variables that tell of a launcher but not of how many. */
static const struct {
    const char *variable, *launcher;
} marks[] = {
    { "PMIX_RANK", "a PMIx launcher (prterun, mpirun of Open MPI, srun --mpi=pmix)" },
    { "PMIX_NAMESPACE", "a PMIx launcher (prterun, mpirun of Open MPI, srun --mpi=pmix)" },
    { "HYDI_CONTROL_FD", "MPICH's mpiexec (Hydra)" },
    { "PMI_FD", "a PMI launcher such as MPICH's mpiexec" },
    { "PMI_PORT", "a PMI launcher such as MPICH's mpiexec" },
    { "PALS_RANKID", "PALS (HPE Cray)" },
};

#define REMEDY "start it with Parley's own mpiexec, or set PARLEY_SINGLETON=1 to run it alone on purpose"

/* Number in variable `mark`, 0 if it says nothing. */
static long size_of(const struct size_mark *mark)
{
    const char *text = getenv(mark->variable);

    if (!text || (mark->only_with && !getenv(mark->only_with)))
        return 0;
    return strtol(text, NULL, 10);
}

static int stop(const struct size_mark *mark, long size)
{
    const char *rank = getenv(mark->rank_variable);

    return err(MPI_ERR_OTHER,
               "started by %s as process %s of %ld (%s=%s), which this library cannot reach yet; " REMEDY,
               mark->launcher, rank ? rank : "?", size, mark->variable, getenv(mark->variable));
}

int pm_foreign_launcher(void)
{
    bool is_alone = false;

    for (size_t i = 0; i < ARRAY_LEN(size_marks); i++) {
        const long size = size_of(&size_marks[i]);
        if (size_marks[i].only_with && getenv("SLURM_STEP_NUM_TASKS"))
            continue; /* the step knows better than the allocation */
        if (size > 1)
            return stop(&size_marks[i], size);
        is_alone = is_alone || size == 1;
    }
    for (size_t i = 0; i < ARRAY_LEN(marks) && !is_alone; i++)
        if (getenv(marks[i].variable))
            return err(MPI_ERR_OTHER, "started by %s (%s=%s), which this library cannot reach yet; " REMEDY,
                       marks[i].launcher, marks[i].variable, getenv(marks[i].variable));
    return 0;
}
