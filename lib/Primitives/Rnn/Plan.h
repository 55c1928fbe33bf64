//===- Plan.h - How an RNN is computed ------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Decisions about a verified problem that depend on the sizes of caches and on how often weights are read.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_PLAN_H
#define QUERN_PRIMITIVES_RNN_PLAN_H

#include "Primitives/Registry.h"

namespace quern::rnn {

/// Adds to VerifiedProblem::intermediates the weights that a step packs or rounds in each execution, and rows that are
/// widened. Fails with `invalid_arguments` if a packed layout is too large.
Result<void> planCopies(VerifiedProblem &problem, const Target &target);

/// Returns true if the weights that a step of one layer and direction reads are too large to stay in the caches until
/// the next step reads them again.
bool weightsExceedCache(const RnnDesc &rnn);

/// Returns true if the products of a layer's inputs are computed for all time steps at once, because one step has too
/// few rows to reuse the weights well.
bool mergesInputs(const RnnDesc &rnn);

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_PLAN_H
