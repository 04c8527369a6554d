/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: from an address in a process to a line of its source.
 *
 * /proc/PID/maps says which file stands there and which part of it, the program headers of the file which address that
 * has inside the file, and one of the usual tools to which line it belongs. */
#include "source.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch.h"

enum { TOOL_MS = 5000, LINE_SIZE = 512 };

/* A place in a file. */
struct file_place {
    char path[4096];
    uint64_t offset; /* in the file */
};

struct known {
    struct known *next;
    char *path;
    uint64_t offset;
    char *line;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool find_place(int pid, uint64_t address, struct file_place *place)
{
    char name[64], line[sizeof place->path + 128];
    unsigned long long from, to, offset;
    bool found = false;
    int path;
    FILE *file;

    snprintf(name, sizeof name, "/proc/%d/maps", pid);
    file = fopen(name, "re");
    if (!file)
        return false;
    while (!found && fgets(line, sizeof line, file)) {
        path = 0;
        if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %n", &from, &to, &offset, &path) < 3 || address < from ||
            address >= to)
            continue;
        line[strcspn(line, "\n")] = 0;
        found = path > 0 && line[path] == '/';
        snprintf(place->path, sizeof place->path, "%s", line + path);
        place->offset = address - from + offset;
    }
    fclose(file);
    return found;
}

/* The address that byte `offset` of the file has inside of it; the offset itself if the file does not tell. */
static uint64_t address_in_file(const struct file_place *place)
{
    const int fd = open(place->path, O_RDONLY | O_CLOEXEC);
    uint64_t address = place->offset;
    ElfW(Ehdr) head;
    ElfW(Phdr) part;

    if (fd < 0)
        return address;
    if (pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head && !memcmp(head.e_ident, ELFMAG, SELFMAG) &&
        head.e_phentsize == sizeof part)
        for (unsigned i = 0; i < head.e_phnum; i++)
            if (pread(fd, &part, sizeof part, (off_t)(head.e_phoff + i * sizeof part)) == (ssize_t)sizeof part &&
                part.p_type == PT_LOAD && place->offset >= part.p_offset &&
                place->offset - part.p_offset < part.p_filesz)
                address = place->offset - part.p_offset + part.p_vaddr;
    close(fd);
    return address;
}

/* Not inlined: see vfork. Our environment might make the tool ask servers for debug information. */
static NOINLINE pid_t run(char **argv, int out, int null)
{
    static char path[4096 + 5], plain[] = "LC_ALL=C";
    static char *const env[] = { path, plain, NULL };
    const char *dirs = getenv("PATH");
    sigset_t none;
    pid_t pid;

    snprintf(path, sizeof path, "PATH=%s", dirs ? dirs : "/usr/local/bin:/usr/bin:/bin");
    sigemptyset(&none);
    pid = vfork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sigprocmask(SIG_SETMASK, &none, NULL);
        if (setpgid(0, 0) == 0 && dup2(null, 0) == 0 && dup2(out, 1) == 1 && dup2(null, 2) == 2)
            execvpe(argv[0], argv, env);
        _exit(EXIT_NOT_FOUND);
    }
    return pid;
}

/* Read what comes until the end, at most for TOOL_MS; false: it did not end. */
static bool read_all(int fd, char *text, size_t size)
{
    const int64_t end = now_ns() + INT64_C(1000000) * TOOL_MS;
    size_t length = 0;
    ssize_t got = 1;

    while (got > 0 && length + 1 < size) {
        const int64_t left = end - now_ns();
        struct pollfd wait = { .fd = fd, .events = POLLIN };
        if (left <= 0 || poll(&wait, 1, (int)(left / 1000000) + 1) < 1)
            return false;
        got = read(fd, text + length, size - length - 1);
        length += got > 0 ? (size_t)got : 0;
    }
    text[length] = 0;
    return true;
}

/* What `tool` prints for the address; *is_late: it was too slow. */
static bool ask(const char *tool, const char *path, uint64_t address, char *text, bool *is_late)
{
    char number[32], *argv[] = { (char *)(uintptr_t)tool, "-s", "-e", (char *)(uintptr_t)path, number, NULL };
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int ends[2], status = -1;
    pid_t pid = -1;

    *text = 0;
    snprintf(number, sizeof number, "0x%llx", (unsigned long long)address);
    if (null >= 0 && !pipe2(ends, O_CLOEXEC)) {
        pid = run(argv, ends[1], null);
        close(ends[1]);
        *is_late = pid > 0 && !read_all(ends[0], text, LINE_SIZE);
        close(ends[0]);
        if (*is_late)
            kill(-pid, SIGKILL);
        while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
    }
    if (null >= 0)
        close(null);
    return pid > 0 && status == 0 && !*is_late;
}

/* "app.c:88 (discriminator 3)" -> "app.c:88"; "??:0" and the like: false. */
static bool is_line(char *text)
{
    const char *colon;

    text[strcspn(text, " \n")] = 0;
    colon = strrchr(text, ':');
    return colon && *text != '?' && colon[1] != '?' && strcmp(colon, ":0") != 0;
}

/* Into `text`, LINE_SIZE bytes. */
static void look_up(const struct file_place *place, char *text)
{
    static const char *const tools[] = { "addr2line", "eu-addr2line", "llvm-addr2line" };
    static bool is_late; /* not again in this job */
    const uint64_t address = address_in_file(place);

    for (size_t i = 0; i < ARRAY_LEN(tools) && !is_late; i++)
        if (ask(tools[i], place->path, address, text, &is_late) && is_line(text))
            return;
    snprintf(text, LINE_SIZE, "%s+0x%llx", base_name(place->path), (unsigned long long)address);
}

const char *source_line(int pid, uint64_t address)
{
    static struct known *all; /* as many as there are different places in messages */
    char text[LINE_SIZE];
    struct file_place place;
    struct known *known;

    if (!address || !find_place(pid, address - 1, &place))
        return NULL;
    for (known = all; known; known = known->next)
        if (known->offset == place.offset && !strcmp(known->path, place.path))
            return known->line;
    look_up(&place, text);
    known = need(sizeof *known);
    *known = (struct known){ .next = all, .path = need_text(place.path), .offset = place.offset,
                             .line = need_text(text) };
    return (all = known)->line;
}
