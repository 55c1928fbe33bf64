//===- Generator.h - Random softmax problems ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Problems iterate over the cells of Cells.h. The generator draws the rest: algorithm, rank, axis, sizes around every
// vector width, strides, offsets, blocks, operands, data.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_SOFTMAX_GENERATOR_H
#define QUERN_CONFORMANCE_SOFTMAX_GENERATOR_H

#include "Cases.h"
#include "DrawAttributes.h"
#include "Softmax/Cells.h"

#include <optional>

namespace quern::cases::softmax {

/// Returns case `number` of a seed: first the special cells, then the cells, which repeat.
Case drawCase(uint64_t seed, int64_t number);
/// Returns the special cell of a case; if there is none, cellOf() is its cell.
std::optional<SpecialCell> specialCellOf(int64_t number);
const Cell &cellOf(int64_t number);

/// Draws the layouts of a problem's tensors. `types[i]` is the type of tensor i; the last tensor is the output. Not for
/// open layouts.
std::vector<TensorDesc> drawTensors(Random &random, LayoutFamily family, const Dims &dims, int axis,
                                    const std::vector<DataType> &types);

std::span<const Mistake> mistakes();

} // namespace quern::cases::softmax

#endif // QUERN_CONFORMANCE_SOFTMAX_GENERATOR_H
