/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Probing (MPI 5.0 §3.8.1, §3.8.2): the message that the next receive would get, left or taken. */
#include "p2p/int_p2p.h"

struct message message_no_proc;

struct probe {
    struct channel *channel;
    uint64_t key, mask;
    bool takes;               /* a matched probe */
    struct message *message;
    MPI_Status *status;
    int error;
};

static void probe_init(struct probe *probe, struct comm *comm, int source, int tag, bool takes, MPI_Status *status)
{
    *probe = (struct probe){ .channel = channel_of(comm, 0), .takes = takes, .status = status };
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

int p2p_iprobe(struct comm *comm, int source, int tag, int *flag, MPI_Status *status)
{
    struct probe probe;

    *flag = 1;
    if (source == MPI_PROC_NULL) {
        status_set_proc_null(status);
        return 0;
    }
    probe_init(&probe, comm, source, tag, false, status);
    *flag = probe_once(&probe);
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
    *flag = probe_once(&probe);
    *message = probe.message;
    if (!*flag)
        progress_in_vain();
    return probe.error;
}
