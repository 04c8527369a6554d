/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. A descriptor handed over a Unix packet socket. */
#ifndef SYS_PASS_H
#define SYS_PASS_H

#include <stdbool.h>

/* One packet that carries `fd`; does not block. False with errno. */
bool pass_send(int socket, int fd);

/* The descriptor that the next packet carries, closed at exec; blocks as the socket does. -1 with errno: ECONNREFUSED
 * if the packet carries none or the other side has closed. */
int pass_receive(int socket);

#endif
