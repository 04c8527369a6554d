/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: tool. Control variables: the settings (MPI 5.0 §15.3.6). */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "init/init.h"
#include "tool/int_tool.h"

enum { TEXT_ROOM = 4096, NAME_ROOM = 64 }; /* characters of a text with its zero; of a name */

/* What MPI_T_cvar_handle points to. */
struct cvar {
    struct list link; /* in `open` */
    struct setting *setting;
};

static struct list open = { &open, &open };

static const char *name_of(const struct setting *setting, char name[NAME_ROOM])
{
    snprintf(name, NAME_ROOM, "PARLEY_%s", setting->name);
    return name;
}

static bool has_index(int index)
{
    return index >= 0 && index < setting_count();
}

/* The handle, if it is one. */
static struct cvar *cvar_of(MPI_T_cvar_handle handle)
{
    LIST_FOR_EACH(link, &open) {
        struct cvar *cvar = CONTAINER_OF(link, struct cvar, link);
        if (handle == (MPI_T_cvar_handle)(uintptr_t)cvar)
            return cvar;
    }
    return NULL;
}

int tool_cvar_count(int *num)
{
    if (!tool_is_open())
        return MPI_T_ERR_NOT_INITIALIZED;
    *num = setting_count();
    return MPI_SUCCESS;
}

int tool_cvar_info(int index, char *name, int *name_len, int *verbosity, MPI_Datatype *datatype, MPI_T_enum *enumtype,
                   char *desc, int *desc_len, int *bind, int *scope)
{
    static const MPI_Datatype types[] = {
        [SETTING_INT] = MPI_COUNT, [SETTING_BOOL] = MPI_INT, [SETTING_TEXT] = MPI_CHAR,
    };
    const struct setting *setting;
    char text[NAME_ROOM];

    if (!tool_is_open())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!has_index(index))
        return MPI_T_ERR_INVALID_INDEX;
    setting = setting_at(index);
    tool_give_text(name_of(setting, text), name, name_len);
    tool_give_text(setting->help, desc, desc_len);
    tool_give(verbosity, tool_verbosity(setting->topic));
    tool_give(bind, MPI_T_BIND_NO_OBJECT);
    tool_give(scope, setting->must_agree ? MPI_T_SCOPE_ALL_EQ : MPI_T_SCOPE_LOCAL);
    if (datatype)
        *datatype = types[setting->kind];
    if (enumtype)
        *enumtype = tool_enum_handle(setting->kind == SETTING_BOOL ? &tool_off_on : NULL);
    return MPI_SUCCESS;
}

int tool_cvar_find(const char *name, int *index)
{
    char text[NAME_ROOM];

    if (!tool_is_open())
        return MPI_T_ERR_NOT_INITIALIZED;
    for (int i = 0; i < setting_count(); i++) {
        if (!strcmp(name_of(setting_at(i), text), name)) {
            *index = i;
            return MPI_SUCCESS;
        }
    }
    return MPI_T_ERR_INVALID_NAME;
}

int tool_cvar_open(int index, MPI_T_cvar_handle *handle, int *count)
{
    struct cvar *cvar;
    const int rc = tool_enter();

    if (rc)
        return rc;
    if (!has_index(index))
        return tool_leave(MPI_T_ERR_INVALID_INDEX);
    cvar = mem_alloc(sizeof *cvar);
    if (!cvar)
        return tool_leave(MPI_T_ERR_MEMORY);
    cvar->setting = setting_at(index);
    list_append(&open, &cvar->link);
    *handle = (MPI_T_cvar_handle)(uintptr_t)cvar;
    *count = cvar->setting->kind == SETTING_TEXT ? TEXT_ROOM : 1;
    return tool_leave(MPI_SUCCESS);
}

static void close_cvar(struct cvar *cvar)
{
    list_remove(&cvar->link);
    mem_free(cvar);
}

int tool_cvar_close(MPI_T_cvar_handle *handle)
{
    struct cvar *cvar;
    const int rc = tool_enter();

    if (rc)
        return rc;
    cvar = cvar_of(*handle);
    if (!cvar)
        return tool_leave(MPI_T_ERR_INVALID_HANDLE);
    close_cvar(cvar);
    *handle = MPI_T_CVAR_HANDLE_NULL;
    return tool_leave(MPI_SUCCESS);
}

/* What the environment says counts already, though MPI may not have looked yet; what it says wrongly is told by
 * MPI_Init. */
static void read_value(struct setting *setting, void *buf)
{
    if (!init_is_open())
        setting_read(setting);
    if (setting->kind == SETTING_INT)
        *(MPI_Count *)buf = setting_fetch(setting, NULL, 0);
    else if (setting->kind == SETTING_BOOL)
        *(int *)buf = (int)setting_fetch(setting, NULL, 0);
    else
        setting_fetch(setting, buf, TEXT_ROOM);
}

int tool_cvar_read(MPI_T_cvar_handle handle, void *buf)
{
    struct cvar *cvar;
    const int rc = tool_enter();

    if (rc)
        return rc;
    cvar = cvar_of(handle);
    if (cvar)
        read_value(cvar->setting, buf);
    return tool_leave(cvar ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE);
}

static int write_value(struct setting *setting, const void *buf)
{
    const char *value = buf;
    char number[32];
    int rc;

    if (init_is_open() && !setting->any_time)
        return MPI_T_ERR_CVAR_SET_NOT_NOW;
    if (setting->kind == SETTING_TEXT && !memchr(buf, 0, TEXT_ROOM))
        return MPI_T_ERR_INVALID;
    if (setting->kind != SETTING_TEXT) {
        snprintf(number, sizeof number, "%lld",
                 setting->kind == SETTING_INT ? (long long)*(const MPI_Count *)buf : (long long)*(const int *)buf);
        value = number;
    }
    rc = setting_write(setting, value);
    if (rc)
        return err_class(rc) == MPI_ERR_NO_MEM ? MPI_T_ERR_MEMORY : MPI_T_ERR_INVALID;
    return MPI_SUCCESS;
}

int tool_cvar_write(MPI_T_cvar_handle handle, const void *buf)
{
    struct cvar *cvar;
    const int rc = tool_enter();

    if (rc)
        return rc;
    cvar = cvar_of(handle);
    return tool_leave(cvar ? write_value(cvar->setting, buf) : MPI_T_ERR_INVALID_HANDLE);
}

void tool_cvars_close(void)
{
    LIST_FOR_EACH_SAFE(link, &open)
        close_cvar(CONTAINER_OF(link, struct cvar, link));
}
