/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §15.3.6: a tool may write to each control variable what it has read there, as one does that restores what it
 * has tried. Before MPI is initialised that changes nothing: the library comes up and works. */
#include "mpitest.h"

enum { ROOM = 8192, NAME = 256 };

/* Are two values of so many items the same? */
static int is_same(MPI_Datatype type, int count, const char *a, const char *b)
{
    return type == MPI_CHAR ? !strcmp(a, b) : !memcmp(a, b, (size_t)count * (type == MPI_INT ? sizeof(int) : 8));
}

static void write_back(int index)
{
    static _Alignas(16) char before[ROOM], after[ROOM];
    int name_len = NAME, verbosity, bind, scope, count;
    MPI_T_cvar_handle handle;
    MPI_Datatype type;
    char name[NAME];
    int rc;

    CHECK_INT(MPI_T_cvar_get_info(index, name, &name_len, &verbosity, &type, NULL, NULL, NULL, &bind, &scope),
              MPI_SUCCESS);
    if (bind != MPI_T_BIND_NO_OBJECT || scope == MPI_T_SCOPE_CONSTANT || scope == MPI_T_SCOPE_READONLY)
        return;
    CHECK_INT(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count), MPI_SUCCESS);
    CHECK(count * 8 <= ROOM || (type == MPI_CHAR && count <= ROOM), "%s: %d items", name, count);
    CHECK_INT(MPI_T_cvar_read(handle, before), MPI_SUCCESS);
    rc = MPI_T_cvar_write(handle, before);
    CHECK(rc == MPI_SUCCESS || rc == MPI_T_ERR_CVAR_SET_NEVER || rc == MPI_T_ERR_CVAR_SET_NOT_NOW, "%s: %d", name, rc);
    CHECK_INT(MPI_T_cvar_read(handle, after), MPI_SUCCESS);
    CHECK(is_same(type, count, before, after), "%s is another one now", name);
    CHECK_INT(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    int provided, number, sum = 1;

    CHECK_INT(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
    CHECK_INT(MPI_T_cvar_get_num(&number), MPI_SUCCESS);
    for (int i = 0; i < number; i++)
        write_back(i);
    CHECK_INT(MPI_T_finalize(), MPI_SUCCESS);
    test_begin(&argc, &argv);
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, test_size);
    return test_end();
}
