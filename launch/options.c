/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the command line (MPI 5.0 §11.5), with what users of other launchers write as well. One dash or
 * two, "--name value" or "--name=value", "-n4" as srun has it. Options between two colons concern that
 * program, or the whole job where that is their nature. What each does is in the table. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "doctor.h"
#include "launch.h"

enum { NAME_MAX_SIZE = 64, MAX_VALUES = 2 };

double options_number(const char *name, const char *text, double min, double max)
{
    char *end;
    double value;

    errno = 0;
    value = strtod(text, &end);
    if (end == text || *end || errno || !(value >= min && value <= max))
        die(EXIT_USAGE, "E0101: -%s %s: a number from %.10g to %.10g is needed", name, text, min, max);
    return value;
}

int options_whole_number(const char *name, const char *text, int min, int max)
{
    const double value = options_number(name, text, min, max);

    if (value != (int)value)
        die(EXIT_USAGE, "E0101: -%s %s: a whole number is needed", name, text);
    return (int)value;
}

/* The digits at `text`; NULL: there are none. */
static const char *read_digits(const char *text, int *value)
{
    char *end;
    long number;

    if (!isdigit((unsigned char)*text))
        return NULL;
    number = strtol(text, &end, 10);
    *value = number < OPTIONS_MAX_RANKS ? (int)number : OPTIONS_MAX_RANKS;
    return end;
}

/* Read "N" or "N-M" of a list; NULL: it is neither. */
static const char *read_range(const char *text, int *from, int *to)
{
    const char *end = read_digits(text, from);

    *to = *from;
    if (end && *end == '-')
        end = read_digits(end + 1, to);
    return end && (*end == ',' || !*end) ? end : NULL;
}

bool options_is_ranks(const char *text)
{
    int from = 0, to = 0;

    if (!strcmp(text, "all") || !strcmp(text, "none"))
        return true;
    for (;;) {
        text = read_range(text, &from, &to);
        if (!text || from > to || to >= OPTIONS_MAX_RANKS)
            return false;
        if (!*text++)
            return true;
    }
}

bool options_has_rank(const char *text, int rank)
{
    int from = 0, to = 0;

    if (!strcmp(text, "all") || !strcmp(text, "none"))
        return *text == 'a';
    for (;;) {
        text = read_range(text, &from, &to);
        if (!text)
            return false;
        if (rank >= from && rank <= to)
            return true;
        if (!*text++)
            return false;
    }
}

/* Is `name` (of `length` bytes) among the words of `names`? */
static bool has_name(const char *names, const char *name, size_t length)
{
    while (*names) {
        const size_t word = strcspn(names, " ");
        if (word == length && !strncmp(names, name, length))
            return true;
        names += word + strspn(names + word, " ");
    }
    return false;
}

const struct option *options_find(const char *name, size_t length)
{
    for (const struct option *option = options_table; option->names; option++)
        if (has_name(option->names, name, length))
            return option;
    return NULL;
}

/* How many letters must be changed, put in or left out, or two neighbours exchanged, to make one of the other. */
static int distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    int rows[3][NAME_MAX_SIZE], *before = rows[0], *last = rows[1], *row = rows[2], *spare;

    if (a_length >= NAME_MAX_SIZE || b_length >= NAME_MAX_SIZE)
        return NAME_MAX_SIZE;
    for (size_t j = 0; j <= b_length; j++)
        row[j] = before[j] = (int)j;
    for (size_t i = 1; i <= a_length; i++) {
        spare = before, before = last, last = row, row = spare;
        row[0] = (int)i;
        for (size_t j = 1; j <= b_length; j++) {
            const int change = last[j - 1] + (a[i - 1] != b[j - 1]);
            const int in_or_out = 1 + (last[j] < row[j - 1] ? last[j] : row[j - 1]);
            row[j] = change < in_or_out ? change : in_or_out;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
    }
    return row[b_length];
}

/* The name nearest to `name`, at most three letters away, into `nearest` (or ""); how far it is. */
static int find_nearest(const char *name, size_t length, char nearest[NAME_MAX_SIZE])
{
    int least = length < 3 ? 1 : length < 6 ? 2 : 3; /* farther ones are no help */

    *nearest = 0;
    for (const struct option *option = options_table; option->names; option++)
        for (const char *at = option->names; *at;) {
            const size_t word_length = strcspn(at, " ");
            const int d = distance(name, length, at, word_length);
            if (d < least || (d == least && !*nearest && word_length > 1)) {
                least = d;
                snprintf(nearest, NAME_MAX_SIZE, "%.*s", (int)word_length, at);
            }
            at += word_length + strspn(at + word_length, " ");
        }
    return *nearest ? least : NAME_MAX_SIZE;
}

static _Noreturn void unknown_option(const char *word, const char *name, size_t length)
{
    char nearest[NAME_MAX_SIZE];

    find_nearest(name, length, nearest);
    if (*nearest)
        die(EXIT_USAGE, "E0101: unknown option %s; did you mean %s%s? mpiexec --help all lists them", word,
            nearest[1] ? "--" : "-", nearest);
    die(EXIT_USAGE, "E0101: unknown option %s; mpiexec --help all lists them", word);
}

/* May the next word be the value of an option that has one only sometimes? */
static bool looks_like(const char *value, const char *word)
{
    if (!word)
        return false;
    if (!strcmp(value, "?RANKS"))
        return options_is_ranks(word);
    if (!strcmp(value, "?TOPIC"))
        return options_is_topic(word);
    if (!strcmp(value, "?N"))
        return isdigit((unsigned char)*word);
    return !access(word, R_OK) && access(word, X_OK); /* ?FILE, not the program */
}

static int words_of(const char *values)
{
    int count = 0;

    if (!values || *values == '[' || *values == '?')
        return 0;
    for (; *values; values += strspn(values, " "), count++)
        values += strcspn(values, " ");
    return count;
}

/* -genv NAME=VALUE instead of two words. */
static bool is_whole_pair(const struct option *option, const char *value)
{
    return !strcmp(option->values, "NAME VALUE") && strchr(value, '=') && *value != '=';
}

/* The option of a letter with its value in the same word, as srun has it: -n4, -pdebug (where that is not
 * nearly another name, and nothing is to be done for it); NULL: it is none. */
static const struct option *find_joined(const char *word)
{
    const struct option *option = options_find(word + 1, 1);
    char nearest[NAME_MAX_SIZE];

    if (!option || !option->values || (words_of(option->values) != 1 && *option->values != '['))
        return NULL;
    if (isdigit((unsigned char)word[2]))
        return option;
    if (option->apply || word[2] == '=')
        return NULL;
    return find_nearest(word + 1, strlen(word + 1), nearest) > 1 || *nearest != word[1] ? option : NULL;
}

/* Find the option of `word`; what follows its name in the same word goes to *joined. Then the name is
 * shortened, in `cut`; else *name is a part of `word`. */
static const struct option *identify(const char *word, const char **name, const char **joined,
                                     char cut[NAME_MAX_SIZE])
{
    const struct option *option;
    size_t length;

    *name = word + (word[1] == '-' ? 2 : 1);
    length = strcspn(*name, "=");
    *joined = (*name)[length] ? *name + length + 1 : NULL;
    option = options_find(*name, length);
    if (!option && word[1] != '-' && (option = find_joined(word))) {
        *joined = word + 2;
        length = 1;
    }
    if (!option)
        unknown_option(word, *name, length);
    if (*joined && !option->values)
        die(EXIT_USAGE, "E0101: %s: this option takes no value", word);
    if (*joined) {
        snprintf(cut, NAME_MAX_SIZE, "%.*s", (int)length, *name);
        *name = cut;
    }
    return option;
}

/* Read the option at reader->at and step over it. */
static void read_option(struct reader *reader)
{
    char cut[NAME_MAX_SIZE];
    const char *name, *joined;
    const struct option *option = identify(*reader->at, &name, &joined, cut);
    const int wanted = words_of(option->values);
    char *values[MAX_VALUES] = { NULL, NULL };
    int got = 0;

    reader->at++;
    if (joined)
        values[got++] = (char *)joined;
    else if (option->values && *option->values == '?' && looks_like(option->values, *reader->at))
        values[got++] = *reader->at++;
    while (got < wanted && !(got == 1 && is_whole_pair(option, values[0]))) {
        if (!*reader->at)
            die(EXIT_USAGE, "E0101: -%s needs %s behind it", name, option->values);
        values[got++] = *reader->at++;
    }
    reader->option = option;
    if (option->apply)
        option->apply(reader, name, values);
}

void options_begin_app(struct reader *reader)
{
    struct options *all = reader->options;

    all->apps = need_more(all->apps, ((size_t)all->app_count + 1) * sizeof *all->apps);
    reader->app = &all->apps[all->app_count++];
    *reader->app = (struct app){ .ranks = -1 };
    reader->short_count = 0;
    reader->pool = (struct hosts){ 0 };
}

void options_read_options(struct reader *reader)
{
    while (*reader->at && reader->at[0][0] == '-' && reader->at[0][1] && strcmp(*reader->at, "--") != 0)
        read_option(reader);
}

static bool is_end_of_block(const struct reader *reader, const char *word)
{
    return !reader->is_in_config && !strcmp(word, ":");
}

/* One block: options, program, arguments, up to a colon or the end. */
static void read_app(struct reader *reader)
{
    options_begin_app(reader);
    options_read_options(reader);
    if (*reader->at && !strcmp(*reader->at, "--"))
        reader->at++;
    while (*reader->at && !is_end_of_block(reader, *reader->at))
        strings_add(&reader->app->argv, *reader->at++);
    if (*reader->at)
        reader->at++;
    if (reader->app->argv.count > 0 && reader->has_config)
        die(EXIT_USAGE, "E0101: the programs come from -configfile, so '%s' cannot follow",
            reader->app->argv.at[0]);
    if (reader->app->argv.count == 0 && !reader->has_config && !reader->options->is_doctor)
        die(EXIT_USAGE, "E0101: no program is given%s; mpiexec --help tells how to use it",
            reader->is_in_config             ? " in a line of the configuration file"
            : reader->options->app_count > 1 ? " in one of the blocks between colons"
                                             : "");
    options_end_hosts(reader);
    if (reader->app->argv.count == 0)
        reader->options->app_count--; /* it only carried options of the job */
    else
        reader->app->ranks = options_count_ranks(reader);
}

void options_read_blocks(struct reader *reader)
{
    do {
        read_app(reader);
    } while (*reader->at || is_end_of_block(reader, reader->at[-1]));
}

/* What can be told only when all has been read. */
static void check_whole(const struct options *options)
{
    int size = 0;

    for (int i = 0; i < options->app_count; i++) {
        size += options->apps[i].ranks;
        if (size > OPTIONS_MAX_RANKS)
            die(EXIT_USAGE, "E0101: more than %d ranks in all", OPTIONS_MAX_RANKS);
    }
    if (options->only_rank >= size)
        die(EXIT_USAGE, "E0101: -output-from %d: the ranks are 0 to %d", options->only_rank, size - 1);
    for (const char *at = options->stdin_ranks; isdigit((unsigned char)*at);) {
        int from = 0, to = 0;
        at = read_range(at, &from, &to);
        if (to >= size)
            die(EXIT_USAGE, "E0101: -stdin %s: the ranks are 0 to %d", options->stdin_ranks, size - 1);
        at += *at != 0;
    }
}

void options_read(struct options *result, char **argv)
{
    const char *limit = getenv("MPIEXEC_TIMEOUT"), *hang = getenv("PARLEY_HANG_REPORT");
    const char *names = getenv("PARLEY_NAME_SERVER");
    struct reader reader = { .options = result, .at = argv + 1 };

    *result = (struct options){
        .grace = 10, .launch_limit = 60, .hang_report = 10,
        .errhandler = JOB_ERRORS_ARE_FATAL, .only_rank = -1, .stdin_ranks = "0"
    };
    if (limit && *limit)
        result->time_limit = options_number("timeout (from MPIEXEC_TIMEOUT)", limit, 0, 1e9);
    if (hang && *hang)
        result->hang_report = options_number("hang-report (from PARLEY_HANG_REPORT)", hang, 0, 1e9);
    if (names && *names)
        options_name_server(result, "PARLEY_NAME_SERVER", names);
    options_read_blocks(&reader);
    options_finish_hosts(result);
    if (result->is_doctor)
        exit(doctor_run(result));
    check_whole(result);
    for (size_t i = 0; i < result->notes.count && !result->quiet; i++)
        fprintf(stderr, "parley: mpiexec: %s\n", result->notes.at[i]);
}
