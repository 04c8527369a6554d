/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Put and get (MPI 5.0 §12.3.1, §12.3.2, §12.3.5). Memory that is mapped here is copied to or from at
 * once, and that is all: the first branch. */
#include "base/copy.h"
#include "rma/int_rma.h"

/* May this be done by one copy? Then its length is *bytes, and the place at the target is returned; else NULL. */
static ALWAYS_INLINE char *direct_place(const struct win *win, const struct win_data *data,
                                        const struct win_aim *aim, size_t *bytes)
{
    const struct win_target *target;
    uint64_t offset, len;

    if (unlikely((unsigned)aim->rank >= (unsigned)win->size))
        return NULL;
    target = &win->target[aim->rank];
    if (unlikely(!target->base || !(win->is_open | target->access) || !data->type->is_contig ||
                 !aim->type->is_contig))
        return NULL;
    if (unlikely(__builtin_mul_overflow((uint64_t)aim->count, (uint64_t)aim->type->size, &len) ||
                 __builtin_mul_overflow((uint64_t)aim->disp, target->unit, &offset) ||
                 offset > target->size || len > target->size - offset))
        return NULL;
    *bytes = (size_t)len;
    if (unlikely(data->type != aim->type
                     ? (uint64_t)data->count * (uint64_t)data->type->size != len || data->count > INT32_MAX
                     : data->count != aim->count))
        return NULL;
    return target->base + offset;
}

/* Everything else. */
static NOINLINE int move(struct win *win, const struct win_data *data, const struct win_aim *aim, bool is_put,
                         struct req **request)
{
    struct win_place place;
    int rc = win_reach(win, aim, request != NULL, &place);

    if (!rc && place.target)
        rc = win_check_sides(data, aim);
    if (rc)
        return rc;
    if (place.target && place.bytes) {
        if (place.way == WIN_WAY_PEEK)
            rc = win_peek_move(win, data, aim, &place, is_put);
        if (place.way == WIN_WAY_MESSAGES || rc == WIN_REFUSED)
            return is_put ? win_message_put(win, data, aim, &place, request)
                          : win_message_get(win, data, aim, &place, request);
        if (place.way == WIN_WAY_DIRECT && is_put)
            type_copy(place.here, aim->count, aim->type, data->buf, data->count, data->type);
        else if (place.way == WIN_WAY_DIRECT)
            type_copy(data->buf, data->count, data->type, place.here, aim->count, aim->type);
    }
    if (!rc && request)
        *request = win_done_request();
    return rc;
}

int win_put(struct win *win, const struct win_data *from, const struct win_aim *to)
{
    size_t bytes;
    char *place = direct_place(win, from, to, &bytes);

    if (unlikely(!place))
        return move(win, from, to, true, NULL);
    copy_bytes(place, from->buf, bytes);
    return 0;
}

int win_get(struct win *win, const struct win_data *to, const struct win_aim *from)
{
    size_t bytes;
    const char *place = direct_place(win, to, from, &bytes);

    if (unlikely(!place))
        return move(win, to, from, false, NULL);
    copy_bytes(to->buf, place, bytes);
    return 0;
}

int win_rput(struct win *win, const struct win_data *from, const struct win_aim *to, struct req **request)
{
    return move(win, from, to, true, request);
}

int win_rget(struct win *win, const struct win_data *to, const struct win_aim *from, struct req **request)
{
    return move(win, to, from, false, request);
}
