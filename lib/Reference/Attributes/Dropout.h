//===- Dropout.h - Which elements dropout keeps --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Element by element, with the numbers of Philox 4x32-10 as oneDNN draws them. For comparison only.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_ATTRIBUTES_DROPOUT_H
#define QUERN_REFERENCE_ATTRIBUTES_DROPOUT_H

#include "Reference/Reference.h"

namespace quern {

/// What dropout makes of the elements of a tensor.
struct DroppedElements {
  std::vector<uint8_t> kept; ///< logical, row-major: 1 or 0; empty if there is no dropout
  float factor = 1;          ///< of what is kept
  /// The element at `position`, whose value was `value`.
  template <typename Real> Real at(int64_t position, Real value) const {
    return kept[static_cast<size_t>(position)] ? value * static_cast<Real>(factor) : 0;
  }
};

/// The 32-bit number that decides on the element at `position`, row-major.
uint32_t dropoutNumber(int64_t position, int64_t seed, int64_t offset);

/// `invalid_arguments` for a missing input.
Result<DroppedElements> readDropout(const Dropout &dropout, const TensorDesc &dst, const ReferenceInputs &inputs);

/// Appends the mask to the outputs where the problem, whose first output is dst, writes one.
Result<void> appendDropoutMask(const Dropout &dropout, const ReferenceInputs &inputs,
                               std::vector<ReferenceOutput> &outputs);

} // namespace quern

#endif // QUERN_REFERENCE_ATTRIBUTES_DROPOUT_H
