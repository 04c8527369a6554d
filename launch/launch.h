/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: one process, one thread, one epoll loop. It uses base and sys and is linked statically.
 *
 *   options*.c  the command line -> struct options        spawn.c    pipes, control sockets, vfork, exec
 *   program.c   finding programs, making environments     forward.c  output of the ranks, whole lines
 *   segment.c   the job segment                           output.c   files and prefixes for it, by patterns
 *   signals.c   signals in and on to the ranks            sink.c     where it goes, without blocking
 *   job.c       ends of ranks, ending the job, exit code  feed.c     stdin for the ranks
 *   control.c   what ranks tell us                        report.c   messages of the launcher, merged
 *   bind.h      which processors each rank gets           other_mpi.c ranks of another MPI
 *   door.c      programs built for another MPI
 *   mpiexec.c   main and the loop                     worlds.c   processes that are started later
 *   dynamic.c   requests of ranks: start processes,   names.h    published services
 *               publish a name, meet at a port        spawning.h starting processes, step by step
 *   calls.c     connecting to ports on other machines
 *   hang.h      who waits for whom: its own files         ask.c      mpiexec --report
 *   source.c    from addresses in ranks to source lines
 *   explain.c   --explain                                 memory.c   the out-of-memory killer
 *   debug.c     ranks under gdb, valgrind and the like    console.c  one prompt for several gdbs
 *   mpir.c      what parallel debuggers read          nodes.h    the machines of the job
 *   hosts.h     lists of hosts                        map.h      ranks to hosts
 *   remote.c    how other machines are reached
 *   far.h       ranks on other machines               agent.h    mpiexec --agent, there
 *   address.c   addresses of processes to those of other machines
 *   client.h    several jobs with one MPI_COMM_WORLD (IMPI)
 *   bonds.h     being connected with other jobs    guests.h  places for their processes
 *
 * struct job is the only state; it lives in main. */
#ifndef LAUNCH_LAUNCH_H
#define LAUNCH_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/base.h"
#include "bind.h"
#include "map.h"
#include "nodes.h"
#include "sys/job.h"

/* Exit codes of mpiexec itself; otherwise it is the first failing rank's. */
enum {
    EXIT_OTHER_MPI = 1, /* all went well, but every rank was alone */
    EXIT_USAGE = 2,
    EXIT_TIME_LIMIT = 124,
    EXIT_SYSTEM = 125, /* the system refused something mpiexec needs */
    EXIT_CANNOT_RUN = 126,
    EXIT_NOT_FOUND = 127,
    EXIT_SIGNAL = 128, /* plus the signal's number */
};

/* A growing list of strings, ended by NULL so that it can serve as argv or environ. */
struct strings {
    char **at;
    size_t count, room;
};

/* Which of mpiexec's own variables a program gets. */
struct pass {
    bool is_said;         /* else what is said for the job counts */
    bool is_list;         /* those in `names` only; else all but those in `names` */
    struct strings names; /* name, or the beginning of one and '*' */
};

/* One program of the job: what stands between two colons. */
enum { RANK_VARIABLES = 15 }; /* that tell a rank its place (program.c) */

struct app {
    int ranks;           /* -1: not said */
    struct strings argv; /* argv[0] as given */
    struct strings set;  /* NAME=VALUE for this program */
    struct pass pass;
    const char *wdir;   /* NULL: that of mpiexec */
    const char *arch;   /* of a program that a rank starts: what its machines must be; or NULL */
    const char *path;   /* directories to search before PATH; or NULL */
    const char *pset;   /* name of its process set; NULL: none is given */
    const char *soft, *file, *memory_kinds; /* as given, for MPI_INFO_ENV; NULL: not said */
    struct hosts hosts; /* that it may use; none: all of the job */
    char *wanted_hosts; /* those that a rank wants for it, as given; NULL: not said */
    int per_node;       /* ranks on each host in turn; 0: not said */
    int host_limit;     /* only so many of the hosts; 0: all */
    int errhandler;     /* enum job_errhandler */
    char *program;      /* found file; relative to wdir or absolute */
    struct strings env;
    char *own[RANK_VARIABLES]; /* of these, those that are written for each rank; NULL: it gets none */
    struct strings kept; /* what of env is its own */
};

/* What may be the consequence of the end of a rank that we do not know of yet waits so long before it is told. */
#define HELD_SECONDS 2.0

enum { DEBUG_PORT_MAX = 65535 };

/* Ranks under a tool (debug.c). */
enum debug_tool { DEBUG_NONE, DEBUG_GDB, DEBUG_GDBSERVER, DEBUG_VALGRIND, DEBUG_WRAP };
enum debug_place { DEBUG_HERE, DEBUG_TMUX, DEBUG_XTERM, DEBUG_CONSOLE };

struct debug {
    enum debug_tool tool;
    enum debug_place place; /* of gdb */
    const char *ranks;      /* "0,2-4"; NULL: all */
    int port;               /* gdbserver: that of rank 0 */
    struct strings words;   /* valgrind, wrap: the command */
    char *program, *xterm;  /* found files */
    char *script;           /* our commands for gdb; NULL: not found */
};

/* Texts are as the user wrote them, NULL: not said. */
struct options {
    struct app *apps;
    int app_count;
    struct strings set; /* NAME=VALUE for all programs */
    size_t set_by_user; /* so many of them; the rest is of --profile */
    struct pass pass;
    bool label;              /* "[rank] " before each line */
    bool timestamp;          /* date and time before each line */
    bool merge;              /* stderr of a rank goes where its stdout goes */
    bool copy;               /* what goes to files goes to our stdout and stderr too */
    const char *prefix;      /* pattern (output.c) before each line, instead of the label */
    const char *out_pattern; /* file names for stdout and stderr of the ranks */
    const char *err_pattern;
    int only_rank;           /* only its output is shown; -1: that of all */
    const char *stdin_ranks; /* who gets our stdin: "all", "none", "0,2-5"; never NULL */
    const char *stdin_file;  /* to be our stdin */
    bool show_map;           /* tell which ranks run what */
    bool is_dry; /* start nothing */
    bool is_doctor; /* --doctor: tell what there is, and end */
    bool no_doors;           /* programs of other MPIs find their own libraries */
    bool quiet;
    struct strings kept;  /* texts that others point into */
    struct strings notes; /* what was asked for and cannot be had, said once */
    double time_limit; /* seconds; 0: none */
    double hang_report; /* seconds without any movement until ranks that wait for ever are told of; 0: never */
    double launch_limit; /* seconds that other machines have to answer */
    double grace;      /* seconds between a forwarded INT or TERM and KILL */
    int errhandler;     /* enum job_errhandler */
    int universe;       /* MPI_UNIVERSE_SIZE; 0: not said */
    int adopted_fd;     /* socket to a process that is rank 0 already and has started us; 0: there is none */
    struct hosts hosts;   /* all that are named, or else those of the batch system; none: this machine */
    struct map_rule map;  /* how ranks go to them */
    const char **wanted;  /* by rank: the host that a rank file names; NULL: none */
    int wanted_count;
    const char *batch;    /* the batch system, if we run under one; NULL: not */
    const char *batch_note; /* what cannot be read of it; NULL: nothing */
    struct hosts batch_hosts;
    bool batch_is_read, no_batch; /* it has been looked for; it is not to be */
    bool no_local;        /* no ranks here if there are other hosts */
    bool show_hosts;      /* tell the hosts and their slots */
    const char *launcher; /* how other machines are reached: "ssh", "slurm"; NULL: not said */
    const char *launcher_exec; /* the program for that; NULL: not said */
    const char *agent_prefix;  /* where Parley is on other machines; NULL: where it is here */
    const char *name_server;   /* the machine on which names of services are known, too, as ssh wants it; NULL: none */
    bool name_server_is_here;
    const char *client_server; /* of IMPI: address and port; NULL: the job is on its own */
    int client_rank;
    struct binding binding;
    struct strings exported; /* variables named with -x: they go to other machines whatever they are */
    struct strings binding_words; /* what it was made from: names and values in turns, "" for none */
    struct debug debug;
    const char *profile; /* what the names of its files begin with; NULL: none is made */
    const char *trace;   /* its file; NULL: none */
};

struct job;

/* Something the loop watches. */
struct source {
    void (*ready)(struct job *job, struct source *source, uint32_t events);
    int fd;   /* -1: not open */
    int rank; /* -1: nobody's */
};

/* Where output goes: stdout or stderr of mpiexec, or both when they are the same file, or a file. */
struct sink {
    struct source source;
    const char *path; /* of a file; NULL: it is ours */
    char *data;       /* not yet written: `length` bytes from `start` */
    size_t start, length, room;
    bool is_regular; /* a file: never blocks */
    bool is_watched;
    bool has_paused;          /* streams that wait for it to drain */
    bool is_broken;           /* its reader has gone */
    int64_t last_ns;          /* when something was last written */
    struct stream *open_line; /* stream whose unfinished line was the last thing written */
};

/* stdout or stderr of a rank. */
struct stream {
    struct source source; /* reading end of the pipe */
    struct sink *sink;
    struct sink *copy;  /* gets the same; or NULL */
    const char *prefix; /* before each line; NULL: none */
    char *partial;      /* beginning of a line that has not ended yet */
    size_t length, room;
    int64_t begun_ns; /* when it began; 0: nothing there */
    bool is_block; /* the last bytes came in full blocks: the rank's buffer was full, there is more to come */
    bool is_paused; /* the sink is full, or mpiexec has not taken enough of what we have sent it */
    bool is_far;    /* open on another machine */
    size_t unpaid;  /* bytes that an agent has sent and mpiexec has not given credit for, on both sides */
};

/* stdin of a rank that gets a copy of ours. */
struct feed {
    struct source source; /* writing end of its pipe */
    uint64_t given;       /* bytes that went there */
    bool is_watched;
    bool is_far;          /* on another machine, and it still reads … */
    uint64_t fed;         /* … and has got so many of them */
    bool is_ending;       /* of an agent: no more will come … */
    char *data;           /* … than these */
    size_t start, length, room;
};

enum { OTHER_MPI_SIZE = 64 };

/* What the counters of the out-of-memory killer say about a rank that was killed. */
enum oom { OOM_UNKNOWN, OOM_NONE, OOM_MACHINE, OOM_GROUP };

/* Processes that have one MPI_COMM_WORLD: those of the command line, or of one call of MPI_Comm_spawn. */
struct world {
    int number;      /* 0: those of the command line */
    int first, size; /* their places in the segment */
    int places;      /* that nobody else has had since */
    bool is_cancelled; /* it did not come to be; those that were started are ended again */
    struct app *apps;
    int app_count;
    char *request;   /* what texts of the programs point into; NULL: the command line */
};

struct rank {
    struct world *world; /* NULL: nobody has had this place yet */
    int number;          /* in its world */
    int node;            /* of job->nodes */
    struct app *app;
    int appnum;
    bool will_end;       /* a process that it is connected with has failed … */
    bool is_gone;        /* a process of another job that has ended */
    bool is_lost;        /* its machine is */
    int64_t killed_ns;   /* when its agent has been told to kill it; 0: not yet */
    bool is_doomed;      /* … and it has been told to end */
    char *request;       /* to us, as far as it has come; NULL: none */
    size_t request_size;
    pid_t pid;        /* of the child; 0: not started or reaped */
    pid_t group;      /* its process group, 0: it shares mpiexec's */
    int status;       /* as from waitpid, once reaped */
    bool is_adopted;  /* it has started us, and is not our child */
    bool has_ended;   /* reaped, and not yet judged */
    bool is_over;     /* reaped and judged */
    bool is_clean;    /* and it had left MPI */
    bool has_address[JOB_NETS]; /* that the others have been told */
    bool is_used_there; /* on another machine something of it is still open, though it may be over */
    bool has_failed;  /* who is connected with it is to be ended, and is being found out */
    bool has_aborted; /* it told so */
    bool has_written; /* to one of its pipes */
    char other_mpi[OTHER_MPI_SIZE]; /* library of another MPI that it uses; "": none is known of */
    int lost;         /* as in its job_proc, once it has ended */
    struct { /* its end may be the consequence of another one, of which first we must know: what is to be judged then */
        bool is_held;
        enum job_state state;
        enum oom oom;
    } end;
    struct control_message *held; /* it aborts because another has ended: first we must know of that */
    bool has_tool;    /* it runs under options.debug.tool */
    struct strings words; /* the command line, if so */
    struct source control;
    struct stream out, err;
    struct feed in;
};

/* A message about one or several ranks. */
struct note {
    char *text;
    int *ranks; /* the first is the one that said it in these words */
    int count;
    bool is_error;  /* the end of a rank: what others say that differs in numbers only counts as the same */
    bool is_varied; /* and there are such */
    bool is_echo;   /* points to a message that is printed already */
    bool is_printed;
};

enum timer {
    TIMER_FLUSH,
    TIMER_REPORT,
    TIMER_SETTLE,
    TIMER_KILL,
    TIMER_DOOM,
    TIMER_DOOM_KILL,
    TIMER_LINGER,
    TIMER_LIMIT,
    TIMER_LOOK,
    TIMER_BINDING,
    TIMER_HANG,
    TIMER_ANSWERS,
    TIMER_HELD,
    TIMER_MPIR,
    TIMER_CONSOLE,
    TIMER_LINKS,
    TIMER_LAUNCH,
    TIMER_ADDRESSES,
    TIMER_FAILED,
    TIMER_CLIENT,
    TIMER_BONDS,
    TIMER_NAMES,
    TIMER_SILENT,
    TIMERS
};

/* What main found when it came up and a rank gets back as it was. */
struct inherited {
    sigset_t mask;
    struct sigaction sigpipe;
    struct rlimit files;
    bool is_files_raised;
};

struct hang;
struct hang_far;
struct client;
struct control_message;
struct frame;
struct link;
struct orders;
struct root;

/* Processes that the out-of-memory killer has ended; -1: not known. */
struct oom_kills {
    int64_t group;   /* of our control group */
    int64_t machine; /* of all; looked at if the group does not tell */
};

struct bonds;

struct job {
    struct options options;
    struct inherited inherited;
    int size;            /* ranks of the first world */
    int used;            /* places that anybody has or has had are below */
    struct rank *ranks;  /* by their places in the segment: those of the first world have their ranks */
    struct world first_world;
    struct nodes nodes;
    char *folder;        /* that we were called in; NULL: nobody needs it */
    struct link *links;  /* to agents, by nodes; NULL: there are none */
    struct orders *orders; /* of an agent: job_text.h */
    struct client *client; /* the way to the server of IMPI; NULL: there is none */
    struct root *root;   /* we are an agent: the way to mpiexec; NULL: we are mpiexec itself */
    int worlds;          /* the number of the last one */
    struct spawning *spawnings; /* calls that want processes, the oldest first (spawning.h); NULL: none */
    struct name *names;  /* published services (names.h); NULL: none */
    struct look *looks;  /* other mpiexecs are asked for services; NULL: none */
    struct far_name *far_names; /* names_far.c */
    struct bonds *bonds; /* with mpiexecs of other jobs (bonds.h); NULL: none yet */
    uint32_t admissions; /* of processes of other jobs (guests.h) that all machines have been told of */
    struct bond_end *bond_ends; /* ends of processes there that ours may be connected with; NULL: none */
    struct abroad_call *abroad_calls; /* to their ports, and theirs that are accepted; NULL: none */
    struct meeting *meetings; /* places for processes of other jobs that ranks wait for (bond_meet.c); NULL: none */
    struct port_call *calls; /* to ports of processes on other machines, the oldest first; NULL: none */
    struct job_head *head;
    int segment_fd;      /* the number ranks find it under, too */
    int rank_control_fd; /* the number of the control socket in every rank; kept occupied here */
    int null_fd;
    int epoll_fd;
    struct cpus *masks;     /* the processors of each rank; NULL: those of mpiexec */
    bool is_bound_as_asked; /* the user wants it so: a refusal of the system is an error */
    int bind_looks, squeezed_rank; /* of bind_watch; the rank that the last look found, -1: none */
    struct source signals, listener;
    struct source **guests; /* connections of newcomers, and of ranks that were newcomers */
    int guest_count, guest_room;
    struct console *console; /* NULL: there is none */
    struct sink sinks[2];   /* [0] stdout, [1] stderr, unused when both are the same file */
    struct sink **files;    /* more of them */
    int file_count, file_room;
    bool has_broken_sink;
    bool has_lost_output;   /* and not because its reader wanted no more */
    struct input *input;    /* feed.c: our stdin on its way to several ranks; NULL: it is not */
    bool is_direct;         /* one rank that writes to our stdout and stderr itself */
    int stdin_rank;         /* has our own stdin; -1: none has */
    bool has_terminal;      /* which is a terminal: that rank stays in our process group */
    pid_t witness;          /* and with it a process that shows what signals come to the group; 0: none */
    uint64_t witnessed;     /* those that we have not read yet, by bits */
    int64_t timers[TIMERS]; /* when, CLOCK_MONOTONIC in ns; 0: off */
    int running;            /* ranks started and not reaped */
    int streams_open;
    int failed_rank; /* first rank that failed, -1: none, -2: mpiexec itself */
    int exit_code;
    bool is_ending;     /* we have begun to end the ranks */
    int lingers;        /* looks since all ranks are over and pipes have stayed open */
    bool has_judged;    /* ranks of another MPI have been looked for, at the end */
    bool is_signalled;  /* the user's INT or TERM is on its way through */
    uint64_t forwarded; /* bit per signal number that was passed on */
    int64_t last_int_ns;
    struct oom_kills oom_kills; /* when we began */
    struct note *notes;
    int note_count, note_room;
    struct hang_far *hang_far; /* of other machines; NULL: nobody has looked yet */
    struct hang *hang;     /* NULL: nobody has waited for long yet */
    bool is_quit_for_group; /* SIGQUIT came to our whole process group */
};

/* Why a program cannot be run. */
struct refusal {
    int exit_code;
    char text[1024]; /* with its id */
};

/* mpiexec.c */
/* Have the loop run until that is so, or at once if it is. */
void loop_until(struct job *job, bool (*is_so)(struct job *job));
/* What is to be done before the first rank starts, the same on every machine, in this order. */
void prepare_process(struct job *job); /* its descriptors, signals, children */
bool prepare_programs(struct job *job, struct refusal *refusal); /* of the ranks here. False, and why */
void prepare_ranks(struct job *job);   /* job->ranks are there, with their nodes */
/* Another machine has the rank. */
static inline bool is_far(const struct job *job, int rank)
{
    return job->ranks[rank].node != job->nodes.here;
}
int ranks_here(const struct job *job); /* of the command line */
void source_add(struct job *job, struct source *source);    /* watch for input */
void source_remove(struct job *job, struct source *source); /* stop watching, close */
/* From now on; an earlier time that is already set stays. */
void timer_set(struct job *job, enum timer timer, double seconds);
int64_t now_ns(void);
void *need(size_t size); /* zeroed memory, or the end of mpiexec */
void *need_more(void *old, size_t size);
/* The same text in memory of its own. */
static inline char *need_text(const char *text)
{
    return strcpy(need(strlen(text) + 1), text);
}
void strings_add(struct strings *strings, char *text);
void complain(const char *text); /* mpiexec's own message, at once; with its remedy */
_Noreturn void die(int exit_code, const char *format, ...) PRINTF_LIKE(2, 3);

/* options.c */
void options_read(struct options *options, char **argv); /* does not come back from --help or a mistake */

/* program.c */
/* Find its file and make its environment. False, and why. */
bool program_prepare(const struct options *options, struct app *app, struct refusal *refusal);
/* Set NAME=VALUE, in place of what is there. */
void program_set(struct strings *environment, char *text);
/* Give back what it holds, but not the words that came with it. */
void program_free(struct app *app);
void program_set_rank(struct job *job, int rank); /* write the rank's variables into its app's env */
/* Value of an environment variable as the program will have it, or NULL. */
const char *program_variable(const struct app *app, const char *name);
/* Set NAME=VALUE, in place of what is there; `text` becomes the app's. Before program_prepare has ended. */
void program_set_variable(struct app *app, char *text);

/* The file `name` in PATH of the program's environment; NULL: none. The directories of -path are not looked at. */
char *program_search(const struct app *app, const char *name);

/* debug_options.c */
/* One of the options that choose a tool; `name` may go on with "=...", value: what stands there, or NULL. */
void debug_option(struct debug *debug, const char *name, const char *value);

/* debug.c */
enum { OWN_FILE_SIZE = 4096 + 256 }; /* PATH_MAX and a place */
/* own.c: the folder of the mpiexec that runs, into PATH_MAX bytes. */
void own_directory(char *path);
/* The first of these places, each from that folder on, where there is a file that can be read; false: none, and `path`
 * (OWN_FILE_SIZE) is the last one looked at. */
bool own_file(const char *const *places, size_t count, char *path);

void debug_prepare(struct job *job); /* find the tools, mark the ranks */
/* Of --profile and --trace: what the programs' environment needs. */
void profile_prepare(struct options *options);
/* The same of a program in that spawned world; before program_prepare. */
void profile_spawned(const struct options *options, struct app *app, int world);
void debug_wrap(struct job *job, int rank, char ***argv, const char **program);
void debug_announce(struct job *job);                      /* where to connect to */
bool debug_has_people(const struct job *job, int rank);    /* it ends as its user likes */
bool debug_has_console(const struct job *job, int rank);
bool debug_takes_interrupt(const struct job *job);         /* SIGINT is for a gdb and does not end the job */

/* console.c */
void console_init(struct job *job);
void console_add_words(struct strings *words);                         /* options of gdb */
void console_open(struct job *job, int rank, int out_fd, int in_fd);   /* its output, its stdin; owned from now on */
void console_look(struct job *job);
void console_interrupt(struct job *job);

/* mpir.c */
void mpir_prepare(struct job *job); /* before the ranks start */
void mpir_started(struct job *job); /* all of them have */
void mpir_poll(struct job *job);
void mpir_update(const struct job *job, int rank); /* its process is known; nothing for who is started later */
void mpir_aborting(const char *why);

/* segment.c */
void segment_create(struct job *job);
/* How many places are wished for processes that are started later. */
size_t segment_spare(const struct job *job);
/* Once it is known on how many processors the ranks run. */
void segment_set_universe(struct job *job);
int open_nothing(void);
/* Move `fd` up, out of the way; the old number is closed. */
int descriptor_move_up(int fd);

/* spawn.c */
void spawn_raise_limits(struct job *job); /* before anything is opened */
void spawn_all(struct job *job);
/* One process, whose rank is filled in. False, and why. */
bool spawn_rank(struct job *job, int rank, struct refusal *refusal);

/* worlds.c: processes that are started later, and the names of all. */
enum { RANK_NAME_SIZE = 48 };
/* "rank 3", "rank 0 of spawned world 2" */
const char *rank_name(const struct job *job, int rank, char name[RANK_NAME_SIZE]);
/* Where a world of so many processes can go; -1: nowhere. Places that others may still have to do with are not free. */
int worlds_find_room(struct job *job, int size);
/* The most processes that a world could have now. */
int worlds_room(struct job *job);
/* Its places are those of its programs' processes, one after the other. */
void worlds_fill(struct job *job, struct world *world);
/* Enter a copy of it, with the next number; its processes are not started yet. The apps and the request are the
 * world's. `nodes`: of each of its processes. */
struct world *worlds_add(struct job *job, const struct world *wanted, const int *nodes);
/* These places are those of processes of another job, which are not ours to start or to end. */
void worlds_admit(struct job *job, int first, int size);
/* The process there has ended, or we hear no more of it; the place is had again when nobody is connected with it. */
void worlds_dismiss(struct job *job, int place);
/* All that the process in this place has here is closed. */
bool worlds_is_done_with(const struct job *job, int place);
/* Mark who is connected with `rank`, directly or through others, itself among them (MPI 5.0 §11.10.4). True: all that
 * still run are. */
bool worlds_doom(struct job *job, int rank);

/* dynamic.c: do what a rank has asked for; the answer is in its job_desk. False: it is not there yet, and
 * control_answered will be called. The request is taken over. */
bool dynamic_request(struct job *job, int rank, unsigned kind, char *request, size_t size);

/* forward.c */
void forward_init(struct job *job);
/* Pipes for stdout and stderr of a rank: [1] for the rank, [0] for forward_open; -1: none. */
void make_pipe(int ends[2]); /* at exec both are closed */
void forward_pipes(const struct job *job, int rank, int out[2], int err[2]);
void forward_open(struct job *job, int rank, int out_fd, int err_fd);
void forward_rank_over(struct job *job, int rank);        /* take what is in its pipes now */
/* A rank on another machine: its streams are open; what it has written on one, nothing if that has ended. */
void forward_open_far(struct job *job, int rank);
void forward_far(struct job *job, int rank, bool is_error, const char *data, size_t size);
/* Of an agent: mpiexec has taken so many bytes of the stream; it takes no more of it. */
void forward_credit(struct job *job, int rank, bool is_error, size_t size);
void forward_unwanted(struct job *job, int rank, bool is_error);
void forward_flush_partial(struct job *job, int64_t now); /* lines that began a while ago */
void forward_close(struct job *job);                      /* give up on pipes still open */
bool forward_is_held_up(const struct job *job);           /* a stream waits for a slow reader of ours */
/* Of an agent: all of its ranks are killed; take what is in their pipes, however much mpiexec has not taken yet. */
void forward_empty(struct job *job);
void forward_print(struct job *job, const char *text);    /* mpiexec's own words on stderr, a whole line */
void forward_write(struct job *job, const char *text);    /* on stdout, as it is */
bool forward_is_done(const struct job *job);              /* nothing waits to be written */
/* Of sinks: read again, for there is room; never again, for nobody takes it. */
void forward_resume(struct job *job, const struct sink *sink);
void forward_break(struct job *job, const struct sink *sink);

/* output.c */
void output_open(struct job *job);                            /* the files of all ranks */
void output_place(struct job *job, int rank, bool is_error, struct stream *stream);
char *output_expand(const struct job *job, int rank, const char *pattern); /* the caller's, by mem_free */

/* sink.c */
void sink_init(struct sink *sink, int fd);
void sink_put(struct sink *sink, const char *data, size_t size);
void sink_drain(struct job *job, struct sink *sink); /* write what goes without blocking */
bool sink_is_full(const struct sink *sink);

/* feed.c */
void feed_init(struct job *job); /* before the first rank */
/* What becomes the rank's stdin; -1: it keeps ours. Other numbers are the caller's to close. */
int feed_open(struct job *job, int rank);
void feed_rank_over(struct job *job, int rank);
/* A rank on another machine gets stdin if it is to; it has got so many bytes more, 0: it reads no more. */
void feed_open_far(struct job *job, int rank);
void feed_go(struct job *job); /* all of them are open */
void feed_far(struct job *job, int rank, size_t size);
/* Of an agent: stdin for a rank, nothing if it has ended. */
void feed_take(struct job *job, int rank, const char *data, size_t size);

/* control.c */
void control_listen(struct job *job);
void control_ready(struct job *job, struct source *source, uint32_t events);
void control_rank_over(struct job *job, int rank); /* take what it said last */
void control_reply(struct job *job, struct source *source, const char *text); /* to who wants a report; closes */
void control_held(struct job *job);                /* take what was held until the cause is known */
/* What a rank on another machine has said. */
void control_far(struct job *job, int rank, struct control_message *message);
/* The answer to the request of a rank is in its job_desk. */
void control_answered(struct job *job, int rank);
/* Of an agent: mpiexec has taken a message of the rank. */
void control_taken(struct job *job, int rank);

/* signals.c */
void signals_init(struct job *job);
void signals_watch(struct job *job);
void signals_close(struct job *job);
void signals_send(struct job *job, int rank, int signal); /* to the rank and all of its process group */
void signals_quit(struct job *job); /* the report is out: now SIGQUIT goes on */

/* job.c */
void job_reap(struct job *job);
/* The end of a rank is known, and all that it has said before. */
void job_judge_held(struct job *job); /* ends whose cause is known now, or has not shown in time */
void job_judge(struct job *job, int rank, int status, enum job_state state, enum oom oom);
void job_adopted_over(struct job *job, int rank); /* a process that is not our child has ended */
void job_failed(struct job *job, int rank, int exit_code, bool ends_others);
void job_stop(struct job *job, int signal); /* begin to end all ranks */
/* After a failure, when the agents have told who is connected with whom, or had the time to. */
void job_find_doomed(struct job *job, bool is_late);
void job_timer(struct job *job, enum timer timer);
void job_limit(struct job *job); /* the time limit is over, and the report is out */
bool job_is_over(const struct job *job);
void job_clean(struct job *job); /* descendants of ranks that are still there */

/* door.c */
/* Variables for a program that was built for another MPI, so that it finds our library under that one's name. Returns
 * whether it is one for certain. */
bool door_prepare(struct app *app, int wdir_fd);
bool door_is_own(const char *path, size_t length); /* such a library of ours */
/* Which door programs that want this library would need, if it is not installed; else NULL. */
const char *door_missing(const char *library);
/* The file of the door for it into `path`. False: there is none. */
bool door_file(const char *library, char *path, size_t size);

/* other_mpi.c */
void other_mpi_init(struct job *job);
void other_mpi_look(struct job *job, int rank); /* whether the rank, if it has not come to us, has loaded one */
void other_mpi_look_at_all(struct job *job);
/* Of a rank of an agent that has ended: the library that it used; "": none is known of. */
const char *other_mpi_of(struct job *job, int rank);
void other_mpi_report(struct job *job); /* once, when all are over */

/* memory.c */
struct oom_kills memory_oom_kills(void);
enum oom memory_verdict(const struct job *job); /* since the job began */

/* address.c: job_place.address of processes goes to those on other machines. */
void address_watch(struct job *job); /* look for new ones here, now and every so often */
/* That of a process of another machine. */
bool address_store(struct job *job, const struct frame *frame, const void *address);

/* report.c */
void report_rank(struct job *job, int rank, const char *format, ...) PRINTF_LIKE(3, 4);
void report_text(struct job *job, int rank, const char *text);
void report_error(struct job *job, int rank, const char *text); /* that ended the rank */
void report_print(struct job *job);   /* all notes not printed yet */

/* hang.c: reports of who waits for whom. They come a moment after they are wanted; then signals_quit or job_limit is
 * called if that is what they are for. */
enum hang_purpose { HANG_UNASKED = 1, HANG_SIGNAL = 2, HANG_LIMIT = 4, HANG_ASKED = 8 };
void hang_start(struct job *job);
void hang_forget(struct job *job, int rank); /* another process has its place */
void hang_look(struct job *job);    /* TIMER_HANG */
void hang_answers(struct job *job); /* TIMER_ANSWERS */
void hang_want(struct job *job, enum hang_purpose purpose);
void hang_want_for(struct job *job, struct source *asker); /* goes to control_reply */

/* ask.c: mpiexec --report: print the report of the job that process `pid` belongs to. */
_Noreturn void ask_report(int pid);

#endif
