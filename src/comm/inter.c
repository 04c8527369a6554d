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

static int swap(const struct meeting *m, struct type *type, const void *mine, MPI_Count count, void *theirs,
                MPI_Count their_count)
{
    const int tag = comm_clients_leader_tag(m->peer, m->tag);
    const struct p2p_sendrecv args = {
        .send_buf = mine,
        .send_count = count,
        .send_type = type,
        .dest = m->remote,
        .send_tag = tag,
        .recv_buf = theirs,
        .recv_count = their_count,
        .recv_type = type,
        .source = m->remote,
        .recv_tag = tag,
    };

    m->peer->notes.sent = 0;
    return p2p_sendrecv(m->peer, &args, P2P_COLL, NULL);
}

static int alloc_data(struct agreed *agreed)
{
    agreed->data = mem_zalloc(agreed->size + 1); /* less may come than has been announced */
    return agreed->data ? 0 : err(MPI_ERR_NO_MEM, "no memory for %zu bytes from the other group", (size_t)agreed->size);
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
static void return_contexts(const struct meeting *m, const struct agreed *agreed)
{
    if (m->local->rank != m->leader)
        return;
    if (comm_is_before(comm_world.proc, other_leader(m)))
        comm_ctx_return((uint32_t)agreed->ctx);
    comm_ctx_return((uint32_t)agreed->local_ctx);
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
    if (theirs->size > MOST_DATA || (m->named && (theirs->size % COMM_NAME_SIZE)) ||
        (m->expected && theirs->size != m->expected))
        return err(MPI_ERR_OTHER, "the leader of the other group tells of it in %" PRIu64 " bytes, which makes no "
                   "sense", theirs->size);
    return alloc_data(agreed);
}

static int swap_data(const struct meeting *m, struct agreed *agreed)
{
    struct type *const type = type_of_data(m);
    void *names = NULL;
    int rc = m->named ? comm_list_names(m->named, agreed->is_joint, &names) : 0;

    if (!rc)
        rc = swap(m, type, m->named ? names : m->data, count_of_data(m, m->size), agreed->data,
                  count_of_data(m, agreed->size));
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
    rc = swap(m, type_of_words(), &mine, WORDS_OF_OFFER, &theirs, WORDS_OF_OFFER);
    if (failed || rc)
        return failed ? failed : rc;
    if (theirs.error)
        return err(theirs.error <= ERR_CLASS_MASK ? (int)theirs.error : MPI_ERR_OTHER,
                   "E0339: the leader of the other group has failed");
    rc = conclude(m, &mine, &theirs, agreed);
    return rc ? rc : swap_data(m, agreed);
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
        rc = alloc_data(agreed);
    if (!rc && agreed->size)
        rc = coll_run(m->local, COLL_ARGS(COLL_BCAST, COLL_SAME(agreed->data, count_of_data(m, agreed->size),
                                                                type_of_data(m)), COLL_NOTHING, NULL, m->leader));
    return rc;
}

int comm_meet(const struct meeting *m, struct agreed *agreed)
{
    const char *outer = m->local->coll_outer;
    int rc = 0;

    *agreed = (struct agreed){ .own_word = (uint64_t)m->word };
    m->local->coll_outer = m->call;
    if (m->local->rank == m->leader)
        rc = lead(m, agreed);
    rc = tell(m, agreed, rc);
    m->local->coll_outer = outer;
    if (rc) {
        mem_free(agreed->data);
        agreed->data = NULL;
    }
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
    int rc = group_index_open(&index, local);

    for (int rank = 0; rank < remote->size && !rc; rank++) {
        if (group_index_find(&index, group_proc(remote, rank)) != MPI_UNDEFINED)
            rc = err(MPI_ERR_COMM, "the two groups overlap: process %d is in both", group_proc(remote, rank));
    }
    group_index_close(&index);
    return rc;
}

/* Both groups lose a reference of the caller. */
static int make_both(const struct comm *parent, struct group *group, struct group *remote, const struct agreed *agreed,
                     struct comm **out)
{
    struct comm *local;
    int rc;

    obj_ref(&group->obj);
    rc = comm_make(parent, group, (uint32_t)agreed->local_ctx, &local);
    if (rc) {
        group_unref(group);
        group_unref(remote);
        return rc;
    }
    return comm_make_inter(parent, local, group, remote, (uint32_t)agreed->ctx, out);
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
    struct agreed agreed, first;
    struct group *remote = NULL;
    int rc;

    m->named = group;
    m->size = (size_t)group->size * COMM_NAME_SIZE;
    rc = comm_meet(m, &agreed);
    if (rc)
        return rc;
    if (unlikely(agreed.needs_jobs)) {
        mem_free(agreed.data);
        return_contexts(m, &agreed);
        return meet_of_jobs(m, out);
    }
    first = (struct agreed){ .ctx = agreed.ctx };
    if (agreed.is_mixed)
        rc = comm_introduce(m);
    if (!rc)
        rc = find_remote(parent, group, &agreed, &remote);
    mem_free(agreed.data);
    if (agreed.is_mixed) {
        rc = comm_settle(m, remote, rc, &agreed);
        return_contexts(m, &first);
    }
    if (rc)
        return rc;
    if (group->size == 0 || remote->size == 0)
        return_contexts(m, &agreed);
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

    if (rc)
        return rc;
    mem_free(agreed.data);
    obj_ref(&comm->group->obj);
    obj_ref(&comm->remote_group->obj);
    return make_both(comm, comm->group, comm->remote_group, &agreed, out);
}

/* --- without a communicator before it --- */

/* Over a communicator of the library's own; the two leaders find each other by a hash of string and groups. */
static int meet_by_name(struct comm *place, struct comm *local, const struct comm_sides *sides, const char *stringtag,
                        struct agreed *agreed)
{
    const struct group *remote = sides->remote;
    const uint32_t hash = comm_hash_string(stringtag) ^ comm_hash_group(place, local->group) ^
                          comm_hash_group(place, remote);
    const struct meeting m = { .local = local, .leader = sides->local_leader, .peer = place,
                               .remote = comm_rank_in(place, group_proc(remote, sides->remote_leader)),
                               .tag = coll_leader_tag((int)(hash & INT_MAX)), .what_for = MEET_FOR_ONE,
                               .is_new = true,
                               .call = "MPI_Intercomm_create_from_groups" };

    return comm_meet(&m, agreed);
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
    if (rc || !local)
        return rc;
    if (comm_abroad_in_group(group) || comm_abroad_in_group(remote)) {
        rc = meet_over_both(local, sides, stringtag, errhandler, out);
        comm_unref(local);
        return rc;
    }
    rc = meet_by_name(place, local, sides, stringtag, &agreed);
    if (rc) {
        comm_unref(local);
        return rc;
    }
    mem_free(agreed.data);
    obj_ref(&group->obj);
    obj_ref(&remote->obj);
    return comm_make_inter(local, local, group, remote, (uint32_t)agreed.ctx, out);
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
    if (rc)
        return rc;
    mem_free(agreed.data);
    if (agreed.own_word != (uint64_t)!!high)
        return err(MPI_ERR_ARG, "high is %s here and %s at rank 0 of the local group", high ? "true" : "false",
                   agreed.own_word ? "true" : "false");
    /* both say the same: the order is free, but common */
    if (agreed.own_word == agreed.word)
        agreed.own_word = !comm_is_before(group_proc(comm->group, 0), group_proc(comm->remote_group, 0));
    rc = agreed.own_word ? comm_group_join(comm->remote_group, comm->group, &group)
                         : comm_group_join(comm->group, comm->remote_group, &group);
    if (rc)
        return rc;
    group->session = comm->session;
    return comm_make(comm, group, (uint32_t)agreed.ctx, out);
}

/* --- splitting --- */

static int swap_of_split(struct comm *comm, const void *data, size_t size, bool has_numbers, void **theirs)
{
    struct meeting m = meeting_of(comm, "MPI_Comm_split");
    struct agreed agreed = { 0 };
    int rc;

    m.data = data;
    m.size = size;
    m.expected = size / (size_t)comm->size * (size_t)comm->remote_size; /* as much of each member */
    m.has_numbers = has_numbers;
    m.what_for = MEET_FOR_NONE;
    rc = comm_meet(&m, &agreed);
    *theirs = agreed.data;
    return rc;
}

int comm_inter_swap(struct comm *comm, const void *data, size_t size, void **theirs)
{
    return swap_of_split(comm, data, size, false, theirs);
}

/* The members with this color, in order, of one side. */
static int side_of(const struct comm *comm, const struct group *group, const struct split_entry *entries, int color,
                   struct group **out)
{
    int *procs = mem_alloc((size_t)group->size * sizeof *procs), count, rc;

    if (!procs)
        return err(MPI_ERR_NO_MEM, "no memory for a group of %d", group->size);
    count = comm_split_order(entries, group->size, color, procs);
    for (int i = 0; i < count; i++)
        procs[i] = group_proc(group, procs[i]);
    rc = count < 0 ? -count : group_create_list(count, procs, comm_world.proc, out);
    mem_free(procs);
    if (!rc)
        (*out)->session = comm->session;
    return rc;
}

/* What the first one of a side has offered. */
static const struct split_entry *first_of(const struct group *whole, const struct group *side,
                                          const struct split_entry *entries)
{
    return &entries[group_rank_of(whole, group_proc(side, 0))];
}

static int split_sides(struct comm *comm, const struct split_entry *mine, const struct split_entry *theirs,
                       struct comm **out)
{
    const int color = mine[comm->rank].color;
    struct group *group, *remote;
    struct agreed agreed;
    int rc = side_of(comm, comm->group, mine, color, &group);

    if (rc)
        return rc;
    rc = side_of(comm, comm->remote_group, theirs, color, &remote);
    if (rc || remote->size == 0) {
        group_unref(group);
        group_unref(rc ? NULL : remote);
        return rc;
    }
    agreed.local_ctx = first_of(comm->group, group, mine)->local_ctx;
    if (comm_is_before(group_proc(group, 0), group_proc(remote, 0)))
        agreed.ctx = first_of(comm->group, group, mine)->ctx;
    else
        agreed.ctx = first_of(comm->remote_group, remote, theirs)->ctx;
    if (agreed.ctx && agreed.local_ctx)
        return make_both(comm, group, remote, &agreed, out);
    group_unref(group);
    group_unref(remote);
    return comm_ctx_missing();
}

/* What this process has taken in vain: the last one first. */
static void return_offered(const struct split_entry *own, const struct comm *made)
{
    if (!made || made->ctx != own->ctx)
        comm_ctx_return(own->ctx);
    if (!made || made->local->ctx != own->local_ctx)
        comm_ctx_return(own->local_ctx);
}

int comm_inter_split(struct comm *comm, struct split_entry own, struct split_rule *rule, struct comm **out)
{
    struct split_entry *entries = mem_alloc((size_t)comm->size * sizeof *entries);
    void *theirs = NULL;
    int rc, taken = 0;

    if (!entries)
        return err(MPI_ERR_NO_MEM, "no memory for the colors of %d processes", comm->size);
    if (own.color != MPI_UNDEFINED)
        taken = comm_ctx_take_for(comm->local, &own.local_ctx);
    if (own.local_ctx)
        taken = comm_ctx_take_for(comm, &own.ctx);
    entries[comm->rank] = own;
    rc = comm_split_exchange(comm->local, entries);
    if (!rc)
        rc = swap_of_split(comm, entries, (size_t)comm->size * sizeof *entries, true, &theirs);
    if (!rc && rule)
        rc = rule->refine(rule, comm, entries, theirs);
    if (!rc && entries[comm->rank].color != MPI_UNDEFINED)
        rc = split_sides(comm, entries, theirs, out);
    if (!rc) /* after an error others may use them all the same */
        return_offered(&own, *out);
    mem_free(theirs);
    mem_free(entries);
    return rc && taken ? taken : rc; /* the leader's own error says more */
}
