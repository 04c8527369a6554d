/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of transport device: the conformance suite over a wrapped self, with messages that pass through and with
 * messages that the device matches or hands up; and what it says when there is no memory. */
#include "net/device/device.h"

#include "base/err.h"
#include "net/net_suite.h"
#include "net/self/self.h"

static bool is_odd;   /* records with an odd number are messages */

static bool is_message(struct net_head head, const void *payload, uint32_t len, struct model_arrival *out)
{
    *out = (struct model_arrival){ 0, head.word[1], payload, len };
    return is_odd && head.word[0] % 2;
}

static int taken(void *arg, unsigned slot, bool is_placed, int proc, struct net_head head, const void *payload,
                 uint32_t len)
{
    (void)slot, (void)is_placed;
    return suite_arrive(arg, proc, head, payload, len);
}

static void removed(void *arg, unsigned slot)
{
    (void)arg, (void)slot;
    CHECK(false);
}

int main(void)
{
    static struct suite_end end;
    static const struct device_user user = { is_message, taken, removed, &end };
    struct net_config config = { .proc = 2, .procs = 4, .inner = &self_ops, .device_user = &user };
    const long before = mem_live();

    for (int i = 0; i < 2; i++) {
        is_odd = i;
        suite_open(&end, &device_shm_ops, config, 2);
        net_suite(&end, &end);
        device_shm_ops.close(end.net);
        CHECK_INT(mem_live(), before);
    }
    for (int n = 0; n < 7; n++) {
        mem_fail_after(n);
        CHECK_INT(err_class(device_shm_ops.open(&config, &end.net)), MPI_ERR_NO_MEM);
        mem_fail_after(-1);
        CHECK_INT(mem_live(), before);
    }
    setenv("PARLEY_DEVICE_ENTRIES", "0", 1);
    CHECK_INT(err_class(device_shm_ops.open(&config, &end.net)), MPI_ERR_OTHER);
    return 0;
}
