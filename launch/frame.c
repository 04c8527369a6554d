/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: reading frames and greetings. Nothing is believed: a kind that the other side does not send, a rank that is
 * none and a length that the kind cannot have are refused. */
#include "frame.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "sys/control.h"

enum { JOB_TEXT_MAX = 64 << 20, NOTE_MAX = 8192, ANSWER_HEAD = 12 };
enum whose { NOBODYS, ANYBODYS, RANKS }; /* which ranks may be named */

static const struct rule {
    enum frame_side side;
    enum whose whose;
    uint32_t least, most; /* bytes */
} rules[FRAME_KINDS] = {
    [FRAME_JOB] = { FRAME_FROM_ROOT, NOBODYS, 1, JOB_TEXT_MAX },
    [FRAME_START] = { FRAME_FROM_ROOT, NOBODYS, 0, 0 },
    [FRAME_SIGNAL] = { FRAME_FROM_ROOT, RANKS, 0, 0 },
    [FRAME_END] = { FRAME_FROM_ROOT, NOBODYS, sizeof(uint64_t), sizeof(uint64_t) },
    [FRAME_TAKEN] = { FRAME_FROM_ROOT, RANKS, 0, ANSWER_HEAD + JOB_REPLY_SIZE },
    [FRAME_CREDIT] = { FRAME_FROM_ROOT, RANKS, 1, 1 },
    [FRAME_BROKEN] = { FRAME_FROM_ROOT, RANKS, 0, 0 },
    [FRAME_INPUT] = { FRAME_FROM_ROOT, RANKS, 0, FRAME_PIECE },
    [FRAME_ADDRESS] = { FRAME_FROM_ROOT, RANKS, 1, JOB_ADDRESS_SIZE }, /* both sides send it */
    [FRAME_RELEASE] = { FRAME_FROM_ROOT, NOBODYS, 0, 0 },
    [FRAME_LOOK] = { FRAME_FROM_ROOT, NOBODYS, 8, 8 },
    [FRAME_ASK] = { FRAME_FROM_ROOT, RANKS, 16, 16 },
    [FRAME_LINKS] = { FRAME_FROM_ROOT, NOBODYS, 0, 0 },
    [FRAME_WORLD] = { FRAME_FROM_ROOT, NOBODYS, 1, JOB_TEXT_MAX },
    [FRAME_GO] = { FRAME_FROM_ROOT, NOBODYS, 0, 0 },
    [FRAME_VISIT] = { FRAME_FROM_ROOT, RANKS, sizeof(struct frame_visit), sizeof(struct frame_visit) },
    [FRAME_LEAVE] = { FRAME_FROM_ROOT, RANKS, 0, 0 },
    [FRAME_ANSWER] = { FRAME_FROM_ROOT, RANKS, sizeof(struct frame_answer), sizeof(struct frame_answer) },
    [FRAME_GUESTS] = { FRAME_FROM_ROOT, NOBODYS, sizeof(struct frame_guest),
                       JOB_SLOTS_MAX * sizeof(struct frame_guest) },
    [FRAME_GUEST_GONE] = { FRAME_FROM_ROOT, NOBODYS, 0, 0 },
    [FRAME_BYE] = { FRAME_FROM_ROOT, NOBODYS, 0, 0 },
    [FRAME_READY] = { FRAME_FROM_AGENT, NOBODYS, 0, 0 },
    [FRAME_REFUSED] = { FRAME_FROM_AGENT, ANYBODYS, 0, NOTE_MAX },
    [FRAME_STARTED] = { FRAME_FROM_AGENT, RANKS, 0, 0 },
    [FRAME_OUTPUT] = { FRAME_FROM_AGENT, RANKS, 0, FRAME_PIECE },
    [FRAME_SAID] = { FRAME_FROM_AGENT, RANKS, sizeof(struct frame_said), sizeof(struct frame_said) + CONTROL_TEXT_MAX },
    [FRAME_OVER] = { FRAME_FROM_AGENT, RANKS, sizeof(struct frame_over), sizeof(struct frame_over) + 256 },
    [FRAME_FED] = { FRAME_FROM_AGENT, RANKS, 0, 0 },
    [FRAME_PAGE] = { FRAME_FROM_AGENT, RANKS, 1, FRAME_PIECE },
    [FRAME_LOOKED] = { FRAME_FROM_AGENT, NOBODYS, 0, 0 },
    [FRAME_LINKED] = { FRAME_FROM_AGENT, ANYBODYS, 0, sizeof(struct frame_linked) },
    [FRAME_UNVISITED] = { FRAME_FROM_AGENT, RANKS, sizeof(uint32_t), sizeof(uint32_t) },
    [FRAME_ADMITTED] = { FRAME_FROM_AGENT, NOBODYS, 0, 0 },
    [FRAME_NOTE] = { FRAME_FROM_AGENT, ANYBODYS, 1, NOTE_MAX },
};

static const char *const first_words[] = {
    [FRAME_FROM_ROOT] = "PARLEY-MPIEXEC ",
    [FRAME_FROM_AGENT] = "PARLEY-AGENT ",
};

const char *frame_own_words(void)
{
    static char words[FRAME_HELLO_SIZE];
    const uint16_t one = 1;
    unsigned char first;

    memcpy(&first, &one, 1);
    snprintf(words, sizeof words, PARLEY_VERSION " protocol %d %s-endian %d bits", FRAME_PROTOCOL,
             first ? "little" : "big", (int)sizeof(void *) * 8);
    return words;
}

size_t frame_write_hello(enum frame_side side, char line[FRAME_HELLO_SIZE])
{
    return (size_t)snprintf(line, FRAME_HELLO_SIZE, "%s%s\n", first_words[side], frame_own_words());
}

bool frame_is_hello(enum frame_side side, const char *line, const char **words)
{
    const size_t length = strlen(first_words[side]);

    *words = line + length;
    return !strncmp(line, first_words[side], length);
}

static bool is_right(enum frame_side side, int ranks, const struct frame *frame)
{
    const struct rule *rule;

    if (frame->kind < FRAME_JOB || frame->kind >= FRAME_KINDS)
        return false;
    rule = &rules[frame->kind];
    if (rule->side != side && frame->kind != FRAME_ADDRESS)
        return false;
    if (frame->rank < (rule->whose == RANKS ? 0 : -1) || frame->rank >= (rule->whose == NOBODYS ? 0 : ranks))
        return false;
    return frame->length >= rule->least && frame->length <= rule->most;
}

long frame_next(enum frame_side side, int ranks, const char *data, size_t length, struct frame *frame)
{
    if (length < sizeof *frame)
        return 0;
    memcpy(frame, data, sizeof *frame);
    if (!is_right(side, ranks, frame))
        return -1;
    return length - sizeof *frame < frame->length ? 0 : (long)(sizeof *frame + frame->length);
}
