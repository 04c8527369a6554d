/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands for every program in C++ where the build found no compiler. */
#include <stdio.h>

int main(void)
{
    puts("skipped: built without a C++ compiler");
    return 77;
}
