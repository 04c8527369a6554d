/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of mpiexec's command line: what it makes of good ones, and that bad ones are refused with their
 * value. */
#include "options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "doctor.h"
#include "launch.h"

enum { MAX_WORDS = 64 };

static jmp_buf dead;
static char last_text[4096];
static int last_code;

/* What mpiexec.c gives to the other files; here a mistake comes back to the test. */
void die(int exit_code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(last_text, sizeof last_text, format, args);
    va_end(args);
    last_code = exit_code;
    longjmp(dead, 1);
}

void *need(size_t size)
{
    return mem_zalloc(size);
}

void *need_more(void *old, size_t size)
{
    return mem_realloc(old, size);
}

void strings_add(struct strings *strings, char *text)
{
    strings->at = mem_realloc(strings->at, (strings->count + 2) * sizeof *strings->at);
    strings->at[strings->count++] = text;
    strings->at[strings->count] = NULL;
}

int bind_ranks(const struct binding *binding)
{
    return binding->map == BIND_MAP_PER ? binding->map_count * 2 : 1;
}

int doctor_run(void)
{
    return 0;
}

/* Read a command line written as one string; false: it was refused, see last_text. */
static bool parse(struct options *options, const char *line)
{
    struct strings words = { 0 };

    strings_add(&words, "mpiexec");
    options_split(mem_strdup(line), &words);
    last_code = 0;
    if (setjmp(dead))
        return false;
    options_read(options, words.at);
    return true;
}

static void test_simple(void)
{
    struct options o;

    CHECK(parse(&o, "-n 4 ./a.out x -n 3"));
    CHECK_INT(o.app_count, 1);
    CHECK_INT(o.apps[0].ranks, 4);
    CHECK_INT(o.apps[0].argv.count, 4);
    CHECK(!strcmp(o.apps[0].argv.at[2], "-n")); /* behind the program everything is the program's */
    CHECK(!o.label && o.time_limit == 0 && o.grace == 10);
    CHECK(parse(&o, "a"));
    CHECK_INT(o.apps[0].ranks, 1);
    CHECK(parse(&o, "--np=7 -- -n"));
    CHECK_INT(o.apps[0].ranks, 7);
    CHECK(!strcmp(o.apps[0].argv.at[0], "-n"));
    CHECK(parse(&o, "-ppn 3 a") && o.apps[0].ranks == 3);
    CHECK(parse(&o, "-ppn 3 -n 2 a") && o.apps[0].ranks == 2);
}

static void test_blocks(void)
{
    struct options o;

    CHECK(parse(&o, "-n 2 -wdir /tmp -env A 1 -x B=2 -x C a b : -np 3 -path /x:/y --wd / c : d"));
    CHECK_INT(o.app_count, 3);
    CHECK_INT(o.apps[0].argv.count, 2);
    CHECK_INT(o.apps[0].set.count, 2);
    CHECK(!strcmp(o.apps[0].set.at[0], "A=1") && !strcmp(o.apps[0].set.at[1], "B=2"));
    CHECK(!strcmp(o.apps[0].wdir, "/tmp") && !o.apps[0].path);
    CHECK_INT(o.apps[1].ranks, 3);
    CHECK(!strcmp(o.apps[1].path, "/x:/y") && !strcmp(o.apps[1].wdir, "/"));
    CHECK_INT(o.apps[2].ranks, 1);
}

static void test_job_options(void)
{
    struct options o;

    CHECK(parse(&o, "-l -q --timeout 2.5 -genv A '1 2' -grace=3 --initial-errhandler mpi_errors_return a"));
    CHECK(o.label && o.quiet && o.time_limit == 2.5 && o.grace == 3);
    CHECK_INT(o.errhandler, JOB_ERRORS_RETURN);
    CHECK(!strcmp(o.set.at[0], "A=1 2"));
    CHECK(parse(
        &o,
        "--tag-output --oversubscribe --allow-run-as-root --bind-to core --map-by slot:PE=2 --mca btl self "
        "--mca pml ob1 -host localhost:4,127.0.0.1 -soft 1:4 -arch x86 -n 1 a"));
    CHECK(o.label);
    CHECK_INT(o.apps[0].argv.count, 1);
    setenv("MPIEXEC_TIMEOUT", "30", 1);
    CHECK(parse(&o, "a") && o.time_limit == 30);
    CHECK(parse(&o, "-timeout 0 a") && o.time_limit == 0);
    unsetenv("MPIEXEC_TIMEOUT");
}

static void test_config_file(void)
{
    char path[] = "/tmp/parley-options-XXXXXX", line[256];
    struct options o;
    FILE *file = fdopen(mkstemp(path), "w");

    CHECK(file);
    fputs("# two programs\n-n 2 a 'b c' \\\n  d\n\n  -n 3 -wdir / e : -n 1 f\n", file);
    fclose(file);
    snprintf(line, sizeof line, "-configfile %s -l", path);
    CHECK(parse(&o, line));
    CHECK_INT(o.app_count, 3);
    CHECK(o.label);
    CHECK_INT(o.apps[0].argv.count, 3);
    CHECK(!strcmp(o.apps[0].argv.at[1], "b c"));
    CHECK_INT(o.apps[1].ranks, 3);
    CHECK(!strcmp(o.apps[2].argv.at[0], "f"));
    snprintf(line, sizeof line, "-configfile %s g", path);
    CHECK(!parse(&o, line) && strstr(last_text, "'g'"));
    remove(path);
    CHECK(!parse(&o, line) && strstr(last_text, path));
}

static void test_split(void)
{
    struct strings words = { 0 };

    options_split(mem_strdup("  a 'b \"c' \"d 'e\\\"\" f\\ g ''# h # comment"), &words);
    CHECK_INT(words.count, 6);
    CHECK(!strcmp(words.at[1], "b \"c") && !strcmp(words.at[2], "d 'e\"") && !strcmp(words.at[3], "f g"));
    CHECK(!strcmp(words.at[4], "#") && !strcmp(words.at[5], "h"));
}

static void test_mistakes(void)
{
    static const struct {
        const char *line, *text;
    } bad[] = {
        { "", "no program" },
        { "-n 2", "no program" },
        { "-n 2 a :", "between colons" },
        { "-n 0 a", "-n 0" },
        { "-n -3 a", "-n -3" },
        { "-n 2.5 a", "2.5" },
        { "-n x a", "-n x" },
        { "-n 99999999999 a", "99999999999" },
        { "-n", "-n needs N" },
        { "-env A", "NAME VALUE" },
        { "-env =A 1 a", "=A" },
        { "-x =1 a", "=1" },
        { "-frob a", "-frob" },
        { "--label=3 a", "takes no value" },
        { "-timeout -1 a", "-timeout -1" },
        { "-timeout nan a", "-timeout nan" },
        { "-host node7 a", "node7" },
        { "-hosts localhost,node7:2 a", "node7:2" },
        { "-f /nonexistent a", "/nonexistent" },
        { "-initial-errhandler maybe a", "maybe" },
        { "-configfile /dev/null", "nothing is in it" },
    };
    struct options o;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        const bool is_taken = parse(&o, bad[i].line);
        if (is_taken || !strstr(last_text, bad[i].text) || last_code != EXIT_USAGE)
            printf("line '%s': %s\n", bad[i].line, is_taken ? "accepted" : last_text);
        CHECK(!is_taken && strstr(last_text, bad[i].text));
        CHECK_INT(last_code, EXIT_USAGE);
    }
}

int main(void)
{
    test_simple();
    test_blocks();
    test_job_options();
    test_config_file();
    test_split();
    test_mistakes();
    return 0;
}
