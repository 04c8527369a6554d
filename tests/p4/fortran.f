! SPDX-License-Identifier: BSD-3-Clause
! The names that Fortran programs call: each is called, by 2 or more
! processes, and every process prints one line.
      program fort
      include 'p4f.h'
      integer*4 me, n, rc

      call p4init()
      call p4crpg()
      me = p4myid()
      n = p4ntotids()
      call check(p4nslaves() .eq. n - 1, 1)
      call check(p4nclids() .ge. 1, 2)
      call check(p4myclid() .ge. 0, 3)
      call check(p4clock() .ge. 0, 4)
      call check(p4ustimer() .ge. 0, 5)
      call clusters(me)
      call messages(me, n)
      call globals(me, n)
      call operations(me, n)
      call others()
      call p4softerrs(1, rc)
      call check(rc .eq. 0, 6)
      call p4softerrs(0, rc)
      call check(rc .eq. 1, 7)
      call p4globarr(5)
      print 10, 'process ', me, ' of ', n, ' is right'
   10 format(a,i1,a,i1,a)
      call p4flush()
      call alogfenable()
      call p4cleanup()
      end

      subroutine check(holds, where)
      include 'p4f.h'
      logical holds
      integer*4 where

      if (.not. holds) call p4error('does not hold   ', where)
      end

      subroutine clusters(me)
      include 'p4f.h'
      integer*4 me, num, first, last
      integer*4 ids(1024)

      call p4getclmasts(num, ids)
      call check(num .ge. 1, 10)
      call check(ids(1) .eq. 0, 11)
      call p4getclids(first, last)
      call check(first .le. me .and. me .le. last, 12)
      end

! A ring with each kind of send, constants where the library could
! store, a message that is longer than the buffer, a broadcast.
      subroutine messages(me, n)
      include 'p4f.h'
      integer*4 me, n, next, prior, type, from, len, rc
      integer*4 x(4), y(4)

      next = mod(me + 1, n)
      prior = mod(me + n - 1, n)
      x(1) = me
      x(2) = 2 * me
      call p4send(11, next, x, 8, rc)
      call check(rc .eq. 0, 20)
      call p4recv(11, prior, y, 16, len, rc)
      call check(rc .eq. 0 .and. len .eq. 8, 21)
      call check(y(1) .eq. prior .and. y(2) .eq. 2 * prior, 22)
      call p4sendx(12, next, x, 8, P4INT, rc)
      type = -1
      from = -1
   10 call p4probe(type, from, rc)
      if (rc .eq. 0) goto 10
      call check(type .eq. 12 .and. from .eq. prior, 23)
      call p4recv(type, from, y, 4, len, rc)
      call check(rc .eq. 1 .and. len .eq. 4, 24)
      call check(y(1) .eq. prior, 25)
      call p4globarr(17)
      if (me .eq. 0) then
          call p4sendr(13, next, x, 8, rc)
          call p4sendrx(14, next, x, 8, P4INT, rc)
      endif
      if (me .eq. 1) then
          call p4recv(13, 0, y, 16, len, rc)
          call p4recv(14, 0, y, 16, len, rc)
          call check(rc .eq. 0 .and. len .eq. 8, 26)
      endif
      if (me .eq. n - 1) then
          call p4brdcst(15, x, 8, rc)
          call p4brdcstx(16, x, 8, P4INT, rc)
      else
          call p4recv(15, n - 1, y, 16, len, rc)
          call p4recv(16, n - 1, y, 16, len, rc)
          call check(y(2) .eq. 2 * (n - 1), 27)
      endif
      end

! Library operations and one of the program's own.
      subroutine globals(me, n)
      include 'p4f.h'
      external longest
      integer*4 me, n, i, rc, k(3)
      real*4 f(3)
      real*8 d(3)

      do 10 i = 1, 3
          k(i) = me + i
          f(i) = -(me + i)
          d(i) = me + i
   10 continue
      call p4globop(21, k, 3, 4, p4intsumop, P4INT, rc)
      call check(rc .eq. 0, 30)
      call check(k(2) .eq. n * (n - 1) / 2 + 2 * n, 31)
      call p4globop(22, f, 3, 4, p4fltabsmaxop, P4FLT, rc)
      call check(f(3) .eq. n + 2, 32)
      call p4globop(23, d, 3, 8, p4dblminop, P4DBL, rc)
      call check(d(1) .eq. 1, 33)
      k(1) = me
      k(2) = mod(me * 3, n)
      call p4globop(24, k, 2, 4, longest, P4INT, rc)
      call check(k(1) .eq. n - 1, 34)
      end

      subroutine longest(x, y, nelem)
      integer*4 nelem, i
      integer*4 x(nelem), y(nelem)

      do 10 i = 1, nelem
          if (y(i) .gt. x(i)) x(i) = y(i)
   10 continue
      end

! Each operation on 1 + me of the sign of (-1)**me, by all.
      subroutine operations(me, n)
      include 'p4f.h'
      integer*4 me, n, i, total, most, least, product
      integer*4 w(6)

      total = 0
      product = 1
      most = -n
      least = n
      do 10 i = 1, n
          total = total + i * (-1)**(i - 1)
          product = product * i * (-1)**(i - 1)
          most = max(most, i * (-1)**(i - 1))
          least = min(least, i * (-1)**(i - 1))
   10 continue
      w(1) = total
      w(2) = product
      w(3) = most
      w(4) = least
      w(5) = n
      w(6) = 1
      i = (me + 1) * (-1)**me
      call oneint(i, p4intsumop, w(1), 40)
      call oneint(i, p4intmultop, w(2), 41)
      call oneint(i, p4intmaxop, w(3), 42)
      call oneint(i, p4intminop, w(4), 43)
      call oneint(i, p4intabsmaxop, w(5), 44)
      call oneint(i, p4intabsminop, w(6), 45)
      call oneflt(i, p4fltsumop, w(1), 40)
      call oneflt(i, p4fltmultop, w(2), 41)
      call oneflt(i, p4fltmaxop, w(3), 42)
      call oneflt(i, p4fltminop, w(4), 43)
      call oneflt(i, p4fltabsmaxop, w(5), 44)
      call oneflt(i, p4fltabsminop, w(6), 45)
      call onedbl(i, p4dblsumop, w(1), 40)
      call onedbl(i, p4dblmultop, w(2), 41)
      call onedbl(i, p4dblmaxop, w(3), 42)
      call onedbl(i, p4dblminop, w(4), 43)
      call onedbl(i, p4dblabsmaxop, w(5), 44)
      call onedbl(i, p4dblabsminop, w(6), 45)
      end

      subroutine oneint(mine, op, expected, where)
      include 'p4f.h'
      external op
      integer*4 mine, expected, where, rc
      integer*4 x(2)

      x(1) = mine
      x(2) = mine
      call p4globop(25, x, 2, 4, op, P4INT, rc)
      call check(rc .eq. 0 .and. x(1) .eq. expected, where)
      call check(x(2) .eq. expected, where)
      end

      subroutine oneflt(mine, op, expected, where)
      include 'p4f.h'
      external op
      integer*4 mine, expected, where, rc
      real*4 x(2)

      x(1) = mine
      x(2) = mine
      call p4globop(25, x, 2, 4, op, P4FLT, rc)
      call check(rc .eq. 0 .and. x(1) .eq. expected, where)
      call check(x(2) .eq. expected, where)
      end

      subroutine onedbl(mine, op, expected, where)
      include 'p4f.h'
      external op
      integer*4 mine, expected, where, rc
      real*8 x(2)

      x(1) = mine
      x(2) = mine
      call p4globop(25, x, 2, 8, op, P4DBL, rc)
      call check(rc .eq. 0 .and. x(1) .eq. expected, where)
      call check(x(2) .eq. expected, where)
      end

! What prints, and logging, which is not done.
      subroutine others()
      include 'p4f.h'

      call p4setavlbuf(1, 128)
      call p4avlbufs()
      call p4version()
      call alogfsetup(1, 0)
      call alogfmaster(1, 0)
      call alogfdefine(1, 'event', '%d')
      call alogflog(1, 1, 0, 'text')
      call alogfsetdir('.')
      call alogfstatus(1)
      call alogfdisable()
      call alogfoutput()
      end
