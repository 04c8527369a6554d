/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: from an address in a process to a line of its source. */
#ifndef LAUNCH_SOURCE_H
#define LAUNCH_SOURCE_H

#include <stdint.h>

/* Where in its program process `pid` made the call that returns to `address` (see sys/callsite.h): "app.c:88" if there
 * is debug information and a tool that reads it, else "app+0x1233": the file, and the place in it as
 * addr2line -e app takes it. NULL: address 0, no such process, or no file there. The process must still be there: say
 * it while it waits for its acknowledgement, or is blocked.
 *
 * May run addr2line, eu-addr2line or llvm-addr2line, and wait for it: up to 5 s, but after one that was not in time
 * none is run again. The same place is looked up once. The result stays valid. */
const char *source_line(int pid, uint64_t address);

#endif
