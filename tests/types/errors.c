/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §5.1: arguments of constructors that make no sense are errors whose text has the value; nothing is made.
 * What is wrong with single numbers and handles in any call is tested in tests/errors. */
#include "mpitest.h"

/* The call must fail with this class, and its text must have `part`. */
static void check(int line, int rc, int class, const char *part, MPI_Datatype type)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int len = 0;

    MPI_Error_string(rc, text, &len);
    CHECK(test_class(rc) == class, "line %d: expected class %d, got %d: %s", line, class, test_class(rc), text);
    CHECK(type == MPI_DATATYPE_NULL, "line %d: a type was made", line);
    CHECK(!test_is_parley() || strstr(text, part), "line %d: \"%s\" does not say \"%s\"", line, text, part);
}

#define WRONG(call, class, part) \
    do { \
        MPI_Datatype t = MPI_DATATYPE_NULL; \
        check(__LINE__, (call), (class), (part), t); \
    } while (0)

static void check_subarray(void)
{
    const int sizes[] = { 4, 5 }, subsizes[] = { 2, 6 }, starts[] = { 3, 0 }, two[] = { 2, 2 }, zero[] = { 0, 0 };

    WRONG(MPI_Type_create_subarray(2, zero, two, zero, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG,
          "array_of_sizes[0] is 0");
    WRONG(MPI_Type_create_subarray(2, sizes, zero, zero, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG,
          "array_of_subsizes[0] is 0");
    WRONG(MPI_Type_create_subarray(2, sizes, subsizes, zero, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG,
          "array_of_subsizes[1] is 6");
    WRONG(MPI_Type_create_subarray(2, sizes, two, starts, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG,
          "array_of_starts[0] is 3");
    WRONG(MPI_Type_create_subarray(2, sizes, two, zero, 12345, MPI_INT, &t), MPI_ERR_ARG, "order is 12345");
    WRONG(MPI_Type_create_subarray(0, sizes, two, zero, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG, "ndims");
}

static void check_darray(void)
{
    const int sizes[] = { 10 }, block[] = { MPI_DISTRIBUTE_BLOCK }, none[] = { MPI_DISTRIBUTE_NONE };
    const int cyclic[] = { MPI_DISTRIBUTE_CYCLIC }, three[] = { 3 }, dflt[] = { MPI_DISTRIBUTE_DFLT_DARG };
    const int zero[] = { 0 }, odd[] = { 99 };

#define DARRAY(size, rank, sizes, distribs, dargs, psizes) \
    MPI_Type_create_darray(size, rank, 1, sizes, distribs, dargs, psizes, MPI_ORDER_C, MPI_INT, &t)
    WRONG(DARRAY(3, 0, zero, block, dflt, three), MPI_ERR_ARG, "array_of_gsizes[0] is 0");
    WRONG(DARRAY(3, 0, sizes, odd, dflt, three), MPI_ERR_ARG, "array_of_distribs[0] is 99");
    WRONG(DARRAY(3, 0, sizes, block, three, three), MPI_ERR_ARG, "3 blocks of 3");
    WRONG(DARRAY(3, 0, sizes, cyclic, zero, three), MPI_ERR_ARG, "array_of_dargs[0] is 0");
    WRONG(DARRAY(3, 0, sizes, none, dflt, three), MPI_ERR_ARG, "array_of_psizes[0] is 3");
    WRONG(DARRAY(3, 0, sizes, block, dflt, zero), MPI_ERR_ARG, "array_of_psizes[0] is 0");
    WRONG(DARRAY(4, 0, sizes, block, dflt, three), MPI_ERR_ARG, "3 processes, but size is 4");
    WRONG(DARRAY(3, 3, sizes, block, dflt, three), MPI_ERR_ARG, "rank is 3");
    WRONG(DARRAY(3, -1, sizes, block, dflt, three), MPI_ERR_ARG, "rank is -1");
#undef DARRAY
}

/* More than numbers of 64 bits can say. */
static void check_large(void)
{
    const MPI_Count far = INT64_MAX - 4, huge = (MPI_Count)1 << 62;

    WRONG(MPI_Type_contiguous_c(huge, MPI_INT, &t), MPI_ERR_COUNT, "MPI_Count");
    WRONG(MPI_Type_vector_c(2, 1, huge, MPI_INT, &t), MPI_ERR_COUNT, "MPI_Count");
    WRONG(MPI_Type_create_hvector_c(5, 1, huge, MPI_INT, &t), MPI_ERR_COUNT, "MPI_Count");
    WRONG(MPI_Type_create_hindexed_block_c(1, 2, &far, MPI_INT, &t), MPI_ERR_COUNT, "MPI_Count");
    WRONG(MPI_Type_create_resized_c(MPI_INT, far, far, &t), MPI_ERR_COUNT, "MPI_Count");
    WRONG(MPI_Type_create_subarray_c(2, (MPI_Count[]){ huge, 8 }, (MPI_Count[]){ 1, 1 }, (MPI_Count[]){ 0, 0 },
                                     MPI_ORDER_C, MPI_INT, &t),
          MPI_ERR_COUNT, "MPI_Count");
}

/* Nor is there anything to say of places where there are no data. */
static void check_far_from_data(void)
{
    const MPI_Count huge = (MPI_Count)1 << 62, lengths[] = { 1, 0 }, places[] = { 0, huge };
    MPI_Datatype type;
    MPI_Count size;

    CHECK_OK(MPI_Type_vector_c(1, 3, huge, MPI_INT, &type));
    CHECK_OK(MPI_Type_size_c(type, &size));
    CHECK_INT(size, 3 * sizeof(int));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_indexed_c(2, lengths, places, MPI_INT, &type));
    CHECK_OK(MPI_Type_size_c(type, &size));
    CHECK_INT(size, sizeof(int));
    CHECK_OK(MPI_Type_free(&type));
}

/* Types that are not committed, freed, predefined, or not supported here. */
static void check_types(void)
{
    MPI_Datatype type, stale, predefined = MPI_INT;
    int value = 0, size;

    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &type));
    CHECK_CLASS(MPI_Send(&value, 0, type, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    stale = type;
    CHECK_OK(MPI_Type_free(&type));
    CHECK(type == MPI_DATATYPE_NULL, "the handle is not null");
    CHECK_CLASS(MPI_Type_free(&type), MPI_ERR_TYPE);
    if (test_is_parley()) /* others may crash */
        CHECK_CLASS(MPI_Type_size(stale, &size), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_free(&predefined), MPI_ERR_TYPE);
    CHECK(predefined == MPI_INT, "the handle was changed");
    CHECK_OK(MPI_Type_size(MPI_REAL2, &size));
    if (size == MPI_UNDEFINED) {
        WRONG(MPI_Type_contiguous(2, MPI_REAL2, &t), MPI_ERR_TYPE, "MPI_REAL2 is not supported");
        WRONG(MPI_Type_create_struct(1, (int[]){ 1 }, (MPI_Aint[]){ 0 }, (MPI_Datatype[]){ MPI_REAL2 }, &t),
              MPI_ERR_TYPE, "MPI_REAL2 is not supported");
    }
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    check_subarray();
    check_darray();
    check_large();
    check_far_from_data();
    check_types();
    return test_end();
}
