/* SPDX-License-Identifier: BSD-3-Clause */
/* Files on a file system that is short of breath: calls that move less than asked, are interrupted, fail in the middle,
 * have no locks; and memory that runs out. Alone in the job. */
#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "comm/comm.h"
#include "io/fs.h"
#include "io/int_io.h"
#include "obj/errhandler.h"
#include "op/op.h"
#include "p2p/lane.h"

enum { SIZE = 1 << 16, FD = 7 };

/* One file in memory. */
static struct {
    char bytes[SIZE];
    size_t size;
    size_t most;          /* bytes that a call moves; 0: all */
    unsigned calls;
    int fail_at, number;  /* the call of that number fails so; -1: none does */
    int interrupted;      /* every so many calls; 0: never */
    int lock_number, open_number, sync_number, close_number, size_number;
    int locks;            /* of data, held */
    MPI_Offset other;     /* somebody else's lock behind the data; 0: none */
    bool is_all_locked;   /* by somebody else, for ever */
    int writers;          /* so many times more somebody is found who locks data to write */
    bool is_removed;
} fake;

static void reset(void)
{
    memset(&fake, 0, sizeof fake);
    fake.fail_at = -1;
}

static int fake_open(const char *path, int flags, unsigned mode)
{
    (void)path, (void)flags, (void)mode;
    return fake.open_number ? -fake.open_number : FD;
}

static int fake_close(int fd)
{
    CHECK_INT(fd, FD);
    return -fake.close_number;
}

static int fake_remove(const char *path)
{
    (void)path;
    fake.is_removed = true;
    return 0;
}

/* What a call may move; below 0: it fails. */
static ssize_t breath(const struct iovec *v, int count)
{
    const unsigned call = fake.calls++;
    size_t len = 0;

    if (fake.interrupted && call % (unsigned)fake.interrupted == 1)
        return -EINTR;
    if ((int)call == fake.fail_at)
        return -fake.number;
    for (int i = 0; i < count; i++)
        len += v[i].iov_len;
    return (ssize_t)(fake.most ? size_min(len, fake.most) : len);
}

static ssize_t fake_read(int fd, const struct iovec *v, int count, MPI_Offset at)
{
    ssize_t left = breath(v, count), moved = 0;

    CHECK_INT(fd, FD);
    for (int i = 0; i < count && left > 0 && (size_t)at < fake.size; i++) {
        const size_t n = size_min(size_min(v[i].iov_len, (size_t)left), fake.size - (size_t)at);
        memcpy(v[i].iov_base, fake.bytes + at, n);
        at += (MPI_Offset)n;
        moved += (ssize_t)n;
        left -= (ssize_t)n;
    }
    return left < 0 ? left : moved;
}

static ssize_t fake_write(int fd, const struct iovec *v, int count, MPI_Offset at)
{
    ssize_t left = breath(v, count), moved = 0;

    CHECK_INT(fd, FD);
    for (int i = 0; i < count && left > 0; i++) {
        const size_t n = size_min(v[i].iov_len, (size_t)left);
        CHECK((size_t)at + n <= SIZE);
        memcpy(fake.bytes + at, v[i].iov_base, n);
        at += (MPI_Offset)n;
        moved += (ssize_t)n;
        left -= (ssize_t)n;
    }
    fake.size = size_max(fake.size, moved ? (size_t)at : 0);
    return left < 0 ? left : moved;
}

static int fake_stat(int fd, struct stat *st)
{
    (void)fd;
    memset(st, 0, sizeof *st);
    st->st_mode = S_IFREG;
    st->st_size = (off_t)fake.size;
    return 0;
}

static int fake_resize(int fd, MPI_Offset size)
{
    (void)fd;
    if (!fake.size_number)
        fake.size = (size_t)size;
    return -fake.size_number;
}

static int fake_sync(int fd)
{
    (void)fd;
    return -fake.sync_number;
}

static int fake_lock(int fd, enum io_lock kind, MPI_Offset from, MPI_Offset len)
{
    (void)fd, (void)len;
    if (fake.lock_number)
        return -fake.lock_number;
    if (from < IO_DATA_END)
        fake.locks += kind == IO_UNLOCK ? -1 : 1;
    return 0;
}

static int fake_is_locked(int fd, enum io_lock kind, MPI_Offset from, MPI_Offset len)
{
    (void)fd;
    if (fake.is_all_locked)
        return 1;
    if (kind == IO_LOCK_READ)
        return fake.writers > 0 && fake.writers--;
    return fake.other >= from && fake.other - from < len;
}

static const struct io_fs faulty = {
    .open = fake_open, .close = fake_close, .remove = fake_remove, .read = fake_read, .write = fake_write,
    .stat = fake_stat, .resize = fake_resize, .reserve = fake_resize, .sync = fake_sync, .lock = fake_lock,
    .is_locked = fake_is_locked,
};

/* --- accesses --- */

/* One layout of a view and of memory: count bytes of each. */
struct layout {
    struct type *view, *memory;
    MPI_Count count;      /* items in memory */
    size_t len;           /* bytes */
};

enum { LAYOUTS = 5 };

static struct layout layouts[LAYOUTS];

static struct type *blocks_of(MPI_Count count, MPI_Count length, MPI_Count stride)
{
    struct type *raw, *type;

    CHECK_INT(type_vector(MPI_COMBINER_VECTOR, (const MPI_Count[]){ count, length, stride }, obj_type(MPI_BYTE), true,
                          &raw), 0);
    CHECK_INT(type_resized(raw, 0, count * stride, true, &type), 0);
    CHECK_INT(type_commit(type), 0);
    type_unref(raw);
    return type;
}

static void make_layouts(void)
{
    struct type *byte = obj_type(MPI_BYTE);

    layouts[0] = (struct layout){ byte, byte, 3000, 3000 };
    layouts[1] = (struct layout){ byte, blocks_of(10, 4, 9), 50, 2000 };          /* packed */
    layouts[2] = (struct layout){ byte, blocks_of(2, 600, 700), 5, 6000 };        /* by vectors */
    layouts[3] = (struct layout){ blocks_of(50, 3, 7), byte, 4000, 4000 };        /* written back */
    layouts[4] = (struct layout){ blocks_of(2, 40, 5000), blocks_of(5, 4, 5), 20, 400 }; /* each block */
}

static char memory[SIZE], packed[SIZE], model[SIZE];

static size_t place_of(const struct layout *l, size_t at)
{
    struct type_block block;

    type_next_blocks(l->view, 0, at, 1, &block, 1);
    return (size_t)block.address;
}

static struct file *open_file(const struct layout *l, int amode)
{
    struct file *file;

    CHECK_INT(io_open(obj_comm(MPI_COMM_SELF), "fake", amode, NULL, &file), 0);
    CHECK_INT(io_set_view(file, 0, obj_type(MPI_BYTE), l->view, "native", NULL), 0);
    return file;
}

/* Write all, or as much as goes; the status tells how much of it is in the file, at least. */
static int write_and_check(struct file *file, const struct layout *l, size_t at)
{
    MPI_Status status;
    int rc;
    MPI_Count done;

    for (size_t i = 0; i < l->len; i++)
        packed[i] = (char)(i * 31 + at + 1);
    type_unpack(l->memory, memory, l->count, 0, packed, l->len);
    memcpy(model, fake.bytes, SIZE);
    rc = io_run(IO_CALL(file, IO_WRITE, IO_EXPLICIT, (MPI_Offset)at, memory, l->count, l->memory, "write_at"), &status);
    done = status_bytes(&status);
    CHECK(rc ? done < (MPI_Count)l->len : done == (MPI_Count)l->len);
    for (size_t i = 0; i < l->len; i++) {
        const size_t place = place_of(l, at + i);

        CHECK(fake.bytes[place] == packed[i] || (rc && i >= (size_t)done && fake.bytes[place] == model[place]));
        model[place] = fake.bytes[place];
    }
    CHECK(!memcmp(model, fake.bytes, SIZE)); /* nothing else has changed */
    CHECK_INT(fake.locks, 0);
    return rc;
}

static int read_and_check(struct file *file, const struct layout *l, size_t at)
{
    size_t want = 0;
    MPI_Status status;
    MPI_Count done;
    int rc;

    memset(memory, 0x55, sizeof memory);
    rc = io_run(IO_CALL(file, IO_READ, IO_EXPLICIT, (MPI_Offset)at, memory, l->count, l->memory, "read_at"), &status);
    done = status_bytes(&status);
    while (want < l->len && place_of(l, at + want) < fake.size)
        want++;
    CHECK(rc ? done < (MPI_Count)l->len : done == (MPI_Count)want);
    type_pack(l->memory, memory, l->count, 0, packed, l->len);
    for (size_t i = 0; i < (size_t)done; i++)
        CHECK(packed[i] == fake.bytes[place_of(l, at + i)]);
    for (size_t i = (size_t)done; i < l->len && !rc; i++)
        CHECK(packed[i] == 0x55);
    return rc;
}

/* Short calls, interrupted ones: all is done all the same. */
static void test_short(void)
{
    for (int i = 0; i < LAYOUTS; i++)
        for (int most = 0; most < 700; most = most * 3 + 1) {
            struct file *file;

            reset();
            fake.most = (size_t)most;
            fake.interrupted = most % 2 ? 3 : 0;
            file = open_file(&layouts[i], MPI_MODE_RDWR);
            CHECK_INT(write_and_check(file, &layouts[i], 11), 0);
            CHECK_INT(read_and_check(file, &layouts[i], 11), 0);
            CHECK_INT(read_and_check(file, &layouts[i], 300), 0); /* beyond the end */
            CHECK_INT(io_close(file), 0);
        }
}

/* The n-th call fails. */
static void test_failing(bool is_write, int number, int class)
{
    for (int i = 0; i < LAYOUTS; i++)
        for (int n = 0, rc = 1; rc; n++) {
            struct file *file;

            reset();
            fake.most = 200;
            file = open_file(&layouts[i], MPI_MODE_RDWR);
            CHECK_INT(write_and_check(file, &layouts[i], 0), 0);
            fake.calls = 0;
            fake.fail_at = n;
            fake.number = number;
            rc = is_write ? write_and_check(file, &layouts[i], 5) : read_and_check(file, &layouts[i], 5);
            CHECK(rc ? err_class(rc) == class && err_id(rc) == 901 : n > 1);
            fake.fail_at = -1;
            CHECK_INT(is_write ? write_and_check(file, &layouts[i], 5) : read_and_check(file, &layouts[i], 5), 0);
            CHECK_INT(io_close(file), 0);
        }
}

static void test_no_locks(void)
{
    struct file *file;

    reset();
    fake.lock_number = ENOSYS;
    file = open_file(&layouts[3], MPI_MODE_RDWR);
    CHECK_INT(write_and_check(file, &layouts[3], 1), 0);
    CHECK_INT(read_and_check(file, &layouts[3], 1), 0);
    CHECK_INT(err_class(io_set_atomicity(file, 1)), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(!io_is_atomic(file));
    fake.lock_number = 0;
    CHECK_INT(io_set_atomicity(file, 1), 0);
    CHECK_INT(write_and_check(file, &layouts[3], 1), 0);
    fake.lock_number = EIO;
    CHECK_INT(err_class(write_and_check(file, &layouts[3], 1)), MPI_ERR_IO);
    CHECK_INT(io_close(file), 0);
}

/* While somebody else has the file open to write, nothing is written back that was read. */
static void test_other_handles(void)
{
    unsigned calls[3];

    for (int i = 0; i < 3; i++) {
        struct file *file;

        reset();
        file = open_file(&layouts[3], i == 2 ? MPI_MODE_RDWR | MPI_MODE_UNIQUE_OPEN : MPI_MODE_RDWR);
        CHECK(file->shown ? file->shown >= IO_HANDLES && file->shown < IO_HANDLES + IO_PLACES : i == 2);
        fake.other = i ? IO_HANDLES + 1 : file->shown; /* that is our own */
        CHECK_INT(write_and_check(file, &layouts[3], 1), 0);
        calls[i] = fake.calls;
        CHECK_INT(io_close(file), 0);
    }
    CHECK_INT(calls[0], 2);
    CHECK(calls[1] > layouts[3].len / 4);
    CHECK_INT(calls[2], 2);
}

/* Opening waits for who may not have seen us yet, and not for somebody who has locked all. */
static void test_locked_by_others(void)
{
    struct file *file;

    reset();
    fake.writers = 3;
    file = open_file(&layouts[3], MPI_MODE_RDWR);
    CHECK(file->shown);
    CHECK_INT(fake.writers, 0);
    CHECK_INT(io_close(file), 0);
    reset();
    fake.is_all_locked = true;
    file = open_file(&layouts[3], MPI_MODE_RDWR);
    CHECK(!file->shown);
    CHECK_INT(write_and_check(file, &layouts[3], 1), 0);
    CHECK(fake.calls > layouts[3].len / 4);
    CHECK_INT(io_close(file), 0);
}

/* Nothing is made when opening fails; the system's numbers become classes. */
static void test_open_errors(void)
{
    static const int pairs[][2] = {
        { ENOENT, MPI_ERR_NO_SUCH_FILE }, { EEXIST, MPI_ERR_FILE_EXISTS }, { EACCES, MPI_ERR_ACCESS },
        { EPERM, MPI_ERR_ACCESS }, { EROFS, MPI_ERR_READ_ONLY }, { ENOSPC, MPI_ERR_NO_SPACE },
        { EDQUOT, MPI_ERR_QUOTA }, { ETXTBSY, MPI_ERR_FILE_IN_USE }, { ENAMETOOLONG, MPI_ERR_BAD_FILE },
        { ELOOP, MPI_ERR_BAD_FILE }, { EIO, MPI_ERR_IO }, { ENOMEM, MPI_ERR_NO_MEM },
    };

    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        struct file *file = NULL;

        reset();
        fake.open_number = pairs[i][0];
        CHECK_INT(err_class(io_open(obj_comm(MPI_COMM_SELF), "fake", MPI_MODE_RDWR, NULL, &file)), pairs[i][1]);
        CHECK(!file);
    }
}

static void test_other_calls(void)
{
    struct file *file;

    reset();
    file = open_file(&layouts[0], MPI_MODE_RDWR);
    fake.size_number = EFBIG;
    CHECK_INT(err_class(io_set_size(file, 100)), MPI_ERR_QUOTA);
    fake.size_number = ENOSPC;
    CHECK_INT(err_class(io_preallocate(file, 100)), MPI_ERR_NO_SPACE);
    CHECK_INT(write_and_check(file, &layouts[0], 0), 0);
    fake.sync_number = EIO;
    CHECK_INT(err_class(io_sync(file)), MPI_ERR_IO);
    CHECK_INT(write_and_check(file, &layouts[0], 0), 0);
    fake.sync_number = 0;
    CHECK_INT(io_sync(file), 0);
    fake.close_number = ENOSPC; /* what a network file system says at last */
    CHECK_INT(err_class(io_close(file)), MPI_ERR_NO_SPACE);
    reset();
    file = open_file(&layouts[0], MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    CHECK_INT(io_close(file), 0);
    CHECK(fake.is_removed);
}

/* Open, set a view in external32, write, read, close: with every allocation failing in turn. */
static int use_all(struct file **file, const struct layout *l)
{
    MPI_Status status;
    struct info *info = NULL;
    int rc = io_open(obj_comm(MPI_COMM_SELF), "fake", MPI_MODE_RDWR, NULL, file);

    if (!rc)
        rc = io_set_view(*file, 0, obj_type(MPI_BYTE), l->view, "external32", NULL);
    if (!rc)
        rc = io_run(IO_CALL(*file, IO_WRITE, IO_POINTER, 0, memory, l->count, l->memory, "write"), &status);
    if (!rc)
        rc = io_run_all(IO_CALL(*file, IO_READ, IO_EXPLICIT, 0, memory, l->count, l->memory, "read_all"), &status);
    if (!rc)
        rc = io_get_info(*file, &info);
    info_unref(info);
    return rc;
}

static void test_memory(void)
{
    for (int i = 0; i < LAYOUTS; i++)
        for (int n = 0, rc = 1; rc; n++) {
            struct file *file = NULL;
            const long live = mem_live();

            reset();
            mem_fail_after(n);
            rc = use_all(&file, &layouts[i]);
            mem_fail_after(-1);
            CHECK(!rc || err_class(rc) == MPI_ERR_NO_MEM);
            if (file)
                CHECK_INT(io_close(file), 0);
            CHECK(mem_live() <= live + 8); /* chunks of pools stay */
        }
}

int main(void)
{
    const struct p2p_config alone = { .proc = 0, .procs = 1 };

    group_init();
    errhandler_init();
    type_init();
    op_init();
    CHECK_INT(p2p_init(&alone), 0);
    CHECK_INT(comm_init(&(struct comm_place){ .procs = 1, .size = 1, .ranks = 1 }), 0);
    CHECK_INT(comm_open_world(), 0);
    io_fs_use(&faulty);
    make_layouts();
    test_short();
    test_failing(true, ENOSPC, MPI_ERR_NO_SPACE);
    test_failing(true, EIO, MPI_ERR_IO);
    test_failing(false, EIO, MPI_ERR_IO);
    test_no_locks();
    test_other_handles();
    test_locked_by_others();
    test_open_errors();
    test_other_calls();
    test_memory();
    io_fs_use(NULL);
    for (int i = 0; i < LAYOUTS; i++) {
        if (!layouts[i].view->is_permanent)
            type_unref(layouts[i].view);
        if (!layouts[i].memory->is_permanent)
            type_unref(layouts[i].memory);
    }
    io_fini();
    comm_close_world();
    comm_fini();
    p2p_fini();
    type_fini();
    obj_fini();
    CHECK_INT(mem_live(), 0);
    return 0;
}
