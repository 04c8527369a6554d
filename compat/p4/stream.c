/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. Bytes from another host into messages, and heads of messages into bytes. What comes is believed only
 * as far as a message of p4's can be what it says. */
#include "p4/int_stream.h"

#include <endian.h>
#include <string.h>

#include "p4/int_start.h"

#define LEN_MAX ((uint64_t)1 << 32)

void stream_init(struct stream *s)
{
    *s = (struct stream){ .id = -1 };
}

void *stream_next(struct stream *s, size_t *room)
{
    *room = s->data ? s->len - s->got : STREAM_HEAD - s->head_got;
    return s->data ? (unsigned char *)s->data + s->got : s->head + s->head_got;
}

static bool take_hello(struct stream *s)
{
    uint64_t id;

    memcpy(&id, s->head + STREAM_KEY, sizeof id);
    id = le64toh(id);
    if (memcmp(s->head, control->key, STREAM_KEY) || id >= (uint64_t)p4_own.total)
        return false;
    s->id = (int)id;
    return true;
}

/* Acknowledgements have no bytes, elements in external form are of some type. */
static bool is_possible(const struct envelope *e, uint64_t len)
{
    return e->kind <= KIND_ACK && (e->kind != KIND_ACK || !len) && e->datatype <= P4DBL &&
           (!e->is_xdr || e->datatype != P4NOX) && len <= LEN_MAX;
}

static void take_end(struct stream *s)
{
    char *const data = s->data;

    s->data = NULL;
    intake_end(data, 0);
}

static bool take_head(struct stream *s)
{
    struct envelope e;
    uint64_t words[3];

    s->head_got = 0;
    if (s->id < 0)
        return take_hello(s);
    memcpy(words, s->head, sizeof words);
    for (int i = 0; i < 3; i++)
        words[i] = le64toh(words[i]);
    e = wire_unpack(words);
    if (e.from != s->id || !is_possible(&e, words[2]))
        return false;
    s->len = (size_t)words[2];
    s->got = 0;
    s->data = intake_begin(&e, s->len);
    if (!s->len)
        take_end(s);
    return true;
}

bool stream_take(struct stream *s, size_t count)
{
    if (!s->data) {
        s->head_got += count;
        return s->head_got < STREAM_HEAD || take_head(s);
    }
    s->got += count;
    if (s->got == s->len)
        take_end(s);
    return true;
}

static void set_words(unsigned char *at, const uint64_t *word, int count)
{
    for (int i = 0; i < count; i++)
        memcpy(at + 8 * i, &(uint64_t){ htole64(word[i]) }, 8);
}

void stream_hello(unsigned char head[STREAM_HEAD], int id)
{
    memcpy(head, control->key, STREAM_KEY);
    set_words(head + STREAM_KEY, &(uint64_t){ (uint64_t)id }, 1);
}

void stream_head(unsigned char head[STREAM_HEAD], const struct envelope *e, size_t len)
{
    uint64_t words[3] = { [2] = len };

    wire_pack(e, words);
    set_words(head, words, 3);
}
