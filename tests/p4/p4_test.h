/* SPDX-License-Identifier: BSD-3-Clause */
/* For test programs of p4, which know p4.h only: what was expected and what came. Silent on success. */
#ifndef P4_TEST_H
#define P4_TEST_H

#include <p4.h>

#define CHECK(condition)                                                                                 \
    do {                                                                                                 \
        if (!(condition)) {                                                                              \
            printf("%d: %s:%d: %s does not hold\n", p4_get_my_id(), __FILE__, __LINE__, #condition);     \
            p4_error("test failed", __LINE__);                                                           \
        }                                                                                                \
    } while (0)

#define CHECK_INT(came, expected)                                                                        \
    do {                                                                                                 \
        const long check_came = (long)(came), check_expected = (long)(expected);                         \
        if (check_came != check_expected) {                                                              \
            printf("%d: %s:%d: %s is %ld, expected %ld\n", p4_get_my_id(), __FILE__, __LINE__, #came,     \
                   check_came, check_expected);                                                          \
            p4_error("test failed", __LINE__);                                                           \
        }                                                                                                \
    } while (0)

/* Receive into a new buffer; *type and *from as in p4_recv. */
static inline char *recv_new(int *type, int *from, int *len)
{
    char *msg = NULL;

    CHECK_INT(p4_recv(type, from, &msg, len), 0);
    CHECK(msg);
    return msg;
}

/* The same, of exactly this type, sender and length; the caller frees it. */
static inline char *recv_exactly(int type, int from, int len)
{
    int got_type = type, got_from = from, got_len = -1;
    char *msg = recv_new(&got_type, &got_from, &got_len);

    CHECK_INT(got_type, type);
    CHECK_INT(got_from, from);
    CHECK_INT(got_len, len);
    return msg;
}

static inline void start(int *argc, char **argv)
{
    CHECK_INT(p4_initenv(argc, argv), 0);
    CHECK_INT(p4_create_procgroup(), 0);
}

#endif
