/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room p2p: messages from and to another client of a joint job, which is played by hand: rank 0 is this
 * process, ranks 1 and 2 are the other client's. What goes over the wire is looked at packet by packet. */
#include "p2p/abroad_hand.h"
#include "p2p/part.h"

static void poll_once(void)
{
    if (!progress_poll())
        usleep(50);
}

/* Take a message of `len` bytes, as a receiver in the other client would. */
static void hand_take(int rank, int tag, size_t len, uint64_t drqid, bool is_sync)
{
    const bool is_long = len > joint->maxlen;
    struct impi_packet packet = expect(is_long || is_sync ? IMPI_DATASYNC : IMPI_DATA, rank, 0);
    const uint64_t srqid = packet.srqid;
    size_t at = packet.len;

    CHECK_INT(packet.len, size_min(len, joint->maxlen));
    CHECK(packet.msglen == len && packet.tag == tag && !packet.lsrank && !packet.cid && srqid && !packet.drqid);
    if (is_long)
        CHECK(!has_come());
    if (is_long || is_sync)
        hand_answer(IMPI_SYNCACK, rank, srqid, drqid);
    while (at < len) {
        packet = expect(IMPI_DATA, rank, at);
        CHECK_INT(packet.len, size_min(len - at, joint->maxlen));
        CHECK(packet.srqid == srqid && packet.drqid == drqid && packet.msglen == len && packet.tag == tag);
        if (joint->ackmark == 1)
            hand_send(IMPI_PROTOACK, rank);
        at += packet.len;
    }
    CHECK(!memcmp(seen, data, len));
}

/* Send one as another client would; the receive is posted, or will be by somebody who polls. */
static void hand_give(int rank, int tag, size_t len, uint64_t srqid)
{
    struct impi_packet packet = message(IMPI_DATASYNC, rank, tag, size_min(len, joint->maxlen), len, srqid);
    size_t at = packet.len;

    hand_send_packet(&packet, data);
    if (at == len)
        return;
    packet.type = IMPI_DATA;
    packet.drqid = expect(IMPI_SYNCACK, rank, 0).drqid;
    for (; at < len; at += packet.len) {
        packet.len = (uint32_t)size_min(len - at, joint->maxlen);
        hand_send_packet(&packet, data + at);
        look();
    }
}

/* --- tests --- */

/* What an int looks like on the wire. */
static void test_bytes(void)
{
    const int value = 0x01020304;
    struct impi_packet packet;
    struct req *req;

    job_open(100, 10, 20);
    CHECK_INT(p2p_isend(&comm, &value, 1, obj_type(MPI_INT), 1, 20, P2P_STANDARD, &req), 0);
    packet = expect(IMPI_DATA, 1, 0);
    CHECK(packet.len == 4 && packet.msglen == 4 && packet.tag == 20 && packet.count == 1);
    CHECK(!memcmp(seen, "\1\2\3\4", 4));
    end(req);
    packet = message(IMPI_DATA, 1, 20, 4, 4, 0);
    hand_send_packet(&packet, "\1\2\3\4");
    CHECK_INT(p2p_irecv(&comm, in, 5, obj_type(MPI_INT), 1, 20, P2P_STANDARD, &req), 0);
    POLL_UNTIL(req_is_done(req));
    CHECK(!memcmp(in, &value, 4) && req->bytes == 4);
    end(req);
    job_close();
}

/* Notes of collective calls go where others do not look; who is not of this library says none. */
static void test_notes(void)
{
    const uint64_t note = (uint64_t)P2P_NOTE_MARK << P2P_NOTE_BITS | 5;
    struct impi_packet packet = message(IMPI_DATA, 1, 110, 8, 8, 0);

    job_open(100, 10, 20);
    comm.notes = (struct comm_notes){ .sent = note, .asked = note };
    CHECK_INT(p2p_send_mode(&comm, data, 8, byte_type(), 1, 110, P2P_COLL), 0);
    CHECK(expect(IMPI_DATA, 1, 0).dtype == note);
    CHECK_INT(p2p_send(&comm, data, 8, byte_type(), 1, 110), 0);
    CHECK(expect(IMPI_DATA, 1, 0).dtype == 0);
    packet.cid = 1;
    packet.dtype = note + 1;
    hand_send_packet(&packet, data);
    CHECK_INT(p2p_recv(&comm, in, 8, byte_type(), 1, 110, P2P_COLL, NULL), 0);
    CHECK(!comm.notes.wrong && !memcmp(in, data, 8));
    comm.notes = (struct comm_notes){ 0 };
    job_close();
}

static void expect_unfit(int code, const char *text)
{
    char said[ERR_TEXT_SIZE];

    CHECK_INT(err_class(code), MPI_ERR_CONVERSION);
    CHECK_INT(err_id(code), 1242);
    err_text(code, said, sizeof said);
    CHECK(strstr(said, text));
}

/* A long that does not fit is an error of whoever sends it, and nothing goes out. */
static void test_unfit(void)
{
    struct p2p_sendrecv args = { .dest = 2, .send_tag = 7, .send_count = 2, .source = 2, .recv_tag = 7 };
    struct type *const type = obj_type(MPI_LONG);
    long values[] = { 1, 5000000000 };
    struct req *req;

    job_open(100, 10, 20);
    CHECK_INT(p2p_isend(&comm, values, 2, type, 1, 20, P2P_STANDARD, &req), 0);
    CHECK(req_is_done(req));
    expect_unfit(req->error, "MPI_LONG with the value 5000000000");
    expect_unfit(req->error, "to rank 1 with tag 20, on a communicator of 3");
    req->error = 0;
    end(req);
    expect_unfit(p2p_send(&comm, values, 2, type, 2, 7), "to rank 2 with tag 7");
    expect_unfit(p2p_send_mode(&comm, values, 2, type, 2, 7, P2P_SYNC), "to rank 2 with tag 7");
    expect_unfit(p2p_send_mode(&comm, values, 2, type, 2, 7, P2P_COLL), "to rank 2 in a collective call");
    expect_unfit(p2p_bsend(&comm, values, 2, type, 2, 7), "to rank 2 with tag 7");
    args.recv_buf = values;
    args.send_buf = values;
    args.send_type = args.recv_type = type;
    args.recv_count = 2;
    expect_unfit(p2p_sendrecv_replace(&comm, &args, MPI_STATUS_IGNORE), "to rank 2 with tag 7");
    CHECK(!has_come());
    CHECK_INT(p2p_send(&comm, values, 1, type, 2, 7), 0);
    CHECK_INT(expect(IMPI_DATA, 2, 0).len, 4);
    job_close();
}

static void test_lengths(uint32_t maxlen)
{
    const size_t lens[] = { 0, 1, maxlen - 1, maxlen, maxlen + 1, 10 * maxlen, 7 * maxlen + 3 };

    job_open(maxlen, 1, 1000);
    for (unsigned i = 0; i < ARRAY_LEN(lens); i++) {
        for (int mode = P2P_STANDARD; mode <= P2P_SYNC; mode++) {
            struct req *req = start_send(lens[i], 1 + (int)i % 2, (int)i, mode);
            hand_take(1 + (int)i % 2, (int)i, lens[i], i % 3 ? i : 0, mode == P2P_SYNC);
            end(req);
        }
    }
    for (unsigned i = 0; i < ARRAY_LEN(lens); i++) {
        struct req *req = start_recv(lens[i], i % 2 ? 2 : MPI_ANY_SOURCE, i % 3 ? (int)i : MPI_ANY_TAG);
        hand_give(2, (int)i, lens[i], i + 100);
        end_recv(req, 2, (int)i, lens[i]);
        if (lens[i] <= maxlen)
            CHECK_INT(expect(IMPI_SYNCACK, 2, 0).srqid, i + 100);
    }
    CHECK(!has_come());
    job_close();
}

/* A synchronous message is acknowledged when it is matched, not before. */
static void test_sync(void)
{
    struct req *req;

    job_open(100, 10, 20);
    hand_message(IMPI_DATASYNC, 1, 5, 8, 77);
    CHECK(!has_come());
    req = start_recv(8, 1, 5);
    CHECK_INT(expect(IMPI_SYNCACK, 1, 0).srqid, 77);
    end_recv(req, 1, 5, 8);
    req = start_send(8, 1, 5, P2P_SYNC);
    CHECK_INT(expect(IMPI_DATASYNC, 1, 0).msglen, 8);
    poll_some();
    CHECK(!req_is_done(req));
    hand_answer(IMPI_SYNCACK, 1, 1, 0);
    end(req);
    job_close();
}

/* Between the packets of two long messages there are short ones; one of the long ones is too long for its buffer. */
static void test_mixed(void)
{
    struct impi_packet a = message(IMPI_DATASYNC, 1, 1, 100, 250, 10), b = message(IMPI_DATASYNC, 1, 2, 100, 250, 11);
    static unsigned char first[250], second[120];
    struct req *one, *two, *three;
    char text[ERR_TEXT_SIZE];

    job_open(100, 10, 20);
    CHECK_INT(p2p_irecv(&comm, first, 250, byte_type(), 1, 1, P2P_STANDARD, &one), 0);
    CHECK_INT(p2p_irecv(&comm, second, 120, byte_type(), 1, 2, P2P_STANDARD, &two), 0);
    hand_send_packet(&a, data);
    hand_send_packet(&b, data);
    a.drqid = expect(IMPI_SYNCACK, 1, 0).drqid;
    b.drqid = expect(IMPI_SYNCACK, 1, 0).drqid;
    CHECK(a.drqid != b.drqid);
    a.type = b.type = IMPI_DATA;
    hand_send_packet(&b, data + 100);
    hand_send_packet(&a, data + 100);
    hand_message(IMPI_DATA, 1, 3, 50, 0);
    three = start_recv(50, 1, 3);
    end_recv(three, 1, 3, 50);
    CHECK(!req_is_done(one) && !req_is_done(two));
    a.len = b.len = 50;
    hand_send_packet(&b, data + 200);
    POLL_UNTIL(req_is_done(two));
    CHECK(err_class(two->error) == MPI_ERR_TRUNCATE && two->bytes == 120 && !memcmp(second, data, 120));
    err_text(two->error, text, sizeof text);
    CHECK(strstr(text, "250 x MPI_BYTE") && strstr(text, "rank 1, tag 2") && strstr(text, "120 x MPI_BYTE"));
    two->error = 0;
    end(two);
    CHECK(!req_is_done(one));
    hand_send_packet(&a, data + 200);
    POLL_UNTIL(req_is_done(one));
    CHECK(!memcmp(first, data, 250));
    end(one);
    job_close();
}

/* Many more than hiwater that nobody has asked for: the last one can be had first. */
static void test_unexpected(void)
{
    enum { MANY = 70 };

    job_open(100, 3, 20);
    for (int i = 0; i < MANY; i++) {
        hand_message(IMPI_DATA, 1, i, (size_t)i, 0);
        hand_message(IMPI_DATA, 2, i, 1, 0);
        look();
    }
    for (int i = MANY - 1; i >= 0; i--)
        end_recv(start_recv(100, 1, i), 1, i, (size_t)i);
    for (int i = 0; i < MANY; i++)
        end_recv(start_recv(100, MPI_ANY_SOURCE, MPI_ANY_TAG), 2, i, 1);
    job_close();
}

static int get_count(const MPI_Status *status, MPI_Datatype type)
{
    return (int)type_count_items(obj_type(type), type_received(obj_type(type), status));
}

static void test_probe(void)
{
    struct impi_packet packet = message(IMPI_DATASYNC, 1, 9, 100, 400, 4);
    struct message *taken;
    MPI_Status status;
    struct req *req;
    int flag;

    job_open(100, 10, 20);
    hand_send_packet(&packet, data);
    do {
        look();
        CHECK_INT(p2p_iprobe(&comm, MPI_ANY_SOURCE, MPI_ANY_TAG, &flag, &status), 0);
    } while (!flag);
    CHECK(status.MPI_SOURCE == 1 && status.MPI_TAG == 9);
    CHECK_INT(get_count(&status, MPI_BYTE), 400);
    CHECK_INT(get_count(&status, MPI_LONG), 100); /* four bytes each on the wire */
    CHECK_INT(get_count(&status, MPI_DOUBLE), 50);
    CHECK_INT(get_count(&status, MPI_WCHAR), 200);
    packet.msglen = 6;
    packet.len = 6;
    hand_send_packet(&packet, data);
    CHECK_INT(p2p_improbe(&comm, 1, 9, &flag, &taken, &status), 0);
    CHECK(flag && !has_come());
    memset(in, 0xee, sizeof in);
    CHECK_INT(p2p_imrecv(taken, in, 400, byte_type(), &req), 0);
    packet = message(IMPI_DATA, 1, 9, 100, 400, 4);
    packet.drqid = expect(IMPI_SYNCACK, 1, 0).drqid;
    for (int i = 1; i < 4; i++)
        hand_send_packet(&packet, data + 100 * i);
    end_recv(req, 1, 9, 400);
    CHECK_INT(p2p_iprobe(&comm, 1, 9, &flag, &status), 0);
    CHECK(flag && get_count(&status, MPI_INT) == MPI_UNDEFINED && get_count(&status, MPI_SHORT) == 3);
    CHECK_INT(p2p_irecv(&comm, in, 2, obj_type(MPI_INT), 1, 9, P2P_STANDARD, &req), 0);
    POLL_UNTIL(req_is_done(req));
    CHECK_INT(type_count_items(obj_type(MPI_INT), req->bytes), MPI_UNDEFINED);
    end(req);
    job_close();
}

/* --- cancelling --- */

static void end_cancelled(struct req *req, bool is_cancelled)
{
    POLL_UNTIL(req_is_done(req));
    CHECK(req->is_cancelled == is_cancelled);
    end(req);
}

static void test_cancel_own(void)
{
    struct req *req, *queued;
    uint64_t id;

    job_open(100, 1, 2);
    req = start_send(500, 1, 1, P2P_STANDARD); /* gone in part, given up by the other one */
    id = expect(IMPI_DATASYNC, 1, 0).srqid;
    req->ops->cancel(req);
    req->ops->cancel(req);
    CHECK_INT(expect(IMPI_CANCEL, 1, 0).srqid, id);
    queued = start_send(8, 1, 1, P2P_SYNC); /* no credit left: taken back here */
    poll_some();
    queued->ops->cancel(queued);
    end_cancelled(queued, true);
    hand_send(IMPI_PROTOACK, 1);
    hand_send(IMPI_PROTOACK, 1);
    CHECK(!has_come());
    hand_answer(IMPI_CANCELYES, 1, id, 0);
    end_cancelled(req, true);
    req = start_send(8, 1, 1, P2P_SYNC); /* refused; and later matched */
    id = expect(IMPI_DATASYNC, 1, 0).srqid;
    req->ops->cancel(req);
    CHECK_INT(expect(IMPI_CANCEL, 1, 0).srqid, id);
    hand_answer(IMPI_CANCELNO, 1, id, 0);
    poll_some();
    CHECK(!req_is_done(req));
    hand_answer(IMPI_SYNCACK, 1, id, 0);
    end_cancelled(req, false);
    hand_send(IMPI_PROTOACK, 1);
    hand_send(IMPI_PROTOACK, 1);
    req = start_send(8, 1, 1, P2P_SYNC); /* matched while the question was on its way */
    id = expect(IMPI_DATASYNC, 1, 0).srqid;
    req->ops->cancel(req);
    CHECK_INT(expect(IMPI_CANCEL, 1, 0).srqid, id);
    hand_answer(IMPI_SYNCACK, 1, id, 0);
    end_cancelled(req, false);
    hand_answer(IMPI_CANCELNO, 1, id, 0);
    req = start_send(8, 1, 1, P2P_SYNC); /* the question has no credit, and is not needed any more */
    hand_send(IMPI_PROTOACK, 1);
    id = expect(IMPI_DATASYNC, 1, 0).srqid;
    req->ops->cancel(req);
    CHECK(!has_come());
    hand_answer(IMPI_SYNCACK, 1, id, 0);
    end_cancelled(req, false);
    hand_send(IMPI_PROTOACK, 1);
    CHECK(!has_come());
    job_close();
}

static void test_cancel_other(void)
{
    struct req *req;

    job_open(100, 10, 20);
    hand_message(IMPI_DATASYNC, 1, 1, 8, 5);
    hand_message(IMPI_DATASYNC, 1, 2, 8, 5); /* the same id again: the newest counts */
    hand_answer(IMPI_CANCEL, 1, 5, 0);
    CHECK_INT(expect(IMPI_CANCELYES, 1, 0).srqid, 5);
    end_recv(start_recv(8, 1, MPI_ANY_TAG), 1, 1, 8);
    CHECK_INT(expect(IMPI_SYNCACK, 1, 0).srqid, 5);
    hand_answer(IMPI_CANCEL, 1, 5, 0);
    CHECK_INT(expect(IMPI_CANCELNO, 1, 0).srqid, 5);
    hand_answer(IMPI_CANCEL, 2, 5, 0);
    (void)expect(IMPI_CANCELNO, 2, 0);
    req = start_recv(8, 1, MPI_ANY_TAG);
    req->ops->cancel(req);
    end_cancelled(req, true);
    job_close();
}

/* --- communicators that come later, ranks that are the world's --- */

static void test_later(void)
{
    struct impi_packet packet = message(IMPI_DATASYNC, 2, 3, 8, 8, 21);
    struct comm other = { .rank = 0, .size = 2, .remote_size = 2, .ctx = P2P_CTX_FOREIGN + 40 };
    struct group *group;
    struct req *req;

    job_open(100, 10, 20);
    packet.cid = 40;
    packet.lsrank = 2; /* in `other` it will be 1 */
    hand_send_packet(&packet, data);
    packet.srqid++;
    hand_send_packet(&packet, data);
    poll_some();
    hand_answer(IMPI_CANCEL, 2, 22, 0);
    CHECK_INT(expect(IMPI_CANCELYES, 2, 0).srqid, 22);
    packet = message(IMPI_DATASYNC, 1, 3, 8, 8, 23); /* and this one is no member */
    packet.cid = 40;
    hand_send_packet(&packet, data);
    poll_some();
    CHECK_INT(group_create_list(2, (int[]){ 0, joint_number(joint, 2) }, 0, &group), 0);
    other.group = other.remote_group = group;
    obj_init(&other.obj, OBJ_COMM);
    CHECK_INT(p2p_comm_open(&other), 0);
    CHECK(p2p_is_foreign(&other, 1) && !p2p_is_foreign(&other, 0) && p2p_is_joint(&comm));
    memset(in, 0xee, sizeof in);
    CHECK_INT(p2p_irecv(&other, in, 8, byte_type(), MPI_ANY_SOURCE, 3, P2P_STANDARD, &req), 0);
    end_recv(req, 1, 3, 8);
    CHECK_INT(expect(IMPI_SYNCACK, 2, 0).srqid, 21);
    CHECK_INT(p2p_isend(&other, data, 8, byte_type(), 1, 3, P2P_COLL, &req), 0);
    packet = expect(IMPI_DATA, 2, 0);
    CHECK(packet.cid == 41 && !packet.lsrank);
    end(req);
    CHECK(!has_come());
    p2p_comm_close(&other);
    group_unref(group);
    job_close();
}

/* --- faults --- */

static void expect_wrong(const struct impi_packet *packet, int times, const char *text)
{
    struct req *req;

    job_open(100, 10, 20);
    req = start_recv(8, 2, 1000);
    for (int i = 0; i < times; i++)
        hand_send_packet(packet, data);
    expect_lost(req, text);
    expect_lost(start_send(8, 2, 1, P2P_STANDARD), text);
    job_close();
}

static void test_wrong(void)
{
    struct impi_packet packet = message(IMPI_DATA, 1, 1, 100, 150, 1);

    expect_wrong(&packet, 1, "the rest of a message that nobody receives");
    packet = message(IMPI_SYNCACK, 1, 1, 0, 0, 1);
    expect_wrong(&packet, 1, "does not wait for one");
    packet.type = IMPI_CANCELYES;
    expect_wrong(&packet, 1, "a question that was not asked");
    packet.type = IMPI_CANCELNO;
    expect_wrong(&packet, 1, "a question that was not asked");
    packet = message(IMPI_DATASYNC, 1, 1, 0, 0, 1);
    packet.cid = UINT64_C(1) << 40;
    expect_wrong(&packet, 1, "a context that there cannot be");
}

/* More comes of a message than it has; a message is acknowledged twice. */
static void test_too_much(void)
{
    struct impi_packet packet = message(IMPI_DATASYNC, 1, 1, 100, 150, 1);
    struct req *req;
    uint64_t id;

    job_open(100, 10, 20);
    req = start_recv(150, 1, 1);
    hand_send_packet(&packet, data);
    packet.drqid = expect(IMPI_SYNCACK, 1, 0).drqid;
    packet.type = IMPI_DATA;
    packet.len = 51;
    hand_send_packet(&packet, data);
    expect_lost(req, "more of a message than it has");
    job_close();
    job_open(100, 10, 20);
    req = start_send(8, 1, 1, P2P_SYNC);
    id = expect(IMPI_DATASYNC, 1, 0).srqid;
    hand_answer(IMPI_SYNCACK, 1, id, 0);
    hand_answer(IMPI_SYNCACK, 1, id, 0);
    end(req);
    expect_lost(start_recv(8, 1, 1), "does not wait for one");
    job_close();
}

/* It ends while messages of all kinds are under way. */
static void test_end(void)
{
    struct impi_packet packet = message(IMPI_DATASYNC, 1, 1, 100, 150, 1);
    struct req *reqs[6];
    int flag;
    MPI_Status status;

    job_open(100, 1, 2);
    reqs[0] = start_recv(150, 1, 1);
    hand_send_packet(&packet, data);
    (void)expect(IMPI_SYNCACK, 1, 0);
    reqs[1] = start_send(500, 2, 1, P2P_STANDARD);
    hand_answer(IMPI_SYNCACK, 2, expect(IMPI_DATASYNC, 2, 0).srqid, 3);
    reqs[2] = start_send(8, 1, 1, P2P_SYNC);
    reqs[3] = start_send(8, 1, 1, P2P_SYNC);
    reqs[4] = start_recv(8, MPI_ANY_SOURCE, 1);
    hand_message(IMPI_DATASYNC, 1, 7, 4, 9);
    poll_some();
    reqs[5] = start_recv(8, 1, 7); /* its answer finds no credit, and it is complete all the same */
    end_recv(reqs[5], 1, 7, 4);
    shutdown(hand, SHUT_WR);
    for (int i = 0; i < 5; i++)
        expect_lost(reqs[i], "of client 1 (127.0.0.2 port");
    CHECK_INT(err_id(p2p_iprobe(&comm, 1, 1, &flag, &status)), 1241);
    CHECK_INT(err_id(p2p_foreign_close()), 1241);
    job_close();
}

/* --- partitioned messages --- */

enum { SETUP = 1, GRANT, DATA, VOID };

static struct p2p_part parts(const void *buf, int count, size_t len)
{
    return (struct p2p_part){ buf, count, (MPI_Count)len, byte_type(), 1, 9 };
}

/* The protocol does not have them. */
static void test_part_others(void)
{
    const struct p2p_part part = parts(in, 2, 4);
    struct req *req;

    job_open(100, 10, 20);
    CHECK_INT(err_id(p2p_psend_init(&comm, &part, &req)), 1211);
    CHECK_INT(err_id(p2p_precv_init(&comm, &part, &req)), 1211);
    CHECK(!has_come());
    job_close();
}

static void part_job(uint32_t maxlen)
{
    hand_is_parley = true;
    job_open(maxlen, 10, 20);
    hand_is_parley = false; /* names that have been said */
}

static struct impi_packet part_packet(int kind, uint64_t srqid, uint64_t drqid, size_t count, size_t len)
{
    struct impi_packet packet;

    hand_is_parley = true;
    packet = message(IMPI_DATA, 1, 9, len, len, srqid);
    hand_is_parley = false;
    packet.drqid = drqid;
    packet.cid = 1;
    packet.count = (int64_t)count;
    packet.dtype = (uint64_t)P2P_NOTE_PART << P2P_NOTE_BITS | (uint64_t)kind;
    return packet;
}

static void hand_part(int kind, uint64_t srqid, uint64_t drqid, size_t count, size_t len)
{
    const struct impi_packet packet = part_packet(kind, srqid, drqid, count, len);

    hand_send_packet(&packet, data + count);
}

static struct impi_packet expect_part(int kind, uint64_t drqid, size_t count, size_t len)
{
    const struct impi_packet packet = expect(IMPI_DATA, 1, 0);

    CHECK(packet.dtype == ((uint64_t)P2P_NOTE_PART << P2P_NOTE_BITS | (uint64_t)kind));
    CHECK(packet.cid == 1 && packet.tag == 9 && !packet.lsrank && packet.msglen == packet.len);
    CHECK(packet.drqid == drqid && packet.count == (int64_t)count);
    CHECK_INT(packet.len, len);
    CHECK(!len || !memcmp(seen, data + count, len));
    return packet;
}

static struct req *part_init(int (*init)(struct comm *, const struct p2p_part *, struct req **), struct p2p_part part)
{
    struct req *req;

    CHECK_INT(init(&comm, &part, &req), 0);
    req->is_persistent = true;
    return req;
}

static void start(struct req *req)
{
    req->is_active = true;
    CHECK_INT(req->ops->start(req), 0);
}

/* Partitions go when they are ready and the receiver has started, cut where packets end. */
static void test_part_send(void)
{
    struct req *req;
    uint64_t id;

    part_job(100);
    req = part_init(p2p_psend_init, parts(data, 3, 150));
    id = expect_part(SETUP, 0, 450, 0).srqid;
    for (int round = 0; round < 2; round++) {
        start(req);
        CHECK_INT(p2p_pready(req, 2, 2), 0);
        CHECK(!has_come());
        hand_part(GRANT, 77, id, 450, 0);
        expect_part(DATA, 77, 300, 100);
        expect_part(DATA, 77, 400, 50);
        CHECK_INT(p2p_pready(req, 0, 1), 0);
        expect_part(DATA, 77, 0, 100);
        expect_part(DATA, 77, 100, 100);
        expect_part(DATA, 77, 200, 100);
        POLL_UNTIL(req_is_done(req));
        CHECK_INT(req->error, 0);
    }
    hand_part(GRANT, 77, id + 1, 450, 0); /* of what is gone */
    req->ops->release(req);
    job_close();
}

/* A number that does not fit: its partition does not go, and both sides know. */
static void test_part_unfit(void)
{
    const long values[] = { 1, 2, 5000000000, 4 };
    struct p2p_part part = { values, 2, 2, obj_type(MPI_LONG), 1, 9 };
    struct req *req;
    uint64_t id;

    part_job(100);
    req = part_init(p2p_psend_init, part);
    id = expect_part(SETUP, 0, 16, 0).srqid;
    start(req);
    hand_part(GRANT, 77, id, 16, 0);
    CHECK_INT(p2p_pready(req, 1, 1), 0);
    CHECK(expect(IMPI_DATA, 1, 0).seqnum == 8);
    CHECK_INT(p2p_pready(req, 0, 0), 0);
    CHECK(expect(IMPI_DATA, 1, 0).len == 8 && !memcmp(seen, "\0\0\0\1\0\0\0\2", 8));
    POLL_UNTIL(req_is_done(req));
    expect_unfit(req->error, "to rank 1 with tag 9");
    req->ops->release(req);
    job_close();
}

static void test_part_recv(void)
{
    struct impi_packet packet = part_packet(VOID, 33, 0, 0, 0);
    struct req *req;
    uint64_t id;
    int flag;

    part_job(100);
    memset(in, 0xee, sizeof in);
    req = part_init(p2p_precv_init, parts(in, 2, 60));
    hand_part(SETUP, 33, 0, 120, 0);
    poll_some();
    CHECK(!has_come());
    start(req);
    id = expect_part(GRANT, 33, 120, 0).srqid;
    hand_part(DATA, 33, id, 60, 60);
    POLL_UNTIL(!p2p_parrived(req, 1, &flag) && flag);
    CHECK(!p2p_parrived(req, 0, &flag) && !flag);
    hand_part(DATA, 33, id, 0, 60);
    POLL_UNTIL(req_is_done(req));
    CHECK(!req->error && req->bytes == 120 && req->source == 1 && req->tag == 9 && !memcmp(in, data, 120));
    start(req);
    CHECK(expect_part(GRANT, 33, 120, 0).srqid == id);
    packet.drqid = id;
    packet.seqnum = 120;
    hand_send_packet(&packet, data);
    POLL_UNTIL(req_is_done(req));
    expect_unfit(req->error, "rank 1 has not sent bytes 0 to 119");
    req->ops->release(req);
    job_close();
}

/* A packet for a receive of 120 bytes whose id is 1 that ends the connection. */
static void part_wrong(struct impi_packet packet)
{
    struct req *req, *other;

    part_job(100);
    req = part_init(p2p_precv_init, parts(in, 2, 60));
    start(req);
    hand_part(SETUP, 33, 0, 110, 0);
    CHECK(expect_part(GRANT, 33, 120, 0).srqid == 1);
    other = start_recv(8, 2, 1000);
    hand_send_packet(&packet, data);
    expect_lost(other, "a part of a message that");
    POLL_UNTIL(req_is_done(req));
    CHECK_INT(err_id(req->error), 1241);
    req->ops->release(req);
    job_close();
}

static void test_part_wrong(void)
{
    struct impi_packet packet = part_packet(VOID, 33, 1, 8, 0);

    packet.seqnum = UINT64_MAX;
    part_wrong(packet);
    packet = part_packet(DATA, 33, 1, 0, 10);
    packet.count = -5;
    part_wrong(packet);
    packet = part_packet(DATA, 33, 1, 0, 10);
    packet.msglen = 20;
    part_wrong(packet);
    part_wrong(part_packet(DATA, 33, 2, 0, 10));
    part_wrong(part_packet(DATA, 33, 1, 105, 10));
    part_wrong(part_packet(DATA, 33, 1, 1000, 10));
    part_wrong(part_packet(17, 33, 1, 0, 10));
}

static void test_close(void)
{
    struct impi_packet packet;

    job_open(100, 10, 20);
    hand_message(IMPI_DATA, 1, 1, 8, 0); /* nobody will ask for it */
    hand_send(IMPI_FINI, 1);
    CHECK_INT(p2p_foreign_close(), 0);
    do
        POLL_UNTIL(hand_read(&packet, NULL, look));
    while (packet.type != IMPI_FINI);
    job_close();
}

/* There is no memory for what comes: it waits in the connection, and nothing is told to the sender before. */
static void test_memory(void)
{
    struct req *req;

    job_open(100, 1, 1);
    hand_message(IMPI_DATASYNC, 1, 1, 8, 5);
    mem_fail_after(0);
    for (int i = 0; i < 100; i++)
        progress_poll();
    mem_fail_after(-1);
    CHECK(!has_come());
    req = start_recv(8, 1, 1);
    CHECK_INT(expect(IMPI_SYNCACK, 1, 0).srqid, 5);
    end_recv(req, 1, 1, 8);
    job_close();
}

int main(void)
{
    hand_init(poll_once);
    test_bytes();
    test_notes();
    test_unfit();
    test_lengths(1);
    test_lengths(7);
    test_lengths(1000);
    test_sync();
    test_mixed();
    test_unexpected();
    test_probe();
    test_cancel_own();
    test_cancel_other();
    test_later();
    test_wrong();
    test_too_much();
    test_end();
    test_part_others();
    test_part_send();
    test_part_unfit();
    test_part_recv();
    test_part_wrong();
    test_close();
    test_memory();
    return 0;
}
