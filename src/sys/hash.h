/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. The hash by which processes prove that they are of one job. */
#ifndef SYS_HASH_H
#define SYS_HASH_H

#include <stdint.h>

/* SipHash-2-4 (Aumasson, Bernstein: SipHash, a fast short-input PRF, 2012) of whole words. */
uint64_t hash_words(const uint64_t key[2], const uint64_t *words, int count);

#endif
