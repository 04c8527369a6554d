/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the job as bytes for an agent. Numbers of 8 bytes; texts with their length, or that there is none, and a
 * zero; lists with their length. Both sides are of one version, so the order of the fields is all the form there is;
 * reading checks every length, and numbers where they are used. */
#include "job_text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "options.h"

extern char **environ;

enum { TEXT_MAX = 8 << 20, LIST_MAX = 1 << 20 };

/* Variables that belong to this machine, or to this login: the other one has its own, or none. A * stands for the rest
 * of the name. */
static const char *const local_variables[] = {
    "HOME", "USER", "LOGNAME", "MAIL", "SHELL", "HOSTNAME", "HOST", "PWD", "OLDPWD", "SHLVL", "_", "SSH_*", "DISPLAY",
    "XAUTHORITY", "WAYLAND_DISPLAY", "WINDOWID", "XDG_RUNTIME_DIR", "XDG_SESSION_*", "XDG_SEAT", "XDG_VTNR",
    "DBUS_SESSION_BUS_ADDRESS", "TMUX", "TMUX_PANE", "STY",
};

static bool is_exported(const struct options *options, const char *variable)
{
    const size_t length = strcspn(variable, "=");

    for (size_t i = 0; i < options->exported.count; i++)
        if (strlen(options->exported.at[i]) == length && !strncmp(options->exported.at[i], variable, length))
            return true;
    return false;
}

bool job_text_travels(const struct options *options, const char *variable)
{
    for (size_t i = 0; i < ARRAY_LEN(local_variables); i++) {
        const char *name = local_variables[i];
        const size_t length = strlen(name);

        if (name[length - 1] == '*' ? !strncmp(variable, name, length - 1)
                                    : !strncmp(variable, name, length) && variable[length] == '=')
            return is_exported(options, variable);
    }
    return true;
}

/* --- writing --- */

static void put_number(struct bytes *bytes, int64_t number)
{
    bytes_add(bytes, &number, sizeof number);
}

static void put_text(struct bytes *bytes, const char *text)
{
    put_number(bytes, text ? (int64_t)strlen(text) : -1);
    if (text)
        bytes_add(bytes, text, strlen(text) + 1);
}

static void put_strings(struct bytes *bytes, const struct strings *strings, size_t count)
{
    put_number(bytes, (int64_t)count);
    for (size_t i = 0; i < count; i++)
        put_text(bytes, strings->at[i]);
}

static void put_pass(struct bytes *bytes, const struct pass *pass)
{
    put_number(bytes, pass->is_said);
    put_number(bytes, pass->is_list);
    put_strings(bytes, &pass->names, pass->names.count);
}

static void put_app(struct bytes *bytes, const struct app *app)
{
    put_number(bytes, app->ranks);
    put_number(bytes, app->errhandler);
    put_strings(bytes, &app->argv, app->argv.count);
    put_strings(bytes, &app->set, app->set.count);
    put_pass(bytes, &app->pass);
    put_text(bytes, app->wdir);
    put_text(bytes, app->path);
    put_text(bytes, app->pset);
    put_text(bytes, app->soft);
    put_text(bytes, app->file);
    put_text(bytes, app->memory_kinds);
    put_text(bytes, app->arch);
}

static void put_options(struct bytes *bytes, const struct options *options)
{
    put_strings(bytes, &options->set, options->set_by_user);
    put_pass(bytes, &options->pass);
    put_number(bytes, options->merge);
    put_number(bytes, options->only_rank);
    put_text(bytes, options->stdin_ranks);
    put_number(bytes, options->no_doors);
    put_number(bytes, options->quiet);
    put_number(bytes, options->errhandler);
    put_number(bytes, options->universe);
    put_text(bytes, options->profile);
    put_text(bytes, options->trace);
    put_strings(bytes, &options->binding_words, options->binding_words.count);
    put_number(bytes, options->binding.width);
    put_number(bytes, options->debug.tool);
    put_text(bytes, options->debug.ranks);
    put_strings(bytes, &options->debug.words, options->debug.words.count);
}

static void put_environment(struct bytes *bytes, const struct options *options)
{
    struct strings travelling = { 0 };

    for (char **text = environ; *text; text++)
        if (job_text_travels(options, *text))
            strings_add(&travelling, *text);
    put_strings(bytes, &travelling, travelling.count);
    mem_free(travelling.at);
}

char *job_text_folder(void)
{
    const char *said = getenv("PWD");
    char *folder = need(PATH_MAX);
    struct stat one, other;

    if (said && *said == '/' && strlen(said) < PATH_MAX && !stat(said, &one) && !stat(".", &other) &&
        one.st_dev == other.st_dev && one.st_ino == other.st_ino)
        return strcpy(folder, said);
    if (!getcwd(folder, PATH_MAX))
        strcpy(folder, "/"); /* nobody else has it either */
    return folder;
}

void job_text_write(const struct job *job, int node, struct bytes *bytes)
{
    put_number(bytes, (int64_t)job->head->token[0]);
    put_number(bytes, (int64_t)job->head->token[1]);
    put_number(bytes, job->head->slots);
    put_number(bytes, job->head->hold);
    put_number(bytes, node);
    put_number(bytes, job->nodes.count);
    put_number(bytes, job->nodes.is_spread);
    for (int i = 0; i < job->nodes.count; i++)
        put_text(bytes, job->nodes.at[i].name);
    put_text(bytes, job->folder);
    put_environment(bytes, &job->options);
    put_options(bytes, &job->options);
    put_number(bytes, job->options.app_count);
    for (int i = 0; i < job->options.app_count; i++)
        put_app(bytes, &job->options.apps[i]);
    for (int i = 0; i < job->size; i++)
        put_number(bytes, job->ranks[i].node);
}

/* A place that is taken anew has one tenant more, and goes on from its contexts. */
void job_text_write_world(const struct job *job, const struct world_text *text, struct bytes *bytes)
{
    const struct world *world = text->world;

    put_number(bytes, world->number);
    put_number(bytes, world->first);
    put_number(bytes, world->size);
    put_number(bytes, text->is_new);
    put_number(bytes, text->parent);
    put_number(bytes, text->call);
    put_number(bytes, world->app_count);
    for (int i = 0; i < world->app_count; i++)
        put_app(bytes, &world->apps[i]);
    for (int place = world->first; place < world->first + world->size; place++) {
        const struct job_desk *desk = job_desk(job->head, place);
        put_number(bytes, text->node_of[place - world->first]);
        put_number(bytes, job_proc(job->head, place)->tenant + (text->is_new && job->ranks[place].world));
        put_number(bytes, desk->contexts[0]);
        put_number(bytes, desk->contexts[1]);
    }
}

/* --- reading --- */

struct reading {
    char *at, *end;
    bool is_wrong;
};

static int64_t get(struct reading *reading, int64_t least, int64_t most)
{
    int64_t number = least;

    if ((size_t)(reading->end - reading->at) < sizeof number) {
        reading->is_wrong = true;
        return least;
    }
    memcpy(&number, reading->at, sizeof number);
    reading->at += sizeof number;
    if (number >= least && number <= most)
        return number;
    reading->is_wrong = true;
    return least;
}

static int get_int(struct reading *reading, int least, int most)
{
    return (int)get(reading, least, most);
}

/* NULL: there is none. */
static char *get_text(struct reading *reading)
{
    const int64_t length = get(reading, -1, TEXT_MAX);
    char *text = reading->at;

    if (length < 0)
        return NULL;
    if (reading->end - reading->at <= length || text[length] || memchr(text, 0, (size_t)length)) {
        reading->is_wrong = true;
        return NULL;
    }
    reading->at += length + 1;
    return text;
}

/* One that must be there. */
static char *get_word(struct reading *reading)
{
    static char nothing[] = "";
    char *text = get_text(reading);

    if (text)
        return text;
    reading->is_wrong = true;
    return nothing;
}

static void get_strings(struct reading *reading, struct strings *strings)
{
    for (int64_t left = get(reading, 0, LIST_MAX); left > 0 && !reading->is_wrong; left--)
        strings_add(strings, get_word(reading));
}

static void get_pass(struct reading *reading, struct pass *pass)
{
    pass->is_said = get_int(reading, 0, 1);
    pass->is_list = get_int(reading, 0, 1);
    get_strings(reading, &pass->names);
}

static void get_app(struct reading *reading, struct app *app, int least)
{
    app->ranks = get_int(reading, least, OPTIONS_MAX_RANKS);
    app->errhandler = get_int(reading, JOB_ERRORS_ARE_FATAL, JOB_ERRORS_RETURN);
    get_strings(reading, &app->argv);
    get_strings(reading, &app->set);
    get_pass(reading, &app->pass);
    app->wdir = get_text(reading);
    app->path = get_text(reading);
    app->pset = get_text(reading);
    app->soft = get_text(reading);
    app->file = get_text(reading);
    app->memory_kinds = get_text(reading);
    app->arch = get_text(reading);
    reading->is_wrong |= app->argv.count == 0;
}

static void get_binding(struct reading *reading, struct options *options)
{
    get_strings(reading, &options->binding_words);
    reading->is_wrong |= options->binding_words.count % 2;
    for (size_t i = 0; i + 1 < options->binding_words.count && !reading->is_wrong; i += 2) {
        const char *name = options->binding_words.at[i], *value = options->binding_words.at[i + 1];

        bind_option(&options->binding, name, *value ? value : NULL);
    }
    options->binding.width = get_int(reading, 0, OPTIONS_MAX_RANKS);
}

static void get_options(struct reading *reading, struct options *options)
{
    get_strings(reading, &options->set);
    get_pass(reading, &options->pass);
    options->merge = get_int(reading, 0, 1);
    options->only_rank = get_int(reading, -1, OPTIONS_MAX_RANKS);
    options->stdin_ranks = get_word(reading);
    options->no_doors = get_int(reading, 0, 1);
    options->quiet = get_int(reading, 0, 1);
    options->errhandler = get_int(reading, JOB_ERRORS_ARE_FATAL, JOB_ERRORS_RETURN);
    options->universe = get_int(reading, 0, JOB_SLOTS_MAX);
    options->profile = get_text(reading);
    options->trace = get_text(reading);
    get_binding(reading, options);
    options->debug.tool = (enum debug_tool)get_int(reading, DEBUG_NONE, DEBUG_WRAP);
    options->debug.ranks = get_text(reading);
    get_strings(reading, &options->debug.words);
    reading->is_wrong |= !options_is_ranks(options->stdin_ranks);
    reading->is_wrong |= (options->debug.tool == DEBUG_VALGRIND || options->debug.tool == DEBUG_WRAP) &&
                         options->debug.words.count == 0;
}

static void get_nodes(struct reading *reading, struct nodes *nodes)
{
    nodes->here = get_int(reading, 0, OPTIONS_MAX_RANKS);
    nodes->count = get_int(reading, 1, OPTIONS_MAX_RANKS);
    nodes->is_spread = get_int(reading, 0, 1);
    reading->is_wrong |= nodes->here >= nodes->count || nodes->count > (reading->end - reading->at) / 8;
    if (reading->is_wrong)
        return;
    nodes->at = need((size_t)nodes->count * sizeof *nodes->at);
    for (int i = 0; i < nodes->count; i++)
        nodes->at[i] = (struct node){ .name = get_word(reading), .target = "", .is_here = i == nodes->here };
}

static void get_apps(struct reading *reading, struct options *options)
{
    const int count = get_int(reading, 1, OPTIONS_MAX_RANKS);

    reading->is_wrong |= count > (reading->end - reading->at) / 64;
    if (reading->is_wrong)
        return;
    options->apps = need((size_t)count * sizeof *options->apps);
    for (; options->app_count < count && !reading->is_wrong; options->app_count++)
        get_app(reading, &options->apps[options->app_count], 1);
}

/* The node of each rank; what they have together is counted. */
static void get_places(struct reading *reading, struct job *job, struct orders *orders)
{
    int64_t size = 0;

    for (int i = 0; i < job->options.app_count; i++)
        size += job->options.apps[i].ranks;
    reading->is_wrong |= size > OPTIONS_MAX_RANKS || size * 8 != reading->end - reading->at || orders->slots < size;
    if (reading->is_wrong)
        return;
    job->size = (int)size;
    orders->node_of = need((size_t)size * sizeof *orders->node_of);
    for (int i = 0; i < job->size; i++) {
        orders->node_of[i] = get_int(reading, 0, job->nodes.count - 1);
        job->nodes.at[orders->node_of[i]].ranks++;
    }
}

bool job_text_read(struct job *job, struct orders *orders, char *data, size_t size)
{
    struct reading reading = { data, data + size, false };

    orders->token[0] = (uint64_t)get(&reading, INT64_MIN, INT64_MAX);
    orders->token[1] = (uint64_t)get(&reading, INT64_MIN, INT64_MAX);
    orders->slots = get_int(&reading, 1, OPTIONS_MAX_RANKS + JOB_SLOTS_MAX);
    orders->hold = (uint32_t)get_int(&reading, 0, 1);
    get_nodes(&reading, &job->nodes);
    orders->folder = get_word(&reading);
    get_strings(&reading, &orders->environment);
    get_options(&reading, &job->options);
    if (!reading.is_wrong)
        get_apps(&reading, &job->options);
    if (!reading.is_wrong)
        get_places(&reading, job, orders);
    return !reading.is_wrong;
}

/* --- later processes --- */

static void get_world_apps(struct reading *reading, struct world *world)
{
    const int count = get_int(reading, 1, JOB_SLOTS_MAX);
    int size = 0;

    reading->is_wrong |= count > (reading->end - reading->at) / 64;
    if (reading->is_wrong)
        return;
    world->apps = need((size_t)count * sizeof *world->apps);
    for (; world->app_count < count && !reading->is_wrong; size += world->apps[world->app_count++].ranks)
        get_app(reading, &world->apps[world->app_count], 0);
    reading->is_wrong |= size != world->size;
}

static void get_world_places(struct reading *reading, const struct job *job, struct world_text *text)
{
    const size_t size = (size_t)text->world->size;
    int *node_of = need(size * sizeof *node_of);

    text->node_of = node_of;
    text->tenant = need(size * sizeof *text->tenant);
    text->contexts = need(size * sizeof *text->contexts);
    for (size_t i = 0; i < size && !reading->is_wrong; i++) {
        node_of[i] = get_int(reading, 0, job->nodes.count - 1);
        text->tenant[i] = (uint32_t)get(reading, 0, UINT32_MAX);
        text->contexts[i][0] = (uint32_t)get(reading, 0, UINT32_MAX);
        text->contexts[i][1] = (uint32_t)get(reading, 0, UINT32_MAX);
    }
    reading->is_wrong |= reading->at != reading->end;
}

bool job_text_read_world(const struct job *job, struct world_text *text, char *data, size_t size)
{
    struct reading reading = { data, data + size, false };
    struct world *world = need(sizeof *world);
    const int slots = (int)job->head->slots;

    *text = (struct world_text){ .world = world };
    world->request = data;
    world->number = get_int(&reading, 1, INT_MAX);
    world->first = get_int(&reading, job->size, slots);
    world->size = get_int(&reading, 1, slots);
    reading.is_wrong |= world->first + world->size > slots;
    text->is_new = get_int(&reading, 0, 1);
    text->parent = get_int(&reading, 0, slots - 1);
    text->call = get_int(&reading, 0, INT_MAX);
    if (!reading.is_wrong)
        get_world_apps(&reading, world);
    if (!reading.is_wrong)
        get_world_places(&reading, job, text);
    return !reading.is_wrong;
}

