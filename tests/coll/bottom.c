/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §2.5.6, §6.8, §8.7.5: where displacements are in bytes they may be addresses, and the buffer MPI_BOTTOM:
 * alltoallw and neighbor_alltoallw in all forms, with predefined and with derived types.
 */
#include "mpitest.h"

enum { FORMS = 3, MOST = 64 };

struct blocks {
    int *data;                /* of all blocks, each two ints with a gap between them */
    int counts[MOST];
    MPI_Aint places[MOST];
    MPI_Count large_counts[MOST];
    MPI_Datatype types[MOST];
};

/* Block i is of one int twice (a derived type) or of two in a row. */
static void fill(struct blocks *b, int n, MPI_Datatype apart, int first)
{
    b->data = test_alloc((size_t)n * 4 * sizeof(int));
    for (int i = 0; i < n; i++) {
        const int derived = i % 2;

        b->types[i] = derived ? apart : MPI_INT;
        b->counts[i] = derived ? 1 : 2;
        b->large_counts[i] = b->counts[i];
        CHECK_OK(MPI_Get_address(&b->data[i * 4], &b->places[i]));
        for (int k = 0; k < 4; k++)
            b->data[i * 4 + k] = first < 0 ? -1 : first * 100 + i * 2 + (derived ? k / 2 : k % 2);
    }
}

static void finish(MPI_Request *request)
{
    CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    if (*request != MPI_REQUEST_NULL)
        CHECK_OK(MPI_Request_free(request));
}

static void alltoallw(const struct blocks *s, struct blocks *r, MPI_Comm comm, int form)
{
    MPI_Request request = MPI_REQUEST_NULL;

    if (form == 0)
        CHECK_OK(MPI_Alltoallw_c(MPI_BOTTOM, s->large_counts, s->places, s->types, MPI_BOTTOM, r->large_counts,
                                 r->places, r->types, comm));
    if (form == 1)
        CHECK_OK(MPI_Ialltoallw_c(MPI_BOTTOM, s->large_counts, s->places, s->types, MPI_BOTTOM, r->large_counts,
                                  r->places, r->types, comm, &request));
    if (form == 2) {
        CHECK_OK(MPI_Alltoallw_init_c(MPI_BOTTOM, s->large_counts, s->places, s->types, MPI_BOTTOM, r->large_counts,
                                      r->places, r->types, comm, MPI_INFO_NULL, &request));
        CHECK_OK(MPI_Start(&request));
    }
    finish(&request);
}

static void neighbors(const struct blocks *s, struct blocks *r, MPI_Comm comm, int form)
{
    MPI_Request request = MPI_REQUEST_NULL;

    if (form == 0)
        CHECK_OK(MPI_Neighbor_alltoallw(MPI_BOTTOM, s->counts, s->places, s->types, MPI_BOTTOM, r->counts, r->places,
                                        r->types, comm));
    if (form == 1)
        CHECK_OK(MPI_Ineighbor_alltoallw(MPI_BOTTOM, s->counts, s->places, s->types, MPI_BOTTOM, r->counts, r->places,
                                         r->types, comm, &request));
    if (form == 2) {
        CHECK_OK(MPI_Neighbor_alltoallw_init(MPI_BOTTOM, s->counts, s->places, s->types, MPI_BOTTOM, r->counts,
                                             r->places, r->types, comm, MPI_INFO_NULL, &request));
        CHECK_OK(MPI_Start(&request));
    }
    finish(&request);
}

/* Block `i` has what block `from_block` of rank `from` had. */
static void check(const struct blocks *r, int i, int from, int from_block)
{
    const int second = i % 2 ? 2 : 1, *at = &r->data[i * 4];

    CHECK(at[0] == from * 100 + from_block * 2 && at[second] == from * 100 + from_block * 2 + 1,
          "block %d from rank %d: %d, %d", i, from, at[0], at[second]);
    CHECK_INT(at[3 - second], -1);
}

int main(int argc, char **argv)
{
    int dims[1] = { 0 }, periods[1] = { 1 };
    struct blocks out, in;
    MPI_Datatype apart;
    MPI_Comm ring;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Type_vector(2, 1, 2, MPI_INT, &apart));
    CHECK_OK(MPI_Type_commit(&apart));
    for (int form = 0; form < FORMS; form++) {
        fill(&out, test_size, apart, test_rank);
        fill(&in, test_size, apart, -1);
        alltoallw(&out, &in, MPI_COMM_WORLD, form);
        for (int rank = 0; rank < test_size; rank++)
            check(&in, rank, rank, test_rank);
        free(out.data);
        free(in.data);
    }
    CHECK_OK(MPI_Dims_create(test_size, 1, dims));
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring));
    for (int form = 0; form < FORMS; form++) {
        fill(&out, 2, apart, test_rank);
        fill(&in, 2, apart, -1);
        neighbors(&out, &in, ring, form);
        check(&in, 0, (test_rank + test_size - 1) % test_size, 1);
        check(&in, 1, (test_rank + 1) % test_size, 0);
        free(out.data);
        free(in.data);
    }
    CHECK_OK(MPI_Comm_free(&ring));
    CHECK_OK(MPI_Type_free(&apart));
    return test_end();
}
