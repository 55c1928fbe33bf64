//===- Cells.h - What softmax has to reach --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A cell is a pair of types, a family of layouts, a class of attributes and a direction. The cells stand in an order in
// which every prefix is balanced: the first round has each pair of types with each family once, its attributes going
// round; each later round has them with another class of attributes. So a short run has every pair of two properties,
// and a run of all cells has the product.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_SOFTMAX_CELLS_H
#define QUERN_CONFORMANCE_SOFTMAX_CELLS_H

#include "Desc/PrimitiveDesc.h"

#include <compare>
#include <vector>

namespace quern::cases::softmax {

/// How the strides of a case were drawn.
enum class LayoutFamily {
  Dense,         ///< row-major on all sides
  Permuted,      ///< the same permutation of the dims on all sides, no gaps
  Gapped,        ///< row-major with gaps and an offset, the same on all sides
  Mixed,         ///< each side its own permutation, gaps and offset
  Broadcast,     ///< stride 0 along some dim of a source
  BlockedOnAxis, ///< one inner block, of the axis
  BlockedOffAxis,
  SeveralBlocks, ///< up to three inner blocks of one or more dims
  Padded,        ///< blocks that do not divide, or padding without a block
  Submemory,     ///< a part of a larger tensor, blocked or not
  Runtime,       ///< sizes, strides or offsets that are given at execution
};
inline constexpr LayoutFamily allFamilies[] = {
    LayoutFamily::Dense,     LayoutFamily::Permuted,      LayoutFamily::Gapped,         LayoutFamily::Mixed,
    LayoutFamily::Broadcast, LayoutFamily::BlockedOnAxis, LayoutFamily::BlockedOffAxis, LayoutFamily::SeveralBlocks,
    LayoutFamily::Padded,    LayoutFamily::Submemory,     LayoutFamily::Runtime};

/// What besides the tensors a case has. Backward takes only the first three.
enum class AttributeClass { None, Modes, Scratchpad, Scales, Eltwise, Binary, Mixed };
inline constexpr AttributeClass allAttributes[] = {
    AttributeClass::None,    AttributeClass::Modes,  AttributeClass::Scratchpad, AttributeClass::Scales,
    AttributeClass::Eltwise, AttributeClass::Binary, AttributeClass::Mixed};
inline constexpr int backwardAttributes = 3;

inline constexpr DataType forwardTypes[] = {DataType::F64,    DataType::F32,    DataType::BF16, DataType::F16,
                                            DataType::F8E5M2, DataType::F8E4M3, DataType::S8,   DataType::U8};
inline constexpr DataType backwardTypes[] = {DataType::F64, DataType::F32, DataType::BF16, DataType::F16};
inline constexpr Alg allAlgs[] = {Alg::SoftmaxAccurate, Alg::SoftmaxLog, Alg::SoftmaxAccurateInfAsZero};

struct Cell {
  bool backward = false;
  DataType from = DataType::F32, to = DataType::F32; ///< src and dst; backward: diff_dst and diff_src
  LayoutFamily family = LayoutFamily::Dense;
  AttributeClass attribute = AttributeClass::None;
  auto operator<=>(const Cell &) const = default;
};

/// The code that a softmax of this shape takes.
enum class Path {
  Contiguous, ///< the axis is innermost
  Strided,    ///< another dim is
  ShortAxis,  ///< innermost, of 2 to 64 elements
  LongRow,    ///< one row of 300000 elements or more, which threads share
};
inline constexpr Path allPaths[] = {Path::Contiguous, Path::Strided, Path::ShortAxis, Path::LongRow};
inline constexpr int64_t longRow = 300000;

/// What a row of special data holds.
enum class RowKind { NaN, PlusInf, SomeMinusInf, AllMinusInf, Overflow, Denormal };
inline constexpr RowKind allRowKinds[] = {RowKind::NaN,         RowKind::PlusInf,  RowKind::SomeMinusInf,
                                          RowKind::AllMinusInf, RowKind::Overflow, RowKind::Denormal};
inline constexpr DataType specialTypes[] = {DataType::F32, DataType::BF16, DataType::F16};

/// A case of special values on one path. A long row holds one kind of them, the other paths have rows of all kinds.
struct SpecialCell {
  bool backward;
  DataType type;
  Path path;
  RowKind kind;
};

std::string_view nameOf(LayoutFamily family);
std::string_view nameOf(AttributeClass attribute);
std::string_view nameOf(Path path);
std::string_view nameOf(RowKind kind);

/// Every cell, in the order that they are run.
const std::vector<Cell> &allCells();
/// How many of them the first round has.
int64_t cellsOfFirstRound();
/// They are run before the cells.
const std::vector<SpecialCell> &specialCells();

/// Of a problem whose sizes are known.
Path pathOf(const SoftmaxDesc &softmax);
/// The rows of each kind in the elements of a tensor along an axis.
std::vector<int64_t> countRowKinds(const TensorDesc &desc, int axis, const void *buffer);

} // namespace quern::cases::softmax

#endif // QUERN_CONFORMANCE_SOFTMAX_CELLS_H
