/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: programs that were built for another MPI get a door: a library of ours under the name of theirs (abi/),
 * which the dynamic linker finds first since its folder is in LD_LIBRARY_PATH, or if the program brings an order of its
 * own (DT_RPATH) by its path in LD_PRELOAD.
 *
 * What a program wants is read from its file: the libraries that it names itself (DT_NEEDED). One that names libmpi_abi
 * is of the standard ABI and needs no door. One that names no MPI at all, or is a script, may start or load another
 * that does: it gets the folders of all doors, where the linker looks for nothing but those names. Launchers of other
 * MPIs get none: what they start is theirs. */
#include "launch.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { DOORS = 2, NAMES = 4 };

static const struct {
    const char *name, *library;
    const char *needed[NAMES]; /* what programs want, first the library for C; "": no more */
    const char *fortran;       /* what the door has for programs in Fortran besides, or "" */
} doors[DOORS] = {
    { "mpich", "libmpi.so.12", { "libmpi.so.12", "libmpich.so.12", "libmpifort.so.12", "libmpichfort.so.12" }, "" },
    { "ompi", "libmpi.so.40", { "libmpi.so.40", "libmpi_mpifh.so.40", "libmpi_usempif08.so.40", "" },
      "libmpi_mpifh.so.40" },
};

/* Folder of a door, by its real name, in `path` (PATH_MAX): beside the installed mpiexec or in its build tree. False:
 * it is not there. */
static bool door_folder(int door, char *path)
{
    static const char *const places[] = { DOORS_FROM_BIN, "../abi" };
    char own[PATH_MAX], given[3 * PATH_MAX];

    own_directory(own);
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        snprintf(given, sizeof given, "%s/%s/%s/%s", own, places[i], doors[door].name, doors[door].library);
        if (access(given, R_OK))
            continue;
        *strrchr(given, '/') = 0;
        if (realpath(given, path))
            return true;
    }
    return false;
}

/* --- what a program names --- */

/* A file in memory, and its dynamic section. */
struct image {
    const char *data;
    size_t size;
    const Elf64_Phdr *segments;
    int segment_count;
};

/* What begins at `offset` and is `size` bytes long; NULL if the file has not that much. */
static const void *part(const struct image *image, size_t offset, size_t size)
{
    return offset <= image->size && size <= image->size - offset ? image->data + offset : NULL;
}

static bool read_head(struct image *image)
{
    const Elf64_Ehdr *head = part(image, 0, sizeof *head);

    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_ident[EI_CLASS] != ELFCLASS64 ||
        head->e_phentsize != sizeof(Elf64_Phdr))
        return false;
    image->segments = part(image, head->e_phoff, head->e_phnum * sizeof(Elf64_Phdr));
    image->segment_count = head->e_phnum;
    return image->segments;
}

/* Text at an address of the running program; "" if it is not in the file. */
static const char *text_at(const struct image *image, Elf64_Addr address)
{
    for (int i = 0; i < image->segment_count; i++) {
        const Elf64_Phdr *s = &image->segments[i];
        const size_t offset = address - s->p_vaddr + s->p_offset;
        if (s->p_type == PT_LOAD && address >= s->p_vaddr && address - s->p_vaddr < s->p_filesz &&
            offset < image->size && memchr(image->data + offset, 0, image->size - offset))
            return image->data + offset;
    }
    return "";
}

struct wants {
    bool door[DOORS];
    bool is_fortran[DOORS];
    bool is_native; /* libmpi_abi */
    bool has_order; /* DT_RPATH, which goes before LD_LIBRARY_PATH */
};

static void note_library(const char *name, struct wants *wants)
{
    wants->is_native |= strstr(name, "libmpi_abi.") == name;
    for (int d = 0; d < DOORS; d++)
        for (int i = 0; i < NAMES; i++)
            if (*name && !strcmp(name, doors[d].needed[i])) { /* a file that is damaged names nothing */
                wants->door[d] = true;
                wants->is_fortran[d] |= i > 0;
            }
}

static void read_dynamic(const struct image *image, const Elf64_Dyn *entries, size_t count, struct wants *wants)
{
    Elf64_Addr texts = 0;
    bool has_runpath = false;

    for (size_t i = 0; i < count && entries[i].d_tag != DT_NULL; i++) {
        texts = entries[i].d_tag == DT_STRTAB ? entries[i].d_un.d_ptr : texts;
        has_runpath |= entries[i].d_tag == DT_RUNPATH;
    }
    for (size_t i = 0; i < count && entries[i].d_tag != DT_NULL; i++) {
        if (entries[i].d_tag == DT_NEEDED)
            note_library(text_at(image, texts + entries[i].d_un.d_val), wants);
        wants->has_order |= entries[i].d_tag == DT_RPATH && !has_runpath;
    }
}

static void read_image(struct image *image, struct wants *wants)
{
    if (!read_head(image))
        return;
    for (int i = 0; i < image->segment_count; i++) {
        const Elf64_Phdr *s = &image->segments[i];
        const Elf64_Dyn *entries = s->p_type == PT_DYNAMIC ? part(image, s->p_offset, s->p_filesz) : NULL;
        if (entries)
            read_dynamic(image, entries, s->p_filesz / sizeof *entries, wants);
    }
}

static void read_program(int wdir_fd, const char *program, struct wants *wants)
{
    const int fd = openat(wdir_fd, program, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *data = MAP_FAILED;

    if (fd < 0)
        return;
    if (!fstat(fd, &st) && st.st_size > 0)
        data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (data == MAP_FAILED)
        return;
    read_image(&(struct image){ .data = data, .size = (size_t)st.st_size }, wants);
    munmap(data, (size_t)st.st_size);
}

/* --- what it gets --- */

/* Put `path` before the others in a variable. */
static void add_path(struct app *app, const char *variable, const char *path)
{
    const char *old = program_variable(app, variable);
    const size_t size = strlen(variable) + strlen(path) + (old ? strlen(old) : 0) + 3;
    char *text = need(size);

    snprintf(text, size, "%s=%s%s%s", variable, path, old && *old ? ":" : "", old ? old : "");
    program_set_variable(app, text);
}

static void preload(struct app *app, const char *folder, const char *library)
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof path, "%s/%s", folder, library);
    add_path(app, "LD_PRELOAD", path);
}

static void open_door(struct app *app, int door, const struct wants *wants, bool is_preloaded)
{
    char folder[PATH_MAX];

    if (!door_folder(door, folder))
        return;
    if (!is_preloaded) {
        add_path(app, "LD_LIBRARY_PATH", folder);
        return;
    }
    if (wants->is_fortran[door] && *doors[door].fortran)
        preload(app, folder, doors[door].fortran);
    preload(app, folder, doors[door].library);
}

static bool is_launcher(const char *program)
{
    static const char *const names[] = { "mpiexec", "mpirun", "orterun", "prterun", "prun", "srun" };
    const char *base = strrchr(program, '/') ? strrchr(program, '/') + 1 : program;

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (!strncmp(base, names[i], strlen(names[i])))
            return true;
    return false;
}

bool door_prepare(struct app *app, int wdir_fd)
{
    struct wants wants = { 0 };
    bool is_any;

    read_program(wdir_fd, app->program, &wants);
    is_any = !wants.door[0] && !wants.door[1];
    if (wants.is_native || (is_any && is_launcher(app->program)))
        return false;
    for (int d = DOORS - 1; d >= 0; d--)
        if (is_any || wants.door[d])
            open_door(app, d, &wants, wants.has_order && !is_any);
    return !is_any;
}

/* --- for what is said --- */

bool door_is_own(const char *path, size_t length)
{
    char folder[PATH_MAX];

    for (int d = 0; d < DOORS; d++) {
        const size_t n = door_folder(d, folder) ? strlen(folder) : length;
        if (n < length && !strncmp(path, folder, n) && path[n] == '/')
            return true;
    }
    return false;
}

/* The door for a library that programs want; DOORS: there is none. */
static int door_for(const char *library)
{
    for (int d = 0; d < DOORS; d++)
        for (int i = 0; i < NAMES; i++)
            if (*library && !strcmp(library, doors[d].needed[i]))
                return d;
    return DOORS;
}

const char *door_missing(const char *library)
{
    const int door = door_for(library);
    char folder[PATH_MAX];

    return door < DOORS && !door_folder(door, folder) ? doors[door].name : NULL;
}

bool door_file(const char *library, char *path, size_t size)
{
    const int door = door_for(library);
    char folder[PATH_MAX];

    if (door == DOORS || !door_folder(door, folder))
        return false;
    snprintf(path, size, "%s/%s", folder, library);
    if (access(path, R_OK))
        snprintf(path, size, "%s/%s", folder, doors[door].library);
    return true;
}
