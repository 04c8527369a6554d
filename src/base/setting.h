/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: base. Settings: declared where they are used, read from the environment (PARLEY_NAME).
 *
 * A setting is a static struct with its default, entered into the list of all by SETTING_LISTED; setting_read reads it.
 * A value that cannot be read or is out of range is an error that names the variable, the value and the range. The list
 * is what room tool shows as control variables (MPI 5.0 §15.3.6). */
#ifndef BASE_SETTING_H
#define BASE_SETTING_H

#include <stdbool.h>

#include "base/base.h"

enum setting_kind { SETTING_INT, SETTING_BOOL, SETTING_TEXT };

struct setting {
    const char *name;       /* with PARLEY_ in front in the environment */
    const char *help;       /* one sentence */
    const char *topic;      /* what it belongs to: its category */
    enum setting_kind kind;
    long value;             /* default, then what was read; SETTING_BOOL: 0 or 1 */
    long min, max;          /* SETTING_INT; sizes may carry k, m or g */
    const char *text;       /* SETTING_TEXT: default, then what was read; points into the environment; NULL: nothing */
    bool any_time;          /* may be changed while MPI runs */
    bool must_agree;        /* must be the same in all processes */
    bool is_written;        /* by setting_write; the environment does not count any more */
};

/* Beside the definition of a setting: enters it into the list. */
#define SETTING_LISTED(variable) \
    static struct setting *const variable##_in_list __attribute__((section("parley_settings"), used)) = &(variable)

/* Read the environment into `setting`. 0, or an error of class MPI_ERR_OTHER. Not for the short path. Any
 * thread, as are those below. */
int setting_read(struct setting *setting);
/* The same for all settings of this program; the first error. */
int setting_read_all(void);
/* Give it a value as the environment would; `value` is copied where it is needed. Errors: MPI_ERR_OTHER (no such
 * value), MPI_ERR_NO_MEM; then nothing has changed. Not thread safe against who looks at the value itself. */
int setting_write(struct setting *setting, const char *value);
/* Back to its default, for who reads the environment anew; what has been written stays. */
void setting_reset(struct setting *setting, long value, const char *text);
/* Its value; its text is copied, at most `size` bytes with the zero. */
long setting_fetch(const struct setting *setting, char *text, size_t size);
/* The settings of this program in the order of the link; their number. */
int setting_count(void);
struct setting *setting_at(int index);

#endif
