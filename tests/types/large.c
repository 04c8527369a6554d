/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §5.1.11: long messages between layouts that differ, each with each: what arrives is the sequence of elements,
 * and gaps keep the receiver's bytes. Blocks of a few KB, which a library may copy from layout to layout without
 * packing, and small ones, which it packs; in several modes; received shorter than sent (§3.2.4). */
#include "mpitest.h"

enum { TAG = 6, BLOCKS = 2000, KINDS = 10, MODES = 7, ITEMS = 4, FINE = 256 };

/* An item: blocks of ints at displacements in bytes, in the order of the type map. */
struct layout {
    MPI_Datatype type;
    int count, items;          /* blocks in an item; items in the message */
    int length[BLOCKS];
    MPI_Aint disp[BLOCKS], extent;
    MPI_Aint low, high;        /* of the bytes of all items, from the buffer's address */
};

static uint64_t state = 1;

static int any(int below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)below);
}

static void add(struct layout *l, MPI_Aint disp, int length)
{
    CHECK(l->count < BLOCKS, "more blocks than this program has room for");
    l->disp[l->count] = disp;
    l->length[l->count++] = length;
}

/* `n` ints in blocks of up to `most` ints with gaps; `begin` is where the first one may lie. */
static void scatter(struct layout *l, int n, int most, MPI_Aint begin)
{
    MPI_Aint at = begin;
    int len;

    for (; n > 0; n -= len, at += 4 * (len + any(40))) {
        len = 1 + any(most);
        len = len < n ? len : n;
        add(l, at, len);
    }
}

static void shuffle(struct layout *l)
{
    int i, k, length;
    MPI_Aint disp;

    for (i = l->count - 1; i > 0; i--) {
        k = any(i + 1);
        disp = l->disp[i];
        length = l->length[i];
        l->disp[i] = l->disp[k];
        l->length[i] = l->length[k];
        l->disp[k] = disp;
        l->length[k] = length;
    }
}

static void even_blocks(struct layout *l, int n, int length, MPI_Aint stride)
{
    MPI_Aint at = 0;
    int len;

    for (; n > 0; n -= len, at += stride) {
        len = n < length ? n : length;
        add(l, at, len);
    }
}

/* A vector and what is left over, as one struct. */
static void make_vector(struct layout *l, int n, int length, MPI_Aint stride)
{
    const int whole = n / length, lengths[] = { 1, n % length };
    const MPI_Aint disps[] = { 0, whole * stride };
    MPI_Datatype types[] = { MPI_DATATYPE_NULL, MPI_INT };

    even_blocks(l, n, length, stride);
    CHECK_OK(MPI_Type_create_hvector(whole, length, stride, MPI_INT, &types[0]));
    CHECK_OK(MPI_Type_create_struct(2, lengths, disps, types, &l->type));
    CHECK_OK(MPI_Type_free(&types[0]));
}

static void make_listed(struct layout *l)
{
    CHECK_OK(MPI_Type_create_hindexed(l->count, l->length, l->disp, MPI_INT, &l->type));
}

/* Every block a type of its own. */
static void make_struct(struct layout *l)
{
    MPI_Datatype types[BLOCKS];
    int ones[BLOCKS], i;

    for (i = 0; i < l->count; i++) {
        CHECK_OK(MPI_Type_contiguous(l->length[i], MPI_INT, &types[i]));
        ones[i] = 1;
    }
    CHECK_OK(MPI_Type_create_struct(l->count, ones, l->disp, types, &l->type));
    for (i = 0; i < l->count; i++)
        CHECK_OK(MPI_Type_free(&types[i]));
}

/* Several items; a lower bound below 0; with `is_backwards` each item lies before the one before it. */
static void resize(struct layout *l, MPI_Aint lb, MPI_Aint extent)
{
    MPI_Datatype resized;

    CHECK_OK(MPI_Type_create_resized(l->type, lb, extent, &resized));
    CHECK_OK(MPI_Type_free(&l->type));
    l->type = resized;
    l->extent = extent;
}

/* `n` ints in all; a multiple of ITEMS. */
static void layout_make(struct layout *l, int kind, int n)
{
    memset(l, 0, sizeof *l);
    l->items = 1;
    switch (kind) {
    case 0:
        add(l, 0, n);
        CHECK_OK(MPI_Type_contiguous(n, MPI_INT, &l->type));
        break;
    case 1: make_vector(l, n, 512, 4096); break;
    case 2: make_vector(l, n, 300, 1204); break;
    case 3: scatter(l, n, 2000, 64); make_listed(l); break;
    case 4: scatter(l, n, 2000, -70000); shuffle(l); make_listed(l); break;
    case 5: scatter(l, n, 1500, 8); make_struct(l); break;
    case 6: /* items between each other */
        l->items = ITEMS;
        even_blocks(l, n / ITEMS, 512, ITEMS * 2304);
        make_listed(l);
        resize(l, -100, 2304);
        break;
    case 7: /* items backwards, in memory that begins far below the address */
        l->items = ITEMS;
        scatter(l, n / ITEMS, 1800, -400);
        make_listed(l);
        resize(l, -4000, -(l->disp[l->count - 1] + 4 * l->length[l->count - 1] + 500));
        break;
    case 8: /* one long block, many of 4 bytes */
        even_blocks(l, FINE, 1, 12);
        add(l, 12 * FINE + 4, n - FINE);
        make_listed(l);
        break;
    default: /* small blocks only */
        make_vector(l, n, n / 1000 + 1, 4 * (n / 1000 + 3));
    }
    CHECK_OK(MPI_Type_commit(&l->type));
}

static void layout_measure(struct layout *l)
{
    int item, i;

    for (item = 0; item < l->items; item++)
        for (i = 0; i < l->count; i++) {
            const MPI_Aint at = item * l->extent + l->disp[i], end = at + 4 * l->length[i];
            l->low = at < l->low || (!item && !i) ? at : l->low;
            l->high = end > l->high || (!item && !i) ? end : l->high;
        }
}

/* The first `n` ints of the sequence: number i is key + i. */
static void place(const struct layout *l, char *buf, int n, int key)
{
    int item, i, k, done = 0;

    for (item = 0; item < l->items; item++)
        for (i = 0; i < l->count; i++)
            for (k = 0; k < l->length[i] && done < n; k++, done++) {
                const int value = key + done;
                memcpy(buf + item * l->extent + l->disp[i] + 4 * k, &value, 4);
            }
}

struct message {
    const struct layout *out, *in;
    char *send, *recv;
    int left, right;
};

static void send_recv(int mode, const struct message *m, int items, MPI_Status *st)
{
    MPI_Request reqs[2];

    CHECK_OK(MPI_Irecv(m->recv, items, m->in->type, m->left, TAG, MPI_COMM_WORLD, &reqs[0]));
    if (mode == 0) {
        CHECK_OK(MPI_Send(m->send, m->out->items, m->out->type, m->right, TAG, MPI_COMM_WORLD));
        CHECK_OK(MPI_Wait(&reqs[0], st));
        return;
    }
    if (mode == 1)
        CHECK_OK(MPI_Issend(m->send, m->out->items, m->out->type, m->right, TAG, MPI_COMM_WORLD, &reqs[1]));
    else
        CHECK_OK(MPI_Isend(m->send, m->out->items, m->out->type, m->right, TAG, MPI_COMM_WORLD, &reqs[1]));
    CHECK_OK(MPI_Wait(&reqs[0], st));
    CHECK_OK(MPI_Wait(&reqs[1], MPI_STATUS_IGNORE));
}

/* The send first, the receive later: the message waits as an offer. */
static void send_first(int mode, const struct message *m, int items, MPI_Status *st)
{
    MPI_Request req;
    MPI_Message msg;

    CHECK_OK(MPI_Isend(m->send, m->out->items, m->out->type, m->right, TAG, MPI_COMM_WORLD, &req));
    if (mode == 3) {
        CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &msg, st));
        CHECK_OK(MPI_Mrecv(m->recv, items, m->in->type, &msg, st));
    } else {
        CHECK_OK(MPI_Recv(m->recv, items, m->in->type, m->left, TAG, MPI_COMM_WORLD, st));
    }
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
}

static void send_persistent(const struct message *m, int items, MPI_Status *st)
{
    MPI_Request reqs[2];
    MPI_Status sts[2];
    int i;

    CHECK_OK(MPI_Send_init(m->send, m->out->items, m->out->type, m->right, TAG, MPI_COMM_WORLD, &reqs[0]));
    CHECK_OK(MPI_Recv_init(m->recv, items, m->in->type, m->left, TAG, MPI_COMM_WORLD, &reqs[1]));
    for (i = 0; i < 3; i++) {
        CHECK_OK(MPI_Startall(2, reqs));
        CHECK_OK(MPI_Waitall(2, reqs, sts));
    }
    *st = sts[1];
    CHECK_OK(MPI_Request_free(&reqs[0]));
    CHECK_OK(MPI_Request_free(&reqs[1]));
}

static void run(int mode, const struct message *m, int items, MPI_Status *st)
{
    switch (mode) {
    case 0: case 1: case 2: send_recv(mode, m, items, st); break;
    case 3: case 4: send_first(mode, m, items, st); break;
    case 5: send_persistent(m, items, st); break;
    default:
        CHECK_OK(MPI_Sendrecv(m->send, m->out->items, m->out->type, m->right, TAG, m->recv, items, m->in->type, m->left,
                              TAG, MPI_COMM_WORLD, st));
    }
}

/* Memory of the layout, all of it filled; where the buffer's address is, is told. */
static char *memory_of(const struct layout *l, char **buf)
{
    char *const memory = test_alloc((size_t)(l->high - l->low));

    memset(memory, 0x5a, (size_t)(l->high - l->low));
    *buf = memory - l->low;
    return memory;
}

static void check_pair(int mode, const struct layout *out, const struct layout *in, int n, int kinds)
{
    const int left = (test_rank + test_size - 1) % test_size, right = (test_rank + 1) % test_size;
    const size_t len = (size_t)(in->high - in->low);
    struct message m = { out, in, NULL, NULL, left, right };
    char *send_memory = memory_of(out, &m.send), *recv_memory = memory_of(in, &m.recv), *want, *at;
    MPI_Status st = test_dirty_status();
    int got = -1;
    size_t i;

    want = memory_of(in, &at);
    place(in, at, n, left << 24);
    place(out, m.send, n, test_rank << 24);
    run(mode, &m, in->items, &st);
    for (i = 0; i < len; i++)
        CHECK(recv_memory[i] == want[i], "layouts %d, mode %d: byte %zu of %zu: expected 0x%02x, got 0x%02x", kinds,
              mode, i, len, want[i] & 0xff, recv_memory[i] & 0xff);
    CHECK_INT(st.MPI_SOURCE, left);
    CHECK_OK(MPI_Get_elements(&st, in->type, &got));
    CHECK_INT(got, n);
    free(send_memory);
    free(recv_memory);
    free(want);
}

/* Into a type with three quarters of the elements: an error, and what fits is there. */
static void check_short(const struct layout *out, const struct layout *in, int n)
{
    const int left = (test_rank + test_size - 1) % test_size, right = (test_rank + 1) % test_size;
    struct message m = { out, in, NULL, NULL, left, right };
    char *send_memory = memory_of(out, &m.send), *recv_memory = memory_of(in, &m.recv), *want, *at;
    MPI_Request reqs[2];
    MPI_Status st = test_dirty_status();
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int rc, len;

    want = memory_of(in, &at);
    place(in, at, n / ITEMS * (ITEMS - 1), left << 24);
    place(out, m.send, n, test_rank << 24);
    CHECK_OK(MPI_Irecv(m.recv, ITEMS - 1, in->type, left, TAG, MPI_COMM_WORLD, &reqs[0]));
    CHECK_OK(MPI_Isend(m.send, out->items, out->type, right, TAG, MPI_COMM_WORLD, &reqs[1]));
    rc = MPI_Wait(&reqs[0], &st);
    CHECK_CLASS(rc, MPI_ERR_TRUNCATE);
    CHECK_OK(MPI_Error_string(rc, text, &len));
    if (test_is_parley())
        CHECK(strstr(text, "x resized(hindexed(MPI_INT)), "), "the text does not name the type: %s", text);
    CHECK_OK(MPI_Wait(&reqs[1], MPI_STATUS_IGNORE));
    if (test_is_parley()) /* the standard leaves open what is there */
        CHECK(memcmp(recv_memory, want, (size_t)(in->high - in->low)) == 0, "a cut message is not what was sent");
    free(send_memory);
    free(recv_memory);
    free(want);
}

int main(int argc, char **argv)
{
    static struct layout out, in;
    int from, to, mode = 0, n;

    test_begin(&argc, &argv);
    for (from = 0; from < KINDS; from++)
        for (to = 0; to < KINDS; to++) {
            n = ITEMS * (10000 + any(from == to ? 100000 : 15000));
            layout_make(&out, from, n);
            layout_make(&in, to, n);
            layout_measure(&out);
            layout_measure(&in);
            check_pair(mode++ % MODES, &out, &in, n, 100 * from + to);
            if (in.items == ITEMS)
                check_short(&out, &in, n);
            CHECK_OK(MPI_Type_free(&out.type));
            CHECK_OK(MPI_Type_free(&in.type));
        }
    return test_end();
}
