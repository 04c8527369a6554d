/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. MPI_Comm_create_from_group (MPI 5.0 §7.4.2): a communicator without an old one. The first process of the
 * group takes a context and tells it to the others along a tree, over the library's own communicator, or, if they are
 * of several clients of IMPI, over that of all clients, where processes are called by their joint ranks. If they are of
 * three jobs or more, they agree on a circle of contexts (circle.c), up and down the same tree: all say which ones are
 * busy, the first one chooses, all enter it, and if another thread of one of them has been faster, it begins anew.
 *
 * A call is known by its string and its group. The message's tag is a hash of them, so a thread may get a message that
 * is meant for another thread, whose call has the same hash: it is laid aside as a stray, and the other finds it there.
 * Jobs number processes differently, so messages name their senders.
 * Knows: p2p, progress, sys (places). */
#include <endian.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/list.h"
#include "comm/joint_ids.h"
#include "obj/errhandler.h"
#include "p2p/p2p.h"
#include "progress/progress.h"

/* What is told. The string's zero ends the message; what is not of an agreement begins with `from`. Clients
 * may be of different machines, so `from`, `hash` and a context have their highest byte first. */
struct news {
    uint64_t busy[COMM_CIRCLE_WORDS];
    uint64_t from;      /* the sender's name */
    uint32_t ctx;       /* of an agreement: 1 + the circle that is chosen, or whether all have entered it */
    uint32_t hash;      /* of the group */
    char stringtag[MPI_MAX_STRINGTAG_LEN];
};

struct stray {
    struct list link;
    const struct comm *place;
    int tag;
    struct news news;
};

static struct {
    pthread_mutex_t lock;
    struct list list;   /* struct stray, oldest first; guarded by lock */
} strays = { PTHREAD_MUTEX_INITIALIZER, { &strays.list, &strays.list } };

/* One call in a process. */
struct call {
    const struct group *group;
    struct comm *place; /* where it is told: comm_own or comm_clients_own */
    struct news news;   /* what it tells, … */
    struct news heard;  /* … and what it has heard last */
    int tag;
    bool is_agreement;
    bool is_mixed;      /* there are several jobs: ranks in messages mean nothing */
    int source;         /* who is awaited, his rank there, … */
    uint64_t from;      /* … his name */
    struct message *message; /* some message with that tag has come */
    bool has_stray;          /* or the news lay among the strays, … */
    int failed;              /* … or none will come: the error */
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

/* That all members have for a process, highest byte first. */
static uint64_t name_in(const struct comm *place, int proc)
{
    return htobe64(place == &comm_own ? place_name(proc) : (uint64_t)comm_rank_in(place, proc));
}

uint32_t comm_hash_group(const struct comm *place, const struct group *group)
{
    uint32_t hash = HASH_START;

    for (int rank = 0; rank < group->size; rank++) {
        const uint64_t name = name_in(place, group_proc(group, rank));
        hash = hash_bytes(hash, &name, sizeof name);
    }
    return hash;
}

uint32_t comm_hash_string(const char *text)
{
    return hash_bytes(HASH_START, text, strlen(text));
}

/* Those of its kind begin there. */
static size_t begin_of(const struct call *call)
{
    return call->is_agreement ? 0 : offsetof(struct news, from);
}

static bool is_meant(const struct call *call, const struct news *news)
{
    return news->from == call->from && news->hash == call->news.hash &&
           !strcmp(news->stringtag, call->news.stringtag);
}

/* With the lock. */
static struct stray *stray_find(const struct call *call)
{
    LIST_FOR_EACH(link, &strays.list) {
        struct stray *stray = CONTAINER_OF(link, struct stray, link);
        if (stray->place == call->place && stray->tag == call->tag && is_meant(call, &stray->news))
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
    call->heard = stray->news;
    mem_free(stray);
    return true;
}

static int stray_add(const struct call *call)
{
    struct stray *stray = mem_alloc(sizeof *stray);

    if (!stray)
        return err(MPI_ERR_NO_MEM, "no memory for a message of another call");
    stray->place = call->place;
    stray->tag = call->tag;
    stray->news = call->heard;
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
        call->failed = p2p_improbe(call->place, call->is_mixed ? MPI_ANY_SOURCE : call->source, call->tag, &flag,
                                   &call->message, NULL);
    return call->has_stray || call->failed || flag;
}

bool comm_describe_wait(const struct progress_long *wait, struct blocked *out)
{
    const struct call *call = wait->arg;

    if (wait->is_done != has_come)
        return false;
    *out = (struct blocked){ .call = "MPI_Comm_create_from_group", .comm = call->place, .way = BLOCKED_RECEIVING,
                             .peer = call->source, .tag = call->tag, .count = -1, .may_return = true };
    return true;
}

/* Wait for what that member tells in this call. */
static int hear(struct call *call, int rank)
{
    const size_t begin = begin_of(call);
    bool is_there = false;
    int rc = 0;

    call->source = comm_rank_in(call->place, group_proc(call->group, rank));
    call->from = name_in(call->place, group_proc(call->group, rank));
    while (!rc && !is_there) {
        progress_wait_until(has_come, call);
        if (call->has_stray || call->failed)
            return call->failed;
        rc = p2p_mrecv(call->message, (char *)&call->heard + begin, (MPI_Count)(sizeof call->heard - begin),
                       obj_type(MPI_BYTE), NULL);
        is_there = !rc && is_meant(call, &call->heard);
        if (!rc && !is_there)
            rc = stray_add(call);
    }
    return rc;
}

static int tell(const struct call *call, int rank)
{
    const size_t begin = begin_of(call), end = offsetof(struct news, stringtag) + strlen(call->news.stringtag) + 1;

    return p2p_send(call->place, (const char *)&call->news + begin, (MPI_Count)(end - begin), obj_type(MPI_BYTE),
                    comm_rank_in(call->place, group_proc(call->group, rank)), call->tag);
}

/* Ranks that are one of `bits` higher, from `highest` on. Returns the bits of those that could not be told; *rc is the
 * error. */
static int tell_below(const struct call *call, int highest, int bits, int *rc)
{
    int missed = 0, failed;

    for (int bit = highest; bit > 0; bit >>= 1) {
        if (!(bits & bit) || call->group->rank + bit >= call->group->size)
            continue;
        failed = tell(call, call->group->rank + bit);
        if (unlikely(failed)) {
            missed |= bit;
            *rc = failed;
        }
    }
    return missed;
}

/* Instead. */
static COLD void fail_below(const struct call *call, int highest, int bits, int failed)
{
    for (int bit = highest; bit > 0; bit >>= 1)
        if (bits & bit && call->group->rank + bit < call->group->size)
            p2p_tell_cause(call->place, failed,
                           comm_rank_in(call->place, group_proc(call->group, call->group->rank + bit)), call->tag, 0);
}

/* With the rank in the group. */
static COLD int failed_at(const struct call *call, int rc)
{
    char text[ERR_TEXT_SIZE];

    err_text(rc, text, sizeof text);
    return err(err_class(rc), "E0339: the call has failed at rank %d of the group: %s", call->group->rank, text);
}

/* Binomial tree: a rank hears from the one without its lowest bit, and tells those that have one bit more below it. Who
 * has `failed` tells that; what needs memory may be had in the meantime. */
static int spread(struct call *call, int failed)
{
    enum { TRIES = 4 };
    const int rank = call->group->rank, size = call->group->size;
    int bit = 1, rc = 0, missed;

    while (bit < size && !(rank & bit))
        bit <<= 1;
    if (rank) {
        rc = hear(call, rank - bit);
        call->news.ctx = likely(!rc) ? call->heard.ctx : 0;
    }
    if (unlikely(failed || rc)) {
        fail_below(call, bit >> 1, -1, failed ? failed_at(call, failed) : rc);
        return failed ? failed : rc;
    }
    missed = tell_below(call, bit >> 1, -1, &rc);
    for (int i = 0; unlikely(missed) && i < TRIES; i++) {
        progress_poll();
        missed = tell_below(call, bit >> 1, missed, &rc);
    }
    if (likely(!missed))
        return 0;
    fail_below(call, bit >> 1, missed, failed_at(call, rc));
    return rc;
}

/* The other way: what anybody has busy, and the least context. */
static int gather(struct call *call)
{
    const int rank = call->group->rank, size = call->group->size;
    int bit = 1, rc = 0;

    for (; bit < size && !(rank & bit) && !rc; bit <<= 1) {
        if (rank + bit >= size)
            continue;
        rc = hear(call, rank + bit);
        for (int i = 0; i < COMM_CIRCLE_WORDS; i++)
            call->news.busy[i] |= call->heard.busy[i];
        if (call->heard.ctx < call->news.ctx)
            call->news.ctx = call->heard.ctx;
    }
    return rc || !rank ? rc : tell(call, rank & (rank - 1));
}

static void begin(struct call *call, struct comm *place, const struct group *group, const char *stringtag,
                  bool is_agreement)
{
    enum { AGREEMENT = 1 << 30 };
    const uint32_t hash = comm_hash_group(place, group);

    memset(call, 0, sizeof *call);
    call->group = group;
    call->place = place;
    call->is_agreement = is_agreement;
    call->is_mixed = comm_abroad_in_group(group);
    call->news.from = name_in(place, comm_world.proc);
    call->news.hash = htobe32(hash);
    snprintf(call->news.stringtag, sizeof call->news.stringtag, "%s", stringtag);
    call->tag = (int)((comm_hash_string(stringtag) ^ hash) & (AGREEMENT - 1));
    call->tag |= is_agreement ? AGREEMENT : 0;
}

/* One try; *ctx is 0 if another thread was faster somewhere. */
static int enter_circle(struct call *call, uint32_t *ctx)
{
    const struct group *group = call->group;
    bool has_entered;
    int circle, rc;

    memset(call->news.busy, 0, sizeof call->news.busy);
    comm_circles_busy(call->news.busy);
    rc = gather(call);
    if (group->rank == 0)
        call->news.ctx = (uint32_t)(comm_circle_choose(call->news.busy, call->news.hash) + 1);
    if (!rc)
        rc = spread(call, 0);
    if (rc)
        return rc;
    circle = (int)call->news.ctx - 1;
    if (circle < 0)
        return err(MPI_ERR_OTHER, "there are so many communicators over several jobs that one of their processes has "
                   "no contexts left");
    has_entered = comm_circle_enter(circle, group->rank, group->size);
    call->news.ctx = has_entered;
    rc = gather(call);
    if (!rc)
        rc = spread(call, 0);
    *ctx = comm_circle_first(circle);
    if (has_entered && (rc || !call->news.ctx))
        comm_circle_count(*ctx, -1);
    *ctx *= call->news.ctx;
    return rc;
}

int comm_circle_agree(const struct group *group, const char *name, uint32_t *ctx)
{
    struct call call;
    int rc = 0;

    *ctx = 0;
    begin(&call, &comm_own, group, name, true);
    while (!rc && !*ctx)
        rc = enter_circle(&call, ctx);
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

/* Of processes that are of one job or of two, or of several clients. Who has `failed` may get a context all the
 * same. */
static int be_told(struct comm *place, const struct group *group, const char *stringtag, uint32_t *ctx, int failed)
{
    struct call call;
    int rc;

    begin(&call, place, group, stringtag, false);
    *ctx = 0;
    if (group->rank == 0 && likely(!failed))
        failed = place == &comm_own ? comm_ctx_take_among(group, ctx) : comm_clients_take_own(ctx);
    call.news.ctx = htobe32(*ctx);
    rc = spread(&call, failed);
    *ctx = be32toh(call.news.ctx);
    return rc;
}

/* Others have it, all or those above this process in the tree. */
static COLD int give_up(const struct group *group, struct comm *made, uint32_t ctx, int rc, bool is_known_below)
{
    if (made)
        comm_abandon(made);
    if (is_known_below)
        comm_break_above(group, ctx, rc);
    else
        comm_break(group, ctx, rc);
    return rc;
}

int comm_create_by_numbers(struct group *group, const char *stringtag, struct errhandler *errhandler,
                           struct comm **out)
{
    const struct comm like = { .errhandler = errhandler, .session = group->session };
    struct comm *place = &comm_own, *made;
    bool has_many;
    uint32_t ctx;
    int rc = check_call(group, stringtag, errhandler), failed;

    if (!rc && unlikely(comm_world.joint))
        rc = comm_clients_find_place(group, NULL, "MPI_Comm_create_from_group", &place);
    if (rc || !group->size)
        return rc;
    made = comm_prepare(&like, group, group);
    failed = likely(made) ? 0 : comm_no_object();
    has_many = comm_is_of_many(group, group);
    rc = has_many ? comm_circle_agree(group, stringtag, &ctx) : be_told(place, group, stringtag, &ctx, failed);
    if (unlikely(!made || rc))
        rc = give_up(group, made, ctx, rc ? rc : failed, failed && !has_many);
    else if (unlikely((rc = comm_open(made, ctx))))
        comm_break(group, ctx, rc);
    else
        *out = made;
    if (has_many && ctx)
        comm_circle_count(ctx, -1);
    return rc;
}

int comm_create_from_group(struct group *group, const char *stringtag, struct errhandler *errhandler,
                           struct comm **out)
{
    struct group *known;
    int rc = comm_group_known(group, comm_is_in_world(group), &known);

    if (rc)
        return rc;
    rc = comm_create_by_numbers(known, stringtag, errhandler, out);
    group_unref(known);
    return rc;
}
