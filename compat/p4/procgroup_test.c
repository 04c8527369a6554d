/* SPDX-License-Identifier: BSD-3-Clause */
/* Procgroup files: what a line says, what it may not say, which file is read, and how many processes a table has. */
#include <string.h>

#include "p4/forks.h"
#include "p4/int_start.h"

struct p4_options options;
static struct p4_procgroup pg;

void p4_error(const char *string, int value)
{
    p4_fail("%s: %d", string, value);
}

static void parse(const char *text)
{
    FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

    CHECK(file);
    procgroup_parse(file, "pg", &pg); /* a wrong one leaves the file open */
    fclose(file);
}

static void test_lines(void)
{
    parse("# a remark\n\n   \t \n  local 2 # two more\r\nhostA\t3   /full/path/prog login\nhostB 1 prog # alone\n"
          "hostC 1 p");
    CHECK_INT(pg.num_entries, 4);
    CHECK(!strcmp(pg.entries[0].host_name, "local") && !*pg.entries[0].slave_full_pathname);
    CHECK_INT(pg.entries[0].numslaves_in_group, 2);
    CHECK(!strcmp(pg.entries[1].slave_full_pathname, "/full/path/prog") && !strcmp(pg.entries[1].username, "login"));
    CHECK(!strcmp(pg.entries[2].slave_full_pathname, "prog") && !*pg.entries[2].username);
    CHECK(!strcmp(pg.entries[3].host_name, "hostC") && !strcmp(pg.entries[3].slave_full_pathname, "p"));
    CHECK_INT(procgroup_check(&pg, true), 1 + 2 + 3 + 1 + 1);
}

/* Both halves: what a line looks like, and what it asks for. */
static void refuse(const char *text, const char *why)
{
    CHECK_FAILS({ parse(text); procgroup_check(&pg, true); }, why);
}

static void test_wrong(void)
{
    static char text[70000];

    refuse("#\n", "E0603: pg: no line names a host");
    refuse("local\n", "E0603: pg:1: the number of processes is missing");
    refuse("\n\nlocal 1x\n", "E0603: pg:3: \"1x\" is no number");
    refuse("local 99999999999999999999\n", "is no number of processes");
    refuse("local 2000000000\n", "E0603: pg:1: with this line there are more than 1024");
    refuse("local -5\n", "E0603: pg:1: local has -1 processes");
    refuse("local 0\nh 0 p\n", "E0603: pg:2: h has 0 processes; a cluster has at least 1");
    refuse("local 0\nh 1\n", "E0603: pg:2: the program for h is missing");
    refuse("local 0\nh 1 p l more\n", "E0603: pg:2: \"more\" is one field too many");
    refuse("local 0\nh 1 p abcdefghij\n", "the login abcdefghij... is longer than 9 characters");
    memset(text, 'h', 64);
    strcpy(text + 64, " 1 p\n");
    refuse(text, "the host name hhhh");
    memset(text, ' ', 1100);
    strcpy(text + 1100, "local 0\n");
    refuse(text, "E0603: pg:1: the line is longer than 1022 characters");
    strcpy(text, "local 0\n");
    for (int i = 0; i < P4_MAX_PROCGROUP_ENTRIES; i++)
        strcat(text, "h 1 p\n");
    refuse(text, "E0603: pg:1025: there are more than 1024 lines");
}

static void test_table(void)
{
    struct p4_procgroup *own = p4_alloc_procgroup();

    CHECK_FAILS(procgroup_check(own, false), "the procgroup table has 0 entries");
    own->num_entries = P4_MAX_PROCGROUP_ENTRIES + 1;
    CHECK_FAILS(procgroup_check(own, false), "the procgroup table has 1025 entries");
    own->num_entries = 2;
    own->entries[1].numslaves_in_group = 1;
    CHECK_FAILS(procgroup_check(own, false), "entry 1 of the procgroup table: the program for  is missing");
    strcpy(own->entries[1].slave_full_pathname, "p");
    CHECK_INT(procgroup_check(own, false), 2);
    free(own);
}

static void test_find(void)
{
    char folder[] = "/tmp/p4_procgroup_XXXXXX";
    FILE *file;

    CHECK(mkdtemp(folder) && !chdir(folder));
    CHECK(!procgroup_find("prog") && !procgroup_find(NULL));
    file = fopen("procgroup", "w");
    CHECK(file && !fclose(file) && !strcmp(procgroup_find("prog"), "procgroup"));
    file = fopen("prog.pg", "w");
    CHECK(file && !fclose(file) && !strcmp(procgroup_find("prog"), "prog.pg"));
    options.procgroup = "none";
    CHECK(!strcmp(procgroup_find("prog"), "none") && procgroup_read("none", &pg) == -1 && errno == ENOENT);
    CHECK_FAILS(procgroup_read(".", &pg), "E0603: .: Is a directory");
    CHECK(!unlink("procgroup") && !unlink("prog.pg") && !chdir("/") && !rmdir(folder));
}

int main(void)
{
    test_lines();
    test_wrong();
    test_table();
    test_find();
    return 0;
}
