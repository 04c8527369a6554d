#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is around a program: how it was started, its language, its environment, a library that it opens by itself.

    around_test.py --build DIR [NAME ...]"""

import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import launch_test as launch  # noqa: E402
from launch_test import check, equal, expect, run  # noqa: E402


def test_errors_outside():
    """The same handler is the initial one, for errors while MPI_COMM_SELF is not there."""
    program, moments = launch.compiled('outside'), ['before', 'session', 'left', 'after']
    expect(run('-initial-errhandler', 'mpi_errors_return', '-n', 2, program, 'all'), 0, moments * 2)
    for moment in moments:
        for handler in ('mpi_errors_abort', 'mpi_errors_are_fatal'):
            result = run('-initial-errhandler', handler, '-n', 1, program, moment)
            check(result.returncode not in (0, 1) and not result.stdout, moment, handler, result)
            equal(result.stderr.count('parley: '), 1, result.stderr)
    environment = dict(os.environ, PARLEY_ERRHANDLER='mpi_errors_return')
    result = subprocess.run([program, 'before'], env=environment, capture_output=True, text=True,
                            timeout=launch.STOP_AFTER, check=False)
    check(result.returncode not in (0, 1), 'no launcher has said so', result)


def test_reloaded():
    """Closed and opened again, the library goes on: sessions may come again."""
    program, library = os.path.join(launch.scratch, 'reloads'), os.path.join(launch.build, 'src', 'libmpi_abi.so.1')
    done = subprocess.run(['cc', '-I', os.path.join(launch.build, 'api'), '-o', program,
                           os.path.join(HERE, 'reloads.c'), '-ldl'], stderr=subprocess.PIPE, text=True, check=False)
    equal(done.returncode, 0, done.stderr)
    for count in (1, 2, 3):
        expect(run('-n', count, program, library), 0, [str(count)] * 3 * count)


def test_commas():
    """A language with another decimal point."""
    if not shutil.which('localedef') or not os.path.exists('/usr/share/i18n/locales/de_DE'):
        raise launch.Skipped('no locales to be made')
    made = os.path.join(launch.scratch, 'de_DE.UTF-8')
    subprocess.run(['localedef', '-c', '-f', 'UTF-8', '-i', 'de_DE', made], check=False, capture_output=True)
    trace = os.path.join(launch.scratch, 'commas.json')
    words = ['env', f'LOCPATH={launch.scratch}', 'LC_ALL=de_DE.UTF-8', launch.compiled('commas')]
    expect(run('-n', 1, *words), 0, ['1,5 MPI_ERR_PORT'])
    result = run(f'--trace={trace}', '-n', 1, *words)
    equal(result.stdout, '1,5 MPI_ERR_PORT\n')
    with open(trace, encoding='utf-8') as file:
        events = json.load(file)
    check(events, 'an empty trace')


def test_wrong_settings():
    """All that is wrong in the environment is told by MPI_Init, used or not."""
    for name in ('SINGLE_COPY', 'HUGE_PAGES', 'RMA_HELPER', 'TCP_BUFFER', 'SHARED_COLL_COPY_MIN', 'WARN'):
        result = run('-n', 1, 'env', f'PARLEY_{name}=perhaps', launch.compiled('ends'), 'well')
        check(result.returncode == 16 and 'E0320: MPI_Init at ' in result.stderr, name, result)
        check(f'PARLEY_{name} is "perhaps"' in result.stderr, result.stderr)


if __name__ == '__main__':
    sys.exit(launch.main(globals(), __doc__))
