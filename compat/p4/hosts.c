/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. Clusters on other hosts, as the first one starts them: the remote shell, its command, and the
 * meeting of all, after which everybody knows where everybody is. The keeper does it, so it is there to hear of a
 * shell that ends too soon. The other side of the meeting is in joining.c.
 *
 * The key that tells our processes from strangers goes through the standard input of the remote shell, since
 * command lines can be seen by anybody on both hosts. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "p4/int_hosts.h"
#include "p4/int_keeper.h"
#include "p4/int_message.h"
#include "sys/clock.h"

enum { START_S = 60, ANSWER_S = 20 };

/* It may not ask: several would at a time, and nobody may be there to answer. */
#define DEFAULT_SHELL "ssh -o BatchMode=yes"

static struct {
    const struct p4_procgroup *pg;
    const char *where;      /* the procgroup file, for messages */
    char **arguments;       /* of the program, ended by NULL */
    int listener;
    char port[8];
    char key[33];
    struct remote {
        pid_t shell;        /* 0: none, or it has ended */
        int status;         /* of a shell that has */
        int fd;             /* -1: it has not reported yet */
        int place;          /* of its first process in the segment of this host; 0: it is not in it */
        char address[56];   /* "-": it was seen from this host itself */
        char form[16];
        char ports[LINE_MAX_LEN];
    } *remote;              /* by entry */
} hosts;

static void make_key(void)
{
    if (getrandom(control->key, sizeof control->key, 0) != sizeof control->key)
        p4_fail("E0602: no random numbers: %s", strerror(errno));
    for (size_t i = 0; i < sizeof control->key; i++)
        snprintf(hosts.key + 2 * i, 3, "%02x", control->key[i]);
}

/* Of whoever runs this, if the entry says so or nothing. */
static bool is_own_login(const char *name)
{
    const struct passwd *own = *name ? getpwuid(getuid()) : NULL;

    return !*name || (own && !strcmp(name, own->pw_name));
}

static bool is_this_host(const char *host)
{
    char own[256] = "";

    gethostname(own, sizeof own - 1);
    return !strcmp(host, "local") || !strcmp(host, "localhost") || !strcmp(host, own) ||
           !strcmp(host, hosts.pg->entries[0].host_name);
}

/* Is this cluster started here by a plain shell? Not if a setting names another way for all. */
static bool is_started_here(int entry)
{
    const struct p4_procgroup_entry *e = &hosts.pg->entries[entry];

    return !getenv("P4_RSHCOMMAND") && !options.print_remotes && is_this_host(e->host_name) &&
           is_own_login(e->username);
}

void hosts_prepare(const struct p4_procgroup *pg, const char *where, char **arguments, struct cluster_plan *plan)
{
    hosts.pg = pg;
    hosts.where = where;
    hosts.arguments = arguments;
    hosts.listener = hosts_open_listener(hosts.port);
    hosts.remote = mem_zalloc((size_t)pg->num_entries * sizeof *hosts.remote);
    if (!hosts.remote)
        p4_fail("E0602: no memory for %d clusters", pg->num_entries);
    for (int i = 0; i < pg->num_entries; i++) {
        hosts.remote[i].fd = -1;
        if (!i || !is_started_here(i))
            continue;
        hosts.remote[i].place = plan->places;
        plan->places += pg->entries[i].numslaves_in_group;
        route_set_places(p4_cluster_first(i), pg->entries[i].numslaves_in_group, hosts.remote[i].place);
    }
    make_key();
}

/* --- the command --- */

struct text {
    char data[LINE_MAX_LEN];
    size_t length;
};

static void add(struct text *text, const char *part)
{
    const size_t length = strlen(part);

    if (text->length + length >= sizeof text->data)
        p4_fail("E0617: the command for another host is longer than %zu characters", sizeof text->data);
    memcpy(text->data + text->length, part, length + 1);
    text->length += length;
}

/* For any shell: in single quotes, and a single quote as '\''. */
static void add_quoted(struct text *text, const char *part)
{
    char one[2] = "";

    add(text, " '");
    for (; *part; part++) {
        one[0] = *part;
        add(text, *part == '\'' ? "'\\''" : one);
    }
    add(text, "'");
}

/* With the domain of -p4dmn, if it has none. */
static const char *full_name(const char *host)
{
    static char name[300];

    if (!options.domain || strchr(host, '.') || strchr(host, ':'))
        return host;
    snprintf(name, sizeof name, "%s.%s", host, options.domain);
    return name;
}

static void make_command(const struct cluster_plan *plan, int entry, struct text *text)
{
    const struct p4_procgroup_entry *e = &hosts.pg->entries[entry];
    const char *first = hosts.pg->entries[0].host_name;
    char variable[400], own[256];

    if (strcmp(first, "local") != 0 && strcmp(first, "localhost") != 0)
        snprintf(own, sizeof own, "%s", full_name(first));
    else
        hosts_own_address(full_name(e->host_name), own, sizeof own);
    snprintf(variable, sizeof variable, HOSTS_VARIABLE "=%s %s %d", own, hosts.port, entry);
    if (hosts.remote[entry].place) {
        const size_t length = strlen(variable);
        snprintf(variable + length, sizeof variable - length, " %d %d %d", plan->segment_fd, hosts.remote[entry].place,
                 plan->places);
    }
    text->length = 0;
    add(text, "exec env");
    add_quoted(text, variable);
    add_quoted(text, e->slave_full_pathname);
    for (char **argument = hosts.arguments; *argument; argument++)
        add_quoted(text, *argument);
}

/* --- the shell --- */

/* The words of P4_RSHCOMMAND, the host, the login, the command; for this host itself any shell does, and hands on the
 * segment. */
static _Noreturn void exec_shell(const struct cluster_plan *plan, int entry, const char *command)
{
    const struct p4_procgroup_entry *e = &hosts.pg->entries[entry];
    char *chosen = getenv("P4_RSHCOMMAND"), *rest = NULL;
    const char *argv[64];
    int n = 0;

    if (hosts.remote[entry].place) {
        fcntl(plan->segment_fd, F_SETFD, 0);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    } else {
        for (char *word = strtok_r(mem_strdup(chosen && *chosen ? chosen : DEFAULT_SHELL), " ", &rest); word && n < 32;
             word = strtok_r(NULL, " ", &rest))
            argv[n++] = word;
        argv[n++] = full_name(e->host_name);
        if (*e->username) {
            argv[n++] = "-l";
            argv[n++] = e->username;
        }
        argv[n++] = command;
        argv[n] = NULL;
        execvp(argv[0], (char **)(uintptr_t)argv);
    }
    dprintf(STDERR_FILENO, "p4: cannot start %s: %s\n", n ? argv[0] : "/bin/sh", strerror(errno));
    _exit(127);
}

static void start_shell(const struct cluster_plan *plan, int entry)
{
    struct text command;
    sigset_t none;
    int ends[2];

    make_command(plan, entry, &command);
    if (options.print_remotes) {
        printf("p4: on %s: echo %s | %s\n", hosts.pg->entries[entry].host_name, hosts.key, command.data + 5);
        fflush(stdout);
        return;
    }
    if (pipe2(ends, O_CLOEXEC))
        p4_fail("E0617: no pipe: %s", strerror(errno));
    hosts.remote[entry].shell = fork();
    if (!hosts.remote[entry].shell) {
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        dup2(ends[0], STDIN_FILENO);
        exec_shell(plan, entry, command.data);
    }
    close(ends[0]);
    dprintf(ends[1], "%s\n", hosts.key);
    close(ends[1]);
}

bool hosts_shell_ended(pid_t pid, int status)
{
    for (int i = 1; hosts.remote && i < hosts.pg->num_entries; i++) {
        if (hosts.remote[i].shell == pid) {
            hosts.remote[i].shell = 0;
            hosts.remote[i].status = status;
            return true;
        }
    }
    return false;
}

int hosts_shells(void)
{
    int count = 0;

    for (int i = 1; hosts.remote && i < hosts.pg->num_entries; i++)
        count += hosts.remote[i].shell > 0;
    return count;
}

void hosts_end_shells(void)
{
    for (int i = 1; i < hosts.pg->num_entries; i++)
        finish_signal(hosts.remote[i].shell, SIGTERM);
}

/* A shell that has ended, badly, before its program reported. */
static bool check_shells(void)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        hosts_shell_ended(pid, status);
    for (int i = 1; i < hosts.pg->num_entries; i++) {
        const struct remote *r = &hosts.remote[i];
        if (r->fd >= 0 || r->shell || !r->status)
            continue;
        keeper_fail("E0617: %s on %s (%s): the remote shell has ended with %s %d before the program reported",
                    hosts.pg->entries[i].slave_full_pathname, hosts.pg->entries[i].host_name, hosts.where,
                    WIFEXITED(r->status) ? "exit code" : "signal",
                    WIFEXITED(r->status) ? WEXITSTATUS(r->status) : WTERMSIG(r->status));
        return false;
    }
    return true;
}

/* --- the meeting --- */

static void send_config(int fd, int entry)
{
    struct text clusters = { .length = 0 };

    add(&clusters, "clusters");
    for (int i = 0; i < p4_own.clusters; i++) {
        char number[16];
        snprintf(number, sizeof number, " %d", p4_cluster_first(i));
        add(&clusters, number);
    }
    line_write(fd, "config %d %d %d %d %zu", hosts.pg->entries[entry].numslaves_in_group, p4_cluster_first(entry),
               p4_own.total, options.remote_debug_level, p4_own.arena_size);
    line_write(fd, "%s", clusters.data);
    if (options.directory)
        line_write(fd, "directory %s", options.directory);
    if (options.remote_out)
        line_write(fd, "output %s", options.remote_out);
    if (xdr_is_forced())
        line_write(fd, "xdr");
    line_write(fd, "asked");
}

/* Somebody has connected. Strangers, who do not know the key, are sent away. */
static void meet(int fd)
{
    char line[LINE_MAX_LEN], key[40], form[16];
    struct remote *r;
    int entry;

    if (!line_read(fd, line, ANSWER_S) || sscanf(line, "hello %39s %d %15s", key, &entry, form) != 3 ||
        strcmp(key, hosts.key) != 0 || entry < 1 || entry >= hosts.pg->num_entries || hosts.remote[entry].fd >= 0) {
        close(fd);
        return;
    }
    r = &hosts.remote[entry];
    send_config(fd, entry);
    if (!line_read(fd, r->ports, ANSWER_S) || strncmp(r->ports, "ports ", 6) != 0) {
        close(fd);
        return;
    }
    snprintf(r->form, sizeof r->form, "%s", form);
    hosts_peer_address(fd, r->address, sizeof r->address);
    r->fd = fd;
}

static int missing(void)
{
    for (int i = 1; i < hosts.pg->num_entries; i++) {
        if (hosts.remote[i].fd < 0)
            return i;
    }
    return 0;
}

static bool wait_for_all(void)
{
    const uint64_t limit = clock_ns() + (uint64_t)START_S * 1000000000;
    struct pollfd wait = { .fd = hosts.listener, .events = POLLIN };

    while (missing()) {
        if (poll(&wait, 1, 50) > 0) {
            const int fd = accept4(hosts.listener, NULL, NULL, SOCK_CLOEXEC);
            if (fd >= 0)
                meet(fd);
        }
        if (!check_shells())
            return false;
        if (p4_is_ending())
            return false;
        if (clock_ns() >= limit && !options.print_remotes) {
            keeper_fail("E0617: %s on %s (%s) has not reported within %d s",
                        hosts.pg->entries[missing()].slave_full_pathname, hosts.pg->entries[missing()].host_name,
                        hosts.where, START_S);
            return false;
        }
    }
    return true;
}

/* Where the processes of one cluster are, to all and into our own table. */
static void tell_peers(int entry)
{
    const struct remote *r = &hosts.remote[entry];
    char *rest = NULL, *ports = mem_strdup(r->ports + 6);
    int id = p4_cluster_first(entry);
    const int end = id + hosts.pg->entries[entry].numslaves_in_group;

    for (char *port = strtok_r(ports, " ", &rest); port && id < end; port = strtok_r(NULL, " ", &rest), id++) {
        hosts_set_peer(id, strcmp(r->address, "-") ? r->address : "127.0.0.1", port, r->form);
        for (int i = 1; i < hosts.pg->num_entries; i++) {
            if (i != entry)
                line_write(hosts.remote[i].fd, "peer %d %s %s %s", id, r->address, port, r->form);
        }
    }
    mem_free(ports);
}

static void tell_own(void)
{
    for (int i = 1; i < hosts.pg->num_entries; i++) {
        for (int id = 0; id <= p4_own.last; id++)
            line_write(hosts.remote[i].fd, "peer %d - %s %s", id, hosts_port(id), HOSTS_FORM);
    }
}

/* To those of this host: who else is here. */
static void tell_places(void)
{
    for (int i = 1; i < hosts.pg->num_entries; i++) {
        if (!hosts.remote[i].place)
            continue;
        line_write(hosts.remote[i].fd, "here 0 %d 0", p4_own.last + 1);
        for (int k = 1; k < hosts.pg->num_entries; k++) {
            if (hosts.remote[k].place)
                line_write(hosts.remote[i].fd, "here %d %d %d", p4_cluster_first(k),
                           hosts.pg->entries[k].numslaves_in_group, hosts.remote[k].place);
        }
    }
}

bool hosts_start(const struct cluster_plan *plan)
{
    for (int i = 1; i < hosts.pg->num_entries; i++)
        start_shell(plan, i);
    if (!wait_for_all())
        return false;
    tell_own();
    tell_places();
    for (int i = 1; i < hosts.pg->num_entries; i++)
        tell_peers(i);
    for (int i = 1; i < hosts.pg->num_entries; i++) {
        line_write(hosts.remote[i].fd, "run");
        hub_add(hosts.remote[i].fd, i);
    }
    close(hosts.listener);
    return true;
}
