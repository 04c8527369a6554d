/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. Communicators between two groups (MPI 5.0 §7.6, and §7.4.2 for intercommunicators). All of them are made
 * in one way: the groups' leaders meet, that is exchange what their sides bring and agree on a context; then each tells
 * its own side. Both sides use the same context: a process hears there only from the other side. For this, for its
 * duplicates and for what else is collective, an intercommunicator has a communicator of its local group (comm->local).
 * Knows: coll, p2p. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "coll/coll.h"
#include "comm/joint_ids.h"
#include "obj/errhandler.h"
#include "p2p/lane.h"
#include "p2p/p2p.h"
#include "progress/progress.h"

/* What a leader tells the other one, in the same words on all machines. */
struct offer {
    uint64_t error;   /* class; 0: none */
    uint64_t word;
    uint64_t ctx;     /* of the new communicator, from the leader that is before the other one; else 0 */
    uint64_t id;      /* the same if it is over several clients */
    uint64_t is_named, has_foreign; /* whether its group is all of the joint world, or over several clients */
    uint64_t is_mixed; /* or over several jobs, in a call that makes the first communicator of both groups */
    uint64_t size;    /* bytes that follow */
};

enum { WORDS_OF_OFFER = sizeof(struct offer) / sizeof(uint64_t),
       MOST_DATA = INT_MAX, /* more is none that another job of this library would tell */
       WORDS_OF_AGREED = offsetof(struct agreed, data) / sizeof(uint64_t) };

static struct type *type_of_words(void)
{
    return obj_type(MPI_UINT64_T);
}

/* What follows; of so many bytes. */
static struct type *type_of_data(const struct meeting *m)
{
    return obj_type(m->has_numbers ? MPI_INT32_T : MPI_BYTE);
}

static MPI_Count count_of_data(const struct meeting *m, uint64_t size)
{
    return (MPI_Count)(m->has_numbers ? size / sizeof(int32_t) : size);
}

enum { TRIES = 4,                /* of what needs memory */
       FAILED_ELSEWHERE = 339 }; /* the id */

static int await(struct req *req)
{
    int rc;

    if (!req_is_done(req))
        progress_wait(&req->done, req->hint);
    rc = req->error;
    req->ops->release(req);
    return rc;
}

static int begin_to_send(const struct meeting *m, struct type *type, const void *mine, MPI_Count count,
                         struct req **out)
{
    const int tag = comm_clients_leader_tag(m->peer, m->tag);
    int rc = p2p_isend_now(m->peer, mine, count, type, m->remote, tag, P2P_STANDARD | P2P_COLL, out);

    for (int i = 0; unlikely(rc) && i < TRIES; i++) {
        progress_poll();
        rc = p2p_isend_now(m->peer, mine, count, type, m->remote, tag, P2P_STANDARD | P2P_COLL, out);
    }
    return rc;
}

/* Who has `failed` tells the other leader that in place of what is `mine`, and takes in what that one tells. */
static int swap(const struct meeting *m, struct type *type, const void *mine, MPI_Count count, void *theirs,
                MPI_Count their_count, int failed)
{
    const int tag = comm_clients_leader_tag(m->peer, m->tag);
    struct req *send = NULL;
    int rc, sent;

    m->peer->notes.sent = 0;
    if (likely(!failed))
        failed = begin_to_send(m, type, mine, count, &send);
    if (unlikely(failed))
        p2p_tell_cause(m->peer, coll_failed_at(m->peer, failed), m->remote, tag, P2P_COLL);
    rc = p2p_recv(m->peer, theirs, their_count, type, m->remote, tag, P2P_COLL, NULL);
    sent = send ? await(send) : failed;
    if (unlikely(failed))
        return failed;
    return rc ? rc : sent;
}

/* Where what the other side tells will stand. `agreed` stays where it is. */
static int alloc_data(const struct meeting *m, struct agreed *agreed)
{
    agreed->data = m->into ? m->into : agreed->size < sizeof agreed->room ? agreed->room : NULL;
    if (!agreed->data)
        agreed->data = agreed->memory = mem_alloc(agreed->size + 1);
    if (!agreed->data)
        return err(MPI_ERR_NO_MEM, "no memory for %zu bytes from the other group", (size_t)agreed->size);
    memset(agreed->data, 0, agreed->size); /* less may come than has been announced */
    return 0;
}

void comm_agreed_drop(struct agreed *agreed)
{
    mem_free(agreed->memory);
    agreed->memory = agreed->data = NULL;
}

static int other_leader(const struct meeting *m)
{
    return group_proc(m->peer->remote_group, m->remote);
}

static int take(int (*from)(uint32_t *ctx), uint64_t *ctx)
{
    uint32_t taken = 0;
    const int rc = from(&taken);

    *ctx = taken;
    return rc;
}

/* Contexts for this side, and the common one if that is this leader's part: which of the two it is to be is known when
 * the other one has told of its group. */
static int take_contexts(const struct meeting *m, struct agreed *agreed, struct offer *mine)
{
    const int remote = other_leader(m);
    uint32_t ctx = 0;
    int rc = comm_world.joint ? comm_clients_check_alike(m->local->group, m->call) : 0;

    if (!rc && m->what_for == MEET_FOR_BOTH)
        rc = comm_ctx_take_for(m->local, &ctx);
    agreed->local_ctx = ctx;
    if (rc || m->what_for == MEET_FOR_NONE || !comm_is_before(comm_world.proc, remote))
        return rc;
    if (mine->is_named)
        rc = take(comm_clients_take_own, &mine->id);
    if (rc || (comm_is_foreign(remote) && !m->bond))
        return rc;
    if (m->bond)
        rc = comm_ctx_take_abroad(m->bond, &ctx);
    else
        rc = comm_ctx_take_for(!m->is_new && comm_abroad_in(m->peer) ? m->peer : m->local, &ctx);
    mine->ctx = ctx;
    return rc;
}

/* No communicator has been made with them. */
static void return_contexts(const struct meeting *m, uint32_t ctx, uint32_t local_ctx)
{
    if (m->local->rank != m->leader)
        return;
    if (comm_is_before(comm_world.proc, other_leader(m)))
        comm_ctx_return(ctx);
    comm_ctx_return(local_ctx);
}

static int check_other(const struct meeting *m)
{
    int proc;

    if (!m->peer)
        return err(MPI_ERR_COMM, "peer_comm is no communicator, at the leader of the local group");
    if (m->remote < 0 || m->remote >= m->peer->remote_size)
        return err(MPI_ERR_RANK, "remote_leader is %d; peer_comm has ranks 0 to %d", m->remote,
                   m->peer->remote_size - 1);
    proc = other_leader(m);
    if (group_rank_of(m->local->group, proc) != MPI_UNDEFINED)
        return err(MPI_ERR_RANK, "remote_leader is %d in peer_comm, which is rank %d of the local group", m->remote,
                   group_rank_of(m->local->group, proc));
    return 0;
}

/* Of the two leaders, the same at both. */
static uint64_t chief_of(const struct meeting *m, bool is_before)
{
    const int chief = is_before ? comm_world.proc : other_leader(m);

    return comm_is_foreign(other_leader(m)) ? (uint64_t)joint_rank(comm_world.joint, chief) : place_name(chief);
}

/* What follows from both offers. */
static int conclude(const struct meeting *m, const struct offer *mine, const struct offer *theirs,
                    struct agreed *agreed)
{
    const bool spans = !m->is_of_jobs && (mine->has_foreign || theirs->has_foreign || comm_is_foreign(other_leader(m)));
    const bool is_before = comm_is_before(comm_world.proc, other_leader(m));

    /* all that are in the joint world, and are called as its members in at least one of the groups */
    agreed->is_joint = spans && mine->is_named && theirs->is_named;
    agreed->needs_jobs = spans && !agreed->is_joint;
    agreed->is_mixed = !spans && (mine->is_mixed || theirs->is_mixed || (m->is_new && place_abroad(other_leader(m))));
    agreed->chief = chief_of(m, is_before);
    agreed->word = theirs->word;
    agreed->size = theirs->size;
    agreed->ctx = spans ? mine->id | theirs->id : mine->ctx | theirs->ctx;
    if (unlikely(theirs->size > MOST_DATA) || (m->named && (theirs->size % COMM_NAME_SIZE)) ||
        (m->expected && theirs->size != m->expected))
        return err(MPI_ERR_OTHER, "the leader of the other group tells of it in %" PRIu64 " bytes, which makes no "
                   "sense", theirs->size);
    return alloc_data(m, agreed);
}

/* Also of one who has failed: the other leader waits for it. */
static int swap_data(const struct meeting *m, struct agreed *agreed, int failed)
{
    struct type *const type = type_of_data(m);
    char few[ROOM_OF_AGREED];
    void *names = m->named && m->size > sizeof few ? mem_alloc(m->size) : few;
    int rc;

    if (unlikely(!names && !failed))
        failed = err(MPI_ERR_NO_MEM, "no memory for a group of %d", m->named->size);
    if (m->named && likely(!failed))
        comm_list_names(m->named, agreed->is_joint, names);
    rc = swap(m, type, m->named ? names : m->data, count_of_data(m, m->size), agreed->data,
              agreed->data ? count_of_data(m, agreed->size) : 0, failed);
    if (names != few)
        mem_free(names);
    return rc;
}

/* The leader's part with the other leader. */
static int lead(const struct meeting *m, struct agreed *agreed)
{
    struct offer mine = {
        .word = agreed->own_word,
        .size = m->size,
        .is_named = !m->is_of_jobs && comm_clients_are_named(m->local->group),
        .has_foreign = comm_world.joint && comm_clients_has_foreign(m->local->group),
        .is_mixed = m->is_of_jobs || (m->is_new && comm_abroad_in_group(m->local->group)),
    };
    struct offer theirs;
    int rc = check_other(m), failed;

    if (rc)
        return rc;
    failed = m->failed ? m->failed : take_contexts(m, agreed, &mine);
    mine.error = failed ? (uint64_t)err_class(failed) : 0;
    rc = swap(m, type_of_words(), &mine, WORDS_OF_OFFER, &theirs, WORDS_OF_OFFER, 0);
    if (failed || rc)
        return failed ? failed : rc;
    if (theirs.error)
        return err(theirs.error <= ERR_CLASS_MASK ? (int)theirs.error : MPI_ERR_OTHER,
                   "E0339: the leader of the other group has failed");
    return swap_data(m, agreed, conclude(m, &mine, &theirs, agreed));
}

/* What the leader has learnt, to all of its side. */
static int tell(const struct meeting *m, struct agreed *agreed, int led)
{
    struct type *words = type_of_words();
    void *data = agreed->data;
    int rc;

    agreed->error = led ? (uint64_t)err_class(led) : 0;
    rc = coll_run(m->local, COLL_ARGS(COLL_BCAST, COLL_SAME(agreed, WORDS_OF_AGREED, words), COLL_NOTHING, NULL,
                                      m->leader));
    if (led || rc)
        return led ? led : rc;
    if (agreed->error)
        return err((int)agreed->error, "E0339: the leader of the local group, its rank %d, has failed", m->leader);
    if (!data)
        rc = alloc_data(m, agreed);
    for (int i = 0; unlikely(rc) && i < TRIES; i++) { /* the others wait in the next call */
        progress_poll();
        rc = alloc_data(m, agreed);
    }
    if (!rc && agreed->size)
        rc = coll_run(m->local, COLL_ARGS(COLL_BCAST, COLL_SAME(agreed->data, count_of_data(m, agreed->size),
                                                                type_of_data(m)), COLL_NOTHING, NULL, m->leader));
    return rc;
}

int comm_meet(const struct meeting *m, struct agreed *agreed)
{
    const char *outer = m->local->coll_outer;
    int rc = 0;

    memset(agreed, 0, offsetof(struct agreed, room));
    agreed->own_word = (uint64_t)m->word;
    m->local->coll_outer = m->call;
    if (m->local->rank == m->leader)
        rc = lead(m, agreed);
    rc = tell(m, agreed, rc);
    m->local->coll_outer = outer;
    if (rc)
        comm_agreed_drop(agreed);
    return rc;
}

/* The meeting of the two sides of an intercommunicator. */
static struct meeting meeting_of(struct comm *comm, const char *call)
{
    return (struct meeting){ .local = comm->local, .peer = comm, .tag = COLL_SIDES_TAG, .call = call };
}

/* --- its making --- */

static int check_apart(const struct group *local, const struct group *remote)
{
    struct group_index index;
    int rc = 0;

    group_index_open(&index, local);
    for (int rank = 0; rank < remote->size && !rc; rank++) {
        if (group_index_find(&index, group_proc(remote, rank)) != MPI_UNDEFINED)
            rc = err(MPI_ERR_COMM, "the two groups overlap: process %d is in both", group_proc(remote, rank));
    }
    group_index_close(&index);
    return rc;
}

/* This process has no part of what the others have agreed on. */
static COLD void break_both(const struct group *group, const struct group *remote, const struct agreed *agreed, int rc)
{
    comm_break(group, (uint32_t)agreed->local_ctx, rc);
    comm_break(group, (uint32_t)agreed->ctx, rc);
    comm_break(remote, (uint32_t)agreed->ctx, rc);
}

/* After an error of a meeting: of this process alone, or of all. */
static COLD void break_missed(const struct group *group, const struct group *remote, const struct agreed *agreed,
                              int rc)
{
    if (!agreed->error)
        break_both(group, remote, agreed, rc);
}

/* Both groups lose a reference of the caller. */
static int make_both(const struct comm *parent, struct group *group, struct group *remote, const struct agreed *agreed,
                     struct comm **out)
{
    struct comm *local;
    int rc;

    obj_ref(&group->obj);
    obj_ref(&group->obj);
    obj_ref(&remote->obj);
    rc = comm_make(parent, group, (uint32_t)agreed->local_ctx, &local);
    if (likely(!rc)) {
        rc = comm_make_inter(parent, local, group, remote, (uint32_t)agreed->ctx, out);
    } else {
        group_unref(group);
        group_unref(remote);
    }
    if (unlikely(rc))
        break_both(group, remote, agreed, rc);
    group_unref(group);
    group_unref(remote);
    return rc;
}

/* Some of them may be new, with numbers that others have had. */
static int renew(const struct group *group)
{
    int rc = 0;

    for (int rank = 0; rank < group->size && !rc; rank++)
        rc = p2p_renew(group_proc(group, rank));
    return rc;
}

/* The other group, which is another one, and can be sent to. */
static int find_remote(const struct comm *parent, const struct group *group, const struct agreed *agreed,
                       struct group **out)
{
    int rc = comm_group_named(agreed, out);

    if (rc)
        return rc;
    (*out)->session = parent->session;
    rc = renew(*out);
    if (!rc)
        rc = check_apart(group, *out);
    if (rc) {
        group_unref(*out);
        *out = NULL;
    }
    return rc;
}

static int meet_and_make(struct meeting *m, const struct comm *parent, struct group *group, struct comm **out);

/* There are others than those of the joint world. */
static int meet_of_jobs(const struct meeting *first, struct comm **out)
{
    struct meeting m = *first;
    struct comm *known = NULL;
    int rc;

    m.failed = comm_as_jobs(first->local, first->call, &known);
    m.local = known ? known : first->local;
    m.is_of_jobs = true;
    rc = meet_and_make(&m, m.local, m.local->group, out);
    if (known)
        comm_unref(known);
    return m.failed ? m.failed : rc;
}

/* Meet with a group to tell, and make. The caller keeps its reference to the group. No communicator if this process is
 * in none of the groups, or one is empty. */
static int meet_and_make(struct meeting *m, const struct comm *parent, struct group *group, struct comm **out)
{
    struct agreed agreed;
    uint32_t first;
    struct group *remote = NULL;
    int rc;

    m->named = group;
    m->size = (size_t)group->size * COMM_NAME_SIZE;
    rc = comm_meet(m, &agreed);
    if (rc)
        return rc;
    if (unlikely(agreed.needs_jobs)) {
        comm_agreed_drop(&agreed);
        return_contexts(m, (uint32_t)agreed.ctx, (uint32_t)agreed.local_ctx);
        return meet_of_jobs(m, out);
    }
    first = (uint32_t)agreed.ctx;
    if (agreed.is_mixed)
        rc = comm_introduce(m);
    if (!rc)
        rc = find_remote(parent, group, &agreed, &remote);
    if (unlikely(rc) && err_class(rc) == MPI_ERR_NO_MEM && !agreed.is_mixed) { /* any other error is that of all */
        comm_break(group, (uint32_t)agreed.local_ctx, rc);
        comm_break(group, (uint32_t)agreed.ctx, rc);
        comm_break_named(&agreed, rc);
    }
    comm_agreed_drop(&agreed);
    if (agreed.is_mixed) {
        rc = comm_settle(m, remote, rc, &agreed);
        return_contexts(m, first, 0);
    }
    if (rc)
        return rc;
    if (group->size == 0 || remote->size == 0)
        return_contexts(m, (uint32_t)agreed.ctx, (uint32_t)agreed.local_ctx);
    if (group->rank != MPI_UNDEFINED && remote->size) {
        obj_ref(&group->obj);
        rc = make_both(parent, group, remote, &agreed, out);
    } else {
        group_unref(remote);
    }
    if (agreed.is_mixed)
        comm_circle_count((uint32_t)agreed.ctx, -1);
    return rc;
}

int comm_inter_create(struct comm *local, int leader, struct comm *peer, int remote, int tag, struct comm **out)
{
    struct meeting m = { .local = local, .leader = leader, .peer = peer, .remote = remote,
                         .tag = coll_leader_tag(tag), .is_new = true, .call = "MPI_Intercomm_create" };

    return meet_and_make(&m, local, local->group, out);
}

int comm_inter_with(struct comm *local, int leader, int proc, int tag, const char *call, struct comm **out)
{
    struct meeting m = { .local = local, .leader = leader, .peer = &comm_own, .remote = proc,
                         .tag = coll_leader_tag(tag), .is_new = true, .call = call };
    const int rc = local->rank == leader ? p2p_renew(proc) : 0;

    return rc ? rc : meet_and_make(&m, local, local->group, out);
}

/* Where the two leaders meet who are of different jobs, and can have no communicator that both number alike. */
static int open_meeting_place(struct comm *place, int proc, int tag)
{
    int rc = p2p_renew(proc);

    *place = (struct comm){ .size = 1, .remote_size = 1, .is_inter = true, .errhandler = &errhandler_fatal,
                            .ctx = comm_ctx_of_call(place_abroad(proc), (uint32_t)tag) };
    obj_init(&place->obj, OBJ_COMM);
    if (!rc)
        rc = group_create_list(1, &comm_world.proc, comm_world.proc, &place->group);
    if (!rc)
        rc = group_create_list(1, &proc, comm_world.proc, &place->remote_group);
    if (!rc)
        rc = p2p_comm_open(place);
    if (!rc)
        comm_links_count(place->remote_group, 1);
    return rc;
}

static void close_meeting_place(struct comm *place, bool is_open)
{
    if (is_open) {
        comm_links_count(place->remote_group, -1);
        p2p_comm_close(place);
    }
    group_unref(place->remote_group);
    group_unref(place->group);
}

int comm_inter_abroad(struct comm *local, int leader, int proc, int tag, const char *call, struct comm **out)
{
    struct meeting m = { .local = local, .leader = leader, .tag = coll_leader_tag(0), .is_new = true, .call = call };
    struct comm place;
    int opened, rc;

    if (local->rank != leader)
        return meet_and_make(&m, local, local->group, out);
    opened = open_meeting_place(&place, proc, tag);
    m.peer = opened ? NULL : &place;
    rc = meet_and_make(&m, local, local->group, out);
    close_meeting_place(&place, !opened);
    return opened ? opened : rc;
}

int comm_inter_create_sub(struct comm *comm, struct group *group, struct comm **out)
{
    struct meeting m = meeting_of(comm, "MPI_Comm_create");

    return meet_and_make(&m, comm, group, out);
}

int comm_inter_dup(struct comm *comm, struct comm **out)
{
    const struct meeting m = meeting_of(comm, "MPI_Comm_dup");
    struct agreed agreed;
    int rc = comm_meet(&m, &agreed);

    if (rc) {
        break_missed(comm->group, comm->remote_group, &agreed, rc);
        return rc;
    }
    comm_agreed_drop(&agreed);
    obj_ref(&comm->group->obj);
    obj_ref(&comm->remote_group->obj);
    return make_both(comm, comm->group, comm->remote_group, &agreed, out);
}

/* --- without a communicator before it --- */

static int tag_of_sides(const struct comm *place, const struct comm_sides *sides, const char *stringtag)
{
    const uint32_t hash = comm_hash_string(stringtag) ^ comm_hash_group(place, sides->local) ^
                          comm_hash_group(place, sides->remote);

    return coll_leader_tag((int)(hash & INT_MAX));
}

/* At the leader: 0, or the error of a member who could not make this one, and so will not learn of the next one. */
static int have_all(struct comm *local, int leader)
{
    struct type *number = obj_type(MPI_INT32_T);
    int32_t one = 1, all = 0;

    return local->size == 1 ? 0 : coll_run(local, COLL_ARGS(COLL_REDUCE, COLL_SAME(&one, 1, number),
                                                            COLL_SAME(&all, 1, number), obj_op(MPI_SUM), leader));
}

/* Over a communicator of the library's own; the two leaders find each other by a hash of string and groups. */
static int meet_by_name(struct comm *place, struct comm *local, const struct comm_sides *sides, const char *stringtag,
                        struct agreed *agreed)
{
    const struct group *remote = sides->remote;
    const struct meeting m = { .local = local, .leader = sides->local_leader, .peer = place,
                               .remote = comm_rank_in(place, group_proc(remote, sides->remote_leader)),
                               .tag = tag_of_sides(place, sides, stringtag), .what_for = MEET_FOR_ONE,
                               .is_new = true, .failed = have_all(local, sides->local_leader),
                               .call = "MPI_Intercomm_create_from_groups" };

    return comm_meet(&m, agreed);
}

/* There is none: the other leader learns of it. */
static COLD void fail_by_name(struct comm *place, const struct comm_sides *sides, const char *stringtag, int failed)
{
    const struct meeting m = { .peer = place,
                               .remote = comm_rank_in(place, group_proc(sides->remote, sides->remote_leader)),
                               .tag = tag_of_sides(place, sides, stringtag) };
    const struct offer mine = { .error = (uint64_t)err_class(failed) };
    struct offer theirs;

    if (sides->local->rank == sides->local_leader)
        swap(&m, type_of_words(), &mine, WORDS_OF_OFFER, &theirs, WORDS_OF_OFFER, 0);
}

/* They can be of several jobs: over a communicator of both groups. */
static int meet_over_both(struct comm *local, const struct comm_sides *sides, const char *stringtag,
                          struct errhandler *errhandler, struct comm **out)
{
    struct meeting m = { .local = local, .leader = sides->local_leader, .tag = coll_leader_tag(0), .is_new = true,
                         .call = "MPI_Intercomm_create_from_groups" };
    struct group *group;
    int rc = comm_group_of_both(sides->local, sides->remote, &group);

    if (rc)
        return rc;
    rc = comm_create_by_numbers(group, stringtag, errhandler, &m.peer);
    m.remote = group_rank_of(group, group_proc(sides->remote, sides->remote_leader));
    group_unref(group);
    if (rc)
        return rc;
    rc = meet_and_make(&m, local, local->group, out);
    comm_unref(m.peer);
    return rc;
}

static int create_from_sides(const struct comm_sides *sides, const char *stringtag, struct errhandler *errhandler,
                             struct comm **out)
{
    struct group *group = sides->local, *remote = sides->remote;
    struct comm *local = NULL, *place = &comm_own;
    struct agreed agreed;
    int rc = check_apart(group, remote);

    if (!rc && unlikely(comm_world.joint))
        rc = comm_clients_find_place(group, remote, "MPI_Intercomm_create_from_groups", &place);
    if (!rc)
        rc = comm_create_by_numbers(group, stringtag, errhandler, &local);
    if (unlikely(rc) && err_class(rc) == MPI_ERR_NO_MEM && !comm_abroad_in_group(group) &&
        !comm_abroad_in_group(remote))
        fail_by_name(place, sides, stringtag, rc);
    if (rc || !local)
        return rc;
    if (comm_abroad_in_group(group) || comm_abroad_in_group(remote)) {
        rc = meet_over_both(local, sides, stringtag, errhandler, out);
        comm_unref(local);
        return rc;
    }
    rc = meet_by_name(place, local, sides, stringtag, &agreed);
    if (rc) {
        break_missed(group, remote, &agreed, rc);
        if (err_id(rc) != FAILED_ELSEWHERE) /* perhaps in a call on this one, where others wait */
            comm_break(group, local->ctx, rc);
        local->is_ended = true;
        comm_unref(local);
        return rc;
    }
    comm_agreed_drop(&agreed);
    obj_ref(&group->obj);
    obj_ref(&remote->obj);
    agreed.local_ctx = local->ctx;
    rc = comm_make_inter(local, local, group, remote, (uint32_t)agreed.ctx, out);
    if (unlikely(rc))
        break_both(group, remote, &agreed, rc);
    return rc;
}

int comm_inter_create_from_groups(const struct comm_sides *sides, const char *stringtag, struct errhandler *errhandler,
                                  struct comm **out)
{
    const bool is_in_world = comm_is_in_world(sides->local) && comm_is_in_world(sides->remote);
    struct comm_sides known = *sides;
    int rc = comm_group_known(sides->local, is_in_world, &known.local);

    if (rc)
        return rc;
    rc = comm_group_known(sides->remote, is_in_world, &known.remote);
    if (!rc) {
        rc = create_from_sides(&known, stringtag, errhandler, out);
        group_unref(known.remote);
    }
    group_unref(known.local);
    return rc;
}

/* --- merging --- */

int comm_inter_merge(struct comm *comm, int high, struct comm **out)
{
    struct meeting m = meeting_of(comm, "MPI_Intercomm_merge");
    struct agreed agreed;
    struct group *group;
    int rc;

    m.word = !!high;
    m.what_for = MEET_FOR_ONE;
    rc = comm_meet(&m, &agreed);
    if (rc) {
        break_missed(comm->group, comm->remote_group, &agreed, rc);
        return rc;
    }
    comm_agreed_drop(&agreed);
    if (agreed.own_word != (uint64_t)!!high)
        return err(MPI_ERR_ARG, "high is %s here and %s at rank 0 of the local group", high ? "true" : "false",
                   agreed.own_word ? "true" : "false");
    /* both say the same: the order is free, but common */
    if (agreed.own_word == agreed.word)
        agreed.own_word = !comm_is_before(group_proc(comm->group, 0), group_proc(comm->remote_group, 0));
    rc = agreed.own_word ? comm_group_join(comm->remote_group, comm->group, &group)
                         : comm_group_join(comm->group, comm->remote_group, &group);
    if (likely(!rc)) {
        group->session = comm->session;
        rc = comm_make(comm, group, (uint32_t)agreed.ctx, out);
    }
    if (unlikely(rc)) {
        comm_break(comm->group, (uint32_t)agreed.ctx, rc);
        comm_break(comm->remote_group, (uint32_t)agreed.ctx, rc);
    }
    return rc;
}

/* --- splitting --- */

static int swap_of_split(struct comm *comm, const void *data, size_t size, bool has_numbers, void *theirs)
{
    struct meeting m = meeting_of(comm, "MPI_Comm_split");
    struct agreed agreed;

    m.data = data;
    m.size = size;
    m.expected = size / (size_t)comm->size * (size_t)comm->remote_size; /* as much of each member */
    m.into = theirs;
    m.has_numbers = has_numbers;
    m.what_for = MEET_FOR_NONE;
    return comm_meet(&m, &agreed);
}

int comm_inter_swap(struct comm *comm, const void *data, size_t size, void *theirs)
{
    return swap_of_split(comm, data, size, false, theirs);
}

/* One side of a split. */
struct side {
    const struct group *whole;
    struct split_entry *entries;
    struct split_member *members;
    int count; /* of those with the color */
    struct split_entry first;
};

/* Those with this color. Error: of one of them that has failed. */
static int look_at_side(struct side *side, int color, const char *name)
{
    side->count = comm_split_order(side->entries, side->whole->size, color, side->members);
    if (!side->count)
        return 0;
    side->first = side->entries[side->members[0].rank];
    return comm_split_check(side->entries, side->members, side->count, name);
}

/* Neither has this process made what the others have. */
static COLD void break_side(const struct side *side, int color, uint32_t ctx, int rc)
{
    for (int rank = 0; ctx && rank < side->whole->size; rank++)
        if (side->entries[rank].color == color && group_proc(side->whole, rank) != comm_world.proc)
            p2p_break(ctx, group_proc(side->whole, rank), rc);
}

static int split_sides(struct comm *comm, struct side *mine, struct side *theirs, struct comm **out)
{
    const int color = mine->entries[comm->rank].color;
    struct group *group, *remote;
    struct agreed agreed;
    int rc = look_at_side(mine, color, ""), failed;

    if (rc || (rc = look_at_side(theirs, color, " of the remote group")) || !theirs->count)
        return rc;
    agreed.local_ctx = mine->first.local_ctx;
    agreed.ctx = comm_is_before(group_proc(mine->whole, mine->members[0].rank),
                                group_proc(theirs->whole, theirs->members[0].rank)) ? mine->first.ctx
                                                                                     : theirs->first.ctx;
    rc = comm_split_group(comm, mine->whole, mine->members, mine->count, &group);
    failed = rc ? rc : comm_split_group(comm, theirs->whole, theirs->members, theirs->count, &remote);
    if (likely(!failed))
        return make_both(comm, group, remote, &agreed, out);
    if (!rc)
        group_unref(group);
    break_side(mine, color, (uint32_t)agreed.local_ctx, failed);
    break_side(mine, color, (uint32_t)agreed.ctx, failed);
    break_side(theirs, color, (uint32_t)agreed.ctx, failed);
    return failed;
}

/* What this process has taken in vain: the last one first. */
static void return_offered(const struct split_entry *own, const struct comm *made)
{
    if (!made || made->ctx != own->ctx)
        comm_ctx_return(own->ctx);
    if (!made || made->local->ctx != own->local_ctx)
        comm_ctx_return(own->local_ctx);
}

/* An error in `own` is that of this process. */
static int split_among(struct comm *comm, struct split_entry own, struct split_rule *rule, struct side *mine,
                       struct side *theirs, struct comm **out)
{
    int rc, failed = 0;

    if (own.color != MPI_UNDEFINED)
        failed = comm_ctx_take_for(comm->local, &own.local_ctx);
    comm_split_offer(comm, &own, &failed);
    mine->entries[comm->rank] = own;
    rc = comm_split_exchange(comm->local, mine->entries);
    if (!rc)
        rc = swap_of_split(comm, mine->entries, (size_t)comm->size * sizeof own, true, theirs->entries);
    if (!rc && rule)
        rc = rule->refine(rule, comm, mine->entries, theirs->entries);
    if (!rc && mine->entries[comm->rank].color != MPI_UNDEFINED)
        rc = split_sides(comm, mine, theirs, out);
    if (!rc) /* after an error others may use them all the same */
        return_offered(&own, *out);
    return unlikely(rc && failed) ? failed : rc; /* the own error says more */
}

int comm_inter_split(struct comm *comm, struct split_entry own, struct split_rule *rule, struct comm **out)
{
    const size_t size = (size_t)comm->size, both = size + (size_t)comm->remote_size;
    struct split_entry few_entries[SPLIT_FEW], *entries = few_entries;
    struct split_member few_members[SPLIT_FEW], *members = few_members;
    int rc;

    if (both > SPLIT_FEW) {
        entries = mem_alloc(both * (sizeof *entries + sizeof *members));
        if (!entries)
            return err(MPI_ERR_NO_MEM, "no memory for the colors of %zu processes", both);
        members = (struct split_member *)(void *)(entries + both);
    }
    rc = split_among(comm, own, rule, &(struct side){ comm->group, entries, members, 0, { 0 } },
                     &(struct side){ comm->remote_group, entries + size, members + size, 0, { 0 } }, out);
    if (entries != few_entries)
        mem_free(entries);
    return rc;
}
