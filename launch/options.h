/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: what the unit test of the command line needs besides launch.h. */
#ifndef LAUNCH_OPTIONS_H
#define LAUNCH_OPTIONS_H

struct strings;

/* Cut `line` into words in place, as a shell does; # begins a comment. */
void options_split(char *line, struct strings *words);

#endif
