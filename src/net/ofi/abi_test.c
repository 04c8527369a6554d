/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of net/ofi: what abi.h says of libfabric's binary interface, held against libfabric's headers. */
#include "net/ofi/abi.h"

#include <stdio.h>

#if __has_include(<rdma/fi_cm.h>) && __has_include(<rdma/fi_endpoint.h>)
#define HAS_HEADERS 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#pragma GCC diagnostic pop
#endif

#ifdef HAS_HEADERS

#define SAME(value, theirs) _Static_assert((value) == (theirs), #theirs)
#define PLACE(a, member, b, theirs) \
    _Static_assert(offsetof(struct a, member) == offsetof(struct b, theirs) && \
                   sizeof(((struct a *)0)->member) == sizeof(((struct b *)0)->theirs), #b " " #theirs)

SAME(FAB_MSG, FI_MSG);
SAME(FAB_RECV, FI_RECV);
SAME(FAB_SEND, FI_SEND);
SAME(FAB_MULTI_RECV, FI_MULTI_RECV);
SAME(FAB_CONTEXT, FI_CONTEXT);
SAME(FAB_CONTEXT2, FI_CONTEXT2);
SAME(FAB_ORDER_SAS, FI_ORDER_SAS);
SAME(FAB_MR_LOCAL, FI_MR_LOCAL);
SAME(FAB_MR_VIRT_ADDR, FI_MR_VIRT_ADDR);
SAME(FAB_MR_ALLOCATED, FI_MR_ALLOCATED);
SAME(FAB_MR_PROV_KEY, FI_MR_PROV_KEY);
SAME(FAB_MR_ENDPOINT, FI_MR_ENDPOINT);
SAME((int)FAB_THREAD_DOMAIN, (int)FI_THREAD_DOMAIN);
SAME((int)FAB_RM_ENABLED, (int)FI_RM_ENABLED);
SAME((int)FAB_EP_RDM, (int)FI_EP_RDM);
SAME((int)FAB_WAIT_NONE, (int)FI_WAIT_NONE);
SAME((int)FAB_WAIT_FD, (int)FI_WAIT_FD);
SAME((int)FAB_CQ_FORMAT_DATA, (int)FI_CQ_FORMAT_DATA);
SAME((int)FAB_GETWAIT, (int)FI_GETWAIT);
SAME((int)FAB_ENABLE, (int)FI_ENABLE);
SAME((int)FAB_OPT_ENDPOINT, (int)FI_OPT_ENDPOINT);
SAME((int)FAB_OPT_MIN_MULTI_RECV, (int)FI_OPT_MIN_MULTI_RECV);
SAME((int)FAB_EAVAIL, (int)FI_EAVAIL);
SAME(FAB_CONTEXT_WORDS * sizeof(void *), sizeof(struct fi_context2));
SAME(FAB_API(1, 17), FI_VERSION(1U, 17U));
SAME(sizeof(struct fab_entry), sizeof(struct fi_cq_data_entry));
_Static_assert(sizeof(struct fab_error) >= sizeof(struct fi_cq_err_entry), "an error fits");
_Static_assert(sizeof(struct fab_cq_attr) >= sizeof(struct fi_cq_attr), "what is looked at of a queue is there");
SAME(sizeof(struct fab_av_attr), sizeof(struct fi_av_attr));
SAME(sizeof(struct fab_info), sizeof(struct fi_info));
SAME(sizeof(struct fab_msg), sizeof(struct fi_msg));

PLACE(fab_fid, ops, fid, ops);
PLACE(fab_fid_ops, close, fi_ops, close);
PLACE(fab_fid_ops, bind, fi_ops, bind);
PLACE(fab_fid_ops, control, fi_ops, control);
PLACE(fab_tx_attr, msg_order, fi_tx_attr, msg_order);
PLACE(fab_tx_attr, inject_size, fi_tx_attr, inject_size);
PLACE(fab_tx_attr, iov_limit, fi_tx_attr, iov_limit);
PLACE(fab_tx_attr, class, fi_tx_attr, tclass);
PLACE(fab_rx_attr, msg_order, fi_rx_attr, msg_order);
PLACE(fab_ep_attr, type, fi_ep_attr, type);
PLACE(fab_ep_attr, max_msg_size, fi_ep_attr, max_msg_size);
PLACE(fab_domain_attr, name, fi_domain_attr, name);
PLACE(fab_domain_attr, threading, fi_domain_attr, threading);
PLACE(fab_domain_attr, resource_mgmt, fi_domain_attr, resource_mgmt);
PLACE(fab_domain_attr, mr_mode, fi_domain_attr, mr_mode);
PLACE(fab_fabric_attr, name, fi_fabric_attr, name);
PLACE(fab_fabric_attr, prov_name, fi_fabric_attr, prov_name);
PLACE(fab_info, next, fi_info, next);
PLACE(fab_info, caps, fi_info, caps);
PLACE(fab_info, mode, fi_info, mode);
PLACE(fab_info, tx, fi_info, tx_attr);
PLACE(fab_info, rx, fi_info, rx_attr);
PLACE(fab_info, ep, fi_info, ep_attr);
PLACE(fab_info, domain, fi_info, domain_attr);
PLACE(fab_info, fabric, fi_info, fabric_attr);
PLACE(fab_fabric, ops, fid_fabric, ops);
PLACE(fab_fabric_ops, domain, fi_ops_fabric, domain);
PLACE(fab_fabric_ops, trywait, fi_ops_fabric, trywait);
PLACE(fab_av_attr, flags, fi_av_attr, flags);
PLACE(fab_cq_attr, format, fi_cq_attr, format);
PLACE(fab_cq_attr, wait_obj, fi_cq_attr, wait_obj);
PLACE(fab_domain, ops, fid_domain, ops);
PLACE(fab_domain, mr, fid_domain, mr);
PLACE(fab_domain_ops, av_open, fi_ops_domain, av_open);
PLACE(fab_domain_ops, cq_open, fi_ops_domain, cq_open);
PLACE(fab_domain_ops, endpoint, fi_ops_domain, endpoint);
PLACE(fab_mr, desc, fid_mr, mem_desc);
PLACE(fab_mr_ops, reg, fi_ops_mr, reg);
PLACE(fab_av, ops, fid_av, ops);
PLACE(fab_av_ops, insert, fi_ops_av, insert);
PLACE(fab_av_ops, remove, fi_ops_av, remove);
PLACE(fab_msg, context, fi_msg, context);
PLACE(fab_ep_ops, cancel, fi_ops_ep, cancel);
PLACE(fab_ep_ops, setopt, fi_ops_ep, setopt);
PLACE(fab_cm_ops, getname, fi_ops_cm, getname);
PLACE(fab_msg_ops, recvmsg, fi_ops_msg, recvmsg);
PLACE(fab_msg_ops, send, fi_ops_msg, send);
PLACE(fab_msg_ops, sendv, fi_ops_msg, sendv);
PLACE(fab_msg_ops, inject, fi_ops_msg, inject);
PLACE(fab_ep, ops, fid_ep, ops);
PLACE(fab_ep, cm, fid_ep, cm);
PLACE(fab_ep, msg, fid_ep, msg);
PLACE(fab_entry, context, fi_cq_data_entry, op_context);
PLACE(fab_entry, flags, fi_cq_data_entry, flags);
PLACE(fab_entry, len, fi_cq_data_entry, len);
PLACE(fab_entry, buf, fi_cq_data_entry, buf);
PLACE(fab_error, err, fi_cq_err_entry, err);
PLACE(fab_error, prov_errno, fi_cq_err_entry, prov_errno);
PLACE(fab_error, err_data, fi_cq_err_entry, err_data);
PLACE(fab_error, err_data_size, fi_cq_err_entry, err_data_size);
PLACE(fab_cq, ops, fid_cq, ops);
PLACE(fab_cq_ops, read, fi_ops_cq, read);
PLACE(fab_cq_ops, readerr, fi_ops_cq, readerr);
PLACE(fab_cq_ops, strerror, fi_ops_cq, strerror);

int main(void)
{
    return 0;
}

#else

int main(void)
{
    puts("skipped: libfabric's headers are not there (apt-get install libfabric-dev)");
    return 0;
}

#endif
