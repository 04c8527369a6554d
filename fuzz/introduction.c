/* SPDX-License-Identifier: BSD-3-Clause */
/* What a group of another job tells of its processes (comm/meet.c) is the bytes. What is taken lies within them. */
#include <stdlib.h>
#include <string.h>

#include "comm/int_comm.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *const bytes = malloc(size + 1);
    struct comm_introduction read;

    memcpy(bytes, data, size);
    if (comm_read_introduction(bytes, size, &read)) {
        for (int i = 0; i < read.way_count; i++)
            MUST(strlen(read.ways[i].text) < COMM_WAY_SIZE);
        for (int i = 0; i < read.card_count; i++)
            MUST(read.cards[i].size <= sizeof read.cards[i].address);
        MUST((const unsigned char *)(read.cards + read.card_count) == bytes + size);
    }
    free(bytes);
    return 0;
}
