/* SPDX-License-Identifier: BSD-3-Clause */
/* p4: the names of ALOG, the event log of old programs. p4.h includes this. They do nothing here: mpiexec and a
 * profiler tell more; the names are for sources to compile. */
#ifndef ALOG_H
#define ALOG_H

#define ALOG_TRUNCATE 0
#define ALOG_WRAP 1
#define ALOG_OFF 0
#define ALOG_ON 1

#define ALOG_SETUP(pid, flag)
#define ALOG_MASTER(pid, flag)
#define ALOG_DEFINE(event, name, format)
#define ALOG_LOG(pid, event, number, string)
#define ALOG_OUTPUT
#define ALOG_SETDIR(directory)
#define ALOG_STATUS(on)
#define ALOG_ENABLE
#define ALOG_DISABLE
#define ALOG_DEC

#endif
