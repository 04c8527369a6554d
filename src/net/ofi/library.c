/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/ofi. libfabric: opened by name at first need, its functions by the version of their symbols, so that newer
 * libraries give us what abi.h describes.
 * Knows: base, sys. */
#include "net/ofi/library.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/setting.h"
#include "sys/text.h"

static struct setting library_setting = {
    .name = "OFI_LIBRARY",
    .help = "libfabric's file, for networks with providers there",
    .topic = "network",
    .kind = SETTING_TEXT,
    .text = "libfabric.so.1",
};
SETTING_LISTED(library_setting);

static struct {
    pthread_mutex_t lock;
    struct ofi_library library;
} opened = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* One function into the table, whatever its type. */
static bool find(void *handle, const char *name, const char *version, void *place)
{
    void *const function = dlvsym(handle, name, version);

    memcpy(place, &function, sizeof function);
    return function != NULL;
}

static bool find_all(void *handle, struct ofi_library *library)
{
    return find(handle, "fi_getinfo", "FABRIC_1.3", &library->getinfo) &&
           find(handle, "fi_freeinfo", "FABRIC_1.3", &library->freeinfo) &&
           find(handle, "fi_dupinfo", "FABRIC_1.3", &library->dupinfo) &&
           find(handle, "fi_fabric", "FABRIC_1.1", &library->fabric) &&
           find(handle, "fi_version", "FABRIC_1.0", &library->version) &&
           find(handle, "fi_strerror", "FABRIC_1.0", &library->strerror);
}

static int open_locked(struct ofi_library *out)
{
    const uint32_t newest = FAB_API(1, 17);
    struct ofi_library library = { 0 };
    const int rc = setting_read(&library_setting);
    uint32_t version;

    if (rc)
        return rc;
    library.handle = dlopen(library_setting.text, RTLD_NOW | RTLD_LOCAL);
    if (!library.handle)
        return err(MPI_ERR_OTHER, "E0366: libfabric cannot be opened: %s", dlerror());
    if (!find_all(library.handle, &library)) {
        dlclose(library.handle);
        return err(MPI_ERR_OTHER, "E0366: %s is no libfabric, or one older than 1.9", library_setting.text);
    }
    version = library.version();
    library.api = version < newest ? version : newest;
    *out = library;
    return 0;
}

int ofi_library_open(const struct ofi_library **out)
{
    int rc = 0;

    pthread_mutex_lock(&opened.lock);
    if (!opened.library.handle)
        rc = open_locked(&opened.library);
    pthread_mutex_unlock(&opened.lock);
    *out = &opened.library;
    return rc;
}

const char *ofi_library_text(const struct ofi_library *library, ssize_t rc)
{
    return library->strerror((int)-rc);
}

/* What we need: reliable datagrams into buffers that take several. Better: in order, and no overrun of queues. */
static void fill_hints(struct fab_info *hints, bool is_better)
{
    hints->caps = FAB_MSG | FAB_MULTI_RECV;
    hints->mode = FAB_CONTEXT | FAB_CONTEXT2;
    hints->ep->type = FAB_EP_RDM;
    hints->domain->threading = FAB_THREAD_DOMAIN;
    hints->domain->mr_mode = FAB_MR_LOCAL | FAB_MR_VIRT_ADDR | FAB_MR_ALLOCATED | FAB_MR_PROV_KEY | FAB_MR_ENDPOINT;
    hints->domain->resource_mgmt = is_better ? FAB_RM_ENABLED : 0;
    hints->tx->msg_order = hints->rx->msg_order = is_better ? FAB_ORDER_SAS : 0;
}

struct fab_info *ofi_library_look(const struct ofi_library *library, const char *provider, const char **why)
{
    struct fab_info *hints = library->dupinfo(NULL), *found = NULL;
    char name[OFI_NAME_SIZE];
    int rc = -1;

    *why = "no memory";
    if (!hints)
        return NULL;
    if (provider) {
        memcpy(name, provider, size_min(strlen(provider) + 1, sizeof name));
        name[sizeof name - 1] = 0;
        hints->fabric->prov_name = name;
    }
    for (int is_better = 1; is_better >= 0 && rc; is_better--) {
        fill_hints(hints, is_better);
        rc = library->getinfo(library->api, NULL, NULL, 0, hints, &found);
    }
    hints->fabric->prov_name = NULL; /* ours */
    library->freeinfo(hints);
    *why = ofi_library_text(library, rc);
    return rc ? NULL : found;
}

bool ofi_is_fabric(const char *provider)
{
    static const char *const names[] = { "verbs", "efa", "cxi", "psm", "psm2", "psm3", "opx", "gni", "usnic", "ucx",
                                         "mlx", "bgq" };
    const size_t len = strcspn(provider, ";");

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strlen(names[i]) == len && !memcmp(names[i], provider, len))
            return true;
    }
    return false;
}

/* Is there an entry in this folder of which that is true? */
static bool has_such(const char *folder, bool (*is_such)(const char *path))
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    char path[PATH_MAX];
    bool has = false;

    if (!dir)
        return false;
    while (!has && (entry = readdir(dir))) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        has = entry->d_name[0] != '.' && is_such(path);
    }
    closedir(dir);
    return has;
}

static bool is_there(const char *path)
{
    (void)path;
    return true;
}

/* Over Ethernet (RoCE, iWARP) there may be nobody at the other end who would answer. */
static bool is_port_up(const char *path)
{
    char file[PATH_MAX + 16], text[64];

    snprintf(file, sizeof file, "%s/state", path);
    if (!text_read(file, text, sizeof text) || strncmp(text, "4:", 2))
        return false;
    snprintf(file, sizeof file, "%s/link_layer", path);
    return text_read(file, text, sizeof text) && strncmp(text, "Ethernet", 8) != 0;
}

static bool has_port(const char *path)
{
    char folder[PATH_MAX + 16];

    snprintf(folder, sizeof folder, "%s/ports", path);
    return has_such(folder, is_port_up);
}

bool ofi_has_device(const char *root)
{
    char folder[PATH_MAX];

    snprintf(folder, sizeof folder, "%s/infiniband", root);
    if (has_such(folder, has_port))
        return true;
    snprintf(folder, sizeof folder, "%s/cxi", root);
    return has_such(folder, is_there);
}
