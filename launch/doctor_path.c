/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec --doctor: other MPIs. A program of one MPI under the mpiexec of another is the first thing to look for when
 * every process says that it is alone. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "doctor.h"
#include "launch.h"

/* Whose file that is, as far as its real name tells. */
static const char *family_of(const char *path)
{
    static const struct {
        const char *part, *family;
    } known[] = {
        { "hydra", "MPICH or Intel MPI" }, { "mpich", "MPICH" }, { "orte", "Open MPI" }, { "prte", "Open MPI" },
        { "opal_wrapper", "Open MPI" }, { "openmpi", "Open MPI" }, { "impi", "Intel MPI" }, { "mvapich", "MVAPICH" },
    };

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strstr(path, known[i].part))
            return known[i].family;
    return "another MPI";
}

/* The first file `name` in the directories `dirs` that may be read, by its real name in `path` (PATH_MAX). */
static bool find(const char *dirs, const char *name, char *path)
{
    char given[PATH_MAX];

    for (size_t length; dirs && *dirs; dirs += length + (dirs[length] == ':')) {
        length = strcspn(dirs, ":");
        snprintf(given, sizeof given, "%.*s/%s", (int)length, length ? dirs : ".", name);
        if (realpath(given, path))
            return true;
    }
    return false;
}

/* What the shell takes for `name`: ours, another one's, or nothing. */
static void look_for_program(const char *name, const char *own)
{
    const char *dirs = getenv("PATH");
    char path[PATH_MAX];
    const size_t length = strlen(own);

    if (!find(dirs, name, path))
        doctor_say(DOCTOR_OK, name, "not in PATH", "call it as %s/%s, or put that directory into PATH", own, name);
    else if (!strncmp(path, own, length) && path[length] == '/')
        doctor_say(DOCTOR_OK, name, "this one", "found by its name");
    else
        doctor_say(DOCTOR_NOTE, name, family_of(path), "PATH leads to %s first\nthis one is %s/%s", path, own, name);
}

/* An MPI library in LD_LIBRARY_PATH goes before the one that a program was linked with. */
static void look_for_library(void)
{
    static const char *const places[] = { "/../" LIBDIR "/libmpi_abi.so.1", "/../src/libmpi_abi.so.1" };
    const char *dirs = getenv("LD_LIBRARY_PATH");
    char path[PATH_MAX], ours[PATH_MAX], given[OWN_FILE_SIZE];

    if (!find(dirs, "libmpi_abi.so.1", path) && !find(dirs, "libmpi_abi.so.0", path)) {
        doctor_say(DOCTOR_OK, "libmpi_abi", "as linked", "LD_LIBRARY_PATH leads to no other one");
        return;
    }
    if (own_file(places, ARRAY_LEN(places), given) && realpath(given, ours) && !strcmp(ours, path))
        doctor_say(DOCTOR_OK, "libmpi_abi", "this one", "by LD_LIBRARY_PATH");
    else
        doctor_say(DOCTOR_NOTE, "libmpi_abi", "by LD_LIBRARY_PATH",
                   "programs load %s first, not\nwhat they were linked with", path);
}

void doctor_paths(void)
{
    char own[PATH_MAX];

    own_directory(own);
    look_for_program("mpiexec", own);
    look_for_program("mpicc", own);
    look_for_library();
}
