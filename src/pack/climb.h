/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HBM_PACK_CLIMB_H
#define HBM_PACK_CLIMB_H

#include "pack/internal.h"

enum { HBM_CLIMB_MAX = 1024 }; /* items that `climb` takes by bit sets */

#endif
