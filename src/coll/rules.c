/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Reading rules, and finding the one that holds. Knows: the table of algorithms. Does not know: files. */
#include "coll/rules.h"

#include <limits.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum { MOST_SHOWN = 40, MOST_LIST = 200 };

static const char *const numbers[RULES_NUMBERS] = { "ranks", "nodes", "bytes", "node_ranks" };

/* A piece of the text, and where it stands. */
struct word {
    const char *text;
    size_t len;
};

struct place {
    const char *name;
    int line;
};

static int shown(const struct word *word)
{
    return word->len < MOST_SHOWN ? (int)word->len : MOST_SHOWN;
}

static COLD int bad_condition(const struct place *place, const struct word *word)
{
    return err(MPI_ERR_OTHER,
               "E0731: %s:%d: \"%.*s\" is no condition: ranks, nodes, node_ranks or bytes, one of < <= = >= >, a "
               "number; or commutative, ordered, in_place, out_of_place, crowded, spacious",
               place->name, place->line, shown(word), word->text);
}

static COLD int bad_operation(const struct place *place, const struct word *word)
{
    char list[MOST_LIST] = "";
    size_t at = 0;

    for (int i = 0; i < COLL_NEIGHBOR_ALLGATHER; i++) {
        const char *name = coll_name((enum coll_operation)i, COLL_NONBLOCKING) + 5;
        if (at + strlen(name) + 2 < sizeof list)
            at += (size_t)(stpcpy(stpcpy(list + at, at ? " " : ""), name) - (list + at));
    }
    return err(MPI_ERR_OTHER, "E0731: %s:%d: \"%.*s\" is no operation: %s", place->name, place->line, shown(word),
               word->text, list);
}

static COLD int bad_algorithm(const struct place *place, const struct word *word, enum coll_operation operation)
{
    char list[MOST_LIST];

    coll_list_algorithms(operation, list, sizeof list);
    return err(MPI_ERR_OTHER, "E0731: %s:%d: \"%.*s\" is no algorithm of %s: %s", place->name, place->line,
               shown(word), word->text, coll_name(operation, COLL_NONBLOCKING) + 5, list);
}

static bool is_word(const struct word *word, const char *text)
{
    return word->len == strlen(text) && !memcmp(word->text, text, word->len);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of a line that ends at `end`; empty: none. */
static struct word next_word(const char **at, const char *end)
{
    struct word word;

    while (*at < end && is_blank(**at))
        ++*at;
    word.text = *at;
    while (*at < end && !is_blank(**at))
        ++*at;
    word.len = (size_t)(*at - word.text);
    return word;
}

static bool read_number(const char *text, const char *end, uint64_t *out)
{
    uint64_t number = 0;
    int shift = 0;

    if (text == end)
        return false;
    if (end - text > 1 && (end[-1] == 'k' || end[-1] == 'm'))
        shift = *--end == 'k' ? 10 : 20;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9' || number > UINT64_C(1) << 40)
            return false;
        number = number * 10 + (uint64_t)(*text - '0');
    }
    *out = number << shift;
    return true;
}

/* The operator and number after the name of a condition. */
static bool read_bound(const char *text, const char *end, uint64_t *least, uint64_t *most)
{
    const char sign = text < end ? *text++ : 0;
    const bool is_equal = text < end && *text == '=' && sign != '=';
    uint64_t number;

    if (!sign || !read_number(text + is_equal, end, &number))
        return false;
    switch (sign) {
    case '=': *least = *most = number; return true;
    case '<':
        if (!is_equal && !number)
            return false;
        *most = number - !is_equal;
        return true;
    case '>': *least = number + !is_equal; return true;
    default: return false;
    }
}

static bool read_condition(const struct word *word, struct rule *rule)
{
    for (int i = 0; i < RULES_NUMBERS; i++) {
        const size_t len = strlen(numbers[i]);
        if (word->len > len && !memcmp(word->text, numbers[i], len))
            return read_bound(word->text + len, word->text + word->len, &rule->least[i], &rule->most[i]);
    }
    if (is_word(word, "commutative"))
        rule->commutative = 1;
    else if (is_word(word, "ordered"))
        rule->commutative = 0;
    else if (is_word(word, "in_place"))
        rule->in_place = 1;
    else if (is_word(word, "out_of_place"))
        rule->in_place = 0;
    else if (is_word(word, "crowded"))
        rule->crowded = 1;
    else if (is_word(word, "spacious"))
        rule->crowded = 0;
    else
        return false;
    return true;
}

/* A line that says something. */
static int read_rule(const char *at, const char *end, const struct place *place, struct rule *rule)
{
    struct word word = next_word(&at, end), next;

    *rule = (struct rule){ .commutative = -1, .in_place = -1, .crowded = -1 };
    memset(rule->most, 0xff, sizeof rule->most);
    rule->operation = coll_find_operation(word.text, word.len);
    if (rule->operation == COLL_OPERATIONS)
        return bad_operation(place, &word);
    word = next_word(&at, end);
    while ((next = next_word(&at, end)).len) {
        if (!read_condition(&word, rule))
            return bad_condition(place, &word);
        word = next;
    }
    if (!word.len || !coll_find_algorithm(rule->operation, word.text, word.len, &rule->choice))
        return bad_algorithm(place, &word, rule->operation);
    return 0;
}

/* Where a line ends, and where its comment begins. */
static const char *end_of_line(const char *at, const char *end, const char **next)
{
    const char *stop = memchr(at, '\n', (size_t)(end - at)), *comment;

    *next = stop ? stop + 1 : end;
    stop = stop ? stop : end;
    comment = memchr(at, '#', (size_t)(stop - at));
    return comment ? comment : stop;
}

static bool is_empty(const char *at, const char *end)
{
    return !next_word(&at, end).len;
}

static int count_rules(const char *text, const char *end)
{
    int count = 0;

    for (const char *next; text < end; text = next)
        count += !is_empty(text, end_of_line(text, end, &next));
    return count;
}

/* By operations, those of one in the order of the text. */
static void sort(struct rules *rules)
{
    for (int i = 1; i < rules->count; i++) {
        const struct rule rule = rules->all[i];
        int at = i;

        for (; at && rules->all[at - 1].operation > rule.operation; at--)
            rules->all[at] = rules->all[at - 1];
        rules->all[at] = rule;
    }
    for (int i = 0, operation = 0; operation <= COLL_OPERATIONS; operation++) {
        while (i < rules->count && (int)rules->all[i].operation < operation)
            i++;
        rules->first[operation] = i;
    }
}

int coll_rules_parse(const char *text, size_t len, const char *name, struct rules *rules)
{
    const char *const end = text + len;
    struct place place = { name, 1 };
    int rc = 0;

    *rules = (struct rules){ .all = mem_alloc(((size_t)count_rules(text, end) + 1) * sizeof *rules->all) };
    if (!rules->all)
        return err(MPI_ERR_NO_MEM, "no memory for the rules of %s", name);
    for (const char *next; text < end && !rc; text = next, place.line++) {
        const char *stop = end_of_line(text, end, &next);
        if (!is_empty(text, stop))
            rc = read_rule(text, stop, &place, &rules->all[rules->count++]);
    }
    if (rc)
        coll_rules_free(rules);
    else
        sort(rules);
    return rc;
}

void coll_rules_free(struct rules *rules)
{
    mem_free(rules->all);
    *rules = (struct rules){ 0 };
}

static bool holds(const struct rule *rule, const uint64_t values[RULES_NUMBERS], const struct coll_shape *shape)
{
    for (int i = 0; i < RULES_NUMBERS; i++) {
        if (values[i] < rule->least[i] || values[i] > rule->most[i])
            return false;
    }
    return (rule->commutative < 0 || rule->commutative == shape->is_commutative) &&
           (rule->in_place < 0 || rule->in_place == shape->is_in_place) &&
           (rule->crowded < 0 || rule->crowded == shape->is_crowded);
}

bool coll_rules_find(const struct rules *rules, const struct coll_shape *shape, struct coll_choice *choice)
{
    const uint64_t values[RULES_NUMBERS] = { (unsigned)shape->ranks, (unsigned)shape->nodes, shape->bytes,
                                             (unsigned)shape->node_ranks };

    for (int i = rules->first[shape->operation]; i < rules->first[shape->operation + 1]; i++) {
        const struct rule *rule = &rules->all[i];

        if (holds(rule, values, shape) && !coll_why_not(rule->choice.algorithm, shape)) {
            *choice = rule->choice;
            return true;
        }
    }
    return false;
}
