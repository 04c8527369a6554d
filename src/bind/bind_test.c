/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test: every allocation of this room's data fails once, and nothing is lost or left behind. */
#include "bind/bind.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "comm/comm.h"

/* Run `step` with the n-th allocation failing, for n = 0, 1, ... until it passes. It returns an error code. */
static void fail_each(int (*step)(void))
{
    for (long n = 0, done = 0; !done; n++) {
        mem_fail_after(n);
        const int rc = step();
        mem_fail_after(-1);
        CHECK(rc == 0 || err_class(rc) == MPI_ERR_NO_MEM);
        done = rc == 0;
        CHECK(n < 100);
    }
}

static int code, other;

static int last_used_code(void)
{
    const struct comm comm = { .size = 1 };
    int *value, flag;

    CHECK_INT(comm_get_attr(&comm, MPI_LASTUSEDCODE, &value, &flag), 0);
    CHECK_INT(flag, 1);
    return *value;
}

static int add_code(void)
{
    return bind_add_error_code(MPI_ERR_TAG, &code);
}

static int add_class(void)
{
    return bind_add_error_class(&other);
}

static int add_string(void)
{
    return bind_add_error_string(code, "a text");
}

static void test_codes(void)
{
    char text[MPI_MAX_ERROR_STRING];
    const long live = mem_live();

    CHECK_INT(last_used_code(), MPI_ERR_LASTCODE);
    fail_each(add_code);
    fail_each(add_string);
    fail_each(add_class);
    CHECK_INT(last_used_code(), other);
    bind_error_text(code, text, sizeof text);
    CHECK(strcmp(text, "a text") == 0);
    bind_error_text(123456, text, sizeof text);
    CHECK(strstr(text, "123456"));
    CHECK_INT(bind_remove_error_class(other), 0);
    CHECK_INT(last_used_code(), code);
    CHECK_INT(bind_remove_error_string(code), 0);
    CHECK_INT(bind_remove_error_code(code), 0);
    CHECK_INT((int)(mem_live() - live), 0);
}

/* Codes are 14 bits, and never the number of an MPI_T error (§15.3.10). */
static void test_code_numbers(void)
{
    for (int i = 0; i < 2 * ERR_SLOTS; i++) {
        const int rc = err(MPI_ERR_TAG, "error %d", i);
        int error_class;

        CHECK(rc > 0 && rc <= MPI_ERR_LASTCODE);
        CHECK_INT(bind_error_class(rc, &error_class), 0);
        CHECK_INT(error_class, MPI_ERR_TAG);
    }
    for (int error_class = MPI_ERR_PORT; error_class <= MPI_ERR_ABI; error_class++)
        for (int i = 0; i < ERR_SLOTS; i++) {
            const int rc = err(error_class, "error %d", i);

            CHECK(rc < MPI_T_ERR_CANNOT_INIT || rc > MPI_T_ERR_PVAR_NO_ATOMIC);
        }
}

static int make_info(void)
{
    struct info *info;
    const int rc = bind_abi_info(&info);

    if (!rc)
        info_unref(info);
    return rc;
}

static int make_errhandler(void)
{
    struct errhandler *errhandler;
    const int rc = bind_create_errhandler(OBJ_COMM, NULL, &errhandler);

    if (!rc)
        errhandler_unref(errhandler);
    return rc;
}

static int tell_fortran(void)
{
    static struct info info;

    return bind_set_fortran_info(&info);
}

static void test_objects(void)
{
    struct info *info;

    CHECK_INT(bind_get_fortran_info(&info), 0);
    CHECK(!info);
    fail_each(make_info);
    fail_each(make_errhandler);
    fail_each(tell_fortran);
    CHECK_INT(err_class(tell_fortran()), MPI_ERR_ABI);
    CHECK_INT(bind_get_fortran_info(&info), 0);
    CHECK(info);
    info_unref(info);
}

/* Without memory a handle has no number; those that had one keep it. */
static void test_handles(void)
{
    const uintptr_t first = 0x100000;
    int numbers[200];

    mem_fail_after(0);
    CHECK_INT(bind_handle_to_int(first), 0);
    mem_fail_after(-1);
    for (int i = 0; i < 200; i++) {
        numbers[i] = bind_handle_to_int(first + 64 * (uintptr_t)i);
        CHECK(numbers[i] >= OBJ_PREDEFINED_END);
    }
    mem_fail_after(0);
    for (int i = 0; i < 200; i++) {
        CHECK_INT(bind_handle_to_int(first + 64 * (uintptr_t)i), numbers[i]);
        CHECK(bind_int_to_handle(numbers[i]) == first + 64 * (uintptr_t)i);
    }
    mem_fail_after(-1);
    CHECK(bind_int_to_handle(-1) == 0 && bind_int_to_handle(0) == 0 && bind_int_to_handle(257) == 257);
    CHECK(bind_int_to_handle(numbers[199] + 1) == 0);
}

int main(void)
{
    test_codes();
    test_code_numbers();
    test_objects();
    test_handles();
    return 0;
}
