/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. Lines between keepers, while they have nothing else to do: one is read or written whole. */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/socket.h>

#include "p4/int_keeper.h"

bool line_read(int fd, char line[LINE_MAX_LEN], int seconds)
{
    struct pollfd wait = { .fd = fd, .events = POLLIN };

    for (int length = 0; length < LINE_MAX_LEN; length++) {
        if (poll(&wait, 1, seconds * 1000) <= 0 || read(fd, line + length, 1) != 1)
            return false;
        if (line[length] == '\n') {
            line[length] = 0;
            return true;
        }
    }
    return false;
}

bool line_write_args(int fd, const char *format, va_list args)
{
    char line[LINE_MAX_LEN];
    const int length = vsnprintf(line, sizeof line - 1, format, args);

    if (length < 0 || length >= (int)sizeof line - 1)
        return false;
    line[length] = '\n';
    return send(fd, line, (size_t)length + 1, MSG_NOSIGNAL) == length + 1;
}

bool line_write(int fd, const char *format, ...)
{
    va_list args;
    bool is_written;

    va_start(args, format);
    is_written = line_write_args(fd, format, args);
    va_end(args);
    return is_written;
}
