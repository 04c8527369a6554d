/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: base. Numbers that C11 lacks: 128-bit integers, binary16 and binary128, real and complex.
 *
 * The names always exist, so that tables and kernels need no #if. Where the compiler has no such type they
 * stand for a narrower one and the HAS_ constant is 0: then nothing may be offered under that name. */
#ifndef BASE_WIDE_H
#define BASE_WIDE_H

#include <float.h>
#include <stdint.h>

#if defined(__SIZEOF_INT128__)
enum { HAS_INT128 = 1 };
__extension__ typedef __int128 wide_int;
__extension__ typedef unsigned __int128 wide_uint;
#else
enum { HAS_INT128 = 0 };
typedef int64_t wide_int;
typedef uint64_t wide_uint;
#endif

#if defined(__FLT16_MANT_DIG__)
enum { HAS_FLOAT16 = 1 };
__extension__ typedef _Float16 half_float;
__extension__ typedef _Complex _Float16 half_complex;
#else
enum { HAS_FLOAT16 = 0 };
typedef float half_float;
typedef _Complex float half_complex;
#endif

#if LDBL_MANT_DIG == 113
enum { HAS_FLOAT128 = 1 };
typedef long double wide_float;
typedef _Complex long double wide_complex;
#elif defined(__SIZEOF_FLOAT128__)
enum { HAS_FLOAT128 = 1 };
__extension__ typedef __float128 wide_float;
typedef _Complex float wide_complex __attribute__((mode(TC)));
#else
enum { HAS_FLOAT128 = 0 };
typedef long double wide_float;
typedef _Complex long double wide_complex;
#endif

/* Through such a type memory may be read and written whatever type it was written with. */
#define MAY_ALIAS __attribute__((may_alias))

#endif
