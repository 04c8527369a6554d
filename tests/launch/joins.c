/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of different mpiexecs, or of none, that call MPI_Comm_join (ports_test.py):
 *
 *     joins listen FILE ROUNDS     each rank listens at a TCP port of this machine and leaves its number in FILE.RANK
 *     joins call FILE ROUNDS       connects there
 *
 * Each rank prints how many communicators it has got. The socket is used after each round. */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "meet.h"

static int listen_at(const char *path)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof at;
    const int server = socket(AF_INET, SOCK_STREAM, 0);
    char number[16];
    int fd;

    MUST(!bind(server, (struct sockaddr *)&at, sizeof at) && !listen(server, 1));
    MUST(!getsockname(server, (struct sockaddr *)&at, &size));
    snprintf(number, sizeof number, "%d", ntohs(at.sin_port));
    leave(path, number);
    fd = accept(server, NULL, NULL);
    close(server);
    return fd;
}

static int call(const char *path)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    char number[16];

    find(path, number, sizeof number);
    at.sin_port = htons((unsigned short)atoi(number));
    MUST(!connect(fd, (struct sockaddr *)&at, sizeof at));
    return fd;
}

static int join(int fd, int round, int is_listener)
{
    const int own = 10 * round + is_listener, theirs = 10 * round + !is_listener;
    unsigned char byte = (unsigned char)own, other;
    MPI_Comm inter;
    int size, got = -1;

    MPI_Comm_join(fd, &inter);
    if (inter != MPI_COMM_NULL) {
        MPI_Comm_remote_size(inter, &size);
        MUST(size == 1);
        MPI_Sendrecv(&own, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
        MUST(got == theirs);
    }
    MUST(write(fd, &byte, 1) == 1 && read(fd, &other, 1) == 1 && other == (unsigned char)theirs);
    if (inter == MPI_COMM_NULL)
        return 0;
    MPI_Comm_disconnect(&inter);
    return 1;
}

int main(int argc, char **argv)
{
    const int rounds = atoi(argv[3]), is_listener = !strcmp(argv[1], "listen");
    char path[4096];
    int fd, joined = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s.%d", argv[2], rank);
    fd = is_listener ? listen_at(path) : call(path);
    MUST(fd >= 0);
    for (int round = 0; round < rounds; round++)
        joined += join(fd, round, is_listener);
    close(fd);
    printf("%s %d: %d\n", argv[1], rank, joined);
    MPI_Finalize();
    return 0;
}
