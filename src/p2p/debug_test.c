/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. The table for debuggers: a request that is posted is found by it, as a debugger does. */
#include <string.h>

#include "base/check.h"
#include "p2p/int_debug.h"
#include "p2p/int_p2p.h"

static size_t at(const char *name)
{
    for (uint32_t i = 0; i < parley_debug_layout.count; i++)
        if (!strcmp(parley_debug_layout.entries[i].name, name))
            return parley_debug_layout.entries[i].value;
    fprintf(stderr, "no entry %s\n", name);
    CHECK(false);
    return 0;
}

#define READ(type, base, name) (*(type *)(void *)((char *)(base) + at(name)))

/* No name is there twice, none is cut off. */
static void test_names(void)
{
    for (uint32_t i = 0; i < parley_debug_layout.count; i++) {
        const char *name = parley_debug_layout.entries[i].name;
        CHECK(memchr(name, '\0', DEBUG_NAME_SIZE));
        for (uint32_t k = 0; k < i; k++)
            CHECK(strcmp(name, parley_debug_layout.entries[k].name) != 0);
    }
}

static void test_walk(void)
{
    struct match match;
    struct channel channel = { .ctx = 4 };
    struct p2p_req r = { .req.tag = 0, .len = 12 };
    struct list *link;
    char *entry;

    match_init(&match);
    match_ctx_init(&channel.match, &match, 4);
    match_entry_init(&r.match, match_key(3, 7), match_mask(false, true));
    CHECK(!match_post(&channel.match, &r.match));
    link = READ(struct list *, (char *)&channel + at("channel.match"), "match_ctx.posted");
    entry = (char *)link - at("match_node.ring") - at("match_entry.node");
    CHECK(READ(uint64_t, entry, "match_entry.mask") == match_mask(false, true));
    CHECK(match_key_source(READ(uint64_t, entry, "match_node.key")) == 3);
    CHECK(READ(size_t, entry - at("p2p_req.match"), "p2p_req.len") == 12);
    CHECK(READ(uint32_t, &channel, "channel.ctx") == 4);
    CHECK(match_cancel(&channel.match, &r.match));
    match_fini(&match);
}

int main(void)
{
    CHECK(parley_debug_layout.magic == DEBUG_LAYOUT_MAGIC);
    CHECK(READ(const void *, parley_debug_layout.roots, "debug_roots.config") != NULL);
    CHECK(at("NET_LANES") == NET_LANES);
    test_names();
    test_walk();
    return 0;
}
