/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: init. What the library tells the user through the launcher: unasked, that somebody floods this process, or that
 * another client of IMPI is gone; at the end, with PARLEY_COUNTERS, the counters, and with PARLEY_EXPLAIN_PROTOCOL
 * which way messages took. */
#include <stdatomic.h>
#include <stdio.h>

#include "base/setting.h"
#include "init/init.h"
#include "init/int_init.h"
#include "obj/comm.h"
#include "p2p/counters.h"
#include "p2p/explain.h"
#include "sys/callsite.h"
#include "type/type.h"

enum { MISMATCHES_TOLD = 10 }; /* by a process */

static struct setting warn = {
    .name = "WARN",
    .help = "tell of what is legal and yet seldom meant",
    .topic = "reports",
    .kind = SETTING_BOOL,
    .value = 1,
    .any_time = true,
};
SETTING_LISTED(warn);

static struct setting counters = {
    .name = "COUNTERS",
    .help = "print each rank's counters when it leaves MPI",
    .topic = "reports",
    .kind = SETTING_BOOL,
    .any_time = true,
};
SETTING_LISTED(counters);

static struct setting explain = {
    .name = "EXPLAIN_PROTOCOL",
    .help = "say when a rank leaves MPI by which protocol messages of which size came to it, and why",
    .topic = "reports",
    .kind = SETTING_BOOL,
    .any_time = true,
};
SETTING_LISTED(explain);

static struct setting check = {
    .name = "CHECK",
    .help = "compare the elements of each message with those that its receive asks for",
    .topic = "reports",
    .kind = SETTING_BOOL,
};
SETTING_LISTED(check);

/* In the units of a setting. */
static void write_bytes(size_t bytes, char *text, size_t size)
{
    if (bytes < 1 << 20)
        snprintf(text, size, "%.1f KB", (double)bytes / (1 << 10));
    else
        snprintf(text, size, "%.1f MB", (double)bytes / (1 << 20));
}

static const char *comm_name(const struct p2p_flood *flood, char label[COMM_LABEL_SIZE])
{
    return flood->comm ? obj_comm_label(flood->comm, label) : "a communicator that is not known here yet";
}

void notice_flooded(const struct p2p_flood *flood)
{
    const struct joint *joint = process.job.joint;
    const int sender = joint ? joint_rank(joint, flood->proc) : flood->proc;
    char what[64] = "of a collective operation", held[32], limit[32], text[PM_TEXT_MAX], label[COMM_LABEL_SIZE];
    char then[80] = "It is of another client of IMPI, which cannot be told to wait.";

    if (!warn.value)
        return;
    if (!flood->is_coll)
        snprintf(what, sizeof what, "with tag %d", flood->tag);
    if (!joint || joint_is_own(joint, sender))
        snprintf(then, sizeof then, "From now on rank %d keeps its data until it is received.", sender);
    write_bytes(flood->held, held, sizeof held);
    write_bytes(flood->limit, limit, sizeof limit);
    snprintf(text, sizeof text,
             "E0401: keeps %s of messages from rank %d that nobody has received (PARLEY_UNEXPECTED_MAX is %s for all "
             "senders); the last one: %zu bytes, %s, on %s. %s\n"
             "Receive earlier, or let the sender wait for an answer now and then. PARLEY_UNEXPECTED_MAX sets the "
             "limit, PARLEY_WARN=0 silences this.",
             held, sender, limit, flood->len, what, comm_name(flood, label), then);
    pm_diagnose(&process.job, text);
}

void notice_broken(int class, const char *text)
{
    init_abort(class, text, callsite_find());
}

bool notice_is_checking(void)
{
    return check.value;
}

void notice_mismatched(const struct p2p_mismatch *m)
{
    static _Atomic int told;
    const char *sent = type_name_of_signature(m->signature);
    char text[PM_TEXT_MAX], label[COMM_LABEL_SIZE], type[TYPE_TEXT_MAX];

    if (atomic_fetch_add_explicit(&told, 1, memory_order_relaxed) >= MISMATCHES_TOLD)
        return;
    type_describe(m->type, type);
    snprintf(text, sizeof text,
             "E0402: a message from rank %d, tag %d, on %s, %zu bytes, was sent as %s%s and is received as %zu x %s",
             m->source, m->tag, obj_comm_label(m->comm, label), m->len, sent ? "elements like " : "other elements",
             sent ? sent : "", m->len / (size_t)m->type->size, type);
    pm_diagnose(&process.job, text);
}

void notice_threads(void)
{
    static _Atomic int told;
    char text[PM_TEXT_MAX];

    if (atomic_exchange_explicit(&told, 1, memory_order_relaxed))
        return;
    snprintf(text, sizeof text,
             "E0305: two threads wait in MPI at the same time, though the program has asked for %s only: nothing "
             "guards them from each other, so messages may be lost and the program may crash\n"
             "ask for MPI_THREAD_MULTIPLE in MPI_Init_thread; PARLEY_THREAD_MULTIPLE=1 does it for a program as it is",
             init_level_name(process.thread_level));
    pm_diagnose(&process.job, text);
}

void notice_counters(void)
{
    struct p2p_counters c;
    char text[PM_TEXT_MAX], device[256] = "";

    if (!counters.value)
        return;
    p2p_counters(&c);
    if (c.device_posted)
        snprintf(device, sizeof device,
                 "\nreceives in the device %11llu   matched there %llu, taken back %llu; kept by the software %llu",
                 (unsigned long long)c.device_posted, (unsigned long long)c.device_taken,
                 (unsigned long long)c.device_raced, (unsigned long long)c.device_spilled);
    snprintf(text, sizeof text,
             "counters\n"
             "unexpected messages   %12llu   most at a time %llu, left %llu\n"
             "their memory, bytes   %12llu   left %llu\n"
             "senders throttled     %12llu   held back %llu, let go because somebody waited %llu\n"
             "deepest queues        %12llu   receives, %llu messages; entries passed in vain %llu%s",
             (unsigned long long)c.unexpected, (unsigned long long)c.unexpected_high,
             (unsigned long long)c.unexpected_now, (unsigned long long)c.bytes_high,
             (unsigned long long)c.bytes_now, (unsigned long long)c.throttles, (unsigned long long)c.holds,
             (unsigned long long)c.hungers, (unsigned long long)c.posted_high,
             (unsigned long long)c.arrivals_high, (unsigned long long)c.walked, device);
    pm_diagnose(&process.job, text);
}

void notice_protocols(void)
{
    char text[PM_TEXT_MAX], way[PM_TEXT_MAX / 2];

    for (int proc = 0; explain.value && proc < process.job.size; proc++) {
        if (!p2p_explain(proc, way, sizeof way))
            continue;
        snprintf(text, sizeof text, "messages from rank %d, by their bytes%s", proc, way);
        pm_diagnose(&process.job, text);
    }
}
