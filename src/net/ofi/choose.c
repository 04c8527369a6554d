/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/ofi. Which network: by PARLEY_NET_FAR, and by what there is.
 * Knows: base, libfabric. */
#include "net/ofi/ofi.h"

#include <string.h>

#include "base/err.h"
#include "base/setting.h"
#include "net/ofi/int_ofi.h"

static struct setting far_setting = {
    .name = "NET_FAR",
    .help = "between machines: \"tcp\", \"ofi\" (libfabric), \"ofi:PROVIDER\", or \"auto\": ofi where a network with a "
            "provider of its own is",
    .topic = "network",
    .kind = SETTING_TEXT,
    .text = "auto",
    .must_agree = true,
};
SETTING_LISTED(far_setting);

static bool is_auto(void)
{
    return !strcmp(far_setting.text, "auto");
}

/* The provider that is asked for; NULL: none. */
static const char *asked_provider(void)
{
    return !strncmp(far_setting.text, "ofi:", 4) && far_setting.text[4] ? far_setting.text + 4 : NULL;
}

/* The first of hardware, else the first at all. */
static struct fab_info *best_of(struct fab_info *all)
{
    for (struct fab_info *i = all; i; i = i->next) {
        if (ofi_is_fabric(i->fabric->prov_name))
            return i;
    }
    return all;
}

int ofi_provider_find(struct ofi_found *out)
{
    const char *why, *asked = asked_provider();
    int rc = ofi_library_open(&out->library);

    if (rc)
        return rc;
    out->all = ofi_library_look(out->library, asked, &why);
    if (!out->all)
        return err(MPI_ERR_OTHER, "E0367: libfabric has no provider %s%s for this machine: %s",
                   asked ? asked : "of reliable datagrams", asked ? " of reliable datagrams" : "", why);
    out->info = best_of(out->all);
    return 0;
}

void ofi_provider_drop(struct ofi_found *found)
{
    if (found->all)
        found->library->freeinfo(found->all);
    found->all = found->info = NULL;
}

/* To ask libfabric takes tens of milliseconds: once in a process. */
static bool has_fabric(void)
{
    static _Atomic bool is_known, has;
    struct ofi_found found = { 0 };

    if (is_known)
        return has;
    has = ofi_has_device(OFI_DEVICES) && !ofi_provider_find(&found) && ofi_is_fabric(found.info->fabric->prov_name);
    is_known = true;
    ofi_provider_drop(&found);
    return has;
}

int ofi_choose(const struct net_ops *usual, const struct net_ops **out, bool *is_firm)
{
    int rc = setting_read(&far_setting);

    if (rc)
        return rc;
    *is_firm = !is_auto();
    *out = usual;
    if (is_auto())
        *out = has_fabric() ? &ofi_ops : usual;
    else if (!strcmp(far_setting.text, "ofi") || asked_provider())
        *out = &ofi_ops;
    else if (strcmp(far_setting.text, usual->name))
        return err(MPI_ERR_OTHER, "E0369: PARLEY_NET_FAR is \"%s\"; it must be \"auto\", \"tcp\", \"ofi\" or "
                   "\"ofi:PROVIDER\"", far_setting.text);
    return 0;
}
