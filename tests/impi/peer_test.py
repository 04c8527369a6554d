#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The library as a client among others that are no Parley: peer.py plays them, packet by packet, with lengths, marks,
hosts and names of their own; partner.c is what runs on the library.

    peer_test.py --build DIR [NAME ...]"""

import os
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, '..', 'launch'))
sys.path.insert(0, HERE)
import launch_test as launch  # noqa: E402
import peer  # noqa: E402
from launch_test import check, contains, equal  # noqa: E402
from peer import Client, Packet  # noqa: E402

KEY = 77


def compiled():
    program = os.path.join(launch.scratch, 'partner')
    if not os.path.exists(program):
        subprocess.run([os.path.join(launch.build, 'launch', 'mpicc'), '-o', program, os.path.join(HERE, 'partner.c')],
                       check=True)
    return program


class World:
    """A joint world: `words` is what each rank of the library's client does, `others` are Clients."""

    def __init__(self, rank, words, others, env=None, acks=True):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(('IMPI_', 'PARLEY_IMPI_'))}
        environment = dict(environment, IMPI_AUTH_KEY=str(KEY), IMPI_AUTH_NONE='', **(env or {}))
        self.server = subprocess.Popen([os.path.join(launch.build, 'impi', 'impi-server'), '-server',
                                        str(len(others) + 1), '-interface', '127.0.0.1', '-timeout', '60'],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True)
        address = self.server.stdout.readline().strip()
        parts = []
        for line in words:
            parts += [':'] * bool(parts) + ['-n', 1, compiled(), *line.split()]
        self.client = launch.start('-client', rank, address, *parts, env=environment)
        host, port = address.split(':')
        self.job = peer.Job(others, (host, int(port)), acks)

    def end(self, *lines, leave=True):
        """The lines that the library's ranks have printed, in any order."""
        if leave:
            self.job.leave()
        out, err = launch.finish(self.client)
        equal((self.client.returncode, sorted(out.splitlines()), err), (0, sorted(lines), ''))
        self.server.wait(launch.STOP_AFTER)
        said = [line for line in self.server.stderr.read().splitlines() if 'IMPI_AUTH_NONE' not in line]
        equal((self.server.returncode, said), (0, []))

    def fails(self, text):
        """The client ends with an error that says so."""
        _, err = launch.finish(self.client)
        check(self.client.returncode not in (0, None), self.client.returncode)
        contains(err, text)
        self.job.drop()
        self.server.wait(launch.STOP_AFTER)


def pattern(tag, size):
    return bytes((7 * i + tag) & 255 for i in range(size))


def numbers(*values):
    return struct.pack(f'>{len(values)}i', *values)


# --- the start

def test_start():
    """Two hosts of several processes, before ours and behind them, the address in both forms, other names; the least
    offer of all counts; a later version is known as well."""
    for rank, mapped in ((0, False), (1, True)):
        other = Client(1 - rank, [1, 2], mapped=mapped, pids=[7, 2**62, -3], datalen=1000, tagub=32767, xsize=1024,
                       maxlinear=4, marks=[(3, 9), (5, 7)], later=True, key=KEY if mapped else None)
        world = World(rank, ['attributes', 'attributes'], [other])
        job, first = world.job, 3 * rank
        equal((job.datalen, job.ackmark, job.hiwater, job.tagub), (1000, 3, 7, 32767))
        world.end(*(f'{first + i}: of 5, client {rank} of 2, host {2 * rank + i} of 4, tags to 32767' for i in (0, 1)))


# --- messages

def test_lengths():
    """Around the length of a packet, both ways, to each process of ours from each of theirs; the first packet alone
    until it is acknowledged, with and without an id of the receiver."""
    for datalen in (1, 100, 65536):
        sizes = [0, 1, datalen - 1, datalen, datalen + 1, 10 * datalen + 3]
        words = [' '.join(f'send,{r},{100 + i},{s} recv,{r},{200 + i},{s + 5}'
                          for r in (2, 3, 4) for i, s in enumerate(sizes)) for _ in range(2)]
        world = World(0, words, [Client(1, [2, 1], datalen=datalen, marks=[(2, 5)] * 2)])
        job, lines = world.job, []
        for ours in (2, 3, 4):
            for i, size in enumerate(sizes):
                for theirs in (0, 1):
                    first = job.peek(ours, theirs, 100 + i).first
                    equal(len(first.data), min(size, datalen))
                    equal(job.recv(ours, theirs, 100 + i, drqid=0 if theirs else None), pattern(100 + i, size))
                    job.finish(job.send(ours, theirs, 200 + i, pattern(200 + i, size)))
                    lines.append(f'{theirs}: got {size} bytes from {ours} tag {200 + i}')
        world.end(*lines)


def test_nothing_before_ack():
    """The rest of a long message waits for the SYNCACK; shorter ones pass between its packets."""
    world = World(0, ['isend,1,1,5,5000 isend,2,1,6,10 wait,2 wait,1 irecv,3,1,7,5000 recv,1,8,10 wait,3'],
                  [Client(1, [1], datalen=700)])
    job = world.job
    check(job.peek(1, 0, 6))
    job.settle()
    equal([len(m.data) for m in job.messages], [700, 10])
    equal(job.recv(1, 0, 6), pattern(6, 10))
    equal(job.recv(1, 0, 5), pattern(5, 5000))
    send = job.send(1, 0, 7, pattern(7, 5000))
    job.send(1, 0, 8, pattern(8, 10))
    job.finish(send)
    world.end('0: got 10 bytes from 1 tag 8', '0: got 5000 bytes from 1 tag 7')


def test_truncated():
    """Too long for its receive: taken to the end all the same."""
    world = World(0, ['recv,1,1,100 recv,1,2,100 recv,1,3,100'], [Client(1, [1], datalen=300)])
    job = world.job
    for tag, size in ((1, 200), (2, 2000), (3, 50)):
        job.finish(job.send(1, 0, tag, pattern(tag, size)))
    world.end('0: got 100 bytes from 1 tag 1 with an error', '0: recv: class 15',
              '0: got 100 bytes from 1 tag 2 with an error', '0: recv: class 15', '0: got 50 bytes from 1 tag 3')


def test_synchronous():
    """Acknowledged when it is matched, not when it comes; and the other way round."""
    world = World(0, ['issend,1,1,1,10 recv,1,2,10 test,1 send,1,3,0 wait,1 recv,1,4,10 recv,1,5,10'],
                  [Client(1, [1])])
    job = world.job
    late = job.send(1, 0, 5, pattern(5, 10), sync=True)
    message = job.peek(1, 0, 1)
    equal(message.first.type, peer.DATASYNC)
    job.send(1, 0, 2, pattern(2, 10))
    job.recv(1, 0, 3)
    check(not late.acked)
    job.accept(message)
    job.messages.remove(message)
    job.send(1, 0, 4, pattern(4, 10))
    job.finish(late)
    world.end('0: got 10 bytes from 1 tag 2', '0: not done', '0: got 10 bytes from 1 tag 4',
              '0: got 10 bytes from 1 tag 5')


def test_order_and_names():
    """A wildcard takes them in order; the name says who has sent, not the rank that is said (as LAM does it on other
    communicators)."""
    world = World(1, ['recv,-1,-1,10 recv,-1,-1,10 probe,-1,-1 recv,1,9,10'], [Client(0, [1, 1])])
    job = world.job
    job.send(0, 2, 5, pattern(5, 1), lsrank=1)
    job.settle(0.1)
    job.send(0, 2, 4, pattern(4, 2))
    job.settle(0.1)
    job.send(1, 2, 9, pattern(9, 3), lsrank=77)
    world.end('2: got 1 bytes from 0 tag 5', '2: got 2 bytes from 0 tag 4', '2: probed 3 bytes from 1 tag 9',
              '2: got 3 bytes from 1 tag 9')


def test_values():
    """external32: what has 8 bytes here may have 4 there."""
    world = World(0, ['values,1,3'], [Client(1, [1])])
    job = world.job
    for expected in (numbers(-2), struct.pack('>d', 1.5), struct.pack('>f', -0.25), bytes((1, 2, 3, 4)),
                     struct.pack('>h', -3), struct.pack('>q', 1 << 40), bytes((0x3f, 0xff)) + bytes(14)):
        equal(job.recv(1, 0, 3), expected)
    job.send(1, 0, 3, numbers(-7))
    job.send(1, 0, 3, struct.pack('>d', 2.25))
    world.end('0: values -7 2.25')


# --- flow control

def test_credit():
    """Exactly hiwater packets go out, and ackmark more for each PROTOACK; others are not held up by it."""
    for ackmark, hiwater in ((1, 1), (1, 2), (3, 7), (10, 20)):
        count = 3 * hiwater + 2
        words = ' '.join([f'isend,{1 + i % 60},1,{i},1' for i in range(count)] + ['send,2,500,3'])
        world = World(0, [words + ' recv,2,501,0 ' + ' '.join(f'wait,{i + 1}' for i in range(min(count, 60)))],
                      [Client(1, [2], marks=[(ackmark, hiwater)])], acks=False)
        job, pair = world.job, world.job.pair(1, 0)
        equal(job.recv(2, 0, 500), pattern(500, 3))
        while len([m for m in job.messages if m.dest == 1]) < count:
            job.settle(0.1)
            equal(pair.unacked, min(hiwater, pair.unacked + count - len(job.messages)))
            job.ack(1, 0)
        job.acks = True
        job.ack(2, 0)
        job.ack(1, 0)
        for i in range(count):
            equal(job.recv(1, 0, i), pattern(i, 1))
        job.send(2, 0, 501, b'')
        world.end('0: got 0 bytes from 2 tag 501')


def test_unmatched():
    """Credit is given for what is taken from the connection: the last one of many can be received first."""
    count = 71
    words = f'recv,1,{count - 1},5 ' + ' '.join(f'recv,1,{i},5' for i in range(count - 1))
    world = World(0, [words], [Client(1, [1], marks=[(3, 7)])])
    for i in range(count):
        world.job.send(1, 0, i, pattern(i, 5))
    world.end(*(f'0: got 5 bytes from 1 tag {i}' for i in range(count)))


# --- taking back

def test_cancel():
    """A send of theirs is taken back while it is unmatched, and not afterwards; an id may come again. And one of
    ours."""
    world = World(0, ['recv,1,2,10 recv,1,3,10 isend,1,1,4,10 cancel,1 wait,1 issend,2,1,5,10 cancel,2 wait,2 '
                      'issend,3,1,6,10 recv,1,7,0 cancel,3 wait,3'], [Client(1, [1])])
    job = world.job
    gone = job.send(1, 0, 1, pattern(1, 10), sync=True)
    equal(job.cancel(1, 0, gone), peer.CANCELYES)
    taken = job.send(1, 0, 2, pattern(2, 10), sync=True)
    job.finish(Done(taken))
    equal(job.cancel(1, 0, taken), peer.CANCELNO)
    taken.answer = None
    equal(job.cancel(1, 0, taken), peer.CANCELNO)
    job.send(1, 0, 3, pattern(3, 10))
    message = job.peek(1, 0, 6)
    job.accept(message)
    job.messages.remove(message)
    job.send(1, 0, 7, b'')
    job.settle()
    for message in [m for m in job.messages if m.first.tag == 4]: # it went out before it could be taken back
        job.recv(1, 0, 4)
    check(not job.messages, job.messages)
    world.end('0: got 10 bytes from 1 tag 2', '0: got 10 bytes from 1 tag 3', '0: cancelled',
              '0: got 0 bytes from 1 tag 7')


class Done:
    """For Job.finish: over when its SYNCACK is there."""

    def __init__(self, send):
        self.send, self.packet = send, send.packet

    @property
    def done(self):
        return self.send.acked


# --- collective calls

SHAPES = ((0, [1], [[1]]), (1, [1, 1], [[2, 1]]), (1, [1], [[1], [2], [1]]), (2, [1, 1], [[1]] * 4),
          (0, [1], [[1]] * 6), (3, [1, 1], [[1, 1]] + [[1]] * 5))


def worlds(words, **offers):
    """One for each shape: (world, our first rank, all ranks)."""
    for rank, ours, others in SHAPES:
        places = [i for i in range(len(others) + 1) if i != rank]
        clients = [Client(place, hosts, address=f'127.0.0.{place + 2}', **offers)
                   for place, hosts in zip(places, others)]
        total = len(ours) + sum(sum(h) for h in others)
        yield World(rank, [words(total)] * len(ours), clients), total


def ours_of(job):
    return [r for r in range(len(job.names)) if not job.is_ours(r)]


def test_barrier():
    for world, _ in worlds(lambda n: 'barrier barrier'):
        world.job.barrier()
        world.job.barrier()
        world.end()


def test_bcast():
    """From each root, short and long; a root that is no master as well."""
    sizes = (0, 5, 3000)
    for world, total in worlds(lambda n: ' '.join(f'bcast,{r},{s}' for r in range(n) for s in sizes), datalen=1000):
        job, lines = world.job, []
        for root in range(total):
            for size in sizes:
                for got in job.bcast(root, pattern(120, size) if job.is_ours(root) else None):
                    equal(got, pattern(120, size))
                lines += [f'{r}: got {size} bytes from {root} tag 120' for r in ours_of(job)]
        world.end(*lines)


def add(a, b):
    size = len(a) // 4
    return numbers(*(x + y for x, y in zip(struct.unpack(f'>{size}i', a), struct.unpack(f'>{size}i', b))))


def test_reduce():
    """To each root; and allreduce, which is reduce to 0 and bcast."""
    count = 300
    for world, total in worlds(lambda n: ' '.join(f'reduce,{r},{count}' for r in range(n)) + f' allreduce,{count}',
                               datalen=1000):
        job, lines = world.job, []
        values = [numbers(*(r + i for i in range(count))) for r in range(total)]
        sums = [sum(range(total)) + total * i for i in range(count)]
        for root in range(total):
            result = job.reduce(root, values, add)
            if job.is_ours(root):
                equal(result, numbers(*sums))
            else:
                lines.append(f'{root}: sums {sums[0]} to {sums[-1]}')
        for got in job.bcast(0, job.reduce(0, values, add)):
            equal(got, numbers(*sums))
        lines += [f'{r}: sums {sums[0]} to {sums[-1]}' for r in ours_of(job)]
        world.end(*lines)


def test_ordered():
    """An operator that does not commute: each process sends straight to the root."""
    for world, total in worlds(lambda n: ' '.join(f'ordered,{r}' for r in range(n))):
        job, lines = world.job, []
        own = [(r % 3 + 1, r + 1) for r in range(total)]
        a, b = own[0]
        for c, d in own[1:]:
            a, b = a * c, c * b + d
        for root in range(total):
            if not job.is_ours(root):
                lines.append(f'{root}: ordered {a} {b}')
            for rank in range(total):
                if job.is_ours(rank) and not job.is_ours(root):
                    job.send(rank, root, peer.REDUCE, numbers(*own[rank]), 1)
                elif job.is_ours(root) and not job.is_ours(rank):
                    equal(job.recv(root, rank, peer.REDUCE, 1), numbers(*own[rank]))
        world.end(*lines)


def test_refused():
    """What others do not have is an error (E1211, E1213), and nothing goes out."""
    calls = ['ibarrier', 'idup', 'window', 'file', 'spawn', 'accept', 'connect']
    world = World(0, [' '.join(calls)], [Client(1, [1])])
    world.end(*(f'0: {call}: class 55' for call in calls))


def test_other_version():
    """A client of this library whose windows are not as ours."""
    world = World(0, ['window file spawn'], [Client(1, [1], pids=[0x5041 << 48 | 0xff << 40 | 5])])
    world.end('0: window: class 55', '0: file: class 55', '0: spawn: class 55')


def test_communicators():
    """Ids are the highest of all and one more, and two more for collective calls; free has a barrier."""
    world = World(0, ['dup send,1,3,4 barrier free'], [Client(1, [1])])
    job = world.job
    job.send(1, 0, peer.REDUCE, struct.pack('>Q', 11), 1) # allreduce of what we know
    equal(job.recv(1, 0, peer.BCAST, 1), struct.pack('>Q', 11))
    equal(job.recv(1, 0, 3, 12), pattern(3, 4))
    for _ in range(2):
        job.send(1, 0, peer.BARRIER, b'', 13)
        equal(job.recv(1, 0, peer.BARRIER, 13), b'')
    world.end()


# --- what is wrong

def test_wrong_packets():
    """Each ends the job with a sentence."""
    def to(**fields):
        return lambda job: job.put(1, 0, Packet(**fields))

    def raw(packet_bytes):
        return lambda job: job.wire(1, 0).sendall(packet_bytes(job))

    for text, send in (
            ('a packet of a type that does not exist', to(type=8)),
            ('longer than was agreed', to(type=0, len=501, msglen=501, data=bytes(501))),
            ('longer than its message', to(type=0, len=5, msglen=4, data=bytes(5))),
            ('longer than there can be', to(type=1, len=500, msglen=2**63, data=bytes(500))),
            ('a tag below 0', to(type=0, tag=-1)),
            ('nothing of its message', to(type=0, msglen=9)),
            ('the rest of a message that nobody receives', to(type=0, len=4, msglen=900, data=bytes(4), drqid=5)),
            ('a context that there cannot be', to(type=0, cid=2**40)),
            ('an acknowledgement of a message that does not wait', to(type=3, srqid=12)),
            ('an answer to a question that was not asked', to(type=5, srqid=12)),
            ('more acknowledgements than it got packets',
             raw(lambda job: Packet(type=2, src=job.names[1], dest=job.names[0]).bytes())),
            ('a process that is not there', raw(lambda job: Packet(src=b'x' * 24, dest=job.names[0]).bytes())),
            ('for another process', raw(lambda job: Packet(src=job.names[1], dest=job.names[1]).bytes())),
            ('its last packet twice', raw(lambda job: 2 * Packet(type=7).bytes())),
            ('a packet after its last one',
             raw(lambda job: Packet(type=7).bytes() + Packet(src=job.names[1], dest=job.names[0]).bytes())),
            ('has ended without leaving MPI', lambda job: job.drop()),
            ('has ended without leaving MPI',
             lambda job: (job.wire(1, 0).sendall(bytes(100)), job.drop()))):
        world = World(0, ['recv,1,1,10 recv,0,1,1'], [Client(1, [1], datalen=500)])
        send(world.job)
        world.fails(text)


if __name__ == '__main__':
    sys.exit(launch.main(globals(), __doc__))
