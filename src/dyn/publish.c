/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: dyn. Names of services (MPI 5.0 §11.9.4): mpiexec has the book of them, for all processes that it has
 * started. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "dyn/int_dyn.h"
#include "sys/control.h"

static int tell(unsigned kind, const char *what, const char *service, const char *port)
{
    struct request request = { 0 };
    struct pm_reply reply;

    if (strnlen(port, MPI_MAX_PORT_NAME) == MPI_MAX_PORT_NAME)
        return err(MPI_ERR_PORT, "port_name has %zu characters; it may have %d", strlen(port), MPI_MAX_PORT_NAME - 1);
    request_add(&request, service);
    request_add(&request, port);
    return request_send(&request, kind, what, &reply);
}

int dyn_publish(const char *service, const char *port)
{
    return tell(CONTROL_PUBLISH, "publishing a service", service, port);
}

int dyn_unpublish(const char *service, const char *port)
{
    return tell(CONTROL_UNPUBLISH, "publishing a service", service, port);
}

int dyn_lookup(const char *service, char *port)
{
    struct request request = { 0 };
    struct pm_reply reply;
    int rc;

    request_add(&request, service);
    rc = request_send(&request, CONTROL_LOOKUP, "looking up a service", &reply);
    if (!rc)
        snprintf(port, MPI_MAX_PORT_NAME, "%s", reply.text);
    return rc;
}
