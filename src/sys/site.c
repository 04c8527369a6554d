/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Where a process sits: its processors, and which part of each kind has them all. Of the machine only the
 * parts round one processor are read. */
#include "sys/site.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/setting.h"
#include "sys/hwloc.h"

enum { NAME_SIZE = 32 };

static const char made_up_help[] = "as if the machine were another one, such as \"Package:2 L3Cache:4 Core:4\"";

static bool has_all(const struct cpus *whole, const struct cpus *some)
{
    for (int i = 0; i < CPUS_MAX / 64; i++)
        if (some->word[i] & ~whole->word[i])
            return false;
    return true;
}

/* `list` is the part round one of the processors; NULL: nothing tells. */
static void enter(struct site *site, enum hwpart part, const struct cpus *cpus, const struct cpus *list)
{
    const bool is_within = list && has_all(list, cpus);

    site->first[part] = is_within ? (int16_t)cpus_next(list, 0) : list ? SITE_SEVERAL : SITE_UNKNOWN;
    site->count[part] = is_within ? (int16_t)cpus_count(list) : 0;
}

void site_of_cpus(const char *root, const struct cpus *cpus, struct site *site)
{
    const int cpu = cpus_next(cpus, 0);
    struct cpus list;

    for (enum hwpart part = 0; part < HWPARTS; part++)
        enter(site, part, cpus, cpu < CPUS_MAX && hwpart_read(root, part, cpu, &list) ? &list : NULL);
}

static void ask_hwloc(const struct cpus *cpus, struct site *site)
{
    struct hwloc hwloc;
    struct cpus list;

    if (!hwloc_open(&hwloc))
        return;
    for (enum hwpart part = 0; part < HWPARTS; part++)
        enter(site, part, cpus, hwloc_part(&hwloc, part, cpus_next(cpus, 0), &list) ? &list : NULL);
    hwloc_close(&hwloc);
}

/* The next "Name:3" of a text that becomes the rest. */
static bool read_level(const char **text, enum hwpart *part, int *count)
{
    const char *word = *text + strspn(*text, " ,"), *colon;
    char copy[NAME_SIZE], *end;
    unsigned long number;

    *text = word + strcspn(word, " ,");
    colon = memrchr(word, ':', (size_t)(*text - word));
    if (!colon || colon - word >= NAME_SIZE)
        return false;
    memcpy(copy, word, (size_t)(colon - word));
    copy[colon - word] = 0;
    *part = hwpart_by_name(copy);
    number = strtoul(colon + 1, &end, 10);
    *count = (int)number;
    return *part < HWPARTS && number > 0 && number <= CPUS_MAX && end == *text;
}

bool site_of_text(const char *text, int number, struct site *site)
{
    int count = 1, total = 1, width;
    const char *rest = text;
    enum hwpart part;

    for (; rest[strspn(rest, " ,")]; total *= count)
        if (!read_level(&rest, &part, &count) || total * count > CPUS_MAX)
            return false;
    for (part = 0; part < HWPARTS; part++)
        enter(site, part, &(struct cpus){ 0 }, NULL);
    number %= total;
    width = total;
    for (rest = text; rest[strspn(rest, " ,")];) {
        read_level(&rest, &part, &count);
        width /= count;
        site->first[part] = (int16_t)(number / width * width);
        site->count[part] = (int16_t)width;
    }
    site->first[HWPART_PU] = (int16_t)number;
    site->count[HWPART_PU] = 1;
    return total > 1;
}

/* What PARLEY_MACHINE says; NULL: nothing. */
static const char *made_up(void)
{
    struct setting setting = { .name = "MACHINE", .help = made_up_help, .kind = SETTING_TEXT };

    setting_read(&setting); /* a text has no wrong form */
    return setting.text;
}

bool site_is_made_up(void)
{
    return made_up() != NULL;
}

int site_find(int pid, int number, struct site *site)
{
    const char *text = made_up();
    struct cpus cpus;

    if (text && !site_of_text(text, number, site))
        return err(MPI_ERR_OTHER, "PARLEY_MACHINE is \"%.200s\"; it must be a list such as \"Package:2 L3Cache:4 "
                   "Core:4\" of 2 to %d processors", text, CPUS_MAX);
    if (text)
        return 0;
    cpus_of_process(pid, &cpus);
    site_of_cpus("", &cpus, site);
    if (hwloc_is_asked() || site->first[HWPART_CORE] == SITE_UNKNOWN)
        ask_hwloc(&cpus, site);
    return 0;
}
