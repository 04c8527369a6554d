#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Doors: what they export, programs of real compilers of other MPIs, and how mpiexec opens them.

    doors_test.py --build DIR [NAME ...]

Prints "ok NAME", "skipped NAME why" or "FAIL NAME why"; exit code 1 if one failed."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'launch'))
from launch_test import Skipped, run_tests  # noqa: E402

LIBRARIES = {'mpich': 'libmpi.so.12', 'ompi': 'libmpi.so.40'}
COMPILERS = {'mpich': 'mpicc.mpich', 'ompi': 'mpicc.openmpi'}
FORTRAN_COMPILERS = {'mpich': 'mpifort.mpich', 'ompi': 'mpifort.openmpi'}
FORTRAN_LIBRARY = 'libmpi_mpifh.so.40'    # what the Open MPI door has for Fortran
# Of tests/fortran: programs that do without what has come since MPI 3.1, and run with MPICH's own Fortran as well.
FORTRAN_PROGRAMS = ('callbacks_mpi', 'callbacks_f08', 'collect_mpi', 'files_mpi', 'grequest_mpi', 'handlers_mpi',
                    'spawn_mpi')
# MPICH's own crashes in these, or says otherwise.
FORTRAN_PROGRAMS_OMPI = ('addresses_mpi', 'p2p_mpif', 'removed_mpif', 'section_types_f08', 'types_mpi', 'windows_mpi')
PROGRAM = r'''
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, size, sum = 0, one = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%d of %d\n", rank, sum);
    if (argc > 1)
        MPI_Send(&one, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
'''
FORTRAN = r'''
program ring
  use mpi
  integer :: rank, size, from, requests(2), statuses(MPI_STATUS_SIZE, 2), keyval, copy, ierror
  integer(kind=MPI_ADDRESS_KIND) :: value
  double precision :: x(3)
  logical :: flag
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  call MPI_Irecv(from, 1, MPI_INTEGER, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Isend(rank, 1, MPI_INTEGER, mod(rank + 1, size), 5, MPI_COMM_WORLD, requests(2), ierror)
  call MPI_Waitall(2, requests, statuses, ierror)
  if (from /= statuses(MPI_SOURCE, 1) .or. statuses(MPI_TAG, 1) /= 5) stop 2
  x = 1
  call MPI_Allreduce(MPI_IN_PLACE, x, 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
  if (.not. flag .or. value < 32767) stop 3
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, value, ierror)
  value = 4711
  call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, value, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierror)
  value = 0
  call MPI_Comm_get_attr(copy, keyval, value, flag, ierror)
  if (.not. flag .or. value /= 4711) stop 4
  print '(i0, a, i0)', rank, ' of ', nint(x(3))
  call MPI_Finalize(ierror)
end program
'''
IGNORED = r'''
module c_side
  use iso_c_binding
  type(c_ptr), bind(C, name="MPI_F_STATUS_IGNORE") :: status_ignore
  type(c_ptr), bind(C, name="MPI_F_STATUSES_IGNORE") :: statuses_ignore
end module
program ignored
  use mpi
  use c_side
  integer :: ierror
  call MPI_Init(ierror)
  if (transfer(status_ignore, 0_c_intptr_t) /= loc(MPI_STATUS_IGNORE)) stop 2
  if (transfer(statuses_ignore, 0_c_intptr_t) /= loc(MPI_STATUSES_IGNORE)) stop 3
  call MPI_Finalize(ierror)
end program
'''
build = scratch = mpiexec = None


def check(condition, *words):
    if not condition:
        raise AssertionError(' '.join(str(w) for w in words))


def run(*command, env=None):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120, env=env)


def library(door):
    return os.path.join(build, 'abi', door, LIBRARIES[door])


def made(door):
    """A program that is linked to the door, with the header of the tests."""
    return os.path.join(build, 'tests', 'doors', door, 'doors-values')


def real(door):
    """The program above by the compiler of that MPI, which must be installed."""
    compiler = shutil.which(COMPILERS[door])
    if not compiler:
        raise Skipped(f'there is no {COMPILERS[door]}')
    path = os.path.join(scratch, 'real.' + door)
    if not os.path.exists(path):
        with open(path + '.c', 'w', encoding='utf-8') as f:
            f.write(PROGRAM)
        done = run(compiler, path + '.c', '-o', path)
        if 'mpi.h: No such file' in done.stderr:
            raise Skipped(f'{COMPILERS[door]} has no headers')
        check(done.returncode == 0, done.stderr)
    return path


def expect_ranks(done, count):
    lines = sorted(line for line in done.stdout.splitlines() if ' of ' in line)
    check(done.returncode == 0 and lines == [f'{i} of {count}' for i in range(count)] and not done.stderr,
          done.returncode, done.stdout, done.stderr)


def each(test):
    """Run a test for both doors; one that is skipped does not keep the other."""
    skipped = []
    for door in LIBRARIES:
        try:
            test(door)
        except Skipped as why:
            skipped.append(str(why))
    if skipped:
        raise Skipped(('in part: ' if len(skipped) < len(LIBRARIES) else '') + ', '.join(skipped))


def test_names():
    """All that programs of the other MPI can refer to, with PMPI_ twins, and nothing that could be in the way."""
    def one(door):
        out = run('nm', '-D', '--defined-only', library(door)).stdout
        have = {line.split()[-1] for line in out.splitlines() if line.split()[-2] != 't'}
        with open(os.path.join(HERE, f'names-{door}.txt'), encoding='utf-8') as f:
            names = [name for line in f if not line.startswith('#') for name in line.split()]
        functions = [n for n in names if re.match(r'MPIX?_(T_)?[A-Z][a-z]', n)]
        missing = [n for n in names if n not in have]
        missing += ['P' + n for n in functions if 'P' + n not in have and not n.startswith('MPIX_Query')]
        check(not missing, 'not exported:', *missing)
        stray = [n for n in have if not n.startswith(('MPI', 'PMPI', 'OMPI_C_', 'ompi_'))]
        check(not stray, 'exported, but of no use:', *stray)
    each(one)


def test_real_programs():
    """No setting, no option: the program runs."""
    def one(door):
        program = real(door)
        expect_ranks(run(mpiexec, '-n', 3, program), 3)
        expect_ranks(run(mpiexec, '-n', 1, program), 1)
        expect_ranks(run(mpiexec, '-n', 2, '-wdir', scratch, './' + os.path.basename(program)), 2)
        expect_ranks(run(mpiexec, '-n', 1, program, ':', '-n', 1, program), 2)
    each(one)


def fortran_compiler(door):
    """Of that MPI, with its modules, which may be missing."""
    compiler = shutil.which(FORTRAN_COMPILERS[door])
    if not compiler or not shutil.which('gfortran'):
        raise Skipped(f'there is no {FORTRAN_COMPILERS[door]}')
    path = os.path.join(scratch, 'modules.f90')
    with open(path, 'w', encoding='utf-8') as f:
        f.write('use mpi\nend\n')
    if run(compiler, '-c', path, '-o', path + '.o').returncode:
        raise Skipped(f'{FORTRAN_COMPILERS[door]} has no modules')
    return compiler


def fortran_program(door, name, *sources, flags=()):
    path = os.path.join(scratch, f'{name}.{door}')
    done = run(fortran_compiler(door), '-w', '-fallow-argument-mismatch', '-J', scratch, *sources, '-o', path, *flags)
    check(done.returncode == 0, name, done.stderr)
    return path


def ring(interface):
    """The ring by module mpi, by mpif.h and by mpi_f08, where handles and statuses have types."""
    text = FORTRAN
    if interface == 'mpif':
        text = text.replace('  use mpi\n', "  include 'mpif.h'\n")
    if interface == 'f08':
        text = text.replace('use mpi\n', 'use mpi_f08\n').replace(
            'requests(2), statuses(MPI_STATUS_SIZE, 2), keyval, copy, ierror',
            'keyval, ierror\n  type(MPI_Comm) :: copy\n  type(MPI_Request) :: requests(2)\n'
            '  type(MPI_Status) :: statuses(2)')
        text = text.replace('(MPI_SOURCE, 1)', '(1)%MPI_SOURCE').replace('(MPI_TAG, 1)', '(1)%MPI_TAG')
    path = os.path.join(scratch, f'ring_{interface}.f90')
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
    return path


def test_fortran():
    """Programs in Fortran by all three interfaces: MPICH's own library for Fortran stands on the door, of Open MPI's
    only the one for mpi_f08, on ours."""
    def one(door):
        for interface in ('mpi', 'mpif', 'f08'):
            expect_ranks(run(mpiexec, '-n', 3, fortran_program(door, 'ring_' + interface, ring(interface))), 3)
    each(one)


def test_fortran_programs():
    """Programs of tests/fortran."""
    def one(door):
        folder = os.path.join(HERE, '..', 'fortran')
        for name in FORTRAN_PROGRAMS + (FORTRAN_PROGRAMS_OMPI if door == 'ompi' else ()):
            source = os.path.join(folder, name + ('.f' if name.endswith('mpif') else '.f90'))
            program = fortran_program(door, name, os.path.join(HERE, '..', 'common', 'ftest.f90'), source)
            done = run(mpiexec, '-n', 3, '-wdir', scratch, program)
            check(done.returncode == 0, name, done.returncode, done.stdout, done.stderr)
    each(one)


def test_fortran_names():
    """All routines that programs built for Open MPI, and its library for mpi_f08, can refer to."""
    out = run('nm', '-D', '--defined-only', os.path.join(build, 'abi', 'ompi', FORTRAN_LIBRARY)).stdout
    have = {line.split()[-1] for line in out.splitlines()}
    with open(os.path.join(HERE, 'names-ompi-fortran.txt'), encoding='utf-8') as f:
        names = [name for line in f if not line.startswith('#') for name in line.split()]
    missing = [n for name in names for n in (name + '_', f'p{name}_', f'o{name}_f') if n not in have]
    missing += [n for name in names if name.startswith('mpi_')
                for n in (name, name + '__', name.upper(), 'P' + name.upper()) if n not in have]
    check(len(names) > 380 and not missing, len(names), 'not exported:', *missing)
    stray = [n for n in have if not n.lower().startswith(('mpi_', 'pmpi_', 'mpix_', 'pmpix_', 'ompi_', 'ompix_'))]
    check(not stray, 'exported, but of no use:', *stray)


def test_fortran_addresses():
    """C finds MPI_STATUS_IGNORE of Fortran where the program has it."""
    path = os.path.join(scratch, 'ignored.f90')
    with open(path, 'w', encoding='utf-8') as f:
        f.write(IGNORED)
    done = run(mpiexec, '-n', 1, fortran_program('ompi', 'ignored', path))
    check(done.returncode == 0, done.returncode, done.stderr)


def test_fortran_own_order():
    """DT_RPATH goes before LD_LIBRARY_PATH; both libraries of the door go before it. A message names the program's
    line."""
    flags = ('-g', '-Wl,--disable-new-dtags,-rpath,/usr/lib/x86_64-linux-gnu')
    for interface in ('mpi', 'f08'):
        program = fortran_program('ompi', 'rpath_' + interface, ring(interface), flags=flags)
        expect_ranks(run(mpiexec, '-n', 2, program), 2)
    with open(ring('f08'), encoding='utf-8') as f:
        text = f.read().replace('mod(rank + 1, size), 5', 'size, 5')
    path = os.path.join(scratch, 'wrong.f90')
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
    done = run(mpiexec, '-n', 2, fortran_program('ompi', 'wrong', path, flags=['-g']))
    check(done.returncode and 'wrong.f90:' in done.stderr and 'MPI_Isend' in done.stderr, done.stderr)


def test_in_scripts():
    """Behind a shell, which names no MPI itself."""
    each(lambda door: expect_ranks(run(mpiexec, '-n', 2, 'sh', '-c', real(door) + '; exit $?'), 2))


def test_scripts_with_an_order():
    """One that puts the folder of the other library first, and what the message says to do then."""
    def one(door):
        program = real(door) + '.waits' # alone, so that mpiexec sees what it has loaded
        with open(program + '.c', 'w', encoding='utf-8') as f:
            f.write('#include <unistd.h>\n' + PROGRAM.replace('    MPI_Finalize', '    fflush(stdout);\n'
                                                              '    if (sum == 1)\n        sleep(5);\n    MPI_Finalize'))
        done = run(COMPILERS[door], program + '.c', '-o', program)
        check(done.returncode == 0, done.stderr)
        folder = os.path.dirname(next(line.split()[2] for line in run('ldd', program).stdout.splitlines()
                                      if line.split()[0] in (LIBRARIES[door], 'libmpich.so.12')))
        script = f'LD_LIBRARY_PATH={folder}:$LD_LIBRARY_PATH exec {program}'
        done = run(mpiexec, '-n', 2, 'sh', '-c', script)
        said = re.search(r'mpiexec -x (LD_PRELOAD=\S*) goes before all', done.stderr)
        check(done.returncode == 1 and 'E0117' in done.stderr and said, done.returncode, done.stderr)
        expect_ranks(run(mpiexec, '-x', said[1], '-n', 2, 'sh', '-c', script), 2)
    each(one)


def test_own_order():
    """DT_RPATH goes before LD_LIBRARY_PATH; the door goes before both."""
    def one(door):
        real(door)
        path = os.path.join(scratch, 'rpath.' + door)
        folder = os.path.dirname(os.path.realpath('/usr/lib/x86_64-linux-gnu/' + LIBRARIES[door]))
        done = run(COMPILERS[door], os.path.join(scratch, 'real.' + door + '.c'), '-o', path,
                   '-Wl,--disable-new-dtags,-rpath,' + folder)
        check(done.returncode == 0, done.stderr)
        expect_ranks(run(mpiexec, '-n', 2, path), 2)
    each(one)


def test_errors():
    """The message names the call of the program; the texts are those of the library."""
    def one(door):
        done = run(mpiexec, '-n', 2, real(door), 'fail')
        check(done.returncode and 'MPI_Send' in done.stderr and 'E0206' in done.stderr, done.returncode, done.stderr)
    each(one)


def test_no_doors():
    """With --no-doors, and where a door is not installed, the program is told not to be ours."""
    def one(door):
        program = real(door)
        done = run(mpiexec, '--no-doors', '-n', 2, program)
        check(done.returncode == 1 and 'E0117' in done.stderr and 'not installed' not in done.stderr, done.stderr)
        alone = os.path.join(scratch, 'bin', 'mpiexec')
        os.makedirs(os.path.dirname(alone), exist_ok=True)
        shutil.copy2(mpiexec, alone)
        done = run(alone, '-n', 2, program)
        check(done.returncode == 1 and 'E0117' in done.stderr, done.stderr)
        check(f'is not installed: lib/parley/{door}' in done.stderr, done.stderr)
    each(one)


def test_profile():
    """E0124: the library for profiles is one of the standard ABI."""
    def one(door):
        done = run(mpiexec, '--profile', '-n', 1, made(door))
        check(done.returncode and 'E0124' in done.stderr and not done.stdout, done.returncode, done.stderr)
    each(one)


def test_too_many():
    """E0116: a door has a few hundred functions to lend."""
    def one(door):
        done = run(mpiexec, '-n', 1, os.path.join(build, 'tests', 'doors', door, 'too_many'))
        check(done.returncode == 1 and 'E0116: the program makes error handlers' in done.stderr, done.returncode,
              done.stderr)
    each(one)


def test_other_build():
    """E0116: the table of functions that a door finds is not the one it was made for."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = os.path.join(folder, 'other.c'), os.path.join(folder, 'libother.so')
        with open(source, 'w') as file:
            file.write('const unsigned long parley_door_1[4] = { 8 };\n')
        subprocess.run(['cc', '-shared', '-fPIC', source, '-o', library], check=True)

        def one(door):
            done = run(mpiexec, '-x', f'LD_PRELOAD={library}', '-n', 1, made(door))
            check(done.returncode == 1 and 'E0116: this library' in done.stderr, done.returncode, done.stderr)
        each(one)


def test_tools_see_the_program():
    """A report of ranks that wait names the program's line, not one of the door."""
    def one(door):
        program = os.path.join(scratch, 'hang.' + door)
        with open(program + '.c', 'w', encoding='utf-8') as f:
            f.write(PROGRAM.replace('if (argc > 1)', 'if (argc > 1 && rank == 0)').replace('MPI_Send(', 'MPI_Recv(')
                    .replace('size, 0, MPI_COMM_WORLD)', '1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)'))
        real(door)
        done = run(COMPILERS[door], '-g', program + '.c', '-o', program)
        check(done.returncode == 0, done.stderr)
        done = run(mpiexec, '-n', 2, '-timeout', 2, program, 'wait')
        check(f'hang.{door}.c:13' in done.stderr and 'MPI_Recv' in done.stderr, done.stderr)
    each(one)


def test_abort_in_malloc():
    """To find the program's place behind the door takes no memory, which a signal handler may not have."""
    def one(door):
        program = os.path.join(build, 'tests', 'doors', door, 'launch-dies')
        done = run(mpiexec, '-n', 2, '-timeout', 20, program, 'malloc')
        check(done.returncode == 41 and re.search('E0113: MPI_Abort at (?!libmpi)', done.stderr), done.returncode,
              done.stderr)
    each(one)


def main():
    global build, mpiexec, scratch
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--build', required=True, help='build directory')
    parser.add_argument('names', nargs='*')
    args = parser.parse_args()
    build = os.path.realpath(args.build)
    mpiexec = os.path.join(build, 'launch', 'mpiexec')
    os.environ.pop('LD_LIBRARY_PATH', None) # meson's: it would open the doors
    with tempfile.TemporaryDirectory(prefix='doors_test-') as folder:
        scratch = folder
        return run_tests(globals(), args.names)


if __name__ == '__main__':
    sys.exit(main())
