/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Call sites by unwinding the stack. backtrace() opens libgcc_s itself when it is first called, so the
 * library still needs libc only. */
#include "sys/callsite.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { FRAMES = 64 };

/* What is ours. In the shared library that is the whole file. In the archive all code stands in one section, which
 * scripts/make-archive gives the name of the one that callsite_find is in: the linker marks its ends. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));
extern const char __start_parley_text[] __attribute__((visibility("hidden")));
extern const char __stop_parley_text[] __attribute__((visibility("hidden")));

static struct {
    const char *start, *stop;
} other; /* of another library that stands on this one */

void callsite_also_own(const void *start, const void *stop)
{
    other.start = start;
    other.stop = stop;
}

static bool is_within(uintptr_t address, const char *start, const char *stop)
{
    return address >= (uintptr_t)start && address < (uintptr_t)stop;
}

/* A return address may be one past the end of its function. */
static bool is_own(const void *address)
{
    const bool is_archive = is_within((uintptr_t)is_within, __start_parley_text, __stop_parley_text);

    if (is_within((uintptr_t)address - 1, other.start, other.stop))
        return true;
    return is_archive ? is_within((uintptr_t)address - 1, __start_parley_text, __stop_parley_text)
                      : is_within((uintptr_t)address - 1, __ehdr_start, etext);
}

/* Of a tool that stands between the program and the library (MPI 5.0 §15.2), if it is a library of its own, or of the
 * functions that Fortran programs call, with what these call in their library. */
static bool is_between(const void *address)
{
    static const char *const fortran[] = { "/libmpifort_abi.so", "/libmpi_mpifh.so", "/libmpi_usempif08.so",
                                           "/libmpifort.so", "/libmpichfort.so" };
    Dl_info info;

    if (!dladdr((const char *)address - 1, &info))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(fortran); i++)
        if (info.dli_fname && strstr(info.dli_fname, fortran[i]))
            return true;
    return info.dli_sname && !strncasecmp(info.dli_sname, "MPI_", 4);
}

__attribute__((section("parley_text"))) uint64_t callsite_find(void)
{
    void *frames[FRAMES];
    const int count = backtrace(frames, FRAMES);
    int i = 0;

    while (i < count && !is_own(frames[i])) /* a sanitizer's backtrace */
        i++;
    while (i < count && (is_own(frames[i]) || is_between(frames[i])))
        i++;
    return i < count ? (uintptr_t)frames[i] : 0;
}

__attribute__((section("parley_text"))) uint64_t callsite_of(const void *caller)
{
    return is_own(caller) || is_between(caller) ? callsite_find() : (uintptr_t)caller;
}

/* A program that is not position independent has absolute addresses. */
static uintptr_t base_of(const Dl_info *info)
{
    const ElfW(Ehdr) *head = info->dli_fbase;

    return head->e_type == ET_EXEC ? 0 : (uintptr_t)head;
}

bool callsite_name(uint64_t address, char *text, size_t size)
{
    const uintptr_t inside = (uintptr_t)address - 1;
    Dl_info info;
    const char *slash;

    if (!address || !dladdr((void *)inside, &info) || !info.dli_fname || !*info.dli_fname)
        return false;
    slash = strrchr(info.dli_fname, '/');
    snprintf(text, size, "%s+0x%lx", slash ? slash + 1 : info.dli_fname,
             (unsigned long)(inside - base_of(&info)));
    return true;
}
