/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. Taking messages in: whatever arrives is put into a buffer, acknowledged, and kept in order of
 * arrival until it is asked for; that is what p4 promises its rendezvous forms. Matching is the engine's matcher,
 * with the id of the sender for a source and the type for a tag. Knows: the door, buffers. Does not know where a
 * process is (route.c). */
#include "base/err.h"
#include "p4/int_door.h"
#include "p4/int_message.h"
#include "p4/int_start.h"
#include "sys/clock.h"

/* By the linker: where this library is. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static struct match match;
static struct match_ctx user_queue, inner_queue;

#define KNOCK_NS UINT64_C(1000000000) /* a wait that is long */

enum wait_for { FOR_NOTHING, FOR_MESSAGE, FOR_NEWS, FOR_ACK };

/* The one call that waits. */
static struct {
    enum wait_for what;
    struct pattern pattern;  /* of the message; whose acknowledgement */
    struct message *message; /* has come, or is on its way; NULL: not yet */
    uint32_t ack;
    bool is_deserted;        /* nobody is left who might end it */
    uint64_t since;          /* when that was first looked for; 0: not yet */
} waiting;

static uint32_t last_ack; /* number of the last acknowledgement that was asked for */

static const bool no_threads = false;
const bool *message_threads = &no_threads;

/* A buffer for the next message that is taken without the sink; NULL: none. As long as the last message was. */
static struct message *spare;
static size_t last_len;

static unsigned char nothing[CACHE_LINE] ALIGNED(CACHE_LINE); /* where an acknowledgement has its bytes */

void message_lock_threads(void)
{
    door->lock();
}

void message_unlock_threads(void)
{
    door->unlock();
}

/* --- keys --- */

static uint64_t key_of(const struct pattern *p)
{
    return match_key(p->from, p->kind == KIND_USER ? p->type : p->kind);
}

/* A type of -1 can be sent, and is found by the wildcard alone. */
static uint64_t mask_of(const struct pattern *p)
{
    return match_mask(p->from == -1, p->kind == KIND_USER && p->type == -1);
}

static struct match_ctx *queue_of(uint8_t kind)
{
    return kind == KIND_USER ? &user_queue : &inner_queue;
}

static bool fits(const struct pattern *p, const struct message *m)
{
    return m->kind == p->kind && (p->from == -1 || p->from == m->from) &&
           (p->kind != KIND_USER || p->type == -1 || p->type == m->type);
}

/* --- arrivals --- */

static void *begin_ack(const struct envelope *e)
{
    if (waiting.what == FOR_ACK && e->ack == waiting.ack) {
        waiting.what = FOR_NOTHING;
        door->wait_is_over();
    }
    return nothing;
}

void *intake_begin(const struct envelope *e, size_t len)
{
    struct message *m;

    if (unlikely(e->kind == KIND_ACK))
        return begin_ack(e);
    m = buffer_alloc(len);
    if (unlikely(!m))
        p4_error("alloc_p4_msg failed", (int)len);
    last_len = len;
    m->type = e->type;
    m->from = e->from;
    m->ack = e->ack;
    m->len = len;
    m->kind = e->kind;
    m->datatype = e->datatype;
    m->is_xdr = e->is_xdr;
    m->is_here = false;
    if (waiting.what == FOR_MESSAGE && !waiting.message && fits(&waiting.pattern, m)) {
        waiting.message = m;
    } else {
        match_keep(queue_of(m->kind), &m->arrival, match_key(m->from, m->kind == KIND_USER ? m->type : m->kind));
        if (waiting.what == FOR_NEWS && fits(&waiting.pattern, m)) {
            waiting.what = FOR_NOTHING;
            door->wait_is_over();
        }
    }
    return message_data(m);
}

static void acknowledge(const struct message *m)
{
    const struct envelope e = { .kind = KIND_ACK, .from = p4_own.id, .ack = m->ack };

    (void)route_send(m->from, &e, NULL, 0, NULL, NULL);
}

void intake_end(void *data, int rc)
{
    struct message *m = message_at(data);

    if (unlikely(data == nothing))
        return;
    if (unlikely(rc)) /* it stays incomplete: who waits for it hears that its sender has ended */
        return;
    m->is_here = true;
    if (unlikely(m->ack))
        acknowledge(m);
    if (waiting.message == m)
        door->wait_is_over();
}

static void *begin_letter(const struct p2p_letter *letter)
{
    const struct envelope e = wire_unpack(letter->word);

    return intake_begin(&e, letter->len);
}

/* --- waiting --- */

/* Might it still send what is waited for? Of a process of another machine that is known by its connection; where there
 * has been none, one is made when the wait is long. */
static bool is_there(int id)
{
    if (route_is_gone(id))
        return false;
    if (waiting.since && clock_ns() - waiting.since > KNOCK_NS)
        route_knock(id);
    return true;
}

static bool is_deserted(int from)
{
    if (from == p4_own.id)
        return true;
    if (from >= 0)
        return !is_there(from);
    for (int id = 0; id < p4_own.total; id++) {
        if (id != p4_own.id && is_there(id))
            return false;
    }
    return true;
}

/* Polled with everything else, after it. A process leaves when all that it has sent has gone, so what is found gone
 * twice, with a look at everything between, has nothing on its way to us. */
static int look_for_deserted(void *arg)
{
    enum { EVERY = 16 };
    static unsigned calls;
    static bool is_suspected;
    bool is_gone;

    (void)arg;
    if (waiting.what == FOR_NOTHING || ++calls % EVERY)
        return 0;
    finish_check_keeper();
    is_gone = is_deserted(waiting.pattern.from);
    if (!waiting.since)
        waiting.since = clock_ns();
    if (is_gone && is_suspected) {
        waiting.is_deserted = true;
        door->wait_is_over();
    }
    is_suspected = is_gone;
    return 0;
}

struct message *intake_find(const struct pattern *p)
{
    struct match_ctx *queue = queue_of(p->kind);
    struct match_arrival *found;

    if (!queue->arrival_count)
        return NULL;
    found = match_probe(queue, key_of(p), mask_of(p));
    return found ? CONTAINER_OF(found, struct message, arrival) : NULL;
}

void intake_remove(struct message *m)
{
    match_take(queue_of(m->kind), &m->arrival);
}

/* What a report of a hang says. A type below -1 is no tag for it and goes into the name of the call. */
static const struct blocked *words_of(const struct pattern *p, const char *call, enum blocked_way way)
{
    static struct blocked words = { .count = -1, .peer_noun = "process", .tag_noun = "type" };
    static char with_type[64];

    words.call = call;
    words.way = way;
    words.peer = p->from < 0 ? MPI_ANY_SOURCE : route_proc(p->from);
    words.tag = p->type == -1 ? MPI_ANY_TAG : p->type;
    if (p->type < -1) {
        snprintf(with_type, sizeof with_type, "%s of type %d", call, p->type);
        words.call = with_type;
        words.tag = JOB_NO_VALUE;
    }
    return &words;
}

/* Ends with waiting.what FOR_NOTHING. */
static void wait_for(const struct pattern *p)
{
    door->wait(p->from < 0 ? -1 : route_proc(p->from));
    message_lock();
    waiting.what = FOR_NOTHING;
    message_unlock();
}

/* Messages that are always there already would keep those of others out for ever. */
static void look_at_others(void)
{
    enum { EVERY = 128 };
    static unsigned taken;

    if (unlikely(++taken % EVERY == 0))
        door->poll();
}

/* The short way of a message from one process of this host and of one type: it may be the next that comes from there.
 * Nothing that fits is queued, and no other thread takes part. NULL: any other case. */
static struct message *take_next(const struct pattern *p)
{
    const struct envelope e = { .kind = p->kind, .type = p->type, .from = p->from };
    const int proc = route_proc(p->from);
    struct message *m = spare;
    uint64_t word[2];
    int len;

    if (unlikely(proc < 0))
        return NULL;
    if (unlikely(!m || m->room < last_len))
        m = buffer_exchange(m, last_len);
    spare = m;
    if (unlikely(!m))
        return NULL;
    wire_pack(&e, word);
    len = door->take(proc, word[0], word[1], message_data(m), m->room);
    if (unlikely(len < 0))
        return NULL;
    spare = NULL;
    m->type = p->type;
    m->from = p->from;
    m->len = m->capacity = last_len = (size_t)len;
    m->kind = p->kind;
    m->is_xdr = false;
    look_at_others();
    return m;
}

struct message *intake_take(const struct pattern *p, const char *call)
{
    struct message *m;

    message_lock();
    m = intake_find(p);
    if (m)
        intake_remove(m);
    if (m && likely(m->is_here)) {
        message_unlock();
        return m;
    }
    if (likely(!m && p->from >= 0 && p->type != -1 && p->kind == KIND_USER && !*message_threads)) {
        m = take_next(p);
        if (likely(m))
            return m;
    }
    door->wait_begin(words_of(p, call, BLOCKED_RECEIVING));
    waiting.what = FOR_MESSAGE;
    waiting.pattern = *p;
    waiting.message = m;
    waiting.is_deserted = false;
    waiting.since = 0;
    message_unlock();
    wait_for(p);
    m = waiting.message && waiting.message->is_here ? waiting.message : NULL;
    waiting.message = NULL;
    return m;
}

bool intake_await(const struct pattern *p, const char *call)
{
    bool is_there;

    message_lock();
    is_there = intake_find(p);
    if (!is_there) {
        door->wait_begin(words_of(p, call, BLOCKED_RECEIVING));
        waiting.what = FOR_NEWS;
        waiting.pattern = *p;
        waiting.is_deserted = false;
        waiting.since = 0;
    }
    message_unlock();
    if (is_there)
        return true;
    wait_for(p);
    return !waiting.is_deserted;
}

uint32_t intake_ack_begin(int from, int type, const char *call)
{
    const struct pattern p = { KIND_USER, type, from };

    message_lock();
    if (!++last_ack)
        last_ack = 1;
    door->wait_begin(words_of(&p, call, BLOCKED_SENDING));
    waiting.what = FOR_ACK;
    waiting.pattern = p;
    waiting.ack = last_ack;
    waiting.is_deserted = false;
    waiting.since = 0;
    message_unlock();
    return last_ack;
}

void intake_ack_cancel(void)
{
    waiting.what = FOR_NOTHING;
}

bool intake_ack_wait(void)
{
    const struct pattern p = waiting.pattern;

    wait_for(&p);
    if (waiting.is_deserted)
        route_give_up();
    return !waiting.is_deserted;
}

void intake_open(void)
{
    static const struct p2p_letter_sink sink = { begin_letter, intake_end };
    char text[ERR_TEXT_SIZE];
    int rc;

    if (door->size != sizeof *door)
        p4_fail("E0602: libp4 and libmpi_abi are of different builds");
    door->own_code(__ehdr_start, etext);
    match_init(&match);
    match_ctx_init(&user_queue, &match, 1);
    match_ctx_init(&inner_queue, &match, 2);
    rc = door->start(&sink);
    if (rc) {
        door->text(rc, text, sizeof text);
        p4_fail("%s", text);
    }
    message_threads = door->threads();
    door->add_poll(look_for_deserted, NULL);
}

void intake_close(void)
{
    if (!door->is_open())
        message_threads = &no_threads;
}

void intake_poll(void)
{
    if (*door->pending)
        route_give_up();
    door->poll();
}

static bool has_gone(void *arg)
{
    (void)arg;
    if (!route_is_pending())
        return true;
    route_give_up();
    return !route_is_pending();
}

void intake_flush(void)
{
    static const struct blocked words = { .call = "p4_wait_for_end", .way = BLOCKED_SENDING, .is_of_anyone = true,
                                          .count = -1, .peer_noun = "process", .tag_noun = "type" };

    door->wait_until(has_gone, NULL, &words);
}
