//===- Cells.h - Coverage goals of eltwise --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A cell is a pair of types, a family of layouts, an algorithm, a direction and a class of attributes, which rotates.
// Cells are ordered so that every prefix is balanced: the first round has each pair of types with each family once,
// with rotating algorithms; each later round has them with another algorithm.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_ELTWISE_CELLS_H
#define QUERN_CONFORMANCE_ELTWISE_CELLS_H

#include "Desc/PrimitiveDesc.h"
#include "Families.h"

#include <compare>
#include <span>
#include <vector>

namespace quern::cases::eltwise {

/// Attributes of a case. Backward supports only the first two.
enum class AttributeClass { None, Modes, Eltwise, Binary, Mixed };
inline constexpr AttributeClass allAttributes[] = {AttributeClass::None, AttributeClass::Modes, AttributeClass::Eltwise,
                                                   AttributeClass::Binary, AttributeClass::Mixed};
inline constexpr int backwardAttributes = 2;

/// Forward supports all of them, backward the floating-point ones.
inline constexpr DataType allTypes[] = {DataType::F64, DataType::F32,    DataType::BF16,
                                        DataType::F16, DataType::F8E5M2, DataType::F8E4M3,
                                        DataType::S32, DataType::S8,     DataType::U8};
inline constexpr int backwardTypes = 6;

struct Cell {
  bool backward = false;
  DataType from = DataType::F32, to = DataType::F32; ///< types of src and dst; for backward of diff_dst and diff_src
  LayoutFamily family = LayoutFamily::Plain;
  Alg alg = Alg::EltwiseRelu;
  AttributeClass attribute = AttributeClass::None;
  auto operator<=>(const Cell &) const = default;
};

std::string_view nameOf(AttributeClass attribute);

/// Returns the algorithms of a direction.
std::span<const Alg> algsOf(bool backward);
/// Every cell, in the order of execution.
const std::vector<Cell> &allCells();
/// Number of cells of the first round.
int64_t cellsOfFirstRound();

} // namespace quern::cases::eltwise

#endif // QUERN_CONFORMANCE_ELTWISE_CELLS_H
