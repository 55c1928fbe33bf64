//===- Cells.h - Coverage goals of reorder --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A cell is a pair of types, a family of layouts and a class of attributes that is possible with them. Cells are
// ordered so that every prefix is balanced: the first round has each pair of types with each family once, with rotating
// attributes; later rounds have the rest.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_REORDER_CELLS_H
#define QUERN_CONFORMANCE_REORDER_CELLS_H

#include "Families.h"

#include <compare>
#include <vector>

namespace quern::cases::reorder {

/// Attributes of a case.
enum class AttributeClass {
  None,
  Scales,     ///< scales of src, dst or both, with any masks
  ZeroPoints, ///< zero points of the integer sides, and scales
  Groups,     ///< scales and zero points in groups
  Sum,        ///< a sum with any scale, zero point and type, and scales
  Eltwise,
  Binary,
  Mixed,        ///< all of these at once
  Compensation, ///< s8s8, asymmetric source or both, and scales
  RnnData,
  RnnWeights, ///< with and without compensation
};
inline constexpr AttributeClass allAttributes[] = {
    AttributeClass::None,         AttributeClass::Scales,  AttributeClass::ZeroPoints, AttributeClass::Groups,
    AttributeClass::Sum,          AttributeClass::Eltwise, AttributeClass::Binary,     AttributeClass::Mixed,
    AttributeClass::Compensation, AttributeClass::RnnData, AttributeClass::RnnWeights};

inline constexpr DataType allTypes[] = {
    DataType::F64,    DataType::F32, DataType::BF16, DataType::F16, DataType::F8E5M2, DataType::F8E4M3, DataType::E8M0,
    DataType::F4E2M1, DataType::S32, DataType::S8,   DataType::U8,  DataType::S4,     DataType::U4};

struct Cell {
  DataType from = DataType::F32, to = DataType::F32;
  LayoutFamily family = LayoutFamily::Plain;
  AttributeClass attribute = AttributeClass::None;
  auto operator<=>(const Cell &) const = default;
};

std::string_view nameOf(AttributeClass attribute);

/// Returns true if the cell has valid problems.
bool exists(const Cell &cell);
/// Every cell, in the order of execution.
const std::vector<Cell> &allCells();
/// Number of cells of the first round.
int64_t cellsOfFirstRound();

} // namespace quern::cases::reorder

#endif // QUERN_CONFORMANCE_REORDER_CELLS_H
