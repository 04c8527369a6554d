/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the machines of a job and the ranks on them, as the command line, host files, rank files or a batch system
 * say it; and what --display-map and --display-allocation tell. */
#include "nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
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

/* Those hosts that have ranks come first. */
static void make_nodes(struct placing *placing)
{
    struct job *job = placing->job;
    int *node = need((size_t)placing->hosts.count * sizeof *node);

    for (int i = 0; i < placing->hosts.count; i++)
        if (placing->used[i] > 0)
            node[i] = add_node(&job->nodes, &placing->hosts.at[i]);
    for (int i = 0; i < placing->hosts.count; i++)
        if (placing->used[i] == 0)
            node[i] = add_node(&job->nodes, &placing->hosts.at[i]);
    for (int rank = 0; rank < job->size; rank++) {
        job->ranks[rank].node = node[placing->host[rank]];
        job->nodes.at[job->ranks[rank].node].ranks++;
    }
    job->nodes.hosts = placing->hosts;
    job->nodes.of_host = node;
    job->nodes.is_spread = placing->hosts.count > 1;
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
    mem_free(placing.host);
    mem_free(placing.used);
}

/* --- later processes --- */

/* Processes that are to be placed. */
struct more {
    const struct job *job;
    int rank;  /* who wants them */
    int *used; /* by host: processes that it has */
    char *why;
};

/* The same name, or one of them has no domain. */
static bool is_alike(const char *one, const char *other)
{
    const size_t length = strcspn(one, ".");

    return !strcasecmp(one, other) ||
           (length == strcspn(other, ".") && !strncasecmp(one, other, length) && (!one[length] || !other[length]));
}

/* One of the job's hosts, by a name that it may have on any machine; "localhost" is where `rank` is. */
static const struct host *find_name(const struct more *more, const char *name)
{
    const struct nodes *nodes = &more->job->nodes;
    const bool is_here = hosts_is_here(name);

    for (int i = 0; i < nodes->hosts.count; i++) {
        const struct host *host = &nodes->hosts.at[i];
        if (!strcasecmp(name, "localhost") ? nodes->of_host[i] == more->job->ranks[more->rank].node
                                           : (host->is_here ? is_here : is_alike(host->name, name)))
            return host;
    }
    return NULL;
}

/* NAME or NAME:SLOTS. False: it is none of the job's, or the number is none. */
static bool find_word(const struct more *more, char *word, struct host *found)
{
    char *colon = strchr(word, ':'), *end;
    const struct host *host;
    long slots = 0;

    if (colon && colon == strrchr(word, ':')) { /* an IPv6 address has more of them */
        slots = strtol(colon + 1, &end, 10);
        if (*end || slots < 1 || slots > HOSTS_MAX_SLOTS)
            return false;
        *colon = 0;
    }
    host = find_name(more, word);
    if (!host)
        return false;
    *found = *host;
    if (slots) {
        found->slots = (int)slots;
        found->has_slots = found->slots_are_left = true;
    }
    return true;
}

/* The hosts that a list names. */
static bool choose_hosts(const struct more *more, const char *list, struct hosts *hosts)
{
    char *copy = need_text(list), *rest = copy;
    struct host found;
    bool is_right = true;

    for (char *word; is_right && (word = strsep(&rest, ", \t\n"));) {
        if (!*word)
            continue;
        is_right = find_word(more, word, &found);
        if (is_right)
            hosts_add(hosts, &found);
        else
            snprintf(more->why, NODES_WHY, "E1014: host %.200s: it is none of the hosts of this job", word);
    }
    mem_free(copy);
    return is_right;
}

static int host_index(const struct more *more, const struct host *host)
{
    return (int)(hosts_find(&more->job->nodes.hosts, host) - more->job->nodes.hosts.at);
}

/* On those hosts. */
static bool place_on(const struct more *more, const struct app *app, const struct hosts *hosts, int *node_of)
{
    int *used = need(((size_t)hosts->count + 1) * sizeof *used);
    char why[MAP_WHY];
    bool is_placed;

    for (int i = 0; i < hosts->count; i++)
        used[i] = hosts->at[i].slots_are_left ? 0 : more->used[host_index(more, &hosts->at[i])];
    is_placed = map_ranks(&more->job->options.map, hosts, used, app->ranks, node_of, why);
    mem_free(used);
    if (!is_placed)
        snprintf(more->why, NODES_WHY, "E0131: %.100s: %s", app->argv.at[0], why);
    for (int i = 0; i < app->ranks && is_placed; i++) {
        const int host = host_index(more, &hosts->at[node_of[i]]);
        more->used[host]++;
        node_of[i] = more->job->nodes.of_host[host];
    }
    return is_placed;
}

bool nodes_place_more(const struct job *job, int rank, const struct app *apps, int app_count, int *node_of,
                      char why[NODES_WHY])
{
    const struct nodes *nodes = &job->nodes;
    const struct more more = { job, rank, need((size_t)nodes->hosts.count * sizeof *more.used), why };
    bool is_placed = true;

    for (int i = 0; i < job->used; i++)
        for (int host = 0; host < nodes->hosts.count && !job->ranks[i].is_over; host++)
            more.used[host] += nodes->of_host[host] == job->ranks[i].node;
    for (int i = 0; i < app_count && is_placed; node_of += apps[i++].ranks) {
        struct hosts hosts = { 0 };
        is_placed = !apps[i].wanted_hosts || choose_hosts(&more, apps[i].wanted_hosts, &hosts);
        if (is_placed)
            is_placed = place_on(&more, &apps[i], hosts.count > 0 ? &hosts : &nodes->hosts, node_of);
        mem_free(hosts.at);
    }
    mem_free(more.used);
    return is_placed;
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
