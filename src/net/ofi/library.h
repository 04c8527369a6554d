/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/ofi. libfabric, opened by name when somebody asks for it, and what its providers offer. */
#ifndef NET_OFI_LIBRARY_H
#define NET_OFI_LIBRARY_H

#include <stdbool.h>

#include "net/ofi/abi.h"

#define OFI_DEVICES "/sys/class"

enum { OFI_NAME_SIZE = 64 };

/* Its functions. */
struct ofi_library {
    void *handle;
    int (*getinfo)(uint32_t api, const char *node, const char *service, uint64_t flags, const struct fab_info *hints,
                   struct fab_info **out);
    void (*freeinfo)(struct fab_info *info);
    struct fab_info *(*dupinfo)(const struct fab_info *info);
    int (*fabric)(struct fab_fabric_attr *attr, struct fab_fabric **out, void *context);
    uint32_t (*version)(void);
    const char *(*strerror)(int error);
    uint32_t api;               /* the one that we ask for */
};

/* Open it, once; it stays. 0, or E0366: it is not there, or too old. Any thread. */
int ofi_library_open(const struct ofi_library **out);
/* The error of a function of it (a negative number) in words. */
const char *ofi_library_text(const struct ofi_library *library, ssize_t rc);

/* What can carry reliable datagrams, the library's best first; of this provider only, if it is not NULL. NULL: nothing;
 * `why` is then the library's error in words. Free it with library->freeinfo. */
struct fab_info *ofi_library_look(const struct ofi_library *library, const char *provider, const char **why);
/* Is that a provider of a network of its own, and none that goes through the system's sockets or memory? */
bool ofi_is_fabric(const char *provider);
/* Is there a device that such a provider could use, by what the system says in files below `root`, OFI_DEVICES: a port
 * that is up and no Ethernet, or Slingshot? Cheap: libfabric is not asked. */
bool ofi_has_device(const char *root);

#endif
