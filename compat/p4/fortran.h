/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4, library libp4_f. What Fortran programs call; p4f.h tells their compiler of it. Arguments are those
 * of the C function of the same purpose, by reference, and last *rc, what that function returns; differences stand
 * here. */
#ifndef P4_FORTRAN_H
#define P4_FORTRAN_H

#include <stddef.h>

#pragma GCC visibility push(default)

/* x[i] = x[i] op y[i]; the library's own and the program's. */
typedef void fortran_op_fn(char *x, char *y, const int *nelem);

/* Of gfortran's library, when the program has it: NULL flushes every unit. */
void _gfortran_flush_i4(const int *unit) __attribute__((weak));

/* Takes the command line from the system. */
void p4init_(void);
void p4crpg_(void);
void p4cleanup_(void);
void p4send_(const int *type, const int *dest, void *msg, const int *len, int *rc);
void p4sendr_(const int *type, const int *dest, void *msg, const int *len, int *rc);
void p4sendx_(const int *type, const int *dest, void *msg, const int *len, const int *datatype, int *rc);
void p4sendrx_(const int *type, const int *dest, void *msg, const int *len, const int *datatype, int *rc);
/* Into buf, of *buf_len bytes. A longer message is cut: *rc is 1 and *msg_len is *buf_len. */
void p4recv_(int *type, int *from, void *buf, const int *buf_len, int *msg_len, int *rc);
/* *rc: 1, a message is there; 0, none. */
void p4probe_(int *type, int *from, int *rc);
void p4brdcst_(const int *type, void *data, const int *len, int *rc);
void p4brdcstx_(const int *type, void *data, const int *len, const int *datatype, int *rc);
void p4globop_(const int *type, void *x, const int *nelem, const int *size, fortran_op_fn *op, const int *datatype,
               int *rc);
void p4globarr_(const int *type);
void p4getclmasts_(int *num, int *ids);
void p4getclids_(int *start, int *end);
/* An empty line, and everything printed so far goes out. */
void p4flush_(void);
/* `len`: of the text, which has no zero at its end; the compiler passes it. */
void p4error_(const char *text, const int *value, size_t len);
void p4softerrs_(const int *value, int *before);
void p4avlbufs_(void);
/* Classes count from 1. */
void p4setavlbuf_(const int *index, const int *size);
/* Prints it. */
void p4version_(void);
int p4myid_(void);
int p4ntotids_(void);
int p4nslaves_(void);
int p4nclids_(void);
int p4myclid_(void);
int p4clock_(void);
int p4ustimer_(void);

void p4intsumop_(char *x, char *y, const int *nelem);
void p4intmultop_(char *x, char *y, const int *nelem);
void p4intmaxop_(char *x, char *y, const int *nelem);
void p4intminop_(char *x, char *y, const int *nelem);
void p4intabsmaxop_(char *x, char *y, const int *nelem);
void p4intabsminop_(char *x, char *y, const int *nelem);
void p4fltsumop_(char *x, char *y, const int *nelem);
void p4fltmultop_(char *x, char *y, const int *nelem);
void p4fltmaxop_(char *x, char *y, const int *nelem);
void p4fltminop_(char *x, char *y, const int *nelem);
void p4fltabsmaxop_(char *x, char *y, const int *nelem);
void p4fltabsminop_(char *x, char *y, const int *nelem);
void p4dblsumop_(char *x, char *y, const int *nelem);
void p4dblmultop_(char *x, char *y, const int *nelem);
void p4dblmaxop_(char *x, char *y, const int *nelem);
void p4dblminop_(char *x, char *y, const int *nelem);
void p4dblabsmaxop_(char *x, char *y, const int *nelem);
void p4dblabsminop_(char *x, char *y, const int *nelem);

void alogfsetup_(void);
void alogfmaster_(void);
void alogfdefine_(void);
void alogflog_(void);
void alogfoutput_(void);
void alogfsetdir_(void);
void alogfstatus_(void);
void alogfenable_(void);
void alogfdisable_(void);

#pragma GCC visibility pop

#endif
