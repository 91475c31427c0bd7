/* SPDX-License-Identifier: MIT
 *
 * What kernel and rule of `null` share: the order of its axes. */
#ifndef UB_NULL_RULE_H
#define UB_NULL_RULE_H

#include "harness/contract/micro.h"

enum null_axis { NULL_TIMER, NULL_GRID, NULL_AXES };

#endif
