# SPDX-License-Identifier: BSD-3-Clause
"""Writes the table of the names of predefined handles: python3 gen_names.py OUTPUT"""

import calls  # noqa: F401  puts api/ on the path
import model

TEXT = '''\
/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of predefined handles. Generated from api/constants.txt; do not edit. */
#include "bind/int_handle_names.h"

#include <stddef.h>

static const char *const names[] = {
%s
};

const char *bind_handle_name(uintptr_t value)
{
    return value < sizeof names / sizeof names[0] ? names[value] : NULL;
}
'''


def generate():
    names = {}
    for _, constants in model.read_constants():
        for constant in constants:
            if constant.c_type in model.HANDLE_TYPES:
                names.setdefault(constant.value, constant.name)    # the first of two synonyms
    return TEXT % '\n'.join(f'    [{value}] = "{name}",' for value, name in sorted(names.items()))


if __name__ == '__main__':
    model.main(generate)
