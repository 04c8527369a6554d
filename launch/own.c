/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: what lies beside it, in an installation or in a build folder. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launch.h"

void own_directory(char *path)
{
    const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);

    path[length > 0 ? length : 0] = 0;
    if (strrchr(path, '/'))
        *strrchr(path, '/') = 0;
}

bool own_file(const char *const *places, size_t count, char *path)
{
    char own[PATH_MAX];

    own_directory(own);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, OWN_FILE_SIZE, "%s%s", own, places[i]);
        if (!access(path, R_OK))
            return true;
    }
    return false;
}
