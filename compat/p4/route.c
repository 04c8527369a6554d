/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. Where a process is, and the way to it: processes of this host are in one segment; the others are
 * reached by sockets (remote.h). */
#include "p4/int_door.h"
#include "p4/int_message.h"
#include "p4/int_remote.h"

static int16_t place_behind[P4_MAXPROCS]; /* by id: its place in the segment of this host, plus 1; 0: it has none */

void route_set_places(int first, int count, int place)
{
    for (int i = 0; i < count && first + i < P4_MAXPROCS; i++)
        place_behind[first + i] = (int16_t)(place + i + 1);
}

int route_proc(int id)
{
    return place_behind[id] - 1;
}

/* Of processes of other machines that MPI reaches it is known by the end of their connection, if there was one.
 * acquire: what a process did before it left is seen by who sees that it has */
static bool has_left(int proc)
{
    struct job_head *head = door->job->head;

    if (!job_is_near(head, proc, door->job->proc))
        return door->is_lost(proc);
    return atomic_load_explicit(&job_proc(head, proc)->state, memory_order_acquire) >= JOB_FINALISED;
}

bool route_is_far(int id)
{
    const int proc = route_proc(id);

    return id != p4_own.id && proc >= 0 && !job_is_near(door->job->head, proc, door->job->proc);
}

bool route_is_gone(int id)
{
    const int proc = route_proc(id);

    if (id == p4_own.id)
        return false;
    return proc < 0 ? remote_is_gone(id) : has_left(proc);
}

int route_send(int to, const struct envelope *e, const void *data, size_t len, void (*gone)(void *arg), void *arg)
{
    struct p2p_letter letter = { .proc = route_proc(to), .len = len };

    if (unlikely(letter.proc < 0))
        return remote_send(to, e, data, len, gone, arg);
    if (unlikely(to != p4_own.id && has_left(letter.proc)))
        return -1;
    wire_pack(e, letter.word);
    if (likely(!door->send(&letter, data, gone, arg)))
        return 0;
    if (!p4_own.soft_errors)
        p4_error("alloc_p4_msg failed", (int)len);
    return -1;
}

void route_knock(int id)
{
    static bool has_knocked[P4_MAXPROCS];
    const struct envelope e = { .kind = KIND_ACK, .from = p4_own.id }; /* of nothing: the other side waits for none */
    struct p2p_letter letter = { .proc = route_proc(id) };

    if (!route_is_far(id) || has_knocked[id])
        return;
    has_knocked[id] = true;
    wire_pack(&e, letter.word);
    (void)door->send(&letter, NULL, NULL, NULL); /* without memory: nothing is lost but this */
}

bool route_send_at_once(int to, int type, const void *data, size_t len)
{
    const struct envelope e = { .type = type, .from = p4_own.id };
    const int proc = route_proc(to);
    uint64_t word[2];

    if (unlikely(proc < 0 || to == p4_own.id || route_is_far(to) || has_left(proc) || *door->pending))
        return false;
    wire_pack(&e, word);
    return likely(!door->send_at_once(proc, word[0], word[1], data, len));
}

bool route_is_pending(void)
{
    return *door->pending || remote_is_pending();
}

static bool is_lost(int proc)
{
    return proc != route_proc(p4_own.id) && has_left(proc);
}

void route_give_up(void)
{
    door->give_up(is_lost);
    remote_give_up();
}
