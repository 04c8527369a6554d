/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. process_vm_readv and process_vm_writev, repeated until all is copied. */
#include "sys/peek.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/setting.h"
#include "sys/clock.h"

static struct setting single_copy = {
    .name = "SINGLE_COPY",
    .help = "copy large messages directly between processes where the system allows it",
    .topic = "copies",
    .kind = SETTING_BOOL,
    .value = 1,
};
SETTING_LISTED(single_copy);

bool peek_is_wanted(void)
{
    return !setting_read(&single_copy) && single_copy.value;
}

void peek_allow(void)
{
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

typedef ssize_t copy_fn(pid_t pid, const struct iovec *here, unsigned long here_count, const struct iovec *there,
                        unsigned long there_count, unsigned long flags);

/* Both calls copy page by page and stop at the first bad one: what they return is what was copied. Less than 0: the
 * errno. */
static ssize_t copy_once(int pid, const struct iovec *here, size_t here_count, const struct iovec *there,
                         size_t there_count, copy_fn *call)
{
    ssize_t done;

    do
        done = call(pid, here, here_count, there, there_count, 0);
    while (done < 0 && errno == EINTR);
    if (done <= 0)
        return done < 0 ? -errno : -EFAULT;
    return done;
}

static int copy(int pid, char *local, uint64_t remote, size_t len, copy_fn *call)
{
    while (len) {
        const struct iovec here = { local, len }, there = { (void *)(uintptr_t)remote, len };
        const ssize_t done = copy_once(pid, &here, 1, &there, 1, call);
        if (done < 0)
            return (int)-done;
        local += done;
        remote += (uint64_t)done;
        len -= (size_t)done;
    }
    return 0;
}

int peek_read(int pid, void *local, uint64_t remote, size_t len)
{
    return copy(pid, local, remote, len, process_vm_readv);
}

int peek_write(int pid, const void *local, uint64_t remote, size_t len)
{
    return copy(pid, (char *)(uintptr_t)local, remote, len, process_vm_writev);
}

/* The shortest of some: what disturbs a process makes others longer. In ns. */
enum { PRICED = 65536, PRICED_TIMES = 7 };

static float time_of(char *to, const char *from, bool by_system)
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < PRICED_TIMES; i++) {
        const uint64_t start = clock_ns();
        uint64_t took;

        if (!by_system)
            memcpy(to, from, PRICED);
        else if (copy(getpid(), to, (uintptr_t)from, PRICED, process_vm_readv))
            return 0;
        atomic_signal_fence(memory_order_seq_cst); /* the copy is made, and made here */
        took = clock_ns() - start;
        best = took < best ? took : best;
    }
    return (float)best;
}

static float measure_price(void)
{
    char *const memory = mem_alloc(2 * (size_t)PRICED);
    float copied, price = 0;

    if (!memory)
        return 0;
    memset(memory, 1, 2 * (size_t)PRICED);
    copied = time_of(memory, memory + PRICED, false);
    if (copied > 0)
        price = time_of(memory, memory + PRICED, true) / copied;
    mem_free(memory);
    return price;
}

float peek_price(void)
{
    static _Atomic float price = -1;
    float known = atomic_load_explicit(&price, memory_order_relaxed);

    if (known < 0) {
        known = measure_price();
        atomic_store_explicit(&price, known, memory_order_relaxed);
    }
    return known;
}

/* The first `done` bytes are copied; returns how many pieces have gone. */
static size_t advance(struct iovec *pieces, size_t done)
{
    size_t i = 0;

    while (done && done >= pieces[i].iov_len)
        done -= pieces[i++].iov_len;
    if (done) {
        pieces[i].iov_base = (char *)pieces[i].iov_base + done;
        pieces[i].iov_len -= done;
    }
    return i;
}

static int copy_list(int pid, struct peek_list *list, copy_fn *call)
{
    size_t here = 0, there = 0;

    while (here < list->here_count && there < list->there_count) {
        const ssize_t done = copy_once(pid, &list->here[here], list->here_count - here, &list->there[there],
                                       list->there_count - there, call);
        if (done < 0)
            return (int)-done;
        here += advance(&list->here[here], (size_t)done);
        there += advance(&list->there[there], (size_t)done);
    }
    return 0;
}

int peek_read_list(int pid, struct peek_list *list)
{
    return copy_list(pid, list, process_vm_readv);
}

int peek_write_list(int pid, struct peek_list *list)
{
    return copy_list(pid, list, process_vm_writev);
}
