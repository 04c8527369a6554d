/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the manual page and the completion for shells, made of the table of options so that they tell what
 * is there. The build runs mpiexec for them. */
#include "options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"

enum { TEXT_SIZE = 128 };

/* Text as troff takes it. */
static void put_roff(const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", stdout);
    for (; *text; text++) {
        if (*text == '-')
            fputs("\\-", stdout);
        else if (*text == '\\')
            fputs("\\e", stdout);
        else
            putchar(*text);
    }
}

static void put_roff_option(const struct option *option)
{
    const char *others = strchr(option->names, ' ');
    char text[TEXT_SIZE];

    options_write_name(option, text, sizeof text);
    fputs(".TP\n.B ", stdout);
    put_roff(text);
    putchar('\n');
    put_roff(option->help);
    if (others) {
        fputs(". Also:", stdout);
        for (const char *at = others + 1; *at;) {
            const size_t length = strcspn(at, " ");
            snprintf(text, sizeof text, " %s%.*s", length > 1 ? "--" : "-", (int)length, at);
            put_roff(text);
            at += length + (at[length] == ' ');
        }
    }
    fputs(".\n", stdout);
}

static void put_roff_topic(int topic)
{
    printf(".SS %c%s\n", toupper((unsigned char)options_topics[topic][0]), options_topics[topic] + 1);
    for (const struct option *option = options_table; option->names; option++)
        if (option->help && (option->topic & TOPIC_MASK) == topic)
            put_roff_option(option);
    if (*options_words[topic]) {
        fputs(".PP\n", stdout);
        put_roff(options_words[topic]);
    }
}

static void put_roff_accepted(void)
{
    fputs(".SS Accepted\nNothing is to be done for these on one machine:", stdout);
    for (const struct option *option = options_table; option->names; option++)
        for (const char *at = option->names; *at && !option->apply;) {
            const size_t length = strcspn(at, " ");
            char text[TEXT_SIZE];
            snprintf(text, sizeof text, " %s%.*s", length > 1 ? "--" : "-", (int)length, at);
            put_roff(text);
            at += length + (at[length] == ' ');
        }
    puts(".");
}

static const char manual_head[] =
    ".TH MPIEXEC 1 \"\" \"Parley " PARLEY_VERSION "\" \"Parley\"\n"
    ".SH NAME\nmpiexec, mpirun \\- start the processes of an MPI job\n"
    ".SH SYNOPSIS\n.B mpiexec\n[options] program [arguments] [: [options] program [arguments]] ...\n.br\n"
    ".B mpiexec \\-configfile\nFILE\n"
    ".SH DESCRIPTION\n"
    "Starts a program, or several, as the processes of one MPI job, here or on other hosts, passes on what they "
    "write\n"
    "and the signals that come, and ends when all have ended. If one fails, the others are ended and the "
    "exit\n"
    "code is its own. Nothing is left behind, however mpiexec ends.\n"
    ".PP\n"
    "Options stand before the program they concern, with one dash or two, their values behind a blank or an\n"
    "equals sign. Options that users of other launchers write (mpirun of Open MPI, mpiexec.hydra of MPICH "
    "and\n"
    "of Intel, srun) are understood.\n"
    ".SH OPTIONS\n";

static const char manual_tail[] =
    ".SH ENVIRONMENT\n"
    ".TP\n.B MPIEXEC_TIMEOUT\nSeconds, as with \\-\\-timeout.\n"
    ".SH EXIT STATUS\n"
    "That of the first process that failed, 128+N if signal N ended it, 1 if it left without MPI_Finalize, "
    "the\n"
    "code of MPI_Abort. Of mpiexec itself: 2 command line, 124 time limit, 125 the system refused "
    "something,\n"
    "126 a program cannot be executed, 127 a program or directory was not found.\n"
    ".SH EXAMPLES\n"
    ".TP\n.B mpiexec \\-n 4 ./a.out\nFour processes.\n"
    ".TP\n.B mpiexec \\-n 1 ./master : \\-n 8 ./worker \\-v\nNine processes in one MPI_COMM_WORLD.\n"
    ".TP\n.B mpiexec \\-n 4 \\-l \\-\\-timestamp ./a.out\nEvery line with its rank and the time it came.\n"
    ".TP\n.B mpiexec \\-n 16 \\-\\-output\\-dir log ./a.out\nOutput in log/rank.0.out, log/rank.0.err and so "
    "on.\n"
    ".SH SEE ALSO\n.BR mpicc (1)\n";

void options_apply_manual(struct reader *reader, const char *name, char **values)
{
    (void)reader;
    (void)name;
    (void)values;
    fputs(manual_head, stdout);
    for (int i = 0; i < TOPICS; i++)
        put_roff_topic(i);
    put_roff_accepted();
    fputs(manual_tail, stdout);
    exit(0);
}

/* All names of options whose values begin with `value`; NULL: of all options with help. */
static void put_names(const char *value, const char *between)
{
    const char *separator = "";

    for (const struct option *option = options_table; option->names; option++) {
        if (!option->help ||
            (value && (!option->values || strncmp(option->values, value, strlen(value)) != 0)))
            continue;
        for (const char *at = option->names; *at;) {
            const size_t length = strcspn(at, " ");
            if (*at != '?') {
                printf("%s%s%.*s", separator, length > 1 ? "--" : "-", (int)length, at);
                separator = between;
                if (value && length > 1) /* one dash is as good */
                    printf("%s-%.*s", separator, (int)length, at);
            }
            at += length + (at[length] == ' ');
        }
    }
}

static void complete_bash(void)
{
    fputs("# bash completion for mpiexec\n"
          "_parley_mpiexec()\n{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    COMPREPLY=()\n"
          "    case $prev in\n    ",
          stdout);
    put_names("FILE", "|");
    fputs(")\n        COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n    ", stdout);
    put_names("DIR", "|");
    fputs(")\n        COMPREPLY=($(compgen -d -- \"$cur\")); return ;;\n"
          "    --bind-to|-bind-to)\n"
          "        COMPREPLY=($(compgen -W 'none core hwthread socket numa' -- \"$cur\")); return ;;\n"
          "    --help|-help|-h)\n        COMPREPLY=($(compgen -W '",
          stdout);
    for (int i = 0; i < TOPICS; i++)
        printf("%s ", options_topics[i]);
    fputs("accepted all' -- \"$cur\")); return ;;\n"
          "    --stdin|-stdin)\n"
          "        COMPREPLY=($(compgen -W '0 all none' -- \"$cur\")); return ;;\n"
          "    esac\n"
          "    if [[ $cur == -* ]]; then\n        COMPREPLY=($(compgen -W '",
          stdout);
    put_names(NULL, " ");
    fputs("' -- \"$cur\"))\n"
          "    else\n        COMPREPLY=($(compgen -c -- \"$cur\") $(compgen -f -- \"$cur\"))\n    fi\n}\n"
          "complete -o filenames -F _parley_mpiexec mpiexec mpirun\n",
          stdout);
}

/* Text between single quotes and inside of brackets. */
static void put_zsh(const char *text)
{
    for (; *text; text++) {
        if (strchr("[]:\\", *text))
            putchar('\\');
        fputs(*text == '\'' ? "'\\''" : (char[]){ *text, 0 }, stdout);
    }
}

static const char *zsh_action(const char *value)
{
    if (!strncmp(value, "FILE", 4) || !strncmp(value, "?FILE", 5))
        return "_files";
    return !strncmp(value, "DIR", 3) ? "_directories" : " ";
}

static void put_zsh_option(const struct option *option)
{
    for (const char *at = option->names; *at;) {
        const int length = (int)strcspn(at, " ");
        const char *value = option->values ? option->values : "";
        if (*at != '?') {
            printf("    '*%s%.*s[", length > 1 ? "--" : "-", length, at);
            put_zsh(option->help);
            putchar(']');
            for (const char *word = value; *word && *word != '[' && *word != '?';) {
                const int word_length = (int)strcspn(word, " ");
                printf(":%.*s:%s", (int)strcspn(word, " ["), word, zsh_action(word));
                word += word_length + (word[word_length] == ' ');
            }
            fputs("' \\\n", stdout);
        }
        at += length + (at[length] == ' ');
    }
}

static void complete_zsh(void)
{
    puts("#compdef mpiexec mpirun\n_arguments -S \\");
    for (const struct option *option = options_table; option->names; option++)
        if (option->help)
            put_zsh_option(option);
    puts("    '1:program:_command_names -e' '*::arguments:_normal'");
}

void options_apply_complete(struct reader *reader, const char *name, char **values)
{
    (void)reader;
    if (!strcmp(values[0], "bash"))
        complete_bash();
    else if (!strcmp(values[0], "zsh"))
        complete_zsh();
    else
        die(EXIT_USAGE, "E0101: -%s %s: bash or zsh is needed", name, values[0]);
    exit(0);
}
