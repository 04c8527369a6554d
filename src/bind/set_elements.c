/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: bind. The one function on statuses that is more than a field (MPI 5.0 §13.3). */
#include "bind/bind.h"

#include "obj/status.h"
#include "type/type.h"

int bind_set_elements(MPI_Status *status, const struct type *type, MPI_Count count)
{
    MPI_Count bytes;
    const int rc = type_element_bytes(type, count, &bytes);

    if (rc)
        return rc;
    status_set_bytes(status, bytes);
    status->MPI_internal[STATUS_EXTERNAL] = 0;
    return 0;
}
