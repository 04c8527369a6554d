/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers, classes, codes and strings of the user (MPI 5.0 §9.3, §9.5), handles as integers (§20.4.5), the
 * conversions of counts that do not fit (§2.5.8). One process. */
#include "../common/mpitest.h"

static struct {
    int calls, code;
    MPI_Comm comm;
} seen;

static void remember(MPI_Comm *comm, int *code, ...)
{
    seen.calls++;
    seen.comm = *comm;
    seen.code = *code;
}

/* §9.3: the handler gets the communicator and the code that the call returns; each communicator has its own. */
static void test_user_handler(void)
{
    MPI_Errhandler errhandler, got;
    MPI_Comm comm;
    int rc;

    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CHECK_OK(MPI_Comm_create_errhandler(remember, &errhandler));
    CHECK_OK(MPI_Comm_set_errhandler(comm, errhandler));
    CHECK_OK(MPI_Comm_get_errhandler(comm, &got));
    CHECK(got == errhandler, "the handler attached is another one");
    CHECK_OK(MPI_Errhandler_free(&got));
    CHECK(got == MPI_ERRHANDLER_NULL, "the variable keeps its handle");
    CHECK_OK(MPI_Errhandler_free(&errhandler));
    rc = MPI_Send(NULL, 1, MPI_INT, 0, 0, comm);
    CHECK_INT(seen.calls, 1);
    CHECK_INT(seen.code, rc);
    CHECK(seen.comm == comm, "the handler got another communicator");
    CHECK_OK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER));
    CHECK_INT(seen.calls, 2);
    CHECK_INT(seen.code, MPI_ERR_OTHER);
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    rc = MPI_Send(NULL, 1, MPI_INT, 0, 0, comm);
    CHECK(rc != MPI_SUCCESS, "a send from NULL");
    CHECK_INT(seen.calls, 2);
    CHECK_OK(MPI_Comm_free(&comm));
}

/* An errhandler for files does not go with a communicator. */
static void ignore_file(MPI_File *file, int *code, ...)
{
    (void)file;
    (void)code;
}

static void test_wrong_handler(void)
{
    MPI_Errhandler errhandler;
    int rc, error_class;

    CHECK_OK(MPI_File_create_errhandler(ignore_file, &errhandler));
    rc = MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler);
    CHECK_OK(MPI_Error_class(rc, &error_class));
    CHECK_INT(error_class, MPI_ERR_ERRHANDLER);
    CHECK_OK(MPI_Errhandler_free(&errhandler));
}

static int class_of(int code)
{
    int error_class;

    CHECK_OK(MPI_Error_class(code, &error_class));
    return error_class;
}

static void test_user_codes(void)
{
    char text[MPI_MAX_ERROR_STRING], large[MPI_MAX_ERROR_STRING + 1];
    int error_class, code, other, length;

    CHECK_OK(MPI_Add_error_class(&error_class));
    CHECK(error_class > MPI_ERR_LASTCODE, "class %d", error_class);
    CHECK_OK(MPI_Add_error_code(error_class, &code));
    CHECK_OK(MPI_Add_error_code(MPI_ERR_TAG, &other));
    CHECK(code > error_class && other > code, "codes %d and %d", code, other);
    CHECK_INT(class_of(code), error_class);
    CHECK_INT(class_of(error_class), error_class);
    CHECK_INT(class_of(other), MPI_ERR_TAG);
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK_INT(length, 0);
    CHECK_OK(MPI_Add_error_string(code, "first"));
    CHECK_OK(MPI_Add_error_string(code, "second"));
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK(strcmp(text, "second") == 0 && length == 6, "text \"%s\" of %d", text, length);
    memset(large, 'x', MPI_MAX_ERROR_STRING);
    large[MPI_MAX_ERROR_STRING] = '\0';
    CHECK_OK(MPI_Add_error_string(code, large));
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK_INT(length, MPI_MAX_ERROR_STRING - 1);
    CHECK_INT(class_of(MPI_Remove_error_class(error_class)), MPI_ERR_ARG);
    CHECK_INT(class_of(MPI_Remove_error_code(code)), MPI_ERR_ARG);
    CHECK_OK(MPI_Remove_error_string(code));
    CHECK_INT(class_of(MPI_Remove_error_string(code)), MPI_ERR_ARG);
    CHECK_OK(MPI_Remove_error_code(code));
    CHECK_OK(MPI_Remove_error_code(other));
    CHECK_OK(MPI_Remove_error_class(error_class));
    CHECK_INT(class_of(MPI_Error_class(code, &length)), MPI_ERR_ARG);
    CHECK_INT(class_of(MPI_Remove_error_code(MPI_ERR_TAG)), MPI_ERR_ARG);
    CHECK_INT(class_of(MPI_Add_error_string(MPI_ERR_TAG, "mine")), MPI_ERR_ARG);
    CHECK_INT(class_of(MPI_Add_error_code(63, &code)), MPI_ERR_ARG);
    CHECK_INT(class_of(MPI_Error_string(99999, text, &length)), MPI_ERR_ARG);
    CHECK_INT(class_of(MPI_Error_string(-3, text, &length)), MPI_ERR_ARG);
}

/* Every class of the standard has a text; codes of MPI_T are codes like others (§15.3.10). */
static void test_class_texts(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;

    for (int error_class = 0; error_class <= MPI_ERR_ABI; error_class++) {
        CHECK_INT(class_of(error_class), error_class);
        CHECK_OK(MPI_Error_string(error_class, text, &length));
        CHECK(length > 3 && (size_t)length == strlen(text), "class %d: \"%s\"", error_class, text);
    }
    for (int code = MPI_T_ERR_CANNOT_INIT; code <= MPI_T_ERR_PVAR_NO_ATOMIC; code++) {
        CHECK_INT(class_of(code), code);
        CHECK_OK(MPI_Error_string(code, text, &length));
        CHECK(strncmp(text, "MPI_T: ", 7) == 0, "code %d: \"%s\"", code, text);
    }
}

/* §20.4.5: predefined handles are their values; others the same at every call, and never a reserved one. */
static void test_handle_integers(void)
{
    enum { MANY = 300 };
    MPI_Info infos[MANY];
    int numbers[MANY];

    CHECK_INT(MPI_Comm_toint(MPI_COMM_WORLD), 257);
    CHECK_INT(MPI_Type_toint(MPI_DATATYPE_NULL), 512);
    CHECK(MPI_Type_fromint(MPI_Type_toint(MPI_INT)) == MPI_INT, "MPI_INT");
    CHECK(MPI_Op_fromint(33) == MPI_SUM, "MPI_SUM");
    for (int i = 0; i < MANY; i++) {
        CHECK_OK(MPI_Info_create(&infos[i]));
        numbers[i] = MPI_Info_toint(infos[i]);
        CHECK(numbers[i] >= 4096, "number %d", numbers[i]);
    }
    for (int i = 0; i < MANY; i++) {
        CHECK_INT(MPI_Info_toint(infos[i]), numbers[i]);
        CHECK(MPI_Info_fromint(numbers[i]) == infos[i], "number %d", numbers[i]);
        for (int j = 0; j < i; j++)
            CHECK(numbers[i] != numbers[j], "number %d twice", numbers[i]);
    }
    CHECK(MPI_Info_fromint(2000000000) == (MPI_Info)0, "a number that nobody gave");
    for (int i = 0; i < MANY; i++)
        CHECK_OK(MPI_Info_free(&infos[i]));
}

/* §2.5.8, §13.3: a count beyond int is MPI_UNDEFINED in the small form, itself in the large one. */
static void test_counts(void)
{
    const MPI_Count many = (MPI_Count)1 << 33;
    MPI_Status status = { 0 };
    MPI_Count large;
    int small;

    CHECK_OK(MPI_Status_set_elements_c(&status, MPI_BYTE, many));
    CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &small));
    CHECK_INT(small, MPI_UNDEFINED);
    CHECK_OK(MPI_Get_count_c(&status, MPI_BYTE, &large));
    CHECK(large == many, "count %lld", (long long)large);
    CHECK_OK(MPI_Get_elements_x(&status, MPI_BYTE, &large));
    CHECK(large == many, "elements %lld", (long long)large);
    CHECK_OK(MPI_Status_set_elements(&status, MPI_INT, 7));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &small));
    CHECK_INT(small, 7);
    CHECK_OK(MPI_Status_set_elements_x(&status, MPI_INT, 5));
    CHECK_OK(MPI_Get_elements(&status, MPI_INT, &small));
    CHECK_INT(small, 5);
}

/* §20.2, §20.4.1 */
static void test_abi(void)
{
    int is_true = 1, is_false = 0, got_true = 7, got_false = 7, is_set, flag, length = 16, major, minor;
    char text[16];
    MPI_Info info;

    CHECK_OK(MPI_Abi_get_version(&major, &minor));
    CHECK(major == 1 && minor == 0, "ABI %d.%d", major, minor);
    CHECK_OK(MPI_Abi_get_info(&info));
    CHECK_OK(MPI_Info_get_string(info, "mpi_aint_size", &length, text, &flag));
    CHECK(flag && atoi(text) == (int)sizeof(MPI_Aint), "mpi_aint_size is \"%s\"", text);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Abi_get_fortran_info(&info));
    CHECK(info == MPI_INFO_NULL, "nobody has told the library about Fortran");
    CHECK_OK(MPI_Abi_get_fortran_booleans(4, &got_true, &got_false, &is_set));
    CHECK_INT(is_set, 0);
    CHECK_OK(MPI_Abi_set_fortran_booleans(4, &is_true, &is_false));
    CHECK_INT(class_of(MPI_Abi_set_fortran_booleans(4, &is_true, &is_false)), MPI_ERR_ABI);
    CHECK_OK(MPI_Abi_get_fortran_booleans(4, &got_true, &got_false, &is_set));
    CHECK(is_set && got_true == 1 && got_false == 0, "values %d %d %d", is_set, got_true, got_false);
    CHECK_INT(class_of(MPI_Abi_get_fortran_booleans(3, &got_true, &got_false, &is_set)), MPI_ERR_ARG);
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_integer_size", "4"));
    CHECK_OK(MPI_Abi_set_fortran_info(info));
    CHECK_INT(class_of(MPI_Abi_set_fortran_info(info)), MPI_ERR_ABI);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Abi_get_fortran_info(&info));
    CHECK_OK(MPI_Info_get_nkeys(info, &length));
    CHECK_INT(length, 1);
    CHECK_OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    test_user_handler();
    test_wrong_handler();
    test_user_codes();
    test_class_texts();
    test_handle_integers();
    test_counts();
    test_abi();
    MPI_Finalize();
    return 0;
}
