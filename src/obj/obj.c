/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. The table of predefined objects and the pools that objects live in.
 * Knows: base. */
#include "obj/obj.h"

#include <pthread.h>
#include <string.h>

#include "obj/grequest.h"

struct obj *obj_table[OBJ_PREDEFINED_END];

enum { OBJ_KINDS = OBJ_SESSION + 1, OBJECTS_PER_CHUNK = 8 };

static struct {
    pthread_mutex_t lock;
    struct mem_pool pool[OBJ_KINDS]; /* guarded by lock; opened at first use */
} store = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The object starts one line into its memory: the pool's link overwrites the first word of what is free, and an
 * old handle must still find OBJ_FREED in the head. */

void obj_predefine(struct obj *obj, enum obj_kind kind, uintptr_t value)
{
    if (obj_table[value] == obj && obj->kind == kind && obj->predefined == value)
        return; /* other threads may be using it */
    obj_init(obj, kind);
    obj->predefined = (uint16_t)value;
    obj_table[value] = obj;
}

void *obj_create(enum obj_kind kind, size_t size)
{
    struct mem_pool *pool = &store.pool[kind];
    char *memory;

    pthread_mutex_lock(&store.lock);
    if (!pool->size) {
        mem_pool_init(pool, size + CACHE_LINE, OBJECTS_PER_CHUNK);
        pool->keep = CACHE_LINE + sizeof(struct obj);
    }
    memory = mem_pool_get(pool);
    pthread_mutex_unlock(&store.lock);
    if (!memory)
        return NULL;
    memset(memory + CACHE_LINE, 0, size);
    obj_init((struct obj *)(void *)(memory + CACHE_LINE), kind);
    return memory + CACHE_LINE;
}

void obj_destroy(struct obj *obj)
{
    struct mem_pool *pool = &store.pool[obj->kind];

    pthread_mutex_lock(&store.lock);
    obj->kind = OBJ_FREED;
    mem_pool_put(pool, (char *)obj - CACHE_LINE);
    pthread_mutex_unlock(&store.lock);
}

void obj_fini(void)
{
    grequest_fini();
    pthread_mutex_lock(&store.lock);
    for (int kind = 0; kind < OBJ_KINDS; kind++) {
        if (store.pool[kind].live)
            continue; /* infos and error handlers may outlive MPI (MPI 5.0 §11.4.1) */
        mem_pool_fini(&store.pool[kind]);
        store.pool[kind].size = 0;
    }
    pthread_mutex_unlock(&store.lock);
}

static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;

void obj_names_lock(void)
{
    pthread_mutex_lock(&names_lock);
}

void obj_names_unlock(void)
{
    pthread_mutex_unlock(&names_lock);
}

/* The bytes of a character but the first; there are at most three. */
static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

size_t obj_name_len(const char *name)
{
    const size_t most = MPI_MAX_OBJECT_NAME - 1, len = strnlen(name, most + 1);
    size_t cut = most;

    if (len <= most)
        return len;
    while (cut > most - 3 && is_continuation(name[cut]))
        cut--;
    return is_continuation(name[cut]) ? most : cut; /* the former is no UTF-8 */
}
