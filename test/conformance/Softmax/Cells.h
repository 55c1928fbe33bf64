//===- Cells.h - Coverage goals of softmax --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A cell is a pair of types, a family of layouts, a class of attributes and a direction. Cells are ordered so that
// every prefix is balanced: the first round has each pair of types with each family once, with rotating attributes;
// each later round has them with another class of attributes. A short run therefore reaches every pair of properties,
// and a run of all cells the product.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_SOFTMAX_CELLS_H
#define QUERN_CONFORMANCE_SOFTMAX_CELLS_H

#include "Desc/PrimitiveDesc.h"

#include <compare>
#include <vector>

namespace quern::cases::softmax {

/// The layouts of the tensors of a case.
enum class LayoutFamily {
  Dense,         ///< row-major on all sides
  Permuted,      ///< the same permutation of the dims on all sides, no gaps
  Gapped,        ///< row-major with gaps and an offset, the same on all sides
  Mixed,         ///< each side has its own permutation, gaps and offset
  Broadcast,     ///< stride 0 along some dim of a source
  BlockedOnAxis, ///< one inner block, of the axis
  BlockedOffAxis,
  SeveralBlocks, ///< up to three inner blocks of one or more dims
  Padded,        ///< partial blocks, or padding without a block
  Submemory,     ///< a part of a larger tensor, blocked or not
  Runtime,       ///< open sizes, strides or offsets
};
inline constexpr LayoutFamily allFamilies[] = {
    LayoutFamily::Dense,     LayoutFamily::Permuted,      LayoutFamily::Gapped,         LayoutFamily::Mixed,
    LayoutFamily::Broadcast, LayoutFamily::BlockedOnAxis, LayoutFamily::BlockedOffAxis, LayoutFamily::SeveralBlocks,
    LayoutFamily::Padded,    LayoutFamily::Submemory,     LayoutFamily::Runtime};

/// Attributes of a case. Backward supports only the first three.
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
  DataType from = DataType::F32, to = DataType::F32; ///< types of src and dst; for backward of diff_dst and diff_src
  LayoutFamily family = LayoutFamily::Dense;
  AttributeClass attribute = AttributeClass::None;
  auto operator<=>(const Cell &) const = default;
};

/// Code paths of softmax kernels.
enum class Path {
  Contiguous, ///< the axis is innermost
  Strided,    ///< another dim is innermost
  ShortAxis,  ///< the axis is innermost, with 2 to 64 elements
  LongRow,    ///< one row of at least 300000 elements, which is split between threads
};
inline constexpr Path allPaths[] = {Path::Contiguous, Path::Strided, Path::ShortAxis, Path::LongRow};
inline constexpr int64_t longRow = 300000;

/// Kinds of rows of special data.
enum class RowKind { NaN, PlusInf, SomeMinusInf, AllMinusInf, Overflow, Denormal };
inline constexpr RowKind allRowKinds[] = {RowKind::NaN,         RowKind::PlusInf,  RowKind::SomeMinusInf,
                                          RowKind::AllMinusInf, RowKind::Overflow, RowKind::Denormal};
inline constexpr DataType specialTypes[] = {DataType::F32, DataType::BF16, DataType::F16};

/// A case with special values on one path. A long row has one of the kinds; other paths have rows of all kinds.
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

/// Every cell, in the order of execution.
const std::vector<Cell> &allCells();
/// Number of cells of the first round.
int64_t cellsOfFirstRound();
/// Special cells, which run before the cells.
const std::vector<SpecialCell> &specialCells();

/// Returns the path of a problem whose sizes are known.
Path pathOf(const SoftmaxDesc &softmax);
/// Returns the number of rows of each kind along an axis of a tensor.
std::vector<int64_t> countRowKinds(const TensorDesc &desc, int axis, const void *buffer);

} // namespace quern::cases::softmax

#endif // QUERN_CONFORMANCE_SOFTMAX_CELLS_H
