/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.2.2: MPI_Finalize first deletes the attributes of MPI_COMM_SELF, in the reverse order in which they were
 * set; MPI still works then, MPI_Finalized says no, and all processes are there. */
#include "mpiattr.h"

enum { KEYS = 5 };

static int next = KEYS, sums;

static int delete_in_order(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int is_final = -1, is_self, sum = 0;

    (void)keyval, (void)extra;
    CHECK_OK(MPI_Comm_compare(comm, MPI_COMM_SELF, &is_self));
    CHECK_INT(is_self, MPI_IDENT);
    CHECK_INT((intptr_t)value, next);
    next--;
    CHECK_OK(MPI_Finalized(&is_final));
    CHECK_INT(is_final, 0);
    CHECK_OK(MPI_Allreduce(&(int){ 1 }, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, test_size);
    sums++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int key[KEYS], late = -1;

    test_begin(&argc, &argv);
    for (int i = 0; i < KEYS; i++)
        NEEDS(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_in_order, &key[i], NULL));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, key[2], attr_word(1)));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, key[0], attr_word(2)));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, key[4], attr_word(3)));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, key[1], attr_word(4)));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, key[3], attr_word(5)));
    for (int i = 0; i < KEYS; i += 2)
        CHECK_OK(MPI_Comm_free_keyval(&key[i]));
    CHECK_OK(MPI_Finalize());
    CHECK(next == 0 && sums == KEYS, "%d callbacks instead of %d", sums, KEYS);
    MPI_Finalized(&late);
    CHECK_INT(late, 1);
    return 0;
}
