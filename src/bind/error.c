/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: bind. Error classes, codes and strings: those of the library come from base/err, those of the user
 * (MPI 5.0 §9.5.1) stand in a short list here, those of MPI_T (§15.3.10) are constants. */
#include "bind/bind.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "comm/comm.h"

/* Above MPI_ERR_LASTCODE and above all constants of the standard (§20.3.4). */
enum { FIRST_USER_CODE = 16385, FIRST_TOOL_CODE = MPI_T_ERR_CANNOT_INIT };

struct user_code {
    int code;
    int error_class;    /* itself for a class */
    char *text;         /* owned; NULL: none */
};

static struct {
    pthread_mutex_t lock;
    struct user_code *codes; /* in rising order; guarded by lock, as is all below */
    int count, room;
} user = { .lock = PTHREAD_MUTEX_INITIALIZER };

static const char *const tool_texts[] = {
    [MPI_T_ERR_CANNOT_INIT - FIRST_TOOL_CODE] = "MPI_T: interface cannot be initialised",
    [MPI_T_ERR_NOT_ACCESSIBLE - FIRST_TOOL_CODE] = "MPI_T: not accessible now",
    [MPI_T_ERR_NOT_INITIALIZED - FIRST_TOOL_CODE] = "MPI_T: interface not initialised",
    [MPI_T_ERR_NOT_SUPPORTED - FIRST_TOOL_CODE] = "MPI_T: not supported",
    [MPI_T_ERR_MEMORY - FIRST_TOOL_CODE] = "MPI_T: out of memory",
    [MPI_T_ERR_INVALID - FIRST_TOOL_CODE] = "MPI_T: invalid use or argument",
    [MPI_T_ERR_INVALID_INDEX - FIRST_TOOL_CODE] = "MPI_T: invalid index",
    [MPI_T_ERR_INVALID_ITEM - FIRST_TOOL_CODE] = "MPI_T: item index out of range",
    [MPI_T_ERR_INVALID_SESSION - FIRST_TOOL_CODE] = "MPI_T: invalid session",
    [MPI_T_ERR_INVALID_HANDLE - FIRST_TOOL_CODE] = "MPI_T: invalid handle",
    [MPI_T_ERR_INVALID_NAME - FIRST_TOOL_CODE] = "MPI_T: unknown name",
    [MPI_T_ERR_OUT_OF_HANDLES - FIRST_TOOL_CODE] = "MPI_T: no more handles",
    [MPI_T_ERR_OUT_OF_SESSIONS - FIRST_TOOL_CODE] = "MPI_T: no more sessions",
    [MPI_T_ERR_CVAR_SET_NOT_NOW - FIRST_TOOL_CODE] = "MPI_T: control variable cannot be set now",
    [MPI_T_ERR_CVAR_SET_NEVER - FIRST_TOOL_CODE] = "MPI_T: control variable can never be set",
    [MPI_T_ERR_PVAR_NO_WRITE - FIRST_TOOL_CODE] = "MPI_T: performance variable cannot be written",
    [MPI_T_ERR_PVAR_NO_STARTSTOP - FIRST_TOOL_CODE] = "MPI_T: performance variable cannot be started or stopped",
    [MPI_T_ERR_PVAR_NO_ATOMIC - FIRST_TOOL_CODE] = "MPI_T: performance variable cannot be read and reset at once",
};

static bool is_tool_code(int code)
{
    return code >= FIRST_TOOL_CODE && code < FIRST_TOOL_CODE + (int)ARRAY_LEN(tool_texts);
}

/* A class of the standard, or a code of base/err that leads to one. */
static bool is_library_code(int code)
{
    return code >= 0 && code <= MPI_ERR_LASTCODE && err_class_text(err_class(code));
}

/* Call with the lock. */
static struct user_code *find(int code)
{
    for (int i = 0; i < user.count; i++)
        if (user.codes[i].code == code)
            return &user.codes[i];
    return NULL;
}

static int bad_code(int code)
{
    return err(MPI_ERR_ARG, "errorcode is %d, which is no error code", code);
}

int bind_error_class(int code, int *error_class)
{
    if (is_tool_code(code) || is_library_code(code)) {
        *error_class = is_tool_code(code) ? code : err_class(code);
        return 0;
    }
    pthread_mutex_lock(&user.lock);
    const struct user_code *entry = find(code);
    if (entry)
        *error_class = entry->error_class;
    pthread_mutex_unlock(&user.lock);
    return entry ? 0 : bad_code(code);
}

/* False if `code` is no error code. */
static bool find_text(int code, char *text, size_t size)
{
    bool found = true;

    if (is_tool_code(code))
        snprintf(text, size, "%s", tool_texts[code - FIRST_TOOL_CODE]);
    else if (is_library_code(code))
        err_text(code, text, size);
    else {
        pthread_mutex_lock(&user.lock);
        const struct user_code *entry = find(code);
        found = entry != NULL;
        if (found)
            snprintf(text, size, "%s", entry->text ? entry->text : "");
        pthread_mutex_unlock(&user.lock);
    }
    return found;
}

void bind_error_text(int code, char *text, size_t size)
{
    if (!find_text(code, text, size))
        snprintf(text, size, "%d, which is no error code", code);
}

int bind_error_string(int code, char *text, int *length)
{
    if (!find_text(code, text, MPI_MAX_ERROR_STRING))
        return bad_code(code);
    *length = (int)strlen(text);
    return 0;
}

/* Call with the lock: tells MPI_LASTUSEDCODE. */
static void note_last_code(void)
{
    comm_set_last_code(user.count ? user.codes[user.count - 1].code : MPI_ERR_LASTCODE);
}

/* Call with the lock. error_class 0: a new class, which is its own. Codes are not used twice while a larger one
 * stands, so that an old code never means something else. */
static int append(int error_class, int *code)
{
    if (user.count == user.room) {
        const int room = user.room ? 2 * user.room : 8;
        struct user_code *codes = mem_realloc(user.codes, (size_t)room * sizeof *codes);

        if (!codes)
            return err(MPI_ERR_NO_MEM, "no memory for an error code");
        user.codes = codes;
        user.room = room;
    }
    *code = user.count ? user.codes[user.count - 1].code + 1 : FIRST_USER_CODE;
    user.codes[user.count++] = (struct user_code){ *code, error_class ? error_class : *code, NULL };
    note_last_code();
    return 0;
}

int bind_add_error_class(int *error_class)
{
    pthread_mutex_lock(&user.lock);
    const int rc = append(0, error_class);
    pthread_mutex_unlock(&user.lock);
    return rc;
}

int bind_add_error_code(int error_class, int *code)
{
    pthread_mutex_lock(&user.lock);
    const struct user_code *entry = find(error_class);
    const bool is_class = entry ? entry->error_class == error_class
                                : error_class > 0 && is_library_code(error_class) &&
                                      err_class(error_class) == error_class;
    const int rc = is_class ? append(error_class, code)
                            : err(MPI_ERR_ARG, "errorclass is %d, which is no error class", error_class);
    pthread_mutex_unlock(&user.lock);
    return rc;
}

static int not_added(int code, const char *what)
{
    return err(MPI_ERR_ARG, "%s is %d, which was not added by MPI_Add_error_class or MPI_Add_error_code", what, code);
}

/* The standard takes up to MPI_MAX_ERROR_STRING characters; what does not fit with a zero is cut when asked for. */
int bind_add_error_string(int code, const char *text)
{
    char *copy = mem_strdup(text);

    if (!copy)
        return err(MPI_ERR_NO_MEM, "no memory for an error string");
    pthread_mutex_lock(&user.lock);
    struct user_code *entry = find(code);
    if (entry) {
        mem_free(entry->text);
        entry->text = copy;
    }
    pthread_mutex_unlock(&user.lock);
    if (entry)
        return 0;
    mem_free(copy);
    return not_added(code, "errorcode");
}

int bind_remove_error_string(int code)
{
    pthread_mutex_lock(&user.lock);
    struct user_code *entry = find(code);
    const bool has_text = entry && entry->text;
    if (has_text) {
        mem_free(entry->text);
        entry->text = NULL;
    }
    pthread_mutex_unlock(&user.lock);
    if (!entry)
        return not_added(code, "errorcode");
    return has_text ? 0 : err(MPI_ERR_ARG, "errorcode is %d, which has no error string", code);
}

/* Call with the lock. */
static bool has_codes(int error_class)
{
    for (int i = 0; i < user.count; i++)
        if (user.codes[i].error_class == error_class && user.codes[i].code != error_class)
            return true;
    return false;
}

static int remove_entry(int code, bool is_class, const char *what)
{
    int rc = 0;

    pthread_mutex_lock(&user.lock);
    struct user_code *entry = find(code);
    if (!entry || (entry->error_class == code) != is_class)
        rc = not_added(code, what);
    else if (entry->text)
        rc = err(MPI_ERR_ARG, "%s is %d, which still has an error string", what, code);
    else if (is_class && has_codes(code))
        rc = err(MPI_ERR_ARG, "%s is %d, which still has error codes", what, code);
    else {
        const size_t behind = (size_t)(user.codes + user.count - entry) - 1;

        memmove(entry, entry + 1, behind * sizeof *entry);
        user.count--;
        note_last_code();
    }
    if (!user.count) {
        mem_free(user.codes);
        user.codes = NULL;
        user.room = 0;
    }
    pthread_mutex_unlock(&user.lock);
    return rc;
}

int bind_remove_error_class(int error_class)
{
    return remove_entry(error_class, true, "errorclass");
}

int bind_remove_error_code(int code)
{
    return remove_entry(code, false, "errorcode");
}

