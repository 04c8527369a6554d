/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec --doctor: trying. Two children do to each other what ranks do; nothing is believed that a file says. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor.h"
#include "sys/peek.h"
#include "sys/wake.h"

enum { SIZE = 4096, TURN_NS = 1000000000, TURNS = 5, BEFORE = 0x5ca1ab1e, AFTER = 0x0ddba11 };

/* In the memory that the children share. */
struct meeting {
    _Atomic uint32_t turn;  /* futex word: 1: the target is there; 2: it has been looked at */
    _Atomic uint32_t woken; /* the target came back from a sleep that ended with turn 2 */
    int pid;
    uint64_t address;
    int read, write;
};

/* True when the word has left `value`; false after some seconds. */
static bool await_turn(_Atomic uint32_t *turn, uint32_t value)
{
    for (int i = 0; i < TURNS && atomic_load(turn) == value; i++)
        wake_sleep(turn, value, TURN_NS);
    return atomic_load(turn) != value;
}

/* The one that is looked at; it leaves with 0 if what was written has come. */
static _Noreturn void be_target(struct meeting *meeting)
{
    volatile uint32_t word = BEFORE;

    peek_allow();
    meeting->pid = getpid();
    meeting->address = (uintptr_t)&word;
    atomic_store(&meeting->turn, 1);
    wake_all(&meeting->turn);
    atomic_store(&meeting->woken, await_turn(&meeting->turn, 1));
    _exit(meeting->write || word == AFTER ? 0 : 1);
}

static _Noreturn void be_looker(struct meeting *meeting)
{
    uint32_t word = 0;
    const uint32_t after = AFTER;

    if (!await_turn(&meeting->turn, 0))
        _exit(1);
    meeting->read = peek_read(meeting->pid, &word, meeting->address, sizeof word);
    if (!meeting->read && word != BEFORE)
        meeting->read = EIO;
    meeting->write = peek_write(meeting->pid, &after, meeting->address, sizeof after);
    atomic_store(&meeting->turn, 2);
    wake_all(&meeting->turn);
    _exit(0);
}

static struct meeting *share_memory(struct doctor_pair *pair)
{
    const int fd = segment_open(2, &pair->is_memory, pair->why);
    struct meeting *meeting;

    if (fd < 0)
        return NULL;
    meeting = segment_map(fd, SIZE);
    if (!meeting)
        snprintf(pair->why, sizeof pair->why, "cannot map %d bytes: %s", SIZE, strerror(errno));
    close(fd);
    return meeting;
}

/* Start both; false with errno. */
static bool start_children(struct meeting *meeting, pid_t children[2])
{
    children[0] = fork();
    if (children[0] == 0)
        be_target(meeting);
    children[1] = children[0] < 0 ? -1 : fork();
    if (children[1] == 0)
        be_looker(meeting);
    return children[1] >= 0;
}

void doctor_probe_pair(struct doctor_pair *pair)
{
    struct meeting *meeting;
    pid_t children[2];
    int status;

    *pair = (struct doctor_pair){ 0 };
    meeting = share_memory(pair);
    pair->has_file = meeting;
    if (!meeting)
        return;
    meeting->read = meeting->write = ENOSYS;
    if (!start_children(meeting, children)) {
        pair->process = errno;
        atomic_store(&meeting->turn, 2);
        wake_all(&meeting->turn);
    }
    for (int i = 0; i < 2; i++)
        if (children[i] > 0 && waitpid(children[i], &status, 0) == children[i] && status)
            pair->wake = ETIMEDOUT;
    if (!atomic_load(&meeting->woken))
        pair->wake = ETIMEDOUT;
    pair->read = meeting->read;
    pair->write = meeting->write;
    munmap(meeting, SIZE);
}

static bool try_socket(void)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return false;
    close(ends[0]);
    close(ends[1]);
    return true;
}

static bool try_pipe(void)
{
    int ends[2];

    if (pipe(ends))
        return false;
    close(ends[0]);
    close(ends[1]);
    return true;
}

static bool keep_none(int fd)
{
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool try_epoll(void)
{
    return keep_none(epoll_create1(EPOLL_CLOEXEC));
}

static bool try_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    return keep_none(signalfd(-1, &set, SFD_CLOEXEC));
}

static bool try_random(void)
{
    char bytes[16];

    return getrandom(bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes;
}

const char *doctor_probe_launcher(void)
{
    static const struct {
        const char *name;
        bool (*is_there)(void);
    } needs[] = {
        { "a socket between two processes (socketpair)", try_socket },
        { "a pipe", try_pipe },
        { "waiting for descriptors (epoll)", try_epoll },
        { "signals from a descriptor (signalfd)", try_signals },
        { "random numbers (getrandom)", try_random },
    };

    for (size_t i = 0; i < ARRAY_LEN(needs); i++)
        if (!needs[i].is_there())
            return needs[i].name;
    return NULL;
}
