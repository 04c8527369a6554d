/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: finding the file of a program before anything is started, and the environment it gets. */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/control.h"

extern char **environ;

enum { VARIABLE_SIZE = 128 };

/* Marks of a launcher around us, which means us with them and not our ranks. A * stands for the rest of the name. */
static const char *const foreign_variables[] = {
    "PMI_FD",           "PMI_RANK",         "PMI_SIZE",         "PMI_PORT",      "PMI_ID",
    "PMI_SPAWNED",      "PMIX_RANK",        "PMIX_NAMESPACE",   "PMIX_SERVER_URI*", "PMIX_ID",
    "HYDI_CONTROL_FD",  "OMPI_COMM_WORLD_*", "JSM_NAMESPACE_*", "PRTE_LAUNCHED", "MPI_LOCALNRANKS",
    "MPI_LOCALRANKID",  "OMPI_UNIVERSE_SIZE",
};

/* Variables of ours that must not reach the ranks from outside: those of a job around this one, and the wish
 * to be a singleton, which would make N worlds of size 1. Set by -env or -x they do. */
static const char *const own_variables[] = {
    CONTROL_JOB_VARIABLE, "PARLEY_RANK",       "PARLEY_SIZE",
    "PARLEY_LOCAL_RANK",  "PARLEY_LOCAL_SIZE", "PARLEY_SINGLETON",
    "PARLEY_SOFT",        "PARLEY_FILE",       "PARLEY_MEMORY_KINDS",
    "PARLEY_MAXPROCS",    "PARLEY_ERRHANDLER",
};

/* What a rank finds of its place: by our names, and by those that scripts know from Open MPI's mpirun and from Hydra
 * (MPICH, Intel MPI). The library does not take the latter for marks of such a launcher (pm/fingerprint.c). */
enum rank_place { RANK, SIZE, LOCAL_RANK, LOCAL_SIZE, NODE_RANK, UNIVERSE, PLACES, JOB = PLACES };

static const struct {
    const char *name;
    enum rank_place place;
    bool is_foreign;
} rank_variables[RANK_VARIABLES] = {
    { "PARLEY_RANK", RANK, false },
    { "PARLEY_SIZE", SIZE, false },
    { "PARLEY_LOCAL_RANK", LOCAL_RANK, false },
    { "PARLEY_LOCAL_SIZE", LOCAL_SIZE, false },
    { CONTROL_JOB_VARIABLE, JOB, false },
    { "OMPI_COMM_WORLD_RANK", RANK, true },
    { "OMPI_COMM_WORLD_SIZE", SIZE, true },
    { "OMPI_COMM_WORLD_LOCAL_RANK", LOCAL_RANK, true },
    { "OMPI_COMM_WORLD_LOCAL_SIZE", LOCAL_SIZE, true },
    { "OMPI_COMM_WORLD_NODE_RANK", NODE_RANK, true },
    { "OMPI_UNIVERSE_SIZE", UNIVERSE, true },
    { "PMI_RANK", RANK, true },
    { "PMI_SIZE", SIZE, true },
    { "MPI_LOCALRANKID", LOCAL_RANK, true },
    { "MPI_LOCALNRANKS", LOCAL_SIZE, true },
};

static bool is_variable(const char *text, const char *name, size_t length)
{
    return !strncmp(text, name, length) && text[length] == '=';
}

static bool is_foreign(const char *text)
{
    for (size_t i = 0; i < ARRAY_LEN(foreign_variables); i++) {
        const char *name = foreign_variables[i];
        const size_t length = strlen(name);
        if (name[length - 1] == '*' ? !strncmp(text, name, length - 1) : is_variable(text, name, length))
            return true;
    }
    return false;
}

static bool is_own(const char *text)
{
    for (size_t i = 0; i < ARRAY_LEN(own_variables); i++)
        if (is_variable(text, own_variables[i], strlen(own_variables[i])))
            return true;
    return false;
}

/* Is the variable of `text` named in the list, which may have "BEGINNING*"? */
static bool is_named(const struct strings *names, const char *text)
{
    for (size_t i = 0; i < names->count; i++) {
        const size_t length = strlen(names->at[i]);
        if (is_variable(text, names->at[i], length) ||
            (length > 0 && names->at[i][length - 1] == '*' && !strncmp(text, names->at[i], length - 1)))
            return true;
    }
    return false;
}

void program_set(struct strings *environment, char *text)
{
    const size_t length = strcspn(text, "=");

    for (size_t i = 0; i < environment->count; i++)
        if (is_variable(environment->at[i], text, length)) {
            environment->at[i] = text;
            return;
        }
    strings_add(environment, text);
}

const char *program_variable(const struct app *app, const char *name)
{
    const size_t length = strlen(name);

    for (size_t i = 0; i < app->env.count; i++)
        if (is_variable(app->env.at[i], name, length))
            return app->env.at[i] + length + 1;
    return NULL;
}

void program_set_variable(struct app *app, char *text)
{
    strings_add(&app->kept, text);
    program_set(&app->env, text);
}

/* A program that is started elsewhere must not find our directory in PWD. */
static void set_pwd(struct app *app)
{
    char *text = need(PATH_MAX + 4), *full = realpath(app->wdir, NULL);

    strings_add(&app->kept, text);
    if (full) {
        snprintf(text, PATH_MAX + 4, "PWD=%s", full);
        program_set(&app->env, text);
    }
    free(full);
}

/* What the program was started with, for MPI_INFO_ENV. */
static void set_request(struct app *app, const char *name, const char *value)
{
    const size_t size = strlen(name) + (value ? strlen(value) : 0) + 2;
    char *text = value ? need(size) : NULL;

    if (!value)
        return;
    snprintf(text, size, "%s=%s", name, value);
    strings_add(&app->env, text);
    strings_add(&app->kept, text);
}

static void make_environment(const struct options *options, struct app *app)
{
    const struct pass *pass = app->pass.is_said ? &app->pass : &options->pass;
    char ranks[16];

    for (char **text = environ; *text; text++)
        if (!is_own(*text) && !is_foreign(*text) && is_named(&pass->names, *text) == pass->is_list)
            strings_add(&app->env, *text);
    if (app->wdir)
        set_pwd(app);
    for (size_t i = 0; i < options->set.count; i++)
        program_set(&app->env, options->set.at[i]);
    for (size_t i = 0; i < app->set.count; i++)
        program_set(&app->env, app->set.at[i]);
    snprintf(ranks, sizeof ranks, "%d", app->ranks);
    set_request(app, "PARLEY_MAXPROCS", ranks);
    set_request(app, "PARLEY_ERRHANDLER", job_errhandler_name(app->errhandler));
    set_request(app, "PARLEY_SOFT", app->soft);
    set_request(app, "PARLEY_FILE", app->file);
    set_request(app, "PARLEY_MEMORY_KINDS", app->memory_kinds);
}

/* For a variable of the rank's place. Not for one by a foreign name that the user has set or taken away. */
static void make_room(const struct options *options, struct app *app, int i)
{
    const struct pass *pass = app->pass.is_said ? &app->pass : &options->pass;
    char text[VARIABLE_SIZE];

    snprintf(text, sizeof text, "%s=", rank_variables[i].name);
    if (rank_variables[i].is_foreign &&
        (program_variable(app, rank_variables[i].name) || (!pass->is_list && is_named(&pass->names, text))))
        return;
    app->own[i] = need(VARIABLE_SIZE);
    strcpy(app->own[i], text);
    strings_add(&app->env, app->own[i]);
    strings_add(&app->kept, app->own[i]);
}

void program_free(struct app *app)
{
    for (size_t i = 0; i < app->kept.count; i++)
        mem_free(app->kept.at[i]);
    if (app->program && app->program != app->argv.at[0])
        mem_free(app->program);
    mem_free(app->argv.at);
    mem_free(app->set.at);
    mem_free(app->env.at);
    mem_free(app->kept.at);
}

/* How many of the world's processes are on this machine, before number `end`. */
static int count_local(const struct job *job, const struct world *world, int end)
{
    int count = 0;

    for (int number = 0; number < end; number++)
        count += !is_far(job, world->first + number);
    return count;
}

/* The same of all worlds, before `rank`; processes of other jobs that have a number here are none. */
static int count_node(const struct job *job, int rank)
{
    int count = 0;

    for (int i = 0; i < rank; i++)
        count += job->ranks[i].world && job->ranks[i].world->number >= 0 && !is_far(job, i);
    return count;
}

void program_set_rank(struct job *job, int rank)
{
    const struct rank *r = &job->ranks[rank];
    char *const *own = r->app->own;
    const struct job_head *head = job->head;
    const int size = r->world->size;
    const int places[PLACES] = {
        [RANK] = r->number,
        [SIZE] = size,
        [LOCAL_RANK] = count_local(job, r->world, r->number),
        [LOCAL_SIZE] = count_local(job, r->world, size),
        [NODE_RANK] = count_node(job, rank),
        [UNIVERSE] = (int)head->universe > size ? (int)head->universe : size,
    };

    for (int i = 0; i < RANK_VARIABLES; i++) {
        if (own[i] && rank_variables[i].place != JOB)
            snprintf(own[i], VARIABLE_SIZE, "%s=%d", rank_variables[i].name, places[rank_variables[i].place]);
        else if (own[i])
            snprintf(own[i], VARIABLE_SIZE, CONTROL_JOB_VARIABLE "=%d:%d:%d:%d:%016llx%016llx:%d:%d:%d:%u",
                     CONTROL_VERSION, (int)getpid(), job->segment_fd, job->rank_control_fd,
                     (unsigned long long)head->token[0], (unsigned long long)head->token[1], r->number, size, rank,
                     head->slots);
    }
}

/* Is `path`, seen from directory `wdir_fd`, a file we may execute? errno tells why not. */
static bool is_program(int wdir_fd, const char *path)
{
    struct stat st;

    if (fstatat(wdir_fd, path, &st, 0))
        return false;
    if (!S_ISREG(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : EACCES;
        return false;
    }
    return !faccessat(wdir_fd, path, X_OK, AT_EACCESS);
}

/* The file `name` in one of `dirs`; NULL if none has it. *denied gets the path of one that may not be
 * executed. */
static char *search(int wdir_fd, const char *dirs, const char *name, char **denied)
{
    while (dirs) {
        const size_t length = strcspn(dirs, ":"), size = length + strlen(name) + 3;
        char *path = need(size);
        snprintf(path, size, "%.*s/%s", length ? (int)length : 1, length ? dirs : ".", name);
        if (is_program(wdir_fd, path))
            return path;
        if (errno == EACCES && !*denied && !faccessat(wdir_fd, path, F_OK, 0)) /* not: a closed directory */
            *denied = path;
        else
            mem_free(path);
        dirs = dirs[length] ? dirs + length + 1 : NULL;
    }
    return NULL;
}

static bool PRINTF_LIKE(3, 4) refuse(struct refusal *refusal, int exit_code, const char *format, ...)
{
    va_list args;

    refusal->exit_code = exit_code;
    va_start(args, format);
    vsnprintf(refusal->text, sizeof refusal->text, format, args);
    va_end(args);
    return false;
}

/* errno says why. */
static bool not_runnable(const struct app *app, const char *path, struct refusal *refusal)
{
    const int error = errno;
    const char *where = app->wdir ? app->wdir : ".";

    if (error == ENOENT || error == ENOTDIR)
        return refuse(refusal, EXIT_NOT_FOUND,
                      "E0103: there is no program %s (looked from directory %s)\n"
                      "check the name; a program of the current directory is written ./NAME",
                      path, where);
    if (error == EISDIR)
        return refuse(refusal, EXIT_CANNOT_RUN, "E0104: %s is a directory, not a program", path);
    return refuse(refusal, EXIT_CANNOT_RUN,
                  "E0104: %s cannot be executed: %s\nmake it executable (chmod +x), or name its interpreter first",
                  path, strerror(error));
}

/* A name without a slash: -path, then PATH of the environment the program will have, or if that has none, ours. */
static bool find_by_name(struct app *app, int wdir_fd, struct refusal *refusal)
{
    const char *name = app->argv.at[0], *dirs = program_variable(app, "PATH");
    char *denied = NULL, *found = search(wdir_fd, app->path, name, &denied);

    if (!dirs)
        dirs = getenv("PATH");
    if (!found)
        found = search(wdir_fd, dirs ? dirs : "/usr/local/bin:/usr/bin:/bin", name, &denied);
    app->program = found;
    if (!found && denied) {
        errno = EACCES;
        not_runnable(app, denied, refusal);
    } else if (!found) {
        refuse(refusal, EXIT_NOT_FOUND, "E0103: there is no program %s in %s%sPATH\n%s", name,
               app->path ? app->path : "", app->path ? " or " : "",
               is_program(wdir_fd, name) ? "the current directory has one: write it as ./NAME"
                                         : "check the name, or give the whole path");
    }
    mem_free(denied);
    return found;
}

char *program_search(const struct app *app, const char *name)
{
    const char *dirs = program_variable(app, "PATH");
    char *denied = NULL, *found = search(AT_FDCWD, dirs ? dirs : "/usr/local/bin:/usr/bin:/bin", name, &denied);

    mem_free(denied);
    return found;
}

bool program_prepare(const struct options *options, struct app *app, struct refusal *refusal)
{
    bool is_found = true;
    const int wdir_fd = app->wdir ? open(app->wdir, O_PATH | O_DIRECTORY | O_CLOEXEC) : AT_FDCWD;

    if (wdir_fd < 0 && wdir_fd != AT_FDCWD)
        return refuse(refusal, EXIT_NOT_FOUND, "E0105: the working directory %s of %s: %s", app->wdir,
                      app->argv.at[0], strerror(errno));
    make_environment(options, app);
    if (!strchr(app->argv.at[0], '/'))
        is_found = find_by_name(app, wdir_fd, refusal);
    else if (is_program(wdir_fd, app->argv.at[0]))
        app->program = app->argv.at[0];
    else
        is_found = not_runnable(app, app->argv.at[0], refusal);
    if (is_found && !options->no_doors && door_prepare(app, wdir_fd) && (options->profile || options->trace))
        is_found = refuse(refusal, EXIT_SYSTEM,
                          "E0124: --profile and --trace do not know handles and statuses of programs built for another "
                          "MPI, as %s is\nrun it without them",
                          app->argv.at[0]);
    for (int i = 0; i < RANK_VARIABLES; i++)
        make_room(options, app, i);
    if (wdir_fd >= 0)
        close(wdir_fd);
    return is_found;
}
