/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. glibc calls what stands in .init_array with the arguments of main; other C libraries with nothing. No
 * attribute `constructor`: the link-time optimiser puts several of these into one function, and the arguments are
 * lost. */
#include "sys/args.h"

#include <stdlib.h>

static struct {
    int argc;
    char **argv;
} args;

#ifdef __GLIBC__
static void remember(int argc, char **argv)
{
    args.argc = argc;
    args.argv = argv;
}

__attribute__((section(".init_array"), used)) static void (*const at_start)(int argc, char **argv) = remember;
#endif

int args_get(char ***argv)
{
    *argv = args.argv;
    return args.argc;
}
