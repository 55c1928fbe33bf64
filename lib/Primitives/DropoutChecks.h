//===- DropoutChecks.h - Which dropout a primitive takes ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Dropout is the same thing in every primitive that takes it; what differs is the numbers of the constraints.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_DROPOUTCHECKS_H
#define QUERN_PRIMITIVES_DROPOUTCHECKS_H

#include "Desc/PrimitiveDesc.h"

namespace quern {

/// What one primitive says. Citations are as " (softmax C11)".
struct DropoutRules {
  std::string_view subject;        ///< "softmax"
  std::string_view shape, support; ///< citations: of the mask's dims, of layouts and sizes that are not implemented
};

/// Of dropout that is well-formed: where it is set, its mask, if any, has the dims of `dst`, which are known, and is
/// dense and row-major. Resolves a mask with layout `any`.
Result<void> checkDropout(Dropout &dropout, const TensorDesc &dst, const DropoutRules &rules);

} // namespace quern

#endif // QUERN_PRIMITIVES_DROPOUTCHECKS_H
