/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands for every Fortran program where the build found no compiler. */
#include <stdio.h>

int main(void)
{
    puts("skipped: built without a Fortran compiler");
    return 77;
}
