/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §13.3, §3.2.5: what a status says can be set, field by field, as the query function of a generalized request
 * does; the queries then agree with it. */
#include "mpitest.h"

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
int main(int argc, char **argv)
{
    MPI_Status st = test_dirty_status();
    MPI_Count large = (MPI_Count)1 << 33, got = 0;
    int count = 0, source = 0, tag = 0, error = 0;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Status_set_source(&st, 3));
    CHECK_OK(MPI_Status_set_tag(&st, 4));
    CHECK_OK(MPI_Status_set_error(&st, MPI_ERR_TAG));
    CHECK_OK(MPI_Status_get_source(&st, &source));
    CHECK_OK(MPI_Status_get_tag(&st, &tag));
    CHECK_OK(MPI_Status_get_error(&st, &error));
    CHECK(source == 3 && tag == 4 && error == MPI_ERR_TAG, "%d %d %d", source, tag, error);
    CHECK_OK(MPI_Status_set_elements_c(&st, MPI_BYTE, large));
    CHECK_OK(MPI_Get_elements_c(&st, MPI_BYTE, &got));
    CHECK_INT(got, large);
    CHECK_OK(MPI_Get_count(&st, MPI_BYTE, &count));
    CHECK_INT(count, MPI_UNDEFINED);
    CHECK_OK(MPI_Status_set_elements_x(&st, MPI_DOUBLE_INT, 3));
    CHECK_OK(MPI_Get_elements_x(&st, MPI_DOUBLE_INT, &got));
    CHECK_INT(got, 3);
    CHECK_OK(MPI_Get_count(&st, MPI_DOUBLE_INT, &count));
    CHECK_INT(count, MPI_UNDEFINED); /* one and a half */
    CHECK_INT(st.MPI_SOURCE, 3);
    CHECK_CLASS(MPI_Status_set_elements(&st, MPI_INT, -1), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Status_set_elements(&st, MPI_DATATYPE_NULL, 1), MPI_ERR_TYPE);
    return test_end();
}
#else
int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    test_skip("no functions that set fields of a status before MPI 4.1");
}
#endif
