//===- DropoutChecks.h - Verification of dropout attributes ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Dropout has the same meaning in every primitive that supports it; only the constraint numbers differ.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_DROPOUTCHECKS_H
#define QUERN_PRIMITIVES_DROPOUTCHECKS_H

#include "Desc/PrimitiveDesc.h"

namespace quern {

/// Names and constraint numbers of one primitive. A citation has the form " (softmax C11)".
struct DropoutRules {
  std::string_view subject;        ///< subject of messages, such as "softmax"
  std::string_view shape, support; ///< citations for the mask's dims; for unsupported layouts and sizes
};

/// Checks a well-formed dropout: if it is set, the dims of `dst` are known and the mask, if any, has them and is dense
/// and row-major. Resolves a mask with layout `any`.
Result<void> checkDropout(Dropout &dropout, const TensorDesc &dst, const DropoutRules &rules);

} // namespace quern

#endif // QUERN_PRIMITIVES_DROPOUTCHECKS_H
