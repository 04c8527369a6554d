/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §15.3.3 to §15.3.6, §15.3.9: the interface comes up before MPI and as often as one likes; texts are
 * returned as far as there is room; every control variable can be found by its name and read; categories name what
 * there is; wrong indices, names and handles are told by codes. With "write": a variable is set before MPI is
 * initialised.
 */
#include <stdlib.h>

#include "mpitest.h"

enum { TEXT = 512 };

static void closed(void)
{
    int num, provided;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;

    CHECK_INT(MPI_T_cvar_get_num(&num), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_INT(MPI_T_cvar_handle_free(&handle), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_INT(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_INT(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
    CHECK_INT(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS);
    CHECK(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE, "provided is %d", provided);
    CHECK_INT(MPI_T_finalize(), MPI_SUCCESS);
    CHECK_INT(MPI_T_cvar_get_num(&num), MPI_SUCCESS);
}

/* The same text with less room, with none, and without a place for it. */
static void texts(int index, const char *name)
{
    char part[TEXT];
    int len = 4, desc_len = 0, all = (int)strlen(name) + 1;

    memset(part, 'x', sizeof part);
    CHECK_INT(MPI_T_cvar_get_info(index, part, &len, NULL, NULL, NULL, NULL, &desc_len, NULL, NULL), MPI_SUCCESS);
    CHECK(!strncmp(part, name, 3) && !part[3] && part[4] == 'x', "\"%s\" with room for 4 is \"%.5s\"", name, part);
    CHECK_INT(len, all);
    CHECK(desc_len > 1, "the length of the description is %d", desc_len);
    len = 0;
    part[0] = 'x';
    CHECK_INT(MPI_T_cvar_get_info(index, part, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_SUCCESS);
    CHECK(len == all && part[0] == 'x', "without room: length %d, text %.1s", len, part);
    len = 100;
    CHECK_INT(MPI_T_cvar_get_info(index, NULL, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_SUCCESS);
    CHECK_INT(len, all);
    CHECK_INT(MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_SUCCESS);
}

static void enumeration(MPI_T_enum e, int value)
{
    char name[TEXT], item[TEXT];
    int num, len = TEXT, item_len = TEXT, found = 0, item_value;

    CHECK_INT(MPI_T_enum_get_info(e, &num, name, &len), MPI_SUCCESS);
    CHECK(num > 0 && (int)strlen(name) + 1 == len, "enumeration \"%s\" has %d items, length %d", name, num, len);
    for (int i = 0; i < num; i++, item_len = TEXT) {
        CHECK_INT(MPI_T_enum_get_item(e, i, &item_value, item, &item_len), MPI_SUCCESS);
        CHECK((int)strlen(item) + 1 == item_len, "item \"%s\" has length %d", item, item_len);
        found += item_value == value;
    }
    CHECK_INT(found, 1);
    CHECK_INT(MPI_T_enum_get_item(e, num, &item_value, NULL, NULL), MPI_T_ERR_INVALID_ITEM);
    CHECK_INT(MPI_T_enum_get_item(e, -1, &item_value, NULL, NULL), MPI_T_ERR_INVALID_ITEM);
}

static void read_one(int index, MPI_Datatype type, MPI_T_enum e, const char *name)
{
    MPI_T_cvar_handle handle;
    union { MPI_Count count; int number; char text[8192]; } value;
    int count;

    CHECK_INT(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count), MPI_SUCCESS);
    CHECK(count > 0 && count <= 8192 && (type == MPI_CHAR || count == 1), "%s has %d elements", name, count);
    CHECK_INT(MPI_T_cvar_read(handle, &value), MPI_SUCCESS);
    if (type == MPI_CHAR)
        CHECK(memchr(value.text, 0, (size_t)count), "%s has no end", name);
    if (e != MPI_T_ENUM_NULL)
        enumeration(e, value.number);
    CHECK_INT(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);
    CHECK(handle == MPI_T_CVAR_HANDLE_NULL, "a freed handle is not null");
    CHECK_INT(MPI_T_cvar_read(handle, &value), MPI_T_ERR_INVALID_HANDLE);
}

static void all_variables(void)
{
    char name[TEXT], desc[TEXT];
    int num, found;

    CHECK_INT(MPI_T_cvar_get_num(&num), MPI_SUCCESS);
    for (int i = 0; i < num; i++) {
        int len = TEXT, desc_len = TEXT, verbosity, bind, scope;
        MPI_Datatype type;
        MPI_T_enum e;

        CHECK_INT(MPI_T_cvar_get_info(i, name, &len, &verbosity, &type, &e, desc, &desc_len, &bind, &scope),
                  MPI_SUCCESS);
        CHECK((int)strlen(name) + 1 == len && (int)strlen(desc) + 1 == desc_len, "%s: lengths %d and %d", name, len,
              desc_len);
        CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL, "%s: verbosity %d",
              name, verbosity);
        CHECK(scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ, "%s: scope %d", name, scope);
        CHECK_INT(MPI_T_cvar_get_index(name, &found), MPI_SUCCESS);
        CHECK_INT(found, i);
        texts(i, name);
        if (bind == MPI_T_BIND_NO_OBJECT)
            read_one(i, type, e, name);
    }
    CHECK_INT(MPI_T_cvar_get_info(num, name, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_INT(MPI_T_cvar_get_info(-1, name, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_INT(MPI_T_cvar_get_index("no such variable", &found), MPI_T_ERR_INVALID_NAME);
    CHECK_INT(MPI_T_cvar_get_index(NULL, &found), MPI_T_ERR_INVALID);
    CHECK_INT(MPI_T_cvar_get_num(NULL), MPI_T_ERR_INVALID);
}

/* Each list of a category has what its info says, and no index that is none. */
static void check_list(int (*get)(int, int, int[]), int category, int count, int all)
{
    int indices[1024];

    indices[count] = -7;
    CHECK_INT(get(category, count, indices), MPI_SUCCESS);
    for (int i = 0; i < count; i++)
        CHECK(indices[i] >= 0 && indices[i] < all, "category %d has member %d of %d", category, indices[i], all);
    CHECK_INT(indices[count], -7);
    CHECK_INT(get(-1, count, indices), MPI_T_ERR_INVALID_INDEX);
}

static void categories(void)
{
    int num, cvars, pvars, events, stamp, again, sum = 0;
    char name[TEXT];

    CHECK_INT(MPI_T_category_get_num(&num), MPI_SUCCESS);
    CHECK_INT(MPI_T_cvar_get_num(&cvars), MPI_SUCCESS);
    CHECK_INT(MPI_T_pvar_get_num(&pvars), MPI_SUCCESS);
    CHECK_INT(MPI_T_event_get_num(&events), MPI_SUCCESS);
    CHECK_INT(MPI_T_category_changed(&stamp), MPI_SUCCESS);
    for (int i = 0; i < num; i++) {
        int len = TEXT, desc_len = 0, c, p, e, sub, found;

        CHECK_INT(MPI_T_category_get_info(i, name, &len, NULL, &desc_len, &c, &p, &sub), MPI_SUCCESS);
        CHECK_INT(MPI_T_category_get_num_events(i, &e), MPI_SUCCESS);
        CHECK_INT(MPI_T_category_get_index(name, &found), MPI_SUCCESS);
        CHECK_INT(found, i);
        check_list(MPI_T_category_get_cvars, i, c, cvars);
        check_list(MPI_T_category_get_pvars, i, p, pvars);
        check_list(MPI_T_category_get_events, i, e, events);
        check_list(MPI_T_category_get_categories, i, sub, num);
        sum += c + p + e;
    }
    CHECK_INT(MPI_T_category_changed(&again), MPI_SUCCESS);
    CHECK_INT(again, stamp);
    if (test_is_parley())
        CHECK_INT(sum, cvars + pvars + events);
    CHECK_INT(MPI_T_category_get_info(num, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_INT(MPI_T_category_get_num_events(num, &num), MPI_T_ERR_INVALID_INDEX);
    CHECK_INT(MPI_T_category_get_index("no such category", &num), MPI_T_ERR_INVALID_NAME);
}

static MPI_T_cvar_handle open_variable(const char *name)
{
    MPI_T_cvar_handle handle;
    int index, count;

    CHECK_INT(MPI_T_cvar_get_index(name, &index), MPI_SUCCESS);
    CHECK_INT(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count), MPI_SUCCESS);
    return handle;
}

/* Settings of every room. */
static void write_others(void)
{
    MPI_T_cvar_handle order = open_variable("PARLEY_REPRODUCIBLE"), shared = open_variable("PARLEY_SHARED_COLL");
    int on = 1;
    MPI_Count none = 0;

    CHECK_INT(MPI_T_cvar_write(order, &on), MPI_SUCCESS);
    CHECK_INT(MPI_T_cvar_write(shared, &none), MPI_SUCCESS);
}

static void check_others(void)
{
    MPI_T_cvar_handle order = open_variable("PARLEY_REPRODUCIBLE"), shared = open_variable("PARLEY_SHARED_COLL");
    int is_on = -1;
    MPI_Count value = -1;

    CHECK_INT(MPI_T_cvar_read(order, &is_on), MPI_SUCCESS);
    CHECK_INT(is_on, 1);
    CHECK_INT(MPI_T_cvar_read(shared, &value), MPI_SUCCESS);
    CHECK_INT(value, 0);
}

/* Parley's own: what is written before MPI counts, also against the environment, and cannot be changed later. */
static void write_before(void)
{
    MPI_T_cvar_handle limit = open_variable("PARLEY_UNEXPECTED_MAX"), warn = open_variable("PARLEY_WARN");
    MPI_T_cvar_handle rules = open_variable("PARLEY_COLL_RULES");
    MPI_Count bytes = 1 << 20;
    char text[4096];
    int off = 0, two = 2;

    setenv("PARLEY_UNEXPECTED_MAX", "4m", 1);
    CHECK_INT(MPI_T_cvar_read(limit, &bytes), MPI_SUCCESS);
    CHECK_INT(bytes, 4 << 20);
    bytes = 2 << 20;
    CHECK_INT(MPI_T_cvar_write(limit, &bytes), MPI_SUCCESS);
    bytes = -5;
    CHECK_INT(MPI_T_cvar_write(limit, &bytes), MPI_T_ERR_INVALID);
    CHECK_INT(MPI_T_cvar_write(warn, &off), MPI_SUCCESS);
    CHECK_INT(MPI_T_cvar_write(warn, &two), MPI_T_ERR_INVALID);
    CHECK_INT(MPI_T_cvar_read(rules, text), MPI_SUCCESS);
    CHECK(!*text, "PARLEY_COLL_RULES is \"%s\"", text);
    memset(text, 'x', sizeof text);
    CHECK_INT(MPI_T_cvar_write(rules, text), MPI_T_ERR_INVALID);
}

static void write_after(void)
{
    MPI_T_cvar_handle limit = open_variable("PARLEY_UNEXPECTED_MAX"), warn = open_variable("PARLEY_WARN");
    MPI_Count bytes = 0;
    int on = 1;

    CHECK_INT(MPI_T_cvar_read(limit, &bytes), MPI_SUCCESS);
    CHECK_INT(bytes, 2 << 20);
    CHECK_INT(MPI_T_cvar_write(limit, &bytes), MPI_T_ERR_CVAR_SET_NOT_NOW);
    CHECK_INT(MPI_T_cvar_read(warn, &on), MPI_SUCCESS);
    CHECK_INT(on, 0);
    on = 1;
    CHECK_INT(MPI_T_cvar_write(warn, &on), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    const int writes = argc > 1 && !strcmp(argv[1], "write");
    int provided;

    closed();
    all_variables();
    categories();
    if (writes) {
        write_before();
        write_others();
    }
    test_begin(&argc, &argv);
    all_variables();
    categories();
    if (writes) {
        write_after();
        check_others();
    }
    CHECK_INT(MPI_T_finalize(), MPI_SUCCESS);
    CHECK_INT(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_INT(MPI_T_init_thread(-5, &provided), MPI_T_ERR_INVALID);
    CHECK_INT(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS); /* and is left open */
    return test_end();
}
