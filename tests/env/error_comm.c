/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §9.3, §9.4: an error of a call or of a request goes to the handler of its communicator, once, with the code
 * that the call returns. Here the text of that code says in which function it was found, and names the communicator,
 * once, or describes it if it has no name. */
#include "mpitest.h"

static struct {
    int calls, code;
    MPI_Comm comm;
} seen;

static void note(MPI_Comm *comm, int *code, ...)
{
    seen.calls++;
    seen.code = *code;
    seen.comm = *comm;
}

static void check(MPI_Comm comm, int rc, const char *function, const char *name)
{
    char text[MPI_MAX_ERROR_STRING];
    const char *found;
    int length;

    CHECK_INT(seen.calls, 1);
    CHECK_INT(seen.code, rc);
    CHECK(seen.comm == comm, "the handler of another communicator was called");
    seen.calls = 0;
    CHECK_OK(MPI_Error_string(rc, text, &length));
    CHECK_INT(length, (int)strlen(text));
    if (!test_is_parley())
        return;
    CHECK(!strncmp(text, function, strlen(function)), "\"%s\" does not begin with %s", text, function);
    found = strstr(text, name);
    CHECK(found && !strstr(found + 1, name), "\"%s\" names %s not once", text, name);
}

/* A send, a receive that is too short, a request of each kind of wait, a collective operation. */
static void provoke(MPI_Comm comm, const char *name)
{
    const int two[2] = { 1, 2 };
    int value = 1, self, index;
    MPI_Request request;

    CHECK_OK(MPI_Comm_rank(comm, &self));
    check(comm, MPI_Send(&value, 1, MPI_INT, 4711, 0, comm), "MPI_Send: ", name);
    check(comm, MPI_Bcast(&value, 1, MPI_INT, 4711, comm), "MPI_Bcast: ", name);
    check(comm, MPI_Comm_split(comm, -2, 0, &(MPI_Comm){ MPI_COMM_NULL }), "MPI_Comm_split: ", name);
    check(comm, MPI_Cart_coords(comm, 0, 0, NULL), "MPI_Cart_coords: ", name);
    CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, self, 1, comm, &request));
    CHECK_OK(MPI_Send(two, 2, MPI_INT, self, 1, comm));
    check(comm, MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait: ", name);
    CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, self, 1, comm, &request));
    CHECK_OK(MPI_Send(two, 2, MPI_INT, self, 1, comm));
    check(comm, MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE), "MPI_Waitany: ", name);
}

int main(int argc, char **argv)
{
    char description[64], long_name[MPI_MAX_OBJECT_NAME];
    MPI_Errhandler handler;
    MPI_Comm comm;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_create_errhandler(note, &handler));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
    snprintf(description, sizeof description, "a communicator of %d process", test_size);
    provoke(comm, description);
    CHECK_OK(MPI_Comm_set_name(comm, "halo exchange"));
    provoke(comm, "halo exchange");
    memset(long_name, 'n', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    CHECK_OK(MPI_Comm_set_name(comm, long_name));
    provoke(comm, long_name);
    CHECK_OK(MPI_Comm_free(&comm));
    return test_end();
}
