/* SPDX-License-Identifier: BSD-3-Clause */
/* p4, the message-passing system of Butler and Lusk (release 1.4), on Parley's engine. Compile with
 *     cc prog.c $(pkg-config --cflags --libs p4)
 * See docs/p4.md. The prototypes are tolerant, since old programs pass pointers of any type: message and memory
 * parameters are `void *`, and callbacks are declared without their parameters where C allows it. */
#ifndef P4_H
#define P4_H

#ifdef __GNUC__
#pragma GCC system_header /* what is tolerant here is no warning of the program's */
#endif

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#ifndef P4_NO_STDLIB_H /* for sources that declare malloc themselves */
#include <stdlib.h>
#endif
#include <string.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "alog.h"

#ifdef __cplusplus
extern "C" {
#endif

#define P4BOOL int
#define P4VOID void
#define P4_TRUE 1
#define P4_FALSE 0

#ifndef VOID
#define VOID void
#endif
#ifndef BOOL
#define BOOL int
#endif
#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
#endif

/* Types of elements in the x forms. */
#define P4NOX 0
#define P4INT 1
#define P4LNG 2
#define P4FLT 3
#define P4DBL 4

#define P4_MAXPROCS 1024
#define P4_MAX_PROCGROUP_ENTRIES 1024
#define P4_MAX_MSGLEN (1 << 28)
#define HOSTNAME_LEN 64
#define GLOBMEMSIZE (256 << 20)
#define CHECKNODE(id) ((id) < 0 || (id) >= p4_num_total_ids())

/* Parameters of a callback: old programs define theirs in the style before prototypes. */
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ > 201710L)
#define P4_CALLBACK(parameters) parameters
#else
#define P4_CALLBACK(parameters) ()
#endif
#if defined(__GNUC__)
#define P4_NO_RETURN __attribute__((__noreturn__))
#define P4_LIKE_PRINTF(format, first) __attribute__((__format__(__printf__, format, first)))
#else
#define P4_NO_RETURN
#define P4_LIKE_PRINTF(format, first)
#endif

typedef unsigned long p4_usc_time_t;
typedef unsigned long usc_time_t;

/* A binary semaphore: it may be opened by a process that has not closed it. Lies in memory of p4_shmalloc. */
typedef struct p4_lock {
    unsigned int word;
    unsigned int reserved[3];
} p4_lock_t;

struct p4_mon_queue {
    int count;
    p4_lock_t gate;
};

typedef struct p4_monitor {
    p4_lock_t entry;
    int num_queues;
    struct p4_mon_queue first; /* queue 0; a monitor with one queue needs no other memory */
    struct p4_mon_queue *more;
} p4_monitor_t;

typedef struct p4_getsub_monitor {
    p4_monitor_t m;
    long sub;
} p4_getsub_monitor_t;

typedef struct p4_barrier_monitor {
    unsigned int arrived;
    unsigned int round;
} p4_barrier_monitor_t;

typedef struct p4_askfor_monitor {
    p4_monitor_t m;
    int pgdone;
    int pbdone;
    int leaving; /* the round is over and its processes are being let go, one after the other */
} p4_askfor_monitor_t;

/* For p4_startup: what a procgroup file says, filled in by the program. The first entry is the master's own machine and
 * counts the processes beside the master; each of the others is a cluster of so many processes. */
struct p4_procgroup_entry {
    int numslaves_in_group;
    int rm_rank; /* set by the library */
    char host_name[HOSTNAME_LEN];
    char slave_full_pathname[256];
    char username[10];
};

struct p4_procgroup {
    struct p4_procgroup_entry entries[P4_MAX_PROCGROUP_ENTRIES];
    int num_entries;
};

/* Start and end. */
int p4_initenv(int *argc, char **argv);
int p4_create_procgroup(void);
struct p4_procgroup *p4_alloc_procgroup(void);
int p4_startup(struct p4_procgroup *pg);
int p4_create(int(*fxn) P4_CALLBACK((void)));
int p4_wait_for_end(void);
void p4_post_init(void);

/* Errors and tracing. */
void p4_error(const char *string, int value) P4_NO_RETURN;
int p4_soft_errors(int onoff);
void p4_set_hard_errors(int flag);
void p4_dprintf(const char *fmt, ...) P4_LIKE_PRINTF(1, 2);
void p4_dprintfl(int level, const char *fmt, ...) P4_LIKE_PRINTF(2, 3);
int p4_get_dbg_level(void);
void p4_set_dbg_level(int level);
char *p4_version(void);
char *p4_machine_type(void);
/* Pid of a process of this host, its host and program (not to be freed); 0 and NULL: it is none of this host. */
int p4_proc_info(int id, char **host, char **exe);
int p4_proc_info(int id, char **host, char **exe);

/* Identity and clusters. */
int p4_get_my_id(void);
int p4_get_my_id_from_proc(void);
int p4_num_total_ids(void);
int p4_num_total_slaves(void);
int p4_get_my_cluster_id(void);
int p4_num_cluster_ids(void);
P4BOOL p4_am_i_cluster_master(void);
void p4_get_cluster_ids(int *start, int *end);
void p4_get_cluster_masters(int *num, int ids[]);
void p4_cluster_shmem_sync(void *cluster_shmem);

/* Messages. */
int p4_send(int type, int to, void *msg, int len);
int p4_sendr(int type, int to, void *msg, int len);
int p4_sendx(int type, int to, void *msg, int len, int datatype);
int p4_sendrx(int type, int to, void *msg, int len, int datatype);
int p4_sendb(int type, int to, void *msg, int len);
int p4_sendbr(int type, int to, void *msg, int len);
int p4_sendbx(int type, int to, void *msg, int len, int datatype);
int p4_sendbrx(int type, int to, void *msg, int len, int datatype);
int p4_recv(int *type, int *from, void *msg, int *len); /* msg: the address of a pointer */
P4BOOL p4_messages_available(int *type, int *from);
P4BOOL p4_any_messages_available(void);
int p4_waitformsg(void);
char *p4_msg_alloc(int len);
void p4_msg_free(void *m);
void p4_set_avail_buff(int index, int size);
void p4_print_avail_buffs(void);

/* Broadcast, global operations, barrier. */
int p4_broadcast(int type, void *data, int len);
int p4_broadcastx(int type, void *data, int len, int datatype);
int p4_global_op(int type, void *x, int nelem, int size, void(*op) P4_CALLBACK((char *x, char *y, int nelem)),
                 int datatype);
void p4_global_barrier(int type);
void p4_int_sum_op(char *x, char *y, int nelem);
void p4_int_mult_op(char *x, char *y, int nelem);
void p4_int_max_op(char *x, char *y, int nelem);
void p4_int_min_op(char *x, char *y, int nelem);
void p4_int_absmax_op(char *x, char *y, int nelem);
void p4_int_absmin_op(char *x, char *y, int nelem);
void p4_flt_sum_op(char *x, char *y, int nelem);
void p4_flt_mult_op(char *x, char *y, int nelem);
void p4_flt_max_op(char *x, char *y, int nelem);
void p4_flt_min_op(char *x, char *y, int nelem);
void p4_flt_absmax_op(char *x, char *y, int nelem);
void p4_flt_absmin_op(char *x, char *y, int nelem);
void p4_dbl_sum_op(char *x, char *y, int nelem);
void p4_dbl_mult_op(char *x, char *y, int nelem);
void p4_dbl_max_op(char *x, char *y, int nelem);
void p4_dbl_min_op(char *x, char *y, int nelem);
void p4_dbl_absmax_op(char *x, char *y, int nelem);
void p4_dbl_absmin_op(char *x, char *y, int nelem);

/* Shared memory, locks, monitors. */
char *p4_shmalloc(int n);
void p4_shfree(void *p);
#define p4_malloc(n) malloc(n)
#define p4_free(p) free(p)
void p4_lock_init(p4_lock_t *l);
void p4_lock(p4_lock_t *l);
void p4_unlock(p4_lock_t *l);
int p4_moninit(p4_monitor_t *m, int nqueues);
void p4_menter(p4_monitor_t *m);
void p4_mexit(p4_monitor_t *m);
void p4_mdelay(p4_monitor_t *m, int q);
void p4_mcontinue(p4_monitor_t *m, int q);
int p4_getsub_init(p4_getsub_monitor_t *g);
void p4_getsub(p4_getsub_monitor_t *g, int *s, int max, int nprocs);
void p4_getsubs(p4_getsub_monitor_t *g, int *s, int max, int nprocs, int stride);
int p4_barrier_init(p4_barrier_monitor_t *b);
void p4_barrier(p4_barrier_monitor_t *b, int nprocs);
int p4_askfor_init(p4_askfor_monitor_t *a);
int p4_askfor(p4_askfor_monitor_t *a, int nprocs, int(*getprob) P4_CALLBACK((void *)), void *problem,
              void(*reset) P4_CALLBACK((void)));
int p4_update(p4_askfor_monitor_t *a, int(*putprob) P4_CALLBACK((void *)), void *problem);
void p4_probend(p4_askfor_monitor_t *a, int code);
void p4_progend(p4_askfor_monitor_t *a);

/* Timing. */
int p4_clock(void);
p4_usc_time_t p4_ustimer(void);
p4_usc_time_t p4_usrollover(void);
double p4_usclock(void);

/* Direct fibre channel of some old machines: here the same as the others. */
#define p4_initfc(...) 0
#define p4_sendfc p4_send
#define p4_recvfc p4_recv

#ifdef __cplusplus
}
#endif

#endif
