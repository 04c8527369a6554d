/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room coll: which calls go to other clients, with which tags. The messages themselves are tested by whole
 * jobs (tests/impi). */
#include "coll/clients.h"

#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "p2p/p2p.h"
#include "sys/joint.h"

enum { SLOTS = 10, ALL = 4, OWN = 2 };

static struct joint *joint;
static struct comm comm = { .obj.kind = OBJ_COMM, .ctx = P2P_CTX_FOREIGN, .size = ALL, .remote_size = ALL };

/* Two clients of two processes; we are the first. `mark` is that of the others' names. */
static void make_world(int mark)
{
    static const int procs[ALL] = { 0, 1, SLOTS, SLOTS + 1 };

    joint = joint_create(2, ALL, ALL);
    CHECK(joint);
    joint->count = OWN;
    joint->slots = SLOTS;
    joint->xsize = 1024;
    joint->maxlinear = 4;
    for (int rank = 0; rank < ALL; rank++) {
        struct joint_proc *proc = (struct joint_proc *)(uintptr_t)joint_proc(joint, rank);

        proc->client = rank >= OWN;
        proc->name[16] = (unsigned char)(mark >> 8);
        proc->name[17] = (unsigned char)mark;
    }
    clients_open(joint, SLOTS);
    CHECK_INT(group_create_list(ALL, procs, 0, &comm.group), 0);
    comm.remote_group = comm.group;
}

static void drop_world(void)
{
    group_unref(comm.group);
    mem_free(joint);
}

static int class_of(enum coll_operation operation, enum coll_form form)
{
    const struct coll_args args = { .operation = operation };

    return err_class(clients_check(&comm, &args, form));
}

/* E1211. */
static void test_other_implementation(void)
{
    make_world(0);
    CHECK(!clients_are_alike(&comm) && clients_of(1) == 0 && clients_of(SLOTS + 1) == 1);
    CHECK_INT(class_of(COLL_BCAST, COLL_BLOCKING), 0);
    CHECK_INT(class_of(COLL_SCAN, COLL_BLOCKING), 0);
    CHECK_INT(class_of(COLL_BCAST, COLL_NONBLOCKING), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_INT(class_of(COLL_BCAST, COLL_PERSISTENT), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_INT(class_of(COLL_ALLTOALLW, COLL_BLOCKING), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_INT(class_of(COLL_EXSCAN, COLL_BLOCKING), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_INT(class_of(COLL_NEIGHBOR_ALLGATHER, COLL_BLOCKING), MPI_ERR_UNSUPPORTED_OPERATION);
    drop_world();
}

static int tag_to(struct sched *s, int peer, int sub)
{
    const struct sched_step step = { .peer = peer, .sub = (uint8_t)sub };

    return clients_tag(s, &step, s->tag - step.sub);
}

static void test_tags(void)
{
    struct sched s;

    make_world(JOINT_MARK);
    CHECK(clients_are_alike(&comm));
    CHECK_INT(class_of(COLL_EXSCAN, COLL_PERSISTENT), 0);
    sched_init(&s, &comm);
    CHECK(s.spans_clients);
    s.operation = COLL_REDUCE;
    s.tag = -1000;
    s.sequence = 3;
    s.hash = 2;
    clients_number(&s, COLL_BLOCKING);
    CHECK_INT(tag_to(&s, 2, CLIENTS_REDUCE), 190);
    CHECK_INT(tag_to(&s, 1, CLIENTS_REDUCE), -1000 - CLIENTS_REDUCE % SCHED_SUBS); /* within this client */
    clients_number(&s, COLL_NONBLOCKING);
    CHECK_INT(tag_to(&s, 3, CLIENTS_REDUCE), 1000 + (COLL_REDUCE << 24) + (2 << 20) + (3 << 6) + 190 % 64);
    clients_number(&s, COLL_PERSISTENT);
    CHECK_INT(tag_to(&s, 3, 0), 1000 + (1 << 29));
    s.comm->coll_persistent = (1 << 23) - 1; /* each of so many has its own */
    clients_number(&s, COLL_PERSISTENT);
    CHECK_INT(tag_to(&s, 3, 63), 1000 + (1 << 29) + (1 << 29) - 1);
    sched_fini(&s);
    drop_world();
}

int main(void)
{
    test_other_implementation();
    test_tags();
    return 0;
}
