/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: --help, a screen of what is used most, and a page for each topic; --version. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "launch.h"
#include "remote.h"

enum { NAME_WIDTH = 23, LINE_WIDTH = 79 };

const char *const options_topics[TOPICS] = {
    "run", "environment", "output", "input", "binding", "ending", "debug", "about",
};

const char *const options_words[TOPICS] = {
    [TOPIC_RUN] = "Options between two colons concern the program that follows. There are no slots\n"
                  "to run out of: more ranks than processors are welcome, and so is root. Without\n"
                  "-n the slots of the hosts say how many. A line of a configfile is what stands\n"
                  "between two colons; lines that begin with '#' are comments, one that ends in a\n"
                  "backslash goes on. The file of --file has options only.\n",
    [TOPIC_ENVIRONMENT] = "Every rank finds PARLEY_RANK, PARLEY_SIZE, PARLEY_LOCAL_RANK and\n"
                          "PARLEY_LOCAL_SIZE, and the same by the names that scripts for Open MPI and\n"
                          "MPICH know (OMPI_COMM_WORLD_..., PMI_RANK, MPI_LOCALRANKID ...), but for those\n"
                          "that are named in one of these options. Of several settings of a variable the\n"
                          "last one counts, and that for the program before that for all.\n",
    [TOPIC_OUTPUT] = "Output comes in whole lines; the beginning of one that stays one (a prompt)\n"
                     "comes after 0.1 s. In a PATTERN: %r or %t rank, %0r rank with leading zeros,\n"
                     "%3r with three digits, %h or %N host, %u user, %x program, %j job (the process\n"
                     "number of mpiexec), %g %n %p %s 0, %% a percent sign. Directories are made.\n"
                     "Ranks with the same file share it line by line. One rank alone writes to\n"
                     "mpiexec's own stdout, so a terminal is a terminal for it; several write\n"
                     "through pipes.\n",
    [TOPIC_INPUT] = "One rank gets mpiexec's own stdin, which is not read by anybody else. Several\n"
                    "get a copy of all of it: of a file each reads for itself, of a pipe at most\n"
                    "16 MB ahead of the slowest one that still reads.\n",
    [TOPIC_BINDING] = "",
    [TOPIC_ENDING] = "The exit code is that of the first process that failed, 128+N if signal N ended\n"
                     "it. INT, TERM, HUP, QUIT, USR1, USR2, ALRM, TSTP, CONT, WINCH go on to every\n"
                     "rank; Ctrl-C twice within a second kills at once. QUIT tells what each rank\n"
                     "waits for.\n",
    [TOPIC_DEBUG] = "A debugger or tool may stand before the program: mpiexec -n 2 valgrind ./a.out.\n"
                    "Sent QUIT (Ctrl-\\), mpiexec tells what each rank waits for; so does --timeout.\n",
    [TOPIC_ABOUT] = "",
};

void options_write_name(const struct option *option, char *text, size_t size)
{
    const int length = (int)strcspn(option->names, " ");
    const char *value = option->values ? option->values : "";
    const bool is_optional = *value == '?';

    snprintf(text, size, "%s%.*s%s%s%s", length > 1 ? "--" : "-", length, option->names,
             is_optional                    ? " ["
             : *value == '[' || *value == 0 ? ""
                                            : " ",
             value + is_optional, is_optional ? "]" : "");
}

bool options_is_topic(const char *text)
{
    for (int i = 0; i < TOPICS; i++)
        if (!strcmp(text, options_topics[i]))
            return true;
    return !strcmp(text, "all") || !strcmp(text, "accepted");
}

static void print_option(const struct option *option)
{
    char name[64];

    options_write_name(option, name, sizeof name);
    if (strlen(name) > NAME_WIDTH)
        printf("  %s\n  %*s %s\n", name, NAME_WIDTH, "", option->help);
    else
        printf("  %-*s %s\n", NAME_WIDTH, name, option->help);
}

/* Names with their dashes, from `indent` on; *column is where the last line ends, 0: at its beginning. */
static void print_names(const char *names, int indent, int *column)
{
    while (*names) {
        const int length = (int)strcspn(names, " ");
        if (*column == 0 || *column + length + 3 > LINE_WIDTH) {
            printf("%s%*s", *column ? "\n" : "", indent, "");
            *column = indent;
        }
        *column += printf(" %s%.*s", length > 1 ? "--" : "-", length, names);
        names += length + (names[length] == ' ');
    }
}

static bool is_listed(const struct option *option)
{
    return option->help && option->apply != options_apply_note && option->apply != options_apply_ft;
}

static void print_topic(int topic)
{
    for (const struct option *option = options_table; option->names; option++) {
        const char *others = strchr(option->names, ' ');
        int column = 0;
        if (!is_listed(option) || (option->topic & TOPIC_MASK) != topic)
            continue;
        print_option(option);
        if (others) {
            print_names(others + 1, NAME_WIDTH + 3, &column);
            putchar('\n');
        }
    }
    printf("%s%s", *options_words[topic] ? "\n" : "", options_words[topic]);
}

/* Options that other launchers have and that make no difference here. */
static void print_accepted(void)
{
    int column = 0;

    puts("Accepted, since nothing is to be done for them on one machine:\n");
    for (const struct option *option = options_table; option->names; option++)
        if (!option->apply)
            print_names(option->names, 1, &column);
    puts("\n\nSettings of others (OMPI_MCA_..., HYDRA_..., I_MPI_...) are not looked at.");
}

static void print_first_page(void)
{
    puts("usage: mpiexec [options] program [arguments] [: [options] program ...] ...\n\n"
         "Starts the processes of an MPI job, here or on other hosts. One dash or two do;\n"
         "options of other launchers are understood (mpirun, mpiexec.hydra, srun).\n");
    for (const struct option *option = options_table; option->names; option++)
        if (option->topic & COMMON)
            print_option(option);
    printf("\nMore: man mpiexec, or mpiexec --help TOPIC, of these topics:\n ");
    for (int i = 0; i < TOPICS; i++)
        printf(" %s", options_topics[i]);
    puts(" accepted all");
}

void options_apply_help(struct reader *reader, const char *name, char **values)
{
    const char *topic = values[0];

    (void)reader;
    if (topic && !options_is_topic(topic))
        die(EXIT_USAGE,
            "E0101: -%s %s: the topics are run, environment, output, input, binding, ending, debug, "
            "about, accepted and all",
            name, topic);
    if (!topic)
        print_first_page();
    for (int i = 0; topic && i < TOPICS; i++)
        if (!strcmp(topic, options_topics[i])) {
            print_topic(i);
        } else if (!strcmp(topic, "all")) {
            printf("%s%s:\n", i ? "\n" : "", options_topics[i]);
            print_topic(i);
        }
    if (topic && (!strcmp(topic, "accepted") || !strcmp(topic, "all")))
        print_accepted();
    exit(0);
}

void options_apply_doctor(struct reader *reader, const char *name, char **values)
{
    (void)name;
    (void)values;
    reader->options->is_doctor = true;
}

void options_apply_version(struct reader *reader, const char *name, char **values)
{
    (void)reader;
    (void)name;
    (void)values;
    puts(REMOTE_VERSION);
    exit(0);
}
