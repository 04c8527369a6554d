/* SPDX-License-Identifier: BSD-3-Clause */
/* Doors: buffers for MPI_Bsend. A program has counted F_BSEND_OVERHEAD bytes for each message, the library wants
 * MPI_BSEND_OVERHEAD. So the library gets memory of ours, large enough for as many messages as can be meant; pages that
 * nothing is written to cost nothing. Before it stands what the program gave, which it gets back. */
#include "door.h"

#include <sys/mman.h>

struct lent {
    void *buffer;   /* the program's */
    MPI_Count size;
    size_t mapped;  /* bytes of ours, this included */
};

enum { HEAD = 64, EACH_MORE = MPI_BSEND_OVERHEAD - F_BSEND_OVERHEAD };

_Static_assert(sizeof(struct lent) <= HEAD, "the head has its place before the buffer");

/* NULL: there is none, and the program's own has to do. */
static struct lent *lend(void *buffer, MPI_Count size)
{
    const size_t messages = (size_t)size / F_BSEND_OVERHEAD + 1;
    const size_t mapped = HEAD + (size_t)size + messages * EACH_MORE;
    struct lent *const lent = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                                   -1, 0);

    if (lent == MAP_FAILED)
        return NULL;
    *lent = (struct lent){ buffer, size, mapped };
    return lent;
}

/* What a call gave back becomes what the program gave. */
static void give_back(void *address_out, MPI_Count *size)
{
    void **const address = address_out;
    struct lent *lent;

    if (!*address || *address == MPI_BUFFER_AUTOMATIC)
        return;
    lent = (struct lent *)(void *)((char *)*address - HEAD);
    *address = lent->buffer;
    *size = lent->size;
    munmap(lent, lent->mapped);
}

/* `attach` is the call with `buffer` and `size`, which it finds under these names. */
#define ATTACH(attach)                                                     \
    struct lent *const lent = buffer && size > 0 ? lend(buffer, size) : NULL; \
    if (lent) {                                                            \
        buffer = (char *)lent + HEAD;                                      \
        size = (MPI_Count)(lent->mapped - HEAD);                           \
    }                                                                      \
    const int rc = attach;                                                 \
    if (rc && lent)                                                        \
        munmap(lent, lent->mapped);                                        \
    return out_code(rc)
#define DETACH(detach)                   \
    MPI_Count large = 0;                 \
    const int rc = detach;               \
    if (!rc) {                           \
        give_back(address, &large);      \
        *size = (__typeof__(*size))large; \
    }                                    \
    return out_code(rc)

static int attach(void *buffer, MPI_Count size)
{
    ATTACH(parley_calls_1.Buffer_attach_c(buffer, size));
}

DOOR(int, Buffer_attach, void *buffer, int size)
{
    return attach(buffer, size);
}

DOOR(int, Buffer_attach_c, void *buffer, MPI_Count size)
{
    return attach(buffer, size);
}

DOOR(int, Buffer_detach, void *address, int *size)
{
    DETACH(parley_calls_1.Buffer_detach_c(address, size ? &large : NULL));
}

DOOR(int, Buffer_detach_c, void *address, MPI_Count *size)
{
    DETACH(parley_calls_1.Buffer_detach_c(address, size ? &large : NULL));
}

static int attach_comm(F_Comm comm, void *buffer, MPI_Count size)
{
    ATTACH(parley_calls_1.Comm_attach_buffer_c(in_comm(comm), buffer, size));
}

DOOR(int, Comm_attach_buffer, F_Comm comm, void *buffer, int size)
{
    return attach_comm(comm, buffer, size);
}

DOOR(int, Comm_attach_buffer_c, F_Comm comm, void *buffer, MPI_Count size)
{
    return attach_comm(comm, buffer, size);
}

DOOR(int, Comm_detach_buffer, F_Comm comm, void *address, int *size)
{
    DETACH(parley_calls_1.Comm_detach_buffer_c(in_comm(comm), address, size ? &large : NULL));
}

DOOR(int, Comm_detach_buffer_c, F_Comm comm, void *address, MPI_Count *size)
{
    DETACH(parley_calls_1.Comm_detach_buffer_c(in_comm(comm), address, size ? &large : NULL));
}

static int attach_session(F_Session session, void *buffer, MPI_Count size)
{
    ATTACH(parley_calls_1.Session_attach_buffer_c(in_session(session), buffer, size));
}

DOOR(int, Session_attach_buffer, F_Session session, void *buffer, int size)
{
    return attach_session(session, buffer, size);
}

DOOR(int, Session_attach_buffer_c, F_Session session, void *buffer, MPI_Count size)
{
    return attach_session(session, buffer, size);
}

DOOR(int, Session_detach_buffer, F_Session session, void *address, int *size)
{
    DETACH(parley_calls_1.Session_detach_buffer_c(in_session(session), address, size ? &large : NULL));
}

DOOR(int, Session_detach_buffer_c, F_Session session, void *address, MPI_Count *size)
{
    DETACH(parley_calls_1.Session_detach_buffer_c(in_session(session), address, size ? &large : NULL));
}
