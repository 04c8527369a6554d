/* SPDX-License-Identifier: BSD-3-Clause */
/* libparley_profile: the table that people read. */
#include <stdlib.h>
#include <string.h>

#include "profile.h"

enum { FUNCTIONS_TOLD = 20, COMMS_TOLD = 10, PAIRS_TOLD = 10 };

/* Something to be sorted by `weight`, the heaviest first. */
struct row {
    double weight;
    int a, b;
};

static int heavier_first(const void *x, const void *y)
{
    const struct row *a = x, *b = y;

    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    return a->a != b->a ? a->a - b->a : a->b - b->b;
}

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static const char *with_unit(int64_t bytes, char *text, size_t size)
{
    static const char *const units[] = { "B", "KB", "MB", "GB", "TB" };
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 1024 && unit + 1 < sizeof units / sizeof units[0]) {
        value /= 1024;
        unit++;
    }
    snprintf(text, size, unit && value < 100 ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return text;
}

static void write_head(FILE *file, const struct profile_rank *ranks, int size, uint64_t *in_mpi)
{
    int least = 0, most = 0;
    uint64_t ns = 0;

    *in_mpi = 0;
    for (int i = 0; i < size; i++) {
        const uint64_t own = profile_ns_in_mpi(&ranks[i]);

        *in_mpi += own;
        ns += ranks[i].ns;
        least = own < profile_ns_in_mpi(&ranks[least]) ? i : least;
        most = own > profile_ns_in_mpi(&ranks[most]) ? i : most;
    }
    fprintf(file, "parley profile: %d rank%s, %.3f s from MPI_Init to MPI_Finalize; in MPI %.3f s of it (%.0f %%) on "
                  "average, least %.3f s (rank %d), most %.3f s (rank %d)\n",
            size, size == 1 ? "" : "s", seconds(ns) / size, seconds(*in_mpi) / size,
            ns ? 100.0 * (double)*in_mpi / (double)ns : 0, seconds(profile_ns_in_mpi(&ranks[least])), least,
            seconds(profile_ns_in_mpi(&ranks[most])), most);
}

static struct profile_sum sum_of(const struct profile_rank *ranks, int size, int function)
{
    struct profile_sum sum = { 0 };

    for (int i = 0; i < size; i++) {
        const struct profile_sum *one = &ranks[i].sums[function];

        sum.calls += one->calls;
        sum.ns += one->ns;
        sum.bytes += one->bytes;
        sum.longest = one->longest > sum.longest ? one->longest : sum.longest;
    }
    return sum;
}

static void write_function(FILE *file, const struct profile_rank *ranks, int size, int function, uint64_t in_mpi)
{
    const struct profile_sum sum = sum_of(ranks, size, function);
    uint64_t least = UINT64_MAX, most = 0;
    char bytes[32];

    for (int i = 0; i < size; i++) {
        const uint64_t ns = ranks[i].sums[function].ns;

        least = ns < least ? ns : least;
        most = ns > most ? ns : most;
    }
    fprintf(file, "%-28s %10llu %10.3f %5.1f %% %10.2f %10.0f %10s   %.3f to %.3f\n", profile_functions[function].name,
            (unsigned long long)sum.calls, seconds(sum.ns), in_mpi ? 100.0 * (double)sum.ns / (double)in_mpi : 0,
            (double)sum.ns / 1e3 / (double)sum.calls, (double)sum.longest / 1e3,
            with_unit(sum.bytes, bytes, sizeof bytes), seconds(least), seconds(most));
}

static void write_functions(FILE *file, const struct profile_rank *ranks, int size, uint64_t in_mpi)
{
    struct row rows[PROFILE_FUNCTIONS_MAX];
    int count = 0;

    for (int i = 0; i < profile_function_count; i++) {
        const struct profile_sum sum = sum_of(ranks, size, i);

        if (sum.calls)
            rows[count++] = (struct row){ (double)sum.ns, i, 0 };
    }
    qsort(rows, (size_t)count, sizeof rows[0], heavier_first);
    fprintf(file, "%-28s %10s %10s %7s %10s %10s %10s   %s\n", "function, all ranks", "calls", "s", "of MPI", "mean us",
            "longest us", "given", "s of a rank");
    for (int i = 0; i < count && i < FUNCTIONS_TOLD; i++)
        write_function(file, ranks, size, rows[i].a, in_mpi);
    if (count > FUNCTIONS_TOLD)
        fprintf(file, "and %d functions more, which took less\n", count - FUNCTIONS_TOLD);
}

/* Ranks number communicators each for itself, so those of one name and size are put together here. */
static int merge_comms(const struct profile_rank *ranks, int size, struct profile_comm *out)
{
    int count = 0;

    for (int i = 0; i < size; i++) {
        for (int k = 0; k < ranks[i].comm_count; k++) {
            const struct profile_comm *comm = &ranks[i].comms[k];
            int at = 0;

            while (at < count && (out[at].size != comm->size || strcmp(out[at].name, comm->name)))
                at++;
            if (at == PROFILE_COMMS_MAX)
                continue;
            if (at == count) {
                out[count] = *comm;
                out[count++].sum = (struct profile_sum){ 0 };
            }
            out[at].sum.calls += comm->sum.calls;
            out[at].sum.ns += comm->sum.ns;
            out[at].sum.bytes += comm->sum.bytes;
        }
    }
    return count;
}

static void write_comms(FILE *file, const struct profile_rank *ranks, int size)
{
    struct profile_comm *comms = calloc(PROFILE_COMMS_MAX, sizeof *comms);
    struct row rows[PROFILE_COMMS_MAX];
    const int count = comms ? merge_comms(ranks, size, comms) : 0;
    char bytes[32];

    for (int i = 0; i < count; i++)
        rows[i] = (struct row){ (double)comms[i].sum.ns, i, 0 };
    qsort(rows, (size_t)count, sizeof rows[0], heavier_first);
    if (count)
        fprintf(file, "%-28s %10s %10s %7s %10s %10s %10s\n", "communicator", "calls", "s", "size", "", "", "given");
    for (int i = 0; i < count && i < COMMS_TOLD; i++) {
        const struct profile_comm *comm = &comms[rows[i].a];

        fprintf(file, "%-28s %10llu %10.3f %7d %10s %10s %10s\n", comm->name, (unsigned long long)comm->sum.calls,
                seconds(comm->sum.ns), comm->size, "", "", with_unit(comm->sum.bytes, bytes, sizeof bytes));
    }
    free(comms);
}

/* The heaviest so far stay, in order. */
static void keep(struct row *rows, int *count, struct row row)
{
    int at = *count;

    while (at > 0 && rows[at - 1].weight < row.weight)
        at--;
    if (at == PAIRS_TOLD)
        return;
    if (*count < PAIRS_TOLD)
        (*count)++;
    memmove(&rows[at + 1], &rows[at], (size_t)(*count - 1 - at) * sizeof rows[0]);
    rows[at] = row;
}

static void write_pairs(FILE *file, const struct profile_rank *ranks, int size)
{
    struct row rows[PAIRS_TOLD];
    char bytes[32];
    int count = 0;

    for (int i = 0; i < size; i++) {
        for (int k = 0; k < size; k++) {
            if (ranks[i].to[k].messages)
                keep(rows, &count, (struct row){ (double)ranks[i].to[k].bytes, i, k });
        }
    }
    for (int i = 0; i < count; i++) {
        const struct profile_traffic *traffic = &ranks[rows[i].a].to[rows[i].b];

        fprintf(file, "%s from rank %d to rank %d: %llu messages, %s\n", i ? "    " : "sent", rows[i].a, rows[i].b,
                (unsigned long long)traffic->messages, with_unit(traffic->bytes, bytes, sizeof bytes));
    }
}

void report_write(FILE *file, const struct profile_rank *ranks, int size)
{
    uint64_t in_mpi;

    write_head(file, ranks, size, &in_mpi);
    write_functions(file, ranks, size, in_mpi);
    write_comms(file, ranks, size);
    write_pairs(file, ranks, size);
}
