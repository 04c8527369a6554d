# SPDX-License-Identifier: BSD-3-Clause
"""Commands for gdb that show what an MPI process of Parley does: `mpi queues`, `mpi requests`, `mpi comms`,
`mpi waitfor`; and what handles stand for when they are printed.

Loaded by `source parley.py`, by `mpiexec --gdb`, or with the library when gdb trusts its folder. No debug information
is needed: the library exports a table of where its fields are (src/sys/debug.h). Works on a stopped process and, but
for what lies in shared memory, on a core file."""

import sys

import gdb

MAGIC = 0x4f59414c59524c50
VERSION = 1
WORD = 8
NO_VALUE = -1000
STATES = ('not started', 'started', 'in MPI', 'after MPI_Finalize', 'ended')


def c_value(expression):
    """Of an expression as C has it, whatever the language of the frame."""
    language = gdb.parameter('language')
    gdb.execute('set language c', to_string=True)
    try:
        return int(gdb.parse_and_eval(expression))
    finally:
        gdb.execute('set language ' + language, to_string=True)


def chain(first, end, follow):
    """Addresses from one to the next, up to `end`. They may lie in memory that the program has written over."""
    seen = set()
    while first != end:
        if first in seen:
            raise gdb.GdbError(f'a list of the library is broken at {first:#x}: something has written over it')
        seen.add(first)
        yield first
        first = follow(first)


class Layout:
    """Reads the memory of the process by the names of the table."""

    def __init__(self):
        try:
            table = c_value('(unsigned long)&parley_debug_layout')
        except gdb.error as fault:
            raise gdb.GdbError('no MPI library of Parley in this process (yet): start it, or attach') from fault
        try:
            self.read_table(table)
        except gdb.MemoryError as fault:
            raise gdb.GdbError('the process does not run yet') from fault
        if not any(self.lanes()):
            raise gdb.GdbError('MPI is not running in this process: not yet, or not any more')

    def read_table(self, table):
        if self.number(table) != MAGIC:
            raise gdb.GdbError('the process does not run yet, or this is no library of Parley')
        if self.number(table + 8, 4) != VERSION:
            raise gdb.GdbError('these commands are for another version of the library; use those that came with it')
        count, entries = self.number(table + 12, 4), self.number(table + 16)
        self.offsets = {}
        for i in range(count):
            entry = self.bytes(entries + 32 * i, 32)
            name = entry[:28].split(b'\0')[0].decode('ascii', 'replace')
            self.offsets[name] = int.from_bytes(entry[28:], sys.byteorder)
        self.roots = self.number(table + 24)
        self.config = self.pointer(self.roots, 'debug_roots.config')
        self.rank = self.i32(self.config, 'p2p_config.proc')
        self.procs = self.i32(self.config, 'p2p_config.procs')

    @staticmethod
    def bytes(address, size):
        return bytes(gdb.selected_inferior().read_memory(address, size))

    def number(self, address, size=WORD, signed=False):
        return int.from_bytes(self.bytes(address, size), sys.byteorder, signed=signed)

    def __getitem__(self, name):
        if name not in self.offsets:
            raise gdb.GdbError(f'the library does not tell of {name}; use the commands that came with it')
        return self.offsets[name]

    def pointer(self, base, name):
        return self.number(base + self[name])

    def i32(self, base, name):
        return self.number(base + self[name], 4, signed=True)

    def u32(self, base, name):
        return self.number(base + self[name], 4)

    def i64(self, base, name):
        return self.number(base + self[name], 8, signed=True)

    def u8(self, base, name):
        return self.number(base + self[name], 1)

    def text(self, address, size=128):
        """A string, which may end right before memory that cannot be read."""
        found = b''
        while address and len(found) < size:
            byte = self.bytes(address + len(found), 1)
            if byte == b'\0':
                break
            found += byte
        return found.decode('utf-8', 'replace')

    def ring(self, head):
        """The links of a list."""
        return chain(self.pointer(head, 'list.next'), head, lambda link: self.pointer(link, 'list.next'))

    def node(self, head, place):
        """The machine of a process of the job."""
        places = head + self['JOB_PAGE'] * (2 * self.u32(head, 'job_head.slots') + 1)
        return self.u32(places + self['job_place'] * place, 'job_place.node')

    # --- objects

    def lanes(self):
        table = self.pointer(self.roots, 'debug_roots.lanes')
        for i in range(self['NET_LANES']):
            lane = self.number(table + WORD * i)
            if lane:
                yield lane

    def channels(self):
        """(ctx, lane, channel) of all contexts, sorted."""
        found = []
        for lane in self.lanes():
            table = self.pointer(lane, 'lane.channels')
            for i in range(self.u32(lane, 'lane.channel_slots')):
                channel = self.number(table + WORD * i)
                if channel:
                    found.append((self.u32(channel, 'channel.ctx'), lane, channel))
        return sorted(found)

    def comm_name(self, comm):
        name = self.text(comm + self['comm.name'])
        return name or f'a communicator of {self.i32(comm, "comm.size")}'

    def world_rank(self, group, rank):
        table = self.pointer(group, 'group.list')
        if not 0 <= rank < self.i32(group, 'group.size'):
            return -1
        place = self.i32(group, 'group.first') + rank * self.i32(group, 'group.step')
        return self.number(table + 4 * place, 4, signed=True) if table else place

    def group_rank(self, group, proc):
        table, size = self.pointer(group, 'group.list'), self.i32(group, 'group.size')
        first, step = self.i32(group, 'group.first'), self.i32(group, 'group.step')
        if not table:
            rank, rest = divmod(proc - first, step or 1)
            return rank if not rest and 0 <= rank < size else -1
        for rank in range(size):
            if self.number(table + 4 * (first + rank * step), 4, signed=True) == proc:
                return rank
        return -1

    def type_name(self, kind):
        name = self.text(self.pointer(kind, 'type.user_name')) or self.text(self.pointer(kind, 'type.name'))
        return name or 'a derived type'

    # --- operations

    def posted(self, channel):
        """Match entries of posted receives, in the order of posting."""
        match = channel + self['channel.match']
        in_entry = self['match_node.ring'] + self['match_entry.node']
        entries = [link - in_entry for link in self.ring(match + self['match_ctx.posted'])]
        if not self.u8(match, 'match_ctx.is_hashed'):
            return entries
        table = self.pointer(match, 'match_ctx.match') + self['match.posted']
        buckets = self.pointer(table, 'match_table.buckets')
        for i in range(1 << max(64 - self.u32(table, 'match_table.shift'), 0)):
            for node in chain(self.number(buckets + WORD * i), 0, lambda n: self.pointer(n, 'match_node.bucket_next')):
                if self.pointer(node, 'match_node.owner') & ~self['MATCH_ANY'] == match:
                    entries.append(node - self['match_entry.node'])
                    entries += [link - in_entry for link in self.ring(node + self['match_node.ring'])]
        return sorted(entries, key=lambda entry: self.pointer(entry, 'match_entry.sequence'))

    def messages(self, channel):
        head = channel + self['channel.match'] + self['match_ctx.arrivals']
        return [link - self['match_arrival.all'] - self['message.arrival'] for link in self.ring(head)]

    def linked(self, lane, name, channel, is_send):
        """Requests of the channel in one of the lane's lists."""
        for link in self.ring(lane + self[name]):
            r = link - self['p2p_req.link']
            if self.pointer(r, 'p2p_req.channel') == channel and bool(self.is_send(r)) == is_send:
                yield r

    def is_send(self, r):
        return self.u8(r + self['p2p_req.req'], 'req.is_send')

    def sends(self, lane, channel):
        found = [r for name in ('lane.offers', 'lane.copies', 'lane.streams')
                 for r in self.linked(lane, name, channel, True)]
        known, pushes = set(), self.pointer(self.roots, 'debug_roots.pushes')
        while self.number(pushes):
            known.add(self.number(pushes))
            pushes += WORD
        peers = self.pointer(lane, 'lane.peers')
        for proc in range(self.procs):
            peer = self.number(peers + WORD * proc)
            for link in self.ring(peer + self['peer.waiting']) if peer else ():
                out = link - self['outgoing.link']
                r = out - self['p2p_req.out']
                if self.pointer(out, 'outgoing.push') in known and self.pointer(r, 'p2p_req.channel') == channel:
                    found.append(r)
        return found

    def moving(self, lane, channel):
        return [r for name in ('lane.copies', 'lane.no_record') for r in self.linked(lane, name, channel, False)]


# --- words

def peer_text(layout, comm, rank):
    if rank < 0:
        return 'any rank'
    world = layout.world_rank(layout.pointer(comm, 'comm.remote_group'), rank)
    return f'rank {rank}' if world == rank else f'rank {rank} (in the world {world})'


def data_text(layout, r):
    count, kind = layout.i64(r, 'p2p_req.count'), layout.pointer(r, 'p2p_req.type')
    return f'{count} x {layout.type_name(kind)} at {layout.pointer(r, "p2p_req.buf"):#x}'


def posted_text(layout, comm, entry):
    key = layout.pointer(entry + layout['match_entry.node'], 'match_node.key')
    mask = layout.pointer(entry, 'match_entry.mask')
    if key >> 63 and mask >> 63:
        return f'partitioned receive from {peer_text(layout, comm, key >> 32 & 0x7fffffff)}, tag {key & 0xffffffff}'
    peer = peer_text(layout, comm, key >> 32 if mask >> 32 else -1)
    tag = f'tag {key & 0xffffffff}' if mask & 0xffffffff else 'any tag'
    return f'receive from {peer}, {tag}, {data_text(layout, entry - layout["p2p_req.match"])}'


def moving_text(layout, comm, r):
    req = r + layout['p2p_req.req']
    return (f'receive from {peer_text(layout, comm, layout.i32(req, "req.source"))}, '
            f'tag {layout.i32(req, "req.tag")}, {data_text(layout, r)}: its data is on the way')


def send_text(layout, comm, r):
    proc = layout.i32(layout.pointer(r, 'p2p_req.peer'), 'peer.proc')
    rank = layout.group_rank(layout.pointer(comm, 'comm.remote_group'), proc)
    state = layout.u8(r, 'p2p_req.state')
    sync = 'synchronous send' if layout.u8(r, 'p2p_req.flags') & layout['WIRE_SYNC'] else 'send'
    what = {layout['P2P_OFFERED']: 'no receive yet', layout['P2P_MOVING']: 'its data is on the way'}
    return (f'{sync} to {peer_text(layout, comm, rank)}, tag {layout.i32(r + layout["p2p_req.req"], "req.tag")}, '
            f'{data_text(layout, r)}: {what.get(state, "waits for room")}')


def message_text(layout, comm, message):
    where = 'data at {:#x}'.format(message + layout['message.data'])
    if layout.u8(message, 'message.kind') == layout['WIRE_RTS']:
        where = 'its data is with the sender'
    if layout.u8(message, 'message.flags') & layout['WIRE_SYNC']:
        where += ', its sender waits'
    return (f'message from {peer_text(layout, comm, layout.i32(message, "message.source"))}, '
            f'tag {layout.i32(message, "message.tag")}, {layout.pointer(message, "message.len")} bytes, {where}')


def operations(layout, lane, channel):
    """(what, texts) for one context."""
    comm = layout.pointer(channel, 'channel.comm')
    return (('posted', [posted_text(layout, comm, e) for e in layout.posted(channel)] +
             [moving_text(layout, comm, r) for r in layout.moving(lane, channel)]),
            ('unexpected', [message_text(layout, comm, m) for m in layout.messages(channel)]),
            ('sends', [send_text(layout, comm, r) for r in layout.sends(lane, channel)]))


def show_operations(kinds):
    layout = Layout()
    empty = True
    for ctx, lane, channel in layout.channels():
        comm = layout.pointer(channel, 'channel.comm')
        title = layout.comm_name(comm) + (', collective operations' if ctx & 1 else '')
        for what, texts in operations(layout, lane, channel):
            if texts and what in kinds:
                empty = False
                print(f'{title}: {len(texts)} {what}')
                for text in texts:
                    print('    ' + text)
    if empty:
        print('nothing is pending')


# --- commands

class Command(gdb.Command):
    """One that reads the process, of which not all may be there."""

    def invoke(self, argument, _from_tty):
        try:
            self.show(argument.strip())
        except gdb.MemoryError as fault:
            raise gdb.GdbError(f'memory of the process cannot be read, so there is no more to show: {fault}') from fault


class Mpi(gdb.Command):
    """What this MPI process does: mpi queues, mpi requests, mpi comms, mpi waitfor."""

    def __init__(self):
        super().__init__('mpi', gdb.COMMAND_DATA, prefix=True)


class Queues(Command):
    """mpi queues: receives posted, messages that nobody has asked for, sends under way, by communicator."""

    def __init__(self):
        super().__init__('mpi queues', gdb.COMMAND_DATA)

    def show(self, _argument):
        show_operations(('posted', 'unexpected', 'sends'))


class Requests(Command):
    """mpi requests: sends and receives of this process that are not complete.
mpi requests HANDLE: whether this one is complete, and what it is for."""

    def __init__(self):
        super().__init__('mpi requests', gdb.COMMAND_DATA)

    def show(self, argument):
        if argument:
            print(request_text(int(gdb.parse_and_eval(argument))))
        else:
            show_operations(('posted', 'sends'))


class Comms(Command):
    """mpi comms: the communicators of this process, with the ranks of their members in MPI_COMM_WORLD."""

    def __init__(self):
        super().__init__('mpi comms', gdb.COMMAND_DATA)

    def show(self, _argument):
        layout = Layout()
        for ctx, _, channel in layout.channels():
            if ctx & 1:
                continue
            comm = layout.pointer(channel, 'channel.comm')
            size, call = layout.i32(comm, 'comm.size'), layout.pointer(comm, 'comm.coll_call')
            group = layout.pointer(comm, 'comm.group')
            members = ranges(layout.world_rank(group, i) for i in range(size))
            line = f'{layout.comm_name(comm)}: rank {layout.i32(comm, "comm.rank")} of {size}, world ranks {members}'
            if layout.u8(comm, 'comm.is_inter'):
                line += f', to {layout.i32(comm, "comm.remote_size")} others'
            if call:
                line += f', last collective call {layout.text(call)}'
            print(line)


class WaitFor(Command):
    """mpi waitfor: what each rank of the job on this machine is blocked in, and whom it waits for, as far as it has
told, also those that were started later. In rings, processes have the numbers of their places in the job.
A rank tells when it has waited for some milliseconds."""

    def __init__(self):
        super().__init__('mpi waitfor', gdb.COMMAND_DATA)

    def show(self, _argument):
        layout = Layout()
        head = layout.pointer(layout.config, 'p2p_config.segment')
        if not head:
            print('this process is alone')
            return
        try:
            slots, size = layout.u32(head, 'job_head.slots'), layout.u32(head, 'job_head.size')
        except gdb.MemoryError as fault:
            raise gdb.GdbError('what ranks tell lies in shared memory, and that is not here: '
                               'is this a core file?') from fault
        waits, far = {}, []
        for place in range(slots):
            proc = head + layout['JOB_PAGE'] * (place + 1)
            if layout.node(head, place) != layout.node(head, layout.rank):
                far += [place] if place < size else []
                continue
            if place >= size and layout.u32(proc, 'job_proc.state') == 0:
                continue
            here = '*' if place == layout.rank else ' '
            world = layout.u32(proc, 'job_proc.world')
            name = f'rank {layout.u32(proc, "job_proc.rank")}' + (f' of spawned world {world}' if world else '')
            print(f'{here} {name} (process {layout.i32(proc, "job_proc.pid")}): ' +
                  status_text(layout, proc, place, waits))
        if far:
            print(f'  on other machines: rank {ranges(far)}')
        for cycle in cycles(waits):
            print('these wait for each other: ' + ' -> '.join(map(str, cycle)))


def status_text(layout, proc, rank, waits):
    page = proc + layout['job_proc.status']
    way = layout.i32(page, 'job_status.way')
    if not way:
        state = layout.u32(proc, 'job_proc.state')
        return 'not blocked in MPI' if state == 2 else STATES[min(state, 4)]
    peer, tag = layout.i32(page, 'job_status.peer'), layout.i32(page, 'job_status.tag')
    count, world = layout.i64(page, 'job_status.count'), layout.i32(page, 'job_status.peer_world')
    text = 'in ' + layout.text(page + layout['job_status.call_name'], 64)
    name = layout.text(page + layout['job_status.comm_name'])
    text += f' on {name}' if name else ''
    if peer != NO_VALUE:
        text += (' to ' if way == 2 else ' from ') + (f'rank {peer}' if peer >= 0 else 'any rank')
    if tag != NO_VALUE:
        text += f', tag {tag}' if tag >= 0 else ', any tag'
    if count >= 0:
        text += f', {count} x {layout.text(page + layout["job_status.type_name"]) or "a datatype"}'
    if world >= 0:
        waits[rank] = world
    return text


def cycles(waits):
    """The rings in a graph in which each waits for one other at most."""
    seen = set()
    for start in waits:
        path = []
        at = start
        while at in waits and at not in seen:
            seen.add(at)
            path.append(at)
            at = waits[at]
        if at in path:
            ring = path[path.index(at):]
            yield ring + [at]


def ranges(numbers):
    """0-3, 7"""
    parts = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ', '.join(str(a) if a == b else f'{a}-{b}' for a, b in parts)


# --- handles

COMMS = {0x100: 'MPI_COMM_NULL', 0x101: 'MPI_COMM_WORLD', 0x102: 'MPI_COMM_SELF'}
REQUEST_NULL = 0x180
PREDEFINED_END = 4096


def comm_text(handle):
    if handle < PREDEFINED_END:
        return COMMS.get(handle, f'{handle:#x}')
    layout = Layout()
    for ctx, _, channel in layout.channels():
        if not ctx & 1 and layout.pointer(channel, 'channel.comm') == handle:
            rank, size = layout.i32(handle, 'comm.rank'), layout.i32(handle, 'comm.size')
            return f'{handle:#x} ({layout.comm_name(handle)}, rank {rank} of {size})'
    return f'{handle:#x} (no communicator)'


def request_text(handle):
    if handle == REQUEST_NULL:
        return 'MPI_REQUEST_NULL'
    layout = Layout()
    for _, lane, channel in layout.channels():
        comm = layout.pointer(channel, 'channel.comm')
        for entry in layout.posted(channel):
            if entry - layout['p2p_req.match'] == handle:
                return f'{handle:#x} ({posted_text(layout, comm, entry)})'
        for r in layout.moving(lane, channel):
            if r == handle:
                return f'{handle:#x} ({moving_text(layout, comm, r)})'
        for r in layout.sends(lane, channel):
            if r == handle:
                return f'{handle:#x} ({send_text(layout, comm, r)})'
    if handle < PREDEFINED_END or layout.number(handle, 1) != layout['OBJ_REQUEST']:
        return f'{handle:#x} (no request)'
    return f'{handle:#x} ({"complete" if layout.u32(handle, "req.done") else "not complete"})'


class Handle:
    """Prints a handle as what it stands for."""

    def __init__(self, value, describe):
        self.value = value
        self.describe = describe

    def to_string(self):
        try:
            return self.describe(int(self.value))
        except (gdb.error, gdb.GdbError):
            return self.value.format_string(raw=True)


def find_printer(value):
    """Of handles of the standard ABI; those of programs for another MPI have the same names and other values."""
    describe = {'MPI_Comm': comm_text, 'MPI_Request': request_text}.get(value.type.name)
    kind = value.type.strip_typedefs()
    is_ours = kind.code == gdb.TYPE_CODE_PTR and (kind.target().name or '').startswith('MPI_ABI_')
    return Handle(value, describe) if describe and is_ours else None


def register():
    if not any(getattr(p, '__name__', '') == 'find_printer' and p.__module__ == __name__
               for p in gdb.pretty_printers):
        gdb.pretty_printers.append(find_printer)
    for command in (Mpi, Queues, Requests, Comms, WaitFor):
        command()


register()
