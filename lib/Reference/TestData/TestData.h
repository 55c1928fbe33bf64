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

/// Dense: bell-shaped random values, all different; for integer types, some rows are narrow and some span the whole
/// type. Designed: few distinct small integers, the largest twice in each row; for backward, terms cancel only exactly.
/// Special: dense, but with NaN, infinities, rows of only -inf, the type's largest values and denormals in some rows
/// along the softmax axis, if the type has them.
///
/// The dst of a backward softmax is the result of a softmax: positive values whose sum is 1, or their logarithms.
/// Scales are near 1 (for an integer destination near the range of results over the range of the type); operands of
/// post-ops are never 0, even after their zero points are subtracted. Inputs of primitives with exact results (Judge.h)
/// have all magnitudes; special ones have NaN, infinities and denormals anywhere; a quarter of a binary's inputs are
/// small integers. Inputs of an RNN are never near 0, and its weights keep its states from vanishing or growing over
/// time (Rnn/TestData.cpp); its special inputs have sequences with NaN, an infinity, large values or denormals.
enum class FillKind { Dense, Designed, Special };

std::string_view nameOf(FillKind kind);
/// Parses "dense", "designed", "special"; returns nothing for another name.
std::optional<FillKind> fillFromName(std::string_view name);
/// Returns the criterion for results on such data.
inline DataKind judgedAs(FillKind kind) { return kind == FillKind::Designed ? DataKind::Designed : DataKind::Dense; }

/// Fills the elements of one input of the problem; gaps and padding are unchanged. `buffer` has the layout of `tensor`.
void fillInput(const PrimitiveDesc &desc, int32_t argument, const TensorDesc &tensor, FillKind kind, uint64_t seed,
               void *buffer);

/// Writes the sums of the elements in the buffer after weights with appended sums; does nothing for other tensors.
void appendRnnSums(const TensorDesc &weights, void *buffer);

} // namespace quern

#endif // QUERN_REFERENCE_TESTDATA_TESTDATA_H
