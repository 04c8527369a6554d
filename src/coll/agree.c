/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Do all processes get on with a call, and with the same argument? For rooms whose calls are collective, so
 * that a mistake of one process is an error of all and nobody is left waiting. */
#include "base/err.h"
#include "coll/coll.h"
#include "op/op.h"

int coll_agree(struct comm *comm, const char *call, int rc, uint64_t value, struct coll_agreement *out)
{
    /* Maxima: of the errors and who has them, of the value, and of its complement, which gives the minimum. */
    uint64_t seen[3] = { rc ? (uint64_t)err_class(rc) << 32 | (uint32_t)comm->rank : 0, value, ~value };
    struct type *type = obj_type(MPI_UINT64_T);
    int failed;

    comm->coll_outer = call;
    failed = coll_run(comm, COLL_ARGS(COLL_ALLREDUCE, COLL_SAME(MPI_IN_PLACE, 3, type), COLL_SAME(seen, 3, type),
                                      obj_op(MPI_MAX), 0));
    comm->coll_outer = NULL;
    *out = (struct coll_agreement){ (int)(seen[0] >> 32), (int)(uint32_t)seen[0], seen[1] == ~seen[2] };
    return rc ? rc : failed;
}
