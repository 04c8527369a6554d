/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §9.4: every error class is an error code of its own class, has a text of its own that fits, and is
 * not larger than MPI_ERR_LASTCODE. */
#include "mpitest.h"

static const int classes[] = {
    MPI_SUCCESS,
    MPI_ERR_BUFFER,
    MPI_ERR_COUNT,
    MPI_ERR_TYPE,
    MPI_ERR_TAG,
    MPI_ERR_COMM,
    MPI_ERR_RANK,
    MPI_ERR_REQUEST,
    MPI_ERR_ROOT,
    MPI_ERR_GROUP,
    MPI_ERR_OP,
    MPI_ERR_TOPOLOGY,
    MPI_ERR_DIMS,
    MPI_ERR_ARG,
    MPI_ERR_UNKNOWN,
    MPI_ERR_TRUNCATE,
    MPI_ERR_OTHER,
    MPI_ERR_INTERN,
    MPI_ERR_PENDING,
    MPI_ERR_IN_STATUS,
    MPI_ERR_ACCESS,
    MPI_ERR_AMODE,
    MPI_ERR_ASSERT,
    MPI_ERR_BAD_FILE,
    MPI_ERR_BASE,
    MPI_ERR_CONVERSION,
    MPI_ERR_DISP,
    MPI_ERR_DUP_DATAREP,
    MPI_ERR_FILE_EXISTS,
    MPI_ERR_FILE_IN_USE,
    MPI_ERR_FILE,
    MPI_ERR_INFO_KEY,
    MPI_ERR_INFO_NOKEY,
    MPI_ERR_INFO_VALUE,
    MPI_ERR_INFO,
    MPI_ERR_IO,
    MPI_ERR_KEYVAL,
    MPI_ERR_LOCKTYPE,
    MPI_ERR_NAME,
    MPI_ERR_NO_MEM,
    MPI_ERR_NOT_SAME,
    MPI_ERR_NO_SPACE,
    MPI_ERR_NO_SUCH_FILE,
    MPI_ERR_PORT,
    MPI_ERR_QUOTA,
    MPI_ERR_READ_ONLY,
    MPI_ERR_RMA_CONFLICT,
    MPI_ERR_RMA_SYNC,
    MPI_ERR_SERVICE,
    MPI_ERR_SIZE,
    MPI_ERR_SPAWN,
    MPI_ERR_UNSUPPORTED_DATAREP,
    MPI_ERR_UNSUPPORTED_OPERATION,
    MPI_ERR_WIN,
    MPI_ERR_RMA_ATTACH,
    MPI_ERR_RMA_FLAVOR,
    MPI_ERR_RMA_RANGE,
    MPI_ERR_RMA_SHARED,
#if MPI_VERSION >= 4
    MPI_ERR_PROC_ABORTED,
    MPI_ERR_VALUE_TOO_LARGE,
    MPI_ERR_SESSION,
#endif
#if MPI_VERSION >= 5
    MPI_ERR_ERRHANDLER,
    MPI_ERR_ABI,
#endif
};

enum { CLASSES = sizeof classes / sizeof classes[0] };

int main(int argc, char **argv)
{
    static char texts[CLASSES][MPI_MAX_ERROR_STRING + 8];
    int i, k, class, len;

    test_begin(&argc, &argv);
    for (i = 0; i < CLASSES; i++) {
        memset(texts[i], TEST_CANARY, sizeof texts[i]);
        class = len = -1;
        CHECK(classes[i] <= MPI_ERR_LASTCODE, "class %d is larger than MPI_ERR_LASTCODE", classes[i]);
        CHECK_OK(MPI_Error_class(classes[i], &class));
        CHECK_INT(class, classes[i]);
        CHECK_OK(MPI_Error_string(classes[i], texts[i], &len));
        CHECK(len > 0 && len < MPI_MAX_ERROR_STRING, "class %d: length %d", classes[i], len);
        CHECK_INT(strlen(texts[i]), len);
        CHECK_UNTOUCHED(texts[i] + MPI_MAX_ERROR_STRING, 8);
        for (k = 0; k < i; k++)
            CHECK(strcmp(texts[i], texts[k]) != 0, "classes %d and %d have the same text \"%s\"", classes[i],
                  classes[k], texts[i]);
    }
    return test_end();
}
