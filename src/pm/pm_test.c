/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room pm. The test plays the launcher: it makes a segment and control sockets, and ranks are
 * forked. */
#include "pm/pm.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "sys/control.h"
#include "sys/wake.h"

enum { SIZE = 3 };

static const char *const marks[] = {
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_RANK",
    "PMI_SIZE",
    "PMI_RANK",
    "PMI_FD",
    "PMI_PORT",
    "PMIX_RANK",
    "PMIX_NAMESPACE",
    "SLURM_STEP_NUM_TASKS",
    "SLURM_NTASKS",
    "SLURM_STEP_ID",
    "SLURM_PROCID",
    "FLUX_JOB_SIZE",
    "FLUX_TASK_RANK",
    "HYDI_CONTROL_FD",
    "PALS_RANKID",
    "PMI_ID",
    "PRTE_LAUNCHED",
    "JSM_NAMESPACE_SIZE",
    "LSB_DJOB_NUMPROC",
    "LSF_PM_TASKID",
    "PARLEY_SINGLETON",
    "PARLEY_JOB",
    "PARLEY_RANK",
    "PARLEY_SIZE",
};

/* The launcher's half of a job. */
static struct {
    struct job_head *head;
    int segment_fd, control_fd[2]; /* [0] ours, [1] the ranks' */
} launcher;

static void clear_environment(void)
{
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        unsetenv(marks[i]);
}

static void expect_error(const char *part)
{
    char text[ERR_TEXT_SIZE];
    struct pm_job job;
    const int rc = pm_open(&job);

    CHECK_INT(err_class(rc), MPI_ERR_OTHER);
    err_text(rc, text, sizeof text);
    if (!strstr(text, part))
        fprintf(stderr, "'%s' is not in '%s'\n", part, text);
    CHECK(strstr(text, part));
    CHECK(job.is_singleton && job.size == 1 && !job.head);
    pm_close(&job);
}

static void expect_singleton(void)
{
    struct pm_job job;

    CHECK_INT(pm_open(&job), 0);
    CHECK(job.is_singleton && job.rank == 0 && job.size == 1 && job.procs == 1 && !job.head);
    CHECK(job.segment_fd == -1 && job.control_fd == -1 && job.appnum == -1);
    pm_close(&job);
}

static void test_singleton(void)
{
    struct pm_job job;

    clear_environment();
    expect_singleton();
    CHECK_INT(pm_open(&job), 0);
    pm_started(&job);
    pm_finalised(&job);
    pm_close(&job);
}

static void test_fingerprints(void)
{
    static const char *const bad[][3] = {
        { "OMPI_COMM_WORLD_SIZE", "4", "Open MPI's mpirun" },
        { "PMI_SIZE", "2", "MPICH" },
        { "PMI_FD", "7", "PMI" },
        { "SLURM_STEP_NUM_TASKS", "16", "of 16" },
        { "FLUX_JOB_SIZE", "3", "Flux" },
        { "PMIX_RANK", "0", "PMIx" },
        { "PMIX_NAMESPACE", "x", "PMIX_NAMESPACE=x" },
        { "HYDI_CONTROL_FD", "5", "Hydra" },
        { "PALS_RANKID", "1", "PALS" },
        { "PRTE_LAUNCHED", "1", "PRRTE" },
        { "JSM_NAMESPACE_SIZE", "6", "jsrun" },
        { "PMI_RANK", "0", "PMI-1" },
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        clear_environment();
        setenv(bad[i][0], bad[i][1], 1);
        expect_error(bad[i][2]);
        expect_error("PARLEY_SINGLETON=1");
        setenv("PARLEY_SINGLETON", "1", 1);
        expect_singleton();
        setenv("PARLEY_SINGLETON", "0", 1);
        expect_error(bad[i][2]);
    }
    clear_environment();
    setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
    setenv("PMIX_RANK", "0", 1);
    expect_singleton();
    clear_environment();
    setenv("SLURM_NTASKS", "8", 1); /* a batch script, not a step */
    expect_singleton();
    setenv("SLURM_STEP_ID", "0", 1);
    setenv("SLURM_PROCID", "5", 1);
    expect_error("process 5 of 8");
    setenv("SLURM_STEP_NUM_TASKS", "1", 1);
    expect_singleton();
    clear_environment();
    setenv("LSB_DJOB_NUMPROC", "4", 1); /* likewise */
    expect_singleton();
    setenv("LSF_PM_TASKID", "3", 1);
    expect_error("blaunch as process 3 of 4");
    clear_environment();
}

/* PARLEY_JOB of `rank`, with these descriptors. */
static void set_job(int rank, int segment_fd, int control_fd)
{
    char text[128];

    snprintf(text, sizeof text, "%d:%d:%d:%d:%016llx%016llx:%d:%d:%d:%d", CONTROL_VERSION,
             (int)launcher.head->launcher_pid, segment_fd, control_fd,
             (unsigned long long)launcher.head->token[0], (unsigned long long)launcher.head->token[1], rank,
             SIZE, rank, SIZE);
    setenv("PARLEY_JOB", text, 1);
}

static void make_launcher(void)
{
    const size_t size = job_transport_offset(SIZE);

    launcher.segment_fd = memfd_create("pm_test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CHECK(!ftruncate(launcher.segment_fd, (off_t)size) &&
          !fcntl(launcher.segment_fd, F_ADD_SEALS, F_SEAL_SHRINK));
    launcher.head = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, launcher.segment_fd, 0);
    CHECK(launcher.head != MAP_FAILED);
    *launcher.head = (struct job_head){
        .magic = JOB_MAGIC,
        .major = JOB_MAJOR,
        .head_size = sizeof(struct job_head),
        .size = SIZE,
        .slots = SIZE,
        .universe = SIZE + 1,
        .proc_size = sizeof(struct job_proc),
        .launcher_pid = getpid(),
        .errhandler = JOB_ERRORS_RETURN,
        .token = { (uint64_t)getpid() << 32 | 0xabc, 0x123456789 },
        .launcher = "pm_test",
    };
    for (int i = 0; i < SIZE; i++) {
        job_proc(launcher.head, i)->size = SIZE;
        job_desk(launcher.head, i)->parent = -1;
        job_desk(launcher.head, i)->errhandler = JOB_ERRORS_RETURN;
        job_proc(launcher.head, i)->appnum = (uint32_t)i * 10;
    }
    CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, launcher.control_fd));
}

static void unmake_launcher(void)
{
    munmap(launcher.head, job_transport_offset(SIZE));
    close(launcher.segment_fd);
    close(launcher.control_fd[0]);
    close(launcher.control_fd[1]);
}

/* Run `body` in a child; its wait status. */
static int in_child(void (*body)(void))
{
    int status;
    const pid_t pid = fork();

    if (pid == 0) {
        body();
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    return status;
}

static void test_bad_tickets(void)
{
    static const char *const bad[][2] = {
        { "nonsense", "nonsense" },
        { "", "form" },
        { "3:2:3:4:00:0:1:0:1", "form" },
        { "3:2:3:4:00000000000000000000000000000000:0:1", "form" },
        { "99:2:3:4:00000000000000000000000000000000:0:1", "version 99" },
        { "3:2:3:4:00000000000000000000000000000000:3:3:3:3", "rank 3 of 3" },
        { "3:2:3:4:00000000000000000000000000000000:0:1:0:1x", "form" },
        { "3:2:300:301:0123456789abcdef0123456789abcdef:1:4:1:4",
          "rank 1 of 4 cannot reach its mpiexec (process 2)" },
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        setenv("PARLEY_JOB", bad[i][0], 1);
        expect_error(bad[i][1]);
    }
    launcher.head->token[1]++;
    set_job(1, launcher.segment_fd, launcher.control_fd[1]);
    launcher.head->token[1]--;
    expect_error("is not the segment of this job");
    set_job(1, launcher.segment_fd, launcher.control_fd[1]);
    launcher.head->major++;
    expect_error("made by pm_test");
    launcher.head->major--;
    setenv("OMPI_COMM_WORLD_SIZE", "2", 1); /* started by a rank of ours: that launcher means us */
    setenv("OMPI_COMM_WORLD_RANK", "1", 1);
    expect_error("Open MPI's mpirun as process 1 of 2");
    unsetenv("OMPI_COMM_WORLD_SIZE");
    unsetenv("OMPI_COMM_WORLD_RANK");
}

/* What our own mpiexec sets for scripts of others is no mark of another launcher; another value is. */
static void set_shared(const char *size)
{
    setenv("PARLEY_RANK", "1", 1);
    setenv("PARLEY_SIZE", "3", 1);
    setenv("OMPI_COMM_WORLD_RANK", "1", 1);
    setenv("OMPI_COMM_WORLD_SIZE", size, 1);
    setenv("PMI_RANK", "1", 1);
    setenv("PMI_SIZE", "3", 1);
}

static void test_shared(void)
{
    clear_environment();
    set_shared("3");
    expect_singleton();
    set_shared("2");
    expect_error("Open MPI's mpirun as process 1 of 2");
    set_shared("3");
    setenv("PMIX_RANK", "1", 1);
    expect_error("PMIX_RANK=1");
    clear_environment();
}

static void child_of_rank(void)
{
    set_job(1, launcher.segment_fd, launcher.control_fd[1]);
    expect_singleton();
}

static void rank_lives(void)
{
    struct job_proc *proc = job_proc(launcher.head, 1);
    struct pm_job job;

    set_job(1, launcher.segment_fd, launcher.control_fd[1]);
    set_shared("3");
    CHECK_INT(pm_open(&job), 0);
    CHECK(!job.is_singleton && job.rank == 1 && job.size == SIZE && job.proc == 1 && job.procs == SIZE &&
          !job.world && job.parent == -1);
    CHECK(job.appnum == 10 && job.errhandler == JOB_ERRORS_RETURN && job.universe_size == SIZE + 1);
    CHECK_INT(proc->pid, getpid());
    CHECK(fcntl(job.segment_fd, F_GETFD) & FD_CLOEXEC && fcntl(job.control_fd, F_GETFD) & FD_CLOEXEC);
    pm_started(&job);
    CHECK_INT(proc->state, JOB_INITIALISED);
    CHECK(job.head && job.mapped == job_transport_offset(SIZE));
    CHECK_INT(in_child(child_of_rank), 0);
    expect_error("rank 1 of 3 is taken by process"); /* by ourselves: a second MPI program after exec */
    pm_finalised(&job);
    CHECK_INT(proc->state, JOB_FINALISED);
    pm_close(&job);
    CHECK(job.is_singleton && !job.head);
}

static void other_process(void)
{
    set_job(1, launcher.segment_fd, launcher.control_fd[1]);
    expect_error("has ended");
    job_proc(launcher.head, 1)->pid = 1; /* some process that lives and is no ancestor that counts */
    expect_error("is running");
}

/* The launcher's part of a message: take it and acknowledge. */
static void take_message(struct control_message *message, int rank)
{
    struct job_proc *proc = job_proc(launcher.head, rank);

    CHECK(recv(launcher.control_fd[0], message, sizeof message->header + CONTROL_TEXT_MAX, 0) >=
          (ssize_t)sizeof message->header);
    message->text[message->header.length] = 0;
    proc->acknowledged++;
    wake_all(&proc->acknowledged);
}

static void rank_talks(void)
{
    static char long_text[PM_TEXT_MAX + 100];
    struct pm_job job;

    set_job(2, launcher.segment_fd, launcher.control_fd[1]);
    CHECK_INT(pm_open(&job), 0);
    pm_diagnose(&job, "E0042: the cause\nthe remedy");
    memset(long_text, 'x', sizeof long_text - 1);
    pm_diagnose(&job, long_text);
    pm_abort(&job, 300, "the end", 0x1234);
}

static void test_messages(void)
{
    struct control_message message;
    int status;
    const pid_t pid = fork();

    if (pid == 0)
        rank_talks();
    take_message(&message, 2);
    CHECK_INT(message.header.kind, CONTROL_DIAGNOSE);
    CHECK_INT(message.header.rank, 2);
    CHECK(!strcmp(message.text, "E0042: the cause\nthe remedy"));
    take_message(&message, 2);
    CHECK_INT(strlen(message.text), PM_TEXT_MAX);
    CHECK(!kill(pid, 0));
    take_message(&message, 2);
    CHECK_INT(message.header.kind, CONTROL_ABORT);
    CHECK_INT(message.header.code, 300);
    CHECK_INT(message.header.call_site, 0x1234);
    CHECK(!strcmp(message.text, "the end"));
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 300 & 0xff);
    CHECK_INT(job_end_rank(launcher.head->end), 2);
    CHECK_INT(job_end_code(launcher.head->end), 300);
}

static void abort_256(void)
{
    struct pm_job job;

    clear_environment();
    CHECK_INT(pm_open(&job), 0);
    pm_abort(&job, 256, "E0113: MPI_Abort: the text of a singleton", (uintptr_t)abort_256 + 4);
}

/* Without the inherited descriptors: connect, get the segment, live as long as the launcher. */
static void rank_connects(void)
{
    struct pm_job job;

    close(launcher.segment_fd);
    close(launcher.control_fd[1]);
    set_job(0, 400, 401);
    CHECK_INT(pm_open(&job), 0);
    CHECK(!job.is_singleton && job.rank == 0);
    pm_started(&job);
    for (;;)
        pause();
}

static int listen_as_launcher(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    const int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, CONTROL_ADDRESS,
                                (unsigned long long)launcher.head->token[0], (int)launcher.head->launcher_pid);

    CHECK(!bind(fd, (struct sockaddr *)&address,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)));
    CHECK(!listen(fd, 5));
    return fd;
}

static void send_segment(int fd)
{
    char byte = 0, space[CMSG_SPACE(sizeof(int))] = { 0 };
    struct iovec part = { .iov_base = &byte, .iov_len = 1 };
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space
    };

    CMSG_FIRSTHDR(&message)->cmsg_level = SOL_SOCKET;
    CMSG_FIRSTHDR(&message)->cmsg_type = SCM_RIGHTS;
    CMSG_FIRSTHDR(&message)->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &launcher.segment_fd, sizeof(int));
    CHECK_INT(sendmsg(fd, &message, 0), 1);
}

static void test_connect(void)
{
    const int listener = listen_as_launcher();
    struct control_header hello;
    int connection, status;
    const pid_t pid = fork();

    if (pid == 0) {
        close(listener);
        rank_connects();
    }
    connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK_INT(recv(connection, &hello, sizeof hello, 0), sizeof hello);
    CHECK_INT(hello.kind, CONTROL_HELLO);
    CHECK(hello.rank == 0 && !memcmp(hello.token, launcher.head->token, sizeof hello.token));
    send_segment(connection);
    while (atomic_load(&job_proc(launcher.head, 0)->state) != JOB_INITIALISED)
        CHECK(!waitpid(pid, &status, WNOHANG)); /* it does not die meanwhile */
    close(connection);                          /* the launcher's end */
    CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
    CHECK_INT(WTERMSIG(status), SIGKILL);
    close(listener);
}

/* A client of IMPI whose rank 1 has what it needs, and then lacks it. */
static void client_lives(void)
{
    struct joint *joint = joint_create(2, 4, 4);
    const int table = memfd_create("pm_test", MFD_CLOEXEC), listener = socket(AF_INET, SOCK_STREAM, 0);
    struct pm_job job;

    CHECK(joint && table >= 0 && listener >= 0);
    memcpy(joint->token, launcher.head->token, sizeof joint->token);
    joint->first = 1;
    joint->count = SIZE;
    CHECK(write(table, joint, joint->size) == (ssize_t)joint->size);
    launcher.head->joint_size = joint->size;
    launcher.head->joint_fd = table;
    launcher.head->listener_fd = listener;
    set_job(2, launcher.segment_fd, launcher.control_fd[1]);
    CHECK_INT(pm_open(&job), 0);
    CHECK(job.joint && job.joint->procs == 4 && job.listener_fd == listener);
    CHECK(fcntl(table, F_GETFD) & FD_CLOEXEC && fcntl(listener, F_GETFD) & FD_CLOEXEC);
    pm_close(&job);
    CHECK(!job.joint && job.listener_fd == -1 && fcntl(listener, F_GETFD) < 0);
    mem_free(joint);
}

/* E1201. */
static void client_lacks_something(void)
{
    launcher.head->joint_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    set_job(0, launcher.segment_fd, launcher.control_fd[1]);
    expect_error("rank 0 of 3 is to be part of a joint MPI_COMM_WORLD");
    CHECK_INT(job_proc(launcher.head, 0)->pid, 0);
    launcher.head->joint_size = 0;
}

int main(void)
{
    test_singleton();
    test_fingerprints();
    test_shared();
    make_launcher();
    test_bad_tickets();
    CHECK_INT(in_child(rank_lives), 0);
    CHECK_INT(in_child(other_process), 0);
    test_messages();
    CHECK_INT(WEXITSTATUS(in_child(abort_256)), 1);
    test_connect();
    job_proc(launcher.head, 0)->pid = job_proc(launcher.head, 2)->pid = 0;
    CHECK_INT(in_child(client_lives), 0);
    CHECK_INT(in_child(client_lacks_something), 0);
    unmake_launcher();
    return 0;
}
