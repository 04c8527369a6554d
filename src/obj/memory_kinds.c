/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. Memory kinds: "system" and "mpi" are always there, and "mpi" with any of its restrictors. */
#include "obj/memory_kinds.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && !memcmp(text, word, length);
}

/* Are all the words behind colons those by which MPI's own memory is told apart? */
static bool has_known_restrictors(const char *text, const char *end)
{
    static const char *const known[] = { "alloc_mem", "win_allocate", "win_allocate_shared" };

    while (text < end) {
        const size_t length = strcspn(text + 1, ":,");
        bool is_known = false;

        for (size_t i = 0; i < ARRAY_LEN(known); i++)
            is_known |= is_word(text + 1, length, known[i]);
        if (!is_known)
            return false;
        text += 1 + length;
    }
    return true;
}

static bool is_supported(const char *kind, size_t length)
{
    const size_t name = strcspn(kind, ":,");

    return is_word(kind, length, "system") ||
           (is_word(kind, name, "mpi") && has_known_restrictors(kind + name, kind + length));
}

/* Is the kind in the list? */
static bool has_kind(const char *list, const char *kind, size_t length)
{
    for (; *list; list += strcspn(list, ","), list += *list == ',')
        if (strcspn(list, ",") == length && !memcmp(list, kind, length))
            return true;
    return false;
}

static void append(char *list, const char *kind, size_t length)
{
    const size_t used = strlen(list);

    if (!has_kind(list, kind, length) && used + length + 2 <= MPI_MAX_INFO_VAL + 1)
        snprintf(list + used, length + 2, "%s%.*s", used ? "," : "", (int)length, kind);
}

void memory_kinds_provide(const char *wanted, char provided[MPI_MAX_INFO_VAL + 1])
{
    *provided = 0;
    while (wanted && *wanted) {
        const size_t length = strcspn(wanted, ",");

        if (is_supported(wanted, length))
            append(provided, wanted, length);
        wanted += length + (wanted[length] == ',');
    }
    append(provided, "mpi", 3);
    append(provided, "system", 6);
}
