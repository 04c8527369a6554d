/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: host files, in the forms of Open MPI (NAME slots=4 max_slots=8), of Hydra (NAME:4 user=U), of LAM and PVM
 * (NAME cpu=2) and of Sun Grid Engine (NAME 4 QUEUE CPUS). */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hosts.h"
#include "launch.h"

/* Editors of other systems put it in front of a text. */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

enum { FROM_SIZE = 512 };

/* What a line says besides the name. */
struct line {
    int slots, max_slots;
    char *user;
};

/* Cut the next word off: it ends at a blank or an equals sign. */
static char *next_word(char **rest)
{
    char *word = *rest + strspn(*rest, " \t\r\n="), *end = word + strcspn(word, " \t\r\n=");

    *rest = *end ? end + 1 : end;
    *end = 0;
    return *word ? word : NULL;
}

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (!strcmp(word, *words))
            return true;
    return false;
}

static int number_of(const char *from, const char *word, const char *text)
{
    char *end;
    const long number = text ? strtol(text, &end, 10) : -1;

    if (number < 0 || *end || !isdigit((unsigned char)*text) || number > HOSTS_MAX_SLOTS)
        die(EXIT_USAGE, "E0101: %s: %s %s: a whole number up to %d is needed", from, word, text ? text : "",
            HOSTS_MAX_SLOTS);
    return (int)number;
}

/* The words behind the name. Words of others that mean nothing to us have a value, or stand in SGE's columns. */
static void read_words(const char *from, char *rest, struct line *line)
{
    static const char *const slots[] = { "slots", "cpu", "cpus", "np", "count", NULL };
    static const char *const most[] = { "max_slots", "max-slots", "slots_max", "slots-max", NULL };
    static const char *const users[] = { "user", "username", "user_name", NULL };
    static const char *const ignored[] = { "binding", "bindto", "ifname", "rack", "pool", "arch", "port", "boards",
                                           "sockets", "cores", "schedule", "speed", NULL };

    for (char *word; (word = next_word(&rest));) {
        if (is_one_of(word, slots)) {
            line->slots = number_of(from, word, next_word(&rest));
        } else if (is_one_of(word, most)) {
            line->max_slots = number_of(from, word, next_word(&rest));
        } else if (is_one_of(word, users)) {
            line->user = next_word(&rest);
        } else if (isdigit((unsigned char)*word)) {
            line->slots = number_of(from, "slots", word);
            return; /* the other columns of SGE */
        } else if (!is_one_of(word, ignored)) {
            die(EXIT_USAGE, "E0101: %s: '%s' is not known here\nknown are slots=N, max_slots=N and user=NAME", from,
                word);
        } else {
            next_word(&rest);
        }
    }
    if (line->slots == HOSTS_NO_SLOTS && line->max_slots)
        line->slots = line->max_slots;
}

static void read_line(struct hosts *hosts, const char *from, char *text)
{
    struct line line = { .slots = HOSTS_NO_SLOTS };
    struct hosts named = { 0 };
    size_t length;

    text[strcspn(text, "#")] = 0;
    text += strspn(text, " \t\r\n");
    length = strcspn(text, " \t\r\n");
    if (!length)
        return;
    read_words(from, text + length, &line);
    hosts_add_word(&named, from, text, length, line.slots, line.max_slots);
    for (int i = 0; i < named.count; i++) {
        if (line.user && !named.at[i].user)
            named.at[i].user = need_text(line.user);
        hosts_add(hosts, &named.at[i]);
    }
}

void hosts_add_file(struct hosts *hosts, const char *option, const char *path)
{
    FILE *file = fopen(path, "re");
    char *line = NULL, from[FROM_SIZE];
    size_t room = 0;

    if (!file)
        die(EXIT_USAGE, "E0101: %s %s: %s", option, path, strerror(errno));
    for (int number = 1; getline(&line, &room, file) >= 0; number++) {
        const bool has_mark = number == 1 && !strncmp(line, BYTE_ORDER_MARK, sizeof BYTE_ORDER_MARK - 1);
        snprintf(from, sizeof from, "%s %s, line %d", option, path, number);
        read_line(hosts, from, has_mark ? line + sizeof BYTE_ORDER_MARK - 1 : line);
    }
    if (ferror(file)) /* a directory, for one */
        die(EXIT_USAGE, "E0101: %s %s: %s", option, path, strerror(errno));
    free(line);
    fclose(file);
}
