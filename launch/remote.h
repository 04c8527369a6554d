/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: reaching other machines. */
#ifndef LAUNCH_REMOTE_H
#define LAUNCH_REMOTE_H

#include <stdbool.h>

/* May --launcher have this value? */
bool remote_is_way(const char *name);

#endif
