//===- Cells.h - What eltwise has to reach -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A cell is a pair of types, a family of layouts, an algorithm and a direction, with a class of attributes that goes
// round. The cells stand in an order in which every prefix is balanced: the first round has each pair of types with
// each family once, its algorithms going round; each later round has them with another algorithm.
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

/// What besides the tensors a case has. Backward takes only the first two.
enum class AttributeClass { None, Modes, Eltwise, Binary, Mixed };
inline constexpr AttributeClass allAttributes[] = {AttributeClass::None, AttributeClass::Modes, AttributeClass::Eltwise,
                                                   AttributeClass::Binary, AttributeClass::Mixed};
inline constexpr int backwardAttributes = 2;

/// Forward takes all of them, backward those that are floating.
inline constexpr DataType allTypes[] = {DataType::F64, DataType::F32,    DataType::BF16,
                                        DataType::F16, DataType::F8E5M2, DataType::F8E4M3,
                                        DataType::S32, DataType::S8,     DataType::U8};
inline constexpr int backwardTypes = 6;

struct Cell {
  bool backward = false;
  DataType from = DataType::F32, to = DataType::F32; ///< src and dst; backward: diff_dst and diff_src
  LayoutFamily family = LayoutFamily::Plain;
  Alg alg = Alg::EltwiseRelu;
  AttributeClass attribute = AttributeClass::None;
  auto operator<=>(const Cell &) const = default;
};

std::string_view nameOf(AttributeClass attribute);

/// The algorithms of a direction.
std::span<const Alg> algsOf(bool backward);
/// Every cell, in the order that they are run.
const std::vector<Cell> &allCells();
/// How many of them the first round has.
int64_t cellsOfFirstRound();

} // namespace quern::cases::eltwise

#endif // QUERN_CONFORMANCE_ELTWISE_CELLS_H
