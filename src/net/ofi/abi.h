/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/ofi. What is known of libfabric's binary interface, version 1.3 of its symbols, which every library since
 * 1.9 offers and keeps: so nothing of libfabric has to be there when this is compiled. Where its headers are,
 * abi_test.c holds this against them. What is not used is left out at the end of a struct and has no name before that.
 *
 * Objects begin with a struct fab_fid; their functions stand in tables. What fails is a negative errno, some above 255
 * are its own. */
#ifndef NET_OFI_ABI_H
#define NET_OFI_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#define FAB_BIT(n) (UINT64_C(1) << (n))
#define FAB_API(major, minor) ((uint32_t)(major) << 16 | (minor))

/* Capabilities, flags of operations and completions, modes, order. */
#define FAB_MSG         FAB_BIT(1)
#define FAB_RECV        FAB_BIT(10)
#define FAB_SEND        FAB_BIT(11)
#define FAB_MULTI_RECV  FAB_BIT(16)
#define FAB_CONTEXT     FAB_BIT(59)
#define FAB_CONTEXT2    FAB_BIT(52)
#define FAB_ORDER_SAS   FAB_BIT(8)

enum {
    FAB_MR_LOCAL = 1 << 2,
    FAB_MR_VIRT_ADDR = 1 << 4,
    FAB_MR_ALLOCATED = 1 << 5,
    FAB_MR_PROV_KEY = 1 << 6,
    FAB_MR_ENDPOINT = 1 << 9,
    FAB_THREAD_DOMAIN = 3,
    FAB_RM_ENABLED = 2,
    FAB_EP_RDM = 3,
    FAB_WAIT_NONE = 0,
    FAB_WAIT_FD = 3,
    FAB_CQ_FORMAT_DATA = 3,
    FAB_GETWAIT = 5,            /* commands of control */
    FAB_ENABLE = 6,
    FAB_OPT_ENDPOINT = 0,
    FAB_OPT_MIN_MULTI_RECV = 0,
    FAB_CONTEXT_WORDS = 8,      /* of memory that an operation lends to the library */
    FAB_EAVAIL = 259,           /* an error can be read */
};

struct fab_fid;

struct fab_fid_ops {
    size_t size;
    int (*close)(struct fab_fid *fid);
    int (*bind)(struct fab_fid *fid, struct fab_fid *to, uint64_t flags);
    int (*control)(struct fab_fid *fid, int command, void *arg);
};

struct fab_fid {
    size_t kind;
    void *context;
    struct fab_fid_ops *ops;
};

/* --- what there is --- */

struct fab_tx_attr {
    uint64_t caps, mode, op_flags, msg_order, comp_order;
    size_t inject_size, size, iov_limit, rma_iov_limit;
    uint32_t class;
};

struct fab_rx_attr {
    uint64_t caps, mode, op_flags, msg_order, comp_order;
    size_t buffered, size, iov_limit;
};

struct fab_ep_attr {
    int type;
    uint32_t protocol, protocol_version;
    size_t max_msg_size;
};

struct fab_domain_attr {
    void *domain;
    char *name;
    int threading, control_progress, data_progress, resource_mgmt, av_type, mr_mode;
};

struct fab_fabric_attr {
    void *fabric;
    char *name, *prov_name;
    uint32_t prov_version, api_version;
};

struct fab_info {
    struct fab_info *next;
    uint64_t caps, mode;
    uint32_t addr_format;
    size_t src_size, dest_size;
    void *src, *dest;
    struct fab_fid *handle;
    struct fab_tx_attr *tx;
    struct fab_rx_attr *rx;
    struct fab_ep_attr *ep;
    struct fab_domain_attr *domain;
    struct fab_fabric_attr *fabric;
    void *nic;
};

/* --- fabric and domain --- */

struct fab_fabric;
struct fab_domain;
struct fab_ep;

struct fab_fabric_ops {
    size_t size;
    int (*domain)(struct fab_fabric *fabric, struct fab_info *info, struct fab_domain **out, void *context);
    void (*unused[3])(void);
    int (*trywait)(struct fab_fabric *fabric, struct fab_fid **fids, int count);
};

struct fab_fabric {
    struct fab_fid fid;
    struct fab_fabric_ops *ops;
};

struct fab_av_attr {
    int type, rx_ctx_bits;
    size_t count, ep_per_node;
    const char *name;
    void *map;
    uint64_t flags;
};

struct fab_cq_attr {
    size_t size;
    uint64_t flags;
    int format, wait_obj, signaling_vector, wait_cond;
    void *wait_set;
    void *xpu_ctx;              /* of newer libraries */
};

struct fab_av;
struct fab_cq;

struct fab_domain_ops {
    size_t size;
    int (*av_open)(struct fab_domain *domain, struct fab_av_attr *attr, struct fab_av **out, void *context);
    int (*cq_open)(struct fab_domain *domain, struct fab_cq_attr *attr, struct fab_cq **out, void *context);
    int (*endpoint)(struct fab_domain *domain, struct fab_info *info, struct fab_ep **out, void *context);
};

struct fab_mr {
    struct fab_fid fid;
    void *desc;
    uint64_t key;
};

struct fab_mr_ops {
    size_t size;
    int (*reg)(struct fab_fid *fid, const void *buf, size_t len, uint64_t access, uint64_t offset, uint64_t key,
               uint64_t flags, struct fab_mr **out, void *context);
};

struct fab_domain {
    struct fab_fid fid;
    struct fab_domain_ops *ops;
    struct fab_mr_ops *mr;
};

/* --- addresses --- */

struct fab_av_ops {
    size_t size;
    int (*insert)(struct fab_av *av, const void *address, size_t count, uint64_t *out, uint64_t flags, void *context);
    void (*unused[2])(void);
    int (*remove)(struct fab_av *av, uint64_t *address, size_t count, uint64_t flags);
};

struct fab_av {
    struct fab_fid fid;
    struct fab_av_ops *ops;
};

/* --- the endpoint --- */

struct fab_msg {
    const struct iovec *iov;
    void **desc;
    size_t count;
    uint64_t address;
    void *context;
    uint64_t data;
};

struct fab_ep_ops {
    size_t size;
    ssize_t (*cancel)(struct fab_fid *fid, void *context);
    int (*getopt)(struct fab_fid *fid, int level, int name, void *value, size_t *size_of_it);
    int (*setopt)(struct fab_fid *fid, int level, int name, const void *value, size_t size_of_it);
};

struct fab_cm_ops {
    size_t size;
    void (*unused)(void);
    int (*getname)(struct fab_fid *fid, void *address, size_t *size_of_it);
};

struct fab_msg_ops {
    size_t size;
    void (*unused[2])(void);
    ssize_t (*recvmsg)(struct fab_ep *ep, const struct fab_msg *msg, uint64_t flags);
    ssize_t (*send)(struct fab_ep *ep, const void *buf, size_t len, void *desc, uint64_t address, void *context);
    ssize_t (*sendv)(struct fab_ep *ep, const struct iovec *iov, void **desc, size_t count, uint64_t address,
                     void *context);
    void (*unused_too)(void);
    ssize_t (*inject)(struct fab_ep *ep, const void *buf, size_t len, uint64_t address);
};

struct fab_ep {
    struct fab_fid fid;
    struct fab_ep_ops *ops;
    struct fab_cm_ops *cm;
    struct fab_msg_ops *msg;
};

/* --- completions --- */

struct fab_entry {
    void *context;
    uint64_t flags;
    size_t len;
    void *buf;
    uint64_t data;
};

struct fab_error {
    void *context;
    uint64_t flags;
    size_t len;
    void *buf;
    uint64_t data, tag;
    size_t left_out;
    int err, prov_errno;
    void *err_data;
    size_t err_data_size;
    uint64_t source;            /* of newer libraries */
};

struct fab_cq_ops {
    size_t size;
    ssize_t (*read)(struct fab_cq *cq, void *entries, size_t count);
    void (*unused)(void);
    ssize_t (*readerr)(struct fab_cq *cq, struct fab_error *error, uint64_t flags);
    void (*unused_too[3])(void);
    const char *(*strerror)(struct fab_cq *cq, int prov_errno, const void *err_data, char *buf, size_t size_of_it);
};

struct fab_cq {
    struct fab_fid fid;
    struct fab_cq_ops *ops;
};

#endif
