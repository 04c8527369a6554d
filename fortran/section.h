/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran: choice buffers of mpi_f08, which are descriptors (MPI 5.0 §19.1.12). An array section with gaps is handed to
 * C either as a datatype that has the same elements at their places, or as a copy without gaps. The copy of a buffer
 * that the call is not done with when it returns stays until the request is complete.
 * Knows: convert.h, ISO_Fortran_binding.h. Does not know: the routines. */
#ifndef FORTRAN_SECTION_H
#define FORTRAN_SECTION_H

#include <ISO_Fortran_binding.h>

#include "convert.h"

/* What may be done with a buffer. */
enum {
    SECTION_OUT = 1,    /* the call writes into it */
    SECTION_TYPE = 2,   /* (count, datatype) describes it alone and whole: a datatype may take their place */
    SECTION_COPY = 4,   /* a copy may take its place, */
    SECTION_KEEP = 8,   /* which stays after the call: by section_keep */
    SECTION_FIRST = 16, /* one item is used, and neither count nor datatype may change */
};

struct section_copy;

struct section {
    int rc;                    /* an error, raised already */
    void *base;                /* for C */
    MPI_Count count;           /* 1, when a datatype was made; else as it was */
    MPI_Datatype type;         /* the same */
    MPI_Datatype made;         /* to be freed, or MPI_DATATYPE_NULL */
    struct section_copy *copy; /* to be written back and freed, or NULL */
};

/* Before the call, for the call: base, count and type; `how` of SECTION_*. */
void section_open(struct section *section, const CFI_cdesc_t *array, int how, MPI_Count count, MPI_Datatype type);
/* The same of a partitioned message. Base, count and type stay; the request hears of the gaps afterwards. */
void section_open_parts(struct section *section, const CFI_cdesc_t *array, int partitions, MPI_Count count,
                        MPI_Datatype type);
/* Memory that MPI gets for longer than a call must have no gaps (§12.2.1): 0, or an error, raised already. */
int section_refuse(const CFI_cdesc_t *array);
/* After the call, whatever came of it. */
void section_finish(struct section *section);

/* Before that: what the call has begun, if it returned 0, goes on with the copies of its sections. `more` may be
 * NULL. */
void section_keep(MPI_Request request, int rc, struct section *section, struct section *more);
void section_keep_split(MPI_File file, int rc, struct section *section);
void section_lay_out(MPI_Request request, int rc, const struct section *section);

static inline void section_close(struct section *section)
{
    if (UNLIKELY(section->made != MPI_DATATYPE_NULL || section->copy))
        section_finish(section);
}

#endif
