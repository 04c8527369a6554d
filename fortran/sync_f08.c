/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran: MPI_F_sync_reg of mpi_f08 (MPI 5.0 §19.1.8). Compiled twice, as the generated routines.
 * Knows: routines.h, section.h. */
#include "routines.h"
#include "section.h"

/* The call alone is what it is for. */
void NAME(f_sync_reg_f08ts_)(const CFI_cdesc_t *buf);
void NAME(f_sync_reg_f08ts_)(const CFI_cdesc_t *buf)
{
    (void)buf;
}
