/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the machines that a batch system has given to the job we run in, from its variables and files. Only what is
 * there is looked at: no command of a batch system is run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hosts.h"
#include "launch.h"

enum { NOTE_SIZE = 512 };

static const char *variable(const char *name)
{
    const char *text = getenv(name);

    return text && *text ? text : NULL;
}

/* How many entries a list like "4(x2),3" has, Slurm's way to write 4,4,3; 0: it is none. Of place `index` (or -1), the
 * number to *value. */
static int read_counts(const char *text, int index, int *value)
{
    int count = 0;

    while (text && *text) {
        char *end;
        long number = strtol(text, &end, 10), times = 1;
        if (end == text || number < 0 || number > HOSTS_MAX_SLOTS)
            return 0;
        if (!strncmp(end, "(x", 2)) {
            times = strtol(end + 2, &end, 10);
            if (times < 1 || times > HOSTS_MAX || *end != ')')
                return 0;
            end++;
        }
        if (index >= count && index < count + times)
            *value = (int)number;
        count += (int)times;
        if (*end && *end != ',')
            return 0;
        text = *end ? end + 1 : end;
    }
    return count;
}

/* A list of hosts, and their tasks; where these are of a step and not of the whole job, their processors. */
static bool from_slurm(struct hosts *hosts)
{
    static const char *const counts[] = { "SLURM_TASKS_PER_NODE", "SLURM_STEP_TASKS_PER_NODE",
                                          "SLURM_JOB_CPUS_PER_NODE" };
    const char *list = variable("SLURM_JOB_NODELIST"), *text = NULL;

    if (!list)
        list = variable("SLURM_NODELIST");
    if (!list)
        return false;
    hosts_add_list(hosts, "SLURM_JOB_NODELIST", list);
    for (size_t i = 0; i < ARRAY_LEN(counts) && !text; i++)
        if (read_counts(variable(counts[i]), -1, NULL) == hosts->count)
            text = variable(counts[i]);
    for (int i = 0; i < hosts->count; i++) {
        read_counts(text, i, &hosts->at[i].slots);
        hosts->at[i].has_slots = text;
    }
    return true;
}

/* "a 4 b 4" */
static bool from_pairs(struct hosts *hosts, const char *name)
{
    const char *at = variable(name);

    while (at && *(at += strspn(at, " "))) {
        const size_t length = strcspn(at, " ");
        char *end;
        const long slots = strtol(at + length, &end, 10);
        hosts_add_word(hosts, name, at, length, slots > 0 && slots < HOSTS_MAX_SLOTS ? (int)slots : 1, 0);
        at = end;
        if (end == at + length)
            break;
    }
    return hosts->count > 0;
}

/* A file with a line for each slot, or for each host with its slots. */
static bool from_file(struct hosts *hosts, const char *name, const char **note)
{
    const char *path = variable(name);
    char *text;

    if (!path)
        return false;
    if (access(path, R_OK)) {
        text = need(NOTE_SIZE);
        snprintf(text, NOTE_SIZE, "%s: %.300s: %s; only this machine is used", name, path, strerror(errno));
        *note = text;
        return false;
    }
    hosts_add_file(hosts, name, path);
    return hosts->count > 0;
}

/* A list of slots: "a a b". */
static bool from_list(struct hosts *hosts, const char *name)
{
    if (variable(name))
        hosts_add_list(hosts, name, variable(name));
    return hosts->count > 0;
}

/* This machine takes ranks first: there mpiexec needs nobody else. */
static void put_here_first(struct hosts *hosts)
{
    for (int i = 1; i < hosts->count; i++)
        if (hosts->at[i].is_here) {
            const struct host here = hosts->at[i];
            memmove(&hosts->at[1], &hosts->at[0], (size_t)i * sizeof here);
            hosts->at[0] = here;
        }
}

static const char *find(struct hosts *hosts, const char **note)
{
    if (from_slurm(hosts))
        return "slurm";
    if (from_file(hosts, "LSB_DJOB_HOSTFILE", note) || from_pairs(hosts, "LSB_MCPU_HOSTS") ||
        from_list(hosts, "LSB_HOSTS"))
        return "lsf";
    if (from_file(hosts, "PE_HOSTFILE", note))
        return "sge";
    if (from_file(hosts, "OAR_NODEFILE", note))
        return "oar";
    if (from_file(hosts, "PBS_NODEFILE", note))
        return "pbs";
    if (from_file(hosts, "COBALT_NODEFILE", note))
        return "cobalt";
    return NULL;
}

const char *hosts_from_batch(struct hosts *hosts, const char **note)
{
    const char *name;

    *note = NULL;
    name = find(hosts, note);
    put_here_first(hosts);
    return name;
}
