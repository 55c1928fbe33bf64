//===- Generator.h - Random problems, legal and not -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Legal softmax problems walk through every combination of type pair, layout family and algorithm in turn (a "cell"), and draw the rest:
// rank, axis, sizes around every vector width, strides, offsets, data. So a run of as many cases as there are cells misses none.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_GENERATOR_H
#define QUERN_CONFORMANCE_GENERATOR_H

#include "Primitives/TestData.h"
#include "ProblemData.h"
#include "Random.h"

namespace quern {

/// How the strides of a case were drawn.
enum class LayoutFamily {
  Dense,     ///< row-major on both sides
  Permuted,  ///< the same permutation of the dims on both sides, no gaps
  Gapped,    ///< row-major with gaps and an offset, the same on both sides
  Mixed,     ///< each side its own permutation, gaps and offset
  Broadcast, ///< stride 0 along some dim of src
};
inline constexpr LayoutFamily allFamilies[] = {LayoutFamily::Dense, LayoutFamily::Permuted, LayoutFamily::Gapped, LayoutFamily::Mixed,
                                               LayoutFamily::Broadcast};
inline constexpr DataType allTypes[] = {DataType::F32, DataType::BF16, DataType::F16, DataType::F64};
inline constexpr Alg allAlgs[] = {Alg::SoftmaxAccurate, Alg::SoftmaxLog, Alg::SoftmaxAccurateInfAsZero};

std::string_view nameOf(LayoutFamily family);

struct Cell {
  DataType src, dst;
  LayoutFamily family;
  Alg alg;
  auto operator<=>(const Cell &) const = default;
};
std::vector<Cell> allCells();

struct Case {
  Cell cell;
  PrimitiveDesc desc;
  DataOptions data;
};

/// Case `number` of a seed. Deterministic.
Case drawCase(uint64_t seed, int64_t number);

/// A line that must be refused: a legal one with one thing made wrong. `what` names it.
struct IllegalCase {
  std::string line, what;
};
IllegalCase drawIllegalCase(uint64_t seed, int64_t number);

/// A legal line with random damage to its characters: it must parse or be refused with a message.
std::string drawDamagedLine(uint64_t seed, int64_t number);

} // namespace quern

#endif // QUERN_CONFORMANCE_GENERATOR_H
