/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/tcp. Connecting to a process: its addresses are tried in turn, the next one when the last has failed or has
 * not answered for a moment, and the first connection at whose end the right process proves itself is used. An address
 * that leads to somebody else (all machines have a docker0 with the same one), or nowhere, costs that moment.
 * Knows: base, sys (layout of the job segment), notes and addresses. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/err.h"
#include "net/tcp/int_tcp.h"
#include "net/tcp/tcp.h"
#include "sys/clock.h"
#include "sys/descriptor.h"

enum {
    NEXT_NS = 50000000,         /* until the next address is tried, while the last one is silent; … */
    NEXT_HEARD_NS = 500000000,  /* … while somebody has taken the connection and has not answered */
    AGAIN_NS = 20000000,        /* until all are tried again, when all have failed; doubled each time … */
    AGAIN_MAX_NS = 1000000000,  /* … up to this */
};

enum try_state { TRY_FREE, TRY_CONNECTS, TRY_AWAITS_ANSWER, TRY_AWAITS_PICK };

struct try {
    struct tcp_watch watch;     /* first */
    enum try_state state;
    int fd;
    int target;
    struct tcp_dial *dial;
    struct tcp_party party;
    uint32_t got;               /* bytes of the note */
    struct tcp_note note;
};

struct tcp_dial {
    struct list link;           /* in tcp.dials, then in tcp.ended_dials */
    struct tcp_peer *peer;
    uint64_t waited, looked_at; /* how long it has lasted, and when it was last looked at */
    uint64_t next_at, again_ns;
    struct tcp_target targets[TCP_TARGETS];
    int count, next;            /* addresses, and the one to be tried next */
    struct try tries[TCP_TRIES];
    char last[160];             /* why the last try has failed */
};

/* The segment tells that of processes which share it, as those of one machine do that stands for several. */
static bool has_left(const struct tcp *tcp, int proc)
{
    return atomic_load_explicit(&job_proc(tcp->segment, proc)->state, memory_order_acquire) >= JOB_FINALISED;
}

int tcp_dial(struct tcp_peer *peer)
{
    struct tcp *tcp = tcp_of(peer);
    const struct job_place *place = job_place(tcp->segment, peer->ep.proc);
    const struct job_address *address = &place->address[JOB_TCP];
    const uint32_t size = job_address_size(address); /* pairs with publish */
    struct tcp_dial *dial;

    if (!size && job_address_size(&place->address[JOB_OFI])) {
        tcp_end(peer, err(MPI_ERR_OTHER, "E0368: process %d does not use TCP between machines, and process %d does",
                          peer->ep.proc, tcp->proc));
        return 0;
    }
    if (!size && !has_left(tcp, peer->ep.proc))
        return NET_AGAIN;
    dial = mem_zalloc(sizeof *dial);
    if (!dial)
        return NET_AGAIN;
    dial->peer = peer;
    dial->looked_at = clock_ns();
    dial->again_ns = AGAIN_NS;
    if (size) /* else it may have connected to this process before: so it is not given up at once */
        dial->count = tcp_address_read(tcp_port_ifaces(tcp->port), address->bytes,
                                       size_min(size, sizeof address->bytes), dial->targets);
    snprintf(dial->last, sizeof dial->last, size ? "it has published no address that can be reached from here"
                                                 : "it has left MPI");
    for (int i = 0; i < TCP_TRIES; i++)
        dial->tries[i] = (struct try){ .watch = { TCP_WATCH_TRY }, .fd = -1, .dial = dial };
    peer->dial = dial;
    peer->state = TCP_DIALING;
    list_append(&tcp->dials, &dial->link);
    (void)tcp_dial_tick(tcp);
    return 0;
}

static void try_close(struct try *try)
{
    if (try->fd >= 0)
        tcp_close_watched(tcp_of(try->dial->peer)->epoll, try->fd);
    try->fd = -1;
    try->state = TRY_FREE;
}

void tcp_dial_stop(struct tcp_peer *peer)
{
    struct tcp_dial *dial = peer->dial;

    if (!dial)
        return;
    for (int i = 0; i < TCP_TRIES; i++)
        try_close(&dial->tries[i]);
    list_remove(&dial->link);
    list_append(&tcp_of(peer)->ended_dials, &dial->link); /* events of this poll may still lead to it */
    peer->dial = NULL;
    if (peer->state == TCP_DIALING)
        peer->state = TCP_IDLE;
}

void tcp_dial_free_ended(struct tcp *tcp)
{
    LIST_FOR_EACH_SAFE(link, &tcp->ended_dials) {
        list_remove(link);
        mem_free(CONTAINER_OF(link, struct tcp_dial, link));
    }
}

static void note_failure(struct try *try, const char *why)
{
    struct tcp_dial *dial = try->dial;
    char name[INET6_ADDRSTRLEN + 12];

    tcp_address_name(&dial->targets[try->target], name, sizeof name);
    snprintf(dial->last, sizeof dial->last, "%s: %s", name, why);
    try_close(try);
    dial->next_at = 0; /* the next one at once */
}

static const char *reason_text(enum tcp_reason reason)
{
    switch (reason) {
    case TCP_OTHER_VERSION:  return "its library talks another version of this transport";
    case TCP_OTHER_MEMORY:   return "it has another byte order, or addresses of another size";
    case TCP_NO_DESCRIPTORS: return "it has no descriptor left for a connection (ulimit -n)";
    case TCP_OTHER_JOB:      return "somebody else is there, not this process of this job";
    default:                 return "what answers is no MPI process";
    }
}

/* Can it be no better the next time? */
static bool is_final(enum tcp_reason reason)
{
    return reason == TCP_OTHER_VERSION || reason == TCP_OTHER_MEMORY;
}

static bool send_note(const struct try *try, enum tcp_step step)
{
    const struct tcp_note note = tcp_note_make(&try->party, step);

    return send(try->fd, &note, sizeof note, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof note;
}

/* The connection stands: say who we are. */
static void try_connected(struct try *try)
{
    struct tcp_peer *peer = try->dial->peer;
    struct tcp *tcp = tcp_of(peer);
    const struct job_abroad *abroad = &job_proc(tcp->segment, peer->ep.proc)->abroad;
    const int error = descriptor_connected(try->fd);

    if (error) {
        note_failure(try, strerror(error));
        return;
    }
    try->party = (struct tcp_party){
        .token = abroad->bond ? abroad->key : tcp->segment->token, .bond = abroad->bond,
        .self = (uint32_t)tcp->proc, .peer = abroad->bond ? abroad->home : (uint32_t)peer->ep.proc,
        .tenant = tcp->tenant, .lane = (uint8_t)tcp->lane, .is_caller = true, .nonce = tcp_nonce(),
    };
    if (!send_note(try, TCP_HELLO) || tcp_watch(tcp, try->fd, &try->watch, false)) {
        note_failure(try, strerror(errno));
        return;
    }
    try->state = TRY_AWAITS_ANSWER;
    try->got = 0;
    try->dial->next_at = clock_ns() + NEXT_HEARD_NS;
}

/* This is the connection. */
static void try_wins(struct try *try)
{
    struct tcp_peer *peer = try->dial->peer;
    const int fd = try->fd;

    try->fd = -1;
    tcp_adopt(peer, fd, try->party.bond ? job_proc(tcp_of(peer)->segment, peer->ep.proc)->tenant
                                        : try->party.peer_tenant);
}

static void try_refused(struct try *try, enum tcp_reason reason)
{
    struct tcp_peer *peer = try->dial->peer;

    note_failure(try, reason_text(reason));
    if (is_final(reason))
        tcp_end(peer, err(MPI_ERR_OTHER, "E0364: process %d cannot talk to this one: %s", peer->ep.proc,
                          peer->dial->last));
}

static void try_noted(struct try *try)
{
    const bool is_answer = try->state == TRY_AWAITS_ANSWER;
    const enum tcp_reason reason = tcp_note_check(&try->note, is_answer ? TCP_ANSWER : TCP_PICK, &try->party);

    try->got = 0;
    if (reason)
        try_refused(try, reason);
    else if (is_answer && !send_note(try, TCP_PROOF))
        note_failure(try, strerror(errno));
    else if (is_answer && !tcp_is_lower(tcp_of(try->dial->peer), try->dial->peer->ep.proc))
        try->state = TRY_AWAITS_PICK;
    else
        try_wins(try);
}

static void try_hear(struct try *try)
{
    const ssize_t got = recv(try->fd, (char *)&try->note + try->got, TCP_NOTE_SIZE - try->got, MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        note_failure(try, got ? strerror(errno) : "the connection was closed at once");
        return;
    }
    try->got += (uint32_t)got;
    if (try->got == TCP_NOTE_SIZE)
        try_noted(try);
}

int tcp_dial_event(struct tcp_watch *watch)
{
    struct try *try = (struct try *)(void *)watch;

    if (try->state == TRY_CONNECTS)
        try_connected(try);
    else if (try->state != TRY_FREE)
        try_hear(try);
    return 1;
}

/* --- time passes --- */

static struct try *free_try(struct tcp_dial *dial)
{
    for (int i = 0; i < TCP_TRIES; i++) {
        if (dial->tries[i].state == TRY_FREE)
            return &dial->tries[i];
    }
    return NULL;
}

static bool is_trying(const struct tcp_dial *dial, bool has_connected)
{
    for (int i = 0; i < TCP_TRIES; i++) {
        if (dial->tries[i].state > (has_connected ? TRY_CONNECTS : TRY_FREE))
            return true;
    }
    return false;
}

static void try_begin(struct try *try, uint64_t now)
{
    struct tcp_dial *dial = try->dial;
    const struct tcp_target *target = &dial->targets[try->target];
    struct tcp *tcp = tcp_of(dial->peer);

    dial->next_at = now + NEXT_NS;
    try->fd = descriptor_apart(socket(target->to.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (try->fd < 0) {
        note_failure(try, strerror(errno));
        return;
    }
    tcp_tune(try->fd);
    if (connect(try->fd, &target->to.any, target->size) && errno != EINPROGRESS) {
        note_failure(try, strerror(errno));
        return;
    }
    try->state = TRY_CONNECTS;
    if (tcp_watch(tcp, try->fd, &try->watch, true))
        note_failure(try, strerror(errno));
}

/* Nobody has taken the connection and nobody has refused it, which is what firewalls do that drop packets. The address
 * is worth more to the user than why another one has failed. */
static void note_silence(struct tcp_dial *dial)
{
    char name[INET6_ADDRSTRLEN + 12];

    for (int i = TCP_TRIES - 1; i >= 0; i--) {
        if (dial->tries[i].state != TRY_CONNECTS)
            continue;
        tcp_address_name(&dial->targets[dial->tries[i].target], name, sizeof name);
        snprintf(dial->last, sizeof dial->last, "%s: no answer, as if a firewall dropped what is sent there", name);
    }
}

static COLD int give_up(struct tcp_dial *dial)
{
    struct tcp_peer *peer = dial->peer;

    note_silence(dial);
    tcp_end(peer, err(MPI_ERR_OTHER, "E0361: no connection to process %d in %d s; the last try: %s", peer->ep.proc,
                      (int)(tcp_patience_ns() / 1000000000u), dial->last));
    return 1;
}

static int tick(struct tcp_dial *dial, uint64_t now)
{
    struct try *try = free_try(dial);

    dial->waited += clock_waited_ns(&dial->looked_at, now);
    if (dial->waited > tcp_patience_ns() && !is_trying(dial, true))
        return give_up(dial);
    if (now < dial->next_at)
        return 0;
    if (dial->next == dial->count) {
        if (is_trying(dial, false))
            return 0;
        dial->next = 0;
        dial->next_at = now + dial->again_ns;
        dial->again_ns = dial->again_ns < AGAIN_MAX_NS / 2 ? 2 * dial->again_ns : AGAIN_MAX_NS;
        return 0;
    }
    if (!try)
        return 0;
    try->target = dial->next++;
    try_begin(try, now);
    return 1;
}

int tcp_dial_tick(struct tcp *tcp)
{
    const uint64_t now = clock_ns();
    int events = 0;

    LIST_FOR_EACH_SAFE(link, &tcp->dials)
        events += tick(CONTAINER_OF(link, struct tcp_dial, link), now);
    return events;
}
