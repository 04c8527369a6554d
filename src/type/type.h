/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. Datatypes (MPI 5.0 §5): what one is, and moving data between memory and a packed stream.
 *
 * The packed stream of `count` items is the bytes of their basic elements in the order of the type map,
 * without gaps: count * size bytes. Nobody outside this room may assume that an item is one run of bytes:
 * look at is_contig, or pack and unpack. Buffers may have any alignment. Nothing here blocks or
 * communicates. */
#ifndef TYPE_TYPE_H
#define TYPE_TYPE_H

#include "obj/obj.h"
#include "obj/status.h"

/* How a basic type or a predefined pair is represented in memory; chooses the code of a reduction. */
enum type_kind {
    TYPE_OTHER, /* derived, packed, unsupported */
    TYPE_INT8, TYPE_INT16, TYPE_INT32, TYPE_INT64, TYPE_INT128,
    TYPE_UINT8, TYPE_UINT16, TYPE_UINT32, TYPE_UINT64, TYPE_UINT128,
    TYPE_FLOAT16, TYPE_BFLOAT16, TYPE_FLOAT, TYPE_DOUBLE, TYPE_LONG_DOUBLE, TYPE_FLOAT128,
    TYPE_COMPLEX_FLOAT16, TYPE_COMPLEX_FLOAT, TYPE_COMPLEX_DOUBLE, TYPE_COMPLEX_LONG_DOUBLE, TYPE_COMPLEX_FLOAT128,
    TYPE_FLOAT_INT, TYPE_DOUBLE_INT, TYPE_LONG_INT, TYPE_INT_INT, TYPE_SHORT_INT, TYPE_LONG_DOUBLE_INT,
    TYPE_FLOAT_FLOAT, TYPE_DOUBLE_DOUBLE,
    TYPE_INT8_INT, TYPE_UINT8_INT, TYPE_UINT16_INT, TYPE_UINT32_INT, TYPE_UINT64_INT,
    TYPE_INT8_LONG, TYPE_INT16_LONG, TYPE_INT32_LONG, TYPE_INT64_LONG, TYPE_UINT8_LONG, TYPE_UINT16_LONG,
    TYPE_UINT32_LONG, TYPE_UINT64_LONG, TYPE_FLOAT_LONG, TYPE_DOUBLE_LONG, TYPE_LONG_DOUBLE_LONG,
    TYPE_KINDS,
};

/* The groups of types that decide which operators a type may have (MPI 5.0 §6.9.2). */
enum type_class {
    TYPE_CLASS_NONE, /* derived, packed: no predefined operator */
    TYPE_CLASS_C_INTEGER, TYPE_CLASS_FORTRAN_INTEGER, TYPE_CLASS_FLOATING, TYPE_CLASS_LOGICAL,
    TYPE_CLASS_COMPLEX, TYPE_CLASS_BYTE, TYPE_CLASS_MULTI_LANGUAGE,
    TYPE_CLASS_TEXT, /* MPI_CHAR, MPI_WCHAR, MPI_CHARACTER: no operator */
    TYPE_CLASS_PAIR, /* value and index (§6.9.4) */
};

/* What an item consists of, room's own (int_plan.h): a plan at a displacement from the item; NULL: no data. */
struct type_part {
    MPI_Count disp;
    const struct plan *plan;
};

/* Moves the whole of what `how` describes between memory and the packed stream; each function has its own `how`. */
typedef void move_fn(const void *how, uintptr_t memory, char *stream);

/* In both directions. */
struct move_ways {
    move_fn *pack, *unpack;
};

struct attrs;
struct plan;
struct type_contents;
struct type_outline;
struct type_unit;

/* Signature of MPI_BYTE and MPI_PACKED: matches every other. */
enum { TYPE_SIGNATURE_ANY = 0 };

/* Which of a type's bounds are marked (§5.1.6: lb_marker, ub_marker). */
enum type_mark { TYPE_MARKS_LB = 1, TYPE_MARKS_UB = 2, TYPE_MARKS_BOTH = 3 };

struct type {
    struct obj obj;
    MPI_Count size;              /* bytes of data in an item; 0 if unsupported */
    MPI_Count extent;            /* from one item to the next; may be 0 or negative */
    bool is_contig;              /* size == extent, one run at 0: so are any number of items; or no data */
    bool is_committed;           /* may communicate; false for ever if unsupported */
    bool is_basic;               /* predefined and no pair */
    bool is_supported;           /* false: an optional type that this platform lacks (§20.4.1) */
    uint16_t signature;          /* once committed: equal for types whose elements may match, whatever the count:
                                  * signature.c */
    uint8_t kind;                /* enum type_kind */
    uint8_t type_class;          /* enum type_class */
    MPI_Count lb, true_lb, true_extent;
    bool is_run;                 /* an item is one run of bytes, perhaps not at its address, nor items together */
    uint8_t marks;               /* enum type_mark: bounds that were set by a constructor, and go on in types made of
                                  * this one */
    bool is_permanent;           /* predefined, with a name or without: the user cannot free it */
    struct move_ways one;        /* move one item; pack is NULL: not committed, contiguous, or larger than an int … */
    const void *how;             /* … and what they are told */
    struct type_part plan;       /* moves bytes */
    struct type_part map;        /* knows the elements */
    struct plan *nodes;          /* made for this type; owned */
    struct type_contents *contents; /* what it was made from; owned; NULL: named */
    const struct type_unit *units; /* of a named type: its one or two elements */
    const char *name;            /* of a named type, else "" */
    char *user_name;             /* set by the user; owned; NULL: none */
    struct attrs *attrs;         /* of the user; owned; NULL: none */
    _Atomic uint32_t handles;    /* that the user has: the first one, and those that MPI_Type_get_contents gave */
    struct type_outline *_Atomic outline; /* once somebody has asked for it; owned */
    const struct type *element;  /* of a derived one, what type_element gives; the type itself: there are several */
};

/* For messages and MPI_Type_get_name; "" for a derived type that was given none. */
static inline const char *type_name(const struct type *type)
{
    return type->user_name ? type->user_name : type->name;
}

enum { TYPE_TEXT_MAX = 160 };

/* For messages: the name, or of a type without one what it was made from, as "vector(MPI_INT)". Returns `text`, which
 * has room for TYPE_TEXT_MAX. */
const char *type_describe(const struct type *type, char *text) COLD;

/* Name of a predefined type with this signature, "MPI_INT"; NULL: it is that of no single element. */
const char *type_name_of_signature(uint16_t signature) COLD;

/* Bytes of data in `count` items. */
static ALWAYS_INLINE size_t type_bytes(const struct type *type, MPI_Count count)
{
    return (size_t)type->size * (size_t)count;
}

/* Are `count` items one run of bytes? Then type_run says where it begins. */
static inline bool type_is_run(const struct type *type, MPI_Count count)
{
    return type->is_contig || (type->is_run && (count == 1 || type->extent == type->size));
}

static inline char *type_run(const struct type *type, const void *buf)
{
    return (char *)((uintptr_t)buf + (type->is_contig ? 0 : (uintptr_t)type->plan.disp));
}

/* The memory that `count` items take up, for temporary buffers: `len` bytes that begin `low` bytes after the
 * buffer's address. A temporary `p` of len bytes is used as buffer p - low (§5.1.8). */
struct type_span {
    MPI_Count low;
    size_t len;
};

static inline struct type_span type_span(const struct type *type, MPI_Count count)
{
    const MPI_Count reach = count > 0 ? (count - 1) * type->extent : 0;
    struct type_span span = { 0, 0 };

    if (count <= 0)
        return span;
    span.low = type->true_lb + (reach < 0 ? reach : 0);
    span.len = (size_t)(type->true_extent + (reach < 0 ? -reach : reach));
    return span;
}

/* The same with what the bounds add before the first byte of data and behind the last one: a user's operator may assign
 * whole C structs, of which the type has some members only. */
static inline struct type_span type_room(const struct type *type, MPI_Count count)
{
    const MPI_Count end = type->true_lb + type->true_extent, ub = type->lb + type->extent;
    const MPI_Count before = type->lb < type->true_lb ? type->true_lb - type->lb : 0;
    struct type_span room = type_span(type, count);

    if (room.len) {
        room.low -= before;
        room.len += (size_t)(before + (ub > end ? ub - end : 0));
    }
    return room;
}

/* Whoever keeps a type beyond the call holds a reference: users may free a type that is in use. */
static ALWAYS_INLINE void type_ref(struct type *type)
{
    obj_ref(&type->obj);
}

void type_destroy(struct type *type);

static ALWAYS_INLINE void type_unref(struct type *type)
{
    if (unlikely(obj_unref(&type->obj)))
        type_destroy(type);
}

/* Copy bytes [offset, offset + len) of the packed stream of `count` items at `buf` to `out`. The range lies
 * within the stream. Any split of a stream into ranges, in any order, gives the same. */
void type_pack(const struct type *type, const void *buf, MPI_Count count, size_t offset, void *out,
               size_t len);
/* The way back. Bytes of `buf` that belong to no element are not touched. */
void type_unpack(const struct type *type, void *buf, MPI_Count count, size_t offset, const void *in,
                 size_t len);

/* The same where the stream lies in memory that another processor writes or has written last. If its lines are far,
 * small blocks go by way of a buffer, so that such memory is touched in runs; if they are near, that takes longer. */
void type_pack_far(const struct type *type, const void *buf, MPI_Count count, size_t offset, void *out, size_t len,
                   bool is_far);
void type_unpack_far(const struct type *type, void *buf, MPI_Count count, size_t offset, const void *in, size_t len,
                     bool is_far);

/* The stream as blocks of memory, for copies that others make. Block i holds the bytes of the stream up to `end`, from
 * where the one before ended; the first begins at the offset that was asked for. */
struct type_block {
    uint64_t address, end;
};

/* How many blocks `count` items have at most. Some data, no overflow: there are not more than bytes. */
size_t type_block_count(const struct type *type, MPI_Count count);
/* Bytes [offset, offset + len) of the stream as blocks, in order; those that touch are one. Returns how many; `out` has
 * room for all that type_block_count says. */
size_t type_list_blocks(const struct type *type, const void *buf, MPI_Count count, size_t offset, size_t len,
                        struct type_block *out);

/* The same of items without end from `base` on, at most `room` blocks: the stream goes on where the last one ends.
 * Time: logarithmic in what lies before `offset`, linear in the blocks. The type has data. */
size_t type_next_blocks(const struct type *type, uintptr_t base, size_t offset, size_t len, struct type_block *out,
                        size_t room);

/* Do the blocks of an item go back (NONE), never but with bytes that come twice (OVERLAPS), or neither? */
enum type_order { TYPE_ORDER_NONE, TYPE_ORDER_OVERLAPS, TYPE_ORDER_RISING };
enum type_order type_order(const struct type *type);

/* Items from one place to another whose type may be different but has the same signature. Copies the
 * smaller of the two amounts of data, and returns it in bytes. The places do not overlap, but may be the
 * same one. */
size_t type_copy(void *dst, MPI_Count dst_count, const struct type *dst_type, const void *src,
                 MPI_Count src_count, const struct type *src_type);

/* 0 if the type may communicate, else MPI_ERR_TYPE: unsupported here, or not committed. The check on the
 * short path is `type->is_committed`; this gives the text. */
int type_check_usable(const struct type *type) COLD;

/* The queries of MPI 5.0; results that have no value are MPI_UNDEFINED. */

/* §3.2.5: items in `bytes` bytes; undefined if the last one is partial. */
MPI_Count type_count_items(const struct type *type, MPI_Count bytes);
/* §5.1.11: basic elements in `bytes` bytes; undefined if the last one is partial. */
MPI_Count type_count_elements(const struct type *type, MPI_Count bytes);
/* §13.3: the bytes that `count` basic elements of repeated items take, for MPI_Status_set_elements. Errors,
 * *bytes unchanged: MPI_ERR_TYPE if unsupported; MPI_ERR_COUNT if there are no such bytes, or too many for
 * MPI_Count. */
int type_element_bytes(const struct type *type, MPI_Count count, MPI_Count *bytes);
/* §5.1.5: undefined if unsupported. */
MPI_Count type_query_size(const struct type *type);

/* --- making types (§5.1). The old type need not be committed and may be freed afterwards. Arrays are copied.
 * `is_large`: the call was the _c form, which decides how the contents are given back. Errors: MPI_ERR_NO_MEM;
 * MPI_ERR_TYPE if an old type is unsupported here; MPI_ERR_COUNT if the data or their places are more than MPI_Count
 * holds; MPI_ERR_ARG for other values, with the values. --- */

/* An array of the user's, of int or of MPI_Count (MPI_Aint is as wide). */
struct type_numbers {
    const void *p;
    size_t width; /* bytes of one */
};

#define TYPE_NUMBERS(array) ((struct type_numbers){ (array), sizeof *(array) })

/* `count` blocks for MPI_COMBINER_INDEXED, HINDEXED, INDEXED_BLOCK, HINDEXED_BLOCK and STRUCT. */
struct type_blocks {
    int combiner;
    bool is_large;
    MPI_Count count;
    struct type_numbers lengths; /* p NULL: each has `length` items */
    MPI_Count length;
    struct type_numbers disps;   /* bytes, or extents of the old type: INDEXED, INDEXED_BLOCK */
};

struct type_subarray {
    bool is_large;
    int ndims, order;
    struct type_numbers sizes, subsizes, starts;
};

struct type_darray {
    bool is_large;
    int size, rank, ndims, order;
    struct type_numbers gsizes;
    const int *distribs, *dargs, *psizes;
};

int type_contiguous(MPI_Count count, struct type *old, bool is_large, struct type **out);
/* `combiner` MPI_COMBINER_VECTOR: the stride counts extents; MPI_COMBINER_HVECTOR: bytes. */
int type_vector(int combiner, const MPI_Count numbers[3], struct type *old, bool is_large, struct type **out);
int type_indexed(const struct type_blocks *blocks, struct type *old, struct type **out);
int type_struct(const struct type_blocks *blocks, const MPI_Datatype *types, struct type **out);
int type_subarray(const struct type_subarray *args, struct type *old, struct type **out);
int type_darray(const struct type_darray *args, struct type *old, struct type **out);
int type_resized(struct type *old, MPI_Count lb, MPI_Count extent, bool is_large, struct type **out);
/* Also the state of being committed, and the attributes; error: that of a copy callback, too. */
int type_dup(struct type *old, struct type **out);
/* §19.1.9. `combiner` MPI_COMBINER_F90_REAL, _COMPLEX or _INTEGER (then p is ignored). The same values give the same
 * type, for ever. Error: MPI_ERR_ARG if the compiler has no such type. */
int type_f90(int combiner, int p, int r, struct type **out);

/* §5.1.9. Committing twice is fine. Error: MPI_ERR_TYPE if unsupported. */
int type_commit(struct type *type);
/* The user's MPI_Type_free: drops the handle's reference; the last handle takes the attributes along. Errors:
 * MPI_ERR_TYPE for a predefined one; that of a delete callback, and then the type stays. */
int type_free(struct type *type);

/* §5.1.13. How many arguments of each kind. `is_large`: asked by the _c form; the other one has no `counts` (NULL) and
 * returns MPI_ERR_TYPE for a type with large counts. */
int type_get_envelope(const struct type *type, bool is_large, MPI_Count *integers, MPI_Count *addresses,
                      MPI_Count *counts, MPI_Count *types, int *combiner);

/* Room that the user has for the arguments, and where they go. */
struct type_contents_out {
    bool is_large;
    MPI_Count max_integers, max_addresses, max_counts, max_types;
    int *integers;
    MPI_Aint *addresses;
    MPI_Count *counts;
    MPI_Datatype *types;
};

/* §5.1.13. Derived types among the arguments are new references, which the caller frees. Errors: MPI_ERR_TYPE for a
 * named type; MPI_ERR_ARG if there is not enough room. */
int type_get_contents(const struct type *type, const struct type_contents_out *out);

/* A handle more for a type that is in use: a new reference, which the user frees; a predefined one is as it was. */
MPI_Datatype type_handle_again(struct type *type);

/* --- packing by the user (§5.2, §5.3) --- */

/* Append to or take from a buffer of `size` bytes at *position, which moves on. Errors: MPI_ERR_ARG if it is outside;
 * MPI_ERR_TRUNCATE if there is not enough room or data. */
int type_pack_into(const void *in, MPI_Count count, const struct type *type, void *out, MPI_Count size,
                   MPI_Count *position);
int type_unpack_from(const void *in, MPI_Count size, MPI_Count *position, void *out, MPI_Count count,
                     const struct type *type);
/* Error: MPI_ERR_COUNT if MPI_Count cannot hold it; MPI_ERR_TYPE if unsupported. */
int type_pack_size(MPI_Count count, const struct type *type, MPI_Count *size);
/* The same in external32. Another name of a representation: MPI_ERR_UNSUPPORTED_DATAREP. */
int external_pack(const char *datarep, const void *in, MPI_Count count, const struct type *type, void *out,
                  MPI_Count size, MPI_Count *position);
int external_unpack(const char *datarep, const void *in, MPI_Count size, MPI_Count *position, void *out,
                    MPI_Count count, const struct type *type);
int external_pack_size(const char *datarep, MPI_Count count, const struct type *type, MPI_Count *size);

/* From now on no type is committed with a quick way of packing an item (struct type.one): how something is packed
 * depends on the communicator. Before the user has types. */
void type_forgo_quick_packing(void);

enum { EXTERNAL_ELEMENT_MAX = 32 };

/* Bytes of `count` items in external32. The type is supported, and MPI_Count holds them. */
size_t external_bytes(const struct type *type, MPI_Count count);
/* Bytes [offset, offset + len) of that stream, which may be cut anywhere, as type_pack. */
void external_pack_range(const struct type *type, const void *buf, MPI_Count count, size_t offset, void *out,
                         size_t len);

enum { EXTERNAL_UNFIT_TEXT = 64 };

/* An integer that external32 has too few bytes for; of long and wchar_t there are such. */
struct external_unfit {
    const char *type;  /* "MPI_LONG" */
    int bytes;         /* that it has in external32 */
    bool is_unsigned;
    uint64_t value;    /* of the others in two's complement */
};

/* The first one that is to be sent. Time in the number of elements, if the type has any such, else none. */
bool external_find_unfit(const struct type *type, const void *buf, MPI_Count count, struct external_unfit *found);
/* "MPI_LONG with the value 5000000000" */
const char *external_describe_unfit(const struct external_unfit *unfit, char text[EXTERNAL_UNFIT_TEXT]) COLD;

/* Where a stream that comes in pieces goes on; all 0 at first. */
struct external_cursor {
    size_t at;
    char element[EXTERNAL_ELEMENT_MAX]; /* what has come of the element at `at`, from its first byte on */
};

/* The next `len` bytes of the stream, whatever their number: an element is converted when its last byte has come. */
void external_unpack_next(struct external_cursor *cursor, const struct type *type, void *buf, MPI_Count count,
                          const void *in, size_t len);

enum { TYPE_ELEMENT_MAX = 32 }; /* extent of a predefined type */

/* §12.3.4: the predefined type that all data of this one consist of, itself if it is predefined; NULL if they are of
 * several, or there are none. Of equal ones (MPI_INT, MPI_INT32_T), any. Any thread. */
const struct type *type_element(const struct type *type);
/* Are two predefined types represented in the same way, and do they mean the same? */
static inline bool type_is_alike(const struct type *a, const struct type *b)
{
    return a->kind == b->kind && a->signature == b->signature && a->size == b->size;
}

/* A predefined type of a kind, not TYPE_OTHER. Error: MPI_ERR_NO_MEM. */
int type_of_kind(enum type_kind kind, struct type **out);

/* A type told in bytes, for another process of the job. */
struct type_outline {
    size_t len;
    unsigned char bytes[];
};

/* Made once and kept with the type. Errors: MPI_ERR_NO_MEM; MPI_ERR_TYPE if it is nested too deeply. Any thread. */
int type_get_outline(struct type *type, const struct type_outline **out);
/* The type again: the same data at the same places, elements, extent and signature; committed; the caller's reference.
 * The bytes may be any. Errors: MPI_ERR_TYPE if they make no sense; MPI_ERR_COUNT; MPI_ERR_NO_MEM. */
int type_from_outline(const void *bytes, size_t len, struct type **out);
/* Bytes of the packed stream that the whole elements in the first `len` bytes of the one in external32 make. */
size_t external_memory_bytes(const struct type *type, size_t len);
/* The same as a number of bytes received, by which whoever counts sees whether an element is cut: one more then. */
size_t external_native_bytes(const struct type *type, size_t len);

/* Bytes received, in memory, by a status and the type that they are asked for in. */
static inline MPI_Count type_received(const struct type *type, const MPI_Status *status)
{
    const MPI_Count bytes = status_bytes(status);

    return likely(!status->MPI_internal[STATUS_EXTERNAL]) || !type->is_supported ?
               bytes : (MPI_Count)external_native_bytes(type, (size_t)bytes);
}

/* §7.8. Error: MPI_ERR_NO_MEM. Longer names are cut at MPI_MAX_OBJECT_NAME - 1. */
int type_set_name(struct type *type, const char *name);
/* `name` has room for MPI_MAX_OBJECT_NAME. A type that is NULL is MPI_DATATYPE_NULL. */
void type_get_name(const struct type *type, char *name, int *len);
/* §19.1.9: the predefined Fortran type of a class and a size. Errors: MPI_ERR_ARG with the value. */
int type_match_size(int type_class, int size, struct type **out);
/* §6.9.4: the predefined pair of a value and an index, perhaps without a name; the same values give the same type, for
 * ever. NULL if there is none: values are integers up to 64 bits or real, an index has 4 or 8 bytes and a sign. Error:
 * MPI_ERR_NO_MEM. */
int type_pair(struct type *value, struct type *index, struct type **out);

/* Predefined types into the table of handles; may be called more than once. */
void type_init(void);
/* Names set by the user on predefined types are forgotten; types of type_f90 are released. */
void type_fini(void);

#endif
