/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. Errors: p4_error and what stands for it, signals. Each ends the whole run (finish_all). */
#include <stdarg.h>
#include <stdlib.h>

#include "p4/int_door.h"
#include "p4/int_start.h"

enum { TEXT_SIZE = 1024 };

static const int trapped[] = { SIGINT, SIGSEGV, SIGBUS, SIGFPE };
static volatile sig_atomic_t is_failing;

/* A second error on the way out ends this process at once. */
static void enter(void)
{
    if (is_failing)
        _exit(1);
    is_failing = 1;
}

static bool is_launched(void)
{
    return door->job->head && door->job->control_fd >= 0;
}

/* Everybody ends, this process too. A launcher is told why. */
static _Noreturn void leave(const char *text)
{
    fflush(stdout);
    if (is_launched() && !p4_own.is_child)
        door->abort(1, text);
    finish_all(1);
    exit(1);
}

void p4_error(const char *string, int value)
{
    const int error = errno;
    char text[TEXT_SIZE];

    enter();
    printf("%s:  p4_error: %s: %d\n", *p4_own.who ? p4_own.who : "p4", string, value);
    fflush(stdout);
    errno = error;
    if (value < 0)
        perror("p4_error");
    snprintf(text, sizeof text, "E0601: p4_error: %s: %d", string, value);
    leave(text);
}

void p4_fail(const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list args;

    enter();
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fflush(stdout);
    if ((!is_launched() || p4_own.is_child) && finish_claim(1))
        door->diagnose(text);
    leave(text);
}

void p4_need_started(const char *call)
{
    if (unlikely(p4_own.stage == P4_NOT_YET))
        p4_fail("E0607: %s has been called before p4_initenv", call);
}

void p4_need_running(const char *call)
{
    p4_need_started(call);
    if (p4_own.is_child)
        p4_fail("E0607: %s in a process that p4_create has made: these have no id and no messages", call);
    if (p4_own.stage == P4_ENDED)
        p4_fail("E0607: %s after p4_wait_for_end", call);
    if (p4_own.stage != P4_RUNNING)
        p4_fail("E0607: %s before p4_create_procgroup", call);
}

int p4_soft_errors(int onoff)
{
    const int before = p4_own.soft_errors;

    p4_need_started("p4_soft_errors");
    p4_own.soft_errors = onoff;
    return before;
}

bool p4_is_ending(void)
{
    return control && atomic_load_explicit(&control->end, memory_order_relaxed);
}

/* --- signals --- */

static void flush_if_free(void)
{
    if (ftrylockfile(stdout))
        return;
    fflush(stdout);
    funlockfile(stdout);
}

static const char *name_of(int number)
{
    return number == SIGSEGV ? "SIGSEGV" : number == SIGBUS ? "SIGBUS" : number == SIGFPE ? "SIGFPE" : "SIGINT";
}

/* The text is written in one piece, whatever the state of the program. Then the signal has its usual effect. */
static void on_signal(int number)
{
    char line[160];
    ssize_t done;

    if (is_failing)
        _exit(1);
    is_failing = 1;
    flush_if_free();
    if (number != SIGINT) {
        const int length = snprintf(line, sizeof line, "%s:  p4_error: interrupt %s: %d\n", p4_own.who,
                                    name_of(number), number);
        done = write(STDOUT_FILENO, line, (size_t)length);
        (void)done;
    }
    finish_all(1);
    if (number == SIGINT)
        _exit(1);
    signal(number, SIG_DFL);
    raise(number);
}

static void trap(int number, void (*handler)(int number))
{
    struct sigaction now;

    if (!sigaction(number, NULL, &now) && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
        sigaction(number, &(struct sigaction){ .sa_handler = handler, .sa_flags = (int)SA_NODEFER }, NULL);
}

void error_trap_signals(void)
{
    for (size_t i = 0; i < ARRAY_LEN(trapped); i++)
        trap(trapped[i], on_signal);
}

/* The keeper says that the run ends. */
static void on_end(int number)
{
    const uint64_t end = atomic_load_explicit(&control->end, memory_order_relaxed);

    (void)number;
    if (!end || is_failing)
        return;
    flush_if_free();
    _exit(job_end_code(end) & 0xff);
}

void error_trap_end(void)
{
    trap(SIGUSR1, on_end);
}
