/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §5.1.11: derived types in every mode of point-to-point communication. What matters is the sequence of
 * elements: the receiver may use another type with the same sequence. Gaps keep the receiver's bytes. Types are
 * freed while the communication goes on (§5.1.9). */
#include "layouts.h"

enum { TAG = 4, MODES = 13, BSEND_ROOM = 1 << 20 };

static const char *const names[MODES] = { "send", "ssend", "bsend", "isend", "issend", "ibsend", "persistent",
                                          "sendrecv", "isendrecv", "mprobe", "freed", "partitioned", "irsend" };

/* One message from the left neighbour to the right. */
struct message {
    const void *out;
    void *in;
    int out_count, in_count;
    MPI_Datatype out_type, in_type;
    int left, right;
};

static void start_send(int mode, const struct message *m, MPI_Request *req)
{
    switch (mode) {
    case 2: case 5:
        CHECK_OK(MPI_Ibsend(m->out, m->out_count, m->out_type, m->right, TAG, MPI_COMM_WORLD, req));
        break;
    case 1: case 4:
        CHECK_OK(MPI_Issend(m->out, m->out_count, m->out_type, m->right, TAG, MPI_COMM_WORLD, req));
        break;
    default:
        CHECK_OK(MPI_Isend(m->out, m->out_count, m->out_type, m->right, TAG, MPI_COMM_WORLD, req));
    }
}

static void blocking_send(int mode, const struct message *m)
{
    if (mode == 0)
        CHECK_OK(MPI_Send(m->out, m->out_count, m->out_type, m->right, TAG, MPI_COMM_WORLD));
    else if (mode == 1)
        CHECK_OK(MPI_Ssend(m->out, m->out_count, m->out_type, m->right, TAG, MPI_COMM_WORLD));
    else
        CHECK_OK(MPI_Bsend(m->out, m->out_count, m->out_type, m->right, TAG, MPI_COMM_WORLD));
}

/* Receive posted, then a blocking send. */
static void run_blocking(int mode, const struct message *m, MPI_Status *st)
{
    MPI_Request req;

    CHECK_OK(MPI_Irecv(m->in, m->in_count, m->in_type, m->left, TAG, MPI_COMM_WORLD, &req));
    blocking_send(mode, m);
    CHECK_OK(MPI_Wait(&req, st));
}

/* The send comes first, often before the receive is posted; a blocking receive. */
static void run_nonblocking(int mode, const struct message *m, MPI_Status *st)
{
    MPI_Request req;
    MPI_Message msg;

    start_send(mode, m, &req);
    if (mode == 9) {
        CHECK_OK(MPI_Mprobe(m->left, TAG, MPI_COMM_WORLD, &msg, st));
        CHECK_OK(MPI_Mrecv(m->in, m->in_count, m->in_type, &msg, st));
    } else {
        CHECK_OK(MPI_Recv(m->in, m->in_count, m->in_type, m->left, TAG, MPI_COMM_WORLD, st));
    }
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
}

static void run_ready(const struct message *m, MPI_Status *st)
{
    MPI_Request reqs[2];
    MPI_Status sts[2];

    CHECK_OK(MPI_Irecv(m->in, m->in_count, m->in_type, m->left, TAG, MPI_COMM_WORLD, &reqs[0]));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Irsend(m->out, m->out_count, m->out_type, m->right, TAG, MPI_COMM_WORLD, &reqs[1]));
    CHECK_OK(MPI_Waitall(2, reqs, sts));
    *st = sts[0];
}

static void run_persistent(const struct message *m, MPI_Status *st)
{
    MPI_Datatype out, in;
    MPI_Request reqs[2];
    MPI_Status sts[2];
    int i;

    CHECK_OK(MPI_Type_dup(m->out_type, &out));
    CHECK_OK(MPI_Type_dup(m->in_type, &in));
    CHECK_OK(MPI_Send_init(m->out, m->out_count, out, m->right, TAG, MPI_COMM_WORLD, &reqs[0]));
    CHECK_OK(MPI_Recv_init(m->in, m->in_count, in, m->left, TAG, MPI_COMM_WORLD, &reqs[1]));
    CHECK_OK(MPI_Type_free(&out));
    CHECK_OK(MPI_Type_free(&in));
    for (i = 0; i < 2; i++) {
        CHECK_OK(MPI_Startall(2, reqs));
        CHECK_OK(MPI_Waitall(2, reqs, sts));
    }
    *st = sts[1];
    CHECK_OK(MPI_Request_free(&reqs[0]));
    CHECK_OK(MPI_Request_free(&reqs[1]));
}

static void run_freed(const struct message *m, MPI_Status *st)
{
    MPI_Datatype out, in;
    MPI_Request reqs[2];
    MPI_Status sts[2];

    CHECK_OK(MPI_Type_dup(m->out_type, &out));
    CHECK_OK(MPI_Type_dup(m->in_type, &in));
    CHECK_OK(MPI_Irecv(m->in, m->in_count, in, m->left, TAG, MPI_COMM_WORLD, &reqs[0]));
    CHECK_OK(MPI_Isend(m->out, m->out_count, out, m->right, TAG, MPI_COMM_WORLD, &reqs[1]));
    CHECK_OK(MPI_Type_free(&out));
    CHECK_OK(MPI_Type_free(&in));
    CHECK(out == MPI_DATATYPE_NULL && in == MPI_DATATYPE_NULL, "the handles are not null");
    CHECK_OK(MPI_Waitall(2, reqs, sts));
    *st = sts[0];
}

static void run_sendrecv(int mode, const struct message *m, MPI_Status *st)
{
    MPI_Request req;

    if (mode == 7) {
        CHECK_OK(MPI_Sendrecv(m->out, m->out_count, m->out_type, m->right, TAG, m->in, m->in_count, m->in_type,
                              m->left, TAG, MPI_COMM_WORLD, st));
    } else {
        NEEDS(MPI_Isendrecv(m->out, m->out_count, m->out_type, m->right, TAG, m->in, m->in_count, m->in_type,
                            m->left, TAG, MPI_COMM_WORLD, &req));
        CHECK_OK(MPI_Wait(&req, st));
    }
}

/* Two partitions on the side of the sender, one on the other. */
static void run_partitioned(const struct message *m, MPI_Status *st)
{
    const int parts = m->out_count % 2 ? 1 : 2;
    MPI_Request reqs[2];
    MPI_Status sts[2];

    CHECK_OK(MPI_Precv_init(m->in, 1, m->in_count, m->in_type, m->left, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &reqs[0]));
    CHECK_OK(MPI_Psend_init(m->out, parts, m->out_count / parts, m->out_type, m->right, TAG, MPI_COMM_WORLD,
                            MPI_INFO_NULL, &reqs[1]));
    CHECK_OK(MPI_Startall(2, reqs));
    CHECK_OK(MPI_Pready_range(0, parts - 1, reqs[1]));
    CHECK_OK(MPI_Waitall(2, reqs, sts));
    *st = sts[0];
    CHECK_OK(MPI_Request_free(&reqs[0]));
    CHECK_OK(MPI_Request_free(&reqs[1]));
}

static void run(int mode, const struct message *m, MPI_Status *st)
{
    switch (mode) {
    case 0: case 1: case 2: run_blocking(mode, m, st); break;
    case 3: case 4: case 5: case 9: run_nonblocking(mode, m, st); break;
    case 6: run_persistent(m, st); break;
    case 7: case 8: run_sendrecv(mode, m, st); break;
    case 10: run_freed(m, st); break;
    case 11: run_partitioned(m, st); break;
    default: run_ready(m, st);
    }
}

/* `other`: the receiver's type has the same elements in other places. */
static void check_mode(int mode, const struct layout *l, MPI_Datatype other, int count)
{
    const int left = (test_rank + test_size - 1) % test_size, right = (test_rank + 1) % test_size;
    const size_t len = (size_t)l->size * (size_t)count;
    struct buffer out = buffer_make(l->low, l->high, l->extent, count);
    struct buffer in = buffer_make(l->low, l->high, l->extent, count), want = in;
    unsigned char *stream = test_alloc(len), *elsewhere = test_alloc((size_t)(16 * l->count * count));
    struct message m = { out.buf, in.buf, count, count, l->type, l->type, left, right };
    int got = -1, back = -1;
    MPI_Status st = test_dirty_status();

    /* what comes from the left */
    test_fill(out.memory, out.len, test_key((uint64_t)left, (uint64_t)mode, (uint64_t)count));
    layout_stream(l, out.buf, count, stream);
    want.memory = test_alloc(want.len);
    want.buf = want.memory + (in.buf - in.memory);
    layout_place(l, want.buf, len, stream);
    test_fill(out.memory, out.len, test_key((uint64_t)test_rank, (uint64_t)mode, (uint64_t)count));

    run(mode, &m, &st);
    CHECK_SAME(in.memory, want.memory, in.len, l);
    CHECK_INT(st.MPI_SOURCE, left);
    CHECK_OK(MPI_Get_count(&st, l->type, &got));
    CHECK_INT(got, l->size ? count : 0);
    CHECK_OK(MPI_Get_elements(&st, l->type, &got));
    CHECK_INT(got, l->count * count);

    /* the same into other places, and back from there by hand */
    m.in = elsewhere;
    m.in_type = other;
    run(mode, &m, &st);
    CHECK_OK(MPI_Pack(elsewhere, count, other, out.memory, (int)len, (back = 0, &back), MPI_COMM_WORLD));
    CHECK_INT(back, len);
    CHECK_SAME(out.memory, stream, len, l);
    free(out.memory);
    free(in.memory);
    free(want.memory);
    free(stream);
    free(elsewhere);
}

/* In and out at once: MPI_Sendrecv_replace. */
static void check_replace(const struct layout *l, int count)
{
    const int left = (test_rank + test_size - 1) % test_size, right = (test_rank + 1) % test_size;
    const size_t len = (size_t)l->size * (size_t)count;
    struct buffer b = buffer_make(l->low, l->high, l->extent, count);
    unsigned char *want = test_alloc(b.len), *stream = test_alloc(len);

    test_fill(b.memory, b.len, test_key((uint64_t)left, 99, 1));
    layout_stream(l, b.buf, count, stream);
    test_fill(b.memory, b.len, test_key((uint64_t)test_rank, 99, 1));
    memcpy(want, b.memory, b.len);
    layout_place(l, want + (b.buf - b.memory), len, stream);
    CHECK_OK(MPI_Sendrecv_replace(b.buf, count, l->type, right, TAG, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_SAME(b.memory, want, b.len, l);
    free(b.memory);
    free(want);
    free(stream);
}

int main(int argc, char **argv)
{
    static const int bytes[] = { 1, 400, 9000, 100000 }; /* all protocols */
    void *room;
    int i, k, mode, count, len;

    test_begin(&argc, &argv);
    room = test_alloc(BSEND_ROOM);
    CHECK_OK(MPI_Buffer_attach(room, BSEND_ROOM));
    for (i = 0; i < LAYOUTS; i++) {
        struct layout l = layout_make(i);
        MPI_Datatype other = layout_other(&l);

        for (k = 0; k < (int)(sizeof bytes / sizeof bytes[0]); k++) {
            count = l.size ? (bytes[k] + l.size - 1) / l.size : 2;
            if (strcmp(l.name, "resized column") == 0 && count > 300)
                count = 300;
            for (mode = 0; mode < MODES; mode++)
                if (!names[mode] || argc < 2 || strcmp(argv[1], names[mode]) == 0)
                    check_mode(mode, &l, other, count);
            check_replace(&l, count);
        }
        CHECK_OK(MPI_Type_free(&l.type));
        CHECK_OK(MPI_Type_free(&other));
    }
    CHECK_OK(MPI_Buffer_detach(&room, &len));
    free(room);
    return test_end();
}
