#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that fork: Python with multiprocessing, subprocess and os.fork, messages all the while.

    fork_test.py --build DIR [NAME ...]

Python reaches the library by ctypes, as a program of the standard ABI. Prints "ok NAME", "skipped NAME why" or "FAIL
NAME why"; exit code 1 if one failed."""

import argparse
import ctypes
import json
import multiprocessing
import os
import re
import subprocess
import sys

from launch_test import run_tests

STOP_AFTER = 240
ROUNDS = 6
COUNT = 50000


class Mpi:
    """What the ranks need of MPI, handles by their numbers in the ABI."""
    ERRORS_RETURN, WORLD, SELF, BYTE, REQUEST_NULL = 323, 257, 258, 583, 384

    def __init__(self, path):
        self.library = ctypes.CDLL(path)

    def call(self, name, *args):
        return getattr(self.library, 'MPI_' + name)(*[self.convert(arg) for arg in args])

    @staticmethod
    def convert(arg):
        return ctypes.c_void_p(arg.number) if isinstance(arg, Handle) else arg

    def __getattr__(self, name):
        def call(*args):
            code = self.call(name, *args)
            assert code == 0, f'MPI_{name} gave {code}: {self.text(code)}'
        return call

    def text(self, code):
        text, length = ctypes.create_string_buffer(1024), ctypes.c_int()
        self.call('Error_string', code, text, ctypes.byref(length))
        return text.value.decode()

    def number(self, name, *args):
        value = ctypes.c_int(-1)
        code = self.call(name, *args, ctypes.byref(value))
        assert code == 0, name
        return value.value


class Handle:
    def __init__(self, number):
        self.number = number


WORLD, SELF, BYTE = Handle(Mpi.WORLD), Handle(Mpi.SELF), Handle(Mpi.BYTE)
mpi = None
library = None


# --- ranks

def exchange(rank, size, turn, between):
    """A ring of long messages, `between` them."""
    to, source = (rank + 1) % size, (rank - 1) % size
    out = ctypes.create_string_buffer(bytes([turn * 16 + rank]) * COUNT, COUNT)
    into = ctypes.create_string_buffer(COUNT)
    requests = (ctypes.c_void_p * 2)()
    address = [ctypes.cast(ctypes.byref(requests, i * ctypes.sizeof(ctypes.c_void_p)), ctypes.c_void_p)
               for i in range(2)]
    mpi.Irecv(into, COUNT, BYTE, source, turn, WORLD, address[0])
    mpi.Isend(out, COUNT, BYTE, to, turn, WORLD, address[1])
    between()
    mpi.Waitall(2, requests, None)
    assert into.raw == bytes([turn * 16 + source]) * COUNT, f'turn {turn}: wrong bytes'


def square(x):
    """In a worker process of multiprocessing."""
    return x * x


def by_pool(way):
    def work():
        with multiprocessing.get_context(way).Pool(2) as pool:
            assert pool.map(square, range(20)) == [x * x for x in range(20)]
    return work


def by_subprocess():
    done = subprocess.run([sys.executable, '-c', 'print(6 * 7)'], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == '42\n'
    assert os.system('exit 3') == 3 << 8


def by_fork():
    """The child finds MPI over, learns why, and leaves the usual way, by what is registered for the exit."""
    parent = os.getpid()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = mpi.call('Send', None, 0, BYTE, 0, 0, WORLD)
        ok = mpi.number('Initialized') == mpi.number('Finalized') == 1 and code != 0 and \
            re.search(rf'process {parent}\b.* has forked', mpi.text(code))
        sys.exit(0 if ok else f'{code}: {mpi.text(code)}')
    assert os.waitpid(child, 0)[1] == 0


def by_mpi_program():
    """A child that is an MPI program of its own is alone."""
    done = subprocess.run([sys.executable, __file__, '--library', library, '--rank', 'alone'], stdout=subprocess.PIPE,
                          text=True, check=True)
    assert done.stdout == '0 of 1\n', done.stdout


def live(way):
    mpi.Init(None, None)
    rank, size = mpi.number('Comm_rank', WORLD), mpi.number('Comm_size', WORLD)
    if way == 'alone':
        print(rank, 'of', size)
    else:
        mpi.Comm_set_errhandler(WORLD, Handle(Mpi.ERRORS_RETURN))
        between = {'subprocess': by_subprocess, 'fork': by_fork, 'program': by_mpi_program}.get(way) or \
            by_pool(way[5:])
        for turn in range(2 if way.startswith('pool_') else ROUNDS):
            exchange(rank, size, turn, between)
        mpi.Barrier(WORLD)
    mpi.Finalize()


# --- tests

build = None


def run(*command):
    env = dict(os.environ)
    if is_sanitized('address'):
        # Python itself is not built with it; what it never frees is not ours
        env['LD_PRELOAD'] = subprocess.run(['cc', '-print-file-name=libasan.so'], stdout=subprocess.PIPE, text=True,
                                           check=True).stdout.strip()
        env['ASAN_OPTIONS'] = 'detect_leaks=0:' + env.get('ASAN_OPTIONS', '')
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=STOP_AFTER, check=False, env=env)


def is_sanitized(kind):
    with open(os.path.join(build, 'meson-info', 'intro-buildoptions.json'), encoding='utf-8') as file:
        return kind in next(option['value'] for option in json.load(file) if option['name'] == 'b_sanitize')


def ranks(way, size=3):
    done = run(os.path.join(build, 'launch', 'mpiexec'), '-n', str(size), sys.executable, __file__,
               '--library', library, '--rank', way)
    assert (done.returncode, done.stdout, done.stderr) == (0, '', ''), done


def test_pool_fork():
    ranks('pool_fork')


def test_pool_spawn():
    ranks('pool_spawn', 2)


def test_pool_forkserver():
    ranks('pool_forkserver', 2)


def test_subprocess():
    ranks('subprocess')


def test_fork():
    ranks('fork')


def test_program():
    ranks('program', 2)


def test_alone():
    """Import and start without a launcher. How long that took is told, not judged."""
    code = f'''
import ctypes, time
start = time.monotonic()
library = ctypes.CDLL({library!r})
loaded = time.monotonic()
assert library.MPI_Init(None, None) == 0
print(f"{{(loaded - start) * 1e3:.2f}} ms to load, {{(time.monotonic() - loaded) * 1e3:.2f}} ms for MPI_Init")
assert library.MPI_Finalize() == 0
'''
    done = run(sys.executable, '-c', code)
    assert (done.returncode, done.stderr) == (0, ''), done
    print('alone:', done.stdout.strip())


def main():
    global build, library, mpi
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--build', help='build directory')
    parser.add_argument('--library', help=argparse.SUPPRESS)
    parser.add_argument('--rank', help=argparse.SUPPRESS)
    parser.add_argument('names', nargs='*')
    args = parser.parse_args()
    if args.rank:
        library = args.library
        mpi = Mpi(library)
        live(args.rank)
        return 0
    build = os.path.realpath(args.build)
    library = os.path.join(build, 'src', 'libmpi_abi.so.1')
    if is_sanitized('thread'):
        print('skipped all: Python cannot load a library with the thread sanitizer')
        return 0
    return run_tests(globals(), args.names)


if __name__ == '__main__':
    sys.exit(main())
