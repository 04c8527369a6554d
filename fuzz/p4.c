/* SPDX-License-Identifier: BSD-3-Clause */
/* What p4 reads from elsewhere; the first byte chooses: a procgroup file, what a process of another host sends, the
 * lines that a cluster is told. A wrong file ends in p4_fail, with a line of text; a message that begins is given as
 * many bytes as it has said, in memory of exactly that size; numbers of processes stay within bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "p4/int_hosts.h"
#include "p4/int_keeper.h"
#include "p4/int_stream.h"

static struct control memory;
struct control *control = &memory;
struct p4_options options;
struct p4_own p4_own = { .total = 5 };

static jmp_buf refused;
static char *open_message;
static size_t open_len;

_Noreturn void p4_fail(const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    MUST(vsnprintf(text, sizeof text, format, args) < (int)sizeof text);
    va_end(args);
    MUST(!strncmp(text, "E0603: ", 7));
    longjmp(refused, 1);
}

void p4_error(const char *string, int value)
{
    p4_fail("%s %d", string, value);
}

void *intake_begin(const struct envelope *e, size_t len)
{
    MUST(e->kind <= KIND_ACK && e->datatype <= P4DBL && !open_message && (e->kind != KIND_ACK || !len));
    open_len = len;
    return open_message = malloc(!len ? 1 : len < 1 << 20 ? len : 1 << 20); /* nobody fills so much here */
}

void intake_end(void *data, int rc)
{
    MUST(data == open_message && !rc);
    free(open_message);
    open_message = NULL;
}

void p4_set_clusters(const int first[], int count)
{
    MUST(count > 0 && count <= p4_own.total && first[0] == 0 && first[count - 1] < p4_own.total);
}

void hosts_set_peer(int id, const char *address, const char *port, const char *form)
{
    MUST(id >= 0 && id < p4_own.total && strlen(address) < 56 && strlen(port) < 8 && strlen(form) < 16);
}

void route_set_places(int first, int count, int place)
{
    MUST(first >= 0 && count > 0 && place >= 0 && first + count <= p4_own.total && place + count <= P4_MAXPROCS);
}

static void read_file(const uint8_t *data, size_t size)
{
    static struct p4_procgroup pg;
    FILE *volatile file = fmemopen((void *)(uintptr_t)data, size, "r");

    if (!file)
        return;
    if (!setjmp(refused)) {
        procgroup_parse(file, "a file", &pg);
        MUST(pg.num_entries > 0 && pg.num_entries <= P4_MAX_PROCGROUP_ENTRIES);
        MUST(procgroup_check(&pg, true) <= P4_MAXPROCS);
    }
    fclose(file);
}

/* The key is all zeroes, and the sender's id as the bytes have it. */
static void read_stream(const uint8_t *data, size_t size)
{
    struct stream s;
    size_t room;

    stream_init(&s);
    while (size) {
        unsigned char *to = stream_next(&s, &room);
        const size_t n = 1 + *data % (room < size ? room : size);
        memcpy(to, data, n);
        data += n;
        size -= n;
        if (!stream_take(&s, n))
            break;
    }
    free(open_message);
    open_message = NULL;
}

static void read_lines(const uint8_t *data, size_t size)
{
    static struct cluster_plan plan;
    char *const text = malloc(size + 1);
    char *rest = NULL;

    memcpy(text, data, size);
    text[size] = 0;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        options.directory = options.out = NULL;
        (void)config_take(line, &plan, "::1");
        MUST(p4_own.total >= 1 && p4_own.total <= P4_MAXPROCS && p4_own.last < p4_own.total && p4_own.first >= 0);
        mem_free((void *)(uintptr_t)options.directory);
        mem_free((void *)(uintptr_t)options.out);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    p4_own.total = 5;
    p4_own.first = p4_own.last = 0;
    if (data[0] % 3 == 0)
        read_file(data + 1, size - 1);
    else if (data[0] % 3 == 1)
        read_stream(data + 1, size - 1);
    else
        read_lines(data + 1, size - 1);
    return 0;
}
