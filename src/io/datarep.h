/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. Data representations (MPI 5.0 §14.5): how data lie in a file, and the way from memory and back. */
#ifndef IO_DATAREP_H
#define IO_DATAREP_H

#include <mpi.h>
#include <stdbool.h>

#include "type/type.h"

enum io_datarep_kind { IO_NATIVE, IO_EXTERNAL32, IO_USER };

struct io_datarep {
    const char *name;
    enum io_datarep_kind kind;
    bool is_large;       /* IO_USER: the functions are of the _c form */
    MPI_Datarep_conversion_function *read, *write;
    MPI_Datarep_conversion_function_c *read_large, *write_large;
    MPI_Datarep_extent_function *extent;
    void *state;
};

/* The one of that name; NULL: there is none. It stays for ever. Any thread. */
const struct io_datarep *io_datarep_find(const char *name);

/* A type that lies in memory as items of `type` lie in a file: a new reference. Displacements in bytes are those in the
 * file already (§14.5.1). Errors: MPI_ERR_NO_MEM, MPI_ERR_CONVERSION of the user's function. */
int io_datarep_layout(const struct io_datarep *datarep, struct type *type, struct type **out);

/* Bytes in the file of `count` items in memory. Errors: the same, and MPI_ERR_COUNT. */
int io_datarep_bytes(const struct io_datarep *datarep, struct type *type, MPI_Count count, size_t *bytes);
/* The data of `count` items to `stream`, which has `len` bytes; and back, of `all` bytes the first `len`, of which
 * whole elements reach memory. Not for IO_NATIVE. */
int io_datarep_out(const struct io_datarep *datarep, struct type *type, const void *buf, MPI_Count count,
                   char *stream, size_t len);
int io_datarep_in(const struct io_datarep *datarep, struct type *type, void *buf, MPI_Count count, const char *stream,
                  size_t all, size_t len);
/* Bytes in memory of the data in the first `len` of `all` bytes in the file, for the status. */
MPI_Count io_datarep_memory_bytes(const struct io_datarep *datarep, const struct type *type, MPI_Count count,
                                  size_t all, size_t len);
void io_datarep_fini(void);

#endif
