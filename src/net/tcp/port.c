/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/tcp. The listener, one for each process and shared by its lanes: who calls says whose connection it is and
 * proves it, and the lane that it is for takes it over. Whoever cannot prove it is dropped; it costs a descriptor for
 * some seconds.
 * Knows: base, sys (layout of the job segment), notes and addresses. Does not know: what a lane does with connections.
 *
 * Locks: `ports` below, then the port's own. Both are held for some system calls that do not block. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/err.h"
#include "base/setting.h"
#include "net/tcp/int_tcp.h"
#include "progress/progress.h"
#include "sys/alive.h"
#include "sys/clock.h"
#include "sys/descriptor.h"
#include "sys/place.h"
#include "sys/ready.h"

enum { ACCEPT_BATCH = 32, EVENTS = 32, SEGMENT_MIN = 536, SEGMENT_MAX = 32767 };

/* Who has called and not proved yet who it is. */
struct caller {
    struct tcp_proven proven;   /* first; what it becomes */
    uint64_t since;             /* by the port's clock */
    bool has_said;              /* its HELLO has been answered, and its PROOF is awaited */
    uint32_t got;               /* bytes of the note */
    struct tcp_note note;
};

struct tcp_port {
    struct list link;
    int uses;                   /* guarded by `ports` */
    struct job_head *segment;
    int proc, procs;
    struct ifaces ifaces;
    int listener, epoll;
    pthread_mutex_t lock;
    /* guarded by lock: */
    int reserve;                /* a descriptor to be given up for one that is to be refused; -1: none */
    struct list callers;        /* oldest first */
    uint64_t clock, looked_at;  /* it stands still while nobody polls: who is stopped has not waited for callers */
    _Atomic int caller_count;   /* read without the lock */
    struct list proven[NET_LANES];
    _Atomic uint32_t proven_count[NET_LANES]; /* likewise */
};

static struct {
    pthread_mutex_t lock;
    struct list all;
} ports = { PTHREAD_MUTEX_INITIALIZER, { &ports.all, &ports.all } };

static struct setting buffer_setting = {
    .name = "TCP_BUFFER",
    .help = "bytes that the system buffers for each connection and direction; 0: as the system likes",
    .topic = "network",
    .kind = SETTING_INT,
    .value = 0,
    .max = 1 << 30,
};
SETTING_LISTED(buffer_setting);

int tcp_patience_read(void)
{
    const int rc = setting_read(&alive_patience);

    return rc ? rc : setting_read(&buffer_setting);
}

uint64_t tcp_patience_ns(void)
{
    return (uint64_t)alive_patience.value * 1000000000u;
}

/* Segments of which several fit the buffer, as far as the system lets us choose: one that is longer than what the other
 * side has room for goes out by a timer of the system, after 200 ms. Loopback would have 64 KB. */
static void tune_buffer(int fd, int size)
{
    const int segment = size / 4 > SEGMENT_MIN ? size / 4 : SEGMENT_MIN;

    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    if (segment <= SEGMENT_MAX)
        setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment);
}

/* Failures do not matter: these make it faster, or tell earlier of a machine that is gone. */
void tcp_tune(int fd)
{
    const int on = 1, size = (int)buffer_setting.value;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    alive_watch(fd, (int)alive_patience.value);
    if (size)
        tune_buffer(fd, size);
}

/* Are both its ends on this machine? */
static bool is_within(int fd)
{
    struct tcp_target own = { .size = sizeof own.to }, other = { .size = sizeof other.to };

    if (getsockname(fd, &own.to.any, &own.size) || getpeername(fd, &other.to.any, &other.size))
        return false;
    if (own.to.any.sa_family == AF_INET)
        return own.to.v4.sin_addr.s_addr == other.to.v4.sin_addr.s_addr;
    return own.to.any.sa_family == AF_INET6 &&
           !memcmp(&own.to.v6.sin6_addr, &other.to.v6.sin6_addr, sizeof own.to.v6.sin6_addr);
}

/* There is no network to be spared on a way that stays within the machine. BBR, which some systems are set to, measures
 * it all the same and sends by timers, with half to three quarters of the speed. Every Linux has reno. With buffers
 * that are too small it would be slower, since full ones look like losses. */
void tcp_tune_connected(int fd)
{
    static const char reno[] = "reno";

    if (is_within(fd) && !buffer_setting.value)
        setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, reno, sizeof reno - 1);
}

uint64_t tcp_nonce(void)
{
    uint64_t nonce;

    if (getrandom(&nonce, sizeof nonce, GRND_NONBLOCK) != sizeof nonce)
        nonce = clock_ns() * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)getpid();
    return nonce;
}

/* --- coming up and going down --- */

/* For both kinds of addresses, or for IPv4 where there is no other. */
static int make_listener(uint16_t *number)
{
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    const int off = 0, kind = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    socklen_t size = sizeof v6;
    int fd = descriptor_apart(socket(AF_INET6, kind, 0));

    if (fd >= 0 && (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) ||
                    bind(fd, (struct sockaddr *)&v6, sizeof v6))) {
        close(fd);
        fd = -1;
    }
    if (fd < 0 && errno != EMFILE && errno != ENFILE) {
        fd = descriptor_apart(socket(AF_INET, kind, 0));
        if (fd >= 0 && bind(fd, (struct sockaddr *)&v4, sizeof v4)) {
            close(fd);
            return -1;
        }
    }
    if (fd < 0)
        return -1;
    if (listen(fd, SOMAXCONN) || getsockname(fd, (struct sockaddr *)&v6, &size)) {
        close(fd);
        return -1;
    }
    *number = ntohs(v6.sin6_port); /* at the same place in both */
    return fd;
}

static struct job_address *own_address(const struct tcp_port *port)
{
    return &job_place(port->segment, port->proc)->address[JOB_TCP];
}

static void publish(struct tcp_port *port, uint16_t number)
{
    struct job_address *own = own_address(port);
    const size_t size = ifaces_write(&port->ifaces, number, own->bytes, sizeof own->bytes);

    atomic_store_explicit(&own->size, (uint32_t)size, memory_order_release); /* pairs with tcp_dial */
}

static int watch_own(struct tcp_port *port, int fd, void *what)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = what };

    return epoll_ctl(port->epoll, EPOLL_CTL_ADD, fd, &event);
}

static int open_sockets(struct tcp_port *port)
{
    uint16_t number;

    port->listener = make_listener(&number);
    if (port->listener < 0)
        return tcp_system_error("no socket to be reached at by other machines");
    port->epoll = descriptor_apart(epoll_create1(EPOLL_CLOEXEC));
    if (port->epoll < 0 || watch_own(port, port->listener, NULL))
        return tcp_system_error("the socket for other machines cannot be watched");
    port->reserve = descriptor_apart(open("/dev/null", O_RDONLY | O_CLOEXEC));
    publish(port, number);
    return 0;
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void port_destroy(struct tcp_port *port)
{
    LIST_FOR_EACH_SAFE(link, &port->callers) {
        struct caller *caller = CONTAINER_OF(link, struct caller, proven.link);
        close(caller->proven.fd);
        mem_free(caller);
    }
    for (int lane = 0; lane < NET_LANES; lane++) {
        LIST_FOR_EACH_SAFE(link, &port->proven[lane]) {
            struct tcp_proven *proven = CONTAINER_OF(link, struct tcp_proven, link);
            close(proven->fd);
            mem_free(proven);
        }
    }
    close_if_open(port->listener);
    close_if_open(port->epoll);
    close_if_open(port->reserve);
    pthread_mutex_destroy(&port->lock);
    mem_free(port);
}

static int port_create(const struct net_config *config, struct tcp_port **out)
{
    struct tcp_port *port = mem_zalloc(sizeof *port);
    int rc;

    if (!port)
        return err(MPI_ERR_NO_MEM, "no memory for the TCP transport");
    pthread_mutex_init(&port->lock, NULL);
    list_init(&port->callers);
    for (int lane = 0; lane < NET_LANES; lane++)
        list_init(&port->proven[lane]);
    port->segment = config->segment;
    port->proc = config->proc;
    port->procs = config->procs;
    port->uses = 1;
    port->listener = port->epoll = port->reserve = -1;
    rc = tcp_address_look(&port->ifaces);
    if (!rc)
        rc = open_sockets(port);
    if (rc) {
        port_destroy(port);
        return rc;
    }
    list_append(&ports.all, &port->link);
    *out = port;
    return 0;
}

int tcp_port_open(const struct net_config *config, struct tcp_port **out)
{
    int rc = tcp_patience_read();

    if (rc)
        return rc;
    *out = NULL;
    pthread_mutex_lock(&ports.lock);
    LIST_FOR_EACH(link, &ports.all) {
        struct tcp_port *port = CONTAINER_OF(link, struct tcp_port, link);
        if (port->segment != config->segment || port->proc != config->proc)
            continue;
        port->uses++;
        *out = port;
    }
    if (!*out)
        rc = port_create(config, out);
    pthread_mutex_unlock(&ports.lock);
    return rc;
}

void tcp_port_close(struct tcp_port *port)
{
    pthread_mutex_lock(&ports.lock);
    if (!--port->uses) {
        atomic_store_explicit(&own_address(port)->size, 0, memory_order_release);
        list_remove(&port->link);
        port_destroy(port);
    }
    pthread_mutex_unlock(&ports.lock);
}

int tcp_port_fd(const struct tcp_port *port)
{
    return port->epoll;
}

const struct ifaces *tcp_port_ifaces(const struct tcp_port *port)
{
    return &port->ifaces;
}

bool tcp_port_has_callers(const struct tcp_port *port)
{
    return atomic_load_explicit(&port->caller_count, memory_order_relaxed);
}

/* --- callers --- */

static void unlist(struct tcp_port *port, struct caller *caller)
{
    list_remove(&caller->proven.link);
    atomic_fetch_sub_explicit(&port->caller_count, 1, memory_order_relaxed);
}

static void drop(struct tcp_port *port, struct caller *caller)
{
    unlist(port, caller);
    tcp_close_watched(port->epoll, caller->proven.fd);
    mem_free(caller);
}

/* It goes out, for nothing else has been sent; or the caller never reads it. */
static bool say(int fd, struct tcp_note note)
{
    return send(fd, &note, sizeof note, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof note;
}

/* Who is it, and by which key is that to be proved? False: nobody whom we know. The number of one of another job is
 * that of its place here, and so is its tenant. */
static bool find_party(const struct tcp_port *port, struct tcp_party *party)
{
    const int place = party->bond ? place_find_home(port->segment, party->bond, party->peer) : (int)party->peer;

    if (place < 0 || place >= port->procs)
        return false;
    party->place = (uint32_t)place;
    party->token = port->segment->token;
    if (!party->bond)
        return true;
    party->token = job_proc(port->segment, place)->abroad.key;
    party->peer_tenant = job_proc(port->segment, place)->tenant;
    return true;
}

static bool answer(struct tcp_port *port, struct caller *caller)
{
    struct tcp_party *party = &caller->proven.party;
    const enum tcp_reason reason = tcp_note_read_hello(&caller->note, (uint32_t)port->proc, party);

    if (reason == TCP_OTHER_VERSION || reason == TCP_OTHER_MEMORY)
        (void)say(caller->proven.fd, tcp_note_refuse((uint32_t)port->proc, reason));
    if (reason || !find_party(port, party))
        return false;
    party->tenant = job_proc(port->segment, port->proc)->tenant;
    party->nonce = tcp_nonce();
    caller->has_said = true;
    caller->got = 0;
    return say(caller->proven.fd, tcp_note_make(party, TCP_ANSWER));
}

static void give(struct tcp_port *port, struct tcp_proven *proven)
{
    const int lane = proven->party.lane;

    list_append(&port->proven[lane], &proven->link);
    atomic_fetch_add_explicit(&port->proven_count[lane], 1, memory_order_release); /* pairs with tcp_port_take */
}

/* It is a process of this job: for its lane, whose threads may sleep. */
static void hand_over(struct tcp_port *port, struct caller *caller)
{
    epoll_ctl(port->epoll, EPOLL_CTL_DEL, caller->proven.fd, NULL);
    unlist(port, caller);
    give(port, &caller->proven);
    atomic_thread_fence(memory_order_seq_cst);
    progress_notify();
}

/* Something has come of this caller, or its end. */
static void hear(struct tcp_port *port, struct caller *caller)
{
    const ssize_t got = recv(caller->proven.fd, (char *)&caller->note + caller->got, TCP_NOTE_SIZE - caller->got,
                             MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        drop(port, caller);
        return;
    }
    caller->got += (uint32_t)got;
    if (caller->got < TCP_NOTE_SIZE)
        return;
    if (!caller->has_said) {
        if (!answer(port, caller))
            drop(port, caller);
    } else if (tcp_note_check(&caller->note, TCP_PROOF, &caller->proven.party)) {
        drop(port, caller);
    } else {
        hand_over(port, caller);
    }
}

static uint64_t port_clock(struct tcp_port *port)
{
    port->clock += clock_waited_ns(&port->looked_at, clock_ns());
    return port->clock;
}

/* Those that have been silent for too long. */
static void drop_silent(struct tcp_port *port)
{
    const uint64_t now = port_clock(port);

    LIST_FOR_EACH_SAFE(link, &port->callers) {
        struct caller *caller = CONTAINER_OF(link, struct caller, proven.link);
        if (now - caller->since < tcp_patience_ns())
            return;
        drop(port, caller);
    }
}

/* No descriptor is left: take the one that is kept for this, say so, and give it back. The caller tries again. */
static bool refuse_one(struct tcp_port *port)
{
    int fd;

    if (port->reserve < 0)
        return false;
    close(port->reserve);
    fd = descriptor_apart(accept4(port->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd >= 0) {
        (void)say(fd, tcp_note_refuse((uint32_t)port->proc, TCP_NO_DESCRIPTORS));
        shutdown(fd, SHUT_WR);
        close(fd);
    }
    port->reserve = descriptor_apart(open("/dev/null", O_RDONLY | O_CLOEXEC));
    return fd >= 0;
}

static bool take_in(struct tcp_port *port, int fd)
{
    struct caller *caller = mem_zalloc(sizeof *caller);

    if (!caller || watch_own(port, fd, caller)) {
        mem_free(caller);
        close(fd);
        return false;
    }
    tcp_tune(fd);
    caller->proven.fd = fd;
    caller->since = port_clock(port);
    list_append(&port->callers, &caller->proven.link);
    atomic_fetch_add_explicit(&port->caller_count, 1, memory_order_relaxed);
    return true;
}

static void accept_callers(struct tcp_port *port)
{
    if (port->reserve < 0)
        port->reserve = descriptor_apart(open("/dev/null", O_RDONLY | O_CLOEXEC));
    for (int i = 0; i < ACCEPT_BATCH && port->caller_count < TCP_CALLERS_MAX; i++) {
        const int fd = descriptor_apart(accept4(port->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (fd < 0 && ((errno != EMFILE && errno != ENFILE) || !refuse_one(port)))
            return;
        if (fd >= 0 && !take_in(port, fd))
            return;
    }
}

int tcp_port_poll(struct tcp_port *port)
{
    struct epoll_event events[EVENTS];
    int count;

    if (pthread_mutex_trylock(&port->lock))
        return 0;
    count = ready_look(port->epoll, events, EVENTS);
    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr)
            hear(port, events[i].data.ptr);
    }
    drop_silent(port);
    for (int i = 0; i < count; i++) {
        if (!events[i].data.ptr)
            accept_callers(port);
    }
    pthread_mutex_unlock(&port->lock);
    return count;
}

struct tcp_proven *tcp_port_take(struct tcp_port *port, int lane)
{
    struct list *link;

    /* acquire pairs with hand_over */
    if (likely(!atomic_load_explicit(&port->proven_count[lane], memory_order_acquire)))
        return NULL;
    pthread_mutex_lock(&port->lock);
    link = list_first(&port->proven[lane]);
    if (link) {
        list_remove(link);
        atomic_fetch_sub_explicit(&port->proven_count[lane], 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&port->lock);
    return link ? CONTAINER_OF(link, struct tcp_proven, link) : NULL;
}

void tcp_port_put_back(struct tcp_port *port, struct tcp_proven *proven)
{
    pthread_mutex_lock(&port->lock);
    give(port, proven);
    pthread_mutex_unlock(&port->lock);
}
