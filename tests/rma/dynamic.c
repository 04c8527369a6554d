/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §12.2.4: memory is attached to a dynamic window and detached, in pieces, at any time; displacements are
 * addresses at the target. */
#include "flavors.h"

enum { PIECES = 100, LEN = 64 };

static MPI_Win win;

static MPI_Aint address_at(int rank, void *p)
{
    MPI_Aint own = 0;

    if (p)
        CHECK_OK(MPI_Get_address(p, &own));
    CHECK_OK(MPI_Bcast(&own, 1, MPI_AINT, rank, MPI_COMM_WORLD));
    return own;
}

/* Pieces that touch may be accessed as one. */
static void touching(void)
{
    char *mem = test_alloc(3 * LEN), got[2 * LEN];
    const int peer = (test_rank + 1) % test_size;
    MPI_Aint at = 0;

    CHECK_OK(MPI_Win_attach(win, mem + LEN, LEN));
    CHECK_OK(MPI_Win_attach(win, mem, LEN));
    CHECK_OK(MPI_Win_attach(win, mem + 2 * LEN, LEN));
    test_fill(mem, 3 * LEN, (uint64_t)test_rank);
    for (int rank = 0; rank < test_size; rank++) {
        const MPI_Aint there = address_at(rank, rank == test_rank ? mem : NULL);

        if (rank == peer)
            at = there;
    }
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Get(got, 2 * LEN, MPI_BYTE, peer, MPI_Aint_add(at, 0), 2 * LEN, MPI_BYTE, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_BYTES(got, 2 * LEN, (uint64_t)peer);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    for (int i = 0; i < 3; i++)
        CHECK_OK(MPI_Win_detach(win, mem + i * LEN));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    free(mem);
}

/* One datatype over two pieces with nothing between them; by far and near ones, all sorts of calls. */
static void apart(void)
{
    char *mem = test_alloc(3 * LEN), data[2 * LEN], got[2 * LEN], old[2 * LEN];
    const int peer = (test_rank + 1) % test_size, lengths[2] = { LEN, LEN };
    MPI_Aint at[2] = { 0, 0 };
    MPI_Datatype both;

    CHECK_OK(MPI_Win_attach(win, mem, LEN));
    CHECK_OK(MPI_Win_attach(win, mem + 2 * LEN, LEN));
    memset(mem, 0, 3 * LEN);
    test_fill(data, sizeof data, (uint64_t)test_rank);
    for (int rank = 0; rank < test_size; rank++) {
        const MPI_Aint there = address_at(rank, rank == test_rank ? mem : NULL);

        if (rank == peer)
            at[0] = there;
    }
    at[1] = MPI_Aint_add(at[0], 2 * LEN);
    CHECK_OK(MPI_Type_create_hindexed(2, lengths, at, MPI_BYTE, &both));
    CHECK_OK(MPI_Type_commit(&both));
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_OK(MPI_Put(data, 2 * LEN, MPI_BYTE, peer, 0, 1, both, win));
    CHECK_OK(MPI_Win_flush(peer, win));
    CHECK_OK(MPI_Get(got, 2 * LEN, MPI_BYTE, peer, 0, 1, both, win));
    CHECK_OK(MPI_Win_flush(peer, win));
    CHECK_BYTES(got, 2 * LEN, (uint64_t)test_rank);
    CHECK_OK(MPI_Get_accumulate(data, 2 * LEN, MPI_BYTE, old, 2 * LEN, MPI_BYTE, peer, 0, 1, both, MPI_REPLACE, win));
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_BYTES(old, 2 * LEN, (uint64_t)test_rank);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    test_fill(data, sizeof data, (uint64_t)((test_rank + test_size - 1) % test_size));
    CHECK(!memcmp(mem, data, LEN) && !memcmp(mem + 2 * LEN, data + LEN, LEN), "not what was put");
    for (int i = LEN; i < 2 * LEN; i++)
        CHECK_INT(mem[i], 0);
    CHECK_OK(MPI_Win_detach(win, mem));
    CHECK_OK(MPI_Win_detach(win, mem + 2 * LEN));
    CHECK_OK(MPI_Type_free(&both));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    free(mem);
}

/* A list of items that rank 0 attaches one by one; the others walk it. */
struct item {
    MPI_Aint next;
    long value;
};

static void list(void)
{
    struct item *items[PIECES];
    MPI_Aint at = 0, first;

    if (test_rank == 0) {
        for (int i = 0; i < PIECES; i++) {
            items[i] = test_alloc(sizeof **items);
            *items[i] = (struct item){ at, i };
            CHECK_OK(MPI_Win_attach(win, items[i], sizeof **items));
            CHECK_OK(MPI_Get_address(items[i], &at));
        }
    }
    first = address_at(0, test_rank == 0 ? items[PIECES - 1] : NULL);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    for (int i = PIECES - 1; i >= 0; i--) {
        struct item item;

        CHECK_OK(MPI_Get(&item, sizeof item, MPI_BYTE, 0, first, sizeof item, MPI_BYTE, win));
        CHECK_OK(MPI_Win_flush(0, win));
        CHECK_INT(item.value, i);
        first = item.next;
    }
    CHECK_OK(MPI_Win_unlock(0, win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < PIECES && test_rank == 0; i++) {
        CHECK_OK(MPI_Win_detach(win, items[(i * 7) % PIECES]));
        free(items[(i * 7) % PIECES]);
    }
}

static void errors(void)
{
    char mem[4 * LEN], *base;
    MPI_Aint size;
    MPI_Win other;
    int unit, x = 0;

    CHECK_OK(MPI_Win_attach(win, mem + LEN, LEN));
    CHECK_CLASS(MPI_Win_attach(win, mem + LEN, LEN), MPI_ERR_RMA_ATTACH);
    CHECK_CLASS(MPI_Win_attach(win, mem + 1, LEN), MPI_ERR_RMA_ATTACH);
    CHECK_CLASS(MPI_Win_attach(win, mem, 4 * LEN), MPI_ERR_RMA_ATTACH);
    CHECK_OK(MPI_Win_attach(win, mem, LEN));
    CHECK_OK(MPI_Win_attach(win, mem + 2 * LEN, 0));
    CHECK_CLASS(MPI_Win_detach(win, mem + 1), MPI_ERR_RMA_ATTACH);
    CHECK_OK(MPI_Win_attach(win, mem + LEN + 8, 0)); /* within; it hides nothing */
    CHECK_CLASS(MPI_Win_attach(win, mem + LEN + 2, 2), MPI_ERR_RMA_ATTACH);
    CHECK_CLASS(MPI_Win_attach(win, mem + LEN + 8, 2), MPI_ERR_RMA_ATTACH);
    CHECK_OK(MPI_Win_detach(win, mem + LEN + 8));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_CLASS(MPI_Put(&x, 1, MPI_INT, test_rank, (MPI_Aint)(mem + 2 * LEN - 3), 1, MPI_INT, win),
                MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Put(&x, 1, MPI_INT, test_rank, (MPI_Aint)(mem + 2 * LEN - 4), 1, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_detach(win, mem + LEN));
    CHECK_OK(MPI_Win_detach(win, mem + 2 * LEN));
    CHECK_OK(MPI_Win_detach(win, mem));
    CHECK_CLASS(MPI_Put(&x, 1, MPI_INT, test_rank, (MPI_Aint)mem, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_CLASS(MPI_Win_shared_query(win, 0, &size, &unit, &base), MPI_ERR_RMA_FLAVOR);
    CHECK_OK(MPI_Win_create(mem, LEN, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other));
    CHECK_OK(MPI_Win_set_errhandler(other, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Win_attach(other, mem, LEN), MPI_ERR_RMA_FLAVOR);
    CHECK_CLASS(MPI_Win_detach(other, mem), MPI_ERR_RMA_FLAVOR);
    CHECK_OK(MPI_Win_free(&other));
}

/* The call says so, or if the rank is on another machine, the flush that follows it. */
static void check_refused(int rc, int rank)
{
    if (rc)
        CHECK_CLASS(rc, MPI_ERR_RMA_RANGE);
    else
        CHECK_CLASS(MPI_Win_flush(rank, win), MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Win_flush(rank, win)); /* once */
}

/* Nothing is done where nothing is attached, and all that comes behind is. */
static void refused(void)
{
    int *mem = test_alloc(2 * LEN), x = 5, got = -1, old = -1;
    const int peer = (test_rank + 1) % test_size;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype gaps;
    MPI_Aint at = 0;

    memset(mem, 0, 2 * LEN);
    CHECK_OK(MPI_Win_attach(win, mem, LEN));
    for (int rank = 0; rank < test_size; rank++) {
        const MPI_Aint there = address_at(rank, rank == test_rank ? mem : NULL);

        if (rank == peer)
            at = there;
    }
    CHECK_OK(MPI_Win_lock_all(0, win));
    check_refused(MPI_Put(&x, 1, MPI_INT, peer, at + LEN, 1, MPI_INT, win), peer);
    check_refused(MPI_Get(&got, 1, MPI_INT, peer, at + LEN - 3, 1, MPI_INT, win), peer);
    check_refused(MPI_Accumulate(&x, 1, MPI_INT, peer, at + LEN, 1, MPI_INT, MPI_SUM, win), peer);
    check_refused(MPI_Fetch_and_op(&x, &got, MPI_INT, peer, at + LEN, MPI_SUM, win), peer);
    check_refused(MPI_Compare_and_swap(&x, &old, &got, MPI_INT, peer, at + LEN, win), peer);
    CHECK_OK(MPI_Type_vector(2, 1, LEN / 2, MPI_INT, &gaps)); /* the second one */
    CHECK_OK(MPI_Type_commit(&gaps));
    check_refused(MPI_Put(mem, 2, MPI_INT, peer, at, 1, gaps, win), peer);
    CHECK_OK(MPI_Type_free(&gaps));
    if (!MPI_Rget(&got, 1, MPI_INT, peer, at + LEN, 1, MPI_INT, win, &request))
        CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Put(&x, 1, MPI_INT, peer, at, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_flush(peer, win));
    CHECK_OK(MPI_Fetch_and_op(&x, &got, MPI_INT, peer, at, MPI_SUM, win));
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_INT(got, 5);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(mem[0] == 10 && mem[LEN / 4] == 0, "memory is %d and %d", mem[0], mem[LEN / 4]);
    CHECK_OK(MPI_Win_detach(win, mem));
    free(mem);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    touching();
    apart();
    list();
    if (test_is_parley())
        errors();
    if (test_is_parley())
        refused();
    CHECK_OK(MPI_Win_free(&win));
    return test_end();
}
