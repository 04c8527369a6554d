/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. The joint table: laying it out, finding names in it, mapping it. */
#include "sys/joint.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"

static uint32_t bucket_of(const struct joint *joint, const unsigned char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (int i = 0; i < JOINT_NAME_SIZE; i++)
        hash = (hash ^ name[i]) * UINT64_C(0x100000001b3);
    return (uint32_t)(hash >> 20) & (joint->buckets - 1);
}

static uint32_t *buckets_of(struct joint *joint)
{
    return (uint32_t *)(void *)((char *)joint + joint->bucket_at);
}

static bool has_name(const struct joint *joint, uint32_t rank, const unsigned char *name)
{
    return !memcmp(joint_proc(joint, (int)rank)->name, name, JOINT_NAME_SIZE);
}

int joint_find(const struct joint *joint, const unsigned char name[JOINT_NAME_SIZE])
{
    const uint32_t *bucket = (const uint32_t *)(const void *)((const char *)joint + joint->bucket_at);

    for (uint32_t at = bucket_of(joint, name); bucket[at]; at = (at + 1) & (joint->buckets - 1))
        if (has_name(joint, bucket[at] - 1, name))
            return (int)bucket[at] - 1;
    return -1;
}

static uint64_t pid_of(const struct joint *joint, uint32_t rank)
{
    uint64_t pid;

    memcpy(&pid, joint_proc(joint, (int)rank)->name + JOINT_ADDRESS_SIZE, sizeof pid);
    return be64toh(pid);
}

int joint_find_home(const struct joint *joint, uint64_t token, uint32_t home)
{
    for (uint32_t i = 0; i < joint->clients; i++) {
        const struct joint_client *client = joint_client(joint, (int)i);

        if (home < client->procs && pid_of(joint, client->first_rank) == joint_first_pid(token))
            return (int)(client->first_rank + home);
    }
    return -1;
}

bool joint_index(struct joint *joint, int *twin)
{
    uint32_t *bucket = buckets_of(joint);

    memset(bucket, 0, joint->buckets * sizeof *bucket);
    for (uint32_t rank = 0; rank < joint->procs; rank++) {
        const unsigned char *name = joint_proc(joint, (int)rank)->name;
        uint32_t at = bucket_of(joint, name);

        for (; bucket[at]; at = (at + 1) & (joint->buckets - 1))
            if (has_name(joint, bucket[at] - 1, name)) {
                *twin = (int)rank;
                return false;
            }
        bucket[at] = rank + 1;
    }
    return true;
}

struct joint *joint_create(int clients, int hosts, int procs)
{
    struct joint shape = { .magic = JOINT_MAGIC, .major = JOINT_MAJOR, .buckets = 4, .clients = (uint32_t)clients,
                           .hosts = (uint32_t)hosts, .procs = (uint32_t)procs, .client_at = sizeof shape };
    struct joint *joint;

    while (shape.buckets < 2 * shape.procs)
        shape.buckets *= 2;
    shape.host_at = shape.client_at + shape.clients * sizeof(struct joint_client);
    shape.proc_at = shape.host_at + shape.hosts * sizeof(struct joint_host);
    shape.bucket_at = shape.proc_at + shape.procs * sizeof(struct joint_proc);
    shape.size = shape.bucket_at + shape.buckets * sizeof(uint32_t);
    joint = mem_zalloc(shape.size);
    if (joint)
        *joint = shape;
    return joint;
}

const struct joint *joint_map(int fd, uint64_t size, const uint64_t token[2])
{
    struct joint *joint = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

    if (joint == MAP_FAILED)
        return NULL;
    if (joint->magic == JOINT_MAGIC && joint->major == JOINT_MAJOR && joint->size == size &&
        !memcmp(joint->token, token, sizeof joint->token))
        return joint;
    munmap(joint, size);
    errno = EBADF;
    return NULL;
}

void joint_unmap(const struct joint *joint)
{
    munmap((void *)(uintptr_t)joint, joint->size);
}
