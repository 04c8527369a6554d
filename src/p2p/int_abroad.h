/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. What the rest of the room needs of abroad.c: processes of other clients of a joint job. With the lane's
 * lock. */
#ifndef P2P_INT_ABROAD_H
#define P2P_INT_ABROAD_H

#include "p2p/int_p2p.h"

struct impi_packet;
struct joint;

/* The lane's net to such processes. Errors: impi_open's. */
int foreign_open(struct lane *lane, const struct p2p_config *config);
void foreign_close(struct lane *lane); /* the net has been closed */
/* The sink of that net. */
int foreign_packet(void *lane, int proc, const struct impi_packet *packet, const void *data, const char **wrong);

/* All processes of all clients, for a communicator over several. Is a process of this library? Bytes in a packet to it;
 * an id of ours on the wire. */
const struct joint *foreign_joint(const struct comm *comm);
bool foreign_is_parley(const struct peer *peer);
size_t foreign_maxlen(const struct peer *peer);
uint64_t foreign_next_id(struct lane *lane);
/* part_abroad.c: is the packet, of another process of this library, of a partitioned message? It has come. */
bool part_is_abroad(const struct impi_packet *packet);
int part_on_packet(const struct peer *peer, const struct impi_packet *packet, const void *data, const char **wrong);

/* parcel_abroad.c: the same of parcels. */
bool parcel_is_abroad(const struct impi_packet *packet);
int parcel_on_packet(struct peer *peer, const struct impi_packet *packet, const void *data, const char **wrong);

/* within.c: does all that is to go to a rank of another client fit external32? Error: MPI_ERR_CONVERSION, E1242. */
int foreign_check_fit(const struct channel *channel, const struct type *type, const void *buf, MPI_Count count,
                      int dest, int tag);
/* A send begins whose peer is such a process; WIRE_SYNC stands in its flags. It fails, and nothing goes out, if the
 * data do not fit. */
void foreign_send(struct p2p_req *r);
/* Its `push`, for those who want to know what waits. */
int foreign_push(struct outgoing *out, struct peer *peer);
/* Send more of a message that has been matched; true when all is out. */
bool foreign_stream(struct p2p_req *r, int *sent);
/* Ask the other side to give up a send that it has been offered. */
void foreign_ask_back(struct p2p_req *r);

/* A message of kind WIRE_FOREIGN has met its receive. */
void foreign_deliver(struct p2p_req *r, const struct arrival *a, const void *payload);
/* What it says of its collective call; 0: nothing. */
uint64_t foreign_note(const struct message *message);
/* It goes unanswered. */
void foreign_drop(const struct message *message);
/* The rank of its sender, which says that it is `rank`; MPI_UNDEFINED: it is no member. */
int foreign_source(const struct channel *channel, int proc, int rank);

#endif
