/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.10.5: MPI_Comm_join connects two processes that have a socket, which they can go on using; what is no
 * connected socket is an error. */
#include "mpitest.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static int open_server(int *port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    CHECK(fd >= 0 && !bind(fd, (struct sockaddr *)&address, sizeof address) && !listen(fd, 1), "no server");
    CHECK(!getsockname(fd, (struct sockaddr *)&address, &size), "no address");
    *port = ntohs(address.sin_port);
    return fd;
}

static int connect_to(int port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                   .sin_port = htons((uint16_t)port) };
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    CHECK(fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof address), "no connection");
    return fd;
}

/* A socket between ranks 2n and 2n + 1. */
static int meet(void)
{
    int port, server, fd;

    if (test_rank % 2 == 0) {
        server = open_server(&port);
        CHECK_OK(MPI_Send(&port, 1, MPI_INT, test_rank + 1, 1, MPI_COMM_WORLD));
        fd = accept(server, NULL, NULL);
        close(server);
    } else {
        CHECK_OK(MPI_Recv(&port, 1, MPI_INT, test_rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        fd = connect_to(port);
    }
    CHECK(fd >= 0, "no socket");
    return fd;
}

static void use_both(int fd, MPI_Comm inter)
{
    const int partner = test_rank ^ 1;
    int size, got = -1;
    char byte = (char)test_rank, other;

    CHECK_OK(MPI_Comm_remote_size(inter, &size));
    CHECK_INT(size, 1);
    CHECK_OK(MPI_Sendrecv(&test_rank, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE));
    CHECK_INT(got, partner);
    CHECK(write(fd, &byte, 1) == 1 && read(fd, &other, 1) == 1, "the socket is of no use any more");
    CHECK_INT(other, partner);
}

int main(int argc, char **argv)
{
    MPI_Comm inter;
    int fd;

    test_begin(&argc, &argv);
    if (test_is_parley()) {
        CHECK_CLASS(MPI_Comm_join(STDIN_FILENO, &inter), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Comm_join(-1, &inter), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Comm_join(socket(AF_INET, SOCK_STREAM, 0), &inter), MPI_ERR_ARG);
    }
    if (test_rank + 1 < test_size || test_rank % 2 == 1) {
        fd = meet();
        for (int i = 0; i < 3; i++) {
            CHECK_OK(MPI_Comm_join(fd, &inter));
            use_both(fd, inter);
            CHECK_OK(MPI_Comm_disconnect(&inter));
        }
        close(fd);
    }
    return test_end();
}
