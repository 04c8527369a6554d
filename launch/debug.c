/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: ranks under a tool: --gdb, --gdbserver, --valgrind, --wrap. The tool's words are put before those of the
 * program, so the process we start is the tool, and the MPI process is that process later (valgrind) or its child
 * (gdb). Where gdb talks to people:
 *
 *   one rank in all           it has our terminal or whatever our stdin is
 *   in a tmux session         a pane for each rank
 *   DISPLAY, and an xterm     a window for each rank
 *   otherwise                 the merged console (console.c) */
#include "launch.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

/* The rank's process is this shell. The pane's gdb finds the job by its environment, and mpiexec by its address. */
static const char tmux_script[] =
    "d=$(mktemp -d) || exit 125; trap 'tmux kill-pane -t $pane 2>/dev/null; rm -rf $d' EXIT\n"
    "trap 'exit 143' TERM HUP INT\n"
    "q() { for a; do printf \" '\"; printf %s \"$a\" | sed \"s/'/'\\\\\\\\''/g\"; printf \"'\"; done; }\n"
    "{ export -p; printf cd; q \"$PWD\"; printf '\\n'; q \"$@\"\n"
    "printf '\\necho $? >%s/code\\ntmux wait-for -S parley-%s\\n' $d $$; } >$d/run\n"
    "pane=$(tmux split-window -d -P -F '#{pane_id}' \"sh $d/run\") || exit 125\n"
    "tmux select-layout tiled; tmux select-pane -t $pane -T \"rank $PARLEY_RANK\"\n"
    "tmux wait-for parley-$$; read -r code <$d/code; exit $code\n";

/* Mark the ranks of "0,2-4". */
static void mark_ranks(struct job *job, const char *list)
{
    const char *at = list;

    while (*at) {
        char *end;
        const long first = strtol(at, &end, 10);
        long last = first;

        if (end != at && *end == '-') {
            at = end + 1;
            last = strtol(at, &end, 10);
        }
        if (end == at || (*end && *end != ',') || first < 0 || last < first || last >= job->size)
            die(EXIT_USAGE, "E0101: ranks '%s': a list such as 0,2-4 of ranks below %d is needed", list, job->size);
        for (long rank = first; rank <= last; rank++)
            job->ranks[rank].has_tool = true;
        at = end + (*end == ',');
    }
}

static char *find_tool(struct job *job, const char *name, const char *option)
{
    char *found = strchr(name, '/') ? (char *)(uintptr_t)name : program_search(&job->options.apps[0], name);

    if (!found)
        die(EXIT_NOT_FOUND, "E0103: there is no program %s in PATH, and --%s needs it\ninstall it (Debian: "
            "apt-get install %s), or set PATH", name, option, name);
    return found;
}

static enum debug_place choose_place(struct job *job, int marked)
{
    const bool is_people = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);

    if (job->size == 1)
        return DEBUG_HERE;
    if (is_people && getenv("TMUX") && program_search(&job->options.apps[0], "tmux"))
        return DEBUG_TMUX;
    if (is_people && getenv("DISPLAY") && program_search(&job->options.apps[0], "xterm"))
        return DEBUG_XTERM;
    return marked ? DEBUG_CONSOLE : DEBUG_HERE;
}

/* The commands for gdb that come with us: in an installation, or in a build folder. */
static void find_script(struct debug *debug)
{
    static const char *const places[] = { "/../share/parley/gdb/parley.py", "/../tools/parley.py" };

    debug->script = need(OWN_FILE_SIZE);
    if (own_file(places, ARRAY_LEN(places), debug->script))
        return;
    mem_free(debug->script);
    debug->script = NULL;
}

void debug_prepare(struct job *job)
{
    struct debug *debug = &job->options.debug;
    int marked = 0;

    if (debug->tool == DEBUG_NONE)
        return;
    for (int i = 0; i < job->size && !debug->ranks; i++)
        job->ranks[i].has_tool = true;
    if (debug->ranks)
        mark_ranks(job, debug->ranks);
    for (int i = 0; i < job->size; i++)
        marked += job->ranks[i].has_tool;
    if (debug->tool == DEBUG_GDB) {
        debug->program = find_tool(job, "gdb", "gdb");
        debug->place = choose_place(job, marked);
        if (debug->place == DEBUG_XTERM)
            debug->xterm = find_tool(job, "xterm", "gdb");
        find_script(debug);
    } else if (debug->tool == DEBUG_GDBSERVER) {
        debug->program = find_tool(job, "gdbserver", "gdbserver");
        if (debug->port + job->size - 1 > DEBUG_PORT_MAX)
            die(EXIT_USAGE, "E0101: --gdbserver=%d: %d ranks need ports up to %d, the last one is %d", debug->port,
                job->size, debug->port + job->size - 1, DEBUG_PORT_MAX);
    } else {
        debug->program = find_tool(job, debug->words.at[0], debug->tool == DEBUG_WRAP ? "wrap" : "valgrind");
        job->options.label |= debug->tool == DEBUG_VALGRIND && job->size > 1;
    }
}

bool debug_has_people(const struct job *job, int rank)
{
    return job->options.debug.tool == DEBUG_GDB && job->ranks[rank].has_tool;
}

bool debug_takes_interrupt(const struct job *job)
{
    return job->options.debug.tool == DEBUG_GDB;
}

bool debug_has_console(const struct job *job, int rank)
{
    return debug_has_people(job, rank) && job->options.debug.place == DEBUG_CONSOLE;
}

static char *formatted(const char *format, ...)
{
    va_list args;
    char *text = NULL;

    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        die(EXIT_SYSTEM, "E0106: no memory for a command line");
    va_end(args);
    return text;
}

/* Words in front of the program; those of gdb in the place where it is to talk. */
static void add_gdb(struct strings *words, const struct debug *debug, int rank)
{
    if (debug->place == DEBUG_TMUX) {
        strings_add(words, "sh");
        strings_add(words, "-c");
        strings_add(words, (char *)(uintptr_t)tmux_script);
        strings_add(words, "parley");
    } else if (debug->place == DEBUG_XTERM) {
        strings_add(words, "xterm");
        strings_add(words, "-T");
        strings_add(words, formatted("rank %d", rank));
        strings_add(words, "-e");
    }
    strings_add(words, debug->program);
    strings_add(words, "-q");
    if (debug->place == DEBUG_CONSOLE)
        console_add_words(words);
    if (debug->script) {
        strings_add(words, "-x");
        strings_add(words, debug->script);
    }
    strings_add(words, "--args");
}

static const char *program_to_run(const struct debug *debug)
{
    if (debug->tool != DEBUG_GDB || debug->place == DEBUG_HERE || debug->place == DEBUG_CONSOLE)
        return debug->program;
    return debug->place == DEBUG_TMUX ? "/bin/sh" : debug->xterm;
}

void debug_wrap(struct job *job, int rank, char ***argv, const char **program)
{
    const struct debug *debug = &job->options.debug;
    const struct app *app = job->ranks[rank].app;
    struct strings *words = &job->ranks[rank].words;

    if (!job->ranks[rank].has_tool)
        return;
    if (debug->tool == DEBUG_GDB) {
        add_gdb(words, debug, rank);
    } else if (debug->tool == DEBUG_GDBSERVER) {
        strings_add(words, "gdbserver");
        strings_add(words, "--once");
        strings_add(words, formatted("localhost:%d", debug->port + rank));
    }
    for (size_t i = 0; i < debug->words.count; i++)
        strings_add(words, debug->words.at[i]);
    strings_add(words, app->program);
    for (size_t i = 1; i < app->argv.count; i++)
        strings_add(words, app->argv.at[i]);
    *argv = words->at;
    *program = program_to_run(debug);
}

static void announce(struct job *job, const char *format)
{
    const struct debug *debug = &job->options.debug;

    for (int i = 0; i < job->size; i++) {
        const struct app *app = job->ranks[i].app;
        char *full, *text;

        if (!job->ranks[i].has_tool)
            continue;
        full = realpath(app->program, NULL); /* NULL: it is relative to another working directory */
        text = formatted(format, i, full ? full : app->program, debug->port + i);
        forward_print(job, text);
        free(text);
        free(full);
    }
}

void debug_announce(struct job *job)
{
    if (job->options.debug.tool != DEBUG_GDBSERVER || job->options.quiet)
        return;
    announce(job, "parley: rank %d: gdb %s -ex 'target remote localhost:%d'\n");
    forward_print(job, "parley: VS Code, in the configurations of launch.json:\n");
    announce(job, "  {\"name\": \"rank %d\", \"type\": \"cppdbg\", \"request\": \"launch\", \"program\": \"%s\", "
                  "\"cwd\": \"${workspaceFolder}\", \"MIMode\": \"gdb\", "
                  "\"miDebuggerServerAddress\": \"localhost:%d\"},\n");
}
