/* SPDX-License-Identifier: BSD-3-Clause */
/* Doors: coming up, memory, error codes, lengths of arrays. */
#include "door.h"

#include <execinfo.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "door/door.h"

enum { LAST_CODE = MPI_ERR_LASTCODE, CLASS_BITS = 6, CLASS_MASK = (1 << CLASS_BITS) - 1 };

/* Of this library, by the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden"))), etext[] __attribute__((visibility("hidden")));

_Noreturn void door_die(const char *text)
{
    parley_door_1.abort(1, text);
    __builtin_unreachable();
}

/* The library calls the error handler with a code of its user, who is us: so it has a text that names the function. */
int door_unsupported(MPI_Comm comm, const char *function)
{
    char text[200];
    int code = MPI_ERR_UNSUPPORTED_OPERATION;

    snprintf(text, sizeof text, "%s: this function of another MPI is not there", function);
    if (!parley_calls_1.Add_error_code(MPI_ERR_UNSUPPORTED_OPERATION, &code))
        parley_calls_1.Add_error_string(code, text);
    parley_calls_1.Comm_call_errhandler(comm, code);
    return out_code(MPI_ERR_UNSUPPORTED_OPERATION);
}

/* Nothing of the tables can be called: they are others than this library knows. */
static _Noreturn void wrong_build(void)
{
    fputs("parley: E0116: this library, a door for programs of another MPI, and libmpi_abi are not of the same build; "
          "install both anew\n", stderr);
    _exit(1);
}

/* Reports tell where the program calls MPI: behind us. MPI_Abort may be called by a signal handler in the middle of
 * malloc, and the first backtrace() takes memory. */
__attribute__((constructor)) static void come_up(void)
{
    void *frame;

    if (parley_calls_1.version != MPI_CALLS_VERSION || parley_door_1.size != sizeof parley_door_1)
        wrong_build();
    parley_door_1.own_code(__ehdr_start, etext);
    (void)backtrace(&frame, 1);
}

/* --- memory --- */

void *door_far(size_t n, size_t size)
{
    void *const memory = mem_zalloc(n * size);

    if (!memory)
        door_die("E0116: no memory for handles or functions of a program of another MPI");
    return memory;
}

/* Kept in a list, so that nobody takes it for lost. */
void *door_memory(size_t bytes)
{
    struct kept {
        struct kept *next;
        max_align_t memory[];
    };
    static struct kept *_Atomic all;
    struct kept *const kept = door_far(1, sizeof *kept + bytes);

    kept->next = atomic_load(&all);
    while (!atomic_compare_exchange_weak(&all, &kept->next, kept)) {
    }
    return kept->memory;
}

void door_far_done(void *room)
{
    mem_free(room);
}

/* --- error codes --- */

static _Thread_local int last_code; /* of the library, told to this thread */

int door_out_code(int code)
{
    if (code >= FIRST_TOOL_CODE && code < FIRST_TOOL_CODE + TOOL_CODES)
        return out_tool_table[code - FIRST_TOOL_CODE];
    if (code > LAST_CODE)
        return code - LAST_CODE + F_ERR_LASTCODE;
    if (code > CLASS_MASK) /* with a text of its own */
        last_code = code;
    return code < 0 ? F_ERR_UNKNOWN : F_CODE(out_class_table[code & CLASS_MASK], code >> CLASS_BITS);
}

/* -1 for what is no code. */
int door_in_code(int code)
{
    const int class = F_CODE_CLASS(code);

    if (code > F_ERR_LASTCODE)
        return code - F_ERR_LASTCODE + LAST_CODE;
    if (code < 0 || class >= (int)ARRAY_LEN(in_class_table) || in_class_table[class] < 0)
        return -1;
    if (in_class_table[class] >= FIRST_TOOL_CODE)
        return in_class_table[class];
    return in_class_table[class] | F_CODE_SLOT(code) << CLASS_BITS;
}

int in_told_code(int code)
{
    const int was = last_code;

    if (was > 0 && F_CODE(out_class_table[was & CLASS_MASK], was >> CLASS_BITS) == code)
        return was;
    return in_code(code);
}

/* --- lengths --- */

int door_peers(MPI_Comm comm)
{
    int is_inter = 0, size = 0;

    if (parley_calls_1.Comm_test_inter(comm, &is_inter))
        return 0;
    if (is_inter ? parley_calls_1.Comm_remote_size(comm, &size) : parley_calls_1.Comm_size(comm, &size))
        return 0;
    return size;
}

static int graph_degree(MPI_Comm comm)
{
    int rank = 0, degree = 0;

    if (!parley_calls_1.Comm_rank(comm, &rank))
        parley_calls_1.Graph_neighbors_count(comm, rank, &degree);
    return degree;
}

int door_degree(MPI_Comm comm, bool is_out)
{
    int topology = MPI_UNDEFINED, dims = 0, in = 0, out = 0, weighted;

    if (parley_calls_1.Topo_test(comm, &topology))
        return 0;
    switch (topology) {
    case MPI_CART: return parley_calls_1.Cartdim_get(comm, &dims) ? 0 : 2 * dims;
    case MPI_GRAPH: return graph_degree(comm);
    case MPI_DIST_GRAPH:
        parley_calls_1.Dist_graph_neighbors_count(comm, &in, &out, &weighted);
        return is_out ? out : in;
    default: return 0;
    }
}

/* --- texts --- */

void door_text(char *to, const char *from, int size, int *length)
{
    const size_t n = strnlen(from, (size_t)size - 1);

    memcpy(to, from, n);
    to[n] = 0;
    if (length && *length > (int)n)
        *length = (int)n;
}
