/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of broken connections between machines. */
#ifndef CUT_H
#define CUT_H

#include <sys/socket.h>
#include <sys/types.h>

#include "mpitest.h"

/* Breaks all connections of this process that are not to its own machine alone, by the system's means; how many. */
static inline int shut_connections(void)
{
    int count = 0;

    for (int fd = 3; fd < 1024; fd++) {
        struct sockaddr_storage peer;
        socklen_t size = sizeof peer;
        if (getpeername(fd, (struct sockaddr *)&peer, &size) || peer.ss_family == AF_UNIX)
            continue;
        count += !shutdown(fd, SHUT_RDWR);
    }
    return count;
}

/* The call has ended with an error that names a process. */
static inline void check_lost(int rc, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;

    CHECK(rc != MPI_SUCCESS, "%s succeeds", what);
    CHECK_OK(MPI_Error_string(rc, text, &length));
    CHECK(strstr(text, "process"), "%s says \"%s\"", what, text);
}

#endif
