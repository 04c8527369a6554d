/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of mpiexec's command line: what it makes of good ones, and that bad ones are refused with their
 * value. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/check.h"
#define ALONE_DIES
#include "alone.h"
#include "doctor.h"
#include "names.h"
#include "reach.h"

enum { MAX_WORDS = 64 };

/* What reach.c would do. */
void reach_answer(char *words)
{
    die(EXIT_USAGE, "reach %s", words);
    abort();
}

/* What names_there.c would do. */
void names_answer(char *words)
{
    die(EXIT_USAGE, "names %s", words);
    abort();
}

/* What ask.c would do. */
void ask_report(int pid)
{
    die(1000 + pid, "asked");
    abort();
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

int doctor_run(const struct options *options)
{
    die(options->hosts.count, "doctor");
    return 0;
}

/* Read a command line written as one string; false: it was refused, see last_text. */
static bool parse(struct options *options, const char *line)
{
    struct strings words = { 0 };

    last_code = 0;
    if (setjmp(dead))
        return false;
    strings_add(&words, "mpiexec");
    options_split(mem_strdup(line), &words);
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
    fputs("# three programs\n-n 2 a 'b c' \\\n  d\n\n  -n 3 -wdir / e : -n 1 f\n # g\n-n 1 h #i\n", file);
    fclose(file);
    snprintf(line, sizeof line, "-configfile %s -l", path);
    CHECK(parse(&o, line));
    CHECK_INT(o.app_count, 3);
    CHECK(o.label);
    CHECK_INT(o.apps[0].argv.count, 3);
    CHECK(!strcmp(o.apps[0].argv.at[1], "b c"));
    CHECK_INT(o.apps[1].ranks, 3);
    CHECK_INT(o.apps[1].argv.count, 5); /* a colon is an argument in a file */
    CHECK(!strcmp(o.apps[2].argv.at[1], "#i"));
    snprintf(line, sizeof line, "-configfile %s g", path);
    CHECK(!parse(&o, line) && strstr(last_text, "'g'"));
    remove(path);
    CHECK(!parse(&o, line) && strstr(last_text, path));
}

static void test_split(void)
{
    struct strings words = { 0 };

    options_split(mem_strdup("  # comment a b"), &words);
    CHECK_INT(words.count, 0);
    options_split(mem_strdup("  a 'b \"c' \"d 'e\\\"\" f\\ g ''# h # i"), &words);
    CHECK_INT(words.count, 8);
    CHECK(!strcmp(words.at[1], "b \"c") && !strcmp(words.at[2], "d 'e\"") && !strcmp(words.at[3], "f g"));
    CHECK(!strcmp(words.at[4], "#") && !strcmp(words.at[5], "h"));
}

/* How many ranks a command line asks for; 0: it is refused. */
static int ranks(const char *line)
{
    struct options o;

    return parse(&o, line) ? o.apps[0].ranks : 0;
}

static void test_counts(void)
{
    CHECK_INT(ranks("-n4 a"), 4);
    CHECK_INT(ranks("--ntasks=4 -N 2 a"), 4);
    CHECK_INT(ranks("-N 2 a"), 2);
    CHECK_INT(ranks("-N2 --ntasks-per-node=3 a"), 6);
    CHECK_INT(ranks("--nodes=1-4 -ppn 3 a"), 3);
    CHECK_INT(ranks("-c 3 a"), 3);
    CHECK_INT(ranks("-c 3 -n 2 a"), 2);
    CHECK_INT(ranks("-n 2 -c 3 a"), 2);
    CHECK_INT(ranks("-pernode a"), 1);
    CHECK_INT(ranks("--map-by ppr:3:node:PE=2 a"), 3);
    CHECK_INT(ranks("--map-by ppr:3:socket:PE=2 a"), 6); /* as bind_ranks above has it */
    CHECK_INT(ranks("-host localhost:3,localhost a"), 4);
    CHECK_INT(ranks("-n 2 -host localhost:3 a"), 2);
    CHECK_INT(ranks("-host localhost:3 -N 2 a"), 2);
}

static void test_requests(void)
{
    struct options o;

    CHECK(parse(&o, "-pset a -soft 1:3 -n 2 a : -memory-alloc-kinds mpi,system b"));
    CHECK(!strcmp(o.apps[0].pset, "a") && !strcmp(o.apps[0].soft, "1:3") && !o.apps[0].memory_kinds);
    CHECK(!o.apps[1].pset && !o.apps[1].soft && !strcmp(o.apps[1].memory_kinds, "mpi,system"));
    CHECK(!parse(&o, "-pset mpi://a a") && strstr(last_text, "-pset mpi://a:"));
}

static void test_soft(void)
{
    CHECK_INT(ranks("-n 10 -soft 4 a"), 4);
    CHECK_INT(ranks("-n 10 -soft 0:20 a"), 10);
    CHECK_INT(ranks("-n 10 -soft 2:20:3 a"), 8);
    CHECK_INT(ranks("-n 10 -soft 20:2:-3 a"), 8);
    CHECK_INT(ranks("-n 10 -soft 1,2,4,8,16,32 a"), 8);
    CHECK_INT(ranks("-soft 2:10:2,7 -n 7 a"), 7);
    CHECK_INT(ranks("-n 7 -soft -5:3 a"), 3);
    CHECK_INT(ranks("-n 7 -soft 9:-5:-4 a"), 5);
    CHECK_INT(ranks("-n 7 -soft 7:7:-1 a"), 7);
    CHECK(ranks("-soft 1:64 a") >= 1);
    CHECK_INT(ranks("-n 3 -soft 4:9 a"), 0);
    CHECK(strstr(last_text, "-soft 4:9") && strstr(last_text, "1 to 3"));
}

static void test_hosts(void)
{
    char path[] = "/tmp/parley-hosts-XXXXXX", line[512];
    FILE *file = fdopen(mkstemp(path), "w");
    struct utsname system;
    struct options o;

    CHECK(file);
    uname(&system);
    fprintf(file, "# hosts\nlocalhost slots=2 max_slots=8\n%s:3\n127.0.0.1 # and more\n\n", system.nodename);
    fclose(file);
    snprintf(line, sizeof line, "-hostfile %s a", path);
    CHECK_INT(ranks(line), 6);
    remove(path);
    snprintf(line, sizeof line, "-H %s:2,user@%s,127.0.0.7,::1,LocalHost a", system.nodename,
             system.nodename);
    CHECK_INT(ranks(line), 6);
    CHECK(parse(&o, "-n 2 -host localhost,node7:2,node8 a") && o.hosts.count == 3 && o.hosts.at[1].slots == 2);
    CHECK(o.hosts.at[0].is_here && !o.hosts.at[1].is_here && !strcmp(o.hosts.at[2].name, "node8"));
    CHECK(parse(&o, "-host 192.0.2.1 a") && parse(&o, "-host 2001:db8::1 a") && !parse(&o, "-host u@ a"));
    CHECK(parse(&o, "-host c a : -host d:2,c b") && o.hosts.count == 2 && o.apps[1].hosts.count == 2);
    CHECK_INT(o.apps[1].ranks, 3);
    CHECK_INT(ranks("-ppn 2 -host c,d,e a"), 6);
    CHECK_INT(ranks("-N 2 -host c,d,e a"), 6);
    CHECK_INT(ranks("--nodes 2 -host c,d,e a"), 2);
    CHECK(parse(&o, "-N 2 -n 8 -host c,d,e,f a") && o.apps[0].per_node == 2 && o.apps[0].host_limit == 0);
    CHECK(parse(&o, "-N 2 -n 8 -host c,d,e a") && o.apps[0].per_node == 4 && o.apps[0].host_limit == 2);
    CHECK(parse(&o, "--nolocal -host localhost,d a") && o.hosts.count == 1 && !strcmp(o.hosts.at[0].name, "d"));
    CHECK(parse(&o, "--map-by ppr:2:node:PE=3 -host c:8,d:8 a") && o.map.by == MAP_PER_NODE && o.map.width == 3);
    CHECK_INT(o.apps[0].ranks, 4);
    CHECK(parse(&o, "-bynode --rank-by slot --nooversubscribe a") && o.map.by == MAP_BY_NODE && o.map.is_strict);
    CHECK(parse(&o, "--mca plm_rsh_agent 'ssh -p 22 : rsh' a") && !strcmp(o.launcher_exec, "ssh -p 22"));
    CHECK(parse(&o, "-bootstrap slurm --prefix /x a") && !strcmp(o.launcher, "slurm") && o.agent_prefix);
    CHECK(!parse(&o, "-launcher pigeon a") && strstr(last_text, "-launcher pigeon"));
}

static void test_arch(void)
{
    char line[256];
    struct utsname system;
    struct options o;

    uname(&system);
    snprintf(line, sizeof line, "-arch %s a : -arch %s-linux-gnu a", system.machine, system.machine);
    CHECK(parse(&o, line));
    CHECK(!parse(&o, "-arch pdp11 a") && strstr(last_text, "pdp11") && strstr(last_text, system.machine));
}

static void test_environment(void)
{
    struct options o;

    CHECK(parse(&o, "-genv A=1 -genv B 2 -env C=3 -env D '' -genvlist X,Y,,Z* -envnone a : -envall b : c"));
    CHECK(!strcmp(o.set.at[0], "A=1") && !strcmp(o.set.at[1], "B=2"));
    CHECK(!strcmp(o.apps[0].set.at[0], "C=3") && !strcmp(o.apps[0].set.at[1], "D="));
    CHECK(o.pass.is_list && o.pass.names.count == 3 && !strcmp(o.pass.names.at[2], "Z*"));
    CHECK(o.apps[0].pass.is_said && o.apps[0].pass.is_list && o.apps[0].pass.names.count == 0);
    CHECK(o.apps[1].pass.is_said && !o.apps[1].pass.is_list && !o.apps[2].pass.is_said);
    CHECK(parse(&o, "--export=A,B=2,C a : --export=ALL,D=4 b : --export NONE c : -genvexcl E d"));
    CHECK(o.apps[0].pass.is_list && o.apps[0].pass.names.count == 2 && !strcmp(o.apps[0].set.at[0], "B=2"));
    CHECK(!o.apps[1].pass.is_list && !strcmp(o.apps[1].set.at[0], "D=4"));
    CHECK(o.apps[2].pass.is_list && o.apps[2].pass.names.count == 0);
    CHECK(!o.pass.is_list && o.pass.names.count == 1);
    CHECK(parse(&o, "--check --shuffle=7 a") && o.set.count == 4 && !strcmp(o.set.at[0], "PARLEY_CHECK=1"));
    CHECK(!strcmp(o.set.at[1], "PARLEY_NET=chaos") && !strcmp(o.set.at[2], "PARLEY_CHAOS_SEED=7"));
    CHECK(parse(&o, "--shuffle a") && !strcmp(o.set.at[1], "PARLEY_CHAOS_SEED=1"));
    CHECK(!parse(&o, "--shuffle=much a") && strstr(last_text, "much"));
}

static void test_output(void)
{
    struct options o;

    CHECK(parse(&o, "--output-dir /a%b -n 2 a") && !o.copy);
    CHECK(!strcmp(o.out_pattern, "/a%%b/rank.%r.out") && !strcmp(o.err_pattern, "/a%%b/rank.%r.err"));
    CHECK(parse(&o, "--output-dir d:copy a") && o.copy && !strcmp(o.out_pattern, "d/rank.%r.out"));
    CHECK(parse(&o, "--output-filename d a") && o.copy && !strcmp(o.err_pattern, "d/1/rank.%0r/stderr"));
    CHECK(parse(&o, "--output-filename d:nocopy a") && !o.copy);
    CHECK(parse(&o, "--output tag,timestamp,dir=d:nocopy a") && o.label && o.timestamp && !o.copy);
    CHECK(!strcmp(o.out_pattern, "d/1/rank.%0r/stdout"));
    CHECK(parse(&o, "--output=tag -stdin=all -n=2 a") && o.label && o.apps[0].ranks == 2);
    CHECK(!parse(&o, "-stdin=x -n 2 a") && strstr(last_text, "-stdin x:"));
    CHECK(parse(&o, "--output merge,file=f a") && o.merge && o.copy && !strcmp(o.err_pattern, "f.%r.err"));
    CHECK(parse(&o, "-o out.%t a") && !strcmp(o.out_pattern, "out.%t") && !strcmp(o.err_pattern, "out.%t"));
    CHECK(parse(&o, "-o out -e err a") && !strcmp(o.out_pattern, "out") && !strcmp(o.err_pattern, "err"));
    CHECK(parse(&o, "-o none a") && !strcmp(o.out_pattern, "/dev/null"));
    CHECK(parse(&o, "-n 4 -o 3 a") && o.only_rank == 3 && !o.out_pattern);
    CHECK(parse(&o, "-outfile-pattern o%r a") && !strcmp(o.out_pattern, "o%r") && !o.err_pattern);
}

static void test_input(void)
{
    struct options o;

    CHECK(parse(&o, "a") && !strcmp(o.stdin_ranks, "0"));
    CHECK(parse(&o, "-n 8 --stdin 0,2-5 a") && !strcmp(o.stdin_ranks, "0,2-5"));
    CHECK(parse(&o, "-s all a") && !strcmp(o.stdin_ranks, "all"));
    CHECK(parse(&o, "-s a") && !strcmp(o.stdin_ranks, "0") && !strcmp(o.apps[0].argv.at[0], "a"));
    CHECK(parse(&o, "-i file a") && !strcmp(o.stdin_file, "file") && !strcmp(o.stdin_ranks, "all"));
    CHECK(options_has_rank("0,2-5", 4) && !options_has_rank("0,2-5", 1) && !options_has_rank("0,2-5", 6));
    CHECK(options_has_rank("all", 9) && !options_has_rank("none", 0));
}

static void test_binding(void)
{
    struct options o;

    CHECK(parse(&o, "--bind-to core:overload-allowed --map-by socket:PE=2 -cpu-set 0-3 -n 2 a"));
    CHECK(o.binding.to == BIND_OBJECT && o.binding.to_kind == TOPOLOGY_CORE && !o.binding.is_shown);
    CHECK(o.binding.map == BIND_MAP_OBJECT && o.binding.map_kind == TOPOLOGY_PACKAGE && o.binding.width == 2);
    CHECK(parse(&o, "-c 2 -n 2 a") && o.binding.width == 2 && o.apps[0].ranks == 2);
    CHECK(parse(&o, "-c 2 a") && o.binding.width == 0 && o.apps[0].ranks == 2);
    CHECK(parse(&o, "-bind-to-socket -bycore --report-bindings a"));
    CHECK(o.binding.to_kind == TOPOLOGY_PACKAGE && o.binding.map_kind == TOPOLOGY_CORE && o.binding.is_shown);
    CHECK(parse(&o, "--cpu-bind=verbose,cores a") && o.binding.to_kind == TOPOLOGY_CORE && o.binding.is_shown);
    CHECK(parse(&o, "--display map,bind a") && o.show_map && o.binding.is_shown);
    CHECK(parse(&o, "--map-by ppr:3:socket a") && o.apps[0].ranks == 6);
}

static void test_times(void)
{
    static const struct {
        const char *text;
        double seconds;
    } times[] = {
        { "5", 300 },        { "1:30", 90 },   { "1:00:05", 3605 }, { "1-2", 93600 },
        { "1-2:30", 95400 }, { "0-0:0:7", 7 }, { "UNLIMITED", 0 },
    };
    char line[64];
    struct options o;

    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        snprintf(line, sizeof line, "-t %s a", times[i].text);
        CHECK(parse(&o, line) && o.time_limit == times[i].seconds);
    }
}

static void test_notes(void)
{
    struct options o;

    CHECK(parse(&o, "-q --xterm 0 --xterm 1 --with-ft ulfm a") && o.notes.count == 2);
    CHECK(parse(&o, "-q --with-ft no --mca x y --tune /etc/passwd -tune --prefix /x --exclusive -K1 a"));
    CHECK(o.notes.count == 0 && o.apps[0].argv.count == 1);
}

static void test_nearest(void)
{
    static const char *const words[][2] = {
        { "--oversubcribe", "--oversubscribe" },
        { "--host-file", "--hostfile" },
        { "--tagoutput", "--tag-output" },
        { "-wdri", "--wdir" },
        { "--bindto", "--bind-to" },
        { "--timout=3", "--timeout" },
    };
    char line[64];
    struct options o;

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        snprintf(line, sizeof line, "%s a", words[i][0]);
        CHECK(!parse(&o, line) && strstr(last_text, words[i][0]) && strstr(last_text, words[i][1]));
    }
    CHECK(parse(&o, "-pdebug -Cgpu -t1 -n2 a") && o.apps[0].ranks == 2 && o.time_limit == 60);
    CHECK(!parse(&o, "-prefx a") && strstr(last_text, "--prefix"));
    CHECK(!parse(&o, "--frobnicate a") && !strstr(last_text, "did you mean"));
}

static void test_option_file(void)
{
    char path[] = "/tmp/parley-options-XXXXXX", line[256];
    struct options o;
    FILE *file = fdopen(mkstemp(path), "w");

    CHECK(file);
    fputs("# for all runs\n-n 3\n--wdir \\\n '/a b'\n-x A=1 -x B=2\n", file);
    fclose(file);
    snprintf(line, sizeof line, "-file %s -x C=3 a b", path);
    CHECK(parse(&o, line) && o.apps[0].ranks == 3 && !strcmp(o.apps[0].wdir, "/a b"));
    CHECK(o.apps[0].set.count == 3 && o.apps[0].argv.count == 2);
    file = fopen(path, "a");
    fputs("program\n", file);
    fclose(file);
    CHECK(!parse(&o, line) && strstr(last_text, "'program'"));
    remove(path);
}

/* Each name once, and help that fits the screen. */
static void test_table(void)
{
    char name[64];

    for (const struct option *option = options_table; option->names; option++) {
        for (const char *at = option->names; *at;) {
            const size_t length = strcspn(at, " ");
            if (options_find(at, length) != option)
                printf("%.*s is there twice\n", (int)length, at);
            CHECK(options_find(at, length) == option);
            at += length + (at[length] == ' ');
        }
        options_write_name(option, name, sizeof name);
        if (option->help && option->apply != options_apply_note && option->apply != options_apply_ft)
            CHECK(strlen(option->help) <= 54);
        CHECK((option->topic & TOPIC_MASK) < TOPICS);
    }
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
        { "-host node7:x a", "'x'" },
        { "-hosts localhost,node[7 a", "node[7" },
        { "-rf /nonexistent a", "/nonexistent" },
        { "-f /nonexistent a", "/nonexistent" },
        { "-initial-errhandler maybe a", "maybe" },
        { "-configfile /dev/null", "nothing is in it" },
        { "-configfile /", "/" },
        { "-file /nonexistent a", "/nonexistent" },
        { "-soft 1:2: a", "-soft 1:2:" },
        { "-soft 3:1 a", "-soft 3:1" },
        { "-soft 1:9:-1 a", "-soft 1:9:-1" },
        { "-soft 1:9:0 a", "-soft 1:9:0" },
        { "-soft 99999999999 a", "99999999999" },
        { "-n 2 -stdin 2 a", "0 to 1" },
        { "-n 2 -stdin 0,1-5 a", "0 to 1" },
        { "-stdin x a", "-stdin x" },
        { "-stdin 3-1 a", "-stdin 3-1" },
        { "-n 2 -output-from 2 a", "0 to 1" },
        { "-bind-to everything a", "everything" },
        { "--map-by foo a", "foo" },
        { "-t 1:2:3:4 a", "1:2:3:4" },
        { "-t x a", "-t x" },
        { "-output-dir :copy a", ":copy" },
        { "--complete fish", "fish" },
        { "--help=nothing", "nothing" },
        { "-n 1000000 a : -n 1000000 b", "in all" },
        { "-envlist A -unset-env B a", "-unset-env B" },
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

/* Words of which a part makes sense. */
static const char *piece(uint64_t *random)
{
    static const char *const pieces[] = {
        "-n",
        "2",
        ":",
        "--",
        "-",
        "a",
        "=",
        "-x",
        "A=B",
        "-env",
        "--",
        "-soft",
        "1:9",
        ",",
        "-1",
        "0-3",
        "all",
        "-s",
        "-host",
        "localhost",
        "n[1-3],",
        "-hostfile",
        "-rf",
        "-file",
        "-f",
        "''",
        "\"",
        "'",
        "\\",
        "\n",
        "#",
        "%",
        "-o",
        "-t",
        "1:2",
        "-c",
        "-N",
        "-i",
        "--output",
        "tag,",
        "dir=x",
        ":nocopy",
        "-configfile",
        "/dev/null",
        "-genv",
        "-export",
        "-map-by",
        "ppr:2:node",
        "-n4",
        "99999999999999999999",
        "\xff\x80",
        "",
        " ",
    };
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return pieces[(*random >> 33) % ARRAY_LEN(pieces)];
}

static bool ends_mpiexec(const struct option *option)
{
    return option->apply == options_apply_help || option->apply == options_apply_version ||
           option->apply == options_apply_doctor || option->apply == options_apply_report ||
           option->apply == options_apply_manual || option->apply == options_apply_complete;
}

/* The name of some option, with a dash. */
static void random_option(uint64_t *random, char *text, size_t size)
{
    const struct option *option = options_table;

    piece(random);
    for (int skip = (int)((*random >> 33) % 120); skip > 0 && option[1].names; skip--)
        option++;
    while (ends_mpiexec(option))
        option--;
    snprintf(text, size, "-%.*s", (int)strcspn(option->names, " "), option->names);
}

/* A line of random pieces and options. */
static void random_line(uint64_t *random, char *line, size_t size)
{
    size_t used = 0;

    for (int words = (int)((*random >> 40) % 12); words >= 0 && used < size; words--) {
        char word[256] = "";
        if (*random >> 63)
            random_option(random, word, sizeof word);
        for (int parts = (int)((*random >> 50) % 3); parts >= 0; parts--)
            strncat(word, piece(random), sizeof word - strlen(word) - 1);
        used += (size_t)snprintf(line + used, size - used, "%s%s", word, *random >> 62 ? " " : "");
    }
}

static bool is_random;

static void only_at_the_end(void)
{
    if (is_random) {
        puts("mpiexec ended in the middle of a random line");
        fflush(stdout);
        _exit(1);
    }
}

/* Nothing that is written makes it fall: on the command line, in a configuration file, in a file of options. */
static void test_random(int rounds)
{
    char path[] = "/tmp/parley-options-XXXXXX", line[8192] = "", command[8300];
    const int fd = mkstemp(path);
    uint64_t random = 1;
    struct options o;

    is_random = true;
    atexit(only_at_the_end);
    for (int i = 0; i < rounds; i++) {
        *line = 0;
        random_line(&random, line, sizeof line);
        if (i % 3) {
            CHECK(!ftruncate(fd, 0));
            CHECK_INT(pwrite(fd, line, strlen(line), 0), strlen(line));
        }
        snprintf(command, sizeof command,
                 i % 3 == 0   ? "-q %s"
                 : i % 3 == 1 ? "-q -configfile %s"
                              : "-q -file %s a",
                 i % 3 ? path : line);
        if (parse(&o, command))
            CHECK(o.app_count > 0 && o.apps[0].ranks > 0 && o.apps[0].argv.count > 0);
        else
            CHECK_INT(last_code, EXIT_USAGE);
    }
    is_random = false;
    close(fd);
    remove(path);
}

int main(void)
{
    test_counts();
    test_soft();
    test_requests();
    test_hosts();
    test_arch();
    test_environment();
    test_output();
    test_input();
    test_binding();
    test_times();
    test_notes();
    test_nearest();
    test_option_file();
    test_table();
    test_random(5000);
    test_simple();
    test_blocks();
    test_job_options();
    test_config_file();
    test_split();
    test_mistakes();
    return 0;
}
