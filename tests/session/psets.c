/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.3.2, §11.3.3, §7.3.2: the process sets mpi://WORLD and mpi://SELF are there, have names that can be asked
 * for in pieces, the key mpi_size, and give groups; an unknown name gives MPI_GROUP_NULL. */
#include "mpisession.h"

static int size_of(MPI_Session session, const char *pset)
{
    char text[16] = "";
    int len = sizeof text, flag = 0;
    MPI_Info info;

    CHECK_OK(MPI_Session_get_pset_info(session, pset, &info));
    CHECK_OK(MPI_Info_get_string(info, "mpi_size", &len, text, &flag));
    CHECK(flag, "no mpi_size of %s", pset);
    CHECK_OK(MPI_Info_free(&info));
    return atoi(text);
}

static void check_name(MPI_Session session, int n, int *is_world, int *is_self)
{
    char name[MPI_MAX_PSET_NAME_LEN + 1], cut[4] = "???";
    int len = 0, room;

    CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &len, NULL));
    CHECK(len > 6 && len <= MPI_MAX_PSET_NAME_LEN, "length %d", len);
    room = len;
    CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &room, name));
    CHECK_INT(room, len);
    CHECK_INT(strlen(name) + 1, len);
    room = sizeof cut;
    CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &room, cut));
    CHECK_INT(room, len);
    CHECK(!strncmp(cut, name, 3) && !cut[3], "\"%s\" cut is \"%s\"", name, cut);
    CHECK(size_of(session, name) >= 1, "size of %s", name);
    *is_world |= !strcmp(name, "mpi://WORLD");
    *is_self |= !strcmp(name, "mpi://SELF");
}

static void check_groups(MPI_Session session, MPI_Comm comm)
{
    MPI_Group world, self, of_comm, both;
    int size, rank, result;

    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &self));
    CHECK_OK(MPI_Comm_group(comm, &of_comm));
    CHECK_OK(MPI_Group_compare(world, of_comm, &result));
    CHECK_INT(result, MPI_IDENT);
    CHECK_OK(MPI_Group_size(self, &size));
    CHECK_OK(MPI_Group_rank(self, &rank));
    CHECK(size == 1 && rank == 0, "self has size %d and rank %d", size, rank);
    CHECK_OK(MPI_Group_intersection(world, self, &both));
    CHECK_OK(MPI_Group_compare(both, self, &result));
    CHECK_INT(result, MPI_IDENT);
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_Group_free(&self));
    CHECK_OK(MPI_Group_free(&of_comm));
    CHECK_OK(MPI_Group_free(&both));
}

int main(void)
{
    MPI_Session session = session_open();
    MPI_Comm comm = session_comm(session, "mpi://WORLD", "psets");
    int n = 0, i, is_world = 0, is_self = 0;
    MPI_Group group;

    CHECK_OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n));
    CHECK(n >= 2, "%d process sets", n);
    for (i = 0; i < n; i++)
        check_name(session, i, &is_world, &is_self);
    CHECK(is_world && is_self, "world %d, self %d", is_world, is_self);
    CHECK_INT(size_of(session, "mpi://WORLD"), test_size);
    CHECK_INT(size_of(session, "mpi://SELF"), 1);
    check_groups(session, comm);
    if (test_is_parley()) {
        CHECK_OK(MPI_Group_from_session_pset(session, "test://nothing", &group));
        CHECK(group == MPI_GROUP_NULL, "an unknown name gives a group");
        CHECK_INT(size_of(session, "MPI://self"), 1); /* names are URIs: no capitals in scheme and authority */
    }
    CHECK_OK(MPI_Comm_free(&comm));
    session_close(&session);
    return 0;
}
