/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. Hints (MPI 5.0 §14.2.8): what a user may ask for, and what is in use. */
#ifndef IO_FILE_HINTS_H
#define IO_FILE_HINTS_H

#include <mpi.h>
#include <stdbool.h>

#include "obj/info.h"

enum io_collective { IO_COLLECTIVE_AUTOMATIC, IO_COLLECTIVE_ALWAYS, IO_COLLECTIVE_NEVER };

struct io_hints {
    enum io_collective reads, writes; /* whether collective calls exchange data between processes */
    int aggregators;                  /* processes that access the file in such a call: cb_nodes; … */
    int machine_aggregators;          /* … on one machine not more than these: cb_config_list */
    int machines;                     /* where the processes are */
    size_t buffer;                    /* bytes of each one's buffer: cb_buffer_size */
    MPI_Count block;                  /* their parts of the file begin at multiples of it: cb_block_size */
    int striping_factor;
    MPI_Count striping_unit;
    int permissions;                  /* of a file that is created, before the umask; file_perm */
    char access_style[64];            /* as told; "": nothing */
};

enum { IO_BUFFER = 4 << 20, IO_BUFFER_MIN = 4096, IO_BUFFER_MAX = 1 << 30 };

/* Those that hold without any, for so many processes on so many machines. */
void io_hints_init(struct io_hints *hints, int procs, int machines);
/* Take over from `info`, which may be NULL, what means something. */
void io_hints_read(struct io_hints *hints, struct info *info, int procs);
/* Put all into `info`. Error: MPI_ERR_NO_MEM. */
int io_hints_tell(const struct io_hints *hints, const char *filename, int procs, struct info *info);

#endif
