/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Descriptors apart from the standard streams; connections. */
#include "sys/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
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

int descriptor_connected(int fd)
{
    struct sockaddr_storage own = { 0 }, other = { 0 };
    socklen_t own_size = sizeof own, other_size = sizeof other, size = sizeof(int);
    int error = 0;

    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size))
        return errno;
    if (error)
        return error;
    if (getsockname(fd, (struct sockaddr *)&own, &own_size) ||
        getpeername(fd, (struct sockaddr *)&other, &other_size))
        return errno;
    return memcmp(&own, &other, sizeof own) ? 0 : ECONNREFUSED;
}
