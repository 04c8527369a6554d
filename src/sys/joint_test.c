/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room sys: the joint table, its numbers and names, mapped from a file. */
#include "sys/joint.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"

enum { SLOTS = 130, FIRST = 3, OWN = 2, ALL = 9 };

static const uint64_t token[2] = { 5, 7 };

/* Three clients of 3, 2 and 4 processes; we are the second. */
static struct joint *make(void)
{
    struct joint *joint = joint_create(3, 4, ALL);

    CHECK(joint);
    memcpy(joint->token, token, sizeof joint->token);
    joint->first = FIRST;
    joint->count = OWN;
    joint->slots = SLOTS;
    for (int rank = 0; rank < ALL; rank++) {
        struct joint_proc *proc = (struct joint_proc *)(uintptr_t)joint_proc(joint, rank);

        proc->name[15] = 127;
        proc->name[JOINT_NAME_SIZE - 1] = (unsigned char)(100 + rank);
    }
    return joint;
}

static void test_numbers(void)
{
    static const int number[ALL] = { SLOTS, SLOTS + 1, SLOTS + 2, 0, 1, SLOTS + 3, SLOTS + 4, SLOTS + 5, SLOTS + 6 };
    struct joint *joint = make();

    for (int rank = 0; rank < ALL; rank++) {
        CHECK_INT(joint_number(joint, rank), number[rank]);
        CHECK_INT(joint_rank(joint, number[rank]), rank);
        CHECK(joint_is_own(joint, rank) == (rank == 3 || rank == 4));
    }
    CHECK_INT(joint_numbers(joint), SLOTS + 7);
    CHECK_INT(joint_rank(joint, OWN), -1); /* a place that nobody of the first world has */
    mem_free(joint);
}

static void test_names(void)
{
    struct joint *joint = make();
    unsigned char name[JOINT_NAME_SIZE];
    int twin = -1;

    CHECK(joint_index(joint, &twin));
    for (int rank = 0; rank < ALL; rank++)
        CHECK_INT(joint_find(joint, joint_proc(joint, rank)->name), rank);
    memset(name, 0, sizeof name);
    CHECK_INT(joint_find(joint, name), -1);
    ((struct joint_proc *)(uintptr_t)joint_proc(joint, 6))->name[JOINT_NAME_SIZE - 1] = 101;
    CHECK(!joint_index(joint, &twin));
    CHECK_INT(twin, 6);
    mem_free(joint);
}

static void set_pid(const struct joint *joint, int rank, uint64_t pid)
{
    unsigned char *name = ((struct joint_proc *)(uintptr_t)joint_proc(joint, rank))->name;

    for (int i = JOINT_NAME_SIZE - 1; i >= JOINT_ADDRESS_SIZE; i--, pid >>= 8)
        name[i] = (unsigned char)pid;
}

/* Who a process of another job is, by that job's token and its place there: of clients of this library alone. */
static void test_homes(void)
{
    static const uint32_t first[] = { 0, 3, 5 }, count[] = { 3, 2, 4 };
    const uint64_t theirs = UINT64_C(0x123456789abcdef0), ours = UINT64_C(0x7edcba9876543210);
    struct joint *joint = make();

    for (int i = 0; i < 3; i++) {
        struct joint_client *client = (struct joint_client *)(uintptr_t)joint_client(joint, i);
        client->first_rank = first[i];
        client->procs = count[i];
    }
    for (int rank = 0; rank < 5; rank++)
        set_pid(joint, rank, joint_first_pid(rank < 3 ? theirs : ours) + (uint64_t)rank - (rank < 3 ? 0 : 3));
    CHECK(joint_is_kin(joint, 0) && joint_is_kin(joint, 4) && !joint_is_kin(joint, 5));
    CHECK_INT(joint_find_home(joint, theirs, 0), 0);
    CHECK_INT(joint_find_home(joint, theirs, 2), 2);
    CHECK_INT(joint_find_home(joint, theirs, 3), -1); /* started later */
    CHECK_INT(joint_find_home(joint, ours, 1), 4);
    CHECK_INT(joint_find_home(joint, theirs ^ UINT64_C(1) << 50, 0), -1);
    CHECK_INT(joint_find_home(joint, 0, 0), -1);
    mem_free(joint);
}

static void test_map(void)
{
    static const uint64_t other[2] = { 5, 8 };
    struct joint *joint = make();
    const struct joint *mapped;
    int fd = memfd_create("joint_test", MFD_CLOEXEC), twin;

    CHECK(joint_index(joint, &twin) && fd >= 0);
    CHECK(write(fd, joint, joint->size) == (ssize_t)joint->size);
    CHECK(!joint_map(fd, joint->size, other) && errno == EBADF);
    mapped = joint_map(fd, joint->size, token);
    CHECK(mapped && !memcmp(mapped, joint, joint->size));
    CHECK_INT(joint_find(mapped, joint_proc(mapped, 8)->name), 8);
    joint_unmap(mapped);
    close(fd);
    CHECK(!joint_map(fd, joint->size, token) && errno == EBADF);
    mem_free(joint);
    joint = joint_create(32, 32, JOINT_PROCS_MAX);
    CHECK(joint && joint->bucket_at > JOINT_PROCS_MAX * sizeof(struct joint_proc));
    mem_free(joint);
    mem_fail_after(0);
    CHECK(!joint_create(1, 1, 1));
    mem_fail_after(-1);
}

int main(void)
{
    test_numbers();
    test_names();
    test_homes();
    test_map();
    return 0;
}
