/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: pm. Coming up: from the environment to a claimed place in the job segment, or to a singleton; going
 * down. */
#include "pm/pm.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "pm/int_pm.h"
#include "sys/control.h"
#include "sys/segment.h"
#include "sys/wake.h"

enum {
    MAX_DEPTH = 64,       /* of process ancestry that is searched */
    HOLD_NS = 1000000000, /* between looks whether a debugger lets us go */
};

static void become_singleton(struct pm_job *job)
{
    *job = (struct pm_job){
        .size = 1,
        .procs = 1,
        .parent = -1,
        .appnum = -1,
        .universe_size = -1,
        .errhandler = JOB_ERRORS_ARE_FATAL,
        .is_singleton = true,
        .listener_fd = -1,
        .segment_fd = -1,
        .control_fd = -1,
        .pid = getpid(),
        .control_lock = PTHREAD_MUTEX_INITIALIZER,
    };
}

/* Does this head belong to the job of the ticket, in a layout we know? */
static int check_head(const struct job_head *head, const struct pm_ticket *ticket)
{
    if (head->magic != JOB_MAGIC || memcmp(head->token, ticket->token, sizeof head->token) != 0)
        return err(MPI_ERR_OTHER, "E0312: rank %d of %d: descriptor %d is not the segment of this job any more",
                   ticket->rank, ticket->size, ticket->segment_fd);
    if (head->major != JOB_MAJOR || head->head_size != sizeof *head || head->proc_size != sizeof(struct job_proc) ||
        head->slots != (uint32_t)ticket->procs)
        return err(MPI_ERR_OTHER,
                   "E0311: the job segment has version %u.%u (made by %.60s), this library knows %d.%d",
                   head->major, head->minor, head->launcher, JOB_MAJOR, JOB_MINOR);
    return 0;
}

/* Parent of process `pid`; 0 if that cannot be known. */
static int parent_of(int pid)
{
    char path[32], text[512];
    const char *after_name;
    int parent = 0;
    ssize_t got;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    got = read(fd, text, sizeof text - 1);
    close(fd);
    text[got > 0 ? got : 0] = 0;
    after_name = strrchr(text, ')'); /* the name may hold anything, blanks and parentheses too */
    return after_name && sscanf(after_name, ") %*c %d", &parent) == 1 ? parent : 0;
}

/* Do the `length` bytes of `part` occur in what /proc shows of a process, behind a zero or not? */
static bool proc_has(int pid, const char *file, const char *part, size_t length)
{
    char path[32], data[4096] = "";
    size_t used = 1; /* a zero before the first byte, as before every other string of an environment */
    ssize_t got;
    bool found = false;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while (!found && (got = read(fd, data + used, sizeof data - used)) > 0) {
        used += (size_t)got;
        found = memmem(data, used, part, length) != NULL;
        if (used > length) { /* the beginning of the part may be the end of what we have */
            memmove(data, data + used - length, length);
            used = length;
        }
    }
    close(fd);
    return found;
}

bool pm_is_child_of_rank(const char *text)
{
    static const char segment[] = "/memfd:parley-job";
    char entry[512];
    const int length = snprintf(entry + 1, sizeof entry - 1, "%s", text) + 2; /* with both zeros */
    int above = getppid();

    entry[0] = 0;
    for (int depth = 0; depth < MAX_DEPTH && above > 1; depth++) {
        if (length > (int)sizeof entry || !proc_has(above, "environ", entry, (size_t)length))
            return false;
        if (proc_has(above, "maps", segment, sizeof segment - 1))
            return true;
        above = parent_of(above);
    }
    return false;
}

static bool is_ancestor(int pid)
{
    int above = getppid();

    for (int depth = 0; depth < MAX_DEPTH && above > 1; depth++) {
        if (above == pid)
            return true;
        above = parent_of(above);
    }
    return false;
}

/* Take the rank's place. 0; 1 if its owner is an ancestor of ours, so that we are not meant; or
 * MPI_ERR_OTHER. */
static int claim(struct job_proc *proc, const struct pm_ticket *ticket)
{
    int owner = 0;

    if (atomic_compare_exchange_strong(&proc->pid, &owner, getpid()))
        return 0;
    if (is_ancestor(owner))
        return 1;
    return err(MPI_ERR_OTHER, "E0313: rank %d of %d is taken by process %d, which %s", ticket->rank, ticket->size,
               (int)owner,
               owner == getpid() || (kill(owner, 0) && errno == ESRCH) ? "has ended" : "is running");
}

/* Fill *job from a segment that is mapped and ours. */
static void take_place(struct pm_job *job, const struct pm_ticket *ticket, struct job_head *head)
{
    const struct job_proc *proc = job_proc(head, ticket->proc);
    struct pm_foreign *foreign = job->foreign;

    become_singleton(job);
    job->foreign = foreign;
    job->is_singleton = false;
    job->rank = ticket->rank;
    job->size = ticket->size;
    job->proc = ticket->proc;
    job->procs = ticket->procs;
    job->first = (int)proc->first;
    job->world = (int)proc->world;
    job->parent = job_desk(head, ticket->proc)->parent;
    job->appnum = (int)proc->appnum;
    job->universe_size = head->universe > (uint32_t)ticket->size ? (int)head->universe : -1;
    job->errhandler = (int)job_desk(head, ticket->proc)->errhandler;
    memcpy(job->token, head->token, sizeof job->token);
    job->head = head;
    job->mapped = job_transport_offset(ticket->procs);
    job->segment_fd = ticket->segment_fd;
    job->control_fd = ticket->control_fd;
    fcntl(job->segment_fd, F_SETFD, FD_CLOEXEC);
    if (job->control_fd >= 0)
        fcntl(job->control_fd, F_SETFD, FD_CLOEXEC);
}

/* The job is a client of IMPI: the rest of the world. Who was started later has no part in it. */
static int map_joint(const struct job_head *head, const struct pm_ticket *ticket, const struct joint **joint)
{
    *joint = NULL;
    if (!head->joint_size || ticket->proc >= (int)head->size)
        return 0;
    *joint = joint_map(head->joint_fd, head->joint_size, ticket->token);
    if (*joint && fcntl(head->listener_fd, F_SETFD, FD_CLOEXEC) >= 0)
        return 0;
    if (*joint)
        joint_unmap(*joint);
    return err(MPI_ERR_OTHER,
               "E1201: rank %d of %d is to be part of a joint MPI_COMM_WORLD, but the descriptors %d and %d that it "
               "needs for that are not there: %s", ticket->rank, ticket->size, head->joint_fd, head->listener_fd,
               strerror(errno));
}

int pm_join(struct pm_job *job, const struct pm_ticket *ticket)
{
    const size_t size = job_transport_offset(ticket->procs);
    struct job_head *head = segment_map(ticket->segment_fd, size);
    const struct joint *joint;
    int rc;

    if (head)
        (void)madvise(head, size, MADV_DONTFORK);
    else
        return err(MPI_ERR_OTHER, "rank %d of %d cannot map %zu bytes of the job segment: %s", ticket->rank,
                   ticket->size, size, strerror(errno));
    rc = check_head(head, ticket);
    if (!rc)
        rc = claim(job_proc(head, ticket->proc), ticket);
    if (rc)
        goto unmap;
    rc = map_joint(head, ticket, &joint);
    if (rc)
        goto give_place_back;
    take_place(job, ticket, head);
    job->joint = joint;
    job->listener_fd = joint ? head->listener_fd : -1;
    return 0;

give_place_back:
    atomic_store(&job_proc(head, ticket->proc)->pid, 0);
unmap:
    munmap(head, size);
    return rc == 1 ? 0 : rc;
}

/* Descriptors for the ticket: the inherited ones if they are there and guard us, else new ones; *is_new says
 * which. Unguarded ones will do if there are no others. */
static int reach(struct pm_ticket *ticket, bool *is_new)
{
    const struct pm_ticket old = *ticket;
    const bool is_inherited = pm_inherited(ticket);
    int rc;

    *is_new = false;
    if (is_inherited && pm_is_guarded(ticket))
        return 0;
    rc = pm_reconnect(ticket);
    if (rc)
        return is_inherited ? 0 : rc;
    *is_new = true;
    if (is_inherited) {
        close(old.segment_fd);
        close(old.control_fd);
    }
    return 0;
}

int pm_open(struct pm_job *job)
{
    const char *alone = getenv("PARLEY_SINGLETON"), *text = getenv(CONTROL_JOB_VARIABLE);
    const struct pm_protocol *foreign = pm_offered_protocol();
    struct pm_ticket ticket;
    bool is_new = false;
    int rc;

    become_singleton(job);
    if (alone && *alone && strcmp(alone, "0") != 0)
        return 0;
    if (foreign)
        return pm_open_foreign(job, foreign);
    if (!text || pm_foreign_inside())
        return pm_foreign_launcher();
    rc = pm_parse_ticket(text, &ticket);
    if (!rc)
        rc = reach(&ticket, &is_new);
    if (!rc)
        rc = pm_join(job, &ticket);
    if (is_new && job->is_singleton) {
        close(ticket.segment_fd);
        close(ticket.control_fd);
    }
    if (!job->is_singleton)
        pm_present(job);
    return rc;
}

int pm_join_own(struct pm_job *job, int segment_fd, const uint64_t token[2], int rank, int size)
{
    const struct pm_ticket ticket = { .segment_fd = segment_fd, .control_fd = -1, .token = { token[0], token[1] },
                                      .rank = rank, .size = size, .proc = rank, .procs = size };

    return pm_join(job, &ticket);
}

static void set_state(struct pm_job *job, enum job_state state)
{
    if (job->head && getpid() == job->pid)
        atomic_store_explicit(&job_proc(job->head, job->proc)->state, state, memory_order_release);
}

/* A debugger that has started the job wants to see all ranks before they go on. The launcher's end ends this, too. */
static void wait_for_debugger(struct job_head *head)
{
    while (atomic_load_explicit(&head->hold, memory_order_acquire)) /* pairs with mpir.c */
        wake_sleep(&head->hold, 1, HOLD_NS);
}

void pm_await_place(struct pm_job *job, int proc)
{
    _Atomic uint32_t *hold = &job_desk(job->head, proc)->hold;

    while (atomic_load_explicit(hold, memory_order_acquire)) /* pairs with pm_let_go */
        wake_sleep(hold, 1, HOLD_NS);
}

void pm_let_go(struct pm_job *job, int proc)
{
    struct job_desk *desk = job_desk(job->head, proc);

    atomic_store_explicit(&desk->hold, 0, memory_order_release);
    wake_all(&desk->hold);
}

int pm_started(struct pm_job *job)
{
    int rc = 0;

    set_state(job, JOB_INITIALISED);
    if (!job->head || getpid() != job->pid)
        return 0;
    if (job->foreign)
        rc = pm_share_addresses(job);
    if (job->control_fd >= 0 && pm_has_address(job)) /* what other machines need of us is there */
        pm_present(job);
    wait_for_debugger(job->head);
    return rc;
}

void pm_finalised(struct pm_job *job)
{
    set_state(job, JOB_FINALISED);
    if (job->foreign && !job->foreign->is_over && getpid() == job->pid) {
        pm_unguard(job->foreign);
        job->foreign->is_over = true;
        job->foreign->protocol->finalize(job->foreign->state);
    }
}

void pm_left(struct pm_job *job)
{
    if (!job->foreign || job->foreign->is_over || getpid() != job->pid)
        return;
    pm_diagnose(job, "E0112: the program ends after MPI_Init and without MPI_Finalize\n"
                     "call MPI_Finalize on every way out of the program, or MPI_Abort");
    pm_abort_foreign(job, 1);
}

void pm_forked(struct pm_job *job)
{
    if (job->segment_fd >= 0)
        close(job->segment_fd);
    if (job->control_fd >= 0)
        close(job->control_fd);
    if (job->foreign)
        job->foreign->protocol->forked(job->foreign->state);
    if (job->listener_fd >= 0)
        close(job->listener_fd);
    job->segment_fd = job->control_fd = job->listener_fd = -1;
    job->head = NULL;
}

void pm_close(struct pm_job *job)
{
    if (job->has_helper)
        pm_end_helper(job);
    if (job->head) {
        munmap(job->head, job->mapped);
        close(job->segment_fd);
        if (job->control_fd >= 0)
            close(job->control_fd);
    }
    if (job->joint) {
        joint_unmap(job->joint);
        close(job->listener_fd);
    }
    if (job->foreign) {
        job->foreign->protocol->end(job->foreign->state);
        mem_free(job->foreign);
    }
    pthread_mutex_destroy(&job->control_lock);
    become_singleton(job);
}
