/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. What a rank tells its launcher, and how it finds the launcher. Shared by pm and by launch/.
 *
 * A rank has one SOCK_SEQPACKET Unix socket to the launcher; a message is one packet. The launcher never
 * sends on it: it answers by counting `acknowledged` in the rank's job_proc up by one and waking that futex
 * word. So the socket can serve as a lifeline as well: when the launcher's end closes, however the launcher
 * died, the kernel kills the rank's process group (F_SETSIG, F_SETOWN). For the same reason a rank keeps at
 * most CONTROL_WINDOW messages unacknowledged: a full socket that drains would raise the same signal.
 *
 *   offset  size  struct control_message
 *   0       4     kind
 *   4       4     place of the sender in the job segment
 *   8       4     code: exit code (ABORT)
 *   12      4     bytes of text that follow
 *   16      16    token of the job
 *   32      8     where in the program the call of MPI stands: its return address, 0: unknown
 *   40      -     text, not ended by a zero
 *
 * The environment variable PARLEY_JOB tells a rank where everything is, all numbers decimal but the token:
 *   version:launcher pid:segment descriptor:control descriptor:token in 32 hex digits:rank:size:place:places
 * (place and places: in the segment, sys/job.h; the rank of the sender in a message is its place.)
 * If a wrapper has closed the descriptors, the rank connects to the abstract address CONTROL_ADDRESS (made of
 * the token's first half and the launcher's pid), says HELLO with the whole token, and gets one packet back that
 * carries the segment's descriptor. After that the connection is its control socket.
 *
 * Who wants a report connects to the same address, says REPORT with the token, which it has read from the segment, and
 * gets the text in packets, then the end. */
#ifndef SYS_CONTROL_H
#define SYS_CONTROL_H

#include <assert.h>
#include <stdint.h>

enum {
    CONTROL_VERSION = 3,
    CONTROL_TEXT_MAX = 4000,
    CONTROL_WINDOW = 8,
};

enum control_kind {
    CONTROL_HELLO = 1, /* from a process that lost the inherited descriptors */
    CONTROL_DIAGNOSE,  /* text to be printed */
    CONTROL_ABORT,     /* end the job with code; the text says why */
    CONTROL_REPORT,    /* from mpiexec --report: what is everybody waiting for? */
    CONTROL_PRESENT,   /* job_proc.pid is known now and is not that of the process which was started, or job_place has
                        * its address */
    CONTROL_MORE,      /* the text is the beginning of a request's, which goes on */
    /* Requests. What the launcher has to say is in job_desk when they are acknowledged; the texts are strings, each
     * with its zero. */
    CONTROL_SPAWN,     /* start processes (below) */
    CONTROL_PUBLISH,   /* a service, and its port */
    CONTROL_UNPUBLISH, /* a service, and its port */
    CONTROL_LOOKUP,    /* a service; the reply is its port */
    /* Of ports of processes on other machines; struct job_visitor, struct job_caller. Numbers. */
    CONTROL_CONNECT,   /* entry, number of the call, owner, his tenant, port: the caller waits in that entry */
    CONTROL_WITHDRAW,  /* number of the call: he waits no more. Count of the reply: 1; 0: he is accepted already */
    CONTROL_ACCEPT,    /* visitor, number of the call, port, tag. Count of the reply: 1, with the process; 0: gone. The
                        * reply of one of another job has the tag as its text, and CONTROL_GROUP follows */
    CONTROL_CLOSE,     /* port */
    /* Of ports and processes of other jobs (launch/bonds.c). */
    CONTROL_OPEN,      /* be reachable for others. The reply: the number of the TCP port, the key in 32 hex digits, and
                        * the addresses of mpiexec's machine (sys/ifaces.h) in such digits, for a rank on another one;
                        * or nothing */
    CONTROL_CALL,      /* entry, number of the call, job (16 hex digits), owner, his tenant, port, key (32 hex digits),
                        * TCP port; number of addresses, each an IP address and its scope; the places of the group: the
                        * caller waits in that entry, which is told the leader's place and the tag */
    CONTROL_GROUP,     /* that tag, and the places of the group that the visitor is connected with; none: nobody */
    CONTROL_MEET,      /* job (16 hex digits), the way to its mpiexec as in CONTROL_CALL from the key on, perhaps
                        * without addresses; of some of its processes each the place there, tenant, machine, appnum, and
                        * address in hex digits: these have places here when that has been answered */
    CONTROL_LAST = CONTROL_MEET,
};

struct control_header {
    uint32_t kind;
    uint32_t rank;
    int32_t code;
    uint32_t length;
    uint64_t token[2];
    uint64_t call_site;
};

struct control_message {
    struct control_header header;
    char text[CONTROL_TEXT_MAX + 1]; /* room for a zero, which is not sent */
};

/* A request to start processes: the number of the call and the size of the group that calls; then for each program in
 * turn: its name, its maxprocs, the number of its arguments and they, the number of its infos and these, each as key
 * and value. Numbers are decimal. */

static_assert(sizeof(struct control_header) == 40, "control_header has no holes");

/* printf format of the abstract address, behind its leading zero byte; its arguments are token[0] and the number of the
 * launcher's process, for a job on several machines has several launchers. */
#define CONTROL_ADDRESS "parley-%016llx-%d"

#define CONTROL_JOB_VARIABLE "PARLEY_JOB"

#endif
