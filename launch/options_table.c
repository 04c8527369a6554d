/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the options there are: those of MPI 5.0 §11.5, and the habits of Hydra (MPICH, Intel MPI), of Open
 * MPI 4 and 5, and of srun. Where two of them disagree, the one that is written more often has it. --help, the
 * manual page and the completion for shells are made of this table. */
#include "options.h"

#include "launch.h"

#define DO(function) options_apply_##function, 0
#define FLAG(member) options_set_flag, offsetof(struct options, member)
#define TEXT(member) options_set_text, offsetof(struct options, member)
#define NOTHING      NULL, 0
#define ACCEPTED     TOPIC_ABOUT, NOTHING, NULL

const struct option options_table[] = {
    /* How many of which program, where. */
    { "n np ranks ntasks", "N", TOPIC_RUN | COMMON, DO(ranks),
      "start N processes of the program (default 1)" },
    { "c", "N", TOPIC_RUN, DO(short_count), "the same; behind -n: processors for each process" },
    { "soft", "SET", TOPIC_RUN, DO(soft), "let N be the largest number of SET: 2:8:2,16" },
    { "host hosts H w nodelist hostlist machines machinelist nodes-as", "LIST", TOPIC_RUN, DO(hosts),
      "hosts, with slots: a,b:4, node[01-16], user@c" },
    { "hostfile f machinefile machine default-hostfile add-hostfile launcher-hostfile", "FILE", TOPIC_RUN,
      DO(host_file), "the same, a host a line: a slots=4 max_slots=8" },
    { "launcher bootstrap", "WAY", TOPIC_RUN, DO(launcher),
      "to reach hosts: ssh, rsh, slurm, lsf, sge, oar, pbs" },
    { "launcher-exec bootstrap-exec", "COMMAND", TOPIC_RUN, TEXT(launcher_exec),
      "the program for that: 'ssh -p 2222'" },
    { "prefix", "DIR", TOPIC_RUN, TEXT(agent_prefix), "Parley is in DIR on the other hosts" },
    { "name-server nameserver", "HOST", TOPIC_RUN, DO(name_server),
      "published names are known on HOST, too" },
    { "rankfile rf", "FILE", TOPIC_RUN, DO(rankfile), "a host for each rank, a line each: rank 0=a slot=0" },
    { "ppn perhost npernode ntasks-per-node tasks-per-node grr", "N", TOPIC_RUN, DO(per_node),
      "N processes on each host in turn" },
    { "pernode rr", NULL, TOPIC_RUN, DO(one_per_node), "one process on each host in turn" },
    { "N nodes", "N", TOPIC_RUN, DO(nodes), "the same as --ppn; --nodes: so many hosts" },
    { "wdir wd chdir D", "DIR", TOPIC_RUN | COMMON, DO(wdir), "start the program in DIR" },
    { "path", "DIRS", TOPIC_RUN, DO(path), "look for it in DIRS (A:B), then in PATH" },
    { "arch", "NAME", TOPIC_RUN, DO(arch), "must be what uname -m says of this machine" },
    { "file", "FILE", TOPIC_RUN, DO(file), "read options for the program from FILE" },
    { "pset", "NAME", TOPIC_RUN, DO(pset), "name the process set of these processes, for sessions" },
    { "memory-alloc-kinds mem-alloc-kind", "KINDS", TOPIC_RUN, DO(memory_kinds),
      "kinds of memory the program asks for: mpi,system" },
    { "client", "RANK ADDR", TOPIC_RUN, DO(client), "be client RANK of the IMPI server at ADDR" },
    { "universe-size usize", "N", TOPIC_RUN, DO(universe),
      "processes there may be, with those started later" },
    { "configfile app appfile", "FILE", TOPIC_RUN | COMMON, DO(config),
      "read all programs from FILE, one a line" },
    { "display-map print-rank-map display-devel-map", NULL, TOPIC_RUN, FLAG(show_map),
      "tell which ranks run what, and where" },
    { "display-allocation display-devel-allocation", NULL, TOPIC_RUN, FLAG(show_hosts),
      "tell the hosts and their slots" },
    { "display", "WORDS", TOPIC_RUN, DO(display), "map, allocation, bind: the options of these names" },
    { "runtime-options rtos", "WORDS", TOPIC_RUN, DO(runtime),
      "donotlaunch: --do-not-launch; others: nothing" },
    { "no-doors", NULL, TOPIC_RUN, FLAG(no_doors), "programs built for another MPI use its library" },
    { "do-not-launch test-only", NULL, TOPIC_RUN, FLAG(is_dry), "check and tell, but start nothing" },

    { "x", "NAME[=VALUE]", TOPIC_ENVIRONMENT | COMMON, DO(export), "set a variable for the program" },
    { "env set-env", "NAME VALUE", TOPIC_ENVIRONMENT, DO(env), "the same; also NAME=VALUE" },
    { "genv", "NAME VALUE", TOPIC_ENVIRONMENT, DO(env), "the same for all programs" },
    { "envall genvall", NULL, TOPIC_ENVIRONMENT, DO(env_list), "pass on mpiexec's environment (default)" },
    { "envnone genvnone", NULL, TOPIC_ENVIRONMENT, DO(env_list), "pass on nothing of it" },
    { "envlist genvlist", "NAMES", TOPIC_ENVIRONMENT, DO(env_list), "pass on these only: A,B,OMP_*" },
    { "envexcl genvexcl", "NAMES", TOPIC_ENVIRONMENT, DO(env_list), "pass on all but these" },
    { "unset-env", "NAME", TOPIC_ENVIRONMENT, DO(unset), "do not pass on this one" },
    { "export", "WORDS", TOPIC_ENVIRONMENT, DO(export_list), "ALL, NONE, NAME, NAME=VALUE, as in srun" },

    { "l label tag-output prepend-rank", NULL, TOPIC_OUTPUT | COMMON, FLAG(label),
      "write \"[rank] \" before every line" },
    { "prepend-pattern", "PATTERN", TOPIC_OUTPUT, TEXT(prefix), "write PATTERN before every line" },
    { "timestamp timestamp-output", NULL, TOPIC_OUTPUT, FLAG(timestamp),
      "write date and time before every line" },
    { "output-dir", "DIR[:copy]", TOPIC_OUTPUT | COMMON, DO(output_dir),
      "write DIR/rank.N.out and .err instead" },
    { "output-filename output-directory", "DIR[:nocopy]", TOPIC_OUTPUT, DO(output_dir),
      "write DIR/1/rank.N/stdout and stderr as well" },
    { "outfile-pattern outfile", "PATTERN", TOPIC_OUTPUT, DO(output), "write stdout to such files" },
    { "errfile-pattern errfile e error", "PATTERN", TOPIC_OUTPUT, DO(error), "write stderr to such files" },
    { "output o", "PATTERN", TOPIC_OUTPUT, DO(output), "write both; also tag,timestamp,merge,dir=D,file=F" },
    { "merge-stderr-to-stdout merge", NULL, TOPIC_OUTPUT, FLAG(merge), "stderr goes where stdout goes" },
    { "output-from", "RANK", TOPIC_OUTPUT, DO(output_from), "show only what this rank writes" },

    { "stdin", "RANKS", TOPIC_INPUT | COMMON, DO(stdin), "who reads stdin: 0 (default), 0,2-5, all, none" },
    { "s", "?RANKS", TOPIC_INPUT, DO(stdin), "the same" },
    { "i input", "FILE", TOPIC_INPUT, DO(input_file), "every rank reads FILE; or RANKS, as --stdin" },

    { "bind-to binding", "POLICY", TOPIC_BINDING | COMMON, DO(binding),
      "none, core, hwthread, l3cache, numa, socket" },
    { "map-by", "POLICY", TOPIC_BINDING, DO(binding),
      "slot, node, ppr:N:node, core, ppr:N:socket; :PE=N" },
    { "rank-by", "POLICY", TOPIC_BINDING, DO(binding), "slot, fill, span, core, socket, numa, node" },
    { "cpu-set cpu-list slot-list", "LIST", TOPIC_BINDING, DO(binding), "processors to use: 0-3,8" },
    { "cpus-per-rank cpus-per-proc cpus-per-task depth", "N", TOPIC_BINDING, DO(binding),
      "processors for each rank" },
    { "cpu-bind cpu_bind", "WORDS", TOPIC_BINDING, DO(binding),
      "none, cores, threads, sockets, as in srun" },
    { "npersocket", "N", TOPIC_BINDING, DO(binding), "N processes on each socket" },
    { "use-hwthread-cpus", NULL, TOPIC_BINDING, DO(binding), "a hardware thread counts as a processor" },
    { "nooversubscribe", NULL, TOPIC_RUN, DO(mapping), "an error if a host would get more than its slots" },
    { "oversubscribe", NULL, TOPIC_RUN, DO(mapping), "more ranks than slots are welcome (default)" },
    { "nolocal", NULL, TOPIC_RUN, FLAG(no_local), "start nothing here if other hosts are named" },
    { "bind-to-core bind-to-socket bind-to-none bynode byslot bycore bysocket bynuma", NULL, TOPIC_BINDING,
      DO(binding), "--bind-to, --map-by of old" },
    { "show-binding report-bindings", NULL, TOPIC_BINDING, DO(binding),
      "draw the machine and what each rank may use" },

    { "timeout maxtime", "SECONDS", TOPIC_ENDING | COMMON, DO(time_limit),
      "end the job then, exit code 124" },
    { "t time", "TIME", TOPIC_ENDING, DO(clock_limit), "the same: minutes, M:S, H:M:S, D-H, as in srun" },
    { "launch-timeout", "SECONDS", TOPIC_ENDING, DO(launch_limit),
      "for other machines to answer (default 60, 0: none)" },
    { "hang-report", "SECONDS", TOPIC_ENDING, DO(hang_report),
      "tell of ranks stuck for so long (default 10, 0: never)" },
    { "report", "PID", TOPIC_ENDING | COMMON, DO(report), "who waits for whom in the job of that mpiexec" },
    { "grace", "SECONDS", TOPIC_ENDING, DO(grace), "from a forwarded INT or TERM to KILL (default 10)" },
    { "initial-errhandler", "NAME", TOPIC_ENDING, DO(errhandler), "mpi_errors_are_fatal, _abort or _return" },
    { "q quiet Q", NULL, TOPIC_ENDING | COMMON, FLAG(quiet), "do not say why the job ended" },

    { "gdb", "[=RANKS]", TOPIC_DEBUG | COMMON, DO(tool), "run ranks under gdb, with one prompt or windows" },
    { "gdbserver", "[=PORT]", TOPIC_DEBUG, DO(tool), "run ranks under gdbserver, at PORT + rank" },
    { "valgrind", "[=OPTIONS]", TOPIC_DEBUG, DO(tool), "run ranks under valgrind" },
    { "wrap", "COMMAND", TOPIC_DEBUG, DO(tool), "run ranks under COMMAND" },
    { "profile", "[=NAME]", TOPIC_DEBUG | COMMON, DO(profile),
      "tell where time in MPI goes; more in NAME.json, .svg" },
    { "trace", "[=FILE]", TOPIC_DEBUG, DO(profile), "write every call of MPI to FILE, for Perfetto" },
    { "check", NULL, TOPIC_DEBUG, DO(check), "tell of wrong types, and of what is left at the end" },
    { "shuffle", "[=SEED]", TOPIC_DEBUG, DO(shuffle), "messages in legal but unusual orders" },
    { "tool-ranks", "RANKS", TOPIC_DEBUG, DO(tool), "only these, such as 0,2-4, with one of the last four" },

    { "help h ?", "?TOPIC", TOPIC_ABOUT, DO(help), "this, or one of its pages" },
    { "doctor", NULL, TOPIC_ABOUT | COMMON, DO(doctor), "tell what this machine, or those of --host, offer" },
    { "reach", "[WORDS]", TOPIC_ABOUT, DO(reach), NULL }, /* --doctor starts us so on other machines, */
    { "names", "[WORDS]", TOPIC_ABOUT, DO(names), NULL }, /* and --name-server so */
    { "version V info", NULL, TOPIC_ABOUT | COMMON, DO(version), "tell the version" },
    { "adopt", "[FD]", TOPIC_ABOUT, DO(adopt), NULL }, /* the library starts us so (src/pm/helper.c) */
    { "complete", "SHELL", TOPIC_ABOUT, DO(complete), "write the completion for bash or zsh" },
    { "manual", NULL, TOPIC_ABOUT, DO(manual), "write the manual page" },

    /* What cannot be had and would be missed. */
    { "with-ft", "WORD", TOPIC_ABOUT, DO(ft), "failed processes cannot be survived yet, they end the job" },
    { "enable-recovery continuous disable-auto-cleanup no-kill k", NULL, TOPIC_ABOUT, DO(note),
      "failed processes cannot be survived yet, they end the job" },
    { "max-restarts", "N", TOPIC_ABOUT, DO(note),
      "failed processes are not started again, they end the job" },
    { "multi-prog", NULL, TOPIC_ABOUT, DO(note),
      "not known here; see -configfile, or colons between programs" },
    { "ckpointlib ckpoint-prefix ckpoint-interval ckpoint-num", "X", TOPIC_ABOUT, DO(note),
      "no checkpoints are taken" },
    { "xterm", "RANKS", TOPIC_ABOUT, DO(note), "no windows are opened" },
    { "debug debugger tv", NULL, TOPIC_ABOUT, DO(note),
      "that debugger is not started; see --gdb, or attach it to mpiexec" },
    { "gtool gtoolfile", "X", TOPIC_ABOUT, DO(note), "no tool is started; put it before the program" },
    { "check-mpi check_mpi aps mps", NULL, TOPIC_ABOUT, DO(note), "this tool is Intel's and not here" },

    /* What makes no difference on one machine, or says what is so anyway. Open MPI: */
    { "display-comm display-comm-finalize allow-run-as-root disable-recovery noprefix "
      "no-app-prefix debug-daemons debug-daemons-file leave-session-attached hetero-nodes uniform-nodes "
      "report-state-on-timeout get-stack-traces report-child-jobs-separately no-aggregate-help parseable "
      "parsable show-progress preload-binary xml do-not-resolve do-not-connect novm no-ready-msg "
      "index-argv-by-rank tree-spawn",
      NULL, ACCEPTED },
    { "am amca tune-file personality ppr stream-buffering tmpdir "
      "preload-files report-uri report-pid report-events ompi-server server-wait-time launch-agent "
      "max-vm-size forward-signals spawn-timeout display-topo gpu-support app-pmix-prefix pmix-prefix",
      "X", ACCEPTED },
    { "mca gmca omca gomca prtemca gprtemca pmixmca gpmixmca", "KEY VALUE", TOPIC_RUN, DO(setting),
      "of these settings only plm_rsh_agent has a meaning" },
    { "dvm fwd-environment output-proctable stop-on-exec stop-in-init stop-in-app", "[X]", ACCEPTED },
    { "tune", "?FILE", ACCEPTED },
    { "d", "?N", ACCEPTED }, /* Cray's depth */
    /* Hydra and Intel: */
    { "v verbose profile-hydra enable-auto-cleanup enable-hostname-propagation disable-hostname-propagation "
      "enable-x disable-x hybrid-hosts pmi-port print-all-exitcodes exitinfo skip-launch-node noconf "
      "ordered-output silent-abort v6 prot ilp64 cleanup",
      NULL, ACCEPTED },
    { "rmk", "NAME", TOPIC_RUN, DO(rmk), "none: leave the hosts of a batch system alone" },
    { "topolib membind demux iface localhost "
      "order-nodes rankmap g gpus-per-proc gpu-subdevs-per-proc branch-count localroot "
      "bootstrap-exec-args pmi-connect pmi-aggregate pmi",
      "X", ACCEPTED },
    /* srun: */
    { "u unbuffered E preserve-env O overcommit X disable-status Z no-allocate I contiguous exact hold "
      "interactive no-requeue overlap no-container-mount-home container-mount-home reboot spread-job "
      "use-min-nodes whole "
      "quit-on-interrupt",
      NULL, ACCEPTED },
    { "exclusive immediate K kill-on-bad-exit nice propagate x11 compress bcast send-libs pty "
      "oom-kill-step resv-ports slurmd-debug mpibind auto-resume",
      "[X]", ACCEPTED },
    { "A account acctg-freq b begin B extra-node-info bb bbf C constraint cluster-constraint clusters "
      "comment "
      "container container-image container-mounts container-workdir cores-per-socket S core-spec cpu-freq "
      "cpus-per-gpu deadline delay-boot dependency m "
      "distribution epilog exclude extra gpu-bind gpu-freq G gpus gpus-per-node gpus-per-socket "
      "gpus-per-task gres gres-flags het-group hint J job-name jobid L licenses M mail-type mail-user "
      "mcs-label mem mem-bind mem_bind mem-per-cpu mem-per-gpu mincpus mpi msg-timeout network "
      "ntasks-per-core ntasks-per-gpu ntasks-per-socket ntasks-per-tres open-mode p partition power prefer "
      "priority prolog qos r relative reservation signal sockets-per-node switches task-epilog task-prolog "
      "thread-spec T threads threads-per-core time-min tmp tres-bind tres-per-task treewidth wait W wckey",
      "X", ACCEPTED },
    { NULL, NULL, 0, NULL, 0, NULL },
};
