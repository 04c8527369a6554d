/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: door. What Fortran's library needs for array sections with gaps beyond the functions of MPI (MPI 5.0 §19.1.12).
 * Handles are those of live objects. The table's name is private and for libraries of the same build; a library that
 * finds none, or one of another size, does without. */
#ifndef DOOR_SECTIONS_H
#define DOOR_SECTIONS_H

#include "obj/hold.h"
#include "type/type.h"

struct sections {
    size_t size; /* of this struct */

    /* As req_keep: `hold` goes with a request that a call has just returned. */
    void (*keep)(MPI_Request request, struct req_hold *hold);
    /* The same for the split collective call that has begun on a file. */
    void (*keep_split)(MPI_File file, struct req_hold *hold);
    /* As p2p_part_lay_out. */
    void (*lay_out)(MPI_Request request, void *buf, MPI_Datatype type);

    /* The predefined type of all elements of a type; MPI_BYTE if they are of several. */
    MPI_Datatype (*element)(MPI_Datatype type);
    /* How many blocks of bytes items are at most, and where they are, in their order. Each begins where the one before
     * ended in the stream. */
    size_t (*count_blocks)(MPI_Datatype type, MPI_Count count);
    size_t (*list_blocks)(MPI_Datatype type, const void *buf, MPI_Count count, struct type_block *out);
};

/* Of this version. */
extern const struct sections parley_sections_1 __attribute__((visibility("default")));

#endif
