/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran: the special addresses of mpif.h. Those of the modules are the modules' own. */
#include "handles.h"

struct common_addresses mpifaddresses_;
struct common_texts mpiftexts_;
