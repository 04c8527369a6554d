#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of what compare.py makes of values: medians, ratios, gates, lines, time limits. Starts no MPI."""

import os
import sys
import tempfile
import time
import unittest

import coll_docs
import jobs
import report


def some_results():
    r = report.Results(['parley', 'a', 'b'], 'parley')
    for mpi, values in (('parley', [0.3, 0.1, 0.2]), ('a', [0.4, 0.4]), ('b', [0.5])):
        for value in values:
            r.add(mpi, 'latency', '8', value, 'us')
            r.add(mpi, 'latency.best', '8', value / 2, 'us')
    for mpi, value in (('parley', 21.0), ('a', 7.0), ('b', 10.0)):
        r.add(mpi, 'rate', '8', value, 'M/s')
    for mpi, value in (('parley', 10.0), ('a', 49.0), ('b', 60.0)):
        r.add(mpi, 'startup', '2', value, 'ms')
    r.add_lines('latency', [0.1])
    r.add('parley', 'matching', 'posted_exact:0', 1.0, 'us')
    r.add('parley', 'matching', 'posted_exact:100000', 1.29, 'us')
    return r


class Report(unittest.TestCase):
    def test_median_and_best_peer(self):
        r = some_results()
        self.assertEqual(r.median('parley', 'latency', 8), 0.2)
        self.assertIsNone(r.median('parley', 'latency', 16))
        self.assertEqual(r.best_peer('latency', 8), (0.4, 'a'))
        self.assertEqual(r.best_peer('rate', 8), (10.0, 'b'))
        self.assertAlmostEqual(r.ratio('parley', 'latency', 8), 0.5)

    def test_best(self):
        r = some_results()
        self.assertEqual(r.best('parley', 'latency', 8), 0.05)
        self.assertEqual(r.best('parley', 'startup', 2), 10.0)
        self.assertIsNone(r.best('parley', 'startup', 8))
        self.assertAlmostEqual(r.ratio('parley', 'latency', 8, r.best), 0.25)
        gate = next(g for g in report.gates(r) if g.what.startswith('start to end, 2 ranks'))
        self.assertAlmostEqual(gate.ratio, 4.9)
        self.assertAlmostEqual(gate.best, 4.9)

    def test_gates(self):
        verdicts = {g.what: g.verdict for g in report.gates(some_results())}
        self.assertEqual(verdicts['half round trip, 8 B, to best peer'], 'pass')
        self.assertEqual(verdicts['half round trip, 8 B, to a bare cache line'], 'miss')
        self.assertEqual(verdicts['half round trip, 0 B, to best peer'], 'not measured')
        self.assertEqual(verdicts['message rate, 8 B, times best peer'], 'pass')
        self.assertEqual(verdicts['start to end, 2 ranks, times faster than best peer'], 'miss')
        self.assertEqual(verdicts['start to end, 2 ranks, to 5 ms'], 'miss')
        self.assertEqual(verdicts['start to end, 64 ranks, to 50 ms'], 'not measured')
        self.assertEqual(verdicts['round trip past 100,000 posted, exact to depth 0'], 'pass')
        self.assertEqual(verdicts['round trip past 100,000 unexpected, any source to depth 0'],
                         'not measured')

    def test_collectives(self):
        r = some_results()
        for parameter, mine, theirs in (('2:8', 0.2, 0.4), ('2:1048576', 90.0, 100.0), ('4:8', 3.0, 2.0),
                                        ('4:64', 1.0, 2.0)):
            r.add('parley', 'coll_bcast', parameter, mine, 'us')
            r.add('a', 'coll_bcast', parameter, theirs, 'us')
        short, long, worst = report.coll_gates(r)
        self.assertEqual((short.verdict, long.verdict, worst.verdict), ('pass', 'miss', 'miss'))
        self.assertIn('worst of 2 others (4:8)', worst.what)
        self.assertAlmostEqual(worst.ratio, 1.5)
        self.assertIn('### MPI_Bcast, by ranks and bytes (us)', report.value_tables(r))

    def test_forms(self):
        r = some_results()
        for name in ('nonblocking_bcast', 'persistent_bcast'):
            r.add('parley', name, '2:8', 0.9, 'us')
            r.add('a', name, '2:8', 1.0, 'us')
        r.add('parley', 'nonblocking_scan', '4:8', 2.0, 'us')
        r.add('a', 'nonblocking_scan', '4:8', 1.0, 'us')
        self.assertEqual([g.verdict for g in report.coll_gates(r)], ['pass', 'miss', 'pass'])
        self.assertEqual(report.coll_missed(r, 'nonblocking_'), {(4, 'scan')})
        self.assertEqual(report.coll_missed(r, 'persistent_'), set())
        self.assertEqual(report.coll_ratios(r), [])
        for title in ('MPI_Ibcast', 'MPI_Bcast_init', 'MPI_Iscan'):
            self.assertIn(f'### {title}, by ranks and bytes (us)', report.value_tables(r))

    def test_curve(self):
        r = some_results()
        for size, us in ((100, 1.0), (104, 1.1), (108, 2.2), (112, 1.1)):
            r.add('parley', 'curve.best', str(size), us, 'us')
            r.add('parley', 'curve', str(size), us + 1, 'us')
        step, fall = report.curve_gates(r)
        self.assertIn('at 108 B', step.what)
        self.assertAlmostEqual(step.ratio, 2.0)
        self.assertEqual((step.verdict, fall.verdict), ('miss', 'miss'))
        self.assertEqual(report.curve_gates(some_results()), [])

    def test_messages(self):
        r = some_results()
        for name, parameter, value, unit in (
                ('threads_self', '1', 10.0, 'M/s'), ('threads_self', '2', 16.0, 'M/s'),
                ('threads_self', '4', 9.0, 'M/s'), ('threads_latency', '8', 1.1, 'us'),
                ('latency_single', '8', 1.0, 'us'), ('idle_cpu', '1', 2.0, 'ms/s'),
                ('matcher', 'list', 100.0, 'ns'), ('matcher', 'random', 400.0, 'ns'),
                ('memory_own_init', '64', 900.0, 'KiB'), ('memory_pss_settled', '64', 100.0, 'KiB'),
                ('memory_pss_peers', '64', 730.0, 'KiB'), ('bandwidth_denied', '262144', 9.0, 'MB/s')):
            r.add('parley', name, parameter, value, unit)
        r.add('a', 'bandwidth_denied', '262144', 10.0, 'MB/s')
        gates = {g.what: g for g in report.p2p_gates(r)}
        verdicts = [gates[what].verdict for what in (
            '2 threads on own communicators, times the rate of one', '4 threads on 2 cores, times the rate of one',
            'MPI_THREAD_MULTIPLE with one thread, 8 B, to MPI_THREAD_SINGLE',
            'matching past 100,000 entries, worst case', 'processor time of a blocked receive',
            'pages of a rank alone after Init, 64 ranks', 'memory for each active peer, 64 ranks',
            'windowed bandwidth, copies forbidden, 262,144 B, times best peer',
            'blocking bandwidth, copies forbidden, 262,144 B, times best peer')]
        self.assertEqual(verdicts, ['pass', 'miss', 'pass', 'miss', 'pass', 'pass', 'miss', 'miss', 'not measured'])
        self.assertAlmostEqual(gates['memory for each active peer, 64 ranks'].ratio, 1.25)
        self.assertEqual({g.verdict for g in report.p2p_gates(some_results())}, {'not measured'})

    def test_layouts(self):
        r = some_results()
        for mpi, at_512, at_4096 in (('parley', 30.0, 40.0), ('a', 20.0, 50.0)):
            r.add(mpi, 'pack', 'x:512', at_512, 'GB/s')
            r.add(mpi, 'pack', 'x:4096', at_4096, 'GB/s')
        r.add('parley', 'pack_hand', 'x:512', 40.0, 'GB/s')
        r.add('parley', 'pack_hand', 'x:4096', 41.0, 'GB/s')
        peer, hand = report.layout_gates(r)
        self.assertIn('pack x:4096', peer.what)
        self.assertIn('pack x:512', hand.what)
        self.assertAlmostEqual(peer.ratio, 0.8)
        self.assertAlmostEqual(hand.ratio, 0.75)
        self.assertEqual((peer.verdict, hand.verdict), ('miss', 'miss'))

    def test_tables(self):
        text = '\n'.join(report.gate_table(some_results()) + report.value_tables(some_results()))
        self.assertIn('| 8 | 0.200 | 0.400 | 0.500 | 0.500 |', text)
        self.assertIn('| 8 | 21 | 7 | 10 | 2.1 |', text)


class Jobs(unittest.TestCase):
    def test_parse(self):
        text = '# latency 8 1 us\nlatency 8 0.5 us\nlatency 8 bad us\nnoise\nrate.best 8 3 M/s\n'
        self.assertEqual(jobs.parse(text), [('latency', '8', 0.5, 'us'), ('rate.best', '8', 3.0, 'M/s')])

    def test_suffix(self):
        self.assertEqual([jobs.with_suffix(name, '_x') for name in ('rate', 'rate.best')], ['rate_x', 'rate_x.best'])

    def test_matcher(self):
        row = f"{'random order, posted':32} {'matcher':7}     9.0   162.5"
        script = f"echo 'ns per post      depth 0 100000'; echo '{row}'; echo '{row.replace('matcher', 'list')}'"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'depth')
            with open(path, 'w', encoding='utf-8') as f:
                f.write('#!/bin/sh\n' + script + '\n')
            os.chmod(path, 0o755)
            self.assertEqual(jobs.run_matcher(path, 10), ([('matcher', 'random_order,_posted', 162.5, 'ns')], ''))

    def test_busy_program_ends(self):
        with jobs.BusyProgram() as busy:
            child = busy.child
            self.assertIsNone(child.poll())
        self.assertIsNotNone(child.poll())

    def test_wrong_mpi(self):
        for text in ('x', 'x=', 'x=mpicc', '=a,b', 'x=/nonexistent/mpicc,/bin/true'):
            with self.assertRaises(jobs.JobError):
                jobs.Mpi(text)

    def test_options_of_the_launcher(self):
        mpi = jobs.Mpi('x=/bin/sh,/bin/true,--mca pml ucx')
        mpi.folder = '/f'
        self.assertEqual(mpi.command('rate', 2, ['--pin']),
                         ['/bin/true', '--mca', 'pml', 'ucx', '-n', '2', '/f/rate', '--pin'])

    def test_hanging_job_is_ended_and_its_values_kept(self):
        script = 'echo rate 8 1.5 M/s; sleep 60 & echo child $!; wait'
        begin = time.monotonic()
        values, complaint = jobs.run_job(['/bin/sh', '-c', script], 0.5)
        self.assertLess(time.monotonic() - begin, 20)
        self.assertEqual(values, [('rate', '8', 1.5, 'M/s')])
        self.assertIn('ended after', complaint)

    def test_failing_jobs(self):
        self.assertEqual(jobs.run_job(['/bin/sh', '-c', 'echo cause >&2; exit 3'], 10),
                         ([], 'exit code 3: cause'))
        self.assertEqual(jobs.time_job(['/bin/sh', '-c', 'exit 4'], 10)[1], 'exit code 4')
        self.assertIn('ended after', jobs.time_job(['/bin/sleep', '60'], 0.3)[1])
        seconds, complaint = jobs.time_job(['/bin/sleep', '0.2'], 10)
        self.assertEqual(complaint, '')
        self.assertTrue(0.2 <= seconds < 5)


class Collective(unittest.TestCase):
    """What the docs say of collective operations."""

    def setUp(self):
        self.results = report.Results(['parley', 'a'], 'parley')
        for parameter, mine, theirs in (('2:8', 0.5, 1), ('2:256', 3, 2), ('4:256', 1, 2), ('2', 0.8, 1)):
            name = 'coll_bcast' if ':' in parameter else 'coll_barrier'
            self.results.add('parley', name, parameter, mine, 'us')
            self.results.add('a', name, parameter, theirs, 'us')

    def test_missed(self):
        self.assertEqual(report.coll_missed(self.results), {(2, 'bcast'), (2, 'barrier')})

    def test_section(self):
        lines = coll_docs.section(self.results, [], 3, 0)
        for line in ('| bytes | 2 ranks | 4 ranks |', '| barrier | 0.80 (1 of 1) | – |', '| 8 B | 0.50 (1 of 1) | – |',
                     '| 256 B | 1.50 (0 of 1) | 0.50 (1 of 1) |', '| bcast, 2:256 | 1.50 | 1.5 | 3 us | 2 us (a) | 1 |',
                     '| MPI_Barrier, 2, to best peer | 0.800 us | 1 us (a) | 0.800 | 0.800 | ≤ 0.75 | miss |'):
            self.assertIn(line, lines)
        self.assertIn('Slower than the best peer are 1 of 4:', lines)

    def test_replace(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'page.md')
            for text in ('no marks', coll_docs.BEGIN + '\n'):
                self.write(path, text)
                with self.assertRaisesRegex(OSError, 'lacks a line'):
                    coll_docs.replace(path, ['x'])
            self.write(path, f'before\n{coll_docs.BEGIN}\nold\n{coll_docs.END}\nafter\n')
            coll_docs.replace(path, ['new', ''])
            with open(path, encoding='utf-8') as f:
                self.assertEqual(f.read(), f'before\n{coll_docs.BEGIN}\n\nnew\n\n{coll_docs.END}\nafter\n')

    @staticmethod
    def write(path, text):
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)


if __name__ == '__main__':
    sys.exit(unittest.main())
