/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints: what means something is taken over, the rest is ignored, all are told. */
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "io/file_hints.h"

static struct info *info_of(const char *const (*pairs)[2], int count)
{
    struct info *info;

    CHECK_INT(info_create(&info), 0);
    for (int i = 0; i < count; i++)
        CHECK_INT(info_set(info, pairs[i][0], pairs[i][1]), 0);
    return info;
}

static void test_taken(void)
{
    static const char *const pairs[][2] = {
        { "cb_nodes", "3" }, { "cb_buffer_size", "1m" }, { "cb_block_size", "512" }, { "striping_unit", "65536" },
        { "striping_factor", "4" }, { "collective_buffering", "false" }, { "romio_cb_read", "enable" },
        { "access_style", "read_once,random" }, { "file_perm", "0640" }, { "unknown", "17" },
    };
    struct info *info = info_of(pairs, ARRAY_LEN(pairs));
    struct io_hints hints;

    io_hints_init(&hints, 8, 1);
    io_hints_read(&hints, info, 8);
    CHECK_INT(hints.aggregators, 3);
    CHECK_INT(hints.buffer, 1 << 20);
    CHECK_INT(hints.block, 512);
    CHECK_INT(hints.striping_unit, 65536);
    CHECK_INT(hints.striping_factor, 4);
    CHECK_INT(hints.writes, IO_COLLECTIVE_NEVER);
    CHECK_INT(hints.reads, IO_COLLECTIVE_ALWAYS);
    CHECK_INT(hints.permissions, 0640);
    CHECK(!strcmp(hints.access_style, "read_once,random"));
    info_unref(info);
}

static void test_ignored(void)
{
    static const char *const pairs[][2] = {
        { "cb_nodes", "0" }, { "cb_buffer_size", "12 bytes" }, { "cb_block_size", "-4" }, { "striping_unit", "" },
        { "striping_factor", "many" }, { "collective_buffering", "perhaps" }, { "file_perm", "99" },
        { "cb_nodes", "99999999999999999999" },
    };
    struct info *info = info_of(pairs, ARRAY_LEN(pairs));
    struct io_hints hints, before;

    memset(&hints, 0, sizeof hints);
    memset(&before, 0, sizeof before);
    io_hints_init(&before, 4, 1);
    io_hints_init(&hints, 4, 1);
    io_hints_read(&hints, info, 4);
    CHECK(hints.aggregators == before.aggregators && hints.buffer == before.buffer && hints.block == before.block);
    CHECK(hints.permissions == 0666 && hints.writes == IO_COLLECTIVE_AUTOMATIC && !hints.access_style[0]);
    io_hints_read(&hints, NULL, 4);
    CHECK_INT(hints.buffer, before.buffer);
    info_unref(info);
}

static int list(const char *text, const char *aggregators, struct io_hints *hints)
{
    const char *const pairs[][2] = { { "cb_config_list", text }, { "cb_nodes", aggregators } };
    struct info *info = info_of(pairs, aggregators ? 2 : 1);

    io_hints_init(hints, 12, 3);
    CHECK(hints->aggregators >= 3 && hints->machine_aggregators == 12);
    io_hints_read(hints, info, 12);
    info_unref(info);
    return hints->machine_aggregators;
}

/* At least one on each machine; another number of them. */
static void test_machines(void)
{
    char value[MPI_MAX_INFO_VAL + 1];
    struct io_hints hints;
    struct info *info;
    size_t length;
    int flag;

    CHECK(list("*:2", NULL, &hints) == 2 && hints.aggregators == 6);
    CHECK_INT(info_create(&info), 0);
    CHECK_INT(io_hints_tell(&hints, "name", 12, info), 0);
    CHECK_INT(info_get(info, "cb_config_list", sizeof value, value, &length, &flag), 0);
    CHECK(flag && !strcmp(value, "*:2"));
    info_unref(info);
    CHECK(list("*:2", "4", &hints) == 2 && hints.aggregators == 4);
    CHECK(list("*:50", NULL, &hints) == 12 && hints.aggregators == 12);
    CHECK_INT(list("*:*", NULL, &hints), 12);
    CHECK_INT(list("*", NULL, &hints), 12);
    CHECK_INT(list("*:0", NULL, &hints), 12);
    CHECK_INT(list("*2", NULL, &hints), 12);
    CHECK_INT(list("*:2x", NULL, &hints), 12);
    CHECK_INT(list("one:1,*:3", NULL, &hints), 12);
}

static void test_told(void)
{
    struct io_hints hints;
    char value[MPI_MAX_INFO_VAL + 1];
    struct info *info;
    size_t length;
    int flag, rc = 1;

    io_hints_init(&hints, 4, 1);
    CHECK_INT(info_create(&info), 0);
    CHECK_INT(io_hints_tell(&hints, "name", 4, info), 0);
    CHECK_INT(info_get(info, "filename", sizeof value, value, &length, &flag), 0);
    CHECK(flag && !strcmp(value, "name"));
    CHECK_INT(info_get(info, "collective_buffering", sizeof value, value, &length, &flag), 0);
    CHECK(flag && !strcmp(value, "true"));
    info_unref(info);
    for (int n = 0; rc; n++) {
        CHECK_INT(info_create(&info), 0);
        mem_fail_after(n);
        rc = io_hints_tell(&hints, "name", 4, info);
        mem_fail_after(-1);
        CHECK(!rc || err_class(rc) == MPI_ERR_NO_MEM);
        info_unref(info);
    }
}

int main(void)
{
    test_taken();
    test_ignored();
    test_machines();
    test_told();
    return 0;
}
