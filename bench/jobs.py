# SPDX-License-Identifier: BSD-3-Clause
"""Compiling and starting the programs of this folder under one of several MPIs, for compare.py.

A job that hangs is ended with all its processes, and what it had printed by then still counts.
"""

import os
import shlex
import signal
import subprocess
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = ['latency', 'bandwidth', 'rate', 'matching', 'barrier', 'communicators', 'rma', 'io', 'idle', 'memory',
            'threads', 'typed', 'pack', 'op', 'coll', 'overlap', 'empty']
CFLAGS = ['-std=gnu11', '-D_GNU_SOURCE', '-O2', '-pthread']


class JobError(Exception):
    """A job or a compiler that failed; the text says which and why."""


class Mpi:
    """One MPI to compare: a name, its compiler wrapper, its launcher with options, where its programs lie."""

    def __init__(self, text):
        name, sign, rest = text.partition('=')
        parts = rest.split(',', 2)
        if not sign or not name or len(parts) < 2 or not parts[0] or not parts[1]:
            raise JobError(f"'{text}' is not NAME=mpicc,mpiexec[,options of mpiexec]")
        self.name = name
        self.mpicc = shlex.split(parts[0])
        self.mpiexec = [self._find(parts[1])] + shlex.split(parts[2] if len(parts) > 2 else '')
        self.mpicc[0] = self._find(self.mpicc[0])
        self.text = text
        self.folder = ''
        self.version = ''

    @staticmethod
    def _find(command):
        for folder in [''] if '/' in command else os.environ.get('PATH', '').split(':'):
            path = os.path.abspath(os.path.join(folder, command))
            if os.access(path, os.X_OK) and os.path.isfile(path):
                return path
        raise JobError(f'there is no program {command}')

    def compile(self, build_dir):
        self.folder = os.path.join(build_dir, self.name)
        os.makedirs(self.folder, exist_ok=True)
        for program in PROGRAMS:
            sources = [program + '.c'] + ([] if program == 'empty' else ['bench.c', 'stats.c'])
            sources += ['colls.c'] if program in ('coll', 'overlap') else []
            sources += ['layouts.c'] if program in ('pack', 'typed') else []
            compile_program(self.mpicc, sources, os.path.join(self.folder, program))

    def command(self, program, ranks, args=()):
        """`ranks` 0: the program by itself, without mpiexec."""
        launcher = self.mpiexec + ['-n', str(ranks)] if ranks else []
        return launcher + [os.path.join(self.folder, program)] + list(args)


def compile_program(compiler, sources, target):
    command = compiler + CFLAGS + ['-o', target] + [os.path.join(HERE, s) for s in sources]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise JobError(f'cannot compile: {shlex.join(command)}\n{done.stdout}')


def compile_bare_line(build_dir):
    """The program without MPI; returns its command."""
    target = os.path.join(build_dir, 'bare_line')
    compile_program(shlex.split(os.environ.get('CC', 'cc')), ['bare_line.c', 'stats.c'], target)
    return [target]


def compile_deny(build_dir):
    """The program that denies system calls; returns its command."""
    target = os.path.join(build_dir, 'deny')
    compile_program(shlex.split(os.environ.get('CC', 'cc')), ['../tests/odd/deny.c'], target)
    return [target]


def with_suffix(name, suffix):
    """`.best` stays at the end."""
    stem, dot, best = name.partition('.')
    return stem + suffix + dot + best


class BusyProgram:
    """Computes as long as the block lasts, on any processor."""

    def __enter__(self):
        self.child = subprocess.Popen(['sh', '-c', 'while :; do :; done'], stdin=subprocess.DEVNULL,
                                      start_new_session=True)
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()


def _parents():
    """Parent of every process."""
    parents = {}
    for name in os.listdir('/proc'):
        if name.isdigit():
            try:
                with open(f'/proc/{name}/stat', encoding='latin-1') as f:
                    parents[int(name)] = int(f.read().rpartition(')')[2].split()[1])
            except (OSError, IndexError):
                pass
    return parents


def descendants(pid):
    parents = _parents()
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def _kill(pid, sign):
    try:
        os.kill(pid, sign)
    except OSError:
        pass


def end_job(pid, is_running):
    """End process `pid`, which is ours, and everything below it: politely, then not."""
    below = descendants(pid)
    _kill(pid, signal.SIGTERM)
    for _ in range(20):
        if not is_running():
            break
        time.sleep(0.1)
    else:
        below += descendants(pid)
        _kill(pid, signal.SIGKILL)
    for other in below:
        if os.path.exists(f'/proc/{other}'):
            _kill(other, signal.SIGKILL)


def parse(text):
    """Lines `name parameter value unit` as (name, parameter, value, unit); comments and others left out."""
    found = []
    for line in text.splitlines():
        words = line.split()
        if len(words) != 4 or words[0].startswith('#'):
            continue
        try:
            found.append((words[0], words[1], float(words[2]), words[3]))
        except ValueError:
            pass
    return found


def _run(command, limit):
    """Run a program. Returns what it printed, its errors, and a complaint, '' when all was well."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE,
                             text=True, errors='replace', start_new_session=True)
    complaint = ''
    try:
        out, errors = child.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        complaint = f'ended after {limit:.0f} s'
        end_job(child.pid, lambda: child.poll() is None)
        try:
            out, errors = child.communicate(timeout=5)
        except subprocess.TimeoutExpired as lost:
            out, errors = lost.stdout or '', ''
            out = out.decode('utf-8', 'replace') if isinstance(out, bytes) else out
    if not complaint and child.returncode:
        lines = [s.strip() for s in (errors + '\n' + out).splitlines() if any(c.isalpha() for c in s)]
        complaint = f'exit code {child.returncode}: {lines[0] if lines else "silent"}'
    return out, errors, complaint


def run_job(command, limit):
    """Run a program that prints values. Returns (values, complaint)."""
    out, _, complaint = _run(command, limit)
    return parse(out), complaint


def run_matcher(program, limit):
    """Nanoseconds per post and arrival at the greatest depth of match_depth's table: (values, complaint)."""
    out, _, complaint = _run([program], limit)
    rows = [(line[:32].strip().replace(' ', '_'), line[32:].split()) for line in out.splitlines()]
    return [('matcher', what, float(row[-1]), 'ns') for what, row in rows if row and row[0] == 'matcher'], complaint


def run_text(command, limit):
    """Run a program for what it prints, errors included."""
    out, errors, complaint = _run(command, limit)
    return '\n'.join([out, errors, complaint])


def time_job(command, limit):
    """Wall seconds of a silent program from start to end. Returns (seconds, complaint)."""
    state = {'alive': True, 'late': False}

    def late():
        state['late'] = True
        end_job(pid, lambda: state['alive'])

    watchdog = threading.Timer(limit, late)
    null = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)]
    begin = time.monotonic()
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=actions, setsid=True)
    watchdog.start()
    _, status = os.waitpid(pid, 0)
    seconds = time.monotonic() - begin
    state['alive'] = False
    watchdog.cancel()
    if state['late']:
        watchdog.join()
    os.close(null)
    if state['late']:
        return seconds, f'ended after {limit:.0f} s'
    code = os.waitstatus_to_exitcode(status)
    return seconds, f'exit code {code}' if code else ''
