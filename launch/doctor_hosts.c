/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec --doctor -host a,b: what there is on other machines. mpiexec is started there as for a job (remote.c), tells
 * what it finds and connects to us, and we connect to it (reach.c). One machine after the other. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "doctor.h"
#include "launch.h"
#include "reach.h"
#include "remote.h"

extern char **environ;

enum { LIMIT_MS = 40000, LINE_SIZE = 1024, SAID_SIZE = 2048, VALUE_SIZE = 128 };

/* One machine that is tried. */
struct patient {
    const struct options *options;
    const char *name, *target;
    char token[REACH_TOKEN_SIZE];
    struct reach_address own[REACH_ADDRESSES];
    int own_count, listener, port;
    pid_t pid;
    int in, out;                     /* its stdin; its stdout and stderr */
    char line[LINE_SIZE];
    size_t length;
    char said[SAID_SIZE];            /* what is none of our lines */
    char folder[PATH_MAX], library[OWN_FILE_SIZE];
    int64_t start_ns;
    bool was_sent, has_answered, has_ended;
    int to_us, from_us;              /* addresses that work */
};

static char *request(struct patient *patient)
{
    const size_t size = OWN_FILE_SIZE + PATH_MAX + REACH_ADDRESSES * REACH_ADDRESS_SIZE + 128;
    char *text = need(size);

    snprintf(text, size, "--reach=%d|%s|%s|%s", patient->port, patient->token, patient->library, patient->folder);
    for (int i = 0; i < patient->own_count; i++)
        snprintf(text + strlen(text), size - strlen(text), "|%s", patient->own[i].text);
    return text;
}

static bool start(struct patient *patient)
{
    struct strings words = { 0 };
    posix_spawn_file_actions_t actions;
    int in[2], out[2], error;

    remote_command(patient->options, patient->target, request(patient), &words);
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
        die(EXIT_SYSTEM, "E0106: no pipe: %s", strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDERR_FILENO);
    error = posix_spawnp(&patient->pid, words.at[0], &actions, NULL, words.at, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    patient->in = in[1];
    patient->out = out[0];
    patient->start_ns = now_ns();
    if (error)
        doctor_say(DOCTOR_FAIL, "host", patient->name, "%s: %s", words.at[0], strerror(error));
    return !error;
}

/* It has no mpiexec of this version and asks for ours. */
static void send_own(struct patient *patient, const char *machine)
{
    size_t size;
    char *data = remote_is_alike(machine) ? remote_own_file(&size) : NULL;

    patient->was_sent = true;
    if (!data) {
        doctor_say(DOCTOR_FAIL, "  mpiexec", "not there", "that machine is %s: ours cannot be sent\n"
                   "install Parley %s there, in the same place or with --prefix", machine, PARLEY_VERSION);
        kill(patient->pid, SIGTERM);
        return;
    }
    for (size_t at = 0; at < size;) {
        const ssize_t done = write(patient->in, data + at, size - at);
        if (done <= 0)
            break;
        at += (size_t)done;
    }
    mem_free(data);
}

/* --- what it says --- */

static void say_connection(const char *direction, const char *address, const char *interface, long us, const char *why)
{
    char value[VALUE_SIZE];

    snprintf(value, sizeof value, "%.46s (%.20s)", address, interface);
    if (us >= 0)
        doctor_say(DOCTOR_OK, direction, value, "%.1f ms", (double)us / 1000);
    else
        doctor_say(DOCTOR_NOTE, direction, value, "%s; this address is not used", why);
}

static const char *interface_of(const struct patient *patient, const char *address)
{
    for (int i = 0; i < patient->own_count; i++)
        if (!strcmp(patient->own[i].text, address))
            return patient->own[i].interface;
    return "?";
}

static void take_program(const struct patient *patient, const char *path)
{
    if (patient->was_sent)
        doctor_say(DOCTOR_NOTE, "  mpiexec", "is sent each time",
                   "it is not there in version %s: install it in the same place, or name it with --prefix",
                   PARLEY_VERSION);
    else
        doctor_say(DOCTOR_OK, "  mpiexec", PARLEY_VERSION, "%s", path);
}

static void take_library(const struct patient *patient, bool is_there)
{
    if (is_there)
        doctor_say(DOCTOR_OK, "  libmpi_abi", "is there", "%s", patient->library);
    else
        doctor_say(DOCTOR_NOTE, "  libmpi_abi", "not at the same place", "%s\nprograms find it only if "
                   "LD_LIBRARY_PATH says where it is: install Parley there in the same place", patient->library);
}

static void take_folder(const struct patient *patient, bool is_there)
{
    if (is_there)
        doctor_say(DOCTOR_OK, "  folder", "is there", "ranks start in %s", patient->folder);
    else
        doctor_say(DOCTOR_NOTE, "  folder", "not there", "%s: name another one with -wdir",
                   patient->folder);
}

/* "ADDRESS INTERFACE PORT": we connect to it. */
static void take_listens(struct patient *patient, const char *text)
{
    char address[REACH_ADDRESS_SIZE], interface[24], why[REACH_WHY_SIZE];
    int port;
    long us;

    if (sscanf(text, "%63s %23s %d", address, interface, &port) != 3)
        return;
    us = reach_try(address, port, patient->token, why);
    patient->from_us += us >= 0;
    say_connection("  is reached at", address, interface, us, why);
}

static void take_reached(struct patient *patient, const char *text, bool is_reached)
{
    char address[REACH_ADDRESS_SIZE], why[REACH_WHY_SIZE] = "";

    if (sscanf(text, "%63s %127[^\n]", address, why) < 1)
        return;
    patient->to_us += is_reached;
    say_connection("  connects to", address, interface_of(patient, address), is_reached ? atol(why) : -1, why);
}

static void take_system(struct patient *patient, const char *text)
{
    patient->has_answered = true;
    doctor_say(DOCTOR_OK, "host", patient->name, "reached in %.2f s: %s",
               (double)(now_ns() - patient->start_ns) / 1e9, text);
}

/* The rest of the line if it begins with `word`. */
static const char *behind(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) ? NULL : line + strlen(word);
}

static void take_line(struct patient *patient, const char *line)
{
    const char *rest;

    if ((rest = behind(line, REMOTE_SEND)))
        send_own(patient, rest);
    else if ((rest = behind(line, "PARLEY-REACH system ")))
        take_system(patient, rest);
    else if ((rest = behind(line, "PARLEY-REACH program ")))
        take_program(patient, rest);
    else if ((rest = behind(line, "PARLEY-REACH library ")))
        take_library(patient, *rest == 'y');
    else if ((rest = behind(line, "PARLEY-REACH folder ")))
        take_folder(patient, *rest == 'y');
    else if ((rest = behind(line, "PARLEY-REACH to ")))
        take_reached(patient, rest, true);
    else if ((rest = behind(line, "PARLEY-REACH not ")))
        take_reached(patient, rest, false);
    else if ((rest = behind(line, "PARLEY-REACH listens ")))
        take_listens(patient, rest);
    else if (!strcmp(line, "PARLEY-REACH end"))
        patient->has_ended = true;
    else if (strlen(patient->said) + strlen(line) + 2 < sizeof patient->said)
        strcat(strcat(patient->said, "\n"), line);
}

static bool read_lines(struct patient *patient)
{
    const ssize_t got = read(patient->out, patient->line + patient->length, LINE_SIZE - 1 - patient->length);
    char *end;

    if (got <= 0)
        return false;
    patient->length += (size_t)got;
    patient->line[patient->length] = 0;
    while ((end = strpbrk(patient->line, "\r\n")) || patient->length == LINE_SIZE - 1) {
        const size_t length = end ? (size_t)(end - patient->line) : patient->length;
        patient->line[length] = 0;
        if (length)
            take_line(patient, patient->line);
        patient->length -= end ? length + 1 : length;
        memmove(patient->line, patient->line + length + (end != NULL), patient->length + 1);
    }
    return true;
}

/* Until it has said all, or has ended. */
static void listen_to(struct patient *patient)
{
    struct pollfd fds[2] = { { .fd = patient->out, .events = POLLIN }, { .fd = patient->listener, .events = POLLIN } };
    const int64_t end = patient->start_ns + (int64_t)LIMIT_MS * 1000000;

    while (!patient->has_ended) {
        const int64_t left = (end - now_ns()) / 1000000;
        if (left <= 0 || poll(fds, 2, (int)left) < 0)
            return;
        if (fds[1].revents)
            reach_serve(patient->listener, patient->token);
        if (fds[0].revents && !read_lines(patient))
            return;
    }
}

/* --- one machine --- */

static void make_token(char token[REACH_TOKEN_SIZE])
{
    unsigned long long number[2] = { (unsigned long long)now_ns(), (unsigned long long)getpid() };

    if (getrandom(number, sizeof number, GRND_NONBLOCK) < 0)
        number[0] ^= (unsigned long long)(uintptr_t)number; /* it is no secret, only a word that nobody else says */
    snprintf(token, REACH_TOKEN_SIZE, "%016llx%016llx", number[0], number[1]);
}

static void conclude(const struct patient *patient)
{
    if (!patient->has_answered)
        doctor_say(DOCTOR_FAIL, "host", patient->name, "mpiexec does not start there%s%s\n"
                   "'ssh %s true' must work without a question; --launcher names other ways",
                   *patient->said ? ", and this is said:" : "", patient->said, patient->target);
    else if (patient->has_ended && !patient->to_us && !patient->from_us)
        doctor_say(DOCTOR_FAIL, "  ranks", "cannot connect", "no address works either way: a firewall, "
                   "or no common network");
}

static void examine(const struct options *options, const struct host *host)
{
    static const char *const places[] = { "/../" LIBDIR "/libmpi_abi.so.1", "/../src/libmpi_abi.so.1" };
    struct patient *patient = need(sizeof *patient);

    patient->options = options;
    patient->name = host->name;
    patient->target = hosts_target(host);
    make_token(patient->token);
    own_file(places, ARRAY_LEN(places), patient->library);
    if (!getcwd(patient->folder, sizeof patient->folder))
        strcpy(patient->folder, "/");
    patient->listener = reach_listen(&patient->port);
    patient->own_count = patient->listener < 0 ? 0 : reach_own_addresses(patient->own);
    fflush(stdout);
    if (start(patient)) {
        listen_to(patient);
        close(patient->in); /* it ends then */
        if (!patient->has_ended)
            kill(patient->pid, SIGTERM);
        waitpid(patient->pid, NULL, 0);
        conclude(patient);
    }
    close(patient->out);
    if (patient->listener >= 0)
        close(patient->listener);
}

void doctor_hosts(const struct options *options)
{
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < options->hosts.count; i++)
        if (!options->hosts.at[i].is_here)
            examine(options, &options->hosts.at[i]);
}
