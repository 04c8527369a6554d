/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: door. The table, and waiting: a request that nobody starts, completed by the user's sink. */
#include "door/door.h"

#include "base/err.h"
#include "comm/comm.h"
#include "init/init.h"
#include "obj/req.h"
#include "progress/progress.h"
#include "sys/callsite.h"

/* The one wait. */
static struct {
    struct req req;
    const struct blocked *words;
    progress_done_fn *is_done; /* of wait_until, while it waits; else NULL */
    void *arg;
} current;

static bool is_started;

static void describe(const struct req *req, struct blocked *out)
{
    (void)req;
    *out = *current.words;
}

static const struct req_ops wait_ops = { .describe = describe };

/* Polled after everything else. */
static int ask(void *arg)
{
    (void)arg;
    if (!current.is_done || !current.is_done(current.arg))
        return 0;
    current.is_done = NULL;
    req_complete(&current.req);
    return 1;
}

static int door_start(const struct p2p_letter_sink *sink)
{
    const int rc = init_acquire();

    if (rc)
        return rc;
    p2p_letters_open(&comm_own, sink);
    progress_add(ask, NULL);
    is_started = true;
    return 0;
}

static void door_stop(void)
{
    if (!is_started)
        return;
    progress_remove(ask, NULL);
    init_release();
    is_started = false;
}

static void door_leave(void)
{
    if (is_started)
        init_leave();
}

static void wait_begin(const struct blocked *words)
{
    current.req = (struct req){ .obj = { .kind = OBJ_REQUEST, .refs = 1 }, .ops = &wait_ops };
    current.words = words;
}

static void wait_is_over(void)
{
    req_complete(&current.req);
}

static void door_wait(int proc)
{
    progress_wait(&current.req.done, proc < 0 ? (struct progress_hint){ NULL, NULL } : p2p_letter_hint(proc));
}

static void wait_until(progress_done_fn *is_done, void *arg, const struct blocked *words)
{
    if (is_done(arg))
        return;
    wait_begin(words);
    current.is_done = is_done;
    current.arg = arg;
    progress_wait(&current.req.done, (struct progress_hint){ NULL, NULL });
}

static void door_poll(void)
{
    progress_poll_last();
}

/* Sleepers here have issued a fence, or one for all processes, between their announcement and their last look; so a
 * fence between the news and the look for sleepers is enough. */
static void wake_up(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    progress_notify();
}

static void diagnose(const char *text)
{
    pm_diagnose(&process.job, text);
}

static void door_abort(int code, const char *text)
{
    init_abort(code, text, 0);
}

const struct door parley_door_1 = {
    .size = sizeof parley_door_1,
    .job = &process.job,
    .find_job = init_find_job,
    .join_job = init_join_job,
    .is_open = init_is_open,
    .start = door_start,
    .stop = door_stop,
    .leave = door_leave,
    .send = p2p_letter_send,
    .send_at_once = p2p_letter_send_at_once,
    .take = p2p_letter_take,
    .pending = &p2p_letters_pending,
    .is_lost = p2p_letters_is_lost,
    .give_up = p2p_letters_give_up,
    .threads = p2p_letters_threads,
    .lock = p2p_letters_lock,
    .unlock = p2p_letters_unlock,
    .wait_begin = wait_begin,
    .wait = door_wait,
    .wait_is_over = wait_is_over,
    .wait_until = wait_until,
    .poll = door_poll,
    .in_vain = progress_in_vain,
    .add_poll = progress_add,
    .wake_up = wake_up,
    .diagnose = diagnose,
    .abort = door_abort,
    .text = err_text,
    .own_code = callsite_also_own,
};
