/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/shm. For its unit tests: a segment with all processes in one, and rings that have gone round. */
#ifndef NET_SHM_SHM_SEGMENT_H
#define NET_SHM_SHM_SEGMENT_H

#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "net/shm/int_shm.h"

static int segment_fd;

static inline struct job_head *segment_create(int procs)
{
    const size_t size = job_transport_offset(procs);
    struct job_head *head;

    segment_fd = memfd_create("shm_segment", MFD_CLOEXEC);
    CHECK(segment_fd >= 0 && !ftruncate(segment_fd, (off_t)size));
    head = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, segment_fd, 0);
    CHECK(head != MAP_FAILED);
    head->token[0] = 12345;
    for (int proc = 0; proc < procs; proc++)
        atomic_store(&job_proc(head, proc)->pid, getpid());
    return head;
}

static inline void segment_destroy(struct job_head *segment, int procs)
{
    munmap(segment, job_transport_offset(procs));
    close(segment_fd);
}

static inline struct net_config config_of(struct job_head *segment, int proc, int procs, int lane)
{
    return (struct net_config){
        .proc = proc, .procs = procs, .lane = lane, .segment = segment, .segment_fd = segment_fd,
    };
}

/* As if so many slots more had gone from one to the other, in whole rounds of the ring. */
static inline void go_round(struct net_ep *from, struct net_ep *to, uint32_t slots)
{
    struct shm_peer *a = (struct shm_peer *)(void *)from, *b = (struct shm_peer *)(void *)to;

    a->out_pos += slots;
    a->out_tail += slots;
    b->in_pos += slots;
    b->in_told += slots;
    atomic_store(&a->out->tail, b->in_told);
}

#endif
