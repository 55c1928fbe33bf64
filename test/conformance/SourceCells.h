//===- SourceCells.h - Coverage goals of sum and concat -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The number of a case determines its cell: type of the first source, type of dst, layouts, and number of sources. A
// first round has every combination of the first three, and every number of sources with each of their values. All
// combinations take as many rounds as there are numbers of sources.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_SOURCECELLS_H
#define QUERN_CONFORMANCE_SOURCECELLS_H

#include "Layouts.h"

#include <iosfwd>
#include <map>
#include <span>
#include <string>

namespace quern {

enum class SourceFamily {
  Plain,     ///< dense row-major
  Permuted,  ///< dense, with another order of the dims for each tensor
  Gapped,    ///< with gaps and offsets
  Submemory, ///< parts of larger tensors, blocked or not
  Blocked,   ///< the same inner blocks on all sides; in a concat, each source starts with a block
  Nested,    ///< inner blocks of several dims, or two of one
  Padded,    ///< partial blocks
  Mixed,     ///< any combination
  Cut,       ///< a concat whose sources start within blocks of dst
  Broadcast, ///< sources broadcast along some dim
  Chosen,    ///< dst is `any` or absent
  Runtime,   ///< open sizes, strides or offsets
};

struct SourceCell {
  DataType from = DataType::F32, to = DataType::F32;
  SourceFamily family = SourceFamily::Plain;
  int count = 0; ///< index of the range in sourceCounts
  auto operator<=>(const SourceCell &) const = default;
};

inline constexpr DataType sourceTypes[] = {DataType::F64,    DataType::F32,    DataType::BF16, DataType::F16,
                                           DataType::F8E5M2, DataType::F8E4M3, DataType::E8M0, DataType::S32,
                                           DataType::S8,     DataType::U8};

struct CountRange {
  int64_t min, max;
};
inline constexpr CountRange sourceCounts[] = {{1, 1}, {2, 2}, {3, 6}, {7, 16}, {17, 40}};

std::string_view nameOf(SourceFamily family);

/// The families of one primitive, and their cells.
class SourceCells {
public:
  explicit SourceCells(std::span<const SourceFamily> families) : families(families) {}
  int64_t firstRound() const {
    return static_cast<int64_t>(std::size(sourceTypes) * std::size(sourceTypes) * families.size());
  }
  int64_t allRounds() const { return firstRound() * static_cast<int64_t>(std::size(sourceCounts)); }
  SourceCell at(int64_t number) const;

  void count(int64_t number, bool isEmpty);
  void print(std::ostream &os) const;
  std::vector<std::string> missing(int64_t cases) const;

private:
  std::span<const SourceFamily> families;
  std::map<SourceCell, int64_t> counts;
  int64_t empty = 0;
};

/// Draws the number of sources and their types: the first has the cell's type, and most others have it too.
std::vector<DataType> drawTypes(Random &random, const SourceCell &cell);
/// Draws small dims of rank 1 to 6, with at most `elements` elements.
Dims drawSourceShape(Random &random, int64_t elements);
/// Draws the layout of a source or of the destination. Families without a special layout yield a plain one.
TensorDesc drawSourceLayout(Random &random, SourceFamily family, const Dims &dims, DataType type);

} // namespace quern

#endif // QUERN_CONFORMANCE_SOURCECELLS_H
