/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: how mpiexec --agent is started on another machine: by ssh, or by the program that a batch system has for
 * that. Everything the agent and we say goes through stdin and stdout of that program. */
#include "remote.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/mem.h"
#include "launch.h"
#include "options.h"

enum { WORDS_MAX = 12 };

/* A way to start a program on another machine. */
struct way {
    const char *names;            /* as --launcher has it; the first is ours */
    const char *batch;            /* taken under this batch system, if its program is there */
    bool has_shell;               /* one word goes to a shell there; else words are a program and its arguments */
    const char *words[WORDS_MAX]; /* before the host */
};

/* ssh asks nothing, takes neither terminal nor display, and notices within a minute that the other side has gone. */
static const struct way ways[] = {
    { "ssh auto", NULL, true, { "ssh", "-x", "-a", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=30", "-o",
                                "ServerAliveInterval=15" } },
    { "rsh", NULL, true, { "rsh" } },
    { "slurm srun", "slurm", false, { "srun", "-N1", "-n1", "--overlap", "--cpu-bind=none", "--mpi=none",
                                      "--unbuffered", "--quiet", "--export=ALL", "-w" } },
    { "lsf blaunch", "lsf", false, { "blaunch" } },
    { "sge qrsh", "sge", true, { "qrsh", "-inherit", "-V" } },
    { "oar oarsh", "oar", true, { "oarsh" } },
    { "pbs pbs_tmrsh", NULL, true, { "pbs_tmrsh" } },
};

static bool has_name(const char *names, const char *name)
{
    const size_t length = strlen(name);

    for (size_t size; *names; names += size + (names[size] == ' ')) {
        size = strcspn(names, " ");
        if (size == length && !strncasecmp(names, name, length))
            return true;
    }
    return false;
}

static const struct way *find_way(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(ways); i++)
        if (has_name(ways[i].names, name))
            return &ways[i];
    return NULL;
}

bool remote_is_way(const char *name)
{
    return find_way(name);
}

/* Is there such a program in PATH? */
static bool is_in_path(const char *name)
{
    char path[PATH_MAX];

    for (const char *dirs = getenv("PATH"); dirs && *dirs;) {
        const size_t length = strcspn(dirs, ":");
        snprintf(path, sizeof path, "%.*s/%s", (int)length, dirs, name);
        if (length && !access(path, X_OK))
            return true;
        dirs += length + (dirs[length] != 0);
    }
    return false;
}

static const struct way *choose_way(const struct options *options)
{
    if (options->launcher && strcasecmp(options->launcher, "auto") != 0)
        return find_way(options->launcher);
    for (size_t i = 0; i < ARRAY_LEN(ways) && options->batch; i++)
        if (ways[i].batch && !strcmp(ways[i].batch, options->batch) && is_in_path(ways[i].words[0]))
            return &ways[i];
    return &ways[0];
}

static void add_way(struct strings *words, const struct way *way, const char *program)
{
    strings_add(words, need_text(program));
    for (size_t i = 1; i < WORDS_MAX && way->words[i]; i++)
        strings_add(words, need_text(way->words[i]));
}

/* The way, and the words before the host. A program that the user names is taken as it is; if it is another copy of the
 * way's own, it gets its options. */
static const struct way *begin(const struct options *options, struct strings *words)
{
    const char *program = options->launcher_exec ? options->launcher_exec : getenv("PARLEY_RSH");
    const struct way *way = program && *program && !options->launcher ? &ways[0] : choose_way(options);
    const char *name;

    if (!program || !*program) {
        add_way(words, way, way->words[0]);
        return way;
    }
    name = strrchr(program, '/') ? strrchr(program, '/') + 1 : program;
    if (!strcmp(name, way->words[0]))
        add_way(words, way, program);
    else
        options_split(need_text(program), words);
    return way;
}

/* --- what is said to the shell there --- */

/* mpiexec of the same version is looked for at the places given and in PATH. If there is none, ours is asked for
 * (a line "PARLEY-SEND MACHINE"), read from stdin into a folder that only we may enter and where programs may be
 * executed, and run from a descriptor, so that file and folder are gone before it begins. Arguments: what
 * --version says, the size of the file, the option that it gets, the places. It is one line, without single
 * quotes, backslashes and exclamation marks, so that it goes through every shell there is. */
static const char snippet[] =
    "v=$1;n=$2;a=$3;shift 3;"
    "for p in \"$@\" mpiexec;do case $(\"$p\" --version 2>/dev/null </dev/null) in "
    "\"$v\") exec \"$p\" \"$a\";;esac;done;"
    "umask 077;c() { rm -rf \"$t\";};t=;trap c 0 1 2 13 15;"
    "for d in \"$XDG_RUNTIME_DIR\" \"${TMPDIR:-/tmp}\" /var/tmp /dev/shm \"$HOME\";do "
    "test -d \"$d\" && mkdir \"$d/parley-$$\" 2>/dev/null || continue;t=$d/parley-$$;"
    "echo : >\"$t/x\" && chmod 700 \"$t/x\" && \"$t/x\" 2>/dev/null && break;c;t=;done;"
    "test \"$t\" || { echo \"no folder here from which a program can be executed\" >&2;exit 1;};"
    "echo \"PARLEY-SEND $(uname -m)\";"
    "head -c \"$n\" >\"$t/m\" && test $(wc -c <\"$t/m\") -eq \"$n\" && chmod 700 \"$t/m\" && "
    "exec 3<\"$t/m\" || exit 1;"
    "c;t=;exec /proc/self/fd/3 \"$a\"";

/* The path of mpiexec on other machines. */
static void write_path(const struct options *options, char path[PATH_MAX])
{
    if (options->agent_prefix) {
        snprintf(path, PATH_MAX, "%s/bin/mpiexec", options->agent_prefix);
    } else {
        own_directory(path);
        strncat(path, "/mpiexec", PATH_MAX - strlen(path) - 1);
    }
}

static long long own_size(void)
{
    struct stat st;

    return stat("/proc/self/exe", &st) ? 0 : (long long)st.st_size;
}

/* The word in single quotes. */
static char *quote(const char *word)
{
    char *quoted = need(4 * strlen(word) + 3), *to = quoted;

    *to++ = '\'';
    for (; *word; word++) {
        if (*word == '\'')
            to = stpcpy(to, "'\\'");
        *to++ = *word;
    }
    *to = '\'';
    return quoted;
}

/* One word for the shell there. */
static char *join(const char *const *words, int count)
{
    struct strings quoted = { 0 };
    size_t size = sizeof "exec";
    char *text, *to;

    for (int i = 0; i < count; i++) {
        strings_add(&quoted, quote(words[i]));
        size += strlen(quoted.at[i]) + 1;
    }
    text = need(size);
    to = stpcpy(text, "exec");
    for (int i = 0; i < count; i++) {
        to = stpcpy(stpcpy(to, " "), quoted.at[i]);
        mem_free(quoted.at[i]);
    }
    mem_free(quoted.at);
    return text;
}

void remote_command(const struct options *options, const char *target, const char *option, struct strings *words)
{
    const struct way *way = begin(options, words);
    char path[PATH_MAX], size[32];
    const char *const command[] = { "/bin/sh", "-c", snippet, "parley", REMOTE_VERSION, size, option, path };

    strings_add(words, need_text(target));
    write_path(options, path);
    snprintf(size, sizeof size, "%lld", own_size());
    if (way->has_shell)
        strings_add(words, join(command, ARRAY_LEN(command)));
    for (size_t i = 0; i < ARRAY_LEN(command) && !way->has_shell; i++)
        strings_add(words, need_text(command[i]));
}

void nodes_command(const struct job *job, const struct node *node, struct strings *words)
{
    remote_command(&job->options, node->target, "--agent", words);
}

/* --- sending ourselves --- */

char *remote_own_file(size_t *size)
{
    FILE *file = fopen("/proc/self/exe", "re");
    char *data;

    *size = (size_t)own_size();
    if (!file || !*size)
        return NULL;
    data = need(*size);
    if (fread(data, 1, *size, file) != *size) {
        mem_free(data);
        data = NULL;
    }
    fclose(file);
    return data;
}

bool remote_is_alike(const char *machine)
{
    struct utsname system;

    uname(&system);
    return !strcmp(machine, system.machine);
}
