/* SPDX-License-Identifier: MIT
 *
 * micro/list.h as a constant table. Without nvcc each rule stands with no code. */
#include "harness/contract/micro.h"

#define UB_RULE(name) extern const struct ub_micro ub_micro_##name;
#include "micro/list.h"
#undef UB_RULE

#ifdef UB_HAVE_KERNELS
#define UB_RULE(name) extern const struct ub_code ub_code_##name;
#include "micro/list.h"
#undef UB_RULE
#define UB_CODE(name) &ub_code_##name
#else
#define UB_CODE(name) NULL
#endif

const struct ub_entry ub_entries[] = {
#define UB_RULE(name) {&ub_micro_##name, UB_CODE(name)},
#include "micro/list.h"
#undef UB_RULE
};
const size_t ub_entry_count = sizeof ub_entries / sizeof ub_entries[0];
