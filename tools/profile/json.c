/* SPDX-License-Identifier: BSD-3-Clause */
/* libparley_profile: everything for programs. Times are nanoseconds. */
#include "profile.h"

static void write_text(FILE *file, const char *text)
{
    putc('"', file);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else if (c < ' ')
            fprintf(file, "\\u%04x", c);
        else
            putc(c, file);
    }
    putc('"', file);
}

static void write_sum(FILE *file, const struct profile_sum *sum)
{
    fprintf(file, "\"calls\": %llu, \"ns\": %llu, \"longest_ns\": %llu, \"bytes\": %lld",
            (unsigned long long)sum->calls, (unsigned long long)sum->ns, (unsigned long long)sum->longest,
            (long long)sum->bytes);
}

static void write_functions(FILE *file, const struct profile_rank *rank)
{
    const char *between = "";

    fprintf(file, "\"functions\": [");
    for (int i = 0; i < profile_function_count; i++) {
        if (!rank->sums[i].calls)
            continue;
        fprintf(file, "%s\n      {\"name\": \"%s\", \"topic\": \"%s\", ", between, profile_functions[i].name,
                profile_functions[i].topic);
        write_sum(file, &rank->sums[i]);
        putc('}', file);
        between = ",";
    }
    fprintf(file, "]");
}

static void write_comms(FILE *file, const struct profile_rank *rank)
{
    fprintf(file, "\"communicators\": [");
    for (int i = 0; i < rank->comm_count; i++) {
        fprintf(file, "%s\n      {\"name\": ", i ? "," : "");
        write_text(file, rank->comms[i].name);
        fprintf(file, ", \"size\": %d, ", rank->comms[i].size);
        write_sum(file, &rank->comms[i].sum);
        putc('}', file);
    }
    fprintf(file, "]");
}

static void write_traffic(FILE *file, const struct profile_rank *rank, int size)
{
    const char *between = "";

    fprintf(file, "\"sent\": [");
    for (int i = 0; i < size; i++) {
        if (!rank->to[i].messages)
            continue;
        fprintf(file, "%s\n      {\"to\": %d, \"messages\": %llu, \"bytes\": %lld}", between, i,
                (unsigned long long)rank->to[i].messages, (long long)rank->to[i].bytes);
        between = ",";
    }
    fprintf(file, "]");
}

void json_write(FILE *file, const struct profile_rank *ranks, int size)
{
    fprintf(file, "{\n  \"format\": \"parley profile 1\",\n  \"ranks\": [");
    for (int i = 0; i < size; i++) {
        fprintf(file, "%s\n    {\"rank\": %d, \"ns\": %llu, \"ns_in_mpi\": %llu,\n     ", i ? "," : "", i,
                (unsigned long long)ranks[i].ns, (unsigned long long)profile_ns_in_mpi(&ranks[i]));
        write_functions(file, &ranks[i]);
        fprintf(file, ",\n     ");
        write_comms(file, &ranks[i]);
        fprintf(file, ",\n     ");
        write_traffic(file, &ranks[i], size);
        putc('}', file);
    }
    fprintf(file, "\n  ]\n}\n");
}
