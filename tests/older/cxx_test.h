/* SPDX-License-Identifier: BSD-3-Clause */
/* For the programs in C++. */
#ifndef CXX_TEST_H
#define CXX_TEST_H

#include <mpi.h>

#include <cstdio>

/* Ends the job with a line that says what was not so. */
#define CHECK(condition)                                                               \
    do {                                                                               \
        if (!(condition)) {                                                            \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            MPI::COMM_WORLD.Abort(1);                                                  \
        }                                                                              \
    } while (0)

#endif
