/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room sys: sleeping and waking between processes, copying between processes, descriptors handed over,
 * the job segment, processors. */
#include "sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "sys/args.h"
#include "sys/cpus.h"
#include "sys/descriptor.h"
#include "sys/job.h"
#include "sys/pass.h"
#include "sys/peek.h"
#include "sys/place.h"
#include "sys/segment.h"
#include "sys/share.h"
#include "sys/wake.h"

static void test_wake(void)
{
    _Atomic uint32_t *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t before = clock_ns();
    int status, child;

    CHECK(word != MAP_FAILED);
    wake_sleep(word, 0, 2000000); /* nobody wakes: the time-out ends it */
    CHECK(clock_ns() - before >= 1900000);
    wake_sleep(word, 1, 60000000000u); /* the word has another value: no sleep */
    child = fork();
    if (!child) {
        atomic_store(word, 1);
        wake_all(word);
        _exit(0);
    }
    while (!atomic_load(word))
        wake_sleep(word, 0, 60000000000u);
    CHECK(waitpid(child, &status, 0) == child && !status);
    wake_barrier_init();
    wake_barrier(); /* may be refused here; must not fail otherwise */
    munmap(word, 4096);
}

static char shared_text[64] = "before";

/* Pieces of both sides that are cut at other places; a bad one in the middle. */
static void check_list(int child)
{
    char first[3] = "", second[5] = "", word[] = "AFT", rest[] = "ER";
    struct peek_list list = { .here = { { first, 2 }, { second, 4 } }, .here_count = 2,
                              .there = { { shared_text, 3 }, { shared_text + 3, 3 } }, .there_count = 2 };

    CHECK_INT(peek_read_list(child, &list), 0);
    CHECK(!strcmp(first, "be") && !strcmp(second, "fore"));
    list = (struct peek_list){ .here = { { word, 3 }, { rest, 2 } }, .here_count = 2,
                               .there = { { shared_text + 10, 1 }, { shared_text + 20, 4 } }, .there_count = 2 };
    CHECK_INT(peek_write_list(child, &list), 0);
    CHECK_INT(peek_read(child, first, (uintptr_t)(shared_text + 20), 2), 0);
    CHECK(!strcmp(first, "FT"));
    list = (struct peek_list){ .here = { { second, 5 } }, .here_count = 1,
                               .there = { { shared_text, 1 }, { (void *)8, 4 } }, .there_count = 2 };
    CHECK_INT(peek_read_list(child, &list), EFAULT);
}

static void test_peek(void)
{
    char text[64] = "";
    int to_child[2], status, child, rc;
    char byte = 0;

    peek_allow();
    CHECK(!pipe(to_child));
    child = fork();
    if (!child) {
        if (read(to_child[0], &byte, 1) != 1)
            _exit(2);
        _exit(!strcmp(shared_text, "after") ? 0 : 3);
    }
    rc = peek_read(child, text, (uintptr_t)shared_text, sizeof text);
    if (rc == EPERM || rc == ENOSYS) {
        fprintf(stderr, "process_vm_readv is refused here: not tested\n");
    } else {
        CHECK_INT(rc, 0);
        CHECK(!strcmp(text, "before"));
        check_list(child);
        CHECK_INT(peek_write(child, "after", (uintptr_t)shared_text, 6), 0);
        CHECK_INT(peek_read(child, text, 8, 8), EFAULT);
    }
    CHECK(write(to_child[1], &byte, 1) == 1);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(rc || !status);
    CHECK(peek_read(child, text, (uintptr_t)shared_text, 8) != 0);
}

/* Two parts of one file, which grows by need and never shrinks; somebody else's descriptor is refused. */
static void test_share(void)
{
    const int fd = memfd_create("sys_test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    struct job_head head = { .token = { 1, 2 } };
    char *later, *first, *again;

    CHECK(write(fd, &head, sizeof head) == (ssize_t)sizeof head && !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
    later = share_map(&head, fd, 4 * JOB_TRANSPORT_ALIGN, JOB_PAGE);
    first = share_map(&head, fd, JOB_TRANSPORT_ALIGN, JOB_PAGE);
    again = share_map(&head, fd, 4 * JOB_TRANSPORT_ALIGN, JOB_PAGE);
    CHECK(later && first && again);
    later[7] = 8;
    CHECK(again[7] == 8 && first[7] == 0);
    CHECK(!share_map(&head, fd, JOB_TRANSPORT_ALIGN, SIZE_MAX / 2));
    head.token[1] = 3;
    CHECK(!share_map(&head, fd, JOB_TRANSPORT_ALIGN, JOB_PAGE));
    CHECK_INT(errno, EBADF);
    CHECK(!munmap(later, JOB_PAGE) && !munmap(first, JOB_PAGE) && !munmap(again, JOB_PAGE) && !close(fd));
}

static void test_segment(void)
{
    const struct segment_plan plan = { .size = 3, .apps = 2, .cpus = 5, .launcher = "sys_test" };
    struct job_head *head, *other;
    char why[SEGMENT_WHY];
    const int fd = segment_make(&plan, &head, why);

    CHECK(fd >= 0 && fcntl(fd, F_GETFD) & FD_CLOEXEC);
    CHECK(head->magic == JOB_MAGIC && head->size == 3 && head->slots == 3 && head->cpus == 5 && head->apps == 2);
    CHECK(!strcmp(head->launcher, "sys_test") && head->launcher_pid == getpid());
    CHECK(job_proc(head, 2)->rank == 2 && job_proc(head, 2)->size == 3 && (head->token[0] || head->token[1]));
    CHECK(ftruncate(fd, 4096) && errno == EPERM); /* sealed */
    other = segment_map(fd, job_transport_offset(3));
    CHECK(other && other != head && other->token[1] == head->token[1]);
    CHECK(!segment_map(-1, 4096));
    job_place(head, 2)->node = 1;
    CHECK_INT(place_node(2), 0);
    place_open(other);
    CHECK(place_node(2) == 1 && place_node(1) == 0 && !place_is_spread());
    head->is_spread = 1;
    CHECK(place_is_spread());
    place_open(NULL);
    munmap(other, job_transport_offset(3));
    munmap(head, job_transport_offset(3));
    close(fd);
}

static void test_pass(void)
{
    int ends[2], fd, ours;

    CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends));
    fd = memfd_create("sys_test", MFD_CLOEXEC);
    CHECK(write(fd, "here", 4) == 4);
    CHECK(pass_send(ends[0], fd));
    ours = pass_receive(ends[1]);
    CHECK(ours >= 0 && ours != fd && lseek(ours, 0, SEEK_CUR) == 4 && fcntl(ours, F_GETFD) & FD_CLOEXEC);
    CHECK(send(ends[0], "x", 1, 0) == 1);
    CHECK(pass_receive(ends[1]) == -1 && errno == ECONNREFUSED);
    close(ends[0]);
    CHECK(pass_receive(ends[1]) == -1 && errno == ECONNREFUSED);
    CHECK(!pass_send(ends[1], fd) && errno == EPIPE);
    close(ends[1]);
    close(fd);
    close(ours);
}

static int tcp_socket(void)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0);
    return fd;
}

/* To a listener, and, which is as good as nowhere, to itself. */
static void test_connected(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof at;
    const int self = tcp_socket(), listener = tcp_socket(), caller = tcp_socket();

    CHECK_INT(descriptor_connected(self), ENOTCONN);
    CHECK(!bind(self, (struct sockaddr *)&at, size) && !getsockname(self, (struct sockaddr *)&at, &size));
    CHECK(!connect(self, (struct sockaddr *)&at, size));
    CHECK_INT(descriptor_connected(self), ECONNREFUSED);
    at.sin_port = 0;
    CHECK(!bind(listener, (struct sockaddr *)&at, size) && !listen(listener, 1));
    CHECK(!getsockname(listener, (struct sockaddr *)&at, &size));
    CHECK(!connect(caller, (struct sockaddr *)&at, size));
    CHECK_INT(descriptor_connected(caller), 0);
    close(self);
    close(listener);
    close(caller);
}

int main(int argc, char **argv)
{
    char **remembered;

    CHECK(args_get(&remembered) == argc && remembered == argv);
    test_segment();
    test_pass();
    CHECK(cpus_in_masks((int[]){ 0, getpid(), getppid() }, 3) >= cpus_in_mask());
    CHECK(cpus_in_masks((int[]){ 0 }, 0) == 1);
    test_wake();
    test_peek();
    test_share();
    test_connected();
    return 0;
}
