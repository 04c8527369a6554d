/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll, private. Rules: which algorithm under which conditions. A readable text, a rule a line:
 *
 *   operation condition... algorithm[:parameter]      # comment
 *
 * A condition is `ranks`, `nodes`, `node_ranks` (on the node that has most) or `bytes`, one of < <= = >= >, and a
 * number (with k or m), without blanks; or one of the words commutative, ordered (the operator does not commute),
 * in_place, out_of_place, crowded, spacious. Of the rules for an operation the first one holds whose conditions are met
 * and whose algorithm can do it. */
#ifndef COLL_RULES_H
#define COLL_RULES_H

#include "coll/int_call.h"

enum { RULES_NUMBERS = 4 };

struct rule {
    enum coll_operation operation;
    uint64_t least[RULES_NUMBERS], most[RULES_NUMBERS]; /* ranks, nodes, bytes, node_ranks */
    int8_t commutative, in_place, crowded;              /* 1: only with, 0: only without, -1: both */
    struct coll_choice choice;
};

struct rules {
    struct rule *all;                /* by operations; owned */
    int count;
    int first[COLL_OPERATIONS + 1];
};

/* Read a text of `len` bytes, called `name` in messages. Errors: MPI_ERR_OTHER with name and line, MPI_ERR_NO_MEM;
 * nothing is kept then. */
int coll_rules_parse(const char *text, size_t len, const char *name, struct rules *rules);
void coll_rules_free(struct rules *rules);
/* rules.txt, which is built in. */
extern const char coll_default_rules[];
/* False: no rule holds. */
bool coll_rules_find(const struct rules *rules, const struct coll_shape *shape, struct coll_choice *choice);

#endif
