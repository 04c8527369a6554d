/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Which way messages of which size take, and why: for people. */
#ifndef P2P_EXPLAIN_H
#define P2P_EXPLAIN_H

#include <stddef.h>

/* How messages of one run of bytes come from process `proc` as things stand: a line for each range of sizes, with what
 * was measured in the first lane that has heard of it, without a newline at the end. The length of the text, of which
 * `size` - 1 bytes are written; 0: no message has come from there. Any thread; does not block. */
size_t p2p_explain(int proc, char *text, size_t size);

#endif
