/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Which algorithm a call takes: the one that the user has asked for, else by rules, the user's or those
 * built in. All processes choose alike: by the operation, the number of processes, and what they give alike. Knows:
 * settings, files. Does not know: what algorithms do.
 *
 * With PARLEY_REPRODUCIBLE reductions take one algorithm, whatever the length, the placement or the other settings: the
 * order of operands is that of one binomial tree over the ranks, so the same data on as many processes give the same
 * bits. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/setting.h"
#include "coll/clients.h"
#include "coll/rules.h"
#include "coll/spanning.h"

enum { MOST_BYTES = 1 << 20, MOST_LIST = 300 };

static struct setting rules_file = {
    .name = "COLL_RULES",
    .help = "file with rules by which collective calls choose their algorithms; docs/collectives.md",
    .topic = "collectives",
    .kind = SETTING_TEXT,
    .text = "",
    .must_agree = true,
};
SETTING_LISTED(rules_file);

static struct setting reproducible = {
    .name = "REPRODUCIBLE",
    .help = "reductions give the same bits for the same data and number of ranks, whatever else there is",
    .topic = "collectives",
    .kind = SETTING_BOOL,
    .must_agree = true,
};
SETTING_LISTED(reproducible);

static const struct coll_algorithm neighbor_direct = { .name = "direct", .build = coll_neighbor_direct },
                                   inter = { .name = "two_sides", .build = coll_inter };

static struct {
    struct rules rules;
    struct coll_choice forced[COLL_NEIGHBOR_ALLGATHER]; /* algorithm NULL: not */
    struct coll_choice fixed[COLL_NEIGHBOR_ALLGATHER];  /* of reproducible reductions */
} choice_of;

uint32_t coll_by_messages;

/* --- settings --- */

static const char prefix[] = "PARLEY_COLL_";

/* One of PARLEY_COLL_BCAST and its like. */
static int read_forced(enum coll_operation operation, const char *name, size_t name_len, const char *value)
{
    char list[MOST_LIST];

    if (!*value || coll_find_algorithm(operation, value, strlen(value), &choice_of.forced[operation]))
        return 0;
    coll_list_algorithms(operation, list, sizeof list);
    return err(MPI_ERR_OTHER, "E0733: %.*s is \"%.60s\"; it must be one of %s", (int)name_len, name, value, list);
}

static int read_variable(const char *text)
{
    const size_t len = strcspn(text, "=");
    char lower[40] = "";
    enum coll_operation operation;

    if (strncmp(text, prefix, sizeof prefix - 1) || !text[len])
        return 0;
    for (size_t i = sizeof prefix - 1; i < len && i < sizeof prefix + sizeof lower - 2; i++)
        lower[i - (sizeof prefix - 1)] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 'a' - 'A' : 0);
    for (size_t i = sizeof prefix - 1; i < len && i < sizeof prefix + sizeof lower - 2; i++) {
        if (text[i] == '_')
            lower[i - (sizeof prefix - 1)] = '_';
    }
    if (!strcmp(lower, "rules"))
        return 0;
    operation = coll_find_operation(lower, strlen(lower));
    if (operation == COLL_OPERATIONS)
        return err(MPI_ERR_OTHER, "E0732: %.*s: there is no such collective operation to choose an algorithm for",
                   (int)(len < 80 ? len : 80), text);
    return read_forced(operation, text, len, text + len + 1);
}

static int bad_file(const char *name, const char *why)
{
    return err(MPI_ERR_OTHER, "E0730: PARLEY_COLL_RULES: cannot read %s: %s", name, why);
}

/* The whole of a small file; *text is the caller's. */
static int read_file(const char *name, char **text, size_t *len)
{
    const int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t got = 0;
    struct stat info;
    int rc = 0;

    if (fd < 0)
        return bad_file(name, strerror(errno));
    *text = mem_alloc(MOST_BYTES);
    *len = 0;
    if (!*text)
        rc = err(MPI_ERR_NO_MEM, "no memory for the rules of %s", name);
    else if (fstat(fd, &info) || !S_ISREG(info.st_mode))
        rc = bad_file(name, "it is no regular file");
    while (!rc && *len < MOST_BYTES && (got = read(fd, *text + *len, MOST_BYTES - *len)) > 0)
        *len += (size_t)got;
    if (!rc && got < 0)
        rc = bad_file(name, strerror(errno));
    if (!rc && *len == MOST_BYTES)
        rc = bad_file(name, "it is longer than 1 MiB");
    close(fd);
    if (rc)
        mem_free(*text);
    return rc;
}

static int read_rules(void)
{
    char *text = NULL;
    size_t len = 0;
    int rc;

    if (!*rules_file.text)
        return coll_rules_parse(coll_default_rules, strlen(coll_default_rules), "built-in rules", &choice_of.rules);
    rc = read_file(rules_file.text, &text, &len);
    if (rc)
        return rc;
    rc = coll_rules_parse(text, len, rules_file.text, &choice_of.rules);
    mem_free(text);
    return rc;
}

static void fix(enum coll_operation operation, const char *name)
{
    if (!coll_find_algorithm(operation, name, strlen(name), &choice_of.fixed[operation]))
        choice_of.fixed[operation].algorithm = NULL;
}

int coll_choice_init(void)
{
    int rc;

    coll_choice_fini();
    setting_reset(&rules_file, 0, "");
    setting_reset(&reproducible, false, NULL);
    rc = setting_read(&rules_file);
    if (!rc)
        rc = setting_read(&reproducible);
    for (char **text = environ; !rc && text && *text; text++)
        rc = read_variable(*text);
    if (!rc)
        rc = read_rules();
    coll_by_messages = 0;
    for (int i = 0; i < COLL_NEIGHBOR_ALLGATHER; i++) {
        if (choice_of.forced[i].algorithm || reproducible.value)
            coll_by_messages |= 1U << i;
    }
    fix(COLL_REDUCE, "ordered");
    fix(COLL_ALLREDUCE, "reduce_bcast");
    fix(COLL_REDUCE_SCATTER, "tree");
    fix(COLL_REDUCE_SCATTER_BLOCK, "tree");
    fix(COLL_SCAN, "doubling");
    fix(COLL_EXSCAN, "doubling");
    return rc;
}

void coll_choice_fini(void)
{
    coll_rules_free(&choice_of.rules);
    memset(&choice_of, 0, sizeof choice_of);
}

/* --- the choice --- */

size_t coll_choice_bytes(const struct comm *comm, const struct coll_args *args)
{
    const bool is_root = args->root == comm->rank;
    const struct coll_data *data = &args->recv;

    switch (args->operation) {
    case COLL_BCAST: data = &args->send; break;
    case COLL_GATHER: data = is_root ? &args->recv : &args->send; break;
    case COLL_SCATTER: data = is_root ? &args->send : &args->recv; break;
    case COLL_ALLGATHERV:
    case COLL_REDUCE_SCATTER: return type_bytes(data->type, coll_sum(data, comm->size));
    case COLL_BARRIER:
    case COLL_GATHERV:
    case COLL_SCATTERV:
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW: return 0;
    default: break;
    }
    return type_bytes(data->type, data->count);
}

/* What only one process says about its buffers is none of the others' business. */
static bool is_in_place(const struct coll_args *args)
{
    switch (args->operation) {
    case COLL_GATHER:
    case COLL_GATHERV:
    case COLL_SCATTER:
    case COLL_SCATTERV:
    case COLL_REDUCE: return false;
    default: return coll_is_in_place(args->send.buf);
    }
}

static COLD int cannot(const struct coll_choice *forced, const struct coll_shape *shape)
{
    char name[40];
    const char *small = coll_name(shape->operation, COLL_NONBLOCKING) + 5;
    size_t len = 0;

    for (; small[len] && len < sizeof name - 1; len++)
        name[len] = (char)(small[len] == '_' ? '_' : small[len] - 'a' + 'A');
    name[len] = 0;
    return err(MPI_ERR_OTHER, "E0734: PARLEY_COLL_%s asks for %s, which cannot do this call with %d processes: %s",
               name, forced->algorithm->name, shape->ranks, coll_why_not(forced->algorithm, shape));
}

/* The first one that can; the table has one for everything. */
static void choose_any(const struct coll_shape *shape, struct coll_choice *choice)
{
    for (int i = 0; i < coll_algorithm_count; i++) {
        const struct coll_algorithm *algorithm = &coll_algorithms[i];
        if (algorithm->operations >> shape->operation & 1 && !coll_why_not(algorithm, shape)) {
            *choice = (struct coll_choice){ algorithm, algorithm->parameter };
            return;
        }
    }
}

static struct coll_shape shape_of(const struct comm *comm, const struct coll_args *args)
{
    const struct spread *spread = comm->spread;

    return (struct coll_shape){
        .operation = args->operation,
        .ranks = comm->size,
        .nodes = spread ? spread->layout.nodes : 1,
        .node_ranks = spread ? spread->most : comm->size,
        .bytes = coll_choice_bytes(comm, args),
        .is_commutative = !args->op || args->op->is_commutative,
        .is_in_place = is_in_place(args),
        .is_crowded = !spread && progress_is_oversubscribed(), /* each node knows that of itself */
        .has_runs = !spread || spread->has_runs,
    };
}

static void choose_by_rules(struct comm *comm, const struct coll_shape *shape, struct coll_choice *choice)
{
    const uint32_t key = (unsigned)shape->operation << 2 | (unsigned)shape->is_commutative << 1 | shape->is_in_place |
                         1U << 31;
    struct comm_choice *last = &comm->coll_choice;

    if (unlikely(last->key != key || last->bytes != shape->bytes || last->ranks != (uint32_t)shape->ranks)) {
        if (!coll_rules_find(&choice_of.rules, shape, choice))
            choose_any(shape, choice);
        *last = (struct comm_choice){ shape->bytes, (uint32_t)shape->ranks, key, choice->algorithm, choice->parameter };
    }
    *choice = (struct coll_choice){ last->algorithm, last->parameter };
}

int coll_choose(struct comm *comm, const struct coll_args *args, struct coll_choice *choice)
{
    const enum coll_operation operation = args->operation;
    const struct coll_choice *forced;
    struct coll_shape shape;
    int rc;

    if (unlikely(comm->is_inter || operation >= COLL_NEIGHBOR_ALLGATHER)) {
        *choice = (struct coll_choice){ comm->is_inter ? &inter : &neighbor_direct, 0 };
        return 0;
    }
    if (unlikely(reproducible.value) && args->op && !p2p_is_foreign_ctx(comm->ctx)) {
        *choice = choice_of.fixed[operation];
        return 0;
    }
    rc = coll_spread_look(comm);
    if (rc)
        return rc;
    if (unlikely(p2p_is_foreign_ctx(comm->ctx))) {
        *choice = (struct coll_choice){ &coll_clients[operation], 0 };
        return 0;
    }
    shape = shape_of(comm, args);
    forced = &choice_of.forced[operation];
    if (unlikely(forced->algorithm != NULL)) {
        *choice = *forced;
        return coll_why_not(forced->algorithm, &shape) ? cannot(forced, &shape) : 0;
    }
    choose_by_rules(comm, &shape, choice);
    return 0;
}
