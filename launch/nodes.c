/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the machines of a job, as --nodes-as names them (HOST:RANKS,... in the order of ranks), or this one only;
 * and how mpiexec is started on another one. */
#include "nodes.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "launch.h"
#include "options.h"

enum { HOST_SIZE = 256, RSH_WORDS = 32 };

static char *copy(const char *text)
{
    char *own = need(strlen(text) + 1);

    return strcpy(own, text);
}

static int add_node(struct nodes *nodes, const char *target, bool is_here)
{
    const char *user = strchr(target, '@');

    nodes->at = need_more(nodes->at, ((size_t)nodes->count + 1) * sizeof *nodes->at);
    nodes->at[nodes->count] = (struct node){ .target = copy(target), .is_here = is_here };
    nodes->at[nodes->count].name = user ? copy(user + 1) : nodes->at[nodes->count].target;
    return nodes->count++;
}

/* The node of that name; a new one if there is none yet. All names of this machine are one. */
static int find_node(struct nodes *nodes, const char *target)
{
    const char *user = strchr(target, '@');
    const bool is_here = options_is_this_machine(user ? user + 1 : target);

    for (int i = 0; i < nodes->count; i++)
        if (is_here ? nodes->at[i].is_here : !strcmp(nodes->at[i].target, target))
            return i;
    return add_node(nodes, target, is_here);
}

static int place_ranks(struct job *job, int first, int count, int node)
{
    int rank = first;

    for (; rank < job->size && rank < first + count; rank++)
        job->ranks[rank].node = node;
    job->nodes.at[node].ranks += rank - first;
    return rank;
}

static void place_as_said(struct job *job, const char *text)
{
    char host[HOST_SIZE];
    int rank = 0;

    while (*text) {
        const size_t length = strcspn(text, ","), name = strcspn(text, ":,");

        if (name == length || name >= sizeof host)
            die(EXIT_USAGE, "E0101: -nodes-as %s: a list of HOST:RANKS is needed", job->options.nodes_as);
        snprintf(host, sizeof host, "%.*s", (int)name, text);
        rank = place_ranks(job, rank, atoi(text + name + 1), find_node(&job->nodes, host));
        text += length + (text[length] != 0);
    }
    if (rank < job->size)
        die(EXIT_USAGE, "E0101: -nodes-as %s: it has no place for rank %d", job->options.nodes_as, rank);
}

void nodes_place(struct job *job)
{
    struct utsname system;
    int here = -1;

    if (job->options.nodes_as)
        place_as_said(job, job->options.nodes_as);
    for (int i = 0; i < job->nodes.count; i++)
        if (job->nodes.at[i].is_here)
            here = i;
    if (here < 0) {
        uname(&system);
        here = add_node(&job->nodes, system.nodename, true);
    }
    job->nodes.here = here;
    if (!job->options.nodes_as)
        place_ranks(job, 0, job->size, here);
}

/* As few surprises as can be had: no questions, nothing of a terminal, nothing forwarded. */
static void add_rsh(struct strings *words)
{
    static const char *const ssh[] = { "ssh", "-x", "-a", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=30",
                                       "-o", "ServerAliveInterval=15" };
    const char *own = getenv("PARLEY_RSH");

    if (own && *own) {
        options_split(copy(own), words);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(ssh); i++)
        strings_add(words, copy(ssh[i]));
}

void nodes_command(const struct job *job, const struct node *node, struct strings *words)
{
    char folder[PATH_MAX], *command = need(PATH_MAX + 64);

    (void)job;
    add_rsh(words);
    strings_add(words, copy(node->target));
    own_directory(folder);
    snprintf(command, PATH_MAX + 64, "exec '%s/mpiexec' --agent", folder);
    strings_add(words, command);
}
