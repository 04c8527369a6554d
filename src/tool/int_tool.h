/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: tool, inside: what its files share. */
#ifndef TOOL_INT_TOOL_H
#define TOOL_INT_TOOL_H

#include <pthread.h>

#include "base/base.h"
#include "base/list.h"
#include "base/setting.h"
#include "tool/tool.h"

/* The lock of everything but events, whose callbacks must not wait for it: from tool_enter, which fails with
 * MPI_T_ERR_NOT_INITIALIZED and then does not hold it, to tool_leave, which hands `rc` through. */
int tool_enter(void);
int tool_leave(int rc);
/* Has tool_init been called? Without a lock. */
bool tool_is_open(void);

struct tool_enum {
    const char *name;
    const char *const *items;
    int count;
};

extern const struct tool_enum tool_off_on;
/* What MPI_T_enum stands for, of the elements of an event perhaps; NULL: nothing. */
const struct tool_enum *tool_enum_of(MPI_T_enum handle);
const struct tool_enum *tool_event_enum(MPI_T_enum handle);
MPI_T_enum tool_enum_handle(const struct tool_enum *e);

/* Results as callers of MPI_T want them, see tool.h. */
void tool_give_text(const char *text, char *out, int *len);

static inline void tool_give(int *out, int value)
{
    if (out)
        *out = value;
}

/* Categories; variables and events name theirs by its name. */
struct tool_topic {
    const char *name, *about;
    int verbosity;
};

enum { TOOL_TOPICS = 9 };

extern const struct tool_topic tool_topics[TOOL_TOPICS];

int tool_verbosity(const char *topic);

/* By index, which is in range. */
const char *tool_pvar_topic(int index);
const char *tool_event_topic(int index);

/* At the end: what was left open goes. */
void tool_cvars_close(void);
void tool_pvars_close(void);
void tool_events_close(void);

#endif
