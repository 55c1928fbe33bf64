//===- Reference.cpp - What a primitive must compute, readably ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See Reference.h. This file only picks the primitive's oracle.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Reference.h"

namespace quern {

Result<std::vector<ReferenceOutput>> computeReference(const PrimitiveDesc &desc, const ReferenceInputs &inputs) {
  if (desc.kind() == PrimitiveKind::Softmax)
    return computeSoftmaxReference(desc, inputs);
  return unimplemented(nameOf(desc.kind()), ": there is no reference; softmax has one");
}

} // namespace quern
