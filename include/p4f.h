! SPDX-License-Identifier: BSD-3-Clause
! p4 for Fortran programs: include 'p4f.h' in each unit that calls p4.
! Fits fixed and free form. Link with -lp4_f -lp4.
      integer*4 p4myid
      integer*4 p4ntotids
      integer*4 p4nslaves
      integer*4 p4nclids
      integer*4 p4myclid
      integer*4 p4clock
      integer*4 p4ustimer

      integer*4 P4NOX, P4INT, P4LNG, P4FLT, P4DBL
      parameter (P4NOX = 0)
      parameter (P4INT = 1)
      parameter (P4LNG = 2)
      parameter (P4FLT = 3)
      parameter (P4DBL = 4)

      external p4intsumop, p4intmultop, p4intmaxop
      external p4intminop, p4intabsmaxop, p4intabsminop
      external p4fltsumop, p4fltmultop, p4fltmaxop
      external p4fltminop, p4fltabsmaxop, p4fltabsminop
      external p4dblsumop, p4dblmultop, p4dblmaxop
      external p4dblminop, p4dblabsmaxop, p4dblabsminop
