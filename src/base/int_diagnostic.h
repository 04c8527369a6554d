/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: base, private. The table that gen_diagnostics.py makes of diagnostics.txt. */
#ifndef BASE_INT_DIAGNOSTIC_H
#define BASE_INT_DIAGNOSTIC_H

#include <stddef.h>

struct remedy {
    int id;
    const char *text; /* NULL: none */
};

extern const struct remedy remedies[]; /* by rising id */
extern const size_t remedy_count;

#endif
