/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: reaching other machines. */
#ifndef LAUNCH_REMOTE_H
#define LAUNCH_REMOTE_H

#include <stdbool.h>
#include <stddef.h>

struct options;
struct strings;

/* What mpiexec --version says: only the same one is run on other machines. */
#define REMOTE_VERSION "mpiexec (Parley) " PARLEY_VERSION

/* May --launcher have this value? */
bool remote_is_way(const char *name);

/* The command that runs mpiexec with that option on the machine and connects us with its stdin, stdout and stderr. A
 * line "PARLEY-SEND MACHINE" on its stdout means that it is not there: then our own file is to be sent before anything
 * else. */
void remote_command(const struct options *options, const char *target, const char *option, struct strings *words);
#define REMOTE_SEND "PARLEY-SEND "
/* Can a machine of that kind (uname -m) run our file? */
bool remote_is_alike(const char *machine);
/* What our file holds; NULL: it cannot be read. The caller's. */
char *remote_own_file(size_t *size);

#endif
