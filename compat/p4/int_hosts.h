/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4, inside. What starting on other hosts and reporting there share: addresses, listeners. */
#ifndef P4_INT_HOSTS_H
#define P4_INT_HOSTS_H

#include "p4/int_start.h"

/* In the environment of the master of a cluster: "HOST PORT ENTRY" to report to. If it is started by the first one's
 * own shell: "FD PLACE PLACES" behind it, the segment of the host and its first process's place in there. */
#define HOSTS_VARIABLE "P4_REMOTE"

/* The form of numbers here: byte order, and the sizes of int, long, float, double. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define HOSTS_ORDER "big"
#else
#define HOSTS_ORDER "little"
#endif
#ifdef __LP64__
#define HOSTS_FORM HOSTS_ORDER "4848"
#else
#define HOSTS_FORM HOSTS_ORDER "4448"
#endif

/* A socket that anybody may connect to, closed at exec, and its port. Ends in p4_error. */
int hosts_open_listener(char port[8]);
/* Port of the process with this id, of this host. */
const char *hosts_port(int id);
/* The address by which a host reaches this one, or this host's name if the way there is not known. */
void hosts_own_address(const char *host, char *address, size_t size);
/* Numeric address of the other side; "-": it is this host. */
void hosts_peer_address(int fd, char *address, size_t size);
void hosts_set_peer(int id, const char *address, const char *port, const char *form);

#endif
