//===- TestData.h - Test inputs from a seed -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Values for tests, benchmarks and `quern run --seed`. They depend only on the kind, the seed, the argument and the
// shape, not on the machine or the layout, so that a failure in one program can be reproduced in another.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_TESTDATA_TESTDATA_H
#define QUERN_REFERENCE_TESTDATA_TESTDATA_H

#include "Desc/PrimitiveDesc.h"
#include "Reference/Judge.h"

#include <optional>
#include <string_view>

namespace quern {

/// Dense: bell-shaped random values; for integer types, the values of some rows are small and those of others span the
/// type. Designed: few distinct small integers, the largest twice in each row; for backward, terms cancel only exactly.
/// Special: dense, but with NaN, infinities, rows of only -inf, the type's largest values and denormals in some rows
/// along the softmax axis, if the type has them.
///
/// Dense values of the dst of a backward softmax are a possible result: positive values whose sum is 1, or their
/// logarithms. Scales are near 1 (for an integer destination, they spread the results over the type). Operands of
/// post-ops other than conditions are never 0, also after zero points are subtracted. Inputs of primitives with exact
/// results (Judge.h) have all magnitudes; special ones have NaN, infinities and denormals anywhere; a quarter of a
/// binary's inputs are small integers. Inputs of an RNN are never near 0, and its weights keep its states from
/// vanishing or growing over time (Rnn/TestData.cpp); its special inputs have sequences with NaN, an infinity, large
/// values or denormals.
enum class FillKind { Dense, Designed, Special };

std::string_view nameOf(FillKind kind);
/// Parses "dense", "designed", "special"; returns nothing for another name.
std::optional<FillKind> fillFromName(std::string_view name);
/// Returns the criterion for results on such data.
inline DataKind judgedAs(FillKind kind) { return kind == FillKind::Designed ? DataKind::Designed : DataKind::Dense; }

/// Fills the elements of one input of the problem; gaps and padding are unchanged. `buffer` has the layout of `tensor`.
void fillInput(const PrimitiveDesc &desc, int32_t argument, const TensorDesc &tensor, FillKind kind, uint64_t seed,
               void *buffer);

/// If `weights` has appended sums, computes them from the elements in the buffer and stores them after the elements.
void appendRnnSums(const TensorDesc &weights, void *buffer);

} // namespace quern

#endif // QUERN_REFERENCE_TESTDATA_TESTDATA_H
