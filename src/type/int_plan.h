/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. Plans: where the bytes of an item lie, in the order of the type map.
 *
 * A plan is a tree of loops and lists over blocks, in canonical form: no empty part, no loop of one turn, no two
 * blocks that touch, no loop of loops that is one loop. Plans do not change once they are made. A type owns the nodes
 * that its constructor made; they may point at nodes of the types it was made from, which it holds.
 *
 *   BLOCK   size bytes in a row
 *   LOOP    count times child, stride bytes apart
 *   EVEN    count blocks of the same length at disps
 *   BLOCKS  count blocks at disps; the data of block i ends at ends[i] of the packed stream
 *   LIST    count children at disps, ends as in BLOCKS
 *
 * Two plans describe a type. The map knows the basic elements: a block holds elements of one unit only. The plan that
 * moves bytes does not, and joins what touches. They are the same when all elements are alike. */
#ifndef TYPE_INT_PLAN_H
#define TYPE_INT_PLAN_H

#include "base/isa.h"
#include "type/type.h"

enum plan_kind { PLAN_BLOCK, PLAN_LOOP, PLAN_EVEN, PLAN_BLOCKS, PLAN_LIST };

/* Lists up to this length are taken apart when they stand in another list, and packed field by field in a loop. */
enum { PLAN_FIELDS = 16 };

/* How an element becomes external32 (MPI 5.0 §14.5.2), external.c. SWAP: parts of 2, 4, 8, 16 bytes, turned round. */
enum type_form {
    FORM_BYTES, FORM_SWAP_2, FORM_SWAP_4, FORM_SWAP_8, FORM_SWAP_16,
    FORM_LONG, FORM_UNSIGNED_LONG, FORM_WCHAR, FORM_LONG_DOUBLE,
};

/* A basic type as an element of others. */
struct type_unit {
    uint16_t signature;
    uint8_t size;     /* bytes in memory */
    uint8_t external; /* bytes in external32 */
    uint8_t form;     /* enum type_form */
    uint8_t align;    /* of the C type: what extents are rounded up to (§5.1.6) */
};

/* outer times inner blocks of len bytes; in memory the strides apart, in the stream the steps (strided.c). */
struct strided {
    size_t outer, inner, len;
    MPI_Count outer_stride, inner_stride;
    size_t outer_step, inner_step;
};

/* Two blocks of each of `count` items: their lengths, where the second lies from the first, and how far the items are
 * apart in memory and in the stream, where the second follows the first. */
struct strided_fields {
    size_t count, first_len, second_len;
    MPI_Count second, stride;
    size_t step;
};

/* `count` blocks of `len` bytes at displacements, in a row in the stream. */
struct strided_even {
    const MPI_Count *disps;
    size_t count, len;
    const int32_t *words; /* the displacements of a long list of words of 8 bytes, counted in such; NULL: none */
};

/* Blocks of a list that wide registers move: where each lies in memory and in the stream. All in one place, side by
 * side: the processor does not read past a store while it does not know where that goes. */
struct strided_runs {
    size_t count;
    struct strided_run {
        MPI_Count disp;
        size_t begin, len;
    } at[];
};

struct plan {
    uint8_t kind;                  /* enum plan_kind */
    uint8_t align;                 /* the largest of all elements */
    bool is_disjoint;              /* EVEN, BLOCKS up to PLAN_FIELDS: no two blocks overlap */
    size_t size;                   /* bytes of data, more than 0 */
    size_t blocks;                 /* in how many blocks; some of them may touch */
    MPI_Count low, high;           /* the bytes lie in [low, high), from the plan's own place */
    MPI_Count count, stride;
    const struct plan *child;
    struct move_ways ways;         /* what moves the whole of it, plan_prepare … */
    const void *how;               /* … and what that is told: the plan, or one of these */
    union {
        struct strided loop;          /* LOOP of blocks, or of loops of blocks */
        struct strided_fields fields; /* LOOP of two blocks */
        struct strided_even even;     /* EVEN */
    } as;
    MPI_Count *disps;              /* disps[0] is 0 */
    int32_t *words;                /* EVEN: as in strided_even */
    struct strided_runs *runs;     /* BLOCKS: what simd_takes_blocks takes; else NULL */
    size_t *ends;
    const struct plan **children;
    struct plan *next;             /* of the same type */
    /* In a map only: */
    const struct type_unit *unit;  /* of every element; NULL: they differ */
    bool has_any;                  /* some element is MPI_BYTE or MPI_PACKED, which match everything */
    MPI_Count elements;
    size_t external;               /* bytes in external32 */
    size_t *external_ends;         /* LIST: as ends, of the stream in external32 */
    uint64_t hash;                 /* of the sequence of elements, signature.c */
};

/* Length of the blocks of an EVEN plan. */
static inline size_t plan_even_len(const struct plan *plan)
{
    return plan->size / (size_t)plan->count;
}

/* Where an address of the user and a displacement meet; through integers, as the buffer may be MPI_BOTTOM and the
 * displacement an address. */
static inline uintptr_t plan_place(uintptr_t base, MPI_Count disp)
{
    return base + (uintptr_t)disp;
}

/* The first of `count` entries that ends after `at`: it holds that byte of the stream. Logarithmic. */
static inline size_t plan_find_end(const size_t *ends, size_t count, size_t at)
{
    size_t low = 0, high = count - 1;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (ends[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The list entry that holds byte `at` of the packed stream. */
static inline size_t plan_find(const struct plan *plan, size_t at)
{
    return plan_find_end(plan->ends, (size_t)plan->count, at);
}

/* Where the data of a list entry begin in the packed stream. */
static inline size_t plan_begin(const struct plan *plan, size_t entry)
{
    return entry ? plan->ends[entry - 1] : 0;
}

/* --- making plans (plan.c) --- */

struct plan_builder {
    struct plan *nodes; /* all that were made; plan_free releases them */
    bool is_map;
    bool has_no_memory, is_too_large;
};

/* Every function takes and gives parts: a plan at a displacement; no plan: no data. When memory runs out or a
 * number overflows, the builder says so and what is given means nothing. */
struct type_part plan_block(struct plan_builder *b, size_t len, const struct type_unit *unit);
struct type_part plan_loop(struct plan_builder *b, MPI_Count count, MPI_Count stride, struct type_part child);

/* A list in the making: entries are added in the order of the type map, then plan_list gives the part. */
struct plan_entry {
    MPI_Count disp;
    const struct plan *base;      /* NULL: a block */
    size_t len;
    const struct type_unit *unit;
};

struct plan_entries {
    struct plan_entry *p; /* owned */
    size_t count, room;
    const struct plan *last_child; /* count and stride of the loop made last, and what became of it */
    MPI_Count last_count, last_stride;
    struct type_part last;
};

void plan_add(struct plan_builder *b, struct plan_entries *list, MPI_Count disp, struct type_part part);
/* A block of elements of one unit. */
void plan_add_run(struct plan_builder *b, struct plan_entries *list, MPI_Count disp, size_t len,
                  const struct type_unit *unit);
/* `count` times `child`, `stride` apart. */
void plan_add_loop(struct plan_builder *b, struct plan_entries *list, MPI_Count disp, MPI_Count count,
                   MPI_Count stride, struct type_part child);
/* Releases the list. */
struct type_part plan_list(struct plan_builder *b, struct plan_entries *list);

/* The block of a predefined type, in memory that is there for ever. */
void plan_init_block(struct plan *plan, size_t len, const struct type_unit *unit);

void plan_free(struct plan *nodes);

static inline bool plan_unit_same(const struct type_unit *a, const struct type_unit *b)
{
    return a == b || (a && b && a->signature == b->signature && a->size == b->size && a->external == b->external &&
                      a->form == b->form && a->align == b->align);
}

/* Every unit is that of a basic type (predefined.c): its number, the same in all processes; and back, NULL if there is
 * none. */
size_t unit_number(const struct type_unit *unit);
const struct type_unit *unit_of_number(uint64_t number);

/* One of those with a name; NULL: none is of this kind. */
struct type *predefined_of_kind(enum type_kind kind);

/* --- signatures (signature.c) --- */

/* Hash of `count` times a sequence of `elements` elements that has this hash. */
uint64_t signature_repeat(uint64_t hash, MPI_Count elements, MPI_Count count);
/* Hash of a sequence followed by one of `elements` elements. */
uint64_t signature_join(uint64_t first, uint64_t second, MPI_Count elements);
/* The 16 bits of a type with this map; NULL: no elements. */
uint16_t signature_of(const struct plan *map);

/* --- moving (copy.c, strided.c) --- */

/* Sets `ways` and `how` of a plan that is complete otherwise. */
void plan_prepare(struct plan *plan);

/* What moves each best; `how` is the argument. Fields: pack is NULL if there is no loop for these lengths. */
struct move_ways strided_ways(const struct strided *s);
struct move_ways strided_fields_ways(const struct strided_fields *f);
struct move_ways strided_even_ways(const struct strided_even *even);

static inline void move_way(struct move_ways ways, const void *how, uintptr_t memory, char *stream, bool is_pack)
{
    (is_pack ? ways.pack : ways.unpack)(how, memory, stream);
}

/* The same where wide registers or another order of the loops do it faster on this machine; else the function given
 * (simd.c). */
struct move_ways simd_loops(const struct strided *s, struct move_ways ways);
struct move_ways simd_fields(const struct strided_fields *f, struct move_ways ways);
/* Shall a BLOCKS plan have a list of runs? Then this moves it, told that list. */
bool simd_takes_blocks(const struct plan *plan);
struct move_ways simd_blocks(const struct plan *plan);
/* What plans that are made from now on may use; type_init chooses the best. */
void simd_choose_isa(enum isa isa);

/* `n` blocks at displacements; the first begins at `begin` of a stream in which block i ends at ends[i], and its data
 * lie at `stream`. */
void strided_blocks(const MPI_Count *disps, const size_t *ends, size_t n, size_t begin, uintptr_t memory,
                    char *stream, bool is_pack);

/* --- what a type was made from (contents.c) --- */

struct type_contents {
    int combiner;
    bool is_large;                /* made by the _c form */
    MPI_Count integers, addresses, counts, types; /* how many of each */
    int *integer;
    MPI_Aint *address;
    MPI_Count *large;
    struct type **type;           /* holds a reference to each */
};

/* Room for so many arguments; `places` are those that are addresses in the small form, `numbers` those that are counts
 * in the large one. No arguments yet: they are put in the order of MPI 5.0 §5.1.13. NULL if there is no memory. */
struct type_contents *contents_create(int combiner, bool is_large, MPI_Count integers, MPI_Count numbers,
                                      MPI_Count places, MPI_Count types);
void contents_put_int(struct type_contents *contents, int value);
/* A count, or a displacement in extents. */
void contents_put_number(struct type_contents *contents, MPI_Count value);
/* A displacement in bytes. */
void contents_put_place(struct type_contents *contents, MPI_Count value);
void contents_put_type(struct type_contents *contents, struct type *type);
/* Old types that nobody else holds are put before `unused`, linked by `how`, for the caller to destroy; NULL: somebody
 * holds all of them. */
void contents_destroy(struct type_contents *contents, struct type **unused);

/* --- making types (construct.c) --- */

/* The plan of the type that is being made, for its map or for moving bytes; called once or twice. */
typedef struct type_part construct_fn(struct plan_builder *b, const void *args);

/* A type with bounds of its own: lb and ub as the constructor says. NULL: they follow from the data. */
struct type_bounds {
    MPI_Count lb, ub;
    uint8_t marks; /* enum type_mark: which of them count; the other follows from the data */
};

/* Takes over `contents`, which is NULL if there was no memory for it. */
int construct_type(struct type_contents *contents, construct_fn *make, const void *args,
                   const struct type_bounds *bounds, struct type **out);

/* What the old type contributes. */
static inline struct type_part construct_part(const struct plan_builder *b, const struct type *old)
{
    return b->is_map ? old->map : old->plan;
}

/* What type_element gives, from the old types, or the type itself; there are data (query.c). */
const struct type *type_find_element(const struct type *type);

/* The type may communicate from now on (query.c). */
void type_set_committed(struct type *type);

/* 0, or why no type can be made of this one. */
int construct_check(const struct type *old);

static inline MPI_Count numbers_at(const struct type_numbers *numbers, MPI_Count i)
{
    return numbers->width == sizeof(int) ? ((const int *)numbers->p)[i] : ((const MPI_Count *)numbers->p)[i];
}

/* 0 if `needed` bytes fit at `position` of a pack buffer of `size` bytes, else the error (pack.c). */
int pack_check(MPI_Count size, MPI_Count position, MPI_Count needed);

/* Release the types of type_f90 (fortran.c) and of type_pair (pair.c). */
void fortran_fini(void);
void pair_fini(void);

#endif
