/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: tool. The tool information interface (MPI 5.0 §15.3), one function for each MPI_T_ function.
 *
 * All return MPI_SUCCESS or a bare code MPI_T_ERR_…, raise nothing, and may be called at any time from any thread
 * between tool_init and the tool_finalize that belongs to it (else MPI_T_ERR_NOT_INITIALIZED). None blocks.
 *
 * Texts are returned as §15.3.3 says: `*len` is the room in `text` and becomes what is needed, with the zero; a text or
 * a length that is NULL, or a room of 0, gets no text, only the length. All results of the ..._info functions may be
 * NULL. Indices beyond the end: MPI_T_ERR_INVALID_INDEX; names that nobody has: MPI_T_ERR_INVALID_NAME. */
#ifndef TOOL_TOOL_H
#define TOOL_TOOL_H

#include <mpi.h>

struct info;

/* §15.3.4. May be called before MPI_Init and after MPI_Finalize, and again; `provided` is MPI_THREAD_MULTIPLE. */
int tool_init(int required, int *provided);
int tool_finalize(void);

/* §15.3.5. The values of an enumeration are its indices. Errors: MPI_T_ERR_INVALID_HANDLE, MPI_T_ERR_INVALID_ITEM. */
int tool_enum_info(MPI_T_enum enumtype, int *num, char *name, int *name_len);
int tool_enum_item(MPI_T_enum enumtype, int index, int *value, char *name, int *name_len);

/* §15.3.6, control variables: the settings, by the names they have in the environment. Written values count instead of
 * those of the environment. Most can be set before MPI is initialised only: MPI_T_ERR_CVAR_SET_NOT_NOW. A value that a
 * setting cannot have: MPI_T_ERR_INVALID. Texts are of at most `count` characters with their zero. */
int tool_cvar_count(int *num);
int tool_cvar_info(int index, char *name, int *name_len, int *verbosity, MPI_Datatype *datatype, MPI_T_enum *enumtype,
                   char *desc, int *desc_len, int *bind, int *scope);
int tool_cvar_find(const char *name, int *index);
int tool_cvar_open(int index, MPI_T_cvar_handle *handle, int *count);
int tool_cvar_close(MPI_T_cvar_handle *handle);
int tool_cvar_read(MPI_T_cvar_handle handle, void *buf);
int tool_cvar_write(MPI_T_cvar_handle handle, const void *buf);

/* §15.3.7, performance variables. `object` points to the handle of the communicator that a variable is bound to, else
 * it is not looked at. Counters belong to their session and run when started; levels and high-water marks always run
 * and cannot be written. Outside MPI all are 0. */
int tool_pvar_count(int *num);
int tool_pvar_info(int index, char *name, int *name_len, int *verbosity, int *var_class, MPI_Datatype *datatype,
                   MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *readonly, int *continuous,
                   int *atomic);
int tool_pvar_find(const char *name, int var_class, int *index);
int tool_pvar_session_open(MPI_T_pvar_session *session);
int tool_pvar_session_close(MPI_T_pvar_session *session);
int tool_pvar_open(MPI_T_pvar_session session, int index, const void *object, MPI_T_pvar_handle *handle, int *count);
int tool_pvar_close(MPI_T_pvar_session session, MPI_T_pvar_handle *handle);
int tool_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
int tool_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
int tool_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
int tool_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf);
int tool_pvar_read_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf);
int tool_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf);

/* §15.3.8, events, all of one source, which counts nanoseconds. Callbacks run in the process and thread where the event
 * happens, in their order there; an instance is gone when its callback returns. */
int tool_source_count(int *num);
int tool_source_info(int index, char *name, int *name_len, char *desc, int *desc_len, MPI_T_source_order *ordering,
                     MPI_Count *ticks_per_second, MPI_Count *max_ticks, MPI_Info *info);
int tool_source_timestamp(int index, MPI_Count *timestamp);
int tool_event_count(int *num);
int tool_event_info(int index, char *name, int *name_len, int *verbosity, MPI_Datatype datatypes[],
                    MPI_Aint displacements[], int *num_elements, MPI_T_enum *enumtype, MPI_Info *info, char *desc,
                    int *desc_len, int *bind);
int tool_event_find(const char *name, int *index);
int tool_event_open(int index, MPI_T_event_registration *registration);
int tool_event_close(MPI_T_event_registration registration, void *user_data, MPI_T_event_free_cb_function *freed);
int tool_event_listen(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *user_data,
                      MPI_T_event_cb_function *callback);
int tool_event_listen_dropped(MPI_T_event_registration registration, MPI_T_event_dropped_cb_function *dropped);
/* Hints: there are none. */
int tool_event_set_hints(MPI_T_event_registration registration);
int tool_event_hints(MPI_T_event_registration registration, struct info **out);
int tool_event_set_callback_hints(MPI_T_event_registration registration, MPI_T_cb_safety safety);
int tool_event_callback_hints(MPI_T_event_registration registration, MPI_T_cb_safety safety, struct info **out);
/* In a callback. */
int tool_event_read(MPI_T_event_instance instance, int element, void *buffer);
int tool_event_copy(MPI_T_event_instance instance, void *buffer);
int tool_event_timestamp(MPI_T_event_instance instance, MPI_Count *timestamp);
int tool_event_source(MPI_T_event_instance instance, int *index);

/* §15.3.9. */
int tool_category_count(int *num);
int tool_category_info(int index, char *name, int *name_len, char *desc, int *desc_len, int *cvars, int *pvars,
                       int *categories);
int tool_category_event_count(int index, int *events);
int tool_category_find(const char *name, int *index);
int tool_category_cvars(int index, int len, int indices[]);
int tool_category_pvars(int index, int len, int indices[]);
int tool_category_events(int index, int len, int indices[]);
int tool_category_categories(int index, int len, int indices[]);
int tool_category_stamp(int *stamp);

#endif
