! SPDX-License-Identifier: BSD-3-Clause
! The deprecated include file, in fixed source form (MPI 5.0 19.1.4).
      PROGRAM HELLO
      IMPLICIT NONE
      INCLUDE 'mpif.h'
      INTEGER RANK, RANKS, TOTAL, VERSION, SUBVER, RC
      LOGICAL FLAG
      CALL MPI_INITIALIZED(FLAG, RC)
      CALL CHECK(.NOT. FLAG, 'initialized before MPI_INIT')
      CALL MPI_INIT(RC)
      CALL CHECK_INT(RC, MPI_SUCCESS, 'MPI_INIT')
      CALL MPI_INITIALIZED(FLAG, RC)
      CALL CHECK(FLAG, 'initialized after MPI_INIT')
      CALL MPI_COMM_RANK(MPI_COMM_WORLD, RANK, RC)
      CALL MPI_COMM_SIZE(MPI_COMM_WORLD, RANKS, RC)
      CALL MPI_REDUCE(RANK, TOTAL, 1, MPI_INTEGER, MPI_SUM, 0,
     &                MPI_COMM_WORLD, RC)
      IF (RANK .EQ. 0) CALL CHECK_INT(TOTAL, RANKS * (RANKS - 1) / 2,
     &                                'sum of ranks')
      CALL MPI_GET_VERSION(VERSION, SUBVER, RC)
      CALL CHECK_INT(VERSION, MPI_VERSION, 'version')
      CALL CHECK(MPI_WTIME() .GT. 0D0, 'MPI_WTIME is positive')
      CALL CHECK(MPI_WTICK() .LT. 1D-3, 'MPI_WTICK is small')
      CALL MPI_FINALIZE(RC)
      END
