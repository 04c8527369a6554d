/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Parts of the job segment. Knows: where its token lies. */
#include "sys/share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/job.h"

static bool is_segment(const struct job_head *head, int fd)
{
    uint64_t token[2];

    return pread(fd, token, sizeof token, offsetof(struct job_head, token)) == (ssize_t)sizeof token &&
           !memcmp(token, head->token, sizeof token);
}

/* Launchers make the file long enough; one that does not seals it, so that who comes with a smaller size after one with
 * a larger is refused (EPERM) and finds the larger. */
static int extend(int fd, size_t total)
{
    struct stat st;

    for (off_t before = -1;; before = st.st_size) {
        if (fstat(fd, &st))
            return -1;
        if ((size_t)st.st_size >= total)
            return 0;
        if (ftruncate(fd, (off_t)total) && errno != EINTR && (errno != EPERM || st.st_size == before))
            return -1;
    }
}

void *share_map(const struct job_head *head, int fd, size_t offset, size_t size)
{
    void *start;

    if (!is_segment(head, fd)) {
        errno = EBADF;
        return NULL;
    }
    if (offset + size < size || extend(fd, offset + size))
        return NULL;
    start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, (off_t)offset);
    if (start == MAP_FAILED)
        return NULL;
    (void)madvise(start, size, MADV_DONTFORK);
    return start;
}

bool share_is_memory_file(int fd)
{
    const int seals = fcntl(fd, F_GET_SEALS);

    return seals >= 0 && seals & F_SEAL_SHRINK;
}

/* The seal keeps extend from making the file shorter when two do it at once. */
static int reserve(int fd, uint64_t offset, uint64_t size)
{
    if (share_is_memory_file(fd))
        return extend(fd, offset + size) ? errno : 0;
    return fallocate(fd, 0, (off_t)offset, (off_t)size) ? errno : 0;
}

/* Beyond the limit on the size of files the system would send a signal. The soft limit stands aside for this moment. */
int share_reserve(const struct job_head *head, int fd, uint64_t offset, uint64_t size)
{
    struct rlimit limit, wider;
    int failed;

    if (!is_segment(head, fd))
        return EBADF;
    if (offset + size < size || offset + size > INT64_MAX)
        return EFBIG;
    if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur >= offset + size)
        return reserve(fd, offset, size);
    wider = (struct rlimit){ limit.rlim_max, limit.rlim_max };
    if (limit.rlim_max < offset + size || setrlimit(RLIMIT_FSIZE, &wider))
        return EFBIG;
    failed = reserve(fd, offset, size);
    setrlimit(RLIMIT_FSIZE, &limit);
    return failed;
}

void share_release(const struct job_head *head, int fd, uint64_t offset, uint64_t size)
{
    if (is_segment(head, fd))
        (void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size);
}
