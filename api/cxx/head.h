/* SPDX-License-Identifier: BSD-3-Clause */
/* The C++ bindings of MPI 2.2, removed by MPI 3.0: namespace MPI on top of the functions of mpi.h. For programs that
 * have them; new ones call the C functions. Nothing to link: all of it is here. mpi.h includes this header for C++ if
 * PARLEY_OLDER_NAMES is defined, as mpicxx does, unless one of MPI_NO_CPPBIND, MPICH_SKIP_MPICXX, OMPI_SKIP_MPICXX is.
 *
 * An error throws MPI::Exception where the object has MPI::ERRORS_THROW_EXCEPTIONS, and as ever is fatal by default;
 * with MPI::ERRORS_RETURN nobody is told. Blocking and thread safety are those of the C functions. C++98 is enough. */
#ifndef MPI_CXX_H
#define MPI_CXX_H

#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#pragma GCC system_header

/* stdio.h has macros of these names, as MPI::SEEK_SET has: from here on they are constants. */
#ifdef SEEK_SET
namespace parley_stdio {
static const int set = SEEK_SET, cur = SEEK_CUR, end = SEEK_END;
}
#undef SEEK_SET
#undef SEEK_CUR
#undef SEEK_END
static const int SEEK_SET = parley_stdio::set, SEEK_CUR = parley_stdio::cur, SEEK_END = parley_stdio::end;
#endif

namespace MPI {

typedef MPI_Aint Aint;
typedef MPI_Offset Offset;

class Exception {
public:
    explicit Exception(int errorcode) : code(errorcode), error_class(MPI_ERR_UNKNOWN)
    {
        int len = 0;
        text[0] = '\0';
        MPI_Error_class(code, &error_class);
        MPI_Error_string(code, text, &len);
    }
    virtual ~Exception() {}
    int Get_error_code() const { return code; }
    int Get_error_class() const { return error_class; }
    const char* Get_error_string() const { return text; }
private:
    int code, error_class;
    char text[MPI_MAX_ERROR_STRING];
};

namespace detail {

/* What has to be there until the end, since C does not say when it was used for the last time. */
struct Kept {
    Kept* next;
};

/* Variables that all files of a program have in common, without a library. */
template <class None>
struct Common {
    static __thread int thrown; /* error code that a throwing error handler of C has been told */
    static MPI_Errhandler throwers[3];
    static Kept* kept;
};
template <class None>
__thread int Common<None>::thrown;
template <class None>
MPI_Errhandler Common<None>::throwers[3];
template <class None>
Kept* Common<None>::kept;

template <class State>
inline State* keep(State* state)
{
    do
        state->next = Common<void>::kept;
    while (!__sync_bool_compare_and_swap(&Common<void>::kept, state->next, static_cast<Kept*>(state)));
    return state;
}

/* Throws here, not in the error handler: there it would go through functions of C. */
inline void check(int rc)
{
    if (rc != MPI_SUCCESS && rc == Common<void>::thrown) {
        Common<void>::thrown = MPI_SUCCESS;
        throw Exception(rc);
    }
}

/* What MPI::ERRORS_THROW_EXCEPTIONS is, which serves for communicators, windows and files. */
inline MPI_Errhandler throwing()
{
    return reinterpret_cast<MPI_Errhandler>(static_cast<intptr_t>(-1));
}

struct Flags;
struct Flags_out;

} // namespace detail
