//===- DrawAttributes.h - Random scales and post-ops ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Random attributes, which the attribute classes of each primitive combine.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_DRAWATTRIBUTES_H
#define QUERN_CONFORMANCE_DRAWATTRIBUTES_H

#include "Layouts.h"

namespace quern {

/// The shape that operands of post-ops broadcast to.
struct OperandShape {
  Dims dims;
  std::vector<bool> isOpen; ///< true for open dims
};

struct AttributesDraw {
  Attributes open;
  std::vector<PostOp> actualPostOps; ///< post-ops of `open` with the sizes of this execution
};

/// Draws one scale of any type.
QuantParams drawScale(Random &random);
/// Draws a mask of none, one, some or all of the dims that are not open.
int32_t drawMask(Random &random, const std::vector<bool> &isOpen);
/// Draws fpmath, accumulation and determinism, which never change the judged results.
void drawModes(Random &random, Attributes &attributes);
/// Draws parameters for which the function is defined on almost all numbers.
PostOp drawEltwise(Random &random, Alg alg);
/// Draws any algorithm.
PostOp drawEltwise(Random &random);
/// Appends a binary post-op, sometimes with scales and zero points of its operand.
void appendBinary(Random &random, const OperandShape &shape, AttributesDraw &drawn);
/// Appends a binary post-op of this algorithm.
void appendBinary(Random &random, const OperandShape &shape, AttributesDraw &drawn, Alg alg);
void appendEltwise(Random &random, AttributesDraw &drawn);
/// Appends a sum with any scale, zero point and type.
void appendSum(Random &random, DataType dst, AttributesDraw &drawn);
/// Adds dropout to one in eight problems with a dst of known sizes: without a mask, or with one whose layout may be
/// `any`.
void drawDropout(Random &random, const TensorDesc &dst, Attributes &attributes);
/// Appends the values of the open sizes of post-ops in the order of the text.
void appendSizes(const AttributesDraw &drawn, std::vector<int64_t> &sizes);

} // namespace quern

#endif // QUERN_CONFORMANCE_DRAWATTRIBUTES_H
