/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. Errors of files (MPI 5.0 §14.7): from the system's numbers to classes, and errors that processes share.
 * Knows: coll. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "coll/coll.h"
#include "io/int_io.h"
#include "op/op.h"

static int class_of(int number)
{
    switch (number) {
    case ENOENT: return MPI_ERR_NO_SUCH_FILE;
    case EEXIST: return MPI_ERR_FILE_EXISTS;
    case EACCES:
    case EPERM: return MPI_ERR_ACCESS;
    case EROFS: return MPI_ERR_READ_ONLY;
    case ENOSPC: return MPI_ERR_NO_SPACE;
    case EDQUOT:
    case EFBIG: return MPI_ERR_QUOTA;
    case ETXTBSY:
    case EBUSY: return MPI_ERR_FILE_IN_USE;
    case ENAMETOOLONG:
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
    case ENXIO:
    case ENODEV: return MPI_ERR_BAD_FILE;
    case ENOMEM: return MPI_ERR_NO_MEM;
    case ENOLCK:
    case ENOSYS:
    case EOPNOTSUPP: return MPI_ERR_UNSUPPORTED_OPERATION;
    default: return MPI_ERR_IO;
    }
}

int io_system_error(const char *name, int rank, const char *what, int number)
{
    return err(class_of(number), "E0901: %s file \"%.200s\" failed at rank %d: %s", what, name, rank,
               strerror(number));
}

int io_failed_at(const char *name, int error_class, int rank, int own)
{
    return err(error_class, "E0902: the call on file \"%.200s\" has failed at rank %d, so it fails at rank %d, too",
               name, rank, own);
}

int io_agree(struct comm *comm, const char *call, const char *name, int rc, uint64_t hash, const char *what)
{
    struct coll_agreement all;

    if (comm->size == 1)
        return rc;
    rc = coll_agree(comm, call, rc, hash, &all);
    if (rc)
        return rc;
    if (all.error_class)
        return io_failed_at(name, all.error_class, all.rank, comm->rank);
    if (!all.is_same)
        return err(MPI_ERR_NOT_SAME, "E0903: the processes do not agree about %s of file \"%.200s\"", what, name);
    return 0;
}

int io_any(struct file *file, const char *call, bool *is_so)
{
    int value = *is_so, rc = 0;

    file->comm->coll_outer = call;
    if (file->comm->size > 1)
        rc = coll_run(file->comm, COLL_ARGS(COLL_ALLREDUCE, COLL_SAME(MPI_IN_PLACE, 1, obj_type(MPI_INT)),
                                            COLL_SAME(&value, 1, obj_type(MPI_INT)), obj_op(MPI_MAX), 0));
    file->comm->coll_outer = NULL;
    *is_so = value != 0;
    return rc;
}

int io_share(struct file *file, const char *call, void *bytes, size_t size)
{
    int rc;

    if (file->comm->size == 1)
        return 0;
    file->comm->coll_outer = call;
    rc = coll_run(file->comm, COLL_ARGS(COLL_BCAST, COLL_SAME(bytes, (MPI_Count)size, obj_type(MPI_BYTE)),
                                        COLL_NOTHING, NULL, 0));
    file->comm->coll_outer = NULL;
    return rc;
}

uint64_t io_hash(const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    uint64_t hash = size;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x9E3779B97F4A7C15) + UINT64_C(0x632BE59BD9B4E019);
    return hash ^ hash >> 29;
}
