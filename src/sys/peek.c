/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. process_vm_readv and process_vm_writev, repeated until all is copied. */
#include "sys/peek.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/uio.h>

#include "base/setting.h"
#include "sys/huge.h"

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
    huge_note(local, len);
    return copy(pid, local, remote, len, process_vm_readv);
}

int peek_write(int pid, const void *local, uint64_t remote, size_t len)
{
    huge_note(local, len);
    return copy(pid, (char *)(uintptr_t)local, remote, len, process_vm_writev);
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
