/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/impi. The way to processes of other clients, which may be of other implementations: packets of IMPI 0.0
 * over one connection for each pair of hosts. Each process of ours is a host of its own; one of theirs may have
 * many. The packets are net/impi/packet.h's, not the records of net.h, so of struct net_ops this has only what is
 * the same for every transport: waiting, polling, the loss of a process.
 *
 * Processes are called by their numbers (sys/joint.h). As with every net: one thread at a time, and nothing waits. */
#ifndef NET_IMPI_IMPI_H
#define NET_IMPI_IMPI_H

#include "net/impi/packet.h"
#include "net/net.h"

struct joint;

enum { IMPI_WRONG = 1 };

struct impi_config {
    const struct joint *joint; /* stays as it is */
    int rank;                  /* joint rank of this process */
    int listener;              /* listens where the table says; stays open, but listens only until all are connected */
    /* A packet has come, other than PROTOACK and FINI; `data` are its bytes and valid during the call only. 0;
     * NET_AGAIN when there is no memory now, and then it is offered again; IMPI_WRONG if it makes no sense, with a
     * text in *wrong that says what it is ("an answer to …"): that is the end of the connection. May send, but not
     * poll. */
    int (*packet)(void *arg, int proc, const struct impi_packet *packet, const void *data, const char **wrong);
    void (*lost)(void *arg, int proc, int error); /* as in struct net_sink */
    /* A little later, once: a process of the first host that has gone without leaving, since the protocol has no other
     * way to say that a job is at its end. From a poll, which it need not return to. NULL: nobody wants to know. */
    void (*broken)(void *arg, int proc);
    void *arg;
};

/* Begin to connect to the hosts of the other clients, those with a lower index, and to take the connections of the
 * others. Errors: no memory, no descriptor, a setting. */
int impi_open(const struct impi_config *config, struct net **out);
/* All connections stand, or this has failed (*rc is an error then, not 0). From then on nobody listens. */
bool impi_is_connected(struct net *net, int *rc);
/* The same of the one connection to this process, which may end later. */
bool impi_is_linked(struct net *net, int proc, int *rc);
/* Nothing more will be sent: FINI goes out behind what waits. Further calls do nothing. */
void impi_leave(struct net *net);
/* All others have said so, too, or are lost: *rc is 0, or the error of one that went without it. */
bool impi_has_left(struct net *net, int *rc);

/* A packet on its way out. */
struct impi_out;

/* Begin one to the process of `ep`: all but src and dest must be set. Credit and room are there, else NULL: nothing
 * has happened, poll and try again. */
struct impi_out *impi_begin(struct net_ep *ep, const struct impi_packet *packet);
/* Its bytes, packet->len of them, to be filled in … */
void *impi_data(struct impi_out *out);
/* … and on its way. */
void impi_send(struct net_ep *ep, struct impi_out *out);

/* connect (owned by the net), close (at once; who has not left is lost to the others), poll, poll_ep, is_silent,
 * wait_fd, take and can_copy (nothing), pace, wake, and wishes: those of the other side are that everything be
 * offered, always, since nothing of it can go the short ways. */
extern const struct net_ops impi_ops;

#endif
