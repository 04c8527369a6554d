/* SPDX-License-Identifier: BSD-3-Clause */
/* Example sort: sorting, merging, splitting, counting lines. See lines.h. */
#include "lines.h"

#include <stdlib.h>
#include <string.h>

int lines_compare(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    const size_t common = x->length < y->length ? x->length : y->length;
    const int order = memcmp(x->at, y->at, common);

    return order ? order : (x->length > y->length) - (x->length < y->length);
}

void lines_sort(struct lines *l)
{
    if (l->count)
        qsort(l->all, l->count, sizeof *l->all, lines_compare);
}

static void merge_two(const struct line *a, const struct line *a_end, const struct line *b_end,
                      struct line *out)
{
    const struct line *b = a_end;

    while (a < a_end && b < b_end)
        *out++ = lines_compare(a, b) <= 0 ? *a++ : *b++;
    while (a < a_end)
        *out++ = *a++;
    while (b < b_end)
        *out++ = *b++;
}

/* Pairs of neighbouring runs become one, until one is left: log(runs) passes over the lines. */
bool lines_merge(struct lines *l, const size_t *first, int runs)
{
    struct line *from = l->all, *to = malloc((l->count + 1) * sizeof *to);

    if (!to)
        return false;
    for (int width = 1; width < runs; width *= 2) {
        struct line *swap = from;

        for (int run = 0; run < runs; run += 2 * width) {
            const int middle = run + width < runs ? run + width : runs;
            const int end = run + 2 * width < runs ? run + 2 * width : runs;

            merge_two(from + first[run], from + first[middle], from + first[end], to + first[run]);
        }
        from = to;
        to = swap;
    }
    l->all = from;
    free(to);
    return true;
}

bool lines_are_sorted(const struct lines *l)
{
    for (size_t i = 1; i < l->count; i++)
        if (lines_compare(&l->all[i - 1], &l->all[i]) > 0)
            return false;
    return true;
}

static unsigned long long hash_line(const struct line *line)
{
    unsigned long long hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < line->length; i++)
        hash = (hash ^ (unsigned char)line->at[i]) * 0x100000001b3u;
    hash ^= hash >> 29;
    return hash * 0xbf58476d1ce4e5b9u;
}

struct checksum lines_checksum(const struct lines *l)
{
    struct checksum sum = { .count = l->count };

    for (size_t i = 0; i < l->count; i++) {
        sum.bytes += l->all[i].length + 1;
        sum.hash += hash_line(&l->all[i]);
    }
    return sum;
}

bool lines_split(struct lines *l, char *text, size_t bytes)
{
    size_t count = 0, line = 0;

    for (const char *at = text; at < text + bytes; count++)
        at = (const char *)memchr(at, '\n', (size_t)(text + bytes - at)) + 1;
    *l = (struct lines){ text, bytes, malloc((count + 1) * sizeof *l->all), count };
    if (!l->all)
        return false;
    for (const char *at = text; at < text + bytes; line++) {
        const char *end = memchr(at, '\n', (size_t)(text + bytes - at));

        l->all[line] = (struct line){ at, (size_t)(end - at) };
        at = end + 1;
    }
    return true;
}

void lines_free(struct lines *l)
{
    free(l->text);
    free(l->all);
    *l = (struct lines){ 0 };
}
