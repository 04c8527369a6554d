! SPDX-License-Identifier: BSD-3-Clause
! Point-to-point with mpif.h: statuses as arrays, MPI_STATUS_IGNORE, indices from 1, null requests, persistent ones.
      PROGRAM P2P
      IMPLICIT NONE
      INCLUDE 'mpif.h'
      INTEGER RANK, RANKS, NEXT, PREV, RC, GOT, N, I, DONE
      INTEGER STATUS(MPI_STATUS_SIZE), REQ(3), INDICES(3)
      INTEGER STATUSES(MPI_STATUS_SIZE, 3), IN(3), OUT(3)
      LOGICAL FLAG
      CALL MPI_INIT(RC)
      CALL MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, MPI_ERRORS_RETURN,
     &                             RC)
      CALL MPI_COMM_RANK(MPI_COMM_WORLD, RANK, RC)
      CALL MPI_COMM_SIZE(MPI_COMM_WORLD, RANKS, RC)
      NEXT = MOD(RANK + 1, RANKS)
      PREV = MOD(RANK + RANKS - 1, RANKS)

      OUT(1) = RANK
      CALL MPI_SENDRECV(OUT, 1, MPI_INTEGER, NEXT, 5, GOT, 1,
     &                  MPI_INTEGER, PREV, 5, MPI_COMM_WORLD, STATUS,
     &                  RC)
      CALL CHECK_INT(GOT, PREV, 'received')
      CALL CHECK_INT(STATUS(MPI_SOURCE), PREV, 'source')
      CALL CHECK_INT(STATUS(MPI_TAG), 5, 'tag')
      CALL MPI_GET_COUNT(STATUS, MPI_INTEGER, N, RC)
      CALL CHECK_INT(N, 1, 'count')

! Three messages, received in another order.
      DO I = 1, 3
          OUT(I) = 10 * RANK + I
          CALL MPI_IRECV(IN(I), 1, MPI_INTEGER, PREV, I,
     &                   MPI_COMM_WORLD, REQ(I), RC)
      END DO
      CALL MPI_TESTANY(3, REQ, N, FLAG, STATUS, RC)
      CALL CHECK(.NOT. FLAG .AND. N .EQ. MPI_UNDEFINED, 'none')
      CALL MPI_BARRIER(MPI_COMM_WORLD, RC)
      CALL MPI_SEND(OUT(2), 1, MPI_INTEGER, NEXT, 2, MPI_COMM_WORLD,
     &              RC)
      CALL MPI_WAITANY(3, REQ, N, STATUS, RC)
      CALL CHECK_INT(N, 2, 'index of the one that is complete')
      CALL CHECK_INT(REQ(2), MPI_REQUEST_NULL, 'its request')
      CALL CHECK_INT(STATUS(MPI_TAG), 2, 'its tag')
      CALL MPI_BARRIER(MPI_COMM_WORLD, RC)
      CALL MPI_SEND(OUT(1), 1, MPI_INTEGER, NEXT, 1, MPI_COMM_WORLD,
     &              RC)
      CALL MPI_SEND(OUT(3), 1, MPI_INTEGER, NEXT, 3, MPI_COMM_WORLD,
     &              RC)
      DONE = 0
      DO WHILE (DONE .LT. 2)
          CALL MPI_WAITSOME(3, REQ, N, INDICES, STATUSES, RC)
          DO I = 1, N
              CALL CHECK(INDICES(I) .EQ. 1 .OR. INDICES(I) .EQ. 3,
     &                   'index of one of several')
              CALL CHECK_INT(STATUSES(MPI_TAG, I), INDICES(I),
     &                       'tag of one of several')
          END DO
          DONE = DONE + N
      END DO
      CALL MPI_TESTSOME(3, REQ, N, INDICES, MPI_STATUSES_IGNORE, RC)
      CALL CHECK_INT(N, MPI_UNDEFINED, 'none is left')
      DO I = 1, 3
          CALL CHECK_INT(IN(I), 10 * PREV + I, 'contents')
      END DO

! Statuses that nobody wants, probe, MPI_BOTTOM, MPI_PROC_NULL.
      CALL MPI_ISSEND(OUT, 3, MPI_INTEGER, NEXT, 7, MPI_COMM_WORLD,
     &                REQ(1), RC)
      CALL MPI_PROBE(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, STATUS, RC)
      CALL MPI_GET_COUNT(STATUS, MPI_INTEGER, N, RC)
      CALL CHECK_INT(N, 3, 'count of a probe')
      CALL MPI_RECV(IN, 3, MPI_INTEGER, STATUS(MPI_SOURCE), 7,
     &              MPI_COMM_WORLD, MPI_STATUS_IGNORE, RC)
      CALL MPI_WAIT(REQ(1), MPI_STATUS_IGNORE, RC)
      CALL CHECK_INT(IN(3), 10 * PREV + 3, 'contents after a probe')
      CALL MPI_RECV(MPI_BOTTOM, 0, MPI_INTEGER, MPI_PROC_NULL, 0,
     &              MPI_COMM_WORLD, STATUS, RC)
      CALL CHECK_INT(STATUS(MPI_SOURCE), MPI_PROC_NULL, 'nobody')

! Persistent requests keep their handles.
      CALL MPI_SEND_INIT(OUT, 1, MPI_INTEGER, NEXT, 9, MPI_COMM_WORLD,
     &                   REQ(1), RC)
      CALL MPI_RECV_INIT(IN, 1, MPI_INTEGER, PREV, 9, MPI_COMM_WORLD,
     &                   REQ(2), RC)
      DO I = 1, 3
          OUT(1) = 100 * RANK + I
          CALL MPI_STARTALL(2, REQ, RC)
          CALL MPI_WAITALL(2, REQ, STATUSES, RC)
          CALL CHECK_INT(IN(1), 100 * PREV + I, 'persistent')
          CALL CHECK_INT(STATUSES(MPI_TAG, 2), 9, 'persistent: tag')
          CALL CHECK(REQ(1) .NE. MPI_REQUEST_NULL, 'persistent: kept')
      END DO
      CALL MPI_REQUEST_FREE(REQ(1), RC)
      CALL MPI_REQUEST_FREE(REQ(2), RC)
      CALL CHECK_INT(REQ(2), MPI_REQUEST_NULL, 'freed')

! Errors come back in the last argument.
      CALL MPI_SEND(OUT, 1, MPI_INTEGER, RANKS, 0, MPI_COMM_WORLD, RC)
      CALL CHECK_CLASS(RC, MPI_ERR_RANK, 'a rank that is none')
      CALL MPI_SEND(OUT, -1, MPI_INTEGER, NEXT, 0, MPI_COMM_WORLD, RC)
      CALL CHECK_CLASS(RC, MPI_ERR_COUNT, 'a count that is none')
      CALL MPI_FINALIZE(RC)
      END
