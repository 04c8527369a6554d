/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: dyn. Requests to mpiexec, and what the root of a call tells the others. Knows: pm, coll. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "coll/coll.h"
#include "comm/comm.h"
#include "dyn/int_dyn.h"

struct pm_job *dyn_job;
static int (*begin_job)(const char *what);

void dyn_init(struct pm_job *job, int (*begin)(const char *what))
{
    dyn_job = job;
    begin_job = begin;
    comm_set_outside(&abroad_functions);
}

int dyn_need_job(const char *what)
{
    return dyn_job->head ? 0 : begin_job(what);
}

void request_add(struct request *request, const char *text)
{
    const size_t size = strlen(text) + 1;

    if (request->size + size > request->room && !request->is_lost) {
        char *more = mem_realloc(request->at, request->room = (request->size + size) * 2);
        request->is_lost = !more;
        request->at = more ? more : request->at;
    }
    if (request->is_lost)
        return;
    memcpy(request->at + request->size, text, size);
    request->size += size;
}

void request_add_number(struct request *request, long number)
{
    char text[24];

    snprintf(text, sizeof text, "%ld", number);
    request_add(request, text);
}

int request_send(struct request *request, unsigned kind, const char *what, struct pm_reply *reply)
{
    int rc = dyn_need_job(what);

    if (!rc && request->is_lost)
        rc = err(MPI_ERR_NO_MEM, "no memory for a request to mpiexec");
    if (!rc)
        rc = pm_ask(dyn_job, kind, request->at, request->size, what, reply);

    mem_free(request->at);
    request->at = NULL;
    return rc;
}

int finding_share(struct comm *comm, int root, const char *call, int rc, struct finding *finding)
{
    int told;

    finding->error = rc ? err_class(rc) : 0;
    comm->coll_outer = call;
    told = coll_run(comm, COLL_ARGS(COLL_BCAST, COLL_SAME(finding, sizeof *finding, obj_type(MPI_BYTE)), COLL_NOTHING,
                                    NULL, root));
    comm->coll_outer = NULL;
    if (rc || told)
        return rc ? rc : told;
    return finding->error
               ? err(finding->error, "E0339: rank %d, the root, has failed, and has been told why", root) : 0;
}
