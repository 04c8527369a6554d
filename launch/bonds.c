/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: bonds are made. Nothing listens until a rank opens a port. Whoever calls there and does not prove within
 * some seconds that he knows the key of our ports is dropped, and gets nothing but our greeting. */
#include "bonds.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/alive.h"
#include "sys/descriptor.h"

#define PATIENCE_SECONDS 10.0
#define TICK_SECONDS 0.5

enum { STRANGERS_MAX = 64, AGAIN_MAX = 8 };

struct bonds {
    struct source listener;
    uint16_t port;
    uint64_t key[2]; /* of our ports */
    struct bond *all;
};

static struct bonds *bonds_of(struct job *job)
{
    if (!job->bonds) {
        job->bonds = need(sizeof *job->bonds);
        job->bonds->listener.fd = -1;
    }
    return job->bonds;
}

struct bond *bonds_first(const struct job *job)
{
    return job->bonds ? job->bonds->all : NULL;
}

static uint64_t random_word(void)
{
    uint64_t word;

    if (getrandom(&word, sizeof word, 0) != sizeof word)
        die(EXIT_SYSTEM, "E0106: no random numbers: %s", strerror(errno));
    return word;
}

static void begin_waiting(struct bond *bond)
{
    bond->looked_ns = now_ns();
    bond->waited = 0;
}

static struct bond *add(struct job *job, const struct bond *fresh)
{
    struct bond *bond = need(sizeof *bond);

    *bond = *fresh;
    bond->channel.in.fd = bond->channel.out.fd = bond->dial.fd = bond->first = -1;
    bond->dial.rank = -1;
    begin_waiting(bond);
    bond->next = job->bonds->all;
    job->bonds->all = bond;
    timer_set(job, TIMER_BONDS, TICK_SECONDS);
    return bond;
}

void bond_close(struct job *job, struct bond *bond)
{
    if (bond->dial.fd >= 0)
        source_remove(job, &bond->dial);
    channel_close(job, &bond->channel);
    if (bond->state == BOND_IS_OVER)
        return;
    bond->state = BOND_IS_OVER;
    timer_set(job, TIMER_BONDS, TICK_SECONDS);
    bond_lost(job, bond);
}

void bond_put(struct bond *bond, enum bond_kind kind, int rank, uint32_t value, const void *data, size_t size)
{
    if (bond->state == BOND_IS_OPEN)
        channel_put(&bond->channel, (enum frame_kind)kind, rank, value, data, size);
}

/* --- greetings --- */

/* Has it got a range? Who calls us has one from our greeting on. */
static bool has_range(const struct bond *bond)
{
    return bond->number || (bond->side == 1 && bond->state == BOND_GREETS && bond->secret.nonce[0] &&
                            bond->secret.range < BOND_RANGES);
}

/* Contexts of which ranges are in use here. */
static void list_ranges(const struct job *job, const struct bond *without, uint64_t ranges[BOND_RANGES / 64])
{
    for (const struct bond *bond = job->bonds->all; bond; bond = bond->next)
        if (bond != without && has_range(bond))
            ranges[bond->secret.range / 64] |= UINT64_C(1) << bond->secret.range % 64;
}

static void greet(struct job *job, struct bond *bond, uint64_t proof)
{
    struct bond_greeting greeting = bond_greet(job->head->token[0], bond->secret.nonce[bond->side]);

    greeting.proof = proof;
    greeting.pid = (uint32_t)getpid();
    greeting.range = bond->secret.range;
    list_ranges(job, bond, greeting.ranges);
    gethostname(greeting.host, sizeof greeting.host - 1);
    channel_put_text(&bond->channel, (const char *)&greeting, sizeof greeting);
}

/* One that neither side has with anybody; BOND_RANGES: there is none. The two begin at different ends: if both are
 * called at the same time, and both chose the same one, both would refuse it, again and again. */
static uint32_t free_range(const struct job *job, const struct bond *bond, const uint64_t theirs[BOND_RANGES / 64])
{
    const uint32_t last = job->head->token[0] < bond->job ? 0 : BOND_RANGES - 1;
    uint64_t taken[BOND_RANGES / 64] = { 0 };

    list_ranges(job, bond, taken);
    for (uint32_t i = 0; i < BOND_RANGES; i++) {
        const uint32_t range = last ? last - i : i;
        if (!((taken[range / 64] | theirs[range / 64]) >> range % 64 & 1))
            return range;
    }
    return BOND_RANGES;
}

static bool is_range_free(const struct job *job, const struct bond *bond, uint32_t range)
{
    uint64_t taken[BOND_RANGES / 64] = { 0 };

    list_ranges(job, bond, taken);
    return !(taken[range / 64] >> range % 64 & 1);
}

static void open_bond(struct bond *bond)
{
    bond->state = BOND_IS_OPEN;
    bond->number = bond_proof(&bond->secret, BOND_PROVES + 1) | 1;
    bond->key[0] = bond_proof(&bond->secret, BOND_PROVES + 2);
    bond->key[1] = bond_proof(&bond->secret, BOND_PROVES + 3);
}

/* --- both call each other at the same time --- */

/* Another one with the same mpiexec, made from that side. */
static struct bond *find_twin(const struct job *job, const struct bond *bond, uint32_t side)
{
    struct bond *twin = job->bonds->all;

    while (twin && (twin == bond || twin->job != bond->job || twin->side != side || twin->state == BOND_IS_OVER ||
                    twin->has_left))
        twin = twin->next;
    return twin;
}

/* They have called us, and have proved who they are: for them this one is open. Ours may be open for us, too, and their
 * answer to that on its way. Then the one which the lower token has called for stays; the other side gets nothing by
 * its own and leaves it. One that is in use stays in any case. */
static bool is_left_for_ours(const struct job *job, const struct bond *bond)
{
    const struct bond *ours = find_twin(job, bond, 0);

    return ours && ours->state == BOND_IS_OPEN && (ours->first >= 0 || job->head->token[0] < bond->job);
}

/* This one stays. */
static void leave_ours(struct job *job, struct bond *bond)
{
    struct bond *ours;

    while ((ours = find_twin(job, bond, 0))) {
        bonds_move_calls(job, ours, bond);
        bond_close(job, ours);
    }
}

static void take_name(struct bond *bond, const struct bond_greeting *greeting)
{
    snprintf(bond->name, sizeof bond->name, "mpiexec %u on %s", greeting->pid, greeting->host);
    for (char *c = bond->name; *c; c++)
        *c = *c < ' ' || *c > '~' ? '?' : *c;
}

/* Of who answers: the second one; of the caller: the first and the third. False: it is not let in. */
static bool take_greeting(struct job *job, struct bond *bond, const struct bond_greeting *greeting)
{
    const uint32_t other = 1 - bond->side;

    if (!bond_is_greeting(greeting))
        return false;
    if (bond->side == 1 && bond->secret.nonce[0]) { /* the third */
        if (greeting->proof != bond_proof(&bond->secret, BOND_PROVES) ||
            !is_range_free(job, bond, bond->secret.range) || is_left_for_ours(job, bond))
            return false;
        bond->is_certain = true;
        open_bond(bond);
        bond_put(bond, BOND_WELCOME, -1, 0, NULL, 0);
        leave_ours(job, bond);
        return true;
    }
    if (!greeting->nonce || greeting->job == job->head->token[0])
        return false;
    bond->secret.nonce[other] = greeting->nonce;
    bond->secret.job[other] = bond->job = greeting->job;
    take_name(bond, greeting);
    if (bond->side == 1) {
        bond->secret.range = free_range(job, bond, greeting->ranges);
        if (bond->secret.range < BOND_RANGES)
            greet(job, bond, bond_proof(&bond->secret, BOND_ANSWERS));
        return bond->secret.range < BOND_RANGES;
    }
    bond->secret.range = greeting->range;
    if (greeting->proof != bond_proof(&bond->secret, BOND_ANSWERS))
        return false;
    if (!is_range_free(job, bond, greeting->range)) { /* given away since we have called: once more */
        bond->tried = bond->again++ < AGAIN_MAX ? 0 : bond->count;
        return false;
    }
    greet(job, bond, bond_proof(&bond->secret, BOND_PROVES));
    open_bond(bond);
    return true;
}

/* What has come is taken as far as it is whole. False: it makes no sense. */
static bool take_all(struct job *job, struct bond *bond)
{
    struct bytes *got = &bond->channel.got;
    struct frame frame;
    long used = 1;

    while (used > 0 && got->length) {
        used = 0;
        if (bond->state == BOND_GREETS && got->length >= sizeof(struct bond_greeting)) {
            struct bond_greeting greeting;
            memcpy(&greeting, got->data + got->start, used = sizeof greeting);
            if (!take_greeting(job, bond, &greeting))
                return false;
        } else if (bond->state == BOND_IS_OPEN) {
            used = bond_next(got->data + got->start, got->length, &frame);
            if (used < 0 || (used > 0 && !bond_take(job, bond, &frame, got->data + got->start + sizeof frame)))
                return false;
        }
        bytes_drop(got, (size_t)used);
    }
    return true;
}

static bool dial_next(struct job *job, struct bond *bond);

/* It is at its end; of one that is being made the next address is tried. */
static void hang_up(struct job *job, struct bond *bond)
{
    struct bond *twin;

    channel_close(job, &bond->channel);
    if (bond->state == BOND_GREETS && bond->side == 0 && dial_next(job, bond))
        return;
    if (bond->state == BOND_IS_OPEN && bond->side == 0 && (twin = find_twin(job, bond, 1)))
        bonds_move_calls(job, bond, twin); /* it has been refused for that one, which is about to be open */
    bond_close(job, bond);
}

static void channel_ready(struct job *job, struct source *source, uint32_t events)
{
    struct bond *bond = CONTAINER_OF(source, struct bond, channel.in);
    const bool is_open = channel_read(&bond->channel);

    (void)events;
    if (!take_all(job, bond) || !is_open)
        hang_up(job, bond);
}

/* Words are short, and each is waited for. A machine that is gone says nothing. As the ranks' own connections
 * (src/net/tcp). */
static void set_up(int fd)
{
    const int on = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setting_read(&alive_patience); /* what cannot be read the ranks have told */
    alive_watch_all(fd, (int)alive_patience.value);
}

static void begin(struct job *job, struct bond *bond, int fd)
{
    set_up(fd);
    channel_open(job, &bond->channel, fd, fcntl(fd, F_DUPFD_CLOEXEC, 0), channel_ready);
    bond->state = BOND_GREETS;
    bond->secret.nonce[bond->side] = random_word() | 1;
    bond->secret.nonce[1 - bond->side] = 0;
    bond->secret.job[bond->side] = job->head->token[0];
}

/* --- calling --- */

static void dial_ready(struct job *job, struct source *source, uint32_t events)
{
    struct bond *bond = CONTAINER_OF(source, struct bond, dial);
    const int fd = source->fd;

    (void)events;
    if (descriptor_connected(fd)) {
        source_remove(job, source);
        if (!dial_next(job, bond))
            bond_close(job, bond);
        return;
    }
    epoll_ctl(job->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
    source->fd = -1;
    begin(job, bond, fd);
    greet(job, bond, 0);
}

/* False: there is no other address. */
static bool dial_next(struct job *job, struct bond *bond)
{
    struct epoll_event event = { .events = EPOLLOUT, .data.ptr = &bond->dial };

    while (bond->tried < bond->count) {
        const union bond_address *to = &bond->targets[bond->tried++];
        const int fd = socket(to->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

        begin_waiting(bond);
        bond->state = BOND_CONNECTS;
        bond->dial = (struct source){ .ready = dial_ready, .fd = fd, .rank = -1 };
        if (fd >= 0 &&
            (!connect(fd, &to->any, to->any.sa_family == AF_INET ? sizeof to->v4 : sizeof to->v6) ||
             errno == EINPROGRESS) &&
            !epoll_ctl(job->epoll_fd, EPOLL_CTL_ADD, fd, &event))
            return true;
        if (fd >= 0)
            close(fd);
        bond->dial.fd = -1;
    }
    return false;
}

struct bond *bonds_with(struct job *job, const struct bond *fresh)
{
    struct bond *bond = bonds_of(job)->all;

    while (bond && (bond->job != fresh->job || bond->state == BOND_IS_OVER || bond->has_left ||
                    (bond->side == 1 && bond->state != BOND_IS_OPEN)))
        bond = bond->next;
    if (bond)
        return bond;
    bond = add(job, fresh);
    if (!dial_next(job, bond))
        bond_close(job, bond);
    return bond;
}

/* --- being called --- */

static void listener_ready(struct job *job, struct source *source, uint32_t events)
{
    const int fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct bond *bond;
    int strangers = 0;

    (void)events;
    if (fd < 0)
        return;
    for (bond = job->bonds->all; bond; bond = bond->next)
        strangers += bond->side == 1 && bond->state == BOND_GREETS;
    if (strangers >= STRANGERS_MAX) {
        close(fd);
        return;
    }
    bond = add(job, &(struct bond){ .side = 1 });
    memcpy(bond->secret.key, job->bonds->key, sizeof bond->secret.key);
    begin(job, bond, fd);
}

/* For both kinds of addresses, or for IPv4 where there is no other. */
static int make_listener(uint16_t *port)
{
    union bond_address at = { .v6 = { .sin6_family = AF_INET6 } };
    socklen_t size = sizeof at.v6;
    const int off = 0, kind = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    int fd = socket(AF_INET6, kind, 0);

    if (fd >= 0 && (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) || bind(fd, &at.any, size))) {
        close(fd);
        fd = -1;
    }
    if (fd < 0) {
        at = (union bond_address){ .v4 = { .sin_family = AF_INET } };
        fd = socket(AF_INET, kind, 0);
        if (fd >= 0 && bind(fd, &at.any, sizeof at.v4)) {
            close(fd);
            return -1;
        }
    }
    if (fd >= 0 && (listen(fd, SOMAXCONN) || getsockname(fd, &at.any, &size))) {
        close(fd);
        return -1;
    }
    *port = ntohs(at.v6.sin6_port); /* at the same place in both */
    return fd;
}

uint16_t bonds_listen(struct job *job, const uint64_t **key)
{
    struct bonds *bonds = bonds_of(job);

    *key = bonds->key;
    if (bonds->listener.fd >= 0)
        return bonds->port;
    bonds->listener = (struct source){ .ready = listener_ready, .fd = make_listener(&bonds->port), .rank = -1 };
    if (bonds->listener.fd < 0)
        return 0;
    bonds->key[0] = random_word();
    bonds->key[1] = random_word();
    source_add(job, &bonds->listener);
    return bonds->port;
}

/* --- as time goes by --- */

/* Nothing of it is used any more: who was there is told to have gone, and no event leads to it. */
static void free_over(struct job *job)
{
    for (struct bond **place = &job->bonds->all; *place;) {
        struct bond *bond = *place;
        if (bond->state != BOND_IS_OVER) {
            place = &bond->next;
            continue;
        }
        *place = bond->next;
        mem_free(bond);
    }
}

/* While mpiexec was stopped it has not waited. */
static double waited(struct bond *bond)
{
    const int64_t now = now_ns();
    const double step = (double)(now - bond->looked_ns) / 1e9;

    bond->looked_ns = now;
    return bond->waited += step < 2 * TICK_SECONDS ? step : 2 * TICK_SECONDS;
}

void bonds_tick(struct job *job)
{
    for (struct bond *bond = job->bonds->all; bond; bond = bond->next) {
        if ((bond->state != BOND_CONNECTS && bond->state != BOND_GREETS) || waited(bond) < PATIENCE_SECONDS)
            continue;
        if (bond->dial.fd >= 0)
            source_remove(job, &bond->dial);
        hang_up(job, bond);
    }
    free_over(job);
    for (const struct bond *bond = job->bonds->all; bond; bond = bond->next)
        if (bond->state != BOND_IS_OPEN)
            timer_set(job, TIMER_BONDS, TICK_SECONDS);
}

void bonds_flush(struct job *job)
{
    for (struct bond *bond = bonds_first(job); bond; bond = bond->next)
        if (bond->channel.out.fd >= 0)
            channel_flush(job, &bond->channel);
}

void bonds_end(struct job *job)
{
    bonds_tell_last_ends(job);
    for (struct bond *bond = bonds_first(job); bond; bond = bond->next) {
        bond_put(bond, BOND_BYE, -1, 0, NULL, 0);
        if (bond->channel.out.fd >= 0)
            channel_flush(job, &bond->channel);
    }
}
