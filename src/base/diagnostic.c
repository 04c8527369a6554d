/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: base. The form of diagnostics. The table of remedies is generated from diagnostics.txt. */
#include "base/diagnostic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/int_diagnostic.h"

int diagnostic_id(const char *text)
{
    int id = 0;

    if (*text != 'E')
        return 0;
    for (int i = 1; i <= 4; i++) {
        if (text[i] < '0' || text[i] > '9')
            return 0;
        id = id * 10 + text[i] - '0';
    }
    return text[5] == ':' && text[6] == ' ' ? id : 0;
}

static int compare(const void *key, const void *entry)
{
    return *(const int *)key - ((const struct remedy *)entry)->id;
}

const char *diagnostic_remedy(int id)
{
    const struct remedy *found = bsearch(&id, remedies, remedy_count, sizeof *remedies, compare);

    return found ? found->text : NULL;
}

void diagnostic_add_site(const char *text, const char *site, char *out, size_t size)
{
    const char *name = text + (diagnostic_id(text) ? DIAGNOSTIC_ID_LENGTH : 0);
    const size_t length = strcspn(name, ": ");
    const int before = (int)(name - text + (ptrdiff_t)length);

    if (site && !strncmp(name, "MPI_", 4) && name[length] == ':')
        snprintf(out, size, "%.*s at %s%s", before, text, site, text + before);
    else
        snprintf(out, size, "%s", text);
}
