#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""p4 over two hosts: network namespaces with addresses and names of their own, and a remote shell that enters them.

    hosts_test.py --build DIR [-v]

Nothing outside of what the test unshares is changed. What this machine does not allow (root, unshare, ip) is said:
"skipped: why"."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import p4_test  # noqa: E402

INSIDE = 'P4_HOSTS_TEST_INSIDE'
HOSTS = {'alpha': '10.77.0.1', 'beta': '10.77.0.2'}
# Enters the namespaces of a host, as ssh would go to it: HOST [-l USER] [-n] COMMAND...
SHELL = '''#!/bin/sh
host=$1; shift
while :; do case $1 in -l) shift 2;; -n) shift;; -*) shift;; *) break;; esac; done
pid=$(cat "{folder}/$host.pid") || exit 255
exec nsenter -t "$pid" -n -u -- /bin/sh -c "$*"
'''


def why_not():
    """Why two hosts cannot be made here, or None."""
    if os.geteuid() != 0:
        return 'only root may make network namespaces'
    for tool in ('ip', 'unshare', 'nsenter', 'mount'):
        if not shutil.which(tool):
            return f'there is no {tool}'
    if subprocess.run(['unshare', '-n', '-m', '-u', 'ip', 'link', 'add', 'p4a', 'type', 'veth', 'peer', 'name', 'p4b'],
                      stderr=subprocess.DEVNULL, check=False).returncode:
        return 'the system does not let us make network namespaces and links between them'
    return None


class Hosts:
    """Two namespaces joined by a link, each kept by a process that sleeps."""

    def __init__(self, folder):
        self.folder = folder
        self.keepers = {}
        for name in HOSTS:
            keeper = subprocess.Popen(['unshare', '-n', '-u', 'sh', '-c', f'echo {name} > /proc/sys/kernel/hostname; '
                                       'echo ready; exec sleep 600'], stdout=subprocess.PIPE, text=True)
            keeper.stdout.readline()
            self.keepers[name] = keeper
            with open(os.path.join(folder, f'{name}.pid'), 'w', encoding='utf-8') as file:
                file.write(str(keeper.pid))
        self.join()
        self.name()

    def join(self):
        first, second = (str(keeper.pid) for keeper in self.keepers.values())
        subprocess.run(['ip', 'link', 'add', 'p4a', 'netns', first, 'type', 'veth', 'peer', 'name', 'p4b', 'netns',
                        second], check=True)
        for (name, address), link in zip(HOSTS.items(), ('p4a', 'p4b')):
            for words in (['addr', 'add', f'{address}/24', 'dev', link], ['link', 'set', link, 'up'],
                          ['link', 'set', 'lo', 'up']):
                subprocess.run([*self.enter(name), 'ip', *words], check=True)

    def name(self):
        hosts = os.path.join(self.folder, 'hosts')
        with open(hosts, 'w', encoding='utf-8') as file:
            file.write('127.0.0.1 localhost\n' + ''.join(f'{address} {name}\n' for name, address in HOSTS.items()))
        subprocess.run(['mount', '--bind', hosts, '/etc/hosts'], check=True)
        self.shell = os.path.join(self.folder, 'shell')
        with open(self.shell, 'w', encoding='utf-8') as file:
            file.write(SHELL.format(folder=self.folder))
        os.chmod(self.shell, 0o755)

    def enter(self, name):
        return ['nsenter', '-t', str(self.keepers[name].pid), '-n', '-u', '--']

    def close(self):
        for keeper in self.keepers.values():
            keeper.kill()
            keeper.wait()


def run_on_hosts(hosts, path, clusters, args, env):
    """The program on alpha; `clusters`: the lines of the procgroup file, as (host, count)."""
    procgroup = os.path.join(hosts.folder, 'hosts.pg')
    with open(procgroup, 'w', encoding='utf-8') as file:
        file.writelines(f'{host} {count}' + ('\n' if host == 'local' else f' {path}\n') for host, count in clusters)
    words = [*hosts.enter('alpha'), path, '-p4pg', procgroup, *args]
    return p4_test.run(words, env={**os.environ, 'P4_RSHCOMMAND': hosts.shell, **env})


FORCED = {'P4_FORCE_XDR': '1'}  # as if the other side had its bytes the other way round
# Program, procgroup, arguments, environment, exit code, what must be in the output.
CASES = [
    ('global', [('local', 0), ('beta', 1)], [], {}, 0, ''),
    ('global', [('local', 1), ('beta', 2)], [], {}, 0, ''),
    ('global', [('local', 2), ('beta', 2), ('beta', 1)], [], FORCED, 0, ''),
    ('clusters', [('local', 2), ('beta', 3), ('beta', 1)], [], {}, 0, ''),
    ('elements', [('local', 1), ('beta', 2)], [], {}, 0, ''),
    ('elements', [('local', 1), ('beta', 2)], [], FORCED, 0, ''),
]


def run_cases(build, is_verbose):
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        hosts = Hosts(folder)
        try:
            for program, clusters, args, env, code, text in CASES:
                path = os.path.join(build, 'tests', 'p4', program)
                result = run_on_hosts(hosts, path, clusters, args, env)
                output = result[1] + result[2]
                is_right = result[0] == code and not result[3] and (text in output if text else not output)
                passed += is_right
                failed += not is_right
                if not is_right or is_verbose:
                    print('ok  ' if is_right else 'FAIL', program, clusters, env, result)
        finally:
            hosts.close()
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', required=True)
    parser.add_argument('-v', action='store_true')
    args = parser.parse_args()
    if os.environ.get(INSIDE):
        return run_cases(os.path.abspath(args.build), args.v)
    reason = why_not()
    if reason:
        print(f'hosts: skipped: {reason}')
        return 77
    # In a mount namespace of our own, and with our processes ended together.
    return subprocess.run(['unshare', '-m', '-n', sys.executable, os.path.abspath(__file__), *sys.argv[1:]],
                          env={**os.environ, INSIDE: '1'}, check=False).returncode


if __name__ == '__main__':
    sys.exit(main())
