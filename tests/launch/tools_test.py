#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of what debuggers and valgrind meet: mpiexec --gdb, --gdbserver, --valgrind, --wrap; the MPIR interface; the
message-queue library; the commands for gdb.

    tools_test.py --build DIR [NAME ...]

Prints "ok NAME", "skipped NAME: why" or "FAIL NAME why"; exit code 1 if one failed."""

import argparse
import functools
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

import launch_test as t

SOURCES = os.path.join(t.HERE, '..', '..')
GDB = ['gdb', '-nx', '-q', '-batch', '-iex', 'set pagination off', '-iex', 'set confirm off',
       '-iex', 'set debuginfod enabled off', '-iex', 'set width 0']
POSTED = ['receive from rank {0}, tag 11, 3 x MPI_DOUBLE', 'receive from any rank, tag 12, 1 x MPI_INT',
          'receive from rank {0}, any tag, 1 x MPI_INT', 'receive from any rank, any tag, 1 x MPI_INT']
UNEXPECTED = ['message from rank {0}, tag 21, 12 bytes', 'message from rank {0}, tag 22, 800000 bytes',
              'message from rank {0}, tag 23, 4 bytes']
SENDS = ['send to rank 0, tag 22, 100000 x MPI_DOUBLE', 'synchronous send to rank 0, tag 23, 1 x MPI_INT']


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise t.Skipped(f'there is no {program}')


@functools.cache
def can_trace():
    done = subprocess.run(GDB + ['-ex', 'run', '--args', shutil.which('true')], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    return 'exited normally' in done.stdout


def need_gdb(*programs):
    need('gdb', *programs)
    if not can_trace():
        raise t.Skipped('gdb may not trace processes here')


@functools.cache
def compiled(name, *flags):
    program = os.path.join(t.scratch, name)
    done = subprocess.run([os.path.join(t.build, 'launch', 'mpicc'), '-g', '-D_GNU_SOURCE', '-Wall', '-Wextra', *flags,
                           os.path.join(t.HERE, name + '.c'), '-o', program, '-ldl'],
                          capture_output=True, text=True, check=False)
    t.equal((done.returncode, done.stderr), (0, ''), 'compiling')
    return program


def gdb(*commands, program=()):
    """Runs gdb with the commands; its whole output."""
    words = [word for command in commands for word in ('-ex', command)]
    done = subprocess.run([*GDB, *words, *map(str, program)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=t.STOP_AFTER, check=False)
    return done.stdout


def source():
    return 'source ' + os.path.join(t.build, 'tools', 'parley.py')


class Blocked:
    """A job of queues.c whose ranks have all come to where they stay: pids by rank."""

    def __init__(self, ranks, *args):
        self.process = t.start('-n', ranks, compiled('queues'), *args)
        t.equal(t.read_lines(self.process, ranks), ['ready'] * ranks)
        with open(f'/proc/{self.process.pid}/task/{self.process.pid}/children', encoding='ascii') as file:
            self.pids = sorted(map(int, file.read().split()), key=self.rank_of)
        t.wait_until(lambda: all(map(self.sleeps, self.pids)), 20, 'all ranks asleep')

    @staticmethod
    def rank_of(pid):
        with open(f'/proc/{pid}/environ', 'rb') as file:
            return int(re.search(rb'PARLEY_RANK=(\d+)', file.read())[1])

    @staticmethod
    def sleeps(pid):
        """Long enough that it has told what it waits for."""
        with open(f'/proc/{pid}/syscall', encoding='ascii') as file:
            return file.read().startswith(('202 ', '98 ')) # futex

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def has_lines(text, parts, sender):
    for part in parts:
        t.contains(text, part.format(sender))


# --- options

def test_options():
    t.expect(t.run('-n', 2, '--wrap', 'env A=b', 'sh', '-c', 'echo $PARLEY_RANK $A'), 0, ['0 b', '1 b'])
    t.expect(t.run('-n', 3, '--wrap=env A=b', '--tool-ranks', '0,2', 'sh', '-c', 'echo $PARLEY_RANK $A'), 0,
             ['0 b', '1', '2 b'])
    t.expect(t.run('-n', 2, '--gdb=2', 'true'), 2, err="ranks '2': a list such as 0,2-4 of ranks below 2")
    t.expect(t.run('-n', 2, '--gdb=1-0', 'true'), 2, err='a list such as')
    t.expect(t.run('-n', 2, '--gdb', '--valgrind', 'true'), 2, err='only one of')
    t.expect(t.run('--gdbserver=70000', 'true'), 2, err='a port from 1 to 65535')
    t.expect(t.run('-n', 2, '--wrap', '', 'true'), 2, err='a command is needed')
    t.expect(t.run('-n', 2, '--wrap', 'no-such-tool', 'true'), 127, err='there is no program no-such-tool')
    t.expect(t.run('--label=yes', 'true'), 2, err='takes no value')


def test_no_gdb():
    env = dict(os.environ, PATH=t.scratch)
    result = t.run('-n', 2, '--gdb', '/bin/true', env=env)
    t.expect(result, 127, err='there is no program gdb in PATH, and --gdb needs it')


def test_last_port():
    need('gdbserver')
    t.expect(t.run('-n', 2, '--gdbserver=65535', 'true'), 2, err='need ports up to 65536')


# --- gdb in mpiexec

def console(ranks, *commands):
    done = t.run('-n', ranks, '--gdb', compiled('queues'), input='\n'.join(commands) + '\n')
    return done.stdout + done.stderr


def test_console():
    """Break in all, list the queues of all, ask one."""
    need_gdb()
    for ranks in (2, 8):
        text = console(ranks, 'break MPI_Recv', 'run', 'mpi queues', '@1 print 6 * 7', 'print 2 * 4')
        t.contains(text, f'[0-{ranks - 1}] Reading symbols')
        t.contains(text, '[1] $1 = 42')
        t.contains(text, '[0] $1 = 8' if ranks == 2 else '[0,2-7] $1 = 8')
        t.contains(text, '[1] $2 = 8')
        has_lines(text, UNEXPECTED, 1)


def test_console_step():
    """Rank 1 goes a line further, the others stay."""
    need_gdb()
    text = console(4, 'break main', 'run', '@1 next', '@1 print $_exitcode', 'info line', '@7', '@0,2-3', 'print 1')
    t.contains(text, '[0-3] Breakpoint 1, main')
    t.contains(text, 'parley: @RANKS [COMMAND]')
    t.contains(text, '[0,2-3] $1 = 1')
    lines = dict(re.findall(r'\[([\d,-]+)\] Line (\d+) of', text))
    t.equal(sorted(lines), ['0,2-3', '1'], 'where ranks are')
    t.check(int(lines['1']) > int(lines['0,2-3']), lines)


def test_console_some():
    """Rank 1 alone under gdb; the others run free, and their output comes as always."""
    need_gdb()
    done = t.run('-n', 3, '--gdb=1', compiled('queues'), input='break MPI_Comm_dup\nrun\nbt\nkill\n')
    t.contains(done.stdout, '[1] #0')


def test_one_rank():
    """Alone it has our stdin and stdout."""
    need_gdb()
    text = console(1, 'break MPI_Recv', 'run', 'mpi queues', 'mpi comms')
    t.check('[0]' not in text, text)
    has_lines(text, POSTED + UNEXPECTED, 0)
    t.contains(text, 'the copy: rank 0 of 1, world ranks 0')


def test_console_interrupt():
    """People look on; Ctrl-C stops the programs, not the job."""
    need_gdb()
    master, slave = pty.openpty()
    process = subprocess.Popen([t.mpiexec, '-n', '2', '--gdb', compiled('queues')], stdin=slave, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    os.close(slave)
    try:
        read_until(process, '(gdb 0-1) ')
        os.write(master, b'run\n')
        text = ''
        while text.count('ready') < 1 or ('[0-1] ready' not in text and text.count('ready') < 2):
            text += read_until(process, 'ready')
        process.send_signal(signal.SIGINT)
        read_until(process, '(gdb 0-1) ')
        os.write(master, b'mpi requests\n')
        has_lines(read_until(process, '(gdb 0-1) '), POSTED + SENDS, 1)
        os.write(master, b'quit\n')
        process.communicate(timeout=t.STOP_AFTER)
    finally:
        process.kill()
        os.close(master)
    t.wait_until(lambda: not t.processes_with(compiled('queues')), t.PATIENCE, 'nothing left')


def read_until(process, part):
    text = ''
    while part not in text:
        got = process.stdout.read(1)
        t.check(got, repr(part), 'does not come, but', repr(text[-800:]))
        text += got
    return text


def test_death_of_mpiexec():
    """gdb and its program end with mpiexec, however that ends."""
    need_gdb()
    process = subprocess.Popen([t.mpiexec, '-n', '2', '--gdb', compiled('queues')], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    process.stdin.write('run\n')
    process.stdin.flush()
    t.wait_until(lambda: len(t.processes_with(compiled('queues'))) >= 5, 20, 'two programs under gdb')
    process.kill()
    process.communicate()
    t.wait_until(lambda: not t.processes_with(compiled('queues')), t.PATIENCE, 'nothing left')


def test_tmux():
    """In a tmux session each rank has a pane."""
    need_gdb('tmux')
    name, code = f'parley-test-{os.getpid()}', os.path.join(t.scratch, 'code')

    def tmux(*args):
        return subprocess.run(['tmux', '-L', name, '-f', '/dev/null', *args], capture_output=True, text=True,
                              timeout=t.STOP_AFTER, check=False, env=dict(os.environ, SHELL='/bin/sh')).stdout

    def panes():
        return dict(reversed(line.split(' ', 1)) for line in tmux('list-panes', '-a', '-F', '#{pane_id} #{pane_title}')
                    .splitlines())

    def shows(pane, text):
        return text in tmux('capture-pane', '-p', '-S', '-', '-t', pane)

    tmux('new-session', '-d', '-x', '200', '-y', '80',
         f"{t.mpiexec} -n 2 --gdb /bin/echo 'a b'\\''c'; echo $? >{code}; exec sleep 60")
    try:
        t.wait_until(lambda: {'rank 0', 'rank 1'} <= set(panes()), 20, 'two panes')
        for pane in (panes()['rank 0'], panes()['rank 1']):
            t.wait_until(lambda: shows(pane, '(gdb)'), 20, 'gdb') # pylint: disable=cell-var-from-loop
            tmux('send-keys', '-t', pane, 'run', 'Enter')
            t.wait_until(lambda: shows(pane, "a b'c"), 20, 'output') # pylint: disable=cell-var-from-loop
            tmux('send-keys', '-t', pane, 'quit', 'Enter')
        t.wait_until(lambda: os.path.exists(code) and os.path.getsize(code), 20, 'the end of mpiexec')
        with open(code, encoding='ascii') as file:
            t.equal(file.read(), '0\n', 'exit code')
        t.wait_until(lambda: len(panes()) == 1, t.PATIENCE, 'no pane left')
    finally:
        tmux('kill-server')


def test_xterm():
    """With a display each rank has a window; here something that only looks like an xterm."""
    need_gdb('script')
    folder = os.path.join(t.scratch, 'fake')
    os.makedirs(folder)
    with open(os.path.join(folder, 'xterm'), 'w', encoding='ascii') as file:
        file.write(f'#!/bin/sh\nprintf "%s\\n" "$*" >>{folder}/said\n')
    os.chmod(os.path.join(folder, 'xterm'), 0o755)
    env = {k: v for k, v in os.environ.items() if k != 'TMUX'}
    env.update(PATH=folder + ':' + env['PATH'], DISPLAY=':77')
    subprocess.run(['script', '-qec', f'{t.mpiexec} -n 2 --gdb /bin/echo x', '/dev/null'], env=env, check=False,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=t.STOP_AFTER)
    with open(os.path.join(folder, 'said'), encoding='ascii') as file:
        said = sorted(file.read().splitlines())
    for rank, line in enumerate(said):
        t.check(re.match(rf'-T rank {rank} -e /\S*gdb -q .*--args /bin/echo x$', line), line)
    t.equal(len(said), 2)


def listening(port):
    """A job whose two ranks listen for gdb, where, and what it said; None: a port has been taken meanwhile."""
    process = t.start('-n', 2, f'--gdbserver={port}', compiled('queues'))
    said = ''
    while said.count('Listening on port') < 2:
        line = process.stderr.readline()
        said += line
        if not line or 't bind address' in line:
            process.kill()
            process.communicate()
            t.contains(said, 't bind address')
            return None
    return process, port, said


def test_gdbserver():
    need_gdb('gdbserver')
    process, port, said = t.with_port(listening, 2)
    try:
        for rank in range(2):
            t.contains(said, f'rank {rank}: gdb {compiled("queues")} -ex \'target remote localhost:{port + rank}\'')
            t.contains(said, f'"miDebuggerServerAddress": "localhost:{port + rank}"')
            text = gdb(f'target remote localhost:{port + rank}', 'break main', 'continue', 'info breakpoints', 'kill',
                       program=[compiled('queues')])
            t.contains(text, 'breakpoint already hit 1 time')
        process.communicate(timeout=t.STOP_AFTER)
    finally:
        process.kill()


# --- parallel debuggers

TABLE = ('print MPIR_proctable_size', 'print MPIR_debug_state', 'print MPIR_proctable[0]', 'print MPIR_proctable[1]')


def check_table(text, program):
    """What a debugger has printed of the table: pids."""
    t.contains(text, '$1 = 2')
    found = re.findall(r'\{host_name = 0x\w+ "([^"]*)", executable_name = 0x\w+ "([^"]*)", pid = (\d+)\}', text)
    t.equal([(host, name) for host, name, _ in found], [(socket.gethostname(), program)] * 2, 'table')
    return [int(pid) for _, _, pid in found]


def test_mpir_start():
    """A debugger starts mpiexec: all ranks stand in MPI_Init, also behind a wrapper."""
    need_gdb()
    program = compiled('too_early')
    for command in ([program], ['sh', '-c', f'{program}; exit $?']):
        text = gdb('break main', 'run', 'set variable MPIR_being_debugged = 1', 'break MPIR_Breakpoint', 'continue',
                   *TABLE, # they may still be on their way there
                   "python print(any(all(open('/proc/%d/syscall' %"
                   " int(gdb.parse_and_eval('MPIR_proctable[%d].pid' % i))).read().split()[0] in ('202', '98')"
                   " for i in range(2)) or __import__('time').sleep(0.05) for _ in range(400)))",
                   'continue', program=['--args', t.mpiexec, '-n', '2', *command])
        check_table(text, program)
        t.contains(text, '$2 = 1') # spawned
        t.contains(text, 'True')
        t.check(re.search(r'Inferior 1 \(process \d+\) exited normally', text), text[-600:])


def test_mpir_attach():
    need_gdb()
    with Blocked(2) as job:
        text = gdb(*TABLE, 'detach', program=['-p', job.process.pid])
        t.equal(check_table(text, compiled('queues')), job.pids)


# --- queues

def queues_of(job, rank, *words):
    library = os.path.join(t.build, 'tools', 'libparley_mqs.so')
    done = subprocess.run([compiled('mqs_reader', '-I', os.path.join(SOURCES, 'tools')), library, str(job.pids[rank]),
                           str(rank), *words], capture_output=True, text=True, timeout=t.STOP_AFTER, check=False,
                          env=dict(os.environ, PARLEY_SINGLETON='1'))
    t.equal((done.returncode, done.stderr), (0, ''), 'mqs_reader')
    return done.stdout.splitlines()


def world_part(lines):
    """What belongs to MPI_COMM_WORLD."""
    begin = next(i for i, line in enumerate(lines) if line.startswith('comm MPI_COMM_WORLD:'))
    end = next((i for i in range(begin + 1, len(lines)) if lines[i].startswith('comm ')), len(lines))
    return lines[begin:end]


def test_message_queues():
    """The library for debuggers, with receives in a list and hashed; 1, 2 and 8 ranks."""
    for ranks, args in ((1, ()), (2, ()), (2, ('many',)), (8, ())):
        with Blocked(ranks, *args) as job:
            s = 1 % ranks
            last = ranks - 1
            first = queues_of(job, 0)
            many = [f'receive pending peer {s} world {s} tag {100 + i} length 4: receive, 1 x MPI_INT'
                    for i in range(40 if args else 0)]
            sends = ['send pending peer 0 world 0 tag 22 length 800000: send, offered to its receiver, '
                     '100000 x MPI_DOUBLE',
                     'send pending peer 0 world 0 tag 23 length 4: synchronous send, 1 x MPI_INT']
            world = ' '.join(map(str, range(ranks)))
            t.equal(world_part(first),
                    [f'comm MPI_COMM_WORLD: rank 0 of {ranks}, world {world}', *(sends if ranks == 1 else []),
                     f'receive pending peer {s} world {s} tag 11 length 24: receive, 3 x MPI_DOUBLE',
                     'receive pending peer -1 world -1 tag 12 length 4: receive, 1 x MPI_INT', *many,
                     f'receive pending peer {last} world {last} tag 99 length 4: receive, 1 x MPI_INT',
                     f'message pending peer {s} world {s} tag 21 length 12: its data is here, ',
                     f'message pending peer {s} world {s} tag 22 length 800000: offered, its data is with the sender, ',
                     f'message pending peer {s} world {s} tag 23 length 4: synchronous, its sender waits, '], 'rank 0')
            copy = [i for i, line in enumerate(first) if line.startswith('comm the copy: rank 0')]
            t.equal(first[copy[0] + 1:], [f'receive pending peer {s} world {s} tag -1 length 4: receive, 1 x MPI_INT',
                                          'receive pending peer -1 world -1 tag -1 length 4: receive, 1 x MPI_INT'])
            if ranks > 1:
                t.equal(world_part(queues_of(job, 1))[1:],
                        [*sends, 'receive pending peer 0 world 0 tag 98 length 4: receive, 1 x MPI_INT'], 'rank 1')


def test_message_queues_of_damaged_memory():
    """Whatever the process has written over: the library for debuggers comes to an end."""
    with Blocked(2, 'many') as job:
        for rank in range(2):
            queues_of(job, rank, '1', '100')


def test_name_of_library():
    """A debugger finds the library by a name in ours."""
    library = os.path.join(t.build, 'src', 'libmpi_abi.so.1')
    with open(library, 'rb') as file:
        t.check(re.search(rb'/[^\0]*/libparley_mqs\.so\0', file.read()), 'MPIR_dll_name')


def test_gdb_commands():
    """Attached to a deadlocked job of 1, 2 and 8 ranks."""
    need_gdb()
    for ranks in (1, 2, 8):
        with Blocked(ranks) as job:
            commands = (source(), 'mpi queues', 'mpi waitfor', 'mpi comms', 'detach')
            text = gdb(*commands, program=['-p', job.pids[0]])
            has_lines(text, POSTED + UNEXPECTED, 1 % ranks)
            t.contains(text, f'rank 0 of {ranks}, world ranks 0' + (f'-{ranks - 1}' if ranks > 1 else ''))
            if ranks == 1:
                t.contains(text, 'in MPI_Recv on MPI_COMM_WORLD from rank 0, tag 99, 1 x MPI_INT')
            else:
                t.contains(text, f'in MPI_Recv on MPI_COMM_WORLD from rank {ranks - 1}, tag 99, 1 x MPI_INT')
                has_lines(gdb(*commands, program=['-p', job.pids[1]]), SENDS, 0)
                t.contains(text, f'these wait for each other: 0 -> {ranks - 1} -> 0')
                t.contains(text, f'  rank 1 (process {job.pids[1]}): in MPI_Recv on MPI_COMM_WORLD from rank 0, tag 98')


def test_gdb_handles():
    need_gdb()
    with Blocked(2, 'many') as job:
        text = gdb(source(), 'frame function main', 'print copy', 'print requests[0]', 'mpi requests requests[43]',
                   'mpi requests sends[0]', 'print (MPI_Comm)257', 'detach', program=['-p', job.pids[0]])
    t.check(re.search(r'\$1 = 0x\w+ \(the copy, rank 0 of 2\)', text), text)
    t.check(re.search(r'\$2 = 0x\w+ \(receive from rank 1, tag 11, 3 x MPI_DOUBLE', text), text)
    t.check(re.search(r'0x\w+ \(receive from rank 1, tag 139, 1 x MPI_INT', text), text)
    t.contains(text, '$3 = MPI_COMM_WORLD')


def test_gdb_without_library():
    need_gdb()
    t.contains(gdb(source(), 'mpi queues', program=[shutil.which('true')]), 'no MPI library of Parley in this process')
    t.contains(gdb(source(), 'mpi queues', program=[compiled('queues')]), 'no MPI library of Parley in this process')


def test_gdb_outside_of_mpi():
    need_gdb()
    text = gdb(source(), 'break main', 'run', 'mpi queues', 'mpi waitfor', 'break exit', 'continue', 'mpi comms',
               'mpi waitfor', 'kill', program=['--args', compiled('ends'), 'well'])
    t.equal(text.count('MPI is not running in this process: not yet, or not any more'), 2, text)
    t.contains(text, "the library's own communicator: rank 0 of 1, world ranks 0\nthis process is alone")


def test_gdb_core_and_language():
    """What the process has told others is in shared memory, which a core need not have; the language of the frame is
    not that of our expressions."""
    need_gdb()
    core = os.path.join(t.scratch, 'core')
    with Blocked(2) as job:
        with open(f'/proc/{job.pids[0]}/coredump_filter', 'w', encoding='ascii') as file:
            file.write('0x31')
        gdb(f'gcore {core}', 'detach', program=['-p', job.pids[0]])
        text = gdb(source(), 'set language fortran', 'mpi queues', 'show language', 'mpi waitfor',
                   program=[compiled('queues'), core])
    has_lines(text, POSTED + UNEXPECTED, 1)
    t.contains(text, 'language is "fortran"')
    t.contains(text, 'what ranks tell lies in shared memory, and that is not here: is this a core file?')


def test_gdb_broken_list():
    """A list that the program has written over does not keep gdb for ever."""
    need_gdb()
    break_it = ("python l = Layout(); c = l.channels()[0][2]; "
                "head = c + l['channel.match'] + l['match_ctx.{}']; link = l.pointer(head, 'list.next'); "
                "gdb.selected_inferior().write_memory(link + l['list.next'], link.to_bytes(8, 'little'))")
    for name in ('posted', 'arrivals'):
        with Blocked(2) as job:
            text = gdb(source(), break_it.format(name), 'mpi queues', 'detach', program=['-p', job.pids[0]])
            t.check(re.search('a list of the library is broken at 0x', text), text)


def test_gdb_handles_of_others():
    """A program for another MPI has types of the same names."""
    need_gdb()
    program = os.path.join(t.scratch, 'others')
    with open(program + '.c', 'w', encoding='ascii') as file:
        file.write('typedef int MPI_Comm; int MPI_Init(int *, char ***); int MPI_Finalize(void);\n'
                   'int main(void) { MPI_Comm comm = 0x44000000; MPI_Init(0, 0); return MPI_Finalize() + !comm; }\n')
    done = subprocess.run([os.path.join(t.build, 'launch', 'mpicc'), '-g', program + '.c', '-o', program],
                          capture_output=True, text=True, check=False)
    t.equal((done.returncode, done.stderr), (0, ''), 'compiling')
    text = gdb(source(), 'break MPI_Finalize', 'run', 'frame function main', 'print comm', 'kill', program=[program])
    t.contains(text, f'$1 = {0x44000000}')


def test_gdb_several_machines():
    """What ranks elsewhere wait for is not known here, and not made up."""
    need_gdb()
    shell = os.path.join(t.scratch, 'shell')
    with open(shell, 'w', encoding='ascii') as file:
        file.write('#!/bin/sh\nshift\nexec sh -c "$1"\n')
    os.chmod(shell, 0o755)
    process = t.start('-host', 'a:2,b:1', '-n', 3, compiled('queues'), env=dict(os.environ, PARLEY_RSH=shell))
    try:
        t.equal(t.read_lines(process, 3), ['ready'] * 3)
        pids = [pid for pid in t.processes_with(compiled('queues')) if is_rank(pid)]
        for rank, here, there in ((0, '0 1', '2'), (2, '2', '0-1')):
            pid = next(p for p in pids if Blocked.rank_of(p) == rank)
            t.wait_until(lambda: tells(pid, here, there), 60, f'ranks {here}, and not {there}')
    finally:
        process.kill()
        process.communicate()


def is_rank(pid):
    with open(f'/proc/{pid}/comm', encoding='utf-8') as file:
        return file.read().strip() == 'queues'


def tells(pid, here, there):
    """A rank tells when it has waited for some milliseconds."""
    text = gdb(source(), 'mpi waitfor', 'detach', program=['-p', pid])
    return re.findall(r'rank (\d) \(process \d+\): in MPI_Recv', text) == here.split() and \
        f'on other machines: rank {there}' in text


# --- valgrind

def need_valgrind():
    need('valgrind')
    if '-fsanitize=' in open(os.path.join(t.build, 'launch', 'mpicc'), encoding='utf-8').read():
        raise t.Skipped('valgrind and sanitizers exclude each other')


def test_valgrind():
    """A right program is silent; memory of a receive is out of bounds until its message has come."""
    need_valgrind()
    valgrind = '--valgrind=-q --error-exitcode=9'
    t.expect(t.run('-n', 2, valgrind, compiled('too_early')), 0, [])
    result = t.run('-n', 2, valgrind, compiled('too_early'), 'beyond')
    t.expect(result, 9, err='depends on uninitialised value')
    t.check(re.search(r'^\[0\] ==\d+== ', result.stderr, re.M), result.stderr)
    if not os.path.exists('/usr/include/valgrind/memcheck.h'):
        raise t.Skipped('the library was built without the headers of valgrind')
    result = t.run('-n', 2, valgrind, compiled('too_early'), 'write')
    t.expect(result, 9, err='Invalid write of size 4')
    t.contains(result.stderr, 'too_early.c:')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--build', required=True, help='build directory')
    parser.add_argument('names', nargs='*')
    args = parser.parse_args()
    t.build = os.path.realpath(args.build)
    t.mpiexec = os.path.join(t.build, 'launch', 'mpiexec')
    os.environ.setdefault('ASAN_OPTIONS', 'detect_leaks=0') # does not work in traced processes
    os.environ.pop('DEBUGINFOD_URLS', None)
    with tempfile.TemporaryDirectory(prefix='parley-tools-') as t.scratch:
        return t.run_tests(globals(), args.names)


if __name__ == '__main__':
    sys.exit(main())
