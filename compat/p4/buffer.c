/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. Buffers of messages: allocation by size classes, and a table of all of them, by which a pointer
 * of the user's is known for one. A freed buffer keeps its bytes until it is used again, since old programs read
 * them; so the list of free ones goes through headers, and the last of the large ones is kept back. Knows nothing
 * of messages but their header. */
#include "base/mem.h"
#include "p4/int_message.h"

enum { KEEP_BYTES = 4 << 20, KEEP_MIN = 4, KEEP_MAX = 1024, TABLE_FIRST = 256 };

static int class_size[P4_CLASSES] = { 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576 };
static struct {
    struct message *first;
    int count, most; /* most: so many are kept; 0: not worked out yet */
} free_ones[P4_CLASSES];
static struct message *last_large; /* freed, and not given back yet */

/* All buffers that the system has not got back, by address: open addressing, a power of two, at most half full. */
static struct {
    struct message **slot;
    unsigned slots, used;
} table;

static unsigned first_slot(const struct message *m)
{
    return (unsigned)((uintptr_t)m / CACHE_LINE * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (table.slots - 1);
}

static void table_insert(struct message *m)
{
    unsigned i = first_slot(m);

    while (table.slot[i])
        i = (i + 1) & (table.slots - 1);
    table.slot[i] = m;
    table.used++;
}

static bool table_grow(void)
{
    struct message **old = table.slot;
    const unsigned old_slots = table.slots, slots = old_slots ? 2 * old_slots : TABLE_FIRST;
    struct message **slot = mem_zalloc(slots * sizeof *slot);

    if (!slot)
        return false;
    table.slot = slot;
    table.slots = slots;
    table.used = 0;
    for (unsigned i = 0; i < old_slots; i++) {
        if (old[i])
            table_insert(old[i]);
    }
    mem_free(old);
    return true;
}

/* Those behind the hole are entered anew. */
static void table_remove(const struct message *m)
{
    unsigned i = first_slot(m);

    while (table.slot[i] != m)
        i = (i + 1) & (table.slots - 1);
    table.slot[i] = NULL;
    table.used--;
    for (i = (i + 1) & (table.slots - 1); table.slot[i]; i = (i + 1) & (table.slots - 1)) {
        struct message *moved = table.slot[i];
        table.slot[i] = NULL;
        table.used--;
        table_insert(moved);
    }
}

struct message *buffer_find(const void *data)
{
    const struct message *m;

    if (!table.slots || !data || (uintptr_t)data % CACHE_LINE)
        return NULL;
    m = (const struct message *)data - 1;
    for (unsigned i = first_slot(m); table.slot[i]; i = (i + 1) & (table.slots - 1)) {
        if (table.slot[i] == m)
            return table.slot[i];
    }
    return NULL;
}

static int smallest; /* class of most messages */

/* The smallest class that holds so much; -1: none. */
static int class_of(size_t len)
{
    int best = -1;

    if (likely(len <= (size_t)class_size[smallest]))
        return smallest;

    for (int i = 0; i < P4_CLASSES; i++) {
        if (len <= (size_t)class_size[i] && (best < 0 || class_size[i] < class_size[best]))
            best = i;
    }
    return best;
}

static struct message *buffer_new(size_t room, int class)
{
    struct message *m;

    if (2 * (table.used + 1) > table.slots && !table_grow())
        return NULL;
    m = mem_alloc_aligned(CACHE_LINE, sizeof *m + room);
    if (!m)
        return NULL;
    m->room = room;
    m->class = (int8_t)class;
    table_insert(m);
    return m;
}

struct message *buffer_alloc(size_t len)
{
    const int class = class_of(len);
    struct message *m = class < 0 ? NULL : free_ones[class].first;

    if (likely(m)) {
        free_ones[class].first = m->next;
        free_ones[class].count--;
    } else {
        m = buffer_new(class < 0 ? (len + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE : (size_t)class_size[class], class);
    }
    if (likely(m)) {
        m->state = MESSAGE_LIVE;
        m->capacity = len;
    }
    return m;
}

static void give_back(struct message *m)
{
    if (m) {
        table_remove(m);
        mem_free(m);
    }
}

static void COLD work_out_most(int class)
{
    const int count = KEEP_BYTES / class_size[class];

    free_ones[class].most = count < KEEP_MIN ? KEEP_MIN : count > KEEP_MAX ? KEEP_MAX : count;
}

static bool is_kept(const struct message *m)
{
    if (m->class < 0 || m->room != (size_t)class_size[m->class])
        return false;
    if (unlikely(!free_ones[m->class].most))
        work_out_most(m->class);
    return free_ones[m->class].count < free_ones[m->class].most;
}

void buffer_free(struct message *m)
{
    m->state = MESSAGE_FREE;
    if (likely(is_kept(m))) {
        m->next = free_ones[m->class].first;
        free_ones[m->class].first = m;
        free_ones[m->class].count++;
    } else {
        give_back(last_large);
        last_large = m;
    }
}

struct message *buffer_exchange(struct message *m, size_t len)
{
    if (m)
        buffer_free(m);
    return buffer_alloc(len);
}

/* --- what the user calls --- */

char *p4_msg_alloc(int len)
{
    struct message *m = NULL;

    p4_need_started("p4_msg_alloc");
    message_lock();
    if (len >= 0)
        m = buffer_alloc((size_t)len);
    message_unlock();
    if (m)
        return message_data(m);
    if (!p4_own.soft_errors)
        p4_error("alloc_p4_msg failed", len);
    return NULL;
}

void p4_msg_free(void *data)
{
    struct message *m;

    if (!data)
        return;
    p4_need_started("p4_msg_free");
    message_lock();
    m = buffer_find(data);
    if (likely(m && m->state == MESSAGE_LIVE)) {
        buffer_free(m);
        message_unlock();
        return;
    }
    message_unlock();
    p4_fail("E0613: p4_msg_free of %p, which %s", data,
            m ? "has been freed already" : "is no buffer of p4_msg_alloc or p4_recv");
}

/* In whatever order the program sets them: the smallest that is large enough is taken. */
void p4_set_avail_buff(int index, int size)
{
    p4_need_started("p4_set_avail_buff");
    if (index < 0 || index >= P4_CLASSES || size <= 0)
        p4_fail("E0614: p4_set_avail_buff(%d, %d): there are classes 0 to %d, of at least 1 byte", index, size,
                P4_CLASSES - 1);
    message_lock();
    while (free_ones[index].first) { /* those have the old size */
        struct message *m = free_ones[index].first;
        free_ones[index].first = m->next;
        give_back(m);
    }
    free_ones[index].count = free_ones[index].most = 0;
    class_size[index] = size;
    for (int i = 0; i < P4_CLASSES; i++)
        smallest = class_size[i] < class_size[smallest] ? i : smallest;
    message_unlock();
}

void p4_print_avail_buffs(void)
{
    p4_need_started("p4_print_avail_buffs");
    p4_dprintf("avail buffers:\n");
    for (int i = 0; i < P4_CLASSES; i++)
        p4_dprintf("%8d bytes: %d\n", class_size[i], free_ones[i].count);
}
