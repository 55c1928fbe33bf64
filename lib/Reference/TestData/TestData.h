//===- TestData.h - Inputs from a seed -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Values for tests, benchmarks and `quern run --seed`: the same on every machine for the same kind, seed, argument and
// shape, whatever the layout, so that a failure found by one program is repeated by another.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_TESTDATA_TESTDATA_H
#define QUERN_REFERENCE_TESTDATA_TESTDATA_H

#include "Desc/PrimitiveDesc.h"
#include "Reference/Judge.h"

#include <optional>
#include <string_view>

namespace quern {

/// Dense: bell-shaped random values, no two alike; of an integer type, some rows narrow and some over the whole type.
/// Designed: few distinct small integers, the largest twice in each row; for backward such that nothing cancels but
/// exactly. Special: dense, with NaN, infinities, rows of only -inf, the type's largest values and denormals mixed in
/// row by row along the softmax axis, as far as the type has them. The dst of a backward problem is the result of a
/// softmax: positive values whose sum is 1, or their logarithms. Scales are near 1 (those of an integer destination
/// near the range of results over the range of the type); operands of post-ops are never 0, zero points included.
/// Inputs of what is exact (Judge.h) are of every magnitude; special ones have NaN, infinities and denormals anywhere;
/// of those of a binary a quarter are small integers. Inputs of an RNN are never near 0, and its weights such that its
/// states neither vanish nor grow over time (Rnn/TestData.cpp); special ones have sequences with NaN, with an infinity,
/// with large values and of denormals.
enum class FillKind { Dense, Designed, Special };

std::string_view nameOf(FillKind kind);
/// "dense", "designed", "special"; nothing for another name.
std::optional<FillKind> fillFromName(std::string_view name);
/// The criterion that results on such data are judged by.
inline DataKind judgedAs(FillKind kind) { return kind == FillKind::Designed ? DataKind::Designed : DataKind::Dense; }

/// Fills the elements of one input of the problem; gaps and padding keep what they have. `buffer` holds `tensor`.
void fillInput(const PrimitiveDesc &desc, int32_t argument, const TensorDesc &tensor, FillKind kind, uint64_t seed,
               void *buffer);

/// Behind weights with sums appended, those of the elements that the buffer has; of other tensors nothing.
void appendRnnSums(const TensorDesc &weights, void *buffer);

} // namespace quern

#endif // QUERN_REFERENCE_TESTDATA_TESTDATA_H
