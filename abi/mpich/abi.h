/* SPDX-License-Identifier: BSD-3-Clause */
/* Door to the MPICH ABI: its types, and conversions of handles, statuses and addresses.
 *
 * A handle is an int. Bits 31..30 say how it came about (0: null, 1: predefined, 2: made by the library), 29..26 the
 * kind of object; a predefined one says more in its low bits. In handles that we give out, the bits below are a number
 * that handles.c keeps for the address of the object. Files are pointers: ours. */
#ifndef ABI_H
#define ABI_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "facts.h"

typedef int F_Comm, F_Datatype, F_Group, F_Op, F_Info, F_Errhandler, F_Request, F_Message, F_Session, F_Win;
typedef void *F_File;

typedef struct {
    int count_lo, count_hi_and_cancelled; /* bytes received, 63 bits; bit 0 of the second: cancelled */
    int MPI_SOURCE, MPI_TAG, MPI_ERROR;
} F_Status;

struct predefined {
    int foreign; /* 0: none has this place */
    int value;   /* of the standard ABI */
};

/* What a program gives for MPI_LB and MPI_UB, markers in structures that MPI 3.0 has removed. */
static inline bool is_marker_lb(F_Datatype type)
{
    return type == 0x4c000010;
}

static inline bool is_marker_ub(F_Datatype type)
{
    return type == 0x4c000011;
}

/* Where to place what no handle is. */
enum { HANDLE_FIRST = 16, HANDLE_CHUNK_BITS = 12, HANDLE_CHUNK = 1 << HANDLE_CHUNK_BITS, HANDLE_CHUNKS = 1 << 14 };

/* Open MPI has persistent collectives under other names, too. */
#define MPIX_ALIAS(name) _Static_assert(true, "")

#define F_IN_PLACE_ADDRESS ((const void *)F_IN_PLACE)
#define F_IS_IGNORED(statuses) ((uintptr_t)(statuses) <= F_STATUSES_IGNORE)
/* An error code says its class in 8 bits, and above them which text belongs to it. */
#define F_CODE(error_class, slot) ((error_class) | (slot) << 8)
#define F_CODE_CLASS(code) ((code) & 0xff)
#define F_CODE_SLOT(code) ((code) >> 8)
#define F_REQUEST_NULL ((int)0x2c000000)

extern const struct predefined in_table_comm[64], in_table_group[64], in_table_op[64], in_table_info[64],
    in_table_errhandler[64], in_table_request[64], in_table_message[64], in_table_session[64], in_table_win[64],
    in_table_type[512];
extern const int out_table[1024]; /* by value of the standard ABI */
extern const short out_class_table[64], out_tool_table[32], in_class_table[128];

/* Addresses of objects by their numbers, in chunks that come when they are needed and stay. */
extern _Atomic(uintptr_t *) handle_chunks[HANDLE_CHUNKS];
/* From addresses to numbers: open addressing, at most half full. A full table gives way to a larger one; the old one
 * stays, since others may be reading it. */
struct handle_slot {
    _Atomic uintptr_t address; /* 0: free */
    int number;                /* valid when there is an address */
};
struct handle_map {
    int shift;
    size_t mask;
    struct handle_slot *slots;
};
extern struct handle_map *_Atomic handle_map;

/* The number of an address that is not in the map yet. */
int handle_add(uintptr_t address);

static inline uintptr_t handle_address(int handle)
{
    const unsigned number = (unsigned)handle & 0x3ffffff;
    const uintptr_t *const chunk = atomic_load_explicit(&handle_chunks[number >> HANDLE_CHUNK_BITS],
                                                        memory_order_acquire);

    return chunk ? chunk[number & (HANDLE_CHUNK - 1)] : 0;
}

static inline size_t handle_hash(const struct handle_map *map, uintptr_t address)
{
    return (size_t)((uint64_t)(address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> map->shift);
}

static inline int handle_number(uintptr_t address)
{
    struct handle_map *const map = atomic_load_explicit(&handle_map, memory_order_acquire);

    for (size_t i = handle_hash(map, address);; i = (i + 1) & map->mask) {
        const uintptr_t at = atomic_load_explicit(&map->slots[i].address, memory_order_acquire);
        if (at == address)
            return map->slots[i].number;
        if (!at)
            return handle_add(address);
    }
}

/* `low` and `shift`: how many of the low bits tell predefined handles of this kind apart. */
static inline uintptr_t handle_in(int handle, const struct predefined *table, unsigned low, int shift)
{
    const unsigned bits = (unsigned)handle;

    if (bits >> 30 == 2 && (bits & 0x3ffffff) >= HANDLE_FIRST)
        return handle_address(handle);
    const struct predefined *const entry = &table[bits >> 30 << shift | (bits & low)];
    return entry->foreign == handle ? (uintptr_t)entry->value : 0;
}

static inline int handle_out(uintptr_t handle, unsigned kind)
{
    return handle < 1024 ? out_table[handle] : (int)(2U << 30 | kind << 26 | (unsigned)handle_number(handle));
}

#define HANDLE(name, native, f_type, low, shift, kind)                                \
    static inline native in_##name(f_type handle)                                    \
    {                                                                                \
        return (native)handle_in(handle, in_table_##name, low, shift);               \
    }                                                                                \
    static inline f_type out_##name(native handle)                                   \
    {                                                                                \
        return handle_out((uintptr_t)handle, kind);                                  \
    }
HANDLE(comm, MPI_Comm, F_Comm, 15, 4, 1)
HANDLE(group, MPI_Group, F_Group, 15, 4, 2)
HANDLE(type, MPI_Datatype, F_Datatype, 127, 7, 3)
HANDLE(errhandler, MPI_Errhandler, F_Errhandler, 15, 4, 5)
HANDLE(op, MPI_Op, F_Op, 15, 4, 6)
HANDLE(info, MPI_Info, F_Info, 15, 4, 7)
HANDLE(win, MPI_Win, F_Win, 15, 4, 8)
HANDLE(request, MPI_Request, F_Request, 15, 4, 11)
HANDLE(message, MPI_Message, F_Message, 15, 4, 11)
HANDLE(session, MPI_Session, F_Session, 15, 4, 14)
#undef HANDLE

static inline MPI_File in_file(F_File file)
{
    return file ? (MPI_File)file : MPI_FILE_NULL;
}

static inline F_File out_file(MPI_File file)
{
    return file == MPI_FILE_NULL ? NULL : (F_File)file;
}

static inline const void *in_buffer(const void *buffer)
{
    return buffer == F_IN_PLACE_ADDRESS ? MPI_IN_PLACE : buffer;
}

/* The addresses that programs read from our variables MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY are those of the standard
 * ABI. */
static inline const int *in_weights(const int *weights)
{
    return weights;
}

static inline void status_bytes_in(const F_Status *from, MPI_Status *to)
{
    const int64_t bytes = (int64_t)((uint64_t)((unsigned)from->count_hi_and_cancelled >> 1) << 32 |
                                    (unsigned)from->count_lo);

    memcpy(&to->MPI_internal[0], &bytes, sizeof bytes);
    to->MPI_internal[2] = from->count_hi_and_cancelled & 1;
    to->MPI_internal[3] = to->MPI_internal[4] = 0;
}

static inline void status_bytes_out(const MPI_Status *from, F_Status *to)
{
    uint64_t bytes;

    memcpy(&bytes, &from->MPI_internal[0], sizeof bytes);
    to->count_lo = (int)bytes;
    to->count_hi_and_cancelled = (int)(bytes >> 32 << 1 | (from->MPI_internal[2] != 0));
}

#endif
