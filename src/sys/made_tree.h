/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. For unit tests: a machine made of files that stand for /sys, below a folder of its own. */
#ifndef SYS_MADE_TREE_H
#define SYS_MADE_TREE_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/base.h"

/* Write a line into ROOT/sys/devices/system/… and make the folders on the way. */
static inline void made_tree_put(const char *root, const char *text, const char *format, ...) PRINTF_LIKE(3, 4);

static inline void made_tree_put(const char *root, const char *text, const char *format, ...)
{
    char path[256];
    const int length = snprintf(path, sizeof path, "%s/sys/devices/system/", root);
    va_list args;
    int file;

    va_start(args, format);
    vsnprintf(path + length, sizeof path - (size_t)length, format, args);
    va_end(args);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        mkdir(path, 0777);
        *at = '/';
    }
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    CHECK(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text) && write(file, "\n", 1) == 1);
    close(file);
}

/* Remove all that lies below ROOT, or a folder in it ("/sys"). */
static inline void made_tree_remove(const char *root, const char *below)
{
    char line[128];

    snprintf(line, sizeof line, "rm -rf %s%s", root, below);
    CHECK(system(line) == 0);
}

#endif
