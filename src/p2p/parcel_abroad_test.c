/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room p2p: parcels from and to another client of a joint job, which is played by hand. */
#include "p2p/abroad_hand.h"
#include "p2p/parcel.h"

static void poll_once(void)
{
    if (!progress_poll())
        usleep(50);
}

static struct {
    int refuse;            /* so many times there is no memory */
    int begun, ended, rc, lost;
    uint32_t word;
    size_t len;
    unsigned char bytes[LONGEST];
} parcel;

static void *parcel_begin(void *arg, int rank, uint32_t word, size_t len, void **token)
{
    CHECK(arg == &parcel && rank == 1);
    if (parcel.refuse && parcel.refuse--)
        return NULL;
    parcel.begun++;
    parcel.word = word;
    parcel.len = len;
    *token = &parcel.len;
    return parcel.bytes;
}

static void parcel_end(void *arg, void *token, int rc)
{
    CHECK(arg == &parcel && token == &parcel.len);
    parcel.ended++;
    parcel.rc = rc;
}

static void parcel_lost(void *arg, int rank)
{
    CHECK(arg == &parcel);
    parcel.lost |= 1 << rank;
}

static void parcel_job(uint32_t maxlen, uint32_t hiwater)
{
    static const struct p2p_parcel_sink sink = { parcel_begin, parcel_end, parcel_lost };

    hand_is_parley = true;
    job_open(maxlen, 1, hiwater);
    memset(&parcel, 0, sizeof parcel);
    CHECK_INT(p2p_box_open(&comm, &sink, &parcel), 0);
}

static void parcel_job_close(void)
{
    CHECK_INT(p2p_box_pending(&comm), 0);
    p2p_box_close(&comm);
    job_close();
    hand_is_parley = false;
}

static void expect_parcel(uint32_t word, size_t at, size_t len, size_t whole)
{
    const struct impi_packet packet = expect(IMPI_DATA, 1, 0);

    CHECK(packet.dtype == (uint64_t)P2P_NOTE_PARCEL << P2P_NOTE_BITS && packet.cid == 1 && !packet.lsrank);
    CHECK(packet.srqid == word && packet.count == (int64_t)whole && packet.seqnum == at && packet.msglen == len);
    CHECK_INT(packet.len, len);
    CHECK(!len || !memcmp(seen, data + at, len));
}

static void hand_parcel(uint32_t word, size_t at, size_t len, size_t whole)
{
    struct impi_packet packet = message(IMPI_DATA, 1, 0, len, len, word);

    packet.cid = 1;
    packet.count = (int64_t)whole;
    packet.seqnum = at;
    packet.dtype = (uint64_t)P2P_NOTE_PARCEL << P2P_NOTE_BITS;
    hand_send_packet(&packet, data + at);
}

static void count_gone(void *arg)
{
    ++*(int *)arg;
}

/* Cut where packets end, in order, no faster than there is credit; bytes that are not copied stay until all are out. */
static void test_parcel_send(void)
{
    int gone = 0;

    parcel_job(100, 2);
    CHECK_INT(p2p_parcel_send(&comm, 1, 7, data, 40, count_gone, &gone), 0);
    CHECK_INT(gone, 1);
    CHECK_INT(p2p_parcel_send(&comm, 1, UINT32_MAX, data, 250, count_gone, &gone), 0);
    CHECK_INT(p2p_parcel_send(&comm, 1, 9, NULL, 0, NULL, NULL), 0);
    expect_parcel(7, 0, 40, 40);
    expect_parcel(UINT32_MAX, 0, 100, 250);
    CHECK(!has_come());
    CHECK_INT(gone, 1);
    CHECK_INT(p2p_box_pending(&comm), 2);
    hand_send(IMPI_PROTOACK, 1);
    hand_send(IMPI_PROTOACK, 1);
    expect_parcel(UINT32_MAX, 100, 100, 250);
    expect_parcel(UINT32_MAX, 200, 50, 250);
    hand_send(IMPI_PROTOACK, 1);
    expect_parcel(9, 0, 0, 0);
    CHECK_INT(gone, 2);
    parcel_job_close();
}

/* To its place as it comes; what there is no memory for waits in the connection. */
static void test_parcel_recv(void)
{
    parcel_job(100, 20);
    parcel.refuse = 3;
    hand_parcel(5, 0, 100, 250);
    hand_parcel(5, 100, 100, 250);
    POLL_UNTIL(parcel.begun);
    poll_some();
    CHECK(!parcel.ended && !parcel.refuse && parcel.word == 5 && parcel.len == 250);
    CHECK_INT(p2p_box_pending(&comm), 1);
    hand_parcel(5, 200, 50, 250);
    hand_parcel(6, 0, 0, 0);
    POLL_UNTIL(parcel.ended == 2);
    CHECK(parcel.begun == 2 && !parcel.rc && parcel.word == 6 && !memcmp(parcel.bytes, data, 250));
    parcel_job_close();
}

/* The connection ends in the middle of one in each direction. */
static void test_parcel_lost(void)
{
    int gone = 0;

    parcel_job(100, 1);
    CHECK_INT(p2p_parcel_send(&comm, 1, 1, data, 250, count_gone, &gone), 0);
    hand_parcel(5, 0, 100, 250);
    POLL_UNTIL(parcel.begun);
    shutdown(hand, SHUT_WR);
    POLL_UNTIL(gone && (parcel.lost & 2));
    CHECK_INT(parcel.ended, 1);
    CHECK_INT(err_id(parcel.rc), 1241);
    CHECK_INT(p2p_parcel_send(&comm, 1, 1, data, 250, count_gone, &gone), 0);
    CHECK_INT(gone, 2);
    parcel_job_close();
}

static void expect_parcel_wrong(size_t at, size_t len, size_t whole, bool has_begun)
{
    parcel_job(100, 20);
    if (has_begun)
        hand_parcel(5, 0, 100, 250);
    hand_parcel(5, at, len, whole);
    expect_lost(start_recv(8, 1, 1), "a part of a parcel that makes no sense");
    parcel_job_close();
}

static void test_parcel_wrong(void)
{
    expect_parcel_wrong(100, 100, 250, false);
    expect_parcel_wrong(0, 100, 250, true);
    expect_parcel_wrong(200, 50, 250, true);
    expect_parcel_wrong(100, 100, 300, true);
    expect_parcel_wrong(0, 100, 99, false);
    expect_parcel_wrong(0, 0, 8, false);
    parcel_job(100, 20);
    p2p_box_close(&comm);
    hand_parcel(5, 0, 8, 8);
    expect_lost(start_recv(8, 1, 1), "a part of a parcel that makes no sense");
    job_close();
    hand_is_parley = false;
}

/* Who has parcels: processes of this library with the same data in memory. */
static void test_kin(void)
{
    parcel_job(100, 20);
    CHECK_INT(p2p_check_kin(&comm, "it"), 0);
    ((struct joint_proc *)(uintptr_t)joint_proc(joint, 2))->name[JOINT_ADDRESS_SIZE + 2] ^= 1;
    CHECK_INT(err_id(p2p_check_kin(&comm, "it")), 1213);
    parcel_job_close();
    job_open(100, 10, 20);
    CHECK_INT(err_id(p2p_check_kin(&comm, "it")), 1213);
    job_close();
}

int main(void)
{
    hand_init(poll_once);
    test_parcel_send();
    test_parcel_recv();
    test_parcel_lost();
    test_parcel_wrong();
    test_kin();
    return 0;
}
