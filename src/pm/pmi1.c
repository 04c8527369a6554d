/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: pm. A client of PMI-1 by its wire protocol, which MPICH's mpiexec (Hydra, gforker), Intel's and Slurm's
 * (srun --mpi=pmi2, which answers it as well) speak. A line out, a line in, each "cmd=x key=value ...":
 *
 *   out                                        in
 *   init pmi_version=1 pmi_subversion=1        response_to_init pmi_version=1 pmi_subversion=1 rc=0
 *   get_maxes                                  maxes kvsname_max=N keylen_max=N vallen_max=N
 *   get_appnum                                 appnum appnum=N
 *   get_universe_size                          universe_size size=N           (-1: not known)
 *   get_my_kvsname                             my_kvsname kvsname=NAME
 *   put kvsname=NAME key=K value=V             put_result rc=0
 *   get kvsname=NAME key=K                     get_result rc=0 value=V        (rc not 0: there is none)
 *   barrier_in                                 barrier_out                    (when all processes have come)
 *   finalize                                   finalize_ack
 *   abort exitcode=N                           -
 *
 * The connection is the descriptor PMI_FD, with PMI_RANK and PMI_SIZE beside it; or it is made to PMI_PORT
 * (host:port), and "initack pmiid=PMI_ID" is answered by initack and three lines "set size=", "set rank=",
 * "set debug=". A port is one of this machine: each host has a server of its own. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "pm/int_pm.h"
#include "sys/descriptor.h"

enum {
    LINE_SIZE = 4096,
    NAME_SIZE = 256,
    ASK_SIZE = NAME_SIZE + PM_KEY_SIZE + PM_VALUE_SIZE + 64,
    FINALIZE_MS = 5000,
    FOREVER = -1,
};

struct pmi1 {
    int fd;
    int used;             /* bytes in `data` */
    int taken;            /* of these, the line given out last, which goes with the next read */
    char data[LINE_SIZE]; /* what has come */
    char kvsname[NAME_SIZE];
};

/* Environment variable `name` as a number of at least `least`. */
static bool variable_number(const char *name, int least, int *number)
{
    const char *text = getenv(name);
    char *end;
    long value;

    if (!text || !*text)
        return false;
    errno = 0;
    value = strtol(text, &end, 10);
    if (*end || errno || value < least || value != (int)value)
        return false;
    *number = (int)value;
    return true;
}

static bool is_offered(void)
{
    return getenv("PMI_FD") || getenv("PMI_PORT");
}

static bool is_socket(int fd)
{
    int type;
    socklen_t size = sizeof type;

    return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size);
}

/* A rank has closed its connection for what it starts; a port would take us, too, and be confused. Without a
 * connection a job of one process is none of ours either way. */
static bool is_for_parent(void)
{
    const char *port = getenv("PMI_PORT");
    char text[NAME_SIZE];
    int fd, size;

    if (variable_number("PMI_FD", 0, &fd)) {
        snprintf(text, sizeof text, "PMI_FD=%d", fd);
        return !is_socket(fd) && ((variable_number("PMI_SIZE", 1, &size) && size == 1) || pm_is_child_of_rank(text));
    }
    if (!port)
        return false;
    snprintf(text, sizeof text, "PMI_PORT=%s", port);
    return pm_is_child_of_rank(text);
}

static void close_connection(struct pmi1 *pmi)
{
    if (pmi->fd >= 0)
        close(pmi->fd);
    pmi->fd = -1;
}

/* --- lines --- */

static int send_line(struct pmi1 *pmi, const char *text)
{
    char line[ASK_SIZE + 2];
    const size_t length = (size_t)snprintf(line, sizeof line, "%s\n", text);

    for (size_t done = 0; done < length;) {
        const ssize_t sent = send(pmi->fd, line + done, length - done, MSG_NOSIGNAL);
        if (sent < 0 && (errno == EPIPE || errno == ECONNRESET))
            return err(MPI_ERR_OTHER, "the connection was closed before '%s'", text);
        if (sent < 0 && errno != EINTR)
            return err(MPI_ERR_OTHER, "cannot write '%s': %s", text, strerror(errno));
        done += sent > 0 ? (size_t)sent : 0;
    }
    return 0;
}

/* Some more bytes. `asked` is what the answer is waited for. */
static int receive(struct pmi1 *pmi, const char *asked, int patience_ms)
{
    struct pollfd waiting = { .fd = pmi->fd, .events = POLLIN };
    ssize_t got;
    int ready;

    if (pmi->used == LINE_SIZE - 1)
        return err(MPI_ERR_OTHER, "the answer to '%s' is longer than %d bytes", asked, LINE_SIZE - 1);
    do
        ready = poll(&waiting, 1, patience_ms);
    while (ready < 0 && errno == EINTR);
    if (ready == 0)
        return err(MPI_ERR_OTHER, "no answer to '%s' within %d s", asked, patience_ms / 1000);
    got = ready < 0 ? -1 : recv(pmi->fd, pmi->data + pmi->used, (size_t)(LINE_SIZE - 1 - pmi->used), 0);
    if (got < 0 && errno == EINTR)
        return 0;
    if (got < 0 && errno != ECONNRESET) /* it was closed with something of ours unread */
        return err(MPI_ERR_OTHER, "no answer to '%s': %s", asked, strerror(errno));
    if (got <= 0)
        return err(MPI_ERR_OTHER, "the connection was closed instead of an answer to '%s'", asked);
    pmi->used += (int)got;
    return 0;
}

/* The next line, ended by a zero, good until the next call. */
static int read_line(struct pmi1 *pmi, const char *asked, int patience_ms, const char **line)
{
    char *end;
    int rc = 0;

    memmove(pmi->data, pmi->data + pmi->taken, (size_t)(pmi->used - pmi->taken));
    pmi->used -= pmi->taken;
    pmi->taken = 0;
    while (!(end = memchr(pmi->data, '\n', (size_t)pmi->used)))
        if ((rc = receive(pmi, asked, patience_ms)))
            return rc;
    *end = 0;
    pmi->taken = (int)(end - pmi->data) + 1;
    *line = pmi->data;
    return 0;
}

/* The next line, which must be a `command`. */
static int expect(struct pmi1 *pmi, const char *asked, const char *command, int patience_ms, const char **line)
{
    char came[64];
    const int rc = read_line(pmi, asked, patience_ms, line);

    if (rc)
        return rc;
    if (!pmi1_value(*line, "cmd", came, sizeof came) || strcmp(came, command) != 0)
        return err(MPI_ERR_OTHER, "the answer to '%s' is '%.200s' instead of %s", asked, *line, command);
    return 0;
}

/* A command out, its answer in. */
static int ask(struct pmi1 *pmi, int patience_ms, const char **line, const char *answer, const char *format, ...)
    PRINTF_LIKE(5, 6);

static int ask(struct pmi1 *pmi, int patience_ms, const char **line, const char *answer, const char *format, ...)
{
    char text[ASK_SIZE];
    va_list args;
    int rc;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    rc = send_line(pmi, text);
    return rc ? rc : expect(pmi, text, answer, patience_ms, line);
}

static int missing(const char *line, const char *key)
{
    return err(MPI_ERR_OTHER, "there is no valid %s in the answer '%.200s'", key, line);
}

/* --- connecting --- */

/* The host of a port is this one, by whatever name. */
static bool is_here(const char *host, struct in_addr *address)
{
    char name[NAME_SIZE] = "";

    if (inet_pton(AF_INET, host, address) == 1)
        return true;
    gethostname(name, sizeof name - 1);
    name[strcspn(name, ".")] = 0;
    address->s_addr = htonl(INADDR_LOOPBACK);
    return !strcmp(host, "localhost") ||
           (*name && !strncmp(host, name, strlen(name)) && (host[strlen(name)] == '.' || !host[strlen(name)]));
}

static int connect_port(struct pmi1 *pmi, const char *port)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    const char *colon = strrchr(port, ':');
    const long number = colon ? strtol(colon + 1, NULL, 10) : 0;
    char host[NAME_SIZE];

    if (!colon || colon == port || number < 1 || number > 65535)
        return err(MPI_ERR_OTHER, "PMI_PORT=%.200s is not host:port", port);
    snprintf(host, sizeof host, "%.*s", (int)(colon - port), port);
    if (!is_here(host, &address.sin_addr))
        return err(MPI_ERR_OTHER, "PMI_PORT=%.200s is of another host than this", port);
    address.sin_port = htons((uint16_t)number);
    pmi->fd = descriptor_apart(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (pmi->fd < 0 || connect(pmi->fd, (const struct sockaddr *)&address, sizeof address))
        return err(MPI_ERR_OTHER, "cannot connect to PMI_PORT=%.200s: %s", port, strerror(errno));
    return 0;
}

/* One of the three lines after initack. */
static int expect_set(struct pmi1 *pmi, const char *key, int *number)
{
    const char *line;
    const int rc = expect(pmi, "cmd=initack", "set", PM_PATIENCE_MS, &line);

    return rc ? rc : pmi1_number(line, key, number) ? 0 : missing(line, key);
}

static int open_port(struct pmi1 *pmi, const char *port, struct pm_place *place)
{
    const char *line;
    int id, debug, rc;

    if (!variable_number("PMI_ID", 0, &id))
        return err(MPI_ERR_OTHER, "there is PMI_PORT=%.200s, but no valid PMI_ID beside it", port);
    rc = connect_port(pmi, port);
    if (!rc)
        rc = ask(pmi, PM_PATIENCE_MS, &line, "initack", "cmd=initack pmiid=%d", id);
    if (!rc)
        rc = expect_set(pmi, "size", &place->size);
    if (!rc)
        rc = expect_set(pmi, "rank", &place->rank);
    return rc ? rc : expect_set(pmi, "debug", &debug);
}

static int open_inherited(struct pmi1 *pmi, struct pm_place *place)
{
    int fd;

    if (!variable_number("PMI_FD", 0, &fd))
        return err(MPI_ERR_OTHER, "PMI_FD=%.50s is not a descriptor", getenv("PMI_FD"));
    if (!is_socket(fd)) /* somebody else's */
        return err(MPI_ERR_OTHER, "descriptor %d (PMI_FD) is not its connection: %s; a wrapper may have closed it", fd,
                   strerror(errno));
    pmi->fd = fd;
    fcntl(pmi->fd, F_SETFD, FD_CLOEXEC);
    if (!variable_number("PMI_RANK", 0, &place->rank) || !variable_number("PMI_SIZE", 1, &place->size))
        return err(MPI_ERR_OTHER, "there is PMI_FD=%d, but no valid PMI_RANK and PMI_SIZE beside it", pmi->fd);
    return 0;
}

/* --- coming up --- */

static int begin(struct pmi1 *pmi)
{
    const char *line;
    int version, failed = 0;
    int rc = ask(pmi, PM_PATIENCE_MS, &line, "response_to_init", "cmd=init pmi_version=1 pmi_subversion=1");

    if (rc)
        return rc;
    if (!pmi1_number(line, "pmi_version", &version))
        return missing(line, "pmi_version");
    if (version != 1 || (pmi1_number(line, "rc", &failed) && failed))
        return err(MPI_ERR_OTHER, "it speaks version %d of the protocol, this library version 1", version);
    rc = ask(pmi, PM_PATIENCE_MS, &line, "my_kvsname", "cmd=get_my_kvsname");
    if (!rc && (!pmi1_value(line, "kvsname", pmi->kvsname, sizeof pmi->kvsname) || !*pmi->kvsname))
        rc = missing(line, "kvsname");
    return rc;
}

/* A server that does not know one of these says so in a word of its own: then nothing is known. */
static int ask_number(struct pmi1 *pmi, const char *text, const char *key, int *number)
{
    const char *line;
    int rc = send_line(pmi, text);

    if (!rc)
        rc = read_line(pmi, text, PM_PATIENCE_MS, &line);
    if (!rc && (!pmi1_number(line, key, number) || *number < 0))
        *number = -1;
    return rc;
}

/* Are the values that we shall put of a length that it takes? */
static int check_maxes(struct pmi1 *pmi)
{
    const char *line;
    int key_max, value_max;
    const int rc = ask(pmi, PM_PATIENCE_MS, &line, "maxes", "cmd=get_maxes");

    if (rc)
        return rc;
    if (!pmi1_number(line, "keylen_max", &key_max) || !pmi1_number(line, "vallen_max", &value_max))
        return missing(line, "keylen_max and vallen_max");
    if (key_max < PM_KEY_SIZE || value_max < PM_VALUE_SIZE)
        return err(MPI_ERR_OTHER, "its keys and values have at most %d and %d bytes, %d and %d are needed", key_max,
                   value_max, PM_KEY_SIZE, PM_VALUE_SIZE);
    return 0;
}

static int start(void **state, struct pm_place *place)
{
    const bool is_inherited = getenv("PMI_FD") != NULL;
    struct pmi1 *pmi = mem_alloc(sizeof *pmi);
    int rc;

    if (!pmi)
        return err(MPI_ERR_OTHER, "no memory for the connection");
    *pmi = (struct pmi1){ .fd = -1 };
    *state = pmi;
    *place = (struct pm_place){ .size = 1, .appnum = -1, .universe_size = -1 };
    rc = is_inherited ? open_inherited(pmi, place) : open_port(pmi, getenv("PMI_PORT"), place);
    if (!rc && (place->size < 1 || place->rank < 0 || place->rank >= place->size))
        rc = err(MPI_ERR_OTHER, "it says that this is rank %d of %d", place->rank, place->size);
    if (!rc)
        rc = begin(pmi);
    if (!rc)
        rc = check_maxes(pmi);
    if (!rc)
        rc = ask_number(pmi, "cmd=get_appnum", "appnum", &place->appnum);
    return rc ? rc : ask_number(pmi, "cmd=get_universe_size", "size", &place->universe_size);
}

/* --- the common store --- */

static int put(void *state, const char *key, const char *value)
{
    struct pmi1 *pmi = state;
    const char *line;
    int failed;
    const int rc = ask(pmi, PM_PATIENCE_MS, &line, "put_result", "cmd=put kvsname=%s key=%s value=%s", pmi->kvsname,
                       key, value);

    if (rc)
        return rc;
    if (!pmi1_number(line, "rc", &failed) || failed)
        return err(MPI_ERR_OTHER, "it does not take key %s: '%.200s'", key, line);
    return 0;
}

/* The store has no owners. */
static int get(void *state, int owner, const char *key, char value[PM_VALUE_SIZE])
{
    struct pmi1 *pmi = state;
    const char *line;
    int failed;
    const int rc = ask(pmi, PM_PATIENCE_MS, &line, "get_result", "cmd=get kvsname=%s key=%s", pmi->kvsname, key);

    (void)owner;
    *value = 0;
    if (rc)
        return rc;
    if (!pmi1_number(line, "rc", &failed))
        return missing(line, "rc");
    if (!failed && !pmi1_value(line, "value", value, PM_VALUE_SIZE))
        return missing(line, "value");
    return 0;
}

static int fence(void *state)
{
    const char *line;

    return ask(state, FOREVER, &line, "barrier_out", "cmd=barrier_in");
}

/* The mapping of a large job may be longer than what else is got. */
static int nodes(void *state, int *node, int size)
{
    struct pmi1 *pmi = state;
    char value[LINE_SIZE];
    const char *line;
    int failed;
    const int rc = ask(pmi, PM_PATIENCE_MS, &line, "get_result", "cmd=get kvsname=%s key=PMI_process_mapping",
                       pmi->kvsname);

    for (int i = 0; i < size; i++)
        node[i] = -1;
    if (rc || !pmi1_number(line, "rc", &failed) || failed || !pmi1_value(line, "value", value, sizeof value) || !*value)
        return rc;
    return pmi1_mapping(value, node, size)
               ? 0
               : err(MPI_ERR_OTHER, "PMI_process_mapping is '%.200s', which this library does not understand", value);
}

/* --- ends --- */

static int lifeline(void *state)
{
    return ((const struct pmi1 *)state)->fd;
}

static void abort_job(void *state, int code)
{
    struct pmi1 *pmi = state;
    char text[48];
    const int length = snprintf(text, sizeof text, "cmd=abort exitcode=%d\n", code);

    if (pmi && pmi->fd >= 0)
        (void)send(pmi->fd, text, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT); /* our end says the rest */
}

static void finalize(void *state)
{
    const char *line;

    (void)ask(state, FINALIZE_MS, &line, "finalize_ack", "cmd=finalize"); /* nobody to tell of a failure */
    close_connection(state);
}

static void forked(void *state)
{
    if (state)
        close_connection(state);
}

static void end(void *state)
{
    if (state)
        close_connection(state);
    mem_free(state);
}

const struct pm_protocol pmi1_protocol = {
    .name = "PMI-1",
    .is_offered = is_offered,
    .is_for_parent = is_for_parent,
    .start = start,
    .put = put,
    .get = get,
    .fence = fence,
    .nodes = nodes,
    .lifeline = lifeline,
    .abort = abort_job,
    .finalize = finalize,
    .forked = forked,
    .end = end,
};
