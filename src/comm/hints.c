/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. Hints (MPI 5.0 §7.4.4): the assertions of the standard are kept and told, a bit each; other keys are
 * ignored. A duplicate starts without those of the old one. One of them changes something: where messages may overtake,
 * a blocking receive takes its message before receives that are posted. The matcher finds out by itself which kinds of
 * wildcards there are, and a length has to be looked at anyway. */
#include <string.h>

#include "base/err.h"
#include "comm/int_comm.h"
#include "obj/info.h"

enum { ALLOW_OVERTAKING = 1 << 3 };

static const char *const assertions[] = {
    "mpi_assert_no_any_tag",
    "mpi_assert_no_any_source",
    "mpi_assert_exact_length",
    "mpi_assert_allow_overtaking",
    "mpi_assert_strict_persistent_collective_ordering",
};

void comm_set_info(struct comm *comm, struct info *info)
{
    for (unsigned i = 0; i < ARRAY_LEN(assertions); i++) {
        const uint8_t bit = (uint8_t)(1u << i);
        char value[8];
        size_t length;
        int flag = 0;

        info_get(info, assertions[i], sizeof value, value, &length, &flag);
        if (flag && !strcmp(value, "true"))
            atomic_fetch_or_explicit(&comm->hints, bit, memory_order_relaxed);
        if (flag && !strcmp(value, "false"))
            atomic_fetch_and_explicit(&comm->hints, (uint8_t)~bit, memory_order_relaxed);
    }
    comm->may_overtake = comm->hints & ALLOW_OVERTAKING;
}

int comm_get_info(const struct comm *comm, struct info **out)
{
    int rc = info_create(out);

    if (rc)
        return rc;
    for (unsigned i = 0; i < ARRAY_LEN(assertions) && !rc; i++)
        rc = info_set(*out, assertions[i], comm->hints >> i & 1 ? "true" : "false");
    if (!rc)
        rc = info_set(*out, "mpi_memory_alloc_kinds", comm_memory_kinds(comm));
    if (rc) {
        info_unref(*out);
        *out = NULL;
    }
    return rc;
}

int comm_with_info(int rc, struct info *info, struct comm **made)
{
    if (!rc && info && *made)
        comm_set_info(*made, info);
    return rc;
}
