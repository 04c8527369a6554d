/* SPDX-License-Identifier: BSD-3-Clause */
/* For launch_test.py: prints the process sets of this process and, of each name that is an argument, its members and
 * those of the communicators that come of it: made from the group by its members, and by MPI_Comm_split_type. One line
 * a rank: "0: set set | name 0,1 2 1". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char line[4096];

static void add(const char *format, const char *text, int number)
{
    snprintf(line + strlen(line), sizeof line - strlen(line), format, text, number);
}

static void list_sets(MPI_Session session)
{
    int count;

    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
    for (int i = 0; i < count; i++) {
        char name[MPI_MAX_PSET_NAME_LEN];
        int len = sizeof name;

        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &len, name);
        add(" %s", name, 0);
    }
}

static void list_members(MPI_Session session, MPI_Group group)
{
    MPI_Group world;
    int size;

    MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
    MPI_Group_size(group, &size);
    for (int i = 0; i < size; i++) {
        int rank;

        MPI_Group_translate_ranks(group, 1, &i, world, &rank);
        add("%s%d", i ? "," : "", rank);
    }
    MPI_Group_free(&world);
}

static int size_of(MPI_Comm comm)
{
    int size = 0;

    if (comm != MPI_COMM_NULL) {
        MPI_Comm_size(comm, &size);
        MPI_Comm_free(&comm);
    }
    return size;
}

static int size_by_info(MPI_Session session, const char *name)
{
    MPI_Info info;
    char value[16] = "";
    int len = sizeof value, flag;

    MPI_Session_get_pset_info(session, name, &info);
    MPI_Info_get_string(info, "mpi_size", &len, value, &flag);
    MPI_Info_free(&info);
    return atoi(value);
}

static void show_set(MPI_Session session, const char *name)
{
    MPI_Comm from_group = MPI_COMM_NULL, split;
    MPI_Info info;
    MPI_Group group;
    int rank = MPI_UNDEFINED, size = 0;

    add(" | %s ", name, 0);
    MPI_Group_from_session_pset(session, name, &group);
    if (group != MPI_GROUP_NULL) {
        list_members(session, group);
        MPI_Group_rank(group, &rank);
        MPI_Group_size(group, &size);
        if (size != size_by_info(session, name))
            add(" mpi_size is wrong", NULL, 0);
        if (rank != MPI_UNDEFINED)
            MPI_Comm_create_from_group(group, "psets", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &from_group);
        MPI_Group_free(&group);
    } else {
        add("unknown", NULL, 0);
    }
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_pset_name", name);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &split);
    MPI_Info_free(&info);
    add("%s%d", " ", size_of(from_group));
    add("%s%d", " ", size_of(split));
}

int main(int argc, char **argv)
{
    MPI_Session session;
    int rank;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    add("%s%d:", "", rank);
    list_sets(session);
    for (int i = 1; i < argc; i++)
        show_set(session, argv[i]);
    puts(line);
    fflush(stdout);
    MPI_Session_finalize(&session);
    return MPI_Finalize();
}
