/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. glibc calls constructors with the arguments of main; other C libraries with nothing. */
#include "sys/args.h"

#include <stdlib.h>

static struct {
    int argc;
    char **argv;
} args;

#ifdef __GLIBC__
__attribute__((constructor)) static void remember(int argc, char **argv)
{
    args.argc = argc;
    args.argv = argv;
}
#endif

int args_get(char ***argv)
{
    *argv = args.argv;
    return args.argc;
}
