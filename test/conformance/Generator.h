//===- Generator.h - Random problems, legal and not -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Legal softmax problems walk through the cells of Cells.h and draw the rest: algorithm, rank, axis, sizes around every vector width,
// strides, offsets, blocks, operands, data. Every draw is a legal problem: what the library refuses of them is a failure.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_GENERATOR_H
#define QUERN_CONFORMANCE_GENERATOR_H

#include "Cells.h"
#include "Primitives/TestData.h"
#include "ProblemData.h"
#include "Random.h"

#include <optional>

namespace quern {

struct Case {
  Cell cell;
  std::optional<SpecialCell> special; ///< what the case is for, if it is not for its cell
  PrimitiveDesc desc;
  std::vector<int64_t> sizes; ///< of the `?` of desc.text(), as `quern run --sizes` takes them
  DataOptions data;
};

/// Case `number` of a seed: first the special cells, then the cells over and over. Deterministic.
Case drawCase(uint64_t seed, int64_t number);

/// What the operands of post-ops broadcast to.
struct OperandShape {
  std::vector<int64_t> dims;
  std::vector<bool> isOpen; ///< dims that are left to execution
};

struct AttributesDraw {
  Attributes open;
  std::vector<PostOp> actualPostOps; ///< those of `open` with the sizes of this execution
};
AttributesDraw drawAttributes(Random &random, AttributeClass attribute, const OperandShape &shape);

/// A line that must be refused: a legal one with one thing made wrong. `what` names it.
struct IllegalCase {
  std::string line, what;
  std::string constraint; ///< that the message must name, as "C7"; empty where the line itself does not read
};
IllegalCase drawIllegalCase(uint64_t seed, int64_t number);
/// How many kinds of mistake there are: cases 0 to that number less 1 have each once.
int64_t illegalKinds();

/// A legal line with random damage to its characters: it must parse or be refused with a message.
std::string drawDamagedLine(uint64_t seed, int64_t number);

} // namespace quern

#endif // QUERN_CONFORMANCE_GENERATOR_H
