/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the command line (MPI 5.0 §11.5), with what users of other launchers write as well. One dash or
 * two, "--name value" or "--name=value". Options between two colons concern that program, those marked G the
 * job. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/mem.h"
#include "doctor.h"
#include "launch.h"

enum { MAX_RANKS = 1 << 20 };

/* Where reading stands. */
struct reader {
    struct options *options;
    struct app *app;   /* the one being read */
    char **at;         /* next word */
    int per_node;      /* -ppn, -N: ranks if nothing else is said */
    bool has_config;   /* the programs came from a file */
    bool is_in_config; /* and we are inside it */
};

struct option {
    const char *names;  /* separated by blanks, without dashes */
    const char *values; /* what follows, for --help; NULL: nothing */
    int value_count;
    /* NULL: accepted, without effect */
    void (*apply)(struct reader *reader, const char *name, char **values);
    const char *help; /* NULL: not listed */
};

static double number(const char *name, const char *text, double min, double max)
{
    char *end;
    double value;

    errno = 0;
    value = strtod(text, &end);
    if (end == text || *end || errno || !(value >= min && value <= max))
        die(EXIT_USAGE, "E0101: -%s %s: a number from %.10g to %.10g is needed", name, text, min, max);
    return value;
}

static int whole_number(const char *name, const char *text, int min, int max)
{
    const double value = number(name, text, min, max);

    if (value != (int)value)
        die(EXIT_USAGE, "E0101: -%s %s: a whole number is needed", name, text);
    return (int)value;
}

static void apply_ranks(struct reader *reader, const char *name, char **values)
{
    reader->app->ranks = whole_number(name, values[0], 1, MAX_RANKS);
}

static void apply_per_node(struct reader *reader, const char *name, char **values)
{
    reader->per_node = whole_number(name, values[0], 1, MAX_RANKS);
}

static void apply_wdir(struct reader *reader, const char *name, char **values)
{
    (void)name;
    reader->app->wdir = values[0];
}

static void apply_path(struct reader *reader, const char *name, char **values)
{
    (void)name;
    reader->app->path = values[0];
}

static void set_variable(struct strings *set, const char *option, const char *name, const char *value)
{
    const size_t size = strlen(name) + strlen(value) + 2;
    char *text = need(size);

    if (!*name || strchr(name, '='))
        die(EXIT_USAGE, "E0101: -%s %s: not a name of an environment variable", option, name);
    snprintf(text, size, "%s=%s", name, value);
    strings_add(set, text);
}

static void apply_env(struct reader *reader, const char *name, char **values)
{
    set_variable(&reader->app->set, name, values[0], values[1]);
}

static void apply_genv(struct reader *reader, const char *name, char **values)
{
    set_variable(&reader->options->set, name, values[0], values[1]);
}

/* -x NAME=VALUE; -x NAME alone has nothing to do: the whole environment goes to the ranks anyway. */
static void apply_export(struct reader *reader, const char *name, char **values)
{
    const char *equal = strchr(values[0], '=');

    if (equal == values[0] || !*values[0])
        die(EXIT_USAGE, "E0101: -%s %s: NAME or NAME=VALUE is needed", name, values[0]);
    if (equal)
        strings_add(&reader->app->set, values[0]);
}

static void apply_label(struct reader *reader, const char *name, char **values)
{
    (void)name;
    (void)values;
    reader->options->label = true;
}

static void apply_quiet(struct reader *reader, const char *name, char **values)
{
    (void)name;
    (void)values;
    reader->options->quiet = true;
}

static void apply_time_limit(struct reader *reader, const char *name, char **values)
{
    reader->options->time_limit = number(name, values[0], 0, 1e9);
}

static void apply_grace(struct reader *reader, const char *name, char **values)
{
    reader->options->grace = number(name, values[0], 0, 1e9);
}

static void apply_errhandler(struct reader *reader, const char *name, char **values)
{
    static const char *const known[] = { "mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return" };

    for (int i = JOB_ERRORS_ARE_FATAL; i <= JOB_ERRORS_RETURN; i++)
        if (!strcasecmp(values[0], known[i])) {
            reader->options->errhandler = i;
            return;
        }
    die(EXIT_USAGE, "E0101: -%s %s: mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return is needed",
        name, values[0]);
}

static bool is_this_machine(const char *host, size_t length)
{
    static const char *const own[] = { "localhost", "localhost.localdomain", "127.0.0.1", "::1" };
    struct utsname system;

    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (strlen(own[i]) == length && !strncmp(host, own[i], length))
            return true;
    uname(&system);
    return strlen(system.nodename) == length && !strncmp(host, system.nodename, length);
}

static void check_host(const char *name, const char *host, size_t length)
{
    const char *colon = memrchr(host, ':', length);

    if (!is_this_machine(host, length) && !(colon && is_this_machine(host, (size_t)(colon - host))))
        die(EXIT_USAGE, "E0102: -%s %.*s: this version starts processes on this machine (localhost) only",
            name, (int)length, host);
}

static void apply_hosts(struct reader *reader, const char *name, char **values)
{
    (void)reader;
    for (const char *host = values[0]; *host;) {
        const size_t length = strcspn(host, ",");
        if (length)
            check_host(name, host, length);
        host += length + (host[length] == ',');
    }
}

/* A file of hosts, one a line, more words behind ignored. */
static void apply_host_file(struct reader *reader, const char *name, char **values)
{
    FILE *file = fopen(values[0], "re");
    char *line = NULL;
    size_t room = 0;

    (void)reader;
    if (!file)
        die(EXIT_USAGE, "E0101: -%s %s: %s", name, values[0], strerror(errno));
    while (getline(&line, &room, file) >= 0) {
        const char *host = line + strspn(line, " \t");
        const size_t length = strcspn(host, " \t\r\n#");
        if (length)
            check_host(name, host, length);
    }
    free(line);
    fclose(file);
}

static void apply_binding(struct reader *reader, const char *name, char **values)
{
    bind_option(&reader->options->binding, name, values[0]);
}

static void apply_version(struct reader *reader, const char *name, char **values)
{
    (void)reader;
    (void)name;
    (void)values;
    puts("mpiexec (Parley) " PARLEY_VERSION);
    exit(0);
}

static void apply_doctor(struct reader *reader, const char *name, char **values)
{
    (void)reader;
    (void)name;
    (void)values;
    exit(doctor_run());
}

static void apply_help(struct reader *reader, const char *name, char **values);
static void apply_config(struct reader *reader, const char *name, char **values);

static const struct option options[] = {
    { "n np c ranks", "N", 1, apply_ranks, "start N processes of the program that follows (default 1)" },
    { "wdir wd", "DIR", 1, apply_wdir, "start it in DIR" },
    { "path", "DIRS", 1, apply_path, "look for it in DIRS (separated by colons), then in PATH" },
    { "env", "NAME VALUE", 2, apply_env, "set a variable for this program" },
    { "x", "NAME[=VALUE]", 1, apply_export, "the same; without a value nothing is to be done" },
    { "genv", "NAME VALUE", 2, apply_genv, "G  set a variable for all programs" },
    { "host hosts H", "LIST", 1, apply_hosts, "must name this machine (localhost) in this version" },
    { "f hostfile machinefile", "FILE", 1, apply_host_file, "the same, one host a line" },
    { "configfile", "FILE", 1, apply_config, "G  read programs from FILE, one a line, instead of here" },
    { "l label tag-output prepend-rank", NULL, 0, apply_label,
      "G  write \"[rank] \" before every line of output" },
    { "timeout", "SECONDS", 1, apply_time_limit, "G  end the job after that time, exit code 124" },
    { "grace", "SECONDS", 1, apply_grace, "G  time between a forwarded INT or TERM and KILL (default 10)" },
    { "initial-errhandler", "NAME", 1, apply_errhandler,
      "G  mpi_errors_are_fatal, mpi_errors_abort, mpi_errors_return" },
    { "q quiet", NULL, 0, apply_quiet, "G  do not say why the job ended" },
    { "doctor", NULL, 0, apply_doctor, "tell what this machine offers to jobs, and what is in the way" },
    { "version V", NULL, 0, apply_version, "" },
    { "help h ?", NULL, 0, apply_help, "" },
    { "N ppn npernode perhost", "N", 1, apply_per_node, "processes on this machine, if -n is not given" },
    { "bind-to binding", "WHAT", 1, apply_binding, "G  each process to none, hwthread, core, l3cache, numa, socket" },
    { "map-by", "WHAT", 1, apply_binding, "G  share core, numa, socket, ppr:N:socket; :PE=N for N cores each" },
    { "show-binding report-bindings display-map print-rank-map", NULL, 0, apply_binding,
      "G  draw the machine and what each process may use" },
    { "rank-by cpu-set cpu-list cpus-per-proc cpus-per-rank cpus-per-task cpu-bind npersocket display", "X", 1,
      apply_binding, NULL },
    { "use-hwthread-cpus bynode byslot bycore bysocket bynuma bind-to-none bind-to-core bind-to-socket", NULL, 0,
      apply_binding, NULL },
    /* What makes no difference on one machine, or makes none here. */
    { "oversubscribe nooversubscribe display-allocation envall genvall v verbose "
      "allow-run-as-root enable-recovery xterm noprefix nolocal",
      NULL, 0, NULL, NULL },
    { "soft arch file ranks-per-proc launcher launcher-exec rmk iface bootstrap output prefix am tune usize "
      "envlist genvlist mpi personality runtime-options",
      "X", 1, NULL, NULL },
    { "mca gmca omca prtemca pmixmca", "KEY VALUE", 2, NULL, NULL },
};

static void apply_help(struct reader *reader, const char *name, char **values)
{
    (void)reader;
    (void)name;
    (void)values;
    puts("usage: mpiexec [options] program [arguments] [: [options] program [arguments]] ...\n\n"
         "Options concern the program that follows, those marked G the whole job. One dash or two.\n");
    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        const char *blank = strchr(options[i].names, ' ');
        const int length = blank ? (int)(blank - options[i].names) : (int)strlen(options[i].names);
        if (options[i].help)
            printf("  -%.*s %-*s %s\n", length, options[i].names, 24 - length,
                   options[i].values ? options[i].values : "", options[i].help);
    }
    puts("\nAccepted without effect, since nothing is to be done on one machine: --oversubscribe,\n"
         "--allow-run-as-root, --mca KEY VALUE, -soft X, -arch X, -file X and the "
         "like.\n\n"
         "Every process finds PARLEY_RANK, PARLEY_SIZE, PARLEY_LOCAL_RANK and PARLEY_LOCAL_SIZE in its\n"
         "environment.\n\n"
         "The exit code is that of the first process that failed, 128+N if signal N ended it.");
    exit(0);
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

static const struct option *find_option(const char *name, size_t length)
{
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if (has_name(options[i].names, name, length))
            return &options[i];
    return NULL;
}

/* Read the option at reader->at and step over it. */
static void read_option(struct reader *reader)
{
    const char *name = reader->at[0] + (reader->at[0][1] == '-' ? 2 : 1);
    const size_t length = strcspn(name, "=");
    const struct option *option = find_option(name, length);
    char *values[2] = { NULL, NULL };
    int got = 0;

    if (!option)
        die(EXIT_USAGE, "E0101: unknown option %s; mpiexec --help lists them", reader->at[0]);
    if (name[length] == '=')
        values[got++] = *reader->at + (name - *reader->at) + length + 1;
    if (got > option->value_count)
        die(EXIT_USAGE, "E0101: %s: this option takes no value", reader->at[0]);
    for (reader->at++; got < option->value_count; got++) {
        if (!*reader->at)
            die(EXIT_USAGE, "E0101: -%s needs %s behind it", name, option->values);
        values[got] = *reader->at++;
    }
    if (option->apply)
        option->apply(reader, name, values);
}

static void begin_app(struct reader *reader)
{
    struct options *all = reader->options;

    all->apps = need_more(all->apps, ((size_t)all->app_count + 1) * sizeof *all->apps);
    reader->app = &all->apps[all->app_count++];
    *reader->app = (struct app){ .ranks = -1 };
}

/* One block: options, program, arguments, up to a colon or the end. */
static void read_app(struct reader *reader)
{
    begin_app(reader);
    while (*reader->at && reader->at[0][0] == '-' && reader->at[0][1] && strcmp(*reader->at, "--") != 0)
        read_option(reader);
    if (*reader->at && !strcmp(*reader->at, "--"))
        reader->at++;
    while (*reader->at && strcmp(*reader->at, ":") != 0)
        strings_add(&reader->app->argv, *reader->at++);
    if (*reader->at)
        reader->at++;
    if (reader->app->argv.count > 0 && reader->has_config)
        die(EXIT_USAGE, "E0101: the programs come from -configfile, so '%s' cannot follow",
            reader->app->argv.at[0]);
    if (reader->app->argv.count == 0 && !reader->has_config)
        die(EXIT_USAGE, "E0101: no program is given%s; mpiexec --help tells how to use it",
            reader->options->app_count > 1 ? " in one of the blocks between colons" : "");
    if (reader->app->ranks < 0)
        reader->app->ranks = reader->per_node > 0 ? reader->per_node : bind_ranks(&reader->options->binding);
    if (reader->app->argv.count == 0)
        reader->options->app_count--; /* it only carried options of the job */
}

static void read_blocks(struct reader *reader)
{
    do {
        read_app(reader);
    } while (*reader->at || (reader->at[-1] && !strcmp(reader->at[-1], ":")));
}

/* Cut `line` into words as a shell does: blanks separate, quotes and backslashes protect. */
void options_split(char *line, struct strings *words)
{
    char *from = line, *to;
    char quote;

    for (;;) {
        from += strspn(from, " \t\r\n");
        if (!*from || *from == '#')
            return;
        strings_add(words, to = from);
        for (quote = 0; *from && (quote || !isspace((unsigned char)*from)); from++) {
            if (quote ? *from == quote : *from == '"' || *from == '\'')
                quote = quote ? 0 : *from;
            else if (*from == '\\' && quote != '\'' && from[1])
                *to++ = *++from;
            else
                *to++ = *from;
        }
        if (quote)
            die(EXIT_USAGE, "E0101: a quote is open at the end of a line of the configuration file");
        from += *from != 0;
        *to = 0;
    }
}

/* A whole file as one string, lines that end in a backslash joined. */
static char *read_config_text(const char *name, const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t room = 0;
    ssize_t length;

    if (!file)
        die(EXIT_USAGE, "E0101: -%s %s: %s", name, path, strerror(errno));
    length = getdelim(&text, &room, 0, file);
    fclose(file);
    if (length < 0)
        die(EXIT_USAGE, "E0101: -%s %s: nothing is in it", name, path);
    for (char *at = text; (at = strstr(at, "\\\n"));)
        at[0] = at[1] = ' ';
    return text; /* lives as long as the options that point into it */
}

static void apply_config(struct reader *reader, const char *name, char **values)
{
    struct strings words;
    char *rest = read_config_text(name, values[0]);

    if (reader->is_in_config)
        die(EXIT_USAGE, "E0101: -%s %s: not inside such a file", name, values[0]);
    reader->options->app_count--; /* the block that holds -configfile is none itself */
    reader->has_config = true;
    for (char *line; (line = strsep(&rest, "\n"));) {
        struct reader inner = { .options = reader->options, .is_in_config = true };
        words = (struct strings){ 0 };
        options_split(line, &words);
        if (words.count == 0)
            continue; /* an empty list owns nothing */
        inner.at = words.at;
        read_blocks(&inner);
        mem_free(words.at); /* the words themselves lie in the text */
    }
    if (reader->options->app_count == 0)
        die(EXIT_USAGE, "E0101: -%s %s: no program is in it", name, values[0]);
    begin_app(reader); /* for the options that may still follow */
}

void options_read(struct options *result, char **argv)
{
    const char *limit = getenv("MPIEXEC_TIMEOUT");
    struct reader reader = { .options = result, .at = argv + 1 };

    *result = (struct options){ .grace = 10, .errhandler = JOB_ERRORS_ARE_FATAL };
    if (limit && *limit)
        result->time_limit = number("timeout (from MPIEXEC_TIMEOUT)", limit, 0, 1e9);
    read_blocks(&reader);
}
