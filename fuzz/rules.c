/* SPDX-License-Identifier: BSD-3-Clause */
/* A file of rules for collective algorithms: it is refused with a line, or every rule in it names an algorithm that
 * does its operation, with a parameter that it takes. */
#include "coll/rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1); /* the end is not marked: what reads beyond it is seen by the sanitizer */
    const long live = mem_live();
    struct rules rules;
    int rc;

    memcpy(text, data, size);
    rc = coll_rules_parse(text, size, "fuzz", &rules);
    MUST(!rc || err_id(rc) == 731);
    for (int i = 0; !rc && i < rules.count; i++) {
        const struct rule *rule = &rules.all[i];
        const struct coll_algorithm *algorithm = rule->choice.algorithm;

        MUST(algorithm->operations >> rule->operation & 1);
        MUST(!algorithm->parameter_name || (rule->choice.parameter >= algorithm->least &&
                                            rule->choice.parameter <= algorithm->most));
    }
    if (!rc)
        coll_rules_free(&rules);
    MUST(mem_live() == live);
    free(text);
    return 0;
}
