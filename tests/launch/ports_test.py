#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of jobs of different mpiexecs that meet at a port (ports.c): what they do with each other, what is refused,
what becomes of one side when the other fails, and that nothing is left behind.

    ports_test.py --build DIR [--full] [NAME ...]

Prints "ok NAME" or "FAIL NAME why"; exit code 1 if one failed."""

import os
import random
import re
import signal
import socket
import sys
import time

import launch_test
from launch_test import check, contains, equal, finish, start

count = 0


def place():
    global count
    count += 1
    return os.path.join(launch_test.scratch, f'port{os.getpid()}.{count}')


def side(name, ranks, path, rounds, case, *options, **more):
    program = launch_test.compiled('ports', '-g')
    return start('-timeout', 50, *options, '-n', ranks, program, name, path, rounds, case, **more)


def none_left(path):
    launch_test.wait_until(lambda: not launch_test.processes_with(path), 20, 'the end of all')


def both(server, client, rounds, case, *options, **more):
    path = place()
    sides = [side('server', server, path, rounds, case, *options, **more),
             side('client', client, path, rounds, case, *options, **more)]
    return path, sides


def all_well(server, client, rounds, case, *options, **more):
    path, sides = both(server, client, rounds, case, *options, **more)
    for name, process in zip(('server', 'client'), sides):
        out, err = finish(process)
        equal((process.returncode, out, err), (0, f'{name} is done\n', ''), f'{name} of {server} and {client}')
    none_left(path)


def test_sizes():
    for server, client in (1, 1), (2, 3), (4, 1):
        all_well(server, client, 1, 'all')
    if launch_test.SCALE > 1:
        for server, client in (7, 8), (1, 8), (8, 3):
            all_well(server, client, 3, 'all')


def test_again():
    """The same two jobs, many times."""
    all_well(2, 1, 20 * launch_test.SCALE, 'talk')


def test_refused():
    all_well(2, 1, 1, 'refused')


def test_many_clients():
    """One after the other, and all at once; the places of those that have ended are had again."""
    clients = 12 * launch_test.SCALE
    path = place()
    server = side('server', 2, path, clients, 'talk')
    waiting = [side('client', 2, path, 1, 'talk') for _ in range(3)]
    for _ in range(clients - 3):
        waiting.append(side('client', 2, path, 1, 'talk'))
        process = waiting.pop(0)
        equal((finish(process), process.returncode), (('client is done\n', ''), 0), 'a client')
    for process in [server, *waiting]:
        out, err = finish(process)
        equal((process.returncode, err), (0, ''), out)
    none_left(path)


def test_fails():
    """A process, an MPI_Abort, mpiexec itself: the other side ends, and says whose end it is."""
    for case, code, why in (('dies', 137, 'has failed'), ('aborts', 7, 'has failed'), ('killed', None, 'is lost: its')):
        path, (server, client) = both(2, 3, 1, case)
        _, err = finish(client)
        contains(err, 'E1015: process ')
        contains(err, why)
        check(client.returncode == (code or 1), case, 'client has exit code', client.returncode)
        finish(server)
        equal(server.returncode, code or -9, f'{case}: exit code of the server')
        none_left(path)


def test_nobody():
    """A port that nobody accepts at in time; a mpiexec that has ended; a key that is wrong."""
    path = place()
    server = side('server', 1, path, 0, 'sleeps')
    for case, number in ('late', 1011), ('wrong', 1017):
        client = side('client', 2, path, 1, case)
        contains(finish(client)[1], f'E{number}: ')
        check(client.returncode not in (0, 124), case, 'has exit code', client.returncode)
    os.rename(path, path + '.old')
    equal((finish(server), server.returncode), (('server is done\n', ''), 0), 'the server')
    client = side('client', 1, path + '.old', 1, 'talk')
    contains(finish(client)[1], 'E1017: ')
    none_left(path)


def listeners(path):
    """Addresses in the name of the port: those of IPv4."""
    with open(path) as file:
        data = bytes.fromhex(re.search('@([0-9a-f]+):', file.read()).group(1))
    found, at = [], 4
    while at < len(data):
        size = 4 if data[at] == 4 else 16
        if size == 4:
            found.append((socket.inet_ntoa(data[at + 2:at + 6]), data[2] | data[3] << 8))
        at += 2 + size
    return found


def test_strangers():
    """Whoever has not the key gets nothing, and costs nobody anything."""
    path = place()
    server = side('server', 1, path, 1, 'talk')
    launch_test.wait_until(lambda: os.path.exists(path), 20, 'the port')
    address = listeners(path)[0]
    held = []
    for i in range(80):
        stranger = socket.create_connection(address, 5)
        stranger.sendall(random.Random(i).randbytes(300) if i % 2 else b'')
        held.append(stranger)
    for stranger in held[1::2]:
        stranger.settimeout(20)
        try:
            equal(stranger.recv(100), b'', 'what a stranger gets')
        except ConnectionError:
            pass
    for stranger in held:
        stranger.close()
    client = side('client', 1, path, 1, 'talk')
    equal((finish(client), client.returncode), (('client is done\n', ''), 0), 'the client')
    finish(server)
    equal(server.returncode, 0, 'exit code of the server')


def test_killed_at_any_time():
    chance = random.Random(os.getpid())
    for _ in range(3 * launch_test.SCALE):
        path, sides = both(2, 2, 10000, chance.choice(['talk', 'all']))
        time.sleep(chance.random() * 0.6)
        victim = chance.choice(sides)
        victim.kill()
        for process in sides:
            if process is victim or os.path.exists(path):
                finish(process)
            else: # the client waits for the name for ever
                process.send_signal(signal.SIGTERM)
                finish(process)
            check(process.returncode != 0, 'exit code 0')
        none_left(path)


def test_one_machine():
    """Jobs on several machines say that they cannot."""
    path = place()
    server = side('server', 1, path, 0, 'sleeps')
    client = side('client', 2, path, 1, 'talk', env={**os.environ, 'PARLEY_NODES': '2'})
    contains(finish(client)[1], 'E1016: ')
    os.unlink(path)
    finish(server)
    none_left(path)


if __name__ == '__main__':
    sys.exit(launch_test.main(globals(), __doc__))
