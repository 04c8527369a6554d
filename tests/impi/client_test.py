#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mpiexec -client: the conversation with a server made of sockets, byte by byte; jobs of several clients with the real
one; how they end.

    client_test.py --build DIR [NAME ...]"""

import os
import re
import socket
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, '..', 'launch'))
import launch_test as launch  # noqa: E402
from launch_test import Failure, check, contains, equal  # noqa: E402

AUTH, IMPI, COLL, DONE, FINI = (struct.unpack('>I', name)[0] for name in (b'AUTH', b'IMPI', b'COLL', b'DONE', b'FINI'))
LABELS = (0x1000, 0x1100, 0x1200, 0x1300, 0x1400, 0x1500, 0x1600, 0x2000, 0x2100, 0x2200, 0x2300, 0x2400, 0x3000,
          0x3100)
KEY = 5678
LOCAL = bytes(12) + bytes([127, 0, 0, 1])


def environment(**more):
    found = {k: v for k, v in os.environ.items() if not k.startswith('IMPI_')}
    return dict(found, **{k: str(v) for k, v in more.items()})


class Server:
    """Plays the server for one client that is to be one of two."""

    def __init__(self, *args, rank=0, ranks=2, **more):
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.listener.settimeout(launch.STOP_AFTER)
        address = '127.0.0.1:%d' % self.listener.getsockname()[1]
        more = more or {'IMPI_AUTH_NONE': ''}
        self.client = launch.start('-client', rank, address, '-n', ranks, *(args or ('true',)), env=environment(**more))
        self.peer = None

    def accept(self):
        self.peer = self.listener.accept()[0]
        self.peer.settimeout(launch.STOP_AFTER)
        return self

    def take(self, size):
        data = b''
        while len(data) < size:
            part = self.peer.recv(size - len(data))
            if not part:
                raise Failure('the client has closed its connection; it says ' + self.client.stderr.read())
            data += part
        return data

    def message(self):
        command, size = struct.unpack('>II', self.take(8))
        return command, self.take(size)

    def put(self, *parts):
        self.peer.sendall(b''.join(parts))

    def answer(self, command, data=b''):
        self.put(struct.pack('>II', command, len(data)), data)

    def collated(self, label, *parts, mask=3):
        self.answer(COLL, struct.pack('>II', label, mask) + b''.join(parts))

    def let_in(self):
        """Authentication by none."""
        self.accept()
        equal(self.message(), (AUTH, struct.pack('>I', 1)))
        self.put(bytes(8))
        return self

    def labels(self):
        """The rank, and what comes by labels up to DONE."""
        rank, found = self.message(), []
        while True:
            command, data = self.message()
            if command == DONE:
                return rank, found
            equal(command, COLL)
            found.append((struct.unpack('>I', data[:4])[0], data[4:]))

    def end(self, code, error=''):
        out, err = launch.finish(self.client)
        self.listener.close()
        equal((self.client.returncode, err if not error else ''), (code, ''), err)
        contains(err, error)
        return out


def numbers(*values):
    return struct.pack(f'>{len(values)}i', *values)


def of_another(label, **wrong):
    """What the other client, with one process, contributes."""
    values = {0x1000: numbers(0, 0), 0x1100: numbers(1), 0x1200: numbers(1), 0x1300: numbers(4000),
              0x1400: numbers(32767), 0x1500: numbers(1024), 0x1600: numbers(4), 0x2000: LOCAL, 0x2100: numbers(1),
              0x2200: numbers(1), 0x2300: numbers(3), 0x2400: numbers(7), 0x3000: LOCAL, 0x3100: numbers(0, 77)}
    return wrong.get(f'x{label:x}', values[label])


def go_on(server, **wrong):
    server.answer(IMPI, numbers(2))
    _, found = server.labels()
    for label, data in found:
        server.collated(label, data, of_another(label, **wrong))
    server.answer(DONE)


# --- the conversation

def test_bytes():
    """Everything that a client of two ranks says; FINI after the last of them."""
    server = Server('sh', '-c', 'echo $PARLEY_RANK', rank=0).let_in()
    server.answer(IMPI, numbers(2))
    rank, found = server.labels()
    equal(rank, (IMPI, numbers(0)))
    equal(tuple(label for label, _ in found), LABELS)
    found = dict(found)
    expected = {0x1000: numbers(0, 0), 0x1100: numbers(2), 0x1200: numbers(2), 0x1300: numbers(65536),
                0x1400: numbers(2**31 - 1), 0x1500: numbers(-1), 0x1600: numbers(-1), 0x2000: 2 * LOCAL,
                0x2200: numbers(1, 1), 0x2300: numbers(10, 10), 0x2400: numbers(20, 20), 0x3000: 2 * LOCAL}
    for label, data in expected.items():
        equal(found[label], data, hex(label))
    first, second = struct.unpack('>QQ', found[0x3100])
    equal((second, first >> 48), (first + 1, 0x5041))
    for port in struct.unpack('>2I', found[0x2100]): # they listen already
        socket.create_connection(('127.0.0.1', port), launch.STOP_AFTER).close()
    for label, data in found.items():
        server.collated(label, data, of_another(label))
    server.answer(DONE)
    equal(server.message(), (FINI, b''))
    equal(server.peer.recv(1), b'')
    equal(sorted(server.end(0).split()), ['0', '1'])


def test_key():
    server = Server(IMPI_AUTH_KEY=-KEY).accept()
    equal(server.message(), (AUTH, struct.pack('>I', 2)))
    server.put(struct.pack('>II', 1, 0))
    equal(server.take(8), struct.pack('>q', -KEY))
    go_on(server)
    equal(server.message(), (FINI, b''))
    server.end(0)


def test_both_ways():
    """The method that is chosen counts; data of the method that nobody has asked for are skipped."""
    server = Server(IMPI_AUTH_KEY=KEY, IMPI_AUTH_NONE='').accept()
    equal(server.message(), (AUTH, struct.pack('>I', 3)))
    server.put(struct.pack('>II', 0, 5), b'extra')
    go_on(server)
    equal(server.message(), (FINI, b''))
    server.end(0)


def test_late_and_more():
    """The answer to the rank may come last; labels that nobody has sent, later commands and a second answer are
    skipped; settings."""
    server = Server(IMPI_AUTH_NONE='', IMPI_HOST_NAME='127.0.0.5', PARLEY_IMPI_MAXLEN=100, PARLEY_IMPI_ACKMARK=2,
                    PARLEY_IMPI_HIWATER=5, PARLEY_IMPI_XSIZE=50, PARLEY_IMPI_MAXLINEAR=0,
                    PARLEY_IMPI_PORTS='40000-60000').let_in()
    _, found = server.labels()
    settings = dict(found)
    equal([settings[n] for n in (0x1300, 0x1500, 0x1600, 0x2300, 0x2400)],
          [numbers(100), numbers(50), numbers(0), numbers(2, 2), numbers(5, 5)])
    equal(settings[0x2000], 2 * (LOCAL[:-1] + b'\x05'))
    check(all(40000 <= port <= 60000 for port in struct.unpack('>2I', settings[0x2100])))
    server.answer(IMPI, numbers(2))
    server.answer(0x12345678, b'later')
    server.collated(0x0999, mask=0)
    for label, data in found:
        for byte in struct.pack('>IIII', COLL, 8 + len(data) + len(of_another(label)), label, 3):
            server.put(bytes([byte]))
        server.put(data, of_another(label, x1500=numbers(50), x1600=numbers(0)))
        server.collated(label, b'again')
    server.answer(DONE)
    equal(server.message(), (FINI, b''))
    server.end(0)


def test_no_fini():
    """Only if all went well."""
    server = Server('sh', '-c', 'exit $PARLEY_RANK').let_in()
    go_on(server)
    equal(server.peer.recv(8), b'')
    server.end(1, 'E0111')


# --- what does not fit

def test_mistakes():
    """E1203, E1207 and the command line, before anything is started."""
    free = environment(IMPI_AUTH_NONE='')
    for words, code, text, more in (
            (('-client', 0, 'nowhere'), 2, 'E0101: -client: "nowhere" is not an address', free),
            (('-client', 0, '127.0.0.1:0'), 2, 'E0101: -client: "127.0.0.1:0" is not', free),
            (('-client', 32, '127.0.0.1:1'), 2, 'E0101: -client', free),
            (('-client', 0, '127.0.0.1:1'), 2, 'E1203: no way of authentication is enabled', environment()),
            (('-client', 0, '127.0.0.1:1'), 2, 'E0101: IMPI_AUTH_KEY', environment(IMPI_AUTH_KEY='x')),
            (('-client', 0, '127.0.0.1:1'), 2, 'E0101: IMPI_AUTH_KEY', environment(IMPI_AUTH_KEY='')),
            (('-client', 0, '127.0.0.1:1'), 2, 'E0101: IMPI_HOST_NAME',
             environment(IMPI_AUTH_NONE='', IMPI_HOST_NAME='here')),
            (('-client', 0, '127.0.0.1:1'), 2, 'E0101: PARLEY_IMPI_PORTS',
             environment(IMPI_AUTH_NONE='', PARLEY_IMPI_PORTS='5-3')),
            (('-client', 0, '127.0.0.1:1'), 2, 'E0101: PARLEY_IMPI_ACKMARK',
             environment(IMPI_AUTH_NONE='', PARLEY_IMPI_ACKMARK='21')),
            (('-client', 0, '127.0.0.1:1'), 125, 'E1202: the IMPI server at 127.0.0.1:1 cannot be reached', free)):
        launch.expect(launch.run(*words, 'true', env=more), code, [], text)
    far = launch.run('-client', 0, '127.0.0.1:1', '-host', 'a,localhost', '-n', 2, 'true',
                     env=dict(free, PARLEY_RSH=os.path.join(HERE, '..', 'launch', 'rsh.sh'), RSH_DIR=launch.scratch))
    check(far.returncode and ('E1207' in far.stderr or 'E0150' in far.stderr), far.stderr)


def test_turned_away():
    """The end of the connection at each step is told as what it means."""
    server = Server().accept()
    server.message()
    server.peer.close()
    server.end(125, 'E1203: the IMPI server at 127.0.0.1:')
    server = Server(rank=1).let_in()
    server.labels()
    server.peer.close()
    server.end(125, 'does not let client 1 in')
    server = Server().let_in()
    server.labels()
    server.answer(IMPI, numbers(2))
    server.peer.close()
    server.end(125, 'E1202: the IMPI server at')
    server = Server(rank=2).let_in()
    server.answer(IMPI, numbers(2))
    server.end(125, 'E1203: client 2 is none of the 2 clients')
    server = Server('-launch-timeout', 0.2, 'true').accept()
    server.end(125, 'has not answered within 0.2 s')


def test_bad_server():
    """E1204: lengths, and what was not expected."""
    for talk in (lambda s: s.put(struct.pack('>II', 7, 0)),
                 lambda s: s.put(struct.pack('>II', 0, 2**31)),
                 lambda s: (s.put(bytes(8)), s.put(struct.pack('>II', COLL, 2**31 - 1))),
                 lambda s: (s.put(bytes(8)), s.put(struct.pack('>II', IMPI, 3), b'abc')),
                 lambda s: (s.put(bytes(8)), s.answer(DONE)),
                 lambda s: (s.put(bytes(8)), s.answer(IMPI, numbers(2)), s.answer(COLL, b'abc'))):
        server = Server().accept()
        server.message()
        talk(server)
        server.end(125, 'E1204: the IMPI server at')


def test_unfit():
    """E1206: clients that contradict each other, or themselves."""
    for wrong, text in (({'x1500': numbers(2000)}, 'C_COLL_XSIZE is 1024 for client 0 and 2000 for client 1'),
                        ({'x1000': numbers(0, 1)}, '1 of 2 clients speak version 0.0'),
                        ({'x2200': numbers(2)}, 'more processes than its 1'),
                        ({'x3100': numbers(0, 1, 2)}, 'P_PID has 28 bytes'),
                        ({'x1200': b''}, 'C_NPROCS has 4 bytes')):
        server = Server().let_in()
        go_on(server, **wrong)
        server.end(125, text)
    server = Server().let_in()
    server.answer(IMPI, numbers(2))
    server.labels()
    server.answer(DONE)
    server.end(125, 'E1206: the clients of the IMPI server at')


def test_server_lost():
    """E1205: the ranks do not need the server."""
    server = Server('sh', '-c', f'until test -e {launch.scratch}/go; do sleep 0.02; done; echo done', ranks=1).let_in()
    go_on(server)
    server.peer.close()
    launch.wait_until(lambda: 'E1205' in server.client.stderr.readline(), 30, 'E1205')
    with open(os.path.join(launch.scratch, 'go'), 'w'):
        pass
    out, _ = launch.finish(server.client)
    equal((out, server.client.returncode), ('done\n', 0))
    server.listener.close()


# --- whole jobs

def compiled(name):
    """The program, compiled once."""
    program = os.path.join(launch.scratch, name)
    if not os.path.exists(program):
        subprocess.run([os.path.join(launch.build, 'launch', 'mpicc'), '-o', program, os.path.join(HERE, name + '.c')],
                       check=True)
    return program


def job(ranks, *args, options=(), name='joint', **more):
    """(codes, stdout of all, stderr of all, code of the server) of clients with so many ranks each; the last one has
    options of its own. A name with a chapter is of one of those programs."""
    env = environment(IMPI_AUTH_KEY=KEY, **more)
    program = os.path.join(launch.build, 'tests', name) if '/' in name else compiled(name)
    server = subprocess.Popen([os.path.join(launch.build, 'impi', 'impi-server'), '-server', str(len(ranks)),
                               '-interface', '127.0.0.1', '-timeout', '60'], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, env=env, text=True)
    address = server.stdout.readline().strip()
    clients = [launch.start(*(options if i == len(ranks) - 1 else ()), '-client', i, address, '-n', count,
                            program, *args, env=env) for i, count in reversed(list(enumerate(ranks)))]
    came = [launch.finish(client) for client in clients]
    codes = [client.returncode for client in clients]
    return codes[::-1], ''.join(out for out, _ in came), ''.join(err for _, err in came), server.wait(launch.STOP_AFTER)


def test_library_world():
    for ranks in ([1, 1], [2, 3], [3, 1, 2], [1, 1, 1, 1, 1, 1]):
        codes, out, err, server = job(ranks, 'world')
        equal((codes, err, server), ([0] * len(ranks), '', 0), out)
        size, expected, rank = sum(ranks), [], 0
        for client, count in enumerate(ranks):
            for _ in range(count):
                expected.append(f'{rank}/{size} client {client}/{len(ranks)} host {rank}/{size} tag 2147483647')
                rank += 1
        equal(sorted(out.splitlines()), sorted(expected))


def test_library_settings():
    """Packets of an odd length, few at a time, trees everywhere, all blocks straight; what is looked at afterwards."""
    for more in ({'PARLEY_IMPI_MAXLEN': 999, 'PARLEY_IMPI_ACKMARK': 1, 'PARLEY_IMPI_HIWATER': 1},
                 {'PARLEY_IMPI_MAXLINEAR': 0}, {'PARLEY_IMPI_XSIZE': 0}, {'PARLEY_NODES': 2}, {'PARLEY_CHECK': 1}):
        codes, out, err, server = job([2, 1, 2], 'world', **more)
        equal((codes, err, server, len(out.splitlines())), ([0, 0, 0], '', 0, 5), more)


def test_library_alone():
    """A job of one client."""
    codes, out, err, server = job([3], 'world')
    equal((codes, err, server, len(out.splitlines())), ([0], '', 0, 3))


def test_library_refused():
    """Shared memory over clients, ports that are none, numbers that do not fit."""
    codes, out, err, server = job([2, 2], 'refused')
    equal((codes, out, err, server), ([0, 0], 'all refused\n', '', 0))


def test_library_sides():
    """Intercommunicators, and MPI_Comm_idup, over unequal clients, within one, with late processes; numbers that do
    not fit."""
    for ranks, what, more in (([2, 3], 'all', {}), ([3, 1, 2], 'all', {}), ([1, 4, 1], 'all', {'PARLEY_NET': 'chaos'}),
                              ([2, 1, 2], 'all', {'PARLEY_IMPI_MAXLINEAR': 0, 'PARLEY_IMPI_MAXLEN': 10}),
                              ([1, 2], 'all', {'PARLEY_IMPI_ACKMARK': 1, 'PARLEY_IMPI_HIWATER': 1}),
                              ([2, 3], 'groups', {}), ([2, 2, 2], 'groups', {}),
                              ([1, 1, 2], 'groups', {'PARLEY_IMPI_MAXLEN': 10}),
                              ([3, 1], 'groups', {'PARLEY_NET': 'chaos'}), ([1, 2], 'late', {}), ([2, 2], 'late', {}),
                              ([2, 2], 'unfit', {}), ([2, 1, 3], 'unfit', {'PARLEY_IMPI_MAXLINEAR': 0})):
        codes, out, err, server = job(ranks, what, name='sides', **more)
        equal((codes, out, err, server), ([0] * len(ranks), '', '', 0), (ranks, what, more))


def test_library_later():
    """Processes that are not of the joint world: started by a client, connected at a port, at the end of a socket."""
    for ranks, what, more in (([1, 1], 'spawn', {}), ([2, 1, 3], 'spawn', {}),
                              ([2, 2], 'spawn', {'PARLEY_NODES': 2}),
                              ([1, 3], 'spawn', {'PARLEY_NET': 'chaos'}),
                              ([1, 1], 'ports', {}), ([3, 1, 2], 'ports', {}),
                              ([2, 2], 'ports', {'PARLEY_IMPI_MAXLEN': 10}), ([2, 1], 'socket', {})):
        codes, out, err, server = job(ranks, what, name='later', **more)
        equal((codes, out, err, server), ([0] * len(ranks), '', '', 0), (ranks, what, more))


def test_library_ports():
    """An ordinary job and one of several clients."""
    path = os.path.join(launch.scratch, 'later.port')
    for ranks, other in (([2, 2], 3), ([1, 2, 1], 1)):
        peer = launch.start('-n', other, compiled('later'), 'connect', path)
        codes, out, err, server = job(ranks, 'accept', path, name='later')
        said = launch.finish(peer)
        equal((codes, out, err, server, said, peer.returncode), ([0] * len(ranks), '', '', 0, ('', ''), 0), ranks)


def test_library_later_fails():
    """All that have a communicator with each other end when a process of it does, one of the clients' or another."""
    for how in 'child_aborts', 'parent_aborts':
        codes, out, err, server = job([2, 2], how, name='later')
        equal((out, server), ('', 1), err)
        check(all(codes) and 5 in codes, codes, err)


def test_library_sessions():
    """With and without MPI_Init."""
    for ranks, what, more in (([2, 2], 'alone', {}), ([1, 3, 1], 'alone', {'PARLEY_NET': 'chaos'}),
                              ([2, 1], 'late', {}), ([1, 1, 1], 'late', {}),
                              ([2, 2], 'beside', {}), ([1, 2, 1], 'beside', {}),
                              ([2, 2], 'after', {})):
        options = ('-env', 'COMES_LATE', 'yes') if what == 'late' else ()
        codes, out, err, server = job(ranks, what, name='sessions', options=options, **more)
        equal((codes, out, err, server), ([0] * len(ranks), '', '', 0), (ranks, what, more))


def test_library_gone():
    """Who waits for the first one of a group, which has ended, ends in order."""
    for ranks in [1, 1], [2, 3]:
        codes, out, err, server = job(ranks, 'gone', name='sides')
        equal((out, server, 'signal' in err), ('', 1, False), err)
        check(all(codes) and codes[0] == 5, codes, err)


def test_library_parts():
    """Partitioned messages, also in many packets with little credit."""
    for ranks, what, more in (([2, 2], 'ring', {}), ([1, 2, 1], 'ring', {'PARLEY_IMPI_MAXLEN': 2000}),
                              ([2, 3], 'ring', {'PARLEY_NET': 'chaos'}), ([1, 2, 1], 'unfit', {}),
                              ([1, 1], 'unfit', {'PARLEY_IMPI_MAXLEN': 3, 'PARLEY_IMPI_ACKMARK': 1,
                                                 'PARLEY_IMPI_HIWATER': 1}), ([2, 2], 'longer', {})):
        codes, out, err, server = job(ranks, what, name='parts', **more)
        equal((codes, out, err, server), ([0] * len(ranks), '', '', 0), (ranks, what, more))


def test_library_windows():
    """Programs of windows and files as they are: several ranks each, packets of a few bytes with little credit, nobody
    who serves while the program computes, clients that are on several machines."""
    for name, ranks, more in (('rma/fence', [2, 1, 2], {}), ('rma/pscw', [1, 3], {}), ('rma/dynamic', [2, 2], {}),
                              ('rma/lock', [2, 1, 1], {'PARLEY_NODES': 2}), ('rma/windows', [3, 2], {}),
                              ('rma/accumulate', [1, 2, 1], {'PARLEY_IMPI_MAXLEN': 10, 'PARLEY_IMPI_ACKMARK': 1,
                                                             'PARLEY_IMPI_HIWATER': 1}),
                              ('rma/requests', [2, 2], {'PARLEY_NET': 'chaos'}), ('rma/computing', [2, 1, 1], {}),
                              ('rma/lock_all_crossed', [2, 2], {'PARLEY_RMA_HELPER': 0}),
                              ('io/model', [2, 1], {}), ('io/shared', [1, 2, 1], {'PARLEY_IMPI_MAXLEN': 999}),
                              ('io/shared_alone', [2, 2], {'PARLEY_NODES': 2}), ('io/together', [2, 2], {})):
        codes, out, err, server = job(ranks, name=name, **more)
        equal((codes, out, err, server), ([0] * len(ranks), '', '', 0), (ranks, name, more))


def test_library_failures():
    """All clients end when one does not go on, and say why: of the failed one's client, all of which end, they name the
    rank whose end they have seen first."""
    for how, code in (('abort', 5), ('exit', 6), ('alone', 5)):
        codes, out, err, server = job([2, 2], how, 1)
        equal((codes[0], out, server), (code, '', 1), err)
        check(codes[1] not in (0, None), codes)
        check(re.search(r'rank [01], of client 0 \(127\.0\.0\.1 port \d+\), has ended', err), err)


def test_library_disagreements():
    """E0700 over clients: a leftover, a message in another one's place, and where there are no messages at all. Which
    rank finds it first, and how, is a matter of time."""
    for what in (0, 3, 5):
        codes, _, err, _ = job([2, 2], 'differ', what)
        check(all(codes), codes, err)
        check(re.search(r'E0700: MPI_B[a-z]+ at \S+: ranks disagree in collective call number [12] on MPI_COMM_WORLD: '
                        r'rank \d (calls|has called) MPI_B.* rank \d', err), err)


def test_library_ahead():
    """A client that is many calls ahead disagrees with nobody."""
    equal(job([1, 2], 'ahead'), ([0, 0], '', '', 0))


def expect_report(ranks, what, *parts):
    """What is told at the time limit; a busy machine needs longer until all are where they stay."""
    for limit in 1, 4, 20:
        _, _, err, _ = job(ranks, what, options=('-hang-report', 0.3, '-timeout', limit))
        check(what == 'stuck' or 'E0120' not in err, err)
        if all(part in err for part in parts):
            break
    for part in parts:
        contains(err, part)


def test_library_report():
    """Who waits for a rank of another client is told of as that, and nothing is said to be for ever that may not be."""
    expect_report([2, 2], 'wait',
                  'E0121: 2 of 2 ranks of client 1 wait in MPI',
                  'MPI_Recv from rank 0 (in client 0 at 127.0.0.1), tag 7 on MPI_COMM_WORLD, 3 x MPI_DOUBLE',
                  '* rank 2 waits for rank 0, in client 0 at 127.0.0.1, whose mpiexec knows',
                  '* rank 3 waits for a message from any of several ranks, some of them in other clients')
    expect_report([1, 2], 'stuck', 'E0120: all 2 ranks of client 1 wait for ever', '* deadlock: 1 -> 2 -> 1 (')


if __name__ == '__main__':
    sys.exit(launch.main(globals(), __doc__))
