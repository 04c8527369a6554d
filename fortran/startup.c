/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran: when the library is loaded it tells the C library what Fortran's types are (MPI 5.0 §20.4.1), if nobody did.
 * Knows: convert.h, and the sizes that the build found with the compiler. */
#include "convert.h"

#include <execinfo.h>

#define YES "true"
#define NO "false"

static const char *const facts[][2] = {
    { "mpi_logical_size", "4" },        { "mpi_integer_size", "4" },
    { "mpi_real_size", "4" },           { "mpi_double_precision_size", "8" },
    { "mpi_logical1_supported", YES },  { "mpi_logical2_supported", YES },
    { "mpi_logical4_supported", YES },  { "mpi_logical8_supported", YES },
    { "mpi_logical16_supported", YES }, { "mpi_integer1_supported", YES },
    { "mpi_integer2_supported", YES },  { "mpi_integer4_supported", YES },
    { "mpi_integer8_supported", YES },  { "mpi_integer16_supported", YES },
    { "mpi_real2_supported", NO },      { "mpi_real4_supported", YES },
    { "mpi_real8_supported", YES },     { "mpi_real16_supported", YES },
    { "mpi_complex4_supported", NO },   { "mpi_complex8_supported", YES },
    { "mpi_complex16_supported", YES }, { "mpi_complex32_supported", YES },
    { "mpi_double_complex_supported", YES },
};

__attribute__((constructor)) static void tell_c(void)
{
    MPI_Info info = MPI_INFO_NULL;
    int is_true = 1, is_false = 0;
    unsigned char is_set_true[sizeof is_true], is_set_false[sizeof is_false];
    int is_set = 1;
    void *frame;

    (void)backtrace(&frame, 1); /* takes memory the first time, which MPI_Abort in a signal handler must not */
    if (!PMPI_Abi_get_fortran_booleans(sizeof is_true, is_set_true, is_set_false, &is_set) && !is_set)
        PMPI_Abi_set_fortran_booleans(sizeof is_true, &is_true, &is_false);
    if (PMPI_Abi_get_fortran_info(&info))
        return;
    if (info == MPI_INFO_NULL && !PMPI_Info_create(&info)) {
        for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
            PMPI_Info_set(info, facts[i][0], facts[i][1]);
        PMPI_Abi_set_fortran_info(info);
    }
    PMPI_Info_free(&info);
}
