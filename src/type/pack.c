/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. Packing by the user (MPI 5.0 §5.2). A pack buffer holds the packed stream, without a head: what was
 * packed can be received as the data, and the other way round.
 * Knows: the stream of a type. */
#include "base/err.h"
#include "type/int_plan.h"

int pack_check(MPI_Count size, MPI_Count position, MPI_Count needed)
{
    if (position < 0 || position > size)
        return err(MPI_ERR_ARG, "position is %lld, outside of the pack buffer of %lld bytes", (long long)position,
                   (long long)size);
    if (needed > size - position)
        return err(MPI_ERR_TRUNCATE, "%lld bytes at position %lld do not fit in the pack buffer of %lld bytes",
                   (long long)needed, (long long)position, (long long)size);
    return 0;
}

int type_pack_size(MPI_Count count, const struct type *type, MPI_Count *size)
{
    if (!type->is_supported)
        return type_check_usable(type);
    if (__builtin_mul_overflow(count, type->size, size))
        return err(MPI_ERR_COUNT, "%lld items of %lld bytes are more than MPI_Count can say", (long long)count,
                   (long long)type->size);
    return 0;
}

/* Why `needed` could not be said, or does not fit. */
static COLD int refuse(MPI_Count count, const struct type *type, MPI_Count size, MPI_Count position)
{
    MPI_Count needed = 0;
    const int rc = type_pack_size(count, type, &needed);

    return rc ? rc : pack_check(size, position, needed);
}

/* All that pack_check and type_pack_size ask for, without a text. */
static ALWAYS_INLINE bool fits(MPI_Count count, const struct type *type, MPI_Count size, MPI_Count position,
                               MPI_Count *needed)
{
    return likely(type->is_supported && !__builtin_mul_overflow(count, type->size, needed) && position >= 0 &&
                  position <= size && *needed <= size - position);
}

int type_pack_into(const void *in, MPI_Count count, const struct type *type, void *out, MPI_Count size,
                   MPI_Count *position)
{
    MPI_Count needed;

    if (!fits(count, type, size, *position, &needed))
        return refuse(count, type, size, *position);
    type_pack(type, in, count, 0, (char *)((uintptr_t)out + (uintptr_t)*position), (size_t)needed);
    *position += needed;
    return 0;
}

int type_unpack_from(const void *in, MPI_Count size, MPI_Count *position, void *out, MPI_Count count,
                     const struct type *type)
{
    MPI_Count needed;

    if (!fits(count, type, size, *position, &needed))
        return refuse(count, type, size, *position);
    type_unpack(type, out, count, 0, (const char *)((uintptr_t)in + (uintptr_t)*position), (size_t)needed);
    *position += needed;
    return 0;
}
