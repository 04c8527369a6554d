/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. Info objects (MPI 5.0 §10): keys and values in the order in which they were set.
 *
 * Keys have 1 to MPI_MAX_INFO_KEY - 1 characters, values up to MPI_MAX_INFO_VAL. All functions may be called at any
 * time, also before MPI is initialised and after it is finalised, by any thread: one lock guards all infos. */
#ifndef OBJ_INFO_H
#define OBJ_INFO_H

#include "obj/obj.h"

struct info_entry {
    char *key, *value; /* owned */
};

struct info {
    struct obj obj;
    struct info_entry *entries; /* owned; guarded by the lock of info.c, as is all below */
    int count, room;
};

/* MPI_INFO_ENV: filled by room init, read-only for the user. */
extern struct info info_env;
/* MPI_INFO_ENV into the table of handles; may be called more than once. */
void info_init(void);

/* Error of all that make something: MPI_ERR_NO_MEM. */
int info_create(struct info **out);
/* Drop a reference; NULL is fine. The last one releases the object. */
void info_unref(struct info *info);
/* MPI_Info_free: error MPI_ERR_INFO for MPI_INFO_ENV. */
int info_free(struct info *info);
/* A new object with the same entries; `info` may be NULL (no entries). */
int info_dup(struct info *info, struct info **out);

/* Errors: MPI_ERR_INFO_KEY or MPI_ERR_INFO_VALUE for a length out of range. */
int info_set(struct info *info, const char *key, const char *value);
/* The same from the user: MPI_INFO_ENV gives MPI_ERR_INFO. */
int info_set_by_user(struct info *info, const char *key, const char *value);
/* Error: MPI_ERR_INFO_NOKEY. */
int info_delete(struct info *info, const char *key);
/* Copy the value into `value`, at most size - 1 characters and a zero; nothing if size is 0. *length is the
 * value's length without the zero. *flag is 0, and nothing else changes, if there is no such key. */
int info_get(struct info *info, const char *key, size_t size, char *value, size_t *length, int *flag);
int info_count(struct info *info);
/* `key` has room for MPI_MAX_INFO_KEY. Error: MPI_ERR_ARG if there is no n-th key, counting from 0. */
int info_nth_key(struct info *info, int n, char *key);

/* The three ways to ask that the standard has (§10, §16.3). */
int info_get_string(struct info *info, const char *key, int *buflen, char *value, int *flag);
int info_get_old(struct info *info, const char *key, int valuelen, char *value, int *flag);
int info_get_valuelen(struct info *info, const char *key, int *valuelen, int *flag);

/* §10: what a process knows by itself of how it was started: command, argv, host, arch, wdir, and what mpiexec
 * leaves in the environment: maxprocs, soft, file, mpi_initial_errhandler, mpi_memory_alloc_kinds. The arguments
 * are as main has them; without any (0 or NULL) they are found out. What is too long is cut. */
int info_fill_env(struct info *info, int argc, char *argv[]);
/* What stands in the environment is meant for another process: leave it out from now on. */
void info_hide_requests(void);
/* What MPI_INFO_ENV has, which comes with MPI_Init, and the above; but for the thread level, so that it says the same
 * before MPI_Init, after it and after the end. */
int info_create_env(int argc, char *argv[], struct info **out);
/* Release what MPI_INFO_ENV holds. */
void info_fini(void);

#endif
