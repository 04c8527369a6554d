/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Connections whose other machine may be gone without a word: switched off, or the cable is cut. */
#ifndef SYS_ALIVE_H
#define SYS_ALIVE_H

#include "base/setting.h"

enum { ALIVE_ROUNDS = 3 };

/* PARLEY_TCP_TIMEOUT, of ranks and of mpiexec: seconds. Whoever uses it reads it before. */
extern struct setting alive_patience;

/* The connection breaks when nothing has been heard from the other machine for ALIVE_ROUNDS times so many seconds,
 * unless something is on its way there: then the system goes on trying for as long as it likes. */
void alive_watch(int fd, int seconds);
/* Also while something is on its way. The other side must go on reading: it would be taken for gone, too, if it left
 * its buffers full for so long. */
void alive_watch_all(int fd, int seconds);

#endif
