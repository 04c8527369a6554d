/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Descriptors that the library opens for itself. */
#ifndef SYS_DESCRIPTOR_H
#define SYS_DESCRIPTOR_H

/* The same file under a number that is none of the standard streams': a program may have closed those, and what it then
 * prints must not go into a socket of ours. Closed at exec. The old number is given up, unless no other is to be had.
 * What is negative stays as it is, with errno. */
int descriptor_apart(int fd);

/* How connecting this socket of TCP has come out, once that is known: 0, or the errno. Who calls a port of this machine
 * at which nobody listens may be given that very port to call from, and so reach himself: that is ECONNREFUSED. */
int descriptor_connected(int fd);

#endif
