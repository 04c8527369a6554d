/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: bind. MPI_Pack and its companions (MPI 5.0 §5.2). What is packed for a communicator with members in other
 * clients of a joint job (IMPI) is external32, since it may be unpacked by another implementation. */
#include "bind/bind.h"
#include "p2p/p2p.h"
#include "type/type.h"

static const char external32[] = "external32";

/* Where data are packed in external32 without anybody having asked for that, they are not to lose anything. */
static int check_fit(const struct bind_packing *args, const void *in, MPI_Count count)
{
    char value[EXTERNAL_UNFIT_TEXT], label[COMM_LABEL_SIZE];
    struct external_unfit unfit;

    if (!args->type->is_supported || !external_find_unfit(args->type, in, count, &unfit))
        return 0;
    return err(MPI_ERR_CONVERSION,
               "E1242: %s does not fit the %d bytes that it has between clients of IMPI (external32): it was to be "
               "packed for %s", external_describe_unfit(&unfit, value), unfit.bytes, obj_comm_label(args->comm, label));
}

int bind_pack(const struct bind_packing *args, const void *in, MPI_Count count, void *out)
{
    if (p2p_is_joint(args->comm)) {
        const int rc = check_fit(args, in, count);

        return rc ? rc : external_pack(external32, in, count, args->type, out, args->size, args->position);
    }
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
