/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4, library libp4_f. The names that Fortran programs call, as gfortran, flang and ifort spell them:
 * lower case and an underscore; everything by reference, integers of four bytes. Knows p4.h only, and where main's
 * arguments are. */
#include "p4/fortran.h"

#include <p4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/args.h"

enum { TOO_LONG = 1 };

static void flush_units(void)
{
    if (_gfortran_flush_i4)
        _gfortran_flush_i4(NULL);
    fflush(stdout);
}

/* Callers pass constants, which must not be stored into. */
static void store_changed(int *to, int value)
{
    if (*to != value)
        *to = value;
}

/* p4_initenv takes its options out of a copy: getarg shows the program its arguments as they were. */
void p4init_(void)
{
    char **argv, **copy;
    int argc = args_get(&argv);

    copy = calloc((size_t)argc + 2, sizeof *copy);
    if (!copy)
        p4_error("p4init: no memory for the arguments", argc);
    if (argc > 0)
        memcpy(copy, argv, (size_t)argc * sizeof *copy);
    else
        copy[argc++] = program_invocation_name;
    p4_initenv(&argc, copy);
    free(copy);
}

/* What is in the units' buffers would be written by each child again. */
void p4crpg_(void)
{
    flush_units();
    p4_create_procgroup();
}

void p4cleanup_(void)
{
    flush_units();
    p4_wait_for_end();
}

void p4send_(const int *type, const int *dest, void *msg, const int *len, int *rc)
{
    *rc = p4_send(*type, *dest, msg, *len);
}

void p4sendr_(const int *type, const int *dest, void *msg, const int *len, int *rc)
{
    *rc = p4_sendr(*type, *dest, msg, *len);
}

void p4sendx_(const int *type, const int *dest, void *msg, const int *len, const int *datatype, int *rc)
{
    *rc = p4_sendx(*type, *dest, msg, *len, *datatype);
}

void p4sendrx_(const int *type, const int *dest, void *msg, const int *len, const int *datatype, int *rc)
{
    *rc = p4_sendrx(*type, *dest, msg, *len, *datatype);
}

void p4recv_(int *type, int *from, void *buf, const int *buf_len, int *msg_len, int *rc)
{
    int got_type = *type, got_from = *from, len = 0;
    char *msg = NULL;

    *rc = p4_recv(&got_type, &got_from, &msg, &len);
    if (*rc < 0)
        return;
    store_changed(type, got_type);
    store_changed(from, got_from);
    *msg_len = len;
    if (len > *buf_len) {
        *rc = TOO_LONG;
        *msg_len = *buf_len;
    }
    if (*msg_len > 0)
        memcpy(buf, msg, (size_t)*msg_len);
    p4_msg_free(msg);
}

void p4probe_(int *type, int *from, int *rc)
{
    int got_type = *type, got_from = *from;

    *rc = p4_messages_available(&got_type, &got_from);
    if (*rc) {
        store_changed(type, got_type);
        store_changed(from, got_from);
    }
}

void p4brdcst_(const int *type, void *data, const int *len, int *rc)
{
    *rc = p4_broadcast(*type, data, *len);
}

void p4brdcstx_(const int *type, void *data, const int *len, const int *datatype, int *rc)
{
    *rc = p4_broadcastx(*type, data, *len, *datatype);
}

/* The operation that runs now: p4 has one thread, and operations do not start others. */
static fortran_op_fn *running_op;

static void run_op(char *x, char *y, int nelem)
{
    running_op(x, y, &nelem);
}

void p4globop_(const int *type, void *x, const int *nelem, const int *size, fortran_op_fn *op, const int *datatype,
               int *rc)
{
    running_op = op;
    *rc = p4_global_op(*type, x, *nelem, *size, run_op, *datatype);
}

void p4globarr_(const int *type)
{
    p4_global_barrier(*type);
}

void p4getclmasts_(int *num, int *ids)
{
    p4_get_cluster_masters(num, ids);
}

void p4getclids_(int *start, int *end)
{
    p4_get_cluster_ids(start, end);
}

void p4flush_(void)
{
    flush_units();
    printf("\n");
    fflush(stdout);
}

/* A Fortran string is filled up with blanks; its length comes last. */
void p4error_(const char *text, const int *value, size_t len)
{
    char line[256];

    while (len > 0 && text[len - 1] == ' ')
        len--;
    snprintf(line, sizeof line, "%.*s", (int)(len < sizeof line ? len : sizeof line - 1), text);
    flush_units();
    p4_error(line, *value);
}

void p4softerrs_(const int *value, int *before)
{
    *before = p4_soft_errors(*value);
}

void p4avlbufs_(void)
{
    flush_units();
    p4_print_avail_buffs();
}

void p4setavlbuf_(const int *index, const int *size)
{
    p4_set_avail_buff(*index - 1, *size);
}

void p4version_(void)
{
    flush_units();
    printf("%s\n", p4_version());
    fflush(stdout);
}

int p4myid_(void)
{
    return p4_get_my_id();
}

int p4ntotids_(void)
{
    return p4_num_total_ids();
}

int p4nslaves_(void)
{
    return p4_num_total_slaves();
}

int p4nclids_(void)
{
    return p4_num_cluster_ids();
}

int p4myclid_(void)
{
    return p4_get_my_cluster_id();
}

int p4clock_(void)
{
    return p4_clock();
}

/* Microseconds that an integer*4 holds: it wraps after 35 minutes. */
int p4ustimer_(void)
{
    return (int)(p4_ustimer() & 0x7fffffff);
}

/* By reference as all others, so that the program's own operations look the same and may call them. */
#define OPERATION(name, function)                             \
    void name(char *x, char *y, const int *nelem)             \
    {                                                         \
        function(x, y, *nelem);                               \
    }

OPERATION(p4intsumop_, p4_int_sum_op)
OPERATION(p4intmultop_, p4_int_mult_op)
OPERATION(p4intmaxop_, p4_int_max_op)
OPERATION(p4intminop_, p4_int_min_op)
OPERATION(p4intabsmaxop_, p4_int_absmax_op)
OPERATION(p4intabsminop_, p4_int_absmin_op)
OPERATION(p4fltsumop_, p4_flt_sum_op)
OPERATION(p4fltmultop_, p4_flt_mult_op)
OPERATION(p4fltmaxop_, p4_flt_max_op)
OPERATION(p4fltminop_, p4_flt_min_op)
OPERATION(p4fltabsmaxop_, p4_flt_absmax_op)
OPERATION(p4fltabsminop_, p4_flt_absmin_op)
OPERATION(p4dblsumop_, p4_dbl_sum_op)
OPERATION(p4dblmultop_, p4_dbl_mult_op)
OPERATION(p4dblmaxop_, p4_dbl_max_op)
OPERATION(p4dblminop_, p4_dbl_min_op)
OPERATION(p4dblabsmaxop_, p4_dbl_absmax_op)
OPERATION(p4dblabsminop_, p4_dbl_absmin_op)

/* Logging for ALOG, which is not there: programs link and run. Arguments are ignored. */
#define NOTHING(name) \
    void name(void)   \
    {                 \
    }

NOTHING(alogfsetup_)
NOTHING(alogfmaster_)
NOTHING(alogfdefine_)
NOTHING(alogflog_)
NOTHING(alogfoutput_)
NOTHING(alogfsetdir_)
NOTHING(alogfstatus_)
NOTHING(alogfenable_)
NOTHING(alogfdisable_)
