/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/tcp. What processes ask of each other: wishes, and for how much there is room that may have to be kept
 * (struct net_kept). Sockets hold megabytes, so without that a receiver could say "no more" only when it is too late.
 * Knows: net. */
#include "net/tcp/int_tcp.h"

void tcp_show_wish(struct tcp_peer *peer)
{
    struct tcp *tcp = tcp_of(peer);
    const uint32_t wish = !tcp_has_room(peer) && peer->asked < tcp->kept.wish ? tcp->kept.wish : peer->asked;

    atomic_store_explicit(&tcp->heard[peer->ep.proc * NET_WISHES], wish, memory_order_relaxed);
}

/* So far it may send. It is told of more when a good part of that is used up, and nothing is ever taken back. */
static uint32_t room_now(struct tcp_peer *peer)
{
    const struct net_sink *sink = &peer->ep.net->sink;
    const int32_t left = (int32_t)(peer->kept_told - peer->kept_come);
    uint32_t room;

    if (left > (int32_t)peer->kept_low || !sink->room)
        return peer->kept_told;
    room = sink->room(sink->arg, peer->ep.proc);
    peer->kept_low = room - room / 4;
    return left > (int32_t)peer->kept_low ? peer->kept_told : peer->kept_come + room;
}

/* Whoever is not connected has nothing to be told: the words count from the connection on. It goes out at once, since
 * who has used up its room waits for that. */
void tcp_tell(struct tcp_peer *peer)
{
    struct tcp *tcp = tcp_of(peer);
    const int at = peer->ep.proc * NET_WISHES;
    struct net_head head;
    uint32_t room;

    list_remove(&peer->owed_link);
    if (peer->state != TCP_UP || peer->is_leaving)
        return;
    room = room_now(peer);
    for (int i = 0; i < NET_WISHES; i++)
        head.word[i] = atomic_load_explicit(&tcp->wishes[at + i], memory_order_relaxed);
    if (room == peer->kept_told && head.word[0] == tcp->told[at] && head.word[1] == tcp->told[at + 1])
        return;
    head.word[0] |= (uint64_t)room << 32;
    if (!tcp_append_frame(peer, TCP_WISH, head)) {
        list_append(&tcp->owed, &peer->owed_link);
        return;
    }
    peer->kept_told = room;
    for (int i = 0; i < NET_WISHES; i++)
        tcp->told[at + i] = (uint32_t)head.word[i];
    tcp_flush(peer);
}

void tcp_tell_all(struct tcp *tcp)
{
    for (int proc = 0; proc < tcp->procs; proc++) {
        if (tcp->peers[proc])
            tcp_tell(tcp->peers[proc]);
    }
}

void tcp_tell_owed(struct tcp *tcp)
{
    struct list owed;

    list_init(&owed);
    list_move_all(&tcp->owed, &owed);
    LIST_FOR_EACH_SAFE(link, &owed)
        tcp_tell(CONTAINER_OF(link, struct tcp_peer, owed_link));
}
