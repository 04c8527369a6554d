#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""impi-server against clients made of sockets: every message byte by byte, what is refused, what is ignored, who is
told, and how it ends.

    server_test.py --build DIR [NAME ...]"""

import argparse
import itertools
import os
import random
import re
import socket
import struct
import subprocess
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, '..', 'launch'))
import launch_test  # noqa: E402

STOP_AFTER = 150
AUTH, IMPI, COLL, DONE, FINI = (struct.unpack('>I', name)[0] for name in (b'AUTH', b'IMPI', b'COLL', b'DONE', b'FINI'))
VERSION, NHOSTS, DATALEN, H_PORT = 0x1000, 0x1100, 0x1300, 0x2100
LABELS = (0x1000, 0x1100, 0x1200, 0x1300, 0x1400, 0x1500, 0x1600, 0x2000, 0x2100, 0x2200, 0x2300, 0x2400, 0x3000,
          0x3100)
KEY = 5678
program = None


class Closed(Exception):
    """The server has closed the connection."""


def check(condition, *what):
    if not condition:
        raise AssertionError(' '.join(str(w) for w in what))


def equal(came, expected, what=''):
    check(came == expected, what, 'came', repr(came), 'expected', repr(expected))


class Server:
    """One that runs, with its address."""

    def __init__(self, clients, *options, none=True, key=None):
        environment = {k: v for k, v in os.environ.items() if not k.startswith('IMPI_')}
        if none:
            environment['IMPI_AUTH_NONE'] = ''
        if key is not None:
            environment['IMPI_AUTH_KEY'] = str(key)
        self.process = subprocess.Popen([program, '-server', str(clients), '-interface', '127.0.0.1', *options],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True)
        line = self.process.stdout.readline()
        match = re.fullmatch(r'127\.0\.0\.1:(\d+)\n', line)
        check(match, 'the first line is', repr(line))
        self.port = int(match[1])

    def end(self, status=0):
        """What it wrote to stderr, once it has ended with this status."""
        out, err = self.process.communicate(timeout=STOP_AFTER)
        equal(self.process.returncode, status, f'exit status, stderr {err!r},')
        equal(out, '', 'more on stdout')
        return err

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


class Client:
    """One connection; what it sends and gets is spelled out."""

    def __init__(self, server):
        self.socket = socket.create_connection(('127.0.0.1', server.port), timeout=STOP_AFTER)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, command, data=b''):
        self.socket.sendall(struct.pack('>II', command, len(data)) + data)

    def get(self, size):
        data = b''
        while len(data) < size:
            try:
                more = self.socket.recv(size - len(data))
            except ConnectionResetError:
                more = b''
            if not more:
                raise Closed(data)
            data += more
        return data

    def frame(self):
        command, size = struct.unpack('>II', self.get(8))
        return command, self.get(size)

    def expect(self, command, data=b''):
        equal(self.frame(), (command, data))

    def auth(self, mask=1, method=0):
        self.send(AUTH, struct.pack('>I', mask))
        equal(self.get(8), struct.pack('>II', method, 0), 'answer to AUTH')

    def rank(self, rank, size):
        self.send(IMPI, struct.pack('>i', rank))
        self.expect(IMPI, struct.pack('>I', size))

    def label(self, label, data):
        self.send(COLL, struct.pack('>I', label) + data)

    def expect_label(self, label, mask, data):
        self.expect(COLL, struct.pack('>II', label, mask) + data)

    def expect_end(self):
        try:
            more = self.get(1)
        except Closed:
            return
        raise AssertionError(f'the server did not close the connection but sent {more!r}')

    def close(self):
        self.socket.close()


def joined(server, size, order=None):
    """The clients of a job, by rank; they come in the given order."""
    clients = {}
    for rank in order or range(size):
        clients[rank] = Client(server)
        clients[rank].auth()
        clients[rank].rank(rank, size)
    return [clients[rank] for rank in range(size)]


def finish(server, clients, status=0):
    """DONE and FINI of all; what the server wrote."""
    for client in clients:
        client.send(DONE)
    for client in clients:
        client.expect(DONE)
    for client in clients:
        client.send(FINI)
        client.expect_end()
    return server.end(status)


def int4(*values):
    return struct.pack(f'>{len(values)}i', *values)


# --- the command line ---

def run(*arguments, **environment):
    clean = {k: v for k, v in os.environ.items() if not k.startswith('IMPI_')}
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=STOP_AFTER,
                          env={**clean, **environment}, check=False)


def usage():
    for arguments, said in (((), '-server N is missing'), (('-server',), '-server needs a value'),
                            (('-server', '0'), 'from 1 to 32, not 0'), (('-server', '33'), 'from 1 to 32, not 33'),
                            (('-server', 'two'), 'not two'), (('-server', '2', '-x'), 'no option -x'),
                            (('-server', '2', '-port', '65536'), 'from 0 to 65535'),
                            (('-server', '2', '-interface', 'here'), 'not here'),
                            (('-server', '2', '-auth', '1;0'), 'not 1;0'),
                            (('-server', '2', '-auth', '3-1'), 'not 3-1')):
        result = run(*arguments, IMPI_AUTH_NONE='')
        equal((result.returncode, result.stdout), (2, ''), arguments)
        check(said in result.stderr and 'usage:' in result.stderr, arguments, result.stderr)
    result = run('-h')
    check(result.returncode == 0 and 'usage:' in result.stdout and not result.stderr, result)


def needs_a_method():
    for arguments, environment in ((('-server', '2'), {}), (('-server', '2', '-auth', '7-9'), {'IMPI_AUTH_NONE': ''}),
                                   (('-server', '2', '-auth', '0'), {'IMPI_AUTH_KEY': '5'})):
        result = run(*arguments, **environment)
        equal((result.returncode, result.stdout), (1, ''), arguments)
        check('no way of authentication' in result.stderr, result.stderr)
    result = run('-server', '1', IMPI_AUTH_KEY='0x10')
    equal(result.returncode, 2)
    check('IMPI_AUTH_KEY must be a whole number' in result.stderr, result.stderr)


def port_in_use():
    with Server(1) as server:
        result = run('-server', '1', '-interface', '127.0.0.1', '-p', str(server.port), IMPI_AUTH_NONE='1')
        equal(result.returncode, 1)
        check('Address already in use' in result.stderr, result.stderr)


def background():
    """What it has to say later still goes to stderr, so that one is not waited for."""
    result = subprocess.run([program, '-server', '1', '-interface', '127.0.0.1', '-fork'], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, env={**os.environ, 'IMPI_AUTH_NONE': ''}, text=True,
                            timeout=STOP_AFTER, check=True)
    server = type('Background', (), {'port': int(result.stdout.rpartition(':')[2])})
    client, = joined(server, 1)
    client.send(DONE)
    client.expect(DONE)
    client.send(FINI)
    client.expect_end()


def timeout():
    """On a busy machine nobody may have come within the first."""
    for seconds in 1, 5, 20:
        with Server(2, '-timeout', str(seconds)) as server:
            try:
                client = Client(server)
                client.auth()
                client.rank(0, 2)
                client.expect_end()
            except (Closed, ConnectionError):
                pass
            said = server.end(1)
            if f'1 of 2 clients came within {seconds} seconds' in said:
                return
            check(f'0 of 2 clients came within {seconds} seconds' in said, said)
    raise AssertionError('a client that has come is not counted')


# --- who comes in ---

def methods():
    """mask of the client, what the server has and prefers, what comes of it"""
    for mask, none, key, options, method in ((1, True, None, (), 0), (3, True, None, (), 0), (3, True, KEY, (), 1),
                                             (2, False, KEY, (), 1), (3, True, KEY, ('-auth', '0,1'), 0),
                                             (3, True, KEY, ('-auth', '0'), 0), (1, True, KEY, (), 0),
                                             (0xfffffffd, True, KEY, ('-auth', '5,1-9,0'), 0),
                                             (2, True, None, (), None), (1, False, KEY, (), None),
                                             (0, True, KEY, (), None)):
        with Server(1, *options, none=none, key=key) as server:
            client = Client(server)
            if method is None:
                client.send(AUTH, struct.pack('>I', mask))
                client.expect_end()
                client = Client(server)
                method = 0 if key is None else 1
                client.auth(3, method)
            else:
                client.auth(mask, method)
            if method == 1:
                client.socket.sendall(struct.pack('>q', KEY))
            client.rank(0, 1)
            said = finish(server, [client])
            check(('lets anybody in' in said) == (none and '-auth 1' not in ' '.join(options)), said)


def keys():
    for key in (KEY, -KEY, 2 ** 63 - 1, -2 ** 63):
        with Server(1, none=False, key=key) as server:
            for wrong in (key ^ 1, key ^ 1 << 62, 0 if key else 1):
                client = Client(server)
                client.auth(2, 1)
                client.socket.sendall(struct.pack('>q', wrong))
                client.expect_end()
            client = Client(server)
            client.auth(2, 1)
            client.socket.sendall(struct.pack('>q', key))
            client.rank(0, 1)
            said = finish(server, [client])
            check('its key is not' in said and str(key) not in said, said)


def intruders():
    """Whatever a newcomer does wrong, and wherever it stops, the job does not notice."""
    beginning = struct.pack('>III', AUTH, 4, 1) + struct.pack('>III', IMPI, 4, 0)
    with Server(1) as server:
        for length in range(len(beginning)):
            client = Client(server)
            client.socket.sendall(beginning[:length])
            client.close()
        for first in (struct.pack('>III', IMPI, 4, 0), struct.pack('>II', AUTH, 0), struct.pack('>IIH', AUTH, 2, 1),
                      b'GET / HTTP/1.0\r\n\r\n', struct.pack('>Ii', AUTH, -1), struct.pack('>Ii', AUTH, 2 ** 31 - 1),
                      struct.pack('>III', AUTH, 4, 1) + struct.pack('>II', COLL, 0),
                      struct.pack('>III', AUTH, 4, 1) + struct.pack('>II', IMPI, 0)):
            client = Client(server)
            client.socket.sendall(first)
            try:
                client.get(9)
                raise AssertionError(f'{first!r} was answered')
            except Closed:
                pass
        for seed in range(50):
            noise = random.Random(seed)
            client = Client(server)
            client.socket.sendall(bytes(noise.choice((0, 0, 0, 4, noise.randrange(256))) for _ in range(64)))
            client.close()
        finish(server, joined(server, 1))


def ranks():
    with Server(2) as server:
        first = Client(server)
        first.auth()
        first.rank(1, 2)
        for rank in (-1, 2, 1, 2 ** 31 - 1, -2 ** 31):
            client = Client(server)
            client.auth()
            client.send(IMPI, int4(rank))
            client.expect_end()
        second = Client(server)
        second.auth()
        second.rank(0, 2)
        finish(server, [second, first])


def at_own_port(clients):
    """Where nobody else comes to listen when the server listens no more."""
    def serve(port):
        try:
            return Server(clients, '-p', str(port))
        except AssertionError: # somebody has it
            return None
    return launch_test.with_port(serve)


def full():
    with at_own_port(1) as server:
        waiting = Client(server)
        clients = joined(server, 1)
        waiting.expect_end()
        try:
            Client(server)
            raise AssertionError('somebody was let in although all are there')
        except ConnectionRefusedError:
            pass
        finish(server, clients)


def silent():
    """One that says nothing, or half of it, holds nobody up, and is sent away."""
    with Server(1) as server:
        begin = time.monotonic()
        silent_one, half = Client(server), Client(server)
        half.socket.sendall(b'AU')
        silent_one.expect_end()
        half.expect_end()
        check(time.monotonic() - begin > 5, 'they were sent away at once')
        check('has not said who it is' in finish(server, joined(server, 1)))


def many_silent():
    with Server(1) as server:
        crowd = [Client(server) for _ in range(100)]
        time.sleep(0.2)
        for client in crowd:
            client.close()
        finish(server, joined(server, 1))


# --- what they tell each other ---

def collation():
    """The examples of the protocol, in every order of coming."""
    for order in itertools.permutations(range(3)):
        with Server(3) as server:
            clients = joined(server, 3, order)
            hosts, ports = (3, 2, 2), ((1, 2, 3), (4, 5), (6, 7))
            versions = (int4(0, 0), int4(0, 0, 0, 1), int4(0, 0, 0, 1))
            for rank in order:
                clients[rank].label(VERSION, versions[rank])
                clients[rank].label(NHOSTS, int4(hosts[rank]))
                if rank != 1:
                    clients[rank].label(DATALEN, int4((8000, 0, 4000)[rank]))
                clients[rank].label(H_PORT, int4(*ports[rank]))
            for client in clients:
                client.expect_label(VERSION, 7, b''.join(versions))
                client.expect_label(NHOSTS, 7, int4(3, 2, 2))
                client.expect_label(DATALEN, 5, int4(8000, 4000))
                client.expect_label(H_PORT, 7, int4(1, 2, 3, 4, 5, 6, 7))
            finish(server, clients)


def data_of(rank, label):
    return bytes([rank, label >> 8]) * (rank * 7 + label % 13)


def paces():
    """Lock step, all at once, and byte by byte, beside each other."""
    with Server(3) as server:
        steady, hasty, slow = joined(server, 3)
        hasty.socket.sendall(b''.join(struct.pack('>III', COLL, 4 + len(data_of(1, x)), x) + data_of(1, x)
                                      for x in LABELS) + struct.pack('>II', DONE, 0))
        for label in LABELS:
            steady.label(label, data_of(0, label))
            for byte in struct.pack('>III', COLL, 4 + len(data_of(2, label)), label) + data_of(2, label):
                slow.socket.sendall(bytes([byte]))
            for client in (steady, slow):
                client.expect_label(label, 7, b''.join(data_of(rank, label) for rank in range(3)))
        for client in (steady, slow):
            client.send(DONE)
        for label in LABELS:
            hasty.expect_label(label, 7, b''.join(data_of(rank, label) for rank in range(3)))
        for client in (steady, hasty, slow):
            client.expect(DONE)
            client.send(FINI)
        server.end()


def ignored():
    with Server(2) as server:
        one, two = joined(server, 2)
        one.label(NHOSTS, int4(1))
        one.label(NHOSTS, int4(9))
        one.label(0, b'nothing')
        one.label(VERSION, b'late')
        one.send(0x12345678, b'what is that')
        two.label(NHOSTS, int4(2))
        one.label(0x4001, b'a label of the future')
        for client in (one, two):
            client.expect_label(NHOSTS, 3, int4(1, 2))
        one.send(DONE)
        two.send(DONE)
        for client in (one, two):
            client.expect_label(0x4001, 1, b'a label of the future')
            client.expect(DONE)
        one.label(0x5000, b'after DONE')
        for client in (two, one):
            client.send(FINI)
            client.expect_end()
        said = server.end()
        for text in ('0x1100 again', '0x0 is no label', '0x1000 comes after', '0x12345678 is no command',
                     '0x5000 comes'):
            check(text in said, text, 'is missing in', said)


def no_labels():
    with Server(32) as server:
        clients = joined(server, 32, random.Random(1).sample(range(32), 32))
        for client in clients[:-1]:
            client.send(DONE)
        clients[0].socket.settimeout(0.2)
        try:
            clients[0].get(1)
            raise AssertionError('DONE came before all had said it')
        except TimeoutError:
            pass
        clients[0].socket.settimeout(STOP_AFTER)
        clients[-1].send(DONE)
        for client in clients:
            client.expect(DONE)
        for client in random.Random(2).sample(clients, 32):
            client.send(FINI)
            client.expect_end()
        server.end()


def large():
    """Megabytes to clients that do not read yet."""
    block = bytes(range(256)) * 4095
    with Server(4) as server:
        clients = joined(server, 4)
        for client in clients:
            client.label(H_PORT, block)
        for client in clients:
            client.expect_label(H_PORT, 15, block * 4)
        finish(server, clients)


# --- how it ends ---

def lost_before():
    """A client that is lost, or makes no sense, before all have said DONE."""
    for what in (lambda c: c.close(), lambda c: c.socket.sendall(struct.pack('>Ii', COLL, -5)),
                 lambda c: c.socket.sendall(struct.pack('>Ii', COLL, 2 ** 31 - 1)), lambda c: c.send(COLL),
                 lambda c: c.send(FINI)):
        with Server(2) as server:
            one, two = joined(server, 2)
            one.send(DONE)
            what(two)
            one.expect_end()
            check('client 1' in server.end(1))


def lost_after():
    for what in (lambda c: c.close(), lambda c: c.socket.sendall(struct.pack('>Ii', COLL, -5))):
        with Server(2) as server:
            clients = joined(server, 2)
            for client in clients:
                client.send(DONE)
            for client in clients:
                client.expect(DONE)
            what(clients[0])
            clients[1].send(FINI)
            equal(server.end(1).count('client 0 has ended without FINI'), 1)


def verbose():
    with Server(1, '-v') as server:
        said = finish(server, joined(server, 1))
        check('client 0 is 127.0.0.1:' in said and 'client 0 has ended' in said, said)


TESTS = (usage, needs_a_method, port_in_use, background, timeout, methods, keys, intruders, ranks, full, silent,
         many_silent, collation, paces, ignored, no_labels, large, lost_before, lost_after, verbose)


def main():
    global program
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', required=True, metavar='DIR')
    parser.add_argument('names', nargs='*', metavar='NAME')
    args = parser.parse_args()
    program = os.path.join(os.path.abspath(args.build), 'impi', 'impi-server')
    failed = 0
    for test in TESTS:
        if args.names and test.__name__ not in args.names:
            continue
        try:
            test()
            print('pass', test.__name__, flush=True)
        except (AssertionError, Closed, OSError, subprocess.SubprocessError):
            failed += 1
            print('FAIL', test.__name__, flush=True)
            traceback.print_exc()
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
