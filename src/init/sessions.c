/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: init. Sessions (MPI 5.0 §11.3): beginning and ending them, what they tell of the job. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "comm/comm.h"
#include "init/int_init.h"
#include "obj/errhandler.h"
#include "obj/group.h"
#include "obj/info.h"
#include "obj/memory_kinds.h"
#include "obj/session.h"
#include "p2p/p2p.h"

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
    char kinds[MPI_MAX_INFO_VAL + 1];
    static _Atomic uint64_t last;
    struct session *session;
    int level, rc, wants_kinds = 0;
    size_t length;

    if (errhandler->action == ERRHANDLER_USER && errhandler->object_kind != OBJ_SESSION)
        return err(MPI_ERR_ERRHANDLER, "errhandler was made for another kind of object than sessions");
    rc = read_level(info, &level);
    if (!rc && info)
        rc = info_get(info, "mpi_memory_alloc_kinds", sizeof kinds, kinds, &length, &wants_kinds);
    if (!rc)
        rc = core_acquire(level, false, &level);
    if (rc)
        return rc;
    session = obj_create(OBJ_SESSION, sizeof *session);
    if (!session) {
        core_release(level, false);
        return err(MPI_ERR_NO_MEM, "no memory for a session");
    }
    session->number = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
    session->thread_level = level;
    memory_kinds_provide(wants_kinds ? kinds : process.memory_kinds_wanted, session->memory_kinds);
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
        rc = info_set(*out, "mpi_memory_alloc_kinds", session->memory_kinds);
    return info_done(rc, out);
}

/* --- process sets --- */

int init_session_pset_name(int n, int *len, char *name)
{
    const int room = *len, sets = comm_pset_count();
    char whole[MPI_MAX_PSET_NAME_LEN];

    if (n < 0 || n >= sets)
        return err(MPI_ERR_ARG, "n is %d; there are %d process sets, from 0 on", n, sets);
    if (room < 0)
        return err(MPI_ERR_ARG, "pset_len is %d; it must not be negative", room);
    if (room && !name)
        return err(MPI_ERR_ARG, "pset_name is NULL; pset_len is %d", room);
    comm_pset_name(n, whole);
    *len = (int)strlen(whole) + 1;
    if (room > 0)
        snprintf(name, (size_t)room, "%s", whole);
    return 0;
}

int init_session_pset_info(const char *name, struct info **out)
{
    struct group *group;
    char size[16];
    int rc = comm_pset_group(name, &group);

    if (rc)
        return rc;
    if (!group)
        return err(MPI_ERR_ARG, "pset_name is \"%.100s\", which is no process set", name);
    snprintf(size, sizeof size, "%d", group->size);
    group_unref(group);
    rc = info_create(out);
    return rc ? rc : info_done(info_set(*out, "mpi_size", size), out);
}

int init_session_group(struct session *session, const char *name, struct group **out)
{
    const int rc = comm_pset_group(name, out);

    if (!rc && *out)
        (*out)->session = (struct session_ref){ session, session->number };
    return rc;
}
