/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4, inside. Processes of other hosts. */
#ifndef P4_INT_REMOTE_H
#define P4_INT_REMOTE_H

#include "p4/int_message.h"

/* As in int_message.h; `id` is of another host. */
bool remote_is_gone(int id);
/* Has its machine another form of numbers than this one? Any id. */
bool remote_is_unlike(int id);
int remote_send(int to, const struct envelope *e, const void *data, size_t len, void (*gone)(void *arg), void *arg);
bool remote_is_pending(void);
void remote_give_up(void);

/* There are other hosts, and their processes connect to this socket. Before the engine runs. */
void remote_open(int listener);
/* The engine runs: look for news from now on. */
void remote_start(void);
/* Nothing will be sent any more; remote_is_pending until all that was sent has been taken in. */
void remote_end(void);
/* The engine is about to go down: nothing of ours wakes anybody any more. */
void remote_stop(void);
/* In a child that has been forked: the connections are the parent's. */
void remote_forked(void);

#endif
