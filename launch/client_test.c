/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of mpiexec -client: labels out, and whether what comes back fits together. */
#include "client_labels.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"

enum { CLIENTS = 3, ROOM = 4096 };

/* Clients of 3, 2 and 2 processes, each on a host of its own but for the second, which has one host for both. */
static const int ports[] = { 1001, 1002, 1003 };

static struct labels_own own_of(int client)
{
    struct labels_own own = { .procs = client ? 2 : 3, .ports = ports, .first_pid = 1000 * ((uint64_t)client + 1),
                              .maxlen = 65536, .ackmark = 10, .hiwater = 20, .tag_ub = INT32_MAX, .xsize = -1,
                              .maxlinear = -1 };

    own.address[12] = 127;
    own.address[15] = (unsigned char)(client + 1);
    return own;
}

static struct labels labels;
static unsigned char answers[IMPI_LABELS][ROOM];
static size_t sizes[IMPI_LABELS];

static int place_of(uint32_t label)
{
    int at = 0;

    while (labels_number(at) != label)
        at++;
    return at;
}

/* What the server sends, before a test changes it. */
static void make_answers(void)
{
    for (int at = 0; at < IMPI_LABELS; at++) {
        sizes[at] = 0;
        for (int client = 0; client < CLIENTS; client++) {
            const struct labels_own own = own_of(client);

            labels_write(at, &own, answers[at] + sizes[at]);
            sizes[at] += labels_size(at, &own);
        }
    }
}

static void take_answers(void)
{
    labels_free(&labels);
    for (int at = 0; at < IMPI_LABELS; at++)
        CHECK(labels_take(&labels, labels_number(at), 7, answers[at], sizes[at]));
}

/* With the number at `where` of a label changed. */
static void expect_refusal(uint32_t label, size_t where, uint32_t value, const char *part)
{
    const int at = place_of(label);
    char why[LABELS_WHY] = "";

    make_answers();
    impi_put4(answers[at] + 4 * where, value);
    take_answers();
    CHECK(!labels_join(&labels, CLIENTS, 1, why));
    if (!strstr(why, part))
        fprintf(stderr, "'%s' is not in '%s'\n", part, why);
    CHECK(strstr(why, part));
}

static void test_bytes(void)
{
    static const unsigned char pid[] = { 0, 0, 0, 0, 0, 0, 0x07, 0xd0, 0, 0, 0, 0, 0, 0, 0x07, 0xd1 };
    static const unsigned char port[] = { 0, 0, 0x03, 0xe9, 0, 0, 0x03, 0xea };
    static const unsigned char address[16] = { [12] = 127, [15] = 2 };
    const struct labels_own own = own_of(1);
    unsigned char bytes[64];

    CHECK_INT(labels_size(place_of(IMPI_P_PID), &own), 16);
    labels_write(place_of(IMPI_P_PID), &own, bytes);
    CHECK(!memcmp(bytes, pid, 16));
    CHECK_INT(labels_size(place_of(IMPI_H_PORT), &own), 8);
    labels_write(place_of(IMPI_H_PORT), &own, bytes);
    CHECK(!memcmp(bytes, port, 8));
    labels_write(place_of(IMPI_H_IPV6), &own, bytes);
    CHECK(!memcmp(bytes, address, 16) && !memcmp(bytes + 16, address, 16));
    CHECK_INT(labels_size(place_of(IMPI_C_VERSION), &own), 8);
    labels_write(place_of(IMPI_C_COLL_XSIZE), &own, bytes);
    CHECK_INT((int)impi_get4(bytes), -1);
    for (int at = 1; at < IMPI_LABELS; at++)
        CHECK(labels_number(at) > labels_number(at - 1));
}

static void test_join(void)
{
    char why[LABELS_WHY];
    struct joint *joint;

    make_answers();
    impi_put4(answers[place_of(IMPI_H_ACKMARK)] + 16, 3);
    impi_put4(answers[place_of(IMPI_C_DATALEN)], 100);
    impi_put4(answers[place_of(IMPI_C_TAGUB)] + 8, 40000);
    impi_put4(answers[place_of(IMPI_C_COLL_MAXLINEAR)] + 4, IMPI_MAXLINEAR);
    take_answers();
    CHECK(labels_take(&labels, 0x4000, 7, "later", 5)); /* not known: skipped */
    CHECK(labels_take(&labels, IMPI_C_NHOSTS, 0, "", 0)); /* a second one */
    joint = labels_join(&labels, CLIENTS, 1, why);
    CHECK(joint && joint->clients == 3 && joint->hosts == 7 && joint->procs == 7 && joint->client == 1);
    CHECK(joint->first == 3 && joint->count == 2 && joint->maxlen == 100 && joint->tag_ub == 40000);
    CHECK(joint->ackmark == 3 && joint->hiwater == 20 && joint->xsize == 1024 && joint->maxlinear == 4);
    CHECK_INT(joint_client(joint, 2)->first_rank, 5);
    CHECK_INT(joint_client(joint, 2)->first_host, 5);
    CHECK_INT(joint_host(joint, 4)->port, 1002);
    CHECK_INT(joint_host(joint, 4)->first_rank, 4);
    CHECK_INT(joint_proc(joint, 6)->client, 2);
    CHECK_INT(joint_find(joint, joint_proc(joint, 6)->name), 6);
    mem_free(joint);
}

/* A client with one host for two processes. */
static void test_relay(void)
{
    const int nprocs = place_of(IMPI_H_NPROCS), addresses = place_of(IMPI_H_IPV6);
    char why[LABELS_WHY];
    struct joint *joint;

    make_answers();
    impi_put4(answers[place_of(IMPI_C_NHOSTS)] + 8, 1);
    impi_put4(answers[nprocs] + 20, 2);
    for (int at = 0; at < IMPI_LABELS; at++)
        sizes[at] -= at >= addresses && labels_number(at) < IMPI_P_IPV6 ? sizes[at] / 7 : 0;
    take_answers();
    joint = labels_join(&labels, CLIENTS, 0, why);
    CHECK(joint && joint->hosts == 6 && joint_host(joint, 5)->procs == 2 && joint_proc(joint, 6)->host == 5);
    mem_free(joint);
}

static void test_refusals(void)
{
    char why[LABELS_WHY];

    expect_refusal(IMPI_C_VERSION, 3, 1, "2 of 3 clients speak version 0.0");
    expect_refusal(IMPI_C_NHOSTS, 1, 0, "C_NHOSTS of client 1 is 0");
    expect_refusal(IMPI_C_NPROCS, 1, UINT32_MAX, "at most 65536");
    expect_refusal(IMPI_C_NPROCS, 1, 3, "P_IPV6 has 112 bytes, 8 elements of 16");
    expect_refusal(IMPI_C_DATALEN, 2, 0, "C_DATALEN");
    expect_refusal(IMPI_C_TAGUB, 1, 100, "C_TAGUB of client 1 is 100");
    expect_refusal(IMPI_C_TAGUB, 1, UINT32_MAX, "C_TAGUB of client 1 is -1");
    expect_refusal(IMPI_C_COLL_XSIZE, 2, 1000, "C_COLL_XSIZE is 1024 for client 0 and 1000 for client 2");
    expect_refusal(IMPI_C_COLL_MAXLINEAR, 0, (uint32_t)-2, "C_COLL_MAXLINEAR of client 0 is -2");
    expect_refusal(IMPI_H_PORT, 6, 65536, "H_PORT of host 6");
    expect_refusal(IMPI_H_NPROCS, 0, 0, "the hosts of client 0 have 2 processes, and it has 3");
    expect_refusal(IMPI_H_NPROCS, 1, UINT32_MAX, "more processes than its 3");
    expect_refusal(IMPI_H_ACKMARK, 1, 0, "H_ACKMARK is 0");
    expect_refusal(IMPI_H_HIWATER, 1, 9, "H_HIWATER 9");
    expect_refusal(IMPI_P_PID, 1, 1001, "rank 1 has the same name");
    make_answers();
    sizes[place_of(IMPI_H_PORT)] -= 4;
    take_answers();
    CHECK(!labels_join(&labels, CLIENTS, 1, why) && strstr(why, "H_PORT has 24 bytes, 7 elements of 4"));
    CHECK(!labels_join(&labels, 4, 1, why) && strstr(why, "mask 0x7, and it must be 0xf"));
    labels_free(&labels);
    CHECK(!labels_join(&labels, CLIENTS, 1, why) && strstr(why, "C_VERSION"));
    CHECK(!labels_take(&labels, IMPI_H_PORT, 7, "", LABELS_REPLY_MAX + 1));
    mem_fail_after(0);
    CHECK(!labels_take(&labels, IMPI_H_PORT, 7, "", 0));
    mem_fail_after(-1);
    make_answers();
    take_answers();
    mem_fail_after(0);
    CHECK(!labels_join(&labels, CLIENTS, 1, why) && strstr(why, "no memory"));
    mem_fail_after(-1);
}

int main(void)
{
    test_bytes();
    test_join();
    test_relay();
    test_refusals();
    labels_free(&labels);
    return 0;
}
