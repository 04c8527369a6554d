/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm, private. Communicators over several clients of IMPI (p2p_is_foreign_ctx). In a job that is no client none
 * of this is called. */
#ifndef COMM_JOINT_IDS_H
#define COMM_JOINT_IDS_H

#include "comm/int_comm.h"

/* Ids are as at first: only that of MPI_COMM_WORLD is taken. */
void comm_clients_start(void);
/* The highest id that this process knows to be in use; collective: that any member does. */
uint64_t comm_clients_highest(void);
int comm_clients_find_highest(struct comm *comm, const char *call, uint64_t *highest);
/* That has been agreed on: the contexts of so many new communicators, in steps of two from *ctx on. Error:
 * MPI_ERR_OTHER, E1212. */
int comm_clients_take(uint64_t highest, int pairs, uint32_t *ctx);

/* The context of one that this process makes without agreeing with anybody, out of a range that only it has. Error:
 * MPI_ERR_OTHER, E1212. */
int comm_clients_take_own(uint32_t *ctx);

bool comm_clients_has_foreign(const struct group *group);
/* Has it a context of those over several clients? Then it may still have members in one only. */
bool comm_clients_spans(const struct comm *comm);
/* Have all of a group names in the joint world? Processes that were started later have none. */
bool comm_clients_are_named(const struct group *group);
/* Are all of a group of this library? For what only it does over clients, an error if not:
 * MPI_ERR_UNSUPPORTED_OPERATION, E1211. */
bool comm_clients_are_alike(const struct group *group);
int comm_clients_check_alike(const struct group *group, const char *call);
/* Tags are not below 0 between clients. What stands for that of leaders who meet on the communicator, and for that of
 * the collective call that has begun there; anywhere else `tag` itself. */
int comm_clients_leader_tag(const struct comm *comm, int tag);
int comm_clients_tree_tag(const struct comm *comm, int tag);
/* *place becomes comm_clients_own if one of the groups, of which `other` may be NULL, has members in other clients, to
 * which there are connections then: a session does not wait for those when it begins. Errors:
 * MPI_ERR_UNSUPPORTED_OPERATION, E1211, and E1213 where not all members can be told of; MPI_ERR_OTHER, E1240. */
int comm_clients_find_place(const struct group *group, const struct group *other, const char *call,
                            struct comm **place);

/* As comm_create_for and comm_split, with an old communicator over several clients. */
int comm_clients_make_of_group(struct comm *comm, struct group *group, const char *call, struct comm **out);
/* MPI_Comm_create_group: only the group calls, and it has members in other clients. Error if some of them are of
 * another implementation, which does not have the call: MPI_ERR_UNSUPPORTED_OPERATION, E1211. */
int comm_clients_create_group(struct comm *comm, struct group *group, int tag, struct comm **out);
int comm_clients_split(struct comm *comm, struct split_entry own, struct comm **out);
/* Of its members in this client, or NULL if those are all in one of two groups; the caller's. Collective over all. */
int comm_clients_home(struct comm *comm, struct comm **out);

#endif
