/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.8.4: with soft, fewer processes than maxprocs may be started; the error codes tell which are not
 * there. */
#include "mpitest.h"

enum { MOST = 9, STARTED = 4 };

int main(int argc, char **argv)
{
    int codes[MOST], size;
    MPI_Comm parent, children;
    MPI_Info info = MPI_INFO_NULL;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        CHECK_OK(MPI_Comm_disconnect(&parent));
        return test_end();
    }
    if (!test_is_parley())
        test_skip("which number is taken is ours");
    if (test_rank == 0) {
        CHECK_OK(MPI_Info_create(&info));
        CHECK_OK(MPI_Info_set(info, "soft", "2,4,10:20"));
    }
    CHECK_OK(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, MOST, info, 0, MPI_COMM_WORLD, &children, codes));
    CHECK_OK(MPI_Comm_remote_size(children, &size));
    CHECK_INT(size, STARTED);
    for (int i = 0; i < MOST; i++)
        CHECK((codes[i] == MPI_SUCCESS) == (i < STARTED), "the code of process %d is %d", i, codes[i]);
    if (info != MPI_INFO_NULL)
        CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Comm_disconnect(&children));
    return test_end();
}
