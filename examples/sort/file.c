/* SPDX-License-Identifier: BSD-3-Clause */
/* Example sort: lines from a file and to a file. Every rank reads and writes its own part. See lines.h. */
#include "lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 16 };

/* First position at or after `at` where a line begins; `size` if there is none. Negative: error. */
static off_t next_line(int fd, off_t size, off_t at)
{
    char chunk[CHUNK];

    if (at == 0)
        return 0;
    for (at--; at < size;) {
        const ssize_t got = pread(fd, chunk, sizeof chunk, at);
        const char *found;

        if (got < 0)
            return -1;
        if (got == 0)
            break;
        found = memchr(chunk, '\n', (size_t)got);
        if (found)
            return at + (found - chunk) + 1;
        at += got;
    }
    return size;
}

static bool read_all(int fd, char *text, size_t bytes, off_t at)
{
    while (bytes) {
        const ssize_t got = pread(fd, text, bytes, at);

        if (got == 0)
            errno = EIO;
        if (got <= 0)
            return false;
        text += got;
        bytes -= (size_t)got;
        at += got;
    }
    return true;
}

static bool read_part(int fd, struct lines *l, int part, int parts)
{
    struct stat file;
    off_t begin, end;
    char *text;
    size_t bytes;

    if (fstat(fd, &file))
        return false;
    begin = next_line(fd, file.st_size, file.st_size / parts * part);
    end = part == parts - 1 ? file.st_size : next_line(fd, file.st_size, file.st_size / parts * (part + 1));
    if (begin < 0 || end < 0)
        return false;
    bytes = end > begin ? (size_t)(end - begin) : 0;
    text = malloc(bytes + 1);
    if (!text)
        return false;
    if (!read_all(fd, text, bytes, begin)) {
        free(text);
        return false;
    }
    if (bytes && text[bytes - 1] != '\n')
        text[bytes++] = '\n';
    return lines_split(l, text, bytes);
}

bool lines_read(struct lines *l, const char *path, int part, int parts)
{
    const int fd = open(path, O_RDONLY);
    bool is_read;

    *l = (struct lines){ 0 };
    if (fd < 0)
        return false;
    is_read = read_part(fd, l, part, parts);
    close(fd);
    return is_read;
}

static bool write_all(int fd, const char *text, size_t bytes, off_t at)
{
    while (bytes) {
        const ssize_t put = pwrite(fd, text, bytes, at);

        if (put < 0)
            return false;
        text += put;
        bytes -= (size_t)put;
        at += put;
    }
    return true;
}

bool lines_write(const struct lines *l, const char *path, unsigned long long offset)
{
    const int fd = open(path, O_WRONLY);
    char *text = malloc(l->bytes + 1), *end = text;
    bool is_written = false;

    if (fd >= 0 && text) {
        for (size_t i = 0; i < l->count; i++) {
            memcpy(end, l->all[i].at, l->all[i].length + 1);
            end += l->all[i].length + 1;
        }
        is_written = write_all(fd, text, (size_t)(end - text), (off_t)offset);
    }
    free(text);
    if (fd >= 0 && close(fd))
        return false;
    return is_written;
}

static void write_words(FILE *file, long count)
{
    static const char *const syllables[] = { "an",  "be", "co", "du", "el", "fi",  "gra", "ho",
                                             "in",  "ju", "ka", "lo", "mi", "nor", "or",  "pe",
                                             "qua", "ri", "so", "tu", "ur", "ver", "wi",  "zu" };
    unsigned long long random = 88172645463325252u;

    for (long i = 0; i < count; i++) {
        int parts;

        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        parts = 2 + (int)(random >> 60);
        for (int p = 0; p < parts; p++) {
            if (p && p % 3 == 0)
                fputc(' ', file);
            fputs(syllables[(random >> (3 * p)) % (sizeof syllables / sizeof *syllables)], file);
        }
        fputc('\n', file);
    }
}

bool lines_generate(char *path, long count)
{
    const int fd = mkstemp(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

    if (!file)
        return false;
    write_words(file, count);
    return fclose(file) == 0;
}
