//===- DrawAttributes.h - Random scales and post-ops ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the classes of attributes of each primitive are made of.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_DRAWATTRIBUTES_H
#define QUERN_CONFORMANCE_DRAWATTRIBUTES_H

#include "Layouts.h"

namespace quern {

/// What the operands of post-ops broadcast to.
struct OperandShape {
  Dims dims;
  std::vector<bool> isOpen; ///< dims that are left to execution
};

struct AttributesDraw {
  Attributes open;
  std::vector<PostOp> actualPostOps; ///< those of `open` with the sizes of this execution
};

/// One scale of any type.
QuantParams drawScale(Random &random);
/// No dim, one, some or all of those that `isOpen` does not have.
int32_t drawMask(Random &random, const std::vector<bool> &isOpen);
/// fpmath, accumulation, determinism: permissions that never change what is right.
void drawModes(Random &random, Attributes &attributes);
/// Parameters for which the function is defined on all numbers or nearly so.
PostOp drawEltwise(Random &random, Alg alg);
/// Of any algorithm.
PostOp drawEltwise(Random &random);
/// Appends a binary post-op, some with scales and zero points of its operand.
void appendBinary(Random &random, const OperandShape &shape, AttributesDraw &drawn);
/// Appends a binary post-op of this algorithm.
void appendBinary(Random &random, const OperandShape &shape, AttributesDraw &drawn, Alg alg);
void appendEltwise(Random &random, AttributesDraw &drawn);
/// Appends a sum with any scale, zero point and type.
void appendSum(Random &random, DataType dst, AttributesDraw &drawn);
/// Appends the values of the open sizes of post-ops in the order of the text.
/// Of problems with a dst of known sizes, one in eight gets dropout: with a mask, whose layout may be `any`, or none.
void drawDropout(Random &random, const TensorDesc &dst, Attributes &attributes);
void appendSizes(const AttributesDraw &drawn, std::vector<int64_t> &sizes);

} // namespace quern

#endif // QUERN_CONFORMANCE_DRAWATTRIBUTES_H
