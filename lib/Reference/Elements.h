//===- Elements.h - Single elements and whole tensors as doubles ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the references, the judge and the tools share to look into raw buffers of any type and layout. A logical value
// list is row-major over the dims of the descriptor, whatever its layout. Stores round and saturate as the primitives
// must: to nearest even, NaN to 0 for integers.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_ELEMENTS_H
#define QUERN_REFERENCE_ELEMENTS_H

#include "Desc/Tensor/TensorDesc.h"

#include <functional>
#include <span>
#include <vector>

namespace quern {

/// Element `offset` of a buffer. Types of 4 bits lie two to a byte, the element of even offset in the lower
/// half; to store one leaves its neighbour as it is, but two threads may not store two that share a byte.
/// f4_e3m0 is not an element here.
double loadElement(DataType type, const void *buffer, int64_t offset);
void storeElement(DataType type, void *buffer, int64_t offset, double value);
/// The element as it lies there, in the low bits.
uint64_t loadBits(DataType type, const void *buffer, int64_t offset);
/// The value that storing and loading gives.
double roundTo(DataType type, double value);
/// The distance from 1 to the next larger value; 1 for integers.
double epsilonOf(DataType type);

/// Calls `visit(position in row-major order, offset in elements)` for every element. The descriptor has
/// neither runtime dims nor `any`.
void forEachElement(const TensorDesc &desc, const std::function<void(int64_t position, int64_t offset)> &visit);

std::vector<double> gather(const TensorDesc &desc, const void *buffer);
/// `values` has desc.elements() entries. Only elements are written: gaps and padding keep what they have.
void scatter(const TensorDesc &desc, void *buffer, std::span<const double> values);

} // namespace quern

#endif // QUERN_REFERENCE_ELEMENTS_H
