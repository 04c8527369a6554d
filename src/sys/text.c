/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Reading small files with nothing but open, read and close. */
#include "sys/text.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

bool text_read(const char *path, char *text, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    ssize_t got = 0;

    *text = 0;
    if (fd < 0)
        return false;
    while (length + 1 < size && ((got = read(fd, text + length, size - 1 - length)) > 0 || (got < 0 && errno == EINTR)))
        length += got > 0 ? (size_t)got : 0;
    text[length] = 0;
    close(fd);
    return got >= 0;
}
