/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. p4_dprintf and its levels; versions. These write to standard output, for that is what programs use
 * them for. */
#include <stdarg.h>

#include "p4/int_p4.h"

static void PRINTF_LIKE(2, 0) print(const char *level, const char *format, va_list args)
{
    flockfile(stdout);
    printf("%s: %s", *p4_own.who ? p4_own.who : "p4", level);
    vprintf(format, args);
    fflush(stdout);
    funlockfile(stdout);
}

void p4_dprintf(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    print("", fmt, args);
    va_end(args);
}

void p4_dprintfl(int level, const char *fmt, ...)
{
    char shown[16];
    va_list args;

    if (level > p4_own.debug_level)
        return;
    snprintf(shown, sizeof shown, "%d: ", level);
    va_start(args, fmt);
    print(shown, fmt, args);
    va_end(args);
}

int p4_get_dbg_level(void)
{
    return p4_own.debug_level;
}

void p4_set_dbg_level(int level)
{
    p4_own.debug_level = level;
}

char *p4_version(void)
{
    static char version[] = "1.4b";

    return version;
}

char *p4_machine_type(void)
{
    static char machine[] = "LINUX";

    return machine;
}
