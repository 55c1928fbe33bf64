//===- Dropout.h - Reference of dropout masks -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Masks are computed element by element, with the random numbers of oneDNN's Philox 4x32-10, for comparison only.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_ATTRIBUTES_DROPOUT_H
#define QUERN_REFERENCE_ATTRIBUTES_DROPOUT_H

#include "Reference/Reference.h"

namespace quern {

/// Result of dropout for the elements of a tensor.
struct DroppedElements {
  std::vector<uint8_t> kept; ///< logical, row-major: 1 or 0; empty if there is no dropout
  float factor = 1;          ///< factor of the kept elements
  /// Returns the element at `position` after dropout, given its value before.
  template <typename Real> Real at(int64_t position, Real value) const {
    return kept[static_cast<size_t>(position)] ? value * static_cast<Real>(factor) : 0;
  }
};

/// Returns the 32-bit random number that decides whether the element at `position` (row-major) is kept.
uint32_t dropoutNumber(int64_t position, int64_t seed, int64_t offset);

/// Returns the elements that dropout keeps. Fails with `invalid_arguments` if an input is missing.
Result<DroppedElements> readDropout(const Dropout &dropout, const TensorDesc &dst, const ReferenceInputs &inputs);

/// If the problem writes a mask, appends it to the outputs, the first of which must be dst.
Result<void> appendDropoutMask(const Dropout &dropout, const ReferenceInputs &inputs,
                               std::vector<ReferenceOutput> &outputs);

} // namespace quern

#endif // QUERN_REFERENCE_ATTRIBUTES_DROPOUT_H
