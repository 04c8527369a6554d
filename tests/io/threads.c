/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.6, §14.6: several threads use files at once: one handle together, by offsets, by its individual and its
 * shared pointer, blocking and not, and handles of their own. */
#include <pthread.h>

#include "mpifile.h"

enum { THREADS = 3, RECORDS = 40, RECORD = 25 };

static MPI_File together;
static char own_names[THREADS][40];
static MPI_Comm own_comms[THREADS]; /* opening is collective: one at a time on a communicator */

static MPI_Offset place_of(int thread, int record)
{
    return ((MPI_Offset)(test_rank * THREADS + thread) * RECORDS + record) * RECORD;
}

static void fill(char *bytes, int thread, int record)
{
    test_fill(bytes, RECORD, test_key((uint64_t)test_rank, (uint64_t)thread, (uint64_t)record));
}

/* Its own bytes of the common file, small ones beside those of the others. */
static void use_common(int thread)
{
    char bytes[RECORD], got[RECORD];
    MPI_Request request;

    for (int i = 0; i < RECORDS; i++) {
        fill(bytes, thread, i);
        if (i % 2) {
            CHECK_OK(MPI_File_write_at(together, place_of(thread, i), bytes, RECORD, MPI_BYTE, MPI_STATUS_IGNORE));
        } else {
            CHECK_OK(MPI_File_iwrite_at(together, place_of(thread, i), bytes, RECORD, MPI_BYTE, &request));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        CHECK_OK(MPI_File_read_at(together, place_of(thread, i), got, RECORD, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(!memcmp(bytes, got, RECORD), "record %d of thread %d", i, thread);
    }
}

static void use_own(int thread)
{
    static char longer[THREADS][200000];
    char got[RECORD];
    MPI_Request request;
    MPI_File fh;

    CHECK_OK(MPI_File_open(own_comms[thread], file_path(own_names[thread]), MPI_MODE_RDWR | MPI_MODE_CREATE,
                           MPI_INFO_NULL, &fh));
    CHECK_OK(MPI_File_iwrite_shared(fh, longer[thread], sizeof longer[thread], MPI_BYTE, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_seek(fh, 100, MPI_SEEK_SET));
    CHECK_OK(MPI_File_read(fh, got, RECORD, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_close(&fh));
}

static void *run(void *arg)
{
    const int thread = *(int *)arg;
    char bytes[RECORD];

    use_common(thread);
    for (int i = 0; i < RECORDS; i++) {
        fill(bytes, thread, i);
        CHECK_OK(MPI_File_write_shared(together, bytes, RECORD, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    use_own(thread);
    return NULL;
}

int main(int argc, char *argv[])
{
    const MPI_Offset first = (MPI_Offset)RECORDS * RECORD * THREADS;
    pthread_t threads[THREADS];
    int numbers[THREADS];
    MPI_Offset size = -1;

    file_begin_threads(&argc, &argv);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, file_path("together"), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
                           &together));
    CHECK_OK(MPI_File_seek_shared(together, first * test_size, MPI_SEEK_SET));
    for (int i = 0; i < THREADS; i++) {
        snprintf(own_names[i], sizeof own_names[i], "own%d-%d", test_rank, i);
        numbers[i] = i;
        CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &own_comms[i]));
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, run, &numbers[i]), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_free(&own_comms[i]));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_File_get_size(together, &size));
    CHECK_INT(size, 2 * first * test_size);
    CHECK_OK(MPI_File_get_position_shared(together, &size));
    CHECK_INT(size, 2 * first * test_size);
    CHECK_OK(MPI_File_close(&together));
    return file_finish();
}
