/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: topo. Balanced dimensions (MPI 5.0 §8.5.2): a number as a product of factors that lie as close together as
 * possible. Knows nothing of communicators.
 *
 * * "As close to each other as possible" is read as: the largest and the smallest factor differ as little as possible;
 * of several such ways the one with the larger smallest factor, which differs less in proportion (5040 = 21 x 16 x 15,
 * not 20 x 18 x 14); and then the one that comes first when the factors are compared one after the other. The search
 * tries the largest factor from the root upwards and takes back what it has tried. It is short, because what is left
 * has to lie in a narrow range: a factor is at least the root of what is left, at least the largest prime that is
 * left, and at least what the best way found so far allows. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "topo/topo.h"

enum {
    DIVISORS_MAX = 1600, /* no number of 31 bits has more */
    FACTORS_MAX = 30,    /* above 1, in a number of 31 bits */
};

struct search {
    int divisors[DIVISORS_MAX];  /* of the number, rising */
    int count;
    int primes[FACTORS_MAX];     /* different ones, rising */
    int prime_count;
    int factors[FACTORS_MAX + 1]; /* the way that is tried; as many as are asked for, but no more than make sense */
    int best[FACTORS_MAX + 1];
    int places;
    int best_spread;             /* largest less smallest; INT_MAX: none found */
};

/* Whether base^power is at least `value`. */
static bool reaches(int base, int power, int value)
{
    int64_t product = 1;

    while (power-- > 0 && product < value)
        product *= base;
    return product >= value;
}

/* Whether base^power is at most `value`. */
static bool fits(int base, int power, int value)
{
    int64_t product = 1;

    while (power-- > 0 && product <= value)
        product *= base;
    return product <= value;
}

/* The largest prime in `rest`, which divides the number; 1 for 1. */
static int largest_prime(const struct search *s, int rest)
{
    for (int i = s->prime_count - 1; i >= 0; i--) {
        if (rest % s->primes[i] == 0)
            return s->primes[i];
    }
    return 1;
}

/* What the factors behind the first one must be at least to be of use: a way with the same first factor must differ
 * less than the best one, a way with a larger first factor no more. */
static int lowest(const struct search *s)
{
    const int low = s->factors[0] - s->best_spread + (s->factors[0] == s->best[0]);

    return s->best_spread == INT_MAX || low < 1 ? 1 : low;
}

/* Factors from `place` on, whose product is `rest`, each at most `high`; keeps what is better than the best. */
static void try_rest(struct search *s, int place, int rest, int high)
{
    const int left = s->places - place, prime = largest_prime(s, rest);

    if (left == 1) {
        s->factors[place] = rest;
        if (rest > high || rest < lowest(s))
            return;
        s->best_spread = s->factors[0] - rest;
        memcpy(s->best, s->factors, sizeof s->best);
        return;
    }
    for (int i = 0; i < s->count && s->divisors[i] <= high; i++) {
        const int factor = s->divisors[i];

        if (factor < prime || rest % factor || !reaches(factor, left, rest))
            continue;
        s->factors[place] = factor;
        /* The others can be no less than the lowest, and their product is what is left: nor can they further up. */
        if (!fits(lowest(s), left - 1, rest / factor))
            return;
        if (factor >= lowest(s))
            try_rest(s, place + 1, rest / factor, factor);
    }
}

/* The smallest prime from `from` on that divides `n`, which has no smaller ones and is at least 2. */
static int next_prime(int n, int from)
{
    for (int p = from; (int64_t)p * p <= n; p++) {
        if (n % p == 0)
            return p;
    }
    return n;
}

/* Divisors and primes of `n`, and how many factors above 1 it has. */
static void find_divisors(struct search *s, int n)
{
    int rest = n;

    s->divisors[s->count++] = 1;
    while (rest > 1) {
        const int prime = next_prime(rest, s->prime_count ? s->primes[s->prime_count - 1] : 2), before = s->count;
        int64_t power = 1;

        s->primes[s->prime_count++] = prime;
        while (rest % prime == 0) {
            rest /= prime;
            power *= prime;
            s->places++;
            for (int i = 0; i < before; i++)
                s->divisors[s->count++] = (int)(s->divisors[i] * power);
        }
    }
}

static int by_size(const void *a, const void *b)
{
    const int m = *(const int *)a, n = *(const int *)b;

    return (m > n) - (m < n);
}

/* `n` as a product of `count` factors, into s->best; those beyond s->places are 1. */
static void find_factors(struct search *s, int n, int count)
{
    find_divisors(s, n);
    qsort(s->divisors, (size_t)s->count, sizeof *s->divisors, by_size);
    /* One that is certainly 1 suffices to know how low it goes. */
    s->places = count <= s->places ? count : s->places + 1;
    s->best_spread = INT_MAX;
    try_rest(s, 0, n, n);
}

/* What the entries that are 0 have to make together. */
static int find_rest(int nodes, int ndims, const int *dims, int *rest, int *open)
{
    *rest = nodes;
    *open = 0;
    if (nodes < 1)
        return err(MPI_ERR_DIMS, "nnodes is %d; a grid has at least 1 node", nodes);
    for (int i = 0; i < ndims; i++) {
        if (dims[i] < 0)
            return err(MPI_ERR_DIMS, "dims[%d] is %d, which is negative", i, dims[i]);
        if (dims[i] == 0)
            ++*open;
        else if (*rest % dims[i])
            return err(MPI_ERR_DIMS, "nnodes is %d, which is no multiple of the entries of dims up to dims[%d] = %d",
                       nodes, i, dims[i]);
        else
            *rest /= dims[i];
    }
    if (!*open && *rest > 1)
        return err(MPI_ERR_DIMS, "nnodes is %d, the entries of dims make %d, and none is 0", nodes, nodes / *rest);
    return 0;
}

int topo_dims_create(int nodes, int ndims, int *dims)
{
    struct search *search;
    int rest, open, rc = find_rest(nodes, ndims, dims, &rest, &open);

    if (rc || !open)
        return rc;
    search = mem_zalloc(sizeof *search);
    if (!search)
        return err(MPI_ERR_NO_MEM, "no memory to find the divisors of %d", rest);
    find_factors(search, rest, open);
    for (int i = 0, k = 0; i < ndims; i++) {
        if (dims[i] == 0) {
            dims[i] = k < search->places ? search->best[k] : 1;
            k++;
        }
    }
    mem_free(search);
    return 0;
}
