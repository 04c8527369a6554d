/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: init. With PARLEY_CHECK, what a program leaves behind at MPI_Finalize: messages that nobody has received,
 * receives without a message, requests that nobody has completed, communicators that nobody has freed. */
#include <stdio.h>
#include <string.h>

#include "coll/coll.h"
#include "comm/comm.h"
#include "init/int_init.h"
#include "obj/comm.h"
#include "p2p/lane.h"

enum { TOLD = 3, LATE_LOOKS = 100 };

/* How many there are, and the first ones in words. */
struct list_text {
    int count;
    char text[PM_TEXT_MAX / 2];
};

static void add(struct list_text *list, const char *words)
{
    const size_t len = strlen(list->text);

    if (list->count++ == TOLD)
        snprintf(list->text + len, sizeof list->text - len, "; ...");
    else if (list->count <= TOLD)
        snprintf(list->text + len, sizeof list->text - len, "%s%s", len ? "; " : "", words);
}

static void tell(const struct list_text *list, const char *what)
{
    char text[PM_TEXT_MAX];

    if (list->count <= 0)
        return;
    snprintf(text, sizeof text, "%s: %d: %s", what, list->count, list->text);
    pm_diagnose(&process.job, text);
}

static const char *label_of(const struct comm *comm, char *label)
{
    return comm ? obj_comm_label(comm, label) : "a communicator that is gone";
}

static void on_message(const struct p2p_envelope *e, void *arg)
{
    char words[COMM_LABEL_SIZE + 128], label[COMM_LABEL_SIZE];

    snprintf(words, sizeof words, "from rank %d, tag %d, on %s, %lld bytes", e->source, e->tag,
             label_of(e->comm, label), (long long)e->count);
    add(arg, words);
}

static void on_receive(const struct p2p_envelope *e, void *arg)
{
    char words[COMM_LABEL_SIZE + 192], label[COMM_LABEL_SIZE], source[32] = "any rank", tag[32] = "any tag";

    if (e->source != MPI_ANY_SOURCE)
        snprintf(source, sizeof source, "rank %d", e->source);
    if (e->tag != MPI_ANY_TAG)
        snprintf(tag, sizeof tag, "tag %d", e->tag);
    snprintf(words, sizeof words, "from %s, %s, on %s, %lld x %.64s", source, tag, label_of(e->comm, label),
             (long long)e->count, e->type && *e->type ? e->type : "a type without a name");
    add(arg, words);
}

static void on_comm(const struct comm *comm, void *arg)
{
    char label[COMM_LABEL_SIZE];

    if (comm != obj_comm(MPI_COMM_WORLD) && comm != obj_comm(MPI_COMM_SELF) && comm != &comm_own &&
        comm != &comm_clients_own)
        add(arg, obj_comm_label(comm, label));
}

void notice_leftovers(void)
{
    struct list_text messages = { 0 }, receives = { 0 }, comms = { 0 }, requests = { .text = "sends and receives" };

    if (!notice_is_checking())
        return;
    if (!process.job.joint) /* else all clients have met, and the ways to them are closed */
        coll_barrier(obj_comm(MPI_COMM_WORLD)); /* whatever has been sent is on its way */
    for (int i = 0; i < LATE_LOOKS; i++)
        progress_poll();
    p2p_each_unexpected(on_message, &messages);
    p2p_each_posted(on_receive, &receives);
    p2p_each_comm(on_comm, &comms);
    requests.count = p2p_open_requests() - receives.count;
    tell(&messages, "E0403: left at MPI_Finalize, messages that nobody has received");
    tell(&receives, "E0404: left at MPI_Finalize, receives that no message has come for");
    tell(&requests, "E0405: left at MPI_Finalize, other requests that nobody has completed or freed");
    tell(&comms, "E0406: left at MPI_Finalize, communicators that nobody has freed");
}
