# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the tables' readers and of the generator of entry points: python3 generator_test.py [CALLS-FILE...]

The arguments are the files that the build knows: they must be all that there are."""

import os
import re
import sys
import tempfile
import unittest

import calls as call_lines
import checks
import gen_entry
import model

FUNCTIONS = model.read_functions()


def function(name):
    return next(f for f in FUNCTIONS if f.name == name)


def entry(name, code=None, large=False):
    """The generated text of one function whose line is `code`."""
    call = call_lines.Call(name, code.lstrip(':'), code.startswith(':'), 'here:1', []) if code else None
    return gen_entry.entry_text(gen_entry.Entry(function(name), name + ('_c' if large else ''), large, call))


def read_table(reader, text):
    with tempfile.NamedTemporaryFile('w', suffix='.txt') as file:
        file.write(text)
        file.flush()
        return reader(file.name)


class Tables(unittest.TestCase):
    def test_counts(self):
        forms = [name for f in FUNCTIONS if not f.is_compat for name, _ in f.forms()]
        self.assertEqual(len(forms), 657)
        self.assertEqual(len(set(model.exported_names(FUNCTIONS))), 664)

    def test_prototypes(self):
        self.assertEqual(function('Send').prototype(True),
                         'int MPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, '
                         'MPI_Comm comm)')
        self.assertEqual(function('Wtime').prototype(False), 'double MPI_Wtime(void)')
        self.assertIn('int ranges[][3]', function('Group_range_incl').prototype(False))
        self.assertIn('const MPI_Aint displs[]', function('Gatherv').prototype(True))

    def test_large_only_parameters(self):
        self.assertNotIn('max_large_counts', function('Type_get_contents').prototype(False))
        self.assertIn('max_large_counts', function('Type_get_contents').prototype(True))

    def test_mistakes_are_told(self):
        for text, reason in (('F since 1.0\n', 'before the first section'),
                             ('== 1 t\nF since 1.0\n  in x nokind\n', 'no kind nokind'),
                             ('== 1 t\nF since 1.0\n  by x count\n', 'want: direction'),
                             ('== 1 t\nF since 1.0\nF since 1.0\n', 'stands twice'),
                             ('== 1 t\nF sinceever 1.0\n', 'means nothing'),
                             ('== 1 t\nF\n  in b buffer of=c,d\n', 'is of c')):
            with self.assertRaisesRegex(model.TableError, reason):
                read_table(model.read_functions, text)

    def test_mistakes_in_calls(self):
        known = {'Send'}
        for text, reason in (('Sent = x()\n', 'no function Sent'), ('Send x()\n', 'want: Name'),
                             ('Send ? x()\n', 'no line says what Send does'),
                             ('Send ! x()\n', 'no line says what Send does')):
            with self.assertRaisesRegex(model.TableError, reason):
                read_table(lambda path: call_lines.read_file(path, known), text)

    def test_continued_lines(self):
        found = read_table(lambda path: call_lines.read_file(path, {'Send'}), 'Send = f(a,\n    b)\n# end\n')
        self.assertEqual(found[0].code, 'f(a,\nb)')


class Entries(unittest.TestCase):
    def test_quick_case(self):
        found = read_table(lambda path: call_lines.read_file(path, {'Send'}), 'Send ? quick(buf)\nSend = f()\n')
        for large in (False, True):
            text = gen_entry.entry_text(gen_entry.Entry(function('Send'), 'Send', large, found[0]))
            self.assertEqual('if (quick(buf))\n        return MPI_SUCCESS;' in text, not large)
            self.assertEqual('return checked_Send(buf, ' in text, not large)
            self.assertIn('rc = f()', text)

    def test_refused(self):
        found = read_table(lambda path: call_lines.read_file(path, {'File_write_all'}),
                           'File_write_all ! tell(fh, rc)\nFile_write_all = f(fh, datatype)\n')
        text = gen_entry.entry_text(gen_entry.Entry(function('File_write_all'), 'File_write_all', False, found[0]))
        self.assertEqual(text.count('int rc;'), 1)
        order = ['check_running', 'check_file(', 'return bind_raise', 'check_count', 'check_type_used', 'tell(fh, rc);',
                 'rc = f(fh, datatype)']
        self.assertEqual(sorted(order, key=text.index), order)
        self.assertEqual(text.count('return bind_raise('), 3)

    def test_call_and_raise(self):
        text = entry('Send', 'p2p_send(comm)')
        self.assertIn('struct comm *comm = obj_comm(comm_handle);', text)
        self.assertLess(text.index('check_running'), text.index('check_comm('))
        self.assertLess(text.index('check_type_used'), text.index('check_buffer'))
        self.assertIn('return bind_raise(comm, rc, "MPI_Send");', text)
        self.assertIn('WEAK_ALIAS(Send);', text)

    def test_missing(self):
        self.assertIn('return bind_unsupported(obj_comm(comm_handle), "MPI_Bsend");', entry('Bsend'))
        with self.assertRaisesRegex(model.TableError, 'must be implemented'):
            entry('Wtime')

    def test_anytime_is_not_checked(self):
        self.assertNotIn('check_running', entry('Info_create', 'info_create(info)'))
        self.assertIn('check_running', entry('Barrier', 'coll_barrier(comm)'))

    def test_results(self):
        text = entry('Comm_dup', 'comm_dup(comm, newcomm)')
        self.assertIn('*newcomm_handle = handle_of_comm(newcomm[0]);', text)
        text = entry('Comm_free', 'comm_free(comm)')
        self.assertIn('*comm_handle = MPI_COMM_NULL;', text)
        self.assertLess(text.index('comm_free('), text.index('MPI_COMM_NULL'))
        text = entry('Mrecv', 'p2p_mrecv(message)')
        self.assertLess(text.index('*message_handle = MPI_MESSAGE_NULL'), text.index('p2p_mrecv('))

    def test_ended(self):
        text = entry('Win_free', 'win_free(win)')
        self.assertLess(text.index('errhandler = bind_get_errhandler(win);'), text.index('win_free('))
        self.assertLess(text.index('win_free('), text.index('return bind_raise_ended(win, errhandler, rc'))
        self.assertIn('errhandler_unref(errhandler);', text)
        self.assertNotIn('bind_raise_ended', entry('Comm_free', 'comm_free(comm)'))

    def test_narrow_results(self):
        self.assertIn('*count_small = small_or_undefined(count[0]);', entry('Get_count', ':*count = 1;'))
        text = entry('Comm_detach_buffer', 'f(comm, buffer_addr, size)')
        self.assertIn('*size_small = small_or_undefined(size[0]);', text)
        self.assertIn('check_fits(num_integers[0], "num_integers")', entry('Type_get_envelope', 'f(num_integers)'))
        self.assertNotIn('check_fits', entry('Type_get_extent', ':*lb = *extent = 1;'))  # an address holds all
        self.assertNotIn('small', entry('Get_count', ':*count = 1;', large=True))

    def test_significance(self):
        text = entry('Gather', 'f(comm)')
        self.assertIn('at_root(comm, root)\n            && ((rc = check_count(recvcount', text)
        self.assertIn('!(sendbuf == MPI_IN_PLACE && at_root(comm, root))', text)
        text = entry('Allreduce', 'f(comm)')
        self.assertIn('|| (rc = check_count(count, "count"))', text)
        self.assertIn('(sendbuf == MPI_IN_PLACE && (rc = check_in_place(comm, "sendbuf")))', text)

    def test_ignored_in_place(self):
        for name in ('Alltoallv', 'Ialltoallw', 'Alltoallw_init'):
            for large in (False, True):
                text = entry(name, 'f(comm)', large)
                start = text.index('sendbuf != MPI_IN_PLACE')
                end = text.index('check_counts(recvcounts')
                for word in ('sendcounts', 'sdispls', 'sendtype'):
                    found = [m.start() for m in re.finditer(rf'rc = check_\w+\({word}', text)]
                    self.assertTrue(found and start < min(found) and max(found) < end, word)

    def test_ignored_size(self):
        self.assertIn('(buffer != MPI_BUFFER_AUTOMATIC && (rc = check_number(size, "size")))',
                      entry('Buffer_attach', 'f(buffer, size)'))

    def test_null_handles(self):
        self.assertIn('check_comm_or_null(comm, comm_handle, "comm")', entry('Comm_get_name', 'f(comm)'))
        self.assertIn('check_win_or_null(win, win_handle, "win")', entry('Win_get_name', 'f(win)'))

    def test_owner(self):
        self.assertEqual(checks.owner(function('Win_fence')), 'win')
        self.assertEqual(checks.owner(function('File_open')), 'io_handler_owner(NULL)')
        self.assertEqual(checks.owner(function('File_sync')), 'io_handler_owner(fh)')
        self.assertEqual(checks.owner(function('Intercomm_create')), 'local_comm')
        self.assertEqual(checks.owner(function('Type_commit')), 'NULL')
        self.assertEqual(checks.owner_after_call(function('Wait')), checks.FAILED_REQUEST)
        self.assertIn('return bind_raise_request(rc, "MPI_Wait");', entry('Wait', 'f(request, status)'))
        self.assertEqual(checks.owner(function('Mrecv')), 'p2p_message_owner(message)')
        self.assertIn('return bind_raise_request(rc, "MPI_Mrecv");', entry('Mrecv', 'f(message)'))
        self.assertEqual(checks.owner(function('Comm_create_from_group')), 'errhandler')
        self.assertEqual(checks.owner(function('Errhandler_free')), 'NULL')
        self.assertEqual(checks.owner(function('Group_incl')), 'group ? session_alive(group->session) : NULL')


class CallFiles(unittest.TestCase):
    listed = []

    def test_all_are_listed(self):
        there = [os.path.realpath(path) for path in call_lines.files()]
        self.assertEqual(sorted(self.listed), there, 'src/bind/meson.build must name every file in calls/')

    def test_no_function_twice(self):
        call_lines.read_calls(FUNCTIONS)


if __name__ == '__main__':
    CallFiles.listed = [os.path.realpath(path) for path in sys.argv[1:]]
    unittest.main(argv=sys.argv[:1])
