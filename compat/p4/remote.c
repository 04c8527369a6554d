/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. Processes of other hosts. */
#include "p4/int_remote.h"

bool remote_is_gone(int id)
{
    (void)id;
    return true;
}

bool remote_is_unlike(int id)
{
    (void)id;
    return false;
}

int remote_send(int to, const struct envelope *e, const void *data, size_t len, void (*gone)(void *arg), void *arg)
{
    (void)to;
    (void)e;
    (void)data;
    (void)len;
    (void)gone;
    (void)arg;
    return -1;
}

bool remote_is_pending(void)
{
    return false;
}

void remote_give_up(void)
{
}
