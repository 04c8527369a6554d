/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: reading the options of binding, in the spellings of Open MPI, Hydra (MPICH, Intel) and srun. They say the
 * same things in different words; what comes of them is one struct binding. Processors are named by the numbers of
 * the system. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "bind.h"
#include "launch.h"

enum { MAX_NUMBER = 1 << 20 };

/* Is `word` among the words of `names`, which blanks separate? In any case of letters. */
static bool is_one_of(const char *names, const char *word)
{
    const size_t length = strlen(word);

    for (size_t size; *names; names += size + (names[size] == ' ')) {
        size = strcspn(names, " ");
        if (size == length && !strncasecmp(names, word, length))
            return true;
    }
    return false;
}

static bool find_kind(const char *word, enum topology_kind *kind)
{
    static const char *const names[TOPOLOGY_KINDS] = {
        [TOPOLOGY_THREAD] = "hwthread hwthreads thread threads",
        [TOPOLOGY_CORE] = "core cores l1cache l1dcache l1icache",
        [TOPOLOGY_L2] = "l2cache l2caches l2ucache",
        [TOPOLOGY_L3] = "l3cache l3caches l3ucache",
        [TOPOLOGY_NUMA] = "numa numanode ldom ldoms",
        [TOPOLOGY_PACKAGE] = "socket sockets package packages",
        [TOPOLOGY_MACHINE] = "machine node nodes board boards",
    };

    for (int i = 0; i < TOPOLOGY_KINDS; i++)
        if (is_one_of(names[i], word)) {
            *kind = (enum topology_kind)i;
            return true;
        }
    return false;
}

/* A whole number from 1 on; 0: `text` is none. */
static int find_number(const char *text)
{
    char *end;
    const long number = strtol(text, &end, 10);

    return *text && !*end && number > 0 && number <= MAX_NUMBER ? (int)number : 0;
}

static int need_number(const char *name, const char *value, const char *text)
{
    const int number = find_number(text);

    if (!number)
        die(EXIT_USAGE, "E0101: -%s %s: '%s' is not a whole number from 1 on", name, value, text);
    return number;
}

static _Noreturn void refuse(const char *name, const char *value, const char *word, const char *known)
{
    die(EXIT_USAGE, "E0101: -%s %s: '%s' is not known here\nknown are %s", name, value, word, known);
}

static struct cpus *add_list(struct binding *binding)
{
    binding->lists = need_more(binding->lists, ((size_t)binding->list_count + 1) * sizeof *binding->lists);
    memset(&binding->lists[binding->list_count], 0, sizeof *binding->lists);
    return &binding->lists[binding->list_count++];
}

static void begin_lists(struct binding *binding)
{
    binding->to = BIND_LISTS;
    binding->list_count = 0;
}

/* "0,2-3" gives the lists 0, 2, 3; "0+2,1+3" (Hydra) the lists {0, 2}, {1, 3}. */
static void read_lists(struct binding *binding, const char *name, const char *value, char *text)
{
    begin_lists(binding);
    for (char *word; (word = strsep(&text, ","));) {
        struct cpus *list = add_list(binding), part;
        const bool is_range = strchr(word, '-') != NULL;
        for (char *item; (item = strsep(&word, "+"));) {
            if (!cpus_parse(item, &part) || !cpus_count(&part))
                die(EXIT_USAGE, "E0101: -%s %s: '%s' is no number of a processor", name, value, item);
            for (int cpu = 0; (cpu = cpus_next(&part, cpu)) < CPUS_MAX; cpu++) {
                if (is_range && cpus_count(list))
                    list = add_list(binding);
                cpus_add(list, cpu);
            }
        }
    }
}

/* srun's mask_cpu: hexadecimal numbers. */
static void read_masks(struct binding *binding, const char *name, const char *value, char *text)
{
    begin_lists(binding);
    for (char *word; (word = strsep(&text, ","));) {
        const char *digits = !strncasecmp(word, "0x", 2) ? word + 2 : word;
        const size_t length = strlen(digits);
        struct cpus *list = add_list(binding);
        if (!length || strspn(digits, "0123456789abcdefABCDEF") != length || length > CPUS_MAX / 4)
            die(EXIT_USAGE, "E0101: -%s %s: '%s' is no hexadecimal number", name, value, word);
        for (size_t i = 0; i < length; i++) {
            const char digit[2] = { digits[length - 1 - i], 0 };
            list->word[i / 16] |= (uint64_t)strtoul(digit, NULL, 16) << i % 16 * 4;
        }
        if (!cpus_count(list))
            die(EXIT_USAGE, "E0101: -%s %s: '%s' has no processor", name, value, word);
    }
}

static void read_only(struct binding *binding, const char *name, const char *value, char *rest)
{
    static struct cpus only;

    (void)rest;
    if (!cpus_parse(value, &only) || !cpus_count(&only))
        die(EXIT_USAGE, "E0101: -%s %s: a list of processors such as 0-3,8 is needed", name, value);
    binding->only = &only;
    binding->only_text = value;
}

static void bind_to_kind(struct binding *binding, enum topology_kind kind)
{
    binding->to = BIND_OBJECT;
    binding->to_kind = kind;
}

/* What follows the first word of --bind-to. */
static void read_to_more(struct binding *binding, const char *name, const char *value, char *rest)
{
    for (char *word; (word = strsep(&rest, ":"));) {
        if (find_number(word))
            binding->to_count = find_number(word);
        else if (is_one_of("ordered", word))
            binding->is_ordered = true;
        else if (is_one_of("report", word))
            binding->is_shown = true;
        else if (!is_one_of("overload-allowed no-overload if-supported limit force", word))
            refuse(name, value, word, "a number, ordered, report, overload-allowed, if-supported");
    }
}

static void read_to(struct binding *binding, const char *name, const char *value, char *rest)
{
    const char *word = strsep(&rest, ":");
    enum topology_kind kind;

    if (is_one_of("user", word) && rest) {
        read_lists(binding, name, value, rest);
        return;
    }
    binding->to_count = 0;
    if (is_one_of("none no off", word))
        binding->to = BIND_NONE;
    else if (is_one_of("rr cpu", word))
        bind_to_kind(binding, TOPOLOGY_CORE);
    else if (is_one_of("cpu-list cpu-set", word))
        bind_to_kind(binding, TOPOLOGY_MACHINE);
    else if (find_kind(word, &kind))
        bind_to_kind(binding, kind);
    else
        refuse(name, value, word, "none, hwthread, core, l2cache, l3cache, numa, socket, machine (with :N for N of "
               "them), user:LIST, cpu-list");
    read_to_more(binding, name, value, rest);
}

/* Hydra's older word, and Intel's lists of settings, of which only "pin=no" is for us. */
static void read_binding(struct binding *binding, const char *name, const char *value, char *rest)
{
    if (!strchr(value, '='))
        read_to(binding, name, value, rest);
    else if (strstr(value, "pin=no") || strstr(value, "pin=off") || strstr(value, "pin=0"))
        binding->to = BIND_NONE;
}

/* What follows the object of --map-by. */
static void read_map_more(struct binding *binding, const char *name, const char *value, char *rest)
{
    for (char *word; (word = strsep(&rest, ":,"));) {
        if (!strncasecmp(word, "pe=", 3))
            binding->width = need_number(name, value, word + 3);
        else if (find_number(word) && binding->map == BIND_MAP_OBJECT)
            binding->map_count = find_number(word);
        else if (is_one_of("hwtcpus", word))
            binding->has_threads = true;
        else if (is_one_of("report", word))
            binding->is_shown = true;
        else if (*word && !is_one_of("span oversubscribe nooversubscribe nolocal corecpus inherit noinherit", word))
            refuse(name, value, word, "PE=N, HWTCPUS, SPAN, OVERSUBSCRIBE and the like");
    }
}

/* "ppr:N:object", then as ever. */
static void read_per(struct binding *binding, const char *name, const char *value, char **rest)
{
    const char *count = strsep(rest, ":"), *object = strsep(rest, ":,");

    if (!count || !object || !find_kind(object, &binding->map_kind))
        die(EXIT_USAGE, "E0101: -%s %s: ppr:N:OBJECT is needed, such as ppr:2:socket", name, value);
    binding->map = BIND_MAP_PER;
    binding->map_count = need_number(name, value, count);
}

static void read_map(struct binding *binding, const char *name, const char *value, char *rest)
{
    const char *word = strsep(&rest, ":,");

    binding->map_count = 0;
    binding->map = BIND_MAP_OBJECT;
    if (is_one_of("ppr", word))
        read_per(binding, name, value, &rest);
    else if (is_one_of("none share", word) || !*word)
        binding->map = BIND_MAP_SHARE;
    else if (is_one_of("slot seq rr", word))
        binding->map_kind = TOPOLOGY_CORE;
    else if (!strncasecmp(word, "pe-list=", 8))
        die(EXIT_USAGE, "E0101: -%s %s: write -cpu-set LIST -bind-to cpu-list:ordered instead", name, value);
    else if (!find_kind(word, &binding->map_kind))
        refuse(name, value, word, "slot, hwthread, core, l2cache, l3cache, numa, socket, node, ppr:N:OBJECT");
    if (binding->map == BIND_MAP_OBJECT && binding->map_kind == TOPOLOGY_MACHINE)
        binding->map = BIND_MAP_SHARE; /* all ranks on one node: there is nothing to choose */
    read_map_more(binding, name, value, rest);
}

static void read_rank(struct binding *binding, const char *name, const char *value, char *rest)
{
    const char *word = strsep(&rest, ":");

    binding->is_ranked = !is_one_of("slot node machine", word);
    if (is_one_of("fill", word))
        binding->rank_kind = TOPOLOGY_CORE;
    else if (is_one_of("span", word))
        binding->rank_kind = TOPOLOGY_PACKAGE;
    else if (binding->is_ranked && !find_kind(word, &binding->rank_kind))
        refuse(name, value, word, "slot, fill, span, hwthread, core, l3cache, numa, socket, node");
}

/* srun: words that commas separate, the last one with a list of its own. */
static void read_srun(struct binding *binding, const char *name, const char *value, char *rest)
{
    const char *word;
    enum topology_kind kind;

    while (rest) {
        if (!strncasecmp(rest, "map_cpu:", 8) || !strncasecmp(rest, "mask_cpu:", 9)) {
            (rest[1] == 'a' && rest[2] == 'p' ? read_lists : read_masks)(binding, name, value, strchr(rest, ':') + 1);
            return;
        }
        word = strsep(&rest, ",");
        if (is_one_of("v verbose", word))
            binding->is_shown = true;
        else if (is_one_of("none no n", word))
            binding->to = BIND_NONE;
        else if (is_one_of("rank", word))
            bind_to_kind(binding, TOPOLOGY_CORE);
        else if (find_kind(word, &kind))
            bind_to_kind(binding, kind);
        else if (!is_one_of("q quiet y yes auto depth", word))
            refuse(name, value, word, "none, threads, cores, sockets, ldoms, rank, map_cpu:LIST, mask_cpu:LIST, "
                   "verbose");
    }
}

static void read_width(struct binding *binding, const char *name, const char *value, char *rest)
{
    (void)rest;
    binding->width = need_number(name, value, value);
}

static void read_per_socket(struct binding *binding, const char *name, const char *value, char *rest)
{
    (void)rest;
    binding->map = BIND_MAP_PER;
    binding->map_kind = TOPOLOGY_PACKAGE;
    binding->map_count = need_number(name, value, value);
}

static void show(struct binding *binding, const char *name, const char *value, char *rest)
{
    (void)name;
    (void)value;
    (void)rest;
    binding->is_shown = true;
}

static void use_threads(struct binding *binding, const char *name, const char *value, char *rest)
{
    (void)name;
    (void)value;
    (void)rest;
    binding->has_threads = true;
}

/* What can be read, each from the value and a copy of it that may be cut up. */
static const struct {
    const char *names;
    void (*read)(struct binding *binding, const char *name, const char *value, char *rest);
} readers[] = {
    { "bind-to", read_to },
    { "binding", read_binding },
    { "map-by", read_map },
    { "rank-by", read_rank },
    { "cpu-set cpu-list slot-list", read_only },
    { "cpus-per-proc cpus-per-rank cpus-per-task depth", read_width },
    { "cpu-bind cpu_bind", read_srun },
    { "npersocket", read_per_socket },
    { "show-binding report-bindings", show },
    { "use-hwthread-cpus", use_threads },
};

static void read_option(struct binding *binding, const char *name, const char *value)
{
    char *rest = need_text(value ? value : "");

    for (size_t i = 0; i < ARRAY_LEN(readers); i++)
        if (is_one_of(readers[i].names, name))
            readers[i].read(binding, name, value, rest);
    if (binding->is_ordered && binding->only_text) {
        mem_free(rest);
        rest = need_text(binding->only_text);
        read_lists(binding, "cpu-list", binding->only_text, rest);
    }
    mem_free(rest);
}

void bind_option(struct binding *binding, const char *option, const char *value)
{
    char name[64];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(option, "="), option);
    if (!strncmp(name, "bind-to-", 8)) /* "bind-to-core", "bysocket": older forms */
        read_option(binding, "bind-to", name + 8);
    else if (!strncmp(name, "by", 2))
        read_option(binding, "map-by", name + 2);
    else
        read_option(binding, name, value);
}
