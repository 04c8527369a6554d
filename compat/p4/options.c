/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. The command line: names, values, help. What options mean is elsewhere. */
#include <stdlib.h>
#include <string.h>

#include "p4/int_start.h"

struct p4_options options;

enum kind { TEXT, NUMBER, FLAG, IGNORED, VERSION, HELP };

static const struct option {
    const char *name; /* without -p4 */
    const char *value, *help;
    enum kind kind;
    void *variable;
    bool has_old_name; /* also without p4 in front, if P4_OLD_OPTIONS=1 */
} table[] = {
    { "pg", "FILE", "procgroup file", TEXT, &options.procgroup, true },
    { "dbg", "N", "debug level of the master's cluster", NUMBER, &p4_own.debug_level, true },
    { "rdbg", "N", "debug level of the other clusters", NUMBER, &options.remote_debug_level, true },
    { "gm", "BYTES", "size of the shared memory of a cluster", TEXT, &options.arena, true },
    { "wd", "DIR", "working directory", TEXT, &options.directory, false },
    { "dmn", "DOMAIN", "domain of host names without one", TEXT, &options.domain, false },
    { "out", "FILE", "output of the master", TEXT, &options.out, false },
    { "rout", "FILE", "output of the other clusters", TEXT, &options.remote_out, false },
    { "ssport", "PORT", "ignored", IGNORED, NULL, false },
    { "norem", NULL, "print the commands that start other clusters, and wait for them", FLAG, &options.print_remotes,
      false },
    { "log", NULL, "ignored", IGNORED, NULL, false },
    { "sctrl", "STRING", "ignored", IGNORED, NULL, false },
    { "version", NULL, "print the version and go on", VERSION, NULL, false },
    { "help", NULL, "print this and end", HELP, NULL, false },
};

static _Noreturn void usage(FILE *to)
{
    fprintf(to, "options of p4:\n");
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        char shown[40];
        snprintf(shown, sizeof shown, "-p4%s %s", table[i].name, table[i].value ? table[i].value : "");
        fprintf(to, "  %-16s %s\n", shown, table[i].help);
    }
    fflush(to);
    exit(255);
}

static bool has_old_options(void)
{
    const char *text = getenv("P4_OLD_OPTIONS");

    return text && *text == '1';
}

static const struct option *find(const char *arg)
{
    const bool is_new = !strncmp(arg, "-p4", 3);

    if (*arg != '-' || (!is_new && !has_old_options()))
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (!strcmp(arg + (is_new ? 3 : 1), table[i].name) && (is_new || table[i].has_old_name))
            return &table[i];
    }
    return NULL;
}

static void apply(const struct option *option, const char *value)
{
    char *end;

    switch (option->kind) {
    case TEXT: *(const char **)option->variable = value; break;
    case NUMBER:
        *(int *)option->variable = (int)strtol(value, &end, 10);
        if (*end || end == value) {
            fprintf(stderr, "p4: -p4%s %s: that is no number\n", option->name, value);
            usage(stderr);
        }
        break;
    case FLAG: *(bool *)option->variable = true; break;
    case VERSION: printf("p4 %s on %s, by Parley\n", p4_version(), p4_machine_type()); break;
    case HELP: usage(stdout);
    case IGNORED: break;
    }
}

void options_take(int *argc, char **argv)
{
    int kept = 0;

    for (int i = 0; i < *argc; i++) {
        const struct option *option = i ? find(argv[i]) : NULL;
        if (!option) {
            argv[kept++] = argv[i];
            continue;
        }
        if (option->value && (i + 1 == *argc || argv[i + 1][0] == '-')) {
            fprintf(stderr, "p4: %s needs a value: %s\n", argv[i], option->value);
            usage(stderr);
        }
        apply(option, option->value ? argv[++i] : NULL);
    }
    *argc = kept;
    argv[kept] = NULL;
}
