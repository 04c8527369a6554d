/* SPDX-License-Identifier: BSD-3-Clause */
/* A libpmix for tests: the processes of a job share the file that FAKE_PMIX names, which holds a struct fake_job of
 * pm/pmix_fake.h. */
#include "pm/pmix_fake.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FAILED = -1, NOT_FOUND = -46 };

static struct fake_job *job;
static uint32_t own_rank;
static pmx_event *handler;

static bool is_quirk(const char *quirk)
{
    return !strcmp(job->quirk, quirk);
}

int PMIx_Init(struct pmx_proc *self, struct pmx_info *info, size_t count)
{
    const int fd = open(getenv("FAKE_PMIX"), O_RDWR | O_CLOEXEC);

    (void)info, (void)count;
    if (fd < 0)
        return FAILED;
    job = mmap(NULL, sizeof *job, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (job == MAP_FAILED || is_quirk("init"))
        return FAILED;
    memset(self, 0, sizeof *self);
    own_rank = self->rank = (uint32_t)atoi(getenv("PMIX_RANK"));
    snprintf(self->nspace, sizeof self->nspace, "%s", is_quirk("alone") ? "singleton" : getenv("PMIX_NAMESPACE"));
    return PMX_SUCCESS;
}

int PMIx_Finalize(const struct pmx_info *info, size_t count)
{
    (void)info, (void)count;
    atomic_fetch_add(&job->finalized, 1);
    return PMX_SUCCESS;
}

int PMIx_Abort(int status, const char *message, struct pmx_proc *procs, size_t count)
{
    (void)message, (void)procs, (void)count;
    atomic_store(&job->aborted, status);
    return PMX_SUCCESS;
}

int PMIx_Put(uint8_t scope, const char *key, struct pmx_value *value)
{
    struct fake_entry *entry = &job->entry[atomic_fetch_add(&job->reserved, 1)];

    if (is_quirk("put"))
        return FAILED;
    entry->is_put = scope == PMX_GLOBAL && value->type == PMX_STRING;
    entry->rank = own_rank;
    snprintf(entry->key, sizeof entry->key, "%s", key);
    snprintf(entry->value, sizeof entry->value, "%s", value->data.string);
    return PMX_SUCCESS;
}

/* From here on others find it. */
int PMIx_Commit(void)
{
    for (int i = 0; i < FAKE_ENTRIES; i++)
        if (job->entry[i].is_put && job->entry[i].rank == own_rank)
            atomic_store(&job->entry[i].is_known, true);
    return PMX_SUCCESS;
}

int PMIx_Fence(const struct pmx_proc *procs, size_t proc_count, const struct pmx_info *info, size_t count)
{
    const int round = atomic_load(&job->round);

    (void)procs, (void)proc_count;
    if (is_quirk("fence") || count != 1 || strcmp(info->key, PMX_COLLECT) != 0 || !info->value.data.flag)
        return FAILED;
    if (atomic_fetch_add(&job->waiting, 1) + 1 == job->size) {
        atomic_store(&job->waiting, 0);
        atomic_fetch_add(&job->round, 1);
    }
    while (atomic_load(&job->round) == round)
        usleep(200);
    return PMX_SUCCESS;
}

static int give(struct pmx_value **value, struct pmx_value what)
{
    *value = malloc(sizeof what);
    **value = what;
    return PMX_SUCCESS;
}

static int give_number(struct pmx_value **value, int number)
{
    return give(value, (struct pmx_value){ .type = PMX_UINT32, .data.uint32 = (uint32_t)number });
}

static int give_text(struct pmx_value **value, const char *text)
{
    return give(value, (struct pmx_value){ .type = PMX_STRING, .data.string = strdup(text) });
}

int PMIx_Get(const struct pmx_proc *proc, const char *key, const struct pmx_info *info, size_t count,
             struct pmx_value **value)
{
    char host[24];

    (void)info, (void)count;
    if (!strcmp(key, PMX_JOB_SIZE) && proc->rank == PMX_RANK_ALL && !is_quirk("size"))
        return is_quirk("text") ? give_text(value, "4") : give_number(value, job->size);
    if (!strcmp(key, PMX_HOSTNAME) && job->per_node && !(is_quirk("part") && proc->rank)) {
        snprintf(host, sizeof host, "node%d", (int)proc->rank / job->per_node);
        return give_text(value, host);
    }
    if (!strcmp(key, PMX_APPNUM) && proc->rank == own_rank) /* an int by some, an unsigned one by others */
        return give(value, (struct pmx_value){ .type = own_rank % 2 ? PMX_INT : PMX_UINT32, .data.integer = 3 });
    for (int i = 0; i < FAKE_ENTRIES; i++)
        if (atomic_load(&job->entry[i].is_known) && job->entry[i].rank == proc->rank &&
            !strcmp(job->entry[i].key, key))
            return is_quirk("number") ? give_number(value, 1) : give_text(value, job->entry[i].value);
    return NOT_FOUND;
}

static void *lose(void *arg)
{
    usleep(20000);
    handler(0, PMX_LOST_CONNECTION, NULL, NULL, 0, NULL, 0, NULL, NULL);
    return arg;
}

int PMIx_Register_event_handler(int *codes, size_t code_count, struct pmx_info *info, size_t count, pmx_event *event,
                                void (*registered)(int status, size_t id, void *arg), void *arg)
{
    pthread_t thread;

    (void)info, (void)count, (void)registered, (void)arg;
    if (is_quirk("event") || code_count != 1 || *codes != PMX_LOST_CONNECTION)
        return FAILED;
    handler = event;
    return is_quirk("lost") && pthread_create(&thread, NULL, lose, NULL) ? FAILED : 0;
}

const char *PMIx_Error_string(int status)
{
    return status == FAILED ? "made to fail" : "other";
}
