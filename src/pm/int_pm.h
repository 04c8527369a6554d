/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: pm, inside. */
#ifndef PM_INT_PM_H
#define PM_INT_PM_H

#include "pm/pm.h"

/* What PARLEY_JOB says. */
struct pm_ticket {
    int launcher_pid;
    int segment_fd, control_fd; /* as the launcher gave them; a wrapper may have closed them */
    uint64_t token[2];
    int rank, size;
};

/* Read the value of PARLEY_JOB. 0 or MPI_ERR_OTHER. */
int pm_parse_ticket(const char *text, struct pm_ticket *ticket);

/* The mark of a launcher that is not ours and has more than this process to run: 0 if there is none, else an
 * error of class MPI_ERR_OTHER that names it. */
int pm_foreign_launcher(void);

/* Are the inherited descriptors still what the launcher left? */
bool pm_inherited(const struct pm_ticket *ticket);

/* Would the end of the launcher kill this process through the inherited control socket? Not if a wrapper
 * (setsid, a debugger) has put it into another process group. */
bool pm_is_guarded(const struct pm_ticket *ticket);

/* Connect to the launcher anew; the descriptors in *ticket become the new ones, the caller's.
 * 0 or MPI_ERR_OTHER. */
int pm_reconnect(struct pm_ticket *ticket);

#endif
