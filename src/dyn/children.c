/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: dyn. Starting processes (MPI 5.0 §11.8). The root asks mpiexec, which starts them as it has started all
 * others, in places of the job segment that stand in a row; then both sides make an intercommunicator, as any two
 * groups do whose leaders can reach each other. Knows: pm, comm, coll. */
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "coll/coll.h"
#include "comm/comm.h"
#include "dyn/int_dyn.h"
#include "obj/info.h"
#include "p2p/lane.h"
#include "p2p/p2p.h"
#include "sys/control.h"

/* One program. */
struct program {
    const char *command;
    char **argv; /* without its name; NULL: none */
    int maxprocs;
    struct info *info; /* NULL: none */
};

/* One call. The programs count at the root. */
struct call {
    const char *name;
    const struct program *programs;
    int count;
    int root;
    struct comm *comm;
};

static _Atomic uint32_t calls;

/* --- asking --- */

static bool get_info(struct info *info, const char *key, char value[MPI_MAX_INFO_VAL + 1])
{
    size_t length;
    int flag = 0;

    return info && !info_get(info, key, MPI_MAX_INFO_VAL + 1, value, &length, &flag) && flag;
}

/* Where the program starts: what is not said, or is no whole path, counts from where the root is. */
static int add_directory(struct request *request, const struct program *program)
{
    char value[MPI_MAX_INFO_VAL + 1] = "", *text;
    const bool has_info = get_info(program->info, "wdir", value);

    text = mem_alloc(PATH_MAX + sizeof value + 2);
    if (!text)
        return err(MPI_ERR_NO_MEM, "no memory for the name of a directory");
    if (has_info && *value == '/') {
        strcpy(text, value);
    } else if (getcwd(text, PATH_MAX)) {
        strcat(strcat(text, has_info ? "/" : ""), value);
    } else {
        mem_free(text);
        return err(MPI_ERR_SPAWN, "the working directory of the root cannot be told: %s", strerror(errno));
    }
    request_add(request, "wdir");
    request_add(request, text);
    mem_free(text);
    return 0;
}

static int add_infos(struct request *request, const struct program *program)
{
    const int count = program->info ? info_count(program->info) : 0;
    char key[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_VAL + 1];
    int rc = 0;

    request_add_number(request, count + 1);
    for (int i = 0; i < count && !rc; i++) {
        rc = info_nth_key(program->info, i, key);
        if (!rc && get_info(program->info, key, value)) {
            request_add(request, strcmp(key, "wdir") ? key : "");
            request_add(request, value);
        }
    }
    return rc ? rc : add_directory(request, program);
}

static int add_program(struct request *request, const struct program *program)
{
    int words = 0;

    while (program->argv && program->argv[words])
        words++;
    request_add(request, program->command);
    request_add_number(request, program->maxprocs);
    request_add_number(request, words);
    for (int i = 0; i < words; i++)
        request_add(request, program->argv[i]);
    return add_infos(request, program);
}

/* New processes in places where others were wait until nothing of those is left. Those of other machines see to it
 * themselves. */
static void clear_places(int first, int count)
{
    for (int proc = first; proc < first + count; proc++) {
        if (!job_is_near(dyn_job->head, proc, dyn_job->proc) ||
            !atomic_load_explicit(&job_desk(dyn_job->head, proc)->hold, memory_order_relaxed))
            continue;
        p2p_clear_place(dyn_job->head, dyn_job->segment_fd, dyn_job->procs, proc);
        pm_let_go(dyn_job, proc);
    }
}

static int ask(const struct call *call, struct finding *finding)
{
    struct request request = { 0 };
    struct pm_reply reply;
    int rc = 0;
    long total = 0;
    const uint32_t number = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) & INT_MAX;

    request_add_number(&request, number);
    for (int i = 0; i < call->count && !rc; i++) {
        if (call->programs[i].maxprocs < 0)
            rc = err(MPI_ERR_ARG, "array_of_maxprocs[%d] is %d; it must not be negative", i,
                     call->programs[i].maxprocs);
        else
            rc = add_program(&request, &call->programs[i]);
        total += call->programs[i].maxprocs;
    }
    if (!rc && (total < 1 || total > INT_MAX))
        rc = err(MPI_ERR_ARG, "maxprocs is %ld; from 1 to %d processes can be asked for", total, INT_MAX);
    if (rc) {
        mem_free(request.at);
        return rc;
    }
    rc = request_send(&request, CONTROL_SPAWN, "starting processes", &reply);
    if (!rc)
        clear_places(reply.first, reply.count);
    *finding = (struct finding){ .proc = reply.first, .tag = finding_tag(TAG_SPAWN, number), .total = (int)total };
    return rc;
}

/* --- error codes --- */

/* The processes of program `app` among those that run. */
static int count_started(const struct comm *inter, int app)
{
    int count = 0;

    for (int rank = 0; rank < inter->remote_size; rank++)
        count += (int)job_place(dyn_job->head, group_proc(inter->remote_group, rank))->appnum == app;
    return count;
}

/* At the root. `inter` is NULL if none has been started. */
static void fill_codes(const struct call *call, const struct comm *inter, int *codes)
{
    for (int i = 0; i < call->count; i++) {
        const int started = inter ? count_started(inter, i) : 0;

        for (int k = 0; k < call->programs[i].maxprocs; k++)
            *codes++ = k < started ? MPI_SUCCESS : MPI_ERR_SPAWN;
    }
}

/* Each process gets those of all; `codes` may be NULL. */
static int share_codes(const struct call *call, const struct comm *inter, int total, int *codes)
{
    int *all = mem_alloc((size_t)total * sizeof *all + 1), rc;

    if (!all)
        return err(MPI_ERR_NO_MEM, "no memory for %d error codes", total);
    if (call->comm->rank == call->root)
        fill_codes(call, inter, all);
    call->comm->coll_outer = call->name;
    rc = coll_run(call->comm, COLL_ARGS(COLL_BCAST, COLL_SAME(all, total, obj_type(MPI_INT)), COLL_NOTHING, NULL,
                                        call->root));
    call->comm->coll_outer = NULL;
    if (!rc && codes)
        memcpy(codes, all, (size_t)total * sizeof *all);
    mem_free(all);
    return rc;
}

/* --- the calls --- */

static int start(const struct call *call, struct comm **out, int *codes)
{
    struct finding finding = { 0 };
    int rc = call->comm->rank == call->root ? ask(call, &finding) : 0, told = 0;

    rc = finding_share(call->comm, call->root, call->name, rc, &finding);
    if (!rc)
        rc = comm_inter_with(call->comm, call->root, finding.proc, finding.tag, call->name, out);
    if (finding.total && (!rc || err_class(rc) == MPI_ERR_SPAWN))
        told = share_codes(call, rc ? NULL : *out, finding.total, codes);
    return rc ? rc : told;
}

static int spawn(struct call *call, struct comm **out, int *codes)
{
    int rc = comm_as_jobs(call->comm, call->name, &call->comm);

    if (rc)
        return rc;
    rc = start(call, out, codes);
    comm_unref(call->comm);
    return rc;
}

int dyn_spawn(const char *command, char *argv[], int maxprocs, struct info *info, int root, struct comm *comm,
              struct comm **out, int codes[])
{
    const struct program program = { command, argv, maxprocs, info };
    struct call call = { "MPI_Comm_spawn", &program, 1, root, comm };

    return spawn(&call, out, codes);
}

int dyn_spawn_multiple(int count, char *commands[], char **argvs[], const int maxprocs[], const MPI_Info infos[],
                       int root, struct comm *comm, struct comm **out, int codes[])
{
    struct program *programs = NULL;
    struct call call = { "MPI_Comm_spawn_multiple", NULL, 0, root, comm };
    int rc;

    if (comm->rank == root) {
        programs = mem_alloc((size_t)count * sizeof *programs);
        call.count = programs ? count : 0;
    }
    for (int i = 0; i < call.count; i++)
        programs[i] = (struct program){ commands[i], argvs ? argvs[i] : NULL, maxprocs[i],
                                        infos[i] == MPI_INFO_NULL ? NULL : obj_info(infos[i]) };
    call.programs = programs;
    rc = spawn(&call, out, codes);
    mem_free(programs);
    return rc;
}

/* Do some of this world have places that others had before? */
static bool has_old_places(void)
{
    for (int proc = dyn_job->first; proc < dyn_job->first + dyn_job->size; proc++)
        if (job_proc(dyn_job->head, proc)->tenant)
            return true;
    return false;
}

/* Once the parents know of the new processes any of them may send to any: all places must be clear by then. */
static int clear_all(struct comm *world)
{
    int rc;

    if (!dyn_job->head->is_spread || !has_old_places())
        return 0;
    world->coll_outer = "MPI_Init";
    rc = coll_run(world, COLL_ARGS(COLL_BARRIER, COLL_NOTHING, COLL_NOTHING, NULL, 0));
    world->coll_outer = NULL;
    return rc;
}

int dyn_meet_parents(struct comm *world)
{
    const struct job_desk *desk = job_desk(dyn_job->head, dyn_job->proc);
    struct comm *parents = NULL;
    int rc = clear_all(world);

    if (!rc)
        rc = comm_inter_with(world, 0, dyn_job->parent, finding_tag(TAG_SPAWN, desk->spawn_number), "MPI_Init",
                             &parents);
    if (rc)
        return rc;
    comm_set_name(parents, "MPI_COMM_PARENT");
    comm_set_parent(parents);
    return 0;
}
