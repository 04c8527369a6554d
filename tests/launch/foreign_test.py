#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests with launchers and libraries of other MPIs.

    foreign_test.py --build DIR [--full] [NAME ...]

Our programs under MPICH's mpiexec.hydra (PMI-1) and Open MPI's mpirun (PMIx), programs of theirs under our mpiexec, the
marks of launchers that are not there. Prints "ok NAME", "skipped NAME why" or "FAIL NAME why"; exit code 1 if one
failed. --full: the whole test suite under mpiexec.hydra."""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from launch_test import Skipped, run_tests

HERE = os.path.dirname(os.path.abspath(__file__))
STOP_AFTER = 240  # seconds; no test takes that long
PROGRAM = r'''
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "say";
    int rank, size, sum = 0, one = 1, *appnum, flag;
    if (!strcmp(way, "no"))
        return 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!strcmp(way, "say"))
        printf("%d of %d\n", rank, sum);
    if (argc > 2 && !strcmp(way, "say")) {
        fflush(stdout);
        sleep(atoi(argv[2]));
    }
    if (!strcmp(way, "appnum")) {
        MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag);
        printf("%d app %d\n", rank, flag ? *appnum : -1);
    }
    if (!strcmp(way, "nodes")) {
        MPI_Comm near;
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
        MPI_Comm_size(near, &size);
        MPI_Comm_free(&near);
        printf("%d near %d\n", rank, size);
    }
    if (!strcmp(way, "abort") && rank == size - 1)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (!strcmp(way, "error"))
        MPI_Send(&one, 1, MPI_INT, size + rank, 0, MPI_COMM_WORLD);
    if (!strcmp(way, "leave") && rank == size - 1)
        exit(0);
    if (!strcmp(way, "kill") && rank == size - 1)
        kill(getpid(), 9);
    if (!strcmp(way, "system")) {
        if (system(argv[2]))
            return 5;
    }
    if (!strcmp(way, "hang")) {
        printf("%d\n", (int)getpid());
        fflush(stdout);
    }
    if (!strcmp(way, "hang") || !strcmp(way, "leave") || !strcmp(way, "kill") || !strcmp(way, "abort"))
        MPI_Recv(&one, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
'''
LINKED = '#include <mpi.h>\nint main(int argc, char **argv) { int i; return argc > 5 && MPI_Initialized(&i); }\n'

full = False     # set by main
build = None
mpiexec = None
scratch = None
programs = {}    # of each MPI: compiled PROGRAM


class Failure(Exception):
    pass


def check(condition, *what):
    if not condition:
        raise Failure(' '.join(str(w) for w in what))


def contains(text, part):
    check(part in text, repr(part), 'is not in', repr(text)[:1200])


def clean_environment():
    """Open MPI wants to be asked twice by root, and wants no more processes than cores."""
    return dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1',
                OMPI_MCA_rmaps_base_oversubscribe='1')


def run(*command, **more):
    more.setdefault('env', clean_environment())
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=STOP_AFTER, check=False, **more)


# What Hydra says of a process that has ended badly, if it sees that before it hears of the abort.
HYDRA_BANNER = re.compile(r'\n=+\n(?:=.*\n)+(?:YOUR APPLICATION.*\n)?(?:This typically.*\n)?(?:Please.*\n)?')


def expect(result, code, out=None, err=''):
    """code: number or 'nonzero'; err: '' must be empty, text must be there, None anything."""
    result.stdout = HYDRA_BANNER.sub('', result.stdout)
    what = f'exit code {result.returncode}; stdout {result.stdout!r:.600}; stderr {result.stderr!r:.1200}'
    check(result.returncode != 0 if code == 'nonzero' else result.returncode == code, what)
    if out is not None:
        check(sorted(result.stdout.splitlines()) == sorted(out), 'expected', out, what)
    check(result.stderr == '' if err == '' else err is None or err in result.stderr, 'expected', repr(err), what)


def need(program):
    path = shutil.which(program)
    if not path:
        raise Skipped(f'there is no {program}')
    return path


def compiler_of(mpi):
    """It may be there without its headers."""
    compiler = need(f'mpicc.{mpi}')
    if subprocess.run([compiler, '-E', '-x', 'c', '-'], input='#include <mpi.h>\n', stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL, text=True, check=False).returncode:
        raise Skipped(f'{compiler} is there without mpi.h')
    return compiler


def program_of(mpi):
    if mpi not in programs:
        compiler = os.path.join(build, 'launch', 'mpicc') if mpi == 'parley' else compiler_of(mpi)
        programs[mpi] = compile_program(compiler, PROGRAM, f'program.{mpi}')
    return programs[mpi]


def compile_program(compiler, text, name):
    path = os.path.join(scratch, name)
    done = run(compiler, '-D_GNU_SOURCE', '-include', 'signal.h', '-x', 'c', '-o', path, write(name + '.c', text))
    check(done.returncode == 0, done.stderr)
    return path


def write(name, text, mode=0o644):
    path = os.path.join(scratch, name)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    os.chmod(path, mode)
    return path


def hydra():
    return need('mpiexec.hydra')


def openmpi(*words):
    """mpirun of Open MPI, which offers PMIx."""
    return [need('mpirun.openmpi'), '--oversubscribe', *words]


def needs_pmix():
    """Its library is what our programs need; they say so themselves where it is missing."""
    need('mpirun.openmpi')
    program = program_of('parley')
    done = run(*openmpi('-n', '1'), program)
    if 'its library cannot be opened' in done.stderr:
        raise Skipped('there is no libpmix')
    return program


def remote_shell():
    """Takes options and a host, and runs the rest here. Each host has files of its own."""
    return write('rsh', '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\n'
                 f'export TMPDIR="{scratch}/$1"\nmkdir -p "$TMPDIR"\nshift\nexec sh -c "$*"\n', 0o755)


def places(size):
    return [f'{i} of {size}' for i in range(size)]


def is_alive(pid):
    try:
        with open(f'/proc/{pid}/stat', encoding='latin-1') as file:
            return file.read().rpartition(')')[2].split()[0] not in 'ZX'
    except OSError:
        return False


def wait_until(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < end, 'not within', seconds, 's:', what)
        time.sleep(0.02)


# --- our programs under a launcher that speaks PMI-1

def test_hydra():
    program = program_of('parley')
    for size in 1, 2, 5:
        expect(run(hydra(), '-n', size, program), 0, places(size))
    expect(run(hydra(), '-n', 3, 'sh', '-c', program + '; true'), 0, places(3))
    expect(run(hydra(), '-n', 3, '-bind-to', 'core', program), 0, places(3))


def test_hydra_port():
    program = program_of('parley')
    for size in 1, 4:
        expect(run(hydra(), '-pmi-port', '-n', size, program), 0, places(size))


def test_hydra_appnum():
    program = program_of('parley')
    expect(run(hydra(), '-n', 2, program, 'appnum', ':', '-n', 1, program, 'appnum'), 0,
           ['0 app 0', '1 app 0', '2 app 1'])


def test_hydra_suite():
    """Programs of the chapters; what the launcher makes of a rank that ends by _exit or by a signal is its own."""
    if is_sanitized():
        raise Skipped('one launcher is enough for a build with sanitizers')
    runner = os.path.join(HERE, '..', 'run.py')
    lists = os.path.join(HERE, '..')
    names = []
    for chapter in os.listdir(lists):
        path = os.path.join(lists, chapter, 'list.txt')
        if os.path.exists(path):
            with open(path, encoding='utf-8') as file:
                words = [line.split()[0] for line in file if line.strip() and not line.startswith('#')]
            names += sorted({f'{chapter}/{word}' for word in words} - {'env/exit_early'})
    if not full:
        names = [name for name in names if name.split('/')[0] in ('env', 'session') or name in (
            'pt2pt/ring', 'coll/allreduce', 'comm/split', 'pt2pt/ordering', 'coll/sequence')]
    done = run(sys.executable, runner, '--bin-dir', os.path.join(build, 'tests'), '--mpiexec', hydra(), '--jobs', '2',
               *([] if full else ['--ranks', '1,4']), *names)
    check(done.returncode == 0, done.stdout[-3000:], done.stderr)


def is_sanitized():
    with open(os.path.join(build, 'meson-info', 'intro-buildoptions.json'), encoding='utf-8') as file:
        return next(option['value'] for option in json.load(file) if option['name'] == 'b_sanitize') != 'none'


def test_hydra_words_arrive():
    """What a rank says last is there, every time, in front of the launcher's own words."""
    program = program_of('parley')
    for _ in range(10):
        done = run(hydra(), '-n', 2, program, 'abort')
        expect(done, 7, [], 'parley: rank 1: E0113: MPI_Abort at ')
        done = run(hydra(), '-n', 2, program, 'error')
        expect(done, 'nonzero', [], ': dest is ')
        for line in done.stderr.splitlines():
            check('parley' not in line or re.match(r'parley: rank \d: ', line), 'torn:', line)


def test_hydra_left():
    expect(run(hydra(), '-n', 2, program_of('parley'), 'leave'), 'nonzero', [],
           'parley: rank 1: E0112: the program ends after MPI_Init and without MPI_Finalize')


def test_hydra_rank_killed():
    expect(run(hydra(), '-n', 3, program_of('parley'), 'kill'), 'nonzero', None, None)


def test_hydra_ends():
    """The launcher, or its proxy, is killed: no rank stays."""
    for victim in 'launcher', 'proxy':
        job = subprocess.Popen([hydra(), '-n', '2', program_of('parley'), 'hang'], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        pids = [int(job.stdout.readline()) for _ in range(2)]
        with open(f'/proc/{pids[0]}/stat', encoding='latin-1') as file:
            proxy = int(file.read().rpartition(')')[2].split()[1])
        os.kill(job.pid if victim == 'launcher' else proxy, signal.SIGKILL)
        wait_until(lambda: not any(is_alive(pid) for pid in pids), 30, f'the {victim} is dead, the ranks are not')
        job.kill()
        job.communicate()


def test_hydra_child_of_rank():
    """An MPI program that a rank starts is alone; the rank goes on."""
    program = program_of('parley')
    for size in 1, 2:
        expect(run(hydra(), '-n', size, program, 'system', f'{program} say'), 0, ['0 of 1'] * size)
    expect(run(hydra(), '-pmi-port', '-n', 2, program, 'system', f'{program} say'), 0, ['0 of 1'] * 2)


def test_hydra_wrapper_closes():
    done = run(hydra(), '-n', 2, 'bash', '-c', f'eval "exec $PMI_FD>&-"; {program_of("parley")}')
    expect(done, 'nonzero', [], 'is not its connection')
    contains(done.stderr, 'PARLEY_SINGLETON=1')


def test_hydra_other_namespace():
    if run('unshare', '-n', 'true').returncode:
        raise Skipped('no network namespace to be had here')
    program = program_of('parley')
    done = run(hydra(), '-n', 2, 'sh', '-c', f'test $PMI_RANK = 0 && exec {program}; exec unshare -n {program}')
    expect(done, 'nonzero', [], 'rank 1 runs on another host or in another network namespace than rank 0')


def test_hydra_singleton():
    expect(run(hydra(), '-n', 2, '-env', 'PARLEY_SINGLETON', '1', program_of('parley')), 0, ['0 of 1'] * 2)


def test_mixed_job():
    """One rank is a program of another MPI with the same launcher: a sentence, not a hang."""
    done = run(hydra(), '-n', 1, program_of('mpich'), 'quiet', ':', '-n', 1, program_of('parley'))
    expect(done, 'nonzero', [], 'rank 0 has left no word for the others; is it a program with another MPI library?')


# --- several hosts, which are all this one

def test_hydra_hosts():
    program, shell = program_of('parley'), remote_shell()
    on_two = [hydra(), '-launcher', 'ssh', '-launcher-exec', shell, '-hosts', 'a,b']
    for size in 2, 5:
        expect(run(*on_two, '-n', size, program), 0, places(size))
    expect(run(*on_two, '-ppn', 2, '-n', 4, program, 'nodes'), 0, ['0 near 2', '1 near 2', '2 near 2', '3 near 2'])
    expect(run(*on_two, '-n', 4, program, 'abort'), 7, None, 'rank 3: E0113: MPI_Abort')
    expect(run(*on_two, '-n', 4, program, 'kill'), 'nonzero', None, None)


def test_hydra_hosts_suite():
    """Programs of the chapters, over TCP."""
    if is_sanitized():
        raise Skipped('one launcher is enough for a build with sanitizers')
    runner = os.path.join(HERE, '..', 'run.py')
    launcher = write('hydra2', f'#!/bin/sh\nexec {hydra()} -launcher ssh -launcher-exec {remote_shell()} -hosts a,b '
                     '"$@"\n', 0o755)
    done = run(sys.executable, runner, '--bin-dir', os.path.join(build, 'tests'), '--mpiexec', launcher, '--jobs', '2',
               '--ranks', '4', 'pt2pt/order', 'pt2pt/middle_sizes',
               'coll/allreduce', 'comm/split', 'rma/fence', 'session/both')
    check(done.returncode == 0, done.stdout[-3000:], done.stderr)


# --- our programs under a launcher that offers PMIx

def test_pmix():
    program = needs_pmix()
    for size in 1, 2, 5:
        expect(run(*openmpi('-n', size), program), 0, places(size))
    expect(run(*openmpi('-n', 2), program, 'appnum', ':', '-n', 1, program, 'appnum'), 0,
           ['0 app 0', '1 app 0', '2 app 1'])
    expect(run(*openmpi('-n', 2), program, 'system', f'{program} say'), 0, ['0 of 1'] * 2)
    expect(run(*openmpi('-n', 1), mpiexec, '-n', 3, program), 0, places(3))


def test_pmix_hosts():
    program = needs_pmix()
    on_two = openmpi('--mca', 'plm', 'rsh', '--mca', 'plm_rsh_agent', remote_shell(), '--host', 'a:2,b:2', '-n', 4)
    expect(run(*on_two, program), 0, places(4), None)
    expect(run(*on_two, program, 'nodes'), 0, ['0 near 2', '1 near 2', '2 near 2', '3 near 2'], None)


def test_pmix_ends():
    program = needs_pmix()
    expect(run(*openmpi('-n', 2), program, 'abort'), 7, [], 'parley: rank 1: E0113: MPI_Abort at ')
    expect(run(*openmpi('-n', 2), program, 'leave'), 'nonzero', [],
           'parley: rank 1: E0112: the program ends after MPI_Init and without MPI_Finalize')
    expect(run(*openmpi('-n', 3), program, 'kill'), 'nonzero', None, None)
    job = subprocess.Popen([*openmpi('-n', '2'), program, 'hang'], stdin=subprocess.DEVNULL, env=clean_environment(),
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    pids = [int(job.stdout.readline()) for _ in range(2)]
    job.kill()
    wait_until(lambda: not any(is_alive(pid) for pid in pids), 30, 'the launcher is dead, the ranks are not')
    job.communicate()


# --- one inside the other

def test_nested():
    program = program_of('parley')
    expect(run(hydra(), '-n', 1, mpiexec, '-n', 3, program), 0, places(3))
    expect(run(mpiexec, '-n', 1, hydra(), '-n', 3, program), 0, places(3))
    expect(run(mpiexec, '-n', 2, hydra(), '-n', 2, program), 0, places(2) * 2)


# --- every program under every launcher

def test_matrix():
    launchers = {'parley': [mpiexec, '-n', '2'], 'mpich': ['mpiexec.hydra', '-n', '2'],
                 'openmpi': ['mpirun.openmpi', '-n', '2']}
    skipped = []
    for mpi in launchers:
        for launcher, command in launchers.items():
            if 'parley' not in (mpi, launcher) and mpi != launcher:
                continue # nothing here is ours
            try:
                program = program_of(mpi)
                need(command[0])
            except Skipped as why:
                skipped.append(str(why))
                continue
            done = run(*command, program)
            if mpi == 'parley' and 'its library cannot be opened' in done.stderr:
                skipped.append('there is no libpmix')
                continue
            where = f'{mpi} under {launcher}: exit code {done.returncode}, {done.stdout!r}, {done.stderr!r:.1000}'
            check(done.returncode == 0 and sorted(done.stdout.splitlines()) == places(2), where)
    if skipped:
        raise Skipped('in part: ' + ', '.join(sorted(set(skipped))))


# --- marks of launchers

def test_fingerprints():
    program = program_of('parley')
    marks = [({'PMI_SIZE': '4', 'PMI_RANK': '1'}, 'as process 1 of 4'), ({'PMI_FD': '93'}, 'PMI'),
             ({'PMI_PORT': 'localhost:1', 'PMI_ID': '0'}, 'PMI_PORT=localhost:1'),
             ({'PMIX_RANK': '0'}, 'PMIX_RANK=0'), ({'PMIX_NAMESPACE': 'n'}, 'PMIX_NAMESPACE=n'),
             ({'OMPI_COMM_WORLD_SIZE': '3'}, "Open MPI's mpirun"), ({'PRTE_LAUNCHED': '1'}, 'PRRTE'),
             ({'SLURM_NTASKS': '8', 'SLURM_STEP_ID': '0'}, 'srun'), ({'SLURM_STEP_NUM_TASKS': '8'}, 'srun'),
             ({'FLUX_JOB_SIZE': '2'}, 'Flux'), ({'PALS_RANKID': '1'}, 'PALS'), ({'HYDI_CONTROL_FD': '5'}, 'Hydra'),
             ({'LSB_DJOB_NUMPROC': '2', 'LSF_PM_TASKID': '1'}, 'blaunch'), ({'JSM_NAMESPACE_SIZE': '2'}, 'jsrun')]
    for variables, part in marks:
        done = run(program, env=dict(os.environ, **variables))
        expect(done, 'nonzero', [], part)
        contains(done.stderr, 'PARLEY_SINGLETON=1')
        check(done.stderr.startswith('parley: ') and done.stderr.count('\n') == 1, 'not one line:', done.stderr)
        expect(run(program, env=dict(os.environ, PARLEY_SINGLETON='1', **variables)), 0, ['0 of 1'])
        expect(run(mpiexec, '-n', 2, program, env=dict(os.environ, **variables)), 0, places(2))
    for variables in {'SLURM_NTASKS': '8'}, {'LSB_DJOB_NUMPROC': '8'}, {'OMPI_COMM_WORLD_SIZE': '1'}:
        expect(run(program, env=dict(os.environ, **variables)), 0, ['0 of 1'])


# --- programs of another MPI under our mpiexec

def others():
    found = []
    for mpi in ('mpich', 'openmpi'):
        try:
            compiler_of(mpi)
            found.append(mpi)
        except Skipped:
            pass
    return found


def test_other_mpi():
    """Without the doors, through which they would run (tests/doors)."""
    if not others():
        raise Skipped('there is no other MPI')
    for mpi in others():
        program = program_of(mpi)
        done = run(mpiexec, '--no-doors', '-n', 3, program, 'quiet')
        expect(done, 1, [], f'parley: ranks 0-2 (3): E0117: {program} uses another MPI library, lib')
        contains(done.stderr, 'of size 1')
        expect(run(mpiexec, '-n', 1, program), 0, ['0 of 1'])
        expect(run(mpiexec, '--no-doors', '-n', 2, '-wdir', scratch, './' + os.path.basename(program), 'quiet'), 1, [],
               'ranks 0-1 (2): E0117')
        expect(run(mpiexec, '--no-doors', '-n', 2, 'true', ':', '-n', 1, program, 'quiet'), 1, [],
               'parley: rank 2: E0117')


def test_other_mpi_in_script():
    """A script whose child is such a program: seen while it runs."""
    if not others():
        raise Skipped('there is no other MPI')
    for mpi in others():
        script = f'{program_of(mpi)} say 3; exit 0'
        expect(run(mpiexec, '--no-doors', '-n', 2, 'sh', '-c', script), 1, ['0 of 1'] * 2,
               'parley: ranks 0-1 (2): E0117: sh uses another')


def test_other_mpi_not_used():
    """No word of a program that is linked with another MPI and does not start it, nor of programs without any."""
    for mpi in others():
        linked = compile_program(compiler_of(mpi), LINKED, f'linked.{mpi}')
        expect(run(mpiexec, '-n', 2, linked), 0, [])
    expect(run(mpiexec, '-n', 2, 'true'), 0, [])
    expect(run(mpiexec, '-n', 2, 'sh', '-c', 'exit 0'), 0, [])
    expect(run(mpiexec, '-n', 2, sys.executable, '-c', 'print(1)'), 0, ['1', '1'])
    expect(run(mpiexec, '-n', 2, program_of('parley'), 'no'), 0, [])


def main():
    global build, mpiexec, scratch, full
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--build', required=True, help='build directory')
    parser.add_argument('--full', action='store_true', help='the whole suite under mpiexec.hydra')
    parser.add_argument('names', nargs='*')
    args = parser.parse_args()
    build = os.path.realpath(args.build)
    mpiexec = os.path.join(build, 'launch', 'mpiexec')
    full = args.full
    with tempfile.TemporaryDirectory(prefix='parley-foreign-') as scratch:
        return run_tests(globals(), args.names)


if __name__ == '__main__':
    sys.exit(main())
