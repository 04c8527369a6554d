/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by all test programs: checks that say what was expected and what came, reproducible
 * contents, skipping. Knows <mpi.h> and libc only, so that a test runs on any MPI.
 * A failed check prints one line and aborts the job: the other ranks never hang because of it.
 * See tests/README.md for how to write a test. */
#ifndef TESTS_COMMON_MPITEST_H
#define TESTS_COMMON_MPITEST_H

#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEST_SKIPPED = 77, TEST_CANARY = 0xA5 };

static int test_rank = -1; /* in MPI_COMM_WORLD; -1 before test_begin() */
static int test_size = 0;
static uint64_t test_seed = 1; /* environment TEST_SEED */

/* ---- failing and skipping ---------------------------------------------------------------- */

/* Prints the line and ends the whole job with exit code 1. Any thread, also outside MPI. */
__attribute__((noreturn, format(printf, 4, 5))) static inline void
test_fail(const char *file, int line, const char *what, const char *fmt, ...)
{
    char text[1024];
    int is_up = 0, is_down = 0;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fflush(stdout);
    fprintf(stderr, "%s:%d: rank %d of %d: %s: %s (TEST_SEED=%llu)\n", file, line, test_rank, test_size, what,
            text, (unsigned long long)test_seed);
    fflush(stderr);
    MPI_Initialized(&is_up);
    MPI_Finalized(&is_down);
    if (is_up && !is_down)
        MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* Ends the program as skipped. To be called by all ranks alike, with nothing outstanding. */
__attribute__((noreturn, format(printf, 1, 2))) static inline void test_skip(const char *fmt, ...)
{
    int is_up = 0, is_down = 0;
    va_list ap;

    if (test_rank <= 0) {
        va_start(ap, fmt);
        printf("skipped: ");
        vprintf(fmt, ap);
        printf("\n");
        va_end(ap);
        fflush(stdout);
    }
    MPI_Initialized(&is_up);
    MPI_Finalized(&is_down);
    if (is_up && !is_down)
        MPI_Finalize();
    exit(TEST_SKIPPED);
}

/* The condition must hold; the rest is a printf text that gives the values. */
#define CHECK(cond, ...)                                       \
    do {                                                       \
        if (!(cond))                                           \
            test_fail(__FILE__, __LINE__, #cond, __VA_ARGS__); \
    } while (0)

#define CHECK_INT(got, want) test_check_int(__FILE__, __LINE__, #got, (long long)(got), (long long)(want))

static inline void test_check_int(const char *file, int line, const char *what, long long got, long long want)
{
    if (got != want)
        test_fail(file, line, what, "expected %lld, got %lld", want, got);
}

/* The call must return MPI_SUCCESS. */
#define CHECK_OK(call) test_check_class(__FILE__, __LINE__, #call, (call), MPI_SUCCESS)
/* The call must return a code of this error class. */
#define CHECK_CLASS(call, class) test_check_class(__FILE__, __LINE__, #call, (call), (class))
/* As CHECK_OK, but the program counts as skipped where the library does not implement the call. */
#define NEEDS(call) test_needs(__FILE__, __LINE__, #call, (call))

static inline int test_class(int code)
{
    int class = -1;

    MPI_Error_class(code, &class);
    return class;
}

static inline void test_check_class(const char *file, int line, const char *what, int code, int class)
{
    char came[MPI_MAX_ERROR_STRING + 1] = "", want[MPI_MAX_ERROR_STRING + 1] = "";
    int len = 0;

    if (code == class || test_class(code) == class)
        return;
    MPI_Error_string(code, came, &len);
    MPI_Error_string(class, want, &len);
    test_fail(file, line, what, "expected class %d (%.60s), got class %d: %.400s", class, want,
              test_class(code), came);
}

static inline void test_needs(const char *file, int line, const char *what, int code)
{
    if (code != MPI_SUCCESS && test_class(code) == MPI_ERR_UNSUPPORTED_OPERATION)
        test_skip("not implemented: %s", what);
    test_check_class(file, line, what, code, MPI_SUCCESS);
}

/* ---- begin and end ----------------------------------------------------------------------- */

/* After MPI_Init: errors come back as codes, so that a check can name the call. */
static inline void test_ready(void)
{
    const char *seed = getenv("TEST_SEED");

    if (seed)
        test_seed = strtoull(seed, NULL, 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test_size);
}

static inline void test_begin(int *argc, char ***argv)
{
    CHECK_OK(MPI_Init(argc, argv));
    test_ready();
}

/* With threads; skips where the library does not give the level. */
static inline void test_begin_threads(int *argc, char ***argv, int level)
{
    int provided = -1;

    CHECK_OK(MPI_Init_thread(argc, argv, level, &provided));
    test_ready();
    if (provided < level)
        test_skip("thread level %d asked, %d given", level, provided);
}

/* The exit code of main(). */
static inline int test_end(void)
{
    CHECK_OK(MPI_Finalize());
    return 0;
}

/* Needs at least this many ranks; skips otherwise. */
static inline void test_needs_ranks(int n)
{
    if (test_size < n)
        test_skip("needs %d ranks", n);
}

/* True under the library of this project: only for what the standard leaves open. */
static inline int test_is_parley(void)
{
    static char text[MPI_MAX_LIBRARY_VERSION_STRING + 1];
    int len = 0;

    MPI_Get_library_version(text, &len);
    return strstr(text, "Parley") != NULL;
}

/* ---- reproducible contents --------------------------------------------------------------- */

static inline uint64_t test_mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* The next number of a sequence; the same everywhere for the same start. */
static inline uint64_t test_random(uint64_t *state)
{
    return test_mix((*state)++);
}

/* In 0 .. n - 1. */
static inline size_t test_below(uint64_t *state, size_t n)
{
    return (size_t)(test_random(state) % n);
}

/* One key for some small numbers, e.g. sender, receiver, message number. Depends on TEST_SEED. */
static inline uint64_t test_key(uint64_t a, uint64_t b, uint64_t c)
{
    return test_mix(test_mix(test_mix(test_seed + a) + b) + c);
}

/* Contents that depend on key and position. */
static inline void test_fill(void *buf, size_t len, uint64_t key)
{
    unsigned char *p = buf;
    uint64_t word;
    size_t i;

    for (i = 0; i + 8 <= len; i += 8) {
        word = (key + i) * 0x9E3779B97F4A7C15u;
        memcpy(p + i, &word, 8);
    }
    word = (key + i) * 0x9E3779B97F4A7C15u;
    memcpy(p + i, &word, len - i);
}

/* Nothing says when a receive is over whose request was freed, not even that its synchronous sender is done or that a
 * later message of the same sender has come. Look at the data, and give the library its chance to move them on. */
static inline void test_await_bytes(const void *buf, const void *expected, size_t len)
{
    const double end = MPI_Wtime() + 20;
    int flag;

    while (memcmp(buf, expected, len) != 0 && MPI_Wtime() < end)
        CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
}

/* The buffer must hold what test_fill() of this key wrote. */
#define CHECK_BYTES(buf, len, key) test_check_bytes(__FILE__, __LINE__, #buf, (buf), (len), (key))

static inline void test_check_bytes(const char *file, int line, const char *what, const void *buf, size_t len,
                                    uint64_t key)
{
    const unsigned char *p = buf;
    unsigned char want[8];
    uint64_t word;
    size_t i, j, n;

    for (i = 0; i < len; i += 8) {
        n = len - i < 8 ? len - i : 8;
        word = (key + i) * 0x9E3779B97F4A7C15u;
        if (n == 8 && memcmp(p + i, &word, 8) == 0)
            continue;
        memcpy(want, &word, 8);
        for (j = 0; j < n; j++)
            if (p[i + j] != want[j])
                test_fail(file, line, what, "byte %zu of %zu: expected 0x%02x, got 0x%02x", i + j, len,
                          want[j], p[i + j]);
    }
}

/* Every byte must still be TEST_CANARY. */
#define CHECK_UNTOUCHED(buf, len) test_check_untouched(__FILE__, __LINE__, #buf, (buf), (len))

static inline void test_check_untouched(const char *file, int line, const char *what, const void *buf,
                                        size_t len)
{
    const unsigned char *p = buf;
    size_t i;

    for (i = 0; i < len; i++)
        if (p[i] != TEST_CANARY)
            test_fail(file, line, what, "byte %zu of %zu was not to be touched, but holds 0x%02x", i, len,
                      p[i]);
}

static inline void *test_alloc(size_t len)
{
    void *p = malloc(len ? len : 1);

    CHECK(p, "no memory for %zu bytes", len);
    return memset(p, TEST_CANARY, len);
}

/* ---- statuses ---------------------------------------------------------------------------- */

/* Source, tag and number of bytes of a received (or probed) message. */
#define CHECK_STATUS(st, source, tag, bytes) \
    test_check_status(__FILE__, __LINE__, (st), (source), (tag), (bytes))

static inline void test_check_status(const char *file, int line, const MPI_Status *st, int source, int tag,
                                     size_t bytes)
{
    int count = -1;

    test_check_int(file, line, "status source", st->MPI_SOURCE, source);
    test_check_int(file, line, "status tag", st->MPI_TAG, tag);
    test_check_class(file, line, "MPI_Get_count", MPI_Get_count(st, MPI_BYTE, &count), MPI_SUCCESS);
    test_check_int(file, line, "status bytes", count, (long long)bytes);
}

/* The empty status of MPI 5.0 section 3.7.3. */
#define CHECK_EMPTY(st) test_check_empty(__FILE__, __LINE__, (st))

static inline void test_check_empty(const char *file, int line, const MPI_Status *st)
{
    int is_cancelled = -1;

    test_check_status(file, line, st, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    MPI_Test_cancelled(st, &is_cancelled);
    test_check_int(file, line, "status is cancelled", is_cancelled, 0);
}

/* A status that no library writes by chance. */
static inline MPI_Status test_dirty_status(void)
{
    MPI_Status st;

    memset(&st, 0x5A, sizeof st);
    return st;
}

#endif
