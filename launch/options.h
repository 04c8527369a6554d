/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: what the files of the command line share, and its unit test needs.
 *
 *   options.c          words -> options and programs     options_ranks.c   how many, where, which program
 *   options_table.c    which options there are           options_values.c  the other values: environment,
 *   options_config.c   words from files                                    output, input, limits
 *   options_hosts.c    on which hosts                    options_help.c    --help
 *   options_manual.c   the manual page, completion for shells, both made of the table
 */
#ifndef LAUNCH_OPTIONS_H
#define LAUNCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "hosts.h"

struct app;
struct options;
struct reader;
struct strings;

enum { OPTIONS_MAX_RANKS = 1 << 20 };

/* Pages of --help, also sections of the manual. COMMON: on the first page as well. */
enum topic {
    TOPIC_RUN,
    TOPIC_ENVIRONMENT,
    TOPIC_OUTPUT,
    TOPIC_INPUT,
    TOPIC_BINDING,
    TOPIC_ENDING,
    TOPIC_DEBUG,
    TOPIC_ABOUT,
    TOPICS,
    TOPIC_MASK = 0xff,
    COMMON = 0x100,
};

/* `name` is the option as it was written, without dashes; `values` what followed, NULL where nothing did. */
typedef void (*option_apply)(struct reader *reader, const char *name, char **values);

struct option {
    const char *names; /* separated by blanks, without dashes; the first is the one we write */
    /* The words that follow; "[WORD]": only written --name=WORD; "?WORD": taken if it looks like one; or NULL. */
    const char *values;
    int topic;          /* enum topic, perhaps with COMMON */
    option_apply apply; /* NULL: accepted, and nothing is to be done on one machine */
    size_t field;       /* of struct options, for those that only store */
    const char *help;   /* one line, at most 54 columns; NULL: not listed. Of options_apply_note: the note */
};

/* The table, ended by an entry without names. */
extern const struct option options_table[];

/* Where reading stands. */
struct reader {
    struct options *options;
    const struct option *option; /* the one that is applied */
    struct app *app;             /* the one being read */
    char **at;                   /* next word */
    int per_node;                /* -ppn and its like: ranks if nothing else is said; 0: not said */
    int nodes;                   /* -N, --nodes: hosts, or ranks on each; 0: not said */
    bool nodes_are_hosts;        /* it was --nodes, which is hosts only */
    struct hosts pool;           /* of the host files of this block, of which -host chooses */
    const char *hosts_from;      /* the value of -host, for messages */
    int short_count;   /* -c: ranks as Open MPI has it, processors a rank as srun has it; 0: not said */
    bool has_config;   /* the programs came from a file */
    bool is_in_config; /* and we are inside it: a colon is an argument like any other */
    bool is_in_file;   /* inside of -file */
};

/* options.c */
double options_number(const char *name, const char *text, double min, double max);
int options_whole_number(const char *name, const char *text, int min, int max);
void options_begin_app(struct reader *reader);
/* Read blocks up to the end of the words. */
void options_read_blocks(struct reader *reader);
/* Read options up to the first word that is none. */
void options_read_options(struct reader *reader);
/* The entry of a name of `length` bytes; NULL: none has it. */
const struct option *options_find(const char *name, size_t length);
/* "3", "0,2-5", "all", "none". */
bool options_is_ranks(const char *text);
bool options_has_rank(const char *text, int rank);

/* options_config.c */
/* Cut `line` into words in place, as a shell does; none if it begins with '#'. */
void options_split(char *line, struct strings *words);
void options_apply_config(struct reader *reader, const char *name, char **values);
void options_apply_file(struct reader *reader, const char *name, char **values);

/* options_hosts.c */
/* Those that the ranks of the app may be on, as far as has been read; none: this machine. */
const struct hosts *options_hosts_of(struct options *options, const struct app *app);
void options_end_hosts(struct reader *reader);              /* at the end of a block */
void options_finish_hosts(struct options *options);         /* at the end of all */
void options_name_server(struct options *options, const char *from, const char *word);
void options_apply_rankfile(struct reader *reader, const char *name, char **values);
void options_apply_rmk(struct reader *reader, const char *name, char **values);
void options_apply_name_server(struct reader *reader, const char *name, char **values);
void options_apply_names(struct reader *reader, const char *name, char **values);
void options_apply_reach(struct reader *reader, const char *name, char **values);
void options_apply_launcher(struct reader *reader, const char *name, char **values);
void options_apply_setting(struct reader *reader, const char *name, char **values);
void options_apply_mapping(struct reader *reader, const char *name, char **values);
void options_apply_hosts(struct reader *reader, const char *name, char **values);
void options_apply_host_file(struct reader *reader, const char *name, char **values);

/* options_ranks.c */
void options_apply_ranks(struct reader *reader, const char *name, char **values);
void options_apply_short_count(struct reader *reader, const char *name, char **values);
void options_apply_per_node(struct reader *reader, const char *name, char **values);
void options_apply_one_per_node(struct reader *reader, const char *name, char **values);
void options_apply_nodes(struct reader *reader, const char *name, char **values);
void options_apply_soft(struct reader *reader, const char *name, char **values);
void options_apply_pset(struct reader *reader, const char *name, char **values);
void options_apply_memory_kinds(struct reader *reader, const char *name, char **values);
void options_apply_arch(struct reader *reader, const char *name, char **values);
void options_apply_client(struct reader *reader, const char *name, char **values);
void options_apply_universe(struct reader *reader, const char *name, char **values);
/* The largest number of a set "2:8:2,16" from 1 to `most`; 0: none; -1: it is no such set. */
int options_largest(const char *set, int most);
/* Is this a name of the architecture that uname calls `machine`? */
bool options_is_arch(const char *name, const char *machine);
void options_apply_wdir(struct reader *reader, const char *name, char **values);
void options_apply_path(struct reader *reader, const char *name, char **values);
void options_apply_tool(struct reader *reader, const char *name, char **values);
void options_apply_binding(struct reader *reader, const char *name, char **values);
/* How many ranks the block is to have, from all that was said. */
int options_count_ranks(const struct reader *reader);

/* options_values.c */
/* A sentence about an option that is said at the end of reading, once. */
void options_add_note(struct reader *reader, const char *name, const char *text);
void options_set_flag(struct reader *reader, const char *name, char **values);
void options_set_text(struct reader *reader, const char *name, char **values);
void options_apply_note(struct reader *reader, const char *name, char **values);
void options_apply_env(struct reader *reader, const char *name, char **values);
void options_apply_export(struct reader *reader, const char *name, char **values);
void options_apply_export_list(struct reader *reader, const char *name, char **values);
void options_apply_check(struct reader *reader, const char *name, char **values);
void options_apply_shuffle(struct reader *reader, const char *name, char **values);
void options_apply_unset(struct reader *reader, const char *name, char **values);
void options_apply_env_list(struct reader *reader, const char *name, char **values);
void options_apply_output(struct reader *reader, const char *name, char **values);
void options_apply_error(struct reader *reader, const char *name, char **values);
void options_apply_output_dir(struct reader *reader, const char *name, char **values);
void options_apply_output_from(struct reader *reader, const char *name, char **values);
void options_apply_display(struct reader *reader, const char *name, char **values);
void options_apply_runtime(struct reader *reader, const char *name, char **values);
void options_apply_stdin(struct reader *reader, const char *name, char **values);
void options_apply_input_file(struct reader *reader, const char *name, char **values);
void options_apply_time_limit(struct reader *reader, const char *name, char **values);
void options_apply_clock_limit(struct reader *reader, const char *name, char **values);
void options_apply_hang_report(struct reader *reader, const char *name, char **values);
void options_apply_adopt(struct reader *reader, const char *name, char **values);
void options_apply_report(struct reader *reader, const char *name, char **values);
void options_apply_launch_limit(struct reader *reader, const char *name, char **values);
void options_apply_grace(struct reader *reader, const char *name, char **values);
void options_apply_errhandler(struct reader *reader, const char *name, char **values);
void options_apply_ft(struct reader *reader, const char *name, char **values);

/* profile.c */
void options_apply_profile(struct reader *reader, const char *name, char **values);

/* options_help.c */
extern const char *const options_topics[TOPICS];
extern const char *const options_words[TOPICS]; /* what the page says besides its options */
void options_apply_help(struct reader *reader, const char *name, char **values);
void options_apply_doctor(struct reader *reader, const char *name, char **values);
void options_apply_version(struct reader *reader, const char *name, char **values);
/* "-n N" or "--wdir DIR": the first name of the option and what follows. */
void options_write_name(const struct option *option, char *text, size_t size);
bool options_is_topic(const char *text);

/* options_manual.c */
void options_apply_complete(struct reader *reader, const char *name, char **values);
void options_apply_manual(struct reader *reader, const char *name, char **values);

#endif
