/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: base. Who listens to events. */
#include "base/event.h"

event_fn *_Atomic event_listener;
