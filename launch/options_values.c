/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: what options do that are not about ranks: environment, output, input, limits. */
#include "options.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "launch.h"

static char *field(struct reader *reader)
{
    return (char *)reader->options + reader->option->field;
}

void options_set_flag(struct reader *reader, const char *name, char **values)
{
    (void)name;
    (void)values;
    *(bool *)field(reader) = true;
}

void options_set_text(struct reader *reader, const char *name, char **values)
{
    (void)name;
    *(const char **)(void *)field(reader) = values[0];
}

void options_add_note(struct reader *reader, const char *name, const char *text)
{
    struct strings *notes = &reader->options->notes;
    const size_t size = strlen(name) + strlen(text) + 4;
    char *note = need(size);

    snprintf(note, size, "-%s: %s", name, text);
    for (size_t i = 0; i < notes->count; i++)
        if (!strcmp(notes->at[i], note))
            return;
    strings_add(notes, note);
}

void options_apply_note(struct reader *reader, const char *name, char **values)
{
    (void)values;
    options_add_note(reader, name, reader->option->help);
}

static char *join(const char *first, const char *second, const char *third)
{
    const size_t size = strlen(first) + strlen(second) + strlen(third) + 1;
    char *text = need(size);

    snprintf(text, size, "%s%s%s", first, second, third);
    return text;
}

static void check_variable(const char *option, const char *text, size_t length)
{
    if (length == 0 || memchr(text, '=', length))
        die(EXIT_USAGE, "E0101: -%s %s: not a name of an environment variable", option, text);
}

/* NAME VALUE, or NAME=VALUE in one; -g...: for all programs. */
void options_apply_env(struct reader *reader, const char *name, char **values)
{
    struct strings *set = *name == 'g' ? &reader->options->set : &reader->app->set;

    if (values[1]) {
        check_variable(name, values[0], strlen(values[0]));
        strings_add(set, join(values[0], "=", values[1]));
    } else {
        check_variable(name, values[0], strcspn(values[0], "="));
        strings_add(set, strchr(values[0], '=') ? values[0] : join(values[0], "=", ""));
    }
}

/* NAME=VALUE; NAME alone has nothing to do: the whole environment goes to the ranks anyway. */
void options_apply_export(struct reader *reader, const char *name, char **values)
{
    const char *equal = strchr(values[0], '=');

    if (equal == values[0] || !*values[0])
        die(EXIT_USAGE, "E0101: -%s %s: NAME or NAME=VALUE is needed", name, values[0]);
    if (equal)
        strings_add(&reader->app->set, values[0]);
    else if (reader->app->pass.is_list)
        strings_add(&reader->app->pass.names, values[0]);
    else
        strings_add(&reader->options->exported, values[0]);
}

/* Cut a list at its commas. */
static void split_list(struct reader *reader, const char *list, struct strings *words)
{
    char *rest = join(list, "", ""), *word;

    strings_add(&reader->options->kept, rest);
    while ((word = strsep(&rest, ",")))
        if (*word)
            strings_add(words, word);
}

static void set_pass(struct pass *pass, bool is_list)
{
    mem_free(pass->names.at);
    *pass = (struct pass){ .is_said = true, .is_list = is_list };
}

/* srun: ALL, NONE, NAME and NAME=VALUE, separated by commas. */
void options_apply_export_list(struct reader *reader, const char *name, char **values)
{
    struct pass *pass = &reader->app->pass;
    struct strings words = { 0 };
    bool is_all = false;

    split_list(reader, values[0], &words);
    set_pass(pass, true);
    for (size_t i = 0; i < words.count; i++) {
        if (!strcasecmp(words.at[i], "all"))
            is_all = true;
        else if (strcmp(words.at[i], "NONE") != 0 && strcmp(words.at[i], "NIL") != 0)
            options_apply_export(reader, name, &words.at[i]);
    }
    if (is_all)
        set_pass(pass, false);
    mem_free(words.at); /* the words themselves stay */
}

void options_apply_shuffle(struct reader *reader, const char *name, char **values)
{
    static char net[] = "PARLEY_NET=chaos", seed[64], blocking[] = "PARLEY_SHARED_COLL=0";

    snprintf(seed, sizeof seed, "PARLEY_CHAOS_SEED=%d",
             values[0] ? options_whole_number(name, values[0], 0, INT_MAX) : 1);
    strings_add(&reader->options->set, net);
    strings_add(&reader->options->set, seed);
    strings_add(&reader->options->set, blocking);
}

void options_apply_check(struct reader *reader, const char *name, char **values)
{
    static char variable[] = "PARLEY_CHECK=1";

    (void)name, (void)values;
    strings_add(&reader->options->set, variable);
}

void options_apply_unset(struct reader *reader, const char *name, char **values)
{
    struct pass *pass = &reader->app->pass;

    check_variable(name, values[0], strlen(values[0]));
    if (pass->is_list)
        die(EXIT_USAGE, "E0101: -%s %s: the variables to pass on are listed already", name, values[0]);
    pass->is_said = true;
    strings_add(&pass->names, values[0]);
}

/* -envall -envnone -envlist -envexcl, with g for all programs. */
void options_apply_env_list(struct reader *reader, const char *name, char **values)
{
    struct pass *pass = *name == 'g' ? &reader->options->pass : &reader->app->pass;
    const char *kind = name + (*name == 'g') + strlen("env");

    set_pass(pass, *kind == 'n' || *kind == 'l');
    if (values[0])
        split_list(reader, values[0], &pass->names);
}

/* A directory or name as part of a pattern: '%' stands for itself. */
static char *literal(const char *text, size_t length)
{
    char *pattern = need(2 * length + 1), *to = pattern;

    for (size_t i = 0; i < length; i++) {
        *to++ = text[i];
        if (text[i] == '%')
            *to++ = '%';
    }
    return pattern;
}

static void set_files(struct options *options, const char *out, const char *err)
{
    options->out_pattern = out;
    options->err_pattern = err;
}

/* Open MPI's layout: DIR/1/rank.N/stdout. */
static void set_tree(struct options *options, const char *directory, size_t length)
{
    char *base = literal(directory, length);

    set_files(options, join(base, "/1/rank.%0r/stdout", ""), join(base, "/1/rank.%0r/stderr", ""));
    mem_free(base);
}

/* DIR:copy and DIR:nocopy, whether the output is to be seen here too. */
void options_apply_output_dir(struct reader *reader, const char *name, char **values)
{
    struct options *options = reader->options;
    const char *colon = strrchr(values[0], ':');
    const bool is_nocopy = colon && !strcmp(colon, ":nocopy"), is_copy = colon && !strcmp(colon, ":copy");
    const size_t length = is_copy || is_nocopy ? (size_t)(colon - values[0]) : strlen(values[0]);
    char *base;

    if (length == 0)
        die(EXIT_USAGE, "E0101: -%s %s: a directory is needed", name, values[0]);
    if (!strcmp(name, "output-filename") || !strcmp(name, "output-directory")) {
        options->copy = !is_nocopy;
        set_tree(options, values[0], length);
        return;
    }
    options->copy = is_copy;
    base = literal(values[0], length);
    set_files(options, join(base, "/rank.%r.out", ""), join(base, "/rank.%r.err", ""));
    mem_free(base);
}

/* One word of Open MPI 5's --output; false: it is none. With `is_dry` only asked. */
static bool take_output_word(struct options *options, const char *word, size_t length, bool is_dry)
{
    static const struct {
        const char *word;
        size_t flag; /* of struct options */
    } flags[] = {
        { "tag", offsetof(struct options, label) },
        { "rank", offsetof(struct options, label) },
        { "tag-detailed", offsetof(struct options, label) },
        { "tag-fullname", offsetof(struct options, label) },
        { "timestamp", offsetof(struct options, timestamp) },
        { "merge", offsetof(struct options, merge) },
        { "merge-stderr-to-stdout", offsetof(struct options, merge) },
    };
    const char *value = memchr(word, '=', length);

    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (strlen(flags[i].word) == length && !strncmp(word, flags[i].word, length)) {
            if (!is_dry)
                *((char *)options + flags[i].flag) = true;
            return true;
        }
    if (!value || ++value == word + length || (strncmp(word, "dir", 3) != 0 && strncmp(word, "file", 4) != 0))
        return false;
    if (is_dry)
        return true;
    options->copy = true;
    if (*word == 'd') {
        set_tree(options, value, length - (size_t)(value - word));
    } else {
        char *base = literal(value, length - (size_t)(value - word));
        set_files(options, join(base, ".%r.out", ""), join(base, ".%r.err", ""));
        mem_free(base);
    }
    return true;
}

static bool take_output_words(struct options *options, const char *text, bool is_dry)
{
    const size_t end = strcspn(text, ":");

    for (size_t at = 0, length; at < end; at += length + 1) {
        length = strcspn(text + at, ",:");
        if (!take_output_word(options, text + at, length, is_dry))
            return false;
    }
    if (!is_dry && strstr(text + end, "nocopy"))
        options->copy = false;
    return end > 0;
}

static bool is_number(const char *text)
{
    return *text && !text[strspn(text, "0123456789")];
}

/* A file name for stdout, srun's "all", "none" and a rank, or the words of Open MPI 5. srun's stderr goes
 * along unless it has a place of its own. */
void options_apply_output(struct reader *reader, const char *name, char **values)
{
    struct options *options = reader->options;
    const bool is_srun = !strcmp(name, "o") || !strcmp(name, "output");

    if (!strcmp(name, "output") && take_output_words(options, values[0], true)) {
        take_output_words(options, values[0], false);
        return;
    }
    if (is_srun && is_number(values[0])) {
        options->only_rank = options_whole_number(name, values[0], 0, OPTIONS_MAX_RANKS);
        return;
    }
    options->out_pattern = !strcmp(values[0], "none") ? "/dev/null" : values[0];
    if (!strcmp(values[0], "all"))
        options->out_pattern = NULL;
    if (is_srun && !options->err_pattern)
        options->err_pattern = options->out_pattern;
}

void options_apply_error(struct reader *reader, const char *name, char **values)
{
    (void)name;
    reader->options->err_pattern = !strcmp(values[0], "none")  ? "/dev/null"
                                   : !strcmp(values[0], "all") ? NULL
                                                               : values[0];
}

void options_apply_output_from(struct reader *reader, const char *name, char **values)
{
    reader->options->only_rank = options_whole_number(name, values[0], 0, OPTIONS_MAX_RANKS);
}

/* Open MPI 5: map, allocation, bind and more, separated by commas. */
void options_apply_display(struct reader *reader, const char *name, char **values)
{
    (void)name;
    if (strstr(values[0], "map"))
        reader->options->show_map = true;
    if (strstr(values[0], "alloc"))
        reader->options->show_hosts = true;
    if (strstr(values[0], "bind"))
        bind_option(&reader->options->binding, "show-binding", NULL);
}

/* Open MPI 5: words separated by commas. */
void options_apply_runtime(struct reader *reader, const char *name, char **values)
{
    (void)name;
    if (strstr(values[0], "donotlaunch"))
        reader->options->is_dry = true;
}

void options_apply_stdin(struct reader *reader, const char *name, char **values)
{
    if (!values[0])
        return; /* -s of srun and of Open MPI, which is something else */
    if (!options_is_ranks(values[0]))
        die(EXIT_USAGE, "E0101: -%s %s: a rank, a list like 0,2-5, all or none is needed", name, values[0]);
    reader->options->stdin_ranks = values[0];
}

/* srun: a file for all, or what -stdin takes. */
void options_apply_input_file(struct reader *reader, const char *name, char **values)
{
    if (options_is_ranks(values[0])) {
        options_apply_stdin(reader, name, values);
    } else {
        reader->options->stdin_file = values[0];
        reader->options->stdin_ranks = "all";
    }
}

void options_apply_time_limit(struct reader *reader, const char *name, char **values)
{
    reader->options->time_limit = options_number(name, values[0], 0, 1e9);
}

/* srun: minutes, minutes:seconds, hours:minutes:seconds, days-hours and so on. */
void options_apply_clock_limit(struct reader *reader, const char *name, char **values)
{
    const char *dash = strchr(values[0], '-'), *clock = dash ? dash + 1 : values[0];
    int days = 0, part[3] = { 0 }, used = 0, count;

    reader->options->time_limit = 0;
    if (!strcasecmp(values[0], "unlimited") || !strcasecmp(values[0], "infinite"))
        return;
    count = sscanf(clock, "%6d%n:%6d%n:%6d%n", &part[0], &used, &part[1], &used, &part[2], &used);
    if (count < 1 || clock[used] || !isdigit((unsigned char)*clock) || part[0] < 0 || part[1] < 0 ||
        part[2] < 0 || (dash && (sscanf(values[0], "%6d-", &days) != 1 || days < 0)))
        die(EXIT_USAGE,
            "E0101: -%s %s: MINUTES, MINUTES:SECONDS, HOURS:MINUTES:SECONDS or DAYS-HOURS is needed", name,
            values[0]);
    if (dash)
        reader->options->time_limit = days * 86400.0 + part[0] * 3600.0 + part[1] * 60.0 + part[2];
    else if (count == 3)
        reader->options->time_limit = part[0] * 3600.0 + part[1] * 60.0 + part[2];
    else
        reader->options->time_limit = part[0] * 60.0 + part[1];
}

void options_apply_hang_report(struct reader *reader, const char *name, char **values)
{
    reader->options->hang_report = options_number(name, values[0], 0, 1e9);
}

void options_apply_adopt(struct reader *reader, const char *name, char **values)
{
    reader->options->adopted_fd = options_whole_number(name, values[0] ? values[0] : "", 3, INT_MAX);
}

void options_apply_report(struct reader *reader, const char *name, char **values)
{
    (void)reader;
    ask_report(options_whole_number(name, values[0], 1, INT_MAX));
}

void options_apply_launch_limit(struct reader *reader, const char *name, char **values)
{
    reader->options->launch_limit = options_number(name, values[0], 0, 1e9);
}

void options_apply_grace(struct reader *reader, const char *name, char **values)
{
    reader->options->grace = options_number(name, values[0], 0, 1e9);
}

void options_apply_errhandler(struct reader *reader, const char *name, char **values)
{
    for (int i = JOB_ERRORS_ARE_FATAL; i <= JOB_ERRORS_RETURN; i++)
        if (!strcasecmp(values[0], job_errhandler_name(i))) {
            reader->options->errhandler = i;
            return;
        }
    die(EXIT_USAGE, "E0101: -%s %s: mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return is needed",
        name, values[0]);
}

/* --with-ft ulfm asks for what is not there yet; --with-ft none for what is. */
void options_apply_ft(struct reader *reader, const char *name, char **values)
{
    static const char *const none[] = { "none", "no", "false", "off", "0" };

    for (size_t i = 0; i < ARRAY_LEN(none); i++)
        if (!strcasecmp(values[0], none[i]))
            return;
    options_add_note(reader, name, reader->option->help);
}
