/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4, inside. The engine. */
#ifndef P4_INT_DOOR_H
#define P4_INT_DOOR_H

#include "door/door.h"

static const struct door *const door = &parley_door_1;

#endif
