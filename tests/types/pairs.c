/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.9.4: MPI_Type_get_value_index gives the pair with a name where there is one, else perhaps a predefined one
 * without a name, or the null handle. All of them may be used with MPI_MAXLOC and MPI_MINLOC, and nobody frees them. */
#include "mpitest.h"

#include <stddef.h>

enum { COUNT = 37 };

static MPI_Datatype pair_of(MPI_Datatype value, MPI_Datatype index)
{
    MPI_Datatype pair = MPI_BYTE;

    NEEDS(MPI_Type_get_value_index(value, index, &pair));
    return pair;
}

static void check_named(void)
{
#define NAMED(value, index, pair) CHECK(pair_of(value, index) == (pair), "%s and %s: not %s", #value, #index, #pair)
    NAMED(MPI_FLOAT, MPI_INT, MPI_FLOAT_INT);
    NAMED(MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT);
    NAMED(MPI_LONG, MPI_INT, MPI_LONG_INT);
    NAMED(MPI_INT, MPI_INT, MPI_2INT);
    NAMED(MPI_SHORT, MPI_INT, MPI_SHORT_INT);
    NAMED(MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT);
    NAMED(MPI_REAL, MPI_REAL, MPI_2REAL);
    NAMED(MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION);
    NAMED(MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER);
    NAMED(MPI_INT, MPI_DOUBLE, MPI_DATATYPE_NULL);
    NAMED(MPI_C_DOUBLE_COMPLEX, MPI_INT, MPI_DATATYPE_NULL);
    NAMED(MPI_CHAR, MPI_INT, MPI_DATATYPE_NULL);
    NAMED(MPI_DOUBLE_INT, MPI_INT, MPI_DATATYPE_NULL);
#undef NAMED
}

/* One that has no name: always the same handle, laid out as the struct in C, and what it was made from is told. */
static void check_unnamed(MPI_Datatype pair, MPI_Datatype value, MPI_Datatype index, MPI_Aint extent, int size)
{
    int ni, na, nt, combiner, found, len = -1;
    MPI_Datatype types[2], stays = pair;
    MPI_Aint lb, real, place;
    char name[MPI_MAX_OBJECT_NAME];

    CHECK(pair == pair_of(value, index), "another handle for the same question");
    CHECK_OK(MPI_Type_size(pair, &found));
    CHECK_INT(found, size);
    CHECK_OK(MPI_Type_get_extent(pair, &lb, &real));
    CHECK_INT(lb, 0);
    CHECK_INT(real, extent);
    CHECK_OK(MPI_Type_get_name(pair, name, &len));
    if (len)
        return; /* it has a name */
    CHECK_OK(MPI_Type_get_envelope(pair, &ni, &na, &nt, &combiner));
    CHECK_INT(combiner, MPI_COMBINER_VALUE_INDEX);
    CHECK_INT(ni + na, 0);
    CHECK_INT(nt, 2);
    CHECK_OK(MPI_Type_get_contents(pair, 0, 0, 2, &found, &place, types));
    CHECK(types[0] == value && types[1] == index, "other types than those asked for");
    CHECK_CLASS(MPI_Type_free(&stays), MPI_ERR_TYPE);
    CHECK(stays == pair, "the handle of a predefined type was changed");
    CHECK_CLASS(MPI_Reduce_local(&place, types, 1, pair, MPI_SUM), MPI_ERR_OP);
}

/* Values of rank r at i, with ties; the best of all ranks by hand, of equal values the smaller index. */
#define CHECK_PAIR(v_type, v_handle, i_type, i_handle) \
    do { \
        struct both { \
            v_type value; \
            i_type index; \
        } in[COUNT], best[COUNT], want[COUNT]; \
        const MPI_Datatype pair_ = pair_of(v_handle, i_handle); \
        int op_, i_, r_; \
        if (pair_ == MPI_DATATYPE_NULL) { \
            CHECK(!test_is_parley(), "there is no pair of %s and %s", #v_handle, #i_handle); \
            break; \
        } \
        check_unnamed(pair_, v_handle, i_handle, sizeof(struct both), \
                      (int)(sizeof(v_type) + sizeof(i_type))); \
        for (op_ = 0; op_ < 2; op_++) { \
            memset(want, 0, sizeof want); \
            for (r_ = 0; r_ < test_size; r_++) \
                for (i_ = 0; i_ < COUNT; i_++) { \
                    const v_type value_ = (v_type)((r_ * 7 + i_ * 5) % 4 + 100); \
                    const i_type at_ = (i_type)((r_ * 3 + i_) % 5 - 2); \
                    const int is_better_ = op_ ? value_ < want[i_].value : value_ > want[i_].value; \
                    if (r_ == test_rank) { \
                        in[i_].value = value_; \
                        in[i_].index = at_; \
                    } \
                    if (!r_ || is_better_ || (value_ == want[i_].value && at_ < want[i_].index)) { \
                        want[i_].value = value_; \
                        want[i_].index = at_; \
                    } \
                } \
            memset(best, 0, sizeof best); \
            CHECK_OK(MPI_Allreduce(in, best, COUNT, pair_, op_ ? MPI_MINLOC : MPI_MAXLOC, MPI_COMM_WORLD)); \
            for (i_ = 0; i_ < COUNT; i_++) \
                CHECK(best[i_].value == want[i_].value && best[i_].index == want[i_].index, \
                      "%s and %s, operator %d: item %d is %g at %lld, expected %g at %lld", #v_handle, #i_handle, \
                      op_, i_, (double)best[i_].value, (long long)best[i_].index, (double)want[i_].value, \
                      (long long)want[i_].index); \
        } \
    } while (0)

#define CHECK_VALUE(v_type, v_handle) \
    do { \
        CHECK_PAIR(v_type, v_handle, int, MPI_INT); \
        CHECK_PAIR(v_type, v_handle, long, MPI_LONG); \
        CHECK_PAIR(v_type, v_handle, MPI_Count, MPI_COUNT); \
        CHECK_PAIR(v_type, v_handle, int32_t, MPI_INTEGER4); \
    } while (0)

static void check_integers(void)
{
    CHECK_VALUE(signed char, MPI_SIGNED_CHAR);
    CHECK_VALUE(short, MPI_SHORT);
    CHECK_VALUE(int, MPI_INT);
    CHECK_VALUE(long, MPI_LONG);
    CHECK_VALUE(unsigned char, MPI_UNSIGNED_CHAR);
    CHECK_VALUE(unsigned short, MPI_UNSIGNED_SHORT);
    CHECK_VALUE(unsigned, MPI_UNSIGNED);
    CHECK_VALUE(unsigned long long, MPI_UNSIGNED_LONG_LONG);
    CHECK_VALUE(int64_t, MPI_INTEGER8);
    CHECK_VALUE(MPI_Aint, MPI_AINT);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    check_named();
    check_integers();
    CHECK_VALUE(float, MPI_FLOAT);
    CHECK_VALUE(double, MPI_DOUBLE);
    CHECK_VALUE(long double, MPI_LONG_DOUBLE);
    CHECK_VALUE(float, MPI_REAL4);
    return test_end();
}
