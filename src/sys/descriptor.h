/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Descriptors that the library opens for itself. */
#ifndef SYS_DESCRIPTOR_H
#define SYS_DESCRIPTOR_H

/* The same file under a number that is none of the standard streams': a program may have closed those, and what it then
 * prints must not go into a socket of ours. Closed at exec. The old number is given up, unless no other is to be had.
 * What is negative stays as it is, with errno. */
int descriptor_apart(int fd);

#endif
