/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: what goes to agents and comes from them while ranks run, and the end of it. The end of a connection is the
 * end of the ranks behind it, and so of the job. */
#include "far.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "bonds.h"
#include "far_link.h"
#include "guests.h"
#include "hang.h"
#include "job_text.h"
#include "names.h"
#include "spawning.h"
#include "sys/control.h"

#define CLOSE_SECONDS 5.0 /* an agent has killed and reaped everything long before */
#define SILENT_SECONDS 10.0 /* until a rank that it is to kill is over, and that has come here */

/* --- to agents --- */

/* Before its processes have been started, an agent understands two things: that they are, and that it is to go. */
static bool is_open(const struct link *link, enum frame_kind kind)
{
    return link->state == LINK_RUNS ||
           (link->state == LINK_READY && (kind == FRAME_START || kind == FRAME_BYE));
}

static void put(struct job *job, int rank, enum frame_kind kind, uint32_t value, const void *data, size_t size)
{
    if (job->links && is_open(link_of(job, rank), kind))
        channel_put(&link_of(job, rank)->channel, kind, rank, value, data, size);
}

static void put_all(struct job *job, enum frame_kind kind, uint32_t value, const void *data, size_t size)
{
    for (int i = 0; job->links && i < job->nodes.count; i++)
        if (is_open(&job->links[i], kind))
            channel_put(&job->links[i].channel, kind, -1, value, data, size);
}

/* Before its processes have been started there is nobody to get it, as on this machine. */
void far_signal(struct job *job, int rank, int signal)
{
    if (!job->links || link_of(job, rank)->state != LINK_RUNS)
        return;
    put(job, rank, FRAME_SIGNAL, (uint32_t)signal, NULL, 0);
    if (signal != SIGKILL || job->ranks[rank].killed_ns)
        return;
    job->ranks[rank].killed_ns = now_ns();
    timer_set(job, TIMER_SILENT, SILENT_SECONDS);
}

bool far_look_there(struct job *job, int node, uint32_t value, const void *data, size_t size)
{
    if (job->links[node].state != LINK_RUNS)
        return false;
    channel_put(&job->links[node].channel, FRAME_LOOK, -1, value, data, size);
    return true;
}

void far_ask(struct job *job, int rank, const void *data, size_t size)
{
    put(job, rank, FRAME_ASK, 0, data, size);
}

void far_end(struct job *job)
{
    const uint64_t end = atomic_load(&job->head->end);

    put_all(job, FRAME_END, 0, &end, sizeof end);
}

void far_release(struct job *job)
{
    put_all(job, FRAME_RELEASE, 0, NULL, 0);
}

void far_bye(struct job *job)
{
    for (int i = 0; job->links && i < job->nodes.count; i++)
        job->links[i].has_bye = true;
    put_all(job, FRAME_BYE, 0, NULL, 0);
}

void far_taken(struct job *job, int rank, bool with_reply)
{
    const struct job_desk *desk = job_desk(job->head, rank); /* nobody else uses it here */
    char reply[3 * sizeof(uint32_t) + JOB_REPLY_SIZE];
    const uint32_t head[3] = { desk->reply_error, (uint32_t)desk->reply_first, desk->reply_count };

    memcpy(reply, head, sizeof head);
    memcpy(reply + sizeof head, desk->reply, sizeof desk->reply);
    put(job, rank, FRAME_TAKEN, 0, reply, with_reply ? sizeof reply : 0);
}

void far_credit(struct job *job, int rank, bool is_error, size_t size)
{
    const char which = is_error;

    put(job, rank, FRAME_CREDIT, (uint32_t)size, &which, 1);
}

void far_broken(struct job *job, int rank, bool is_error)
{
    put(job, rank, FRAME_BROKEN, is_error, NULL, 0);
}

void far_input(struct job *job, int rank, const void *data, size_t size)
{
    put(job, rank, FRAME_INPUT, 0, data, size);
}

void far_put_visit(struct job *job, int rank, const struct frame_visit *visit)
{
    put(job, rank, FRAME_VISIT, 0, visit, sizeof *visit);
}

void far_put_leave(struct job *job, int rank, int visitor)
{
    put(job, rank, FRAME_LEAVE, (uint32_t)visitor, NULL, 0);
}

void far_put_answer(struct job *job, int rank, const struct frame_answer *answer)
{
    put(job, rank, FRAME_ANSWER, 0, answer, sizeof *answer);
}

void far_address(struct job *job, int rank, int net)
{
    const struct job_address *address = &job_place(job->head, rank)->address[net];
    const uint32_t size = job_address_size(address);

    for (int i = 0; job->links && i < job->nodes.count; i++)
        if (i != job->ranks[rank].node && is_open(&job->links[i], FRAME_ADDRESS))
            channel_put(&job->links[i].channel, FRAME_ADDRESS, rank, (uint32_t)net, address->bytes, size);
}

void far_flush(struct job *job)
{
    for (int i = 0; i < job->nodes.count; i++)
        if (job->links[i].state != LINK_NONE)
            channel_flush(job, &job->links[i].channel);
}

void far_open_rank(struct job *job, int rank)
{
    job->running++;
    forward_open_far(job, rank);
}

void far_go(struct job *job)
{
    if (!job->links)
        return;
    put_all(job, FRAME_START, job->head->universe, NULL, 0);
    for (int i = 0; i < job->nodes.count; i++)
        if (job->links[i].state == LINK_READY)
            job->links[i].state = LINK_RUNS;
    for (int rank = 0; rank < job->size; rank++) {
        if (!is_far(job, rank))
            continue;
        far_open_rank(job, rank);
        feed_open_far(job, rank);
    }
    feed_go(job);
    address_watch(job);
}

/* --- processes that are started later --- */

void far_ask_links(struct job *job)
{
    for (int i = 0; job->links && i < job->nodes.count; i++)
        job->links[i].linking += job->links[i].state == LINK_RUNS;
    put_all(job, FRAME_LINKS, 0, NULL, 0);
}

bool far_is_linking(const struct job *job)
{
    for (int i = 0; job->links && i < job->nodes.count; i++)
        if (job->links[i].linking && job->links[i].state == LINK_RUNS)
            return true;
    return false;
}

uint32_t far_put_guests(struct job *job, const struct frame_guest *guests, int count)
{
    put_all(job, FRAME_GUESTS, ++job->admissions, guests, (size_t)count * sizeof *guests);
    return job->admissions;
}

bool far_has_admitted(const struct job *job, uint32_t number)
{
    for (int i = 0; job->links && i < job->nodes.count; i++)
        if (job->links[i].state == LINK_RUNS && (int32_t)(job->links[i].admitted - number) < 0)
            return false;
    return true;
}

void far_put_guest_gone(struct job *job, int place)
{
    put_all(job, FRAME_GUEST_GONE, (uint32_t)place, NULL, 0);
}

bool far_is_there(const struct job *job, int node)
{
    return node == job->nodes.here || job->links[node].state == LINK_RUNS;
}

const char *far_cannot(const struct job *job, int node)
{
    return node != job->nodes.here && job->links[node].state == LINK_OVER ? job->links[node].refusal.text : NULL;
}

void far_world(struct job *job, const char *text, size_t size)
{
    for (int i = 0; job->links && i < job->nodes.count; i++) {
        job->links[i].is_preparing = job->links[i].state == LINK_RUNS;
        job->links[i].refusal = (struct refusal){ 0 };
    }
    put_all(job, FRAME_WORLD, 1, text, size);
}

bool far_is_preparing(const struct job *job, const char **why)
{
    bool is_preparing = false;

    *why = NULL;
    for (int i = 0; job->links && i < job->nodes.count; i++) {
        const struct link *link = &job->links[i];
        if (link->state != LINK_RUNS)
            continue;
        is_preparing |= link->is_preparing;
        *why = link->refusal.exit_code ? link->refusal.text : *why;
    }
    return is_preparing;
}

void far_start_world(struct job *job, bool is_wanted)
{
    put_all(job, FRAME_GO, is_wanted, NULL, 0);
}

/* Worlds by their numbers, since later ones may have taken places of those before. */
static struct world *next_world(const struct job *job, int number)
{
    struct world *found = NULL;

    for (int i = job->size; i < job->used; i++) {
        struct world *world = job->ranks[i].world;
        if (world->number > number && (!found || world->number < found->number))
            found = world;
    }
    return found;
}

static void introduce(struct job *job, struct link *link, const struct world *world)
{
    struct bytes bytes = { 0 };
    int *node_of = need((size_t)world->size * sizeof *node_of);
    const struct world_text text = { .world = world, .node_of = node_of };

    for (int i = 0; i < world->size; i++)
        node_of[i] = job->ranks[world->first + i].node;
    job_text_write_world(job, &text, &bytes);
    channel_put(&link->channel, FRAME_WORLD, -1, 0, bytes.data, bytes.length);
    bytes_free(&bytes);
    mem_free(node_of);
}

/* After the worlds, of which they may have taken places. */
static void introduce_guests(struct job *job, struct link *link)
{
    int count;
    struct frame_guest *guests = guests_list(job, &count);

    link->admitted = job->admissions; /* before any process is there */
    if (count)
        channel_put(&link->channel, FRAME_GUESTS, -1, job->admissions, guests, (size_t)count * sizeof *guests);
    mem_free(guests);
}

static void introduce_addresses(struct job *job, struct link *link, int rank)
{
    for (int net = 0; net < JOB_NETS; net++) {
        const struct job_address *address = &job_place(job->head, rank)->address[net];
        const uint32_t size = job_address_size(address);
        if (size)
            channel_put(&link->channel, FRAME_ADDRESS, rank, (uint32_t)net, address->bytes, size);
    }
}

void link_join(struct job *job, struct link *link)
{
    link->state = LINK_RUNS;
    channel_put(&link->channel, FRAME_START, -1, job->head->universe, NULL, 0);
    for (const struct world *world = NULL; (world = next_world(job, world ? world->number : 0));)
        introduce(job, link, world);
    introduce_guests(job, link);
    for (int rank = 0; rank < job->used; rank++)
        if (job->ranks[rank].world->number >= 0)
            introduce_addresses(job, link, rank);
}

/* --- from agents --- */

static bool take_linked(struct job *job, struct link *link, const struct frame *frame, const char *data)
{
    struct job_desk *desk;
    struct frame_linked linked;

    if (frame->rank < 0) {
        link->linking--;
        return link->linking >= 0;
    }
    if (frame->length != sizeof linked)
        return false;
    memcpy(&linked, data, sizeof linked);
    desk = job_desk(job->head, frame->rank); /* nobody else uses it here */
    memcpy((void *)desk->contexts, linked.contexts, sizeof linked.contexts);
    memcpy((void *)desk->links, linked.links, sizeof linked.links);
    job->ranks[frame->rank].is_used_there = frame->value;
    return true;
}

/* It can start the processes of a world, or not. */
static bool take_prepared(struct job *job, struct link *link, const struct frame *frame, const char *data)
{
    if (!link->is_preparing)
        return false;
    link->is_preparing = false;
    if (frame->kind == FRAME_READY)
        return true;
    link->refusal.exit_code = EXIT_USAGE;
    return link_refusal(job, link, frame, data);
}

static void take_said(struct job *job, int rank, const char *data, size_t size)
{
    struct control_message message = { .header = { .rank = (uint32_t)rank } };
    struct frame_said said;

    memcpy(&said, data, sizeof said);
    message.header.kind = said.kind;
    message.header.code = said.code;
    message.header.length = (uint32_t)(size - sizeof said);
    memcpy(message.text, data + sizeof said, size - sizeof said);
    control_far(job, rank, &message);
}

static void take_over(struct job *job, int rank, const char *data, size_t size)
{
    struct rank *r = &job->ranks[rank];
    struct frame_over over;

    memcpy(&over, data, sizeof over);
    snprintf(r->other_mpi, sizeof r->other_mpi, "%.*s", (int)(size - sizeof over), data + sizeof over);
    r->lost = (int)over.lost;
    feed_rank_over(job, rank);
    job_judge(job, rank, over.status, (enum job_state)over.state, (enum oom)over.oom);
}

/* A rank could not be started, though its program is there. */
static void take_refusal(struct job *job, struct link *link, const struct frame *frame, const char *data)
{
    const int rank = frame->rank;
    struct rank *r = &job->ranks[rank];
    const char *text = "";

    r->is_over = true;
    job->running--;
    forward_far(job, rank, false, NULL, 0);
    forward_far(job, rank, true, NULL, 0);
    feed_rank_over(job, rank);
    if (link_refusal(job, link, frame, data))
        text = link->refusal.text;
    if (spawning_refused(job, rank, text))
        return;
    if (*text)
        report_rank(job, rank, "%s", text);
    job_failed(job, rank, (int)frame->value, true);
}

static bool take_address(struct job *job, const struct frame *frame, const char *data)
{
    if (!address_store(job, frame, data))
        return false;
    far_address(job, frame->rank, (int)frame->value);
    return true;
}

/* Is the rank one of that machine's, and still there for what is said of it? */
static bool is_its(const struct job *job, const struct link *link, const struct frame *frame)
{
    if (frame->rank < 0)
        return true;
    return job->ranks[frame->rank].node == link->node &&
           (!job->ranks[frame->rank].is_over || (frame->kind != FRAME_OVER && frame->kind != FRAME_REFUSED));
}

/* What has been seen of one that has ended comes when a process of another machine has its place. */
static bool is_outdated(const struct job *job, const struct link *link, const struct frame *frame)
{
    return frame->rank >= job->size && job->ranks[frame->rank].node != link->node &&
           (frame->kind == FRAME_PAGE || frame->kind == FRAME_LINKED || frame->kind == FRAME_FED);
}

bool link_take(struct job *job, struct link *link, const struct frame *frame, char *data)
{
    const int rank = frame->rank;
    char text[8192 + 1];

    if (link->state == LINK_RUNS && is_outdated(job, link, frame))
        return true;
    if (link->state != LINK_RUNS || !is_its(job, link, frame))
        return false;
    switch ((enum frame_kind)frame->kind) {
    case FRAME_STARTED:
        job->ranks[rank].pid = (pid_t)frame->value;
        mpir_update(job, rank);
        return true;
    case FRAME_OUTPUT: forward_far(job, rank, frame->value, data, frame->length); return true;
    case FRAME_SAID: take_said(job, rank, data, frame->length); return true;
    case FRAME_OVER: take_over(job, rank, data, frame->length); return true;
    case FRAME_FED: feed_far(job, rank, frame->value); return true;
    case FRAME_ADDRESS: return take_address(job, frame, data);
    case FRAME_PAGE: return hang_far_take_page(job, rank, data, frame->length);
    case FRAME_LOOKED: hang_far_take_looked(job, link->node, frame->value); return true;
    case FRAME_NOTE:
        snprintf(text, sizeof text, "%.*s", (int)frame->length, data);
        report_text(job, rank, text);
        return true;
    case FRAME_UNVISITED: return calls_take_refusal(job, rank, frame->value, data);
    case FRAME_LINKED: return take_linked(job, link, frame, data);
    case FRAME_ADMITTED: link->admitted = frame->value; return true;
    case FRAME_READY: return take_prepared(job, link, frame, data);
    case FRAME_REFUSED:
        if (rank < 0)
            return take_prepared(job, link, frame, data);
        take_refusal(job, link, frame, data);
        return true;
    default: return false;
    }
}

/* --- the end --- */

void link_signal(const struct link *link, int signal)
{
    if (link->pid)
        kill(-link->pid, signal);
}

void link_close(struct job *job, struct link *link)
{
    channel_close(job, &link->channel);
    if (link->err.fd >= 0)
        source_remove(job, &link->err);
    bytes_free(&link->line);
    link->state = LINK_OVER;
}

static const char *write_ranks(const struct job *job, int node, char *text, size_t size)
{
    size_t used = 0;

    for (int from = 0, to; from < job->size && used + 40 < size; from = to) {
        to = from + 1;
        if (job->ranks[from].node != node)
            continue;
        for (; to < job->size && job->ranks[to].node == node; to++) {
        }
        used += (size_t)snprintf(text + used, size - used, to - from > 1 ? "%s%d-%d" : "%s%d", used ? ", " : "", from,
                                 to - 1);
    }
    return text;
}

/* "rank 3", "ranks 2-3 and 4 processes that were started later", "no process" */
static void write_processes(const struct job *job, int node, char *text, size_t size)
{
    const int ranks = job->nodes.at[node].ranks;
    char list[200] = "";
    int later = 0;

    for (int rank = job->size; rank < job->used; rank++)
        later += job->ranks[rank].node == node && !job->ranks[rank].is_over;
    if (ranks > 0)
        snprintf(text, size, "rank%s %s", ranks > 1 ? "s" : "", write_ranks(job, node, list, sizeof list));
    else
        snprintf(text, size, "%s", later > 0 ? "" : "no process");
    if (later > 0)
        snprintf(text + strlen(text), size - strlen(text), "%s%d process%s started later", ranks > 0 ? " and " : "",
                 later, later > 1 ? "es" : "");
}

void link_lost(struct job *job, struct link *link, const char *why)
{
    char processes[256] = "";
    int first = -2;

    link_close(job, link);
    link_signal(link, SIGTERM);
    write_processes(job, link->node, processes, sizeof processes);
    for (int rank = 0; rank < job->used; rank++) {
        struct rank *r = &job->ranks[rank];
        if (r->node != link->node)
            continue;
        forward_far(job, rank, false, NULL, 0);
        forward_far(job, rank, true, NULL, 0);
        if (r->is_over)
            continue;
        first = first < 0 ? rank : first;
        feed_rank_over(job, rank);
        r->is_over = true;
        job->running--;
        r->is_lost = true;
        names_drop(job, rank);
        calls_rank_over(job, rank);
        bonds_rank_over(job, rank);
    }
    if (first < 0 && job->is_ending)
        return;
    report_rank(job, -1, "E0152: the connection to %s is lost, and with it %s: %s", job->nodes.at[link->node].name,
                processes, why);
    job_failed(job, -2, EXIT_SYSTEM, true);
}

void far_silent(struct job *job)
{
    char why[64];

    snprintf(why, sizeof why, "it has not said within %g s that they were killed", SILENT_SECONDS);
    for (int rank = 0; rank < job->used; rank++) {
        const struct rank *r = &job->ranks[rank];
        const double left = SILENT_SECONDS - (double)(now_ns() - r->killed_ns) / 1e9;
        if (r->is_over || !r->killed_ns)
            continue;
        if (left > 0)
            timer_set(job, TIMER_SILENT, left);
        else
            link_lost(job, link_of(job, rank), why);
    }
}

bool far_has_gone(const struct job *job)
{
    for (int i = 0; job->links && i < job->nodes.count; i++)
        if (job->links[i].channel.in.fd >= 0)
            return false;
    return true;
}

static bool are_gone(struct job *job)
{
    for (int i = 0; i < job->nodes.count; i++)
        if (job->links[i].state != LINK_NONE && (job->links[i].channel.in.fd >= 0 || job->links[i].pid))
            return !job->timers[TIMER_LAUNCH];
    return true;
}

void far_close(struct job *job)
{
    if (!job->links)
        return;
    for (int i = 0; i < job->nodes.count; i++)
        if (job->links[i].state == LINK_STARTING || job->links[i].state == LINK_GREETED) {
            link_signal(&job->links[i], SIGKILL);
            link_close(job, &job->links[i]);
        }
    far_bye(job);
    timer_set(job, TIMER_LAUNCH, CLOSE_SECONDS);
    loop_until(job, are_gone);
    for (int i = 0; i < job->nodes.count; i++) {
        struct link *link = &job->links[i];
        if (link->state == LINK_NONE)
            continue;
        link_signal(link, SIGKILL);
        link_close(job, link);
        link->pid = 0; /* what is left is nobody special, and is killed and reaped with all others */
    }
}
