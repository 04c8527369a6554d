/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: words from files. -configfile (MPI 5.0 §11.5, form B): each line is what stands between two colons
 * on the command line; lines that begin with '#' are comments; a line that ends in a backslash goes on in the
 * next one; a colon is an argument like any other. Quotes and backslashes protect blanks, as in a shell. -file
 * (which the standard leaves to us): options for the program that follows, on as many lines as one likes. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "launch.h"

void options_split(char *line, struct strings *words)
{
    char *from = line, *to;
    char quote;

    from += strspn(from, " \t");
    if (*from == '#')
        return;
    for (;;) {
        from += strspn(from, " \t\r\n");
        if (!*from)
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
            die(EXIT_USAGE, "E0101: a quote is open at the end of a line of the file: %s",
                words->at[words->count - 1]);
        from += *from != 0;
        *to = 0;
    }
}

/* A backslash and the end of a line become a blank. */
static void join_lines(char *text)
{
    char *to = text;

    for (char *at = text; *at;) {
        if (at[0] == '\\' && (at[1] == '\n' || (at[1] == '\r' && at[2] == '\n'))) {
            at += at[1] == '\n' ? 2 : 3;
            *to++ = ' ';
        } else {
            *to++ = *at++;
        }
    }
    *to = 0;
}

/* A whole file as one string, which lives as long as the options that point into it. */
static char *read_text(struct reader *reader, const char *name, const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t room = 0;
    ssize_t length;

    if (!file)
        die(EXIT_USAGE, "E0101: -%s %s: %s", name, path, strerror(errno));
    errno = 0;
    length = getdelim(&text, &room, 0, file);
    if (length < 0)
        die(EXIT_USAGE, "E0101: -%s %s: %s", name, path, errno ? strerror(errno) : "nothing is in it");
    if (text[length - 1] == 0)
        die(EXIT_USAGE, "E0101: -%s %s: this is not a text", name, path);
    fclose(file);
    strings_add(&reader->options->kept, text);
    return text;
}

/* The next line, comments left out and continued ones joined; NULL: there is none. */
static char *next_line(char **rest)
{
    char *line = *rest, *end;

    while (line && *line == '#')
        line = (line = strchr(line, '\n')) ? line + 1 : NULL;
    if (!line) {
        *rest = NULL;
        return NULL;
    }
    for (end = strchr(line, '\n'); end; end = strchr(end + 1, '\n'))
        if (end == line || (end[-1] != '\\' && !(end - line > 1 && end[-1] == '\r' && end[-2] == '\\')))
            break;
    *rest = end ? end + 1 : NULL;
    if (end)
        *end = 0;
    join_lines(line);
    return line;
}

void options_apply_config(struct reader *reader, const char *name, char **values)
{
    char *rest;

    if (reader->is_in_config || reader->is_in_file)
        die(EXIT_USAGE, "E0101: -%s %s: not inside a file", name, values[0]);
    rest = read_text(reader, name, values[0]);
    reader->options->app_count--; /* the block that holds -configfile is none itself */
    reader->has_config = true;
    for (char *line; (line = next_line(&rest));) {
        struct reader inner = {
            .options = reader->options,
            .is_in_config = true,
            .per_node = reader->per_node,
            .nodes = reader->nodes,
            .nodes_are_hosts = reader->nodes_are_hosts,
        };
        struct strings words = { 0 };
        options_split(line, &words);
        if (words.count == 0)
            continue; /* an empty list owns nothing */
        inner.at = words.at;
        options_read_blocks(&inner);
        mem_free(words.at); /* the words themselves lie in the text */
    }
    if (reader->options->app_count == 0)
        die(EXIT_USAGE, "E0101: -%s %s: no program is in it", name, values[0]);
    options_begin_app(reader); /* for the options that may still follow */
}

void options_apply_file(struct reader *reader, const char *name, char **values)
{
    char **const after = reader->at;
    struct strings words = { 0 };
    char *rest;

    if (reader->is_in_file)
        die(EXIT_USAGE, "E0101: -%s %s: not inside such a file", name, values[0]);
    reader->app->file = values[0];
    rest = read_text(reader, name, values[0]);
    for (char *line; (line = next_line(&rest));)
        options_split(line, &words);
    if (words.count == 0)
        return;
    reader->at = words.at;
    reader->is_in_file = true;
    options_read_options(reader);
    if (*reader->at)
        die(EXIT_USAGE, "E0101: -%s %s: only options may stand in it, not '%s'", name, values[0],
            *reader->at);
    reader->is_in_file = false;
    reader->at = after;
    mem_free(words.at);
}
