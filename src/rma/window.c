/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Windows as objects: ending them, what can be asked of them, names and attributes (MPI 5.0 §7.7.3, §7.8,
 * §12.2.3, §12.2.5, §12.2.6). Knows: coll, comm. Does not know: how they are made, epochs. */
#include "rma/window.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "coll/coll.h"
#include "comm/comm.h"
#include "obj/attr.h"
#include "obj/errhandler.h"
#include "obj/user_memory.h"
#include "rma/favour.h"
#include "rma/heap.h"
#include "rma/int_rma.h"

/* All windows of this process. */
static struct {
    pthread_mutex_t lock;
    struct win *first; /* guarded by lock, as is `next` of each */
} windows = { .lock = PTHREAD_MUTEX_INITIALIZER };

void rma_init(const struct rma_config *config)
{
    heap_open(config);
}

void rma_fini(void)
{
    windows.first = NULL;
    win_serve_fini();
    request_close();
    heap_close();
}

/* --- the list --- */

void win_enter(struct win *win)
{
    pthread_mutex_lock(&windows.lock);
    win->next = windows.first;
    windows.first = win;
    pthread_mutex_unlock(&windows.lock);
}

void win_leave(struct win *win)
{
    pthread_mutex_lock(&windows.lock);
    for (struct win **place = &windows.first; *place; place = &(*place)->next) {
        if (*place == win) {
            *place = win->next;
            break;
        }
    }
    pthread_mutex_unlock(&windows.lock);
}

struct win *win_find(uint32_t ctx)
{
    struct win *win;

    pthread_mutex_lock(&windows.lock);
    for (win = windows.first; win && win->comm->ctx != ctx; win = win->next)
        ;
    pthread_mutex_unlock(&windows.lock);
    return win;
}

/* --- the end --- */

static void give_back(const struct win *win, struct win_shared *shared)
{
    heap_unmap(shared->start, shared->size);
    if (shared->offset && win->rank == win->home)
        heap_give(shared->offset);
}

void win_dispose(struct win *win)
{
    win_detach_all(win);
    give_back(win, &win->shared_memory);
    give_back(win, &win->shared_control);
    mem_free(win->private_control);
    user_memory_free(win->private_memory);
    mem_free(win->start_ranks);
    mem_free(win->target);
    if (win->comm)
        comm_unref(win->comm);
    if (win->errhandler)
        errhandler_unref(win->errhandler);
    pthread_mutex_destroy(&win->lock);
    obj_destroy(&win->obj);
}

int win_free(struct win *win)
{
    int rc = win->start_count >= 0 || win->post_count >= 0 || win->epoch > WIN_EPOCH_FENCE
                 ? win_bad_epoch(win, "MPI_Win_free")
                 : 0;
    int refused;

    if (!rc)
        rc = attr_delete_all(&win->obj, &win->attrs);
    if (rc)
        return rc;
    win_far_settle(win);
    refused = win_complete_messages(win, -1, false, "MPI_Win_free");
    win_favour_settle(win);
    win->comm->coll_outer = "MPI_Win_free";
    rc = coll_barrier(win->comm);
    win_leave(win);
    win_message_close(win);
    win_dispose(win);
    return rc ? rc : refused;
}

/* --- asking --- */

const char *win_label(const struct win *win, char text[WIN_LABEL_SIZE])
{
    if (win->name[0])
        snprintf(text, WIN_LABEL_SIZE, "%s", win->name);
    else
        snprintf(text, WIN_LABEL_SIZE, "a window of %d process%s", win->size, win->size == 1 ? "" : "es");
    return text;
}

struct group *win_group(struct win *win)
{
    obj_ref(&win->comm->group->obj);
    return win->comm->group;
}

void win_set_name(struct win *win, const char *name)
{
    const size_t len = obj_name_len(name);
    char label[WIN_LABEL_SIZE];

    obj_names_lock();
    memmove(win->name, name, len);
    win->name[len] = 0;
    win_label(win, label);
    obj_names_unlock();
    comm_set_name(win->comm, label); /* for reports */
}

void win_get_name(const struct win *win, char *name, int *len)
{
    obj_names_lock();
    *len = snprintf(name, MPI_MAX_OBJECT_NAME, "%s", win ? win->name : "MPI_WIN_NULL");
    obj_names_unlock();
}

int win_get_attr(const struct win *win, int keyval, void *value, int *flag)
{
    const void *attribute;

    switch (keyval) {
    case MPI_WIN_BASE: attribute = win->base; break;
    case MPI_WIN_SIZE: attribute = &win->bytes; break;
    case MPI_WIN_DISP_UNIT: attribute = &win->disp_unit; break;
    case MPI_WIN_CREATE_FLAVOR: attribute = &win->create_flavor; break;
    case MPI_WIN_MODEL: attribute = &win->model; break;
    default: return attr_get(&win->obj, &win->attrs, keyval, value, flag);
    }
    *flag = 1;
    memcpy(value, &attribute, sizeof attribute);
    return 0;
}

/* The lowest rank that has some memory, for MPI_PROC_NULL; else rank 0. */
static int first_with_memory(const struct win *win)
{
    for (int rank = 0; rank < win->size; rank++)
        if (win->target[rank].size)
            return rank;
    return 0;
}

int win_shared_query(const struct win *win, int rank, MPI_Count *size, MPI_Count *disp_unit, void *base_out)
{
    const struct win_target *target;
    const int rc = win_check_rank(win, rank);
    void *base;

    if (rc)
        return rc;
    if (win->create_flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return err(MPI_ERR_RMA_FLAVOR, "a dynamic window has no memory that could be shared");
    target = &win->target[rank == MPI_PROC_NULL ? first_with_memory(win) : rank];
    base = target->size ? target->base : NULL;
    *size = base ? (MPI_Count)target->size : 0;
    *disp_unit = (MPI_Count)target->unit;
    memcpy(base_out, &base, sizeof base);
    return 0;
}
