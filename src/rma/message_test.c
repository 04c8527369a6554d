/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room rma: operations by messages of a process to itself, as they are and over a transport that delays
 * and refuses: their order, long ones, long types, freed at once, too many replies; stripes that are taken, and
 * memory that runs out at both ends. */
#include "rma/message.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "obj/req.h"
#include "op/op.h"
#include "p2p/alone.h"
#include "rma/int_turn.h"
#include "rma/int_message.h"
#include "rma/stripe.h"

enum { INTS = 400000, ROUNDS = 200 };

static struct comm comm = { .size = 1, .remote_size = 1, .ctx = 2, .obj = { .predefined = 1 } };
static struct win_target target;
static struct win win = { .size = 1, .target = &target, .comm = &comm };
static int memory[INTS], data[INTS], found[INTS];

static struct type *ints(void)
{
    return obj_type(MPI_INT);
}

static void open_all(const char *net)
{
    alone_open(net, &comm);
    for (int n = 0;; n++) {
        int rc;
        mem_fail_after(n);
        rc = win_message_open(&win);
        mem_fail_after(-1);
        if (!rc)
            break;
        CHECK_INT(err_class(rc), MPI_ERR_NO_MEM);
        CHECK(!win.messages);
    }
}

static void close_all(void)
{
    win_message_close(&win);
    CHECK(!win.messages && !win.pending);
    p2p_flush();
    alone_close(&comm);
    rma_fini();
}

/* `count` items of a type from the beginning of the memory. */
static struct win_aim aim_of(MPI_Count count, struct type *type)
{
    return (struct win_aim){ 0, 0, count, type };
}

static struct win_place place_of(const struct win_aim *aim)
{
    return (struct win_place){ .target = &target, .way = WIN_WAY_MESSAGES, .address = (uintptr_t)memory,
                               .bytes = type_bytes(aim->type, aim->count) };
}

static int put(int *from, MPI_Count count)
{
    const struct win_data side = { from, count, ints() };
    const struct win_aim aim = aim_of(count, ints());
    const struct win_place place = place_of(&aim);

    return win_message_put(&win, &side, &aim, &place, NULL);
}

static int get(MPI_Count count, struct req **request)
{
    const struct win_data side = { found, count, ints() };
    const struct win_aim aim = aim_of(count, ints());
    const struct win_place place = place_of(&aim);

    return win_message_get(&win, &side, &aim, &place, request);
}

static int combine(MPI_Op op, const int *from, int *result, MPI_Count count)
{
    const struct win_data side = { (void *)(uintptr_t)from, count, ints() }, old = { result, count, ints() };
    const struct win_aim aim = aim_of(count, ints());
    const struct win_place place = place_of(&aim);

    return win_message_combine(&win, &side, result ? &old : NULL, &aim, &place, obj_op(op), ints(), NULL);
}

static int swap(int value, int compare, int *result)
{
    const struct win_data old = { result, 1, ints() };
    const struct win_aim aim = aim_of(1, ints());
    const struct win_place place = place_of(&aim);

    return win_message_swap(&win, &value, &compare, &old, &aim, &place);
}

/* Many on one place: each sees the one before. */
static void check_order(void)
{
    int before[ROUNDS], swapped[ROUNDS], read[ROUNDS];

    memory[0] = -1;
    for (int i = 0; i < ROUNDS; i++) {
        data[0] = 2 * i;
        CHECK_INT(combine(MPI_REPLACE, data, &before[i], 1), 0);
        CHECK_INT(swap(2 * i + 1, 2 * i, &swapped[i]), 0);
        CHECK_INT(combine(MPI_NO_OP, NULL, &read[i], 1), 0);
    }
    win_message_flush(&win, 0, true, "MPI_Win_flush");
    for (int i = 0; i < ROUNDS; i++)
        CHECK(before[i] == 2 * i - 1 && swapped[i] == 2 * i && read[i] == 2 * i + 1);
    win_message_flush(&win, 0, false, "MPI_Win_flush");
    CHECK_INT(win.pending, 0);
}

static void check_long(void)
{
    struct type *type, *apart;
    struct win_aim aim;
    struct win_place place;
    struct req *req;

    for (int i = 0; i < INTS; i++)
        data[i] = i * 3;
    CHECK_INT(put(data, INTS), 0);
    CHECK_INT(combine(MPI_SUM, data, NULL, INTS), 0);
    CHECK_INT(get(INTS, &req), 0);
    CHECK_INT(win_message_flush(&win, 0, true, "MPI_Win_flush_local"), 0);
    memset(data, 0, sizeof data);
    CHECK_INT(req_wait(&(MPI_Request){ (MPI_Request)req }, MPI_STATUS_IGNORE), 0);
    for (int i = 0; i < INTS; i++)
        CHECK_INT(found[i], i * 6);
    CHECK_INT(type_vector(MPI_COMBINER_VECTOR, (const MPI_Count[]){ INTS / 8, 3, 8 }, ints(), false, &type), 0);
    CHECK_INT(type_vector(MPI_COMBINER_VECTOR, (const MPI_Count[]){ INTS / 8, 3, 5 }, ints(), false, &apart), 0);
    aim = aim_of(1, type);
    place = place_of(&aim);
    CHECK_INT(win_message_combine(&win, &(struct win_data){ data, 1, apart }, &(struct win_data){ found, 1, apart },
                                  &aim, &place, obj_op(MPI_REPLACE), ints(), NULL), 0);
    type_unref(type);
    type_unref(apart);
    win_message_flush(&win, -1, false, "MPI_Win_flush");
    for (int i = 0; i < INTS / 8; i++)
        CHECK(memory[8 * i + 1] == 0 && memory[8 * i + 3] == 6 * (8 * i + 3) && found[5 * i + 2] == 6 * (8 * i + 2));
}

/* A type whose description is longer than its data. */
static void check_irregular(void)
{
    static MPI_Count lengths[INTS / 4], disps[INTS / 4];
    const struct type_blocks blocks = { .combiner = MPI_COMBINER_INDEXED, .is_large = true, .count = INTS / 4,
                                        .lengths = TYPE_NUMBERS(lengths), .disps = TYPE_NUMBERS(disps) };
    const struct win_data from = { data, INTS / 4, ints() }, to = { found, INTS / 4, ints() };
    struct win_place place;
    struct win_aim aim;
    struct type *type;

    for (int i = 0; i < INTS / 4; i++) {
        lengths[i] = 1;
        disps[i] = 4 * i + (i ^ i >> 3 ^ i >> 7) % 3; /* nothing regular */
        data[i] = i * 5 + 1;
    }
    CHECK_INT(type_indexed(&blocks, ints(), &type), 0);
    aim = aim_of(1, type);
    place = place_of(&aim);
    memset(memory, 0, sizeof memory);
    CHECK_INT(win_message_put(&win, &from, &aim, &place, NULL), 0);
    CHECK_INT(win_message_combine(&win, &from, NULL, &aim, &place, obj_op(MPI_SUM), ints(), NULL), 0);
    CHECK_INT(win_message_get(&win, &to, &aim, &place, NULL), 0);
    type_unref(type);
    win_message_flush(&win, 0, false, "MPI_Win_flush");
    for (int i = 0; i < INTS / 4; i++)
        CHECK(found[i] == 2 * data[i] && memory[disps[i]] == found[i]);
}

static void poll_a_while(void)
{
    for (int i = 0; i < 1000; i++)
        progress_poll();
}

/* The operation waits until the stripe is free, and what comes behind it waits, too. */
static void check_taken(void)
{
    const struct stripe stripe = stripe_of(&win, 0, (uintptr_t)memory + 8192);
    int before[3];

    memset(memory, 0, sizeof memory);
    for (int i = 0; i < INTS; i++)
        data[i] = 1;
    CHECK(stripe_try(stripe));
    CHECK_INT(combine(MPI_SUM, data, found, INTS), 0);
    CHECK_INT(combine(MPI_NO_OP, NULL, &before[0], 1), 0);
    poll_a_while();
    CHECK(memory[0] == 1 && memory[INTS - 1] == 0 && win.pending);
    stripe_unlock(stripe);
    win_message_flush(&win, 0, false, "MPI_Win_flush");
    CHECK(before[0] == 1 && found[INTS - 1] == 0);
    for (int i = 0; i < INTS; i++)
        CHECK_INT(memory[i], 1);
}

/* A lock that is waited for a moment only, and later for as long as it takes. */
static void check_patience(void)
{
    const uint32_t ticket = win_lock_ticket(&win, 0, 0);
    bool is_done = true;

    CHECK(win_lock_enter(&win, 0, ticket, false));
    win_far_ask_lock(&win, 0);
    CHECK_INT(win_message_flush_until(&win, 0, 1, "MPI_Win_lock_all", &is_done), 0);
    CHECK(!is_done);
    win_lock_leave(&win, 0, false);
    CHECK_INT(win_message_flush_until(&win, 0, 0, "MPI_Win_lock_all", &is_done), 0);
    CHECK(is_done && win_far_has_lock(&win, 0));
}

/* A far one waits behind a near one, and what it has asked for behind its lock; the next one gets it when all that is
 * done. */
static void check_far_lock(void)
{
    uint32_t ticket = win_lock_ticket(&win, 0, 0);
    int before;

    CHECK(win_lock_enter(&win, 0, ticket, false));
    memory[0] = 3;
    data[0] = 4;
    CHECK_INT(win_far_lock(&win, 0, true, "MPI_Win_lock"), 0);
    CHECK_INT(combine(MPI_SUM, data, &before, 1), 0);
    poll_a_while();
    CHECK(win_far_is_late() && memory[0] == 3);
    win_lock_leave(&win, 0, false);
    CHECK_INT(win_far_await_late("MPI_Win_lock"), 0);
    ticket = win_lock_ticket(&win, 0, 0);
    CHECK(!win_lock_enter(&win, 0, ticket, false));
    win_far_unlock(&win, 0, true, "MPI_Win_unlock");
    CHECK_INT(win_message_flush(&win, 0, false, "MPI_Win_unlock"), 0);
    poll_a_while();
    CHECK(memory[0] == 7 && before == 3 && win_lock_enter(&win, 0, ticket, false));
    win_lock_leave(&win, 0, false);
    check_patience();
    win_far_unlock(&win, 0, true, "MPI_Win_unlock_all");
    CHECK_INT(win.pending, 0);
    win_far_settle(&win); /* nobody has waited for that yet */
    CHECK_INT(win.pending, 1);
    win_message_flush(&win, -1, false, "MPI_Win_free");
    CHECK(win_lock_enter(&win, 0, win_lock_ticket(&win, 0, 0), false));
    win_lock_leave(&win, 0, false);
}

/* A lock that is tried is had, or it is not and nobody waits for it. */
static void check_tried_lock(void)
{
    const struct win_member *own = win_member(&win, 0);
    const uint32_t ticket = win_lock_ticket(&win, 0, 0);

    CHECK(win_lock_enter(&win, 0, ticket, false));
    win_far_try_lock(&win, 0, "MPI_Win_lock_all");
    CHECK_INT(win_message_flush(&win, -1, false, "MPI_Win_lock_all"), 0);
    CHECK(!win_far_has_lock(&win, 0));
    CHECK(!win_lock_try_read(&win, 0, 0));
    CHECK_INT(own->tickets, ticket + 1);
    win_lock_leave(&win, 0, false);
    win_far_try_lock(&win, 0, "MPI_Win_lock_all");
    CHECK_INT(win_message_flush(&win, -1, false, "MPI_Win_lock_all"), 0);
    CHECK(win_far_has_lock(&win, 0));
    CHECK(win_lock_try_read(&win, 0, 0));
    CHECK_INT(own->tickets, ticket + 3);
    win_lock_leave(&win, 0, true);
    win_far_unlock(&win, 0, true, "MPI_Win_unlock_all");
    win_far_settle(&win);
    CHECK_INT(win_message_flush(&win, -1, false, "MPI_Win_free"), 0);
    CHECK_INT(own->writing, ticket + 3);
}

/* Notices come in spite of everything; that of an end only behind what it ends. */
static void check_far_notices(void)
{
    struct win_member *own = win_member(&win, 0);
    const struct stripe stripe = stripe_of(&win, 0, (uintptr_t)memory);
    const uint32_t posted = own->pair[0].posted, completed = own->pair[0].completed;

    memory[0] = 0;
    win.epoch = WIN_EPOCH_START; /* whose end is told */
    CHECK(stripe_try(stripe));
    CHECK_INT(combine(MPI_SUM, data, NULL, 1), 0);
    win_far_completed(&win, 0, "MPI_Win_complete");
    CHECK_INT(win.pending, 0);
    win_far_posted(&win, 0, "MPI_Win_post");
    poll_a_while();
    CHECK(own->pair[0].posted == posted + 1 && own->pair[0].completed == completed && !memory[0]);
    stripe_unlock(stripe);
    poll_a_while();
    CHECK(own->pair[0].completed == completed + 1 && memory[0] == 4);
    win.epoch = WIN_EPOCH_NONE;
}

/* What is not attached is not touched, and the flush tells, once. */
static void check_refused(void)
{
    struct win_member *own = win_member(&win, 0);
    struct req *req;

    win.create_flavor = MPI_WIN_FLAVOR_DYNAMIC;
    CHECK_INT(win_attach(&win, memory, 4 * sizeof(int)), 0);
    CHECK_INT(own->region_count, 1);
    memory[4] = 1;
    CHECK_INT(put(data, 5), 0);
    CHECK_INT(err_class(win_message_flush(&win, 0, false, "MPI_Win_flush")), MPI_ERR_RMA_RANGE);
    CHECK_INT(win_message_flush(&win, 0, false, "MPI_Win_flush"), 0);
    CHECK_INT(get(5, &req), 0);
    CHECK_INT(err_class(req_wait(&(MPI_Request){ (MPI_Request)req }, MPI_STATUS_IGNORE)), MPI_ERR_RMA_RANGE);
    CHECK_INT(combine(MPI_SUM, data, found, INTS), 0);
    CHECK_INT(err_class(win_message_flush(&win, -1, true, "MPI_Win_flush_local")), MPI_ERR_RMA_RANGE);
    CHECK_INT(put(data, 4), 0);
    CHECK_INT(win_message_flush(&win, 0, false, "MPI_Win_flush"), 0);
    CHECK(memory[4] == 1 && memory[3] == data[3]);
    CHECK_INT(win_detach(&win, memory), 0);
    win.create_flavor = MPI_WIN_FLAVOR_CREATE;
}

/* An operation that fails at the origin has done nothing; the others come through, without memory for a while. */
static void check_no_memory(void)
{
    int sum = 0, failed = 0, last;

    memset(memory, 0, sizeof memory);
    for (int i = 0; i < ROUNDS; i++) {
        int rc;
        data[0] = i;
        mem_fail_after(i % 9);
        rc = i % 2 ? combine(MPI_SUM, data, NULL, 1) : combine(MPI_SUM, data, &last, 1);
        for (int k = 0; k < 3; k++)
            progress_poll();
        mem_fail_after(-1);
        CHECK(!rc || err_class(rc) == MPI_ERR_NO_MEM);
        sum += rc ? 0 : i;
        failed += rc != 0;
        if (i % 7 == 0)
            win_message_flush(&win, 0, false, "MPI_Win_flush");
    }
    win_message_flush(&win, 0, false, "MPI_Win_flush");
    CHECK(failed > 0);
    CHECK_INT(memory[0], sum);
    CHECK_INT(win.pending, 0);
}

int main(void)
{
    static const char *const nets[] = { "", "chaos" };

    group_init();
    type_init();
    op_init();
    progress_init(&(struct progress_config){ .local_ranks = 1 });
    win.create_flavor = MPI_WIN_FLAVOR_CREATE;
    win.member_size = sizeof(struct win_member) + CACHE_LINE; /* one pair */
    pthread_mutex_init(&win.lock, NULL);
    win.control = mem_alloc_aligned(CACHE_LINE, win.member_size);
    memset(win.control, 0, win.member_size);
    for (int i = 0; i < 2; i++) {
        open_all(nets[i]);
        check_order();
        check_long();
        check_irregular();
        check_taken();
        check_far_lock();
        check_tried_lock();
        check_far_notices();
        check_refused();
        check_no_memory();
        close_all();
    }
    mem_free(win.control);
    progress_fini();
    type_fini();
    return 0;
}
