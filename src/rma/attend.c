/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Serving processes on other machines while this one computes (MPI 5.0 §12.7.3): a helper (room progress)
 * polls for the windows then. They have communicators in a lane of their own, whose lock is taken whatever the level of
 * threads is, so that the program's own messages are not concerned.
 * Knows: int_message.h, p2p (its source of news). Does not know: what is served. */
#include <pthread.h>

#include "base/setting.h"
#include "p2p/p2p.h"
#include "rma/int_message.h"

static struct setting helper_setting = {
    .name = "RMA_HELPER",
    .help = "whether a thread serves one-sided calls of other machines while the program computes",
    .topic = "threads",
    .kind = SETTING_BOOL,
    .value = 1,
    .must_agree = true,
};
SETTING_LISTED(helper_setting);

static struct {
    pthread_mutex_t lock;
    int windows;                  /* that are served so; guarded by lock */
    _Atomic bool is_there;        /* written with the lock */
    struct p2p_source source;
} attending = { .lock = PTHREAD_MUTEX_INITIALIZER };

_Atomic uint32_t win_attend_looks;

int win_attend_wanted(bool *is)
{
    const int rc = setting_read(&helper_setting);

    *is = helper_setting.value;
    return rc;
}

/* By the helper alone. */
static int poll_for_others(void *arg)
{
    const struct p2p_source *source = arg;

    return source->poll(source->arg) + win_serve_again();
}

void win_attend_begin(const struct win *win)
{
    struct progress_helper config = { .poll = poll_for_others, .arg = &attending.source, .looks = &win_attend_looks,
                                      .unfinished = &win_serve_deferred };

    pthread_mutex_lock(&attending.lock);
    if (helper_setting.value && win->has_far && attending.windows++ == 0 &&
        p2p_source_of(win->comm, &attending.source)) {
        config.fd = attending.source.fd;
        attending.is_there = progress_help(&config);
        progress_work(attending.is_there); /* who waits for something else looks there, too */
    }
    pthread_mutex_unlock(&attending.lock);
}

void win_attend_end(const struct win *win)
{
    pthread_mutex_lock(&attending.lock);
    if (helper_setting.value && win->has_far && --attending.windows == 0 && attending.is_there) {
        progress_help_end();
        attending.is_there = false;
        progress_work(-1);
    }
    pthread_mutex_unlock(&attending.lock);
}

void win_attend_fini(void)
{
    if (attending.is_there) {
        progress_help_end();
        progress_work(-1);
    }
    attending.is_there = false;
    attending.windows = 0;
}

void win_attend_soon(void)
{
    if (atomic_load_explicit(&attending.is_there, memory_order_relaxed))
        progress_help_soon();
}
