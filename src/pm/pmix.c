/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: pm. A client of PMIx, which Open MPI's mpirun, prterun, srun --mpi=pmix and jsrun offer. There is no protocol
 * on the wire to be spoken, only a library that belongs to the launcher: it is opened by name when the environment says
 * PMIx. It has threads of its own, and no descriptor that we could watch: it tells us of the launcher's end (ended).
 *
 * Abort may come at any time, out of signal handlers as well, and the library takes locks. So a thread of ours waits
 * for that, and who aborts writes to a pipe. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/setting.h"
#include "pm/int_pm.h"
#include "pm/pmix_abi.h"
#include "sys/descriptor.h"
#include "sys/thread.h"

enum { ABORT_MS = 2000, ABORT_STACK = 131072 };

static struct setting library_setting = {
    .name = "PMIX_LIBRARY",
    .help = "libpmix's file, for launchers that offer PMIx",
    .topic = "processes",
    .kind = SETTING_TEXT,
    .text = "libpmix.so.2",
};
SETTING_LISTED(library_setting);

struct pmix {
    struct pmx_library library;
    struct pmx_proc self;
    int asked[2], answered[2]; /* pipes to the thread that aborts, and back */
    pthread_t thread;
    bool has_thread;
};

/* What the thread that aborts works for. */
static struct pmix *aborting;

/* Told by the library in a thread of its own, and at any time: nobody's end is of interest once we have left. */
static _Atomic bool is_guarded;

static bool is_offered(void)
{
    static const char *const servers[] = { "PMIX_SERVER_URI",   "PMIX_SERVER_URI2", "PMIX_SERVER_URI21",
                                           "PMIX_SERVER_URI3",  "PMIX_SERVER_URI4", "PMIX_SERVER_URI41",
                                           "PMIX_SERVER_URI5" };

    if (!getenv("PMIX_NAMESPACE") || !getenv("PMIX_RANK"))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(servers); i++)
        if (getenv(servers[i]))
            return true;
    return false;
}

/* What a rank starts has the rank's variables. */
static bool is_for_parent(void)
{
    char text[PMX_NSPACE_SIZE + 32];

    snprintf(text, sizeof text, "PMIX_NAMESPACE=%.*s", PMX_NSPACE_SIZE, getenv("PMIX_NAMESPACE"));
    return pm_is_child_of_rank(text);
}

/* --- the library --- */

/* One function into the table, whatever its type. */
static bool find(void *handle, const char *name, void *place)
{
    void *const function = dlsym(handle, name);

    memcpy(place, &function, sizeof function);
    return function != NULL;
}

static int open_library(struct pmx_library *library)
{
    int rc = setting_read(&library_setting);
    void *handle;

    if (rc)
        return rc;
    handle = dlopen(library_setting.text, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return err(MPI_ERR_OTHER, "its library cannot be opened (%s); PARLEY_PMIX_LIBRARY may name its file",
                   dlerror());
    if (find(handle, "PMIx_Init", &library->init) && find(handle, "PMIx_Finalize", &library->finalize) &&
        find(handle, "PMIx_Abort", &library->abort) && find(handle, "PMIx_Put", &library->put) &&
        find(handle, "PMIx_Commit", &library->commit) && find(handle, "PMIx_Fence", &library->fence) &&
        find(handle, "PMIx_Get", &library->get) &&
        find(handle, "PMIx_Register_event_handler", &library->on_event) &&
        find(handle, "PMIx_Error_string", &library->error_string) && find(RTLD_DEFAULT, "free", &library->free))
        return 0;
    return err(MPI_ERR_OTHER, "%s is no library of PMIx", library_setting.text);
}

static int failed(const struct pmix *pmix, const char *what, int status)
{
    return err(MPI_ERR_OTHER, "%s: %s (%d)", what, pmix->library.error_string(status), status);
}

static struct pmx_info flag_of(const char *key)
{
    struct pmx_info info = { .value = { .type = PMX_BOOL, .data.flag = true } };

    snprintf(info.key, sizeof info.key, "%s", key);
    return info;
}

/* What is known of that rank under `key`; NULL: nothing. */
static struct pmx_value *look_up(const struct pmix *pmix, uint32_t rank, const char *key)
{
    const struct pmx_info now = flag_of(PMX_IMMEDIATE);
    struct pmx_proc proc = pmix->self;
    struct pmx_value *value = NULL;

    proc.rank = rank;
    return pmix->library.get(&proc, key, &now, 1, &value) == PMX_SUCCESS ? value : NULL;
}

static void value_free(const struct pmix *pmix, struct pmx_value *value)
{
    if (value && value->type == PMX_STRING)
        pmix->library.free(value->data.string);
    pmix->library.free(value);
}

/* False: it is not known, or no such number. */
static bool look_up_number(const struct pmix *pmix, uint32_t rank, const char *key, int *number)
{
    struct pmx_value *value = look_up(pmix, rank, key);
    const bool is_number = value && (value->type == PMX_UINT32 || value->type == PMX_INT) && value->data.integer >= 0;

    if (is_number)
        *number = value->data.integer;
    value_free(pmix, value);
    return is_number;
}

/* --- ends --- */

/* The connection to the launcher has ended. */
static void ended(size_t id, int status, const struct pmx_proc *source, struct pmx_info *info, size_t count,
                  struct pmx_info *results, size_t result_count, pmx_event_done *done, void *arg)
{
    (void)id, (void)source, (void)info, (void)count, (void)results, (void)result_count;
    if (status == PMX_LOST_CONNECTION && atomic_load(&is_guarded))
        kill(getpid(), SIGKILL);
    if (done)
        done(PMX_SUCCESS, NULL, 0, NULL, NULL, arg);
}

static void *wait_for_abort(void *arg)
{
    const struct pmix *pmix = aborting;
    int code;

    if (read(pmix->asked[0], &code, sizeof code) != sizeof code)
        return arg;
    (void)pmix->library.abort(code, NULL, NULL, 0);
    (void)!write(pmix->answered[1], &code, sizeof code);
    return arg;
}

static int open_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC))
        return err(MPI_ERR_OTHER, "no pipe: %s", strerror(errno));
    for (int i = 0; i < 2; i++)
        ends[i] = descriptor_apart(ends[i]);
    return 0;
}

static int start_thread(struct pmix *pmix)
{
    int rc = open_pipe(pmix->asked);

    if (!rc)
        rc = open_pipe(pmix->answered);
    if (rc)
        return rc;
    aborting = pmix;
    pmix->has_thread = thread_start(&pmix->thread, "parley-abort", ABORT_STACK, wait_for_abort);
    return pmix->has_thread ? 0 : err(MPI_ERR_OTHER, "no thread that would tell of an abort");
}

static void close_pipe(int ends[2])
{
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0)
            close(ends[i]);
        ends[i] = -1;
    }
}

static void stop_thread(struct pmix *pmix)
{
    if (pmix->asked[1] >= 0)
        close(pmix->asked[1]); /* what it reads from ends */
    pmix->asked[1] = -1;
    if (pmix->has_thread)
        pthread_join(pmix->thread, NULL);
    pmix->has_thread = false;
    close_pipe(pmix->asked);
    close_pipe(pmix->answered);
}

/* --- coming up --- */

/* The library takes itself for a process alone where it finds nobody; that must not happen here. */
static int check_self(const struct pmix *pmix)
{
    const char *nspace = getenv("PMIX_NAMESPACE"), *rank = getenv("PMIX_RANK");

    if (strcmp(pmix->self.nspace, nspace) == 0 && pmix->self.rank == strtoul(rank, NULL, 10))
        return 0;
    return err(MPI_ERR_OTHER,
               "its library says that this is rank %u of '%.100s', the environment rank %.20s of '%.100s'",
               pmix->self.rank, pmix->self.nspace, rank, nspace);
}

static int learn_place(const struct pmix *pmix, struct pm_place *place)
{
    const int rc = check_self(pmix);

    if (rc)
        return rc;
    if (!look_up_number(pmix, PMX_RANK_ALL, PMX_JOB_SIZE, &place->size))
        return err(MPI_ERR_OTHER, "it does not tell how many processes there are (" PMX_JOB_SIZE ")");
    if (place->size < 1 || pmix->self.rank >= (uint32_t)place->size)
        return err(MPI_ERR_OTHER, "it says that this is rank %u of %d", pmix->self.rank, place->size);
    place->rank = (int)pmix->self.rank;
    (void)look_up_number(pmix, pmix->self.rank, PMX_APPNUM, &place->appnum);
    (void)look_up_number(pmix, PMX_RANK_ALL, PMX_UNIV_SIZE, &place->universe_size);
    return 0;
}

static int begin(struct pmix *pmix, struct pm_place *place)
{
    int lost = PMX_LOST_CONNECTION, status = pmix->library.init(&pmix->self, NULL, 0), rc;

    if (status != PMX_SUCCESS)
        return failed(pmix, "its server cannot be reached", status);
    rc = learn_place(pmix, place);
    if (rc || place->size == 1)
        return rc;
    atomic_store(&is_guarded, true);
    status = pmix->library.on_event(&lost, 1, NULL, 0, ended, NULL, NULL);
    return status < 0 ? failed(pmix, "it does not tell of its end", status) : start_thread(pmix);
}

/* A process alone needs nobody: it has been there, and may end as it likes. */
static void leave_alone(struct pmix *pmix, void **state)
{
    (void)pmix->library.finalize(NULL, 0);
    mem_free(pmix);
    *state = NULL;
}

static int start(void **state, struct pm_place *place)
{
    struct pmix *pmix = mem_zalloc(sizeof *pmix);
    sigset_t all, before;
    int rc;

    if (!pmix)
        return err(MPI_ERR_OTHER, "no memory for the connection");
    pmix->asked[0] = pmix->asked[1] = pmix->answered[0] = pmix->answered[1] = -1;
    *state = pmix;
    *place = (struct pm_place){ .size = 1, .appnum = -1, .universe_size = -1 };
    rc = open_library(&pmix->library);
    if (rc) {
        mem_free(pmix);
        *state = NULL;
        return rc;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* for its threads */
    rc = begin(pmix, place);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!rc && place->size == 1)
        leave_alone(pmix, state);
    return rc;
}

/* --- the common store --- */

static int put(void *state, const char *key, const char *value)
{
    const struct pmix *pmix = state;
    struct pmx_value what = { .type = PMX_STRING, .data.string = (char *)(uintptr_t)value };
    const int status = pmix->library.put(PMX_GLOBAL, key, &what);

    return status == PMX_SUCCESS ? 0 : failed(pmix, "it takes nothing for the common store", status);
}

static int get(void *state, int owner, const char *key, char value[PM_VALUE_SIZE])
{
    const struct pmix *pmix = state;
    struct pmx_value *found = look_up(pmix, (uint32_t)owner, key);
    int rc = 0;

    *value = 0;
    if (found && found->type == PMX_STRING && found->data.string && strlen(found->data.string) < PM_VALUE_SIZE)
        memcpy(value, found->data.string, strlen(found->data.string) + 1);
    else if (found)
        rc = err(MPI_ERR_OTHER, "what it tells for key %s is no text of less than %d bytes", key, PM_VALUE_SIZE);
    value_free(pmix, found);
    return rc;
}

static int fence(void *state)
{
    const struct pmix *pmix = state;
    const struct pmx_info collect = flag_of(PMX_COLLECT);
    int status = pmix->library.commit();

    if (status == PMX_SUCCESS)
        status = pmix->library.fence(NULL, 0, &collect, 1);
    return status == PMX_SUCCESS ? 0 : failed(pmix, "the processes of the job do not meet", status);
}

/* Numbers of nodes are told of processes of the own node only, names of hosts of all. A node has the number of its
 * lowest rank here. */
static int nodes(void *state, int *node, int size)
{
    const struct pmix *pmix = state;
    struct pmx_value **host = mem_zalloc((size_t)size * sizeof(struct pmx_value *));
    bool is_told = true;

    if (!host)
        return err(MPI_ERR_OTHER, "no memory for the hosts of %d processes", size);
    for (int i = 0; i < size && is_told; i++) {
        host[i] = look_up(pmix, (uint32_t)i, PMX_HOSTNAME);
        is_told = host[i] && host[i]->type == PMX_STRING && host[i]->data.string;
        for (node[i] = 0; is_told && strcmp(host[node[i]]->data.string, host[i]->data.string) != 0;)
            node[i]++;
    }
    for (int i = 0; i < size; i++) {
        value_free(pmix, host[i]);
        node[i] = is_told ? node[i] : -1;
    }
    mem_free(host);
    return 0;
}

/* --- ends, as others see them --- */

static int lifeline(void *state)
{
    (void)state;
    return -1;
}

/* Only system calls. */
static void abort_job(void *state, int code)
{
    const struct pmix *pmix = state;
    struct pollfd answer = { .fd = pmix->answered[0], .events = POLLIN };

    atomic_store(&is_guarded, false);
    if (pmix->has_thread && write(pmix->asked[1], &code, sizeof code) == sizeof code)
        (void)poll(&answer, 1, ABORT_MS); /* our end says the rest */
}

static void finalize(void *state)
{
    struct pmix *pmix = state;

    atomic_store(&is_guarded, false);
    if (!pmix)
        return;
    stop_thread(pmix);
    (void)pmix->library.finalize(NULL, 0); /* nobody to tell of a failure */
}

static void forked(void *state)
{
    struct pmix *pmix = state;

    if (!pmix)
        return;
    pmix->has_thread = false; /* it is not here */
    close_pipe(pmix->asked);
    close_pipe(pmix->answered);
}

static void end(void *state)
{
    if (state)
        stop_thread(state);
    mem_free(state);
}

const struct pm_protocol pmix_protocol = {
    .name = "PMIx",
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
