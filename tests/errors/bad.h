/* SPDX-License-Identifier: BSD-3-Clause */
/* What the generated calls with bad arguments are written with. */
#ifndef TESTS_ERRORS_BAD_H
#define TESTS_ERRORS_BAD_H

#include <limits.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* Things to stand in the parameters that are not the bad one. */
extern int rank, size;              /* in MPI_COMM_WORLD */
extern char area[65536];            /* room for whatever a call writes */
extern int64_t zeros[64];           /* an array of anything */
extern int ranges[1][3];
extern MPI_Datatype good_types[64];
extern MPI_Request good_requests[64]; /* null ones */
extern MPI_Group good_group, freed_group;
extern MPI_Info good_info, freed_info;
extern MPI_Comm freed_comm;
extern MPI_Op freed_op;
extern MPI_Errhandler freed_errhandler;
extern MPI_Session good_session, freed_session;
extern MPI_File good_file, freed_file;
extern MPI_Win good_win, freed_win; /* of one process, open to access */

/* Remember what is called, in case it does not come back. */
void begin(const char *function, const char *parameter, const char *call);
/* `code` is of the class, and its text has function, parameter and value in it. */
void expect(int code, int error_class, const char *value);
/* It is the code itself. */
void expect_bare(int code, int wanted);

#define BAD(function, parameter, error_class, value, call) \
    do { \
        begin(function, parameter, #call); \
        expect(call, error_class, value); \
    } while (0)

/* A bare code, without a text. */
#define BAD_TOOL(function, parameter, call) \
    do { \
        begin(function, parameter, #call); \
        expect_bare(call, MPI_T_ERR_INVALID); \
    } while (0)

/* Not implemented: it says so. */
#define MISSING(function, call) BAD(function, "", MPI_ERR_UNSUPPORTED_OPERATION, "not implemented", call)

/* The generated part. */
void run_cases(void);

#endif
