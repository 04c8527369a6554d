/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: options that name hosts and say how ranks go to them. What a block between colons names counts for its own
 * program; a program that names none has all hosts that are named anywhere, or those that a batch system gives, or this
 * machine. */
#include "options.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "launch.h"
#include "names.h"
#include "reach.h"
#include "remote.h"

enum { FROM_SIZE = 512 };

void options_apply_hosts(struct reader *reader, const char *name, char **values)
{
    char from[FROM_SIZE];

    if (strchr(values[0], '/')) { /* srun's -w takes a file, too */
        options_apply_host_file(reader, name, values);
        return;
    }
    snprintf(from, sizeof from, "-%s %s", name, values[0]);
    hosts_add_list(&reader->app->hosts, from, values[0]);
    if (reader->app->hosts.count == 0)
        die(EXIT_USAGE, "E0101: -%s '%s': no host is named", name, values[0]);
    reader->hosts_from = values[0];
}

void options_apply_host_file(struct reader *reader, const char *name, char **values)
{
    char option[FROM_SIZE];

    snprintf(option, sizeof option, "-%s", name);
    hosts_add_file(&reader->pool, option, values[0]);
}

void options_apply_rankfile(struct reader *reader, const char *name, char **values)
{
    bool has_slots;

    reader->options->wanted_count = rankfile_read(values[0], &reader->options->wanted, &has_slots);
    if (has_slots)
        options_add_note(reader, name, "its slots are not used, only its hosts; see --bind-to, --cpu-set");
}

void options_apply_rmk(struct reader *reader, const char *name, char **values)
{
    (void)name;
    reader->options->no_batch = !strcasecmp(values[0], "none") || !strcasecmp(values[0], "user");
}

void options_apply_mapping(struct reader *reader, const char *name, char **values)
{
    map_option(&reader->options->map, name, values[0]);
}

static void leave_out_here(struct hosts *hosts)
{
    int kept = 0;

    for (int i = 0; i < hosts->count; i++)
        if (!hosts->at[i].is_here)
            hosts->at[kept++] = hosts->at[i];
    hosts->count = kept > 0 ? kept : hosts->count;
}

/* The hosts of a batch system, looked for once. */
static const struct hosts *batch_hosts(struct options *options)
{
    if (!options->batch_is_read && !options->no_batch)
        options->batch = hosts_from_batch(&options->batch_hosts, &options->batch_note);
    options->batch_is_read = true;
    return &options->batch_hosts;
}

const struct hosts *options_hosts_of(struct options *options, const struct app *app)
{
    if (app->hosts.count > 0)
        return &app->hosts;
    return options->hosts.count > 0 ? &options->hosts : batch_hosts(options);
}

void options_end_hosts(struct reader *reader)
{
    struct app *app = reader->app;
    char from[FROM_SIZE];

    if (app->hosts.count == 0) {
        app->hosts = reader->pool;
    } else {
        snprintf(from, sizeof from, "-host %s", reader->hosts_from);
        hosts_choose(&app->hosts, reader->pool.count ? &reader->pool : batch_hosts(reader->options), from);
    }
    reader->pool = (struct hosts){ 0 };
    if (reader->options->no_local)
        leave_out_here(&app->hosts);
    for (int i = 0; i < app->hosts.count; i++)
        hosts_add(&reader->options->hosts, &app->hosts.at[i]);
}

void options_finish_hosts(struct options *options)
{
    const struct hosts *batch = batch_hosts(options);

    if (options->hosts.count > 0)
        return;
    options->hosts = *batch;
    if (options->batch_note)
        strings_add(&options->notes, need_text(options->batch_note));
    if (options->no_local)
        leave_out_here(&options->hosts);
}

/* Hydra, Intel MPI: how other machines are reached. */
void options_apply_launcher(struct reader *reader, const char *name, char **values)
{
    if (!remote_is_way(values[0]))
        die(EXIT_USAGE, "E0101: -%s %s: auto, ssh, rsh, slurm, lsf, sge, oar or pbs is needed", name, values[0]);
    reader->options->launcher = values[0];
}

void options_name_server(struct options *options, const char *from, const char *word)
{
    struct hosts hosts = { 0 };

    hosts_add_list(&hosts, from, word);
    if (hosts.count != 1)
        die(EXIT_USAGE, "E0101: %s: one host is needed", from);
    options->name_server = hosts_target(&hosts.at[0]);
    options->name_server_is_here = hosts.at[0].is_here;
}

void options_apply_name_server(struct reader *reader, const char *name, char **values)
{
    char from[FROM_SIZE];

    snprintf(from, sizeof from, "-%s %s", name, values[0]);
    options_name_server(reader->options, from, values[0]);
}

/* What mpiexec --name-server starts there. */
void options_apply_names(struct reader *reader, const char *name, char **values)
{
    (void)reader;
    (void)name;
    names_answer(values[0]);
}

/* What mpiexec --doctor -host starts on the other machine. */
void options_apply_reach(struct reader *reader, const char *name, char **values)
{
    (void)reader;
    (void)name;
    reach_answer(values[0]);
}

/* Of Open MPI's settings, that which names the program for reaching other machines; a list of several may be given, of
 * which the first is taken. */
void options_apply_setting(struct reader *reader, const char *name, char **values)
{
    static const char *const agents[] = { "plm_rsh_agent", "plm_ssh_agent", "orte_rsh_agent", "pls_rsh_agent" };

    (void)name;
    for (size_t i = 0; i < ARRAY_LEN(agents); i++)
        if (!strcmp(values[0], agents[i]) && values[1]) {
            char *first = need_text(values[1]);
            first[strcspn(first, ":")] = 0;
            while (*first && first[strlen(first) - 1] == ' ')
                first[strlen(first) - 1] = 0;
            reader->options->launcher_exec = first;
        }
}
