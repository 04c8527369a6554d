/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. MPI_Comm_split_type (MPI 5.0 §7.4.2): what a process asks for becomes a color, and the split is that of
 * MPI_Comm_split. A process that gives MPI_UNDEFINED does not know what the others ask for, so all say it in the one
 * exchange; when it is the unguided split, a second exchange tells where they sit, and all calculate the colors. */
#include <assert.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/err.h"
#include "coll/coll.h"
#include "comm/joint_ids.h"
#include "obj/info.h"
#include "p2p/p2p.h"

static const char resource_key[] = "mpi_hw_resource_type", set_key[] = "mpi_pset_name",
                  shared_memory[] = "mpi_shared_memory";

/* What splits; KIND_PART and on: that part of the machine. */
enum kind { KIND_NONE, KIND_MACHINE, KIND_UNGUIDED, KIND_SET, KIND_PART };

enum { NODE_BITS = 13 }; /* the name of a part is below CPUS_MAX */

static_assert(CPUS_MAX <= 1 << NODE_BITS, "a color has room for the machine and its part");

static const char *kind_name(uint32_t kind)
{
    switch (kind) {
    case KIND_MACHINE: return shared_memory;
    case KIND_UNGUIDED: return "MPI_COMM_TYPE_HW_UNGUIDED";
    case KIND_SET: return "a process set";
    default: return hwpart_name((enum hwpart)(kind - KIND_PART));
    }
}

/* --- the guided types --- */

static bool has_key(struct info *info, const char *key, char *value, size_t size)
{
    size_t length;
    int flag = 0;

    if (info)
        info_get(info, key, size, value, &length, &flag);
    return flag != 0;
}

static int color_by_part(enum hwpart part, struct split_entry *own)
{
    struct site site;
    const int rc = site_find(getpid(), comm_world.proc, &site);

    own->kind = KIND_PART + part;
    if (!rc && site.first[part] >= 0)
        own->color = comm_world.environment.node << NODE_BITS | site.first[part];
    return rc;
}

static int color_by_resource(const char *name, struct split_entry *own)
{
    const enum hwpart part = hwpart_by_name(name);

    if (part < HWPARTS)
        return color_by_part(part, own);
    if (strcasecmp(name, shared_memory) && strcasecmp(name, "hwloc://Machine") && strcasecmp(name, "Machine"))
        return 0;
    own->kind = KIND_MACHINE;
    own->color = comm_world.environment.node;
    return 0;
}

/* Equal sets have equal colors, and no others: all processes of a world, one, or a part, which its first member
 * tells. */
static int color_by_set(const char *name, struct split_entry *own)
{
    struct group *group = NULL;
    const int rc = comm_pset_group(name, &group);

    if (rc || !group)
        return rc;
    own->kind = KIND_SET;
    if (group->rank != MPI_UNDEFINED)
        own->color = 3 * group_proc(group, 0) + (group->size == comm_world.size ? 0 : 1 + (group->size > 1));
    group_unref(group);
    return 0;
}

static int color_by_info(struct info *info, bool has_sets, struct split_entry *own)
{
    char resource[64], set[MPI_MAX_PSET_NAME_LEN];
    const bool has_resource = has_key(info, resource_key, resource, sizeof resource);
    const bool has_set = has_sets && has_key(info, set_key, set, sizeof set);

    if (has_resource && has_set)
        return err(MPI_ERR_INFO, "info has both %s (\"%s\") and %s (\"%.100s\"); one of them may be used",
                   resource_key, resource, set_key, set);
    if (has_resource)
        return color_by_resource(resource, own);
    return has_set ? color_by_set(set, own) : 0;
}

/* --- agreeing, and the unguided type --- */

struct type_rule {
    struct split_rule rule;
    struct unguided u; /* with memory, if this may become an unguided split */
    const char *found; /* what the unguided split has found for this process */
};

/* One piece of memory for all arrays. */
static int reserve(struct unguided *u, int count)
{
    const size_t n = (size_t)count;

    u->count = u->size = count;
    u->seats = mem_alloc(n * (sizeof *u->seats + sizeof *u->order + sizeof *u->color + sizeof *u->part +
                              sizeof *u->is_in));
    if (!u->seats)
        return err(MPI_ERR_NO_MEM, "no memory for the places of %d processes", count);
    u->order = (struct unguided_sitting *)(void *)(u->seats + n);
    u->color = (int *)(void *)(u->order + n);
    u->part = u->color + n;
    u->is_in = (bool *)(u->part + n);
    return 0;
}

/* Those of a side must ask for what this process asks for, and none may have failed before it had a
 * color. `*is_unguided` is set if one asks for that. */
static int check_kinds(uint32_t own, const struct split_entry *entries, int count, const char *where,
                       bool *is_unguided)
{
    for (int i = 0; i < count; i++) {
        *is_unguided |= entries[i].kind == KIND_UNGUIDED;
        if (unlikely(entries[i].ctx & 1 && entries[i].color == MPI_UNDEFINED))
            return err((int)(entries[i].ctx >> 1), "E0339: the call has failed at rank %d of the %s group", i, where);
        if (own && entries[i].kind && entries[i].kind != own)
            return err(MPI_ERR_ARG, "this process splits by %s, rank %d of the %s group by %s", kind_name(own), i,
                       where, kind_name(entries[i].kind));
    }
    return 0;
}

/* The seats of all, those of the remote group behind the own ones. */
static int gather_all_seats(struct comm *comm, struct comm_seat *seats)
{
    int rc;

    if (!comm->is_inter)
        return comm_gather_seats(comm, "MPI_Comm_split_type", seats);
    rc = comm_gather_seats(comm->local, "MPI_Comm_split_type", seats);
    if (!rc)
        rc = comm_inter_swap(comm, seats, (size_t)comm->size * sizeof *seats, seats + comm->size);
    if (rc)
        return rc;
    for (int rank = 0; comm_abroad_in(comm) && rank < comm->remote_size; rank++)
        seats[comm->size + rank].node = place_node(group_proc(comm->remote_group, rank));
    return 0;
}

/* Colors by the processes in the order of all seats. For both groups of an intercommunicator they must be the same, so
 * that part is found by the number of the process. */
static void take_colors(const struct comm *comm, const struct unguided *u, struct split_entry *mine,
                        struct split_entry *theirs)
{
    for (int i = 0; i < u->count; i++) {
        struct split_entry *entry = i < comm->size ? &mine[i] : &theirs[i - comm->size];
        const int part = u->part[i], first = part == HWPARTS || part < 0 ? 0 : u->seats[i].site.first[part];

        entry->color = u->color[i] == MPI_UNDEFINED ? MPI_UNDEFINED
                       : comm->is_inter ? (u->seats[i].node << NODE_BITS | first) * (HWPARTS + 1) + part
                                        : u->color[i];
    }
}

static int split_unguided(struct type_rule *rule, struct comm *comm, struct split_entry *mine,
                          struct split_entry *theirs)
{
    const struct unguided *const u = &rule->u;
    const int rc = gather_all_seats(comm, u->seats), *const part = &u->part[comm->rank];

    if (rc)
        return rc;
    for (int i = 0; i < u->count; i++)
        u->is_in[i] = (i < comm->size ? mine[i] : theirs[i - comm->size]).kind == KIND_UNGUIDED;
    comm_unguided_colors(u);
    take_colors(comm, u, mine, theirs);
    rule->found = *part == HWPARTS ? shared_memory : *part < 0 ? NULL : hwpart_name((enum hwpart)*part);
    return 0;
}

/* Colors of members of another job mean something there only: they become others than those of this one. */
static void part_jobs(const struct group *group, struct split_entry *entries)
{
    enum { ABROAD = 1 << 30 };

    for (int rank = 0; rank < group->size; rank++)
        if (place_abroad(group_proc(group, rank)) && entries[rank].color != MPI_UNDEFINED)
            entries[rank].color |= ABROAD;
}

static int refine(struct split_rule *base, struct comm *comm, struct split_entry *mine,
                  struct split_entry *theirs)
{
    struct type_rule *rule = (struct type_rule *)base;
    const uint32_t own = mine[comm->rank].kind;
    const bool is_of_jobs = comm_abroad_in(comm);
    bool is_unguided = false;
    int rc = check_kinds(own, mine, comm->size, "local", &is_unguided);

    if (is_of_jobs)
        part_jobs(comm->group, mine);
    if (is_of_jobs && theirs)
        part_jobs(comm->remote_group, theirs);

    if (!rc && theirs)
        rc = check_kinds(own, theirs, comm->remote_size, "remote", &is_unguided);
    return rc || !is_unguided ? rc : split_unguided(rule, comm, mine, theirs);
}

/* What is split by is within a client, and so is each part. */
static int split_at_home(struct comm *comm, int split_type, int key, struct info *info, struct comm **out)
{
    struct comm *home;
    int rc = comm_clients_home(comm, &home);

    if (rc || !home)
        return rc;
    rc = comm_split_type(home, split_type, key, info, out);
    comm_unref(home);
    return rc;
}

static int tell_found(struct info *info, const char *found, struct comm **made)
{
    const int rc = info_set_by_user(info, resource_key, found);

    if (unlikely(rc)) {
        comm_break_made(*made, rc);
        comm_unref(*made);
        *made = NULL;
    }
    return rc;
}

int comm_split_type(struct comm *comm, int split_type, int key, struct info *info, struct comm **out)
{
    struct split_entry own = { .color = MPI_UNDEFINED, .key = key };
    struct type_rule rule = { .rule = { refine } };
    int failed = 0, rc;

    if (unlikely(comm_world.joint) && (comm_clients_has_foreign(comm->group) ||
                                       comm_clients_has_foreign(comm->remote_group)))
        return split_at_home(comm, split_type, key, info, out);
    switch (split_type) {
    case MPI_UNDEFINED: break;
    case MPI_COMM_TYPE_SHARED: failed = color_by_resource(shared_memory, &own); break;
    case MPI_COMM_TYPE_HW_GUIDED: failed = color_by_info(info, false, &own); break;
    case MPI_COMM_TYPE_RESOURCE_GUIDED: failed = color_by_info(info, true, &own); break;
    case MPI_COMM_TYPE_HW_UNGUIDED:
        own.kind = KIND_UNGUIDED;
        own.color = 0;
        break;
    default:
        return err(MPI_ERR_ARG, "split_type is %d, which is no MPI_COMM_TYPE_ constant nor MPI_UNDEFINED",
                   split_type);
    }
    if (!failed && (split_type == MPI_COMM_TYPE_HW_UNGUIDED || split_type == MPI_UNDEFINED))
        failed = reserve(&rule.u, comm->size + (comm->is_inter ? comm->remote_size : 0));
    if (unlikely(failed))
        own = (struct split_entry){ .color = MPI_UNDEFINED, .ctx = comm_split_failed(failed) };
    rc = comm_split_by(comm, own, &rule.rule, out);
    mem_free(rule.u.seats);
    if (!rc && *out && info && rule.found)
        rc = tell_found(info, rule.found, out);
    return failed ? failed : rc;
}
