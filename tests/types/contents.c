/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §5.1.13: what a type was made from comes back as it was given, by both forms of the constructors and of the
 * queries; types among it are new references. §5.1.10, §7.8: copies and names. */
#include "mpitest.h"

enum { MOST = 32 };

struct contents {
    int combiner;
    MPI_Count n_ints, n_addresses, n_counts, n_types;
    int ints[MOST];
    MPI_Aint addresses[MOST];
    MPI_Count counts[MOST];
    MPI_Datatype types[MOST];
};

static struct contents ask(MPI_Datatype type, int is_large)
{
    struct contents c;
    int ni, na, nd, k = -1;

    memset(&c, 0, sizeof c);
    if (is_large) {
        CHECK_OK(MPI_Type_get_envelope_c(type, &c.n_ints, &c.n_addresses, &c.n_counts, &c.n_types, &k));
        CHECK_OK(MPI_Type_get_contents_c(type, MOST, MOST, MOST, MOST, c.ints, c.addresses, c.counts, c.types));
    } else {
        CHECK_OK(MPI_Type_get_envelope(type, &ni, &na, &nd, &k));
        c.n_ints = ni;
        c.n_addresses = na;
        c.n_types = nd;
        CHECK_OK(MPI_Type_get_contents(type, MOST, MOST, MOST, c.ints, c.addresses, c.types));
    }
    c.combiner = k;
    return c;
}

/* `want` has the numbers of each kind in order: ints, addresses, counts. */
static void check(const char *what, MPI_Datatype *type, int is_large, int combiner, const int numbers[4],
                  const MPI_Count *want, const MPI_Datatype *types)
{
    struct contents c = ask(*type, is_large);
    MPI_Count i;

    CHECK(c.combiner == combiner, "%s: expected combiner %d, got %d", what, combiner, c.combiner);
    CHECK(c.n_ints == numbers[0] && c.n_addresses == numbers[1] && c.n_counts == numbers[2] &&
              c.n_types == numbers[3],
          "%s: expected %d %d %d %d arguments, got %lld %lld %lld %lld", what, numbers[0], numbers[1], numbers[2],
          numbers[3], (long long)c.n_ints, (long long)c.n_addresses, (long long)c.n_counts, (long long)c.n_types);
    for (i = 0; i < c.n_ints; i++, want++)
        CHECK(c.ints[i] == *want, "%s: integer %d: expected %lld, got %d", what, (int)i, (long long)*want, c.ints[i]);
    for (i = 0; i < c.n_addresses; i++, want++)
        CHECK(c.addresses[i] == *want, "%s: address %d: expected %lld, got %lld", what, (int)i, (long long)*want,
              (long long)c.addresses[i]);
    for (i = 0; i < c.n_counts; i++, want++)
        CHECK(c.counts[i] == *want, "%s: count %d: expected %lld, got %lld", what, (int)i, (long long)*want,
              (long long)c.counts[i]);
    for (i = 0; i < c.n_types; i++)
        CHECK(c.types[i] == types[i], "%s: type %d is another", what, (int)i);
    if (!is_large && numbers[2] == 0) /* the large query of a small type is the same */
        check(what, &(MPI_Datatype){ *type }, 2, combiner, numbers, want - numbers[0] - numbers[1], types);
    if (is_large == 2)
        return;
    if (is_large && numbers[2]) {
        int n, k;
        CHECK_CLASS(MPI_Type_get_envelope(*type, &n, &n, &n, &k), MPI_ERR_TYPE);
        CHECK_CLASS(MPI_Type_get_contents(*type, MOST, MOST, MOST, c.ints, c.addresses, c.types), MPI_ERR_TYPE);
    }
    CHECK_OK(MPI_Type_free(type));
}

#define N(...) ((const int[4]){ __VA_ARGS__ })
#define W(...) ((const MPI_Count[]){ __VA_ARGS__ })

static const MPI_Datatype *one(MPI_Datatype type)
{
    static MPI_Datatype kept;

    kept = type;
    return &kept;
}

static void check_simple(void)
{
    MPI_Datatype t;

    CHECK_OK(MPI_Type_contiguous(7, MPI_SHORT, &t));
    check("contiguous", &t, 0, MPI_COMBINER_CONTIGUOUS, N(1, 0, 0, 1), W(7), one(MPI_SHORT));
    CHECK_OK(MPI_Type_contiguous_c(7, MPI_SHORT, &t));
    check("contiguous_c", &t, 1, MPI_COMBINER_CONTIGUOUS, N(0, 0, 1, 1), W(7), one(MPI_SHORT));
    CHECK_OK(MPI_Type_vector(2, 3, -4, MPI_INT, &t));
    check("vector", &t, 0, MPI_COMBINER_VECTOR, N(3, 0, 0, 1), W(2, 3, -4), one(MPI_INT));
    CHECK_OK(MPI_Type_vector_c(2, 3, -4, MPI_INT, &t));
    check("vector_c", &t, 1, MPI_COMBINER_VECTOR, N(0, 0, 3, 1), W(2, 3, -4), one(MPI_INT));
    CHECK_OK(MPI_Type_create_hvector(2, 3, -40, MPI_INT, &t));
    check("hvector", &t, 0, MPI_COMBINER_HVECTOR, N(2, 1, 0, 1), W(2, 3, -40), one(MPI_INT));
    CHECK_OK(MPI_Type_create_hvector_c(2, 3, -40, MPI_INT, &t));
    check("hvector_c", &t, 1, MPI_COMBINER_HVECTOR, N(0, 0, 3, 1), W(2, 3, -40), one(MPI_INT));
    CHECK_OK(MPI_Type_create_resized(MPI_DOUBLE_INT, -8, 64, &t));
    check("resized", &t, 0, MPI_COMBINER_RESIZED, N(0, 2, 0, 1), W(-8, 64), one(MPI_DOUBLE_INT));
    CHECK_OK(MPI_Type_create_resized_c(MPI_DOUBLE_INT, -8, 64, &t));
    check("resized_c", &t, 1, MPI_COMBINER_RESIZED, N(0, 0, 2, 1), W(-8, 64), one(MPI_DOUBLE_INT));
    CHECK_OK(MPI_Type_dup(MPI_CHAR, &t));
    check("dup", &t, 0, MPI_COMBINER_DUP, N(0, 0, 0, 1), W(0), one(MPI_CHAR));
}

static void check_blocks(void)
{
    static const int lengths[] = { 3, 0, 1 }, disps[] = { 5, -2, 0 };
    static const MPI_Count wide_lengths[] = { 3, 0, 1 }, wide_disps[] = { 5, -2, 0 };
    static const MPI_Aint places[] = { 5, -2, 0 };
    const MPI_Datatype types[] = { MPI_INT, MPI_CHAR, MPI_DOUBLE };
    MPI_Datatype t;

    CHECK_OK(MPI_Type_indexed(3, lengths, disps, MPI_INT, &t));
    check("indexed", &t, 0, MPI_COMBINER_INDEXED, N(7, 0, 0, 1), W(3, 3, 0, 1, 5, -2, 0), one(MPI_INT));
    CHECK_OK(MPI_Type_indexed_c(3, wide_lengths, wide_disps, MPI_INT, &t));
    check("indexed_c", &t, 1, MPI_COMBINER_INDEXED, N(0, 0, 7, 1), W(3, 3, 0, 1, 5, -2, 0), one(MPI_INT));
    CHECK_OK(MPI_Type_create_hindexed(3, lengths, places, MPI_INT, &t));
    check("hindexed", &t, 0, MPI_COMBINER_HINDEXED, N(4, 3, 0, 1), W(3, 3, 0, 1, 5, -2, 0), one(MPI_INT));
    CHECK_OK(MPI_Type_create_hindexed_c(3, wide_lengths, wide_disps, MPI_INT, &t));
    check("hindexed_c", &t, 1, MPI_COMBINER_HINDEXED, N(0, 0, 7, 1), W(3, 3, 0, 1, 5, -2, 0), one(MPI_INT));
    CHECK_OK(MPI_Type_create_indexed_block(3, 2, disps, MPI_INT, &t));
    check("indexed_block", &t, 0, MPI_COMBINER_INDEXED_BLOCK, N(5, 0, 0, 1), W(3, 2, 5, -2, 0), one(MPI_INT));
    CHECK_OK(MPI_Type_create_indexed_block_c(3, 2, wide_disps, MPI_INT, &t));
    check("indexed_block_c", &t, 1, MPI_COMBINER_INDEXED_BLOCK, N(0, 0, 5, 1), W(3, 2, 5, -2, 0), one(MPI_INT));
    CHECK_OK(MPI_Type_create_hindexed_block(3, 2, places, MPI_INT, &t));
    check("hindexed_block", &t, 0, MPI_COMBINER_HINDEXED_BLOCK, N(2, 3, 0, 1), W(3, 2, 5, -2, 0), one(MPI_INT));
    CHECK_OK(MPI_Type_create_hindexed_block_c(3, 2, wide_disps, MPI_INT, &t));
    check("hindexed_block_c", &t, 1, MPI_COMBINER_HINDEXED_BLOCK, N(0, 0, 5, 1), W(3, 2, 5, -2, 0), one(MPI_INT));
    CHECK_OK(MPI_Type_create_struct(3, lengths, places, types, &t));
    check("struct", &t, 0, MPI_COMBINER_STRUCT, N(4, 3, 0, 3), W(3, 3, 0, 1, 5, -2, 0), types);
    CHECK_OK(MPI_Type_create_struct_c(3, wide_lengths, wide_disps, types, &t));
    check("struct_c", &t, 1, MPI_COMBINER_STRUCT, N(0, 0, 7, 3), W(3, 3, 0, 1, 5, -2, 0), types);
}

static void check_arrays(void)
{
    static const int sizes[] = { 4, 6 }, subsizes[] = { 2, 3 }, starts[] = { 1, 2 };
    static const MPI_Count wide_sizes[] = { 4, 6 }, wide_subsizes[] = { 2, 3 }, wide_starts[] = { 1, 2 };
    static const int distribs[] = { MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE };
    static const int dargs[] = { 2, MPI_DISTRIBUTE_DFLT_DARG }, psizes[] = { 3, 1 };
    MPI_Datatype t;

    CHECK_OK(MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &t));
    check("subarray", &t, 0, MPI_COMBINER_SUBARRAY, N(8, 0, 0, 1), W(2, 4, 6, 2, 3, 1, 2, MPI_ORDER_C),
          one(MPI_INT));
    CHECK_OK(MPI_Type_create_subarray_c(2, wide_sizes, wide_subsizes, wide_starts, MPI_ORDER_FORTRAN, MPI_INT, &t));
    check("subarray_c", &t, 1, MPI_COMBINER_SUBARRAY, N(2, 0, 6, 1), W(2, MPI_ORDER_FORTRAN, 4, 6, 2, 3, 1, 2),
          one(MPI_INT));
    CHECK_OK(MPI_Type_create_darray(3, 1, 2, sizes, distribs, dargs, psizes, MPI_ORDER_C, MPI_INT, &t));
    check("darray", &t, 0, MPI_COMBINER_DARRAY, N(12, 0, 0, 1),
          W(3, 1, 2, 4, 6, distribs[0], distribs[1], dargs[0], dargs[1], 3, 1, MPI_ORDER_C), one(MPI_INT));
    CHECK_OK(MPI_Type_create_darray_c(3, 1, 2, wide_sizes, distribs, dargs, psizes, MPI_ORDER_C, MPI_INT, &t));
    check("darray_c", &t, 1, MPI_COMBINER_DARRAY, N(10, 0, 2, 1),
          W(3, 1, 2, distribs[0], distribs[1], dargs[0], dargs[1], 3, 1, MPI_ORDER_C, 4, 6), one(MPI_INT));
}

/* A derived type that comes back is a reference of its own: it lives on when all else is freed. */
static void check_references(void)
{
    MPI_Datatype inner, outer, got = MPI_DATATYPE_NULL;
    int ni, na, nd, k, n = 0, len = 0;
    char name[MPI_MAX_OBJECT_NAME];

    CHECK_OK(MPI_Type_vector(2, 1, 3, MPI_INT, &inner));
    CHECK_OK(MPI_Type_set_name(inner, "inner"));
    CHECK_OK(MPI_Type_contiguous(2, inner, &outer));
    CHECK_OK(MPI_Type_free(&inner));
    CHECK_OK(MPI_Type_get_contents(outer, 1, 0, 1, &n, NULL, &got));
    CHECK_INT(n, 2);
    CHECK_OK(MPI_Type_free(&outer));
    CHECK_OK(MPI_Type_get_name(got, name, &len));
    CHECK(strcmp(name, "inner") == 0, "expected \"inner\", got \"%s\"", name);
    CHECK_OK(MPI_Type_get_envelope(got, &ni, &na, &nd, &k));
    CHECK_INT(k, MPI_COMBINER_VECTOR);
    CHECK_OK(MPI_Type_free(&got));
    CHECK_CLASS(MPI_Type_get_contents(MPI_INT, 1, 0, 1, &n, NULL, &got), MPI_ERR_TYPE);
    CHECK_OK(MPI_Type_get_envelope(MPI_DOUBLE_INT, &ni, &na, &nd, &k));
    CHECK_INT(k, MPI_COMBINER_NAMED);
    CHECK_INT(ni + na + nd, 0);
}

/* Too little room is an error that says how much is needed. */
static void check_room(void)
{
    const int length = 1, disp = 3;
    int ints[3];
    MPI_Aint places[1];
    MPI_Datatype type, got;

    CHECK_OK(MPI_Type_indexed(1, &length, &disp, MPI_INT, &type));
    CHECK_CLASS(MPI_Type_get_contents(type, 2, 0, 1, ints, places, &got), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_get_contents(type, 3, 0, 0, ints, places, &got), MPI_ERR_ARG);
    CHECK_OK(MPI_Type_get_contents(type, 3, 0, 1, ints, places, &got));
    CHECK_OK(MPI_Type_free(&type));
}

/* Of no blocks the arrays may be NULL: what they would hold counts for nothing. */
static void check_no_blocks(void)
{
    MPI_Datatype type;

    CHECK_OK(MPI_Type_indexed(0, NULL, NULL, MPI_INT, &type));
    check("indexed, none", &type, 0, MPI_COMBINER_INDEXED, N(1, 0, 0, 1), W(0), one(MPI_INT));
    CHECK_OK(MPI_Type_create_hindexed(0, NULL, NULL, MPI_INT, &type));
    check("hindexed, none", &type, 0, MPI_COMBINER_HINDEXED, N(1, 0, 0, 1), W(0), one(MPI_INT));
    CHECK_OK(MPI_Type_create_indexed_block(0, 3, NULL, MPI_INT, &type));
    check("indexed_block, none", &type, 0, MPI_COMBINER_INDEXED_BLOCK, N(2, 0, 0, 1), W(0, 3), one(MPI_INT));
    CHECK_OK(MPI_Type_create_struct(0, NULL, NULL, NULL, &type));
    check("struct, none", &type, 0, MPI_COMBINER_STRUCT, N(1, 0, 0, 0), W(0), NULL);
    CHECK_OK(MPI_Type_indexed_c(0, NULL, NULL, MPI_INT, &type));
    check("large indexed, none", &type, 1, MPI_COMBINER_INDEXED, N(0, 0, 1, 1), W(0), one(MPI_INT));
}

/* A copy is committed if the original is, and has the same bounds; it does not have its name. */
static void check_dup(void)
{
    MPI_Datatype type, copy;
    MPI_Aint lb, extent;
    int at = 0, len = -1, out[4];
    char name[MPI_MAX_OBJECT_NAME];

    CHECK_OK(MPI_Type_create_resized(MPI_INT, -4, 12, &type));
    CHECK_OK(MPI_Type_dup(type, &copy));
    CHECK_CLASS(MPI_Pack(&len, 1, copy, out, sizeof out, &at, MPI_COMM_SELF), MPI_ERR_TYPE);
    CHECK_OK(MPI_Type_free(&copy));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Type_set_name(type, "original"));
    CHECK_OK(MPI_Type_dup(type, &copy));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_get_extent(copy, &lb, &extent));
    CHECK_INT(lb, -4);
    CHECK_INT(extent, 12);
    CHECK_OK(MPI_Pack(&len, 1, copy, out, sizeof out, &at, MPI_COMM_SELF));
    CHECK_OK(MPI_Type_get_name(copy, name, &len));
    CHECK_INT(len, 0);
    CHECK_OK(MPI_Type_free(&copy));
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    check_simple();
    check_blocks();
    check_arrays();
    check_references();
    check_room();
    check_dup();
    check_no_blocks();
    return test_end();
}
