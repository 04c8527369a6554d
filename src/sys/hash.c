/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. The hash by which processes prove that they are of one job. */
#include "sys/hash.h"

static uint64_t turn(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static void mix(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = turn(v[1], 13) ^ v[0];
    v[3] = turn(v[3], 16) ^ v[2];
    v[0] = turn(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = turn(v[1], 17) ^ v[2];
    v[3] = turn(v[3], 21) ^ v[0];
    v[2] = turn(v[2], 32);
}

static void take_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    mix(v);
    mix(v);
    v[0] ^= word;
}

uint64_t hash_words(const uint64_t key[2], const uint64_t *words, int count)
{
    uint64_t v[4] = {
        key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
        key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573),
    };

    for (int i = 0; i < count; i++)
        take_word(v, words[i]);
    take_word(v, (uint64_t)count * sizeof(uint64_t) << 56);
    v[2] ^= 0xff;
    for (int i = 0; i < 4; i++)
        mix(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
