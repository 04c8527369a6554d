/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran: choice buffers of mpi_f08, which are descriptors (MPI 5.0 §19.1.12). An array section with gaps is handed to
 * C either as a datatype that has the same elements at their places, or, where a call is done with its buffers when
 * it returns, as a copy without gaps that is written back.
 * Knows: convert.h, ISO_Fortran_binding.h. Does not know: the routines. */
#ifndef FORTRAN_SECTION_H
#define FORTRAN_SECTION_H

#include <ISO_Fortran_binding.h>

#include "convert.h"

/* What may be done with a buffer. */
enum {
    SECTION_OUT = 1,   /* the call writes into it */
    SECTION_TYPE = 2,  /* (count, datatype) describes it alone and whole: a datatype may take their place */
    SECTION_COPY = 4,  /* when the call returns the buffer is done with */
};

struct section {
    int rc;                 /* an error, raised already */
    void *base;             /* for C */
    MPI_Count count;        /* 1, when a datatype was made; else as it was */
    MPI_Datatype type;      /* the same */
    MPI_Datatype made;      /* to be freed, or MPI_DATATYPE_NULL */
    char *copy;             /* to be freed, or NULL */
    const CFI_cdesc_t *array; /* to write the copy back to, or NULL */
};

/* Before the call, for the call: base, count and type; `how` of SECTION_*. */
void section_open(struct section *section, const CFI_cdesc_t *array, int how, MPI_Count count, MPI_Datatype type);
/* After the call, whatever came of it. */
void section_finish(struct section *section);

static inline void section_close(struct section *section)
{
    if (UNLIKELY(section->made != MPI_DATATYPE_NULL || section->copy))
        section_finish(section);
}

#endif
