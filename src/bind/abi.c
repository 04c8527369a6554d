/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: bind. What the library says of itself and what a Fortran layer tells it (MPI 5.0 §9.1.1, §20.2, §20.4.1). */
#include "bind/bind.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { LOGICAL_MAX = 16 };

static struct {
    pthread_mutex_t lock;
    struct info *info;                     /* referenced; guarded by lock, as is all below */
    int logical_size;                      /* bytes of a LOGICAL; 0: not told */
    unsigned char is_true[LOGICAL_MAX], is_false[LOGICAL_MAX];
} fortran = { .lock = PTHREAD_MUTEX_INITIALIZER };

void bind_library_version(char *text, int *length)
{
    *length = snprintf(text, MPI_MAX_LIBRARY_VERSION_STRING, "Parley %s, MPI %d.%d, standard ABI %d.%d",
                       bind_version, MPI_VERSION, MPI_SUBVERSION, MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
}

static int set_number(struct info *info, const char *key, size_t number)
{
    char text[16];

    snprintf(text, sizeof text, "%zu", number);
    return info_set(info, key, text);
}

int bind_abi_info(struct info **out)
{
    int rc = info_create(out);

    if (rc)
        return rc;
    if ((rc = set_number(*out, "mpi_aint_size", sizeof(MPI_Aint)))
        || (rc = set_number(*out, "mpi_count_size", sizeof(MPI_Count)))
        || (rc = set_number(*out, "mpi_offset_size", sizeof(MPI_Offset))))
        info_unref(*out);
    return rc;
}

int bind_get_fortran_info(struct info **out)
{
    int rc = 0;

    pthread_mutex_lock(&fortran.lock);
    *out = NULL;
    if (fortran.info)
        rc = info_dup(fortran.info, out);
    pthread_mutex_unlock(&fortran.lock);
    return rc;
}

int bind_set_fortran_info(struct info *info)
{
    int rc;

    pthread_mutex_lock(&fortran.lock);
    if (fortran.info)
        rc = err(MPI_ERR_ABI, "the properties of Fortran's types are set already");
    else
        rc = info_dup(info, &fortran.info);
    if (rc && err_class(rc) == MPI_ERR_NO_MEM)
        fortran.info = NULL;
    pthread_mutex_unlock(&fortran.lock);
    return rc;
}

static int check_logical_size(int size)
{
    if (size == 1 || size == 2 || size == 4 || size == 8 || size == 16)
        return 0;
    return err(MPI_ERR_ARG, "logical_size is %d; it must be 1, 2, 4, 8 or 16", size);
}

int bind_set_fortran_booleans(int size, const void *is_true, const void *is_false)
{
    int rc = check_logical_size(size);

    if (rc)
        return rc;
    pthread_mutex_lock(&fortran.lock);
    if (fortran.logical_size)
        rc = err(MPI_ERR_ABI, "the values of Fortran's LOGICAL are set already");
    else {
        fortran.logical_size = size;
        memcpy(fortran.is_true, is_true, (size_t)size);
        memcpy(fortran.is_false, is_false, (size_t)size);
    }
    pthread_mutex_unlock(&fortran.lock);
    return rc;
}

int bind_get_fortran_booleans(int size, void *is_true, void *is_false, int *is_set)
{
    const int rc = check_logical_size(size);

    if (rc)
        return rc;
    pthread_mutex_lock(&fortran.lock);
    *is_set = fortran.logical_size == size;
    if (*is_set) {
        memcpy(is_true, fortran.is_true, (size_t)size);
        memcpy(is_false, fortran.is_false, (size_t)size);
    }
    pthread_mutex_unlock(&fortran.lock);
    return 0;
}
