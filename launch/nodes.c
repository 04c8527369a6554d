/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the machines of a job and the ranks on them, as the command line, host files, rank files or a batch system
 * say it; and what --display-map and --display-allocation tell. */
#include "nodes.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/mem.h"
#include "launch.h"
#include "options.h"

static const char *own_name(void)
{
    struct utsname system;

    uname(&system);
    return need_text(system.nodename);
}

static int add_node(struct nodes *nodes, const struct host *host)
{
    nodes->at = need_more(nodes->at, ((size_t)nodes->count + 1) * sizeof *nodes->at);
    nodes->at[nodes->count] = (struct node){
        .name = host->is_here ? own_name() : host->name,
        .target = hosts_target(host),
        .slots = host->has_slots ? host->slots : 0,
        .is_here = host->is_here,
    };
    return nodes->count++;
}

/* --- which of the job's hosts each rank goes to --- */

/* Where placing stands. */
struct placing {
    struct job *job;
    struct hosts hosts; /* all of the job; at least this machine */
    int *host;          /* by rank; -1: not known yet */
    int *used;          /* by host: ranks that it has */
};

/* The ranks of a rank file go first. */
static void place_wanted(struct placing *placing)
{
    const struct options *options = &placing->job->options;

    if (options->wanted_count > placing->job->size)
        die(EXIT_USAGE, "E0132: the rank file names rank %d, and there are %d ranks", options->wanted_count - 1,
            placing->job->size);
    for (int rank = 0; rank < options->wanted_count; rank++) {
        struct hosts named = { 0 };
        const struct host *host;
        if (!options->wanted[rank])
            continue;
        hosts_add_list(&named, "the rank file", options->wanted[rank]);
        hosts_choose(&named, &placing->hosts, "the rank file");
        host = named.count == 1 ? hosts_find(&placing->hosts, &named.at[0]) : NULL;
        if (!host)
            die(EXIT_USAGE, "E0132: the rank file puts rank %d on %s, which is none of the hosts of this job\n"
                "name it with -host or -hostfile, or leave these out", rank, options->wanted[rank]);
        placing->host[rank] = (int)(host - placing->hosts.at);
        placing->used[placing->host[rank]]++;
    }
}

/* A rank file without a list of hosts is one. */
static void add_wanted(struct hosts *hosts, const struct options *options)
{
    struct hosts named = { 0 };

    for (int rank = 0; rank < options->wanted_count; rank++)
        if (options->wanted[rank])
            hosts_add_list(&named, "the rank file", options->wanted[rank]);
    for (int i = 0; i < named.count; i++)
        hosts_add(hosts, &named.at[i]);
}

/* How the ranks of one program go to its hosts. */
static struct map_rule rule_of(const struct options *options, const struct app *app)
{
    struct map_rule rule = options->map;

    if (app->per_node > 0) {
        if (rule.by == MAP_BY_NODE && rule.order == MAP_AS_MAPPED)
            rule.order = MAP_IN_TURNS;
        rule.by = MAP_PER_NODE;
        rule.per_node = app->per_node;
    }
    return rule;
}

/* `count` ranks of the program, into places of the list of its own hosts. */
static void map_app(struct placing *placing, const struct app *app, const struct hosts *own, int count, int *place)
{
    const struct map_rule rule = rule_of(&placing->job->options, app);
    const bool is_shared = own->at == placing->hosts.at;
    struct hosts hosts = *own;
    char why[MAP_WHY];
    int *used = need((size_t)hosts.count * sizeof *used);

    if (app->host_limit && app->host_limit < hosts.count)
        hosts.count = app->host_limit;
    if (is_shared)
        memcpy(used, placing->used, (size_t)hosts.count * sizeof *used);
    if (!map_ranks(&rule, &hosts, used, count, place, why))
        die(EXIT_USAGE, "E0131: %s: %s", app->argv.at[0], why);
    mem_free(used);
}

static void place_app(struct placing *placing, const struct app *app, int first)
{
    const struct hosts *own = app->hosts.count > 0 ? &app->hosts : &placing->hosts;
    int *place = need(((size_t)app->ranks + 1) * sizeof *place), count = 0;

    for (int rank = first; rank < first + app->ranks; rank++)
        count += placing->host[rank] < 0;
    map_app(placing, app, own, count, place);
    for (int rank = first, i = 0; rank < first + app->ranks; rank++) {
        if (placing->host[rank] >= 0)
            continue;
        placing->host[rank] = (int)(hosts_find(&placing->hosts, &own->at[place[i++]]) - placing->hosts.at);
        placing->used[placing->host[rank]]++;
    }
    mem_free(place);
}

/* --- nodes --- */

/* Only hosts that have ranks are nodes, and this machine. */
static void make_nodes(struct placing *placing)
{
    struct job *job = placing->job;
    int *node = need((size_t)placing->hosts.count * sizeof *node);

    for (int i = 0; i < placing->hosts.count; i++)
        if (placing->used[i] > 0)
            node[i] = add_node(&job->nodes, &placing->hosts.at[i]);
    for (int rank = 0; rank < job->size; rank++) {
        job->ranks[rank].node = node[placing->host[rank]];
        job->nodes.at[job->ranks[rank].node].ranks++;
    }
    mem_free(node);
}

static void find_here(struct nodes *nodes)
{
    const struct host here = { .name = "localhost", .is_here = true };

    for (int i = 0; i < nodes->count; i++)
        if (nodes->at[i].is_here) {
            nodes->here = i;
            return;
        }
    nodes->here = add_node(nodes, &here);
}

void nodes_place(struct job *job)
{
    const struct options *options = &job->options;
    const struct host here = { .name = "localhost", .slots = 1, .is_here = true };
    struct placing placing = { .job = job };
    int first = 0;

    for (int i = 0; i < options->hosts.count; i++)
        hosts_add(&placing.hosts, &options->hosts.at[i]);
    if (placing.hosts.count == 0)
        add_wanted(&placing.hosts, options);
    if (placing.hosts.count == 0)
        hosts_add(&placing.hosts, &here);
    placing.host = need((size_t)job->size * sizeof *placing.host);
    placing.used = need((size_t)placing.hosts.count * sizeof *placing.used);
    for (int rank = 0; rank < job->size; rank++)
        placing.host[rank] = -1;
    place_wanted(&placing);
    for (int i = 0; i < options->app_count; first += options->apps[i++].ranks)
        place_app(&placing, &options->apps[i], first);
    make_nodes(&placing);
    find_here(&job->nodes);
    mem_free(placing.hosts.at);
    mem_free(placing.host);
    mem_free(placing.used);
}

/* --- telling --- */

/* "0-3,8": the ranks of one node. */
static void write_ranks(const struct job *job, int node, char *text, size_t size)
{
    size_t length = 0;

    *text = 0;
    for (int from = 0, to; from < job->size && length + 32 < size; from = to + 1) {
        to = from;
        if (job->ranks[from].node != node)
            continue;
        while (to + 1 < job->size && job->ranks[to + 1].node == node)
            to++;
        length += (size_t)snprintf(text + length, size - length, to > from ? "%s%d-%d" : "%s%d", length ? "," : "",
                                   from, to);
    }
    if (length + 32 >= size)
        snprintf(text + length, size - length, ", ...");
}

void nodes_show(struct job *job)
{
    char text[1024], ranks[512];

    for (int i = 0; i < job->nodes.count; i++) {
        const struct node *node = &job->nodes.at[i];
        if (node->ranks == 0)
            continue;
        write_ranks(job, i, ranks, sizeof ranks);
        snprintf(text, sizeof text, "parley: %.200s: rank%s %s\n", node->name, node->ranks > 1 ? "s" : "", ranks);
        forward_print(job, text);
    }
}

void nodes_show_hosts(struct job *job)
{
    const struct hosts *hosts = &job->options.hosts;
    char text[512], more[64];

    for (int i = 0; i < hosts->count; i++) {
        const struct host *host = &hosts->at[i];
        *more = 0;
        if (host->max_slots)
            snprintf(more, sizeof more, ", %d ranks at most", host->max_slots);
        snprintf(text, sizeof text, "parley: host %.200s: %d slot%s%s\n", host->name, host->slots,
                 host->slots == 1 ? "" : "s", more);
        forward_print(job, text);
    }
    if (hosts->count == 0)
        forward_print(job, "parley: no hosts are named: all ranks are here\n");
}
