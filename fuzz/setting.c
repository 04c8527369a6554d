/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of all kinds from the environment: a value is taken or refused, and never out of its range. The first byte
 * chooses the kind. */
#include "base/setting.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char fallback[] = "as it was";
    struct setting setting = { .name = "FUZZ", .help = "", .value = 1, .min = -5, .max = 1L << 40, .text = fallback };
    char *text = malloc(size + 1);
    int rc;

    memcpy(text, data, size);
    text[size] = 0;
    setting.kind = (enum setting_kind)(size ? (unsigned char)text[0] % 3U : 0);
    setenv("PARLEY_FUZZ", size ? text + 1 : text, 1);
    rc = setting_read(&setting);
    MUST(!rc || err_class(rc) == MPI_ERR_OTHER);
    if (setting.kind == SETTING_TEXT)
        MUST(setting.text && setting.value == 1);
    else
        MUST(setting.value >= (setting.kind == SETTING_BOOL ? 0 : setting.min) &&
             setting.value <= (setting.kind == SETTING_BOOL ? 1 : setting.max) && setting.text == fallback);
    MUST(!rc || setting.value == 1);
    free(text);
    return 0;
}
