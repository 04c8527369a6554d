#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kills ranks and mpiexec at random moments of a running job: while it starts, while messages move, while it ends. Then
there is no process and no file of it, and the exit code is right.

    kill_test.py --build DIR [--full] [NAME ...]         --full: some thousand times; PARLEY_SEED=N repeats a run

So that everything that is left is ours, the test runs in name spaces of its own, with empty /tmp, /dev/shm and /run and
without other sockets. Where that is not allowed only processes are looked for, and it says so."""

import fcntl
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import launch_test as launch  # noqa: E402
from launch_test import Failure, Skipped, check, equal  # noqa: E402

INSIDE = 'PARLEY_TEST_ALONE'  # set when the name spaces are ours
MARK = 'PARLEY_TEST_MARK'     # in the environment of every process of a job
DIRECTORIES = ('/tmp', '/dev/shm', '/run')
RANKS = 4
BUSY_MS = 60


# --- alone

def needed_below_tmp(arguments):
    """What stands in /tmp and is needed: its entries that hold the build, this test, and the scratch directory."""
    paths = [os.path.realpath(path) for path in (HERE, tempfile.gettempdir(), sys.executable, *arguments)]
    return {path.split('/')[2] for path in paths if path.startswith('/tmp/')}


def go_alone(arguments):
    """Run this program again in name spaces of its own; comes back if that is not possible."""
    if INSIDE in os.environ or not shutil.which('unshare'):
        return
    script = 'set -e; old=$(mktemp -d /dev/shm/old.XXXXXX); mount -t tmpfs none $old\n'
    keep = needed_below_tmp(arguments)
    for name in keep:
        script += f'mkdir $old/{name}; mount --rbind /tmp/{name} $old/{name}\n'
    script += 'mount -t tmpfs none /tmp; chmod 1777 /tmp\n'
    for name in keep:
        script += f'mkdir /tmp/{name}; mount --move $old/{name} /tmp/{name}\n'
    script += 'umount $old; rmdir $old; mount -t tmpfs none /dev/shm; mount -t tmpfs none /run\n'
    command = ['unshare', '-rmn', '--propagation', 'private', 'sh', '-c', script + 'exec "$@"', 'sh']
    if subprocess.run([*command, 'true'], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        os.environ[INSIDE] = '1'
        os.execvp(command[0], [*command, sys.executable, os.path.abspath(__file__), *arguments])


def raise_loopback():
    """Ours is down at first, and ranks that act as if they were on several machines need it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as some:
        fcntl.ioctl(some, 0x8914, struct.pack('16sh22x', b'lo', 1))  # SIOCSIFFLAGS, IFF_UP


def files():
    """Names in the directories where something could be left, and of sockets."""
    names = {os.path.join(directory, name) for directory in DIRECTORIES for name in os.listdir(directory)}
    with open('/proc/net/unix') as file:
        names.update(line.split()[7] for line in file.readlines()[1:] if len(line.split()) > 7)
    return names


# --- processes

def marked(mark):
    """Processes that have the mark in their environment, zombies left out."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/environ', 'rb') as file:
                if f'{MARK}={mark}\0'.encode() in file.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def start(mark, *more, **env):
    return subprocess.Popen([launch.mpiexec, '-n', str(RANKS), launch.compiled('busy'), str(BUSY_MS), *more],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=dict(os.environ, **env, **{MARK: mark}))


def expected_codes(is_mpiexec, number):
    if not is_mpiexec:
        return {128 + number}
    return {-number, 128 + number} if number == signal.SIGTERM else {-number}


def check_end(process, is_mpiexec, number, was_hit):
    """0 is right if the job was over before the signal came: then all ranks have said so."""
    try:
        out, err = process.communicate(timeout=launch.STOP_AFTER)
    except subprocess.TimeoutExpired:
        process.kill()
        raise Failure('mpiexec did not end') from None
    code = process.returncode
    if code == 0:
        equal(out, 'done\n' * RANKS, 'what the ranks say at their end')
        equal(err, '', 'stderr')
    else:
        check(was_hit and code in expected_codes(is_mpiexec, number), 'exit code', code, 'stderr', repr(err)[:500])
    if code not in (0, 143) and not is_mpiexec:
        check(': E0110: ' in err or ': E0118: ' in err, 'the message is not there:', repr(err)[:500])
    equal('E0112' in err, False, f'a message that blames another rank: {err!r:.500};')


def signals():
    """Sanitizers have their own idea of SEGV."""
    is_sanitized = '-fsanitize' in launch.wrapper('mpicc', '-showme:compile')
    return [signal.SIGKILL, signal.SIGTERM] + [signal.SIGSEGV] * (not is_sanitized)


def kill_once(seed, mark, *more, **env):
    dice = random.Random(seed)
    delay, number, is_mpiexec = dice.uniform(0, 0.001 * BUSY_MS + 0.04), dice.choice(signals()), dice.random() < 0.3
    process = start(mark, *more, **env)
    time.sleep(delay)
    victim = process.pid
    if not is_mpiexec:
        ranks = launch.children(process.pid)
        victim = dice.choice(ranks) if ranks else None
    try:
        os.kill(victim or 0, number if victim else 0)
    except ProcessLookupError:
        victim = None
    check_end(process, is_mpiexec, number, victim is not None)
    launch.wait_until(lambda: not marked(mark), launch.PATIENCE, f'all processes gone, left {marked(mark)}')


def kill_often(times, *more, **env):
    seed = int(os.environ.get('PARLEY_SEED', time.time()))
    before = files()
    for i in range(times):
        try:
            kill_once(seed + i, f'{os.getpid()}.{i}', *more, **env)
        except Failure as why:
            raise Failure(f'PARLEY_SEED={seed + i}: {why}') from None
    if INSIDE in os.environ:
        launch.wait_until(lambda: files() <= before, launch.PATIENCE, f'left: {files() - before}')


def test_library_alone():
    """Says so if left files cannot be told from those of others."""
    if INSIDE not in os.environ:
        raise Skipped('no name spaces of our own (unshare -rmn): left files are not looked for')


def test_library_kill():
    kill_often(700 if launch.SCALE > 1 else 15)


def test_library_kill_with_children():
    """Ranks that have started processes themselves."""
    kill_often(300 if launch.SCALE > 1 else 10, 'sleep', '1000')


WAYS = ('nonblocking', 'windows', 'files', 'spawn', 'ports', 'communicators', 'threads')


def test_library_kill_in_everything():
    """In other calls than those of messages, on one machine and on two."""
    for way in WAYS:
        for nodes in '1', '2':
            kill_often(4 * launch.SCALE, way, os.path.join(launch.scratch, way), PARLEY_NODES=nodes)


if __name__ == '__main__':
    go_alone(sys.argv[1:])
    if INSIDE in os.environ:
        raise_loopback()
    sys.exit(launch.main(globals(), __doc__))
