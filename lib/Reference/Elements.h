//===- Elements.h - Elements and tensors as doubles -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Access to raw buffers of any type and layout, for the references, the judge and the tools. A list of logical values
// is row-major over the dims of the descriptor, whatever its layout. Stores convert as primitives must: to the nearest
// value, ties to even (for e8m0, down to a power of two). Integers saturate, and NaN becomes 0 in them.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_ELEMENTS_H
#define QUERN_REFERENCE_ELEMENTS_H

#include "Desc/Tensor/TensorDesc.h"

#include <functional>
#include <span>
#include <vector>

namespace quern {

/// Access the element `offset` of a buffer. Types of 4 bits are packed two per byte, the element of even offset in the
/// lower half. A store preserves the other half, but two threads must not store elements of the same byte concurrently.
/// f4_e3m0 and s64 are not supported.
double loadElement(DataType type, const void *buffer, int64_t offset);
void storeElement(DataType type, void *buffer, int64_t offset, double value);
/// Returns the bits of the element, in the low bits.
uint64_t loadBits(DataType type, const void *buffer, int64_t offset);
/// Returns the value after a store and a load.
double roundTo(DataType type, double value);
/// Returns the distance from 1 to the next larger value; 1 for integers.
double epsilonOf(DataType type);

/// Calls `visit(position in row-major order, offset in elements)` for every element. The descriptor must have no
/// runtime dims and a layout other than `any`.
void forEachElement(const TensorDesc &desc, const std::function<void(int64_t position, int64_t offset)> &visit);

std::vector<double> gather(const TensorDesc &desc, const void *buffer);
/// Stores `values`, one for each element of the tensor, to a buffer. Gaps and padding of the buffer are unchanged.
void scatter(const TensorDesc &desc, void *buffer, std::span<const double> values);

} // namespace quern

#endif // QUERN_REFERENCE_ELEMENTS_H
