/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room p2p: parcels of a process to itself, as they are and over a transport that delays and refuses;
 * begun in order, any length, beside messages of the same communicator; answers from the sink; no memory on either
 * side. */
#include "p2p/parcel.h"

#include <stdlib.h>
#include <string.h>

#include "p2p/alone.h"
#include "p2p/int_p2p.h"

enum { COUNT = 200, LONG = 100000, ANSWER = 1 << 20 };

static struct comm comm = { .size = 1, .remote_size = 1, .ctx = 2, .obj = { .predefined = 1 } };
static char data[LONG];

static struct {
    size_t len;
    uint32_t word;
    char *place;
} got[COUNT];

static unsigned begun, ended, answers, gone, refusals;

static size_t len_of(unsigned i)
{
    static const size_t lens[] = { 0, 8, 41, 161, 5000, 32768, 32769, LONG };

    return lens[i % ARRAY_LEN(lens)];
}

static void *begin(void *arg, int rank, uint32_t word, size_t len, void **token)
{
    *token = NULL;
    CHECK(arg == &comm && rank == 0);
    if (word & ANSWER) {
        CHECK(len == 4);
        return &answers; /* the bytes are not looked at */
    }
    if (refusals && refusals--)
        return NULL;
    CHECK(begun < COUNT);
    got[begun].len = len;
    got[begun].word = word;
    got[begun].place = malloc(len + 1);
    return got[begun++].place;
}

/* Each is answered by a short one, from here. */
static void end(void *arg, void *place, int rc)
{
    (void)arg;
    CHECK_INT(rc, 0);
    if (place == &answers) {
        answers = 0;
        return;
    }
    ended++;
    if (ended % 10 == 0)
        CHECK_INT(p2p_parcel_send(&comm, 0, ANSWER, "\1\2\3\4", 4, NULL, NULL), 0);
}

static void count_gone(void *arg)
{
    (void)arg;
    gone++;
}

static const struct p2p_parcel_sink sink = { .begin = begin, .end = end };

static void open_all(const char *net)
{
    alone_open(net, &comm);
    mem_fail_after(0);
    CHECK_INT(err_class(p2p_box_open(&comm, &sink, &comm)), MPI_ERR_NO_MEM);
    mem_fail_after(-1);
    CHECK_INT(p2p_box_open(&comm, &sink, &comm), 0);
    begun = ended = gone = 0;
}

static void close_all(void)
{
    p2p_flush();
    CHECK_INT(p2p_box_pending(&comm), 0);
    p2p_box_close(&comm);
    alone_close(&comm);
    for (unsigned i = 0; i < begun; i++)
        free(got[i].place);
}

static int send(unsigned i, p2p_letter_gone *then)
{
    return p2p_parcel_send(&comm, 0, i, data, len_of(i), then, NULL);
}

static void check_got(unsigned count)
{
    while (ended < count)
        progress_poll();
    CHECK_INT(begun, count);
    for (unsigned i = 0; i < count; i++)
        CHECK(got[i].word == i && got[i].len == len_of(i) && !memcmp(got[i].place, data, len_of(i)));
}

static void check_order(const char *net, unsigned refuse)
{
    struct req *req;
    int value = 0;

    open_all(net);
    refusals = refuse;
    CHECK_INT(p2p_irecv(&comm, &value, 1, obj_type(MPI_INT), 0, 5, 0, &req), 0);
    for (unsigned i = 0; i < COUNT; i++) {
        CHECK_INT(send(i, i % 3 ? NULL : count_gone), 0);
        if (i == COUNT / 2)
            CHECK_INT(p2p_send(&comm, &(int){ 42 }, 1, obj_type(MPI_INT), 0, 5), 0);
    }
    check_got(COUNT);
    while (p2p_box_pending(&comm))
        progress_poll();
    CHECK_INT(gone, (COUNT + 2) / 3);
    CHECK_INT(req_wait(&(MPI_Request){ (MPI_Request)req }, MPI_STATUS_IGNORE), 0);
    CHECK_INT(value, 42);
    CHECK_INT(refusals, 0);
    close_all();
}

static int send_only(unsigned i)
{
    return send(i, NULL);
}

static void check_no_memory(void)
{
    open_all("chaos");
    check_got(alone_send_without_memory(send_only));
    close_all();
}

int main(void)
{
    group_init();
    type_init();
    progress_init(&(struct progress_config){ .local_ranks = 1 });
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 7);
    check_order("", 0);
    check_order("chaos", 0);
    check_order("", 7);
    check_order("chaos", 7);
    check_no_memory();
    progress_fini();
    type_fini();
    return 0;
}
