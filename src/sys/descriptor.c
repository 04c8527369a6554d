/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Descriptors apart from the standard streams. */
#include "sys/descriptor.h"

#include <fcntl.h>
#include <unistd.h>

int descriptor_apart(int fd)
{
    int apart;

    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    apart = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (apart < 0)
        return fd;
    close(fd);
    return apart;
}
