/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: ranks that use another MPI. Such a library does not know this launcher, so each process is a world of its
 * own of size 1 and does the whole work; nothing fails, and nobody is told. What a process has loaded cannot be seen
 * any more when it has ended, and mpiexec does not watch its ranks. So it looks
 *   - at a rank that has not come to us, and its children, when it writes for the first time, and at all of them once
 *     after a second: libraries that are mapped (/proc/PID/maps);
 *   - when all is over, at the programs of ranks that never came: libraries that they are linked with, as the dynamic
 *     linker lists them.
 * To be linked with an MPI is no fault; something besides it must name a function that initialises MPI. A script
 * that has ended within a second without a word is not seen. A job of one rank is right with any MPI. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "launch.h"

#define LOOK_SECONDS 1.0

enum { CHUNK = 65536, TEXT_MAX = 16 << 20, MAX_DEPTH = 5 };

/* A text with paths in it. */
struct text {
    char *at;
    size_t length, room;
};

static void read_text(struct text *text, int fd)
{
    ssize_t got = 1;

    while (got > 0 && text->length < TEXT_MAX) {
        if (text->room - text->length < CHUNK)
            text->at = need_more(text->at, text->room += 2 * CHUNK);
        got = read(fd, text->at + text->length, text->room - text->length - 1);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            text->length += (size_t)got;
    }
    if (text->at)
        text->at[text->length] = 0;
}

/* The next absolute path: in a line, from the first slash to its end or to " (". NULL: no more. */
static const char *next_path(const char **at, size_t *length)
{
    while (**at) {
        const size_t line = strcspn(*at, "\n");
        const char *start = memchr(*at, '/', line), *end = *at + line;
        *at = *end ? end + 1 : end;
        if (!start)
            continue;
        const char *address = memmem(start, (size_t)(end - start), " (", 2);
        *length = (size_t)((address ? address : end) - start);
        return start;
    }
    return NULL;
}

/* Base name of a path if it is an MPI library of somebody else's; NULL if not. libmpi_abi is not: it may be ours; nor
 * is a door of ours. */
static const char *mpi_library(const char *path, size_t length)
{
    static const char *const names[] = { "libmpi.so", "libmpich.so", "libmpi_mt.so", "libmpich-" };
    const char *slash = memrchr(path, '/', length), *base = slash + 1;
    const size_t left = (size_t)(path + length - base);

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (left >= strlen(names[i]) && !strncmp(base, names[i], strlen(names[i])))
            return door_is_own(path, length) ? NULL : base;
    return NULL;
}

/* Is one of `parts`, with the zero that ends it, in the file? */
static bool file_has(const char *path, const char *const *parts, size_t count)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    bool found = false;
    void *data = MAP_FAILED;

    if (fd < 0)
        return false;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0)
        data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (data == MAP_FAILED)
        return false;
    for (size_t i = 0; i < count && !found; i++)
        found = memmem(data, (size_t)st.st_size, parts[i], strlen(parts[i]) + 1) != NULL;
    munmap(data, (size_t)st.st_size);
    return found;
}

/* Does the file, which is no MPI library itself, name a function that initialises MPI? */
static bool initialises(const char *path, size_t length)
{
    static const char *const names[] = { "MPI_Init", "MPI_Init_thread", "MPI_Session_init", "mpi_init_",
                                         "mpi_init_thread_" };
    const char *slash = memrchr(path, '/', length);
    char file[4096];

    if (length >= sizeof file || !strncmp(slash, "/libmpi", 7))
        return false;
    snprintf(file, sizeof file, "%.*s", (int)length, path);
    return file_has(file, names, ARRAY_LEN(names));
}

/* "libmpi.so.40.30.4", the file, and "libmpi.so.40", what programs ask for, become the same. */
static void cut_version(char *name)
{
    char *version = strstr(name, ".so.");

    if (version)
        version[4 + strcspn(version + 4, ".")] = 0;
}

/* Another MPI among the paths, and someone there who initialises it: its name into `name`. */
static bool find(const char *paths, char name[OTHER_MPI_SIZE])
{
    const char *at = paths, *path, *library = NULL;
    size_t length;

    while (!library && (path = next_path(&at, &length)))
        library = mpi_library(path, length);
    if (!library)
        return false;
    snprintf(name, OTHER_MPI_SIZE, "%.*s", (int)(path + length - library), library);
    cut_version(name);
    for (at = paths; (path = next_path(&at, &length));)
        if (initialises(path, length))
            return true;
    *name = 0;
    return false;
}

/* --- a process that runs --- */

static bool find_in_process(pid_t pid, char name[OTHER_MPI_SIZE], int depth)
{
    char path[64];
    struct text maps = { 0 };
    bool found = false;
    FILE *children;
    int child;

    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        read_text(&maps, fd);
        close(fd);
    }
    found = maps.length && find(maps.at, name);
    mem_free(maps.at);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    children = found || depth == MAX_DEPTH ? NULL : fopen(path, "re");
    if (!children)
        return found;
    while (!found && fscanf(children, "%d", &child) == 1)
        found = find_in_process(child, name, depth + 1);
    fclose(children);
    return found;
}

static bool has_come(const struct job *job, int rank)
{
    return atomic_load_explicit(&job_proc(job->head, rank)->pid, memory_order_relaxed) != 0;
}

void other_mpi_look(struct job *job, int rank)
{
    struct rank *r = &job->ranks[rank];

    if (job->size > 1 && r->pid && !is_far(job, rank) && !r->is_over && !*r->other_mpi && !has_come(job, rank))
        find_in_process(r->pid, r->other_mpi, 0);
}

void other_mpi_look_at_all(struct job *job)
{
    for (int i = 0; i < job->size; i++)
        other_mpi_look(job, i);
}

void other_mpi_init(struct job *job)
{
    if (job->size > 1)
        timer_set(job, TIMER_LOOK, LOOK_SECONDS);
}

/* --- a program --- */

/* Does it want a library besides those that every program has? Most do not, and need no closer look. */
static bool has_libraries(const char *data, size_t size)
{
    static const char *const common[] = { "libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "libgcc_s.so",
                                          "libstdc++.so", "libtinfo.so", "libselinux.so", "libpcre2-8.so" };
    const char *at = data, *const end = data + size;

    while ((at = memmem(at, (size_t)(end - at), "\0lib", 4))) {
        const char *name = ++at;
        const size_t length = strnlen(name, (size_t)(end - name));
        bool is_common = !memmem(name, length, ".so", 3);
        for (size_t i = 0; i < ARRAY_LEN(common) && !is_common; i++)
            is_common = !strncmp(name, common[i], strlen(common[i]));
        if (!is_common)
            return true;
    }
    return false;
}

/* The dynamic linker that a program names: "/lib64/ld-linux-x86-64.so.2". NULL: none, or no such program. */
static char *find_linker(const char *data, size_t size)
{
    const bool is_elf = size > 4 && !memcmp(data, "\177ELF", 4);
    const char *name = is_elf ? memmem(data, size_min(size, CHUNK), "/ld", 3) : NULL;
    const char *end = name ? memchr(name, 0, (size_t)(data + size - name)) : NULL;
    char *copy;

    while (name && name > data && name[-1]) /* back to its beginning */
        name--;
    if (!end || *name != '/')
        return NULL;
    copy = need((size_t)(end - name) + 1);
    memcpy(copy, name, (size_t)(end - name));
    return copy;
}

/* What the linker would load, one line for each. Runs nothing of the program. */
static void list_libraries(const struct app *app, char *linker, struct text *list)
{
    char *const argv[] = { linker, "--list", app->program, NULL };
    posix_spawn_file_actions_t actions;
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC))
        return;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (app->wdir)
        posix_spawn_file_actions_addchdir_np(&actions, app->wdir);
    if (posix_spawn(&pid, linker, &actions, NULL, argv, app->env.at))
        pid = -1;
    close(ends[1]);
    if (pid > 0) {
        read_text(list, ends[0]);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    close(ends[0]);
    posix_spawn_file_actions_destroy(&actions);
}

/* The program's own path, which the linker's list does not have. */
static void add_program(const struct app *app, struct text *list)
{
    const bool is_relative = *app->program != '/';
    char *dir = realpath(app->wdir ? app->wdir : ".", NULL), line[PATH_MAX];
    const size_t length = (size_t)snprintf(line, sizeof line, "%s%s%s\n", is_relative && dir ? dir : "",
                                           is_relative ? "/" : "", app->program);

    free(dir);
    if (length >= sizeof line || !list->length)
        return;
    list->at = need_more(list->at, list->length + length + 1);
    memcpy(list->at + list->length, line, length + 1);
    list->length += length;
}

static bool find_in_program(const struct app *app, char name[OTHER_MPI_SIZE])
{
    const int dir = app->wdir ? open(app->wdir, O_PATH | O_DIRECTORY | O_CLOEXEC) : AT_FDCWD;
    const int fd = openat(dir, app->program, O_RDONLY | O_CLOEXEC);
    struct text list = { 0 };
    struct stat st;
    char *data = MAP_FAILED, *linker = NULL;
    bool found;

    if (dir >= 0)
        close(dir);
    if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0)
        data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (data == MAP_FAILED)
        return false;
    if (has_libraries(data, (size_t)st.st_size))
        linker = find_linker(data, (size_t)st.st_size);
    munmap(data, (size_t)st.st_size);
    if (linker)
        list_libraries(app, linker, &list);
    add_program(app, &list);
    found = list.length && find(list.at, name);
    mem_free(list.at);
    mem_free(linker);
    return found;
}

/* --- at the end --- */

static void report(struct job *job, int rank)
{
    const struct rank *r = &job->ranks[rank];
    const char *const missing = job->options.no_doors ? NULL : door_missing(r->other_mpi);
    char file[2 * PATH_MAX], why[2 * PATH_MAX + 300] = "";

    if (missing)
        snprintf(why, sizeof why,
                 "the door with which Parley runs such programs is not installed: lib/parley/%s\n", missing);
    else if (!job->options.no_doors && door_file(r->other_mpi, file, sizeof file))
        snprintf(why, sizeof why, "something puts the folder of that library before the one of Parley's door for such "
                 "programs, as scripts do with LD_LIBRARY_PATH: mpiexec -x LD_PRELOAD=%s goes before all\n", file);
    report_rank(job, rank,
                "E0117: %s uses another MPI library, %s, which does not know this mpiexec: each process was a world of "
                "its own, of size 1\n%s"
                "start it with the mpiexec of that library, or compile it with Parley's mpicc",
                r->app->argv.at[0], r->other_mpi, why);
    job_failed(job, rank, EXIT_OTHER_MPI, false);
}

/* Those of one program; it is looked at but once. */
static void report_app(struct job *job, int app)
{
    char name[OTHER_MPI_SIZE] = "";
    bool is_known = false;

    for (int i = 0; i < job->size; i++) {
        struct rank *r = &job->ranks[i];
        if (r->appnum != app || has_come(job, i))
            continue;
        if (!*r->other_mpi && !is_known && !is_far(job, i)) {
            find_in_program(&job->options.apps[app], name);
            is_known = true;
        }
        if (!*r->other_mpi && !is_far(job, i))
            memcpy(r->other_mpi, name, sizeof name);
        if (*r->other_mpi)
            report(job, i);
    }
}

const char *other_mpi_of(struct job *job, int rank)
{
    struct rank *r = &job->ranks[rank];

    if (job->size > 1 && !*r->other_mpi && !has_come(job, rank))
        find_in_program(r->app, r->other_mpi);
    return has_come(job, rank) ? "" : r->other_mpi;
}

void other_mpi_report(struct job *job)
{
    for (int app = 0; app < job->options.app_count && job->size > 1; app++)
        report_app(job, app);
}
