/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the report of who waits for whom, when ranks are on other machines. mpiexec asks the agents to look
 * (FRAME_LOOK); an agent reads the pages of its ranks as mpiexec does here, and sends what it has read (FRAME_PAGE for
 * each rank, then FRAME_LOOKED). Both sides are here. Times of another machine are moved by a constant to ours. */
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "base/mem.h"
#include "far.h"
#include "far_link.h"
#include "hang.h"

enum { WHERE_SIZE = 1024 };

/* What an agent says of a rank; the call site follows. */
struct sent_page {
    int64_t now;
    struct page_view page;
};

static_assert(sizeof(struct sent_page) + WHERE_SIZE <= FRAME_PIECE, "a page is one frame");

/* mpiexec: what it knows of one other machine. */
struct far_node {
    uint32_t asked, answered; /* numbers of looks */
    bool is_suspicious;       /* a rank there has waited for long */
    bool has_offset;
    int64_t offset; /* our clock less its clock */
};

struct hang_far {
    struct far_node *node;
    struct page_view *page; /* by rank, as they have come */
    bool *has_page;
    /* of an agent */
    uint32_t number; /* of the look that waits for answers */
};

static struct hang_far *far_of(struct job *job)
{
    struct hang_far *far = job->hang_far;

    if (far)
        return far;
    far = job->hang_far = need(sizeof *far);
    far->node = need((size_t)job->nodes.count * sizeof *far->node);
    far->page = need(job->head->slots * sizeof *far->page);
    far->has_page = need(job->head->slots * sizeof *far->has_page);
    return far;
}

/* --- mpiexec --- */

void hang_far_look(struct job *job, bool is_whole, bool with_answers)
{
    const double seconds = job->options.hang_report;
    struct hang_far *far;

    if (!job->links)
        return;
    far = far_of(job);
    for (int i = 0; i < job->nodes.count; i++) {
        struct far_node *node = &far->node[i];
        const uint32_t flags = (is_whole ? FRAME_LOOK_WHOLE : 0) | (with_answers ? FRAME_LOOK_ANSWERS : 0);
        if (far_look_there(job, i, (node->asked + 1) << FRAME_LOOK_SHIFT | flags, &seconds, sizeof seconds))
            node->asked = (node->asked + 1) & (UINT32_MAX >> FRAME_LOOK_SHIFT);
    }
}

bool hang_far_is_waiting(const struct job *job)
{
    for (int i = 0; job->hang_far && i < job->nodes.count; i++)
        if (job->hang_far->node[i].asked != job->hang_far->node[i].answered && job->links[i].state == LINK_RUNS)
            return true;
    return false;
}

bool hang_far_is_suspicious(const struct job *job)
{
    for (int i = 0; job->hang_far && i < job->nodes.count; i++)
        if (job->hang_far->node[i].is_suspicious && job->links[i].state == LINK_RUNS)
            return true;
    return false;
}

void hang_far_ask(struct job *job, int rank, uint64_t ctx, uint64_t sequence)
{
    const uint64_t question[2] = { ctx, sequence };

    far_ask(job, rank, question, sizeof question);
}

static void move_time(int64_t *time, int64_t offset)
{
    if (*time)
        *time += offset;
}

bool hang_far_take_page(struct job *job, int rank, const char *data, size_t size)
{
    struct hang_far *far = far_of(job);
    struct far_node *node = &far->node[job->ranks[rank].node];
    struct page_view *page = &far->page[rank];
    struct sent_page sent;
    char *where = NULL;
    int64_t moved;

    if (size < sizeof sent)
        return false;
    memcpy(&sent, data, sizeof sent);
    if (!node->has_offset)
        node->offset = now_ns() - sent.now;
    node->has_offset = true;
    if (size > sizeof sent) {
        where = need(size - sizeof sent + 1);
        memcpy(where, data + sizeof sent, size - sizeof sent);
    }
    mem_free((char *)page->where);
    *page = sent.page;
    page->where = where;
    move_time(&page->status.since_ns, node->offset);
    move_time(&page->status.left_ns, node->offset);
    moved = atomic_load_explicit(&page->status.moved_ns, memory_order_relaxed);
    move_time(&moved, node->offset);
    atomic_store_explicit(&page->status.moved_ns, moved, memory_order_relaxed);
    return far->has_page[rank] = true;
}

void hang_far_take_looked(struct job *job, int node, uint32_t value)
{
    struct hang_far *far = far_of(job);

    far->node[node].answered = value >> FRAME_LOOK_SHIFT;
    far->node[node].is_suspicious = value & FRAME_LOOK_WHOLE;
}

/* Where nothing is known of it, it may do anything; but not before it has been started. */
void hang_far_read(struct job *job, int rank, struct page_view *page)
{
    const struct rank *r = &job->ranks[rank];
    const struct hang_far *far = job->hang_far;

    if (far && far->has_page[rank])
        *page = far->page[rank];
    else
        page->state = job->links && job->links[r->node].state < LINK_RUNS ? JOB_STARTED : JOB_INITIALISED;
    page->rank = r->number;
    page->world = r->world->number;
    page->is_absent = false;
    if (r->is_over) {
        page->state = JOB_EXITED;
        page->is_blocked = false;
        page->exit_status = r->status;
    }
}

void hang_far_forget(struct job *job, int rank)
{
    if (!job->hang_far)
        return;
    mem_free((char *)job->hang_far->page[rank].where);
    job->hang_far->page[rank] = (struct page_view){ 0 };
    job->hang_far->has_page[rank] = false;
}

/* --- an agent --- */

/* The ranks of this machine, to mpiexec. */
static void send_pages(struct job *job, const struct hang_view *view)
{
    const size_t room = sizeof(struct sent_page) + WHERE_SIZE;
    char *data = need(room);

    for (int i = 0; i < view->size; i++) {
        struct sent_page sent = { .now = view->now, .page = view->page[i] };
        const size_t length = sent.page.where ? strnlen(sent.page.where, WHERE_SIZE) : 0;
        if (is_far(job, i) || job->ranks[i].world->number < 0)
            continue;
        if (length)
            memcpy(data + sizeof sent, sent.page.where, length);
        sent.page.where = NULL;
        memcpy(data, &sent, sizeof sent);
        agent_page(job, i, data, sizeof sent + length);
    }
    mem_free(data);
}

static void send_looked(struct job *job, uint32_t number, bool is_suspicious)
{
    agent_looked(job, number << FRAME_LOOK_SHIFT | (is_suspicious ? FRAME_LOOK_WHOLE : 0));
}

void hang_there_look(struct job *job, uint32_t value, const char *data)
{
    const uint32_t number = value >> FRAME_LOOK_SHIFT;
    struct hang_view *view;
    double seconds;

    if (value & FRAME_LOOK_ANSWERS) {
        far_of(job)->number = number;
        hang_await_answers(job);
        return;
    }
    memcpy(&seconds, data, sizeof seconds);
    if (value & FRAME_LOOK_WHOLE) {
        view = pages_read(job, false);
        hang_remember(job, view);
        send_pages(job, view);
        pages_free(view);
    }
    send_looked(job, number, seconds > 0 && hang_is_suspicious(job, seconds));
}

void hang_there_ask(struct job *job, int rank, const char *data)
{
    uint64_t question[2];

    memcpy(question, data, sizeof question);
    hang_put_question(job, rank, question[0], question[1]);
}

void hang_there_answered(struct job *job)
{
    struct hang_view *view = pages_read(job, true);

    send_pages(job, view);
    pages_free(view);
    send_looked(job, far_of(job)->number, true);
}
