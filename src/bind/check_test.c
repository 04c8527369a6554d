/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test: checks whose objects a program cannot make yet (intercommunicators), and their texts. */
#include "bind/int_check.h"

#include <string.h>

#include "base/check.h"
#include "base/err.h"

static struct comm intra = { .rank = 1, .size = 4, .remote_size = 4, .name = "intra" };
static struct comm inter = { .rank = 1, .size = 4, .remote_size = 2, .is_inter = true, .name = "inter" };

/* `rc` is of the class and its text holds `part`. */
static void check_error(int rc, int error_class, const char *part)
{
    char text[ERR_TEXT_SIZE];

    CHECK_INT(err_class(rc), error_class);
    err_text(rc, text, sizeof text);
    if (!strstr(text, part))
        fprintf(stderr, "the text is: %s\n", text);
    CHECK(strstr(text, part));
}

static void test_sides(void)
{
    CHECK_INT(check_comm_intra(&intra, MPI_COMM_SELF, "comm"), 0);
    CHECK_INT(check_comm_inter(&inter, MPI_COMM_SELF, "comm"), 0);
    check_error(check_comm_intra(&inter, MPI_COMM_SELF, "comm"), MPI_ERR_COMM, "comm (inter) is an intercommunicator");
    check_error(check_comm_inter(&intra, MPI_COMM_SELF, "comm"), MPI_ERR_COMM, "comm (intra) is an intracommunicator");
    check_error(check_comm_inter(NULL, MPI_COMM_NULL, "comm"), MPI_ERR_COMM, "comm is MPI_COMM_NULL");
    CHECK_INT(check_in_place(&intra, "sendbuf"), 0);
    check_error(check_in_place(&inter, "sendbuf"), MPI_ERR_BUFFER, "sendbuf is MPI_IN_PLACE");
}

/* Ranks of an intercommunicator are those of the remote group. */
static void test_ranks(void)
{
    CHECK_INT(check_dest(3, &intra, "dest"), 0);
    CHECK_INT(check_dest(1, &inter, "dest"), 0);
    CHECK_INT(check_dest(MPI_PROC_NULL, &inter, "dest"), 0);
    check_error(check_dest(2, &inter, "dest"), MPI_ERR_RANK, "dest is 2; it must be between 0 and 1, or MPI_PROC_NULL");
    check_error(check_source(-7, &inter, "source"), MPI_ERR_RANK, "source is -7");
    CHECK_INT(check_source(MPI_ANY_SOURCE, &inter, "source"), 0);
    check_error(check_source_exact(MPI_ANY_SOURCE, &inter, "source"), MPI_ERR_RANK, "source is -1");
    CHECK_INT(check_rank(3, &inter, "rank"), 0);
    check_error(check_rank(4, &inter, "rank"), MPI_ERR_RANK, "between 0 and 3");
}

/* MPI 5.0 §6.2.3 */
static void test_roots(void)
{
    CHECK_INT(check_root(3, &intra, "root"), 0);
    check_error(check_root(MPI_ROOT, &intra, "root"), MPI_ERR_ROOT, "root is -4; it must be between 0 and 3");
    CHECK_INT(check_root(MPI_ROOT, &inter, "root"), 0);
    CHECK_INT(check_root(MPI_PROC_NULL, &inter, "root"), 0);
    check_error(check_root(2, &inter, "root"), MPI_ERR_ROOT, "or MPI_ROOT or MPI_PROC_NULL");
    CHECK(at_root(&intra, 1) && at_leaf(&intra, 1) && at_both(&intra, 1));
    CHECK(!at_root(&intra, 0) && at_leaf(&intra, 0) && at_both(&intra, 0));
    CHECK(at_root(&inter, MPI_ROOT) && !at_leaf(&inter, MPI_ROOT) && at_both(&inter, MPI_ROOT));
    CHECK(!at_root(&inter, 1) && at_leaf(&inter, 1) && at_both(&inter, 1));
    CHECK(!at_root(&inter, MPI_PROC_NULL) && !at_leaf(&inter, MPI_PROC_NULL) && !at_both(&inter, MPI_PROC_NULL));
}

static void test_numbers(void)
{
    static const MPI_Count large[] = { 1, (MPI_Count)1 << 40, -((MPI_Count)1 << 40) };
    static const int small[] = { 0, 5, -5 };

    check_error(check_counts(small, 3, "counts"), MPI_ERR_COUNT, "counts[2] is -5");
    check_error(check_counts(large, 3, "counts"), MPI_ERR_COUNT, "counts[2] is -1099511627776");
    CHECK_INT(check_counts(small, 2, "counts"), 0);
    CHECK_INT(check_counts((const int *)NULL, 0, "counts"), 0);
    check_error(check_counts((const MPI_Count *)NULL, 1, "counts"), MPI_ERR_ARG, "counts is NULL");
    check_error(check_size(-1, "size"), MPI_ERR_SIZE, "size is -1");
    check_error(check_disp(-1, "target_disp"), MPI_ERR_DISP, "target_disp is -1");
    check_error(check_disp_unit(0, "disp_unit"), MPI_ERR_DISP, "disp_unit is 0; it must be at least 1");
    check_error(check_positive(0, "ndims"), MPI_ERR_ARG, "ndims is 0; it must be at least 1");
    CHECK_INT(small_or_undefined(INT_MAX), INT_MAX);
    CHECK_INT(small_or_undefined((MPI_Count)INT_MAX + 1), MPI_UNDEFINED);
    CHECK_INT(check_fits(INT_MAX, "size"), 0);
    check_error(check_fits((MPI_Count)1 << 31, "size"), MPI_ERR_VALUE_TOO_LARGE, "size is 2147483648");
}

static void test_handles(void)
{
    check_error(check_session(NULL, MPI_SESSION_NULL, "session"), MPI_ERR_SESSION, "session is MPI_SESSION_NULL");
    check_error(check_win(NULL, MPI_WIN_NULL, "win"), MPI_ERR_WIN, "win is MPI_WIN_NULL");
    check_error(check_file(NULL, (MPI_File)0, "fh"), MPI_ERR_FILE, "fh is 0, which is no file; was the variable set?");
    check_error(check_op(NULL, (MPI_Op)99, "op"), MPI_ERR_OP, "op is 99, which is no operator");
    check_error(check_group(NULL, (MPI_Group)0x12340, "group"), MPI_ERR_GROUP, "group is 0x12340");
    check_error(check_info_or_null(NULL, (MPI_Info)0, "info"), MPI_ERR_INFO, "info is 0");
    CHECK_INT(check_info_or_null(NULL, MPI_INFO_NULL, "info"), 0);
    CHECK_INT(check_comm_or_null(NULL, MPI_COMM_NULL, "comm"), 0);
    check_error(check_comm_or_null(NULL, (MPI_Comm)0, "comm"), MPI_ERR_COMM, "comm is 0");
    CHECK_INT(check_type_or_null(NULL, MPI_DATATYPE_NULL, "type"), 0);
    check_error(check_type_or_null(NULL, (MPI_Datatype)0, "type"), MPI_ERR_TYPE, "type is 0");
    CHECK_INT(check_win_or_null(NULL, MPI_WIN_NULL, "win"), 0);
    check_error(check_win_or_null(NULL, (MPI_Win)0, "win"), MPI_ERR_WIN, "win is 0");
    CHECK_INT(check_request_or_null(NULL, MPI_REQUEST_NULL, "request"), 0);
    check_error(check_requests((const MPI_Request[]){ MPI_REQUEST_NULL }, 1, "requests"), MPI_ERR_REQUEST,
                "requests[0] is MPI_REQUEST_NULL");
}

int main(void)
{
    test_sides();
    test_ranks();
    test_roots();
    test_numbers();
    test_handles();
    return 0;
}
