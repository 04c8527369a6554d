/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §19.3.4, §19.3.5: handles and statuses of C become those of Fortran and come back; the name without P is
 * found where a function of the library is looked for.
 */
#include "mpitest.h"

#define ROUND(Class, handle) \
    CHECK(MPI_##Class##_f2c(MPI_##Class##_c2f(handle)) == (handle), "MPI_" #Class "_f2c of MPI_" #Class "_c2f")

static void handles(void)
{
    MPI_Comm comm;

    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    ROUND(Comm, comm);
    ROUND(Comm, MPI_COMM_WORLD);
    ROUND(Errhandler, MPI_ERRORS_RETURN);
    ROUND(File, MPI_FILE_NULL);
    ROUND(Group, MPI_GROUP_EMPTY);
    ROUND(Info, MPI_INFO_ENV);
    ROUND(Message, MPI_MESSAGE_NO_PROC);
    ROUND(Op, MPI_MAXLOC);
    ROUND(Request, MPI_REQUEST_NULL);
    ROUND(Session, MPI_SESSION_NULL);
    ROUND(Type, MPI_DOUBLE);
    ROUND(Win, MPI_WIN_NULL);
    CHECK(PMPI_Comm_c2f(comm) == MPI_Comm_toint(comm), "PMPI_Comm_c2f");
    CHECK(MPI_Comm_c2f(MPI_COMM_WORLD) != MPI_Comm_c2f(MPI_COMM_NULL), "two handles, one number");
    CHECK_OK(MPI_Comm_free(&comm));
}

static void statuses(void)
{
    MPI_Fint f[sizeof(MPI_Status) / sizeof(MPI_Fint)];
    MPI_F08_status f08;
    MPI_Status status, back;
    int in = 0, out = 3, count;

    CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, 0, 9, &in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF,
                          &status));
    CHECK_OK(MPI_Status_c2f(&status, f));
    CHECK_OK(MPI_Status_f2f08(f, &f08));
    CHECK(f08.MPI_TAG == 9 && f08.MPI_SOURCE == 0, "tag %d, source %d", f08.MPI_TAG, f08.MPI_SOURCE);
    CHECK_OK(MPI_Status_f082f(&f08, f));
    CHECK_OK(MPI_Status_f2c(f, &back));
    CHECK_OK(MPI_Get_count(&back, MPI_INT, &count));
    CHECK_INT(count, 1);
    CHECK_OK(MPI_Status_c2f08(&back, &f08));
    CHECK_OK(MPI_Status_f082c(&f08, &back));
    CHECK(!memcmp(&back, &status, sizeof status), "the status has changed on its way");
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    handles();
    statuses();
    return test_end();
}
