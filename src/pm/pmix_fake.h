/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: pm. What the made up libpmix (tests/pmix) and the unit test that has it opened share. */
#ifndef PM_PMIX_FAKE_H
#define PM_PMIX_FAKE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "pm/pmix_abi.h"

enum { FAKE_ENTRIES = 32 };

struct fake_entry {
    bool is_put;
    _Atomic bool is_known;
    uint32_t rank;
    char key[64], value[512];
};

struct fake_job {
    int size, per_node;    /* processes, and how many are told to be on each node; 0: nothing is told */
    char quirk[16];        /* what goes wrong; empty: nothing */
    _Atomic int waiting, round, reserved, finalized, aborted;
    struct fake_entry entry[FAKE_ENTRIES];
};

#endif
