/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Hints about windows (MPI 5.0 §12.2.1, §12.2.3, §12.2.7). All are kept and told; what they allow is that
 * locks are refused, and that segments of shared memory begin at pages. Keeping accumulate calls in order costs nothing
 * here. Values that are none are ignored. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "comm/comm.h"
#include "obj/info.h"
#include "rma/int_rma.h"

static const struct {
    const char *key;
    uint32_t bit;
    bool is_fixed; /* when the window is made */
} flags[] = {
    { "no_locks", WIN_NO_LOCKS, false },
    { "same_size", WIN_SAME_SIZE, true },
    { "same_disp_unit", WIN_SAME_DISP_UNIT, true },
    { "alloc_shared_noncontig", WIN_NONCONTIG, true },
};

static const struct {
    const char *word;
    uint8_t bit;
} orders[] = { { "rar", WIN_RAR }, { "raw", WIN_RAW }, { "war", WIN_WAR }, { "waw", WIN_WAW } };

/* False: the info does not have it. */
static bool find(struct info *info, const char *key, char value[MPI_MAX_INFO_VAL + 1])
{
    size_t length;
    int flag = 0;

    info_get(info, key, MPI_MAX_INFO_VAL + 1, value, &length, &flag);
    return flag;
}

/* "rar,waw" or "none"; -1: neither. */
static int read_ordering(const char *text)
{
    int bits = 0;

    if (!strcmp(text, "none"))
        return 0;
    while (*text) {
        size_t i = 0;

        while (i < ARRAY_LEN(orders) && strncmp(text, orders[i].word, 3))
            i++;
        if (i == ARRAY_LEN(orders) || (text[3] && text[3] != ','))
            return -1;
        bits |= orders[i].bit;
        text += text[3] ? 4 : 3;
    }
    return bits;
}

static void write_ordering(uint8_t bits, char *text, size_t size)
{
    size_t used = 0;

    snprintf(text, size, "none");
    for (size_t i = 0; i < ARRAY_LEN(orders); i++)
        if (bits & orders[i].bit)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "," : "", orders[i].word);
}

static void read_flags(struct win *win, struct info *info, bool is_first)
{
    char value[MPI_MAX_INFO_VAL + 1];

    for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
        if ((flags[i].is_fixed && !is_first) || !find(info, flags[i].key, value))
            continue;
        if (!strcmp(value, "true"))
            win->hints |= flags[i].bit;
        if (!strcmp(value, "false"))
            win->hints &= ~flags[i].bit;
    }
}

static void read_all(struct win *win, struct info *info, bool is_first)
{
    char value[MPI_MAX_INFO_VAL + 1];
    int bits;

    read_flags(win, info, is_first);
    if (find(info, "accumulate_ops", value) && !strcmp(value, "same_op"))
        win->hints |= WIN_SAME_OP;
    else if (find(info, "accumulate_ops", value) && !strcmp(value, "same_op_no_op"))
        win->hints &= ~(uint32_t)WIN_SAME_OP;
    if (find(info, "accumulate_ordering", value) && (bits = read_ordering(value)) >= 0)
        win->ordering = (uint8_t)bits;
    if (is_first && find(info, "mpi_accumulate_granularity", value) && strtol(value, NULL, 10) > 0)
        snprintf(win->granularity, sizeof win->granularity, "%ld", strtol(value, NULL, 10));
}

void win_first_info(struct win *win, struct info *info)
{
    win->ordering = WIN_RAR | WIN_RAW | WIN_WAR | WIN_WAW;
    snprintf(win->granularity, sizeof win->granularity, "0");
    if (info)
        read_all(win, info, true);
}

void win_set_info(struct win *win, struct info *info)
{
    read_all(win, info, false);
}

static int write_all(const struct win *win, struct info *info)
{
    char order[24];
    int rc = 0;

    write_ordering(win->ordering, order, sizeof order);
    for (size_t i = 0; i < ARRAY_LEN(flags) && !rc; i++)
        rc = info_set(info, flags[i].key, win->hints & flags[i].bit ? "true" : "false");
    if (!rc)
        rc = info_set(info, "accumulate_ordering", order);
    if (!rc)
        rc = info_set(info, "accumulate_ops", win->hints & WIN_SAME_OP ? "same_op" : "same_op_no_op");
    if (!rc)
        rc = info_set(info, "mpi_accumulate_granularity", win->granularity);
    return rc ? rc : info_set(info, "mpi_memory_alloc_kinds", comm_memory_kinds(win->comm));
}

int win_get_info(const struct win *win, struct info **out)
{
    int rc = info_create(out);

    if (!rc)
        rc = write_all(win, *out);
    if (rc) {
        info_unref(*out);
        *out = NULL;
    }
    return rc;
}
