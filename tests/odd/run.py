#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs MPI programs on odd hosts (hosts.py): containers, denied system calls, small limits, careless parents.

    run.py --build DIR [--full] [--jobs N] [--list] [HOST ...]

On each: everyday.c with several numbers of ranks, which must be silent and end with 0; an MPI_Abort, whose code and
message must arrive; an error that ends the job, likewise. With --full all chapter tests besides, on 2 and 4 ranks, and
longer idle waits. Prints "ok HOST", "skipped HOST: why" or "FAIL HOST: why"; the last line counts. Exit code 1 if one
failed."""

import argparse
import concurrent.futures
import os
import shlex
import subprocess
import sys
import tempfile
import time

import hosts as odd

HERE = os.path.dirname(os.path.abspath(__file__))
STOP_AFTER = 120  # seconds for one run; no run takes that long on any host
IDLE = ('recv', 'probe', 'wait', 'barrier', 'finalize', 'thread')


class Failure(Exception):
    pass


class Skip(Exception):
    pass


def run(command):
    """(exit code, stdout, stderr)"""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=STOP_AFTER, check=False)
    except subprocess.TimeoutExpired as late:
        raise Failure(f'did not end in {STOP_AFTER} s: {shlex.join(command)[:600]}: {late.stderr!r:.600}') from None
    return done.returncode, done.stdout.decode(errors='replace'), done.stderr.decode(errors='replace')


class Visit:
    """One host, and what is run there."""

    def __init__(self, host, options):
        self.host = host
        self.options = options
        self.build = getattr(host, 'build', options.build)

    def program(self, name):
        return os.path.join(self.build, 'tests', 'odd', name)

    def mpiexec(self, ranks, *words):
        path = os.path.join(self.build, 'launch', 'mpiexec')
        return self.host.prefix() + [path, '-n', str(ranks), *self.host.between, *map(str, words)]

    def prove(self):
        """Is the host what it says, can our programs be reached there?"""
        for words in (self.host.prefix(), self.host.between):
            if not words:
                continue
            try:
                code, _, errors = run(words + [self.program('deny')])  # without arguments: its usage, and 2
            except OSError as fault:
                raise Skip(str(fault)) from None
            if code != 2:
                raise Skip(errors.strip().splitlines()[0] if errors.strip() else f'{words[0]} ended with {code}')
            self.clean()

    def clean(self):
        for _ in range(100):
            if not self.host.folder or not os.path.isdir(self.host.folder):
                return
            try:
                os.rmdir(self.host.folder)
            except OSError: # the kernel has not yet forgotten the last process
                time.sleep(0.02)

    def expect(self, command, want, message=None):
        """want None: any exit code but 0. message: part of the one message on stderr; None: nothing may be printed."""
        code, out, errors = run(command)
        self.clean()
        words = shlex.join(os.path.basename(w) for w in command[len(self.host.prefix()):])
        shown = f'exit code {code}, stdout {out!r:.300}, stderr {errors!r:.900}: {words:.300}'
        if code != want and (want is not None or code == 0):
            raise Failure(f'expected exit code {"not 0" if want is None else want}: {shown}')
        if message is None or self.host.mute:
            if out or errors:
                raise Failure(f'expected silence: {shown}')
        elif message not in errors or errors.count('parley: ') != 1:
            raise Failure(f'expected {message!r} once: {shown}')

    def short(self):
        everyday = self.program('everyday')
        if self.host.cannot:
            self.expect(self.mpiexec(self.host.ranks[-1], everyday), 125, self.host.cannot)
            return
        for ranks in self.host.ranks:
            self.expect(self.mpiexec(ranks, everyday, 'plain', ranks), 0)
        ranks = self.host.ranks[-1]
        self.expect(self.mpiexec(ranks, everyday, 'threads', ranks), 0)
        self.expect(self.mpiexec(ranks, everyday, 'abort'), 7, 'MPI_Abort')
        self.expect(self.mpiexec(ranks, everyday, 'truncate'), None, '8 bytes, from rank')
        if not self.host.between:
            self.expect(self.host.prefix() + [everyday, 'threads', '1'], 0)

    def idle(self):
        if self.host.cannot or self.host.mute:
            return
        if self.host.name == 'as-it-is':
            waits, late, ranks = IDLE, 3000 if self.options.full else 500, (1, 2, 3, 4)
        else:
            waits, late, ranks = IDLE if self.options.full else IDLE[:1], 300, self.host.ranks[-1:]
        for count in ranks:
            for what in waits:
                self.expect(self.mpiexec(count, self.program('idle'), what, late), 0)

    def crowd(self):
        """Many ranks in little address space; and more ranks than processors beside somebody who never sleeps."""
        ranks, most = (1024, 8 << 30) if self.options.full else (256, 1 << 30)
        self.expect(['prlimit', f'--as={most}'] + self.mpiexec(ranks, self.program('idle'), 'start'), 0)
        with subprocess.Popen([sys.executable, '-c', 'while True: pass']) as busy:
            try:
                self.expect(self.mpiexec(16, self.program('idle'), 'recv', 3000 if self.options.full else 300), 0)
            finally:
                busy.kill()

    def suite(self):
        if not self.host.suite:
            return
        command = [sys.executable, os.path.join(HERE, '..', 'run.py'), '--bin-dir', os.path.join(self.build, 'tests'),
                   '--mpiexec', shlex.join(self.host.prefix() + [os.path.join(self.build, 'launch', 'mpiexec')]),
                   '--ranks', '2,4', '--jobs', '1' if self.host.folder else str(self.options.jobs), '--timeout', '4']
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False)
        self.clean()
        if done.returncode:
            raise Failure('chapter tests:\n' + done.stdout[-6000:])

    def go(self):
        """(verdict, text)"""
        try:
            self.prove()
            self.short()
            self.idle()
            if self.host.name == 'as-it-is':
                self.crowd()
            if self.options.full:
                self.suite()
        except Skip as why:
            return 'skipped', str(why)
        except (Failure, OSError) as why:
            return 'FAIL', str(why)
        finally:
            self.clean()
        return 'ok', ''


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', required=True, help='build directory')
    parser.add_argument('--full', action='store_true', help='all chapter tests on each host, long idle waits')
    parser.add_argument('--jobs', type=int, default=2, help='hosts (with --full: runs) at the same time')
    parser.add_argument('--list', action='store_true', help='name the hosts')
    parser.add_argument('names', nargs='*', metavar='HOST')
    options = parser.parse_args()
    options.build = os.path.realpath(options.build)
    with tempfile.TemporaryDirectory(prefix='parley-odd-') as scratch:
        os.chmod(scratch, 0o755)
        hosts = odd.all_hosts(options.build, os.path.join(options.build, 'tests', 'odd', 'deny'), scratch)
        unknown = set(options.names) - {host.name for host in hosts}
        if unknown:
            parser.error(f'no such host: {" ".join(sorted(unknown))}')
        if options.list:
            print('\n'.join(host.name for host in hosts))
            return 0
        return visit_all([h for h in hosts if not options.names or h.name in options.names], options)


def visit_all(hosts, options):
    counts = {'ok': 0, 'FAIL': 0, 'skipped': 0}

    def visit(host):
        verdict, text = Visit(host, options).go()
        counts[verdict] += 1
        print(f'{verdict} {host.name}{": " if text else ""}{text}', flush=True)

    with concurrent.futures.ThreadPoolExecutor(1 if options.full else options.jobs) as pool:
        list(pool.map(visit, hosts))
    print(f'{counts["ok"]} passed, {counts["FAIL"]} failed, {counts["skipped"]} skipped')
    return 1 if counts['FAIL'] else 0


if __name__ == '__main__':
    sys.exit(main())
