/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. MPI_Alloc_mem and MPI_Free_mem (MPI 5.0 §9.2): on one machine the system's memory is as good as any. Much
 * of it is asked for in huge pages, since for copies between processes the system counts users page by page.
 * Knows: base, infos. */
#include "obj/user_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/mem.h"
#include "obj/info.h"

enum { ALIGN_MAX = 1 << 30, HUGE_PAGE = 2 << 20, HUGE_MIN = 2 * HUGE_PAGE };

int user_memory_alignment(struct info *info, size_t *align)
{
    char value[32], *end;
    size_t length;
    long wanted;
    int flag = 0, rc;

    if (!info)
        return 0;
    rc = info_get(info, "mpi_minimum_memory_alignment", sizeof value, value, &length, &flag);
    if (rc || !flag)
        return rc;
    wanted = strtol(value, &end, 10);
    if (end == value || *end || wanted < 1 || wanted > ALIGN_MAX || wanted & (wanted - 1))
        return err(MPI_ERR_INFO_VALUE, "mpi_minimum_memory_alignment is \"%s\"; a power of two up to %d is wanted",
                   value, ALIGN_MAX);
    if ((size_t)wanted > *align)
        *align = (size_t)wanted;
    return 0;
}

/* In whole pages of HUGE_PAGE, which the system need not have. NULL: not even memory. */
static void *alloc_huge(size_t align, size_t size)
{
    void *base = mem_alloc_aligned(align > HUGE_PAGE ? align : HUGE_PAGE, size);

    if (base)
        (void)madvise(base, size / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
    return base;
}

int user_memory_alloc(MPI_Aint size, struct info *info, void *base_out)
{
    size_t align = CACHE_LINE;
    void *base = NULL;
    const int rc = user_memory_alignment(info, &align);

    if (rc)
        return rc;
    if (size >= HUGE_MIN)
        base = alloc_huge(align, (size_t)size);
    if (!base)
        base = mem_alloc_aligned(align, size > 0 ? (size_t)size : 1);
    if (!base)
        return err(MPI_ERR_NO_MEM, "no memory for %lld bytes", (long long)size);
    memcpy(base_out, &base, sizeof base);
    return 0;
}

void user_memory_free(void *base)
{
    mem_free(base);
}
