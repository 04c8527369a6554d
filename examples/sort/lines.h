/* SPDX-License-Identifier: BSD-3-Clause */
/* Example sort: lines of text in memory and in files. No communication. */
#ifndef SORT_LINES_H
#define SORT_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* A line; its newline stands behind it but does not count, so that order is that of `LC_ALL=C sort`. The
 * bytes belong to a `struct lines`. */
struct line {
    const char *at;
    size_t length;
};

/* Text and the lines in it. The lines may be in another order than the text. */
struct lines {
    char *text;
    size_t bytes;
    struct line *all;
    size_t count;
};

/* What stays the same however lines are ordered or divided; the parts of several ranks add up. */
struct checksum {
    unsigned long long count, bytes, hash;
};

int lines_compare(const void *a, const void *b);
void lines_sort(struct lines *l);
/* `all` consists of `runs` sorted runs, run i beginning at first[i], first[runs] == count: make one of
 * them. */
bool lines_merge(struct lines *l, const size_t *first, int runs);
bool lines_are_sorted(const struct lines *l);
struct checksum lines_checksum(const struct lines *l);
/* Find the lines in `text`, of which `l` becomes the owner. Text that does not end in a newline:
 * undefined. */
bool lines_split(struct lines *l, char *text, size_t bytes);
void lines_free(struct lines *l);

/* The lines of a file that begin in part `part` of `parts` equal parts of its bytes. A missing newline at
 * the end of the file is added. Returns false with errno set. */
bool lines_read(struct lines *l, const char *path, int part, int parts);
/* Write the lines in their order to a place in an existing file. Returns false with errno set. */
bool lines_write(const struct lines *l, const char *path, unsigned long long offset);
/* A file of `count` lines of made-up words, always the same. `path` ends in XXXXXX, as for mkstemp(). */
bool lines_generate(char *path, long count);

#endif
