/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: dyn. Dynamic processes (MPI 5.0 §11.7 to §11.10): starting some, meeting others that run, names of services.
 *
 * * What makes a communicator is collective over `comm`, an intracommunicator, and blocks; arguments before `root`
 * count at the root only. The other processes get the class of an error of the root. Several threads may call at once,
 * each with another communicator. Errors of all: MPI_ERR_NO_MEM; MPI_ERR_UNSUPPORTED_OPERATION where there is no
 * mpiexec of ours. Infos may be NULL. */
#ifndef DYN_DYN_H
#define DYN_DYN_H

#include <mpi.h>
#include <stdbool.h>

#include "obj/blocked.h"
#include "obj/comm.h"
#include "progress/progress.h"

struct info;
struct pm_job;

/* Once, before the others. `job` stays where it is; `begin` makes a process that runs alone part of a job, with an
 * mpiexec of its own: 0, or an error that says why `what` cannot be done. */
void dyn_init(struct pm_job *job, int (*begin)(const char *what));

/* §11.8.2. *out is the intercommunicator with the new processes. `codes` has room for maxprocs, or is NULL. Errors:
 * MPI_ERR_SPAWN if that is not what can be started, with the reason; MPI_ERR_ARG for a maxprocs of 0. */
int dyn_spawn(const char *command, char *argv[], int maxprocs, struct info *info, int root, struct comm *comm,
              struct comm **out, int codes[]);
/* §11.8.3: so many programs, which make one world. The infos are handles. `codes` has room for all. */
int dyn_spawn_multiple(int count, char *commands[], char **argvs[], const int maxprocs[], const MPI_Info infos[],
                       int root, struct comm *comm, struct comm **out, int codes[]);
/* In a process that others have started: meet them. Collective over its MPI_COMM_WORLD. */
int dyn_meet_parents(struct comm *world);

/* §11.9.2. `name` has room for MPI_MAX_PORT_NAME. Local. Error: MPI_ERR_PORT if too many are open. */
int dyn_open_port(char *name);
/* Error: MPI_ERR_PORT if this process has no such port open. */
int dyn_close_port(const char *name);
/* Waits for a call of dyn_connect, for ever. Error: MPI_ERR_PORT if this process has no such port open. */
int dyn_accept(const char *name, int root, struct comm *comm, struct comm **out);
/* §11.9.3. Waits for an accept, for ever or for as many seconds as the info "timeout" says. Errors: MPI_ERR_PORT if
 * there is no such port, or no more, or the time is over; MPI_ERR_INFO_VALUE. */
int dyn_connect(const char *name, struct info *info, int root, struct comm *comm, struct comm **out);

/* §11.9.4, local. Errors: MPI_ERR_SERVICE for a service that is published already, or is not; MPI_ERR_NAME for a look
 * in vain; MPI_ERR_PORT for a port that is too long. `port` of lookup has room for MPI_MAX_PORT_NAME. */
int dyn_publish(const char *service, const char *port);
int dyn_unpublish(const char *service, const char *port);
int dyn_lookup(const char *service, char *port);

/* §11.10.5. *out is NULL if the process at the other end cannot be reached by anything but the socket. Error:
 * MPI_ERR_ARG if this is no connected socket, MPI_ERR_OTHER if it ends. */
int dyn_join(int fd, struct comm **out);

/* What a long wait waits for. False: nothing of this room. */
bool dyn_describe_wait(const struct progress_long *wait, struct blocked *out) COLD;

#endif
