#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compare MPIs on this machine: compiles the programs of this folder with each, runs them in turns
(A B C A B C ...), prints medians, ratios to the best peer and which gates are passed, as Markdown.

  bench/compare.py parley=build/launch/mpicc,build/launch/mpiexec mpich=mpicc.mpich,mpiexec.mpich \\
      'openmpi=mpicc.openmpi,mpiexec.openmpi,--allow-run-as-root --oversubscribe'

Without an MPI named parley (or --subject NAME) there are no gates and no ratios, only values."""

import argparse
import itertools
import json
import os
import shlex
import sys
import tempfile
import time

import coll_docs
import jobs
import report


# What does not depend on how far the cores are from each other.
WITHOUT_LINES = ['startup', 'idle', 'memory', 'pack', 'op', 'matcher', 'busy']
COLLS = ('barrier bcast reduce allreduce reduce_scatter reduce_scatter_block allgather allgatherv alltoall alltoallv '
         'alltoallw gather gatherv scatter scatterv scan exscan neighbor_allgather neighbor_alltoall').split()
CHANGED = 2  # by so much a bare line differs when the cores have moved
TRIES = 4
FAILURES = 2  # so often an MPI may fail at something before it is not asked again
HOPELESS = 20  # an MPI that takes so many times ours for all of a piece is not asked again, with more ranks neither
FOR_ROUNDS = 0.7  # of the time limit: measures in pieces; the rest of it is for pieces that missed


class Measure:
    """One program under one number of ranks: options, rounds (runs by each MPI), time limit in seconds."""

    def __init__(self, group, program, ranks, args, rounds, limit, is_for_subject=False, quick=(), pieces=(),
                 under=None, suffix='', then=None):
        self.group = group
        self.program = program
        self.ranks = ranks
        self.args = args
        self.rounds = rounds
        self.limit = limit
        self.is_for_subject = is_for_subject  # the peers are not asked
        self.quick = list(quick)              # more arguments with --quick
        self.pieces = list(pieces) or ['']    # names for --only, each taken by itself by all MPIs in turn
        self.under = under                    # 'deny': without copies by the system; 'busy': another program beside
        self.suffix = suffix                  # after the names of the values
        self.then = then                      # another one that the subject takes right afterwards, to compare with
        self.needs_lines = group not in WITHOUT_LINES

    def label(self, piece=''):
        what = f'{self.group} {piece}'.rstrip()
        return f'{what} with {self.ranks} ranks' if self.ranks else f'{what} without mpiexec'


FEW = ['--max-size', '512']
SIZES = ['--sizes', '8,256,8192,32768,262144,1048576,4194304']

# Beside the same with MPI_THREAD_MULTIPLE.
SINGLE = Measure('threads', 'latency', 2, ['--min-size', '8', '--max-size', '8'], 1, 10, suffix='_single')

# In order of weight: when the time is up, what comes last is left out.
PLAN = [
    Measure('latency', 'latency', 2, ['--pin'], 5, 20),
    Measure('curve', 'latency', 2, ['--pin', '--per-decade', '64', '--min-size', '1', '--max-size', '8388608',
                                    '--budget', '0.02'], 2, 40, True),
    Measure('rate', 'rate', 2, ['--pin'], 5, 10),
    Measure('startup', 'empty', 0, [], 9, 10),
    Measure('startup', 'empty', 2, [], 9, 10),
    Measure('startup', 'empty', 8, [], 5, 20),
    Measure('startup', 'empty', 64, [], 3, 30),
    Measure('matching', 'matching', 2, ['--pin'], 3, 40),
    Measure('barrier', 'barrier', 2, [], 2, 10),
    Measure('barrier', 'barrier', 4, [], 2, 10),
    Measure('barrier', 'barrier', 8, [], 2, 10),
    Measure('barrier', 'barrier', 16, [], 2, 20),
    Measure('comm', 'communicators', 2, [], 2, 15),
    Measure('comm', 'communicators', 4, [], 2, 20),
    Measure('comm', 'communicators', 8, [], 2, 30),
    Measure('rma', 'rma', 2, ['--pin'], 3, 40),
    Measure('io', 'io', 2, [], 2, 30),
    Measure('io', 'io', 4, [], 2, 40),
    Measure('idle', 'idle', 2, [], 2, 10),
    Measure('memory', 'memory', 8, [], 2, 10),
    Measure('memory', 'memory', 64, [], 2, 20, True),
    Measure('bandwidth', 'bandwidth', 2, ['--pin'], 3, 20),
    Measure('denied', 'bandwidth', 2, ['--pin', '--min-size', '262144'], 3, 20, under='deny', suffix='_denied'),
    Measure('busy', 'barrier', 4, [], 2, 10, under='busy', suffix='_busy'),
    Measure('busy', 'barrier', 8, [], 2, 10, under='busy', suffix='_busy'),
    Measure('busy', 'barrier', 16, [], 2, 20, under='busy', suffix='_busy'),
    Measure('matcher', '', 0, [], 2, 60, True),
    Measure('threads', 'threads', 2, [], 5, 20, then=SINGLE),
    Measure('typed', 'typed', 2, ['--pin'], 3, 30),
    Measure('pack', 'pack', 1, ['--pin', '--budget', '0.03'], 3, 30),
    Measure('op', 'op', 1, ['--pin', '--budget', '0.03'], 3, 40),
    Measure('coll', 'coll', 2, ['--pin', '--budget', '0.03'] + SIZES, 5, 10, quick=FEW, pieces=COLLS),
    Measure('coll', 'coll', 4, ['--budget', '0.02'] + SIZES, 5, 10, quick=FEW, pieces=COLLS),
    Measure('coll', 'coll', 8, ['--budget', '0.02'] + SIZES, 5, 10, quick=FEW, pieces=COLLS),
    Measure('coll', 'coll', 16, ['--budget', '0.02'] + SIZES, 5, 10, quick=FEW, pieces=COLLS),
    *(Measure(form, 'coll', ranks, ['--form', form] + (['--pin'] if ranks == 2 else []) + ['--budget', '0.02'] + SIZES,
              5, 10, quick=FEW, pieces=COLLS) for form in ('nonblocking', 'persistent') for ranks in (2, 4, 8, 16)),
    Measure('overlap', 'overlap', 2, ['--pin'], 3, 40, quick=['--max-size', '32768']),
]
# Half an hour together: only when asked for by --only.
APART = ['coll', 'nonblocking', 'persistent', 'overlap', 'io']
# What issue 3 wants of point-to-point, by --only p2p.
P2P = ['latency', 'curve', 'rate', 'startup', 'matching', 'barrier', 'idle', 'memory', 'bandwidth', 'denied', 'busy',
       'matcher', 'threads']
DENIED = 'process_vm_readv,process_vm_writev'
GROUPS = list(dict.fromkeys(m.group for m in PLAN))
QUICK = ['--batches', '3', '--batch-ms', '0.2', '--budget', '0.02']


def read_options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('mpis', nargs='+', metavar='NAME=mpicc,mpiexec[,options]', help='an MPI to compare')
    parser.add_argument('--subject', help='the MPI whose gates are checked (default: parley, if it is there)')
    parser.add_argument('--only', help=f'only these groups, with commas between, of: {", ".join(GROUPS)} '
                        f'(without: all but {", ".join(APART)}); p2p: what has to do with messages')
    parser.add_argument('--rounds', type=int,
                        help='rounds of every measurement (default: 2 to 9, by measurement)')
    parser.add_argument('--quick', action='store_true',
                        help='one round of very short batches: does it run at all?')
    parser.add_argument('--limit', type=float, help='seconds for the whole run (default: 360; with a group that is '
                        'only taken when named: 1800)')
    parser.add_argument('--report', metavar='FILE', help='write the Markdown text there too')
    parser.add_argument('--json', metavar='FILE', help='write every value there')
    parser.add_argument('--docs', metavar='FILE', help='write the part on collective operations there, or, without '
                        'them, the whole report, between the lines that mark it')
    parser.add_argument('--matcher', metavar='FILE', help='the program match_depth of the subject (group matcher)')
    parser.add_argument('--build-dir', metavar='DIR', help='keep the compiled programs there')
    options = parser.parse_args()
    options.groups = options.only.split(',') if options.only else [g for g in GROUPS if g not in APART]
    if options.groups == ['p2p']:
        options.groups = P2P
    if options.limit is None:
        options.limit = 1800 if set(options.groups) & set(APART) else 360
    if not options.matcher:
        options.groups = [g for g in options.groups if g != 'matcher']
    for group in options.groups:
        if group not in GROUPS:
            parser.error(f'--only {group}: there are {", ".join(GROUPS)}')
    return options


def say(text):
    print(text, file=sys.stderr, flush=True)


class Run:
    """The state of one comparison."""

    def __init__(self, options, mpis, subject):
        self.options = options
        self.mpis = mpis
        self.results = report.Results([m.name for m in mpis], subject)
        self.begin = time.monotonic()
        self.bare_line = []
        self.deny = []
        self.failed = {}             # (mpi, measure, piece): how often
        self.hopeless = {}           # (mpi, group, piece): ranks from which on it is not asked

    def left(self):
        return self.options.limit - (time.monotonic() - self.begin)

    def compile(self, build_dir):
        self.bare_line = jobs.compile_bare_line(build_dir)
        if 'denied' in self.options.groups:
            self.deny = jobs.compile_deny(build_dir)
        usable = []
        for mpi in self.mpis:
            try:
                mpi.compile(build_dir)
                mpi.version = self.version(mpi)
            except jobs.JobError as fault:
                if mpi.name == self.results.subject or len(self.mpis) == 1:
                    raise
                self.complain(f'{mpi.name} is left out: {fault}')
                continue
            say(f'{mpi.name}: {mpi.version}')
            usable.append(mpi)
        self.mpis = usable
        self.results.names = [m.name for m in usable]

    @staticmethod
    def version(mpi):
        found = jobs.run_text(mpi.command('empty', 1, ['--version']), 20)
        line = next((l for l in found.splitlines() if l.startswith('version ')), '')
        if not line:
            raise jobs.JobError(f'{mpi.name}: cannot run a program: {" ".join(found.split())[:400]}')
        return ' '.join(line[len('version '):].split(',')[0].split())

    def take_bare_line(self):
        """Microseconds that a line takes now; None if that cannot be measured here."""
        values, complaint = jobs.run_job(self.bare_line + ['--batches', '21'], 10)
        if complaint and not values:
            self.complain(f'bare line: {complaint}')
        return next((v[2] for v in values if v[0] == 'bare_line'), None)

    def complain(self, text):
        if text not in self.results.complaints:
            self.results.complaints.append(text)
            say(f'  {text}')

    def run(self, measure, command, limit):
        """One job, and what stands beside it: (values, complaint)."""
        if measure.under == 'busy':
            with jobs.BusyProgram():
                values, complaint = jobs.run_job(command, limit)
        else:
            values, complaint = jobs.run_job((self.deny + [DENIED] if measure.under else []) + command, limit)
        return [(jobs.with_suffix(name, measure.suffix), *rest) for name, *rest in values], complaint

    def take(self, measure, piece, mpi):
        """The values of one job."""
        limit = max(1.0, min(measure.limit, self.left()))
        if measure.group == 'startup':
            seconds, complaint = jobs.time_job(mpi.command('empty', measure.ranks), limit)
            values = [] if complaint else [('startup', str(measure.ranks or 'alone'), 1e3 * seconds, 'ms')]
        elif measure.group == 'matcher':
            values, complaint = jobs.run_matcher(self.options.matcher, limit)
        else:
            args = measure.args + (['--only', piece] if piece else [])
            args += QUICK + measure.quick if self.options.quick else []
            values, complaint = self.run(measure, mpi.command(measure.program, measure.ranks, args), limit)
        if complaint:
            self.failed[(mpi.name, measure, piece)] = self.failed.get((mpi.name, measure, piece), 0) + 1
            self.complain(f'{mpi.name}: {measure.label(piece)}: {complaint}')
        if measure.then and mpi.name == self.results.subject:
            values = values + self.take(measure.then, '', mpi)
        return values

    def take_turn(self, measure, piece, mpis):
        """One job of each MPI: ([(mpi, values)], times of bare lines before, between and after them)."""
        taken, lines = [], []
        for mpi in mpis:
            if measure.needs_lines:
                lines.append(self.take_bare_line())
            taken.append((mpi.name, self.take(measure, piece, mpi)))
        if measure.needs_lines:
            lines.append(self.take_bare_line())
        return taken, [line for line in lines if line]

    def is_asked(self, mpi, measure, piece):
        most = self.hopeless.get((mpi.name, measure.group, piece))
        return (self.failed.get((mpi.name, measure, piece), 0) < FAILURES and (most is None or measure.ranks < most) and
                (not measure.is_for_subject or mpi.name == self.results.subject))

    def note_hopeless(self, measure, piece, taken):
        by_mpi = {name: {v[:2]: v[2] for v in values} for name, values in taken}
        ours = by_mpi.pop(self.results.subject, {})
        for name, theirs in by_mpi.items():
            behind = [value / ours[key] for key, value in theirs.items() if ours.get(key)]
            if behind and min(behind) >= HOPELESS:
                self.hopeless[(name, measure.group, piece)] = measure.ranks
                self.complain(f'{name}: {measure.label()} and more: not asked again for what takes {HOPELESS} times '
                              'as long as ours or more')

    def take_piece(self, measure, piece):
        """A turn during which lines took the same time throughout counts, another one is taken again."""
        for _ in range(TRIES):
            mpis = [m for m in self.mpis if self.is_asked(m, measure, piece)]
            taken, lines = self.take_turn(measure, piece, mpis)
            is_steady = not lines or max(lines) < CHANGED * min(lines)
            if is_steady or self.left() <= 0:
                break
        if not is_steady:
            self.complain(f'{measure.label(piece)}: left out, a line took {min(lines):.3f} to {max(lines):.3f} us')
            return
        for name, values in taken:
            for value in values:
                self.results.add(name, *value)
        self.results.add_lines(measure.group, lines)
        if measure.pieces[0]:
            self.note_hopeless(measure, piece, taken)

    def rounds(self, measure):
        return 1 if self.options.quick else self.options.rounds or measure.rounds

    def measure(self, measure):
        rounds = self.rounds(measure)
        say(f'{self.left():4.0f} s left: {measure.label()}, {rounds} rounds')
        for turn in range(rounds):
            if self.left() <= 0:
                self.complain(f'{measure.label()}: no time left after {turn} of {rounds} rounds')
                return
            self.take_piece(measure, '')

    def measure_pieces(self, measures):
        """Round after round of all, so that a limit shortens all alike; then those that missed, while there is time."""
        begin, until = time.monotonic(), (1 - FOR_ROUNDS) * self.options.limit
        for turn in range(self.rounds(measures[0])):
            say(f'{self.left():4.0f} s left: {measures[0].group}, round {turn + 1}')
            for measure, piece in [(m, p) for m in measures for p in m.pieces]:
                if self.left() <= 0:
                    self.complain(f'{measure.label(piece)}: no time left in round {turn + 1}')
                    return
                self.take_piece(measure, piece)
            one = (time.monotonic() - begin) / (turn + 1)
            if self.left() - one < until and turn + 1 < self.rounds(measures[0]):
                break
        if not self.options.quick:
            self.measure_missed(measures)

    def measure_missed(self, measures):
        while self.left() > 0:
            missed = report.coll_missed(self.results, f'{measures[0].group}_')
            again = [(m, p) for m in measures for p in m.pieces if (m.ranks, p) in missed]
            if not again:
                return
            say(f'{self.left():4.0f} s left: {len(again)} that missed, again')
            for measure, piece in again:
                if self.left() > 0:
                    self.take_piece(measure, piece)

    def write_json(self, path):
        rows = [{'name': name, 'parameter': parameter, 'unit': self.results.units[name], 'mpi': mpi,
                 'values': values}
                for (name, parameter), by_mpi in self.results.values.items()
                for mpi, values in by_mpi.items()]
        data = {'machine': report.machine(), 'date': time.strftime('%Y-%m-%dT%H:%M:%S%z'),
                'mpis': [{'name': m.name, 'given': m.text, 'version': m.version} for m in self.mpis],
                'complaints': self.results.complaints, 'values': rows}
        with open(path, 'w', encoding='utf-8') as f:
            json.dump(data, f, indent=1)


def compare(options, build_dir):
    mpis = [jobs.Mpi(text) for text in options.mpis]
    names = [m.name for m in mpis]
    subject = options.subject or ('parley' if 'parley' in names else None)
    if len(set(names)) != len(names):
        raise jobs.JobError(f'two MPIs have one name: {" ".join(names)}')
    if subject and subject not in names:
        raise jobs.JobError(f'--subject {subject}: the MPIs are {" ".join(names)}')
    load = os.getloadavg()[0]
    run = Run(options, mpis, subject)
    run.compile(build_dir)
    for _, measures in itertools.groupby([m for m in PLAN if m.group in options.groups], lambda m: m.group):
        measures = list(measures)
        if measures[0].pieces[0]:
            run.measure_pieces(measures)
        else:
            for measure in measures:
                run.measure(measure)
    command = 'scripts/bench-p2p BUILD' if options.docs else shlex.join(['bench/compare.py'] + sys.argv[1:])
    text = report.markdown(run.results, run.mpis, command, load, time.monotonic() - run.begin)
    print(text)
    if options.report:
        with open(options.report, 'w', encoding='utf-8') as f:
            f.write(text)
    if options.json:
        run.write_json(options.json)
    if options.docs and 'coll' in options.groups:
        if not report.coll_ratios(run.results):
            raise jobs.JobError(f'no collective operation was measured; {options.docs} stays as it is')
        coll_docs.replace(options.docs, coll_docs.section(run.results, run.mpis, time.monotonic() - run.begin, load))
    elif options.docs:
        coll_docs.replace(options.docs, text.splitlines(), report.BEGIN, report.END)


def main():
    options = read_options()
    try:
        if options.build_dir:
            compare(options, os.path.abspath(options.build_dir))
        else:
            with tempfile.TemporaryDirectory(prefix='mpi-bench-') as build_dir:
                compare(options, build_dir)
    except (jobs.JobError, OSError) as fault:
        sys.exit(f'compare.py: {fault}')


if __name__ == '__main__':
    main()
