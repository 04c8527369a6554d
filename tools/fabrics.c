/* SPDX-License-Identifier: BSD-3-Clause */
/* What networks libfabric offers on this machine, for mpiexec --doctor, which is linked statically and opens no
 * libraries. A line each: "device", if there is hardware of such a network; "fabric NAME" and "software NAME", a
 * provider; "error TEXT", why there is none. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "net/ofi/library.h"

/* Has the list named it before? */
static bool is_known(const struct fab_info *all, const struct fab_info *info)
{
    for (; all != info; all = all->next) {
        if (!strcmp(all->fabric->prov_name, info->fabric->prov_name))
            return true;
    }
    return false;
}

static void list(const struct ofi_library *library)
{
    const char *why;
    struct fab_info *all = ofi_library_look(library, NULL, &why);

    if (!all)
        printf("error libfabric offers nothing: %s\n", why);
    for (const struct fab_info *i = all; i; i = i->next) {
        if (!is_known(all, i))
            printf("%s %s\n", ofi_is_fabric(i->fabric->prov_name) ? "fabric" : "software", i->fabric->prov_name);
    }
    if (all)
        library->freeinfo(all);
}

int main(void)
{
    const struct ofi_library *library;
    const int rc = ofi_library_open(&library);
    char text[ERR_TEXT_SIZE];

    if (ofi_has_device(OFI_DEVICES))
        puts("device");
    if (!rc) {
        list(library);
        return 0;
    }
    err_text(rc, text, sizeof text);
    printf("error %s\n", text);
    return 0;
}
