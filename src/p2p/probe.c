/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Probing (MPI 5.0 §3.8.1, §3.8.2): the message that the next receive would get, left or taken. */
#include "p2p/int_p2p.h"

struct message message_no_proc;

struct probe {
    struct channel *channel;
    uint64_t key, mask;
    bool takes;               /* a matched probe */
    bool is_of_any;           /* source */
    bool is_quiet;            /* looks, and tells nobody */
    bool was_told;            /* what it has found has been told of before */
    struct message *message;
    MPI_Status *status;
    int error;
};

static void probe_init(struct probe *probe, struct comm *comm, int source, int tag, bool takes, MPI_Status *status)
{
    *probe = (struct probe){ .channel = channel_of(comm, 0), .takes = takes,
                              .is_of_any = source == MPI_ANY_SOURCE, .status = status };
    probe->key = match_key(source, tag);
    probe->mask = match_mask(source == MPI_ANY_SOURCE, tag == MPI_ANY_TAG);
}

/* A taken message keeps its communicator alive until it is received. Also true if it cannot come any more. */
static bool try_probe(void *arg)
{
    struct probe *probe = arg;
    struct lane *lane = probe->channel->lane;
    struct match_arrival *found;

    lane_lock(lane);
    found = match_probe(&probe->channel->match, probe->key, probe->mask);
    if (found) {
        probe->message = CONTAINER_OF(found, struct message, arrival);
        status_set(probe->status, probe->message->source, probe->message->tag, (MPI_Count)probe->message->len, false);
        if (unlikely(probe->message->kind == WIRE_FOREIGN))
            status_set_external(probe->status);
        probe->was_told = probe->message->is_told;
        probe->message->is_told |= !probe->is_quiet;
        if (probe->takes) {
            match_take(&probe->channel->match, found);
            obj_init(&probe->message->obj, OBJ_MESSAGE);
            obj_ref(&probe->channel->comm->obj);
        }
    } else if (unlikely(lane->holds)) {
        held_want(probe->channel, probe->key, probe->mask);
    }
    if (unlikely(lane->losses) && !found)
        probe->error = lost_of_key(probe->channel, probe->key, probe->mask);
    lane_unlock(lane);
    return found || probe->error;
}

int p2p_probe(struct comm *comm, int source, int tag, MPI_Status *status)
{
    struct probe probe;

    if (source == MPI_PROC_NULL) {
        status_set_proc_null(status);
        return 0;
    }
    probe_init(&probe, comm, source, tag, false, status);
    progress_wait_until(try_probe, &probe);
    return probe.error;
}

int p2p_mprobe(struct comm *comm, int source, int tag, struct message **message, MPI_Status *status)
{
    struct probe probe;

    *message = &message_no_proc;
    if (source == MPI_PROC_NULL) {
        status_set_proc_null(status);
        return 0;
    }
    probe_init(&probe, comm, source, tag, true, status);
    progress_wait_until(try_probe, &probe);
    *message = probe.message;
    return probe.error;
}

bool probe_describe(const struct progress_long *wait, struct blocked *out)
{
    const struct probe *probe = wait->arg;

    if (wait->is_done != try_probe)
        return false;
    *out = (struct blocked){ .comm = probe->channel->comm, .count = -1 };
    out->call = probe->takes ? "MPI_Mprobe" : "MPI_Probe";
    describe_key(probe->key, probe->mask, out);
    return true;
}

/* Look, and if there is nothing, poll and look again: one call of the user's is enough to see what has come. */
static bool probe_once(struct probe *probe)
{
    if (try_probe(probe))
        return true;
    progress_poll();
    return try_probe(probe);
}

/* --- one round of a program behind the other --- */

/* How often in a row a message is put off. */
enum { PUT_OFF_MOST = 8 };

/* Programs exchange messages in rounds without knowing who sends to whom: each sends synchronously, begins MPI_Ibarrier
 * when its sends are over, and until that is over takes what MPI_Iprobe finds from anybody. Many use one tag for all
 * rounds, look for messages first and test the barrier afterwards, and so may take a message of the next round, of a
 * process that has seen the end of the barrier earlier. With a processor for each that is rare, else frequent. So while
 * a barrier is over that the user has not been told of, a message that has not been told of either comes behind it: to
 * a probe of any source it is not there yet, as if it had come a little later, which no program can tell. A program
 * that never asks for the barrier gets it all the same. */
static NOINLINE bool probe_behind(struct probe *probe)
{
    struct comm_epochs *epochs = &probe->channel->comm->epochs;
    MPI_Status status;
    struct probe look = *probe;

    look.takes = false;
    look.is_quiet = true;
    look.status = &status;
    if (!probe_once(&look))
        return false;
    if (!look.error && !look.was_told) {
        progress_poll(); /* after the message was found: whoever has sent it behind the barrier has seen the end */
        if (atomic_load_explicit(&epochs->over, memory_order_relaxed) &&
            atomic_fetch_add_explicit(&epochs->put_off, 1, memory_order_relaxed) < PUT_OFF_MOST)
            return false;
    }
    return probe_once(probe);
}

static inline bool probe_now(struct probe *probe)
{
    if (unlikely(atomic_load_explicit(&probe->channel->comm->epochs.begun, memory_order_relaxed)) && probe->is_of_any)
        return probe_behind(probe);
    return probe_once(probe);
}

int p2p_iprobe(struct comm *comm, int source, int tag, int *flag, MPI_Status *status)
{
    struct probe probe;

    *flag = 1;
    if (source == MPI_PROC_NULL) {
        status_set_proc_null(status);
        return 0;
    }
    probe_init(&probe, comm, source, tag, false, status);
    *flag = probe_now(&probe);
    if (!*flag)
        progress_in_vain();
    return probe.error;
}

int p2p_improbe(struct comm *comm, int source, int tag, int *flag, struct message **message, MPI_Status *status)
{
    struct probe probe;

    *flag = 1;
    *message = &message_no_proc;
    if (source == MPI_PROC_NULL) {
        status_set_proc_null(status);
        return 0;
    }
    probe_init(&probe, comm, source, tag, true, status);
    *flag = probe_now(&probe);
    *message = probe.message;
    if (!*flag)
        progress_in_vain();
    return probe.error;
}
