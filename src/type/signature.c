/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. Signatures: the sequence of basic elements, whatever constructors made it, as 16 bits for the header of
 * a message.
 *
 * Those bits must be the same for one item of contiguous(4, T) and for four items of T, while the header is made from
 * the type alone: the short path has no time for a count. So the signature of a type is that of the shortest sequence
 * of which it is a repetition. Items repeat it again, so every message of a type has the signature of the type, and
 * together with its length that says which elements it holds. For a type of one kind of element the shortest
 * sequence is that element.
 *
 * Sequences are hashed as polynomials modulo 2^64: hash(a followed by b) = hash(a) * BASE^length(b) + hash(b).
 * Knows: maps. Does not know: messages. */
#include "type/int_plan.h"

static const uint64_t BASE = 0x9E3779B97F4A7C15; /* odd: its powers stay different for long */

enum {
    MIXED = 0x8000, /* no unit has this bit: 15 bits of hash */
    PRIMES_END = 1 << 20,
};

static uint64_t power(MPI_Count exponent)
{
    uint64_t result = 1, factor = BASE;

    for (uint64_t rest = (uint64_t)exponent; rest; rest >>= 1, factor *= factor)
        if (rest & 1)
            result *= factor;
    return result;
}

uint64_t signature_join(uint64_t first, uint64_t second, MPI_Count elements)
{
    return first * power(elements) + second;
}

/* By doubling: `count` in binary. */
uint64_t signature_repeat(uint64_t hash, MPI_Count elements, MPI_Count count)
{
    uint64_t result = 0, part = hash, shift = power(elements);

    for (uint64_t rest = (uint64_t)count; rest; rest >>= 1) {
        if (rest & 1)
            result = result * shift + part;
        part = part * shift + part;
        shift *= shift;
    }
    return result;
}

/* Hash of the first `elements` elements of a map. */
static uint64_t prefix_hash(const struct plan *map, MPI_Count elements)
{
    uint64_t hash = 0;

    while (!map->unit && map->kind == PLAN_LIST && elements <= map->children[0]->elements)
        map = map->children[0];
    if (elements == map->elements)
        return map->hash;
    if (map->unit)
        return signature_repeat(map->unit->signature, 1, elements);
    if (map->kind == PLAN_LOOP) {
        const MPI_Count whole = elements / map->child->elements, rest = elements % map->child->elements;
        hash = signature_repeat(map->child->hash, map->child->elements, whole);
        return rest ? signature_join(hash, prefix_hash(map->child, rest), rest) : hash;
    }
    for (MPI_Count i = 0; elements > 0; i++) {
        const struct plan *const child = map->children[i];
        const MPI_Count n = elements < child->elements ? elements : child->elements;
        hash = signature_join(hash, prefix_hash(child, n), n);
        elements -= n;
    }
    return hash;
}

/* Length of the shortest sequence of which the map is a repetition. Repetitions of lengths that divide the whole go
 * together (if 4 and 6 do, so does 2), so one prime after the other is taken out while it can be. */
static MPI_Count period_of(const struct plan *map)
{
    MPI_Count period = map->elements, rest = map->elements;

    for (MPI_Count p = 2; rest > 1; p = p == 2 ? 3 : p + 2) {
        if (p >= PRIMES_END || p > rest / p)
            p = rest; /* a prime; or so large that it is taken for one */
        while (rest % p == 0) {
            const MPI_Count shorter = period / p;
            rest /= p;
            if (signature_repeat(prefix_hash(map, shorter), shorter, map->elements / shorter) == map->hash)
                period = shorter;
        }
    }
    return period;
}

static uint16_t first_signature(const struct plan *map)
{
    while (!map->unit)
        map = map->kind == PLAN_LOOP ? map->child : map->children[0];
    return map->unit->signature;
}

uint16_t signature_of(const struct plan *map)
{
    MPI_Count period;
    uint64_t hash;

    while (map && !map->unit && map->kind == PLAN_LOOP)
        map = map->child;
    if (!map || map->has_any)
        return TYPE_SIGNATURE_ANY;
    if (map->unit)
        return map->unit->signature;
    period = period_of(map);
    if (period == 1)
        return first_signature(map);
    hash = prefix_hash(map, period);
    return (uint16_t)(MIXED | (hash ^ hash >> 15 ^ hash >> 30 ^ hash >> 45));
}
