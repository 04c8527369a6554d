/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/impi. Sending. Packets of all pairs wait in the order in which they were begun, and what may be begun is
 * limited, by credit for each pair and by bytes for the host; so one pair without credit holds up no other. PROTOACKs
 * are a number with each peer that becomes packets when they go out, ahead of all that waits.
 * Knows: base, net, packets, credit. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/err.h"
#include "net/impi/int_impi.h"

static const unsigned char *name_of(const struct impi *impi, int rank)
{
    return joint_proc(impi->joint, rank)->name;
}

static void name_ends(const struct impi_peer *peer, struct impi_packet *packet)
{
    const struct impi *impi = peer->host->impi;

    memcpy(packet->src, name_of(impi, impi->config.rank), IMPI_NAME_SIZE);
    memcpy(packet->dest, name_of(impi, peer->rank), IMPI_NAME_SIZE);
}

static struct impi_out *out_create(const struct impi_packet *packet)
{
    struct impi_out *out = mem_alloc(sizeof *out + IMPI_HEADER_SIZE + packet->len);

    if (!out)
        return NULL;
    out->begin = 0;
    out->end = IMPI_HEADER_SIZE + packet->len;
    impi_packet_write(packet, out->bytes);
    return out;
}

static void put(struct impi_host *host, struct impi_out *out)
{
    list_append(&host->out, &out->link);
    host->unsent += out->end;
}

struct impi_out *impi_begin(struct net_ep *ep, const struct impi_packet *packet)
{
    struct impi_peer *peer = impi_peer_of(ep);
    const struct impi_host *host = peer->host;
    struct impi_packet whole = *packet;

    if (host->state != IMPI_UP || host->has_left || host->unsent >= IMPI_UNSENT_MAX ||
        !credit_allows(&peer->credit, &host->impi->marks))
        return NULL;
    name_ends(peer, &whole);
    return out_create(&whole);
}

void *impi_data(struct impi_out *out)
{
    return out->bytes + IMPI_HEADER_SIZE;
}

void impi_send(struct net_ep *ep, struct impi_out *out)
{
    struct impi_peer *peer = impi_peer_of(ep);

    credit_use(&peer->credit);
    put(peer->host, out);
    impi_flush(peer->host);
}

bool impi_say_fini(struct impi_host *host)
{
    const struct impi_packet packet = { .type = IMPI_FINI };
    struct impi_out *out = out_create(&packet);

    if (!out)
        return false;
    put(host, out);
    host->has_left = true;
    impi_flush(host);
    return true;
}

void impi_owe(struct impi_peer *peer)
{
    if (!peer->owed++)
        list_append(&peer->host->owing, &peer->owing_link);
}

/* As many of those that are owed as have room together. */
static void make_acks(struct impi_host *host)
{
    host->acks_begin = host->acks_end = 0;
    while (host->acks_end < sizeof host->acks && !list_is_empty(&host->owing)) {
        struct impi_peer *peer = CONTAINER_OF(list_first(&host->owing), struct impi_peer, owing_link);
        struct impi_packet packet = { .type = IMPI_PROTOACK };

        name_ends(peer, &packet);
        impi_packet_write(&packet, host->acks + host->acks_end);
        host->acks_end += IMPI_HEADER_SIZE;
        if (!--peer->owed)
            list_remove(&peer->owing_link);
    }
}

/* Bytes [*begin, end). False: not all have gone, and no more do now. */
static bool write_some(struct impi_host *host, const unsigned char *bytes, uint32_t *begin, uint32_t end)
{
    while (*begin < end) {
        const ssize_t gone = send(host->fd, bytes + *begin, end - *begin, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (gone >= 0) {
            *begin += (uint32_t)gone;
        } else if (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM) {
            return false;
        } else if (errno != EINTR) {
            host->out_error = errno; /* what has come before that is still read */
            impi_drop_output(host);
            return false;
        }
    }
    return true;
}

/* The first packet that waits. */
static bool write_first(struct impi_host *host)
{
    struct impi_out *out = CONTAINER_OF(list_first(&host->out), struct impi_out, link);
    const uint32_t before = out->begin;
    uint32_t begin = out->begin;
    const bool is_all = write_some(host, out->bytes, &begin, out->end);

    if (host->out_error) /* then it has been dropped */
        return false;
    out->begin = begin;
    host->unsent -= begin - before;
    if (is_all) {
        list_remove(&out->link);
        mem_free(out);
    }
    return is_all;
}

/* Is a packet half out, so that nothing may come between? */
static bool is_cut(const struct impi_host *host)
{
    return !list_is_empty(&host->out) && CONTAINER_OF(list_first(&host->out), struct impi_out, link)->begin;
}

/* True when all has gone. */
static bool write_all(struct impi_host *host)
{
    for (;;) {
        const bool has_acks = host->acks_begin < host->acks_end;

        if (is_cut(host) || (!has_acks && list_is_empty(&host->owing) && !list_is_empty(&host->out))) {
            if (!write_first(host))
                return false;
            continue;
        }
        if (!has_acks) {
            if (list_is_empty(&host->owing))
                return true;
            make_acks(host);
        }
        if (!write_some(host, host->acks, &host->acks_begin, host->acks_end))
            return false;
    }
}

void impi_flush(struct impi_host *host)
{
    bool is_all;

    if (host->state != IMPI_UP || host->out_error)
        return;
    is_all = write_all(host) || host->out_error;
    if (is_all == !host->watches_output)
        return;
    host->watches_output = !is_all;
    (void)impi_watch(host->impi, host->fd, &host->watch, host->watches_output);
}

void impi_drop_output(struct impi_host *host)
{
    LIST_FOR_EACH_SAFE(link, &host->out) {
        list_remove(link);
        mem_free(CONTAINER_OF(link, struct impi_out, link));
    }
    LIST_FOR_EACH_SAFE(link, &host->owing) {
        CONTAINER_OF(link, struct impi_peer, owing_link)->owed = 0;
        list_remove(link);
    }
    host->unsent = 0;
    host->acks_begin = host->acks_end = 0;
}
