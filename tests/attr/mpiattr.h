/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the programs of this chapter: callbacks that write down their calls. */
#ifndef TESTS_ATTR_MPIATTR_H
#define TESTS_ATTR_MPIATTR_H

#include "mpitest.h"

enum { ATTR_LOG = 64 };

/* Calls of delete callbacks, in order. */
static struct {
    int count;
    intptr_t values[ATTR_LOG];
} attr_deleted;

static inline void attr_note(void *value)
{
    CHECK(attr_deleted.count < ATTR_LOG, "more than %d calls", ATTR_LOG);
    attr_deleted.values[attr_deleted.count++] = (intptr_t)value;
}

/* The values come in any order. */
static inline int attr_was_deleted(intptr_t value)
{
    int times = 0;

    for (int i = 0; i < attr_deleted.count; i++)
        times += attr_deleted.values[i] == value;
    return times;
}

static inline int attr_delete_comm(MPI_Comm comm, int keyval, void *value, void *extra)
{
    CHECK(comm != MPI_COMM_NULL, "callback for key %d without a communicator", keyval);
    CHECK(extra == &attr_deleted, "extra state is %p", extra);
    attr_note(value);
    return MPI_SUCCESS;
}

static inline int attr_delete_type(MPI_Datatype datatype, int keyval, void *value, void *extra)
{
    CHECK(datatype != MPI_DATATYPE_NULL, "callback for key %d without a datatype", keyval);
    CHECK(extra == &attr_deleted, "extra state is %p", extra);
    attr_note(value);
    return MPI_SUCCESS;
}

/* want -1: there must be none. */
#define CHECK_COMM_ATTR(comm, key, want)                                     \
    do {                                                                     \
        void *attr_value_ = NULL;                                            \
        int attr_flag_ = -1;                                                 \
        CHECK_OK(MPI_Comm_get_attr((comm), (key), &attr_value_, &attr_flag_)); \
        CHECK_INT(attr_flag_ != 0, (want) != -1);                            \
        if (attr_flag_)                                                      \
            CHECK_INT((intptr_t)attr_value_, (want));                        \
    } while (0)

#define CHECK_TYPE_ATTR(type, key, want)                                     \
    do {                                                                     \
        void *attr_value_ = NULL;                                            \
        int attr_flag_ = -1;                                                 \
        CHECK_OK(MPI_Type_get_attr((type), (key), &attr_value_, &attr_flag_)); \
        CHECK_INT(attr_flag_ != 0, (want) != -1);                            \
        if (attr_flag_)                                                      \
            CHECK_INT((intptr_t)attr_value_, (want));                        \
    } while (0)

static inline void *attr_word(intptr_t value)
{
    return (void *)value;
}

#endif
