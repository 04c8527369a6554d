/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io. Data representations: the three that every MPI has, and those of the user (MPI 5.0 §14.5).
 * Knows: types and external32. Does not know: files. How a type lies in a file: layout.c. */
#include "io/datarep.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/io.h"

static const struct io_datarep predefined[] = {
    { .name = "native", .kind = IO_NATIVE },
    { .name = "internal", .kind = IO_NATIVE },
    { .name = "external32", .kind = IO_EXTERNAL32 },
};

/* Those of the user stay to the end of the process (§14.5.3), so that a list is enough. */
struct registered {
    struct io_datarep datarep;
    struct registered *next;
    char name[];
};

static struct {
    pthread_mutex_t lock;
    struct registered *first; /* guarded by lock */
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* With the lock. */
static const struct io_datarep *find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(predefined); i++)
        if (!strcmp(predefined[i].name, name))
            return &predefined[i];
    for (const struct registered *r = table.first; r; r = r->next)
        if (!strcmp(r->name, name))
            return &r->datarep;
    return NULL;
}

const struct io_datarep *io_datarep_find(const char *name)
{
    const struct io_datarep *found;

    pthread_mutex_lock(&table.lock);
    found = find(name);
    pthread_mutex_unlock(&table.lock);
    return found;
}

int io_register_datarep(const char *name, const struct io_datarep *functions)
{
    const size_t len = strlen(name);
    struct registered *r;
    int rc = 0;

    if (len >= MPI_MAX_DATAREP_STRING)
        return err(MPI_ERR_ARG, "E0909: datarep has %zu characters; a name of a representation has at most %d", len,
                   MPI_MAX_DATAREP_STRING - 1);
    r = mem_alloc(sizeof *r + len + 1);
    if (!r)
        return err(MPI_ERR_NO_MEM, "no memory for data representation \"%.100s\"", name);
    memcpy(r->name, name, len + 1);
    r->datarep = *functions;
    r->datarep.name = r->name;
    r->datarep.kind = IO_USER;
    pthread_mutex_lock(&table.lock);
    if (find(name))
        rc = err(MPI_ERR_DUP_DATAREP, "E0909: data representation \"%.100s\" is defined already", name);
    r->next = table.first;
    if (!rc)
        table.first = r;
    pthread_mutex_unlock(&table.lock);
    if (rc)
        mem_free(r);
    return rc;
}

void io_datarep_fini(void)
{
    while (table.first) {
        struct registered *r = table.first;

        table.first = r->next;
        mem_free(r);
    }
}

/* --- conversion --- */

int io_datarep_bytes(const struct io_datarep *datarep, struct type *type, MPI_Count count, size_t *bytes)
{
    MPI_Count size = type->size, all;
    struct type *layout;
    int rc;

    if (datarep->kind != IO_NATIVE) {
        rc = io_datarep_layout(datarep, type, &layout);
        if (rc)
            return rc;
        size = layout->size;
        type_unref(layout);
    }
    if (__builtin_mul_overflow(count, size, &all))
        return err(MPI_ERR_COUNT, "%lld items of %lld bytes are more than MPI_Count can say", (long long)count,
                   (long long)size);
    *bytes = (size_t)all;
    return 0;
}

/* The user's function, as often as its form asks for: it counts elements, from `position` on, and `stream` begins with
 * the first of them. */
static int call_user(const struct io_datarep *datarep, bool is_write, struct type *type, void *buf, MPI_Count elements,
                     char *stream, size_t element_size)
{
    const MPI_Datatype handle = (MPI_Datatype)obj_handle(&type->obj);
    MPI_Count done = 0, n;
    int code = 0;

    for (; done < elements && !code; done += n, stream += (size_t)n * element_size) {
        n = datarep->is_large || elements - done < COUNT_LIMIT ? elements - done : COUNT_LIMIT;
        if (datarep->is_large)
            code = (is_write ? datarep->write_large : datarep->read_large)(buf, handle, n, stream, done,
                                                                           datarep->state);
        else
            code = (is_write ? datarep->write : datarep->read)(buf, handle, (int)n, stream, done, datarep->state);
    }
    return code ? err(MPI_ERR_CONVERSION, "E0910: the %s function of data representation \"%.100s\" has returned %d",
                      is_write ? "write" : "read", datarep->name, code) : 0;
}

static bool has_function(const struct io_datarep *datarep, bool is_write)
{
    if (datarep->is_large)
        return (is_write ? datarep->write_large : datarep->read_large) != NULL;
    return (is_write ? datarep->write : datarep->read) != NULL;
}

/* Elements of all items; how large one is in a file that has so many bytes of them. */
static MPI_Count elements_of(const struct type *type, MPI_Count count, size_t bytes, size_t *size)
{
    const MPI_Count elements = type_count_elements(type, type->size * count);

    *size = elements > 0 ? bytes / (size_t)elements : 0;
    return elements;
}

/* Elements that the first `len` of `all` bytes hold whole. Elements of several types may have different lengths in the
 * file, so of those only whole items count. */
static MPI_Count whole_elements(const struct type *type, MPI_Count count, size_t all, size_t len)
{
    const struct type *const element = type_element(type);
    const MPI_Count of_item = type_count_elements(type, type->size);
    const bool is_even = element && type_count_elements(element, element->size) == 1;
    const size_t part = all / (size_t)(is_even ? of_item * count : count);

    return part ? (MPI_Count)(len / part) * (is_even ? 1 : of_item) : 0;
}

int io_datarep_out(const struct io_datarep *datarep, struct type *type, const void *buf, MPI_Count count,
                   char *stream, size_t len)
{
    size_t size;
    MPI_Count elements;

    if (datarep->kind == IO_EXTERNAL32) {
        external_pack_range(type, buf, count, 0, stream, len);
        return 0;
    }
    if (!has_function(datarep, true)) {
        type_pack(type, buf, count, 0, stream, size_min(len, type_bytes(type, count)));
        return 0;
    }
    elements = elements_of(type, count, len, &size);
    return call_user(datarep, true, type, (void *)(uintptr_t)buf, elements, stream, size);
}

int io_datarep_in(const struct io_datarep *datarep, struct type *type, void *buf, MPI_Count count, const char *stream,
                  size_t all, size_t len)
{
    struct external_cursor cursor = { 0 };
    size_t size;

    if (datarep->kind == IO_EXTERNAL32) {
        external_unpack_next(&cursor, type, buf, count, stream, len);
        return 0;
    }
    if (!has_function(datarep, false)) {
        type_unpack(type, buf, count, 0, stream, size_min(len, type_bytes(type, count)));
        return 0;
    }
    elements_of(type, count, all, &size);
    return call_user(datarep, false, type, buf, whole_elements(type, count, all, len), (char *)(uintptr_t)stream, size);
}

MPI_Count io_datarep_memory_bytes(const struct io_datarep *datarep, const struct type *type, MPI_Count count,
                                  size_t all, size_t len)
{
    MPI_Count bytes = 0;

    if (len == all)
        return type->size * count;
    if (datarep->kind == IO_NATIVE)
        return (MPI_Count)len;
    if (datarep->kind == IO_EXTERNAL32)
        return (MPI_Count)external_memory_bytes(type, len);
    return type_element_bytes(type, whole_elements(type, count, all, len), &bytes) ? 0 : bytes;
}
