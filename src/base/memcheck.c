/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: base. Requests to valgrind; see memcheck.h. */
#include "base/memcheck.h"

#include "base/mem.h"

#if __has_include(<valgrind/memcheck.h>) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <valgrind/memcheck.h>
#else
#define RUNNING_ON_VALGRIND                          0
#define VALGRIND_CHECK_MEM_IS_ADDRESSABLE(p, len)    ((void)(p), (void)(len))
#define VALGRIND_GET_VBITS(p, saved, len)            ((void)(p), (void)(len), 0)
#define VALGRIND_SET_VBITS(p, saved, len)            ((void)(p), (void)(len))
#define VALGRIND_MAKE_MEM_NOACCESS(p, len)           ((void)(p), (void)(len))
#define VALGRIND_MAKE_MEM_DEFINED(p, len)            ((void)(p), (void)(len))
#endif

enum { VBITS_OK = 1 };

bool memcheck_is_on(void)
{
    return RUNNING_ON_VALGRIND;
}

void memcheck_written(const void *p, size_t len)
{
    VALGRIND_MAKE_MEM_DEFINED(p, len);
}

void *memcheck_hide(void *p, size_t len)
{
    void *saved;

    VALGRIND_CHECK_MEM_IS_ADDRESSABLE(p, len);
    saved = mem_alloc(len);
    if (!saved || VALGRIND_GET_VBITS(p, saved, len) != VBITS_OK) {
        mem_free(saved);
        return NULL;
    }
    VALGRIND_MAKE_MEM_NOACCESS(p, len);
    return saved;
}

void memcheck_show(void *p, size_t len, void *saved)
{
    VALGRIND_MAKE_MEM_DEFINED(p, len); /* so that the next one may write */
    VALGRIND_SET_VBITS(p, saved, len);
    mem_free(saved);
}
