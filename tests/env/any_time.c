/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.4.1: version, state, error text and ABI functions can be called before MPI_Init, between, and
 * after MPI_Finalize, and answer the same; MPI_Initialized and MPI_Finalized tell the state. */
#include "mpitest.h"

static char first_text[MPI_MAX_LIBRARY_VERSION_STRING + 1];

static void check_version(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING + 1];
    int version = -1, subversion = -1, len = -1;

    CHECK_OK(MPI_Get_version(&version, &subversion));
    CHECK_INT(version, MPI_VERSION);
    CHECK_INT(subversion, MPI_SUBVERSION);
    CHECK_OK(MPI_Get_library_version(text, &len));
    CHECK(len > 0 && len < MPI_MAX_LIBRARY_VERSION_STRING, "length %d", len);
    CHECK_INT(len, strlen(text));
    if (!first_text[0])
        strcpy(first_text, text);
    CHECK(strcmp(text, first_text) == 0, "the library version changed from \"%s\" to \"%s\"", first_text,
          text);
}

/* Error text and class: since 4.0 at any time. */
static void check_errors(void)
{
#if MPI_VERSION >= 4
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int class = -1, len = -1;

    CHECK_OK(MPI_Error_class(MPI_ERR_TAG, &class));
    CHECK_INT(class, MPI_ERR_TAG);
    CHECK_OK(MPI_Error_string(MPI_ERR_TAG, text, &len));
    CHECK(len > 0 && len == (int)strlen(text), "length %d of \"%s\"", len, text);
#endif
}

static void check_abi(void)
{
#if MPI_VERSION >= 5
    int major = -5, minor = -5;

    CHECK_OK(MPI_Abi_get_version(&major, &minor));
    CHECK_INT(major, MPI_ABI_VERSION);
    CHECK_INT(minor, MPI_ABI_SUBVERSION);
    CHECK_INT(MPI_Comm_toint(MPI_COMM_WORLD), 257);
    CHECK(MPI_Comm_fromint(257) == MPI_COMM_WORLD, "MPI_Comm_fromint(257) is not MPI_COMM_WORLD");
#endif
}

static void check_state(int want_up, int want_down)
{
    int is_up = -1, is_down = -1;

    CHECK_OK(MPI_Initialized(&is_up));
    CHECK_OK(MPI_Finalized(&is_down));
    CHECK_INT(is_up, want_up);
    CHECK_INT(is_down, want_down);
    check_version();
    check_errors();
    check_abi();
}

int main(int argc, char **argv)
{
    check_state(0, 0);
    check_state(0, 0);
    test_begin(&argc, &argv);
    check_state(1, 0);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    check_state(1, 0);
    CHECK_OK(MPI_Finalize());
    check_state(1, 1);
    return 0;
}
