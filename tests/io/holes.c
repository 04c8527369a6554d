/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §14.6.1: writes to different bytes do not touch each other, whichever way the library takes: by several
 * handles of one file, by a thread beside collective calls. And holes that are larger than anything else cost nothing.
 *   holes handles | beside | locked | far */
#include "mpifile.h"

#include <pthread.h>

enum { COUNT = 6000, TURNS = 15, LONG = 20000, APART = 200 };

static MPI_Info always(void)
{
    MPI_Info info;

    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "romio_cb_write", "enable"));
    CHECK_OK(MPI_Info_set(info, "romio_cb_read", "enable"));
    CHECK_OK(MPI_Info_set(info, "cb_nodes", "8"));
    return info;
}

/* Ints of the ranks in turn. */
static void set_turns(MPI_File fh)
{
    MPI_Datatype turn;

    CHECK_OK(MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)sizeof(int) * test_size, &turn));
    CHECK_OK(MPI_Type_commit(&turn));
    CHECK_OK(MPI_File_set_view(fh, (MPI_Offset)sizeof(int) * test_rank, MPI_INT, turn, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_Type_free(&turn));
}

static void check_values(MPI_File fh, MPI_Offset at, const int *values, int count)
{
    int *got = test_alloc((size_t)count * sizeof *got);

    CHECK_OK(MPI_File_read_at(fh, at, got, count, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 0; i < count; i++)
        CHECK(got[i] == values[i], "element %d is %d, not %d", i, got[i], values[i]);
    free(got);
}

/* Each rank has opened the file for itself; some write many blocks at once, some few. */
static void handles(void)
{
    static int values[COUNT];
    MPI_File fh;

    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_File_open(MPI_COMM_SELF, file_path("handles"), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &fh));
    set_turns(fh);
    for (int turn = 0; turn < TURNS; turn++) {
        const int step = test_rank % 2 ? COUNT : 3;

        for (int i = 0; i < COUNT; i++)
            values[i] = (turn * test_size + test_rank) * COUNT + i;
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int again = 0; again < (step == COUNT ? 10 : 1); again++)
            for (int i = 0; i < COUNT; i += step)
                CHECK_OK(MPI_File_write_at(fh, i, values + i, step, MPI_INT, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_File_sync(fh));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_OK(MPI_File_sync(fh));
        check_values(fh, 0, values, COUNT);
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_File_close(&fh));
}

static MPI_File shared;
static int many[LONG];
static _Atomic int is_over;

/* All elements of rank 0. */
static void *write_many(void *arg)
{
    (void)arg;
    do
        CHECK_OK(MPI_File_write_at(shared, 0, many, LONG, MPI_INT, MPI_STATUS_IGNORE));
    while (!is_over);
    return NULL;
}

/* A thread of rank 0 writes alone, while the others write single elements between those, together. */
static void beside(void)
{
    const MPI_Offset place = LONG / test_size * test_rank;
    MPI_Info info = always();
    pthread_t thread;

    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, file_path("beside"), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &shared));
    set_turns(shared);
    for (int i = 0; i < LONG; i++)
        many[i] = i;
    if (!test_rank)
        CHECK_INT(pthread_create(&thread, NULL, write_many, NULL), 0);
    for (int turn = 0; turn < 500; turn++) {
        CHECK_OK(MPI_File_write_at_all(shared, place, &turn, test_rank ? 1 : 0, MPI_INT, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (test_rank)
            check_values(shared, place, &turn, 1);
    }
    is_over = 1;
    if (!test_rank) {
        CHECK_INT(pthread_join(thread, NULL), 0);
        check_values(shared, 0, many, LONG);
    }
    CHECK_OK(MPI_File_close(&shared));
    CHECK_OK(MPI_Info_free(&info));
}

/* How long a file may be here. */
static long long longest(const char *path)
{
    long long bytes = 1LL << 61;

    if (!test_rank) {
        const int fd = open(path, O_RDWR | O_CREAT, 0666);

        while (ftruncate(fd, bytes))
            bytes /= 2;
        close(fd);
        unlink(path);
    }
    CHECK_OK(MPI_Bcast(&bytes, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD));
    return bytes;
}

/* A few elements in as large a file as there can be. */
static void far(void)
{
    const long long bytes = longest(file_path("length"));
    int values[APART], got[APART] = { 0 };
    MPI_Info info = always();
    MPI_Datatype apart;
    MPI_Status status;
    MPI_File fh;

    CHECK_OK(MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)(bytes / (APART + 1) / 8 * 8), &apart));
    CHECK_OK(MPI_Type_commit(&apart));
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, file_path("far"), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &fh));
    CHECK_OK(MPI_File_set_view(fh, (MPI_Offset)sizeof(int) * test_rank, MPI_INT, apart, "native", MPI_INFO_NULL));
    for (int i = 0; i < APART; i++)
        values[i] = test_rank * APART + i;
    CHECK_OK(MPI_File_write_all(fh, values, APART, MPI_INT, &status));
    CHECK_STATUS(&status, status.MPI_SOURCE, status.MPI_TAG, (int)sizeof values);
    CHECK_OK(MPI_File_read_at_all(fh, 0, got, APART, MPI_INT, &status));
    CHECK_STATUS(&status, status.MPI_SOURCE, status.MPI_TAG, (int)sizeof got);
    CHECK(!memcmp(got, values, sizeof got), "not what was written");
    CHECK_OK(MPI_File_close(&fh));
    CHECK_OK(MPI_Type_free(&apart));
    CHECK_OK(MPI_Info_free(&info));
}

/* The program's own lock of the file is not waited for. */
static void locked(void)
{
    struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    const char *const path = file_path("locked");
    int fd = -1;
    MPI_File fh;

    if (!test_rank) {
        fd = open(path, O_RDWR | O_CREAT, 0666);
        CHECK(fd >= 0 && !fcntl(fd, F_SETLK, &all), "%s: %s", path, strerror(errno));
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
    CHECK_OK(MPI_File_write_at(fh, (MPI_Offset)sizeof(int) * test_rank, &test_rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_close(&fh));
    if (!test_rank)
        close(fd);
}

int main(int argc, char *argv[])
{
    const char *const what = argc > 1 ? argv[1] : "";

    file_begin_threads(&argc, &argv);
    if (!strcmp(what, "handles"))
        handles();
    else if (!strcmp(what, "beside"))
        beside();
    else if (!strcmp(what, "locked"))
        locked();
    else
        far();
    return file_finish();
}
