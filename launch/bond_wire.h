/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: what two mpiexecs of different jobs send each other over TCP, when a process of one connects to a port of
 * the other (MPI 5.0 §11.9). Pure functions on bytes, which may come from anybody; who sends them: bonds.c.
 *
 * First come greetings, by which both prove that they know the key which stands in the name of the port; it never goes
 * over the wire:
 *
 *   caller                                 who answers
 *   nonce, ranges that are taken      →
 *                                     ←    nonce, the bond's range, proof
 *   proof                             →
 *
 * Then frames (struct frame), numbers as the machines have them:
 *
 *   kind     rank             value            bytes
 *   CALL     owner's place    tag              struct bond_port; struct bond_member of the group's, first its leader
 *   ANSWER   -1               tag              the same of the other group; none: refused for the reason -1 - rank
 *   READY    0                tag              the answer's group has places; or not, for the reason -1 - rank
 *   LEAVE    -1               tag              -                  the caller waits no more
 *   OVER     place            exit code        -                  this process has failed, or is ended for one that has
 *   GONE     place            tenant           -                  this process has ended, as it should; another one may
 *                                                                 have its place from now on
 *   WELCOME  -1               -                -                  who has been called keeps this bond, and not one that
 *                                                                 it has called for at the same time
 *   BYE      -1               -                -                  all of them have ended, as they should */
#ifndef LAUNCH_BOND_WIRE_H
#define LAUNCH_BOND_WIRE_H

#include "frame.h"

enum {
    BOND_VERSION = 3,
    BOND_HOST_SIZE = 56,
    BOND_RANGES = 256,         /* of contexts */
    BOND_GROUP_MAX = 1 << 16,  /* members of a group that are read */
};

struct bond_greeting {
    uint64_t magic;
    uint32_t version, order;
    uint64_t job, nonce, proof;
    uint32_t pid, range;
    uint64_t ranges[BOND_RANGES / 64]; /* a bit for each that the caller has with others */
    char host[BOND_HOST_SIZE];
};

enum bond_step { BOND_CALLS = 1, BOND_ANSWERS, BOND_PROVES };

enum bond_kind { BOND_CALL = 1, BOND_ANSWER, BOND_READY, BOND_LEAVE, BOND_OVER, BOND_GONE, BOND_WELCOME, BOND_BYE,
                 BOND_KINDS };

struct bond_port {
    uint32_t number, tenant;
    uint32_t room; /* for how many processes of the other group the caller's job has places */
};

struct bond_member {
    uint32_t home;   /* place in its job, … */
    uint32_t tenant; /* … which so many have had before */
    uint32_t node;   /* its machine there */
    uint32_t appnum;
    uint32_t size;   /* bytes of address */
    unsigned char address[JOB_ADDRESS_SIZE];
};

/* What both know of a bond that is being made. */
struct bond_secret {
    uint64_t key[2];          /* of the port */
    uint64_t job[2], nonce[2]; /* of the caller, of who answers */
    uint32_t range;
};

struct bond_greeting bond_greet(uint64_t job, uint64_t nonce);
/* Has it the form of one, and is it of this version? */
bool bond_is_greeting(const struct bond_greeting *greeting);
/* The proof of that step; steps from BOND_PROVES on + 1: number and key of the bond. */
uint64_t bond_proof(const struct bond_secret *secret, int step);

/* The first frame of `data`. How many bytes it has, 0: it is not whole yet, -1: that is none. */
long bond_next(const char *data, size_t length, struct frame *frame);
/* The members of a CALL or ANSWER: their number, and where they begin in its bytes; -1: they are none. */
int bond_members(const struct frame *frame, const char *data, const char **members);
/* One of them. False: it makes no sense. */
bool bond_member(const char *members, int number, struct bond_member *member);

#endif
