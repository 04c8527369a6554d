/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of files: a folder of the test's own, that goes again at its end; files looked at without MPI. */
#ifndef TESTS_IO_MPIFILE_H
#define TESTS_IO_MPIFILE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpitest.h"

static char file_folder[200];

/* Rank 0 makes the folder. Collective. */
static inline void file_make_folder(void)
{
    const char *parent = getenv("TMPDIR");

    if (!test_rank) {
        snprintf(file_folder, sizeof file_folder, "%s/parley-io-XXXXXX", parent ? parent : "/tmp");
        CHECK(mkdtemp(file_folder), "%s: %s", file_folder, strerror(errno));
    }
    CHECK_OK(MPI_Bcast(file_folder, sizeof file_folder, MPI_CHAR, 0, MPI_COMM_WORLD));
}

static inline void file_begin(int *argc, char ***argv)
{
    test_begin(argc, argv);
    file_make_folder();
}

/* With MPI_THREAD_MULTIPLE; skips without. */
static inline void file_begin_threads(int *argc, char ***argv)
{
    test_begin_threads(argc, argv, MPI_THREAD_MULTIPLE);
    file_make_folder();
}

/* The path of a name in it; one of four places of the thread, in turn. */
static inline const char *file_path(const char *name)
{
    static _Thread_local char paths[4][300];
    static _Thread_local int turn;
    char *path = paths[turn++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", file_folder, name);
    return path;
}

/* Files that the test has left go, too. Collective. */
static inline int file_finish(void)
{
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (!test_rank) {
        DIR *folder = opendir(file_folder);
        struct dirent *entry;

        CHECK(folder, "%s: %s", file_folder, strerror(errno));
        while ((entry = readdir(folder)))
            if (entry->d_name[0] != '.')
                unlink(file_path(entry->d_name));
        closedir(folder);
        CHECK_INT(rmdir(file_folder), 0);
    }
    return test_end();
}

static inline int file_is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static inline long long file_size(const char *path)
{
    struct stat st;

    return stat(path, &st) ? -1 : (long long)st.st_size;
}

/* Collective over the world: rank 0 makes a file with contents by test_fill. */
static inline void file_make(const char *path, size_t len, uint64_t key)
{
    if (!test_rank) {
        const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        char *bytes = test_alloc(len);

        test_fill(bytes, len, key);
        CHECK(fd >= 0 && write(fd, bytes, len) == (ssize_t)len, "%s: %s", path, strerror(errno));
        close(fd);
        free(bytes);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

#endif
