/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of sys/thread.h and sys/descriptor.h: a thread of the library has its stack beside thread-local variables
 * of the program, however many there are; descriptors stay away from the numbers of the standard streams. */
#include "sys/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "sys/descriptor.h"

enum { STACK = 65536, USED = 49152 };

/* More than a thread with a stack of STACK could have. */
static _Thread_local char variables[300000];
static sigset_t blocked;
static atomic_bool has_name; /* seen by who has started the thread, and given it one */

static __attribute__((noinline)) long touch(void)
{
    volatile char all[USED];
    long sum = 0;

    for (int i = 0; i < USED; i++)
        all[i] = (char)i;
    for (int i = 0; i < USED; i += 512)
        sum += all[i];
    return sum;
}

static void *body(void *arg)
{
    memset(variables, 7, sizeof variables);
    touch();
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    while (!atomic_load(&has_name))
        sched_yield();
    return arg;
}

static void test_thread(void)
{
    pthread_t thread;
    char name[32];

    variables[0] = 1;
    CHECK(thread_start(&thread, "parley-test", STACK, body));
    CHECK(!pthread_getname_np(thread, name, sizeof name) && !strcmp(name, "parley-test"));
    atomic_store(&has_name, true);
    CHECK(!pthread_join(thread, NULL));
    CHECK(sigismember(&blocked, SIGTERM) == 1 && sigismember(&blocked, SIGUSR1) == 1);
    CHECK_INT(variables[0], 1);
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    CHECK(!sigismember(&blocked, SIGTERM));
}

/* Standard output is closed for a moment. */
static void test_descriptor(void)
{
    const int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
    int fd, high;

    CHECK(kept >= 10);
    close(STDOUT_FILENO);
    fd = open("/dev/null", O_RDONLY);
    CHECK_INT(fd, STDOUT_FILENO);
    fd = descriptor_apart(fd);
    CHECK(fd > STDERR_FILENO && fcntl(fd, F_GETFD) == FD_CLOEXEC);
    CHECK(write(STDOUT_FILENO, "", 1) < 0 && errno == EBADF);
    high = descriptor_apart(fd);
    CHECK_INT(high, fd);
    close(fd);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    errno = ENFILE;
    CHECK(descriptor_apart(-1) == -1 && errno == ENFILE);
}

int main(void)
{
    test_thread();
    test_descriptor();
    return 0;
}
