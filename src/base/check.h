/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: base. For unit tests: say what was expected and what came, and stop. */
#ifndef BASE_CHECK_H
#define BASE_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

/* Two strings. */
#define CHECK_TEXT(came, expected) \
    do { \
        const char *const check_came = (came), *const check_expected = (expected); \
        if (strcmp(check_came, check_expected)) { \
            fprintf(stderr, "%s:%d: %s is \"%s\", expected \"%s\"\n", __FILE__, __LINE__, #came, check_came, \
                    check_expected); \
            exit(1); \
        } \
    } while (0)

#define CHECK_INT(came, expected) \
    do { \
        const long long check_came = (long long)(came), check_expected = (long long)(expected); \
        if (check_came != check_expected) { \
            fprintf(stderr, "%s:%d: %s is %lld, expected %lld\n", __FILE__, __LINE__, #came, check_came, \
                    check_expected); \
            exit(1); \
        } \
    } while (0)

/* Of so many random cases of one kind, those that are tried: with a sanitizer, which makes each slow, a fifth. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CHECK_CASES(count) ((count) / 5)
#else
#define CHECK_CASES(count) (count)
#endif

#endif
