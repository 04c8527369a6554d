/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the report of who waits for whom, as text: a sentence, a table of the ranks in groups that do the same, the
 * conclusions (hang_why.c). What ranks wait in and for is in their own words; what is not in MPI, in ours. */
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "hang.h"

enum {
    LINES_MAX = 48,  /* of the table; more ranks that differ are counted */
    EXACT_MAX = 24,  /* lines up to which ranks that differ only in their peers or tags have lines of their own */
    WIDTH_MAX = 84,  /* of the column that says in what; longer ones push the rest aside */
};

/* What is told of a wait. */
struct detail {
    bool has_peer, has_tag;
    bool has_wants; /* the other requests that are missing, too, not only how many */
};

static const struct detail whole = { true, true, true };

void text_add(struct text *text, const char *format, ...)
{
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (text->length + (size_t)length + 1 > text->room) {
        text->room = (text->length + (size_t)length + 1) * 2;
        text->data = need_more(text->data, text->room);
    }
    va_start(args, format);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, args);
    va_end(args);
    text->length += (size_t)length;
}

/* Those of one world, which lies behind place `first`, or of other jobs; how many. */
static int add_ranks_of(struct text *text, const bool *is_in, const struct hang_view *view, int first, int last)
{
    const int world = view->page[first].world;
    const char *separator = "";
    int count = 0;

    for (int i = first; i <= last; i++)
        count += is_in[i];
    if (world < 0)
        text_add(text, count == 1 ? "process " : "processes ");
    else
        text_add(text, count == 1 ? "rank " : "ranks ");
    for (int from = first, to; from <= last; from = to + 1) {
        to = from;
        if (!is_in[from])
            continue;
        while (to < last && is_in[to + 1] && world >= 0)
            to++;
        text_add(text, from == to ? "%s%d" : "%s%d-%d", separator, view->page[from].rank, view->page[to].rank);
        separator = ", ";
    }
    if (world < 0)
        text_add(text, count == 1 ? " of another job" : " of other jobs");
    else if (world > 0)
        text_add(text, " of spawned world %d", world);
    return count;
}

int hang_add_ranks(struct text *text, const bool *is_in, const struct hang_view *view)
{
    int count = 0;

    for (int first = 0, last; first < view->size; first = last + 1) {
        last = first;
        if (!is_in[first])
            continue;
        while (last + 1 < view->size && view->page[last + 1].world == view->page[first].world)
            last++;
        text_add(text, count ? ", " : "");
        count += add_ranks_of(text, is_in, view, first, last);
    }
    return count;
}

void hang_add_rank(struct text *text, const struct hang_view *view, int place)
{
    if (view->page[place].world < 0) {
        text_add(text, "process %d of another job", view->page[place].rank);
        return;
    }
    text_add(text, "rank %d", view->page[place].rank);
    if (view->page[place].world > 0)
        text_add(text, " of spawned world %d", view->page[place].world);
}

void hang_add_foreign(struct text *text, const struct hang_view *view, int number)
{
    const struct joint_proc *proc = joint_proc(view->joint, joint_rank(view->joint, number));
    const struct joint_host *host = joint_host(view->joint, (int)proc->host);
    const bool is_old = !memcmp(host->address, (const char[10]){ 0 }, 10);
    char name[INET6_ADDRSTRLEN] = "";

    inet_ntop(is_old ? AF_INET : AF_INET6, host->address + (is_old ? 12 : 0), name, sizeof name);
    text_add(text, "in client %u at %s", proc->client, name);
}

/* --- words --- */

static void add_seconds(struct text *text, double seconds)
{
    if (seconds < 10)
        text_add(text, "%.1f s", seconds);
    else if (seconds < 600)
        text_add(text, "%.0f s", seconds);
    else if (seconds < 36000)
        text_add(text, "%.0f min", seconds / 60);
    else
        text_add(text, "%.1f h", seconds / 3600);
}

/* Which process rank `peer` is, if that is not what its number says to one of this page's world. */
static void add_place(struct text *text, const struct hang_view *view, const struct page_view *page, int peer,
                      int place)
{
    const struct page_view *there = place >= 0 && place < view->size ? &view->page[place] : NULL;

    if (hang_is_foreign(view, place)) {
        text_add(text, " (");
        if (joint_rank(view->joint, place) != peer)
            text_add(text, "%d of MPI_COMM_WORLD, ", joint_rank(view->joint, place));
        hang_add_foreign(text, view, place);
        text_add(text, ")");
        return;
    }
    if (!there || (there->world == page->world && there->rank == peer))
        return;
    if (there->world < 0)
        text_add(text, " (process %d of another job)", there->rank);
    else if (there->world == page->world)
        text_add(text, " (%d of MPI_COMM_WORLD)", there->rank);
    else if (there->world > 0)
        text_add(text, " (rank %d of spawned world %d)", there->rank, there->world);
    else
        text_add(text, " (rank %d of the first world)", there->rank);
}

/* What a page says of a peer, in short; its rank in the communicator, its place. */
static void add_peer(struct text *text, const struct hang_view *view, const struct page_view *page, int way, int peer,
                     int place)
{
    const char *word = way == JOB_SENDING ? "to" : "from", *noun = page->status.peer_noun;

    if (peer >= 0)
        text_add(text, " %s %s %d", word, noun, peer);
    else if (peer != JOB_NO_VALUE)
        text_add(text, " %s any %s", word, noun);
    if (peer >= 0)
        add_place(text, view, page, peer, place);
}

static void add_rest(struct text *text, const char *noun, int tag, const char *comm, int64_t count, const char *type)
{
    if (tag >= 0)
        text_add(text, ", %s %d", noun, tag);
    else if (tag != JOB_NO_VALUE)
        text_add(text, ", any %s", noun);
    if (*comm)
        text_add(text, " on %s", comm);
    if (count >= 0 && *type)
        text_add(text, ", %lld x %s", (long long)count, type);
    else if (count >= 0)
        text_add(text, ", %lld bytes", (long long)count);
}

void hang_add_envelope(struct text *text, const struct hang_view *view, const struct page_view *page,
                       const struct job_envelope *envelope)
{
    const struct job_status *status = &page->status;
    struct text own = { 0 };

    add_peer(&own, view, page, envelope->way, envelope->peer, envelope->peer_world);
    add_rest(&own, status->tag_noun, envelope->tag, envelope->comm_name, envelope->count, envelope->type_name);
    text_add(text, "%s", *own.data == ' ' ? own.data + 1 : own.data);
    mem_free(own.data);
}

/* The call and what it waits for first. What is left out: for ranks that differ in nothing else. */
static void add_wait(struct text *text, const struct hang_view *view, const struct page_view *page,
                     struct detail detail)
{
    const struct job_status *status = &page->status;

    text_add(text, "%s", status->call_name);
    if (status->sequence) {
        text_add(text, " on %s", status->comm_name);
        return;
    }
    if (detail.has_peer)
        add_peer(text, view, page, status->way, status->peer, status->peer_world);
    else if (status->peer >= 0)
        text_add(text, " %s one %s each", status->way == JOB_SENDING ? "to" : "from", status->peer_noun);
    if (status->way == JOB_SENDING && status->peer == JOB_NO_VALUE)
        text_add(text, ", with messages that nobody has received yet");
    if (!detail.has_tag && status->tag >= 0)
        text_add(text, ", one %s each", status->tag_noun);
    add_rest(text, status->tag_noun, detail.has_tag || status->tag < 0 ? status->tag : JOB_NO_VALUE,
             status->comm_name, status->count, status->type_name);
}

static void add_outside(struct text *text, const struct page_view *page)
{
    switch (page->system) {
    case 'R': text_add(text, "computing, or polling"); return;
    case 'T':
    case 't': text_add(text, "stopped, by a signal or a debugger"); return;
    }
    text_add(text, "computing (asleep outside of MPI)");
}

/* What a rank does that does not wait in MPI. */
static void add_state(struct text *text, const struct page_view *page)
{
    if (page->world < 0) {
        text_add(text, page->is_abroad ? "not known here: a report of its own mpiexec tells it" : "gone");
        return;
    }
    switch (page->state) {
    case JOB_NONE:
    case JOB_STARTED: text_add(text, "not in MPI yet: MPI_Init has not been called"); return;
    case JOB_INITIALISED: add_outside(text, page); return;
    case JOB_FINALISED: text_add(text, "done with MPI: it has called MPI_Finalize"); return;
    case JOB_EXITED: break;
    }
    if (WIFSIGNALED(page->exit_status))
        text_add(text, "gone: ended by signal %d", WTERMSIG(page->exit_status));
    else
        text_add(text, "gone: it has ended with exit code %d", WEXITSTATUS(page->exit_status));
}

void hang_add_place(struct text *text, const struct hang_view *view, int rank)
{
    const struct page_view *page = &view->page[rank];

    if (!page->is_blocked) {
        add_state(text, page);
        return;
    }
    text_add(text, "in ");
    add_wait(text, view, page, whole);
    if (page->where)
        text_add(text, ", at %s", page->where);
}

/* --- the table --- */

struct line {
    char *ranks, *what, *where;
    double seconds; /* of the one that has been there for the longest; below 0: not known */
    bool *is_in;
};

struct table {
    struct line *line;
    int count;
};

/* All requests that are missing, as far as they are known, in lines of their own. */
static void add_wants(struct text *text, const struct hang_view *view, const struct page_view *page, bool is_whole)
{
    const struct job_status *status = &page->status;
    const char *word = status->flags & JOB_WAIT_ANY ? "or" : "and";
    const uint32_t told = (is_whole ? status->wants : 0) + 1;

    for (uint32_t i = 0; is_whole && i < status->wants && i < JOB_WANTS; i++) {
        text_add(text, "\n  %s ", word);
        hang_add_envelope(text, view, page, &status->want[i]);
    }
    if (status->pending > told)
        text_add(text, "\n  %s %u more requests", word, status->pending - told);
}

static char *what_of(const struct hang_view *view, const struct page_view *page, struct detail detail)
{
    struct text text = { 0 };

    if (page->is_blocked) {
        add_wait(&text, view, page, detail);
        if (page->has_more_threads)
            text_add(&text, " (in one of its threads)");
        add_wants(&text, view, page, detail.has_wants);
    } else {
        add_state(&text, page);
    }
    return text.data;
}

static double seconds_of(const struct hang_view *view, const struct page_view *page)
{
    const int64_t since = page->is_blocked ? page->status.since_ns : page->status.left_ns;

    return page->state == JOB_INITIALISED && since ? (double)(view->now - since) / 1e9 : -1;
}

static struct line *find_line(const struct table *table, const char *what, const char *where)
{
    for (int i = 0; i < table->count; i++)
        if (!strcmp(table->line[i].what, what) && !strcmp(table->line[i].where, where))
            return &table->line[i];
    return NULL;
}

static struct line *add_line(struct table *table, const struct hang_view *view, char *what, const char *where)
{
    struct line *line = &table->line[table->count++];

    *line = (struct line){ .what = what, .seconds = -1, .is_in = need((size_t)view->size * sizeof *line->is_in) };
    line->where = need_text(where);
    return line;
}

/* Its ranks, and if it is one alone all that there is to say of it. */
static void end_line(struct line *line, const struct hang_view *view)
{
    struct text text = { 0 };
    int rank = 0;

    if (hang_add_ranks(&text, line->is_in, view) == 1) {
        while (!line->is_in[rank])
            rank++;
        mem_free(line->what);
        line->what = what_of(view, &view->page[rank], whole);
    }
    line->ranks = text.data;
}

static void make_table(struct table *table, const struct hang_view *view, struct detail detail)
{
    table->line = need((size_t)view->size * sizeof *table->line);
    for (int i = 0; i < view->size; i++) {
        const struct page_view *page = &view->page[i];
        const char *where = page->is_blocked && page->where ? page->where : "";
        char *what = page->is_absent ? NULL : what_of(view, page, detail);
        struct line *line = what ? find_line(table, what, where) : NULL;
        const double seconds = seconds_of(view, page);
        if (!what)
            continue;
        if (line)
            mem_free(what);
        else
            line = add_line(table, view, what, where);
        line->is_in[i] = true;
        if (seconds > line->seconds)
            line->seconds = seconds;
    }
    for (int i = 0; i < table->count; i++)
        end_line(&table->line[i], view);
}

static void free_table(struct table *table)
{
    for (int i = 0; i < table->count; i++) {
        mem_free(table->line[i].ranks);
        mem_free(table->line[i].what);
        mem_free(table->line[i].where);
        mem_free(table->line[i].is_in);
    }
    mem_free(table->line);
    *table = (struct table){ 0 };
}

/* The widest cell that is not too wide; of several lines, the first counts. */
static int width_of(const char *cell, int widest, int most)
{
    const int width = (int)strcspn(cell, "\n");

    return width > widest && width <= most ? width : widest;
}

static void add_table_line(struct text *text, const struct line *line, int ranks_width, int what_width)
{
    const int length = (int)strcspn(line->what, "\n");
    const char *rest = line->what + length;
    struct text seconds = { 0 };

    add_seconds(&seconds, line->seconds);
    text_add(text, "    %-*s  %-*.*s", ranks_width, line->ranks, what_width, length, line->what);
    if (line->seconds >= 0)
        text_add(text, "  %7s", seconds.data);
    if (*line->where)
        text_add(text, "  %s", line->where);
    while (text->data[text->length - 1] == ' ')
        text->length--;
    text_add(text, "\n");
    mem_free(seconds.data);
    while (*rest) {
        const int part = (int)strcspn(rest + 1, "\n");
        text_add(text, "    %-*s  %.*s\n", ranks_width, "", part, rest + 1);
        rest += part + 1;
    }
}

static void add_table(struct text *text, const struct hang_view *view)
{
    static const struct detail less[] = {
        { .has_tag = true, .has_wants = true }, { .has_peer = true, .has_wants = true }, { .has_wants = true }, { 0 }
    };
    int ranks_width = 0, what_width = 0;
    struct table table = { 0 };

    make_table(&table, view, whole);
    for (size_t i = 0; i < ARRAY_LEN(less) && table.count > EXACT_MAX; i++) {
        free_table(&table);
        make_table(&table, view, less[i]);
    }
    for (int i = 0; i < table.count && i < LINES_MAX; i++) {
        ranks_width = width_of(table.line[i].ranks, ranks_width, WIDTH_MAX / 2);
        what_width = width_of(table.line[i].what, what_width, WIDTH_MAX);
    }
    for (int i = 0; i < table.count && i < LINES_MAX; i++)
        add_table_line(text, &table.line[i], ranks_width, what_width);
    if (table.count > LINES_MAX)
        text_add(text, "    and %d more ways to wait\n", table.count - LINES_MAX);
    free_table(&table);
}

/* --- the whole --- */

static void add_head(struct text *text, const struct hang_view *view)
{
    char of_client[32] = "";
    bool *is_stuck;

    if (view->joint)
        snprintf(of_client, sizeof of_client, " of client %u", view->joint->client);
    if (!view->stuck) {
        text_add(text, "E0121: %d of %d ranks%s wait%s in MPI\n", view->blocked, view->present, of_client,
                 view->blocked == 1 ? "s" : "");
        return;
    }
    is_stuck = need((size_t)view->size * sizeof *is_stuck);
    for (int i = 0; i < view->size; i++)
        is_stuck[i] = view->node[i].is_stuck;
    text_add(text, "E0120: ");
    if (view->stuck == view->present && view->present > 1)
        text_add(text, "all %d ranks%s wait for ever", view->present, of_client);
    else if (hang_add_ranks(text, is_stuck, view) == 1)
        text_add(text, " waits for ever");
    else
        text_add(text, " wait for ever");
    text_add(text, "; nothing has moved for ");
    add_seconds(text, view->quiet);
    text_add(text, "\n");
    mem_free(is_stuck);
}

char *hang_text(const struct hang_view *view)
{
    struct text text = { 0 };

    add_head(&text, view);
    add_table(&text, view);
    hang_add_why(&text, view);
    return text.data;
}
