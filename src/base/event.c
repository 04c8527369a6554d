/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: base. Who listens to events. */
#include "base/event.h"

event_fn *_Atomic event_listener;
_Thread_local int event_depth;
