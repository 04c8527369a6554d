/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec --doctor: which network would carry messages to other machines. libfabric is asked by a program of its own
 * (tools/fabrics.c), for mpiexec is linked statically. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor.h"
#include "launch.h"

enum { TEXT_SIZE = 1024, VALUE_SIZE = 128 };

/* What that program says. */
struct networks {
    bool has_device;
    char fabric[VALUE_SIZE];     /* its first provider of hardware */
    char software[TEXT_SIZE];    /* the other ones, with commas */
    char error[TEXT_SIZE];
};

static void read_line(struct networks *networks, const char *line)
{
    const char *rest = strchr(line, ' ');
    const size_t used = strlen(networks->software);

    if (!strcmp(line, "device"))
        networks->has_device = true;
    else if (rest && !strncmp(line, "fabric ", 7) && !*networks->fabric)
        snprintf(networks->fabric, sizeof networks->fabric, "%s", rest + 1);
    else if (rest && !strncmp(line, "software ", 9))
        snprintf(networks->software + used, sizeof networks->software - used, "%s%s", used ? ", " : "", rest + 1);
    else if (rest && !strncmp(line, "error ", 6))
        snprintf(networks->error, sizeof networks->error, "%s", rest + 1);
}

/* Start the program; where its output comes from, or -1. */
static int start(const char *path, pid_t *pid)
{
    char *const words[] = { (char *)(uintptr_t)path, NULL };
    posix_spawn_file_actions_t actions;
    int ends[2], error;

    if (pipe2(ends, O_CLOEXEC))
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    error = posix_spawn(pid, path, &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (!error)
        return ends[0];
    close(ends[0]);
    return -1;
}

/* False: the program is not there. */
static bool ask(struct networks *networks)
{
    static const char *const places[] = { "/../" LIBDIR "/parley/fabrics", "/../tools/fabrics" };
    char path[OWN_FILE_SIZE], line[TEXT_SIZE];
    pid_t pid;
    const int fd = own_file(places, ARRAY_LEN(places), path) ? start(path, &pid) : -1;
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

    *networks = (struct networks){ 0 };
    if (!file)
        return false;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        read_line(networks, line);
    }
    fclose(file);
    return waitpid(pid, NULL, 0) == pid;
}

void doctor_networks(void)
{
    struct networks networks;

    fflush(stdout);
    if (!ask(&networks))
        doctor_say(DOCTOR_OK, "networks", "TCP", "between machines");
    else if (*networks.fabric && networks.has_device)
        doctor_say(DOCTOR_OK, "networks", networks.fabric, "between machines, by libfabric; PARLEY_NET_FAR=tcp takes "
                   "TCP");
    else if (networks.has_device && *networks.error)
        doctor_say(DOCTOR_NOTE, "networks", "TCP", "there is hardware for a faster one between machines, but\n%s",
                   networks.error);
    else if (networks.has_device)
        doctor_say(DOCTOR_NOTE, "networks", "TCP", "there is hardware for a faster one between machines, but\n"
                   "libfabric has no provider for it, only %s", networks.software);
    else if (*networks.fabric)
        doctor_say(DOCTOR_OK, "networks", "TCP", "between machines; PARLEY_NET_FAR=\"ofi:%s\" is another way",
                   networks.fabric);
    else
        doctor_say(DOCTOR_OK, "networks", "TCP", "between machines; libfabric would have %s, and is not needed",
                   *networks.software ? networks.software : "nothing");
}
