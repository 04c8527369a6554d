/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Starting threads with small stacks: a default one may be of any size, and all of it is locked in memory
 * where the program has asked for that. */
#include "sys/thread.h"

#include <link.h>
#include <signal.h>

static int add_variables(struct dl_phdr_info *object, size_t size, void *arg)
{
    size_t *sum = arg;

    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_TLS)
            *sum += object->dlpi_phdr[i].p_memsz + object->dlpi_phdr[i].p_align;
    return 0;
}

bool thread_start(pthread_t *thread, const char *name, size_t stack, void *(*body)(void *arg))
{
    pthread_attr_t attr;
    sigset_t all, before;
    bool is_there;

    if (pthread_attr_init(&attr))
        return false;
    dl_iterate_phdr(add_variables, &stack);
    pthread_attr_setstacksize(&attr, stack);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    is_there = !pthread_create(thread, &attr, body, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (is_there)
        pthread_setname_np(*thread, name);
    pthread_attr_destroy(&attr);
    return is_there;
}
