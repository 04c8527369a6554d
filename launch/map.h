/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: which rank goes to which host.
 *
 *   map.c         the rule, applied: knows hosts with their slots, and numbers of ranks
 *   map_options.c --map-by, --rank-by and the like, as far as hosts are meant
 *   rankfile.c    places that a file names for each rank
 *
 * The rule when nothing is asked for: slots are filled host by host. If there are more ranks than slots, each host gets
 * its share, in proportion to its slots; neighbours in rank stay together. */
#ifndef LAUNCH_MAP_H
#define LAUNCH_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include "hosts.h"

enum map_by {
    MAP_BY_SLOT, /* fill the hosts one after the other */
    MAP_BY_NODE, /* one on each host in turn, as long as it has slots */
    MAP_PER_NODE /* so many on each host in turn, however many slots it has */
};

enum map_order {
    MAP_AS_MAPPED,
    MAP_HOST_BY_HOST, /* numbers follow each other on a host */
    MAP_IN_TURNS,     /* numbers go round the hosts */
};

/* What the options ask for. All zero: nothing. */
struct map_rule {
    enum map_by by;
    int per_node; /* of MAP_PER_NODE */
    enum map_order order;
    bool is_strict; /* no host may get more ranks than slots */
    int width;      /* slots that a rank takes; 0: one */
};

enum { MAP_WHY = 256 };

/* Into `place`, for each of `ranks` ranks, which of the hosts it goes to. `used`: so many ranks each host has already;
 * those that are placed are added. False: it cannot be done; then `why` says so. */
bool map_ranks(const struct map_rule *rule, const struct hosts *hosts, int *used, int ranks, int *place,
               char why[MAP_WHY]);

/* map_options.c: one option, without dashes, and its value (NULL: it has none). What does not concern hosts is left to
 * the options of binding. */
void map_option(struct map_rule *rule, const char *option, const char *value);

/* rankfile.c: "rank 0=host slot=1" lines. `wanted` is an array of names by rank, NULL where the file does not say; the
 * number of ranks up to the last one that it names. Ends mpiexec (E0132) at a mistake. */
int rankfile_read(const char *path, const char ***wanted, bool *has_slots);

#endif
