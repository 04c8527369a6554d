/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. What several algorithms are made of: teams, trees over them, pieces of data. Knows: schedules. Does not
 * know: operations. */
#include "coll/algorithms.h"

enum { MOST_SEGMENTS = 1024 };

struct coll_team coll_team_all(const struct sched *s, int first)
{
    const int size = s->comm->size;

    return (struct coll_team){ .size = size, .place = (s->comm->rank - first + size) % size, .first = first };
}

/* --- pieces --- */

static MPI_Count piece_start(MPI_Count count, int i, int n)
{
    const MPI_Count rest = count % n;

    return count / n * i + (i < rest ? i : rest);
}

struct coll_block coll_pieces(struct coll_block block, int from, int to, int n)
{
    const MPI_Count first = piece_start(block.count, from, n);

    return coll_part(block, first, piece_start(block.count, to, n) - first);
}

int coll_segments(const struct sched *s, struct coll_block block)
{
    const size_t bytes = coll_bytes(&block), n = bytes / (size_t)s->parameter + !!(bytes % (size_t)s->parameter);

    return n < 1 ? 1 : n > MOST_SEGMENTS ? MOST_SEGMENTS : (int)n;
}

struct coll_block coll_as_bytes(struct sched *s, struct coll_block block, bool is_filled, int *last)
{
    const size_t len = coll_bytes(&block);
    struct coll_block bytes;

    if (type_is_run(block.type, block.count))
        return coll_byte_block(type_run(block.type, block.buf), len);
    bytes = coll_byte_block(sched_bytes(s, len), len);
    if (is_filled)
        *last = sched_copy(s, block, bytes, AFTER(*last));
    return bytes;
}

int coll_from_bytes(struct sched *s, struct coll_block bytes, struct coll_block block, int last)
{
    return type_is_run(block.type, block.count) ? last : sched_copy(s, bytes, block, AFTER(last));
}

struct coll_range coll_range_around(const struct coll_data *data, int first, int n, int size)
{
    const int before_end = n < size - first ? n : size - first;
    struct coll_range range = { .parts = 1, .part = { coll_data_range(data, first, before_end) } };

    range.part[1] = coll_data_range(data, 0, n - before_end);
    if (n > before_end)
        range.parts = 2;
    return range;
}

/* --- trees --- */

/* The floor of a place: the greatest power of the radix that divides it; of place 0 the first one that is not below
 * the size. Its parent is where the digit above is 0, its children have one digit below. */
static int64_t floor_of(const struct coll_team *team, int radix)
{
    int64_t floor = 1;

    while (floor < team->size && team->place % (floor * radix) == 0)
        floor *= radix;
    return floor;
}

int coll_part_bcast(struct sched *s, const struct coll_team *team, struct coll_block block, int radix, int sub,
                    int after)
{
    int64_t floor = floor_of(team, radix);
    int last = after;

    if (team->place)
        last = coll_team_recv(s, team, block, (int)(team->place - team->place % (floor * radix)), sub, AFTER(after));
    for (floor /= radix; floor > 0; floor /= radix) {
        for (int i = 1; i < radix && team->place + i * floor < team->size; i++)
            coll_team_send(s, team, block, (int)(team->place + i * floor), sub, AFTER(last));
    }
    return last;
}

int coll_part_meet(struct sched *s, const struct coll_team *team, int radix, int sub, int after)
{
    const struct coll_block nothing = coll_byte_block(NULL, 0);
    const int64_t top = floor_of(team, radix);
    const int all = sched_join(s, AFTER(after));

    for (int64_t floor = 1; floor < top; floor *= radix) {
        for (int i = 1; i < radix && team->place + i * floor < team->size; i++)
            sched_also(s, all, coll_team_recv(s, team, nothing, (int)(team->place + i * floor), sub, AT_ONCE));
    }
    if (!team->place)
        return all;
    return coll_team_send(s, team, nothing, (int)(team->place - team->place % (top * radix)), sub, AFTER(all));
}

/* What comes lies in one of two rooms in turn, and becomes the value there; the room of the value before is free
 * then. */
int coll_part_reduce(struct sched *s, const struct coll_team *team, struct coll_block own, struct coll_block result,
                     int sub, int after)
{
    const int size = team->size, place = team->place;
    const bool is_in_place = !place && own.buf == result.buf;
    struct coll_block value = own, room[2] = { { NULL, 0, NULL }, { NULL, 0, NULL } };
    int last = after, round = 0, distance;

    if (!place)
        room[is_in_place] = result;
    for (distance = 1; distance < size && !(place & distance); distance += distance) {
        struct coll_block *in = &room[round % 2];
        int got;

        if (place + distance >= size)
            continue;
        if (!in->type)
            *in = sched_items(s, own.type, own.count);
        got = coll_team_recv(s, team, *in, place + distance, sub,
                             AFTER(round > 1 || is_in_place ? last : SCHED_NONE));
        last = sched_reduce(s, value, *in, AFTER(got, last));
        value = *in;
        round++;
    }
    if (place)
        last = coll_team_send(s, team, value, place - distance, sub, AFTER(last));
    else if (value.buf != result.buf)
        last = sched_copy(s, value, result, AFTER(last));
    return last;
}

/* --- partners --- */

struct coll_fold coll_fold_of(int size, int even)
{
    struct coll_fold fold = { .places = 1 };

    while (fold.places <= size / 2)
        fold.places += fold.places;
    fold.pairs = size - fold.places;
    fold.even = even % 2 == 0 && even < 2 * fold.pairs ? even : -1;
    return fold;
}

int coll_fold_rank(const struct coll_fold *fold, int place)
{
    return place < fold->pairs ? 2 * place + (2 * place != fold->even) : place + fold->pairs;
}

int coll_fold_place(const struct coll_fold *fold, int rank)
{
    return rank < 2 * fold->pairs ? rank / 2 : rank - fold->pairs;
}

static void swap_rooms(struct coll_rooms *rooms)
{
    const struct coll_block value = rooms->value;

    rooms->value = rooms->other;
    rooms->other = value;
}

bool coll_fold_in(struct sched *s, const struct coll_fold *fold, const struct coll_team *team,
                  struct coll_rooms *rooms, int sub, int *last)
{
    const int rank = team->place, other = rank ^ 1;
    int got;

    if (rank >= 2 * fold->pairs)
        return true;
    if (coll_fold_rank(fold, rank / 2) != rank) {
        *last = coll_team_send(s, team, rooms->value, other, sub, AFTER(*last));
        return false;
    }
    got = coll_team_recv(s, team, rooms->other, other, sub, AT_ONCE);
    if (other < rank) {
        *last = sched_reduce(s, rooms->other, rooms->value, AFTER(got, *last));
    } else {
        *last = sched_reduce(s, rooms->value, rooms->other, AFTER(got, *last));
        swap_rooms(rooms);
    }
    return true;
}

/* The value lies in one of the two rooms; the other one takes what the partners send. */
static int double_up(struct sched *s, const struct coll_fold *fold, const struct coll_team *team,
                     struct coll_rooms *rooms, int sub, int last)
{
    const int place = coll_fold_place(fold, team->place);

    for (int bit = 1; bit < fold->places; bit += bit) {
        const int partner = coll_fold_rank(fold, place ^ bit);
        const int got = coll_team_recv(s, team, rooms->other, partner, sub, AFTER(last));
        const int out = coll_team_send(s, team, rooms->value, partner, sub, AFTER(last));

        if ((place ^ bit) < place) {
            last = sched_reduce(s, rooms->other, rooms->value, AFTER(got, out));
        } else {
            last = sched_join(s, AFTER(sched_reduce(s, rooms->value, rooms->other, AFTER(got)), out));
            swap_rooms(rooms);
        }
    }
    return last;
}

int coll_part_allreduce(struct sched *s, const struct coll_team *team, struct coll_block value, int sub, int after)
{
    const struct coll_fold fold = coll_fold_of(team->size, -1);
    struct coll_rooms rooms = { value, value };
    int last = after;

    if (team->size == 1)
        return last;
    if (team->place >= 2 * fold.pairs || team->place % 2)
        rooms.other = sched_items(s, value.type, value.count);
    if (!coll_fold_in(s, &fold, team, &rooms, sub, &last))
        return coll_team_recv(s, team, value, team->place + 1, sub, AFTER(last));
    last = double_up(s, &fold, team, &rooms, sub, last);
    if (team->place < 2 * fold.pairs)
        coll_team_send(s, team, rooms.value, team->place - 1, sub, AFTER(last));
    return rooms.value.buf == value.buf ? last : sched_copy(s, rooms.value, value, AFTER(last));
}

int coll_part_collect(struct sched *s, struct coll_block own, struct coll_block value, int sub, int after)
{
    int last = after;

    for (int from = s->comm->size - 2; from >= 0; from--) {
        const bool is_own = from == s->comm->rank;
        const struct coll_block in = is_own ? own : sched_items(s, own.type, own.count);
        const int got = is_own ? SCHED_NONE : sched_recv(s, in, from, sub, AT_ONCE);

        last = sched_reduce(s, in, value, AFTER(got, last));
    }
    return last;
}
