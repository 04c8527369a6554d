/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. SCM_RIGHTS. */
#include "sys/pass.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "sys/descriptor.h"

bool pass_send(int socket, int fd)
{
    char byte = 0, space[CMSG_SPACE(sizeof(int))] = { 0 };
    struct iovec part = { .iov_base = &byte, .iov_len = 1 };
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space
    };
    struct cmsghdr *carried = CMSG_FIRSTHDR(&message);

    carried->cmsg_level = SOL_SOCKET;
    carried->cmsg_type = SCM_RIGHTS;
    carried->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(carried), &fd, sizeof fd);
    return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

int pass_receive(int socket)
{
    char byte, space[CMSG_SPACE(sizeof(int))];
    struct iovec part = { .iov_base = &byte, .iov_len = 1 };
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space
    };
    const struct cmsghdr *carried;
    ssize_t got;
    int received;

    do /* where there is a limit to the wait, whatever signal comes ends it */
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    carried = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (!carried || carried->cmsg_type != SCM_RIGHTS) {
        if (got >= 0)
            errno = ECONNREFUSED;
        return -1;
    }
    memcpy(&received, CMSG_DATA(carried), sizeof received);
    return descriptor_apart(received);
}
