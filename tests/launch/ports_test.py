#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of jobs of different mpiexecs that meet at a port (ports.c): what they do with each other, what is refused,
what becomes of one side when the other fails, and that nothing is left behind.

    ports_test.py --build DIR [--full] [NAME ...]

Prints "ok NAME" or "FAIL NAME why"; exit code 1 if one failed."""

import ctypes
import os
import random
import re
import resource
import signal
import socket
import struct
import sys
import threading
import time

import agents_test
import launch_test
from launch_test import check, contains, equal, finish, start

count = 0
USER = os.geteuid()


def place():
    global count
    count += 1
    return os.path.join(launch_test.scratch, f'port{os.getpid()}.{count}')


def side(name, ranks, path, rounds, case, *options, **more):
    program = launch_test.compiled('ports', '-g')
    return start('-timeout', launch_test.LIMIT, *options, '-n', ranks, program, name, path, rounds, case, **more)


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


def test_places_there():
    """Processes of the other job that have the place of one before; with --full more of them than there are places."""
    rounds = 6 if launch_test.SCALE == 1 else 150
    for how, other, case in ('server', 'clients', 'talk'), ('client', 'servers', 'each'):
        path = place()
        one = side(how, 2, path, rounds, case)
        spawner = side('client', 1, path, rounds, other)
        said, err = finish(spawner)
        expected = sorted([f'{other[:-1]} is done'] * rounds + ['client is done'])
        equal((spawner.returncode, sorted(said.splitlines()), err), (0, expected, ''), other)
        equal((finish(one), one.returncode), ((f'{how} is done\n', ''), 0), how)
        none_left(path)


def test_crossed():
    """Both call each other at the same time: they have one bond all the same."""
    for _ in range(10 * launch_test.SCALE):
        all_well(2, 2, 1, 'crossed')


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


def give_word(path):
    with open(path + '.go.new', 'w') as file:
        file.write('go')
    os.rename(path + '.go.new', path + '.go')


def stopped(case, victim):
    """Two jobs that are connected; the mpiexec of `victim` is stopped."""
    path, sides = both(2, 2, 1, case)
    launch_test.wait_until(lambda: os.path.exists(path + '.met'), 20, 'the connection')
    sides[victim].send_signal(signal.SIGSTOP)
    return path, sides[victim], sides[1 - victim]


def test_silent():
    """A mpiexec that is stopped, and whose ranks go on: the other job does what it can without it, ends and fails in
    time, and is told of afterwards."""
    for victim in 0, 1:
        path, silent, other = stopped('pauses', victim)
        give_word(path)
        equal((finish(other)[1], other.returncode), ('', 0), 'the other side')
        silent.send_signal(signal.SIGCONT)
        equal((finish(silent)[1], silent.returncode), ('', 0), 'that which was stopped')
        none_left(path)
    for victim in 0, 1:
        path, silent, other = stopped('waits', victim)
        os.kill(launch_test.children(other.pid)[-1], signal.SIGKILL)
        contains(finish(other)[1], 'E0110: ')
        equal(other.returncode, 137, 'exit code of the side that fails')
        silent.send_signal(signal.SIGCONT)
        contains(finish(silent)[1], 'E1015: process ')
        none_left(path)


def connections_of(process):
    """Its TCP connections, as sockets of ours as well; None: the system does not give them."""
    libc = ctypes.CDLL(None, use_errno=True)
    pidfd = os.pidfd_open(process.pid)
    found = []
    for name in os.listdir(f'/proc/{process.pid}/fd'):
        if not os.readlink(f'/proc/{process.pid}/fd/{name}').startswith('socket:'):
            continue
        fd = libc.syscall(438, pidfd, int(name), 0) # pidfd_getfd
        if fd < 0:
            os.close(pidfd)
            return None
        one = socket.socket(fileno=fd)
        if one.family in (socket.AF_INET, socket.AF_INET6) and not one.getsockopt(socket.SOL_SOCKET,
                                                                                  socket.SO_ACCEPTCONN):
            found.append(one)
        else:
            one.close()
    os.close(pidfd)
    return found


def test_no_delay():
    """The mpiexecs wait for each other's words, which are short: none is kept back for what may follow."""
    path, sides = both(2, 2, 1, 'pauses')
    launch_test.wait_until(lambda: os.path.exists(path + '.met'), 20, 'the connection')
    for process in sides:
        found = connections_of(process)
        check(found != [], 'a mpiexec without a connection')
        for one in found or []:
            equal(one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY), 1, 'TCP_NODELAY')
            one.close()
    give_word(path)
    for process in sides:
        equal((finish(process)[1], process.returncode), ('', 0), 'a side')
    none_left(path)


def test_silent_at_first():
    """The mpiexec that has opened the port is stopped when somebody calls."""
    for case, number in ('late', 1011), ('talk', 1017):
        path = place()
        server = side('server', 1, path, 1, 'talk')
        launch_test.wait_until(lambda: os.path.exists(path), 20, 'the port')
        server.send_signal(signal.SIGSTOP)
        client = side('client', 2, path, 1, case)
        contains(finish(client)[1], f'E{number}: ')
        check(client.returncode not in (0, 124), case, 'has exit code', client.returncode)
        server.send_signal(signal.SIGCONT)
        client = side('client', 2, path, 1, 'talk')
        equal((finish(client), client.returncode), (('client is done\n', ''), 0), 'the next client')
        equal((finish(server), server.returncode), (('server is done\n', ''), 0), 'the server')
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
    """mpiexec, or a rank. Who is not connected yet may wait for ever: for the name, or for somebody who connects."""
    chance = random.Random(os.getpid())
    for _ in range(6 * launch_test.SCALE):
        path, sides = both(2, 2, 1, 'talks', env={**os.environ, 'PARLEY_NODES': chance.choice('12')})
        time.sleep(chance.random() * 0.6)
        victim = chance.choice(sides)
        os.kill(chance.choice([victim.pid, *launch_test.children(victim.pid)]), signal.SIGKILL)
        finish(victim)
        is_connected = os.path.exists(path + '.met')
        other = sides[victim is sides[0]]
        if not is_connected:
            other.send_signal(signal.SIGTERM)
        out, err = finish(other)
        check(not is_connected or 'E1015: process ' in err, 'the cause is not told of:', out, err)
        check(0 not in (victim.returncode, other.returncode), 'exit code 0')
        none_left(path)


# --- jobs on several machines ---


def on(hosts):
    """Options and variables of a job with a rank on each of these."""
    if isinstance(hosts, int): # one machine that behaves as so many
        return [], {**os.environ, 'PARLEY_NODES': str(hosts)}
    return ['-host', hosts], agents_test.environment()


def far_side(name, hosts, ranks, path, rounds, case, **variables):
    options, env = on(hosts)
    return side(name, ranks, path, rounds, case, *options, env={**env, **variables})


def far_sides(server, client, rounds, case):
    path = place()
    return path, [far_side('server', *server, path, rounds, case), far_side('client', *client, path, rounds, case)]


def far_well(server, client, rounds, case):
    path, sides = far_sides(server, client, rounds, case)
    for name, process in zip(('server', 'client'), sides):
        out, err = finish(process)
        equal((process.returncode, out, err), (0, f'{name} is done\n', ''), f'{name} of {server} and {client}, {case}')
    none_left(path)


FABRIC = {'PARLEY_NET_FAR': 'ofi:tcp'}
ONE, SEVERAL = ('localhost:3', 3), [('a,b', 2), ('a,localhost:2', 3), (2, 3)]


def test_machines():
    """One of the jobs is on several machines, or both are."""
    for several in SEVERAL:
        far_well(ONE, several, 1, 'all')
        far_well(several, ONE, 1, 'all')
    for one, other in (0, 1), (1, 0), (2, 0), (1, 2):
        far_well(SEVERAL[one], SEVERAL[other], 1, 'all')
    if launch_test.SCALE > 1:
        for one in ('a,b,c', 3), ('a:2,b:3,localhost:2', 7), (3, 5):
            for other in ('a:2,b,localhost:4', 7), (3, 4), ('b:4,c:2', 6):
                far_well(one, other, 3, 'all')


def test_machines_again():
    far_well(('a,b', 2), ('c,localhost', 2), 20 * launch_test.SCALE, 'talk')


def test_machines_crossed():
    for _ in range(5 * launch_test.SCALE):
        far_well(('a,b', 2), ('localhost,c', 2), 1, 'crossed')


def test_far_port():
    """Of a rank on another machine than its mpiexec, and by its name."""
    for server, client in (('a,b', 2), ONE), (('localhost,b', 2), ('c,a', 2)):
        far_well(server, client, 2, 'far')
        far_well(server, client, 1, 'named')


def test_machines_many_clients():
    """The places of those that have ended are had again on all machines."""
    clients = 150 if launch_test.SCALE > 1 else 8
    path = place()
    server = far_side('server', 'a,localhost', 2, path, clients, 'talk')
    for _ in range(clients):
        client = far_side('client', 'a,b' if launch_test.SCALE == 1 else 'localhost:2', 2, path, 1, 'talk')
        equal((finish(client), client.returncode), (('client is done\n', ''), 0), 'a client')
    equal((finish(server), server.returncode), (('server is done\n', ''), 0), 'the server')
    none_left(path)


def test_machines_places():
    """Guests and processes that are started later take turns in the places of a job on several machines."""
    rounds = 4 if launch_test.SCALE == 1 else 150
    path = place()
    server = far_side('server', 'a,localhost', 2, path, rounds, 'talk')
    spawner = far_side('client', 'a,b', 1, path, rounds, 'clients')
    said, err = finish(spawner)
    equal((spawner.returncode, sorted(said.splitlines()), err), (0, ['client is done'] * (rounds + 1), ''), 'clients')
    equal((finish(server), server.returncode), (('server is done\n', ''), 0), 'the server')
    none_left(path)


def test_machines_fail():
    """A rank, an MPI_Abort, the agent of a machine, and mpiexec itself."""
    for server, client in (ONE, ('a,b', 2)), (('a,b', 2), ONE), (('a,localhost', 2), ('b,c', 2)):
        for case, code in ('dies', 137), ('aborts', 7), ('killed', None):
            path, sides = far_sides(server, client, 1, case)
            err = finish(sides[1])[1]
            contains(err, 'E1015: process ')
            check(sides[1].returncode == code if code else sides[1].returncode not in (0, 124), case, server, client,
                  'client has exit code', sides[1].returncode)
            finish(sides[0])
            check(sides[0].returncode == code if code else sides[0].returncode not in (0, 124), case, server, client,
                  'server has exit code', sides[0].returncode)
            none_left(path)
    for victim in 0, 1:
        path, sides = far_sides(('a,b', 2), ('localhost,c', 2), 1, 'waits')
        launch_test.wait_until(lambda: os.path.exists(path + '.met'), 20, 'both')
        sides[victim].kill()
        contains(finish(sides[1 - victim])[1], 'is lost: its mpiexec')
        finish(sides[victim])
        none_left(path)


def test_other_networks():
    """The machines of one of the jobs, or of both, talk by libfabric."""
    probe = launch_test.run('-n', 2, launch_test.compiled('ports', '-g'), 'nobody', place(), 0, 'nothing',
                            env={**os.environ, **FABRIC, 'PARLEY_NODES': '2'})
    if probe.returncode:
        raise launch_test.Skipped('libfabric or its provider tcp is not there: ' + probe.stderr.strip())
    for server, client in ((SEVERAL[2], FABRIC), (ONE, {})), ((ONE, {}), (SEVERAL[0], FABRIC)), \
                          ((SEVERAL[2], FABRIC), (SEVERAL[2], FABRIC)), ((SEVERAL[1], FABRIC), (SEVERAL[0], {})):
        path = place()
        sides = [far_side('server', *server[0], path, 1, 'all', **server[1]),
                 far_side('client', *client[0], path, 1, 'all', **client[1])]
        for name, process in zip(('server', 'client'), sides):
            out, err = finish(process)
            equal((process.returncode, out, err), (0, f'{name} is done\n', ''), f'{name} of {server} and {client}')
        none_left(path)


# --- names of services ---


def services(*words, **more):
    return start('-timeout', launch_test.LIMIT, '-n', more.pop('ranks', 1), launch_test.compiled('services', '-g'),
                 *words, **more)


def said(process):
    out, err = finish(process)
    equal((process.returncode, err), (0, ''), out)
    return out.splitlines()


def published(path, *words, **more):
    """An mpiexec that has published something, until path + '.end' is there."""
    process = services(*words, 'put', path, 'get', path + '.end', **more)
    launch_test.wait_until(lambda: os.path.exists(path), 20, 'the publisher')
    os.unlink(path)
    return process


def let_end(path, *publishers):
    open(path + '.end', 'w').close()
    came = [said(publisher) for publisher in publishers]
    os.unlink(path + '.end')
    return came


def look_up(name, **more):
    return said(services('lookup', name, **more))


def test_named():
    """The port of another mpiexec by its name; also for a program that nobody has started."""
    all_well(2, 3, 2, 'named')
    path = place()
    server = side('server', 1, path, 1, 'named')
    client = launch_test.subprocess.run([launch_test.compiled('ports', '-g'), 'client', path, '1', 'named'],
                                        stdout=-1, stderr=-1, text=True, timeout=launch_test.STOP_AFTER, check=False)
    equal((client.returncode, client.stdout, client.stderr), (0, 'client is done\n', ''), 'a client alone')
    equal((finish(server), server.returncode), (('server is done\n', ''), 0), 'the server')
    none_left(path)


ODD = ['', ' ', 'a b', 'a/b', '\t\x01', 'ümlaut ☃', '%s%n', '\\0', 'x' * 3000, '@', "it's \"so\"", '-n', 'a',
       'aaaaaaaa', 'aaaaaaaaa']


def test_names():
    """Looked up, taken back, published again; whatever the names are."""
    for names in [ODD] if launch_test.SCALE == 1 else [ODD, [f'{path}{n}' for n in range(200) for path in 'ab']]:
        path = place()
        names = [name and path + name for name in names]
        words = [word for i, name in enumerate(names) for word in ('publish', name, f'port {i}')]
        publisher = published(path, *words, ranks=2)
        looks = [word for name in names for word in ('lookup', name)]
        equal(said(services(*looks)), [f'lookup ok port {i}' for i in range(len(names))], 'looked up')
        equal(look_up(path + 'b'), ['lookup MPI_ERR_NAME'], 'an unknown one')
        equal(let_end(path, publisher), [['publish ok'] * len(names)], 'publishing')
        equal(said(services(*looks)), ['lookup MPI_ERR_NAME'] * len(names), 'all gone')


def test_names_twice():
    """In one job that is an error, in two it is not; then others cannot know which is meant, and those of a job get
    their own."""
    path = place()
    name = path + 'x'
    first = published(path, 'publish', name, '1', 'publish', name, '2', 'lookup', name)
    second = published(path, 'publish', name, '2', 'lookup', name, 'unpublish', name, '1')
    refused = services('say', 'lookup', name)
    err = finish(refused)[1]
    contains(err, 'E1018: ')
    contains(err, str(first.pid))
    contains(err, str(second.pid))
    equal(look_up(name), ['lookup MPI_ERR_NAME'], 'of two')
    second.kill()
    finish(second)
    equal(look_up(name), ['lookup ok 1'], 'of the one that is left')
    back = published(path, 'publish', name, '1', 'unpublish', name, '1', 'publish', name, '1')
    equal(look_up(name), ['lookup ok 1'], 'two that publish the same port')
    equal(said(services('unpublish', name, '1')), ['unpublish MPI_ERR_SERVICE'], 'of another job')
    equal(let_end(path, first, back), [['publish ok', 'publish MPI_ERR_SERVICE', 'lookup ok 1'],
                                       ['publish ok', 'unpublish ok', 'publish ok']], 'said')
    equal(look_up(name), ['lookup MPI_ERR_NAME'], 'of none')


def test_names_killed():
    """With mpiexec its names go, and with a rank those of that rank."""
    path = place()
    publisher = published(path, 'publish', path, 'x')
    equal(look_up(path), ['lookup ok x'], 'before')
    publisher.kill()
    finish(publisher)
    equal(look_up(path), ['lookup MPI_ERR_NAME'], 'after')
    equal([line for line in open('/proc/net/unix') if door(path, 0)[1:].decode() in line], [], 'doors')


def test_names_silent():
    """A mpiexec that does not move; whoever looks is told after a while, or may be killed meanwhile."""
    path = place()
    publisher = published(path, 'publish', path, 'x')
    publisher.send_signal(signal.SIGSTOP)
    killed = services('lookup', path, ranks=2)
    err = finish(services('say', 'lookup', path))[1]
    contains(err, 'E1019: ')
    contains(err, f'mpiexec {publisher.pid}, which has published')
    killed.send_signal(signal.SIGTERM)
    finish(killed)
    publisher.send_signal(signal.SIGCONT)
    let_end(path, publisher)


def sip(key, words):
    """SipHash-2-4, as sys/hash.c."""
    mask = (1 << 64) - 1
    v = [key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
         key[1] ^ 0x7465646279746573]

    def turn(i, bits):
        v[i] = (v[i] << bits | v[i] >> 64 - bits) & mask

    def mix():
        for a, b, c, d, bits, back in (0, 1, 2, 3, 13, 16), (2, 1, 0, 3, 17, 21):
            v[a] = v[a] + v[b] & mask
            turn(b, bits)
            v[b] ^= v[a]
            if a == 0:
                turn(0, 32)
            v[c] = v[c] + v[d] & mask
            turn(d, back)
            v[d] ^= v[c]
            if a == 2:
                turn(2, 32)

    for word in [*words, (len(words) * 8 << 56) & mask]:
        v[3] ^= word
        mix()
        mix()
        v[0] ^= word
    v[2] ^= 0xff
    for _ in range(4):
        mix()
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def door(name, number):
    """The address of a service, as launch/names.c makes it."""
    data = name.encode()
    data += bytes(8 - len(data) % 8)
    words = [int.from_bytes(data[i:i + 8], 'little') for i in range(0, len(data), 8)]
    hashes = ''.join(f'{sip((0x7061726c65790000, which), words):016x}' for which in (0, 1))
    return f'\0parley-name-{USER}-{hashes}-{number}'.encode()


def stranger(work):
    """Do it in a process of another user, which goes on until the other end of the result is closed."""
    if os.geteuid() != 0:
        raise launch_test.Skipped('only root can be somebody else')
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        os.setgid(65534)
        os.setuid(65534)
        try:
            theirs.sendall(work() + b'\n')
            theirs.recv(1)
        finally:
            os._exit(0)
    theirs.close()
    return ours


def trap(listener):
    while True:
        try:
            listener.accept()[0].send(b'a trap\0')
        except ConnectionError: # who asks has gone
            pass


def squat(name, numbers):
    """Listen at these doors, and say to everybody that this is the port."""
    listeners = []
    for number in numbers:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(door(name, number))
        listener.listen()
        listeners.append(listener)
    threading.Thread(target=trap, args=listeners[:1], daemon=True).start()
    return b'listens'


def knock(name):
    asker = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    asker.settimeout(20)
    asker.connect(door(name, 0))
    return asker.recv(2000)


def test_names_of_strangers():
    """What other users publish is not believed, and they are told nothing."""
    path = place()
    squatter = stranger(lambda: squat(path, range(3)))
    equal(squatter.recv(100), b'listens\n', 'the squatter')
    equal(look_up(path), ['lookup MPI_ERR_NAME'], 'a stranger as server')
    publisher = published(path, 'publish', path, 'y', 'publish', path + '2', 'secret')
    equal(look_up(path), ['lookup ok y'], 'ours, beside a stranger')
    equal(knock(path + '2'), b'secret\0', 'what one of ours is told')
    asker = stranger(lambda: knock(path + '2'))
    equal(asker.recv(100), b'\n', 'what a stranger is told')
    squatter.close()
    asker.close()
    let_end(path, publisher)


def test_names_all_taken():
    """Somebody has all the doors: the name is known in its job."""
    path = place()
    held = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(32)]
    for number, holder in enumerate(held):
        holder.bind(door(path, number))
    publisher = published(path, 'publish', path, 'y', 'lookup', path)
    equal(look_up(path), ['lookup MPI_ERR_NAME'], 'elsewhere')
    for holder in held:
        holder.close()
    equal(let_end(path, publisher), [['publish ok', 'lookup ok y']], 'there')


# --- sockets of processes of different jobs ---


def joiner(how, ranks, path, rounds, **more):
    """In a job of so many ranks; 0: without mpiexec."""
    program = launch_test.compiled('joins', '-g')
    if ranks:
        return start('-timeout', launch_test.LIMIT, '-n', ranks, program, how, path, rounds, **more)
    return launch_test.subprocess.Popen([program, how, path, str(rounds)], stdout=-1, stderr=-1, text=True, **more)


def expect_joined(sides, ranks, number):
    for how, process in sides.items():
        out, err = finish(process)
        expected = [f'{how} {rank}: {number}' for rank in range(ranks)]
        equal((process.returncode, sorted(out.splitlines()), err), (0, expected, ''), how)


def test_joins():
    """Two processes with a socket, each of a job of its own; all ranks of two jobs at a time."""
    for listeners, callers in (1, 1), (2, 2), (0, 1), (1, 0), (0, 0):
        path = place()
        sides = {'listen': joiner('listen', listeners, path, 3), 'call': joiner('call', callers, path, 3)}
        expect_joined(sides, max(listeners, 1), 3)
        none_left(path)


def test_joins_of_machines():
    for listeners, callers in (2, 2), ('a,b', 'localhost:2'), ('localhost:2', 'a,b'), ('a,localhost', 'c,b'):
        for _ in range(2): # which of the two opens the port is chance
            path, sides = place(), {}
            for how, hosts in ('listen', listeners), ('call', callers):
                options, env = on(hosts)
                sides[how] = start('-timeout', launch_test.LIMIT, *options, '-n', 2,
                                   launch_test.compiled('joins', '-g'), how, path, 3, env=env)
            expect_joined(sides, 2, 3)
            none_left(path)


def test_joins_in_vain():
    """Where there is no way both sides are told so, and the socket is as it was."""
    for other in {'listen'}, {'call'}, {'listen', 'call'}:
        for _ in range(2): # which of the two opens the port is chance
            path, sides = place(), {}
            for how in 'listen', 'call':
                program = launch_test.compiled('joins', '-g')
                if how in other: # a limit, and then it has no place for a process of another job
                    resource.setrlimit(resource.RLIMIT_AS, (1 << 46, resource.RLIM_INFINITY))
                sides[how] = start('-timeout', launch_test.LIMIT, '-n', 1, program, how, path, 3)
                resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            expect_joined(sides, 1, 0)
            none_left(path)


JOIN = struct.Struct('=QQQiI')


def test_joins_with_strangers():
    """Who is at the other end may say anything, and leave at any time."""
    for is_lower in False, True:
        for left_after in 0, 1, 2:
            path = place()
            process = joiner('listen', 1, path, 1)
            launch_test.wait_until(lambda: os.path.exists(path + '.0'), 20, 'the listener')
            with open(path + '.0') as file:
                partner = socket.create_connection(('127.0.0.1', int(file.read())), 20)
            own = JOIN.unpack(partner.recv(JOIN.size, socket.MSG_WAITALL))
            if left_after > 0:
                token = (0, 1) if is_lower else ((1 << 64) - 1,) * 2
                partner.sendall(JOIN.pack(own[0], *token, 0, 0))
            if left_after > 1 and is_lower: # its turn to open a port: one that cannot be
                partner.sendall(b'parley:1:2:3:4@05:06'.ljust(1024, b'x'))
                equal(partner.recv(4, socket.MSG_WAITALL), bytes(4), 'the answer')
                partner.sendall(bytes(1))
            elif left_after > 1:
                contains(partner.recv(1024, socket.MSG_WAITALL), b'@')
                partner.sendall(bytes(5))
            if left_after > 1:
                equal(partner.recv(1), bytes([1]), 'what the program sends')
            partner.close()
            out, err = finish(process)
            if left_after < 2:
                contains(err, 'E1012: ')
            else:
                equal((process.returncode, out, err), (0, 'listen 0: 0\n', ''), 'what it says')
            none_left(path)


def test_joins_with_impostors():
    """Who is at the other end says that it is of the same job: a process that there is not."""
    for number in 1000, 1 << 20, (1 << 31) - 1:
        path = place()
        process = joiner('listen', 1, path, 1)
        launch_test.wait_until(lambda: os.path.exists(path + '.0'), 20, 'the listener')
        with open(path + '.0') as file:
            partner = socket.create_connection(('127.0.0.1', int(file.read())), 20)
        magic, low, high, _, _ = JOIN.unpack(partner.recv(JOIN.size, socket.MSG_WAITALL))
        partner.sendall(JOIN.pack(magic, low, high, number, 0))
        _, err = finish(process)
        contains(err, 'E1012: ')
        partner.close()
        none_left(path)


if __name__ == '__main__':
    sys.exit(launch_test.main(globals(), __doc__))
