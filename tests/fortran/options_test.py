#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Options of the compiler that change what INTEGER and REAL are: with larger INTEGERs a program is refused, by mpif.h
as by the modules, and does not run with what is no rank; with larger REALs times are right. Arguments: compiler,
mpiexec, folder of mpif.h, of libmpifort_abi, of libmpi_abi."""

import os
import re
import subprocess
import sys
import tempfile

PROGRAM = '''
      {use}
      IMPLICIT NONE
      {include}
      INTEGER RANK, RC
      CALL MPI_INIT(RC)
      CALL MPI_COMM_RANK(MPI_COMM_WORLD, RANK, RC)
      IF (RANK .NE. 0 .OR. RC .NE. 0) STOP 2
      IF (MPI_WTIME() .LT. 0.001 .OR. MPI_WTIME() .GT. 1.0D12) STOP 3
      IF (MPI_WTICK() .LT. 1.0D-12 .OR. PMPI_WTICK() .GT. 1) STOP 4
      CALL MPI_FINALIZE(RC)
      END
'''


def main():
    compiler, mpiexec, include, *libraries = sys.argv[1:]
    flags = [f'-I{include}', '-fallow-argument-mismatch']
    flags += [f for d in libraries for f in (f'-L{d}', f'-Wl,-rpath,{d}')]
    faults = []
    with tempfile.TemporaryDirectory(prefix='options_test-') as folder:
        source, program = os.path.join(folder, 'a.f90'), os.path.join(folder, 'a')
        for way in ('mpif', 'mpi'):
            with open(source, 'w', encoding='utf-8') as file:
                file.write(PROGRAM.format(use='USE MPI' if way == 'mpi' else '',
                                          include="INCLUDE 'mpif.h'" if way == 'mpif' else ''))
            for option, is_fine in (('-O1', True), ('-fdefault-real-8', True), ('-fdefault-integer-8', False)):
                made = subprocess.run([compiler, option, source, '-o', program] + flags
                                      + ['-lmpifort_abi', '-lmpi_abi'], capture_output=True, text=True, check=False)
                if (made.returncode == 0) != is_fine:
                    faults.append(f'{way} {option}: compiled with {made.returncode}: {made.stderr}')
                elif is_fine and (rc := subprocess.run([mpiexec, '-n', '1', program], check=False).returncode):
                    faults.append(f'{way} {option}: ended with {rc}')
                elif not is_fine and way == 'mpif' and not re.search(r'mpif.h:\d+(.|\n)*Division by zero', made.stderr):
                    faults.append(f'{way} {option}: does not lead to the line of mpif.h that says why: {made.stderr}')
    print('\n'.join(faults + [f'{len(faults)} faults']))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
