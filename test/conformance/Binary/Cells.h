//===- Cells.h - Coverage goals of binary ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A cell is an algorithm with a family of layouts, a pattern of broadcasts and a class of attributes. Each problem
// number has a cell and a triple of types. Both are ordered so that the first round reaches every pair of properties;
// all rounds together reach every cell.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_BINARY_CELLS_H
#define QUERN_CONFORMANCE_BINARY_CELLS_H

#include "Families.h"

#include <array>
#include <compare>
#include <vector>

namespace quern::cases::binary {

/// Sources that broadcast, and along which dims.
enum class Broadcast {
  None,
  Scalar,  ///< src_1 is one element
  Channel, ///< src_1 is one row along some dim
  Some,    ///< src_1 along any dims
  First,   ///< src along any dims
  Both,    ///< each along other dims
};
inline constexpr Broadcast allBroadcasts[] = {Broadcast::None, Broadcast::Scalar, Broadcast::Channel,
                                              Broadcast::Some, Broadcast::First,  Broadcast::Both};

/// Attributes of a case.
enum class AttributeClass {
  None,
  Scales, ///< scales of src, src_1 or both, with any masks
  Sum,    ///< a sum with any scale, zero point and type
  Eltwise,
  Binary,
  Mixed, ///< all of these at once
};
inline constexpr AttributeClass allAttributes[] = {AttributeClass::None,   AttributeClass::Scales,
                                                   AttributeClass::Sum,    AttributeClass::Eltwise,
                                                   AttributeClass::Binary, AttributeClass::Mixed};

inline constexpr DataType allTypes[] = {DataType::F64, DataType::F32,    DataType::BF16,
                                        DataType::F16, DataType::F8E5M2, DataType::F8E4M3,
                                        DataType::S32, DataType::S8,     DataType::U8};
inline constexpr int algorithms = static_cast<int>(Alg::BinarySelect) - static_cast<int>(Alg::BinaryAdd) + 1;

struct Cell {
  Alg alg = Alg::BinaryAdd;
  LayoutFamily family = LayoutFamily::Plain;
  Broadcast broadcast = Broadcast::None;
  AttributeClass attribute = AttributeClass::None;
  auto operator<=>(const Cell &) const = default;
};

struct Types {
  DataType src = DataType::F32, src1 = DataType::F32, dst = DataType::F32;
  auto operator<=>(const Types &) const = default;
};

std::string_view nameOf(Broadcast broadcast);
std::string_view nameOf(AttributeClass attribute);

/// Returns true if the cell has valid problems.
bool exists(const Cell &cell);
/// Every cell, in the order of execution.
const std::vector<Cell> &allCells();
/// Every triple, in the order of execution; problem n has triple n modulo their number.
const std::vector<Types> &allTriples();

/// Properties of a problem: "alg add", "src s8", "family padded".
using Properties = std::array<std::string, 7>;
Properties propertiesOf(const Cell &cell, const Types &types);
/// Returns true if some problem has both properties.
bool areCompatible(const std::string &first, const std::string &second);

} // namespace quern::cases::binary

#endif // QUERN_CONFORMANCE_BINARY_CELLS_H
