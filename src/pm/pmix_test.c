/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room pm: coming up under a launcher that offers PMIx, with a made up library (tests/pmix); its binary
 * interface held against libpmix's headers, where these are. Ranks are forked. */
#include "pm/pm.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "pm/int_pm.h"
#include "pm/pm_ranks.h"
#include "pm/pmix_fake.h"

#if __has_include(<pmix.h>)
#include <pmix.h>

#define SAME(value, theirs) _Static_assert((value) == (theirs), #theirs)
#define PLACE(a, member, b, theirs) _Static_assert(offsetof(struct a, member) == offsetof(b, theirs), #b " " #theirs)

SAME(PMX_SUCCESS, PMIX_SUCCESS);
SAME(PMX_LOST_CONNECTION, PMIX_ERR_LOST_CONNECTION);
SAME(PMX_NSPACE_SIZE, PMIX_MAX_NSLEN + 1);
SAME(PMX_KEY_SIZE, PMIX_MAX_KEYLEN + 1);
SAME(PMX_GLOBAL, PMIX_GLOBAL);
SAME(PMX_BOOL, PMIX_BOOL);
SAME(PMX_STRING, PMIX_STRING);
SAME(PMX_INT, PMIX_INT);
SAME(PMX_UINT32, PMIX_UINT32);
SAME(PMX_RANK_ALL, PMIX_RANK_WILDCARD);
SAME(sizeof(struct pmx_proc), sizeof(pmix_proc_t));
SAME(sizeof(struct pmx_info), sizeof(pmix_info_t));
SAME(sizeof(struct pmx_value), sizeof(pmix_value_t));
PLACE(pmx_value, data, pmix_value_t, data);
PLACE(pmx_info, flags, pmix_info_t, flags);
PLACE(pmx_info, value, pmix_info_t, value);

static void test_names(void)
{
    CHECK(!strcmp(PMX_JOB_SIZE, PMIX_JOB_SIZE) && !strcmp(PMX_UNIV_SIZE, PMIX_UNIV_SIZE));
    CHECK(!strcmp(PMX_APPNUM, PMIX_APPNUM) && !strcmp(PMX_HOSTNAME, PMIX_HOSTNAME));
    CHECK(!strcmp(PMX_COLLECT, PMIX_COLLECT_DATA) && !strcmp(PMX_IMMEDIATE, PMIX_IMMEDIATE));
}
#else
static void test_names(void)
{
    fprintf(stderr, "no headers of libpmix: its binary interface is not compared\n");
}
#endif

static struct fake_job *server;
static char job_file[] = "/tmp/parley-pmix-XXXXXX";

static void open_server(void)
{
    const int fd = mkstemp(job_file);

    CHECK(fd >= 0 && !ftruncate(fd, sizeof *server));
    server = mmap(NULL, sizeof *server, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(server != MAP_FAILED);
    close(fd);
}

static void set_environment(int rank)
{
    char path[PATH_MAX + 64], own[PATH_MAX], number[16];
    const ssize_t size = readlink("/proc/self/exe", own, sizeof own - 1);

    CHECK(size > 0);
    own[size] = 0;
    *strrchr(own, '/') = 0;
    snprintf(path, sizeof path, "%s/../tests/pmix/libpmix_fake.so", own);
    snprintf(number, sizeof number, "%d", rank);
    setenv("PARLEY_PMIX_LIBRARY", path, 1);
    setenv("FAKE_PMIX", job_file, 1);
    setenv("PMIX_NAMESPACE", "a-job", 1);
    setenv("PMIX_RANK", number, 1);
    setenv("PMIX_SERVER_URI4", "somewhere", 1);
    unsetenv("PMI_FD");
    unsetenv("PMI_PORT");
    unsetenv("PARLEY_JOB");
    unsetenv("PARLEY_SINGLETON");
}

/* `size` ranks run `body`, and their wait statuses must be `expected`. */
static void run(int size, int per_node, const char *quirk, void (*body)(int rank, int size), int expected)
{
    pid_t pids[MAX_RANKS];

    memset(server, 0, sizeof *server);
    server->size = size;
    server->per_node = per_node;
    server->aborted = -1;
    snprintf(server->quirk, sizeof server->quirk, "%s", quirk);
    for (int i = 0; i < size; i++) {
        pids[i] = fork();
        if (!pids[i]) {
            set_environment(i);
            body(i, size);
            _exit(0);
        }
    }
    ranks_wait(pids, size, expected);
}

/* --- ranks --- */

/* Rank `peer` is where the server says, and its address is known. */
static void check_place(const struct pm_job *job, int peer)
{
    const struct job_place *place = job_place(job->head, peer);
    const int per_node = server->per_node && !*server->quirk ? server->per_node : job->size;

    CHECK_INT((int)place->node, peer / per_node);
    /* the lowest rank here may not have come to it */
    while (job_address_size(&place->address[JOB_OFI]) != (uint32_t)peer + 1)
        usleep(100);
    CHECK_INT(place->address[JOB_OFI].bytes[peer], 'a' + peer);
}

static void live(int rank, int size)
{
    struct pm_job job;
    struct job_address *address;

    open_ok(&job, rank, size);
    if (size == 1) {
        CHECK(job.is_singleton && !job.head);
        CHECK_INT(server->finalized, 1); /* at once: it needs nobody */
        pm_started(&job);
        pm_finalised(&job);
        pm_close(&job);
        return;
    }
    address = &job_place(job.head, rank)->address[JOB_OFI];
    memset(address->bytes, 'a' + rank, sizeof address->bytes);
    atomic_store(&address->size, (uint32_t)rank + 1);
    CHECK_INT(pm_started(&job), 0);
    for (int peer = 0; peer < size; peer++)
        check_place(&job, peer);
    CHECK_INT((int)job.head->is_spread, server->per_node > 0 && server->per_node < size && !*server->quirk);
    CHECK(job.head->cpus >= 1 && job_proc(job.head, rank)->pid == getpid());
    CHECK_INT(pm_started(&job), 0); /* a session after the world */
    pm_finalised(&job);
    pm_started(&job);
    pm_finalised(&job);
    pm_close(&job);
}

static void ignore(int number)
{
    (void)number;
}

/* A signal ends waits with a time limit; nobody is to notice. */
static void be_interrupted(int rank, int size)
{
    const struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { 0 };
    const struct sigaction nothing = { .sa_handler = ignore, .sa_flags = SA_RESTART };

    sigaction(SIGALRM, &nothing, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    live(rank, size);
    setitimer(ITIMER_REAL, &never, NULL);
}

static void fail(int rank, int size)
{
    struct pm_job job;

    open_fails(&job, "PMIx");
    CHECK(rank < size);
    pm_close(&job);
}

static void miss_library(int rank, int size)
{
    setenv("PARLEY_PMIX_LIBRARY", getenv("LIBRARY"), 1);
    fail(rank, size);
}

static void wait_for_end(int rank, int size)
{
    struct pm_job job;

    open_ok(&job, rank, size);
    for (;;)
        pause();
}

static void fork_child(int rank, int size)
{
    struct pm_job job;
    int status;
    pid_t child;

    open_ok(&job, rank, size);
    child = fork();
    if (!child) {
        pm_forked(&job);
        pm_close(&job);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && !status);
    pm_finalised(&job);
    pm_close(&job);
}

static void test_start(void)
{
    run(1, 0, "", live, 0);
    for (int per_node = 0; per_node <= 4; per_node++) {
        run(4, per_node, "", live, 0);
        CHECK_INT(server->finalized, 4);
    }
    run(7, 2, "", live, 0);
    run(4, 2, "part", live, 0); /* as if nothing were told; they see each other, so it does not matter */
    run(6, 3, "", be_interrupted, 0);
}

static void test_faults(void)
{
    static const struct {
        const char *quirk;
        int ranks;
        const char *text;
    } faults[] = {
        { "init", 1, "its server cannot be reached: made to fail (-1)" },
        { "alone", 1, "its library says that this is rank 0 of 'singleton', the environment rank 0 of 'a-job'" },
        { "size", 1, "does not tell how many processes there are" },
        { "text", 1, "does not tell how many processes there are" },
        { "event", 2, "does not tell of its end" },
        { "fence", 2, "the processes of the job do not meet: made to fail (-1)" },
    };

    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        setenv("EXPECT", faults[i].text, 1);
        run(faults[i].ranks, 0, faults[i].quirk, fail, 0);
    }
    setenv("LIBRARY", "/no/such/libpmix.so", 1);
    setenv("EXPECT", "its library cannot be opened (/no/such/libpmix.so", 1);
    run(1, 0, "", miss_library, 0);
    setenv("LIBRARY", "libm.so.6", 1);
    setenv("EXPECT", "libm.so.6 is no library of PMIx", 1);
    run(1, 0, "", miss_library, 0);
}

static void test_ends(void)
{
    run(2, 0, "", give_up, (300 & 0xff) << 8);
    CHECK_INT(server->aborted, 300 & 0xff);
    CHECK_INT(server->finalized, 0);
    run(1, 0, "", give_up, (300 & 0xff) << 8); /* its end is seen anyway */
    run(2, 0, "lost", wait_for_end, SIGKILL);
    run(3, 0, "", fork_child, 0);
}

int main(void)
{
    universe = -1;
    test_names();
    open_server();
    test_start();
    test_faults();
    test_ends();
    CHECK_INT(mem_live(), 0);
    unlink(job_file);
    return 0;
}
