/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §14.3 to §14.5: random views, datatypes, counts and offsets, all ways to read and write, against a plain
 * array in memory. In each round the bytes of a tile are dealt to the ranks, so that nobody writes what is another's;
 * every rank simulates all of them.
 *   model WAY [ROUNDS]     alone, pending, together, exchange, later, split; prints its seed on failure */
#include "mpifile.h"

enum { SLOTS = 24, COUNT_MAX = 60, FILE_MAX = 1 << 17, REP_MAX = 3 };
enum way { ALONE, PENDING, TOGETHER, EXCHANGE, LATER, SPLIT, WAYS };

static const char *const reps[REP_MAX] = { "native", "internal", "external32" };

/* Elements: in memory, in a file of either kind. */
struct basic {
    MPI_Datatype type;
    int size, external;
};

/* What one rank does in a round; made from the seed, the same at all ranks. */
struct plan {
    int slots[SLOTS], count_slots; /* of the tile, its own */
    int offset, count;             /* in etypes */
    int gap;                       /* etypes between two in memory */
    int is_derived;                /* memory described by one item */
    int by_pointer;                /* position set by seek */
};

static unsigned char file[FILE_MAX];
static long long file_end;             /* bytes written so far */
static struct basic basic;
static int elements;               /* of an etype */
static int slots, rep, is_write;
static long long disp;
static uint64_t round_key;
static MPI_File fh;

static int file_bytes(void)
{
    return elements * (rep == 2 ? basic.external : basic.size);
}

/* --- elements --- */

static long long value_of(int rank, int element)
{
    const uint64_t x = test_mix(round_key + (uint64_t)rank * 1000003u + (uint64_t)element);

    return (long long)(x % (basic.size == 1 ? 256 : basic.size == 2 ? 30000 : 2000000000));
}

static void put(unsigned char *to, long long value)
{
    if (basic.type == MPI_DOUBLE)
        memcpy(to, &(double){ (double)value }, sizeof(double));
    else if (basic.type == MPI_LONG)
        memcpy(to, &(long){ (long)value }, sizeof(long));
    else if (basic.type == MPI_INT)
        memcpy(to, &(int){ (int)value }, sizeof(int));
    else if (basic.type == MPI_SHORT)
        memcpy(to, &(short){ (short)value }, sizeof(short));
    else
        *to = (unsigned char)value;
}

/* As it lies in the file. */
static void put_in_file(unsigned char *to, long long value)
{
    unsigned char native[16];
    int number = (int)value;

    put(native, value);
    if (rep != 2) {
        memcpy(to, native, (size_t)basic.size);
        return;
    }
    if (basic.external != basic.size)
        memcpy(native, &number, sizeof number);
    for (int i = 0; i < basic.external; i++)
        to[i] = native[basic.external - 1 - i];
}

/* --- plans --- */

/* Where etype `at` of the view lies in the file. */
static long long place(const struct plan *p, int at)
{
    return disp + ((long long)(at / p->count_slots) * slots + p->slots[at % p->count_slots]) * file_bytes();
}

static void make_plans(enum way way, struct plan *plans, uint64_t *state)
{
    static const struct basic kinds[] = {
        { MPI_BYTE, 1, 1 }, { MPI_SHORT, 2, 2 }, { MPI_INT, 4, 4 }, { MPI_DOUBLE, 8, 8 }, { MPI_LONG, 8, 4 },
    };

    basic = kinds[test_below(state, 5)];
    elements = 1 + (int)test_below(state, 3);
    rep = (int)test_below(state, REP_MAX);
    slots = test_size + (int)test_below(state, SLOTS - 8);
    disp = (long long)test_below(state, 3) * (long long)test_below(state, 100);
    is_write = (int)test_below(state, 2);
    memset(plans, 0, (size_t)test_size * sizeof *plans);
    for (int slot = 0, owner; slot < slots; slot++) {
        owner = slot < test_size ? slot : (int)test_below(state, (size_t)test_size + 2) - 2; /* below 0: nobody's */
        if (owner >= 0)
            plans[owner].slots[plans[owner].count_slots++] = slot;
    }
    for (int i = 0; i < test_size; i++) {
        plans[i].offset = (int)test_below(state, 40);
        plans[i].count = test_below(state, 8) ? (int)test_below(state, COUNT_MAX) : 0;
        plans[i].gap = test_below(state, 2) ? (int)test_below(state, 3) : 0;
        plans[i].is_derived = (int)test_below(state, 2);
        plans[i].by_pointer = (int)test_below(state, 2);
        if (way >= TOGETHER) /* all make the same call */
            plans[i].by_pointer = plans[0].by_pointer;
    }
}

/* --- types --- */

static MPI_Datatype make_etype(void)
{
    MPI_Datatype etype;

    CHECK_OK(MPI_Type_contiguous(elements, basic.type, &etype));
    CHECK_OK(MPI_Type_commit(&etype));
    return etype;
}

static MPI_Datatype make_filetype(const struct plan *p, MPI_Datatype etype, uint64_t *state)
{
    MPI_Datatype raw, filetype;
    int lengths[SLOTS];
    MPI_Aint bytes[SLOTS];

    for (int i = 0; i < SLOTS; i++) {
        lengths[i] = 1;
        bytes[i] = (MPI_Aint)p->slots[i] * file_bytes();
    }
    switch (test_below(state, 3)) {
    case 0: CHECK_OK(MPI_Type_indexed(p->count_slots, lengths, p->slots, etype, &raw)); break;
    case 1: CHECK_OK(MPI_Type_create_indexed_block(p->count_slots, 1, p->slots, etype, &raw)); break;
    default: CHECK_OK(MPI_Type_create_hindexed(p->count_slots, lengths, bytes, etype, &raw));
    }
    CHECK_OK(MPI_Type_create_resized(raw, 0, (MPI_Aint)slots * file_bytes(), &filetype));
    CHECK_OK(MPI_Type_commit(&filetype));
    CHECK_OK(MPI_Type_free(&raw));
    return filetype;
}

/* The memory of p->count etypes with gaps between them. */
static MPI_Datatype make_memory(const struct plan *p, MPI_Datatype etype, int *count)
{
    MPI_Datatype memory;

    if (p->is_derived) {
        CHECK_OK(MPI_Type_vector(p->count, 1, 1 + p->gap, etype, &memory));
        *count = 1;
    } else {
        CHECK_OK(MPI_Type_create_resized(etype, 0, (MPI_Aint)(1 + p->gap) * elements * basic.size, &memory));
        *count = p->count;
    }
    CHECK_OK(MPI_Type_commit(&memory));
    return memory;
}

/* --- access --- */

struct request {
    void *buf;
    int count;
    MPI_Datatype type;
    MPI_Offset offset;
    int by_pointer;
};

/* Beside other communication. */
static void finish(MPI_Request request, MPI_Status *status)
{
    int flag = 0;

    if (request != MPI_REQUEST_NULL && round_key % 3 == 0)
        for (int i = 0; i < 1000 && !flag; i++)
            CHECK_OK(MPI_Test(&request, &flag, status));
    if (!flag)
        CHECK_OK(MPI_Wait(&request, status));
}

#define BY_WAY(name, ...) \
    do { \
        if (r->by_pointer) \
            CHECK_OK(MPI_File_##name(fh, r->buf, r->count, r->type, __VA_ARGS__)); \
        else \
            CHECK_OK(MPI_File_##name##_at_(fh, r->offset, r->buf, r->count, r->type, __VA_ARGS__)); \
    } while (0)
#define MPI_File_read_at_ MPI_File_read_at
#define MPI_File_write_at_ MPI_File_write_at
#define MPI_File_iread_at_ MPI_File_iread_at
#define MPI_File_iwrite_at_ MPI_File_iwrite_at

static void access_alone(enum way way, const struct request *r, MPI_Status *status)
{
    MPI_Request request = MPI_REQUEST_NULL;

    if (way == ALONE && is_write)
        BY_WAY(write, status);
    else if (way == ALONE)
        BY_WAY(read, status);
    else if (is_write)
        BY_WAY(iwrite, &request);
    else
        BY_WAY(iread, &request);
    if (way == PENDING)
        finish(request, status);
}

static void access_together(const struct request *r, MPI_Status *status)
{
    if (is_write && r->by_pointer)
        CHECK_OK(MPI_File_write_all(fh, r->buf, r->count, r->type, status));
    else if (is_write)
        CHECK_OK(MPI_File_write_at_all(fh, r->offset, r->buf, r->count, r->type, status));
    else if (r->by_pointer)
        CHECK_OK(MPI_File_read_all(fh, r->buf, r->count, r->type, status));
    else
        CHECK_OK(MPI_File_read_at_all(fh, r->offset, r->buf, r->count, r->type, status));
}

static void access_later(const struct request *r, MPI_Status *status)
{
    MPI_Request request = MPI_REQUEST_NULL;

    if (is_write && r->by_pointer)
        CHECK_OK(MPI_File_iwrite_all(fh, r->buf, r->count, r->type, &request));
    else if (is_write)
        CHECK_OK(MPI_File_iwrite_at_all(fh, r->offset, r->buf, r->count, r->type, &request));
    else if (r->by_pointer)
        CHECK_OK(MPI_File_iread_all(fh, r->buf, r->count, r->type, &request));
    else
        CHECK_OK(MPI_File_iread_at_all(fh, r->offset, r->buf, r->count, r->type, &request));
    finish(request, status);
}

static void access_split(const struct request *r, MPI_Status *status)
{
    if (is_write && r->by_pointer) {
        CHECK_OK(MPI_File_write_all_begin(fh, r->buf, r->count, r->type));
        CHECK_OK(MPI_File_write_all_end(fh, r->buf, status));
    } else if (is_write) {
        CHECK_OK(MPI_File_write_at_all_begin(fh, r->offset, r->buf, r->count, r->type));
        CHECK_OK(MPI_File_write_at_all_end(fh, r->buf, status));
    } else if (r->by_pointer) {
        CHECK_OK(MPI_File_read_all_begin(fh, r->buf, r->count, r->type));
        CHECK_OK(MPI_File_read_all_end(fh, r->buf, status));
    } else {
        CHECK_OK(MPI_File_read_at_all_begin(fh, r->offset, r->buf, r->count, r->type));
        CHECK_OK(MPI_File_read_at_all_end(fh, r->buf, status));
    }
}

static void access_file(enum way way, const struct request *r, MPI_Status *status)
{
    if (way == TOGETHER || way == EXCHANGE)
        access_together(r, status);
    else if (way == LATER)
        access_later(r, status);
    else if (way == SPLIT)
        access_split(r, status);
    else
        access_alone(way, r, status);
}

/* How many of the etypes from p->offset on lie before the end of the file, when it has `bytes` of the one that it
 * cuts. */
static int readable(const struct plan *p, int *bytes)
{
    int n = 0;

    *bytes = 0;
    while (n < p->count && place(p, p->offset + n) + file_bytes() <= file_end)
        n++;
    if (n < p->count && place(p, p->offset + n) < file_end)
        *bytes = (int)(file_end - place(p, p->offset + n));
    return n;
}

static void write_model(const struct plan *plans)
{
    const int size = rep == 2 ? basic.external : basic.size;

    for (int rank = 0; rank < test_size; rank++) {
        const struct plan *const p = &plans[rank];

        for (int i = 0; i < p->count; i++) {
            const long long at = place(p, p->offset + i);

            for (int e = 0; e < elements; e++)
                put_in_file(file + at + e * size, value_of(rank, i * elements + e));
            if (at + file_bytes() > file_end)
                file_end = at + file_bytes();
        }
    }
}

/* --- memory --- */

static unsigned char *etype_in(unsigned char *memory, const struct plan *p, int i)
{
    return memory + (size_t)i * (size_t)(1 + p->gap) * (size_t)(elements * basic.size);
}

static void fill_memory(unsigned char *memory, const struct plan *p)
{
    for (int i = 0; i < p->count; i++)
        for (int e = 0; e < elements; e++)
            put(etype_in(memory, p, i) + e * basic.size, value_of(test_rank, i * elements + e));
}

/* An element in memory, from the bytes in the file. */
static void get_from_file(unsigned char *to, const unsigned char *from)
{
    unsigned char turned[16];
    int number;
    long wide;

    if (rep != 2) {
        memcpy(to, from, (size_t)basic.size);
        return;
    }
    for (int i = 0; i < basic.external; i++)
        turned[i] = from[basic.external - 1 - i];
    memcpy(&number, turned, sizeof number);
    wide = number;
    memcpy(to, basic.external == basic.size ? turned : (unsigned char *)&wide, (size_t)basic.size);
}

static void check_memory(const unsigned char *memory, const struct plan *p, int whole, int bytes, const char *what)
{
    const int size = rep == 2 ? basic.external : basic.size, etype = elements * basic.size;
    const int more = bytes / size; /* elements of the etype that is cut */
    unsigned char want[64];

    for (int i = 0; i < p->count; i++) {
        const unsigned char *const got = etype_in((unsigned char *)(uintptr_t)memory, p, i);
        const int n = i < whole ? elements : i == whole ? more : 0;

        for (int e = 0; e < n; e++) {
            get_from_file(want, file + place(p, p->offset + i) + e * size);
            if (memcmp(got + e * basic.size, want, (size_t)basic.size))
                test_fail(__FILE__, __LINE__, what, "element %d of etype %d at offset %d differs", e, i, p->offset);
        }
        if (i > whole)
            CHECK_UNTOUCHED(got, (size_t)etype);
        if (p->gap && i + 1 < p->count)
            CHECK_UNTOUCHED(got + etype, (size_t)(p->gap * etype));
    }
}

static void check_status(const MPI_Status *status, int count)
{
    int got = -1, flag = -1;

    CHECK_OK(MPI_Get_elements(status, basic.type, &got));
    CHECK_INT(got, count);
    CHECK_OK(MPI_Test_cancelled(status, &flag));
    CHECK_INT(flag, 0);
}

/* --- rounds --- */

static void set_position(const struct plan *p)
{
    MPI_Offset size = 0, position = -1;

    if (round_key % 3 == 0) {
        CHECK_OK(MPI_File_seek(fh, p->offset + 5, MPI_SEEK_SET));
        CHECK_OK(MPI_File_seek(fh, -5, MPI_SEEK_CUR));
    } else if (round_key % 3 == 1) {
        while (place(p, (int)size) < file_end)
            size++;
        CHECK_OK(MPI_File_seek(fh, p->offset - size, MPI_SEEK_END));
    } else {
        CHECK_OK(MPI_File_seek(fh, p->offset, MPI_SEEK_SET));
    }
    CHECK_OK(MPI_File_get_position(fh, &position));
    CHECK_INT(position, p->offset);
    CHECK_OK(MPI_File_get_byte_offset(fh, position, &position));
    CHECK_INT(position, place(p, p->offset));
}

static void check_position(const struct plan *p, enum way way, int whole, int bytes)
{
    MPI_Offset position = -1;

    (void)bytes;
    CHECK_OK(MPI_File_get_position(fh, &position));
    if (!is_write && way != PENDING && way != LATER && way != SPLIT && whole < p->count)
        CHECK(position >= p->offset + whole && position <= p->offset + p->count, "position is %lld",
              (long long)position);
    else
        CHECK_INT(position, p->offset + p->count);
}

static void access_and_check(enum way way, const struct plan *plans, MPI_Datatype etype, const char *what)
{
    const struct plan *const p = &plans[test_rank];
    const size_t size = (size_t)(p->count + 1) * (size_t)(1 + p->gap) * (size_t)(elements * basic.size);
    unsigned char *memory = test_alloc(size);
    MPI_Status status = test_dirty_status();
    struct request r = { memory, 0, MPI_DATATYPE_NULL, p->offset, p->by_pointer };
    int whole, bytes;

    r.type = make_memory(p, etype, &r.count);
    if (is_write)
        fill_memory(memory, p);
    if (p->by_pointer)
        set_position(p);
    whole = readable(p, &bytes);
    if (is_write)
        MPI_Barrier(MPI_COMM_WORLD); /* who seeks from the end has done it */
    access_file(way, &r, &status);
    if (is_write)
        check_status(&status, p->count * elements);
    else if (rep != 2 && bytes % basic.size)
        check_status(&status, MPI_UNDEFINED); /* a part of an element has come */
    else
        check_status(&status, whole * elements + bytes / (rep == 2 ? basic.external : basic.size));
    if (!is_write)
        check_memory(memory, p, whole, bytes, what);
    if (p->by_pointer)
        check_position(p, way, whole, bytes);
    if (is_write)
        write_model(plans);
    CHECK_OK(MPI_Type_free(&r.type));
    free(memory);
}

static void play(enum way way, int number)
{
    static struct plan plans[64];
    uint64_t state = round_key = test_key((uint64_t)way, (uint64_t)number, 17);
    MPI_Datatype etype, filetype;
    char what[64];

    snprintf(what, sizeof what, "way %d, round %d", way, number);
    make_plans(way, plans, &state);
    etype = make_etype();
    filetype = make_filetype(&plans[test_rank], etype, &state);
    CHECK_OK(MPI_File_set_view(fh, disp, etype, filetype, reps[rep], MPI_INFO_NULL));
    CHECK_OK(MPI_Type_free(&filetype));
    if (round_key % 7 < 2)
        CHECK_OK(MPI_File_set_atomicity(fh, (int)(round_key % 7)));
    access_and_check(way, plans, etype, what);
    CHECK_OK(MPI_Type_free(&etype));
    if (round_key % 11 == 0)
        CHECK_OK(MPI_File_sync(fh));
    MPI_Barrier(MPI_COMM_WORLD); /* one machine: what is written is seen */
}

/* The whole file is what it must be. */
static void check_file(const char *path)
{
    unsigned char *bytes = test_alloc(FILE_MAX);
    const int fd = open(path, O_RDONLY);

    CHECK_INT(file_size(path), file_end);
    CHECK_INT(read(fd, bytes, FILE_MAX), file_end);
    for (long long i = 0; i < file_end; i++)
        if (bytes[i] != file[i])
            test_fail(__FILE__, __LINE__, "the file", "byte %lld: expected 0x%02x, got 0x%02x", i, file[i], bytes[i]);
    close(fd);
    free(bytes);
}

static MPI_Info make_hints(enum way way)
{
    MPI_Info info;

    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "cb_buffer_size", test_seed % 2 ? "4096" : "65536"));
    CHECK_OK(MPI_Info_set(info, "cb_block_size", "64"));
    CHECK_OK(MPI_Info_set(info, "cb_nodes", way % 2 ? "3" : "2"));
    if (way != TOGETHER) {
        CHECK_OK(MPI_Info_set(info, "romio_cb_read", "enable"));
        CHECK_OK(MPI_Info_set(info, "romio_cb_write", "enable"));
    }
    return info;
}

int main(int argc, char *argv[])
{
    static const char *const names[WAYS] = { "alone", "pending", "together", "exchange", "later", "split" };
    int rounds, way = WAYS;
    const char *path;
    MPI_Info info;

    file_begin(&argc, &argv);
    while (way-- && argc > 1 && strcmp(argv[1], names[way]))
        ;
    CHECK(way >= 0 && test_size <= 64, "what is to be played?");
    rounds = argc > 2 ? atoi(argv[2]) : 120;
    path = file_path("model");
    info = make_hints((enum way)way);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &fh));
    CHECK_OK(MPI_Info_free(&info));
    for (int i = 0; i < rounds; i++)
        play((enum way)way, i);
    MPI_Barrier(MPI_COMM_WORLD);
    check_file(path);
    CHECK_OK(MPI_File_close(&fh));
    return file_finish();
}
