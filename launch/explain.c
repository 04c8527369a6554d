/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec --explain [ID]: what a message means. */
#include "explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"

enum { WIDTH = 78 };

/* One paragraph, in lines of at most WIDTH. */
static void print_paragraph(const char *text, size_t length)
{
    size_t column = 0;

    while (length > 0) {
        const char *blank = memchr(text, ' ', length);
        const size_t word = blank ? (size_t)(blank - text) : length;
        if (column > 0 && column + 1 + word > WIDTH) {
            putchar('\n');
            column = 0;
        } else if (column > 0) {
            putchar(' ');
            column++;
        }
        fwrite(text, 1, word, stdout);
        column += word;
        text += word + (blank != NULL);
        length -= word + (blank != NULL);
    }
    putchar('\n');
}

static void explain(const struct explanation *e)
{
    printf("E%04d: %s\n", e->id, e->cause);
    for (const char *at = e->text; *at;) {
        const size_t length = strcspn(at, "\n");
        putchar('\n');
        print_paragraph(at, length);
        at += length + (at[length] == '\n');
    }
    if (e->remedy)
        printf("\nWhat to do: %s.\n", e->remedy);
    printf("\n(since version %s)\n", e->since);
}

static void list_all(void)
{
    for (int i = 0; i < explanation_count; i++)
        printf("E%04d  %s\n", explanations[i].id, explanations[i].cause);
}

/* "E0215", "e215", "215". */
static const struct explanation *find(const char *text)
{
    const char *digits = text + (*text == 'E' || *text == 'e');
    char *end;
    const long id = strtol(digits, &end, 10);

    for (int i = 0; i < explanation_count && end > digits && !*end; i++)
        if (explanations[i].id == id)
            return &explanations[i];
    return NULL;
}

void explain_if_asked(char **argv)
{
    const char *option = argv[1] ? argv[1] + (argv[1][0] == '-') + !strncmp(argv[1], "--", 2) : "", *id;
    const struct explanation *found;

    if (option == argv[1] || strncmp(option, "explain", 7) != 0 || (option[7] && option[7] != '='))
        return;
    id = option[7] ? option + 8 : argv[2];
    if (!id) {
        list_all();
        exit(0);
    }
    found = find(id);
    if (!found)
        die(EXIT_USAGE, "E0101: --explain %s: there is no such message; --explain alone lists all", id);
    explain(found);
    exit(0);
}
