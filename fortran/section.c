/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran: array sections with gaps. By the standard (count, datatype) describes what lies in a scratch array without
 * gaps, in which the elements of the section stand in Fortran's order. When an element of the array is a whole number
 * of datatypes, the same can be said in place: strides of strides. Otherwise, and for calls in which the datatype
 * also describes something else, the scratch array is made. Where it could not stay until the operation is over, since
 * there is no request (one-sided) or it is used bit by bit (partitioned), the datatype is taken to pieces.
 * Knows: its header, section_copy.h. */
#include "section_copy.h"

#include <stdlib.h>
#include <string.h>

/* Whether there are gaps between the elements. */
static bool is_scattered(const CFI_cdesc_t *array)
{
    CFI_index_t step = (CFI_index_t)array->elem_len;
    bool has_gaps = false;

    if (!array->base_addr)
        return false;
    for (int i = 0; i < array->rank; i++) {
        if (array->dim[i].extent == 0)
            return false;
        has_gaps |= array->dim[i].extent != 1 && array->dim[i].sm != step;
        step *= array->dim[i].extent;
    }
    return has_gaps;
}

/* --- as a datatype --- */

/* How many datatypes make an element; 0: it cannot be said so. */
static MPI_Count types_in_element(const CFI_cdesc_t *array, MPI_Datatype type)
{
    MPI_Count lb, extent, true_lb, true_extent;

    if (PMPI_Type_get_extent_c(type, &lb, &extent) || PMPI_Type_get_true_extent_c(type, &true_lb, &true_extent))
        return 0;
    if (lb || extent <= 0 || true_lb < 0 || true_lb + true_extent > extent || (MPI_Count)array->elem_len % extent)
        return 0;
    return (MPI_Count)array->elem_len / extent;
}

enum { PIECES = CFI_MAX_RANK + 1 };

struct pieces {
    int n;
    MPI_Count lengths[PIECES], places[PIECES];
    MPI_Datatype types[PIECES];
};

static void free_types(int n, MPI_Datatype *types)
{
    for (int i = 0; i < n; i++)
        PMPI_Type_free(&types[i]);
}

/* The first `elements` of the array and `rest` datatypes of the one that follows, as pieces of whole dimensions: of
 * 3 by 4 elements the first 8 are two columns, and two elements of the third. `whole[i]`: all of the first i
 * dimensions. A section shorter than the count is taken for longer in its last dimension, as memory would be. */
static int cut_in_pieces(const CFI_cdesc_t *array, MPI_Count elements, MPI_Count rest, MPI_Datatype type,
                         const MPI_Datatype *whole, struct pieces *pieces)
{
    MPI_Count below[CFI_MAX_RANK], place = 0;
    int rc = 0;

    below[0] = 1;
    for (int i = 1; i < array->rank; i++)
        below[i] = below[i - 1] * array->dim[i - 1].extent;
    for (int i = array->rank - 1; !rc && i >= 0; i--) {
        const MPI_Count n = elements / below[i];

        elements %= below[i];
        if (n) {
            pieces->lengths[pieces->n] = 1;
            pieces->places[pieces->n] = place;
            rc = PMPI_Type_create_hvector_c(n, 1, array->dim[i].sm, whole[i], &pieces->types[pieces->n]);
            pieces->n += !rc;
        }
        place += n * array->dim[i].sm;
    }
    if (!rc && rest) {
        pieces->lengths[pieces->n] = 1;
        pieces->places[pieces->n] = place;
        rc = PMPI_Type_contiguous_c(rest, type, &pieces->types[pieces->n]);
        pieces->n += !rc;
    }
    return rc;
}

static int make_type(const CFI_cdesc_t *array, MPI_Count count, MPI_Datatype type, MPI_Count in_element,
                     MPI_Datatype *made)
{
    MPI_Datatype whole[CFI_MAX_RANK];
    struct pieces pieces = { .n = 0 };
    int ranks = 0, rc = PMPI_Type_contiguous_c(in_element, type, &whole[0]);

    if (!rc)
        ranks = 1;
    for (; !rc && ranks < array->rank; ranks += !rc)
        rc = PMPI_Type_create_hvector_c(array->dim[ranks - 1].extent, 1, array->dim[ranks - 1].sm, whole[ranks - 1],
                                        &whole[ranks]);
    if (!rc)
        rc = cut_in_pieces(array, count / in_element, count % in_element, type, whole, &pieces);
    if (!rc)
        rc = PMPI_Type_create_struct_c(pieces.n, pieces.lengths, pieces.places, pieces.types, made);
    if (!rc)
        rc = PMPI_Type_commit(made);
    free_types(pieces.n, pieces.types);
    free_types(ranks, whole);
    return rc;
}

/* --- as a datatype of pieces --- */

/* Where byte `offset` of the scratch array is, and for how many bytes that goes on. */
static CFI_index_t place_of(const CFI_cdesc_t *array, MPI_Count offset, MPI_Count *rest)
{
    const MPI_Count len = (MPI_Count)array->elem_len;
    MPI_Count element = offset / len;
    CFI_index_t place = (CFI_index_t)(offset % len);

    *rest = len - offset % len;
    for (int i = 0; i < array->rank; i++) {
        const bool is_last = i == array->rank - 1;

        place += (is_last ? element : element % array->dim[i].extent) * array->dim[i].sm;
        element /= array->dim[i].extent;
    }
    return place;
}

struct places {
    MPI_Count n, room;
    MPI_Count *lengths, *places; /* both in one piece of memory, at `lengths` */
};

static bool add_place(struct places *p, MPI_Count place, MPI_Count length, MPI_Count size)
{
    if (p->n && p->places[p->n - 1] + p->lengths[p->n - 1] * size == place) {
        p->lengths[p->n - 1] += length;
        return true;
    }
    if (p->n == p->room) {
        const size_t half = (size_t)p->room * sizeof *p->lengths;
        MPI_Count *const more = realloc(p->lengths, 4 * half);

        if (!more)
            return false;
        memmove((char *)more + 2 * half, (char *)more + half, half);
        p->lengths = more;
        p->room *= 2;
        p->places = more + p->room;
    }
    p->lengths[p->n] = length;
    p->places[p->n++] = place;
    return true;
}

/* What there is no datatype for: elements of the datatype that lie in several of the array. */
static int no_way(void)
{
    static int code;

    return fortran_fail(&code, MPI_ERR_BUFFER,
                        "a call that is not done with its buffer when it returns got an array section with gaps and a "
                        "datatype that cannot describe it: its elements are larger than those of the array, or it "
                        "begins before the array; hand over a contiguous array");
}

/* A block of the scratch array; its elements have `size` bytes. */
static int cut_block(const CFI_cdesc_t *array, MPI_Count offset, MPI_Count len, MPI_Count size, struct places *places)
{
    while (len > 0) {
        MPI_Count rest;
        const CFI_index_t place = offset < 0 ? 0 : place_of(array, offset, &rest);

        if (offset < 0 || (rest < len && rest % size))
            return no_way();
        rest = rest < len ? rest : len;
        if (!add_place(places, place, rest / size, size))
            return no_memory();
        offset += rest;
        len -= rest;
    }
    return 0;
}

static int cut_blocks(const CFI_cdesc_t *array, const struct type_block *blocks, size_t n, MPI_Datatype element,
                      MPI_Datatype *made)
{
    struct places places = { .room = 16 };
    MPI_Count size;
    int rc = PMPI_Type_size_c(element, &size);

    places.lengths = malloc(2 * (size_t)places.room * sizeof *places.lengths);
    if (!rc && !places.lengths)
        rc = no_memory();
    places.places = places.lengths + places.room;
    for (size_t i = 0; !rc && i < n; i++)
        rc = cut_block(array, (MPI_Count)blocks[i].address, (MPI_Count)(blocks[i].end - (i ? blocks[i - 1].end : 0)),
                       size, &places);
    if (!rc)
        rc = PMPI_Type_create_hindexed_c(places.n, places.lengths, places.places, element, made);
    if (!rc)
        rc = PMPI_Type_commit(made);
    free(places.lengths);
    return rc;
}

/* All that the datatype describes, where it is in the section. */
static int make_type_of_pieces(const CFI_cdesc_t *array, MPI_Count count, MPI_Datatype type, MPI_Datatype *made)
{
    const struct sections *const table = section_table();
    struct type_block *blocks;
    int rc;

    if (!table)
        return no_way();
    blocks = malloc(table->count_blocks(type, count) * sizeof *blocks);
    if (!blocks)
        return no_memory();
    rc = cut_blocks(array, blocks, table->list_blocks(type, NULL, count, blocks), table->element(type), made);
    free(blocks);
    return rc;
}

static bool has_data(MPI_Count count, MPI_Datatype type)
{
    MPI_Count size;

    return count > 0 && type != MPI_DATATYPE_NULL && !PMPI_Type_size_c(type, &size) && size > 0;
}

/* --- for calls --- */

static void describe_scattered(struct section *section, const CFI_cdesc_t *array, MPI_Count count, MPI_Datatype type)
{
    const MPI_Count in_element = types_in_element(array, type);

    section->rc = in_element ? make_type(array, count, type, in_element, &section->made)
                             : make_type_of_pieces(array, count, type, &section->made);
}

static void copy_scattered(struct section *section, const CFI_cdesc_t *array, int how)
{
    if (how & SECTION_KEEP && !section_table()) {
        section->rc = no_way();
        return;
    }
    section->copy = section_copy_make(array, how & SECTION_OUT);
    if (section->copy)
        section->base = section->copy->data;
    else
        section->rc = no_memory();
}

/* What is wrong with count and datatype is for the C function to say. */
static __attribute__((cold, noinline)) void open_scattered(struct section *section, const CFI_cdesc_t *array, int how,
                                                           MPI_Count count, MPI_Datatype type)
{
    if (how & SECTION_TYPE && !has_data(count, type))
        return;
    if (how & SECTION_FIRST) {
        if (has_data(1, type) && !types_in_element(array, type))
            section->rc = no_way();
    } else if (how & SECTION_COPY && (!(how & SECTION_TYPE) || !types_in_element(array, type))) {
        copy_scattered(section, array, how);
    } else {
        describe_scattered(section, array, count, type);
        section->count = 1;
        section->type = section->made;
    }
}

static void begin(struct section *section, const CFI_cdesc_t *array, MPI_Count count, MPI_Datatype type)
{
    section->rc = 0;
    section->base = buffer_of(array->base_addr);
    section->count = count;
    section->type = type;
    section->made = MPI_DATATYPE_NULL;
    section->copy = NULL;
}

void section_open(struct section *section, const CFI_cdesc_t *array, int how, MPI_Count count, MPI_Datatype type)
{
    begin(section, array, count, type);
    if (UNLIKELY(is_scattered(array)))
        open_scattered(section, array, how, count, type);
}

void section_open_parts(struct section *section, const CFI_cdesc_t *array, int partitions, MPI_Count count,
                        MPI_Datatype type)
{
    MPI_Count items;

    begin(section, array, count, type);
    if (partitions <= 0 || !is_scattered(array) || !has_data(count, type)
        || __builtin_mul_overflow(count, (MPI_Count)partitions, &items))
        return;
    if (section_table())
        describe_scattered(section, array, items, type);
    else
        section->rc = no_way();
}

int section_refuse(const CFI_cdesc_t *array)
{
    static int code;

    if (!is_scattered(array))
        return 0;
    return fortran_fail(&code, MPI_ERR_BUFFER,
                        "an array section with gaps was given as memory for a window or for buffered sends, which must "
                        "be contiguous");
}

void section_finish(struct section *section)
{
    if (section->made != MPI_DATATYPE_NULL)
        PMPI_Type_free(&section->made);
    if (section->copy) {
        section_copy_end(section->copy);
        free(section->copy);
    }
}

/* --- what goes on after the call --- */

/* The copies of a call as one; NULL: there are none, or they end with the call, which has failed. */
static struct section_copy *copies_of(int rc, struct section *section, struct section *more)
{
    struct section_copy *const second = more && !rc ? more->copy : NULL;
    struct section_copy *const first = !rc && section->copy ? section->copy : second;

    if (!first)
        return NULL;
    first->next = first == second ? NULL : second;
    section->copy = NULL;
    if (more)
        more->copy = NULL;
    return first;
}

void section_keep(MPI_Request request, int rc, struct section *section, struct section *more)
{
    struct section_copy *const copies = copies_of(rc || request == MPI_REQUEST_NULL, section, more);

    if (UNLIKELY(copies != NULL))
        section_table()->keep(request, &copies->hold);
}

void section_keep_split(MPI_File file, int rc, struct section *section)
{
    struct section_copy *const copies = copies_of(rc, section, NULL);

    if (UNLIKELY(copies != NULL))
        section_table()->keep_split(file, &copies->hold);
}

void section_lay_out(MPI_Request request, int rc, const struct section *section)
{
    if (UNLIKELY(section->made != MPI_DATATYPE_NULL) && !rc)
        section_table()->lay_out(request, section->base, section->made);
}
