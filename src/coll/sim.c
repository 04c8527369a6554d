/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll, for tests. Running the schedules of many processes in one. Knows: schedules. Does not know: p2p, or what
 * an algorithm is for. */
#include "coll/sim.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

enum { LEAST_QUEUE_BITS = 6, MOST_QUEUE_BITS = 15 };

/* A message that has been begun on one side only. */
struct sim_message {
    struct sim_message *next;
    uint64_t key;
    int rank, step;      /* whose */
    bool is_send;
    bool is_void;        /* sent in place of what cannot be supplied */
    void *data;          /* eager: packed */
    size_t len;
    double time;         /* when it was begun; eager: when it arrives */
    int depth;
};

struct sim_queue {
    struct sim_message *first, *last;
};

struct sim_state {
    double time; /* when what it comes after is over */
    int depth;
};

/* A step is over. */
struct sim_event {
    double key; /* the smallest is taken first */
    int rank, step;
};

struct sim_events { /* a heap */
    struct sim_event *all;
    size_t count, room;
};

static uint64_t any(struct sim *sim)
{
    sim->random ^= sim->random << 13;
    sim->random ^= sim->random >> 7;
    sim->random ^= sim->random << 17;
    return sim->random;
}

/* --- events --- */

static void put(struct sim *sim, int rank, int step, double time)
{
    struct sim_events *events = sim->events;
    const struct sim_event event = { sim->config.seed ? (double)(any(sim) >> 11) : time, rank, step };
    size_t at = events->count++;

    if (events->count > events->room) {
        events->room = 2 * events->room + 64;
        events->all = mem_realloc(events->all, events->room * sizeof *events->all);
        CHECK(events->all);
    }
    for (; at && event.key < events->all[(at - 1) / 2].key; at = (at - 1) / 2)
        events->all[at] = events->all[(at - 1) / 2];
    events->all[at] = event;
}

static struct sim_event take(struct sim_events *events)
{
    const struct sim_event first = events->all[0], last = events->all[--events->count];
    size_t at = 0, below;

    while ((below = 2 * at + 1) < events->count) {
        if (below + 1 < events->count && events->all[below + 1].key < events->all[below].key)
            below++;
        if (last.key <= events->all[below].key)
            break;
        events->all[at] = events->all[below];
        at = below;
    }
    events->all[at] = last;
    return first;
}

/* --- messages --- */

static struct sim_queue *queue_of(struct sim *sim, uint64_t key)
{
    return &sim->queues[(key * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - sim->queue_bits)];
}

/* The oldest one of the other side, taken out of its queue; or NULL. */
static struct sim_message *find(struct sim *sim, uint64_t key, bool is_send)
{
    struct sim_queue *queue = queue_of(sim, key);
    struct sim_message *before = NULL;

    for (struct sim_message *m = queue->first; m; before = m, m = m->next) {
        if (m->key != key || m->is_send == is_send)
            continue;
        if (before)
            before->next = m->next;
        else
            queue->first = m->next;
        if (queue->last == m)
            queue->last = before;
        return m;
    }
    return NULL;
}

static struct sim_message *keep(struct sim *sim, const struct sim_message *what)
{
    struct sim_message *m = mem_alloc(sizeof *m);
    struct sim_queue *queue = queue_of(sim, what->key);

    CHECK(m);
    *m = *what;
    m->next = NULL;
    if (queue->first)
        queue->last->next = m;
    else
        queue->first = m;
    queue->last = m;
    return m;
}

static double max(double a, double b)
{
    return a > b ? a : b;
}

/* When a message arrives that may leave at `time`. */
static double travel(struct sim *sim, int source, int dest, size_t len, double time)
{
    struct sim_rank *from = &sim->ranks[source], *to = &sim->ranks[dest];
    const double cost = sim->config.alpha + sim->config.beta * (double)len, start = max(time, from->out_free);

    from->out_free = start + cost;
    to->in_free = max(start, to->in_free) + cost;
    return to->in_free;
}

static const struct coll_block *block_of(const struct sim *sim, const struct sim_message *m)
{
    return &sim->ranks[m->rank].sched.steps[m->step].from;
}

static void count_message(struct sim *sim, const struct sim_message *send, int dest)
{
    const struct coll_layout *layout = sim->config.layout;
    struct sim_rank *from = &sim->ranks[send->rank];

    if (layout && layout->node_of[send->rank] != layout->node_of[dest]) {
        sim->counts.far_messages++;
        sim->counts.far_bytes += send->len;
    }
    sim->counts.messages++;
    sim->counts.bytes += send->len;
    from->messages++;
    from->bytes += send->len;
    if (from->messages > sim->counts.most_messages)
        sim->counts.most_messages = from->messages;
    if (from->bytes > sim->counts.most_bytes)
        sim->counts.most_bytes = from->bytes;
}

/* What a step waits for will not come. */
static void lose(struct sim *sim, int rank, int i)
{
    struct sched *s = &sim->ranks[rank].sched;

    s->error = MPI_ERR_PROC_ABORTED;
    if (s->steps[i].kind == SCHED_RECV)
        sched_make_void(&s->steps[i]);
    put(sim, rank, i, sim->ranks[rank].state[i].time);
}

/* Both sides are there. */
static void deliver(struct sim *sim, const struct sim_message *send, const struct sim_message *recv)
{
    const struct coll_block *to = block_of(sim, recv), *from = block_of(sim, send);
    struct sim_state *state = &sim->ranks[recv->rank].state[recv->step];
    const bool is_up_to = sim->ranks[recv->rank].sched.steps[recv->step].is_up_to;
    double arrival;

    if (send->is_void)
        lose(sim, recv->rank, recv->step);
    else if ((is_up_to ? send->len > recv->len : send->len != recv->len) && !*sim->trouble)
        snprintf(sim->trouble, sizeof sim->trouble, "rank %d sends %zu bytes, rank %d expects %zu (step %d)",
                 send->rank, send->len, recv->rank, recv->len, recv->step);
    else if (send->data)
        type_unpack(to->type, to->buf, to->count, 0, send->data, send->len);
    else
        type_copy(to->buf, to->count, to->type, from->buf, from->count, from->type);
    arrival = sim->config.is_rendezvous
                  ? travel(sim, send->rank, recv->rank, send->len, max(send->time, recv->time))
                  : max(send->time, recv->time);
    state->time = arrival;
    state->depth = (send->depth + 1 > recv->depth) ? send->depth + 1 : recv->depth;
    if (!send->is_void)
        put(sim, recv->rank, recv->step, arrival);
    if (sim->config.is_rendezvous) {
        sim->ranks[send->rank].state[send->step] = (struct sim_state){ arrival, send->depth };
        put(sim, send->rank, send->step, arrival);
    }
}

/* Eager: the data leave at once, and with them the step is over. */
static void leave(struct sim *sim, struct sim_message *send, int dest)
{
    const struct coll_block *block = block_of(sim, send);

    send->data = mem_alloc(send->len + 1);
    CHECK(send->data);
    type_pack(block->type, block->buf, block->count, 0, send->data, send->len);
    put(sim, send->rank, send->step, send->time);
    send->time = travel(sim, send->rank, dest, send->len, send->time);
}

/* Number of the process that a step of `rank` has a message with; -1: there is none, or it is itself. */
static int peer_of(const struct sim *sim, int rank, const struct sched_step *step)
{
    const int size = sim->config.size;
    const bool is_first_side = rank < size;
    const bool stays = !sim->config.remote || step->is_local;
    const int first = stays == is_first_side ? 0 : size, count = first ? sim->config.remote : size;

    return step->peer < 0 || step->peer >= count || first + step->peer == rank ? -1 : first + step->peer;
}

static void begin_message(struct sim *sim, int rank, int i)
{
    const struct sched_step *step = &sim->ranks[rank].sched.steps[i];
    const struct sim_state *state = &sim->ranks[rank].state[i];
    const bool is_send = step->kind == SCHED_SEND;
    const int peer = peer_of(sim, rank, step), source = is_send ? rank : peer, dest = is_send ? peer : rank;
    struct sim_message mine = {
        .key = ((uint64_t)dest * (uint64_t)sim->all + (uint64_t)source) * SCHED_SUBS + step->sub,
        .rank = rank, .step = i, .is_send = is_send, .is_void = is_send && step->is_void,
        .len = coll_bytes(&step->from), .time = state->time, .depth = state->depth
    };
    struct sim_message *other;

    if (peer < 0) {
        if (!*sim->trouble)
            snprintf(sim->trouble, sizeof sim->trouble, "rank %d has a message with rank %d (step %d)", rank,
                     step->peer, i);
        return;
    }
    if (is_send)
        count_message(sim, &mine, dest);
    if (is_send && !sim->config.is_rendezvous)
        leave(sim, &mine, dest);
    other = find(sim, mine.key, is_send);
    if (!other && sim->ranks[peer].is_dead && !mine.data) {
        lose(sim, rank, i);
        return;
    }
    if (!other) {
        keep(sim, &mine);
        return;
    }
    deliver(sim, is_send ? &mine : other, is_send ? other : &mine);
    mem_free(is_send ? mine.data : other->data);
    mem_free(other);
}

/* --- the end of a process --- */

/* What it has only offered or asked for is gone, and so is what others ask it for, or offer to it. */
static void die(struct sim *sim, int rank)
{
    sim->ranks[rank].is_dead = true;
    for (int i = 0; i < 1 << sim->queue_bits; i++) {
        struct sim_queue all = sim->queues[i];

        sim->queues[i] = (struct sim_queue){ NULL, NULL };
        for (struct sim_message *m = all.first, *next; m; m = next) {
            const int source = (int)(m->key / SCHED_SUBS % (uint64_t)sim->all);
            const int dest = (int)(m->key / SCHED_SUBS / (uint64_t)sim->all);

            next = m->next;
            if ((source != rank && dest != rank) || m->data) {
                keep(sim, m);
            } else if (m->rank != rank) {
                lose(sim, m->rank, m->step);
            }
            mem_free(m);
        }
    }
}

/* Does it die before its next step? */
static bool dies_now(struct sim *sim, int r)
{
    struct sim_rank *rank = &sim->ranks[r];

    if (sim->config.mortal != r + 1 || rank->begun++ < sim->config.lifetime)
        return false;
    die(sim, r);
    return true;
}

/* --- steps --- */

static void finish(struct sim *sim, struct sim_rank *rank, int i)
{
    struct sched *s = &rank->sched;
    const struct sim_state *state = &rank->state[i];

    for (int e = s->steps[i].first_edge; e >= 0; e = s->edges[e].next) {
        struct sim_state *after = &rank->state[s->edges[e].to];
        after->time = max(after->time, state->time);
        if (state->depth > after->depth)
            after->depth = state->depth;
    }
    if (state->depth > sim->counts.depth)
        sim->counts.depth = state->depth;
    sim->counts.time = max(sim->counts.time, state->time);
    sched_over(s, i);
}

static void begin_steps(struct sim *sim, int r)
{
    struct sim_rank *rank = &sim->ranks[r];
    struct sched *s = &rank->sched;
    int i, rc;

    while ((i = sched_next(s)) >= 0) {
        const struct sched_step *step = &s->steps[i];

        if (dies_now(sim, r))
            return;
        switch (step->kind) {
        case SCHED_SEND:
        case SCHED_RECV: begin_message(sim, r, i); break;
        case SCHED_NOTHING: finish(sim, rank, i); break;
        default:
            rc = sched_is_idle(step) ? 0 : sched_work(s, step);
            if (rc && !s->error)
                s->error = rc;
            if (step->kind == SCHED_REDUCE)
                rank->state[i].time += sim->config.gamma * (double)coll_bytes(&step->from);
            put(sim, r, i, rank->state[i].time);
        }
    }
}

enum { START = -1 };

static void begin_run(struct sim *sim)
{
    sim->counts = (struct sim_counts){ 0 };
    sim->trouble[0] = 0;
    for (int r = 0; r < sim->all; r++) {
        struct sim_rank *rank = &sim->ranks[r];

        rank->is_dead = false;
        rank->begun = 0;
        rank->messages = 0;
        rank->bytes = 0;
        rank->out_free = rank->in_free = 0;
        mem_free(rank->state);
        rank->state = mem_zalloc(sizeof *rank->state * ((size_t)rank->sched.step_count + 1));
        CHECK(rank->state);
        sched_rewind(&rank->sched);
        put(sim, r, START, 0);
    }
}

static bool concerns_dead(const struct sim *sim, const struct sim_message *m)
{
    const uint64_t all = (uint64_t)sim->all, ends = m->key / SCHED_SUBS;

    return sim->ranks[ends % all].is_dead || sim->ranks[ends / all].is_dead;
}

/* Messages that only one side knows of, and who waits for ever. */
static void look_for_trouble(struct sim *sim)
{
    for (int i = 0; i < 1 << sim->queue_bits; i++) {
        struct sim_message *m;

        while ((m = sim->queues[i].first)) {
            if (!*sim->trouble && !concerns_dead(sim, m))
                snprintf(sim->trouble, sizeof sim->trouble, "rank %d %s rank %d (step %d, sub %d): nobody does",
                         m->rank, m->is_send ? "sends to" : "receives from",
                         sim->ranks[m->rank].sched.steps[m->step].peer, m->step, (int)(m->key % SCHED_SUBS));
            sim->queues[i].first = m->next;
            mem_free(m->data);
            mem_free(m);
        }
    }
    for (int r = 0; r < sim->all; r++) {
        if (sim->ranks[r].sched.left && !sim->ranks[r].is_dead && !*sim->trouble)
            snprintf(sim->trouble, sizeof sim->trouble, "rank %d has %d steps left", r, sim->ranks[r].sched.left);
    }
}

int sim_run(struct sim *sim, struct sim_counts *counts)
{
    begin_run(sim);
    while (sim->events->count) {
        const struct sim_event event = take(sim->events);

        if (sim->ranks[event.rank].is_dead)
            continue;
        if (event.step != START)
            finish(sim, &sim->ranks[event.rank], event.step);
        begin_steps(sim, event.rank);
    }
    look_for_trouble(sim);
    if (counts)
        *counts = sim->counts;
    if (*sim->trouble)
        return MPI_ERR_INTERN;
    for (int r = 0; r < sim->all && !sim->config.mortal; r++) {
        if (sim->ranks[r].sched.error)
            return sim->ranks[r].sched.error;
    }
    return 0;
}

/* --- life --- */

void sim_clear(struct sim *sim)
{
    for (int r = 0; r < sim->all; r++) {
        struct sim_rank *rank = &sim->ranks[r];

        if (rank->is_built)
            sched_fini(&rank->sched);
        rank->is_built = false;
        mem_free(rank->state);
        rank->state = NULL;
    }
}

int sim_build(struct sim *sim, coll_build_fn *build, long parameter)
{
    for (int r = 0; r < sim->all; r++) {
        struct sim_rank *rank = &sim->ranks[r];
        struct sched *s = &rank->sched;
        int rc;

        sched_init(s, &rank->comm);
        rank->is_built = true;
        s->parameter = parameter;
        s->layout = sim->config.layout;
        if (rank->args.op) {
            s->op = rank->args.op;
            op_ref(s->op);
        }
        build(s, &rank->args);
        if (s->failed) {
            rc = s->failed;
            sim_clear(sim);
            return rc;
        }
    }
    return 0;
}

struct sim *sim_create(const struct sim_config *config)
{
    struct sim *sim = mem_zalloc(sizeof *sim);

    CHECK(sim);
    sim->config = *config;
    sim->random = config->seed * 2654435761u + 1;
    sim->all = config->size + config->remote;
    for (sim->queue_bits = LEAST_QUEUE_BITS; sim->all >> (sim->queue_bits - 4) && sim->queue_bits < MOST_QUEUE_BITS;)
        sim->queue_bits++;
    sim->ranks = mem_zalloc((size_t)sim->all * sizeof *sim->ranks);
    sim->events = mem_zalloc(sizeof *sim->events);
    sim->queues = mem_zalloc(sizeof *sim->queues << sim->queue_bits);
    CHECK(sim->ranks && sim->events && sim->queues);
    for (int r = 0; r < sim->all; r++) {
        struct comm *comm = &sim->ranks[r].comm;
        const bool is_first_side = r < config->size;

        comm->rank = is_first_side ? r : r - config->size;
        comm->size = is_first_side ? config->size : config->remote;
        comm->remote_size = config->remote ? sim->all - comm->size : comm->size;
        comm->is_inter = config->remote != 0;
    }
    return sim;
}

void sim_destroy(struct sim *sim)
{
    if (!sim)
        return;
    sim_clear(sim);
    mem_free(sim->events->all);
    mem_free(sim->events);
    mem_free(sim->queues);
    mem_free(sim->ranks);
    mem_free(sim);
}
