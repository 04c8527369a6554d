/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room pm: coming up under a launcher that speaks PMI-1. The test plays the server; ranks are forked.
 * Lines and whole answers are also cut, changed and made up: whatever comes, it is an error or a start. */
#include "pm/pm.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "pm/int_pm.h"
#include "pm/pm_ranks.h"
#include "sys/control.h"

enum { LINE = 8192, KEYS = 20 };

/* What the server does otherwise than it should. */
struct quirk {
    const char *command; /* at which command, without "cmd="; NULL: never */
    const char *answer;  /* instead of the right one, NULL: none and the connection is closed */
    const char *mapping; /* PMI_process_mapping; NULL: not there */
    bool is_slow;        /* a byte at a time */
    bool has_intruders;  /* strangers come to where the ranks meet */
};

static struct {
    int fds[MAX_RANKS], size, waiting, finalized, abort_code;
    char keys[KEYS][64], values[KEYS][512];
    const struct quirk *quirk;
} server;

static void clear_environment(void)
{
    static const char *const marks[] = { "PMI_FD", "PMI_PORT", "PMI_ID", "PMI_RANK", "PMI_SIZE", "HYDI_CONTROL_FD",
                                         "PARLEY_JOB", "PARLEY_SINGLETON", "OMPI_COMM_WORLD_SIZE", "PMIX_RANK" };

    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        unsetenv(marks[i]);
}

static void set_number(const char *name, int number)
{
    char text[16];

    snprintf(text, sizeof text, "%d", number);
    setenv(name, text, 1);
}

static void set_place(int fd, int rank, int size)
{
    clear_environment();
    set_number("PMI_FD", fd);
    set_number("PMI_RANK", rank);
    set_number("PMI_SIZE", size);
}

/* --- the server --- */

static void answer(int rank, const char *text)
{
    char line[LINE];
    const int length = snprintf(line, sizeof line, "%s\n", text);

    for (int i = 0; i < length; i += server.quirk->is_slow ? 1 : length) {
        CHECK(send(server.fds[rank], line + i, server.quirk->is_slow ? 1 : (size_t)length, MSG_NOSIGNAL) > 0);
        if (server.quirk->is_slow)
            usleep(50);
    }
}

static void drop(int rank)
{
    close(server.fds[rank]);
    server.fds[rank] = -1;
}

static void answer_get(int rank, const char *line)
{
    char key[64], text[LINE];

    CHECK(pmi1_value(line, "key", key, sizeof key));
    for (int i = 0; i < KEYS; i++)
        if (!strcmp(server.keys[i], key)) {
            snprintf(text, sizeof text, "cmd=get_result rc=0 msg=success value=%s", server.values[i]);
            answer(rank, text);
            return;
        }
    answer(rank, "cmd=get_result rc=-1 msg=not_found value=unknown");
}

/* Who does not know the whole token, or says that he is rank 0, gets nothing and does no harm. */
static void intrude(const char *value)
{
    struct control_header hello = { .kind = CONTROL_HELLO, .rank = 1 };
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    unsigned long long high, low;
    int length;

    CHECK(sscanf(value, "%*d:%16llx%16llx:", &high, &low) == 2);
    length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, CONTROL_ADDRESS, high, 0);
    for (int turn = 0; turn < 4; turn++) {
        const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        hello.token[0] = high;
        hello.token[1] = turn == 0 ? low + 1 : low;
        hello.rank = turn == 1 ? 0 : turn == 2 ? 77 : 1;
        CHECK(!connect(fd, (struct sockaddr *)&address,
                       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)));
        CHECK(turn == 3 || send(fd, &hello, sizeof hello, 0) == sizeof hello); /* the last one says nothing */
        close(fd);
    }
}

static void take_put(int rank, const char *line)
{
    int slot = 0;

    while (*server.keys[slot])
        slot++;
    CHECK(pmi1_value(line, "key", server.keys[slot], sizeof server.keys[0]));
    CHECK(pmi1_value(line, "value", server.values[slot], sizeof server.values[0]));
    if (server.quirk->has_intruders)
        intrude(server.values[slot]);
    answer(rank, "cmd=put_result rc=0 msg=success");
}

static void take_barrier(void)
{
    if (++server.waiting < server.size)
        return;
    server.waiting = 0;
    for (int i = 0; i < server.size; i++)
        answer(i, "cmd=barrier_out");
}

static void take_line(int rank, const char *line)
{
    static const char *const simple[][2] = {
        { "init", "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0" },
        { "get_maxes", "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024" },
        { "get_appnum", "cmd=appnum appnum=3" },
        { "get_universe_size", "cmd=universe_size size=16" },
        { "get_my_kvsname", "cmd=my_kvsname kvsname=kvs_1_2_3" },
        { "finalize", "cmd=finalize_ack" },
    };
    char command[64];

    CHECK(pmi1_value(line, "cmd", command, sizeof command));
    if (server.quirk->command && !strcmp(command, server.quirk->command)) {
        if (server.quirk->answer)
            answer(rank, server.quirk->answer);
        for (int i = 0; i < server.size; i++)
            if (server.fds[i] >= 0)
                drop(i);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(simple); i++)
        if (!strcmp(simple[i][0], command))
            answer(rank, simple[i][1]);
    if (!strcmp(command, "get"))
        answer_get(rank, line);
    else if (!strcmp(command, "put"))
        take_put(rank, line);
    else if (!strcmp(command, "barrier_in"))
        take_barrier();
    else if (!strcmp(command, "finalize"))
        server.finalized++;
    else if (!strcmp(command, "abort"))
        CHECK(pmi1_number(line, "exitcode", &server.abort_code));
}

/* Ranks send a line and wait, so what comes is whole lines. */
static void take(int rank)
{
    char data[LINE], *at = data, *end;
    const ssize_t got = recv(server.fds[rank], data, sizeof data - 1, 0);

    if (got <= 0) {
        drop(rank);
        return;
    }
    data[got] = 0;
    CHECK(data[got - 1] == '\n');
    for (; server.fds[rank] >= 0 && (end = strchr(at, '\n')); at = end + 1) {
        *end = 0;
        take_line(rank, at);
    }
}

/* Until all ranks have closed. */
static void serve(void)
{
    struct pollfd waiting[MAX_RANKS];

    for (;;) {
        int open = 0;
        for (int i = 0; i < server.size; i++) {
            waiting[i] = (struct pollfd){ .fd = server.fds[i], .events = POLLIN };
            open += server.fds[i] >= 0;
        }
        if (!open)
            return;
        CHECK(poll(waiting, (nfds_t)server.size, -1) > 0);
        for (int i = 0; i < server.size; i++)
            if (waiting[i].revents)
                take(i);
    }
}

static void begin(int size, const struct quirk *quirk)
{
    memset(&server, 0, sizeof server);
    server.size = size;
    server.quirk = quirk;
    server.abort_code = -1;
    if (quirk->mapping) {
        strcpy(server.keys[0], "PMI_process_mapping");
        strcpy(server.values[0], quirk->mapping);
    }
}

/* `size` ranks run `body`, and their wait statuses must be `expected`. */
static void run(int size, const struct quirk *quirk, void (*body)(int rank, int size), int expected)
{
    pid_t pids[MAX_RANKS];
    int ends[2];

    begin(size, quirk);
    for (int i = 0; i < size; i++) {
        CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
        pids[i] = fork();
        if (!pids[i]) {
            for (int k = 0; k < i; k++)
                close(server.fds[k]);
            close(ends[0]);
            set_place(ends[1], i, size);
            body(i, size);
            _exit(0);
        }
        close(ends[1]);
        server.fds[i] = ends[0];
    }
    serve();
    ranks_wait(pids, size, expected);
}

/* --- ranks --- */

static void live(int rank, int size)
{
    struct pm_job job;
    struct job_proc *proc;

    open_ok(&job, rank, size);
    if (size > 1) {
        proc = job_proc(job.head, rank);
        CHECK(!job.is_singleton && job.proc == rank && job.procs == size && job.control_fd == -1);
        CHECK(job.head->size == (uint32_t)size && job.head->cpus >= 1 && proc->pid == getpid() && proc->appnum == 3);
        CHECK(fcntl(job.segment_fd, F_GETFD) & FD_CLOEXEC);
        /* each sees what the one before it says */
        atomic_store(&job_proc(job.head, rank)->generation, (uint32_t)rank + 100);
        while (atomic_load(&job_proc(job.head, (rank + 1) % size)->generation) != (uint32_t)((rank + 1) % size) + 100)
            usleep(100);
    } else {
        CHECK(job.is_singleton && !job.head);
    }
    pm_started(&job);
    pm_finalised(&job);
    pm_started(&job); /* a session after the world: the launcher is told but once */
    pm_finalised(&job);
    pm_close(&job);
}

/* Two processes on each of the nodes, which are all this machine. */
static void live_apart(int rank, int size)
{
    struct pm_job job;
    struct job_address *address;

    open_ok(&job, rank, size);
    address = &job_place(job.head, rank)->address[rank & 1 ? JOB_OFI : JOB_TCP];
    CHECK(job.head->is_spread && job.head->here == 2);
    address->bytes[0] = (unsigned char)(rank + 1);
    atomic_store(&address->size, 1);
    CHECK_INT(pm_started(&job), 0);
    for (int peer = 0; peer < size; peer++) {
        CHECK_INT((int)job_place(job.head, peer)->node, peer / 2);
        address = &job_place(job.head, peer)->address[peer & 1 ? JOB_OFI : JOB_TCP];
        while (!job_address_size(address))
            usleep(100);
        CHECK_INT(address->bytes[0], peer + 1);
    }
    pm_finalised(&job);
    pm_close(&job);
}

/* The other node has told nothing. */
static void miss_address(int rank, int size)
{
    struct pm_job job;
    char text[ERR_TEXT_SIZE];

    open_ok(&job, rank, size);
    err_text(pm_started(&job), text, sizeof text);
    CHECK(strstr(text, "on another host, has told no address of its network"));
    pm_finalised(&job);
    pm_close(&job);
}

static void fail(int rank, int size)
{
    struct pm_job job;

    open_fails(&job, "PMI-1");
    CHECK(job.foreign && rank < size);
    pm_close(&job);
}

static void leave(int rank, int size)
{
    struct pm_job job;

    open_ok(&job, rank, size);
    close(STDERR_FILENO);
    pm_left(&job);
}

static void wait_for_end(int rank, int size)
{
    struct pm_job job;

    open_ok(&job, rank, size);
    CHECK(send(atoi(getenv("PMI_FD")), "cmd=here\n", 9, 0) == 9);
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
        CHECK(!job.head && job.rank == rank && job.segment_fd == -1);
        CHECK(fcntl(atoi(getenv("PMI_FD")), F_GETFD) < 0);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && !status);
    pm_finalised(&job);
    pm_close(&job);
}

static void test_start(void)
{
    const struct quirk plain = { 0 }, slow = { .is_slow = true }, intruded = { .has_intruders = true },
                       mapped = { .mapping = "(vector,(0,1,1))" }, blocks = { .mapping = "(vector,(3,1,2),(3,1,4))" },
                       apart = { .mapping = "(vector,(4,4,2))" }, each = { .mapping = "(vector,(0,2,1))" };

    run(1, &plain, live, 0);
    CHECK_INT(server.finalized, 1);
    run(4, &plain, live, 0);
    CHECK_INT(server.finalized, 4);
    run(2, &slow, live, 0);
    run(3, &intruded, live, 0);
    run(8, &mapped, live, 0);
    run(8, &blocks, live, 0);
    run(8, &apart, live_apart, 0);
    run(2, &each, miss_address, 0);
}

static void test_faults(void)
{
    static const struct {
        struct quirk quirk;
        const char *text;
    } faults[] = {
        { { .command = "init" }, "closed instead of an answer to 'cmd=init pmi_version=1 pmi_subversion=1'" },
        { { .command = "get_maxes" }, "closed" },
        { { .command = "barrier_in" }, "closed" },
        { { .command = "init", .answer = "cmd=response_to_init pmi_version=2 rc=0" }, "version 2" },
        { { .command = "init", .answer = "cmd=response_to_init pmi_version=1 rc=-1" }, "version 1" },
        { { .command = "init", .answer = "cmd=response_to_init" }, "pmi_version" },
        { { .command = "init", .answer = "hello" }, "'hello' instead of response_to_init" },
        { { .command = "get_my_kvsname", .answer = "cmd=my_kvsname kvsname=" }, "kvsname" },
        { { .command = "get_maxes", .answer = "cmd=maxes keylen_max=8 vallen_max=20" }, "at most 8 and 20" },
        { { .command = "get_maxes", .answer = "cmd=maxes keylen_max=x vallen_max=" }, "keylen_max" },
        { { .mapping = "(vector,(0,1," }, "does not understand" },
        { { .command = "put", .answer = "cmd=put_result rc=-1 msg=full" }, "" }, /* rank 0 says "does not take" */
    };
    static char long_answer[LINE - 100];

    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        setenv("EXPECT", faults[i].text, 1);
        run(i < 10 && i != 2 ? 1 : 2, &faults[i].quirk, fail, 0);
    }
    memset(long_answer, 'x', sizeof long_answer - 1);
    setenv("EXPECT", "longer than 4095 bytes", 1);
    run(1, &(struct quirk){ .command = "get_maxes", .answer = long_answer }, fail, 0);
}

static void expect_error(const char *part)
{
    struct pm_job job;
    char text[ERR_TEXT_SIZE];
    const int rc = pm_open(&job);

    err_text(rc, text, sizeof text);
    CHECK(rc && (strstr(text, part) || (fprintf(stderr, "%s\n", text), false)));
    pm_close(&job);
}

static void test_bad_environments(void)
{
    int ends[2];

    CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
    set_place(ends[0], 2, 2);
    expect_error("rank 2 of 2");
    CHECK(fcntl(ends[0], F_GETFD) < 0); /* it was ours to close */
    set_place(400, 0, 2);
    expect_error("descriptor 400 (PMI_FD) is not its connection");
    set_place(ends[1], 0, 2);
    setenv("PMI_FD", "seven", 1);
    expect_error("PMI_FD=seven is not a descriptor");
    set_number("PMI_FD", ends[1]);
    unsetenv("PMI_SIZE");
    expect_error("PMI_SIZE");
    clear_environment();
    setenv("PMI_PORT", "localhost:1", 1);
    expect_error("PMI_ID");
    setenv("PMI_ID", "0", 1);
    expect_error("PMI_PORT=localhost:1: Connection refused");
    setenv("PMI_PORT", "no-host-of-this-name.invalid:1000", 1);
    expect_error("of another host");
    setenv("PMI_PORT", "nonsense", 1);
    expect_error("is not host:port");
    clear_environment();
}

/* A rank by PMI_PORT and PMI_ID. */
static void test_port(void)
{
    const struct quirk plain = { 0 };
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct pm_job job;
    char text[64];
    int status;
    pid_t pid;

    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 5)) {
        fprintf(stderr, "no loopback network here: PMI_PORT is not tested\n");
        return;
    }
    CHECK(!getsockname(listener, (struct sockaddr *)&address, &size));
    pid = fork();
    if (!pid) {
        clear_environment();
        snprintf(text, sizeof text, "localhost:%d", ntohs(address.sin_port));
        setenv("PMI_PORT", text, 1);
        setenv("PMI_ID", "5", 1);
        open_ok(&job, 0, 1);
        pm_finalised(&job);
        _exit(0);
    }
    begin(1, &plain);
    server.fds[0] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK_INT(recv(server.fds[0], text, sizeof text, 0), (int)strlen("cmd=initack pmiid=5\n"));
    CHECK(!strncmp(text, "cmd=initack pmiid=5\n", strlen("cmd=initack pmiid=5\n")));
    answer(0, "cmd=initack\ncmd=set size=1\ncmd=set rank=0\ncmd=set debug=0");
    serve();
    CHECK(waitpid(pid, &status, 0) == pid && !status);
    close(listener);
}

static void test_ends(void)
{
    const struct quirk plain = { 0 };

    run(1, &plain, give_up, (300 & 0xff) << 8);
    CHECK_INT(server.abort_code, 300 & 0xff);
    run(1, &plain, leave, 0);
    CHECK_INT(server.abort_code, 1);
    CHECK_INT(server.finalized, 0);
    run(3, &plain, fork_child, 0);
}

/* The launcher dies: the kernel ends the ranks. */
static void test_lifeline(void)
{
    const struct quirk plain = { 0 };
    int ends[2], status;
    pid_t pid;

    begin(1, &plain);
    CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
    pid = fork();
    if (!pid) {
        close(ends[0]);
        set_place(ends[1], 0, 1);
        wait_for_end(0, 1);
    }
    close(ends[1]);
    server.fds[0] = ends[0];
    for (int commands = 0; commands < 6; commands++) /* the last one says that it is guarded */
        take(0);
    close(ends[0]);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* --- what may come --- */

static void test_lines(void)
{
    char value[16];
    int number = -7, node[8];

    CHECK(pmi1_value("cmd=a key=v", "key", value, sizeof value) && !strcmp(value, "v"));
    CHECK(pmi1_value("cmd=a  xkey=1 key=v=w ", "key", value, sizeof value) && !strcmp(value, "v=w"));
    CHECK(pmi1_value("key=", "key", value, sizeof value) && !*value);
    CHECK(!pmi1_value("cmd=a keys=v key", "key", value, sizeof value));
    CHECK(!pmi1_value("key=0123456789abcdef", "key", value, sizeof value));
    CHECK(pmi1_number("rc=-5 x", "rc", &number) && number == -5);
    CHECK(!pmi1_number("rc=5x", "rc", &number) && !pmi1_number("rc=", "rc", &number) && number == -5);
    CHECK(!pmi1_number("rc=99999999999", "rc", &number) && !pmi1_number("rc=999999999999999999999", "rc", &number));
    CHECK(pmi1_mapping("(vector,(0,2,2),(7,1,1))", node, 8) && node[0] == 0 && node[1] == 0 && node[2] == 1 &&
          node[3] == 1 && node[4] == 7 && node[5] == 0);
    CHECK(pmi1_mapping("(vector,(0,2147483647,2147483647))", node, 8) && node[7] == 0);
    CHECK(!pmi1_mapping("(vector)", node, 8) && !pmi1_mapping("(vector,(0,0,1))", node, 8));
    CHECK(!pmi1_mapping("(vector,(0,1,1)) ", node, 8) && !pmi1_mapping("(vector,(-1,1,1))", node, 8));
    CHECK(!pmi1_mapping("", node, 8) && !pmi1_mapping("(vector,(0,1,99999999999))", node, 8));
}

static uint64_t state = 88172645463325252u;

static unsigned pick(unsigned below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 33) % below;
}

/* Change, cut, double or replace a part. */
static size_t mutate(char *text, size_t length, size_t room)
{
    static const char useful[] = "\n =()-0123456789:,cmdrkey";

    for (unsigned i = pick(4); i > 0 && length > 0; i--)
        text[pick((unsigned)length)] = pick(2) ? useful[pick(sizeof useful - 1)] : (char)pick(256);
    if (!pick(4) && length > 0)
        length = pick((unsigned)length);
    if (!pick(4) && length > 0 && length * 2 < room) {
        memcpy(text + length, text, length);
        length *= 2;
    }
    if (!pick(50)) {
        length = room;
        memset(text, pick(2) ? 'x' : '\n', length);
    }
    return length;
}

static void fuzz_lines(void)
{
    static const char *const seeds[] = { "cmd=get_result rc=0 msg=success value=(vector,(0,2,4),(2,1,1))",
                                         "(vector,(0,2,4),(2,1,1))", "cmd=maxes keylen_max=64 vallen_max=1024" };
    char text[256], value[24];
    int number, node[16];

    for (int turn = 0; turn < 200000; turn++) {
        const char *seed = seeds[pick(ARRAY_LEN(seeds))];
        size_t length = strlen(seed);
        memcpy(text, seed, length);
        length = mutate(text, length, sizeof text - 1);
        text[length] = 0;
        if (pmi1_value(text, "value", value, sizeof value))
            CHECK(strlen(value) < sizeof value && !strchr(value, ' '));
        pmi1_number(text, "rc", &number);
        pmi1_mapping(text, node, ARRAY_LEN(node));
    }
}

/* All answers are there before the first question, and then the end of the connection. */
static void fuzz_answers(void)
{
    static const char seed[] =
        "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
        "cmd=my_kvsname kvsname=kvs_1\n"
        "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n"
        "cmd=appnum appnum=0\n"
        "cmd=universe_size size=-1\n"
        "cmd=get_result rc=0 msg=success value=(vector,(0,1,1))\n"
        "cmd=barrier_out\n"
        "cmd=get_result rc=0 msg=success value=1:0123456789abcdef0123456789abcdef:host/net:[1]\n";
    static char text[LINE];
    struct pm_job job;
    int ends[2];

    for (int turn = 0; turn < 3000; turn++) {
        const size_t length = mutate((memcpy(text, seed, sizeof seed), text), sizeof seed - 1, sizeof text);
        CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
        CHECK(send(ends[0], text, length, 0) == (ssize_t)length && !shutdown(ends[0], SHUT_WR));
        set_place(ends[1], turn % 2, turn % 2 + 1);
        CHECK(pm_open(&job)); /* the end is an error at the latest */
        pm_close(&job);
        close(ends[0]);
    }
}

/* Rank 0 of 2, whose launcher ends before rank 1 comes; memory ends at each place before that. */
static void test_memory(void)
{
    static const char answers[] = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
                                  "cmd=my_kvsname kvsname=kvs_1\n"
                                  "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n"
                                  "cmd=appnum appnum=0\n"
                                  "cmd=universe_size size=-1\n"
                                  "cmd=get_result rc=-1 msg=none value=unknown\n"
                                  "cmd=put_result rc=0\n"
                                  "cmd=barrier_out\n";
    const long live = mem_live();
    int ends[2];

    for (long n = 0; n < 7; n++) {
        CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
        CHECK(send(ends[0], answers, sizeof answers - 1, 0) > 0 && !shutdown(ends[0], SHUT_WR));
        set_place(ends[1], 0, 2);
        mem_fail_after(n);
        expect_error(n < 6 ? "no memory" : "closed the connection before rank 1 came");
        mem_fail_after(-1);
        close(ends[0]);
        if (n == 0)
            close(ends[1]);
        CHECK_INT(mem_live(), live);
    }
}

int main(void)
{
    universe = 16;
    test_lines();
    fuzz_lines();
    test_start();
    test_faults();
    test_bad_environments();
    test_port();
    test_ends();
    test_lifeline();
    test_memory();
    fuzz_answers();
    CHECK_INT(mem_live(), 0);
    return 0;
}
