/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: init. Sessions (MPI 5.0 §11.3): beginning and ending them, what they tell of the job, the process sets
 * mpi://WORLD and mpi://SELF. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "init/int_init.h"
#include "obj/errhandler.h"
#include "obj/group.h"
#include "obj/info.h"
#include "obj/session.h"
#include "p2p/p2p.h"

enum pset { PSET_WORLD, PSET_SELF, PSETS };

static const char *const pset_names[PSETS] = { "mpi://WORLD", "mpi://SELF" };

/* --- thread levels, which infos have as texts --- */

static int read_level(struct info *info, int *level)
{
    static const int levels[] = { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                                  MPI_THREAD_MULTIPLE };
    char text[MPI_MAX_INFO_VAL + 1] = "";
    size_t len;
    int flag = 0;
    const int rc = info ? info_get(info, "thread_level", sizeof text, text, &len, &flag) : 0;

    *level = MPI_THREAD_MULTIPLE;
    if (rc || !flag)
        return rc;
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        if (!strcmp(text, init_level_name(levels[i]))) {
            *level = levels[i];
            return 0;
        }
    }
    return err(MPI_ERR_INFO_VALUE, "thread_level is \"%.100s\"; it must be a name from MPI_THREAD_SINGLE to "
               "MPI_THREAD_MULTIPLE", text);
}

/* --- beginning and ending --- */

int init_session_open(struct info *info, struct errhandler *errhandler, struct session **out)
{
    struct session *session;
    int level, rc;

    if (errhandler->action == ERRHANDLER_USER && errhandler->object_kind != OBJ_SESSION)
        return err(MPI_ERR_ERRHANDLER, "errhandler was made for another kind of object than sessions");
    rc = read_level(info, &level);
    if (!rc)
        rc = core_acquire(level, false, &level);
    if (rc)
        return rc;
    session = obj_create(OBJ_SESSION, sizeof *session);
    if (!session) {
        core_release(level, false);
        return err(MPI_ERR_NO_MEM, "no memory for a session");
    }
    session->thread_level = level;
    session->errhandler = errhandler;
    obj_ref(&errhandler->obj);
    *out = session;
    return 0;
}

int init_session_close(struct session *session)
{
    int rc = init_check_forked();

    if (rc)
        return rc;
    rc = p2p_buffer_drop(&session->buffer);
    core_release(session->thread_level, false);
    errhandler_unref(session->errhandler);
    obj_destroy(&session->obj);
    return rc;
}

/* `rc` of filling it; an info that is not whole is not given out. */
static int info_done(int rc, struct info **info)
{
    if (rc) {
        info_unref(*info);
        *info = NULL;
    }
    return rc;
}

int init_session_info(const struct session *session, struct info **out)
{
    int rc = info_create(out);

    if (rc)
        return rc;
    rc = info_set(*out, "thread_level", init_level_name(session->thread_level));
    if (!rc)
        rc = info_set(*out, "mpi_memory_alloc_kinds", "mpi,system");
    return info_done(rc, out);
}

/* --- process sets --- */

/* PSETS: there is no such set. Their names are URIs, in which capitals make no difference up to the path. */
static enum pset pset_find(const char *name)
{
    enum pset set = PSET_WORLD;

    while (set < PSETS && strcasecmp(name, pset_names[set]))
        set++;
    return set;
}

int init_session_psets(void)
{
    return PSETS;
}

int init_session_pset_name(int n, int *len, char *name)
{
    const int room = *len;

    if (n < 0 || n >= PSETS)
        return err(MPI_ERR_ARG, "n is %d; there are %d process sets, from 0 on", n, PSETS);
    if (room < 0)
        return err(MPI_ERR_ARG, "pset_len is %d; it must not be negative", room);
    if (room && !name)
        return err(MPI_ERR_ARG, "pset_name is NULL; pset_len is %d", room);
    *len = (int)strlen(pset_names[n]) + 1;
    if (room > 0)
        snprintf(name, (size_t)room, "%s", pset_names[n]);
    return 0;
}

int init_session_pset_info(const char *name, struct info **out)
{
    const enum pset set = pset_find(name);
    char size[16];
    int rc;

    if (set == PSETS)
        return err(MPI_ERR_ARG, "pset_name is \"%.100s\", which is no process set", name);
    snprintf(size, sizeof size, "%d", set == PSET_WORLD ? process.job.size : 1);
    rc = info_create(out);
    return rc ? rc : info_done(info_set(*out, "mpi_size", size), out);
}

int init_session_group(struct session *session, const char *name, struct group **out)
{
    const struct pm_job *job = &process.job;
    const enum pset set = pset_find(name);
    int rc;

    if (set == PSETS)
        return 0;
    rc = set == PSET_WORLD ? group_create_stride(job->size, 0, 1, job->rank, out)
                           : group_create_stride(1, job->rank, 1, job->rank, out);
    if (!rc)
        (*out)->session = session;
    return rc;
}
