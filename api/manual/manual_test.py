# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the manual's texts and pages: python3 manual_test.py [TEXT-FILE...]

The arguments are the files that the build knows: they must be all that there are. Every page is given to groff, where
it is installed, and must pass without a warning."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import gen_man
import man_params
import manual_model
from manual_model import model

FUNCTIONS = {f.name: f for f in model.read_functions()}
TEXTS = manual_model.read_texts()
PAGES = gen_man.pages('1.2')


def written(text):
    """Entries of a file with this text."""
    with tempfile.NamedTemporaryFile('w', suffix='.txt') as file:
        file.write(text)
        file.flush()
        return manual_model.read_file(file.name)


def section(name, title):
    """The text of one section of a page, without marks."""
    text = re.search(rf'^\.SH "?{title}"?\n(.*?)(?=^\.SH |\Z)', PAGES[f'MPI_{name}.3'], re.M | re.S)[1]
    return re.sub(r'\\f.', '', text)


class Texts(unittest.TestCase):
    def test_build_knows_all_files(self):
        if len(sys.argv) > 1:
            self.assertEqual(sorted(map(os.path.realpath, sys.argv[1:])),
                             sorted(map(os.path.realpath, manual_model.texts())))

    def test_every_function_has_one(self):
        self.assertEqual([name for name in FUNCTIONS if name not in TEXTS], [])

    def test_names_exist(self):
        names = manual_model.known_names(list(FUNCTIONS.values()))
        for entry in {id(e): e for e in TEXTS.values()}.values():
            faults = list(manual_model.faults_of_entry(entry, FUNCTIONS, names))
            self.assertEqual(faults, [], entry.where)

    def test_mistakes_are_told(self):
        names = manual_model.known_names(list(FUNCTIONS.values()))
        good = '== Send\npurpose: send\nscope: nonlocal\n\nText.\n'
        for text, fault in ((good.replace('Send', 'Sent'), 'no function MPI_Sent'),
                            (good.replace('nonlocal', 'global'), 'none of those'),
                            (good.replace('nonlocal', 'collective'), 'none of those'),
                            (good.replace('send', 'send.'), 'full stop'), (good.replace('Text.', ''), 'no description'),
                            (good + 'The *buffer* too.\n', '*buffer* is no parameter'),
                            (good + 'See `MPI_Sendd`.\n', 'there is no MPI_Sendd'),
                            (good + '\nsee: Recv Send\n', 'no other function MPI_Send'),
                            (good + '\nerrors: MPI_ERR_ODD  never\n', 'no MPI_ERR_ODD'),
                            (good + '\nparam: x  a\n', 'no parameter x')):
            faults = list(manual_model.faults_of_entry(written(text)[0], FUNCTIONS, names))
            self.assertTrue(any(fault in f for f in faults), (text, faults))
        self.assertEqual(list(manual_model.faults_of_entry(written(good)[0], FUNCTIONS, names)), [])

    def test_unreadable_files_are_told(self):
        for text in ('text\n', '== Send\nerrors: MPI_ERR_TAG\n', '== Send\nsee: Recv\nsee: Isend\n'):
            self.assertRaises(model.TableError, written, text)

    def test_blocks(self):
        entry = written('== Send Ssend\npurpose: a\n    b\nscope: collective over *comm*, nonblocking; a note\n\nOne\n'
                        'paragraph.\n\n    int i;\n      x\n\nparley: p\n\nparley: q\n')[0]
        self.assertEqual(entry.names, ['Send', 'Ssend'])
        self.assertEqual([e.names for e in written('== A B\n== C\npurpose: a\n\n== D\npurpose: b\n')],
                         [['A', 'B', 'C'], ['D']])
        self.assertEqual(entry.purpose, 'a b')
        self.assertEqual((entry.scope_word, entry.scope_over, entry.scope_how, entry.scope_note),
                         ('collective', '*comm*', 'nonblocking', 'a note'))
        self.assertEqual(entry.blocks, [(False, 'One paragraph.'), (True, 'int i;\n  x')])
        self.assertEqual(entry.parley, ['p', 'q'])


class Pages(unittest.TestCase):
    def test_one_for_each_form(self):
        forms = {f'MPI_{form}.3' for f in FUNCTIONS.values() for form, _ in f.forms()}
        self.assertEqual(set(PAGES), forms)
        self.assertEqual(PAGES['MPI_Send_c.3'], '.so man3/MPI_Send.3\n')

    def test_synopsis(self):
        text = section('Send', 'SYNOPSIS')
        for line in ('int MPI_Send(const void *buf, int count, MPI_Datatype datatype,', 'int MPI_Send_c(',
                     'MPI_Send(buf, count, datatype, dest, tag, comm, ierror)',
                     'integer, optional, intent(out) :: ierror', 'type(*), dimension(..), intent(in) :: buf',
                     'MPI_SEND(buf,', '<type> :: buf(*)'):
            self.assertIn(line, text)
        self.assertIn('double MPI_Wtime();', section('Wtime', 'SYNOPSIS').replace('(void)', '()'))
        self.assertIn('double precision function MPI_WTIME()', section('Wtime', 'SYNOPSIS'))
        self.assertNotIn('Fortran', section('T_init_thread', 'SYNOPSIS'))
        self.assertNotIn('f08', section('Attr_get', 'SYNOPSIS'))

    def test_parameters(self):
        text = section('Ialltoallw', 'PARAMETERS')
        self.assertIn('block i has sendcounts[i] elements of sendtypes[i] and begins at sdispls[i]', text)
        self.assertIn('where the block begins, in bytes', text)
        self.assertIn('Until the operation is complete it must not be changed', text)
        self.assertIn('`MPI_IN_PLACE`'.strip('`'), text)
        self.assertIn('where the block begins, in extents of the datatype', section('Gatherv', 'PARAMETERS'))
        self.assertIn('Not to be changed until the epoch ends', section('Put', 'PARAMETERS'))
        self.assertIn('Until the operation is complete it must not be changed', section('Rput', 'PARAMETERS'))
        self.assertIn('Significant at the root only', section('Gather', 'PARAMETERS'))
        self.assertIn('for each process', section('Gather', 'PARAMETERS'))
        self.assertIn('becomes MPI_COMM_NULL', section('Comm_free', 'PARAMETERS'))
        self.assertIn('MPI_STATUS_IGNORE', section('Recv', 'PARAMETERS'))
        self.assertEqual(len(re.findall('may be NULL', section('T_event_get_info', 'PARAMETERS'), re.I)), 9)
        self.assertIn('Only in MPI_Type_get_contents_c', section('Type_get_contents', 'PARAMETERS'))

    def test_errors(self):
        text = section('Send', 'ERRORS')
        for words in ('MPI_ERR_COUNT', 'count is negative', 'MPI_ERR_RANK', 'error handler of the communicator comm'):
            self.assertIn(words, text)
        for name, words in (('Session_get_info', 'error handler of the session returns'),
                            ('Session_init', 'where errhandler returns'), ('Mrecv', 'communicator of the message'),
                            ('Info_set', 'MPI_COMM_SELF (before MPI_Init'), ('Group_size', 'session that the group'),
                            ('Get_processor_name', 'error handler of MPI_COMM_SELF returns'),
                            ('File_open', 'error handler of MPI_FILE_NULL')):
            self.assertIn(words, section(name, 'ERRORS'))
        self.assertIn('MPI_T_ERR_INVALID', section('T_init_thread', 'ERRORS'))
        self.assertIn('MPI_ERR_VALUE_TOO_LARGE', section('Type_get_envelope', 'ERRORS') + section('Pack', 'ERRORS'))

    def test_every_check_has_a_text(self):
        for function in FUNCTIONS.values():
            man_params.found_errors(function)    # a check that is not known ends in KeyError

    def test_standard(self):
        self.assertIn('Since MPI 1.0; the form with large counts since MPI 4.0. MPI 5.0, section 3.2.1',
                      section('Send', 'STANDARD'))
        self.assertIn('Deprecated since MPI-4.1.', section('Get_elements_x', 'STANDARD'))

    def test_completion(self):
        self.assertIn('Nonlocal', section('Send', 'COMPLETION'))
        self.assertIn('Nonblocking', section('Isend', 'COMPLETION'))
        self.assertIn('the same order as other collective functions of the window', section('Win_fence', 'COMPLETION'))
        for name in ('Init', 'Finalize', 'Comm_join', 'Comm_create_group', 'Comm_create_from_group'):
            self.assertNotIn('same order', section(name, 'COMPLETION'))
        self.assertNotIn('communicator', section('Init', 'THREADS') + section('Comm_join', 'THREADS'))
        self.assertEqual(section('Win_complete', 'COMPLETION'),
                         'Nonlocal: it may wait until the targets have called MPI_Win_post.\n')
        self.assertIn('must not complete the same request', section('Wait', 'THREADS'))

    @unittest.skipUnless(shutil.which('groff'), 'no groff')
    def test_groff_has_nothing_to_say(self):
        with tempfile.TemporaryDirectory() as folder:
            gen_man.write_pages(os.path.join(folder, 'man3'), '1.2')
            names = sorted(n for n, text in PAGES.items() if not text.startswith('.so'))
            done = subprocess.run(['groff', '-man', '-Tutf8', '-rLL=80n', '-ww', '-z'] + names, capture_output=True,
                                  cwd=os.path.join(folder, 'man3'), text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ''))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
