#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What p4 makes of errors: one message, status other than 0, and no process left, however the run was started.

    errors_test.py --build DIR [-v]

Runs tests/p4/errors.c in each of its ways with a procgroup file (F), with a second and third cluster behind a remote
shell that is none (R), with such clusters on this host (H), and by mpiexec (L); and procgroup files that are wrong."""

import argparse
import concurrent.futures
import itertools
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import p4_test  # noqa: E402

# Runs the command here: HOST [-l LOGIN] COMMAND
SHELL = '#!/bin/sh\nshift; [ "$1" = -l ] && shift 2\nexec /bin/sh -c "$*"\n'
AT_ONCE = 4  # runs: most of them wait for somebody to be given up
LAST = {'F': '3', 'L': '3', 'N': '3', 'R': '4', 'H': '4'}  # id of the last process

# What goes wrong, where this is tried, exit code (None: any but 0), and what stands in the output once. {last}: LAST.
CASES = [
    ('error', 'FRH', 1, r'^p{last}_\d+:  p4_error: no good: 42$'),
    ('error', 'L', 1, r'E0601: p4_error: no good: 42$'),
    ('negative', 'FR', 1, r'^p0_\d+:  p4_error: no good: -42$'),
    ('all', 'F', 1, r'E0613: p4_msg_free of 0x[0-9a-f]+, which is no buffer'),
    ('segv', 'FRH', 1, r'^p{last}_\d+:  p4_error: interrupt SIGSEGV: 11$'),
    ('interrupt', 'F', 1, ''),
    ('killed', 'F', 1, r'E0605: process 3 \(pid \d+\) was ended by signal 9'),
    ('killed', 'RH', 1, r'E0605: process 4 \(pid \d+\) has ended, and neither by p4_wait_for_end nor by exit'),
    ('killed', 'L', 137, r'signal 9'),
    ('master-killed', 'FRH', -9, ''),
    ('left', 'F', 1, r'E0605: process 3 \(pid \d+\) ended with exit code 3, and not by exit'),
    ('child', 'FRH', 1, r'^p4_create_\d+:  p4_error: child: 1$'),
    ('gone', 'FRH', 1, r'E0612: process 0 waits in p4_recv for type 7 from {last}, which has ended'),
    ('gone', 'L', None, r'E0612: process 0 waits in p4_recv for type 7 from {last}, which has ended'),
    ('gone', 'N', None, r'E0612: process 0 waits in p4_recv for type 7 from {last}, which has ended'),
    ('gone-any', 'N', None, r'E0612: process 0 waits in p4_recv for type 7 from anybody, and all others have ended'),
    ('gone-any', 'FRH', 1, r'E0612: process 0 waits in p4_recv for type 7 from anybody, and all others have ended'),
    ('gone-send', 'FRH', 0, ''),
    ('gone-long', 'FRH', 0, ''),
    ('gone-send', 'L', None, ''), # under mpiexec the exit codes of all count
    ('ids', 'FRHL', 1, r'E0611: p4_recv from \d: ids are 0 to {last}, and -1 stands for any'),
    ('ids', 'F', 1, r'E0610: p4_send of type 7: there is no process 4, only 0 to 3; the call returns -1'),
    ('length', 'FL', 1, r'E0610: p4_send of type 7 to 0: the length is -1; it must be from 0 to 268435456'),
    ('twice', 'F', 1, r'E0613: p4_msg_free of 0x[0-9a-f]+, which has been freed already'),
    ('class', 'F', 1, r'E0614: p4_set_avail_buff\(8, 100\): there are classes 0 to 7'),
    ('itself', 'F', 1, r'E0612: process 0 waits in p4_recv for any type from itself, and has sent none'),
    ('early', 'F', 1, r'E0607: p4_msg_alloc has been called before p4_initenv'),
    ('no-procgroup', 'F', 1, r'E0607: p4_send before p4_create_procgroup'),
    ('keeper-killed', 'F', 1, r'E0604: the keeper has been ended'),
    ('keeper-killed', 'RH', 1, r'E0618: the connection to the cluster of process 2 has ended'),
    ('hang', 'F', -14, r'E0620: all processes wait for ever; nothing has moved for 1 s\n'
                       r'    process 0 waits in p4_recv for type 7 from 1\n.*\n.*\n'
                       r'    process 3 waits in p4_recv for type 7 from 0'),
    ('hang', 'L', 142, r'(?s)E0120.*rank 3  p4_recv from process 0, type 7 .*errors(\.c:|\+0x)'),
    ('no-end', 'FRH', 0, r'E0606: the master has ended without p4_wait_for_end'),
]

# Lines of a procgroup file, and what is said about them; {file} is its name.
FILES = [
    ('local\n', r'E0603: {file}:1: the number of processes is missing'),
    ('# first\n\n  local x\n', r'E0603: {file}:3: "x" is no number of processes'),
    ('local -1\n', r'E0603: {file}:1: local has -1 processes; the first line counts those beside the master'),
    ('local 1\nhostB 0 /bin/true\n', r'E0603: {file}:2: hostB has 0 processes; a cluster has at least 1'),
    ('local 1\nhostB 2\n', r'E0603: {file}:2: the program for hostB is missing'),
    ('local 1024\n', r'E0603: {file}:1: with this line there are more than 1024 processes'),
    ('local 1\n' + 'h' * 70 + ' 1 /bin/true\n', r'E0603: {file}:2: the host name h{{40}}\.\.\. is longer than 63'),
    ('local 1\nhostB 1 /bin/true me and\n', r'E0603: {file}:2: "and" is one field too many'),
    ('', r'E0603: {file}: no line names a host'),
    (None, r'E0603: {file}: No such file or directory'),
    ('local 1\nhostB 1 /no/such/program\n',
     r'E0617: /no/such/program on hostB \({file}\): the remote shell has ended with exit code 127 before'),
    ('local 0\nhostB 1 /bin/false\n', r'E0617: /bin/false on hostB \({file}\): .* exit code 1 before'),
]


class Tests:
    def __init__(self, build, folder, is_verbose):
        self.build = build
        self.program = os.path.join(build, 'tests', 'p4', 'errors')
        self.mpiexec = os.path.join(build, 'launch', 'mpiexec')
        self.folder, self.is_verbose = folder, is_verbose
        self.passed = self.failed = 0
        self.pool = concurrent.futures.ThreadPoolExecutor(AT_ONCE)
        self.checks = []
        self.numbers = itertools.count()
        self.shell = os.path.join(folder, 'shell')
        with open(self.shell, 'w', encoding='utf-8') as file:
            file.write(SHELL)
        os.chmod(self.shell, 0o755)
        self.env = {**os.environ, 'P4_RSHCOMMAND': self.shell, 'P4_GRACE': '1', 'PARLEY_HANG_REPORT': '1',
                    **p4_test.SANITIZED}

    def procgroup(self, lines):
        path = os.path.join(self.folder, f'procgroup{next(self.numbers)}.pg')
        if lines is None:
            return os.path.join(self.folder, 'none.pg')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(lines)
        return path

    def command(self, what, way):
        if way in 'LN':
            return [self.mpiexec, '-n', '4', self.program, what]
        lines = {'F': 'local 3\n', 'R': f'local 1\nhostB 2 {self.program}\nhostC 1 {self.program} me\n',
                 'H': f'local 1\nlocalhost 2 {self.program}\nlocalhost 1 {self.program}\n'}[way]
        return [self.program, what, '-p4pg', self.procgroup(lines)]

    def check(self, name, words, code, pattern, **env):
        """Beside others; finish() tells how it went."""
        self.checks.append((name, self.pool.submit(self.patient_fault_of, name, words, code, pattern, env)))

    def patient_fault_of(self, name, words, code, pattern, env):
        """Those that are stopped when all wait: a busy machine needs longer until they do."""
        for seconds in (4, 30) if name.endswith(' hang') else (0,):
            fault = self.fault_of(name, words, code, pattern, {**env, 'HANG_SECONDS': str(seconds)})
            if not fault:
                break
        return fault

    def fault_of(self, name, words, code, pattern, env):
        env = {**self.env, **env}
        if name.startswith('H '):
            del env['P4_RSHCOMMAND']  # then this host is known for one
        if name.startswith('N '):  # two machines without a connection; nobody is to be told of a hang before
            env.update({'PARLEY_NODES': '2', 'PARLEY_TCP_TIMEOUT': '1', 'PARLEY_HANG_REPORT': '0'})
        got, out, err, has_left = p4_test.run(words, env=env)
        said = re.findall(pattern, out + err, re.M) if pattern else []
        fault = None
        if got is None:
            fault = 'did not end'
        elif has_left:
            fault = 'left processes behind'
        elif got != code if code is not None else got == 0:
            fault = f'exit code {got}, expected {"another than 0" if code is None else code}'
        elif pattern and len(said) != 1:
            fault = f'{pattern!r} is in the output {len(said)} times'
        elif not pattern and out + err:
            fault = 'printed something'
        return f'{fault}\n{out}{err}' if fault else None

    def finish(self):
        for name, check in self.checks:
            fault = check.result()
            self.passed += fault is None
            self.failed += fault is not None
            if fault:
                print(f'FAIL {name}: {fault}')
            elif self.is_verbose:
                print(f'ok   {name}')
            sys.stdout.flush()

    def run(self):
        for what, ways, code, pattern in CASES:
            for way in ways:
                self.check(f'{way} {what}', self.command(what, way), code, pattern.replace('{last}', LAST[way]))
        for lines, pattern in FILES:
            path = self.procgroup(lines)
            self.check(f'file {lines!r:.40}', [self.program, 'none', '-p4pg', path], 1,
                       pattern.format(file=re.escape(path)))
        self.run_others()

    def run_others(self):
        """What takes more than an argument."""
        local = self.command('none', 'F')
        self.check('arena', local, 1, 'E0602: the size of the shared memory is "many"; it must', P4_GLOBMEMSIZE='many')
        self.check('directory', [*local, '-p4wd', '/no/such'], 1, 'E0602: -p4wd /no/such: No such file or directory')
        self.check('no key', local, 1, 'E0619: no key came on standard input', P4_REMOTE='127.0.0.1 1 1')
        mixed = os.path.join(self.build, 'tests', 'p4', 'mixed')
        self.check('MPI first', [mixed, 'mpi', *local[2:]], 1, 'E0609: MPI is in use already, and p4 would fork')
        for what, code in (('gone-long', 0), ('gone-send', 0), ('gone', 1)):
            self.check(f'chaos {what}', self.command(what, 'F'), code, '' if not code else 'E0612', PARLEY_NET='chaos')
        deny = [os.path.join(self.build, 'tests', 'odd', 'deny'), 'clone']
        if p4_test.run([*deny, '/bin/true'])[0] == 77:
            print('skipped: no process: this machine cannot deny system calls')
        else:
            self.check('no keeper', [*deny, *local], 1, 'E0604: no process for the keeper: Operation not permitted')
            self.check('no child', [*deny, self.program, 'create'], 1, 'E0608: p4_create cannot make a process')
        self.run_without_tirpc()

    def run_without_tirpc(self):
        typed = os.path.join(self.build, 'tests', 'p4', 'typed')
        hide = 'for l in /lib/*/libtirpc.so.3 /usr/lib/*/libtirpc.so.3; do mount --bind /dev/null $l; done; exec "$@"'
        inside = ['unshare', '-m', 'sh', '-c', hide, 'sh']
        try:
            can_hide = p4_test.run([*inside, 'sh', '-c', '! test -s /usr/lib/*/libtirpc.so.3'])[0] == 0
        except OSError:
            can_hide = False
        if not can_hide:
            print('skipped: libtirpc missing: it cannot be hidden here (root and unshare)')
            return
        self.check('no libtirpc', [*inside, typed, '1'], 1, 'E0616: elements are to be converted, and libtirpc cannot',
                   P4_FORCE_XDR='1')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', required=True)
    parser.add_argument('-v', action='store_true')
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tests = Tests(os.path.abspath(args.build), folder, args.v)
        tests.run()
        tests.finish()
    print(f'{tests.passed} passed, {tests.failed} failed')
    return 1 if tests.failed else 0


if __name__ == '__main__':
    sys.exit(main())
