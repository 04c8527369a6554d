/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: base. The ring of error texts and the general texts of the error classes.
 * Knows: nothing else. A slot is guarded by its own spin bit: errors are rare, and a reader copies out. */
#include "base/err.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/diagnostic.h"

struct slot {
    atomic_flag busy;
    short error_class, id;
    char text[ERR_TEXT_SIZE];
};

/* Codes with this slot would be the numbers of the MPI_T_ERR_ constants (1001 to 1018): it stays empty. */
enum { TOOL_SLOT = MPI_T_ERR_CANNOT_INIT >> ERR_CLASS_BITS };

static struct slot slots[ERR_SLOTS + 1];
static _Atomic unsigned next_slot;

static const char *const class_texts[] = {
    [MPI_SUCCESS] = "no error",
    [MPI_ERR_BUFFER] = "invalid buffer pointer",
    [MPI_ERR_COUNT] = "invalid count argument",
    [MPI_ERR_TYPE] = "invalid datatype argument",
    [MPI_ERR_TAG] = "invalid tag argument",
    [MPI_ERR_COMM] = "invalid communicator",
    [MPI_ERR_RANK] = "invalid rank",
    [MPI_ERR_REQUEST] = "invalid request handle",
    [MPI_ERR_ROOT] = "invalid root",
    [MPI_ERR_GROUP] = "invalid group",
    [MPI_ERR_OP] = "invalid operation",
    [MPI_ERR_TOPOLOGY] = "invalid topology",
    [MPI_ERR_DIMS] = "invalid dimension argument",
    [MPI_ERR_ARG] = "invalid argument of some other kind",
    [MPI_ERR_UNKNOWN] = "unknown error",
    [MPI_ERR_TRUNCATE] = "message truncated on receive",
    [MPI_ERR_OTHER] = "known error not in this list",
    [MPI_ERR_INTERN] = "internal error of the library",
    [MPI_ERR_PENDING] = "pending request: neither failed nor completed",
    [MPI_ERR_IN_STATUS] = "the error codes are in the statuses",
    [MPI_ERR_ACCESS] = "permission denied",
    [MPI_ERR_AMODE] = "invalid access mode",
    [MPI_ERR_ASSERT] = "invalid assertion argument",
    [MPI_ERR_BAD_FILE] = "invalid file name",
    [MPI_ERR_BASE] = "invalid base address",
    [MPI_ERR_CONVERSION] = "error in a data conversion function",
    [MPI_ERR_DISP] = "invalid displacement argument",
    [MPI_ERR_DUP_DATAREP] = "data representation already defined",
    [MPI_ERR_FILE_EXISTS] = "file exists",
    [MPI_ERR_FILE_IN_USE] = "file in use by some process",
    [MPI_ERR_FILE] = "invalid file handle",
    [MPI_ERR_INFO_KEY] = "info key too long or empty",
    [MPI_ERR_INFO_NOKEY] = "info key not defined",
    [MPI_ERR_INFO_VALUE] = "info value too long",
    [MPI_ERR_INFO] = "invalid info argument",
    [MPI_ERR_IO] = "other input or output error",
    [MPI_ERR_KEYVAL] = "invalid attribute key",
    [MPI_ERR_LOCKTYPE] = "invalid lock type",
    [MPI_ERR_NAME] = "service name not published",
    [MPI_ERR_NO_MEM] = "out of memory",
    [MPI_ERR_NOT_SAME] = "collective argument not the same on all processes",
    [MPI_ERR_NO_SPACE] = "not enough space",
    [MPI_ERR_NO_SUCH_FILE] = "no such file",
    [MPI_ERR_PORT] = "invalid port name",
    [MPI_ERR_PROC_ABORTED] = "a peer process has aborted",
    [MPI_ERR_QUOTA] = "quota exceeded",
    [MPI_ERR_READ_ONLY] = "read-only file or file system",
    [MPI_ERR_RMA_ATTACH] = "memory cannot be attached",
    [MPI_ERR_RMA_CONFLICT] = "conflicting accesses to a window",
    [MPI_ERR_RMA_RANGE] = "target memory is not part of the window",
    [MPI_ERR_RMA_SHARED] = "memory cannot be shared",
    [MPI_ERR_RMA_SYNC] = "wrong synchronization of window calls",
    [MPI_ERR_SERVICE] = "unpublishing a service failed",
    [MPI_ERR_SIZE] = "invalid size argument",
    [MPI_ERR_SPAWN] = "processes could not be spawned",
    [MPI_ERR_UNSUPPORTED_DATAREP] = "data representation not supported",
    [MPI_ERR_UNSUPPORTED_OPERATION] = "operation not supported",
    [MPI_ERR_WIN] = "invalid window argument",
    [MPI_ERR_RMA_FLAVOR] = "window has the wrong flavor",
    [MPI_ERR_VALUE_TOO_LARGE] = "value too large for the variable",
    [MPI_ERR_SESSION] = "invalid session argument",
    [MPI_ERR_ERRHANDLER] = "invalid error handler",
    [MPI_ERR_ABI] = "Fortran properties of the ABI are already set",
};

static void slot_lock(struct slot *slot)
{
    while (atomic_flag_test_and_set_explicit(&slot->busy, memory_order_acquire)) /* pairs with slot_unlock */
        cpu_relax();
}

static void slot_unlock(struct slot *slot)
{
    atomic_flag_clear_explicit(&slot->busy, memory_order_release);
}

static int slot_take(int error_class, int id)
{
    const unsigned ticket = atomic_fetch_add_explicit(&next_slot, 1, memory_order_relaxed);
    const int place = (int)(ticket % (ERR_SLOTS - 1)) + 1;
    const int index = place + (place >= TOOL_SLOT);

    slot_lock(&slots[index]);
    slots[index].error_class = (short)error_class;
    slots[index].id = (short)id;
    return index;
}

int err(int error_class, const char *format, ...)
{
    const int own = diagnostic_id(format);
    const int index = slot_take(error_class, own ? own : DIAGNOSTIC_CLASS + error_class);
    va_list args;

    va_start(args, format);
    vsnprintf(slots[index].text, ERR_TEXT_SIZE, own ? format + DIAGNOSTIC_ID_LENGTH : format, args);
    va_end(args);
    slot_unlock(&slots[index]);
    return index << ERR_CLASS_BITS | error_class;
}

int err_told(int error_class, const char *text)
{
    const int own = diagnostic_id(text);
    const int index = slot_take(error_class, own ? own : DIAGNOSTIC_CLASS + error_class);

    snprintf(slots[index].text, ERR_TEXT_SIZE, "%s", own ? text + DIAGNOSTIC_ID_LENGTH : text);
    slot_unlock(&slots[index]);
    return index << ERR_CLASS_BITS | error_class;
}

int err_prefix(int code, const char *prefix)
{
    char text[ERR_TEXT_SIZE];

    if (code <= 0 || code > MPI_ERR_LASTCODE)
        return code;
    err_text(code, text, sizeof text);
    if (!(code >> ERR_CLASS_BITS))
        return err(err_class(code), "%s: %s", prefix, text);
    struct slot *slot = &slots[code >> ERR_CLASS_BITS];
    slot_lock(slot);
    snprintf(slot->text, ERR_TEXT_SIZE, "%.80s: %.429s", prefix, text); /* cut so that both fit */
    slot_unlock(slot);
    return code;
}

int err_suffix(int code, const char *name)
{
    char text[ERR_TEXT_SIZE];

    if (code <= 0 || code > MPI_ERR_LASTCODE || !(code >> ERR_CLASS_BITS))
        return code;
    err_text(code, text, sizeof text);
    if (strstr(text, name))
        return code;
    struct slot *slot = &slots[code >> ERR_CLASS_BITS];
    slot_lock(slot);
    snprintf(slot->text, ERR_TEXT_SIZE, "%.*s (on %.200s)", ERR_TEXT_SIZE - 208, text, name); /* cut so that both fit */
    slot_unlock(slot);
    return code;
}

int err_id(int code)
{
    struct slot *slot = &slots[(code >> ERR_CLASS_BITS) & ERR_SLOTS];
    int id = DIAGNOSTIC_CLASS + err_class(code);

    if (code < 0 || code > MPI_ERR_LASTCODE)
        return DIAGNOSTIC_USER_CODE;
    if (code >> ERR_CLASS_BITS) {
        slot_lock(slot);
        if (slot->error_class == err_class(code) && slot->text[0])
            id = slot->id;
        slot_unlock(slot);
    }
    return id;
}

int err_class(int code)
{
    return code & ERR_CLASS_MASK;
}

const char *err_class_text(int error_class)
{
    if (error_class < 0 || (size_t)error_class >= ARRAY_LEN(class_texts))
        return NULL;
    return class_texts[error_class];
}

void err_text(int code, char *text, size_t size)
{
    const char *general = err_class_text(err_class(code));
    struct slot *slot = &slots[(code >> ERR_CLASS_BITS) & ERR_SLOTS];
    bool found = false;

    if (code >> ERR_CLASS_BITS) {
        slot_lock(slot);
        found = slot->error_class == err_class(code) && slot->text[0];
        if (found)
            snprintf(text, size, "%s", slot->text);
        slot_unlock(slot);
    }
    if (!found)
        snprintf(text, size, "%s", general ? general : "unknown error code");
}
