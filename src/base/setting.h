/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: base. Settings: declared where they are used, read from the environment (PARLEY_NAME).
 *
 * A setting is a static struct with its default; setting_get reads it once. A value that cannot be read or is
 * out of range is an error that names the variable, the value and the range. */
#ifndef BASE_SETTING_H
#define BASE_SETTING_H

#include <stdbool.h>

#include "base/base.h"

enum setting_kind { SETTING_INT, SETTING_BOOL, SETTING_TEXT };

struct setting {
    const char *name;       /* with PARLEY_ in front in the environment */
    const char *help;       /* one sentence */
    enum setting_kind kind;
    long value;             /* default, then what was read; SETTING_BOOL: 0 or 1 */
    long min, max;          /* SETTING_INT; sizes may carry k, m or g */
    const char *text;       /* SETTING_TEXT: default, then what was read; points into the environment */
};

/* Read the environment into `setting`. 0, or an error of class MPI_ERR_OTHER. Not for the short path. */
int setting_read(struct setting *setting);

#endif
