/* SPDX-License-Identifier: BSD-3-Clause */
/* What the server of an IMPI job gives back by labels: it may be of any implementation, and tells what clients of any
 * have said. Each label is two bytes of length and so many bytes, in the order of labels; the first byte of all says
 * how many clients there are, and which of them this is. Where that makes a table, all in it is within it. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "client_labels.h"
#include "fuzz.h"

static void check_table(const struct joint *joint, uint32_t clients)
{
    uint32_t procs = 0;

    MUST(joint->clients == clients && joint->client < clients && joint->hosts >= clients && joint->maxlen);
    MUST(joint->ackmark && joint->ackmark <= joint->hiwater && joint->tag_ub >= IMPI_TAGUB_LEAST);
    MUST(joint->xsize >= 0 && joint->maxlinear >= 0 && joint->first + joint->count <= joint->procs);
    for (int i = 0; i < (int)joint->hosts; i++) {
        const struct joint_host *host = joint_host(joint, i);

        MUST(host->client < clients && host->port && host->port < 65536 && host->first_rank == procs);
        procs += host->procs;
    }
    MUST(procs == joint->procs);
    for (int rank = 0; rank < (int)procs; rank++) {
        const struct joint_proc *proc = joint_proc(joint, rank);

        MUST(proc->host < joint->hosts && proc->client < clients && joint_find(joint, proc->name) == rank);
        MUST(joint_host(joint, (int)proc->host)->client == proc->client);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *at = data + 1, *const end = data + size;
    const int clients = size ? data[0] % 8 + 1 : 1, client = size ? data[0] / 8 % clients : 0;
    const uint32_t all = UINT32_MAX >> (32 - clients);
    struct labels labels = { 0 };
    char why[LABELS_WHY] = "";
    struct joint *joint;

    for (int label = 0; label < IMPI_LABELS && end - at >= 2; label++) {
        const size_t said = (size_t)at[0] << 8 | at[1], left = (size_t)(end - at - 2), len = said < left ? said : left;
        char *copy = mem_alloc(len + 1); /* of exactly that size, but for 0 */

        MUST(copy);
        memcpy(copy, at + 2, len);
        MUST(labels_take(&labels, labels_number(label), said > 60000 ? (uint32_t)said : all, copy, len));
        mem_free(copy);
        at += 2 + len;
    }
    joint = labels_join(&labels, clients, client, why);
    MUST(joint || strlen(why) > 0);
    if (joint)
        check_table(joint, (uint32_t)clients);
    mem_free(joint);
    labels_free(&labels);
    return 0;
}
