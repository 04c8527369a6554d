/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of lists of hosts: words, ranges, host files in the forms of several launchers, what batch systems set,
 * rank files; and that mistakes are told with the word they are in. */
#include "hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/check.h"
#define ALONE_DIES
#include "alone.h"
#include "map.h"

enum { TEXT_SIZE = 4096, RANDOM_WORDS = 20000 };

/* "a:1 u@b:2/8 here:1": the list as text; slots that nobody has said in brackets. */
static const char *text_of(const struct hosts *hosts)
{
    static char text[TEXT_SIZE];
    size_t length = 0;

    *text = 0;
    for (int i = 0; i < hosts->count && length < sizeof text - 200; i++) {
        const struct host *host = &hosts->at[i];
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s%s%s:%s%d%s", i ? " " : "",
                                   host->user ? host->user : "", host->user ? "@" : "",
                                   host->is_here ? "here" : host->name, host->has_slots ? "" : "(", host->slots,
                                   host->has_slots ? "" : ")");
        if (host->max_slots)
            length += (size_t)snprintf(text + length, sizeof text - length, "/%d", host->max_slots);
    }
    return text;
}

static const char *list(const char *words)
{
    struct hosts hosts = { 0 };

    if (setjmp(dead))
        return last_text;
    hosts_add_list(&hosts, "-host", words);
    return text_of(&hosts);
}

#define CHECK_LIST(words, expected) CHECK_TEXT(list(words), expected)

static void test_words(void)
{
    CHECK_LIST("a", "a:(1)");
    CHECK_LIST("a,b:4 c", "a:(1) b:4 c:(1)");
    CHECK_LIST("a,a,A:3", "a:5");
    CHECK_LIST("u@a:2,b", "u@a:2 b:(1)");
    CHECK_LIST("localhost,127.0.0.1,::1,[::1]:3", "here:6");
    CHECK_LIST("2001:db8::1,[2001:db8::2],[2001:db8::3]:4", "2001:db8::1:(1) 2001:db8::2:(1) 2001:db8::3:4");
    CHECK_LIST("node[01-03,7]", "node01:(1) node02:(1) node03:(1) node7:(1)");
    CHECK_LIST("n[9-11]-ib:2,m", "n9-ib:2 n10-ib:2 n11-ib:2 m:(1)");
    CHECK_LIST("r[1-2]n[0,5]", "r1n0:(1) r1n5:(1) r2n0:(1) r2n5:(1)");
    CHECK_LIST("u@a[1-2]:3", "u@a1:3 u@a2:3");
    CHECK_LIST(" ,a,, b, ", "a:(1) b:(1)");
    CHECK_LIST("a:0,b:*", "a:0 b:(1)");
    CHECK_LIST("", "");
}

static void test_mistakes(void)
{
    static const char *const bad[][2] = {
        { "a[1-", "open" },     { "a[]", "list of numbers" }, { "a[3-1]", "list of numbers" },
        { "a[x]", "list of" },  { "a[1-2", "open" },          { "-oProxyCommand=x", "-oProxyCommand" },
        { "a;b", "'a;b'" },     { "a$(b)", "name of a host" }, { "@a", "name of a user" },
        { "a:x", "'x'" },       { "a:1x", "'1x'" },           { "a:99999999999", "99999999999" },
        { "a:-1", "'-1'" },     { "-l@a", "name of a user" }, { "a[0-99999999]", "list of numbers" },
        { "u@", "'' is no" },   { "a'b", "a'b" },             { "a[1-2]b]", "no name" },
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        const char *came = list(bad[i][0]);
        CHECK(!strncmp(came, "E0101: -host: ", 14) && strstr(came, bad[i][1]));
    }
}

static const char *file(const char *text)
{
    static char path[] = "/tmp/parley-hosts-XXXXXX";
    const int fd = mkstemp(path);
    struct hosts hosts = { 0 };
    const char *result = last_text;

    CHECK(fd >= 0);
    CHECK_INT(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    if (!setjmp(dead)) {
        hosts_add_file(&hosts, "-hostfile", path);
        result = text_of(&hosts);
    }
    remove(path);
    strcpy(path, "/tmp/parley-hosts-XXXXXX");
    return result;
}

static void test_files(void)
{
    CHECK_TEXT(file("# all\n\na slots=4 max_slots=8\n b\tslots = 2 # two\nc:3\r\n"), "a:4/8 b:2 c:3");
    CHECK_TEXT(file("a\nb\na\n"), "a:(2) b:(1)");
    CHECK_TEXT(file("a:2 binding=user:0,1 user=u\nv@b ifname=eth0"), "u@a:2 v@b:(1)");
    CHECK_TEXT(file("a cpu=2\nb max-slots=3\n"), "a:2 b:3/3");
    CHECK_TEXT(file("n1 4 all.q@n1 UNDEFINED\nn2 2 all.q@n2 <NULL>\n"), "n1:4 n2:2");
    CHECK_TEXT(file("n[1-2] slots=2\n"), "n1:2 n2:2");
    CHECK_TEXT(file("\xef\xbb\xbf" "a slots=2\r\n\r\nb\r\n"), "a:2 b:(1)"); /* of an editor of Windows */
    CHECK_TEXT(file("2001:db8::1 slots=2\n[2001:db8::2]:3\nu@2001:db8::3\n"),
               "2001:db8::1:2 2001:db8::2:3 u@2001:db8::3:(1)");
    CHECK_TEXT(file(""), "");
    CHECK(strstr(file("a\nb slot=4\n"), "line 2: 'slot' is not known"));
    CHECK(strstr(file("a slots=x\n"), "line 1: slots x: a whole number"));
    CHECK(strstr(file("a slots\n"), "line 1: slots : a whole number"));
}

static const char *chosen(const char *wanted, const char *from)
{
    struct hosts hosts = { 0 }, pool = { 0 };

    if (setjmp(dead))
        return last_text;
    hosts_add_list(&hosts, "-host", wanted);
    hosts_add_list(&pool, "file", from);
    hosts_choose(&hosts, &pool, "-host");
    return text_of(&hosts);
}

static void test_choosing(void)
{
    CHECK_TEXT(chosen("b", "a:4,b:8,c:2"), "b:8");
    CHECK_TEXT(chosen("b:2,d", "a:4,u@b:8"), "u@b:2 d:(1)");
    CHECK_TEXT(chosen("+n2,+n0", "a:4,b:8,c:2"), "c:2 a:4");
    CHECK_TEXT(chosen("+n1:1", "a:4,b:8"), "b:1");
    CHECK(strstr(chosen("+n2", "a,b"), "'+n2' is none of the 2 hosts"));
    CHECK(strstr(chosen("+e", "a,b"), "'+e' is none"));
}

static void clear_batch(void)
{
    static const char *const names[] = { "SLURM_JOB_NODELIST", "SLURM_NODELIST", "SLURM_TASKS_PER_NODE",
                                         "SLURM_STEP_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE", "LSB_DJOB_HOSTFILE",
                                         "LSB_MCPU_HOSTS", "LSB_HOSTS", "PE_HOSTFILE", "OAR_NODEFILE", "PBS_NODEFILE",
                                         "COBALT_NODEFILE" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        unsetenv(names[i]);
}

/* NAME=VALUE two times, or once and NULL: what comes of them, with the system's name before. */
static const char *batch(const char *one, const char *other)
{
    static char text[TEXT_SIZE];
    const char *note, *name;
    struct hosts hosts = { 0 };

    clear_batch();
    putenv(mem_strdup(one));
    if (other)
        putenv(mem_strdup(other));
    name = hosts_from_batch(&hosts, &note);
    snprintf(text, sizeof text, "%s: %s%s", name ? name : "-", text_of(&hosts), note ? note : "");
    return text;
}

static void test_batch(void)
{
    char path[] = "/tmp/parley-hosts-XXXXXX", set[128];
    FILE *made = fdopen(mkstemp(path), "w");
    struct utsname system;

    CHECK_TEXT(batch("SLURM_JOB_NODELIST=n[1-3],m", "SLURM_TASKS_PER_NODE=4(x2),3,1"), "slurm: n1:4 n2:4 n3:3 m:1");
    CHECK_TEXT(batch("SLURM_JOB_NODELIST=n[1-2]", "SLURM_TASKS_PER_NODE=1"), "slurm: n1:(1) n2:(1)");
    CHECK_TEXT(batch("SLURM_JOB_NODELIST=n[1-2]", "SLURM_JOB_CPUS_PER_NODE=8(x2)"), "slurm: n1:8 n2:8");
    CHECK_TEXT(batch("SLURM_NODELIST=n1", "SLURM_TASKS_PER_NODE=x"), "slurm: n1:(1)");
    CHECK_TEXT(batch("LSB_MCPU_HOSTS=a 4 b 2 ", NULL), "lsf: a:4 b:2");
    CHECK_TEXT(batch("LSB_HOSTS=a a b", NULL), "lsf: a:(2) b:(1)");
    CHECK(made);
    uname(&system);
    fprintf(made, "a\na\n%s\nb\n", system.nodename);
    fclose(made);
    snprintf(set, sizeof set, "PBS_NODEFILE=%s", path);
    CHECK_TEXT(batch(set, NULL), "pbs: here:(1) a:(2) b:(1)");
    snprintf(set, sizeof set, "OAR_NODEFILE=%s", path);
    CHECK_TEXT(batch(set, NULL), "oar: here:(1) a:(2) b:(1)");
    remove(path);
    CHECK(strstr(batch("PBS_NODEFILE=/nonexistent", NULL), "/nonexistent: No such file"));
    CHECK_TEXT(batch("NOTHING=1", NULL), "-: ");
    clear_batch();
}

/* "a . b": the host of each rank, a dot where the file does not say. */
static const char *rankfile(const char *text)
{
    static char path[] = "/tmp/parley-ranks-XXXXXX", result[TEXT_SIZE];
    FILE *made = fdopen(mkstemp(path), "w");
    const char **wanted;
    bool has_slots;

    CHECK(made);
    fputs(text, made);
    fclose(made);
    *result = 0;
    if (!setjmp(dead)) {
        const int count = rankfile_read(path, &wanted, &has_slots);
        for (int i = 0; i < count; i++)
            snprintf(result + strlen(result), sizeof result - strlen(result), "%s ", wanted[i] ? wanted[i] : ".");
        if (has_slots)
            strcat(result, "slots");
    } else {
        snprintf(result, sizeof result, "%s", last_text);
    }
    remove(path);
    strcpy(path, "/tmp/parley-ranks-XXXXXX");
    return result;
}

static void test_rankfiles(void)
{
    CHECK_TEXT(rankfile("rank 0=a slot=0:1\n# b\nrank 1 = b\n"), "a b slots");
    CHECK_TEXT(rankfile("rank 2=a\nRANK 0=+n1\n"), "+n1 . a ");
    CHECK(strstr(rankfile("rank 0=a\n\nrank 0=b\n"), "line 3: rank 0 stands in line 1 already"));
    CHECK(strstr(rankfile("rank x=a\n"), "line 1: 'rank x=a' is not of the form"));
    CHECK(strstr(rankfile("0=a\n"), "line 1: '0=a'"));
    CHECK(strstr(rankfile("rank 0\n"), "line 1: 'rank 0'"));
    CHECK(strstr(rankfile("rank -1=a\n"), "'rank -1=a'"));
}

static void check_word(const char *word)
{
    struct hosts hosts = { 0 };

    if (setjmp(dead)) {
        CHECK(strstr(last_text, "E0101") || strstr(last_text, "more than"));
        return;
    }
    hosts_add_list(&hosts, "-host", word);
    for (int i = 0; i < hosts.count; i++) {
        CHECK(*hosts.at[i].name && *hosts.at[i].name != '-' && !strpbrk(hosts.at[i].name, " ;'\"$[]@,*"));
        CHECK(hosts.at[i].slots >= 0);
    }
}

/* Whatever is written, it ends: in a list whose names are names, or in a message. */
static void test_random(void)
{
    static const char pieces[] = "ab01-9[],:@.* +n\xff;'\"$%";
    char word[24];

    srand(1);
    for (int i = 0; i < RANDOM_WORDS; i++) {
        const int length = rand() % (int)(sizeof word - 1);
        for (int k = 0; k < length; k++)
            word[k] = pieces[(size_t)rand() % (sizeof pieces - 1)];
        word[length] = 0;
        check_word(word);
    }
}

int main(void)
{
    test_words();
    test_mistakes();
    test_files();
    test_choosing();
    test_batch();
    test_rankfiles();
    test_random();
    return 0;
}
