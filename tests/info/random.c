/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §10: info objects at random against arrays: keys and values of any length up to the limits and of any bytes,
 * set, replaced, deleted, duplicated, read by all ways there are; lengths beyond the limits are refused. */
#include "mpitest.h"

enum { INFOS = 4, NAMES = 24, STEPS = 6000, LONGEST_KEY = MPI_MAX_INFO_KEY - 1 };

struct entry {
    int name;                             /* in names */
    char value[MPI_MAX_INFO_VAL + 1];
};

/* In the order in which they were set. */
struct model {
    MPI_Info info;
    int count;
    struct entry entries[NAMES];
};

static char names[NAMES][MPI_MAX_INFO_KEY];
static struct model models[INFOS];
static uint64_t draws;

static int draw(int below)
{
    return (int)(test_key(99, (int)draws++, 0) % (uint64_t)below);
}

/* Any bytes but zero. */
static void fill(char *text, int length)
{
    for (int i = 0; i < length; i++)
        text[i] = (char)(1 + draw(255));
    text[length] = 0;
}

/* Often the shortest or the longest. */
static int draw_length(int least, int most)
{
    const int what = draw(4);

    return what == 0 ? most : what == 1 ? least : least + draw(most - least + 1);
}

static void make_names(void)
{
    int is_new;

    for (int i = 0; i < NAMES; i++) {
        do {
            fill(names[i], draw_length(1, LONGEST_KEY));
            is_new = 1;
            for (int j = 0; j < i; j++)
                is_new = is_new && strcmp(names[i], names[j]);
        } while (!is_new);
    }
}

static struct entry *find(struct model *m, int name)
{
    for (int i = 0; i < m->count; i++)
        if (m->entries[i].name == name)
            return &m->entries[i];
    return NULL;
}

static void step_set(struct model *m, int name)
{
    struct entry *entry = find(m, name);
    static char value[MPI_MAX_INFO_VAL + 8];

    fill(value, draw_length(0, MPI_MAX_INFO_VAL));
    CHECK_OK(MPI_Info_set(m->info, names[name], value));
    if (!entry)
        entry = &m->entries[m->count++];
    entry->name = name;
    strcpy(entry->value, value);
    memset(value, 'v', sizeof value - 1);
    CHECK_CLASS(MPI_Info_set(m->info, names[name], value), MPI_ERR_INFO_VALUE);
}

static void step_delete(struct model *m, int name)
{
    struct entry *entry = find(m, name);

    CHECK_CLASS(MPI_Info_delete(m->info, names[name]), entry ? MPI_SUCCESS : MPI_ERR_INFO_NOKEY);
    if (!entry)
        return;
    memmove(entry, entry + 1, (size_t)(m->entries + m->count - entry - 1) * sizeof *entry);
    m->count--;
}

/* With less room than the value takes as well. */
static void step_get(struct model *m, int name)
{
    const struct entry *entry = find(m, name);
    static char text[MPI_MAX_INFO_VAL + 64];
    const int wanted = entry ? (int)strlen(entry->value) : 0;
    const int room = draw_length(0, MPI_MAX_INFO_VAL + 1);
    int length = room, flag = -1;

    memset(text, TEST_CANARY, sizeof text);
    CHECK_OK(MPI_Info_get_string(m->info, names[name], &length, text, &flag));
    CHECK_INT(flag, entry != NULL);
    CHECK_INT(length, entry ? wanted + 1 : room);
    if (entry && room) {
        const int shown = wanted < room ? wanted : room - 1;

        CHECK(!memcmp(text, entry->value, (size_t)shown) && !text[shown], "another value");
        CHECK_UNTOUCHED(text + shown + 1, sizeof text - (size_t)shown - 1);
    } else {
        CHECK_UNTOUCHED(text, sizeof text);
    }
    CHECK_OK(MPI_Info_get_valuelen(m->info, names[name], &length, &flag));
    CHECK_INT(flag, entry != NULL);
    if (entry)
        CHECK_INT(length, wanted);
}

static void check_all(const struct model *m, MPI_Info info)
{
    char key[MPI_MAX_INFO_KEY];
    int count;

    CHECK_OK(MPI_Info_get_nkeys(info, &count));
    CHECK_INT(count, m->count);
    for (int i = 0; i < count; i++) {
        CHECK_OK(MPI_Info_get_nthkey(info, i, key));
        CHECK(!strcmp(key, names[m->entries[i].name]), "another key at %d", i);
    }
    CHECK_CLASS(MPI_Info_get_nthkey(info, count, key), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Info_get_nthkey(info, -1, key), MPI_ERR_ARG);
}

static void step_duplicate(struct model *m)
{
    MPI_Info copy;

    CHECK_OK(MPI_Info_dup(m->info, &copy));
    check_all(m, copy);
    CHECK_OK(MPI_Info_free(&m->info)); /* the copy has all of its own */
    m->info = copy;
}

int main(int argc, char **argv)
{
    char key[MPI_MAX_INFO_KEY + 1];

    test_begin(&argc, &argv);
    if (!test_is_parley())
        test_skip("the order of keys, values of the greatest length: others do otherwise");
    make_names();
    for (int i = 0; i < INFOS; i++)
        CHECK_OK(MPI_Info_create(&models[i].info));
    for (int i = 0; i < STEPS; i++) {
        struct model *m = &models[draw(INFOS)];
        const int what = draw(10), name = draw(NAMES);

        if (what < 4)
            step_set(m, name);
        else if (what < 6)
            step_delete(m, name);
        else if (what < 9)
            step_get(m, name);
        else
            step_duplicate(m);
    }
    memset(key, 'k', sizeof key - 1);
    key[sizeof key - 1] = 0;
    CHECK_CLASS(MPI_Info_set(models[0].info, key, "value"), MPI_ERR_INFO_KEY);
    CHECK_CLASS(MPI_Info_set(models[0].info, "", "value"), MPI_ERR_INFO_KEY);
    for (int i = 0; i < INFOS; i++) {
        check_all(&models[i], models[i].info);
        CHECK_OK(MPI_Info_free(&models[i].info));
    }
    return test_end();
}
