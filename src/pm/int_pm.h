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
    int rank, size; /* in the world */
    int proc, procs; /* in the segment */
};

/* Read the value of PARLEY_JOB. 0 or MPI_ERR_OTHER. */
int pm_parse_ticket(const char *text, struct pm_ticket *ticket);

/* The mark of a launcher that is not ours and has more than this process to run: 0 if there is none, else an
 * error of class MPI_ERR_OTHER that names it. */
int pm_foreign_launcher(void);

/* Is there the mark of a launcher that was started by a rank of ours? mpiexec takes these out of its ranks'
 * environment, so whoever has one beside PARLEY_JOB is not its rank. */
bool pm_foreign_inside(void);

/* Are the inherited descriptors still what the launcher left? */
bool pm_inherited(const struct pm_ticket *ticket);

/* Would the end of the launcher kill this process through the inherited control socket? Not if a wrapper
 * (setsid, a debugger) has put it into another process group. */
bool pm_is_guarded(const struct pm_ticket *ticket);

/* On a new socket, connect to who has the job's address (the launcher, or under a foreign one the lowest rank of the
 * machine), say who we are and get the segment's descriptor; waits at most `seconds` for each step. -1 with errno. */
int pm_say_hello(int socket, const struct pm_ticket *ticket, int seconds);

/* Map the segment of the ticket, check it, claim our place in it: *job is a rank's then. 0; *job left as it was if
 * an ancestor of ours has the place; or MPI_ERR_OTHER. The ticket's descriptors become the job's only if it is a
 * rank's; control_fd may be -1. */
int pm_join(struct pm_job *job, const struct pm_ticket *ticket);

/* Is there `text` in the environment of our parent, its parent and so on, without a gap, up to a process that has a
 * job segment mapped? Then that is a rank, and its launcher did not mean us. */
bool pm_is_child_of_rank(const char *text);

/* The mpiexec that this process has started for itself is to end, if nobody else needs it; waits for that, but not
 * long. */
void pm_end_helper(struct pm_job *job);

/* Connect to the launcher anew; the descriptors in *ticket become the new ones, the caller's.
 * 0 or MPI_ERR_OTHER. */
int pm_reconnect(struct pm_ticket *ticket);

/* --- launchers of somebody else (foreign.c) --- */

enum { PM_KEY_SIZE = 32, PM_VALUE_SIZE = 256, PM_PATIENCE_MS = 60000 };

/* Who we are by a foreign launcher. */
struct pm_place {
    int rank, size;
    int appnum;        /* -1: not said */
    int universe_size; /* -1: not said */
};

/* A protocol of foreign launchers. PMI-1 is in pmi1.c, PMIx in pmix.c; another is a file like them and a line in the
 * list in foreign.c.
 * Functions that return int: 0, or an error of class MPI_ERR_OTHER that says what went wrong with values (not who the
 * launcher is: foreign.c does). None of them is called by two threads at a time, but abort, which may come at any
 * time. */
struct pm_protocol {
    const char *name; /* "PMI-1" */
    /* Are its marks in the environment? */
    bool (*is_offered)(void);
    /* Was it our parent, a rank, that they were meant for? Asked before start. */
    bool (*is_for_parent)(void);
    /* Connect and learn who we are. The state is the protocol's, on the heap; end gives it back. NULL: nothing to be
     * connected to is needed, *place says a process alone. */
    int (*start)(void **state, struct pm_place *place);
    /* Keys and values are without blanks, of less than PM_KEY_SIZE and PM_VALUE_SIZE bytes. What was put before a
     * fence can be got after it, by all. */
    int (*put)(void *state, const char *key, const char *value);
    /* *value becomes "" if that process has not put the key. */
    int (*get)(void *state, int owner, const char *key, char value[PM_VALUE_SIZE]);
    /* Wait until all processes of the job are here: any time. */
    int (*fence)(void *state);
    /* Which node each of `size` processes runs on, as the launcher tells; 0 and all -1 if it does not. */
    int (*nodes)(void *state, int *node, int size);
    /* The descriptor that ends when the launcher does, and nothing may come through it from now on; -1: there is none,
     * and the protocol sees to our end itself. */
    int (*lifeline)(void *state);
    /* Ask for the end of the whole job with this exit code; does not wait. */
    void (*abort)(void *state, int code);
    /* This process has left MPI in order: the launcher will not take its end for a failure. Waits for the answer,
     * not for ever. */
    void (*finalize)(void *state);
    /* In a forked child: close what the parent goes on using. Only system calls. NULL state is fine, here and
     * below. */
    void (*forked)(void *state);
    /* Close and free. */
    void (*end)(void *state);
};

extern const struct pm_protocol pmi1_protocol, pmix_protocol;

/* The connection to a foreign launcher. */
struct pm_foreign {
    const struct pm_protocol *protocol;
    void *state;
    bool is_over;    /* finalize has been called */
    bool has_shared; /* addresses, or has tried to */
};

/* The protocol whose marks are in the environment; NULL: none. */
const struct pm_protocol *pm_offered_protocol(void);

/* Come up under its launcher: *job is a rank's, or a singleton's if the launcher's job has one process. Waits for all
 * other processes of the job to do the same. After an error job->foreign may be there, for an abort. 0 or
 * MPI_ERR_OTHER, with the sentence. */
int pm_open_foreign(struct pm_job *job, const struct pm_protocol *protocol);

/* Meet the others, and take our place in the job segment of our node. 0, or MPI_ERR_OTHER (meeting.c). */
int pm_meet(struct pm_job *job, const struct pm_place *place);
/* Where the job has several nodes: tell the others the address that this process has in its job_place, and have theirs;
 * once. Waits for all. 0 or MPI_ERR_OTHER. */
int pm_share_addresses(struct pm_job *job);

/* From here on the end of the launcher ends us, and nothing else may come from it. 0, or MPI_ERR_OTHER: it has
 * ended. */
int pm_guard(const struct pm_foreign *foreign);
/* No more. */
void pm_unguard(const struct pm_foreign *foreign);

/* Ask it to end the job with this code, when it has taken what we wrote. For a launcher that is told so may drop what
 * it has not read yet. Waits at most 1 s. */
void pm_abort_foreign(struct pm_job *job, int code);

/* --- lines of PMI-1 (pmi1_line.c) --- */

/* Value of `key` in a line "cmd=x key=value ...", cut at the next blank. False: not there, or `size` is too small. */
bool pmi1_value(const char *line, const char *key, char *value, size_t size);
/* The same, a decimal number; false also if it is none or does not fit. */
bool pmi1_number(const char *line, const char *key, int *number);
/* Read "(vector,(node,nodes,ranks),...)" into the node of each of `size` processes: blocks of `ranks` processes on
 * `nodes` nodes from `node` on, all of it again and again. False: not of this form. */
bool pmi1_mapping(const char *text, int *node, int size);

/* Has this process opened a network between machines? */
static inline bool pm_has_address(const struct pm_job *job)
{
    const struct job_place *place = job_place(job->head, job->proc);

    return job_address_size(&place->address[JOB_TCP]) || job_address_size(&place->address[JOB_OFI]);
}

#endif
