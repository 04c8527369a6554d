# SPDX-License-Identifier: BSD-3-Clause
"""Other implementations of IMPI 0.0, made of sockets: any number of clients with any hosts, in one thread. They are
written from the text of the protocol and share nothing with the library; what comes is looked at field by field.

A test tells them message by message what to do (Job.send, Job.recv, Job.barrier, ...); Job.pump moves all on."""

import select
import socket
import struct
import time

DATA, DATASYNC, PROTOACK, SYNCACK, CANCEL, CANCELYES, CANCELNO, FINI = range(8)
HEADER = struct.Struct('>II24s24sQQQiiQQqQQ')
BARRIER, BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLTOALL, ALLTOALLV, REDUCE, SCAN = range(110, 210, 10)
PATIENCE = 30


class Wrong(Exception):
    """The other side has not kept to the protocol."""


def check(condition, *what):
    if not condition:
        raise Wrong(' '.join(str(w) for w in what))


class Packet:
    FIELDS = ('type', 'len', 'src', 'dest', 'srqid', 'drqid', 'msglen', 'lsrank', 'tag', 'cid', 'seqnum', 'count',
              'dtype', 'reserved')

    def __init__(self, **fields):
        for name in self.FIELDS:
            setattr(self, name, fields.get(name, b'' if name in ('src', 'dest') else 0))
        self.data = fields.get('data', b'')

    @classmethod
    def read(cls, header):
        return cls(**dict(zip(cls.FIELDS, HEADER.unpack(header))))

    def bytes(self):
        return HEADER.pack(*(getattr(self, name) for name in self.FIELDS)) + self.data

    def __repr__(self):
        return 'packet ' + ' '.join(f'{n} {getattr(self, n)}' for n in self.FIELDS if n not in ('src', 'dest'))


class Client:
    """One client: what it offers, by labels, and its conversation with the server."""

    def __init__(self, rank, hosts, key=None, mapped=False, address='127.0.0.2', pids=None, **offers):
        self.rank, self.hosts = rank, hosts
        self.prefix = b'\0' * 10 + (b'\xff\xff' if mapped else b'\0\0')
        self.address = self.prefix + socket.inet_aton(address)
        self.listeners = [socket.create_server((address, 0), backlog=64) for _ in hosts]
        self.pids = pids or [1000 * (rank + 1) + i for i in range(sum(hosts))]
        marks = offers.get('marks', [(10, 20)] * len(hosts))
        self.key = key
        self.offers = {
            0x1000: struct.pack('>4I', 0, 0, 0, 1) if offers.get('later') else struct.pack('>2I', 0, 0),
            0x1100: struct.pack('>I', len(hosts)),
            0x1200: struct.pack('>I', sum(hosts)),
            0x1300: struct.pack('>I', offers.get('datalen', 65536)),
            0x1400: struct.pack('>i', offers.get('tagub', 2**31 - 1)),
            0x1500: struct.pack('>i', offers.get('xsize', -1)),
            0x1600: struct.pack('>i', offers.get('maxlinear', -1)),
            0x2000: self.address * len(hosts),
            0x2100: b''.join(struct.pack('>i', s.getsockname()[1]) for s in self.listeners),
            0x2200: b''.join(struct.pack('>I', n) for n in hosts),
            0x2300: b''.join(struct.pack('>I', a) for a, _ in marks),
            0x2400: b''.join(struct.pack('>I', h) for _, h in marks),
            0x3000: self.address * sum(hosts),
            0x3100: b''.join(struct.pack('>q', p) for p in self.pids),
        }
        self.server = None

    def command(self, name, payload=b''):
        self.server.sendall(name + struct.pack('>I', len(payload)) + payload)

    def take(self, size):
        data = b''
        while len(data) < size:
            part = self.server.recv(size - len(data))
            check(part, 'the server has closed its connection')
            data += part
        return data

    def answer(self):
        name, size = self.take(4), struct.unpack('>I', self.take(4))[0]
        return name, self.take(size)

    def join(self, address):
        """All that can be said without an answer; labels in one go."""
        self.server = socket.create_connection(address, PATIENCE)
        self.command(b'AUTH', struct.pack('>I', 2 if self.key is not None else 1))
        which, extra = struct.unpack('>II', self.take(8))
        check((which, extra) == (1 if self.key is not None else 0, 0), 'authentication', which, extra)
        if self.key is not None:
            self.server.sendall(struct.pack('>q', self.key))
        self.command(b'IMPI', struct.pack('>i', self.rank))
        for label, data in self.offers.items():
            self.command(b'COLL', struct.pack('>I', label) + data)
        self.command(b'DONE')

    def labels(self):
        """(number of clients, what all have offered by label)"""
        name, data = self.answer()
        check(name == b'IMPI', name)
        size, found = struct.unpack('>i', data)[0], {}
        while True:
            name, data = self.answer()
            if name == b'DONE':
                return size, found
            label, mask = struct.unpack('>II', data[:8])
            check(name == b'COLL' and (label not in self.offers or mask == 2**size - 1), name, hex(label), mask)
            found[label] = data[8:]


class Pair:
    """Flow control of an ordered pair of processes, both ways."""

    def __init__(self):
        self.sent = self.received = self.unacked = 0
        self.waiting = []


class Send:
    """A message on its way to the other side."""

    def __init__(self, packet, rest):
        self.packet, self.rest = packet, rest
        self.acked = packet.type == DATA
        self.answer = None     # to a CANCEL
        self.done = packet.type == DATA


class Message:
    """One that has come: its first packet, and the bytes so far."""

    def __init__(self, packet, source, dest):
        self.first, self.source, self.dest = packet, source, dest
        self.data = packet.data
        self.drqid = None


class Job:
    """The joint world as our clients see it. `own` are Clients; the rest is the library's."""

    def __init__(self, own, address, acks=True):
        self.own, self.acks = own, acks
        for client in own:
            client.join(address)
        came = [client.labels() for client in own]
        check(all(c == came[0] for c in came), 'answers of the server')
        self.size, labels = came[0]
        numbers = {k: struct.unpack(f'>{len(v) // 4}i', v) for k, v in labels.items() if k < 0x3000}
        self.datalen, self.ackmark, self.hiwater = (min(numbers[k]) for k in (0x1300, 0x2300, 0x2400))
        self.tagub = min(numbers[0x1400])
        self.maxlinear = max(4 if n < 0 else n for n in numbers[0x1600])
        names, pids = labels[0x3000], labels[0x3100]
        self.names = [names[16 * i:16 * i + 16] + pids[8 * i:8 * i + 8] for i in range(len(pids) // 8)]
        check(len(set(self.names)) == len(self.names), 'names')
        self.tables(numbers, labels[0x2000])
        self.pairs, self.messages, self.sends = {}, [], {}
        self.last_id, self.fini, self.buffers, self.fatal = 100, set(), {}, None
        self.seen = [] # types of packets that have come, with their tags
        self.connect()

    def tables(self, numbers, addresses):
        self.host_of, self.client_of, self.client_of_host, self.places = [], [], [], []
        host = 0
        for client, hosts in enumerate(numbers[0x1100]):
            for _ in range(hosts):
                self.places.append((socket.inet_ntoa(addresses[16 * host + 12:16 * host + 16]), numbers[0x2100][host]))
                self.client_of_host.append(client)
                self.host_of += [host] * numbers[0x2200][host]
                self.client_of += [client] * numbers[0x2200][host]
                host += 1
        self.ours = [c.rank for c in self.own]

    def ranks_of(self, client):
        return [rank for rank, c in enumerate(self.client_of) if c == client]

    # --- connections

    def connect(self):
        """The one with the higher index calls, and says its own index."""
        self.wires = {}
        listeners = [s for c in self.own for s in c.listeners]
        mine = [h for h, c in enumerate(self.client_of_host) if c in self.ours]
        theirs = [h for h in range(len(self.places)) if h not in mine]
        for here, listener in zip(mine, listeners):
            for there in (h for h in theirs if h < here):
                wire = socket.create_connection(self.places[there], PATIENCE, (self.places[here][0], 0))
                wire.sendall(struct.pack('>I', here))
                self.wires[here, there] = wire
            waiting = [h for h in theirs if h > here]
            listener.settimeout(PATIENCE)
            while waiting:
                wire, _ = listener.accept()
                wire.settimeout(PATIENCE)
                there, = struct.unpack('>I', self.exactly(wire, 4))
                check(there in waiting, 'index', there)
                waiting.remove(there)
                self.wires[here, there] = wire
            listener.close()
        for wire in self.wires.values():
            wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @staticmethod
    def exactly(wire, size):
        data = b''
        while len(data) < size:
            part = wire.recv(size - len(data))
            check(part, 'closed')
            data += part
        return data

    def wire(self, src, dest):
        return self.wires[self.host_of[src], self.host_of[dest]]

    # --- packets

    def pair(self, ours, theirs):
        return self.pairs.setdefault((ours, theirs), Pair())

    def put(self, src, dest, packet):
        """With flow control, behind what waits."""
        packet.src, packet.dest = self.names[src], self.names[dest]
        self.pair(src, dest).waiting.append(packet)
        self.flush(src, dest)

    def flush(self, src, dest):
        pair = self.pair(src, dest)
        while pair.waiting and pair.sent < self.hiwater:
            pair.sent += 1
            self.wire(src, dest).sendall(pair.waiting.pop(0).bytes())

    def pump(self, until, patience=PATIENCE):
        """Take packets until it is true; False: it has not become so in time."""
        end = time.monotonic() + patience
        while not until():
            left = end - time.monotonic()
            if left <= 0:
                return False
            ready, _, _ = select.select(list(self.wires.values()), [], [], left)
            for (here, there), wire in list(self.wires.items()):
                if wire in ready:
                    self.read(here, there, wire)
        return True

    def settle(self, seconds=0.3):
        self.pump(lambda: False, seconds)

    def read(self, here, there, wire):
        data = wire.recv(1 << 20)
        buffer = self.buffers.setdefault((here, there), bytearray())
        if not data:
            check(not buffer, 'ends within a packet')
            check((here, there) in self.fini, 'the connection of host', there, 'was closed without FINI')
            del self.wires[here, there]
            return
        buffer += data
        while len(buffer) >= HEADER.size:
            packet = Packet.read(bytes(buffer[:HEADER.size]))
            size = packet.len if packet.type <= DATASYNC else 0
            if len(buffer) < HEADER.size + size:
                return
            packet.data = bytes(buffer[HEADER.size:HEADER.size + size])
            del buffer[:HEADER.size + size]
            self.take(here, there, packet)

    def take(self, here, there, packet):
        check(packet.type <= FINI and packet.reserved == 0, packet)
        check((here, there) not in self.fini, 'after FINI:', packet)
        self.seen.append((packet.type, packet.tag))
        if packet.type == FINI:
            self.fini.add((here, there))
            return
        check(packet.src in self.names and packet.dest in self.names, 'names of', packet)
        source, dest = self.names.index(packet.src), self.names.index(packet.dest)
        check((self.host_of[dest], self.host_of[source]) == (here, there), 'hosts of', packet)
        pair = self.pair(dest, source)
        if packet.type == PROTOACK:
            pair.sent -= self.ackmark
            check(pair.sent >= 0, 'acknowledges what was not sent')
            self.flush(dest, source)
            return
        pair.unacked += 1
        check(pair.unacked <= self.hiwater, 'more than hiwater packets')
        if self.acks:
            self.ack(dest, source)
        if packet.type <= DATASYNC:
            self.take_data(packet, source, dest)
        else:
            self.take_answer(packet, source, dest)

    def ack(self, ours, theirs):
        pair = self.pair(ours, theirs)
        while pair.unacked >= self.ackmark:
            pair.unacked -= self.ackmark
            packet = Packet(type=PROTOACK, src=self.names[ours], dest=self.names[theirs])
            self.wire(ours, theirs).sendall(packet.bytes())

    def take_data(self, packet, source, dest):
        check(packet.len <= self.datalen and packet.len <= packet.msglen, packet)
        check(0 <= packet.tag and packet.cid < 2**62, packet)
        if packet.type == DATA and packet.len != packet.msglen:
            message = next((m for m in self.messages if m.drqid == packet.drqid and m.source == source
                            and m.dest == dest and m.drqid is not None), None)
            check(message, 'the rest of no message:', packet)
            first = message.first
            for name in ('srqid', 'msglen', 'tag', 'cid', 'lsrank'):
                check(getattr(packet, name) == getattr(first, name), name, 'of', packet, 'and', first)
            message.data += packet.data
            check(len(message.data) <= first.msglen, 'too much:', packet)
            check(packet.len == self.datalen or len(message.data) == first.msglen, 'not full:', packet)
            return
        check(packet.len == min(packet.msglen, self.datalen), 'first packet:', packet)
        check(packet.type == DATASYNC or packet.msglen <= self.datalen, 'long without DATASYNC')
        self.messages.append(Message(packet, source, dest))

    def take_answer(self, packet, source, dest):
        check(packet.len == 0 and packet.msglen == 0, 'unused fields of', packet)
        if packet.type == CANCEL:
            found = [m for m in self.messages if m.source == source and m.dest == dest
                     and m.first.srqid == packet.srqid and m.drqid is None]
            if found:
                self.messages.remove(found[-1])
            self.put(dest, source, Packet(type=CANCELYES if found else CANCELNO, srqid=packet.srqid))
            return
        send = self.sends.get((dest, source, packet.srqid))
        check(send, 'an answer to nothing:', packet)
        if packet.type != SYNCACK:
            send.answer = packet.type
            return
        check(not send.acked, 'acknowledged twice:', packet)
        send.acked = True
        for start in range(0, len(send.rest), self.datalen):
            part = send.rest[start:start + self.datalen]
            rest = dict(vars(send.packet), type=DATA, len=len(part), data=part, drqid=packet.drqid)
            self.put(dest, source, Packet(**rest))
        send.done = True

    # --- messages

    def send(self, src, dest, tag, data, cid=0, sync=False, lsrank=None):
        """Begun, not more."""
        self.last_id += 1
        part = data[:self.datalen]
        packet = Packet(type=DATASYNC if sync or len(data) > self.datalen else DATA, len=len(part),
                        srqid=self.last_id, msglen=len(data), lsrank=src if lsrank is None else lsrank, tag=tag,
                        cid=cid, seqnum=self.last_id, data=part)
        send = self.sends[src, dest, self.last_id] = Send(packet, data[self.datalen:])
        self.put(src, dest, packet)
        return send

    def finish(self, send):
        check(self.pump(lambda: send.done), 'no acknowledgement of', send.packet)

    def cancel(self, src, dest, send):
        """CANCELYES or CANCELNO."""
        self.put(src, dest, Packet(type=CANCEL, srqid=send.packet.srqid))
        check(self.pump(lambda: send.answer is not None), 'no answer to a CANCEL')
        return send.answer

    def match(self, dest, source, tag, cid):
        return next((m for m in self.messages if m.dest == dest and m.source == source and m.drqid is None
                     and m.first.tag == tag and m.first.cid == cid), None)

    def peek(self, dest, source, tag, cid=0, patience=PATIENCE):
        """The message, not received; None if it does not come."""
        self.pump(lambda: self.match(dest, source, tag, cid), patience)
        return self.match(dest, source, tag, cid)

    def accept(self, message, drqid=None):
        """It is matched: say so if that is wanted."""
        if drqid is None:
            self.last_id += 1
            drqid = self.last_id
        message.drqid = drqid
        if message.first.type == DATASYNC:
            self.put(message.dest, message.source, Packet(type=SYNCACK, srqid=message.first.srqid, drqid=drqid))

    def recv(self, dest, source, tag, cid=0, drqid=None):
        message = self.peek(dest, source, tag, cid)
        check(message, 'no message from', source, 'with tag', tag, 'cid', cid, 'but', self.messages)
        check(message.first.lsrank == source or cid > 1, 'lsrank of', message.first)
        self.accept(message, drqid)
        check(self.pump(lambda: len(message.data) == message.first.msglen), 'the rest does not come')
        self.messages.remove(message)
        return message.data

    # --- the end

    def leave(self):
        """The last barrier, FINI both ways, FINI to the server."""
        self.barrier()
        for wire in self.wires.values():
            wire.sendall(Packet(type=FINI, src=b'\0' * 16 + b'\xff' * 8, dest=b'\0' * 16 + b'\xff' * 8, len=128,
                                msglen=128, lsrank=-1, tag=-1, count=-1, cid=2**64 - 1).bytes())
        check(self.pump(lambda: len(self.fini) == len(self.wires) or not self.wires), 'no FINI')
        check(not self.messages, 'left over:', self.messages)
        for client in self.own:
            client.command(b'FINI')
            client.server.close()

    def drop(self):
        for wire in self.wires.values():
            wire.close()
        for client in self.own:
            client.server.close()

    # --- collective calls: what goes between clients. Ours share what they have: one holds it for all.

    def masters(self, ranks=None):
        """The lowest rank of each client, and whether it is ours; numbered by rank."""
        seen, found = set(), []
        for rank in ranks or range(len(self.names)):
            if self.client_of[rank] not in seen:
                seen.add(self.client_of[rank])
                found.append(rank)
        return found

    def tree(self, members, root):
        """(parent, children in the order of sending) of each place, counted from the root's, as by 4.11."""
        k, first = len(members), members.index(root)
        out = {}
        for v in range(k):
            high = 1 << (v.bit_length() - 1) if v else 0
            if k <= self.maxlinear:
                parent, children = (None if not v else 0), (range(1, k) if not v else ())
            else:
                parent = v - high if v else None
                bits = [b for b in (1 << i for i in range(k.bit_length() + 1)) if b > high or not v]
                children = [v | b for b in bits if v | b < k]
            at = lambda place: members[(place + first) % k] # noqa: E731
            out[at(v)] = (None if parent is None else at(parent), [at(c) for c in children])
        return out

    def is_ours(self, rank):
        return self.client_of[rank] in self.ours

    def barrier(self):
        """4.10; messages between two of ours are not sent."""
        members = self.masters()
        tree = self.tree(members, members[0])
        order = sorted(members, key=lambda r: self.depth(tree, r))
        for rank in reversed(order):
            self.up(tree, rank, BARRIER)
        for rank in order:
            if self.is_ours(rank):
                self.down(tree, rank, BARRIER, b'')

    @staticmethod
    def depth(tree, rank):
        depth = 0
        while tree[rank][0] is not None:
            rank, depth = tree[rank][0], depth + 1
        return depth

    def up(self, tree, rank, tag):
        if not self.is_ours(rank):
            return
        parent, children = tree[rank]
        for child in reversed(children):
            if not self.is_ours(child):
                check(self.recv(rank, child, tag, 1) == b'', 'a barrier with data')
        if parent is not None and not self.is_ours(parent):
            self.send(rank, parent, tag, b'', 1)

    def down(self, tree, rank, tag, data):
        """Returns what has come."""
        parent, children = tree[rank]
        if parent is not None and not self.is_ours(parent):
            data = self.recv(rank, parent, tag, 1)
        for child in children:
            if not self.is_ours(child):
                self.send(rank, child, tag, data, 1)
        return data

    def bcast(self, root, data=None):
        """4.11: from the root itself to the masters of the other clients. What ours have in the end, by master."""
        members = [root if self.client_of[m] == self.client_of[root] else m for m in self.masters()]
        tree = self.tree(members, root)
        have = {root: data}
        for rank in sorted(members, key=lambda r: self.depth(tree, r)):
            if self.is_ours(rank):
                parent = tree[rank][0]
                have[rank] = self.down(tree, rank, BCAST, have.get(parent) if rank != root else data)
        return [have[r] for r in members if self.is_ours(r)]

    def reduce(self, root, values, op):
        """4.16, of what commutes; `values` of ours by rank. The result if the root is ours."""
        members = [root if self.client_of[m] == self.client_of[root] else m for m in self.masters()]
        k, first = len(members), members.index(root)
        have = {}
        for m in members:
            if self.is_ours(m):
                mine = [values[r] for r in self.ranks_of(self.client_of[m])]
                have[m] = mine[0]
                for value in mine[1:]:
                    have[m] = op(have[m], value)
        at = lambda place: members[(place + first) % k] # noqa: E731
        if k <= self.maxlinear:
            edges = [(members[i], root) for i in range(k) if i != first]
        else:
            edges = [(at(v), at(v - bit)) for bit in (1 << i for i in range(k.bit_length()))
                     for v in range(bit, k, 2 * bit)]
        for child, parent in edges:
            if self.is_ours(child) and not self.is_ours(parent):
                self.send(child, parent, REDUCE, have[child], 1)
            elif self.is_ours(parent):
                value = have[child] if self.is_ours(child) else self.recv(parent, child, REDUCE, 1)
                have[parent] = op(value, have[parent])
        return have.get(root)
