/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Under valgrind the buffer of a receive that MPI_Irecv has posted is out of bounds until its message comes:
 * who reads or writes it too early is told so, with the line. Costs nothing otherwise, not even a branch on the way of
 * a message: valgrind itself puts the functions below around MPI_Irecv, by their names, and such a request pretends to
 * have no room, so that its message takes the path of those that do not fit. Not for persistent and blocking receives.
 */
#include "base/memcheck.h"
#include "p2p/int_p2p.h"

#if __has_include(<valgrind/valgrind.h>) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <valgrind/valgrind.h>
#define HAS_VALGRIND
#endif

void recv_show(struct p2p_req *r)
{
    r->mode &= (uint8_t)~P2P_HIDDEN;
    r->len = r->wanted;
    memcheck_show(r->buf, r->len, (void *)(uintptr_t)r->remote_address);
}

#ifdef HAS_VALGRIND

/* Only what is still posted, one run, and a plain request; not where a device may write to it at any time. */
static void recv_hide(struct p2p_req *r)
{
    struct lane *lane = r->channel->lane;
    void *saved = NULL;

    lane_lock(lane);
    if (!lane->offload && match_is_posted(&r->match) && r->type->is_contig && r->len)
        saved = memcheck_hide(r->buf, r->len);
    if (saved) {
        r->wanted = r->len;
        r->len = 0;
        r->remote_address = (uintptr_t)saved;
        r->mode |= P2P_HIDDEN;
        r->is_special = true;
    }
    lane_unlock(lane);
}

static void hide_request(const MPI_Request *request)
{
    struct req *req = obj_request(*request);

    if (req && !req->is_send && !req->is_persistent && req->ops && req->ops->start == request_start)
        recv_hide((struct p2p_req *)(void *)req);
}

#define WRAP(name, count_type) \
    int I_WRAP_SONAME_FNNAME_ZZ(libmpiZuabiZdsoZd1, name)(void *buf, count_type count, MPI_Datatype type, int source, \
                                                          int tag, MPI_Comm comm, MPI_Request *request); \
    __attribute__((used, externally_visible)) \
    int I_WRAP_SONAME_FNNAME_ZZ(libmpiZuabiZdsoZd1, name)(void *buf, count_type count, MPI_Datatype type, int source, \
                                                          int tag, MPI_Comm comm, MPI_Request *request) \
    { \
        OrigFn original; \
        int rc; \
        VALGRIND_GET_ORIG_FN(original); \
        CALL_FN_W_7W(rc, original, buf, count, type, source, tag, comm, request); \
        if (rc == MPI_SUCCESS) \
            hide_request(request); \
        return rc; \
    }

WRAP(PMPIZuIrecv, int)
WRAP(PMPIZuIrecvZuc, MPI_Count)

#endif
