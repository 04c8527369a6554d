/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. What the five hidden words of a status hold (MPI 5.0 §3.2.5, §20.3.2):
 *
 *   word 0..1  bytes received, 64 bits, only 4-byte aligned (memcpy)
 *   word 2     1 if cancelled, else 0
 *   word 3     1 if the bytes are those of a message in external32 that has come from another client of a joint job and
 *              not been received: how many that is in memory, the type says; else 0
 *   word 4     unused, zero
 *
 * Elements set by MPI_Status_set_elements are kept as bytes in word 0..1. */
#ifndef OBJ_STATUS_H
#define OBJ_STATUS_H

#include <mpi.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"

enum { STATUS_CANCELLED = 2, STATUS_EXTERNAL = 3 };

static inline void status_set_bytes(MPI_Status *status, MPI_Count bytes)
{
    memcpy(&status->MPI_internal[0], &bytes, sizeof bytes);
}

static inline MPI_Count status_bytes(const MPI_Status *status)
{
    MPI_Count bytes;

    memcpy(&bytes, &status->MPI_internal[0], sizeof bytes);
    return bytes;
}

/* What has been set are bytes in external32. `status` may be MPI_STATUS_IGNORE. */
static inline void status_set_external(MPI_Status *status)
{
    if (status)
        status->MPI_internal[STATUS_EXTERNAL] = 1;
}

/* All but MPI_ERROR, which single completions leave alone (§3.2.5). `status` may be MPI_STATUS_IGNORE. */
static inline void status_set(MPI_Status *status, int source, int tag, MPI_Count bytes, bool is_cancelled)
{
    if (!status)
        return;
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    status_set_bytes(status, bytes);
    status->MPI_internal[STATUS_CANCELLED] = is_cancelled;
    status->MPI_internal[3] = status->MPI_internal[4] = 0;
}

/* The status of a null or inactive request, and of a completed send (§3.7.3). */
static inline void status_set_empty(MPI_Status *status)
{
    status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
}

/* What receiving from MPI_PROC_NULL gives (§3.10). */
static inline void status_set_proc_null(MPI_Status *status)
{
    status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
}

#endif
