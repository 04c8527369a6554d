/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Connections that end when nothing is heard any more. Failures do not matter: it is told later then. */
#include "sys/alive.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

struct setting alive_patience = {
    .name = "TCP_TIMEOUT",
    .help = "seconds until a connection to another machine that cannot be made is given up; one that was made, when "
            "nothing has been heard for three times as long",
    .topic = "network",
    .kind = SETTING_INT,
    .value = 20,
    .min = 1,
    .max = 3600,
};
SETTING_LISTED(alive_patience);

void alive_watch(int fd, int seconds)
{
    const int on = 1, probes = ALIVE_ROUNDS - 1;

    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

void alive_watch_all(int fd, int seconds)
{
    const unsigned ms = ALIVE_ROUNDS * 1000u * (unsigned)seconds;

    alive_watch(fd, seconds);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
}
