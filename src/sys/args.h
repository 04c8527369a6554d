/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. The arguments that this program was started with. */
#ifndef SYS_ARGS_H
#define SYS_ARGS_H

/* As main has them, also when main does not hand them on; the program may have changed them since. 0 and NULL where the
 * C library does not tell. */
int args_get(char ***argv);

#endif
