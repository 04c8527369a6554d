/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec -client: the job is one of several, perhaps of other MPI implementations, that have one MPI_COMM_WORLD. */
#ifndef LAUNCH_CLIENT_H
#define LAUNCH_CLIENT_H

#include "launch.h"

struct client;
struct joint;

/* If the options say so: meet the others at the server, and leave for the ranks what they need to know: the joint table
 * and a socket for each, which listens already. Waits for all clients; does not come back if that fails. */
void client_start(struct job *job);
/* The listening socket of a rank of the command line, ours to close when it has it; -1: there is none. */
int client_listener(const struct job *job, int rank);
/* All processes of the clients; NULL: this job is none. */
const struct joint *client_joint(const struct job *job);
/* The rank has it. */
void client_given(struct job *job, int rank);
/* What has been put for the server goes now. */
void client_flush(struct job *job);
/* TIMER_CLIENT: the server, or other clients, keep us waiting. */
void client_late(struct job *job);
/* All ranks are over: if all is well, the server is told so. */
void client_end(struct job *job);

/* client_own.c: what this client has to say of itself, from the environment and the system; does not come back from a
 * mistake. The way to the server, connected or about to be. */
struct labels_own;
int client_dial(const char *server, char text[32]);
/* Ways of authentication that the user has enabled, a bit each, and the key. */
uint32_t client_methods(int64_t *key);
/* A socket for each of own->procs that listens at the address by which the server is reached, or IMPI_HOST_NAME. */
int *client_listen(int to_server, struct labels_own *own);
/* Limits of ours, from settings. */
void client_limits(struct labels_own *own);

#endif
