/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.9: two halves of MPI_COMM_WORLD are connected by a port, several times; a spawned world is as well, by a
 * name that has been published; errors of ports and names have their classes. */
#include <unistd.h>

#include "mpitest.h"

enum { ROUNDS = 5 };

static void talk(MPI_Comm inter)
{
    int size, remote, ones = 0;

    CHECK_OK(MPI_Comm_size(inter, &size));
    CHECK_OK(MPI_Comm_remote_size(inter, &remote));
    CHECK_OK(MPI_Allreduce(&(int){ 1 }, &ones, 1, MPI_INT, MPI_SUM, inter));
    CHECK_INT(ones, remote);
}

/* The even ranks are the server. */
static void halves(void)
{
    const int is_server = test_rank % 2 == 0, root = is_server ? 0 : (test_size / 2 - 1);
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half, inter;
    int size;

    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, is_server, test_rank, &half));
    CHECK_OK(MPI_Comm_size(half, &size));
    if (test_rank == 0)
        CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
    CHECK_OK(MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD));
    for (int i = 0; i < ROUNDS; i++) {
        if (is_server)
            CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, root, half, &inter));
        else
            CHECK_OK(MPI_Comm_connect(port, MPI_INFO_NULL, root, half, &inter));
        talk(inter);
        CHECK_OK(MPI_Comm_disconnect(&inter));
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (test_rank == 0)
        CHECK_OK(MPI_Close_port(port));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_CLASS(MPI_Comm_connect(port, MPI_INFO_NULL, size - 1, half, &inter), MPI_ERR_PORT);
    CHECK_OK(MPI_Comm_free(&half));
}

static void be_child(MPI_Comm parent)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm inter;

    CHECK_OK(MPI_Barrier(parent));
    CHECK_OK(MPI_Lookup_name("tests/dyn/ports", MPI_INFO_NULL, port));
    CHECK_OK(MPI_Comm_disconnect(&parent)); /* from now on there is nothing between them */
    CHECK_OK(MPI_Comm_connect(port, MPI_INFO_NULL, test_size - 1, MPI_COMM_WORLD, &inter));
    talk(inter);
    CHECK_OK(MPI_Comm_disconnect(&inter));
}

static void by_name(char *program)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm children, inter;

    CHECK_OK(MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                            MPI_ERRCODES_IGNORE));
    if (test_rank == 0) {
        CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
        CHECK_OK(MPI_Publish_name("tests/dyn/ports", MPI_INFO_NULL, port));
    }
    CHECK_OK(MPI_Barrier(children));
    CHECK_OK(MPI_Comm_disconnect(&children));
    CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    talk(inter);
    if (test_rank == 0) {
        CHECK_OK(MPI_Unpublish_name("tests/dyn/ports", MPI_INFO_NULL, port));
        CHECK_OK(MPI_Close_port(port));
    }
    CHECK_OK(MPI_Comm_disconnect(&inter));
}

/* Each rank for itself; another job on this machine may run this program, too. */
static void wrong_names(void)
{
    char port[MPI_MAX_PORT_NAME], other[MPI_MAX_PORT_NAME], service[64];

    snprintf(service, sizeof service, "name of rank %d, process %d", test_rank, (int)getpid());
    CHECK_CLASS(MPI_Lookup_name(service, MPI_INFO_NULL, port), MPI_ERR_NAME);
    CHECK_CLASS(MPI_Unpublish_name(service, MPI_INFO_NULL, "any"), MPI_ERR_SERVICE);
    CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
    CHECK_OK(MPI_Publish_name(service, MPI_INFO_NULL, port));
    CHECK_CLASS(MPI_Publish_name(service, MPI_INFO_NULL, port), MPI_ERR_SERVICE);
    CHECK_OK(MPI_Lookup_name(service, MPI_INFO_NULL, other));
    CHECK(!strcmp(port, other), "%s became %s", port, other);
    if (test_is_parley())
        CHECK_CLASS(MPI_Unpublish_name(service, MPI_INFO_NULL, "another port"), MPI_ERR_SERVICE);
    CHECK_OK(MPI_Unpublish_name(service, MPI_INFO_NULL, port));
    CHECK_CLASS(MPI_Lookup_name(service, MPI_INFO_NULL, other), MPI_ERR_NAME);
    CHECK_OK(MPI_Close_port(port));
}

static void wrong_ports(void)
{
    char port[MPI_MAX_PORT_NAME], first[MPI_MAX_PORT_NAME];
    MPI_Comm inter;
    MPI_Info info;

    CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
    strcpy(first, port);
    CHECK_OK(MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD));
    CHECK_CLASS(MPI_Comm_connect("nonsense", MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
    if (test_is_parley()) {
        CHECK_CLASS(MPI_Comm_accept("nonsense", MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
        CHECK_CLASS(MPI_Comm_connect("parley:0000000000000000:0:0:1", MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter),
                    MPI_ERR_PORT);
        CHECK_CLASS(MPI_Close_port("nonsense"), MPI_ERR_PORT);
        if (test_rank > 0)
            CHECK_CLASS(MPI_Comm_accept(first, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
        CHECK_OK(MPI_Info_create(&info));
        CHECK_OK(MPI_Info_set(info, "timeout", "0.05"));
        CHECK_CLASS(MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
        CHECK_OK(MPI_Info_set(info, "timeout", "soon"));
        CHECK_CLASS(MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &inter), MPI_ERR_INFO_VALUE);
        CHECK_OK(MPI_Info_free(&info));
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Close_port(port));
    if (test_is_parley())
        CHECK_CLASS(MPI_Close_port(port), MPI_ERR_PORT);
    CHECK_CLASS(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
}

/* As many as there can be, and one more. */
static void many_ports(void)
{
    enum { MOST = 1000 };
    static char port[MOST][MPI_MAX_PORT_NAME];
    int count = 0;

    while (count < MOST && MPI_Open_port(MPI_INFO_NULL, port[count]) == MPI_SUCCESS)
        count++;
    CHECK(count >= 100, "only %d ports", count);
    if (test_is_parley() && count < MOST)
        CHECK_CLASS(MPI_Open_port(MPI_INFO_NULL, port[count]), MPI_ERR_PORT);
    while (count > 0)
        CHECK_OK(MPI_Close_port(port[--count]));
}

int main(int argc, char **argv)
{
    MPI_Comm parent;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        be_child(parent);
        return test_end();
    }
    wrong_names();
    wrong_ports();
    many_ports();
    if (test_size > 1)
        halves();
    by_name(argv[0]);
    return test_end();
}
