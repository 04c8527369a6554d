/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: pm. The marks that other launchers leave in the environment. A process that carries one and cannot
 * reach that launcher must stop, or the user gets N worlds of size 1 without a word. */
#include "pm/int_pm.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* What the launcher should have offered. */
#define OFFERS_NONE "it has offered neither PMI-1 (PMI_FD or PMI_PORT) nor PMIx (PMIX_NAMESPACE, PMIX_RANK and " \
                    "PMIX_SERVER_URI...), the protocols that this library speaks"
#define SRUN_DOES OFFERS_NONE "; srun --mpi=pmix and srun --mpi=pmi2 do"

/* Variables that hold the number of processes started together; `only_with`: believed only if that is set. Those that
 * do not outlive the launcher's own processes (is_inner) come first. */
static const struct size_mark {
    const char *variable, *only_with, *launcher, *rank_variable, *offer;
    bool is_inner;
} size_marks[] = {
    { "OMPI_COMM_WORLD_SIZE", NULL, "Open MPI's mpirun", "OMPI_COMM_WORLD_RANK", OFFERS_NONE, true },
    { "PMI_SIZE", NULL, "a PMI launcher such as MPICH's mpiexec", "PMI_RANK", OFFERS_NONE, true },
    { "JSM_NAMESPACE_SIZE", NULL, "IBM's jsrun", "JSM_NAMESPACE_RANK", OFFERS_NONE, true },
    { "SLURM_STEP_NUM_TASKS", NULL, "Slurm's srun", "SLURM_PROCID", SRUN_DOES, false },
    { "FLUX_JOB_SIZE", NULL, "Flux", "FLUX_TASK_RANK", OFFERS_NONE, false },
    { "SLURM_NTASKS", "SLURM_STEP_ID", "Slurm's srun", "SLURM_PROCID", SRUN_DOES, false },
    { "LSB_DJOB_NUMPROC", "LSF_PM_TASKID", "LSF's blaunch", "LSF_PM_TASKID", OFFERS_NONE, false },
};

/* Variables that tell of a launcher but not of how many. */
static const struct mark {
    const char *variable, *launcher, *offer;
    bool is_inner;
} marks[] = {
    { "PMIX_RANK", "a PMIx launcher (prterun, mpirun of Open MPI, srun --mpi=pmix)", OFFERS_NONE, true },
    { "PMIX_NAMESPACE", "a PMIx launcher (prterun, mpirun of Open MPI, srun --mpi=pmix)", OFFERS_NONE, true },
    { "PRTE_LAUNCHED", "PRRTE (prterun)", OFFERS_NONE, true },
    { "HYDI_CONTROL_FD", "MPICH's mpiexec (Hydra)", OFFERS_NONE, true },
    { "PMI_RANK", "a PMI launcher such as MPICH's mpiexec", OFFERS_NONE, true },
    { "PALS_RANKID", "PALS (HPE Cray)", OFFERS_NONE, false },
};

#define REMEDY "start it with Parley's own mpiexec, or set PARLEY_SINGLETON=1 to run it alone on purpose"

/* Parley's mpiexec sets some of them, too, for scripts that know them: then they say what our own variable says. */
static const char *const shared[][2] = {
    { "OMPI_COMM_WORLD_SIZE", "PARLEY_SIZE" },
    { "PMI_SIZE", "PARLEY_SIZE" },
    { "PMI_RANK", "PARLEY_RANK" },
};

/* What a launcher of somebody else's has set; NULL: nothing. */
static const char *foreign_value(const char *variable)
{
    const char *value = getenv(variable), *own;

    for (size_t i = 0; value && i < ARRAY_LEN(shared); i++) {
        own = getenv(shared[i][1]);
        if (own && !strcmp(variable, shared[i][0]) && !strcmp(value, own))
            return NULL;
    }
    return value;
}

/* Number in variable `mark`, 0 if it says nothing. */
static long size_of(const struct size_mark *mark)
{
    const char *text = foreign_value(mark->variable);

    if (!text || (mark->only_with && !getenv(mark->only_with)))
        return 0;
    return strtol(text, NULL, 10);
}

static int stop(const struct size_mark *mark, long size)
{
    const char *rank = getenv(mark->rank_variable);

    return err(MPI_ERR_OTHER,
               "E0315: started by %s as process %s of %ld (%s=%.50s), which Parley cannot join: %s; " REMEDY,
               mark->launcher, rank ? rank : "?", size, mark->variable, getenv(mark->variable), mark->offer);
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
        if (foreign_value(marks[i].variable))
            return err(MPI_ERR_OTHER, "E0315: started by %s (%s=%.50s), which Parley cannot join: %s; " REMEDY,
                       marks[i].launcher, marks[i].variable, getenv(marks[i].variable), marks[i].offer);
    return 0;
}

bool pm_foreign_inside(void)
{
    for (size_t i = 0; i < ARRAY_LEN(size_marks); i++)
        if (size_marks[i].is_inner && foreign_value(size_marks[i].variable))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (marks[i].is_inner && foreign_value(marks[i].variable))
            return true;
    return false;
}
