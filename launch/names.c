/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the book of services that ranks have published (MPI 5.0 §11.9.4): their names and ports, in a list. */
#include <string.h>

#include "base/mem.h"
#include "launch.h"

struct name **names_find(struct name **names, const char *service)
{
    while (*names && strcmp((*names)->service, service) != 0)
        names = &(*names)->next;
    return *names ? names : NULL;
}

void names_add(struct name **names, const char *service, const char *port, int owner)
{
    struct name *name = need(sizeof *name);

    *name = (struct name){ *names, need_text(service), need_text(port), owner };
    *names = name;
}

void names_remove(struct name **place)
{
    struct name *name = *place;

    *place = name->next;
    mem_free(name->service);
    mem_free(name->port);
    mem_free(name);
}

void names_drop(struct name **names, int owner)
{
    while (*names)
        if ((*names)->owner == owner)
            names_remove(names);
        else
            names = &(*names)->next;
}
