#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""p4 over two hosts with a real ssh between them: hosts_test.py's namespaces, and in the second one an sshd with its
own port, configuration, host key, and key of a user, all in a temporary folder.

    ssh_test.py --build DIR [-v]

Everything happens in namespaces of the test's own, processes too: what a file of this machine is covered with is seen
there only, and nothing outlives the test. What this machine lacks (sshd, root, namespaces) is said: "skipped: why"."""

import argparse
import glob
import os
import pwd
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import hosts_test  # noqa: E402
import p4_test  # noqa: E402

INSIDE = 'P4_SSH_TEST_INSIDE'
SSHD = '/usr/sbin/sshd'  # it wants to be called by its whole name
OWN_SPACE = ['unshare', '-m', '-n', '-p', '-f', '--mount-proc']
PORT, NO_PORT = 2222, 2223
ADDRESS = hosts_test.HOSTS['beta']

SSHD_CONFIG = '''Port {port}
ListenAddress {address}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
PidFile none
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication yes
KbdInteractiveAuthentication no
AcceptEnv ASAN_OPTIONS TSAN_OPTIONS
'''
# beta is as it should be. The others: its key is not ours (a password would do), nobody listens, another host has its
# name, nobody has seen it yet. The first value that fits counts.
SSH_CONFIG = '''Host locked
    IdentityFile {folder}/other_key
    HostKeyAlias beta
Host absent
    Port {no_port}
Host * !locked
    IdentityFile {folder}/user_key
Host *
    HostName {address}
    Port {port}
    IdentitiesOnly yes
    UserKnownHostsFile {folder}/known_hosts
    GlobalKnownHostsFile /dev/null
    SendEnv ASAN_OPTIONS TSAN_OPTIONS
    CheckHostIP no
'''

REFUSED = r'E0617: \S+ on {host} \(\S+\): the remote shell has ended with exit code 255 before the program reported'
# Program and its arguments, lines of the procgroup (host, count, login), environment, exit code (None: not 0), and what
# must be in the output, each once. Without: the run is silent.
CASES = [
    ('global', [('local', 0), ('beta', 1)], {}, 0, []),
    ('global', [('local', 1), ('beta', 2, 'root')], {}, 0, []),
    ('clusters', [('local', 2), ('beta', 3), ('beta', 1)], {}, 0, []),
    ('elements', [('local', 1), ('beta', 2)], {'P4_FORCE_XDR': '1'}, 0, []),
    ('typed 1', [('local', 0), ('beta', 1)], {'P4_FORCE_XDR': '1'}, 0, []),  # fails if one side converts nothing
    ('flood 100 20', [('local', 0), ('beta', 1)], {}, 0, []),
    ('errors killed', [('local', 1), ('beta', 2)], {}, 1, [r'E0605: process 3 \(pid \d+\) was ended by signal 9']),
    ('errors killed', [('local', 1), ('beta', 1), ('beta', 1)], {}, 1, [r'E0605: process 3 \(pid \d+\) has ended']),
    ('errors error', [('local', 1), ('beta', 2)], {}, 1, [r'^p3_\d+:  p4_error: no good: 42$']),
    ('errors segv', [('local', 1), ('beta', 2)], {}, 1, [r'^p3_\d+:  p4_error: interrupt SIGSEGV: 11$']),
    ('errors master-killed', [('local', 1), ('beta', 2)], {}, -9, []),
    ('errors keeper-killed', [('local', 1), ('beta', 2)], {}, 1, [r'E0618: the connection to the cluster of pro']),
    ('errors no-end', [('local', 1), ('beta', 2)], {}, 0, [r'E0606: the master has ended without p4_wait_for_end']),
    ('none', [('local', 1), ('beta', 2)], {}, 1, [r'No such file or directory', r'E0617: .* exit code 127 before']),
    ('errors none', [('local', 1), ('absent', 2)], {}, 1, [r'Connection refused', REFUSED]),
    ('errors none', [('local', 1), ('beta', 1), ('absent', 1)], {}, 1, [r'Connection refused', REFUSED]),
    ('errors none', [('local', 1), ('locked', 2)], {}, 1, [r'Permission denied', REFUSED]),
    ('errors none', [('local', 1), ('changed', 2)], {}, 1, [r'IDENTIFICATION HAS CHANGED', REFUSED]),
    ('errors none', [('local', 1), ('unknown', 2)], {}, 1, [r'Host key verification failed', REFUSED]),
]


def why_not():
    for tool in (SSHD, 'ssh', 'ssh-keygen', 'script'):
        if not shutil.which(tool):
            return f'no {os.path.basename(tool)}'
    reason = hosts_test.why_not()
    can_mount = [*OWN_SPACE, 'mount', '-t', 'tmpfs', 'none', '/run']
    if not reason and subprocess.run(can_mount, stderr=subprocess.DEVNULL, check=False).returncode:
        reason = 'the system does not let us make namespaces of processes'
    return reason


def write(path, text):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


class Ssh:
    """An sshd on beta, and what ssh needs to find it, in place of this machine's files."""

    def __init__(self, hosts):
        self.folder, self.hosts = hosts.folder, hosts
        for name in ('host_key', 'user_key', 'other_key'):
            subprocess.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', self.path(name)], check=True)
        key, wrong = (' '.join(read(self.path(name)).split()[:2]) for name in ('host_key.pub', 'other_key.pub'))
        write(self.path('known_hosts'),
              ''.join(f'[{host}]:{port} {key}\n' for host, port in ((ADDRESS, PORT), (ADDRESS, NO_PORT))) +
              f'beta {key}\nlocked {key}\nabsent {key}\nchanged {wrong}\n')
        values = {'folder': self.folder, 'port': PORT, 'no_port': NO_PORT, 'address': ADDRESS}
        names = ('beta', 'absent', 'changed', 'unknown')
        aliases = ''.join(f'Host {name}\n    HostKeyAlias {name}\n' for name in names)
        write(self.path('sshd_config'), SSHD_CONFIG.format(**values))
        write(self.path('ssh_config'), aliases + SSH_CONFIG.format(**values))
        self.cover()
        with open(self.path('sshd.log'), 'w', encoding='utf-8') as log:
            self.sshd = subprocess.Popen([*hosts.enter('beta'), SSHD, '-D', '-e', '-f', self.path('sshd_config')],
                                         stdin=subprocess.DEVNULL, stderr=log)

    def path(self, name):
        return os.path.join(self.folder, name)

    def cover(self):
        """In our own view of the file system: settings of ssh, those of the user, and where sshd wants an empty
        folder."""
        own = os.path.join(pwd.getpwuid(0).pw_dir, '.ssh')
        if os.path.isdir(own):
            subprocess.run(['mount', '-t', 'tmpfs', 'none', own], check=True)
        subprocess.run(['mount', '-t', 'tmpfs', 'none', '/run'], check=True)
        os.mkdir('/run/sshd', 0o755)
        subprocess.run(['mount', '--bind', self.path('ssh_config'), '/etc/ssh/ssh_config'], check=True)

    def fault(self):
        """Why nobody can log in, or None: sshd takes its time to start."""
        for _ in range(100):
            last = subprocess.run([*self.hosts.enter('alpha'), 'ssh', '-o', 'BatchMode=yes', 'beta', 'true'],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            if not last.returncode:
                return None
            time.sleep(0.1)
        return last.stderr + read(self.path('sshd.log'))


def left_over(program_folder):
    """Names of programs of ours or of ssh's clients that still run; those that end get a moment."""
    for _ in range(500):
        names = []
        for link in glob.glob('/proc/[0-9]*/exe'):
            try:
                names.append(os.readlink(link))
            except OSError:
                pass  # it has ended
        names = [name for name in names if name.startswith(program_folder) or os.path.basename(name) == 'ssh']
        if not names:
            break
        time.sleep(0.01)
    return names


class Tests:
    def __init__(self, build, hosts, is_verbose):
        self.programs = os.path.join(build, 'tests', 'p4')
        self.hosts, self.is_verbose = hosts, is_verbose
        self.passed = self.failed = 0

    def command(self, program, clusters):
        name, *args = program.split()
        path = os.path.join(self.programs, name)
        procgroup = os.path.join(self.hosts.folder, 'ssh.pg')
        lines = [f'{host} {count}' + ('' if host == 'local' else f' {path} {" ".join(login)}')
                 for host, count, *login in clusters]
        write(procgroup, '\n'.join(lines) + '\n')
        if not os.path.exists(path):
            path = os.path.join(self.programs, 'errors')
        return [*self.hosts.enter('alpha'), path, *args, '-p4pg', procgroup]

    def check(self, program, clusters, env, code, patterns, has_terminal=False):
        words = self.command(program, clusters)
        if has_terminal:
            words = ['script', '-qec', shlex.join(words), '/dev/null']
        got, out, err, has_left = p4_test.run(words, env={**os.environ, 'P4_GRACE': '1', **p4_test.SANITIZED, **env})
        names = left_over(self.programs)
        fault = None
        if got is None:
            fault = 'did not end'
        elif has_left or names:
            fault = f'left processes behind: {names}'
        elif got != code:
            fault = f'exit code {got}, expected {code}'
        elif not patterns and out + err:
            fault = 'printed something'
        elif len(re.findall(r'parley: E0', out + err)) > 1:
            fault = 'more than one message'
        for pattern in patterns:
            pattern = pattern.format(host=clusters[-1][0]) if pattern is REFUSED else pattern
            count = len(re.findall(pattern, (out + err).replace('\r', ''), re.M))
            if count != 1:
                fault = fault or f'{pattern!r} is in the output {count} times'
        self.passed += fault is None
        self.failed += fault is not None
        if fault or self.is_verbose:
            print('FAIL' if fault else 'ok  ', program, clusters, fault or '')
            if fault:
                print(out + err)
        sys.stdout.flush()

    def run(self):
        for case in CASES:
            self.check(*case)
        # ssh would ask whoever sits at a terminal for a password, or whether a new host is the right one
        for host, text in (('locked', r'Permission denied'), ('unknown', r'Host key verification failed')):
            self.check('errors none', [('local', 1), (host, 2)], {}, 1, [text, REFUSED], True)


def run_all(build, is_verbose):
    with tempfile.TemporaryDirectory() as folder:
        hosts = hosts_test.Hosts(folder)
        try:
            fault = Ssh(hosts).fault()
            if fault:
                print(f'FAIL nobody can log in:\n{fault}')
                return 1
            tests = Tests(build, hosts, is_verbose)
            tests.run()
        finally:
            hosts.close()
    print(f'{tests.passed} passed, {tests.failed} failed')
    return 1 if tests.failed else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', required=True)
    parser.add_argument('-v', action='store_true')
    args = parser.parse_args()
    if os.environ.get(INSIDE):
        return run_all(os.path.abspath(args.build), args.v)
    reason = why_not()
    if reason:
        print(f'ssh: skipped: {reason}')
        return 77
    # A shell is the first process there: it waits for whoever has lost its parent.
    return subprocess.run([*OWN_SPACE, 'sh', '-c', '"$@"; exit $?', 'sh', sys.executable, os.path.abspath(__file__),
                           *sys.argv[1:]],
                          env={**os.environ, INSIDE: '1'}, check=False).returncode


if __name__ == '__main__':
    sys.exit(main())
