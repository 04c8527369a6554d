/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Where in the user's program a call of MPI stands, for messages. The launcher makes file and line of it
 * (launch/source.h). */
#ifndef SYS_CALLSITE_H
#define SYS_CALLSITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/* The return address of the call of MPI that this thread is in: the innermost on its stack that is not the library's
 * own, nor of a profiling tool or of Fortran (exported functions called MPI_... or mpi_...); in a callback of the
 * user's that calls MPI again, that call. 0: unknown, as without unwind tables. Takes microseconds, the first time a
 * tenth of a millisecond or more (libgcc_s is opened, memory is allocated): for slow paths only, and not for what may
 * run in a signal handler. */
uint64_t callsite_find(void) COLD;

/* The same for a call whose return address is known. When that is the program's, as without Fortran, doors and tools,
 * it may run in a signal handler; else only if something has called backtrace() before, which takes memory the first
 * time. */
uint64_t callsite_of(const void *caller) COLD;

/* The code from `start` to `stop` is no program's either: another library on this engine, one in a process. Before any
 * of the others is called. */
void callsite_also_own(const void *start, const void *stop);

/* "app+0x1233" into `text`: the file that the call at return address `address` is in, and where in it, in addresses
 * of that file (addr2line -e app 0x1233). False: no file is known there. */
bool callsite_name(uint64_t address, char *text, size_t size) COLD;

#endif
