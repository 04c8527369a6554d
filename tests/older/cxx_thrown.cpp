/* SPDX-License-Identifier: BSD-3-Clause */
/* An exception of the C++ bindings that nobody catches ends the job, and so does an error without a handler. With the
 * argument "many": more operators than there is room for. */
#include "cxx_test.h"

#include <cstring>

template <int n>
static void nothing(const void *, void *, int, const MPI::Datatype &)
{
    static volatile int is_its_own = n; /* else they would be one function */
    (void)is_its_own;
}

template <int n>
static void make()
{
    MPI::Op op;

    op.Init(nothing<n>, true);
    op.Free();
    make<n - 1>();
}
template <>
void make<0>()
{
}

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    if (argc > 1 && !std::strcmp(argv[1], "many"))
        make<65>();
    if (argc > 1 && !std::strcmp(argv[1], "thrown"))
        MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    MPI::COMM_WORLD.Send(0, 0, MPI::INT, -5, 0);
    MPI::Finalize();
}
