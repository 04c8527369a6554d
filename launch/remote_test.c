/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of how other machines are reached: which program is taken, with which words; and what is said to the shell
 * there, under every shell that is here: mpiexec is found, or sent and run, and nothing is left. This program stands
 * for mpiexec. */
#include "remote.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "alone.h"
#include "options.h"

enum { TEXT_SIZE = 4096 };

static char folder[] = "/tmp/parley-remote-XXXXXX";

void strings_add(struct strings *strings, char *text)
{
    strings->at = mem_realloc(strings->at, (strings->count + 2) * sizeof *strings->at);
    strings->at[strings->count++] = text;
    strings->at[strings->count] = NULL;
}

void options_split(char *line, struct strings *words)
{
    for (char *word; (word = strsep(&line, " "));)
        if (*word)
            strings_add(words, word);
}

/* The command for u@a, blanks between words; `last`: without what is for the shell there, which goes to it. */
static const char *command(struct options options, char **last)
{
    static char text[TEXT_SIZE];
    const struct node node = { .name = "a", .target = "u@a" };
    struct job *job = need(sizeof *job);
    struct strings words = { 0 };

    job->options = options;
    nodes_command(job, &node, &words);
    *last = words.at[words.count - 1];
    *text = 0;
    for (size_t i = 0; i + 1 < words.count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s ", words.at[i]);
    return text;
}

#define SSH_OPTIONS "-x -a -T -o BatchMode=yes -o ConnectTimeout=30 -o ServerAliveInterval=15"

static void put_program(const char *name)
{
    char path[TEXT_SIZE];
    int fd;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    CHECK(fd >= 0);
    close(fd);
}

static void test_ways(void)
{
    char *last;

    setenv("PATH", folder, 1);
    unsetenv("PARLEY_RSH");
    CHECK(!strcmp(command((struct options){ 0 }, &last), "ssh " SSH_OPTIONS " u@a "));
    CHECK(!strncmp(last, "exec '/bin/sh' '-c' '", 21));
    CHECK(!strcmp(command((struct options){ .launcher = "rsh" }, &last), "rsh u@a "));
    CHECK(!strncmp(command((struct options){ .launcher = "slurm" }, &last), "srun -N1 -n1 --overlap", 22));
    CHECK(strstr(command((struct options){ .launcher = "srun" }, &last), " -w u@a /bin/sh -c v=$1;"));
    CHECK(!strncmp(command((struct options){ .batch = "slurm" }, &last), "ssh ", 4)); /* no srun in PATH */
    put_program("srun");
    CHECK(!strncmp(command((struct options){ .batch = "slurm" }, &last), "srun ", 5));
    CHECK(!strncmp(command((struct options){ .batch = "slurm", .launcher = "ssh" }, &last), "ssh ", 4));
    CHECK(!strncmp(command((struct options){ .batch = "pbs" }, &last), "ssh ", 4));
    CHECK(!strcmp(command((struct options){ .launcher_exec = "ssh -p 22" }, &last), "ssh -p 22 u@a "));
    CHECK(!strcmp(command((struct options){ .launcher_exec = "/x/ssh" }, &last), "/x/ssh " SSH_OPTIONS " u@a "));
    CHECK(!strcmp(command((struct options){ .batch = "slurm", .launcher_exec = "my" }, &last), "my u@a "));
    setenv("PARLEY_RSH", "other -k", 1);
    CHECK(!strcmp(command((struct options){ 0 }, &last), "other -k u@a "));
    CHECK(!strcmp(command((struct options){ .launcher_exec = "my" }, &last), "my u@a "));
    unsetenv("PARLEY_RSH");
    CHECK(remote_is_way("SSH") && remote_is_way("slurm") && !remote_is_way("pigeon"));
}

/* --- under a shell --- */

static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "re");
    char *data;
    struct stat st;

    CHECK(file && !fstat(fileno(file), &st));
    *size = (size_t)st.st_size;
    data = need(*size + 1);
    CHECK(fread(data, 1, *size, file) == *size);
    fclose(file);
    return data;
}

/* Give a shell that command and these bytes; what it writes. */
static const char *run(const char *shell, const char *text, const void *data, size_t size)
{
    static char output[TEXT_SIZE];
    size_t length = 0;
    int in[2], out[2];
    ssize_t got;
    pid_t writer, pid;

    CHECK(!pipe2(in, O_CLOEXEC) && !pipe2(out, O_CLOEXEC));
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        dup2(out[1], STDERR_FILENO);
        execlp(shell, shell, "-c", text, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    writer = fork();
    if (writer == 0) {
        for (size_t at = 0; at < size; at += (size_t)got)
            if ((got = write(in[1], (const char *)data + at, size - at)) < 0)
                break;
        _exit(0);
    }
    close(in[1]);
    while (length < sizeof output - 1 && (got = read(out[0], output + length, sizeof output - 1 - length)) > 0)
        length += (size_t)got;
    output[length] = 0;
    close(out[0]);
    CHECK(waitpid(pid, NULL, 0) == pid && waitpid(writer, NULL, 0) == writer);
    return output;
}

static bool is_empty(const char *path)
{
    DIR *dir = opendir(path);
    int count = 0;

    while (dir && readdir(dir))
        count++;
    closedir(dir);
    return count == 2;
}

static void test_shell(const char *shell, const char *temporary)
{
    const struct options elsewhere = { .agent_prefix = "/no such'place" };
    char *text, *own;
    const char *came;
    size_t size;

    command(elsewhere, &text);
    came = run(shell, text, "hello", 5);
    CHECK(!strncmp(came, "PARLEY-SEND ", 12) && !strchr(came, '\n')[1]);
    CHECK(is_empty(temporary)); /* the file was not whole */
    own = read_file("/proc/self/exe", &size);
    came = run(shell, text, own, size);
    CHECK(!strncmp(came, "PARLEY-SEND ", 12) && strstr(came, "\nagent of /proc/self/fd/3, gets ''\n"));
    CHECK(is_empty(temporary));
    mem_free(own);
}

/* mpiexec of this version is in PATH, or where the prefix says. */
static void test_found(const char *shell)
{
    const struct options here = { .agent_prefix = folder };
    char own[PATH_MAX] = "", link[PATH_MAX], *text;

    CHECK(readlink("/proc/self/exe", own, sizeof own - 1) > 0);
    snprintf(link, sizeof link, "%s/bin", folder);
    CHECK(!mkdir(link, 0700) || errno == EEXIST);
    snprintf(link, sizeof link, "%s/bin/mpiexec", folder);
    unlink(link);
    CHECK(!symlink(own, link));
    command(here, &text);
    CHECK(strstr(run(shell, text, "hello", 5), "/bin/mpiexec, gets 'hello'\n"));
    unlink(link);
}

/* We are run as mpiexec. */
static int stand_in(char **argv)
{
    char text[64] = "";

    if (!strcmp(argv[1], "--version")) {
        puts(REMOTE_VERSION);
        return 0;
    }
    CHECK(read(STDIN_FILENO, text, sizeof text - 1) >= 0);
    printf("agent of %s, gets '%s'\n", argv[0], text);
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const shells[] = { "sh", "bash", "dash", "zsh", "ksh", "busybox", "tcsh", "fish" };
    char path[TEXT_SIZE], line[TEXT_SIZE], old[TEXT_SIZE];

    if (argc > 1)
        return stand_in(argv);
    snprintf(old, sizeof old, "%s", getenv("PATH"));
    CHECK(mkdtemp(folder));
    test_ways();
    setenv("PATH", old, 1);
    snprintf(path, sizeof path, "%s/tmp", folder);
    CHECK(!mkdir(path, 0700));
    setenv("XDG_RUNTIME_DIR", path, 1);
    for (size_t i = 0; i < ARRAY_LEN(shells); i++) {
        snprintf(line, sizeof line, "%s -c true 2>/dev/null", shells[i]);
        if (system(line) != 0) {
            printf("skipped: no %s here\n", shells[i]);
            continue;
        }
        test_shell(shells[i], path);
        test_found(shells[i]);
    }
    snprintf(line, sizeof line, "rm -rf %s", folder);
    return system(line);
}
