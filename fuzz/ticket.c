/* SPDX-License-Identifier: BSD-3-Clause */
/* PARLEY_JOB, by which a rank finds its job: a wrapper or a user may have changed it in any way. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "fuzz.h"
#include "pm/int_pm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pm_ticket ticket;
    char *text = malloc(size + 1);
    int rc;

    memcpy(text, data, size);
    text[size] = 0;
    rc = pm_parse_ticket(text, &ticket);
    MUST(!rc || err_class(rc) == MPI_ERR_OTHER);
    if (!rc) {
        MUST(ticket.size >= 1 && ticket.rank >= 0 && ticket.rank < ticket.size);
        (void)pm_inherited(&ticket); /* looks at whatever descriptors it names, and leaves them alone */
    }
    free(text);
    return 0;
}
