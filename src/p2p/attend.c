/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Serving processes on other machines while this one computes (MPI 5.0 §2.9, §12.7.3): a helper (room
 * progress) polls then, for windows and for shared file pointers. They have communicators in a lane of their own, whose
 * lock is taken whatever the level of threads is, so that the program's own messages are not concerned.
 * Knows: progress, where news of the lane come from. Does not know: what is served. */
#include "p2p/attend.h"

#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/setting.h"
#include "p2p/p2p.h"
#include "sys/descriptor.h"
#include "sys/joint.h"

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

/* The lane P2P_LANE_APART, and the first one, with the way to other clients of IMPI. */
enum { SOURCES = 2 };

struct attended {
    int users;
    bool is_polled;               /* the helper reads it and the source; it is not there while they change */
    struct p2p_source source;
};

static struct {
    pthread_mutex_t lock;
    struct attended of[SOURCES];  /* guarded by lock */
    int fd;                       /* all that is attended; -1: a source's own will do */
    _Atomic bool is_there;        /* written with the lock */
} attending = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

_Atomic uint32_t attend_looks;
_Atomic unsigned attend_unfinished;
static _Atomic(attend_again_fn *) again;

int attend_wanted(const struct comm *comm, bool *is_apart)
{
    const int rc = setting_read(&helper_setting);

    *is_apart = helper_setting.value && !p2p_is_foreign_ctx(comm->ctx);
    return rc;
}

bool attend_is_for_clients(const struct joint *joint)
{
    int rank = 0;

    if (!joint || !helper_setting.value)
        return false;
    while (rank < (int)joint->procs && (joint_is_own(joint, rank) || !joint_is_kin(joint, rank)))
        rank++;
    return rank < (int)joint->procs;
}

void attend_also(attend_again_fn *function)
{
    atomic_store_explicit(&again, function, memory_order_release);
}

/* By the helper alone. */
static int poll_for_others(void *arg)
{
    const struct attended *of = arg;
    attend_again_fn *const also = atomic_load_explicit(&again, memory_order_acquire);
    int events = 0;

    for (int i = 0; i < SOURCES; i++) {
        if (of[i].is_polled)
            events += of[i].source.poll(of[i].source.arg);
    }
    return events + (also ? also() : 0);
}

static void stop(void)
{
    if (atomic_load_explicit(&attending.is_there, memory_order_relaxed)) {
        progress_help_end();
        progress_work(-1);
    }
    if (attending.fd >= 0)
        close(attending.fd);
    attending.fd = -1;
    atomic_store_explicit(&attending.is_there, false, memory_order_relaxed);
}

/* Of both. Without one the helper looks at one of them, and at the other when that has something. */
static int join_descriptors(void)
{
    struct epoll_event event = { .events = EPOLLIN };

    attending.fd = descriptor_apart(epoll_create1(EPOLL_CLOEXEC));
    for (int i = 0; i < SOURCES && attending.fd >= 0; i++)
        epoll_ctl(attending.fd, EPOLL_CTL_ADD, attending.of[i].source.fd, &event);
    return attending.fd >= 0 ? attending.fd : attending.of[0].source.fd;
}

/* With the lock: who is attended has changed. */
static void start(void)
{
    struct progress_helper config = { .fd = -1, .poll = poll_for_others, .arg = attending.of, .looks = &attend_looks,
                                      .unfinished = &attend_unfinished };
    int count = 0;

    stop();
    for (int i = 0; i < SOURCES; i++) {
        attending.of[i].is_polled = attending.of[i].users && attending.of[i].source.fd >= 0;
        config.fd = attending.of[i].is_polled ? attending.of[i].source.fd : config.fd;
        count += attending.of[i].is_polled;
    }
    if (count > 1)
        config.fd = join_descriptors();
    attending.is_there = count && progress_help(&config);
    progress_work(attending.is_there); /* who waits for something else looks there, too */
}

static struct attended *attended_of(const struct comm *comm)
{
    return &attending.of[p2p_is_foreign_ctx(comm->ctx)];
}

void attend_begin(const struct comm *comm)
{
    struct attended *of = attended_of(comm);

    pthread_mutex_lock(&attending.lock);
    if (of->users++ == 0 && helper_setting.value) {
        if (!p2p_source_of(comm, &of->source))
            of->source.fd = -1;
        start();
    }
    pthread_mutex_unlock(&attending.lock);
}

void attend_end(const struct comm *comm)
{
    struct attended *of = attended_of(comm);

    pthread_mutex_lock(&attending.lock);
    if (--of->users == 0 && helper_setting.value)
        start();
    pthread_mutex_unlock(&attending.lock);
}

void attend_fini(void)
{
    stop();
    memset(attending.of, 0, sizeof attending.of);
}

bool attend_is_there(void)
{
    return atomic_load_explicit(&attending.is_there, memory_order_relaxed);
}

void attend_soon(void)
{
    if (attend_is_there())
        progress_help_soon();
}
