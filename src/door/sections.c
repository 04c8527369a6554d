/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: door. The table for Fortran's sections: handles of the user's for what rooms have. */
#include "door/sections.h"

#include "io/io.h"
#include "p2p/part.h"

static void keep(MPI_Request request, struct req_hold *hold)
{
    req_keep(obj_request(request), hold);
}

static void keep_split(MPI_File file, struct req_hold *hold)
{
    req_keep(io_split_request(obj_file(file)), hold);
}

static void lay_out(MPI_Request request, void *buf, MPI_Datatype type)
{
    p2p_part_lay_out(obj_request(request), buf, obj_type(type));
}

static MPI_Datatype element(MPI_Datatype type)
{
    const struct type *const found = type_element(obj_type(type));

    return found ? (MPI_Datatype)obj_handle(&found->obj) : MPI_BYTE;
}

static size_t count_blocks(MPI_Datatype type, MPI_Count count)
{
    return type_block_count(obj_type(type), count);
}

static size_t list_blocks(MPI_Datatype type, const void *buf, MPI_Count count, struct type_block *out)
{
    const struct type *const t = obj_type(type);

    return type_list_blocks(t, buf, count, 0, type_bytes(t, count), out);
}

const struct sections parley_sections_1 = {
    .size = sizeof parley_sections_1,
    .keep = keep,
    .keep_split = keep_split,
    .lay_out = lay_out,
    .element = element,
    .count_blocks = count_blocks,
    .list_blocks = list_blocks,
};
