/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the generated calls with bad arguments under MPI_ERRORS_RETURN and counts what was not answered as it must be:
 * right error class, and a text with the function, the parameter and the value (MPI 5.0 §9.3, §9.4). A call that
 * crashes or hangs is named. */
#include "bad.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int rank, size;
char area[65536];
int64_t zeros[64];
int ranges[1][3];
MPI_Datatype good_types[64];
MPI_Request good_requests[64];
MPI_Group good_group, freed_group;
MPI_Info good_info, freed_info;
MPI_Comm freed_comm;
MPI_Op freed_op;
MPI_Errhandler freed_errhandler;
MPI_Session good_session, freed_session;
MPI_File good_file, freed_file;
MPI_Win good_win, freed_win;

static struct {
    const char *function, *parameter, *call;
    int count, faults;
} now;

void begin(const char *function, const char *parameter, const char *call)
{
    now.function = function;
    now.parameter = parameter;
    now.call = call;
    now.count++;
    alarm(40);
}

static void fault(const char *what, const char *expected, const char *came)
{
    fprintf(stderr, "%s\n    %s: expected \"%s\", came \"%s\"\n", now.call, what, expected, came);
    now.faults++;
}

void expect(int code, int error_class, const char *value)
{
    char text[MPI_MAX_ERROR_STRING] = "", class_text[MPI_MAX_ERROR_STRING] = "";
    int came = -1, length;

    if (MPI_Error_class(code, &came) || came != error_class) {
        char numbers[2][16];

        MPI_Error_string(code, text, &length);
        snprintf(numbers[0], sizeof numbers[0], "%d", error_class);
        snprintf(numbers[1], sizeof numbers[1], "%d", came);
        fault("error class", numbers[0], numbers[1]);
        fprintf(stderr, "    the text is: %s\n", text);
        return;
    }
    MPI_Error_string(code, text, &length);
    MPI_Error_string(error_class, class_text, &length);
    if (strcmp(text, class_text) == 0)
        fault("a text of its own", now.function, text);
    if (strncmp(text, now.function, strlen(now.function)) != 0 || text[strlen(now.function)] != ':')
        fault("the function in the text", now.function, text);
    if (!strstr(text, now.parameter))
        fault("the parameter in the text", now.parameter, text);
    if (!strstr(text, value))
        fault("the value in the text", value, text);
}

void expect_bare(int code, int wanted)
{
    char numbers[2][16];

    if (code == wanted)
        return;
    snprintf(numbers[0], sizeof numbers[0], "%d", wanted);
    snprintf(numbers[1], sizeof numbers[1], "%d", code);
    fault("the code", numbers[0], numbers[1]);
}

static void died(int signal_number)
{
    char text[512];
    const int length = snprintf(text, sizeof text, "signal %d in %s\n", signal_number, now.call ? now.call : "?");

    if (write(2, text, (size_t)length) < 0)
        _exit(3);
    _exit(2);
}

static void nothing(void *in, void *inout, int *len, MPI_Datatype *datatype)
{
    (void)in;
    (void)inout;
    (void)len;
    (void)datatype;
}

static void ignore(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

/* Objects that live, and objects that did. A handle's variable becomes null when it is freed: keep a copy. */
static void make_objects(void)
{
    static char memory[64];
    MPI_Comm comm;
    MPI_Group group;
    MPI_Info info;
    MPI_Op op;
    MPI_Errhandler errhandler;
    MPI_Session session;
    MPI_File file;
    MPI_Win win;

    /* first: they have communicators, which would take the places of freed ones */
    MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &good_file);
    MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    freed_file = file;
    MPI_File_close(&file);
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_SELF, &good_win);
    MPI_Win_set_errhandler(good_win, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, good_win);
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    freed_win = win;
    MPI_Win_free(&win);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    freed_comm = comm;
    MPI_Comm_free(&comm);
    MPI_Comm_group(MPI_COMM_WORLD, &good_group);
    MPI_Group_incl(good_group, 1, ranges[0], &group);
    freed_group = group;
    MPI_Group_free(&group);
    MPI_Info_create(&good_info);
    MPI_Info_dup(good_info, &info);
    freed_info = info;
    MPI_Info_free(&info);
    MPI_Op_create(nothing, 1, &op);
    freed_op = op;
    MPI_Op_free(&op);
    MPI_Comm_create_errhandler(ignore, &errhandler);
    freed_errhandler = errhandler;
    MPI_Errhandler_free(&errhandler);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &good_session);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    freed_session = session;
    MPI_Session_finalize(&session);
    for (int i = 0; i < 64; i++) {
        good_types[i] = MPI_INT;
        good_requests[i] = MPI_REQUEST_NULL;
    }
}

int main(int argc, char **argv)
{
    signal(SIGSEGV, died);
    signal(SIGBUS, died);
    signal(SIGFPE, died);
    signal(SIGALRM, died);
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    make_objects();
    run_cases();
    alarm(0);
    if (now.faults || now.count < 1000)
        fprintf(stderr, "%d of %d calls with bad arguments not answered as they must be\n", now.faults, now.count);
    MPI_Group_free(&good_group);
    MPI_Info_free(&good_info);
    MPI_Session_finalize(&good_session);
    MPI_File_close(&good_file);
    MPI_Win_free(&good_win);
    MPI_Finalize();
    return now.faults || now.count < 1000;
}
