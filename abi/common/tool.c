/* SPDX-License-Identifier: BSD-3-Clause */
/* Doors: MPI_T where an argument is a pointer to a handle of a kind that the variable tells, or a function. */
#include "door.h"

/* --- handles of variables and events --- */

/* A handle of the kind that `binding` tells, as the library's, in `room`; NULL if the variable belongs to no object. */
static void *bound_object(int binding, const void *object, uintptr_t *room)
{
    if (!object)
        return NULL;
    switch (binding) {
    case MPI_T_BIND_MPI_COMM: *room = (uintptr_t)in_comm(*(const F_Comm *)object); break;
    case MPI_T_BIND_MPI_DATATYPE: *room = (uintptr_t)in_type(*(const F_Datatype *)object); break;
    case MPI_T_BIND_MPI_ERRHANDLER: *room = (uintptr_t)in_errhandler(*(const F_Errhandler *)object); break;
    case MPI_T_BIND_MPI_FILE: *room = (uintptr_t)in_file(*(const F_File *)object); break;
    case MPI_T_BIND_MPI_GROUP: *room = (uintptr_t)in_group(*(const F_Group *)object); break;
    case MPI_T_BIND_MPI_OP: *room = (uintptr_t)in_op(*(const F_Op *)object); break;
    case MPI_T_BIND_MPI_REQUEST: *room = (uintptr_t)in_request(*(const F_Request *)object); break;
    case MPI_T_BIND_MPI_WIN: *room = (uintptr_t)in_win(*(const F_Win *)object); break;
    case MPI_T_BIND_MPI_MESSAGE: *room = (uintptr_t)in_message(*(const F_Message *)object); break;
    case MPI_T_BIND_MPI_INFO: *room = (uintptr_t)in_info(*(const F_Info *)object); break;
    default: return NULL;
    }
    return room;
}

DOOR(int, T_cvar_handle_alloc, int index, void *object, MPI_T_cvar_handle *handle, int *count)
{
    int binding = MPI_T_BIND_NO_OBJECT, length = 0;
    uintptr_t room;

    parley_calls_1.T_cvar_get_info(index, NULL, &length, NULL, NULL, NULL, NULL, &length, &binding, NULL);
    return out_code(parley_calls_1.T_cvar_handle_alloc(index, bound_object(binding, object, &room), handle, count));
}

DOOR(int, T_pvar_handle_alloc, MPI_T_pvar_session session, int index, void *object, MPI_T_pvar_handle *handle,
     int *count)
{
    int binding = MPI_T_BIND_NO_OBJECT, length = 0;
    uintptr_t room;

    parley_calls_1.T_pvar_get_info(index, NULL, &length, NULL, NULL, NULL, NULL, NULL, &length, &binding, NULL, NULL,
                                   NULL);
    return out_code(parley_calls_1.T_pvar_handle_alloc(session, index, bound_object(binding, object, &room), handle,
                                                       count));
}

static int event_binding(int index)
{
    int binding = MPI_T_BIND_NO_OBJECT, length = 0, elements = 0;

    parley_calls_1.T_event_get_info(index, NULL, &length, NULL, NULL, NULL, &elements, NULL, NULL, NULL, &length,
                                    &binding);
    return binding;
}

DOOR(int, T_event_handle_alloc, int index, void *object, F_Info info, MPI_T_event_registration *registration)
{
    uintptr_t room;

    return out_code(parley_calls_1.T_event_handle_alloc(index, bound_object(event_binding(index), object, &room),
                                                        in_info(info), registration));
}

DOOR(int, T_event_get_info, int index, char *name, int *name_len, int *verbosity, F_Datatype datatypes[],
     MPI_Aint displacements[], int *num_elements, MPI_T_enum *enumtype, F_Info *info, char *desc, int *desc_len,
     int *binding)
{
    const int n = num_elements ? door_length(datatypes, *num_elements) : 0;
    MPI_Datatype near[DOOR_NEAR], *const found = door_room(near, n, sizeof *found);
    MPI_Info made = MPI_INFO_NULL;
    const int rc = parley_calls_1.T_event_get_info(index, name, name_len, verbosity, datatypes ? found : NULL,
                                                   displacements, num_elements, enumtype, info ? &made : NULL, desc,
                                                   desc_len, binding);

    for (int i = 0; !rc && i < n && i < *num_elements; i++)
        datatypes[i] = out_type(found[i]);
    if (!rc && info)
        *info = out_info(made);
    if (!rc && verbosity)
        *verbosity = out_verbosity(*verbosity);
    if (!rc && binding)
        *binding = out_binding(*binding);
    door_room_done(found, near);
    return out_code(rc);
}

/* --- callbacks of events --- */

/* A function of the program with its data. It stays: an event may be on its way. */
struct listener {
    void (*function)(void);
    void *user_data;
};

static struct listener *new_listener(void (*function)(void), void *user_data)
{
    struct listener *const l = door_memory(sizeof *l);

    *l = (struct listener){ function, user_data };
    return l;
}

static void hear(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                 void *data)
{
    const struct listener *const l = data;

    ((MPI_T_event_cb_function *)l->function)(instance, registration, (MPI_T_cb_safety)out_cb_safety((int)safety),
                                             l->user_data);
}

static void hear_end(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    const struct listener *const l = data;

    ((MPI_T_event_free_cb_function *)l->function)(registration, (MPI_T_cb_safety)out_cb_safety((int)safety),
                                                  l->user_data);
}

DOOR(int, T_event_register_callback, MPI_T_event_registration registration, MPI_T_cb_safety safety, F_Info info,
     void *user_data, MPI_T_event_cb_function *callback)
{
    struct listener *const l = callback ? new_listener((void (*)(void))callback, user_data) : NULL;

    return out_code(parley_calls_1.T_event_register_callback(registration,
                                                             (MPI_T_cb_safety)in_cb_safety((int)safety), in_info(info),
                                                             l, callback ? hear : NULL));
}

DOOR(int, T_event_handle_free, MPI_T_event_registration registration, void *user_data,
     MPI_T_event_free_cb_function *callback)
{
    struct listener *const l = callback ? new_listener((void (*)(void))callback, user_data) : NULL;

    return out_code(parley_calls_1.T_event_handle_free(registration, l, callback ? hear_end : NULL));
}

/* A handler of dropped events gets the data of a callback, which is ours, and no state of its own: one for all. */
static MPI_T_event_dropped_cb_function *_Atomic dropped;

static void hear_dropped(MPI_Count count, MPI_T_event_registration registration, int source, MPI_T_cb_safety safety,
                         void *data)
{
    const struct listener *const l = data;

    dropped(count, registration, source, (MPI_T_cb_safety)out_cb_safety((int)safety), l ? l->user_data : NULL);
}

DOOR(int, T_event_set_dropped_handler, MPI_T_event_registration registration, MPI_T_event_dropped_cb_function *callback)
{
    if (callback)
        dropped = callback;
    return out_code(parley_calls_1.T_event_set_dropped_handler(registration, callback ? hear_dropped : NULL));
}
