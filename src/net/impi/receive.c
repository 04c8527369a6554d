/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/impi. Receiving. What has come is read into a buffer, and whole packets are handed on from there; the
 * buffer goes back to the net when nothing is left in it. The other side may be of any implementation, so nothing
 * in a packet is believed: what makes no sense ends the connection with an error that says what it was. Knows:
 * base, net, packets, credit. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/err.h"
#include "net/impi/int_impi.h"

static void bad_packet(struct impi_host *host, const char *what)
{
    char text[IMPI_HOST_TEXT];

    impi_end(host, err(MPI_ERR_OTHER, "E1241: %s has sent %s", impi_host_text(host, text), what));
    host->is_broken = true; /* also if it had left */
}

/* Which of the two ends of a packet is wrong; NULL: neither. */
static const char *check_ends(const struct impi_host *host, const struct impi_packet *packet, int *source)
{
    const struct impi *impi = host->impi;

    *source = joint_find(impi->joint, packet->src);
    if (*source < 0 || joint_proc(impi->joint, *source)->host != (uint32_t)host->index)
        return "a packet of a process that is not there";
    if (joint_find(impi->joint, packet->dest) != impi->config.rank)
        return "a packet for another process than this one";
    return NULL;
}

enum taken { TAKEN, NOT_ALL_THERE, NOT_NOW, NOT_UNDERSTOOD };

/* A packet between processes. */
static enum taken take_of_pair(struct impi_host *host, const struct impi_packet *packet, const unsigned char *data,
                               const char **wrong)
{
    struct impi *impi = host->impi;
    struct impi_peer *peer;
    int source, rc;

    *wrong = check_ends(host, packet, &source);
    if (*wrong)
        return NOT_UNDERSTOOD;
    peer = impi_peer(impi, source);
    if (!peer)
        return NOT_NOW;
    if (packet->type == IMPI_PROTOACK) {
        *wrong = "more acknowledgements than it got packets";
        return credit_regain(&peer->credit, &impi->marks) ? TAKEN : NOT_UNDERSTOOD;
    }
    rc = impi->config.packet(impi->config.arg, peer->ep.proc, packet, data, wrong);
    if (rc)
        return rc == NET_AGAIN ? NOT_NOW : NOT_UNDERSTOOD;
    if (credit_take(&peer->credit, &impi->marks))
        impi_owe(peer);
    return TAKEN;
}

static enum taken take_fini(struct impi_host *host, const char **wrong)
{
    *wrong = "its last packet twice";
    if (host->is_leaving)
        return NOT_UNDERSTOOD;
    host->is_leaving = true;
    return TAKEN;
}

/* The next packet in the buffer. */
static enum taken take_packet(struct impi_host *host, const char **wrong)
{
    const unsigned char *bytes = host->in + host->begin;
    const uint32_t come = host->end - host->begin;
    struct impi_packet packet;
    enum taken taken;

    if (come < IMPI_HEADER_SIZE)
        return NOT_ALL_THERE;
    impi_packet_read(&packet, bytes);
    *wrong = impi_packet_check(&packet, host->impi->joint->maxlen);
    if (!*wrong && host->is_leaving && packet.type != IMPI_PROTOACK && packet.type != IMPI_FINI)
        *wrong = "a packet after its last one";
    if (*wrong)
        return NOT_UNDERSTOOD;
    if (come - IMPI_HEADER_SIZE < packet.len)
        return NOT_ALL_THERE;
    taken = packet.type == IMPI_FINI ? take_fini(host, wrong) :
                                       take_of_pair(host, &packet, bytes + IMPI_HEADER_SIZE, wrong);
    if (taken == TAKEN)
        host->begin += IMPI_HEADER_SIZE + packet.len;
    return taken;
}

/* Hand on what is whole; how many packets there were. */
static int take_packets(struct impi_host *host)
{
    const char *wrong = "";
    enum taken taken;
    int count = 0;

    while ((taken = take_packet(host, &wrong)) == TAKEN)
        count++;
    if (taken == NOT_UNDERSTOOD)
        bad_packet(host, wrong);
    if (taken == NOT_NOW)
        list_append(&host->impi->stalled, &host->stalled_link);
    return count;
}

/* --- reading --- */

static bool open_buffer(struct impi_host *host)
{
    if (!host->in) {
        host->in = mem_pool_get(&host->impi->buffers);
        host->begin = host->end = 0;
    }
    if (host->in && host->begin) {
        host->end -= host->begin;
        memmove(host->in, host->in + host->begin, host->end);
        host->begin = 0;
    }
    return host->in;
}

static void close_buffer(struct impi_host *host)
{
    if (host->in && host->begin == host->end)
        impi_drop_input(host);
}

/* Nothing more comes: `error` is an errno, or 0 if the other side has closed the connection. */
static void find_end(struct impi_host *host, int error)
{
    const int cause = error ? error : host->out_error;
    char text[IMPI_HOST_TEXT];

    if (host->is_leaving && host->has_left && !host->unsent)
        impi_end(host, 0);
    else if (host->is_leaving)
        impi_end(host, err(MPI_ERR_OTHER, "E1241: %s has left MPI already", impi_host_text(host, text)));
    else if (cause)
        impi_end(host, err(MPI_ERR_OTHER, "E1241: the connection to %s is broken: %s", impi_host_text(host, text),
                           strerror(cause)));
    else
        impi_end(host, err(MPI_ERR_OTHER, "E1241: %s has ended without leaving MPI: its connection was closed",
                           impi_host_text(host, text)));
}

/* One read; false: nothing has come, or this was the end. */
static bool read_some(struct impi_host *host, bool *is_all)
{
    const size_t room = host->impi->in_size - host->end;
    const ssize_t got = recv(host->fd, host->in + host->end, room, MSG_DONTWAIT);

    *is_all = got < (ssize_t)room;
    if (got > 0) {
        host->end += (uint32_t)got;
        return true;
    }
    if (!got || (errno != EAGAIN && errno != EINTR && errno != ENOMEM))
        find_end(host, got ? errno : 0);
    return false;
}

void impi_end_if_done(struct impi_host *host)
{
    if (host->state == IMPI_UP && host->is_leaving && host->has_left && !host->unsent)
        impi_end(host, 0);
}

static void have_taken(struct impi_host *host)
{
    close_buffer(host);
    if (!list_is_empty(&host->owing))
        impi_flush(host);
    impi_end_if_done(host);
}

int impi_receive(struct impi_host *host)
{
    bool is_all = false;
    int count = 0;

    for (int i = 0; i < IMPI_READS && !is_all && host->state == IMPI_UP && list_is_empty(&host->stalled_link); i++) {
        if (!open_buffer(host) || !read_some(host, &is_all))
            break;
        count += take_packets(host);
    }
    have_taken(host);
    return count;
}

int impi_retry_stalled(struct impi *impi)
{
    struct list *last = impi->stalled.prev, *link = NULL;
    int count = 0;

    while (link != last) {
        struct impi_host *host;

        link = list_first(&impi->stalled);
        host = CONTAINER_OF(link, struct impi_host, stalled_link);
        list_remove(link);
        count += take_packets(host);
        have_taken(host);
    }
    return count;
}

void impi_drop_input(struct impi_host *host)
{
    list_remove(&host->stalled_link);
    if (host->in)
        mem_pool_put(&host->impi->buffers, host->in);
    host->in = NULL;
    host->begin = host->end = 0;
}
