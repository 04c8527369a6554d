/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/shm. Layout of the transports' part of the job segment, for n processes: an area for each lane, mapped when
 * the lane opens,
 *
 *   offset in the area    size        what
 *   0                     n * n * 4K  ring pages [receiver][sender], see struct shm_page
 *   n * n * 4K            n * 4K      records of each process, 64 of 64 bytes (struct net_record)
 *   n * n * 4K + n * 4K   n * 1030K   cells of each sender, 32 of 32 KB and three lines; then to the next page
 *   after these           n * 4K      struct shm_proc of each process; that of lane 0 has the 1024 bytes in job_proc
 *
 * All of it starts as zeroes, and memory is taken where it is touched: a page for each directed pair that really
 * talks, nothing for a lane that is not open. */
#ifndef NET_SHM_LAYOUT_H
#define NET_SHM_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>

#include "net/net.h"
#include "sys/job.h"

enum {
    SHM_MAX_PROCS = 1024,
    SHM_SLOTS = 62,
    SHM_INLINE = 40,                              /* payload bytes of a slot */
    SHM_MORE = 60,                                /* payload bytes of a following slot */
    SHM_FOLLOWING = 8,                            /* at most so many of them */
    SHM_SHORT_MAX = SHM_INLINE + SHM_FOLLOWING * SHM_MORE,
    SHM_ROW_MAX = SHM_INLINE + 2 * SHM_MORE,      /* the same in a row of records, where longer ones go in cells */
    SHM_ROOM = SHM_SLOTS - SHM_FOLLOWING - 1,     /* while one more slot is free, any short record finds room, and its
                                                     gap */
    SHM_TAKE_MAX = 8191,                          /* longest payload that shm_take takes */
    SHM_CELLS = 32,
    SHM_CELL_SIZE = 32768,
    SHM_PAIR_SIZE = 2 * SHM_CELL_SIZE,            /* cells 2 i and 2 i + 1 are one, for what is sent in parts */
    SHM_PARTS = 4,                                /* of a cell or pair that is read while it is written; three lines of
                                                     each cell, behind the pair, tell of all but the first */
    SHM_PAIR_STRIDE = SHM_PAIR_SIZE + 2 * (SHM_PARTS - 1) * CACHE_LINE, /* so that pairs do not all meet in the same
                                                                           sets of the caches */
    SHM_PARTS_MIN = 4864,                         /* shortest payload that goes so */
    SHM_SPARE_MIN = 833,                          /* shortest payload for which a cell is made ready ahead */
    SHM_RECORDS = 64,
    SHM_AHEAD = 8,                                /* slots that both sides fetch ahead */
    SHM_REPORT_EVERY = 12,                        /* slots consumed until the sender is told */
};

/* In the sequence number of a slot that begins a record. */
#define SHM_VALID UINT32_C(0x80000000)

/* In the length word of a slot: behind its record one slot is left out; those behind its record of several slots are
 * left out to the end of the ring; the payload lies in a cell. */
#define SHM_GAP UINT32_C(0x80000000)
#define SHM_TO_END UINT32_C(0x40000000)
#define SHM_IN_CELL UINT32_C(0x20000000)
#define SHM_LEN (SHM_IN_CELL - 1)

/* A record of up to 40 bytes is one slot; flag and payload share the line. The following slots of a longer one have
 * 60 bytes each and as seq how many slots their sender has consumed in the other direction, without the top bit; they
 * are written before the first slot's seq. A slot at position p of the stream is valid if its seq is (p + 1) with the
 * top bit set: neither an older lap nor a following slot can look so.
 *
 * When records go to and fro, one slot is left out behind each: the receiver's processor fetches the line behind those
 * it reads, and would take that of the next record from its writer (near 0.067 us for one line and 0.052 with a gap,
 * far 0.268 and 0.245, for five 0.088 and 0.059, 0.37 and 0.26). Slots that are left out keep what was in them.
 *
 *   0   seq      4
 *   4   len      4   of the payload; with SHM_IN_CELL it lies in a cell, and here is struct shm_in_cell
 *   8   head    16   two words of the caller's
 *   24  payload 40
 */
struct shm_slot {
    _Atomic uint32_t seq;
    uint32_t len;
    struct net_head head;
    unsigned char payload[SHM_INLINE];
} ALIGNED(CACHE_LINE);

struct shm_in_cell {
    uint32_t index;  /* of the sender's cell */
    uint32_t tail;   /* slots that this sender has consumed in the other direction */
    uint64_t stamp;  /* not 0: only the first part is there, and the others have come when their lines say this number,
                        which no other message of the sender has */
};

/* A line behind a cell. */
struct shm_part {
    _Atomic uint64_t stamp ALIGNED(CACHE_LINE);
};

/* The first and the last line are written by the receiver. They are two because the sender looks at `hot` each time,
 * and at the tail only when it seems to be out of slots; and far apart because a line's neighbour often comes along. */
struct shm_page {
    _Atomic uint32_t tail ALIGNED(CACHE_LINE); /* slots consumed, told every SHM_REPORT_EVERY and after a cell */
    struct shm_slot slot[SHM_SLOTS];
    _Atomic uint32_t hot ALIGNED(CACHE_LINE);  /* 1: the receiver polls this ring; 0: ring the bell */
    _Atomic uint32_t wishes[NET_WISHES];       /* what net.h says; here since the sender reads this line anyway */
    _Atomic uint32_t far;                      /* sys/pace.h: the receiver reads far lines */
    _Atomic uint32_t parts;                    /* the receiver would read cells while they are written */
};

/* `n` slots on, at most as many as the ring has. */
static ALWAYS_INLINE struct shm_slot *shm_next(struct shm_page *page, struct shm_slot *slot, uint32_t n)
{
    slot += n;
    return likely(slot < page->slot + SHM_SLOTS) ? slot : slot - SHM_SLOTS;
}

/* From this slot to where the ring begins anew. */
static ALWAYS_INLINE uint32_t shm_to_end(const struct shm_page *page, const struct shm_slot *slot)
{
    return (uint32_t)(page->slot + SHM_SLOTS - slot);
}

/* What others write for this process, and what they need of it. */
struct shm_proc {
    _Atomic uint64_t bells ALIGNED(CACHE_LINE);              /* bit g: bell[g] is not zero */
    _Atomic uint64_t bell[SHM_MAX_PROCS / 64] ALIGNED(CACHE_LINE); /* bit s of word g: sender 64 g + s has sent */
    _Atomic uint64_t probe_address ALIGNED(CACHE_LINE);      /* of a word in this process … */
    _Atomic uint64_t probe_value;                            /* … and what is in it; 0: not ready */
};

_Static_assert(sizeof(struct shm_slot) == CACHE_LINE, "a slot is one line");
_Static_assert(sizeof(struct shm_page) == JOB_PAGE, "a ring is one page");
_Static_assert(sizeof(struct shm_proc) <= JOB_NET_SIZE, "fits its area");
_Static_assert(sizeof(struct shm_part) == CACHE_LINE, "lines for the parts");
_Static_assert(SHM_RECORDS * sizeof(struct net_record) == JOB_PAGE, "records of a process are one page");

/* One lane's part of the segment, and how many processes it is for. */
struct shm_area {
    char *start;
    int procs;
};

/* The cells of all processes, in whole pages. */
static inline size_t shm_cells_size(int procs)
{
    return ((size_t)procs * (SHM_CELLS / 2) * SHM_PAIR_STRIDE + JOB_PAGE - 1) / JOB_PAGE * JOB_PAGE;
}

static inline size_t shm_area_size(int procs)
{
    const size_t n = (size_t)procs;

    const size_t size = n * n * JOB_PAGE + n * JOB_PAGE + shm_cells_size(procs) + n * JOB_PAGE;

    return (size + JOB_TRANSPORT_ALIGN - 1) / JOB_TRANSPORT_ALIGN * JOB_TRANSPORT_ALIGN;
}

/* Where in the segment. */
static inline size_t shm_area_offset(int procs, int lane)
{
    return job_transport_offset(procs) + shm_area_size(procs) * (size_t)lane;
}

static inline struct shm_page *shm_page(struct shm_area area, int receiver, int sender)
{
    return (struct shm_page *)(void *)(area.start +
                                       JOB_PAGE * ((size_t)receiver * (size_t)area.procs + (size_t)sender));
}

static inline struct net_record *shm_record(struct shm_area area, int proc, uint32_t index)
{
    char *records = (char *)shm_page(area, area.procs, 0);

    return (struct net_record *)(void *)(records + JOB_PAGE * (size_t)proc) + index;
}

static inline void *shm_cell(struct shm_area area, int proc, uint32_t index)
{
    char *cells = (char *)shm_record(area, area.procs, 0);

    return cells + (size_t)SHM_PAIR_STRIDE * ((size_t)proc * (SHM_CELLS / 2) + index / 2) +
           (size_t)SHM_CELL_SIZE * (index % 2);
}

/* Who say that the parts of this cell, or of the pair that begins with it, are there, but for the first. */
static inline struct shm_part *shm_parts(struct shm_area area, int proc, uint32_t index)
{
    char *behind = (char *)shm_cell(area, proc, index / 2 * 2) + SHM_PAIR_SIZE;

    return (struct shm_part *)(void *)behind + (SHM_PARTS - 1) * (index % 2);
}

/* Of all but the last part, which is shorter. */
static inline uint32_t shm_part_size(uint32_t len)
{
    return (len / SHM_PARTS + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* Where in the area the last part begins. */
static inline size_t shm_area_procs(int procs)
{
    const size_t n = (size_t)procs;

    return n * n * JOB_PAGE + n * JOB_PAGE + shm_cells_size(procs);
}

static inline struct shm_proc *shm_proc(struct shm_area area, struct job_head *head, int proc, int lane)
{
    char *procs = area.start + shm_area_procs(area.procs);

    return (struct shm_proc *)(void *)(lane ? procs + JOB_PAGE * (size_t)proc : (char *)job_proc(head, proc)->net);
}

#endif
