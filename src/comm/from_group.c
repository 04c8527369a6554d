/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. MPI_Comm_create_from_group (MPI 5.0 §7.4.2): a communicator without an old one. The first process of the
 * group takes a context and tells it to the others along a tree, over the library's own communicator.
 *
 * A call is known by its string and its group. The message's tag is a hash of them, so a thread may get a message that
 * is meant for another thread, whose call has the same hash: it is laid aside as a stray, and the other finds it there.
 * Knows: p2p, progress. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/list.h"
#include "comm/joint_ids.h"
#include "obj/errhandler.h"
#include "p2p/p2p.h"
#include "progress/progress.h"

/* What is told. The string's zero ends the message. */
struct news {
    uint32_t ctx;
    uint32_t hash;      /* of the group */
    char stringtag[MPI_MAX_STRINGTAG_LEN];
};

struct stray {
    struct list link;
    int source;
    struct news news;
};

static struct {
    pthread_mutex_t lock;
    struct list list;   /* struct stray, oldest first; guarded by lock */
} strays = { PTHREAD_MUTEX_INITIALIZER, { &strays.list, &strays.list } };

/* One call in the process that waits for its news. */
struct call {
    const struct group *group;
    struct news news;   /* but for the context what is waited for */
    int source, tag;
    struct message *message; /* some message with that tag has come */
    bool has_stray;          /* or the news lay among the strays */
};

#define HASH_START UINT32_C(2166136261)

/* FNV-1a */
static uint32_t hash_bytes(uint32_t hash, const void *bytes, size_t len)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ p[i]) * UINT32_C(16777619);
    return hash;
}

uint32_t comm_hash_group(const struct group *group)
{
    uint32_t hash = HASH_START;

    for (int rank = 0; rank < group->size; rank++) {
        const int proc = group_proc(group, rank);
        hash = hash_bytes(hash, &proc, sizeof proc);
    }
    return hash;
}

uint32_t comm_hash_string(const char *text)
{
    return hash_bytes(HASH_START, text, strlen(text));
}

static size_t news_len(const struct news *news)
{
    return offsetof(struct news, stringtag) + strlen(news->stringtag) + 1;
}

static bool is_same(const struct news *a, const struct news *b)
{
    return a->hash == b->hash && !strcmp(a->stringtag, b->stringtag);
}

/* With the lock. */
static struct stray *stray_find(const struct call *call)
{
    LIST_FOR_EACH(link, &strays.list) {
        struct stray *stray = CONTAINER_OF(link, struct stray, link);
        if (stray->source == call->source && is_same(&stray->news, &call->news))
            return stray;
    }
    return NULL;
}

static bool stray_take(struct call *call)
{
    struct stray *stray;

    pthread_mutex_lock(&strays.lock);
    stray = stray_find(call);
    if (stray)
        list_remove(&stray->link);
    pthread_mutex_unlock(&strays.lock);
    if (!stray)
        return false;
    call->news.ctx = stray->news.ctx;
    mem_free(stray);
    return true;
}

static int stray_add(int source, const struct news *news)
{
    struct stray *stray = mem_alloc(sizeof *stray);

    if (!stray)
        return err(MPI_ERR_NO_MEM, "no memory for a message of another call");
    stray->source = source;
    stray->news = *news;
    pthread_mutex_lock(&strays.lock);
    list_append(&strays.list, &stray->link);
    pthread_mutex_unlock(&strays.lock);
    progress_notify();
    return 0;
}

void comm_drop_strays(void)
{
    LIST_FOR_EACH_SAFE(link, &strays.list) {
        list_remove(link);
        mem_free(CONTAINER_OF(link, struct stray, link));
    }
}

static bool has_come(void *arg)
{
    struct call *call = arg;
    int flag = 0;

    call->has_stray = stray_take(call);
    if (!call->has_stray)
        p2p_improbe(&comm_own, call->source, call->tag, &flag, &call->message, NULL);
    return call->has_stray || flag;
}

bool comm_describe_wait(const struct progress_long *wait, struct blocked *out)
{
    const struct call *call = wait->arg;

    if (wait->is_done != has_come)
        return false;
    *out = (struct blocked){ .call = "MPI_Comm_create_from_group", .comm = &comm_own, .way = BLOCKED_RECEIVING,
                             .peer = call->source, .tag = call->tag, .count = -1, .may_return = true };
    return true;
}

/* Wait for the news of this call. */
static int hear(struct call *call)
{
    struct news news;
    int rc = 0;

    while (!rc) {
        progress_wait_until(has_come, call);
        if (call->has_stray)
            return 0;
        rc = p2p_mrecv(call->message, &news, sizeof news, obj_type(MPI_BYTE), NULL);
        if (!rc && is_same(&news, &call->news)) {
            call->news.ctx = news.ctx;
            return 0;
        }
        if (!rc)
            rc = stray_add(call->source, &news);
    }
    return rc;
}

static int tell(const struct call *call, int rank)
{
    return p2p_send(&comm_own, &call->news, (MPI_Count)news_len(&call->news), obj_type(MPI_BYTE),
                    group_proc(call->group, rank), call->tag);
}

/* Binomial tree: a rank hears from the one without its lowest bit, and tells those that have one bit more below it. */
static int spread(struct call *call)
{
    const int rank = call->group->rank, size = call->group->size;
    int bit = 1, rc = 0;

    while (bit < size && !(rank & bit))
        bit <<= 1;
    if (rank) {
        call->source = group_proc(call->group, rank - bit);
        rc = hear(call);
    }
    for (bit >>= 1; bit > 0 && !rc; bit >>= 1) {
        if (rank + bit < size)
            rc = tell(call, rank + bit);
    }
    return rc;
}

static int check_call(const struct group *group, const char *stringtag, const struct errhandler *errhandler)
{
    if (strnlen(stringtag, MPI_MAX_STRINGTAG_LEN) == MPI_MAX_STRINGTAG_LEN)
        return err(MPI_ERR_ARG, "stringtag has %zu characters; it may have %d", strlen(stringtag),
                   MPI_MAX_STRINGTAG_LEN - 1);
    if (errhandler->action == ERRHANDLER_USER && errhandler->object_kind != OBJ_COMM)
        return err(MPI_ERR_ERRHANDLER, "errhandler was made for another kind of object than communicators");
    if (group->size && group->rank == MPI_UNDEFINED)
        return err(MPI_ERR_GROUP, "this process is not in the group of %d", group->size);
    return 0;
}

int comm_create_from_group(struct group *group, const char *stringtag, struct errhandler *errhandler,
                           struct comm **out)
{
    const struct comm like = { .errhandler = errhandler, .session = group->session };
    struct call call = { .group = group };
    int rc = check_call(group, stringtag, errhandler), taken = 0;

    if (!rc)
        rc = comm_clients_check_group(group, "MPI_Comm_create_from_group");
    if (!rc)
        rc = comm_abroad_check_group(group, "MPI_Comm_create_from_group");
    if (rc || !group->size)
        return rc;
    call.news.hash = comm_hash_group(group);
    snprintf(call.news.stringtag, sizeof call.news.stringtag, "%s", stringtag);
    call.tag = (int)((comm_hash_string(stringtag) ^ call.news.hash) & INT32_MAX);
    if (group->rank == 0)
        taken = comm_ctx_take(&call.news.ctx);
    rc = spread(&call);
    if (taken || rc)
        return taken ? taken : rc;
    if (!call.news.ctx)
        return comm_ctx_missing();
    obj_ref(&group->obj);
    return comm_make(&like, group, call.news.ctx, out);
}
