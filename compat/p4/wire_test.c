/* SPDX-License-Identifier: BSD-3-Clause */
/* The envelope in two words: what goes in comes out, at the edges of every field, and fits what travels. */
#include "p4/int_wire.h"

#include <limits.h>

#include "base/check.h"
#include "door/door.h"

static void check(const struct envelope *e)
{
    uint64_t word[2];
    struct envelope back;

    wire_pack(e, word);
    CHECK(!(word[0] >> P2P_LETTER_BITS));
    back = wire_unpack(word);
    CHECK_INT(back.type, e->type);
    CHECK_INT(back.from, e->from);
    CHECK_INT(back.kind, e->kind);
    CHECK_INT(back.datatype, e->datatype);
    CHECK_INT(back.is_xdr, e->is_xdr);
    CHECK_INT(back.ack, e->ack);
}

int main(void)
{
    static const int32_t numbers[] = { 0, 1, -1, 7, INT_MAX, INT_MIN };

    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        for (size_t k = 0; k < ARRAY_LEN(numbers); k++) {
            for (uint8_t kind = 0; kind < 16; kind++) {
                for (uint8_t datatype = 0; datatype < 8; datatype++)
                    check(&(struct envelope){ numbers[i], numbers[k], kind, datatype, kind % 2, (uint32_t)numbers[i] });
            }
        }
    }
    return 0;
}
