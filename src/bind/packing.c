/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: bind. MPI_Pack and its companions (MPI 5.0 §5.2). What is packed for a communicator with members in other
 * clients of a joint job (IMPI) is external32, since it may be unpacked by another implementation. */
#include "bind/bind.h"
#include "p2p/p2p.h"
#include "type/type.h"

static const char external32[] = "external32";

int bind_pack(const struct bind_packing *args, const void *in, MPI_Count count, void *out)
{
    if (p2p_is_joint(args->comm))
        return external_pack(external32, in, count, args->type, out, args->size, args->position);
    return type_pack_into(in, count, args->type, out, args->size, args->position);
}

int bind_unpack(const struct bind_packing *args, const void *in, void *out, MPI_Count count)
{
    if (p2p_is_joint(args->comm))
        return external_unpack(external32, in, args->size, args->position, out, count, args->type);
    return type_unpack_from(in, args->size, args->position, out, count, args->type);
}

int bind_pack_size(const struct comm *comm, MPI_Count count, const struct type *type, MPI_Count *size)
{
    return p2p_is_joint(comm) ? external_pack_size(external32, count, type, size) : type_pack_size(count, type, size);
}
