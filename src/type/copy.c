/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. Moving data between memory and the packed stream.
 * One run of bytes takes one memcpy; everything else walks the item's blocks, from any byte on.
 * Knows: the blocks of a type. Does not know: how a type was made. */
#include "type/type.h"

#include <assert.h>
#include <string.h>

enum { COPY_STAGE = 4096 };

/* Through integers: the buffer may be MPI_BOTTOM, and a displacement an absolute address. */
static inline void *place(const void *buf, MPI_Count disp)
{
    return (void *)((uintptr_t)buf + (uintptr_t)disp);
}

/* Both directions; `is_pack` is a constant at each call. */
static ALWAYS_INLINE void walk(const struct type *type, void *buf, size_t offset, char *stream, size_t len,
                               bool is_pack)
{
    const size_t size = (size_t)type->size;
    const struct type_block *block = type->blocks, *const end = type->blocks + type->block_count;
    MPI_Count item = (MPI_Count)(offset / size);
    size_t skip = offset % size;

    for (; skip >= block->len; block++)
        skip -= block->len;
    while (len > 0) {
        const size_t n = size_min(block->len - skip, len);
        char *const memory = place(buf, item * type->extent + block->disp + (MPI_Count)skip);

        if (is_pack)
            memcpy(stream, memory, n);
        else
            memcpy(memory, stream, n);
        stream += n;
        len -= n;
        skip = 0;
        if (++block == end) {
            block = type->blocks;
            item++;
        }
    }
}

static NOINLINE void walk_out(const struct type *type, const void *buf, size_t offset, void *out, size_t len)
{
    walk(type, place(buf, 0), offset, out, len, true);
}

static NOINLINE void walk_in(const struct type *type, void *buf, size_t offset, const void *in, size_t len)
{
    walk(type, buf, offset, place(in, 0), len, false);
}

void type_pack(const struct type *type, const void *buf, MPI_Count count, size_t offset, void *out,
               size_t len)
{
    assert(offset + len <= type_bytes(type, count));
    (void)count;
    if (len == 0)
        return;
    if (likely(type->is_contig))
        memcpy(out, place(buf, (MPI_Count)offset), len);
    else
        walk_out(type, buf, offset, out, len);
}

void type_unpack(const struct type *type, void *buf, MPI_Count count, size_t offset, const void *in,
                 size_t len)
{
    assert(offset + len <= type_bytes(type, count));
    (void)count;
    if (len == 0)
        return;
    if (likely(type->is_contig))
        memcpy(place(buf, (MPI_Count)offset), in, len);
    else
        walk_in(type, buf, offset, in, len);
}

size_t type_copy(void *dst, MPI_Count dst_count, const struct type *dst_type, const void *src,
                 MPI_Count src_count, const struct type *src_type)
{
    const size_t len = size_min(type_bytes(dst_type, dst_count), type_bytes(src_type, src_count));
    char stage[COPY_STAGE];

    if (len == 0 || (dst == src && dst_type == src_type))
        return len;
    if (src_type->is_contig) {
        type_unpack(dst_type, dst, dst_count, 0, src, len);
        return len;
    }
    if (dst_type->is_contig) {
        type_pack(src_type, src, src_count, 0, dst, len);
        return len;
    }
    for (size_t done = 0, n; done < len; done += n) {
        n = size_min(len - done, sizeof stage);
        type_pack(src_type, src, src_count, done, stage, n);
        type_unpack(dst_type, dst, dst_count, done, stage, n);
    }
    return len;
}
