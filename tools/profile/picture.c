/* SPDX-License-Identifier: BSD-3-Clause */
/* libparley_profile: a picture. Left, a bar for each rank: its time by topic; right, who sent how much to whom. Ranks
 * beyond a limit share rows: what is drawn is their sum. */
#include <math.h>
#include <string.h>

#include "profile.h"

enum { ROWS_MAX = 64, ROW = 14, BARS = 420, LEFT = 60, GAP = 90, TOP = 40, TOPICS_MAX = 16 };

static const char *const colours[] = { "#3465a4", "#73d216", "#f57900", "#75507b", "#c17d11", "#cc0000", "#edd400",
                                       "#555753", "#ad7fa8", "#8ae234" };

struct topics {
    const char *name[TOPICS_MAX];
    int count;
};

static int topic_of(struct topics *topics, const char *name)
{
    int i = 0;

    while (i < topics->count && strcmp(topics->name[i], name))
        i++;
    if (i == topics->count && topics->count < TOPICS_MAX)
        topics->name[topics->count++] = name;
    return i < TOPICS_MAX ? i : TOPICS_MAX - 1;
}

/* Ranks first to end - 1 stand in this row. */
static int first_of(int row, int rows, int size)
{
    return (int)((long long)row * size / rows);
}

static void write_bar(FILE *file, struct topics *topics, const struct profile_rank *ranks, int row, int rows, int size)
{
    double part[TOPICS_MAX] = { 0 }, whole = 0, x = LEFT;
    const int y = TOP + row * ROW;

    for (int rank = first_of(row, rows, size); rank < first_of(row + 1, rows, size); rank++) {
        whole += (double)ranks[rank].ns;
        for (int i = 0; i < profile_function_count; i++)
            if (ranks[rank].sums[i].calls)
                part[topic_of(topics, profile_functions[i].topic)] += (double)ranks[rank].sums[i].ns;
    }
    fprintf(file, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%d</text>\n", LEFT - 4, y + ROW - 4,
            first_of(row, rows, size));
    fprintf(file, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#eeeeec\"/>\n", LEFT, y, BARS, ROW - 2);
    for (int i = 0; whole > 0 && i < topics->count; i++) {
        const double width = fmin(part[i] / whole, 1) * BARS;

        if (width > 0)
            fprintf(file, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", x, y, width,
                    ROW - 2, colours[(size_t)i % (sizeof colours / sizeof colours[0])]);
        x += width;
    }
}

static double cell(const struct profile_rank *ranks, int from, int to, int rows, int size)
{
    double bytes = 0;

    for (int i = first_of(from, rows, size); i < first_of(from + 1, rows, size); i++)
        for (int k = first_of(to, rows, size); k < first_of(to + 1, rows, size); k++)
            bytes += (double)ranks[i].to[k].bytes + (double)ranks[i].to[k].messages;
    return bytes;
}

static void write_matrix(FILE *file, const struct profile_rank *ranks, int rows, int size)
{
    const int x = LEFT + BARS + GAP;
    double most = 0;

    for (int i = 0; i < rows; i++)
        for (int k = 0; k < rows; k++)
            most = fmax(most, cell(ranks, i, k, rows, size));
    fprintf(file, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#babdb6\"/>\n", x, TOP,
            rows * ROW, rows * ROW);
    for (int i = 0; i < rows; i++) {
        for (int k = 0; k < rows; k++) {
            const double bytes = cell(ranks, i, k, rows, size);

            /* by magnitude: a hundredth of the most is still to be seen */
            if (bytes > 0)
                fprintf(file, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#204a87\" "
                              "fill-opacity=\"%.2f\"><title>%d to %d: %.0f bytes</title></rect>\n",
                        x + k * ROW, TOP + i * ROW, ROW, ROW, 0.1 + 0.9 * log1p(bytes) / log1p(most),
                        first_of(i, rows, size), first_of(k, rows, size), bytes);
        }
    }
}

static void write_legend(FILE *file, const struct topics *topics, int y)
{
    int x = LEFT;

    for (int i = 0; i < topics->count; i++) {
        fprintf(file, "<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" fill=\"%s\"/>"
                      "<text x=\"%d\" y=\"%d\">%s</text>\n",
                x, y, colours[(size_t)i % (sizeof colours / sizeof colours[0])], x + 14, y + 9, topics->name[i]);
        x += 40 + 7 * (int)strlen(topics->name[i]);
    }
}

void picture_write(FILE *file, const struct profile_rank *ranks, int size)
{
    const int rows = size < ROWS_MAX ? size : ROWS_MAX;
    const int width = LEFT + BARS + GAP + rows * ROW + 20, height = TOP + rows * ROW + 50;
    struct topics topics = { .count = 0 };

    fprintf(file, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
                  "font-size=\"10\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            width < 700 ? 700 : width, height);
    fprintf(file, "<text x=\"%d\" y=\"24\" font-size=\"12\">time in MPI by rank</text>\n", LEFT);
    fprintf(file, "<text x=\"%d\" y=\"24\" font-size=\"12\">sent, from (down) to (across)</text>\n", LEFT + BARS + GAP);
    for (int i = 0; i < rows; i++)
        write_bar(file, &topics, ranks, i, rows, size);
    write_matrix(file, ranks, rows, size);
    write_legend(file, &topics, TOP + rows * ROW + 16);
    fprintf(file, "</svg>\n");
}
