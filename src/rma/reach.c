/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. From a rank and a displacement to a place: is there an epoch, is the place in the target's memory, how is
 * it reached. Knows: sys (peeking), types. Does not know: what is done there. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "p2p/p2p.h"
#include "rma/favour.h"
#include "rma/int_rma.h"
#include "sys/peek.h"

/* --- the way --- */

void win_show_probe(struct win *win)
{
    struct win_member *own = win_member(win, win->rank);

    win->probe = UINT64_C(0x9e3779b97f4a7c15) * ((uint64_t)win->rank + 1) ^ (uintptr_t)win;
    own->probe_value = win->probe;
    own->probe_address = (uintptr_t)&win->probe;
}

static int pid_of(const struct win_target *target)
{
    return atomic_load_explicit(&target->proc->pid, memory_order_relaxed);
}

/* Read a word there and see whether it is what the target says: nothing less shows that it works. */
static bool can_peek(const struct win *win, int rank)
{
    const struct win_member *member = win_member(win, rank);
    uint64_t found = 0;

    return peek_is_wanted() &&
           !peek_read(pid_of(&win->target[rank]), &found, member->probe_address, sizeof found) &&
           found == member->probe_value;
}

enum win_way win_way_to(struct win *win, int rank)
{
    enum win_way way = atomic_load_explicit(&win->target[rank].way, memory_order_relaxed);

    if (likely(way != WIN_WAY_UNTRIED))
        return way;
    way = can_peek(win, rank) ? WIN_WAY_PEEK : WIN_WAY_MESSAGES;
    atomic_store_explicit(&win->target[rank].way, (uint8_t)way, memory_order_relaxed);
    return way;
}

/* --- the place --- */

static COLD int no_epoch(const struct win *win, int rank, bool is_request)
{
    if (is_request)
        return err(MPI_ERR_RMA_SYNC,
                   "E0800: calls with a request belong between MPI_Win_lock or MPI_Win_lock_all and "
                   "the unlock; now no lock on rank %d is held",
                   rank);
    if (win->epoch == WIN_EPOCH_START)
        return err(MPI_ERR_RMA_SYNC, "E0800: rank %d is not in the group that MPI_Win_start was called with",
                   rank);
    if (win->epoch == WIN_EPOCH_LOCK)
        return err(MPI_ERR_RMA_SYNC, "E0800: no lock on rank %d is held by this process", rank);
    return err(MPI_ERR_RMA_SYNC,
               "E0800: no access epoch is open: call MPI_Win_fence, MPI_Win_start or MPI_Win_lock "
               "before");
}

static int check_epoch(const struct win *win, int rank, bool is_request)
{
    const bool is_open =
        win->is_open || (rank >= 0 ? win->target[rank].access : win->epoch != WIN_EPOCH_NONE);

    return likely(is_open && (!is_request || win->epoch >= WIN_EPOCH_LOCK)) ? 0
                                                                            : no_epoch(win, rank, is_request);
}

static COLD int out_of_range(const struct win_aim *aim, const struct win_target *target, MPI_Count low,
                             uint64_t len)
{
    return err(MPI_ERR_RMA_RANGE,
               "E0802: %lld items at displacement %lld take bytes %lld to %lld of the memory of rank %d, "
               "which has %llu "
               "(in units of %llu)",
               (long long)aim->count, (long long)aim->disp,
               (long long)((MPI_Count)((uint64_t)aim->disp * target->unit) + low),
               (long long)((uint64_t)aim->disp * target->unit + (uint64_t)low + len), aim->rank,
               (unsigned long long)target->size, (unsigned long long)target->unit);
}

static int check_attached(struct win *win, const struct win_aim *aim, const struct win_place *place)
{
    const struct win_part all = { aim->type, aim->count, place->address, 0, place->bytes };
    struct win_range missing;

    if (likely(win_is_part_attached(win, aim->rank, &all, &missing)))
        return 0;
    return err(MPI_ERR_RMA_RANGE,
               "E0802: %llu bytes at address 0x%llx of rank %d are not attached to the window",
               (unsigned long long)missing.len, (unsigned long long)missing.address, aim->rank);
}

/* Does the span of so many items overflow? */
static bool is_huge(const struct win_aim *aim)
{
    MPI_Count reach, bytes;

    return __builtin_mul_overflow(aim->count, aim->type->extent, &reach) ||
           __builtin_mul_overflow(aim->count, aim->type->size, &bytes) || reach > INT64_MAX / 4 ||
           reach < INT64_MIN / 4;
}

static int check_range(struct win *win, const struct win_aim *aim, struct win_place *place)
{
    const struct win_target *target = place->target;
    struct type_span span;

    if (is_huge(aim) || (uint64_t)aim->disp > UINT64_MAX / 4 / target->unit)
        return err(MPI_ERR_RMA_RANGE, "E0802: %lld items at displacement %lld are beyond all memory",
                   (long long)aim->count, (long long)aim->disp);
    if (win->create_flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return check_attached(win, aim, place);
    span = type_span(aim->type, aim->count);
    if ((MPI_Count)place->offset + span.low < 0 || place->offset + (uint64_t)span.low > target->size ||
        span.len > target->size - place->offset - (uint64_t)span.low)
        return out_of_range(aim, target, span.low, span.len);
    return 0;
}

int win_reach(struct win *win, const struct win_aim *aim, bool is_request, struct win_place *place)
{
    int rc = win_check_rank(win, aim->rank);

    if (!rc)
        rc = check_epoch(win, aim->rank, is_request);
    *place = (struct win_place){ 0 };
    if (rc || aim->rank == MPI_PROC_NULL)
        return rc;
    place->target = &win->target[aim->rank];
    place->offset = (uint64_t)aim->disp * place->target->unit;
    place->address = place->target->address + place->offset;
    place->bytes = type_bytes(aim->type, aim->count);
    if (aim->count && aim->type->size)
        rc = check_range(win, aim, place);
    if (rc)
        return rc;
    place->way = win_way_to(win, aim->rank);
    place->here = (char *)(uintptr_t)place->address;
    if (place->target->base)
        place->here = place->target->base + place->offset;
    return 0;
}

static COLD int different(const struct win_data *data, const struct win_aim *aim)
{
    return err(MPI_ERR_ARG,
               "E0803: the origin's side has %lld items of %lld bytes, the target's %lld items of %lld "
               "bytes: both must "
               "be the same data",
               (long long)data->count, (long long)data->type->size, (long long)aim->count,
               (long long)aim->type->size);
}

int win_check_sides(const struct win_data *data, const struct win_aim *aim)
{
    MPI_Count bytes;

    if (unlikely(__builtin_mul_overflow(data->count, data->type->size, &bytes)) ||
        bytes != aim->count * aim->type->size)
        return different(data, aim);
    return 0;
}

/* --- peeking --- */

static COLD int peek_failed(struct win *win, int rank, size_t len, int failed)
{
    if (peek_is_refused(failed)) {
        atomic_store_explicit(&win->target[rank].way, WIN_WAY_MESSAGES, memory_order_relaxed);
        return WIN_REFUSED;
    }
    if (failed == ESRCH)
        return p2p_gone(group_proc(win->comm->group, rank), "a one-sided call", len);
    return err(failed == EFAULT ? MPI_ERR_RMA_RANGE : MPI_ERR_OTHER,
               "E0805: copying %zu bytes from or to the memory of rank %d: %s", len, rank, strerror(failed));
}

int win_peek(struct win *win, int rank, void *local, uint64_t address, size_t len, bool is_write)
{
    const int pid = pid_of(&win->target[rank]);
    const int failed = is_write ? peek_write(pid, local, address, len) : peek_read(pid, local, address, len);

    return likely(!failed) ? 0 : peek_failed(win, rank, len, failed);
}

int win_peek_list(struct win *win, int rank, struct peek_list *list, size_t len, bool is_write)
{
    const int pid = pid_of(&win->target[rank]);
    const int failed = is_write ? peek_write_list(pid, list) : peek_read_list(pid, list);

    return likely(!failed) ? 0 : peek_failed(win, rank, len, failed);
}

/* The target's side is copied in groups of blocks; data with gaps on our side go through a buffer. A block of its own
 * costs the system as much as copying a kilobyte or two, so small ones that are read are read with the gaps between
 * them. Gaps are never written: others may change them. */
enum { PACKED = 65536, SMALL = 512, GAP = 1024 };

struct mover {
    struct win *win;
    const struct win_data *data;
    const struct win_aim *aim;
    uint64_t address;    /* of the target's side, there */
    bool is_put;
    char *run;           /* of our side; NULL: it has gaps */
    struct peek_list list;
    struct type_block blocks[PEEK_PIECES];
    char packed[PACKED];
    char spans[PACKED]; /* blocks that are read with gaps, before the gaps are dropped */
    uint32_t span_of[PEEK_PIECES];
};

static int move_blocks(struct mover *m, size_t count, char *local, size_t len)
{
    size_t at = 0;

    for (size_t i = 0; i < count; at = m->blocks[i++].end)
        m->list.there[i] = (struct iovec){ (void *)(uintptr_t)m->blocks[i].address, m->blocks[i].end - at };
    m->list.here[0] = (struct iovec){ local, len };
    m->list.here_count = 1;
    m->list.there_count = count;
    return win_peek_list(m->win, m->aim->rank, &m->list, len, m->is_put);
}

/* Nothing lies between `end` and `begin` but bytes of their pages, or little that is there to be read. */
static bool is_near(uint64_t end, uint64_t begin)
{
    return begin <= end || (begin - end <= GAP && begin / WIN_PAGE <= (end - 1) / WIN_PAGE + 1);
}

/* Make a span longer by a block, at either end; false: it is too far away, or there is no more room. */
static bool extend(struct iovec *span, const struct iovec *block, size_t room)
{
    const uint64_t low = (uintptr_t)span->iov_base, high = low + span->iov_len;
    const uint64_t first = (uintptr_t)block->iov_base, last = first + block->iov_len;
    const uint64_t begin = first < low ? first : low, end = last > high ? last : high;

    if (!is_near(high, first) || !is_near(last, low) || end - begin - span->iov_len > room)
        return false;
    *span = (struct iovec){ (void *)(uintptr_t)begin, end - begin };
    return true;
}

/* Make spans of blocks, as many as there is room for. Returns how many of these. */
static size_t make_spans(struct mover *m, size_t count, size_t *bytes)
{
    size_t begin = 0, spans = 0, i;

    *bytes = 0;
    for (i = 0; i < count; begin = m->blocks[i++].end) {
        const struct iovec block = { (void *)(uintptr_t)m->blocks[i].address, m->blocks[i].end - begin };
        struct iovec *const last = &m->list.there[spans - (spans > 0)];
        const size_t before = spans ? last->iov_len : 0;

        if (spans && extend(last, &block, PACKED - *bytes)) {
            *bytes += last->iov_len - before;
        } else {
            if (block.iov_len > PACKED - *bytes)
                break;
            m->list.there[spans++] = block;
            *bytes += block.iov_len;
        }
        m->span_of[i] = (uint32_t)(spans - 1);
    }
    m->list.there_count = spans;
    return i;
}

/* Small blocks; *len: bytes of those that have been read. */
static int read_spans(struct mover *m, size_t count, char *local, size_t *len)
{
    struct iovec there[PEEK_PIECES];
    size_t bytes, start = 0, span = 0, begin = 0;
    int rc;

    count = make_spans(m, count, &bytes);
    memcpy(there, m->list.there, m->list.there_count * sizeof there[0]);
    m->list.here[0] = (struct iovec){ m->spans, bytes };
    m->list.here_count = 1;
    rc = win_peek_list(m->win, m->aim->rank, &m->list, bytes, false);
    for (size_t i = 0; i < count && !rc; begin = m->blocks[i++].end) {
        if (m->span_of[i] != span)
            start += there[span++].iov_len;
        memcpy(local + begin, m->spans + start + (m->blocks[i].address - (uintptr_t)there[span].iov_base),
               m->blocks[i].end - begin);
    }
    *len = m->blocks[count - 1].end;
    return rc;
}

/* From byte `at` of the data on, *len bytes or fewer. */
static int move_part(struct mover *m, size_t at, size_t *len)
{
    const struct win_data *data = m->data;
    char *const local = m->run ? m->run + at : m->packed;
    const size_t count =
        type_next_blocks(m->aim->type, (uintptr_t)m->address, at, *len, m->blocks, PEEK_PIECES);
    int rc;

    *len = m->blocks[count - 1].end;
    if (m->is_put && !m->run)
        type_pack(data->type, data->buf, data->count, at, local, *len);
    if (!m->is_put && count > 1 && *len / count <= SMALL && m->blocks[0].end <= PACKED)
        rc = read_spans(m, count, local, len);
    else
        rc = move_blocks(m, count, local, *len);
    if (!rc && !m->is_put && !m->run)
        type_unpack(data->type, data->buf, data->count, at, local, *len);
    return rc;
}

static int move_some(struct mover *m, size_t at, size_t end)
{
    size_t len;
    int rc = 0;

    for (; at < end && !rc; at += len) {
        len = m->run ? end - at : size_min(PACKED, end - at);
        rc = move_part(m, at, &len);
    }
    return rc;
}

/* Our share of a favour. */
static int put_some(void *arg, char *from, char *result, size_t *at, size_t end)
{
    struct mover *m = arg;
    int rc;

    (void)result;
    m->run = (char *)((uintptr_t)from - *at);
    rc = move_some(m, *at, end);
    *at = end;
    return rc;
}

static int put_small_pieces(struct mover *m, const struct win_place *place)
{
    size_t at = 0;

    return win_favour_run(&(struct win_favour){ .win = m->win, .aim = m->aim, .place = place, .from = m->data,
                                                .call = "MPI_Put", .self = put_some, .arg = m },
                          &at);
}

int win_peek_move(struct win *win, const struct win_data *data, const struct win_aim *aim,
                  const struct win_place *place, bool is_put)
{
    const bool is_run = type_is_run(data->type, data->count);
    struct mover *m;
    int rc;

    if (is_run && type_is_run(aim->type, aim->count))
        return win_peek(win, aim->rank, type_run(data->type, data->buf),
                        (uintptr_t)type_run(aim->type, (const void *)(uintptr_t)place->address), place->bytes,
                        is_put);
    m = mem_alloc(sizeof *m);
    if (!m)
        return err(MPI_ERR_NO_MEM, "no memory for copying %zu bytes with gaps", place->bytes);
    m->win = win;
    m->data = data;
    m->aim = aim;
    m->address = place->address;
    m->is_put = is_put;
    m->run = is_run ? type_run(data->type, data->buf) : NULL;
    rc = is_put && win_favour_pays(win, aim, place) ? put_small_pieces(m, place) : move_some(m, 0, place->bytes);
    mem_free(m);
    return rc;
}
