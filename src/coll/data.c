/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Blocks of user data, and their messages. Knows: p2p, type.
 * Does not know: any algorithm. */
#include "base/copy.h"
#include "base/err.h"
#include "coll/int_coll.h"
#include "coll/int_spare.h"
#include "p2p/p2p.h"

MPI_Count coll_number(const struct coll_numbers *numbers, int i)
{
    if (numbers->width == sizeof(int))
        return ((const int *)numbers->p)[i];
    return ((const MPI_Count *)numbers->p)[i];
}

struct coll_block coll_data_block(const struct coll_data *data, int i)
{
    struct coll_block block = { data->buf, data->count, data->type };

    if (data->types)
        block.type = obj_type(data->types[i]);
    if (data->counts.p)
        block.count = coll_number(&data->counts, i);
    if (data->displs.p)
        block.buf =
            coll_address(data->buf, coll_number(&data->displs, i) * (data->types ? 1 : block.type->extent));
    else
        block.buf = coll_address(data->buf, i * block.count * block.type->extent);
    return block;
}

MPI_Count coll_sum(const struct coll_data *data, int n)
{
    MPI_Count sum = 0;

    for (int i = 0; i < n; i++)
        sum += coll_number(&data->counts, i);
    return sum;
}

struct coll_block coll_data_range(const struct coll_data *data, int first, int n)
{
    struct coll_block block = coll_data_block(data, first);

    block.count *= n;
    return block;
}

int coll_check_buffer(const void *buf, MPI_Count count, const struct type *type, const char *name)
{
    if (likely((uintptr_t)buf > (uintptr_t)MPI_IN_PLACE))
        return 0;
    if (buf)
        return err(MPI_ERR_BUFFER, "E0334: %s is MPI_IN_PLACE, which is not allowed here", name);
    /* NULL is MPI_BOTTOM, which is an address for types with absolute displacements. */
    if (count > 0 && type->size > 0 && type->obj.predefined)
        return err(MPI_ERR_BUFFER, "E0336: %s is NULL, but %lld items are to be there", name, (long long)count);
    return 0;
}

int coll_check_data(const struct coll_data *data, int size, const char *name)
{
    int rc = 0;

    if (likely((uintptr_t)data->buf > (uintptr_t)MPI_IN_PLACE))
        return 0;
    for (int rank = 0; rank < size && !rc; rank++) {
        const struct coll_block block = coll_data_block(data, rank);
        /* displacements in bytes may be addresses, from MPI_BOTTOM */
        rc = coll_check_buffer(data->types ? block.buf : data->buf, block.count, block.type, name);
    }
    return rc;
}

int coll_send(struct comm *comm, int tag, const struct coll_block *block, int dest)
{
    return p2p_send_mode(comm, block->buf, block->count, block->type, dest, tag, P2P_STANDARD | P2P_COLL);
}

int coll_recv(struct comm *comm, int tag, const struct coll_block *block, int source)
{
    return p2p_recv(comm, block->buf, block->count, block->type, source, tag, P2P_COLL, NULL);
}

int coll_exchange(struct comm *comm, int tag, const struct coll_block *send, int dest,
                  const struct coll_block *recv, int source)
{
    const struct p2p_sendrecv args = {
        .send_buf = send->buf,
        .send_count = send->count,
        .send_type = send->type,
        .dest = dest,
        .send_tag = tag,
        .recv_buf = recv->buf,
        .recv_count = recv->count,
        .recv_type = recv->type,
        .source = source,
        .recv_tag = tag,
    };

    return p2p_sendrecv(comm, &args, P2P_COLL, NULL);
}

static int COLD same_buffer(void)
{
    return err(MPI_ERR_BUFFER,
               "E0335: data are sent from the place where they are received; MPI_IN_PLACE is for that");
}

int coll_check_reduction(const struct coll_args *args, MPI_Count count, bool has_result)
{
    const struct type *type = args->recv.type;

    if (unlikely(has_result && args->send.buf == args->recv.buf && count > 0 && type->size > 0))
        return same_buffer();
    return op_check(args->op, type);
}

int coll_copy(const struct coll_block *from, const struct coll_block *to)
{
    const size_t len = type_bytes(from->type, from->count), room = type_bytes(to->type, to->count);

    if (unlikely(from->buf == to->buf) && len > 0 && from->type->is_contig && to->type->is_contig)
        return same_buffer();
    if (likely(from->type->is_contig && to->type->is_contig))
        copy_long(to->buf, from->buf, size_min(len, room));
    else
        type_copy(to->buf, to->count, to->type, from->buf, from->count, from->type);
    if (unlikely(len > room))
        return err(MPI_ERR_TRUNCATE, "got %zu bytes, from the own rank; there is room for %zu bytes", len, room);
    return 0;
}

int coll_temp_alloc(struct coll_temp *temp, const struct type *type, MPI_Count count)
{
    const struct type_span span = type_room(type, count);

    temp->memory = spare_alloc(span.len + COLL_ITEMS_ALIGN);
    if (!temp->memory)
        return err(MPI_ERR_NO_MEM, "no memory for %zu bytes of intermediate results", span.len);
    temp->buf = coll_place_items(temp->memory, span);
    return 0;
}

void coll_temp_free(struct coll_temp *temp)
{
    spare_free(temp->memory);
}
