/* SPDX-License-Identifier: BSD-3-Clause */
/* A program as they were written for MPI 1: parameters and definitions in the old style of C, MPI_Address and
 * MPI_Type_struct for a message of several parts, absolute addresses with MPI_BOTTOM, MPI_Errhandler_set at the
 * beginning, an attribute for private tags. Each process sends a record round the ring and adds its own to it.
 */
#include "mpitest.h"

static struct {
    int hops;
    double sum;
    char trail[16];
} token;

static int tag_key = MPI_KEYVAL_INVALID;

static int delete_tag(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    (void)extra;
    free(value);
    return MPI_SUCCESS;
}

static int private_tag(MPI_Comm comm)
{
    int flag, *tag;

    if (tag_key == MPI_KEYVAL_INVALID)
        MPI_Keyval_create(MPI_NULL_COPY_FN, delete_tag, &tag_key, NULL);
    MPI_Attr_get(comm, tag_key, &tag, &flag);
    if (!flag) {
        tag = malloc(sizeof *tag);
        *tag = 100;
        MPI_Attr_put(comm, tag_key, tag);
    }
    return (*tag)++;
}

static MPI_Datatype token_type(void)
{
    int lengths[4] = { 1, 1, 16, 1 };
    MPI_Aint disps[4];
    MPI_Datatype types[4] = { MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_UB }, type;

    MPI_Address(&token.hops, &disps[0]);
    MPI_Address(&token.sum, &disps[1]);
    MPI_Address(token.trail, &disps[2]);
    MPI_Address(&token + 1, &disps[3]);
    MPI_Type_struct(4, lengths, disps, types, &type);
    MPI_Type_commit(&type);
    return type;
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Status status;
    MPI_Datatype type;
    int rank, size, tag;

    test_begin(&argc, &argv);
    MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    type = token_type();
    for (int round = 0; round < 10; round++) {
        tag = private_tag(comm);
        CHECK_INT(tag, 100 + round);
        if (rank == 0) {
            token.hops = 0;
            token.sum = round;
            strcpy(token.trail, "begin");
            CHECK_OK(MPI_Send(MPI_BOTTOM, 1, type, (rank + 1) % size, tag, comm));
        }
        CHECK_OK(MPI_Recv(MPI_BOTTOM, 1, type, (rank + size - 1) % size, tag, comm, &status));
        CHECK_INT(status.MPI_TAG, tag);
        token.hops++;
        token.sum += rank;
        if (rank == 0) {
            CHECK_INT(token.hops, size);
            CHECK(token.sum == round + size * (size - 1) / 2.0, "sum %g", token.sum);
            CHECK(!strcmp(token.trail, "begin"), "trail %s", token.trail);
        } else {
            CHECK_OK(MPI_Send(MPI_BOTTOM, 1, type, (rank + 1) % size, tag, comm));
        }
    }
    MPI_Type_free(&type);
    MPI_Keyval_free(&tag_key);
    MPI_Comm_free(&comm);
    return test_end();
}
