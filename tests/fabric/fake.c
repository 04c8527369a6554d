/* SPDX-License-Identifier: BSD-3-Clause */
/* A made up libfabric, which the unit test of room net/ofi opens in libfabric's place. Its endpoints live in one
 * process. It is as unpleasant as providers may be, and as FAKE_FABRIC says, a list of words:
 *
 *   none          there is no provider           name=NAME   the provider's; else "fake"
 *   unordered     no provider keeps order         shuffle     messages arrive in another order
 *   mr            memory must be registered       iov         a message comes from one place only
 *   nofd          nothing to sleep at             inject=N    so many bytes go without a completion
 *   odd           messages lie at odd addresses   apart       that a buffer is full is told apart
 *   again         most calls find no room         long        addresses are too long
 *   short         messages may have 1000 bytes    deny        each message is refused
 *   fail=N        the N-th message fails           truncated  so does what is received
 *   dead          completions cannot be read      nodomain    a domain does not open
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/base.h"
#include "net/ofi/abi.h"

enum { EPS = 64, BUFFERS = 16, EVENTS = 4096, ADDRESS_SIZE = 8, LONG_ADDRESS = 200, SHUFFLED = 4, ODD = 3 };

struct message {
    struct message *next;
    size_t size;
    unsigned char bytes[];
};

struct posted {
    unsigned char *at;
    size_t size, used;
    void *context;               /* NULL: free */
};

struct event {
    struct fab_entry entry;
    int error;
};

struct fake_ep {
    struct fab_ep ep;            /* first */
    struct fab_cq cq;
    int fd;
    size_t least;
    struct posted posted[BUFFERS];
    struct message *first;
    struct event events[EVENTS];
    unsigned begin, end;
};

static struct {
    pthread_mutex_t lock;
    struct fake_ep *eps[EPS];
    int count;
    int sent;
    uint64_t random;
} fakes = { .lock = PTHREAD_MUTEX_INITIALIZER };

int fi_getinfo(uint32_t api, const char *node, const char *service, uint64_t flags, const struct fab_info *hints,
               struct fab_info **out);
void fi_freeinfo(struct fab_info *info);
struct fab_info *fi_dupinfo(const struct fab_info *info);
int fi_fabric(struct fab_fabric_attr *attr, struct fab_fabric **out, void *context);
uint32_t fi_version(void);
const char *fi_strerror(int error);

static const char *word_of(const char *word)
{
    const char *text = getenv("FAKE_FABRIC");
    const char *at = text ? strstr(text, word) : NULL;

    return at ? at + strlen(word) : NULL;
}

static bool is(const char *word)
{
    return word_of(word);
}

static unsigned draw(unsigned below)
{
    fakes.random = fakes.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(fakes.random >> 33) % below;
}

static bool refuses(void)
{
    return is("again") && draw(4);
}

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fake libfabric: %s\n", what);
    abort();
}

/* --- completions --- */

static void add_event(struct fake_ep *ep, void *context, uint64_t flags, void *buf, size_t len, int error)
{
    must(ep->end - ep->begin < EVENTS, "the queue of completions is full");
    ep->events[ep->end++ % EVENTS] = (struct event){
        { .context = context, .flags = flags, .len = len, .buf = buf }, error,
    };
    (void)eventfd_write(ep->fd, 1);
}

/* One message into a buffer; false: there is none. */
static bool deliver(struct fake_ep *ep, const struct message *message)
{
    for (int i = 0; i < BUFFERS; i++) {
        struct posted *posted = &ep->posted[i];
        void *context = posted->context;
        unsigned char *at = posted->at + posted->used;
        bool is_full;
        if (!context)
            continue;
        if (is("odd"))
            at += ODD;
        must(at + message->size <= posted->at + posted->size, "a buffer is too small");
        memcpy(at, message->bytes, message->size);
        posted->used = (size_t)(at + message->size - posted->at);
        is_full = posted->size - posted->used < ep->least + ODD;
        if (is_full)
            posted->context = NULL;
        add_event(ep, context, FAB_RECV | FAB_MSG | (is_full && !is("apart") ? FAB_MULTI_RECV : 0), at, message->size,
                  is("truncated") ? 265 : 0);
        if (is_full && is("apart"))
            add_event(ep, context, FAB_MULTI_RECV, NULL, 0, 0);
        return true;
    }
    return false;
}

static void deliver_all(struct fake_ep *ep)
{
    while (ep->first && ep->end - ep->begin < EVENTS / 4) {
        struct message **at = &ep->first;
        struct message *message;
        for (unsigned skip = is("shuffle") ? draw(SHUFFLED) : 0; skip && (*at)->next; skip--)
            at = &(*at)->next;
        message = *at;
        if (!deliver(ep, message))
            return;
        *at = message->next;
        free(message);
    }
}

static ssize_t cq_read(struct fab_cq *cq, void *entries, size_t count)
{
    struct fake_ep *ep = CONTAINER_OF(cq, struct fake_ep, cq);
    struct fab_entry *out = entries;
    ssize_t done = 0;

    if (is("dead"))
        return -EIO;
    pthread_mutex_lock(&fakes.lock);
    deliver_all(ep);
    while (ep->begin != ep->end && (size_t)done < count && !ep->events[ep->begin % EVENTS].error)
        out[done++] = ep->events[ep->begin++ % EVENTS].entry;
    if (!done)
        done = ep->begin == ep->end ? -EAGAIN : -FAB_EAVAIL;
    pthread_mutex_unlock(&fakes.lock);
    return done;
}

static ssize_t cq_readerr(struct fab_cq *cq, struct fab_error *error, uint64_t flags)
{
    struct fake_ep *ep = CONTAINER_OF(cq, struct fake_ep, cq);
    const struct event *event = &ep->events[ep->begin % EVENTS];

    (void)flags;
    if (ep->begin == ep->end || !event->error)
        return -EAGAIN;
    *error = (struct fab_error){ .context = event->entry.context, .err = event->error, .prov_errno = 7 };
    ep->begin++;
    return 1;
}

static const char *cq_strerror(struct fab_cq *cq, int error, const void *data, char *buf, size_t size)
{
    (void)cq, (void)data;
    snprintf(buf, size, "cable %d is loose", error);
    return buf;
}

static int cq_control(struct fab_fid *fid, int command, void *arg)
{
    if (command != FAB_GETWAIT)
        return -ENOSYS;
    *(int *)arg = CONTAINER_OF(fid, struct fake_ep, cq.fid)->fd;
    return 0;
}

/* --- messages --- */

static void push(struct fake_ep *to, struct message *message)
{
    struct message **at = &to->first;

    while (*at)
        at = &(*at)->next;
    *at = message;
    (void)eventfd_write(to->fd, 1);
}

/* May it be sent? 0, or why not. With the lock. */
static int admit(const struct fake_ep *ep)
{
    if (is("deny"))
        return -EHOSTUNREACH;
    return refuses() || ep->end - ep->begin > EVENTS / 2 ? -EAGAIN : 0;
}

static ssize_t send_pieces(struct fab_ep *from, const struct iovec *iov, size_t count, uint64_t address, void *context)
{
    struct fake_ep *ep = (struct fake_ep *)(void *)from, *to;
    struct message *message;
    const char *fail = word_of("fail=");
    size_t size = 0;
    int rc;

    for (size_t i = 0; i < count; i++)
        size += iov[i].iov_len;
    message = malloc(sizeof *message + size);
    must(message, "no memory");
    *message = (struct message){ .size = 0 };
    for (size_t i = 0; i < count; i++) {
        memcpy(message->bytes + message->size, iov[i].iov_base, iov[i].iov_len);
        message->size += iov[i].iov_len;
    }
    pthread_mutex_lock(&fakes.lock);
    rc = admit(ep);
    to = fakes.eps[address];
    if (!rc && context) {
        memset(context, 0x5a, FAB_CONTEXT_WORDS * sizeof(void *));
        add_event(ep, context, FAB_SEND | FAB_MSG, NULL, 0, fail && ++fakes.sent == atoi(fail) ? EIO : 0);
    }
    if (!rc && to)
        push(to, message);
    else
        free(message);
    pthread_mutex_unlock(&fakes.lock);
    return rc;
}

static void check_registered(const void *buf, size_t len, void *desc)
{
    const struct iovec *region = desc;

    must(!is("mr") || (region && (const char *)buf >= (const char *)region->iov_base &&
                       (const char *)buf + len <= (const char *)region->iov_base + region->iov_len),
         "memory is not registered");
}

static ssize_t ep_send(struct fab_ep *ep, const void *buf, size_t len, void *desc, uint64_t address, void *context)
{
    const struct iovec piece = { (void *)(uintptr_t)buf, len };

    check_registered(buf, len, desc);
    return send_pieces(ep, &piece, 1, address, context);
}

static ssize_t ep_sendv(struct fab_ep *ep, const struct iovec *iov, void **desc, size_t count, uint64_t address,
                        void *context)
{
    must(!is("iov"), "a message from two places");
    for (size_t i = 0; i < count; i++)
        check_registered(iov[i].iov_base, iov[i].iov_len, desc[i]);
    return send_pieces(ep, iov, count, address, context);
}

static ssize_t ep_inject(struct fab_ep *ep, const void *buf, size_t len, uint64_t address)
{
    const struct iovec piece = { (void *)(uintptr_t)buf, len };

    must(word_of("inject=") && (int)len <= atoi(word_of("inject=")), "too long for inject");
    return send_pieces(ep, &piece, 1, address, NULL);
}

static ssize_t ep_recvmsg(struct fab_ep *ep, const struct fab_msg *msg, uint64_t flags)
{
    struct fake_ep *fake = (struct fake_ep *)(void *)ep;
    int rc = -EAGAIN;

    must(flags == FAB_MULTI_RECV && msg->count == 1, "a buffer for one message");
    check_registered(msg->iov->iov_base, msg->iov->iov_len, *msg->desc);
    pthread_mutex_lock(&fakes.lock);
    for (int i = 0; i < BUFFERS && rc && !refuses(); i++) {
        if (fake->posted[i].context)
            continue;
        memset(msg->context, 0x5a, FAB_CONTEXT_WORDS * sizeof(void *));
        fake->posted[i] = (struct posted){ msg->iov->iov_base, msg->iov->iov_len, 0, msg->context };
        rc = 0;
    }
    pthread_mutex_unlock(&fakes.lock);
    return rc;
}

/* --- objects --- */

static int close_nothing(struct fab_fid *fid)
{
    (void)fid;
    return 0;
}

static int bind_nothing(struct fab_fid *fid, struct fab_fid *to, uint64_t flags)
{
    (void)fid, (void)to, (void)flags;
    return 0;
}

static int control_nothing(struct fab_fid *fid, int command, void *arg)
{
    (void)fid, (void)command, (void)arg;
    return 0;
}

static struct fab_fid_ops plain = { sizeof plain, close_nothing, bind_nothing, control_nothing };
static struct fab_fid_ops cq_fid_ops = { sizeof cq_fid_ops, close_nothing, bind_nothing, cq_control };

/* A region is its own descriptor. */
struct region {
    struct fab_mr mr;
    struct iovec memory;
};

static int region_close(struct fab_fid *fid)
{
    free(fid);
    return 0;
}

static struct fab_fid_ops region_ops = { sizeof region_ops, region_close, bind_nothing, control_nothing };

static int region_make(struct fab_fid *fid, const void *buf, size_t len, uint64_t access, uint64_t offset, uint64_t key,
                       uint64_t flags, struct fab_mr **out, void *context)
{
    struct region *region = calloc(1, sizeof *region);

    (void)fid, (void)access, (void)offset, (void)flags, (void)context;
    must(region, "no memory");
    region->memory = (struct iovec){ (void *)(uintptr_t)buf, len };
    region->mr = (struct fab_mr){ { .ops = &region_ops }, &region->memory, key };
    *out = &region->mr;
    return 0;
}

static int ep_getname(struct fab_fid *fid, void *address, size_t *size)
{
    const uint64_t number = fid->kind;
    const size_t room = *size;

    *size = is("long") ? LONG_ADDRESS : ADDRESS_SIZE;
    if (room < *size)
        return -267;
    memcpy(address, &number, sizeof number);
    return 0;
}

static int ep_setopt(struct fab_fid *fid, int level, int name, const void *value, size_t size)
{
    must(level == FAB_OPT_ENDPOINT && name == FAB_OPT_MIN_MULTI_RECV && size == sizeof(size_t), "an unknown option");
    memcpy(&((struct fake_ep *)(void *)fid)->least, value, size);
    return 0;
}

static int ep_close(struct fab_fid *fid)
{
    struct fake_ep *ep = (struct fake_ep *)(void *)fid;

    pthread_mutex_lock(&fakes.lock);
    fakes.eps[fid->kind] = NULL;
    while (ep->first) {
        struct message *message = ep->first;
        ep->first = message->next;
        free(message);
    }
    close(ep->fd);
    ep->fd = -1;
    pthread_mutex_unlock(&fakes.lock);
    return 0;
}

static struct fab_fid_ops ep_fid_ops = { sizeof ep_fid_ops, ep_close, bind_nothing, control_nothing };
static struct fab_ep_ops ep_ops = { .size = sizeof ep_ops, .setopt = ep_setopt };
static struct fab_cm_ops cm_ops = { .size = sizeof cm_ops, .getname = ep_getname };
static struct fab_msg_ops msg_ops = {
    .size = sizeof msg_ops, .recvmsg = ep_recvmsg, .send = ep_send, .sendv = ep_sendv, .inject = ep_inject,
};
static struct fab_cq_ops cq_ops = {
    .size = sizeof cq_ops, .read = cq_read, .readerr = cq_readerr, .strerror = cq_strerror,
};

/* The queue comes first, and with it what will be the endpoint. */
static int cq_close(struct fab_fid *fid)
{
    struct fake_ep *ep = CONTAINER_OF(fid, struct fake_ep, cq.fid);

    if (ep->fd >= 0)
        close(ep->fd);
    free(ep);
    return 0;
}

static int cq_open(struct fab_domain *domain, struct fab_cq_attr *attr, struct fab_cq **out, void *context)
{
    struct fake_ep *ep;

    (void)context;
    if (attr->wait_obj == FAB_WAIT_FD && is("nofd"))
        return -ENOSYS;
    ep = calloc(1, sizeof *ep);
    must(ep && fakes.count < EPS, "no memory");
    cq_fid_ops.close = cq_close;
    ep->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    ep->cq = (struct fab_cq){ { .ops = &cq_fid_ops }, &cq_ops };
    ep->ep = (struct fab_ep){ { .ops = &ep_fid_ops, .kind = (size_t)fakes.count }, &ep_ops, &cm_ops, &msg_ops };
    domain->fid.context = ep;
    *out = &ep->cq;
    return 0;
}

static int ep_open(struct fab_domain *domain, struct fab_info *info, struct fab_ep **out, void *context)
{
    struct fake_ep *ep = domain->fid.context;

    (void)info, (void)context;
    fakes.eps[fakes.count++] = ep;
    *out = &ep->ep;
    return 0;
}

static int av_insert(struct fab_av *av, const void *address, size_t count, uint64_t *out, uint64_t flags, void *context)
{
    (void)av, (void)flags, (void)context;
    must(count == 1, "several addresses");
    memcpy(out, address, sizeof *out);
    return *out < EPS ? 1 : -EINVAL;
}

static int av_remove(struct fab_av *av, uint64_t *address, size_t count, uint64_t flags)
{
    (void)av, (void)address, (void)count, (void)flags;
    return 0;
}

static struct fab_av_ops av_ops = { .size = sizeof av_ops, .insert = av_insert, .remove = av_remove };
static struct fab_av the_av = { { .ops = &plain }, &av_ops };

static int av_open(struct fab_domain *domain, struct fab_av_attr *attr, struct fab_av **out, void *context)
{
    (void)domain, (void)attr, (void)context;
    *out = &the_av;
    return 0;
}

static struct fab_domain_ops domain_ops = { sizeof domain_ops, av_open, cq_open, ep_open };
static struct fab_mr_ops mr_ops = { sizeof mr_ops, region_make };
static struct fab_domain the_domain = { { .ops = &plain }, &domain_ops, &mr_ops };

static int domain_open(struct fab_fabric *fabric, struct fab_info *info, struct fab_domain **out, void *context)
{
    (void)fabric, (void)info, (void)context;
    *out = &the_domain;
    return is("nodomain") ? -EACCES : 0;
}

static int trywait(struct fab_fabric *fabric, struct fab_fid **fids, int count)
{
    struct fake_ep *ep = CONTAINER_OF(*fids, struct fake_ep, cq.fid);
    eventfd_t value;
    bool has;

    (void)fabric, (void)count;
    pthread_mutex_lock(&fakes.lock);
    (void)eventfd_read(ep->fd, &value);
    has = ep->begin != ep->end || ep->first;
    pthread_mutex_unlock(&fakes.lock);
    return has ? -EAGAIN : 0;
}

static struct fab_fabric_ops fabric_ops = { .size = sizeof fabric_ops, .domain = domain_open, .trywait = trywait };
static struct fab_fabric the_fabric = { { .ops = &plain }, &fabric_ops };

int fi_fabric(struct fab_fabric_attr *attr, struct fab_fabric **out, void *context)
{
    (void)attr, (void)context;
    *out = &the_fabric;
    return 0;
}

/* --- what there is --- */

struct made {
    struct fab_info info;        /* first */
    struct fab_tx_attr tx;
    struct fab_rx_attr rx;
    struct fab_ep_attr ep;
    struct fab_domain_attr domain;
    struct fab_fabric_attr fabric;
    char name[64];
};

struct fab_info *fi_dupinfo(const struct fab_info *info)
{
    struct made *made = calloc(1, sizeof *made);

    must(made && !info, "an info is to be copied");
    made->info = (struct fab_info){
        .tx = &made->tx, .rx = &made->rx, .ep = &made->ep, .domain = &made->domain, .fabric = &made->fabric,
    };
    return &made->info;
}

void fi_freeinfo(struct fab_info *info)
{
    free(info);
}

int fi_getinfo(uint32_t api, const char *node, const char *service, uint64_t flags, const struct fab_info *hints,
               struct fab_info **out)
{
    const char *name = word_of("name=");
    struct made *made;

    (void)api, (void)node, (void)service, (void)flags;
    if (is("none") || (is("unordered") && hints->tx->msg_order))
        return -ENODATA;
    made = (struct made *)(void *)fi_dupinfo(NULL);
    snprintf(made->name, sizeof made->name, "%.*s", name ? (int)strcspn(name, ",") : 4, name ? name : "fake");
    made->fabric.prov_name = made->name;
    made->tx.inject_size = word_of("inject=") ? (size_t)atoi(word_of("inject=")) : 0;
    made->tx.iov_limit = is("iov") ? 1 : 4;
    made->ep.max_msg_size = is("short") ? 1000 : 1 << 30;
    made->domain.mr_mode = is("mr") ? FAB_MR_LOCAL | FAB_MR_ENDPOINT : 0;
    *out = &made->info;
    return 0;
}

uint32_t fi_version(void)
{
    return FAB_API(2, 1);
}

const char *fi_strerror(int error)
{
    return error == 265 ? "Truncation" : error == 267 ? "Too small" : strerror(error);
}
