/* SPDX-License-Identifier: BSD-3-Clause */
/* Random types, six constructors deep, against a walk over their type maps: packing and unpacking in any two parts,
 * lists of blocks, sizes, bounds, elements, signatures, external32, outlines, huge extents. Arguments: --full for many
 * more cases; a number as seed. */
#include <mpi_older.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/err.h"
#include "type/type.h"

enum {
    CASES = CHECK_CASES(100000), FULL_CASES = 3000000,
    DEPTH = 6,
    ENTRIES = 300,           /* of a type map */
    REACH = 6000,            /* how far from the buffer's address data may lie */
    ITEMS = 3,
    STREAM = ENTRIES * 32 * ITEMS,
    ALL_SPLITS = 64,         /* streams up to this long are cut everywhere, … */
    FULL_SPLITS = 1000,      /* … with --full */
    SOME_SPLITS = 6,
    AROUND = 64,             /* bytes about the data that must not be touched */
    BLOCKS = 5,              /* of one constructor */
    CUT = 40,                /* pieces of external32 are not longer */
    DIMENSIONS = 3,
};

static uint64_t seed, state;
static int all_splits = ALL_SPLITS;

static uint64_t any(void)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return state >> 33;
}

static int between(int low, int high)
{
    return low + (int)(any() % (uint64_t)(high - low + 1));
}

/* Seldom 0. */
static int few(int most)
{
    return between(0, 19) ? between(1, most) : 0;
}

#define REQUIRE(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s does not hold; repeat with seed %llu\n", __FILE__, __LINE__, #condition, \
                    (unsigned long long)seed); \
            exit(1); \
        } \
    } while (0)

/* --- the model: a type map as the standard writes it --- */

struct leaf {
    MPI_Datatype handle;
    int size, align;
};

static const struct leaf leaves[] = {
    { MPI_CHAR, 1, 1 },   { MPI_SHORT, 2, 2 },           { MPI_INT, 4, 4 },  { MPI_DOUBLE, 8, 8 },
    { MPI_FLOAT, 4, 4 },  { MPI_LONG, 8, 8 },            { MPI_BYTE, 1, 1 }, { MPI_C_DOUBLE_COMPLEX, 16, 8 },
    { MPI_WCHAR, 4, 4 },  { MPI_LONG_DOUBLE, 16, 16 },
};

struct entry {
    int disp;
    const struct leaf *leaf;
};

struct model {
    int count;
    struct entry entries[ENTRIES];
    bool has_lb, has_ub; /* is a bound marked? */
    int lb, ub;          /* then here */
};

/* A type and its model. */
struct pair {
    struct type *type;
    struct model model;
};

static void model_clear(struct model *m)
{
    m->count = m->lb = m->ub = 0;
    m->has_lb = m->has_ub = false;
}

static int model_size(const struct model *m)
{
    int size = 0;

    for (int i = 0; i < m->count; i++)
        size += m->entries[i].leaf->size;
    return size;
}

static void data_range(const struct model *m, int *low, int *high)
{
    *low = *high = 0;
    for (int i = 0; i < m->count; i++) {
        const int begin = m->entries[i].disp, end = begin + m->entries[i].leaf->size;
        *low = i == 0 || begin < *low ? begin : *low;
        *high = i == 0 || end > *high ? end : *high;
    }
}

static int model_lb(const struct model *m)
{
    int low, high;

    data_range(m, &low, &high);
    return m->has_lb ? m->lb : low;
}

static int model_extent(const struct model *m)
{
    int low, high, extent, align = 1;

    data_range(m, &low, &high);
    if (m->has_ub)
        return m->ub - model_lb(m);
    for (int i = 0; i < m->count; i++)
        align = m->entries[i].leaf->align > align ? m->entries[i].leaf->align : align;
    for (extent = high - model_lb(m); extent % align; extent++)
        continue;
    return extent;
}

/* One copy of `part` at `disp`, behind what is there; false if that is more than the test can hold. */
static bool append(struct model *to, const struct model *part, int disp)
{
    if (to->count + part->count > ENTRIES)
        return false;
    for (int i = 0; i < part->count; i++) {
        to->entries[to->count] = part->entries[i];
        to->entries[to->count++].disp += disp;
    }
    if (part->has_lb)
        to->lb = !to->has_lb || disp + part->lb < to->lb ? disp + part->lb : to->lb;
    if (part->has_ub)
        to->ub = !to->has_ub || disp + part->ub > to->ub ? disp + part->ub : to->ub;
    to->has_lb |= part->has_lb;
    to->has_ub |= part->has_ub;
    return true;
}

static bool append_many(struct model *to, const struct model *part, int disp, int n)
{
    const int extent = model_extent(part);

    for (int i = 0; i < n; i++)
        if (!append(to, part, disp + i * extent))
            return false;
    return true;
}

/* --- making one of each --- */

/* Blocks as they come in programs: irregular, regular, touching, empty, going backwards, and over each other. */
static void choose_blocks(int n, int *lengths, int *disps)
{
    const int style = between(0, 4), step = between(-3, 4), length = few(3);
    int at = between(-3, 3);

    for (int i = 0; i < n; i++) {
        lengths[i] = style == 0 || style == 3 ? few(3) : length;
        disps[i] = style == 0 ? between(-6, 6) : at;
        at += style == 1 ? step : style == 2 ? length : lengths[i] + (style == 4 ? between(0, 1) : 0);
    }
}

static bool make_contiguous(struct pair *to, struct pair *old)
{
    const int n = few(4);

    CHECK_INT(type_contiguous(n, old->type, any() & 1, &to->type), 0);
    return append_many(&to->model, &old->model, 0, n);
}

static bool make_vector(struct pair *to, struct pair *old)
{
    const bool is_bytes = any() & 1;
    const int n = few(4), length = few(3), extent = model_extent(&old->model);
    const int stride = is_bytes ? between(-40, 40) : between(-4, 5);
    const int bytes = is_bytes ? stride : stride * extent;

    CHECK_INT(type_vector(is_bytes ? MPI_COMBINER_HVECTOR : MPI_COMBINER_VECTOR,
                          (const MPI_Count[]){ n, length, stride }, old->type, any() & 1, &to->type), 0);
    for (int i = 0; i < n; i++)
        if (!append_many(&to->model, &old->model, i * bytes, length))
            return false;
    return true;
}

static bool make_indexed(struct pair *to, struct pair *old)
{
    static const int combiners[] = { MPI_COMBINER_INDEXED, MPI_COMBINER_HINDEXED, MPI_COMBINER_INDEXED_BLOCK,
                                     MPI_COMBINER_HINDEXED_BLOCK };
    const int which = between(0, 3), n = few(BLOCKS), extent = model_extent(&old->model);
    const bool is_bytes = which & 1, is_even = which & 2, is_large = any() & 1;
    int lengths[BLOCKS] = { 0 }, disps[BLOCKS];
    MPI_Count wide_lengths[BLOCKS], wide_disps[BLOCKS];
    struct type_blocks blocks = { .combiner = combiners[which], .is_large = is_large, .count = n };

    choose_blocks(n, lengths, disps);
    for (int i = 0; i < n; i++) {
        lengths[i] = is_even ? lengths[0] : lengths[i];
        disps[i] *= is_bytes && (any() & 1) ? extent : 1;
        wide_lengths[i] = lengths[i];
        wide_disps[i] = disps[i];
    }
    blocks.length = lengths[0];
    if (!is_even)
        blocks.lengths = is_large ? TYPE_NUMBERS(wide_lengths) : TYPE_NUMBERS(lengths);
    blocks.disps = is_large || is_bytes ? TYPE_NUMBERS(wide_disps) : TYPE_NUMBERS(disps);
    CHECK_INT(type_indexed(&blocks, old->type, &to->type), 0);
    for (int i = 0; i < n; i++)
        if (!append_many(&to->model, &old->model, disps[i] * (is_bytes ? 1 : extent), lengths[i]))
            return false;
    return true;
}

/* MPI_LB or MPI_UB: nothing but a bound. */
static MPI_Datatype pick_mark(struct model *mark)
{
    const bool is_lb = any() & 1;

    model_clear(mark);
    mark->has_lb = is_lb;
    mark->has_ub = !is_lb;
    return is_lb ? MPI_LB : MPI_UB;
}

static bool make_struct(struct pair *to, struct pair *olds, int n_olds)
{
    const int n = few(BLOCKS), mark_at = any() % 8 ? -1 : few(BLOCKS);
    struct model mark;
    int lengths[BLOCKS], at = between(-8, 8);
    MPI_Count disps[BLOCKS];
    MPI_Datatype types[BLOCKS];
    const struct type_blocks blocks = { .combiner = MPI_COMBINER_STRUCT, .count = n,
                                        .lengths = TYPE_NUMBERS(lengths), .disps = TYPE_NUMBERS(disps) };
    bool fits = true;

    for (int i = 0; i < n; i++) {
        const struct pair *const old = &olds[any() % (uint64_t)n_olds];
        lengths[i] = few(2);
        disps[i] = at;
        if (i == mark_at) {
            types[i] = pick_mark(&mark);
            fits = fits && append_many(&to->model, &mark, at, lengths[i]);
            continue;
        }
        at += any() & 1 ? between(-20, 40) : lengths[i] * model_extent(&old->model);
        types[i] = (MPI_Datatype)obj_handle(&old->type->obj);
        fits = fits && append_many(&to->model, &old->model, (int)disps[i], lengths[i]);
    }
    CHECK_INT(type_struct(&blocks, types, &to->type), 0);
    return fits;
}

/* Is the element at `place` of the array a part of what the process or the box has? */
typedef bool owns_fn(const void *args, const int place[DIMENSIONS]);

/* All elements of the array in memory order: those that are owned, in the order of the type map. */
static bool append_array(struct pair *to, const struct pair *old, int ndims, const int *sizes, int order,
                         owns_fn *owns, const void *args)
{
    const int extent = model_extent(&old->model);
    int place[DIMENSIONS] = { 0 }, total = 1;

    for (int i = 0; i < ndims; i++)
        total *= sizes[i];
    for (int n = 0; n < total; n++) {
        for (int k = 0, rest = n; k < ndims; k++) {
            const int i = order == MPI_ORDER_C ? ndims - 1 - k : k;
            place[i] = rest % sizes[i];
            rest /= sizes[i];
        }
        if (owns(args, place) && !append(&to->model, &old->model, n * extent))
            return false;
    }
    to->model.has_lb = to->model.has_ub = true;
    to->model.lb = 0;
    to->model.ub = total * extent;
    return true;
}

static bool box_owns(const void *args, const int *place)
{
    const struct type_subarray *const a = args;
    const int *const starts = a->starts.p, *const subsizes = a->subsizes.p;

    for (int i = 0; i < a->ndims; i++)
        if (place[i] < starts[i] || place[i] >= starts[i] + subsizes[i])
            return false;
    return true;
}

static bool make_subarray(struct pair *to, struct pair *old)
{
    int sizes[DIMENSIONS], subsizes[DIMENSIONS], starts[DIMENSIONS];
    const struct type_subarray args = { .ndims = between(1, DIMENSIONS),
                                        .order = any() & 1 ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                                        .sizes = TYPE_NUMBERS(sizes), .subsizes = TYPE_NUMBERS(subsizes),
                                        .starts = TYPE_NUMBERS(starts) };

    for (int i = 0; i < args.ndims; i++) {
        sizes[i] = between(1, 4);
        subsizes[i] = between(1, sizes[i]);
        starts[i] = between(0, sizes[i] - subsizes[i]);
    }
    CHECK_INT(type_subarray(&args, old->type, &to->type), 0);
    return append_array(to, old, args.ndims, sizes, args.order, box_owns, &args);
}

static bool share_owns(const void *args, const int *place)
{
    const struct type_darray *const a = args;
    const int *const gsizes = a->gsizes.p;
    int rest = a->rank;

    for (int i = a->ndims - 1; i >= 0; i--) {
        const int own = rest % a->psizes[i];
        int block = a->dargs[i];

        rest /= a->psizes[i];
        if (a->distribs[i] == MPI_DISTRIBUTE_NONE)
            continue;
        if (block == MPI_DISTRIBUTE_DFLT_DARG)
            block = a->distribs[i] == MPI_DISTRIBUTE_CYCLIC ? 1 : (gsizes[i] + a->psizes[i] - 1) / a->psizes[i];
        if (place[i] / block % a->psizes[i] != own)
            return false;
    }
    return true;
}

static bool make_darray(struct pair *to, struct pair *old)
{
    static const int kinds[] = { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE };
    int gsizes[DIMENSIONS], distribs[DIMENSIONS], dargs[DIMENSIONS], psizes[DIMENSIONS];
    struct type_darray args = { .ndims = between(1, DIMENSIONS), .size = 1,
                                .order = any() & 1 ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                                .gsizes = TYPE_NUMBERS(gsizes), .distribs = distribs, .dargs = dargs,
                                .psizes = psizes };

    for (int i = 0; i < args.ndims; i++) {
        gsizes[i] = between(1, 6);
        distribs[i] = kinds[between(0, 2)];
        psizes[i] = distribs[i] == MPI_DISTRIBUTE_NONE ? 1 : between(1, 3);
        dargs[i] = MPI_DISTRIBUTE_DFLT_DARG;
        if (any() & 1)
            dargs[i] = between(1, 3);
        if (distribs[i] == MPI_DISTRIBUTE_BLOCK && dargs[i] != MPI_DISTRIBUTE_DFLT_DARG)
            dargs[i] = (gsizes[i] + psizes[i] - 1) / psizes[i] + between(0, 2);
        args.size *= psizes[i];
    }
    args.rank = between(0, args.size - 1);
    CHECK_INT(type_darray(&args, old->type, &to->type), 0);
    return append_array(to, old, args.ndims, gsizes, args.order, share_owns, &args);
}

static bool make_resized(struct pair *to, struct pair *old)
{
    const int lb = between(-20, 20), extent = between(-30, 60);

    CHECK_INT(type_resized(old->type, lb, extent, any() & 1, &to->type), 0);
    append(&to->model, &old->model, 0);
    to->model.has_lb = to->model.has_ub = true;
    to->model.lb = lb;
    to->model.ub = lb + extent;
    return true;
}

static void make_leaf(struct pair *to)
{
    const struct leaf *const leaf = &leaves[any() % ARRAY_LEN(leaves)];

    to->type = obj_type(leaf->handle);
    to->model.count = 1;
    to->model.entries[0] = (struct entry){ 0, leaf };
}

static void drop(struct pair *pair)
{
    if (!pair->type->obj.predefined)
        CHECK_INT(type_free(pair->type), 0);
}

static void make_random(struct pair *to, int depth);

/* false: too large for the test. */
static bool make_derived(struct pair *to, int depth)
{
    struct pair olds[2];
    bool fits = true;

    model_clear(&to->model);
    make_random(&olds[0], depth - 1);
    switch (between(0, 9)) {
    case 0: fits = make_contiguous(to, olds); break;
    case 1: fits = make_vector(to, olds); break;
    case 2: case 3: fits = make_indexed(to, olds); break;
    case 4: fits = make_subarray(to, olds); break;
    case 5: fits = make_darray(to, olds); break;
    case 6: fits = make_resized(to, olds); break;
    default:
        make_random(&olds[1], depth - 1);
        fits = make_struct(to, olds, 2);
        drop(&olds[1]);
    }
    drop(&olds[0]);
    if (!fits)
        drop(to);
    return fits;
}

static void make_random(struct pair *to, int depth)
{
    int low, high;

    model_clear(&to->model);
    if (depth == 0 || between(0, 14) == 0) {
        make_leaf(to);
        return;
    }
    while (!make_derived(to, depth))
        ;
    data_range(&to->model, &low, &high);
    if (low < -REACH / 4 || high > REACH / 4 || abs(model_extent(&to->model)) > REACH / 4) {
        drop(to);
        model_clear(&to->model);
        make_leaf(to);
    }
}

/* --- what must agree --- */

static unsigned char memory[2 * REACH], copy[2 * REACH], expected[2 * REACH];
static unsigned char stream[STREAM], packed[STREAM];
static int places[STREAM]; /* of each byte of the stream, from `memory` on */
static int window, window_len; /* the part of memory that is looked at: the data and some bytes around them */

static int walk(const struct model *m, int items)
{
    const int extent = model_extent(m);
    int n = 0;

    for (int item = 0; item < items; item++)
        for (int i = 0; i < m->count; i++)
            for (int byte = 0; byte < m->entries[i].leaf->size; byte++)
                places[n++] = REACH + item * extent + m->entries[i].disp + byte;
    return n;
}

static void check_split(const struct type *type, int items, int total, int at)
{
    memset(packed, 0, (size_t)total);
    type_pack(type, memory + REACH, items, (size_t)at, packed + at, (size_t)(total - at));
    type_pack(type, memory + REACH, items, 0, packed, (size_t)at);
    REQUIRE(memcmp(packed, stream, (size_t)total) == 0);
    memset(copy + window, 0xA5, (size_t)window_len);
    type_unpack(type, copy + REACH, items, 0, stream, (size_t)at);
    type_unpack(type, copy + REACH, items, (size_t)at, stream + at, (size_t)(total - at));
    REQUIRE(memcmp(copy + window, expected + window, (size_t)window_len) == 0);
}

/* The bytes from `from` on, told as blocks. */
static void check_blocks(const struct type *type, int items, int from, int len)
{
    static struct type_block blocks[STREAM];
    const size_t most = type_block_count(type, items);
    const size_t n = type_list_blocks(type, memory + REACH, items, (size_t)from, (size_t)len, blocks);
    uint64_t begin = 0;

    REQUIRE(n <= most && most <= STREAM && n > 0 && blocks[n - 1].end == (uint64_t)len);
    for (size_t i = 0; i < n; begin = blocks[i++].end) {
        REQUIRE(blocks[i].end > begin);
        for (uint64_t at = begin; at < blocks[i].end; at++)
            REQUIRE(blocks[i].address + (at - begin) == (uintptr_t)memory + (uintptr_t)places[from + (int)at]);
        REQUIRE(!i || blocks[i].address != blocks[i - 1].address + (begin - (i > 1 ? blocks[i - 2].end : 0)));
    }
}

/* The same a few blocks at a time. */
static void check_few_blocks(const struct type *type, int from, int len)
{
    struct type_block few[3];

    for (int done = 0; done < len;) {
        const size_t room = 1 + (size_t)between(0, 2);
        const size_t n = type_next_blocks(type, REACH, (size_t)(from + done), (size_t)(len - done), few, room);
        uint64_t begin = 0;

        REQUIRE(n > 0 && n <= room);
        for (size_t i = 0; i < n; begin = few[i++].end)
            for (uint64_t at = begin; at < few[i].end; at++)
                REQUIRE(few[i].address + (at - begin) == (uint64_t)places[from + done + (int)at]);
        done += (int)begin;
    }
}

static void check_order(const struct type *type, int total)
{
    bool is_rising = true;

    for (int i = 1; i < total; i++)
        is_rising = is_rising && places[i] > places[i - 1];
    REQUIRE((type_order(type) == TYPE_ORDER_RISING) == is_rising);
}

static void check_moving(const struct pair *pair, int items)
{
    const int total = walk(&pair->model, items);

    int first = REACH, last = REACH;

    for (int i = 0; i < total; i++) {
        stream[i] = memory[places[i]];
        first = places[i] < first ? places[i] : first;
        last = places[i] > last ? places[i] : last;
    }
    window = first > AROUND ? first - AROUND : 0;
    window_len = (last + AROUND < 2 * REACH ? last + AROUND : 2 * REACH) - window;
    memset(expected + window, 0xA5, (size_t)window_len);
    for (int i = 0; i < total; i++)
        expected[places[i]] = stream[i];
    if (total <= all_splits)
        for (int at = 0; at <= total; at++)
            check_split(pair->type, items, total, at);
    else
        for (int i = 0; i < SOME_SPLITS; i++)
            check_split(pair->type, items, total, i ? between(0, total) : 0);
    for (int is_far = 0; is_far < 2; is_far++) {
        memset(packed, 0, (size_t)total);
        type_pack_far(pair->type, memory + REACH, items, 0, packed, (size_t)total, is_far);
        REQUIRE(memcmp(packed, stream, (size_t)total) == 0);
        memset(copy + window, 0xA5, (size_t)window_len);
        type_unpack_far(pair->type, copy + REACH, items, 0, stream, (size_t)total, is_far);
        REQUIRE(memcmp(copy + window, expected + window, (size_t)window_len) == 0);
    }
    if (total > 2) { /* a piece from the middle */
        const int from = between(0, total - 1), len = between(0, total - from);
        type_pack(pair->type, memory + REACH, items, (size_t)from, packed, (size_t)len);
        REQUIRE(memcmp(packed, stream + from, (size_t)len) == 0);
        if (len)
            check_blocks(pair->type, items, from, len);
        check_few_blocks(pair->type, from, len);
        if (items == 1)
            check_order(pair->type, total);
        check_blocks(pair->type, items, 0, total);
    }
}

static void check_numbers(const struct pair *pair)
{
    const struct model *const m = &pair->model;
    const struct type *const type = pair->type;
    const int size = model_size(m);
    int low, high, bytes = 0, elements = 0;
    MPI_Count back;

    data_range(m, &low, &high);
    REQUIRE(type->size == size);
    REQUIRE(type->lb == model_lb(m) || (m->count == 0 && !m->has_lb));
    REQUIRE(type->extent == model_extent(m));
    REQUIRE(type->true_lb == low && type->true_extent == high - low);
    for (int item = 0; item < 2; item++)
        for (int i = 0; i < m->count; i++) {
            const int len = m->entries[i].leaf->size;
            REQUIRE(type_count_elements(type, bytes) == elements);
            if (len > 1)
                REQUIRE(type_count_elements(type, bytes + len / 2) == MPI_UNDEFINED);
            REQUIRE(type_element_bytes(type, elements, &back) == 0 && back == bytes);
            bytes += len;
            elements++;
        }
}

/* The same sequence by another constructor: one struct of single elements. */
static struct type *make_flat(const struct model *m)
{
    int lengths[ENTRIES];
    MPI_Count disps[ENTRIES];
    MPI_Datatype types[ENTRIES];
    const struct type_blocks blocks = { .combiner = MPI_COMBINER_STRUCT, .count = m->count,
                                        .lengths = TYPE_NUMBERS(lengths), .disps = TYPE_NUMBERS(disps) };
    struct type *type;

    for (int i = 0; i < m->count; i++) {
        lengths[i] = 1;
        disps[i] = m->entries[i].disp;
        types[i] = m->entries[i].leaf->handle;
    }
    CHECK_INT(type_struct(&blocks, types, &type), 0);
    return type;
}

/* external32, of which `stream` has the whole, packed and unpacked in pieces. What is unpacked has lost what external32
 * does not hold, so it is compared by packing it again; the gaps keep their bytes. */
static void check_external_cuts(const struct pair *pair, int items, size_t size)
{
    const struct type *const type = pair->type;
    struct external_cursor cursor = { 0 };
    MPI_Count at = 0;

    memset(packed, 0, size);
    for (size_t from = 0, len; from < size; from += len) {
        len = (size_t)between(1, (int)size_min(size - from, CUT));
        external_pack_range(type, memory + REACH, items, from, packed + from, len);
    }
    REQUIRE(memcmp(packed, stream, size) == 0);

    memset(copy + window, 0xA5, (size_t)window_len);
    for (size_t from = 0, len; from < size; from += len) {
        len = (size_t)between(0, (int)size_min(size - from, CUT));
        external_unpack_next(&cursor, type, copy + REACH, items, stream + from, len);
    }
    memset(expected + window, 0xA5, (size_t)window_len);
    CHECK_INT(external_unpack("external32", stream, (MPI_Count)size, &at, expected + REACH, items, type), 0);
    REQUIRE(memcmp(copy + window, expected + window, (size_t)window_len) == 0);
}

static void check_flat(const struct pair *pair, int items)
{
    struct type *const flat = make_flat(&pair->model);
    const int extent = model_extent(&pair->model);
    struct type *many;
    MPI_Count size, at = 0, position = 0;
    struct external_unfit unfit;
    bool is_unfit = false;

    CHECK_INT(type_commit(flat), 0);
    CHECK_INT(type_commit(pair->type), 0);
    REQUIRE(flat->signature == pair->type->signature);
    REQUIRE(flat->size == pair->type->size && flat->true_extent == pair->type->true_extent);
    CHECK_INT(type_contiguous(items, flat, false, &many), 0);
    CHECK_INT(type_commit(many), 0);
    REQUIRE(items == 0 || many->signature == flat->signature);
    CHECK_INT(type_free(many), 0);
    CHECK_INT(type_free(flat), 0);

    CHECK_INT(external_pack_size("external32", items, pair->type, &size), 0);
    CHECK_INT(external_pack("external32", memory + REACH, items, pair->type, stream, size, &position), 0);
    REQUIRE(position == size);
    for (int item = 0; item < items; item++)
        for (int i = 0; i < pair->model.count; i++) {
            const struct type *const leaf = obj_type(pair->model.entries[i].leaf->handle);
            const void *const place = memory + REACH + item * extent + pair->model.entries[i].disp;

            CHECK_INT(external_pack("external32", place, 1, leaf, packed, size, &at), 0);
            is_unfit = is_unfit || external_find_unfit(leaf, place, 1, &unfit);
        }
    REQUIRE(at == size);
    REQUIRE(external_find_unfit(pair->type, memory + REACH, items, &unfit) == is_unfit);
    REQUIRE(memcmp(stream, packed, (size_t)size) == 0);
    check_external_cuts(pair, items, (size_t)size);
}

/* Blocks of `items` items whose places in memory are `extent` apart, far outside of the test's memory. */
static void check_far_blocks(const struct type *type, MPI_Count count, int items, int size, MPI_Count extent)
{
    static struct type_block blocks[STREAM];
    const int total = items * size, from = between(0, total - 1), len = between(1, total - from);
    const size_t n = type_list_blocks(type, memory + REACH, count, (size_t)from, (size_t)len, blocks);
    uint64_t begin = 0;

    REQUIRE(n > 0 && n <= type_block_count(type, count) && blocks[n - 1].end == (uint64_t)len);
    for (size_t i = 0; i < n; begin = blocks[i++].end)
        for (uint64_t at = begin; at < blocks[i].end; at++) {
            const int byte = from + (int)at;
            const uint64_t item = (uint64_t)(byte / size) * (uint64_t)extent;
            REQUIRE(blocks[i].address + (at - begin) == (uintptr_t)memory + (uintptr_t)places[byte % size] + item);
        }
}

/* The same data with an extent of up to 32 TB in either direction, which nobody can touch but which can be told. */
static void check_huge(const struct pair *pair)
{
    const MPI_Count extent = (((MPI_Count)1 << between(31, 45)) + between(-9, 9)) * (any() & 1 ? 1 : -1);
    const int items = between(1, ITEMS), size = walk(&pair->model, 1), lb = between(-20, 20);
    const MPI_Count reach = (items - 1) * (extent < 0 ? -extent : extent);
    struct type *one, *many;

    CHECK_INT(type_resized(pair->type, lb, extent, true, &one), 0);
    CHECK_INT(type_contiguous(items, one, false, &many), 0);
    REQUIRE(one->lb == lb && one->extent == extent && one->true_extent == pair->type->true_extent);
    REQUIRE(one->true_lb == pair->type->true_lb && many->size == (MPI_Count)items * size);
    if (size) {
        REQUIRE(many->true_extent == one->true_extent + reach);
        REQUIRE(many->true_lb == one->true_lb - (extent < 0 ? reach : 0));
        check_far_blocks(one, items, items, size, extent);
        check_far_blocks(many, 1, items, size, extent);
    }
    CHECK_INT(type_free(one), 0);
    CHECK_INT(type_free(many), 0);
}

/* Items must stay within the test's memory. */
static int choose_items(const struct model *m)
{
    const int extent = model_extent(m);
    int items = between(0, ITEMS), low, high;

    data_range(m, &low, &high);
    while (items > 1 && (low + (items - 1) * extent < -REACH || high + (items - 1) * extent > REACH))
        items--;
    return items;
}

/* What has been told in bytes and made again must agree with the same model. */
static void check_rebuilt(struct pair *pair, int items)
{
    struct type *const original = pair->type;
    const struct type_outline *outline;

    CHECK_INT(type_commit(original), 0);
    CHECK_INT(type_get_outline(original, &outline), 0);
    CHECK_INT(type_from_outline(outline->bytes, outline->len, &pair->type), 0);
    REQUIRE(pair->type->signature == original->signature && pair->type->lb == original->lb);
    REQUIRE(pair->type->is_contig == original->is_contig && pair->type->is_run == original->is_run);
    check_numbers(pair);
    check_moving(pair, items);
    check_flat(pair, items);
    type_unref(pair->type);
    pair->type = original;
}

static void run_case(void)
{
    struct pair pair;
    int items;

    make_random(&pair, between(1, DEPTH));
    items = choose_items(&pair.model);
    check_numbers(&pair);
    check_moving(&pair, items);
    check_flat(&pair, items);
    check_huge(&pair);
    if (any() % 4 == 0)
        check_rebuilt(&pair, items);
    drop(&pair);
}

int main(int argc, char **argv)
{
    long cases = CASES;
    uint64_t first = (uint64_t)time(NULL) * 1000003u;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--full") == 0) {
            cases = FULL_CASES;
            all_splits = FULL_SPLITS;
        } else {
            first = strtoull(argv[i], NULL, 0);
        }
    }
    type_init();
    printf("seed %llu\n", (unsigned long long)first);
    for (size_t i = 0; i < sizeof memory; i++)
        memory[i] = (unsigned char)(i * 37 >> 3 | 1);
    for (long i = 0; i < cases; i++) {
        seed = state = first + (uint64_t)i;
        any();
        run_case();
    }
    type_fini();
    obj_fini();
    CHECK_INT(mem_live(), 0);
    return 0;
}
