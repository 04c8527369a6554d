/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran: the conversions that need memory. Texts: MPI 5.0 §2.6.2, §19.3.
 * Knows: mpi.h, its own header. */
#include "convert.h"

#include <stdlib.h>
#include <string.h>

/* --- memory --- */

void *room_take(struct room *room, MPI_Count count, size_t size)
{
    const size_t bytes = count > 0 ? (size_t)count * size : 0;

    room->at = bytes <= sizeof room->inside ? NULL : malloc(bytes);
    return bytes <= sizeof room->inside ? room->inside : room->at;
}

void room_free(struct room *room)
{
    free(room->at);
}

/* --- handles --- */

MPI_Datatype *types_of(struct room *room, const int *numbers, MPI_Count count)
{
    MPI_Datatype *handles = room_take(room, count, sizeof *handles);

    for (MPI_Count i = 0; handles && i < count; i++)
        handles[i] = type_of(numbers[i]);
    return handles;
}

MPI_Datatype *null_types(struct room *room, MPI_Count count)
{
    MPI_Datatype *handles = room_take(room, count, sizeof *handles);

    for (MPI_Count i = 0; handles && i < count; i++)
        handles[i] = MPI_DATATYPE_NULL;
    return handles;
}

MPI_Request *requests_of(struct room *room, const int *numbers, MPI_Count count)
{
    MPI_Request *handles = room_take(room, count, sizeof *handles);

    for (MPI_Count i = 0; handles && i < count; i++)
        handles[i] = request_of(numbers[i]);
    return handles;
}

MPI_Info *infos_of(struct room *room, const int *numbers, MPI_Count count)
{
    MPI_Info *handles = room_take(room, count, sizeof *handles);

    for (MPI_Count i = 0; handles && i < count; i++)
        handles[i] = info_of(numbers[i]);
    return handles;
}

/* A request stays what it was or becomes null. */
void requests_to(int *numbers, const MPI_Request *handles, MPI_Count count)
{
    for (MPI_Count i = 0; i < count; i++)
        if (handles[i] == MPI_REQUEST_NULL)
            numbers[i] = request_to(MPI_REQUEST_NULL);
}

void types_to(int *numbers, const MPI_Datatype *handles, MPI_Count count)
{
    for (MPI_Count i = 0; i < count; i++)
        if (handles[i] != MPI_DATATYPE_NULL)
            numbers[i] = type_to(handles[i]);
}

/* --- lengths --- */

int peers_of(MPI_Comm comm)
{
    int is_inter = 0, size = 0;

    if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &is_inter))
        return 0;
    return (is_inter ? PMPI_Comm_remote_size : PMPI_Comm_size)(comm, &size) ? 0 : size;
}

/* Neighbours by the topology (MPI 5.0 §8.6): two for each dimension of a grid, else what the graph says. */
static int degree_of(MPI_Comm comm, bool in)
{
    int topology = MPI_UNDEFINED, rank = 0, degree = 0, out = 0, weighted;

    if (comm == MPI_COMM_NULL || PMPI_Topo_test(comm, &topology))
        return 0;
    if (topology == MPI_CART)
        return PMPI_Cartdim_get(comm, &degree) ? 0 : 2 * degree;
    if (topology == MPI_GRAPH) {
        PMPI_Comm_rank(comm, &rank);
        return PMPI_Graph_neighbors_count(comm, rank, &degree) ? 0 : degree;
    }
    if (topology != MPI_DIST_GRAPH || PMPI_Dist_graph_neighbors_count(comm, &degree, &out, &weighted))
        return 0;
    return in ? degree : out;
}

int indegree_of(MPI_Comm comm)
{
    return degree_of(comm, true);
}

int outdegree_of(MPI_Comm comm)
{
    return degree_of(comm, false);
}

bool is_root_of(MPI_Comm comm, int root)
{
    int rank = MPI_PROC_NULL;

    return comm != MPI_COMM_NULL && !PMPI_Comm_rank(comm, &rank) && rank == root;
}

/* --- texts --- */

static size_t trimmed(const char *text, size_t length)
{
    while (length && text[length - 1] == ' ')
        length--;
    return length;
}

/* Copies without the blanks around it; returns how much of `to` is used, the end included. */
static size_t copy_word(char *to, const char *text, size_t length)
{
    length = trimmed(text, length);
    while (length && *text == ' ')
        text++, length--;
    memcpy(to, text, length);
    to[length] = '\0';
    return length + 1;
}

char *text_of(struct room *room, const char *text, size_t length, bool both)
{
    char *copy;

    length = trimmed(text, length);
    while (both && length && *text == ' ')
        text++, length--;
    copy = room_take(room, (MPI_Count)length + 1, 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

void text_to(char *text, size_t length, const char *from)
{
    size_t n = strlen(from);

    if (n > length)
        n = length;
    memcpy(text, from, n);
    memset(text + n, ' ', length - n);
}

static int count_of(const char *texts, size_t length, size_t stride)
{
    int count = 0;

    while (length && trimmed(texts + (size_t)count * stride, length))
        count++;
    return count;
}

/* One piece of memory: the pointers, then the texts. */
char **texts_of(struct room *room, const char *texts, size_t length, size_t stride, int count)
{
    const size_t n = (size_t)(count >= 0 ? count : count_of(texts, length, stride));
    char **list = room_take(room, 1, (n + 1) * sizeof *list + n * (length + 1));
    char *place = (char *)(list + n + 1);

    if (!list)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        list[i] = place;
        place += copy_word(place, texts + i * stride, length);
    }
    list[n] = NULL;
    return list;
}

char ***argvs_of(struct room *room, const char *texts, size_t length, int count)
{
    const size_t rows = count > 0 ? (size_t)count : 0, stride = rows * length;
    size_t words = 0;
    char ***lists, **list, *place;

    for (size_t i = 0; i < rows; i++)
        words += (size_t)count_of(texts + i * length, length, stride);
    lists = room_take(room, 1, rows * sizeof *lists + (words + rows) * sizeof *list + words * (length + 1) + 1);
    if (!lists)
        return NULL;
    list = (char **)(lists + rows);
    place = (char *)(list + words + rows);
    for (size_t i = 0; i < rows; i++) {
        const int n = count_of(texts + i * length, length, stride);

        lists[i] = list;
        for (int k = 0; k < n; k++) {
            *list++ = place;
            place += copy_word(place, texts + i * length + (size_t)k * stride, length);
        }
        *list++ = NULL;
    }
    return lists;
}

/* --- errors --- */

int fortran_fail(int *code, int error_class, const char *text)
{
    if (!*code && (PMPI_Add_error_code(error_class, code) || PMPI_Add_error_string(*code, text)))
        *code = error_class;
    PMPI_Comm_call_errhandler(MPI_COMM_SELF, *code);
    return *code;
}

int no_memory(void)
{
    PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
}
