/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran: array sections with gaps. By the standard (count, datatype) describes what lies in a scratch array without
 * gaps, in which the elements of the section stand in Fortran's order. When an element of the array is a whole number
 * of datatypes, the same can be said in place: strides of strides. Otherwise, and for calls in which the datatype
 * also describes something else, the scratch array is made; a nonblocking call cannot do that and fails.
 * Knows: its header. */
#include "section.h"

#include <stdlib.h>
#include <string.h>

/* Whether there are gaps between the elements. */
static bool is_scattered(const CFI_cdesc_t *array)
{
    CFI_index_t step = (CFI_index_t)array->elem_len;
    bool has_gaps = false;

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

/* --- as a copy --- */

static size_t elements_of(const CFI_cdesc_t *array)
{
    size_t n = 1;

    for (int i = 0; i < array->rank; i++)
        n *= (size_t)array->dim[i].extent;
    return n;
}

/* All elements in order, from the array to `copy` or back. */
static void move(const CFI_cdesc_t *array, char *copy, bool back)
{
    const size_t length = array->elem_len;
    CFI_index_t at[CFI_MAX_RANK] = { 0 };
    char *element = array->base_addr;

    for (size_t n = elements_of(array); n; n--, copy += length) {
        memcpy(back ? element : copy, back ? copy : element, length);
        for (int i = 0; i < array->rank; i++) {
            element += array->dim[i].sm;
            if (++at[i] < array->dim[i].extent)
                break;
            element -= at[i] * array->dim[i].sm;
            at[i] = 0;
        }
    }
}

static int no_way(void)
{
    static int code;

    return fortran_fail(&code, MPI_ERR_BUFFER,
                        "a nonblocking call got an array section with gaps that this datatype cannot describe in "
                        "place: an element of the array must be a whole number of datatypes, and count and datatype "
                        "must describe this buffer alone; hand over a contiguous array");
}

static __attribute__((cold, noinline)) void open_scattered(struct section *section, const CFI_cdesc_t *array, int how,
                                                           MPI_Count count, MPI_Datatype type)
{
    const MPI_Count in_element = how & SECTION_TYPE && count > 0 && type != MPI_DATATYPE_NULL
                                     ? types_in_element(array, type)
                                     : 0;

    section->array = NULL;
    if (in_element) {
        section->rc = make_type(array, count, type, in_element, &section->made);
        section->count = 1;
        section->type = section->made;
    } else if (how & SECTION_COPY) {
        section->copy = malloc(elements_of(array) * array->elem_len + 1);
        section->base = section->copy;
        if (!section->copy) {
            section->rc = no_memory();
            return;
        }
        move(array, section->copy, false);
        section->array = how & SECTION_OUT ? array : NULL;
    } else if (!(how & SECTION_TYPE) || count > 0) {
        section->rc = no_way();
    }
}

void section_open(struct section *section, const CFI_cdesc_t *array, int how, MPI_Count count, MPI_Datatype type)
{
    section->rc = 0;
    section->base = buffer_of(array->base_addr);
    section->count = count;
    section->type = type;
    section->made = MPI_DATATYPE_NULL;
    section->copy = NULL;
    if (UNLIKELY(is_scattered(array)))
        open_scattered(section, array, how, count, type);
}

void section_finish(struct section *section)
{
    if (section->made != MPI_DATATYPE_NULL)
        PMPI_Type_free(&section->made);
    if (section->array)
        move(section->array, section->copy, true);
    free(section->copy);
}
