/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4, inside. What belongs to the keeper's process alone. Keepers of other clusters talk to that of the
 * first one, in lines:
 *
 *   from the others    hello KEY ENTRY FORM      who it is, and the form of its numbers
 *                      ports PORT...             where its processes listen
 *                      gone ID                   a process has ended
 *                      fail CODE TEXT            the run is to end; the text says why
 *                      bye                       all has ended in order
 *   to the others      config COUNT FIRST TOTAL DEBUG_LEVEL ARENA
 *                      clusters FIRST...         first id of each cluster
 *                      directory PATH, output PATH, xdr
 *                      peer ID ADDRESS PORT FORM  "-" for an address: the one that the first cluster was reached by
 *                      here FIRST COUNT PLACE    processes of the same host, and where they are in its segment
 *                      run                       that was all
 *                      gone ID
 *                      end CODE                  the run ends */
#ifndef P4_INT_KEEPER_H
#define P4_INT_KEEPER_H

#include <stdarg.h>
#include <sys/types.h>

#include "p4/int_start.h"

enum { LINE_MAX_LEN = 8192 };

/* Of the process at `place` of this cluster. */
struct job_proc *keeper_proc(int place);
/* Say why on standard error, and end the run. Returns. */
void keeper_fail(const char *format, ...) PRINTF_LIKE(1, 2);

/* stall.c: if all `count` processes of the only cluster wait for each other, say so, once. To be called often. */
void stall_look(int count);

/* hosts.c: start the other clusters and tell all where everybody is. Returns false after keeper_fail. The remote shells
 * are children of this process. */
bool hosts_start(const struct cluster_plan *plan);
/* One of them has ended; false: that was none. */
bool hosts_shell_ended(pid_t pid, int status);
/* How many have not. */
int hosts_shells(void);
/* After a start that has failed: end them, so that nobody complains of what has been told. */
void hosts_end_shells(void);

/* hub.c: connections among keepers. hub_add: of cluster `cluster`, as seen from the first one; or, cluster 0, to it. */
void hub_add(int fd, int cluster);
/* How many are open; for poll: their descriptors. */
int hub_fds(int *fds);
/* Something has come: act on it. */
void hub_read(int fd);
/* To all that are connected; `except`: a descriptor, or -1. */
void hub_tell(int except, const char *format, ...) PRINTF_LIKE(2, 3);
int hub_count(void);
/* Nothing more is to be told. Waits until the others have read all: what came from them and was not read would make the
 * system drop our last words. */
void hub_close(void);
/* In a child: they are not its own. */
void hub_forget(void);

/* A line without its end, waited for at most `seconds`; false: nothing, or too long. */
bool line_read(int fd, char line[LINE_MAX_LEN], int seconds);
bool line_write(int fd, const char *format, ...) PRINTF_LIKE(2, 3);
bool line_write_args(int fd, const char *format, va_list args) PRINTF_LIKE(2, 0);

/* config.c: one line of what the master of a cluster is told, and changed here. `hub`: the address that "-" stands for.
 * False: that cannot be. */
bool config_take(char *line, struct cluster_plan *plan, const char *hub);

/* keeper.c: what another keeper says. */
void keeper_heard_gone(int id, int from_fd);
void keeper_heard_end(int code);

#endif
