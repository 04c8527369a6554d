/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Serving processes on other machines while this one computes (MPI 5.0 §2.9, §12.7.3): a helper (room
 * progress) polls then, for windows and for shared file pointers. They have communicators in a lane of their own, whose
 * lock is taken whatever the level of threads is, so that the program's own messages are not concerned.
 * Knows: progress, where news of the lane come from. Does not know: what is served. */
#include "p2p/attend.h"

#include <pthread.h>

#include "base/setting.h"
#include "p2p/p2p.h"

static struct setting helper_setting = {
    .name = "RMA_HELPER",
    .help = "whether a thread serves one-sided calls and shared file pointers of other machines while the program "
            "computes",
    .topic = "threads",
    .kind = SETTING_BOOL,
    .value = 1,
    .must_agree = true,
};
SETTING_LISTED(helper_setting);

static struct {
    pthread_mutex_t lock;
    int users;                    /* guarded by lock */
    _Atomic bool is_there;        /* written with the lock */
    struct p2p_source source;
} attending = { .lock = PTHREAD_MUTEX_INITIALIZER };

_Atomic uint32_t attend_looks;
_Atomic unsigned attend_unfinished;
static _Atomic(attend_again_fn *) again;

int attend_wanted(const struct comm *comm, bool *is)
{
    const int rc = setting_read(&helper_setting);

    *is = helper_setting.value && !p2p_is_foreign_ctx(comm->ctx);
    return rc;
}

void attend_also(attend_again_fn *function)
{
    atomic_store_explicit(&again, function, memory_order_release);
}

/* By the helper alone. */
static int poll_for_others(void *arg)
{
    const struct p2p_source *source = arg;
    attend_again_fn *const also = atomic_load_explicit(&again, memory_order_acquire);

    return source->poll(source->arg) + (also ? also() : 0);
}

void attend_begin(const struct comm *comm)
{
    struct progress_helper config = { .poll = poll_for_others, .arg = &attending.source, .looks = &attend_looks,
                                      .unfinished = &attend_unfinished };

    pthread_mutex_lock(&attending.lock);
    if (helper_setting.value && attending.users++ == 0 && p2p_source_of(comm, &attending.source)) {
        config.fd = attending.source.fd;
        attending.is_there = progress_help(&config);
        progress_work(attending.is_there); /* who waits for something else looks there, too */
    }
    pthread_mutex_unlock(&attending.lock);
}

void attend_end(void)
{
    pthread_mutex_lock(&attending.lock);
    if (helper_setting.value && --attending.users == 0 && attending.is_there) {
        progress_help_end();
        attending.is_there = false;
        progress_work(-1);
    }
    pthread_mutex_unlock(&attending.lock);
}

void attend_fini(void)
{
    if (attending.is_there) {
        progress_help_end();
        progress_work(-1);
    }
    attending.is_there = false;
    attending.users = 0;
}

void attend_soon(void)
{
    if (atomic_load_explicit(&attending.is_there, memory_order_relaxed))
        progress_help_soon();
}
