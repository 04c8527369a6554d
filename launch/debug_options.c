/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: which tool the ranks run under, from the command line. What is done with it: debug.c. */
#include <stdlib.h>
#include <string.h>

#include "launch.h"
#include "options.h"

enum { PORT_DEFAULT = 20000 };

static bool is_name(const char *name, const char *wanted)
{
    const size_t length = strlen(wanted);

    return !strncmp(name, wanted, length) && (!name[length] || name[length] == '=');
}

static int read_port(const char *text)
{
    char *end;
    const long port = strtol(text, &end, 10);

    if (end == text || *end || port < 1 || port > DEBUG_PORT_MAX)
        die(EXIT_USAGE, "E0101: --gdbserver=%s: a port from 1 to %d is needed", text, DEBUG_PORT_MAX);
    return (int)port;
}

static void add_words(struct strings *words, const char *text)
{
    options_split(need_text(text), words);
}

static void set_tool(struct debug *debug, enum debug_tool tool)
{
    if (debug->tool != DEBUG_NONE)
        die(EXIT_USAGE, "E0101: only one of --gdb, --gdbserver, --valgrind and --wrap at a time");
    debug->tool = tool;
}

void debug_option(struct debug *debug, const char *name, const char *value)
{
    if (is_name(name, "tool-ranks")) {
        debug->ranks = value;
    } else if (is_name(name, "gdb")) {
        set_tool(debug, DEBUG_GDB);
        if (value)
            debug->ranks = value;
    } else if (is_name(name, "gdbserver")) {
        set_tool(debug, DEBUG_GDBSERVER);
        debug->port = value ? read_port(value) : PORT_DEFAULT;
    } else if (is_name(name, "valgrind")) {
        set_tool(debug, DEBUG_VALGRIND);
        strings_add(&debug->words, "valgrind");
        add_words(&debug->words, value ? value : "");
    } else {
        set_tool(debug, DEBUG_WRAP);
        add_words(&debug->words, value);
        if (debug->words.count == 0)
            die(EXIT_USAGE, "E0101: --wrap: a command is needed");
    }
}
