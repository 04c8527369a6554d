/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §5.1.6 to §5.1.8: bounds, extents and true extents of derived types; bounds that were set go on in types
 * made of such; without them the extent is rounded up to the alignment of what is inside. Sizes that an int cannot
 * hold are MPI_UNDEFINED (§5.1.5), other results in their _c and _x forms. */
#include "mpitest.h"

/* Bounds, and size if it is not negative. Frees the type. */
static void check(const char *what, MPI_Datatype type, MPI_Count size, MPI_Count lb, MPI_Count extent,
                  MPI_Count true_lb, MPI_Count true_extent)
{
    MPI_Aint small_lb = 1, small_extent = 1;
    MPI_Count got = -1, got_lb = 1, got_extent = 1;
    int small = -1;

    CHECK_OK(MPI_Type_get_extent_c(type, &got_lb, &got_extent));
    CHECK(got_lb == lb && got_extent == extent, "%s: expected lb %lld and extent %lld, got %lld and %lld", what,
          (long long)lb, (long long)extent, (long long)got_lb, (long long)got_extent);
    CHECK_OK(MPI_Type_get_extent(type, &small_lb, &small_extent));
    CHECK(small_lb == lb && small_extent == extent, "%s: the small form differs", what);
    CHECK_OK(MPI_Type_get_extent_x(type, &got_lb, &got_extent));
    CHECK(got_lb == lb && got_extent == extent, "%s: the _x form differs", what);
    CHECK_OK(MPI_Type_get_true_extent_c(type, &got_lb, &got_extent));
    CHECK(got_lb == true_lb && got_extent == true_extent,
          "%s: expected true lb %lld and extent %lld, got %lld and %lld", what, (long long)true_lb,
          (long long)true_extent, (long long)got_lb, (long long)got_extent);
    CHECK_OK(MPI_Type_get_true_extent(type, &small_lb, &small_extent));
    CHECK(small_lb == true_lb && small_extent == true_extent, "%s: the small form differs", what);
    CHECK_OK(MPI_Type_get_true_extent_x(type, &got_lb, &got_extent));
    CHECK(got_lb == true_lb && got_extent == true_extent, "%s: the _x form differs", what);
    CHECK_OK(MPI_Type_size_c(type, &got));
    CHECK(got == size, "%s: expected size %lld, got %lld", what, (long long)size, (long long)got);
    CHECK_OK(MPI_Type_size_x(type, &got));
    CHECK(got == size, "%s: expected size %lld, got %lld", what, (long long)size, (long long)got);
    CHECK_OK(MPI_Type_size(type, &small));
    CHECK_INT(small, size <= 2147483647 ? size : MPI_UNDEFINED);
    CHECK_OK(MPI_Type_free(&type));
}

static MPI_Datatype make_struct(int n, const MPI_Aint *disps, const MPI_Datatype *types)
{
    static const int ones[] = { 1, 1, 1, 1 };
    MPI_Datatype type;

    CHECK_OK(MPI_Type_create_struct(n, ones, disps, types, &type));
    return type;
}

static void check_padding(void)
{
    MPI_Datatype t, u;

    t = make_struct(2, (MPI_Aint[]){ 0, 8 }, (MPI_Datatype[]){ MPI_DOUBLE, MPI_CHAR });
    CHECK_OK(MPI_Type_contiguous(3, t, &u));
    check("struct of double and char", t, 9, 0, 16, 0, 9);
    check("three of them", u, 27, 0, 48, 0, 41);
    check("chars need no padding",
          make_struct(2, (MPI_Aint[]){ 3, 9 }, (MPI_Datatype[]){ MPI_CHAR, MPI_CHAR }), 2, 3, 7, 3, 7);
    check("a pair inside", make_struct(2, (MPI_Aint[]){ 0, 16 }, (MPI_Datatype[]){ MPI_DOUBLE_INT, MPI_SHORT }), 14, 0,
          24, 0, 18);
    CHECK_OK(MPI_Type_vector(2, 1, -3, MPI_INT, &t));
    check("vector backwards", t, 8, -12, 16, -12, 16);
}

static void check_set(void)
{
    MPI_Datatype inner, t;

    CHECK_OK(MPI_Type_create_resized(MPI_INT, -4, 40, &inner));
    CHECK_OK(MPI_Type_contiguous(2, inner, &t));
    check("two of lb -4 and extent 40", t, 8, -4, 80, 0, 44);
    check("with data outside of the bounds",
          make_struct(3, (MPI_Aint[]){ 0, 100, -60 }, (MPI_Datatype[]){ inner, MPI_DOUBLE, MPI_CHAR }), 13, -4, 40, -60,
          168);
    check("with two bounds", make_struct(2, (MPI_Aint[]){ 8, 60 }, (MPI_Datatype[]){ inner, inner }), 8, 4, 92, 8, 56);
    CHECK_OK(MPI_Type_vector(3, 2, -2, inner, &t));
    check("vector of them, backwards", t, 24, -164, 240, -160, 204);
    CHECK_OK(MPI_Type_create_resized(inner, 0, -8, &t));
    CHECK_OK(MPI_Type_free(&inner));
    check("negative extent", t, 4, 0, -8, 0, 4);
    CHECK_OK(MPI_Type_create_resized(MPI_DOUBLE, 0, -8, &inner));
    CHECK_OK(MPI_Type_contiguous(3, inner, &t));
    CHECK_OK(MPI_Type_free(&inner));
    check("three of negative extent", t, 24, -16, 8, -16, 24);
}

static void check_empty(void)
{
    MPI_Datatype nothing, t;
    const int zero = 0;

    CHECK_OK(MPI_Type_contiguous(0, MPI_INT, &nothing));
    check("nothing beside an int", make_struct(2, (MPI_Aint[]){ 400, 8 }, (MPI_Datatype[]){ nothing, MPI_INT }), 4, 8,
          4, 8, 4);
    check("nothing", nothing, 0, 0, 0, 0, 0);
    CHECK_OK(MPI_Type_indexed(1, &zero, (int[]){ 17 }, MPI_INT, &t));
    check("a block of nothing", t, 0, 0, 0, 0, 0);
    CHECK_OK(MPI_Type_indexed(0, NULL, NULL, MPI_INT, &t));
    check("no block", t, 0, 0, 0, 0, 0);
    CHECK_OK(MPI_Type_create_struct(0, NULL, NULL, NULL, &t));
    check("empty struct", t, 0, 0, 0, 0, 0);
    CHECK_OK(MPI_Type_contiguous(0, MPI_INT, &nothing));
    CHECK_OK(MPI_Type_create_resized(nothing, -8, 24, &t));
    CHECK_OK(MPI_Type_free(&nothing));
    check("bounds round nothing", t, 0, -8, 24, 0, 0);
}

static void check_arrays(void)
{
    MPI_Datatype t, old;

    CHECK_OK(MPI_Type_create_subarray(2, (int[]){ 4, 5 }, (int[]){ 2, 3 }, (int[]){ 1, 2 }, MPI_ORDER_C, MPI_INT, &t));
    check("subarray in C's order", t, 24, 0, 80, 28, 32);
    CHECK_OK(MPI_Type_create_subarray(2, (int[]){ 4, 5 }, (int[]){ 2, 3 }, (int[]){ 1, 2 }, MPI_ORDER_FORTRAN, MPI_INT,
                                      &t));
    check("subarray in Fortran's order", t, 24, 0, 80, 36, 40);
    CHECK_OK(MPI_Type_create_resized(MPI_SHORT, 0, 10, &old));
    CHECK_OK(MPI_Type_create_subarray(1, (int[]){ 7 }, (int[]){ 2 }, (int[]){ 3 }, MPI_ORDER_C, old, &t));
    CHECK_OK(MPI_Type_free(&old));
    check("subarray of a type with gaps", t, 4, 0, 70, 30, 12);
    CHECK_OK(MPI_Type_create_darray(4, 3, 1, (int[]){ 9 }, (int[]){ MPI_DISTRIBUTE_BLOCK },
                                    (int[]){ MPI_DISTRIBUTE_DFLT_DARG }, (int[]){ 4 }, MPI_ORDER_C, MPI_INT, &t));
    check("a process that owns nothing", t, 0, 0, 36, 0, 0);
}

static void check_large(void)
{
    const MPI_Count many = (MPI_Count)3 << 30, far = (MPI_Count)1 << 60;
    MPI_Datatype t, u;

    CHECK_OK(MPI_Type_contiguous_c(many, MPI_DOUBLE, &t));
    CHECK_OK(MPI_Type_vector_c(3, 1, 3, t, &u));
    check("3 Gi doubles", t, 8 * many, 0, 8 * many, 0, 8 * many);
    check("3 of them, apart", u, 24 * many, 0, 56 * many, 0, 56 * many);
    CHECK_OK(MPI_Type_create_hindexed_block_c(2, 1, (MPI_Count[]){ -far, far }, MPI_CHAR, &t));
    check("two bytes far apart", t, 2, -far, 2 * far + 1, -far, 2 * far + 1);
    CHECK_OK(MPI_Type_create_subarray_c(2, (MPI_Count[]){ many, many / 8 }, (MPI_Count[]){ many / 2, 1 },
                                        (MPI_Count[]){ many / 2, 0 }, MPI_ORDER_C, MPI_CHAR, &t));
    check("half a column", t, many / 2, 0, many * (many / 8), many / 2 * (many / 8),
          (many / 2 - 1) * (many / 8) + 1);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    check_padding();
    check_set();
    check_empty();
    check_arrays();
    check_large();
    return test_end();
}
