//===- Batch.h - A loop around a schedule ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The products of a batch do not share results. Each is a separate problem, and the batch is a loop around its kernel,
// so one schedule serves all products.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_BATCH_BATCH_H
#define QUERN_SCHEDULE_BATCH_BATCH_H

#include "Schedule/Problem/Match.h"

namespace quern {

/// Matches the problem of one index.
using MatchOne = llvm::function_ref<MatchPtr(const schedule::Problem &, std::string &whyNot)>;

/// Matches a problem whose ops share a loop that indexes every operand of its first reduction. In the kernel's space,
/// the iterations of each index follow those of the index before. Returns null with a reason if there is no such loop
/// or if `matchOne` returns null. Matches of `matchOne` must have one kernel, without shared memory and work-groups.
MatchPtr matchBatch(const schedule::Problem &problem, MatchOne matchOne, std::string &whyNot);

} // namespace quern

#endif // QUERN_SCHEDULE_BATCH_BATCH_H
