/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran: see addresses.h. Where addresses count from is settled once: from 0 by the first one that is told and needs
 * no INTEGER or fits one, else by MPI_ADDRESS.
 * Knows: convert.h. */
#include "addresses.h"

#include <limits.h>
#include <pthread.h>

static struct {
    pthread_mutex_t lock;
    bool is_settled; /* guarded by lock; fortran_bottom changes once, with it */
} origin = { .lock = PTHREAD_MUTEX_INITIALIZER };

_Atomic(char *) fortran_bottom = MPI_BOTTOM;

static bool fits(MPI_Aint value)
{
    return value >= INT_MIN && value <= INT_MAX;
}

/* Static data of the program, and mostly its heap, lie around the common blocks; stacks and libraries do not. */
static char *place_near(MPI_Aint address)
{
    char *const common = common_place();

    return fits(address - (MPI_Aint)common) ? common : (char *)address;
}

MPI_Aint address_to(MPI_Aint address)
{
    pthread_mutex_lock(&origin.lock);
    origin.is_settled = true;
    pthread_mutex_unlock(&origin.lock);
    return address - (MPI_Aint)fortran_bottom;
}

bool short_address_to(int *number, MPI_Aint address)
{
    MPI_Aint from_bottom;

    pthread_mutex_lock(&origin.lock);
    if (!origin.is_settled && !fits(address))
        fortran_bottom = place_near(address);
    origin.is_settled = true;
    from_bottom = address - (MPI_Aint)fortran_bottom;
    pthread_mutex_unlock(&origin.lock);
    if (fits(from_bottom))
        *number = (int)from_bottom;
    return fits(from_bottom);
}
