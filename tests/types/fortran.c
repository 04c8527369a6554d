/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §19.1.9: Fortran types by precision and range, which are predefined (the same values give the same
 * handle, and nobody frees it), and by class and size. */
#include "mpitest.h"

static void check_same(MPI_Datatype type, MPI_Datatype like, int combiner, int p, int r)
{
    int ints[2] = { 0 }, ni, na, nd, k, size, want;
    MPI_Aint place, external, external_want;
    MPI_Datatype none, stays = type;

    CHECK_OK(MPI_Type_size(type, &size));
    CHECK_OK(MPI_Type_size(like, &want));
    CHECK_INT(size, want);
    CHECK_OK(MPI_Pack_external_size("external32", 1, type, &external));
    CHECK_OK(MPI_Pack_external_size("external32", 1, like, &external_want));
    CHECK_INT(external, external_want);
    CHECK_OK(MPI_Type_get_envelope(type, &ni, &na, &nd, &k));
    CHECK_INT(k, combiner);
    CHECK_INT(ni, combiner == MPI_COMBINER_F90_INTEGER ? 1 : 2);
    CHECK_INT(na + nd, 0);
    CHECK_OK(MPI_Type_get_contents(type, 2, 1, 1, ints, &place, &none));
    CHECK_INT(ints[0], combiner == MPI_COMBINER_F90_INTEGER ? r : p);
    CHECK_INT(ints[ni - 1], r);
    CHECK_CLASS(MPI_Type_free(&stays), MPI_ERR_TYPE);
    CHECK(stays == type, "the handle of a predefined type was changed");
}

static void check_f90(void)
{
    static const struct {
        int p, r;
        MPI_Datatype real, complex;
    } reals[] = {
        { 6, 37, MPI_REAL4, MPI_COMPLEX8 },
        { 3, MPI_UNDEFINED, MPI_REAL4, MPI_COMPLEX8 },
        { MPI_UNDEFINED, 100, MPI_REAL8, MPI_COMPLEX16 },
        { 7, 37, MPI_REAL8, MPI_COMPLEX16 },
        { 15, 307, MPI_REAL8, MPI_COMPLEX16 },
    };
    static const struct {
        int r;
        MPI_Datatype type;
    } integers[] = { { 2, MPI_INTEGER1 }, { 3, MPI_INTEGER2 }, { 9, MPI_INTEGER4 }, { 10, MPI_INTEGER8 },
                     { 18, MPI_INTEGER8 } };
    MPI_Datatype type, again;
    MPI_Aint size;
    size_t i;

    for (i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        CHECK_OK(MPI_Type_create_f90_real(reals[i].p, reals[i].r, &type));
        check_same(type, reals[i].real, MPI_COMBINER_F90_REAL, reals[i].p, reals[i].r);
        CHECK_OK(MPI_Type_create_f90_real(reals[i].p, reals[i].r, &again));
        CHECK(type == again, "another handle for the same values");
        CHECK_OK(MPI_Type_create_f90_complex(reals[i].p, reals[i].r, &type));
        check_same(type, reals[i].complex, MPI_COMBINER_F90_COMPLEX, reals[i].p, reals[i].r);
    }
    for (i = 0; i < sizeof integers / sizeof integers[0]; i++) {
        CHECK_OK(MPI_Type_create_f90_integer(integers[i].r, &type));
        check_same(type, integers[i].type, MPI_COMBINER_F90_INTEGER, 0, integers[i].r);
        CHECK_OK(MPI_Type_create_f90_integer(integers[i].r, &again));
        CHECK(type == again, "another handle for the same value");
    }
    CHECK_OK(MPI_Type_create_f90_real(18, 4000, &type)); /* in external32: 16 bytes */
    CHECK_OK(MPI_Pack_external_size("external32", 1, type, &size));
    CHECK_INT(size, 16);
    CHECK_CLASS(MPI_Type_create_f90_real(40, 10, &type), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &type), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_create_f90_complex(6, 5000, &type), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_create_f90_integer(39, &type), MPI_ERR_ARG);
}

/* They communicate with what they are like, and are reduced as such. */
static void check_use(void)
{
    double out = 1.5, in = 0;
    MPI_Datatype type;

    CHECK_OK(MPI_Type_create_f90_real(12, 200, &type));
    CHECK_OK(MPI_Sendrecv(&out, 1, type, 0, 1, &in, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK(in == 1.5, "expected 1.5, got %g", in);
    CHECK_OK(MPI_Allreduce(&out, &in, 1, type, MPI_SUM, MPI_COMM_WORLD));
    CHECK(in == 1.5 * test_size, "expected %g, got %g", 1.5 * test_size, in);
}

/* Every size of every class: the type of that size if the library has it, else an error. */
static void check_match_size(void)
{
    static const struct {
        int type_class, size;
        const char *name;
        MPI_Datatype type;
    } known[] = {
#define KNOWN(class, size, type) { MPI_TYPECLASS_##class, size, #type, type }
        KNOWN(REAL, 4, MPI_REAL4),         KNOWN(REAL, 8, MPI_REAL8),
        KNOWN(COMPLEX, 8, MPI_COMPLEX8),   KNOWN(COMPLEX, 16, MPI_COMPLEX16),
        KNOWN(INTEGER, 1, MPI_INTEGER1),   KNOWN(INTEGER, 2, MPI_INTEGER2),
        KNOWN(INTEGER, 4, MPI_INTEGER4),   KNOWN(INTEGER, 8, MPI_INTEGER8),
#if MPI_VERSION >= 5
        KNOWN(REAL, 2, MPI_REAL2),         KNOWN(REAL, 16, MPI_REAL16),
        KNOWN(COMPLEX, 4, MPI_COMPLEX4),   KNOWN(COMPLEX, 32, MPI_COMPLEX32),
        KNOWN(INTEGER, 16, MPI_INTEGER16),
#endif
#undef KNOWN
    };
    const int classes[] = { MPI_TYPECLASS_REAL, MPI_TYPECLASS_COMPLEX, MPI_TYPECLASS_INTEGER };
    int i, k, n, size;
    MPI_Datatype type, want;

    for (i = 0; i < 3; i++)
        for (size = -1; size <= 40; size++) {
            want = MPI_DATATYPE_NULL;
            for (k = 0; k < (int)(sizeof known / sizeof known[0]); k++) {
                if (known[k].type_class != classes[i] || known[k].size != size)
                    continue;
                CHECK_OK(MPI_Type_size(known[k].type, &n));
                if (n == size)
                    want = known[k].type;
            }
            if (want == MPI_DATATYPE_NULL) {
                CHECK_CLASS(MPI_Type_match_size(classes[i], size, &type), MPI_ERR_ARG);
                continue;
            }
            CHECK_OK(MPI_Type_match_size(classes[i], size, &type));
            CHECK(type == want || !test_is_parley(), "class %d, %d bytes: not the type of that size", classes[i], size);
            CHECK_OK(MPI_Type_size(type, &n));
            CHECK_INT(n, size);
        }
    CHECK_CLASS(MPI_Type_match_size(99, 8, &type), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    check_f90();
    check_use();
    check_match_size();
    return test_end();
}
