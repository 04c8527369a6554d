/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: near misses. A message that a waiting rank has got is nearly what it waits for; a receive that is posted is
 * nearly what somebody sends. Most wrong tags, wrong communicators and wrong ranks show here. */
#include <string.h>

#include "hang.h"

enum { NEAR_MAX = 8 };

struct near {
    struct text *text;
    const struct hang_view *view;
    int told;
};

/* What a rank waits for, number 0 being the first; false: no more. */
static bool get_want(const struct job_status *status, uint32_t number, struct job_envelope *want)
{
    if (number == 0) {
        *want = (struct job_envelope){ .way = status->way, .peer = status->peer, .tag = status->tag,
                                       .peer_world = status->peer_world, .ctx = status->ctx };
        return true;
    }
    if (number > status->wants || number > JOB_WANTS)
        return false;
    *want = status->want[number - 1];
    return true;
}

/* Is the message from whom the receive is for, or has it what the receive is for otherwise? */
static bool is_near(const struct job_envelope *want, const struct job_envelope *stray)
{
    const bool is_same_peer = want->peer_world < 0 || want->peer_world == stray->peer_world;
    const bool is_same_tag = want->tag < 0 || want->tag == stray->tag;

    return want->way == JOB_RECEIVING && (is_same_peer || (is_same_tag && want->ctx == stray->ctx));
}

static bool is_near_any(const struct job_status *status, const struct job_envelope *stray)
{
    struct job_envelope want;

    for (uint32_t i = 0; get_want(status, i, &want); i++)
        if (is_near(&want, stray))
            return true;
    return false;
}

/* Messages that a rank has and does not ask for. */
static void add_strays(struct near *near, int rank)
{
    const struct page_view *page = &near->view->page[rank];
    const uint32_t count = page->answer.stray_count < JOB_STRAYS ? page->answer.stray_count : JOB_STRAYS;

    for (uint32_t i = 0; i < count && near->told < NEAR_MAX; i++) {
        const struct job_envelope *stray = &page->answer.stray[i];
        if (page->status.sequence || !is_near_any(&page->status, stray))
            continue;
        text_add(near->text, "    * near miss: ");
        hang_add_rank(near->text, near->view, rank);
        text_add(near->text, " has got a message ");
        hang_add_envelope(near->text, near->view, page, stray);
        text_add(near->text, "%s, which %s\n", *stray->comm_name ? "" : ", on a communicator that it does not have",
                 near->view->node[rank].is_stuck ? "nobody has asked for" : "it has not asked for yet");
        near->told++;
    }
}

/* A receive of the receiver's that is nearly what `rank` sends. */
static void add_receive(struct near *near, int rank, const struct job_envelope *receive)
{
    const struct job_status *status = &near->view->page[rank].status;
    const bool is_from_rank = receive->peer_world < 0 || receive->peer_world == rank;
    const bool is_matching = receive->ctx == status->ctx && (receive->tag < 0 || receive->tag == status->tag);

    if (near->told >= NEAR_MAX || !is_from_rank || is_matching)
        return;
    text_add(near->text, "    * near miss: ");
    hang_add_rank(near->text, near->view, rank);
    text_add(near->text, " sends with %s %d on %s, ", status->tag_noun, status->tag, status->comm_name);
    hang_add_rank(near->text, near->view, status->peer_world);
    text_add(near->text, " would receive ");
    hang_add_envelope(near->text, near->view, &near->view->page[rank], receive);
    text_add(near->text, "\n");
    near->told++;
}

/* A sender: look at the receives that the receiver has posted and does not wait for. */
static void add_posted(struct near *near, int rank)
{
    const struct job_status *status = &near->view->page[rank].status;
    const struct page_view *to;

    if (status->way != JOB_SENDING || status->peer_world < 0 || status->sequence ||
        hang_is_foreign(near->view, status->peer_world))
        return;
    to = &near->view->page[status->peer_world];
    for (uint32_t i = 0; to->is_blocked && to->has_answer && i < to->answer.posted_count && i < JOB_STRAYS; i++)
        add_receive(near, rank, &to->answer.posted[i]);
}

bool hang_add_near(struct text *text, const struct hang_view *view)
{
    struct near near = { .text = text, .view = view };

    for (int i = 0; i < view->size; i++)
        if (view->page[i].is_blocked && view->page[i].has_answer)
            add_strays(&near, i);
    for (int i = 0; i < view->size; i++)
        if (view->page[i].is_blocked)
            add_posted(&near, i);
    return near.told;
}
