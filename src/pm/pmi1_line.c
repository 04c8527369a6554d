/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: pm. What stands in a line of PMI-1: pairs key=value between blanks, the first of them cmd=. Lines come from
 * outside; nothing in them is believed before it is checked. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pm/int_pm.h"

bool pmi1_value(const char *line, const char *key, char *value, size_t size)
{
    const size_t key_length = strlen(key);

    while (*line) {
        const size_t length = strcspn(line, " \t\r\n");
        if (length > key_length && line[key_length] == '=' && !strncmp(line, key, key_length)) {
            const size_t value_length = length - key_length - 1;
            if (value_length >= size)
                return false;
            memcpy(value, line + key_length + 1, value_length);
            value[value_length] = 0;
            return true;
        }
        line += length;
        line += strspn(line, " \t\r\n");
    }
    return false;
}

bool pmi1_number(const char *line, const char *key, int *number)
{
    char text[16], *end;
    long value;

    if (!pmi1_value(line, key, text, sizeof text) || !*text)
        return false;
    errno = 0;
    value = strtol(text, &end, 10);
    if (*end || errno || value != (int)value)
        return false;
    *number = (int)value;
    return true;
}

/* A number of at least `least` and what must follow it; NULL: something else is there. */
static const char *take_number(const char *at, long least, char follows, int *number)
{
    char *end;
    long value;

    if (*at < '0' || *at > '9')
        return NULL;
    errno = 0;
    value = strtol(at, &end, 10);
    if (errno || value < least || value != (int)value || *end != follows)
        return NULL;
    *number = (int)value;
    return end + 1;
}

/* "(node,nodes,ranks)": goes on with *rank, never over `size`. What follows it; NULL: something else is there. */
static const char *take_block(const char *at, int *node, int size, int *rank)
{
    int first, nodes, ranks;

    if (*at != '(' || !(at = take_number(at + 1, 0, ',', &first)) || !(at = take_number(at, 1, ',', &nodes)) ||
        !(at = take_number(at, 1, ')', &ranks)))
        return NULL;
    for (int i = 0; i < nodes && *rank < size; i++)
        for (int k = 0; k < ranks && *rank < size; k++)
            node[(*rank)++] = (int)((unsigned)first + (unsigned)i);
    return at;
}

bool pmi1_mapping(const char *text, int *node, int size)
{
    static const char start[] = "(vector";
    int rank = 0;

    if (strncmp(text, start, sizeof start - 1) != 0)
        return false;
    while (rank < size) {
        const char *at = text + sizeof start - 1;
        do {
            if (*at != ',' || !(at = take_block(at + 1, node, size, &rank)))
                return false;
        } while (*at != ')');
        if (at[1])
            return false;
    }
    return true;
}
