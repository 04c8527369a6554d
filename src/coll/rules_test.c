/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules: reading them, faults with their lines (E0731), the first one that holds and can; the settings that name files
 * (E0730), operations (E0732) and algorithms (E0733, E0734); the choice of reproducible reductions. */
#include "coll/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "op/op.h"

static char text[ERR_TEXT_SIZE];

static int parse(const char *rules_text, struct rules *rules)
{
    return coll_rules_parse(rules_text, strlen(rules_text), "some.rules", rules);
}

/* The text of an error with this id has all of these in it. */
static void check_error(int rc, int id, const char *first, const char *second)
{
    CHECK(rc);
    CHECK_INT(err_id(rc), id);
    err_text(rc, text, sizeof text);
    if (!strstr(text, first) || !strstr(text, second)) {
        fprintf(stderr, "\"%s\" lacks \"%s\" or \"%s\"\n", text, first, second);
        exit(1);
    }
}

static const char *choice_at(const struct rules *rules, struct coll_shape shape, long *parameter)
{
    struct coll_choice choice;

    if (!coll_rules_find(rules, &shape, &choice))
        return "none";
    *parameter = choice.parameter;
    return choice.algorithm->name;
}

static void check_name(const struct rules *rules, struct coll_shape shape, const char *name, long parameter)
{
    long came = -1;
    const char *found = choice_at(rules, shape, &came);

    if (strcmp(found, name) || (parameter >= 0 && came != parameter)) {
        fprintf(stderr, "%s, %d ranks, %zu bytes: %s:%ld, expected %s:%ld\n",
                coll_name(shape.operation, COLL_BLOCKING), shape.ranks, shape.bytes, found, came, name, parameter);
        exit(1);
    }
}

static void test_find(void)
{
    struct rules rules;

    CHECK_INT(parse("# nothing\n\n  \t\r\n"
                    "allreduce commutative ranks>=4 bytes>1k   ring # long ones\r\n"
                    "bcast bytes<8k tree:3\n"
                    "bcast ranks=8 nodes<=1 bytes<=1m scatter_doubling\n"
                    "allreduce ordered halving\n"
                    "barrier crowded tree:64\n"
                    "barrier spacious dissemination\n"
                    "bcast ranks=7 scatter_doubling\n"
                    "gather nodes>1 node_ranks>=3 binomial\n"
                    "bcast double_tree:128k", &rules), 0);
    CHECK_INT(rules.count, 9);
    check_name(&rules, (struct coll_shape){ COLL_BCAST, 8, 1, 8191, true, false, true, false, 8 }, "tree", 3);
    check_name(&rules, (struct coll_shape){ COLL_BCAST, 8, 1, 8192, true, false, true, false, 8 },
               "scatter_doubling", 0);
    check_name(&rules, (struct coll_shape){ COLL_BCAST, 8, 2, 8192, true, false, true, false, 4 },
               "double_tree", 128 << 10);
    check_name(&rules, (struct coll_shape){ COLL_BCAST, 7, 1, 8192, true, false, true, false, 7 },
               "double_tree", 128 << 10);
    check_name(&rules, (struct coll_shape){ COLL_ALLREDUCE, 4, 1, 1025, true, false, true, false, 4 },
               "ring", 0);
    check_name(&rules, (struct coll_shape){ COLL_ALLREDUCE, 4, 1, 1024, true, false, true, false, 4 },
               "none", -1);
    check_name(&rules, (struct coll_shape){ COLL_ALLREDUCE, 4, 1, 1024, false, false, true, false, 4 },
               "halving", 0);
    check_name(&rules, (struct coll_shape){ COLL_BARRIER, 4, 1, 0, true, false, true, true, 4 }, "tree", 64);
    check_name(&rules, (struct coll_shape){ COLL_BARRIER, 4, 1, 0, true, false, true, false, 4 }, "dissemination", 0);
    check_name(&rules, (struct coll_shape){ COLL_GATHER, 6, 2, 0, true, false, true, false, 3 }, "binomial", 0);
    check_name(&rules, (struct coll_shape){ COLL_GATHER, 6, 3, 0, true, false, true, false, 2 }, "none", -1);
    check_name(&rules, (struct coll_shape){ COLL_REDUCE, 4, 1, 0, true, false, true, false, 4 }, "none", -1);
    coll_rules_free(&rules);
}

static void check_fault(const char *rules_text, const char *first, const char *second)
{
    struct rules rules;

    check_error(parse(rules_text, &rules), 731, first, second);
    CHECK(!rules.all);
}

static void test_faults(void)
{
    check_fault("\n\nbroadcast tree", "some.rules:3:", "\"broadcast\" is no operation: barrier bcast");
    check_fault("bcast trees", "some.rules:1: \"trees\"", "tree[:radix], scatter_ring");
    check_fault("bcast tree:1", "\"tree:1\"", "no algorithm of bcast");
    check_fault("bcast tree:", "\"tree:\"", "");
    check_fault("bcast tree:99999999999999999999999999", "\"tree:9", "");
    check_fault("bcast scatter_ring:2", "scatter_ring:2", "");
    check_fault("bcast", "\"\" is no algorithm", "");
    check_fault("bcast bytes tree", "\"bytes\" is no condition", "some.rules:1:");
    check_fault("# a\nbcast bytes<=x tree", "\"bytes<=x\"", "some.rules:2:");
    check_fault("bcast bytes<0 tree", "\"bytes<0\"", "");
    check_fault("bcast bytes==1 tree", "\"bytes==1\"", "");
    check_fault("bcast bytes<=k tree", "\"bytes<=k\"", "");
    check_fault("bcast bytes<=99999999999999999999 tree", "is no condition", "");
}

/* What is built in has an answer for everything. */
static void test_default(void)
{
    struct rules rules;

    CHECK_INT(coll_rules_parse(coll_default_rules, strlen(coll_default_rules), "built-in", &rules), 0);
    for (int operation = 0; operation < COLL_NEIGHBOR_ALLGATHER; operation++) {
        for (int i = 0; i < 32 * 64; i++) {
            const struct coll_shape shape = { (enum coll_operation)operation, 1 + i % 64, 1, (size_t)1 << i / 64 % 32,
                                              i % 3 != 0, i % 5 == 0, true, false, 1 + i % 64 };
            struct coll_choice choice;
            CHECK(coll_rules_find(&rules, &shape, &choice));
        }
    }
    coll_rules_free(&rules);
    mem_fail_after(0);
    CHECK_INT(err_class(parse("bcast tree", &rules)), MPI_ERR_NO_MEM);
    mem_fail_after(-1);
}

/* --- settings --- */

static int choose(int size, int count, MPI_Op op, const char **name)
{
    struct comm comm = { .size = size, .remote_size = size };
    const struct coll_data data = COLL_SAME(text, count, obj_type(MPI_INT));
    const struct coll_args args = { op == MPI_OP_NULL ? COLL_BCAST : COLL_ALLREDUCE, 0,
                                    op == MPI_OP_NULL ? NULL : obj_op(op), data, data };
    struct coll_choice choice;
    const int rc = coll_choose(&comm, &args, &choice);

    *name = rc ? "" : choice.algorithm->name;
    return rc;
}

static void test_settings(void)
{
    const char *name;

    setenv("PARLEY_COLL_BCAST", "scatter_doubling", 1);
    CHECK_INT(coll_choice_init(), 0);
    CHECK_INT(coll_by_messages, 1 << COLL_BCAST);
    CHECK_INT(choose(4, 1, MPI_OP_NULL, &name), 0);
    CHECK(!strcmp(name, "scatter_doubling"));
    check_error(choose(3, 1, MPI_OP_NULL, &name), 734, "PARLEY_COLL_BCAST asks for scatter_doubling", "3 processes");
    setenv("PARLEY_COLL_BCAST", "tree:1", 1);
    check_error(coll_choice_init(), 733, "PARLEY_COLL_BCAST is \"tree:1\"", "chain[:segment]");
    setenv("PARLEY_COLL_BCAST", "", 1);
    CHECK_INT(coll_choice_init(), 0);
    setenv("PARLEY_COLL_BROADCAST", "tree", 1);
    check_error(coll_choice_init(), 732, "PARLEY_COLL_BROADCAST", "no such collective");
    unsetenv("PARLEY_COLL_BROADCAST");
    setenv("PARLEY_COLL_REDUCE_SCATTER_BLOCK", "pairs", 1);
    CHECK_INT(coll_choice_init(), 0);
    CHECK_INT(coll_by_messages, 1 << COLL_REDUCE_SCATTER_BLOCK);
    unsetenv("PARLEY_COLL_REDUCE_SCATTER_BLOCK");
}

static void test_reproducible(void)
{
    const char *name;

    setenv("PARLEY_REPRODUCIBLE", "1", 1);
    setenv("PARLEY_COLL_ALLREDUCE", "ring", 1);
    CHECK_INT(coll_choice_init(), 0);
    CHECK(coll_by_messages >> COLL_REDUCE & 1 && coll_by_messages >> COLL_EXSCAN & 1);
    for (int count = 1; count < 10000000; count *= 10) {
        CHECK_INT(choose(8, count, MPI_SUM, &name), 0);
        CHECK(!strcmp(name, "reduce_bcast"));
    }
    unsetenv("PARLEY_REPRODUCIBLE");
    CHECK_INT(coll_choice_init(), 0);
    CHECK_INT(choose(8, 1, MPI_SUM, &name), 0);
    CHECK(!strcmp(name, "ring"));
    unsetenv("PARLEY_COLL_ALLREDUCE");
}

static void test_file(void)
{
    char path[] = "/tmp/parley_rules_XXXXXX";
    const int fd = mkstemp(path);
    const char *name;

    CHECK(fd >= 0);
    CHECK_INT(write(fd, "bcast chain:4k\n", 15), 15);
    setenv("PARLEY_COLL_RULES", path, 1);
    CHECK_INT(coll_choice_init(), 0);
    CHECK_INT(choose(3, 1, MPI_OP_NULL, &name), 0);
    CHECK(!strcmp(name, "chain"));
    CHECK_INT(choose(3, 1, MPI_SUM, &name), 0); /* no rule: the first one that can */
    CHECK(!strcmp(name, "doubling"));
    CHECK_INT(write(fd, "bcast no\n", 9), 9);
    check_error(coll_choice_init(), 731, path, ":2: \"no\" is no algorithm");
    for (long n = 0; n < 2; n++) {
        mem_fail_after(n);
        CHECK_INT(err_class(coll_choice_init()), MPI_ERR_NO_MEM);
        mem_fail_after(-1);
    }
    CHECK_INT(unlink(path), 0);
    close(fd);
    check_error(coll_choice_init(), 730, path, "No such file");
    setenv("PARLEY_COLL_RULES", "/tmp", 1);
    check_error(coll_choice_init(), 730, "/tmp", "no regular file");
    unsetenv("PARLEY_COLL_RULES");
}

int main(void)
{
    const long live = mem_live();

    type_init();
    op_init();
    test_find();
    test_faults();
    test_default();
    test_settings();
    test_reproducible();
    test_file();
    coll_choice_fini();
    CHECK_INT(mem_live(), live);
    return 0;
}
